"""Do the intervals cover, and do many tests stay at their level, on simulated people?

Quick forms run always, their band 3 standard errors wide because the seed is fixed and the runs are few.
Full forms (``-m full``) repeat more and use the 95% band of the simulation's own error.
"""

import math

import numpy as np
import pytest

from divulge.stats import Outcomes, compare, max_t, two_sample

HOUSEHOLDS, SIZE = 80, 5
SIZES = [pytest.param(300, 3.0, id="quick"), pytest.param(1500, 1.96, id="full", marks=pytest.mark.full)]


def band(rate, runs, errors):
    half = errors * math.sqrt(rate * (1 - rate) / runs)
    return rate - half, rate + half


def common_fate(rng, rate):
    """Hits of 80 households of 5 who succeed or fail together: each row its household's, but for 1 in 28."""
    cluster = np.repeat(np.arange(HOUSEHOLDS), SIZE)
    fate, own = rng.random(HOUSEHOLDS) < rate, rng.random(cluster.size) < rate
    return np.where(rng.random(cluster.size) < 0.036, own, fate[cluster]) * 1.0, cluster


def fractional(rng, rate):
    """Values in [0, 1] of households of 1 to 5, the larger ones hit more often; a tenth is skipped."""
    cluster = np.repeat(np.arange(HOUSEHOLDS), rng.integers(1, SIZE + 1, HOUSEHOLDS))
    size = np.bincount(cluster)
    level = rng.beta(4 * rate, 4 * (1 - rate), HOUSEHOLDS) ** np.where(size > 3, 0.8, 1.2)
    value = level[cluster] * rng.choice([0.5, 1.0], cluster.size)
    value[rng.random(cluster.size) < 0.1] = np.nan
    return value, cluster


def true_rate(draw, rate):
    rng, hits, n = np.random.default_rng(99), 0.0, 0
    for _ in range(4000):
        value, _ = draw(rng, rate)
        hits, n = hits + np.nansum(value), n + np.count_nonzero(~np.isnan(value))
    return hits / n


def coverage(draw, p_t, p_c, runs, *, clusters=True, seed=0):
    """Shares of runs whose difference and risk cover the truth, and whose p-value is at most 5%."""
    rng = np.random.default_rng(seed)
    t, c = true_rate(draw, p_t), true_rate(draw, p_c)
    found = np.zeros((runs, 3), dtype=bool)
    for i in range(runs):
        groups = [draw(rng, p) for p in (p_t, p_c)]
        members, strangers = (Outcomes(v, cluster=g if clusters else None) for v, g in groups)
        seen = compare(members, strangers, rng=rng, draws=1000)
        found[i] = (
            seen.difference.low <= t - c <= seen.difference.high,
            seen.risk.low <= (t - c) / (1 - c) <= seen.risk.high,
            seen.p_value <= 0.05,
        )
    return found.mean(axis=0)


@pytest.mark.parametrize(("runs", "errors"), SIZES)
def test_households_cover_when_they_are_the_unit(runs, errors):
    low, high = band(0.95, runs, errors)
    difference, risk, alarms = coverage(common_fate, 0.3, 0.3, runs)
    assert low <= difference <= high
    assert low <= risk <= high
    assert alarms <= band(0.05, runs, errors)[1]


@pytest.mark.parametrize(("runs", "errors"), SIZES)
def test_rows_of_a_household_taken_one_by_one_do_not_cover(runs, errors):
    difference, risk, _ = coverage(common_fate, 0.3, 0.3, runs, clusters=False)
    # 5 rows that agree with correlation .93 count as 1.06: the z of 1.96 is worth 0.9, which covers 63%.
    low, high = band(0.633, runs, errors)
    assert low <= difference <= high
    assert low <= risk <= high


@pytest.mark.parametrize(("runs", "errors"), SIZES)
def test_fractional_values_of_unequal_households_cover(runs, errors):
    low, high = band(0.95, runs, errors)
    difference, risk, _ = coverage(fractional, 0.6, 0.3, runs, seed=1)
    assert low <= difference <= high
    assert low <= risk <= high
    assert coverage(fractional, 0.4, 0.4, runs, seed=2)[2] <= band(0.05, runs, errors)[1]


@pytest.mark.parametrize(("runs", "errors"), SIZES)
def test_the_normal_limits_cover_too(runs, errors, monkeypatch):
    monkeypatch.setattr(two_sample, "RESAMPLE_UP_TO", 10)
    low, high = band(0.95, runs, errors)
    difference, risk, _ = coverage(fractional, 0.6, 0.3, runs, seed=3)
    assert low <= difference <= high
    assert low <= risk <= high


