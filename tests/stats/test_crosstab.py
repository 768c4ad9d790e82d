"""The CAP paper's numbers, its theorems by enumeration, and the laws of the crosstab functions.

"worked" numbers come from Baillargeon and Charest, "A Closer Look at the CAP Risk Measure for Synthetic
Datasets", sections 2 and 4; exact fractions are recomputed here with `fractions`, cell by cell.
"""

import itertools
import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from cap_paper_tables import O1, O2, O3, O4, S_A, S_B, S_E, S_G, SMOKING_O, SMOKING_S
from hypothesis import assume, given
from hypothesis import strategies as st

from divulge.core.errors import SettingError, TableError
from divulge.stats.crosstab import (
    baseline,
    cap_maximum,
    cap_minimum_value,
    cap_of_original,
    count_above,
    individual_cap,
    is_minimal,
    mean_cap,
    minimising_table,
    modal_hits,
    share_below_original,
    uniform_tables,
)

ORIGINALS = {"O1": O1, "O2": O2, "O3": O3, "O4": O4}
WORDS = ("skip", "zero")


# A plain oracle: loops over records, fractions, no numpy.


def records(table):
    return [(i, j) for i, row in enumerate(table) for j, count in enumerate(row) for _ in range(count)]


def cap_of_record(record, s):
    """Definition 1 without its last line: None where the key is unseen."""
    same_key = [target for target, key in records(s) if key == record[1]]
    return Fraction(same_key.count(record[0]), len(same_key)) if same_key else None


def plain_mean(o, s, unseen):
    cells = {record: cap_of_record(record, s) for record in set(records(o))}
    caps = [cells[record] for record in records(o)]
    scored = [cap or Fraction(0) for cap in caps if cap is not None or unseen == "zero"]
    return sum(scored) / len(scored) if scored else None


def plain_modal_hits(o, s):
    hits = Fraction(0)
    for j in range(len(o[0])):
        column = [row[j] for row in s]
        if any(column):
            named = [i for i, count in enumerate(column) if count == max(column)]
            hits += Fraction(sum(o[i][j] for i in named), len(named))
    return hits


def same(value, expected):
    return math.isnan(value) if expected is None else abs(value - expected) < 1e-12


# Worked numbers.


@pytest.mark.parametrize(
    ("table", "target", "expected"),
    [
        (SMOKING_O, 0, Fraction(2, 5)),
        (SMOKING_S, 0, Fraction(8, 33)),
        (SMOKING_O, 1, Fraction(3, 5)),
        (SMOKING_S, 1, Fraction(25, 33)),
    ],
)
def test_individual_cap_of_the_smoking_example(table, target, expected):
    assert individual_cap(SMOKING_O, table)[target, 0] == pytest.approx(float(expected), abs=1e-15)


@pytest.mark.parametrize(
    ("s", "printed"),
    [
        (S_B, [[0.0515, 0.1773, 0.0649], [0.4850, 0.5567, 0.9221], [0.4635, 0.2660, 0.0130]]),
        (S_G, [[0.5811, 0.3615, 0.3311], [0.0090, 0.3456, 0.4916], [0.4099, 0.2929, 0.1773]]),
    ],
)
def test_individual_caps_of_the_sampled_tables(s, printed):
    caps = individual_cap(O3, s)
    assert caps.round(4).tolist() == printed
    assert caps.sum(axis=0) == pytest.approx([1, 1, 1], abs=1e-15)  # theorem 1


def test_highest_individual_cap_of_the_printed_tables_is_in_s_b():
    highest = {name: individual_cap(O3, s).max() for name, s in zip("abeg", (S_A, S_B, S_E, S_G), strict=True)}
    assert max(highest, key=highest.get) == "b"
    assert highest["b"] == pytest.approx(213 / 231, abs=1e-15)


