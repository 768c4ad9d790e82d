"""The smallest detectable excess: by the formula, by enumeration, and as the comparisons state it."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from divulge.core.errors import SettingError
from divulge.stats import Outcomes, compare, newcombe, smallest_detectable
from divulge.stats.exact import fisher
from divulge.stats.power import fewest_hits, smallest_share


def rng(seed=0):
    return np.random.default_rng(seed)


def binary(hits, n):
    return Outcomes(np.array([1.0, 0.0]), count=np.array([hits, n - hits]))


@given(st.floats(0.02, 0.95), st.integers(600, 10**6), st.floats(0.9, 5), st.sampled_from([0.95, 0.99, 0.9995]))
def test_it_solves_its_equation(p_c, n_t, ratio, level):
    n_c = round(n_t * ratio)
    d = smallest_detectable(p_c, n_t, n_c, level=level)
    assume(not math.isnan(d))
    p_t, more = p_c + d, 1 / n_t + 1 / n_c
    p = (n_t * p_t + n_c * p_c) / (n_t + n_c)
    null, own = math.sqrt(p * (1 - p) * more), math.sqrt(p_t * (1 - p_t) / n_t + p_c * (1 - p_c) / n_c)
    needed = stats.norm.ppf(1 - (1 - level) / 2) * null + stats.norm.ppf(0.8) * own + more / 2
    least = stats.binom.sf(fewest_hits(n_t, n_c, 0, level, level) - 1, n_t, d)
    assert d == pytest.approx(needed, rel=1e-6) or (d > needed and least == pytest.approx(0.8, rel=1e-6))


def power_of(p_t, n, p_c, m, level):
    """The chance of a finding, by enumeration of all tables with more than a chance of 1e-6."""
    own, other = stats.binom(n, p_t), stats.binom(m, p_c)
    ks = range(int(own.ppf(1e-4)), int(own.ppf(1 - 1e-4)) + 1)
    ls = range(int(other.ppf(1e-4)), int(other.ppf(1 - 1e-4)) + 1)
    return sum(
        own.pmf(k) * other.pmf(j)
        for k in ks
        for j in ls
        if k * m > j * n and fisher(k, n, j, m) <= 1 - level and newcombe(k, n, j, m, level).low > 0
    )


@pytest.mark.parametrize(
    ("p_c", "n", "m", "level"),
    [(0.1, 150, 150, 0.95), (0.3, 60, 150, 0.95), (0.2, 150, 60, 0.998), (0.0, 90, 50, 0.99)],
)
def test_the_power_is_what_it_promises(p_c, n, m, level):
    d = smallest_detectable(p_c, n, m, level=level)
    assert 0.77 <= power_of(p_c + d, n, p_c, m, level) <= (0.9 if p_c else 0.97)


def test_few_hits_are_enumerated():
    """2 of 80 strangers, taken as 7/3 of 80 + 1/3: the excess has power .8 exactly."""
    d, p = smallest_detectable(2 / 80, 60, 80, level=0.99), (2 + 1 / 3) / (80 + 1 / 3)
    assert power_of(p + d, 60, p, 80, 0.99) == pytest.approx(0.8, abs=2e-3)


def test_a_stricter_level_needs_more_and_so_does_more_power():
    found = [smallest_detectable(0.1, 400, 300, level=level) for level in (0.9, 0.95, 0.999)]
    assert found == sorted(found)
    assert found[0] < found[2]
    assert smallest_detectable(0.1, 400, 300, power=0.9) > smallest_detectable(0.1, 400, 300)
    # few hits: the interval's level counts too
    assert smallest_detectable(0.0, 2000, 300, limits=0.999) > smallest_detectable(0.0, 2000, 300)


def test_six_hits_against_none_are_the_fewest_at_equal_sizes():
    # 2 * C(2000, 6) / C(4000, 6) = .031 and one less .062
    assert fewest_hits(2000, 2000, 0, 0.95, 0.95) == 6
    assert fewest_hits(3, 3, 0, 0.95, 0.95) == 4  # 3 of 3 against none: p = .1
    assert stats.binom.sf(5, 2000, smallest_share(6, 2000)) == pytest.approx(0.8)
    assert math.isnan(smallest_share(4, 3))


def test_nothing_is_detectable_without_people_or_without_room():
    assert math.isnan(smallest_detectable(0.3, 0, 10))
    assert math.isnan(smallest_detectable(1.0, 10, 10))
    assert math.isnan(smallest_detectable(0.9, 5, 5))
    assert math.isnan(smallest_detectable(math.nan, 5, 5))
    assert math.isnan(smallest_detectable(0.0, 3, 3))
    with pytest.raises(SettingError, match="power"):
        smallest_detectable(0.3, 10, 10, power=1.0)


def test_hits_detect_what_proportions_do():
    found = compare(binary(30, 400), binary(40, 300), rng=rng())
    assert found.detectable(0.95) == smallest_detectable(40 / 300, 400, 300)
    assert found.detectable(0.99, power=0.9) == smallest_detectable(40 / 300, 400, 300, level=0.99, power=0.9)


def test_clusters_detect_less_than_their_rows_would():
    value, other = np.repeat(rng(1).random(80), 4), np.repeat(rng(2).random(90), 4)
    clusters = [Outcomes(v, cluster=np.arange(v.size) // 4) for v in (value, other)]
    found = compare(*clusters, rng=rng()).detectable(0.95)
    rows = compare(Outcomes(value), Outcomes(other), rng=rng()).detectable(0.95)
    assert found > 1.7 * rows
    alone = compare(Outcomes(value[::4]), Outcomes(other[::4]), rng=rng()).detectable(0.95)
    assert found == pytest.approx(alone, rel=1e-6)


def test_nothing_is_detectable_where_strangers_leave_no_room():
    near_one = Outcomes(1 - 0.2 * rng(1).random(8) ** 4)
    assert math.isnan(compare(Outcomes(rng(2).random(6)), near_one, rng=rng()).detectable(0.95))
    assert math.isnan(compare(Outcomes(np.array([])), near_one, rng=rng()).detectable(0.95))
