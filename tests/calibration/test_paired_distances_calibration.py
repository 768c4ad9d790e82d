"""Differences of distance between releases of one real table: false alarms, coverage, and what pairing gains."""

import numpy as np
import polars as pl
import pytest

from divulge.case.case import build_case
from divulge.measures.distances_together import distances_together
from divulge.stats.shared_error import contrasts

COLUMNS = 6


def people(rng, n, broken=(), strength=0.0):
    """Columns that go together through one trait; in the broken ones a share of the values is drawn anew."""
    trait = rng.random(n)
    out = {}
    for j in range(COLUMNS):
        own = np.where(rng.random(n) < 0.6, trait, rng.random(n))
        own = np.where(rng.random(n) < (strength if j in broken else 0.0), rng.random(n) ** 1.5, own)
        out[f"c{j}"] = (own * 4).astype(int)
    return pl.DataFrame(out).cast(pl.String)


def simulated(repeats, n, m, one, other, seed=0):
    """Differences of two releases, whether one is called farther, and half widths with and without pairing."""
    rng = np.random.default_rng(seed)
    out = []
    for _ in range(repeats):
        made = [people(rng, n), *(people(rng, m, *defect) for defect in (one, other))]
        found = distances_together(build_case(made[0], made[1:]))[-1]
        (c,) = contrasts(found.excess, found.without_real, found.without_own, [[0], [1]])
        alone = [found.excess[i] - low for i, low in enumerate((c.first_low, c.second_low))]
        sure = (c.low > 0 and c.first_low > 0) - (c.high < 0 and c.second_low > 0)
        out.append((c.difference, sure, (c.high - c.low) / 2, np.hypot(*alone)))
    return np.array(out).T


EQUAL = [
    (400, 400, ((), 0.0)),
    (400, 400, ((0, 1), 0.4)),
    (200, 800, ((0, 1), 0.4)),
    (1000, 1000, ((0, 1, 2), 0.8)),
]  # fmt: skip


def elsewhere(defect):
    """The same defect in other columns, which are alike: the distance is the same and the table another."""
    return tuple(j + 3 for j in defect[0]), defect[1]


def check_equal(repeats, n, m, defect):
    gap, sure, half, _ = simulated(repeats, n, m, defect, elsewhere(defect))
    slack = 2 * np.sqrt(0.05 * 0.95 / repeats)
    assert (sure != 0).mean() <= 0.05 + slack
    assert (np.abs(gap) <= half).mean() >= 0.94 - slack


@pytest.mark.slow
@pytest.mark.parametrize(("n", "m", "defect"), EQUAL[1:3])
def test_releases_that_are_equally_far_are_told_apart_by_chance_alone(n, m, defect):
    check_equal(40, n, m, defect)


@pytest.mark.full
@pytest.mark.parametrize(("n", "m", "defect"), EQUAL)
def test_releases_that_are_equally_far_are_told_apart_by_chance_alone_in_full(n, m, defect):
    check_equal(500, n, m, defect)


def check_farther(repeats, n, m):
    gap, sure, half, wide = simulated(repeats, n, m, ((0, 1, 2), 0.8), ((0, 1, 2), 0.6), seed=1)
    paired, unpaired = (gap > half).mean(), (gap > wide).mean()
    assert (sure < 0).mean() <= 0.025
    assert np.mean(np.abs(gap - gap.mean()) <= half) >= 0.94 - 2 * np.sqrt(0.05 * 0.95 / repeats)
    return paired, unpaired


@pytest.mark.slow
def test_a_farther_release_is_found_more_often_with_pairing():
    paired, unpaired = check_farther(40, 200, 800)
    assert paired > unpaired + 0.4


@pytest.mark.full
def test_a_farther_release_is_found_more_often_with_pairing_in_full():
    paired, unpaired = check_farther(500, 200, 800)
    assert paired > unpaired + 0.6