@pytest.mark.parametrize(
    ("o", "s", "exact", "printed", "places"),
    [
        (O3, S_B, Fraction(71962039, 234130050), 0.31, 2),
        (O3, S_G, Fraction(7901985863, 22641535800), 0.35, 2),
        (O4, S_A, Fraction(3769299739, 11859397200), 0.318, 3),
        (O4, S_E, Fraction(25400257, 82309500), 0.309, 3),
        (O1, O1, Fraction(1, 3), 0.333333, 6),
        (O2, O2, Fraction(1), 1, 6),
        (O3, O3, Fraction(6391741, 13360680), 0.478399, 6),
        (O4, O4, Fraction(1375846471, 2822837625), 0.487398, 6),
    ],
)
@pytest.mark.parametrize("unseen", WORDS)
def test_mean_cap_of_the_paper(o, s, exact, printed, places, unseen):
    assert plain_mean(o, s, unseen) == exact
    assert mean_cap(o, s, unseen=unseen) == pytest.approx(float(exact), abs=1e-15)
    assert round(float(exact), places) == printed


@pytest.mark.parametrize(("s", "printed"), [(S_A, 134), (S_E, 272), (O4, 531)])
def test_modal_guess_on_o4(s, printed):
    assert modal_hits(O4, s) == printed


def test_modal_guess_turns_the_paper_s_rankings_round():
    assert mean_cap(O4, S_E) < mean_cap(O4, S_A)
    assert modal_hits(O4, S_E) > modal_hits(O4, S_A)
    assert count_above(O3, S_B, 0.5) > count_above(O3, S_G, 0.5)
    assert (modal_hits(O3, S_B), modal_hits(O3, S_G)) == (171, 269)


def test_naming_the_commonest_target_beats_both_printed_tables():
    everyone_t2 = [[0, 0, 0], [1, 1, 1], [0, 0, 0]]
    assert modal_hits(O4, everyone_t2) == 467 > modal_hits(O4, S_E) > modal_hits(O4, S_A)


@pytest.mark.parametrize(("threshold", "b", "g"), [(0.4, 298, 220), (0.5, 171, 0), (0.75, 93, 0)])
def test_records_above_a_threshold(threshold, b, g):
    assert (count_above(O3, S_B, threshold), count_above(O3, S_G, threshold)) == (b, g)


@pytest.mark.parametrize(
    ("name", "own", "largest", "prior", "least"),
    [
        ("O1", Fraction(1, 3), Fraction(1, 3), Fraction(1, 3), (Fraction(1, 3), Fraction(1, 9))),
        ("O2", Fraction(1), Fraction(1), Fraction(345, 1000), (0, 0)),
        ("O3", Fraction(6391741, 13360680), Fraction(507, 900), Fraction(295442, 810000), (0, 0)),
        ("O4", Fraction(1375846471, 2822837625), Fraction(531, 900), Fraction(359574, 810000), (0, 0)),
    ],
)
def test_anchors_of_each_original(name, own, largest, prior, least):
    o = ORIGINALS[name]
    assert cap_of_original(o) == pytest.approx(float(own), abs=1e-15)
    assert cap_maximum(o) == pytest.approx(float(largest), abs=1e-15)
    assert baseline(o) == pytest.approx(float(prior), abs=1e-15)
    for unseen, value in zip(WORDS, least, strict=True):
        assert cap_minimum_value(o, unseen=unseen) == pytest.approx(float(value), abs=1e-15)


def test_anchors_print_as_in_the_notes():
    assert [round(cap_maximum(o), 6) for o in ORIGINALS.values()] == [0.333333, 1, 0.563333, 0.59]
    assert [round(baseline(o), 6) for o in ORIGINALS.values()] == [0.333333, 0.345, 0.364743, 0.443919]


def test_totals_of_the_printed_tables():
    assert [np.sum(o) for o in ORIGINALS.values()] == [900, 1000, 900, 900]  # the text says 900 for all
    assert [np.sum(s) for s in (S_A, S_B, S_E, S_G)] == [900] * 4


