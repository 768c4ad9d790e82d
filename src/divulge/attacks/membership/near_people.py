"""How far the nearest synthetic rows and the nearest other people of each person are, and how many lie within reach.

Reach is the distance of the 20th nearest row of both. Where only the nearest few are wanted, and how many rows lie
within reach, one search in both tables at once gives them; the few people near whom one table has too few rows are
searched again in that table alone. Where the 20 nearest of each are wanted, or units are left out, both tables are
searched one after the other. The numbers are the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from divulge.attacks.other_people import DIGITS, last_known, others_near, pooled_units
from divulge.case.case import Case
from divulge.case.distances import Distances, distances_of
from divulge.kernels.neighbours.two_tables import NearBoth

__all__ = ["PERSON", "REACH", "NearPeople", "near_people"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

REACH = 20  # of DPI, as published
PERSON = 5  # the other person of the hit score, as in `exposure`
_ROLES = ("real", "holdout")
_AT_ONCE = 65_536  # people whose lists are merged at a time
_FEW = 0.125  # share of people up to which those who need another search are searched alone; start value


@dataclass(frozen=True, slots=True, eq=False)
class NearPeople:
    """Distances from all people (real rows, then holdout rows), rounded; 1 where there is no neighbour."""

    to_synthetic: Floats
    """Shape (n,): to the nearest synthetic row."""
    to_person: Floats
    """Shape (n,): to the nearest other person."""
    farther: Floats
    """Shape (n,): to the fifth nearest other person, or the farthest where there are fewer."""
    listed: tuple[Floats, Floats] | None
    """Shapes (n, k): to the k nearest synthetic rows and other people, infinite where there are fewer."""
    shares: tuple[Floats, Floats] | None
    """Shape (n,): the shares of the synthetic rows, and of the other people, within reach."""


def near_people(case: Case, columns: tuple[str, ...], *, listed: int, reach: bool) -> NearPeople:
    """Return what is near each person.

    Parameters
    ----------
    listed
        How many neighbours `listed` has of both tables; 0 for None.
    reach
        Whether `shares` are wanted.
    """
    distances = distances_of(case, columns)
    units = pooled_units(case, _ROLES)
    if reach and not listed and units is None and not distances.by_parts:
        return _of_both(distances)
    return _one_by_one(distances, units, listed, reach)


# ---------------------------------------------------------------- one table after the other


class _Side(NamedTuple):
    """What is near the people of one table, shape (n,) each but the lists."""

    to_synthetic: Floats
    to_person: Floats
    farther: Floats
    listed: tuple[Floats, Floats] | None
    inside: tuple[Floats, Floats] | None
    """Synthetic rows, and rows of other people, within reach."""


def _one_by_one(distances: Distances, units: dict[str, Ints] | None, listed: int, reach: bool) -> NearPeople:
    sides = [_of_side(distances, role, units, listed, reach) for role in _ROLES]
    to_synthetic, to_person, farther = (np.concatenate(own) for own in list(zip(*sides, strict=True))[:3])
    sizes = np.full(len(to_person), float(distances.n_rows("synthetic"))), _n_others(len(to_person), units)
    inside, listed_rows = _stacked([s.inside for s in sides]), _stacked([s.listed for s in sides])
    shares = None if inside is None else (inside[0] / sizes[0], inside[1] / sizes[1])
    return NearPeople(to_synthetic, to_person, farther, listed_rows, shares)


def _stacked(sides: Sequence[tuple[Floats, Floats] | None]) -> tuple[Floats, Floats] | None:
    """Return the arrays of real and holdout, one below the other; None where they are not wanted."""
    there = [side for side in sides if side is not None]
    return (np.concatenate([s[0] for s in there]), np.concatenate([s[1] for s in there])) if there else None


def _of_side(distances: Distances, role: str, units: dict[str, Ints] | None, listed: int, reach: bool) -> _Side:
    """Return what is near the people of one table; where indices lie in files, no list that nobody wants is kept."""
    n_people = max(PERSON, listed, REACH * reach)
    n_rows = max(1, listed, REACH * reach)
    near = distances.nearest(role, "synthetic", n_rows)
    synthetic = near.distances.round(DIGITS)
    more = _beyond(synthetic, near.n_ties)
    del near
    if distances.by_parts:
        distances.keep(role, "synthetic", 1)
    people = others_near(distances, role, "people", units, n_people)
    ties = None if units is not None else distances.nearest(role, "people", n_people).n_ties
    if distances.by_parts:
        distances.keep(role, "people", PERSON)
    return _Side(
        synthetic[:, 0].copy(),
        np.where(np.isfinite(people[:, 0]), people[:, 0], 1.0),
        last_known(people[:, :PERSON]),
        (synthetic, people) if listed else None,
        _within_reach((synthetic, people), (more, _beyond(people, ties))) if reach else None,
    )


def _n_others(n: int, units: dict[str, Ints] | None) -> Floats:
    """Return how many rows of other people each person has, at least 1."""
    if units is None:
        return np.full(n, max(1.0, n - 1.0))
    which = np.unique(units["people"], return_inverse=True)[1]
    return np.maximum(1.0, n - np.bincount(which)[which].astype(np.float64))


def _beyond(distances: Floats, n_ties: Ints | None) -> Floats:
    """Return how many more rows than are listed lie at the last distance; 0 where that is not known."""
    if n_ties is None:
        return np.zeros(len(distances))
    listed = (distances == distances[:, -1:]).sum(axis=1)
    return np.asarray(np.maximum(0.0, n_ties - listed) * np.isfinite(distances[:, -1]))


def _within_reach(listed: tuple[Floats, Floats], beyond: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
    """Return how many rows of both lists, and tied with their ends, lie within the distance of the 20th of both."""
    found = np.empty((2, len(beyond[0])))
    for a in range(0, len(beyond[0]), _AT_ONCE):
        part = slice(a, a + _AT_ONCE)
        both = np.sort(np.hstack([distances[part] for distances in listed]), axis=1)
        known = np.isfinite(both).sum(axis=1)
        radius = both[np.arange(len(both)), np.clip(known, 1, REACH) - 1][:, None]
        for out, distances, more in zip(found, listed, beyond, strict=True):
            own = distances[part]
            out[part] = (own <= radius).sum(axis=1) + np.where(own[:, -1] == radius[:, 0], more[part], 0.0)
    return found[0], found[1]


# ---------------------------------------------------------------- both tables at once


def _of_both(distances: Distances) -> NearPeople:
    n, n_synthetic = distances.n_rows("people"), distances.n_rows("synthetic")
    farthest = min(PERSON, n - 1)  # of the other people that there are
    parts = []
    for near in distances.near_both(REACH + 1):  # one more: the person's own record is among the people
        far, (synthetic, people) = near.far.round(DIGITS), near.rows
        inside = _inside(far, near)
        ranks = _ranked(far, synthetic, 1), _ranked(far, people, 2), _ranked(far, people, 1 + farthest)
        parts.append((*ranks, inside[0] / n_synthetic, (inside[1] - 1) / max(1, n - 1)))
    of_each = distances.distinct("people").of_each
    found = [np.concatenate(part)[of_each] for part in zip(*parts, strict=True)]
    shares = found[3], found[4]
    to_synthetic = _filled(distances, "synthetic", {1: found[0]})[1]
    if farthest < 1:
        return NearPeople(to_synthetic, np.ones(n), np.ones(n), None, shares)
    people_near = _filled(distances, "people", {1: found[1], farthest: found[2]})
    return NearPeople(to_synthetic, people_near[1], people_near[farthest], None, shares)


def _filled(distances: Distances, role: str, by_rank: dict[int, Floats]) -> dict[int, Floats]:
    """Return distances to the nearest rows of a table, by rank, the missing ones (nan) searched in that table alone.

    By the last rank most are missing. The person's own record has rank 0 among the people.
    """
    last = max(by_rank)
    missing = np.flatnonzero(np.isnan(by_rank[last]))
    if not len(missing):
        return by_rank
    if len(missing) > _FEW * len(by_rank[last]):  # other attacks search for all people, so that these may be there
        width = PERSON if role == "people" else 1
        every = np.concatenate([distances.nearest(side, role, width).distances for side in _ROLES]).round(DIGITS)
        return {rank: every[:, rank - 1] for rank in by_rank}
    own = 1 if role == "people" else 0
    near = distances.index(role).reach(distances.rows("people").take(missing), last + own)
    for rank, found in by_rank.items():
        found[missing] = near.distances[near.queries.of_each, rank - 1 + own].round(DIGITS)
    return by_rank


def _inside(far: Floats, near: NearBoth) -> tuple[Ints, Ints]:
    """Return how many rows of both tables lie within the distance of the 21st row of both, ties included."""
    reached = (near.rows[0] + near.rows[1]).cumsum(axis=1) > REACH
    known = np.isfinite(far).sum(axis=1)
    place = np.where(reached[:, -1], reached.argmax(axis=1), known - 1)
    within = far <= far[np.arange(len(far)), place][:, None]
    first, second = (
        np.where(within, rows, 0).sum(axis=1) + np.where(within[:, -1], beyond, 0)
        for rows, beyond in zip(near.rows, near.beyond, strict=True)
    )
    return first, second


def _ranked(far: Floats, rows: Ints, rank: int) -> Floats:
    """Return the distance of a table's row of a given rank, nan where it is not among those that were found."""
    reached = rows.cumsum(axis=1) >= rank
    out = far[np.arange(len(far)), reached.argmax(axis=1)]
    return np.asarray(np.where(reached[:, -1], out, np.nan))
