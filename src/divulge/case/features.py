"""Rows as numbers for models of real against synthetic rows: no name of a category and no label of a person enters.

A number counts by its rank among all levels of its column. A category counts by how often it occurs in all tables
(the commonest is 0); equal frequencies are told apart by the rows that have them (`Canonical`). Real and holdout are
one table here, "people": real rows followed by holdout rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.case.case import Case
from divulge.case.invariant_order import canonical_of
from divulge.case.narrow_rows import NarrowRows
from divulge.case.spill import Spill, room_for
from divulge.kernels.rows_in_groups import in_groups

__all__ = ["Features", "features_of"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_COMMONEST = 60
"""Categories of a column with an indicator of their own; the others share one. A limit on the time, from the lab."""
_PART = 1_000_000  # rows that are made at once
_AT_ONCE = 1_000_000  # rows in files that are ordered at once, about
_COARSE, _CELLS = 64, 65_536  # groups of the numbers of a column, and cells of all groups, by which they are found
_MISSING = -0.5
"""Place of a missing number on a scale from 0 to 1."""


@dataclass(frozen=True, slots=True, eq=False)
class Features:
    """The rows of people and of the synthetic table as numbers, columns sorted by name."""

    people: Floats
    """Shape (n_people, n_columns): rank of a number, or place of a category by frequency; negative for missing."""
    synthetic: Floats | NarrowRows
    """Shape (n_synthetic, n_columns); in files where these are named for what does not fit into memory."""
    numeric: tuple[bool, ...]
    """Which columns are numbers."""
    spill: Spill | None = None
    """Where an order of the synthetic rows is written; None holds it in memory."""

    def order(self, role: str) -> Ints:
        """Return the rows of "people" or "synthetic" sorted by content."""
        values = self.people if role == "people" else self.synthetic
        if isinstance(values, NarrowRows):
            return _order_in_parts(values.columns, self.spill)
        return np.lexsort(values.T[::-1])

    def same(self) -> Ints:
        """Return for each person the number of the content of the record, the same for equal records."""
        order = self.order("people")
        ordered = self.people[order]
        out = np.empty(len(order), dtype=np.int64)
        out[order] = np.cumsum(np.r_[False, (ordered[1:] != ordered[:-1]).any(axis=1)][: len(order)])
        return out

    def apart(self, rows: Floats) -> tuple[Floats, Floats]:
        """Return the numbers and the categories of some of these rows, in which distances can be taken.

        Numbers lie between 0 and 1 by rank, missing below; rare categories are one.
        """
        numeric = np.array(self.numeric, dtype=bool)
        most = np.array([max(1.0, self._ends(j)[1]) for j in range(len(self.numeric))])
        numbers = np.where(rows < 0, _MISSING, rows / most)[:, numeric]
        return numbers, np.minimum(rows, _COMMONEST)[:, ~numeric]

    def indicators(self, rows: Floats | NarrowRows) -> Floats:
        """Return some of these rows as columns of comparable spread.

        Numbers lie between 0 and 1 by rank, missing below; categories become indicators over the square root of 2, so
        that two different categories are 1 apart.
        """
        parts = []
        for j, is_number in enumerate(self.numeric):
            values = rows[:, j]
            least, most = self._ends(j)
            if is_number:
                parts.append(np.where(values < 0, _MISSING, values / max(1.0, most))[:, None])
                continue
            place = np.minimum(values, _COMMONEST).astype(np.int64) - int(least)
            parts.append(np.eye(int(min(most, _COMMONEST) - least) + 1)[place] / np.sqrt(2))
        return np.hstack(parts)

    def _ends(self, j: int) -> tuple[float, float]:
        """Return the least and the largest number of a column, and 0."""
        sides = (self.people[:, j], self.synthetic[:, j])
        return min(v.min(initial=0.0) for v in sides), max(v.max(initial=0.0) for v in sides)


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
    n_synthetic, spill = whole[1] if 1 in tables else 0, case.encoded.spill if names else None
    # column by column, as it is written and sorted
    synthetic = np.empty((len(names), n_synthetic if spill is None else 0))
    in_files, numeric = [], []
    for j, name in enumerate(names):
        places, is_number = _places(case, names, j, tables)
        codes = case.codes(name, binned=False)
        people[:, j] = np.concatenate([places[c] for c in (codes[0], *codes[2:])])
        column = synthetic[j] if spill is None else room_for(spill, (n_synthetic,), NarrowRows.type_of(places))
        for first in range(0, n_synthetic, _PART):
            column[first : first + _PART] = places[codes[1][first : first + _PART]]
        if spill is not None:
            in_files.append(column)
        numeric.append(is_number)
    return Features(people, synthetic.T if spill is None else NarrowRows(in_files), tuple(numeric), spill)


def _order_in_parts(columns: Sequence[NDArray[np.integer[Any]]], spill: Spill | None) -> Ints:
    """Return the rows sorted by content, ordered some at a time: those whose first columns begin alike.

    Parameters
    ----------
    columns
        One or more, of whole numbers.
    spill
        Where the order is written, and the columns once more while it is made.
    """
    n = len(columns[0])
    cell, n_cells = np.zeros(n, dtype=np.int32), 1
    for column in columns:
        least = int(column.min(initial=0))
        n_values = int(column.max(initial=0)) - least + 1
        width = -(-n_values // _COARSE)  # numbers of one group, in their order
        n_groups = -(-n_values // width)
        if n_cells * n_groups > _CELLS:
            break
        for a in range(0, n, _PART):
            group = (column[a : a + _PART].astype(np.int64) - least) // width
            cell[a : a + _PART] = cell[a : a + _PART] * n_groups + group
        n_cells *= n_groups
        if width > 1:
            break
    times = np.zeros(n_cells, dtype=np.int64)
    for a in range(0, n, _PART):
        times += np.bincount(cell[a : a + _PART], minlength=n_cells)
    part_of_cell = (np.cumsum(times) - times) // _AT_ONCE
    n_rows = np.zeros(int(part_of_cell[-1]) + 1, dtype=np.int64)
    np.add.at(n_rows, part_of_cell, times)

    def part(first: int, last: int) -> tuple[Ints, list[NDArray[Any]]]:
        return part_of_cell[cell[first:last]], [np.arange(first, last), *(c[first:last] for c in columns)]

    out, *room = (room_for(spill, (n,), t) for t in (np.int64, np.int64, *(c.dtype for c in columns)))
    done = 0
    for rows, *own in in_groups(part, n_rows, room, _PART):
        out[done : done + len(rows)] = rows[np.lexsort(own[::-1])]
        done += len(rows)
    return out


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