def test_maximum_is_reached_by_the_modal_table():
    modal = [[0, 1, 1], [0, 0, 0], [1, 0, 0]]
    assert mean_cap(O3, modal) == pytest.approx(cap_maximum(O3), abs=1e-15)
    assert cap_maximum(O3) > cap_of_original(O3)


def test_unseen_keys_can_count_as_zero():
    o, s = [[6, 2], [2, 0]], [[1, 0], [1, 0]]
    assert mean_cap(o, s) == 0.5
    assert mean_cap(o, s, unseen="zero") == 0.4
    assert np.isnan(individual_cap(o, s)).tolist() == [[False, True], [False, True]]
    assert modal_hits(o, s) == 4
    assert count_above(o, s, 0) == 8


def test_mean_is_nan_when_every_record_is_skipped():
    o, s = [[3, 0], [1, 0]], [[0, 2], [0, 1]]
    assert math.isnan(mean_cap(o, s))
    assert mean_cap(o, s, unseen="zero") == 0
    assert math.isnan(share_below_original(o, [s]))
    assert share_below_original(o, [s], unseen="zero") == 1
    assert share_below_original(o, [s, o, o]) == 1  # the undefined table is left out


def test_record_at_the_threshold_is_not_above_it():
    assert count_above([[3], [7]], [[1], [9]], 0.1) == 7
    assert count_above([[3], [7]], [[1], [9]], 0.9) == 0


def test_equal_means_that_round_apart_count_as_equal():
    o, s = [[2, 2, 2], [2, 3, 3]], [[6, 0, 4], [1, 2, 1]]
    assert plain_mean(o, s, "skip") == plain_mean(o, o, "skip")
    assert mean_cap(o, s) > cap_of_original(o)  # by one rounding
    assert share_below_original(o, [s]) == 1


def test_ties_of_the_modal_guess_are_shared():
    assert modal_hits([[3, 1], [2, 5], [1, 0]], [[4, 0], [4, 0], [0, 2]]) == 2.5


def test_minimal_table_takes_the_first_cell_among_ties():
    assert minimising_table([[2, 1], [1, 2]], 7).tolist() == [[0, 7], [0, 0]]
    assert minimising_table([[1, 3], [9, 2]], 7).tolist() == [[7, 0], [0, 0]]
    # 3/9 and 1/3 tie as fractions although no cell counts are equal
    assert minimising_table([[3, 1], [3, 1], [3, 1]], 7).tolist() == [[7, 0], [0, 0], [0, 0]]


def test_key_that_nobody_has_is_a_hiding_place_in_version_1_only():
    o = [[2, 0], [3, 0]]
    assert cap_minimum_value(o, unseen="zero") == 0
    assert cap_minimum_value(o) == 0.4
    assert minimising_table(o, 5, unseen="zero").tolist() == [[0, 5], [0, 0]]
    assert minimising_table(o, 5).tolist() == [[5, 0], [0, 0]]


def test_large_counts_do_not_overflow():
    huge = np.array(O3) * 10**15
    assert mean_cap(huge, huge) == pytest.approx(cap_of_original(O3), abs=1e-15)
    assert baseline(huge) == pytest.approx(baseline(O3), abs=1e-15)
    assert individual_cap(huge, huge) == pytest.approx(individual_cap(O3, O3), abs=1e-15)


# Theorems by enumeration: all originals and all synthetic tables of three small shapes.


def all_tables(total, shape):
    n_cells = shape[0] * shape[1]
    for bars in itertools.combinations(range(total + n_cells - 1), n_cells - 1):
        edges = (-1, *bars, total + n_cells - 1)
        yield np.array([b - a - 1 for a, b in itertools.pairwise(edges)]).reshape(shape)


