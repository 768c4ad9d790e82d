"""What a fresh sample would show: against enumeration, against single rows, and what must not change it."""

from itertools import combinations

import numpy as np
import polars as pl
import pytest
from msgspec.structs import replace

from divulge.case.case import build_case
from divulge.measures.blocks import _by_hashes, coded, compared_columns, dealt
from divulge.measures.column_pairs import column_pairs
from divulge.measures.column_shapes import column_shapes
from divulge.measures.noise_floor import (
    Family,
    block_numbers,
    counts_floor,
    draw_labels,
    ks_distance,
    tv_distance,
)
from divulge.measures.result import FidelityResult, FreshSample, sentence_of
from divulge.measures.verdicts import corrected, judged, verdict_of


def blocks_of(rng, n_blocks, n_cells, most=9):
    return rng.integers(0, most, (n_blocks, n_cells)) + np.eye(n_blocks, n_cells, dtype=int)


def floors_of(counts, n_first, start=None, statistic=tv_distance, seed=0):
    sizes = counts[:, : (start[1] if start is not None else counts.shape[1])].sum(axis=1)
    labels = draw_labels(sizes, n_first, np.random.default_rng(seed))
    family = Family(labels)
    family.add(counts, np.array([0, counts.shape[1]]) if start is None else np.array(start), statistic)
    return family.floors(), labels


def test_three_rows_against_three():
    """R = a a b, S = a b b: of the 20 relabellings the mean distance is 0.4, and each is as far away or farther."""
    rows = [0, 0, 1, 0, 1, 1]
    distances = []
    for chosen in combinations(range(6), 3):
        a = sum(rows[i] for i in chosen)
        distances.append(abs(a - (3 - a)) / 3)
    assert np.mean(distances) == pytest.approx(0.4)
    counts = np.eye(2, dtype=int)[rows]
    found, labels = floors_of(counts, 3)
    assert found.value[0] == pytest.approx(1 / 3, abs=1e-9)
    assert found.p[0] == 1.0
    relabelled = [abs(2 * (row @ counts[:, 1]) - 3) / 3 for row in labels.first[1:]]
    assert np.mean(relabelled) == pytest.approx(0.4, abs=4 * np.std(distances) / np.sqrt(999))
    value, floor, p, _ = counts_floor([2, 1], [1, 2], np.random.default_rng(0))
    assert (value, p) == (pytest.approx(1 / 3), 1.0)
    assert floor == pytest.approx(0.4, abs=4 * np.std(distances) / np.sqrt(999))
    assert value / 0.4 == pytest.approx(0.833, abs=5e-4)  # the ruler of the example


@pytest.mark.parametrize("statistic", [tv_distance, ks_distance])
def test_all_relabellings_at_once_are_those_one_by_one(statistic):
    rng = np.random.default_rng(1)
    sizes, n_first = np.full(12, 20), 5
    counts = np.concatenate([rng.multinomial(20, np.full(k, 1 / k), 12) for k in (3, 5)], axis=1)
    labels = draw_labels(sizes, n_first, np.random.default_rng(2))
    family = Family(labels)
    family.add(counts, np.array([0, 3, 8]), statistic)
    found = family.floors()
    null = np.array([[one_by_one(counts, row, a, b, statistic) for a, b in ((0, 3), (3, 8))] for row in labels.first])
    null = np.column_stack([null, null.mean(axis=1)])
    assert found.value == pytest.approx(null[0], abs=1e-9)
    assert found.p.tolist() == [(1 + (null[1:, u] >= null[0, u] - 1e-9).sum()) / 1000 for u in range(3)]
    assert found.p_low_tail.tolist() == [(1 + (null[1:, u] <= null[0, u] + 1e-9).sum()) / 1000 for u in range(3)]
    z = (null - null.mean(axis=0)) / null.std(axis=0)
    largest = z.max(axis=1)
    expected = [(1 + (largest[1:] >= z[0, u] - 1e-9).sum()) / 1000 for u in range(3)]
    assert found.p_adjusted.tolist() == pytest.approx(expected)
    smallest = z.min(axis=1)
    expected = [(1 + (smallest[1:] <= z[0, u] + 1e-9).sum()) / 1000 for u in range(3)]
    assert found.p_low_tail_adjusted.tolist() == pytest.approx(expected)


