"""Rows in one order: agreement at lag 0 beside nearby lags, against plain Python; what must not be found."""

import math
from fractions import Fraction as F
from itertools import permutations

import numpy as np
import pytest
from scipy import stats

from divulge.stats.pairing import LEAST, ascents, clearest, follows_order, lagged, telling


def rng(*seed):
    return np.random.default_rng(seed)


def plain(one, other, scales):
    """Agreement at each lag, second differences, and the p-value, in fractions and loops."""
    n = len(one[0])
    reach = min(100, (n - 1) // 4)

    def agreement(lag):
        pairs = [(i, i + lag) for i in range(n) if 0 <= i + lag < n]
        every = [
            F(sum(s - min(abs(int(x[i]) - int(y[j])), s) for i, j in pairs), s * len(pairs))
            for x, y, s in zip(one, other, scales, strict=True)
        ]
        return sum(every) / len(every)

    t = {lag: agreement(lag) for lag in range(-reach - 1, reach + 2)}
    d = {lag: float(t[lag] - (t[lag - 1] + t[lag + 1]) / 2) for lag in range(-reach, reach + 1)}
    rest = [v for lag, v in d.items() if abs(lag) > 1]
    mean, sd = np.mean(rest), np.std(rest, ddof=1) * math.sqrt(1 + 1 / len(rest))
    sd, excess = max(sd, 1 / n), d[0] - mean
    z = excess / math.sqrt(sd**2 + max(0, excess) / (3 * n))
    reached = sum(v >= d[0] - 1e-12 for v in rest) / len(rest)
    return float(t[0]), excess, sd, max(stats.t.sf(z, len(rest) / 2), reached)


@pytest.mark.parametrize(("n", "leak"), [(40, 0), (41, 30), (90, 45)])
def test_lag_0_is_compared_as_plain_python_does(n, leak):
    g = rng(n, leak)
    one = [g.integers(0, 4, n), g.permutation(n)]
    other = [g.integers(0, 4, n), g.permutation(n)]
    for x, y in zip(one, other, strict=True):
        y[:leak] = x[:leak]
    found = lagged(one, other, [1, n])
    rate, excess, sd, p = plain(one, other, [1, n])
    assert found.real.rate == pytest.approx(rate)
    assert found.difference.value == pytest.approx(excess)
    assert (found.spread, found.p_value) == pytest.approx((sd, p), rel=1e-9)
    assert found.holdout.rate == pytest.approx(rate - excess)
    assert found.risk.value == pytest.approx(excess / (1 - rate + excess))
    assert (p < 1e-3) == (leak > 0)


def test_reversing_the_order_changes_no_digit():
    g = rng(1)
    one, other = [g.integers(0, 3, 77), g.permutation(77)], [g.integers(0, 3, 77), g.permutation(77)]
    turned = lagged([x[::-1] for x in one], [y[::-1] for y in other], [1, 77])
    assert turned == lagged(one, other, [1, 77])


def test_rows_that_are_the_same_are_the_whole_risk():
    x = rng(2).integers(0, 10, LEAST)
    found = lagged([x], [x], [1])
    assert (found.real.rate, found.risk.value) == (1, 1)
    assert found.at(0.99)[1].low < found.risk.low < 1 == found.risk.high
    assert found.leak_free(0.95).low < 0 < found.leak_free(0.95).high
    assert found.difference.value - found.difference.low < found.detectable(0.95) < found.detectable(0.95, power=0.9)
    assert found.detectable(0.95) < found.detectable(0.95, 0.99) == found.detectable(0.99)
    assert math.isnan(found.detectable(1 - 1e-12))


def test_values_that_all_differ_need_more_than_a_match():
    """No lag has a match: the spread is that of one match, not nothing."""
    x, y = np.arange(60), np.arange(60) + 100
    y[7] = x[7]
    assert lagged([x], [y], [1]).p_value > 0.1
    assert lagged([x], [x], [1]).p_value < 1e-6


def test_a_pattern_that_recurs_is_no_finding():
    """Rows in fives, the same five in both tables: lag 0 agrees, and so do lags 5 and 10."""
    fives = np.arange(300) % 5
    assert lagged([fives], [fives], [1]).p_value > 0.1


@pytest.mark.parametrize("scale", [1, 5, 10, 30])
def test_neighbours_differ_less_than_rows_at_random(scale):
    from divulge.stats.pairing import _mean_apart

    values = rng(3).integers(0, 12, 15)
    pairs = [min(abs(int(a) - int(b)), scale) for a, b in permutations(values, 2)]
    if scale == 1:
        pairs = [int(a != b) for a, b in permutations(values, 2)]
    assert _mean_apart(values, scale) == pytest.approx(np.mean(pairs))


def test_what_follows_the_order_of_rows():
    g = rng(4)
    group, sorted_in_groups = (
        np.repeat(np.arange(20), 10),
        np.tile(np.arange(10), 20) + np.repeat(g.integers(0, 9, 20), 10),
    )
    assert follows_order(group, 1)
    assert follows_order(np.arange(200), 200)
    assert follows_order(sorted_in_groups, 20)
    assert not follows_order(g.permutation(200), 200)
    assert not follows_order(g.integers(0, 4, 200), 1)
    assert not follows_order(np.array([1]), 1)


def test_ascents_of_every_order_have_the_stated_mean_and_variance():
    n = 6
    seen = [ascents(np.array(p), np.zeros(n, dtype=np.int64)) for p in permutations(range(n))]
    rates = np.array([s.real.hits for s in seen])
    assert rates.mean() == pytest.approx((n - 1) / 2)
    assert rates.var() == pytest.approx((n + 1) / 12) == (seen[0].spread * (n - 1)) ** 2


def test_the_p_value_of_ascents_is_not_below_the_share_of_orders_with_as_many():
    orders = [np.array(p) for p in permutations(range(6))]
    ups = np.array([int((np.diff(p) > 0).sum()) for p in orders])
    for up in (3, 4, 5):
        found = ascents(orders[int(np.argmax(ups == up))], np.zeros(6, dtype=np.int64))
        assert found.p_value >= (ups >= up).mean() - 1e-12


def test_rows_of_different_groups_are_not_compared():
    places, groups = np.array([9, 1, 8, 2, 3, 7]), np.array([1, 0, 1, 0, 0, 1])
    found = ascents(places, groups)
    assert (found.real.hits, found.real.n) == (2, 4)  # 1 2 3 rise, 9 8 7 fall
    assert ascents(places, np.arange(6)) is None


def test_order_is_found_only_where_it_is():
    assert ascents(np.arange(40), np.zeros(40, dtype=np.int64)).p_value < 1e-9
    p = [ascents(rng(5, i).permutation(40), np.zeros(40, dtype=np.int64)).p_value for i in range(400)]
    assert np.mean(np.array(p) <= 0.05) <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 400)