@pytest.mark.first(3)
@pytest.mark.parametrize(
    ("shape", "n", "m"), [((2, 2), 6, 4), ((3, 2), 3, 2), ((2, 3), 3, 2), ((3, 2), 4, 3), ((2, 3), 4, 3)]
)
def test_theorems_hold_for_every_small_table(shape, n, m):
    originals, synthetics = list(all_tables(n, shape)), list(all_tables(m, shape))
    assert len(originals) == {6: 84, 3: 56, 4: 126}[n]
    for s in synthetics:
        sums = individual_cap(originals[0], s).sum(axis=0)
        assert np.all((np.abs(sums - 1) < 1e-12) | (s.sum(axis=0) == 0))  # theorem 1
    keys = [tuple(s.sum(axis=0)) for s in synthetics]
    for o in originals:
        minimal = [is_minimal(o, s) for s in synthetics]
        for unseen in WORDS:
            means = [mean_cap(o, s, unseen=unseen) for s in synthetics]
            least = cap_minimum_value(o, unseen=unseen)
            assert np.nanmin(means) == pytest.approx(least, abs=1e-12)  # theorems 2 and 3
            best = minimising_table(o, m, unseen=unseen)
            assert mean_cap(o, best, unseen=unseen) == pytest.approx(least, abs=1e-12)
            assert np.count_nonzero(best) == 1
            assert best.sum() == m
            of_keys = {}
            for key, mean in zip(keys, means, strict=True):
                of_keys[key] = min(mean, of_keys.get(key, np.inf))
            for key, mean, is_min in zip(keys, means, minimal, strict=True):  # lemma 1
                assert math.isnan(mean) or is_min == (mean - of_keys[key] < 1e-12)
            if unseen == "zero":
                assert max(means) == pytest.approx(cap_maximum(o), abs=1e-12) or m < np.sum(o.any(axis=0))


def test_functions_agree_with_a_plain_oracle_on_small_tables():
    rng = np.random.default_rng(20240917)
    for _ in range(300):
        shape = tuple(int(side) for side in rng.integers(1, 5, 2))
        (o,) = uniform_tables(int(rng.integers(1, 13)), shape, 1, rng)
        (s,) = uniform_tables(int(rng.integers(0, 13)), shape, 1, rng)
        caps = individual_cap(o, s)
        for i, j in itertools.product(*map(range, shape)):
            assert same(caps[i, j], cap_of_record((i, j), s))
        for unseen in WORDS:
            mean, own = plain_mean(o, s, unseen), plain_mean(o, o, unseen)
            assert same(mean_cap(o, s, unseen=unseen), mean)
            assert same(share_below_original(o, [s], unseen=unseen), None if mean is None else int(mean <= own))
        assert same(modal_hits(o, s), plain_modal_hits(o, s))
        for threshold in (0, 0.25, 0.5, 1):
            above = [r for r in records(o) if (cap_of_record(r, s) or 0) > threshold]
            assert count_above(o, s, threshold) == len(above)


# Uniform tables.


def test_all_small_tables_are_drawn_equally_often():
    draws = uniform_tables(3, (2, 2), 40_000, np.random.default_rng(1))
    found, counts = np.unique(draws.reshape(-1, 4), axis=0, return_counts=True)
    assert len(found) == math.comb(6, 3) == 20
    assert set(map(tuple, found.tolist())) == {tuple(t.ravel().tolist()) for t in all_tables(3, (2, 2))}
    expected = 40_000 / 20
    assert ((counts - expected) ** 2 / expected).sum() < 50.8  # chi-square, 19 degrees: one run in 10,000


def test_more_cells_than_records_are_drawn_equally_often():
    draws = uniform_tables(1, (5, 6), 30_000, np.random.default_rng(2)).reshape(-1, 30)
    assert (draws.sum(axis=1) == 1).all()
    counts = draws.sum(axis=0)
    assert ((counts - 1000) ** 2 / 1000).sum() < 66.2  # chi-square, 29 degrees: one run in 10,000


