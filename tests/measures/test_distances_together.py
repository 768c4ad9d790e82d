"""Distances of several synthetic tables from one real table: numbers by hand, and what must not change them."""

import math

import numpy as np
import polars as pl
import pytest
from scipy.stats import t

from divulge.case.case import build_case
from divulge.measures.distances_together import distances_together
from divulge.stats.shared_error import contrasts


def share(women, n=100):
    return pl.DataFrame({"sex": ["f"] * women + ["m"] * (n - women)})


def contrast(real, tables, groups=None, **settings):
    found = distances_together(build_case(real, tables, **settings))[-1]
    groups = groups or [[i] for i in range(len(tables))]
    return contrasts(found.excess, found.without_real, found.without_own, groups)


def half_width(variances, k=100):
    """Half the width by Satterthwaite's degrees of freedom, from independent variances of k rows each."""
    total = sum(variances)
    return t.ppf(0.975, total**2 / sum(v * v / (k - 1) for v in variances)) * math.sqrt(total)


def test_the_error_of_the_real_table_cancels_on_one_side_and_counts_twice_on_two():
    # distances .2 and .3 on the same side: the real share moves both alike, p (1 - p) / (n - 1) of each table is left
    (one,) = contrast(share(50), [share(70), share(80)])
    assert one.difference == pytest.approx(-0.1, abs=0.005)  # but for the floors
    assert (one.high - one.low) / 2 == pytest.approx(half_width([0.21 / 99, 0.16 / 99]), rel=1e-6)
    # .2 above and .2 below: the real share moves them apart, with four times its variance
    (two,) = contrast(share(50), [share(70), share(30)])
    assert two.difference == pytest.approx(0, abs=0.005)
    assert (two.high - two.low) / 2 == pytest.approx(half_width([4 * 0.25 / 99, 0.21 / 99, 0.21 / 99]), rel=1e-6)


def rows(seed, n=120, shift=0.0):
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 4, n)
    b = np.where(rng.random(n) < 0.7, a, rng.integers(0, 4, n))
    return pl.DataFrame({"a": a.astype(str), "b": b.astype(str), "x": np.round(rng.normal(shift, 1, n), 2)})


REAL, ONE, OTHER = rows(0), rows(1, shift=0.5), rows(2)


def same(found, other):
    assert [vars_of(c) for c in found] == [vars_of(c) for c in other]


def vars_of(c):
    return c.difference, c.low, c.high, c.first_low, c.second_low


def test_order_of_releases_changes_the_sign_alone():
    (a,), (b,) = contrast(REAL, [ONE, OTHER]), contrast(REAL, [OTHER, ONE])
    assert (b.difference, b.low, b.high) == pytest.approx((-a.difference, -a.high, -a.low), abs=1e-12)
    assert (b.first_low, b.second_low) == (a.second_low, a.first_low)


def test_row_order_and_names_of_categories_change_nothing():
    expected = contrast(REAL, [ONE, OTHER])
    same(contrast(REAL.sample(fraction=1, shuffle=True, seed=3), [ONE.reverse(), OTHER]), expected)
    renamed = [
        f.with_columns(pl.col("a").replace_strict({"0": "z", "1": "y", "2": "b", "3": "w"})) for f in (REAL, ONE, OTHER)
    ]
    same(contrast(renamed[0], renamed[1:]), expected)


def test_equal_tables_differ_by_nothing_and_a_copy_is_at_no_distance():
    found = contrast(REAL, [ONE, ONE.reverse(), REAL])
    assert found[0].difference == 0 and found[0].low < 0 < found[0].high
    assert distances_together(build_case(REAL, [REAL, ONE]))[1].value[0] == 0


def test_of_a_larger_table_as_many_rows_are_compared():
    many = pl.concat([rows(10 + i, shift=0.5) for i in range(5)])
    found = distances_together(build_case(REAL, [ONE, many]))[1]
    assert found.sizes == (120, 120) and found.without_own.shape == (2, 120)
    assert found.fresh[1] == pytest.approx(found.fresh[0], rel=0.05)
    assert distances_together(build_case(REAL, [ONE, many[:2]])) == ()


def test_several_tables_of_a_generator_have_the_spread_between_them():
    (found,) = contrast(REAL, [ONE, rows(5, shift=0.5), rows(6, shift=0.5), OTHER], [[0, 1, 2], [3]])
    (alone,) = contrast(REAL, [ONE, OTHER])
    assert found.low < found.difference < found.high and found.high - found.low != alone.high - alone.low
    means = contrasts(np.array([1.0, 3.0, 2.0]), np.zeros((3, 2)), np.zeros((3, 2)), [[0, 1], [2]])
    assert means[0].difference == 0 and means[0].high == pytest.approx(
        12.706205 * 1.0
    )  # t with 1 df, sd sqrt(2) / sqrt(2)


def test_the_rows_of_a_person_are_in_one_block():
    twice = [pl.concat([f.with_columns(who=pl.int_range(pl.len())) for _ in range(2)]) for f in (REAL, ONE, OTHER)]
    (by_person,) = contrast(twice[0], twice[1:], unit="who")
    (by_row,) = contrast(twice[0].drop("who"), [f.drop("who") for f in twice[1:]])
    assert by_person.high - by_person.low > 1.2 * (by_row.high - by_row.low)