STRANGERS_HIT, RISK, SCORE = 0.01, 0.05, 0.9
DESIGNS = {"100 and 400": (100, 400, 1), "200 and 200": (200, 200, 1), "300 households of 4": (300, 300, 4)}


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("runs", [pytest.param(400, id="quick"), pytest.param(5000, id="full", marks=pytest.mark.full)])
def test_few_fractional_hits_seldom_hide_a_risk(runs, design):
    """Scores of 0 or 0.9, few of them: percentiles of a bootstrap alone lie below the truth in 7 to 14% of runs."""
    n_t, n_c, size = DESIGNS[design]
    p_c = SCORE * STRANGERS_HIT
    p_t = p_c + RISK * (1 - p_c)
    rng = np.random.default_rng(30)
    found = np.zeros((runs, 5), dtype=bool)
    for i in range(runs):
        sides = []
        for n, p in ((n_t, p_t), (n_c, p_c)):
            fate = np.repeat(rng.random(n) < p / SCORE, size)  # a household is hit together
            sides.append(Outcomes(SCORE * fate, cluster=np.repeat(np.arange(n), size) if size > 1 else None))
        seen = compare(*sides, rng=rng, draws=1000)
        both = (seen.difference, p_t - p_c), (seen.risk, RISK)
        found[i] = (
            *(x.high < truth for x, truth in both),
            *(x.low > truth for x, truth in both),
            seen.difference.low > 0,
        )
    short_difference, short_risk, far_difference, far_risk, detected = found.mean(axis=0)
    most = band(0.025, runs, 3.0)[1]
    assert short_risk <= most
    assert short_difference <= most
    assert far_risk <= 0.05
    assert far_difference <= 0.05
    assert detected > 0.1  # wide limits alone would pass everything above


PEOPLE, SECRETS, LEAK = 200, 12, 0.35


def guesses(rng, leak):
    """Whether each of 12 correlated secrets is guessed, for 200 people; the first also leaks."""
    common = rng.normal(size=(PEOPLE, 1))
    hit = math.sqrt(0.3) * common + math.sqrt(0.7) * rng.normal(size=(PEOPLE, SECRETS)) > 0.5
    hit[:, 0] |= rng.random(PEOPLE) < leak
    return hit * 1.0


def family(runs, leak, seed):
    """Per run: a false finding by adjusted p, by simultaneous interval, by plain p; the leak found."""
    rng = np.random.default_rng(seed)
    found = np.zeros((runs, 4), dtype=bool)
    for i in range(runs):
        members, strangers = guesses(rng, leak), guesses(rng, 0.0)
        tests = max_t(members, strangers, rng=rng, draws=999)
        pairs = zip(members.T, strangers.T, strict=True)
        at = [compare(Outcomes(a), Outcomes(b), rng=rng).at(tests.level_each)[0] for a, b in pairs]
        outside = np.array([x.low > 0 or x.high < 0 for x in at])
        null = slice(1 if leak else 0, None)
        found[i] = (
            (tests.p_adjusted[null] <= 0.05).any(),
            outside[null].any(),
            (tests.p_value[null] <= 0.05).any(),
            tests.p_adjusted[0] <= 0.05 and outside[0],
        )
    return found.mean(axis=0)


RUNS = [pytest.param(150, id="quick"), pytest.param(400, id="full", marks=pytest.mark.full)]
LIMITS = [pytest.param(20_000, id="permutations"), pytest.param(10, id="normal limit")]


@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("runs", RUNS)
def test_twelve_secrets_together_raise_few_false_alarms(runs, limit, monkeypatch):
    monkeypatch.setattr(two_sample, "RESAMPLE_UP_TO", limit)
    adjusted, outside, plain, _ = family(runs, 0.0, seed=4)
    most = 0.07 if runs == 400 else band(0.05, runs, 3.0)[1]
    assert adjusted <= most
    assert outside <= most
    assert plain > 0.25  # the correction has something to correct


@pytest.mark.parametrize("runs", RUNS)
def test_the_one_secret_that_leaks_is_found(runs):
    adjusted, _, _, found = family(runs, LEAK, seed=5)
    assert found >= 0.90
    assert adjusted <= (0.07 if runs == 400 else band(0.05, runs, 3.0)[1])
