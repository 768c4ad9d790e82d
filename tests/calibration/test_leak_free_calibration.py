"""The band that leak-free data give: without a leak the risk lies in it as often as it says, with one it leaves it.

Bands of a share of R runs with true share s move by sqrt(s (1 - s) / R); three of these on either side are let pass,
and two hundredths more where few hits come in whole steps.
"""

import numpy as np
import pytest
from scipy.stats import binom

from divulge.stats.attraction import attraction
from divulge.stats.intervals import Interval
from divulge.stats.outcomes import Outcomes
from divulge.stats.two_sample import compare

QUICK, FULL = 200, 4000


def inside(risk: Interval, band: Interval) -> bool:
    return band.low <= risk.value <= band.high


def share(found, runs):
    return np.mean(found), 3 * np.sqrt(0.05 * 0.95 / runs)


def people(rng, kind, n, p):
    if kind == "hits":
        return Outcomes((rng.random(n) < p).astype(float))
    if kind == "chances":
        return Outcomes(rng.beta(p, 1 - p, n))
    household = np.repeat(np.arange(n // 3 + 1), 3)[:n]
    alike = rng.beta(2 * p, 2 * (1 - p), n // 3 + 1)[household]
    return Outcomes((rng.random(n) < alike).astype(float), cluster=household)


@pytest.mark.parametrize("runs", [QUICK, pytest.param(FULL, marks=pytest.mark.full)])
@pytest.mark.parametrize(("n", "m"), [(300, 300), (600, 150)])
@pytest.mark.parametrize(
    ("kind", "p"), [("hits", 0.5), ("hits", 0.1), ("hits", 0.02), ("chances", 0.3), ("homes", 0.3)]
)
def test_leak_free_risks_lie_in_the_band(kind, p, n, m, runs):
    rng = np.random.default_rng([n, m, int(100 * p)])
    found = []
    for _ in range(runs):
        one = compare(people(rng, kind, n, p), people(rng, kind, m, p), rng=rng, draws=0)
        found.append(inside(one.risk, one.leak_free(0.95)))
    seen, width = share(found, runs)
    coarse = 0.02 if n * p < 15 or m * p < 15 else 0.0
    assert 0.95 - width - coarse <= seen <= 0.95 + width + 1.5 * coarse


@pytest.mark.parametrize("runs", [QUICK, pytest.param(FULL, marks=pytest.mark.full)])
@pytest.mark.parametrize(("n", "m"), [(300, 300), (600, 150)])
def test_attracted_rows_lie_in_the_band(n, m, runs):
    rng = np.random.default_rng([n, m])
    found = []
    for _ in range(runs):
        nearest = rng.integers(0, n + m, 500)
        credit = np.bincount(nearest, minlength=n + m).astype(float)
        one = attraction(credit[:n], credit[n:], 500, rng=rng)
        found.append(inside(one.risk, one.leak_free(0.95)))
    seen, width = share(found, runs)
    assert abs(seen - 0.95) <= width + 0.005


def band_of(a, n, b, m, z):
    """The band of hits a of n and b of m, written out; all four may be arrays. No risk is above 1, where it ends."""
    r, w = (a + b) / (n + m), n / (n + m)
    c = (r * (n + m) + z * z / 2) / (n + m + z * z)
    h = z * np.sqrt(c * (1 - c) * (1 / n + 1 / m))
    below = 1 - r - h * w
    return np.where(below > 0, -h / np.where(below > 0, below, 1), -np.inf), np.minimum(1, h / (1 - r + h * w))


@pytest.mark.parametrize(("n", "m"), [(150, 150), (600, 150), (2000, 200), (200, 2000)])
@pytest.mark.parametrize("p", [0.1, 0.5, 0.9, 0.98])
def test_each_side_of_the_band_is_left_as_often_as_it_should(n, m, p):
    """2.5% a side, by the exact chances of all counts: the risk is skewed, and the band has to be so too."""
    a, b = np.meshgrid(np.arange(n + 1), np.arange(m), indexing="ij")
    chance = binom.pmf(a, n, p) * binom.pmf(b, m, p)
    low, high = band_of(a, n, b, m, 1.959964)
    risk = (a / n - b / m) / (1 - b / m)
    for beyond in (risk < low, risk > high):
        seen = chance[beyond].sum() / chance.sum()
        assert seen <= 0.035
        assert seen >= 0.015 or min(n, m) * (1 - p) < 10
    for i, j in ((n * 4 // 5, m * 3 // 4), (n - 1, m - 1), (0, 1), (n, 0)):
        one = Outcomes(np.array([1.0, 0.0]), count=np.array([i, n - i]))
        other = Outcomes(np.array([1.0, 0.0]), count=np.array([j, m - j]))
        found = compare(one, other, rng=np.random.default_rng(0), draws=0).leak_free(0.95)
        assert np.allclose((found.low, found.high), band_of(i, n, j, m, 1.959964))


@pytest.mark.quick
def test_a_leak_leaves_the_band():
    rng = np.random.default_rng(0)
    out = []
    for _ in range(100):
        one = compare(people(rng, "hits", 300, 0.3), people(rng, "hits", 300, 0.1), rng=rng, draws=0)
        out.append(one.risk.value > one.leak_free(0.95).high)
    assert np.mean(out) > 0.95


def test_nobody_hit_still_gives_a_band_and_everybody_hit_gives_none():
    rng = np.random.default_rng(0)
    none = compare(Outcomes(np.zeros(100)), Outcomes(np.zeros(100)), rng=rng).leak_free(0.95)
    assert none.low < 0 < none.high < 0.1
    everybody = compare(Outcomes(np.ones(10)), Outcomes(np.ones(10)), rng=rng).leak_free(0.95)
    assert np.isnan(everybody.high)
    nobody = compare(Outcomes(np.zeros(0)), Outcomes(np.ones(10)), rng=rng).leak_free(0.95)
    assert np.isnan(nobody.high)


def test_a_higher_level_is_wider():
    rng = np.random.default_rng(0)
    one = compare(people(rng, "hits", 300, 0.3), people(rng, "hits", 300, 0.3), rng=rng)
    assert one.leak_free(0.99).high > one.leak_free(0.95).high
