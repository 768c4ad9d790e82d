"""Distances to other people: rows of the person's own unit are no other people. Several attacks share this."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from divulge.core.hashing import value_hashes

if TYPE_CHECKING:
    from divulge.case.case import Case
    from divulge.case.distances import Distances

__all__ = [
    "DIGITS",
    "MOST_OWN",
    "UNIT_NOTE",
    "by_unit",
    "half_the_smallest",
    "last_known",
    "others_near",
    "pooled_units",
    "units_by_content",
]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

DIGITS = 12  # distances are at most 1; further digits are float64 noise, and ties must not depend on units of measure
MOST_OWN = 64  # rows of one unit that the search for another person skips
UNIT_NOTE = (
    "unit {}: rows of one unit are one person here; a unit scores as its highest record does, and units are counted "
    "and compared"
)


def others_near(distances: Distances, role: str, reference: str, units: dict[str, Ints] | None, k: int) -> Floats:
    """Return the distances to the k nearest rows of other people, shape (n, k); infinite where there are fewer."""
    if units is None:
        return distances.nearest(role, reference, k).distances.round(DIGITS)
    of = units[reference]
    own = np.bincount(np.unique(of, return_inverse=True)[1]).max()
    found = distances.nearest(role, reference, k + min(int(own), MOST_OWN))
    other = (found.rows >= 0) & (of[found.rows] != units[role][:, None])
    place = np.cumsum(other, axis=1) - 1
    out = np.full((len(other), k), np.inf)
    query, slot = np.nonzero(other & (place < k))
    out[query, place[query, slot]] = found.distances[query, slot].round(DIGITS)
    return out


def pooled_units(case: Case, roles: Sequence[str]) -> dict[str, Ints] | None:
    """Return the units of each table and of all "people"; each row with a missing unit is a unit of its own.

    None where no unit column is named.
    """
    found = {role: case.units(role) for role in roles}
    if found["real"] is None:
        return None
    units = {role: u for role, u in found.items() if u is not None}
    if "holdout" in units:
        units["holdout"] = np.where(units["holdout"] < 0, units["holdout"] - len(units["real"]), units["holdout"])
    units["people"] = np.concatenate([units[role] for role in roles])
    return units


def units_by_content(same: Ints, units: Ints | None) -> Ints:
    """Return the number of each person's unit; units are numbered by their content, whatever their names.

    `same` is the number of each record's content; with `units` None each record is a unit.
    """
    if units is None:
        order = np.argsort(same, kind="stable")
        out = np.empty(len(same), dtype=np.int64)
        out[order] = np.arange(len(same))
        return out
    which = np.unique(units, return_inverse=True)[1].ravel()
    content = np.zeros(int(which.max()) + 1, dtype=np.uint64)
    np.add.at(content, which, value_hashes(same.astype(np.uint64), 0))
    place = np.empty(len(content), dtype=np.int64)
    place[np.argsort(content, kind="stable")] = np.arange(len(content))
    return place[which]


def by_unit(score: Floats, n_members: int, units: dict[str, Ints] | None) -> tuple[Floats, Floats]:
    """Return the score of each unit of members and of strangers: that of its highest record, or nan."""
    sides = score[:n_members], score[n_members:]
    if units is None:
        return sides
    out = []
    for values, of in zip(sides, (units["real"], units["holdout"]), strict=True):
        which = np.unique(of, return_inverse=True)[1].ravel()
        highest = np.full(int(which.max(initial=-1)) + 1, -np.inf)
        asked = ~np.isnan(values)
        np.maximum.at(highest, which[asked], values[asked])
        out.append(np.where(np.isneginf(highest), np.nan, highest))
    return out[0], out[1]


def half_the_smallest(distances: Sequence[Floats]) -> float:
    """Return half the smallest positive distance; 1 if no distance is positive."""
    positive = [d[d > 0].min() for d in distances if (d > 0).any()]
    return float(min(positive)) / 2 if positive else 1.0


def last_known(distances: Floats) -> Floats:
    """Return the farthest of the neighbours that there are; 1 where there are none."""
    known = np.isfinite(distances)
    last = distances[np.arange(len(distances)), np.maximum(known.sum(axis=1), 1) - 1]
    return np.asarray(np.where(known.any(axis=1), last, 1.0))
