"""Copies: what equals what, what is near, what is left out, the identifiers' own results, parts of rows."""

from fractions import Fraction as F

import numpy as np
import polars as pl
import pytest
from amount import models, tries
from hypothesis import given, settings
from hypothesis import strategies as st

import divulge
from divulge.case.case import build_case
from divulge.core.errors import ColumnError, SettingError
from divulge.core.result import label
from divulge.core.schema import Column, Schema

row = st.tuples(st.sampled_from(["a", "b", None]), st.sampled_from([1, 2, None]), st.sampled_from([0.5, 1.25, None]))
table = st.lists(row, min_size=1, max_size=14)
SCHEMA = {"A": pl.String, "B": pl.Int64, "C": pl.Float64}


def frame(rows):
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


@settings(max_examples=tries(60), deadline=None, derandomize=True, database=None)
@given(real=table, synthetic=table, holdout=table)
def test_copies_count_as_plain_python_does(real, synthetic, holdout):
    (found,) = divulge.copies(frame(real), frame(synthetic), holdout=frame(holdout), variants=["exact"])
    released = set(synthetic)
    p, q = (F(sum(x in released for x in t), len(t)) for t in (real, holdout))
    assert (found.real.rate, found.holdout.rate) == pytest.approx((float(p), float(q)))
    assert found.difference.value == pytest.approx(float(p - q))
    assert found.risk.value == (None if q == 1 else pytest.approx(float((p - q) / (1 - q))))
    assert found.individual.real.tolist() == [float(x in released) for x in real]
    assert found.individual.holdout.tolist() == [float(x in released) for x in holdout]
    of_synthetic = F(sum(x in set(real) for x in synthetic), len(synthetic))
    assert found.context["share of synthetic rows that equal a real row"] == pytest.approx(float(of_synthetic))
    repeated = F(sum(real.count(x) > 1 for x in real), len(real))
    assert found.context["share of real rows that equal another real row"] == pytest.approx(float(repeated))


def test_values_are_compared_as_they_are_not_by_bins():
    rng = np.random.default_rng(0)
    real = pl.DataFrame({"x": rng.random(200)})
    (found,) = divulge.copies(real, real.with_columns(pl.col("x") + 1e-9), variants=["exact"])
    assert found.real.hits == 0


def test_one_column_can_be_compared_alone():
    real, synthetic = pl.DataFrame({"a": ["x", "y"], "b": [1, 2]}), pl.DataFrame({"a": ["x", "x"], "b": [2, 2]})
    assert [r.real.hits for r in divulge.copies(real, synthetic, variants=["exact"])] == [0]
    exact, near = divulge.copies(real, synthetic, columns=["a"])
    assert (exact.real.hits, exact.variant, exact.keys) == (1, "columns", ("a",))
    assert (near.real.hits, near.variant, near.keys) == (2, "near on 1 column", ("a",))  # x and y are 1 apart