def one_by_one(counts, row, a, b, statistic):
    real, other = counts[row > 0, a:b].sum(axis=0), counts[row == 0, a:b].sum(axis=0)
    apart = real / real.sum() - other / other.sum()
    return np.abs(apart).sum() / 2 if statistic is tv_distance else np.abs(np.cumsum(apart)).max()


def test_floors_come_from_residual_blocks():
    """Blocks of two different tables give uneven mixtures: their distances are no noise, and the floor leaves them out."""
    rng = np.random.default_rng(3)
    one, other = (rng.multinomial(1000, p, 32) for p in ([0.1, 0.9], [0.9, 0.1]))
    counts = np.concatenate([one, other])
    found, labels = floors_of(counts, 32)
    raw = [one_by_one(counts, row, 0, 2, tv_distance) for row in labels.first[1:]]
    noise = np.sqrt(2 / 32_000 * 0.09) * np.sqrt(2 / np.pi)
    assert np.mean(raw) > 10 * noise
    assert found.mean[0] == pytest.approx(noise, rel=0.25)


def test_the_floor_of_few_blocks_is_the_distance_of_fresh_samples():
    """Blocks less their mean vary too little by (n - 2) / (n - 1); twelve blocks without a correction are 5% too low."""
    rng = np.random.default_rng(7)
    p = np.full(40, 1 / 40)
    ends = [floors_of(rng.multinomial(200, p, 12), 6)[0] for _ in range(60)]
    assert np.mean([f.mean[0] for f in ends]) == pytest.approx(np.mean([f.value[0] for f in ends]), rel=0.025)


def test_the_upper_limit_is_that_of_two_proportions():
    rng = np.random.default_rng(8)
    counts = np.concatenate([rng.multinomial(100, [p, 1 - p], 32) for p in (0.3, 0.6)])
    found = floors_of(counts, 32)[0]
    error = np.sqrt(0.3 * 0.7 / 3200 + 0.6 * 0.4 / 3200)
    assert found.high[0] - found.value[0] == pytest.approx(1.96 * error, rel=0.35)


def test_parts_of_a_family_are_one_family(monkeypatch):
    rng = np.random.default_rng(4)
    counts = np.concatenate([rng.multinomial(30, np.full(4, 0.25), 20) for _ in range(6)], axis=1)
    start = np.arange(0, 25, 4)
    whole, _ = floors_of(counts, 10, start)
    monkeypatch.setattr("divulge.measures.noise_floor._BYTES", 2 * 8 * 1000)
    parts, _ = floors_of(counts, 10, start)
    for name in ("value", "mean", "p", "p_adjusted", "p_low_tail_adjusted", "low", "high", "smallest_detectable"):
        assert np.array_equal(getattr(whole, name), getattr(parts, name)), name


def test_numbers_of_blocks_are_as_the_rows():
    assert block_numbers(100, 100) == ((100, 100), (100, 100))
    assert block_numbers(5000, 5000) == ((32, 32), (5000, 5000))
    assert block_numbers(9758, 39_032) == ((32, 128), (9758, 39_032))
    (small, large), (n, m) = block_numbers(20, 10**6)
    assert (small, large, n) == (20, 496, 20)
    assert m / large == pytest.approx(n / small)
    assert block_numbers(10**6, 20) == ((large, small), (m, n))


# ---------------------------------------------------------------- a case


def people(rng, n):
    job = rng.integers(0, 5, n)
    return pl.DataFrame(
        {
            "age": rng.integers(18, 90, n) + 0.5,
            "pay": (rng.lognormal(3, 1, n) * (1 + job)).round(3),
            "job": [f"j{v}" for v in job],
            "home": [None if u < 0.1 else f"h{v}" for u, v in zip(rng.random(n), rng.integers(0, 3, n), strict=True)],
        }
    )


@pytest.fixture(scope="module")
def tables():
    rng = np.random.default_rng(5)
    return people(rng, 700), people(rng, 600)


def numbers(results):
    drop = {"seconds", "columns", "context"}
    return [{k: v for k, v in r.to_dict().items() if k not in drop} for r in results]