def test_cells_of_the_papers_tables_have_mean_100_and_sd_90():
    draws = uniform_tables(900, (3, 3), 20_000, np.random.default_rng(3)).reshape(-1, 9)
    sd = math.sqrt(900 * 8 * 909 / (81 * 10))
    assert round(sd, 3) == 89.889
    assert (draws.sum(axis=1) == 900).all()
    assert draws.min() == 0
    assert np.abs(draws.mean(axis=0) - 100).max() < 5 * sd / math.sqrt(20_000)
    squares = (draws - 100.0) ** 2
    error = squares.std(axis=0) / math.sqrt(20_000)
    assert np.all(np.abs(squares.mean(axis=0) - sd**2) < 5 * error)


def test_number_of_tables_and_chance_of_an_empty_key():
    assert math.comb(908, 8) == 11110584286373380831
    assert round(math.comb(905, 5) / math.comb(908, 8) * 1e7, 2) == 4.50


@pytest.mark.first(1)
@pytest.mark.parametrize(
    ("name", "share", "sd"),
    [("O1", 1, 0), ("O2", 1, 0.1393), ("O3", 0.99560, 0.0539), ("O4", 0.99363, 0.0637)],
)
def test_noise_is_at_or_below_the_original(name, share, sd):
    n = 20_000
    tables = uniform_tables(900, (3, 3), n, np.random.default_rng(4))
    found = share_below_original(ORIGINALS[name], tables)
    assert abs(found - share) <= 5 * math.sqrt(share * (1 - share) / n) + 1e-12
    means = np.array([mean_cap(ORIGINALS[name], table) for table in tables[:4000]])
    assert means.mean() == pytest.approx(1 / 3, abs=5 * sd / math.sqrt(4000) + 1e-12)
    assert means.std() == pytest.approx(sd, rel=0.06, abs=1e-12)
    if name == "O1":
        assert np.abs(means - 1 / 3).max() < 1e-14  # equal, not smaller


@pytest.mark.parametrize(("name", "share"), [("O1", 1), ("O2", 1), ("O3", 0.497), ("O4", 0.499)])
def test_perfect_resample_is_at_or_below_the_original_half_of_the_time(name, share):
    n, o = 10_000, np.array(ORIGINALS[name])
    tables = np.random.default_rng(5).multinomial(900, o.ravel() / o.sum(), size=n).reshape(n, 3, 3)
    found = share_below_original(o, tables)
    assert abs(found - share) <= 5 * math.sqrt(share * (1 - share) / n)


def test_same_seed_gives_the_same_tables():
    first, second = uniform_tables(9, (2, 3), 4, 7), uniform_tables(9, (2, 3), 4, np.random.default_rng(7))
    assert np.array_equal(first, second)
    assert first.dtype == np.int64
    assert not np.array_equal(first, uniform_tables(9, (2, 3), 4, 8))


@pytest.mark.parametrize(
    ("total", "shape", "size"),
    [(0, (2, 3), 4), (5, (1, 1), 3), (5, (2, 2), 0), (0, (1, 1), 1), (2**62, (2, 2), 3)],
)
def test_uniform_tables_at_the_edges(total, shape, size):
    tables = uniform_tables(total, shape, size, 0)
    assert tables.shape == (size, *shape)
    assert (tables >= 0).all()
    assert (tables.sum(axis=(1, 2)) == total).all()


# Laws.

shapes = st.tuples(st.integers(1, 5), st.integers(1, 5))


@st.composite
def pairs(draw):
    shape = draw(shapes)
    cells = st.lists(st.integers(0, 60), min_size=shape[0] * shape[1], max_size=shape[0] * shape[1])
    o, s = (np.array(draw(cells)).reshape(shape) for _ in range(2))
    assume(o.any())
    rows, columns = draw(st.permutations(range(shape[0]))), draw(st.permutations(range(shape[1])))
    return o, s, np.ix_(rows, columns)


