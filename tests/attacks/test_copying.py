"""Whole-row copies: what equals what, what is left out, and the identifiers' own results."""

from fractions import Fraction as F

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import divulge
from divulge.errors import ColumnError, SettingError

row = st.tuples(st.sampled_from(["a", "b", None]), st.sampled_from([1, 2, None]), st.sampled_from([0.5, 1.25, None]))
table = st.lists(row, min_size=1, max_size=14)
SCHEMA = {"A": pl.String, "B": pl.Int64, "C": pl.Float64}


def frame(rows):
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


@settings(max_examples=60, deadline=None, derandomize=True, database=None)
@given(real=table, synthetic=table, holdout=table)
def test_copies_count_as_plain_python_does(real, synthetic, holdout):
    (found,) = divulge.copies(frame(real), frame(synthetic), holdout=frame(holdout))
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
    (found,) = divulge.copies(real, real.with_columns(pl.col("x") + 1e-9))
    assert found.real.hits == 0


def test_one_column_can_be_compared_alone():
    real, synthetic = pl.DataFrame({"a": ["x", "y"], "b": [1, 2]}), pl.DataFrame({"a": ["x", "x"], "b": [2, 2]})
    assert [r.real.hits for r in divulge.copies(real, synthetic)] == [0]
    (found,) = divulge.copies(real, synthetic, columns=["a"])
    assert (found.real.hits, found.variant, found.keys) == (1, "columns", ("a",))


def people(numbers):
    return pl.DataFrame({"person_id": numbers, "sex": ["f", "m"] * (len(numbers) // 2)})


def test_identifiers_are_left_out_and_asked_for_alone():
    rng = np.random.default_rng(1)
    numbers = rng.permutation(10_000)[:290]
    real, holdout = people(numbers[:100]), people(numbers[100:200])
    synthetic = people(np.r_[numbers[:10], numbers[200:290]])
    whole, own = divulge.copies(real, synthetic, holdout=holdout)
    assert (whole.variant, whole.real.rate, whole.holdout.rate) == ("exact", 1, 1)
    assert any("'person_id'" in n for n in whole.notes)
    assert (own.variant, own.real.hits, own.holdout.hits) == ("identifier person_id", 10, 0)
    assert own.verdict == "excess found"


def test_row_numbers_are_counted_but_not_judged():
    """Rows 0 to 99 of one file are in every file of 100 rows; strangers numbered on from there are not."""
    real, holdout = people(np.arange(100)), people(np.arange(100, 200))
    _, own = divulge.copies(real, real, holdout=holdout)
    assert (own.variant, own.real.hits, own.holdout.hits) == ("identifier person_id", 100, 0)
    assert (own.verdict, own.risk, own.p_value) == (None, None, None)
    assert any("row numbers recur in every table" in n for n in own.notes)


def test_the_unit_and_ignored_columns_are_not_compared():
    real = pl.DataFrame({"home": ["h1", "h1", "h2"], "sex": ["f", "m", "f"]})
    synthetic = pl.DataFrame({"home": ["s1", "s2"], "sex": ["f", "f"]})
    (found,) = divulge.copies(real, synthetic, holdout=real, unit="home")
    assert (found.real.hits, found.settings) == (2, {"columns": 1})


def test_the_real_table_released_is_called_so():
    real = pl.DataFrame({"a": ["x", "y", "y"]})
    note = "the synthetic table is the real table, row for row"
    assert note in divulge.copies(real, real.reverse())[0].notes
    assert note not in divulge.copies(real, real[:2])[0].notes


def test_strangers_who_are_all_copied_leave_the_risk_undefined():
    real, released = pl.DataFrame({"a": ["x", "y"]}), pl.DataFrame({"a": ["y", "z"]})
    (found,) = divulge.copies(real, released, holdout=released)
    assert (found.difference.value, found.risk.value, found.score) == (-0.5, None, None)
    assert found.verdict == "cannot tell"


def test_something_must_be_left_to_compare():
    ids = pl.DataFrame({"home": ["a", "b"]})
    with pytest.raises(SettingError, match="no column to compare"):
        divulge.copies(ids, ids, unit="home")


@pytest.mark.parametrize(("columns", "error"), [("a", SettingError), (["b"], ColumnError)])
def test_wrong_columns_are_told(columns, error):
    real = pl.DataFrame({"a": ["x", "y"]})
    with pytest.raises(error, match="hint:"):
        divulge.copies(real, real, columns=columns)
