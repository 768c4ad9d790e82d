"""Tests of a hole: are members missing among the people who lie nearest to the synthetic table?

A filter that removes synthetic rows near to members leaves a hole around each of them. Strangers then fill the front of
the order by distance, and whoever has a synthetic row close by is known not to be a member. If members and strangers
are a random split of the same people, the order says nothing about who is who, so that the chances below are exact.
Nothing is fitted or drawn.

The first test needs no group size: it counts the strangers who lie nearer than every member, and works where rows just
outside the holes still leak. The others count the members among the nearest people, and work where a filter missed
some. People at the same distance are taken together or not at all, which depends on distances alone.

The same groups bound copying: how many more members than strangers are among the nearest people (`nearest_people`). The
scores and the groups are made from all people together, so that the chances stay exact. Groups are at most so large, or
coarse data could not be bounded; a bound takes the widest of the groups, whatever the radius at which copies show; and
it is divided by what a verbatim copy would show, as on coarse data a copy is hardly nearer than others are.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from divulge.core.errors import SettingError
from divulge.stats.intervals import Interval, mover_residual, newcombe
from divulge.stats.outcomes import Floats, Ints

__all__ = [
    "BOUNDED",
    "FRONT",
    "NEAREST",
    "Hole",
    "NearestGroup",
    "NearestGroups",
    "NearestPeople",
    "PeopleScore",
    "few_members",
    "front",
    "hole",
    "nearest_people",
    "strangers_first",
]

Bools = NDArray[np.bool_]

NEAREST = (10, 20, 50)
"""Sizes of the groups of nearest people, per mille of all people: 1, 2 and 5%, fixed before any data."""
FRONT = (10, 20, 50, 100, 200, 500)
"""Sizes of the groups that are searched for too many members, per mille of all people, fixed before any data."""
BOUNDED = (10, 20, 50, 100)
"""Sizes of the groups whose excess is bounded, per mille of all people, fixed before any data."""
_SEES = 0.2  # part of a verbatim copy below which a score bounds nothing; start value


@dataclass(frozen=True, slots=True, eq=False)
class Hole:
    """Members and strangers among the people nearest to the synthetic table, and how likely so few members are."""

    members: Ints
    strangers: Ints
    """Shape (1 + n_groups,): people in each group. The first group are the strangers nearer than every member."""
    p_values: Floats
    """Shape (1 + n_groups,): the chance of so few members in each group, one-sided and exact, not corrected."""
    p_value: float
    """The smallest of these, times their number (Bonferroni); at most 1."""
    n_members: int
    n_strangers: int

    @property
    def decides(self) -> int:
        """Number of the group with the smallest p-value; the first one in ties."""
        return int(np.argmin(self.p_values))


def strangers_first(k: int, n_members: int, n_strangers: int) -> float:
    """Return the chance that at least the first k people in a random order are strangers.

    ``prod_{i < k} (n_C - i) / (n_T + n_C - i)``

    Parameters
    ----------
    k
        Strangers before the first member.
    n_members, n_strangers
        n_T and n_C.

    References
    ----------
    Rosenbaum (1954), Tables for a nonparametric test of location; Balakrishnan and Ng (2006), Precedence-type tests.

    Examples
    --------
    >>> strangers_first(2, 2, 2) == 1 / 6
    True
    >>> print(f"{strangers_first(41, 2000, 1000):.0e}")
    2e-20
    """
    _check(k, n_members, n_strangers, k)
    if k > n_strangers:
        raise SettingError(f"k: {k} of {n_strangers} strangers. hint: count only strangers.")
    i = np.arange(k)
    return _chance(float(np.prod((n_strangers - i) / (n_members + n_strangers - i))))


def few_members(hits: int, size: int, n_members: int, n_strangers: int) -> float:
    """Return the chance that a random group of people has at most so many members (hypergeometric).

    Parameters
    ----------
    hits
        Members in the group.
    size
        People in the group.
    n_members, n_strangers
        n_T and n_C.

    Examples
    --------
    >>> round(few_members(0, 2, 2, 2), 9)
    0.166666667
    >>> print(f"{few_members(0, 30, 2000, 1000):.0e}", f"{few_members(18, 30, 2000, 1000):.1f}")
    4e-15 0.3
    """
    _check(hits, n_members, n_strangers, size)
    if hits >= min(size, n_members):
        return 1.0
    x = np.arange(max(0, size - n_strangers), hits + 1, dtype=np.float64)
    logs = _choose(n_members, x) + _choose(n_strangers, size - x) - _choose(n_members + n_strangers, np.array([size]))
    return _chance(math.fsum(np.exp(logs).tolist()))


def hole(members: Floats, strangers: Floats, nearest: Sequence[int] = NEAREST) -> Hole:
    """Return whether members are missing among the people nearest to the synthetic table.

    Parameters
    ----------
    members, strangers
        Distance of each person to the nearest synthetic row, shapes (n_T,) and (n_C,); of a household the smallest.
    nearest
        Sizes of the groups, per mille of all people, rounded up. Who lies as far as the last one is in the group too.

    Returns
    -------
    Hole
        Unchanged by row order, and by any change of distances that keeps their order. With nobody on a side p is 1.

    Examples
    --------
    >>> found = hole(np.array([0.3, 0.4, 0.5]), np.array([0.1, 0.2, 0.3]), nearest=[500])
    >>> found.strangers.tolist(), found.members.tolist(), found.p_values.round(3).tolist()
    ([2, 3], [0, 1], [0.2, 0.2])
    """
    if np.isnan(members).any() or np.isnan(strangers).any():
        raise SettingError("hole: a distance is missing.")
    n, k = len(members), len(strangers)
    pooled = np.sort(np.concatenate([members, strangers]))
    cuts = [pooled[-(-p * len(pooled) // 1000) - 1] for p in nearest] if len(pooled) else [0.0] * len(nearest)
    inside = [[int(np.count_nonzero(side <= cut)) for cut in cuts] for side in (members, strangers)]
    first, p_values = 0, np.ones(1 + len(cuts))
    if n and k:
        first = int(np.count_nonzero(strangers < members.min()))
        few = [few_members(a, a + b, n, k) for a, b in zip(*inside, strict=True)]
        p_values = np.array([strangers_first(first, n, k), *few])
    return Hole(
        members=np.array([0, *inside[0]]),
        strangers=np.array([first, *inside[1]]),
        p_values=p_values,
        p_value=min(1.0, len(p_values) * float(p_values.min())),
        n_members=n,
        n_strangers=k,
    )


@dataclass(frozen=True, slots=True, eq=False)
class NearestGroups:
    """Members and strangers among the people nearest to the synthetic table, and how likely so many members are."""

    members: Ints
    strangers: Ints
    """Shape (n_groups,): people in each group."""
    p_values: Floats
    """Shape (n_groups,): the chance of so many members in each group, one-sided and exact, not corrected."""
    n_members: int
    n_strangers: int

    @property
    def decides(self) -> int:
        """Number of the group with the smallest p-value; the first one in ties."""
        return int(np.argmin(self.p_values))


def front(members: Floats, strangers: Floats, nearest: Sequence[int] = FRONT) -> NearestGroups:
    """Return whether members are too many among the people nearest to the synthetic table.

    Parameters
    ----------
    members, strangers
        Distance of each person to the nearest synthetic row, shapes (n_T,) and (n_C,); of a household the smallest.
    nearest
        Sizes of the groups, per mille of all people, rounded up. Who lies as far as the last one is in the group too.

    Examples
    --------
    >>> found = front(np.array([0.1, 0.2, 0.3]), np.array([0.4, 0.4, 0.5]), nearest=[500, 600])
    >>> found.members.tolist(), found.strangers.tolist(), found.p_values.round(2).tolist()
    ([3, 3], [0, 2], [0.05, 0.5])
    """
    if np.isnan(members).any() or np.isnan(strangers).any():
        raise SettingError("front: a distance is missing.")
    n, k = len(members), len(strangers)
    pooled = np.sort(np.concatenate([members, strangers]))
    cuts = [pooled[-(-p * len(pooled) // 1000) - 1] for p in nearest] if len(pooled) else [0.0] * len(nearest)
    a, b = (np.array([int(np.count_nonzero(side <= cut)) for cut in cuts]) for side in (members, strangers))
    few = [few_members(int(y), int(x + y), k, n) if n and k else 1.0 for x, y in zip(a, b, strict=True)]
    return NearestGroups(members=a, strangers=b, p_values=np.array(few), n_members=n, n_strangers=k)


class PeopleScore(NamedTuple):
    """A score of all people, made without their labels; who has the smaller one is nearer to the synthetic table."""

    members: Floats
    strangers: Floats
    copied: Floats
    """Shape (n_members,): the score that a verbatim copy would give each member."""


class NearestGroup(NamedTuple):
    """Who is among the nearest people by one score, and how many more members than strangers."""

    score: int
    group: int
    """Number of the score, and of the group among `BOUNDED`."""
    hits: tuple[int, int]
    """Members and strangers in the group."""
    shown: float
    """The risk that verbatim copies of all members would have in this group."""
    difference: Interval
    risk: Interval

    @property
    def limit(self) -> float:
        """The upper limit of the share of members who are copied; infinite where a copy would not show."""
        return self.risk.high / self.shown if self.shown > 0 and not math.isnan(self.risk.high) else math.inf


@dataclass(frozen=True, slots=True, eq=False)
class NearestPeople:
    """Members and strangers among the people nearest to the synthetic table, by several scores of the same people."""

    members: Ints
    strangers: Ints
    """Shapes (n_scores, n_groups): people in the groups of `BOUNDED`."""
    shown: Floats
    """Shape (n_scores, n_groups): the risk that verbatim copies of all members would have there."""
    front_members: Ints
    front_strangers: Ints
    """Shapes (n_scores, n_tests): people in the groups of `FRONT`, which are tested."""
    p_values: Floats
    """Shape (n_scores, n_tests): the chance of so many members in each, one-sided and exact, not corrected."""
    n_members: int
    n_strangers: int

    @property
    def p_value(self) -> float:
        """The smallest p-value, times the number of all tests (Bonferroni); at most 1."""
        return min(1.0, self.p_values.size * float(self.p_values.min()))

    def bound(self, level: float) -> NearestGroup:
        """Return the group that bounds the share of members who are copied.

        Of each score the group with the largest limit, of the scores the one with the smaller limit; each has its
        share of the level. A score that would show too little of a copy bounds nothing, but for the first.
        """
        widest = self.widest(level)
        return min(widest[:1] + [g for g in widest[1:] if self.shown[g.score].min() >= _SEES], key=lambda g: g.limit)

    def widest(self, level: float) -> list[NearestGroup]:
        """Return of each score the group with the largest limit; each score has its share of the level."""
        each = 1 - (1 - level) / len(self.members)
        groups = ([self._at(i, j, each) for j in range(len(BOUNDED))] for i in range(len(self.members)))
        return [self._within(max(own, key=lambda g: g.limit)) for own in groups]

    def _within(self, widest: NearestGroup) -> NearestGroup:
        """Return the group without a limit where that is more than all members whom the largest group has room for."""
        room = int((self.members + self.strangers)[widest.score].max())
        if widest.limit * self.n_members <= room:
            return widest
        return widest._replace(risk=Interval(widest.risk.value, widest.risk.low, math.inf))

    def _at(self, score: int, group: int, level: float) -> NearestGroup:
        hits = int(self.members[score, group]), int(self.strangers[score, group])
        counts = hits[0], self.n_members, hits[1], self.n_strangers
        shown = float(self.shown[score, group])
        return NearestGroup(score, group, hits, shown, newcombe(*counts, level), mover_residual(*counts, level))

    def tested(self, level: float) -> NearestGroup:
        """Return the group with the smallest p-value; each test has its share of the level."""
        score, group = (int(i) for i in np.unravel_index(int(np.argmin(self.p_values)), self.p_values.shape))
        hits = int(self.front_members[score, group]), int(self.front_strangers[score, group])
        counts, each = (hits[0], self.n_members, hits[1], self.n_strangers), 1 - (1 - level) / self.p_values.size
        return NearestGroup(score, group, hits, 1.0, newcombe(*counts, each), mover_residual(*counts, each))


def nearest_people(scores: Sequence[PeopleScore]) -> NearestPeople:
    """Return the members among the nearest people by each of some scores.

    Parameters
    ----------
    scores
        Of the same people. A verbatim copy must show in full by the first, such as a distance.

    Examples
    --------
    >>> near, far = np.linspace(0, 0.1, 30), np.linspace(0.2, 1, 70)
    >>> found = nearest_people([PeopleScore(np.r_[near, far], np.r_[far, far], np.zeros(100))])
    >>> found.members.tolist(), found.strangers.tolist(), f"{found.p_value:.0e}"
    ([[2, 4, 12, 24]], [[0, 0, 0, 0]], '7e-10')
    """
    if any(np.isnan(part).any() for score in scores for part in score):
        raise SettingError("nearest people: a score is missing.")
    tests = [front(score.members, score.strangers) for score in scores]
    groups = [[_group(score, size) for size in BOUNDED] for score in scores]
    members, strangers, shown = (np.array([[g[i] for g in own] for own in groups]) for i in range(3))
    return NearestPeople(
        members=members.astype(np.int64),
        strangers=strangers.astype(np.int64),
        shown=shown.astype(np.float64),
        front_members=np.array([t.members for t in tests]),
        front_strangers=np.array([t.strangers for t in tests]),
        p_values=np.array([t.p_values for t in tests]),
        n_members=len(scores[0].members),
        n_strangers=len(scores[0].strangers),
    )


def _group(score: PeopleScore, per_mille: int) -> tuple[int, int, float]:
    """Return the members and strangers of the largest group of at most this size, and what copies would show there.

    Where more people than that share the smallest score, they are the group.
    """
    value, times = np.unique(np.concatenate([score.members, score.strangers]), return_counts=True)
    fits = np.flatnonzero(np.cumsum(times) * 1000 <= per_mille * int(times.sum()))
    cut = value[fits[-1] if len(fits) else 0] if len(value) else 0.0
    members, strangers = (int(np.count_nonzero(side <= cut)) for side in (score.members, score.strangers))
    copied = float(np.count_nonzero(score.copied <= cut)) / max(1, len(score.copied))
    by_chance = strangers / max(1, len(score.strangers))
    return members, strangers, max(0.0, (copied - by_chance) / (1 - by_chance)) if by_chance < 1 else 0.0


def _choose(n: int, k: Floats | Ints) -> Floats:
    """Return the logarithm of n choose k."""
    return np.asarray(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1))


def _chance(p: float) -> float:
    """Return a probability that rounding leaves above 0 and at most 1."""
    return min(1.0, max(p, math.ulp(0.0)))


def _check(hits: int, n_members: int, n_strangers: int, size: int) -> None:
    if not (0 <= hits <= size <= n_members + n_strangers and min(n_members, n_strangers) >= 0):
        raise SettingError("hole: hits must lie between 0 and the size of the group, and the group among the people.")
