"""What tells real from holdout: the columns they were split by, rows of units, last digits; never the synthetic table."""

import numpy as np
import polars as pl
import pytest

from divulge.case.case import build_case
from divulge.case.comparable.exchangeable import exchangeability
from divulge.case.comparable.split_columns import split_columns
from divulge.case.preconditions import check_all
from divulge.report.external.known_sentences import is_ours


def checks(*tables, **options):
    return {c.check: c for c in check_all(build_case(*tables, **options))}


def people(rng, n):
    return pl.DataFrame(
        {
            "x": rng.normal(size=n).round(2),
            "y": rng.normal(size=n).round(2),
            "c": rng.choice(list("abcd"), n),
        }
    )


def by_home(rng, n, of, mark):
    """Return people who live by twos and threes, in homes of their table alone."""
    homes = np.repeat(np.arange(n), rng.integers(1, 4, n))[:n]
    return people(rng, n).with_columns(pl.Series(of, [f"{mark} {h} Mill Lane" for h in homes]))


@pytest.mark.parametrize("seed", range(3))
def test_a_split_by_home_names_the_column_and_asks_for_it_as_unit(seed):
    rng = np.random.default_rng(seed)
    real, synthetic, holdout = (by_home(rng, 400, "address", mark) for mark in "rsh")
    found = checks(real, synthetic, holdout)
    assert found["exchangeable"].ok
    told = found["rows belong together"]
    assert (
        not told.ok and told.detail.startswith("the tables look split by 'address': 100.0% of") and is_ours(told.detail)
    )
    assert told.detail.endswith("name it by --unit, or split the people at random")
    named = checks(real, synthetic, holdout, unit="address")
    assert named["exchangeable"].ok and named["rows belong together"].ok


def test_a_split_by_hospital_is_one_by_the_larger_unit():
    rng = np.random.default_rng(4)
    tables = [
        people(rng, 300).with_columns(
            person=pl.Series([f"{k}{i // 2}" for i in range(300)]),
            hospital=pl.Series([f"{k}{i // 2 % 5}" for i in range(300)]),
        )
        for k in "rsh"
    ]
    assert list(split_columns(build_case(*tables, unit="person"))) == ["hospital"]


@pytest.mark.parametrize("seed", range(3))
def test_a_random_split_of_people_is_by_no_column(seed):
    rng = np.random.default_rng(seed)
    pot = by_home(rng, 1200, "address", "p")[rng.permutation(1200)]
    assert split_columns(build_case(pot[:400], pot[400:800], pot[800:])) == {}
    # two regions, each in one table: the tables differ, and no unit would mend that
    regions = [pot[k : k + 400].with_columns(region=pl.lit(str(k // 800))) for k in (0, 400, 800)]
    assert split_columns(build_case(*regions)) == {}


def test_no_synthetic_table_changes_whether_the_people_are_a_random_split():
    rng = np.random.default_rng(5)
    real, holdout = people(rng, 200), people(rng, 200)
    expected = exchangeability(build_case(real, real, holdout))
    strange = pl.DataFrame(
        {"x": rng.normal(size=300) * 1e6, "y": rng.integers(0, 9, 300), "c": [f"new {i % 50}" for i in range(300)]}
    )
    for synthetic in (strange, strange.with_columns(c=pl.lit("a")), people(rng, 77)):
        assert exchangeability(build_case(real, synthetic, holdout)) == expected


def test_units_of_real_that_have_more_rows_are_no_random_split():
    rng = np.random.default_rng(6)

    def units(n, rows, mark):
        return people(rng, n * rows).with_columns(u=pl.Series([f"{mark}{i // rows}" for i in range(n * rows)]))

    found = checks(units(100, 5, "r"), units(100, 5, "s"), units(100, 1, "h"), unit="u")["exchangeable"]
    assert not found.ok and "units have 5.0 rows in real and 1.0 in holdout (p = " in found.detail
    assert is_ours(found.detail)
    same = checks(units(100, 2, "r"), units(100, 2, "s"), units(100, 2, "h"), unit="u")["exchangeable"]
    assert same.ok and "units have" not in same.detail


@pytest.mark.parametrize("written", ["float32", "rounded"])
def test_last_digits_that_float32_or_rounding_left_are_named(written):
    rng = np.random.default_rng(7)
    real, synthetic, holdout = (people(rng, 300) for _ in range(3))
    if written == "float32":
        other = holdout.with_columns(pl.col("x").cast(pl.Float32).cast(pl.Float64))
    else:
        other = holdout.with_columns(pl.col("x").round(0) + 0.5)
    found = checks(real, synthetic, other)["exchangeable"]
    assert not found.ok and "Numbers of 'x' have other last digits in real than in holdout" in found.detail
    assert is_ours(found.detail)
    assert checks(real, synthetic, holdout)["exchangeable"].ok


def test_a_column_of_one_value_in_each_table_is_no_random_split():
    rng = np.random.default_rng(8)
    real, synthetic, holdout = (people(rng, 300) for _ in range(3))
    tables = real.with_columns(of=pl.lit("train")), synthetic.with_columns(of=pl.lit("train"))
    assert not checks(*tables, holdout.with_columns(of=pl.lit("test")))["exchangeable"].ok
    assert checks(*tables, holdout.with_columns(of=pl.lit("train")))["exchangeable"].ok


def test_years_of_other_periods_are_a_shift_and_no_unit_alone():
    rng = np.random.default_rng(9)
    real, synthetic, holdout = (
        people(rng, 400).with_columns(year=pl.Series(rng.integers(low, low + 10, 400))) for low in (1990, 1990, 2010)
    )
    assert not checks(real, synthetic, holdout)["exchangeable"].ok


def test_units_too_few_to_tell_are_not_tested():
    rng = np.random.default_rng(10)
    tables = [people(rng, 200).with_columns(u=pl.Series([f"{k}{i % 10}" for i in range(200)])) for k in "rsh"]
    assert "exchangeable" not in checks(*tables, unit="u")