def test_the_column_that_tells_more_pays_for_all():
    rng = np.random.default_rng(3)
    x = rng.integers(0, 9, (4, 500))
    y = rng.integers(0, 9, (4, 500))
    mean, which = telling(list(x), list(y), [1] * 4)
    assert which is None
    assert mean.p_value == min(1, 2 * lagged(list(x), list(y), [1] * 4).p_value)
    assert mean.risk == lagged(list(x), list(y), [1] * 4).at(1 - 0.05 / 2)[1]
    y[2, ::10] = x[2, ::10]
    best, which = telling(list(x), list(y), [1] * 4)
    alone = lagged([x[2]], [y[2]], [1])
    assert which == 2
    assert best.p_value == pytest.approx(8 * alone.p_value)
    assert best.risk == alone.at(1 - 0.05 / 8)[1]
    assert best.at(0.9) == alone.at(1 - 0.1 / 8)
    assert best.leak_free(0.9) == alone.leak_free(1 - 0.1 / 8)
    assert best.detectable(0.9) == alone.detectable(1 - 0.1 / 8)
    assert telling([x[2]], [y[2]], [1]) == (alone, None)


@pytest.mark.slow
def test_columns_tell_nothing_by_chance():
    found, runs = 0, 400
    for seed in range(runs):
        rng = np.random.default_rng([seed, 5])
        rare = rng.random((2, 200)) < 0.03
        one, other = ([*rng.integers(0, 5, (6, 200)), r.astype(np.int64)] for r in rare)
        found += telling(one, other, [1] * 7)[0].p_value <= 0.05
    assert found / runs <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / runs)


def test_agreement_by_chance_is_no_less_than_none():
    one = np.arange(60) // 2 % 2
    found = lagged([one], [1 - one], [1])
    assert 0 <= found.holdout.rate <= 1
    assert found.difference.value == found.real.rate - found.holdout.rate


def test_the_clearest_of_several_pays_for_their_number():
    rng = np.random.default_rng(20)
    x = rng.integers(0, 9, 300)
    y = np.where(rng.random(300) < 0.15, x, rng.integers(0, 9, 300))
    each = [lagged([x], [v], [1], level=0.9) for v in (rng.permutation(x), y, rng.permutation(x))]
    found, which = clearest(each)
    assert which == 1
    assert found.p_value == 3 * each[1].p_value
    wider = each[1].at(1 - 0.1 / 3)[1]
    assert (found.risk.low, found.risk.high) == pytest.approx((wider.low, wider.high))
    assert found.at(0.99)[1].low == pytest.approx(each[1].at(1 - 0.01 / 3)[1].low)
