"""Fair coins: whole-number oracles, numbers of the study, and laws."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import binom

from divulge.core.errors import SettingError
from divulge.stats.fair_coins import (
    fewest_right,
    luck,
    luck_of_each,
    mixture_e_value,
    needed_for_none,
    one_sided_lower,
    one_sided_upper,
    power_at,
    smallest_rate,
)


def exactly(hits, n):
    return Fraction(sum(math.comb(n, k) for k in range(hits, n + 1)), 2**n)


@given(st.integers(1, 60).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_luck_is_the_binomial_tail_in_whole_numbers(case):
    hits, n = case
    assert luck(hits, n) == pytest.approx(float(exactly(hits, n)), rel=1e-12)


def test_the_smallest_numbers_that_are_too_many():
    assert [fewest_right(n) for n in (20, 50, 100, 200, 500, 1000, 5000)] == [15, 32, 59, 113, 269, 527, 2559]
    for n in range(1, 40):
        fewest = fewest_right(n)
        assert fewest == n + 1 or exactly(fewest, n) <= Fraction(1, 20)
        assert exactly(fewest - 1, n) > Fraction(1, 20)


def test_luck_of_each_is_luck_and_nan_without_guesses():
    hits, n = np.array([0, 3, 5, 0]), np.array([4, 4, 5, 0])
    found = luck_of_each(hits, n)
    assert found[:3].tolist() == pytest.approx(
        [luck(h, m) for h, m in zip(hits[:3].tolist(), n[:3].tolist(), strict=True)]
    )
    assert np.isnan(found[3])


@pytest.mark.parametrize(("hits", "n"), [(50, 100), (60, 100), (65, 100), (3, 4), (0, 7)])
def test_the_e_value_is_the_mean_likelihood_ratio(hits, n):
    found = quad(lambda p: 2 * (2 * p) ** hits * (2 * (1 - p)) ** (n - hits), 0.5, 1)[0]
    assert mixture_e_value(hits, n) == pytest.approx(found, rel=1e-6)


def test_the_e_value_has_mean_one_where_nothing_depends_on_the_coins():
    for n in (1, 5, 30):
        k = np.arange(n + 1)
        mean = sum(binom.pmf(i, n, 0.5) * mixture_e_value(int(i), n) for i in k)
        assert mean == pytest.approx(1.0)


def test_looking_early_alarms_with_p_values_and_not_with_the_e_value():
    rng = np.random.default_rng(0)
    hits = rng.binomial(50, 0.5, (400, 20)).cumsum(axis=1)
    n = 50 * np.arange(1, 21)
    by_p = (binom.sf(hits - 1, n, 0.5) <= 0.05).any(axis=1).mean()
    by_e = np.mean(
        [any(mixture_e_value(int(h), int(m)) >= 20 for h, m in zip(row, n, strict=True)) for row in hits[:150]]
    )
    assert by_p > 0.12
    assert by_e <= 0.05


def test_sizes():
    assert needed_for_none(0.05) == 1574
    low, high = (2 * one_sided_upper(n // 2, n, 0.025) - 1 for n in (1574, 1572))
    assert low <= 0.05 < high
    assert power_at(0.55, 643) == pytest.approx(binom.sf(fewest_right(643) - 1, 643, 0.55))
    rate = smallest_rate(400)
    assert power_at(rate, 400) == pytest.approx(0.8)
    assert smallest_rate(4) is None
    assert (one_sided_lower(0, 9, 0.05), one_sided_upper(9, 9, 0.05)) == (0.0, 1.0)


def test_more_hits_than_guesses_are_refused():
    with pytest.raises(SettingError, match="right guesses first"):
        luck(3, 2)