@given(pairs())
def test_order_of_rows_and_columns_changes_nothing(pair):
    o, s, turned = pair
    o2, s2 = o[turned], s[turned]
    close = {"rel": 0, "abs": 1e-12, "nan_ok": True}
    assert individual_cap(o2, s2) == pytest.approx(individual_cap(o, s)[turned], **close)
    for unseen in WORDS:
        assert mean_cap(o2, s2, unseen=unseen) == pytest.approx(mean_cap(o, s, unseen=unseen), **close)
        assert cap_minimum_value(o2, unseen=unseen) == pytest.approx(cap_minimum_value(o, unseen=unseen), **close)
        assert share_below_original(o2, [s2], unseen=unseen) == pytest.approx(
            share_below_original(o, [s], unseen=unseen), **close
        )
    for function in (cap_of_original, cap_maximum, baseline):
        assert function(o2) == pytest.approx(function(o), **close)
    assert modal_hits(o2, s2) == pytest.approx(modal_hits(o, s), **close)
    assert count_above(o2, s2, 0.5) == count_above(o, s, 0.5)
    if s.any():
        assert is_minimal(o2, s2) == is_minimal(o, s)


@given(pairs(), st.integers(1, 9))
def test_means_lie_between_the_minimum_and_the_maximum(pair, times):
    o, s, _ = pair
    zero = mean_cap(o, s, unseen="zero")
    if s.any():
        assert cap_minimum_value(o, unseen="zero") - 1e-12 <= zero
        if not math.isnan(mean_cap(o, s)):
            assert cap_minimum_value(o) - 1e-12 <= mean_cap(o, s) <= 1 + 1e-12
    assert zero <= cap_maximum(o) + 1e-12
    assert baseline(o) - 1e-12 <= cap_of_original(o) <= cap_maximum(o) + 1e-12
    assert mean_cap(o, s * times, unseen="zero") == pytest.approx(zero, abs=1e-12)
    assert modal_hits(o, s) <= cap_maximum(o) * o.sum() + 1e-9


def test_inputs_are_left_alone_and_any_array_will_do():
    o, s = np.array(O3), np.array(S_B)
    value = mean_cap(o, s)
    assert (o.tolist(), s.tolist()) == (O3, S_B)
    frame = pd.DataFrame(O3, index=["x", "y", "z"])
    for other in (O3, tuple(map(tuple, O3)), o.astype(np.uint8), o.astype(float), o.astype(object), frame):
        assert mean_cap(other, S_B) == value
    assert mean_cap(frame, pd.DataFrame(S_B)) == value


# Errors.

TWO = [[1, 2], [3, 4]]
OF_TWO = [individual_cap, mean_cap, modal_hits, is_minimal, lambda o, s: count_above(o, s, 0.5)]
OF_ONE = [cap_of_original, cap_maximum, baseline, cap_minimum_value, lambda o: minimising_table(o, 3)]
BROKEN = {
    "negative": [[1, -2], [3, 4]],
    "1-D": [1, 2],
    "3-D": [TWO],
    "ragged": [[1, 2], [3]],
    "shares": [[0.5, 0.5], [1, 1]],
    "missing": [[1, float("nan")], [1, 1]],
    "infinite": [[1, float("inf")], [1, 1]],
    "none": [[1, None], [1, 1]],
    "words": [["a", "b"], ["c", "d"]],
    "word objects": np.array([["1", "2"], ["3", "4"]], dtype=object),
    "yes and no": [[True, False], [True, True]],
    "complex": [[1j, 0], [0, 1]],
    "masked": np.ma.array(TWO, mask=[[0, 1], [0, 0]]),
    "too large": [[1e30, 0], [0, 1]],
    "too large object": [[10**30, 0], [0, 1]],
    "too large unsigned": np.array([[2**63, 0], [0, 1]], dtype=np.uint64),
    "too large total": [[2**62, 2**62], [0, 1]],
}