def test_the_order_of_rows_and_columns_changes_no_bit(tables):
    real, synthetic = tables
    wanted = column_pairs(real, synthetic, seed=3)
    rng = np.random.default_rng(6)
    mixed = [t[rng.permutation(t.height)].select(sorted(t.columns, reverse=True)) for t in tables]
    assert numbers(column_pairs(*mixed, seed=3)) == numbers(wanted)
    assert numbers(column_pairs(real, synthetic, seed=4)) != numbers(wanted)


def test_the_names_of_categories_change_no_bit(tables):
    """Two values that occur equally often in each table are told apart by their rows."""
    even = [t.drop("age", "pay").with_columns(even=pl.Series(["a", "b"] * (t.height // 2))) for t in tables]
    renamed = [t.with_columns(pl.col("job").str.reverse(), pl.col("even").replace({"a": "z"})) for t in even]
    assert numbers(column_pairs(*renamed)) == numbers(column_pairs(*even))


def test_a_constant_column_changes_no_bit(tables):
    wider = [t.with_columns(a=pl.lit(1)) for t in tables]
    assert numbers(column_pairs(*wider)) == numbers(column_pairs(*tables))


def test_units_stay_together():
    person = [f"p{i // 4}" for i in range(400)]
    table = pl.DataFrame({"person": person, "x": np.random.default_rng(7).normal(size=400)})
    case = build_case(table, table, unit="person")
    rows = dealt(case)
    units = case.codes("person", binned=False)[0]
    assert len(np.unique(np.column_stack([units, rows.block[:400]]), axis=0)) == 100
    assert rows.labels.n_first == 100
    assert "person" not in compared_columns(case)


def test_a_far_larger_table_is_drawn_from(monkeypatch):
    monkeypatch.setattr("divulge.measures.noise_floor._MOST_BLOCKS", 40)
    rng = np.random.default_rng(8)
    small, large = people(rng, 100), people(rng, 3000)
    found = column_shapes(small, large)
    assert (found[0].n, found[0].m) == (100, 250)
    assert "250 of 3,000 synthetic rows were drawn: the other table is far smaller" in found[0].notes
    assert found[0].verdict != "differs"


def test_few_rows_are_not_measured():
    table = pl.DataFrame({"a": ["x", "y"]})
    (found,) = column_shapes(table, table)
    assert (found.verdict, found.value) == ("not measured", None)
    assert "fewer than 3 rows" in found.notes[0]


def test_codes_treat_all_tables_alike():
    rng = np.random.default_rng(9)
    real, synthetic = (pl.DataFrame({"x": rng.normal(size=500)}) for _ in range(2))
    codes = coded(build_case(real, synthetic), "x", 10).codes
    together = sum(np.bincount(c, minlength=11) for c in codes)
    assert together.tolist() == [0] + [100] * 10
    assert np.ptp(np.bincount(codes[0])[1:]) > 0


# ---------------------------------------------------------------- verdicts


@pytest.mark.parametrize(
    ("p", "low_tail", "high", "verdict"),
    [
        (0.049, 1.0, 0.01, "differs"),
        (0.05, 0.04, 0.01, "closer than a fresh sample"),
        (0.05, 0.05, 0.05, "like a fresh sample"),
        (0.5, 0.5, 0.051, "cannot tell"),
        (None, None, 0.01, "like a fresh sample"),
    ],
)
def test_verdicts(p, low_tail, high, verdict):
    assert verdict_of(p, low_tail, high, 0.05) == verdict


def result(**more):
    fresh = FreshSample(mean=0.08, low=0.06, high=0.1)
    given = {"value": 0.08, "fresh_sample": fresh, "high": 0.1, "n": 1000, "m": 1000, "p_adjusted": 0.5}
    return FidelityResult(measure="x", **(given | more))


def test_rows_that_would_do():
    """Limits shrink as one over the root of the rows: half the limit takes four times the rows."""
    assert judged(result()).rows_needed == 4000
    assert judged(result(tolerance=0.2)).rows_needed is None
    assert judged(result(value=None)).verdict == "not measured"


def test_sentences_say_at_least_how_much():
    found = judged(result(value=0.118, p_adjusted=0.002, low=0.03, high=0.15))
    assert sentence_of(found) == "differs by at least 0.030 (distance 0.118; a fresh sample shows 0.060 to 0.100)"
    assert "by at least 0.030, more than 0.02 (" in sentence_of(replace(found, tolerance=0.02))
    small = replace(found, value=0.0, low=0.0, fresh_sample=FreshSample(mean=0.0003, low=0.00012, high=0.0007))
    assert sentence_of(small) == "differs (distance 0.000; a fresh sample shows 0.0001 to 0.001)"


def test_p_values_are_corrected_over_measures():
    unknown = [result(value=None)]
    found = corrected([[result(p_adjusted=0.01), result(p_adjusted=0.9)], [result(p_adjusted=0.03)] * 2, unknown])
    assert [[r.p_adjusted for r in family] for family in found[:2]] == [[0.02, 0.9], [0.06, 0.06]]
    verdicts = [r.verdict for family in found for r in family]
    assert verdicts == ["differs", "cannot tell", "cannot tell", "cannot tell", "not measured"]
    # a measure all of whose results are significant leaves, and the others are corrected for fewer
    shared = corrected(
        [[result(p_adjusted=0.01)], [result(p_adjusted=0.01)], [result(p_adjusted=0.9)]], shares=[1, 0.5, 0.5]
    )
    assert [r.p_adjusted for (r,) in shared] == pytest.approx([0.02, 0.02, 0.9])  # then what is left counts half
    found = corrected([[result(p_adjusted=0.01)], [result(p_adjusted=0.03), result(p_adjusted=0.9)]])
    assert [[r.p_adjusted for r in family] for family in found] == [[0.02], [0.03, 0.9]]


def test_each_head_of_a_measure_counts_its_own_results():
    """Aggregates have two heads, of columns and of pairs: 13 of 9 were said to differ."""
    counted = {"compared": 2, "differ": 0, "closer": 0}
    far, near = result(p_adjusted=0.001), result(p_adjusted=0.5, p_low_tail_adjusted=0.001)
    (family,) = corrected([[result(context=counted), far, near, result(context=counted), far, far]])
    assert [(r.context["differ"], r.context["closer"]) for r in family if r.context] == [(1, 1), (2, 0)]


@pytest.mark.slow
def test_a_false_finding_is_as_rare_among_all_measures():
    """Twelve measures without a difference, each with p-values that are right within it."""
    rng = np.random.default_rng(10)
    runs = 400
    wrong = sum(
        any(r[0].p_adjusted < 0.05 for r in corrected([[result(p_adjusted=p)] for p in rng.random(12)]))
        for _ in range(runs)
    )
    assert wrong <= 0.05 * runs + 2 * np.sqrt(0.05 * 0.95 * runs)


def test_rows_are_ordered_by_both_hashes_and_then_by_their_place():
    rng = np.random.default_rng(4)
    for most in (3, 40, 2**60):
        said, ties = rng.integers(0, most, 300, dtype=np.uint64), rng.integers(0, 3, 300, dtype=np.uint64)
        np.testing.assert_array_equal(_by_hashes(said, ties), np.lexsort((ties, said)))


def test_rows_are_dealt_in_the_order_of_blocks():
    tables = [pl.DataFrame({"x": np.random.default_rng(i).normal(size=n)}) for i, n in enumerate((30, 4000))]
    for rows in (dealt(build_case(*tables)), dealt(build_case(*tables[::-1]))):
        assert (np.diff(rows.block) >= 0).all()
        np.testing.assert_array_equal(np.bincount(rows.block), rows.labels.sizes)
        assert [len(np.unique(r)) for r in rows.rows] == [rows.n, rows.m]
        assert rows.block[rows.n - 1] < rows.labels.n_first == rows.block[rows.n]


def test_rows_of_a_unit_share_a_block():
    who = [np.random.default_rng(i).integers(0, 90, 700) for i in (1, 2)]
    rows = dealt(build_case(*(pl.DataFrame({"x": w % 7 + 0.5, "who": w}) for w in who), unit="who"))
    for own, of, part in zip(who, rows.rows, np.split(rows.block, [rows.n]), strict=True):
        assert len({(w, b) for w, b in zip(own[of], part, strict=True)}) == len(np.unique(own))
