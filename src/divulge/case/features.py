"""Rows as numbers for models of real against synthetic rows: no name of a category and no label of a person enters.

A number counts by its rank among all levels of its column. A category counts by how often it occurs in all tables
(the commonest is 0); equal frequencies are told apart by the rows that have them (`Canonical`). Real and holdout are
one table here, "people": real rows followed by holdout rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from divulge.case.case import Case
from divulge.case.invariant_order import canonical_of
from divulge.case.spill import room_for

__all__ = ["Features", "features_of"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_COMMONEST = 60
"""Categories of a column with an indicator of their own; the others share one. A limit on the time, from the lab."""
_PART = 1_000_000  # rows that are made at once
_MISSING = -0.5
"""Place of a missing number on a scale from 0 to 1."""


@dataclass(frozen=True, slots=True, eq=False)
class Features:
    """The rows of people and of the synthetic table as numbers, columns sorted by name."""

    people: Floats
    """Shape (n_people, n_columns): rank of a number, or place of a category by frequency; negative for missing."""
    synthetic: Floats
    """Shape (n_synthetic, n_columns)."""
    numeric: tuple[bool, ...]
    """Which columns are numbers."""

    def order(self, role: str) -> Ints:
        """Return the rows of "people" or "synthetic" sorted by content."""
        return np.lexsort(getattr(self, role).T[::-1])

    def same(self) -> Ints:
        """Return for each person the number of the content of the record, the same for equal records."""
        order = self.order("people")
        ordered = self.people[order]
        out = np.empty(len(order), dtype=np.int64)
        out[order] = np.cumsum(np.r_[False, (ordered[1:] != ordered[:-1]).any(axis=1)][: len(order)])
        return out

    def indicators(self, rows: Floats) -> Floats:
        """Return some of these rows as columns of comparable spread.

        Numbers lie between 0 and 1 by rank, missing below; categories become indicators over the square root of 2, so
        that two different categories are 1 apart.
        """
        parts = []
        for j, is_number in enumerate(self.numeric):
            values = rows[:, j]
            most = max(self.people[:, j].max(initial=0.0), self.synthetic[:, j].max(initial=0.0))
            if is_number:
                parts.append(np.where(values < 0, _MISSING, values / max(1.0, most))[:, None])
                continue
            least = int(min(self.people[:, j].min(initial=0.0), self.synthetic[:, j].min(initial=0.0)))
            place = np.minimum(values, _COMMONEST).astype(np.int64) - least
            parts.append(np.eye(int(min(most, _COMMONEST)) - least + 1)[place] / np.sqrt(2))
        return np.hstack(parts)


def features_of(case: Case, columns: Sequence[str], *, people_alone: bool = False) -> Features:
    """Return the rows of people and of the synthetic table as numbers; the case caches them.

    With `people_alone` nothing of the synthetic table enters: neither its rows nor its values.
    """
    names = tuple(sorted(columns))
    tables = case.encoded.people if people_alone else tuple(range(len(case.tables)))
    return case.encoded.once(("features", names, tables), lambda: _features(case, names, tables), tables)


def _features(case: Case, names: tuple[str, ...], tables: tuple[int, ...]) -> Features:
    whole = [t.n_rows for t in case.tables]
    people = np.empty((sum(whole[i] for i in case.encoded.people), len(names)))
    synthetic = room_for(case.encoded.spill, (whole[1] if 1 in tables else 0, len(names)), np.float64)
    numeric = []
    for j, name in enumerate(names):
        places, is_number = _places(case, names, j, tables)
        codes = case.codes(name, binned=False)
        people[:, j] = np.concatenate([places[c] for c in (codes[0], *codes[2:])])
        for first in range(0, len(synthetic), _PART):
            synthetic[first : first + _PART, j] = places[codes[1][first : first + _PART]]
        numeric.append(is_number)
    return Features(people, synthetic, tuple(numeric))


def _places(case: Case, names: tuple[str, ...], j: int, tables: tuple[int, ...]) -> tuple[Floats, bool]:
    """Return the number of each level of a column, shape (n_levels + 1,), and whether the column is numbers."""
    numbers, name = case.numbers(names[j]), names[j]
    occurs = case.encoded.occurs(name, tables)
    if case.encoded.is_number(name) or np.isfinite(numbers[1:][occurs[1:]]).all():
        finite = ~np.isnan(numbers) & occurs
        out = -1.0 - np.cumsum(np.isnan(numbers))  # -2 for missing; marks that are no number follow
        out[finite] = np.unique(numbers[finite], return_inverse=True)[1]
        return out, case.encoded.is_number(name)
    times = np.sum([case.pooled(name).counts[i] for i in tables], axis=0)
    colours = canonical_of(case, names, tables, blind=True).colours[j]
    known = np.zeros(len(times), dtype=np.uint64)
    known[: len(colours)] = colours[: len(times)]
    out = np.empty(len(times))
    out[np.lexsort((known, -times))] = np.arange(len(times))
    out[0] = -2.0  # missing
    return out, False
