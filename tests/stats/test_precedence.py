"""Rank tests of a hole: the published and hand-made numbers, all permutations counted, and what changes nothing."""

import itertools
import math

import numpy as np
import pytest

from divulge.core.errors import SettingError
from divulge.stats.precedence import few_members, hole, strangers_first


@pytest.mark.parametrize(("k", "chance"), [(41, 2e-20), (10, 1.6e-5), (0, 1.0), (1, 1 / 3)])
def test_strangers_who_lie_first_of_2000_and_1000(k, chance):
    assert strangers_first(k, 2000, 1000) == pytest.approx(chance, rel=0.15)


@pytest.mark.parametrize(
    ("hits", "size", "chance"), [(18, 30, 0.3), (0, 30, 4e-15), (14, 60, 5e-12), (73, 150, 2e-6), (30, 30, 1.0)]
)
def test_members_among_the_nearest_of_2000_and_1000(hits, size, chance):
    assert few_members(hits, size, 2000, 1000) == pytest.approx(chance, rel=0.3)


def test_by_hand():
    # 3 of 5 people first, all strangers: 3/5 * 2/4 * 1/3; 2 people with no member: 3/5 * 2/4
    assert strangers_first(3, 2, 3) == pytest.approx(0.1)
    assert few_members(0, 2, 2, 3) == pytest.approx(0.3)
    assert few_members(1, 2, 2, 3) == pytest.approx(0.9)  # all but both members: 1 - 1/10
    assert few_members(2, 5, 2, 3) == 1


def test_chances_are_above_zero_and_at_most_one():
    assert strangers_first(100_000, 10**6, 10**5) == few_members(0, 10**5, 10**6, 10**6) == math.ulp(0.0)
    assert few_members(499, 1000, 10**6, 10**6) == pytest.approx(0.4874, abs=0.001)
    assert few_members(0, 0, 0, 0) == strangers_first(0, 0, 0) == 1


def test_what_cannot_be_counted_is_refused():
    for wrong in ((3, 2, 3, 3), (-1, 2, 3, 3), (1, 9, 3, 3)):
        with pytest.raises(SettingError):
            few_members(*wrong)
    with pytest.raises(SettingError):
        strangers_first(4, 3, 3)
    with pytest.raises(SettingError):
        hole(np.array([0.1, math.nan]), np.array([0.2]))


def chance_over_all_labels(distances, n_members, statistic):
    """The share of all ways to call n people members in which the statistic is as extreme as where the first n are."""
    n = len(distances)
    seen = statistic(distances[:n_members], distances[n_members:])
    ways = [
        statistic(distances[list(who)], np.delete(distances, who))
        for who in itertools.combinations(range(n), n_members)
    ]
    return np.mean([way >= seen for way in ways])


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("levels", [3, 6, 1000])
def test_chances_are_those_of_all_labels_with_ties_too(seed, levels):
    rng = np.random.default_rng([seed, levels])
    distances = np.sort(rng.integers(0, levels, 9))[::-1] / levels if seed % 2 else rng.integers(0, levels, 9) / levels
    found = hole(distances[:4], distances[4:], nearest=[300, 600])
    expected = [chance_over_all_labels(distances, 4, lambda a, b: (b < a.min()).sum())]
    for n in (3, 6):
        cut = np.sort(distances)[n - 1]
        expected.append(chance_over_all_labels(distances, 4, lambda a, b, cut=cut: -(a <= cut).sum()))
    assert found.p_values == pytest.approx(expected)
    assert found.p_value == pytest.approx(min(1, 3 * min(expected)))


def test_order_and_scale_change_nothing_and_an_empty_side_says_nothing():
    rng = np.random.default_rng(0)
    a, b = rng.random(200), rng.random(100) * 0.8
    one, other = hole(a, b), hole(np.exp(rng.permutation(a)), np.exp(rng.permutation(b)))
    assert one.p_values.tolist() == other.p_values.tolist()
    assert (one.members + one.strangers)[1:].tolist() == [3, 6, 15]
    for sides in ((a, b[:0]), (a[:0], b), (a[:0], b[:0])):
        assert hole(*sides).p_value == 1


def test_the_group_that_decides_has_the_smallest_chance():
    nearer = hole(np.arange(100) + 50.0, np.arange(100.0))
    assert (nearer.decides, nearer.strangers[0], nearer.members[0]) == (0, 50, 0)
    # one member in front of all strangers: the first test sees nothing, the groups do
    groups = hole(np.r_[-1.0, np.arange(99) + 50.0], np.arange(100.0))
    assert groups.strangers[0] == 0
    assert (groups.decides, groups.members[3], groups.strangers[3]) == (3, 1, 9)