def people(numbers):
    return pl.DataFrame({"person_id": numbers, "sex": ["f", "m"] * (len(numbers) // 2)})


def test_identifiers_are_left_out_and_asked_for_alone():
    rng = np.random.default_rng(1)
    numbers = rng.permutation(10_000)[:290]
    real, holdout = people(numbers[:100]), people(numbers[100:200])
    synthetic = people(np.r_[numbers[:10], numbers[200:290]])
    whole, own, *_ = divulge.copies(real, synthetic, holdout=holdout, variants=["exact", "one column"])
    assert (whole.variant, whole.real.rate, whole.holdout.rate) == ("exact", 1, 1)
    assert any("'person_id'" in n for n in whole.notes)
    assert (own.variant, own.keys, own.real.hits, own.holdout.hits) == ("one column", ("person_id",), 10, 0)
    assert own.verdict == "excess found"


def test_row_numbers_are_counted_but_not_judged():
    """Rows 0 to 99 of one file are in every file of 100 rows; strangers numbered on from there are not."""
    real, holdout = people(np.arange(100)), people(np.arange(100, 200))
    _, own = divulge.copies(real, real, holdout=holdout, variants=["exact", "one column"])
    assert (own.variant, own.keys, own.real.hits, own.holdout.hits) == ("one column", ("person_id",), 100, 0)
    assert (own.verdict, own.risk, own.p_value) == (None, None, None)
    assert any("row numbers recur in every table" in n for n in own.notes)


def test_the_unit_and_ignored_columns_are_not_compared():
    real = pl.DataFrame({"home": ["h1", "h1", "h2"], "sex": ["f", "m", "f"]})
    synthetic = pl.DataFrame({"home": ["s1", "s2"], "sex": ["f", "f"]})
    exact, near = divulge.copies(real, synthetic, holdout=real, unit="home", variants=["exact", "near"])
    assert (exact.real.hits, exact.settings) == (2, {"columns": 1})
    assert (near.real.hits, near.settings) == (2, {"columns": 1, "radius": 0})


def test_the_real_table_released_is_called_so():
    real = pl.DataFrame({"a": ["x", "y", "y"]})
    note = "the synthetic table is the real table, row for row"
    assert note in divulge.copies(real, real.reverse())[0].notes
    assert note not in divulge.copies(real, real[:2])[0].notes


def test_strangers_who_are_all_copied_leave_the_risk_undefined():
    real, released = pl.DataFrame({"a": ["x", "y"]}), pl.DataFrame({"a": ["y", "z"]})
    (found,) = divulge.copies(real, released, holdout=released, variants=["exact"])
    assert (found.difference.value, found.risk.value, found.score) == (-0.5, None, None)
    assert found.verdict == "cannot tell"


def test_something_must_be_left_to_compare():
    ids = pl.DataFrame({"home": ["a", "b"]})
    with pytest.raises(SettingError, match="no column to compare"):
        divulge.copies(ids, ids, unit="home", variants=["exact", "near"])


@pytest.mark.parametrize(("columns", "error"), [(["a", "b"], ColumnError), (["b"], ColumnError)])
def test_wrong_columns_are_told(columns, error):
    real = pl.DataFrame({"a": ["x", "y"]})
    with pytest.raises(error, match="hint:"):
        divulge.copies(real, real, columns=columns)


# ---------------------------------------------------------------- near copies


def numbers(**columns):
    """A table whose columns are numbers although they have few values."""
    return pl.DataFrame({name: np.asarray(values, dtype=float) for name, values in columns.items()})


def near_of(results):
    (found,) = [r for r in results if r.variant == "near"]
    return found


def test_near_is_within_the_distance_of_the_nearest_stranger():
    """Ranges of people: 0 to 100. The 1% quantile of 2 distances is the smaller one: 1.5 / 100."""
    real, holdout = numbers(x=[0.0, 10.5, 50.25, 100]), numbers(x=[12, 80.5])
    found = near_of(divulge.copies(real, numbers(x=[11.75, 49, 96]), holdout=holdout))
    assert found.settings == {"columns": 1, "radius": 0.015}
    assert found.individual.real.tolist() == [0, 1, 1, 0]  # nearest synthetic: 11.75, 1.25, 1.25 and 4 away
    assert found.individual.holdout.tolist() == [1, 0]  # 0.25 and 15.5
    assert (found.difference.value, found.risk.value) == (0, 0)
    assert found.context == {"radius": 0.015}
    assert "at most 0.015 (mean over columns, at most 1), the 1% quantile of the holdout" in found.notes[0]


def test_the_radius_is_the_second_smallest_of_150_distances():
    """1% of 150 is 1.5, and the quantile has at least that many distances at or below it."""
    real, holdout = numbers(x=[0.0, 100]), numbers(x=np.arange(1, 151) / 5)
    found = near_of(divulge.copies(real, numbers(x=[50.0]), holdout=holdout))
    assert found.settings["radius"] == pytest.approx(2 / 5 / 100)


def test_the_border_is_near_whatever_the_unit():
    """0.3 and 0.1 x 3 are 0.3 in no float: a distance at the border must not fall to either side by rounding."""
    real, holdout, synthetic = [0.0, 0.7, 5.0, 10.0], [0.4, 9.0], [1.1, 4.6]
    for factor, shift in [(1, 0), (3, 7), (0.1, 0), (1e6, -3), (-1, 0.1)]:
        tables = [numbers(x=np.array(x) * factor + shift) for x in (real, synthetic, holdout)]
        number = {"holdout": tables[2], "schema": Schema((Column("x", "numeric"),))}
        found = near_of(divulge.copies(tables[0], tables[1], **number))
        assert found.settings["radius"] == 0.03
        assert found.individual.real.tolist() == [0, 0, 0, 0]
        wider = near_of(divulge.copies(tables[0], tables[1], radius=0.04, **number))
        assert wider.individual.real.tolist() == [0, 1, 1, 0]


def test_without_a_holdout_the_real_records_distances_to_each_other_are_taken():
    found = near_of(divulge.copies(numbers(x=[0.0, 2.5, 10, 4]), numbers(x=[3.25, 8])))
    assert found.settings["radius"] == 0.15
    assert found.individual.real.tolist() == [0, 1, 0, 1]
    assert (found.verdict, found.holdout, found.risk) == ("no holdout", None, None)
    assert "for want of a holdout" in found.notes[0]


def test_where_strangers_equal_real_records_near_is_exact():
    real, holdout = pl.DataFrame({"a": ["x", "y", "z"]}), pl.DataFrame({"a": ["x", "w"]})
    exact, near = divulge.copies(real, pl.DataFrame({"a": ["y", "y"]}), holdout=holdout)
    assert near.settings["radius"] == 0
    assert near.individual.real.tolist() == exact.individual.real.tolist() == [0, 1, 0]
    assert "at 0 a near copy is an exact one" in near.notes[0]


@settings(max_examples=tries(60), deadline=None, derandomize=True, database=None)
@given(real=table, synthetic=table, holdout=table)
def test_near_copies_count_as_plain_python_does(real, synthetic, holdout):
    """The definition in fractions: mean over columns of |a - b| / range (at most 1), or 0 and 1 for categories."""
    usable = [j for j, c in enumerate("ABC") if build_case(frame(real), frame(synthetic)).schema[c].kind != "constant"]
    results = divulge.copies(frame(real), frame(synthetic), holdout=frame(holdout), variants=["exact", "near"])
    if not usable:
        assert [r.variant for r in results] == ["exact"]
        assert any("no column enters a distance" in n for n in results[0].notes)
        return
    found = near_of(results)
    # with up to 14 rows B has few whole numbers, which are codes; C has decimals
    values = [F(r[2]) for r in real + holdout if r[2] is not None]
    span = max(values) - min(values) if values else 0

    def apart(a, b):
        total = F(0)
        for j in usable:
            if j < 2 or a[j] is None or b[j] is None or not span:
                total += a[j] != b[j]
            else:
                total += min(F(1), abs(F(a[j]) - F(b[j])) / span)
        return total / len(usable)

    radius = sorted(min(apart(c, r) for r in real) for c in holdout)[0]
    assert found.settings["radius"] == pytest.approx(float(radius), rel=1e-8)
    for role, rows in (("real", real), ("holdout", holdout)):
        expected = [float(min(apart(x, s) for s in synthetic) <= radius) for x in rows]
        assert getattr(found.individual, role).tolist() == expected


def test_near_leaves_out_texts_and_says_so():
    words = [f"{'lorem ipsum dolor sit amet consectetur ' * 2}{i}" for i in range(40)]
    real = pl.DataFrame({"story": words, "x": np.arange(40) / 7})
    exact, near, *_ = divulge.copies(real, real.with_columns(story=pl.lit("another one")))
    assert (exact.real.hits, near.real.hits) == (0, 40)
    assert "left out of the distance: 'story'" in near.notes


def test_households_are_the_unit_of_near_copies():
    rng = np.random.default_rng(3)

    def homes(n, prefix):
        return pl.DataFrame({"x": rng.random(4 * n), "y": rng.random(4 * n), "home": np.repeat([f"{prefix}{i}" for i in range(n)], 4)})  # fmt: skip

    real, holdout = homes(30, "r"), homes(30, "h")
    synthetic = pl.concat([real[:40], homes(20, "s")])
    alone = near_of(divulge.copies(real.drop("home"), synthetic.drop("home"), holdout=holdout.drop("home")))
    found = near_of(divulge.copies(real, synthetic, holdout=holdout, unit="home"))
    assert found.individual.real.tolist() == alone.individual.real.tolist()
    assert found.comparison.real.n_clusters == 30
    width, narrow = (r.difference.high - r.difference.low for r in (found, alone))
    assert width > 1.5 * narrow  # a home is copied as a whole


def test_tables_that_live_elsewhere_are_compared_exactly_only():
    duckdb = pytest.importorskip("duckdb")
    pytest.importorskip("pyarrow")
    real = pl.DataFrame({"a": ["x", "y"], "b": ["u", "v"]})
    (found,) = divulge.copies(duckdb.from_arrow(real.to_arrow()), real)
    assert (found.variant, found.real.hits) == ("exact", 2)
    assert "near copies were not searched: they need every row in memory. hint: collect the tables" in found.notes
    assert [n for n in found.notes if n.endswith("not tested, it needs every row in memory")] == [
        "linked: not tested, it needs every row in memory", "row order: not tested, it needs every row in memory"
    ]  # fmt: skip


@pytest.mark.parametrize(
    "wrong", [{"variants": ["all"]}, {"variants": []}, {"variants": "near"}, {"radius": 1.5}, {"radius": -0.1}]
)
def test_wrong_settings_are_told(wrong):
    real = pl.DataFrame({"a": ["x", "y"]})
    with pytest.raises(SettingError, match="hint:"):
        divulge.copies(real, real, **wrong)


# ---------------------------------------------------------------- parts of a row, and one family


def independent(rng, n, d=6):
    return pl.DataFrame({f"x{j}": rng.standard_normal(n) for j in range(d)})


def test_columns_that_are_named_are_compared_exactly_and_nearly():
    rng = np.random.default_rng(4)
    real, synthetic, holdout = (independent(rng, 120) for _ in range(3))
    synthetic = synthetic.with_columns(x1=real["x1"], x4=real["x4"] + 1e-6)
    exact, near = divulge.copies(real, synthetic, holdout=holdout, columns=["x4", "x1"])
    assert (exact.variant, exact.keys, exact.real.hits) == ("columns", ("x4", "x1"), 0)
    assert (near.variant, near.keys, near.real.hits) == ("near on 2 columns", ("x4", "x1"), 120)
    assert near.verdict == "excess found"


def test_half_a_row_is_found_on_its_columns():
    rng = np.random.default_rng(5)
    real, synthetic, holdout = (independent(rng, 100) for _ in range(3))
    some = [c for c in real.columns if c in ("x0", "x2", "x5")]
    synthetic = synthetic.with_columns(pl.concat([real[:40], synthetic[40:]])[c] for c in some)
    results = divulge.copies(real, synthetic, holdout=holdout)
    names = [r.variant for r in results if not r.variant.startswith("near on")]
    assert names == [
        "exact",
        "near",
        "all but one",
        *["one column"] * 6,
        *["one column, nearly equal"] * 6,
        "row, shifted",
        *["linked"] * 3,
        "row order",
    ]
    assert len(results) == 41 + len(names)  # the sets of 3 to 5 of 6 columns
    assert {r.verdict for r in results[:2]} | {r.verdict for r in results if r.variant == "all but one"} <= {
        "none found", "cannot tell"
    }  # fmt: skip
    assert [r.keys[0] for r in results if r.variant == "one column" and r.verdict == "excess found"] == some
    (found,) = [r for r in results if r.keys == ("x0", "x2", "x5")]
    assert (found.variant, found.verdict) == ("near on 3 columns", "excess found")
    assert 40 <= found.real.hits <= 44
    assert found.real.hits - found.individual.real[:40].sum() <= 4
    assert any("all 41 sets of 3 to 5 columns" in n for n in near_of(results).notes)


@pytest.mark.slow
def test_verdicts_of_a_direct_call_hold_together_and_are_those_of_assess():
    rng = np.random.default_rng(6)
    real, synthetic, holdout = (independent(rng, 80, 5) for _ in range(3))
    synthetic = pl.concat([real[:6].with_columns(x0=synthetic["x0"][:6]), synthetic[6:]])
    results = divulge.copies(real, synthetic, holdout=holdout)
    assert len([r for r in results if r.comparison is not None]) == len(results) == 4 + 15 + 2 * 5 + 1
    for r in results:
        assert r.p_adjusted >= r.p_value
        assert r.risk.low_simultaneous <= r.risk.low <= r.risk.high <= r.risk.high_simultaneous
        assert r.difference.low_simultaneous <= r.difference.low
    assert any(r.p_adjusted > 2 * r.p_value for r in results)
    report = divulge.assess(real, synthetic, holdout=holdout, search="off", models=models())
    there = {label(r): r for r in report.results if r.attack == "copies"}
    assert there.keys() == {label(r) for r in results}
    for r in results:
        other = there[label(r)]
        assert (r.risk, r.difference, r.p_value, r.p_adjusted) == (other.risk, other.difference, other.p_value, other.p_adjusted)  # fmt: skip


def test_sets_of_columns_that_match_nearly_everybody_are_left_out():
    rng = np.random.default_rng(7)
    real, synthetic, holdout = (pl.DataFrame({c: rng.choice(["u", "v"], 60) for c in "abcd"}) for _ in range(3))
    results = divulge.copies(real, synthetic, holdout=holdout)
    assert [r.variant for r in results] == ["exact", "near", "all but one", "row order"]
    assert any("4 of these sets match more than 75% of all people" in n for n in near_of(results).notes)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_tiny_tables_have_an_answer(n):
    rng = np.random.default_rng(n)
    real, synthetic, holdout = (independent(rng, n, 4) for _ in range(3))
    for tables in ((real, synthetic, None), (real, synthetic, holdout), (real, synthetic[:1], holdout[:1])):
        results = divulge.copies(tables[0], tables[1], holdout=tables[2])
        assert results[0].variant == "exact"


def test_the_real_table_released_is_found_on_every_set():
    rng = np.random.default_rng(8)
    real, holdout = independent(rng, 90, 4), independent(rng, 90, 4)
    for r in divulge.copies(real, real, holdout=holdout):
        assert (r.risk.value, r.verdict) == (1, "excess found")
        assert "the synthetic table is the real table, row for row" in r.notes