@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN.keys())
def test_broken_tables_are_refused(broken):
    for function in OF_TWO:
        with pytest.raises(TableError, match=r"^o: "):
            function(broken, TWO)
        with pytest.raises(TableError, match=r"^s: "):
            function(TWO, broken)
    for function in OF_ONE:
        with pytest.raises(TableError, match=r"^o: "):
            function(broken)


@pytest.mark.parametrize("empty", [[[0, 0], [0, 0]], np.zeros((0, 2), int), np.zeros((2, 0), int)])
def test_empty_original_is_refused(empty):
    for function in OF_TWO:
        with pytest.raises(TableError, match="no records"):
            function(empty, TWO)
    for function in OF_ONE:
        with pytest.raises(TableError, match="no records"):
            function(empty)
    with pytest.raises(TableError, match="no records"):
        share_below_original(empty, [TWO])


@pytest.mark.parametrize("s", [[[1, 2, 3], [4, 5, 6]], [[1], [2]], [[1, 2]]])
def test_shapes_must_agree(s):
    for function in OF_TWO:
        with pytest.raises(TableError, match="shape"):
            function(TWO, s)
    with pytest.raises(TableError, match="shape"):
        share_below_original(TWO, [s])


def test_tables_for_a_share_are_three_dimensional():
    with pytest.raises(TableError, match=r"^tables: expected 3"):
        share_below_original(TWO, TWO)
    with pytest.raises(TableError, match=r"^tables: .*negative"):
        share_below_original(TWO, [[[1, -1], [1, 1]]])
    assert math.isnan(share_below_original(TWO, np.zeros((0, 2, 2), int)))


def test_lemma_1_needs_a_synthetic_record():
    with pytest.raises(TableError, match=r"^s: "):
        is_minimal(TWO, [[0, 0], [0, 0]])


@pytest.mark.parametrize("unseen", ["drop", None, True])
def test_other_words_for_unseen_are_refused(unseen):
    for call in (
        lambda: mean_cap(TWO, TWO, unseen=unseen),
        lambda: cap_minimum_value(TWO, unseen=unseen),
        lambda: minimising_table(TWO, 3, unseen=unseen),
        lambda: share_below_original(TWO, [TWO], unseen=unseen),
    ):
        with pytest.raises(SettingError, match=r"^unseen: "):
            call()


@pytest.mark.parametrize("m", [0, -1, 2.5, True, "3", None])
def test_minimal_table_needs_a_record(m):
    with pytest.raises(SettingError, match=r"^m: "):
        minimising_table(TWO, m)


@pytest.mark.parametrize("threshold", [-0.1, 1.1, float("nan"), "0.5", None, [0.5]])
def test_thresholds_are_proportions(threshold):
    with pytest.raises(SettingError, match=r"^threshold: "):
        count_above(TWO, TWO, threshold)


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ((-1, (2, 2), 1, 0), "total"),
        ((1.5, (2, 2), 1, 0), "total"),
        ((2**63 - 2, (2, 2), 1, 0), "total"),
        ((3, (2, 0), 1, 0), "shape"),
        ((3, (2, 2, 2), 1, 0), "shape"),
        ((3, 4, 1, 0), "shape"),
        ((3, (2, 2), -1, 0), "size"),
        ((3, (2, 2), 1, "seed"), "rng"),
        ((3, (2, 2), 1, -5), "rng"),
    ],
)
def test_impossible_draws_are_refused(arguments, name):
    with pytest.raises(SettingError, match=f"^{name}: "):
        uniform_tables(*arguments)


def test_errors_show_no_count():
    with pytest.raises(TableError) as caught:
        individual_cap([[123456789, -987654321]], [[1, 2]])
    assert "123456789" not in str(caught.value)
    assert "987654321" not in str(caught.value)
