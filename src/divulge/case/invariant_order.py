"""An order of rows and levels, used for random draws, that does not depend on category names or row order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from divulge.case.spill import room_for
from divulge.core.hashing import value_hashes
from divulge.kernels.rows_in_groups import in_groups

if TYPE_CHECKING:
    from divulge.case.case import Case

__all__ = ["Canonical", "canonical_of"]

Ints = NDArray[np.int64]
Hashes = NDArray[np.uint64]

_HOLDOUT = 2
_PART = 1_000_000  # rows that are hashed or ordered at once
_OF_COLUMN, _OF_ROW, _OF_TABLE = 1_000, 5_000, 10_007  # salts of hashes


class _Hashed(NamedTuple):
    """What takes the time of an order."""

    colours: list[Hashes]
    """For each column the hash of each level, shape (n_levels,)."""
    rows: list[Hashes]
    """For each table the hash of each row that enters, shape (n_rows,)."""


class _Found(NamedTuple):
    """What the levels of a column are hashed by."""

    marks: NDArray[np.int32]
    """Shape (n_levels,): the category of each; in a column of numbers the mark."""
    n_marks: int
    """One more than the largest that occurs."""
    fixed: Hashes
    """Shape (n_levels,): that of the rank of a number; 0 for a category."""


class Canonical:
    """An order of rows and levels that does not depend on category names, units of numbers or row order.

    A number enters by its rank. A category enters by how often it occurs and with which values of other columns: rows
    are hashed by their levels and levels by their rows, three times. Remaining ties are broken by code, which rarely
    matters. `tables` names the tables that enter (0 real, 1 synthetic, 2 holdout); None takes all. `rows` names the
    rows of a table that enter; of a table without an entry all rows do. With `blind`, real and holdout count as one
    table, so that the order says nothing about who is a member. `hashed` are the hashes, where they are known.
    """

    def __init__(
        self,
        case: Case,
        columns: Sequence[str],
        tables: Sequence[int] | None = None,
        rows: Mapping[int, Ints] | None = None,
        *,
        blind: bool = False,
        hashed: _Hashed | None = None,
    ) -> None:
        self.columns = tuple(sorted(columns))
        self._encoded = case.encoded
        self._tables = tuple(range(len(case.tables))) if tables is None else tuple(tables)
        self._rows = {} if rows is None else rows
        self.hashed = self._hashed(blind) if hashed is None else hashed
        self.colours, self.rows = self.hashed

    def _hashed(self, blind: bool) -> _Hashed:
        """Return the hashes; rows are looked at some at a time, as sums of hashes are the same in any order."""
        levels = [[self._levels_of(j, t) for j in range(len(self.columns))] for t in self._tables]
        told = [0 if blind and t == _HOLDOUT else t for t in self._tables]
        of_table = value_hashes(np.array(told, dtype=np.uint64), _OF_TABLE)
        found = [self._found(j, [own[j] for own in levels]) for j in range(len(self.columns))]
        out = [room_for(self._encoded.spill, (len(own[0]),), np.uint64) for own in levels]
        colours = [np.zeros(each.n_marks, dtype=np.uint64) for each in found]
        for _ in range(3):
            tables = [
                each.fixed + value_hashes(colour, _OF_COLUMN + j)[each.marks]
                for j, (each, colour) in enumerate(zip(found, colours, strict=True))
            ]
            colours = [np.zeros_like(colour) for colour in colours]
            for own, whole, rows in zip(levels, of_table, out, strict=True):
                for a in range(0, len(rows), _PART):
                    part = [codes[a : a + _PART] for codes in own]
                    hashes = np.full(len(part[0]), whole)
                    for table, codes in zip(tables, part, strict=True):
                        hashes += table[codes]
                    rows[a : a + _PART] = hashes
                    salted = value_hashes(hashes, _OF_ROW)
                    for total, each, codes in zip(colours, found, part, strict=True):
                        if len(total) == 1:
                            total += salted.sum(dtype=np.uint64)
                        else:
                            np.add.at(total, each.marks[codes], salted)
        return _Hashed(colours, out)

    def _found(self, column: int, levels: Sequence[NDArray[Any]]) -> _Found:
        """Return what the levels of a column are hashed by; `levels` are those of each table's rows."""
        name = self.columns[column]
        occurs = np.zeros(self._encoded.n_codes(name, binned=False), dtype=np.bool_)
        for own in levels:
            for a in range(0, len(own), _PART):
                occurs[own[a : a + _PART]] = True
        marks, fixed = self._encoded.marks(name), np.zeros(len(occurs), dtype=np.uint64)
        if self._encoded.is_number(name):
            before = sum(self._encoded.is_number(c) for c in self.columns[:column])
            fixed = value_hashes(_ranks(self._encoded.numbers(name), np.flatnonzero(occurs).astype(np.int32)), before)
        n_marks = int(marks[occurs].max(initial=0)) + 1
        return _Found(np.minimum(marks, n_marks - 1), n_marks, fixed)

    def order(self, which: int) -> Ints:
        """Return the row numbers of a table (0 real, 1 synthetic, 2 holdout) that enter, in canonical order."""
        hashes = self.rows[self._tables.index(which)]
        if which not in self._rows and self._encoded.spill is not None:
            return self._order_in_parts(which, hashes)
        order = _in_order(
            hashes, lambda rows: [self._part(self.codes(j, which), which)[rows] for j in range(len(self.columns))]
        )
        return self._rows[which][order] if which in self._rows else order

    def _order_in_parts(self, which: int, hashes: Hashes) -> Ints:
        """Return the order in a file; the rows whose hashes begin alike are ordered at a time."""
        names, n, n_parts = self.columns, len(hashes), max(1, len(hashes) // _PART)
        codes = [self._encoded.codes(name, binned=False)[which] for name in names]
        marks = [self._encoded.marks(name) if self._encoded.is_number(name) else None for name in names]

        def part_of(first: int, last: int) -> Ints:
            return (hashes[first:last] >> np.uint64(48)).astype(np.int64) * n_parts >> 16

        def part(first: int, last: int) -> tuple[Ints, list[NDArray[Any]]]:
            return part_of(first, last), [hashes[first:last], np.arange(first, last), *(c[first:last] for c in codes)]

        n_rows = np.zeros(n_parts, dtype=np.int64)
        for a in range(0, n, _PART):
            n_rows += np.bincount(part_of(a, min(a + _PART, n)), minlength=n_parts)
        dtypes = [np.dtype(np.int64), hashes.dtype, np.dtype(np.int64), *(c.dtype for c in codes)]
        out, *columns = (room_for(self._encoded.spill, (n,), dtype) for dtype in dtypes)
        done = 0
        for own, rows, *levels in in_groups(part, n_rows, columns, _PART):

            def ties(at: Ints, levels: list[NDArray[Any]] = levels) -> list[NDArray[Any]]:
                return [c[at] if m is None else m[c[at]] for c, m in zip(levels, marks, strict=True)]

            out[done : done + len(rows)] = rows[_in_order(own, ties)]
            done += len(rows)
        return out

    def codes(self, column: int, which: int) -> NDArray[np.int32]:
        """Return the category of each row of a table; in a column of numbers the mark, which is 0 for a number."""
        name = self.columns[column]
        codes = self._encoded.codes(name, binned=False)[which]
        return self._encoded.marks(name)[codes] if self._encoded.is_number(name) else codes

    def numbers(self, column: int, which: int) -> NDArray[np.float64] | None:
        """Return the number of each row of a table, nan where the value is none; None for a column of categories."""
        name = self.columns[column]
        if not self._encoded.is_number(name):
            return None
        return self._encoded.numbers(name)[self._encoded.codes(name, binned=False)[which]]

    def _levels_of(self, column: int, which: int) -> NDArray[np.int32]:
        return self._part(self._encoded.codes(self.columns[column], binned=False)[which], which)

    def _part(self, values: NDArray[Any], which: int) -> NDArray[Any]:
        return values[self._rows[which]] if which in self._rows else values

    def sorted_codes(self, column: int, codes: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return codes of a column in canonical order."""
        times = np.bincount(codes)
        levels = np.flatnonzero(times)
        levels = levels[np.lexsort((levels, self.colours[column][levels]))]
        return np.repeat(levels, times[levels]).astype(codes.dtype, copy=False)


def _in_order(hashes: Hashes, ties: Callable[[Ints], list[NDArray[Any]]]) -> Ints:
    """Return the places of rows in the order of their hashes, of equal ones in that of their columns.

    Hashes tell most rows apart, and sorting by all columns takes ten times as long: `ties` gives those of some rows.
    """
    order = np.argsort(hashes)
    ranked = hashes[order]
    alike = np.append(ranked[1:] == ranked[:-1], False)
    alike[1:] |= alike[:-1]
    if alike.any():
        rows = np.sort(order[alike])
        order[alike] = rows[np.lexsort((*ties(rows), hashes[rows]))]
    return order


def canonical_of(
    case: Case, columns: Sequence[str], tables: Sequence[int] | None = None, *, blind: bool = False
) -> Canonical:
    """Return the order of all rows of some tables; the case caches its hashes."""
    key = ("canonical order", tuple(sorted(columns)), None if tables is None else tuple(tables), blind)
    # not the order itself, which refers to the encoded tables: they would refer to themselves and stay in memory
    hashed = case.encoded.once(key, lambda: Canonical(case, columns, tables, blind=blind).hashed, tables)
    return Canonical(case, columns, tables, blind=blind, hashed=hashed)


def _ranks(numbers: NDArray[np.float64], levels: NDArray[np.int32]) -> Hashes:
    """Return the rank of each level's number among the numbers that occur in the rows."""
    used = np.flatnonzero(np.bincount(levels, minlength=len(numbers)))
    ranks = np.zeros(len(numbers), dtype=np.uint64)
    ranks[used] = np.unique(numbers[used], return_inverse=True)[1]
    return ranks
