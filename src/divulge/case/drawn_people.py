"""The rows of a random sample of people of one table, block by block, so that codes in files will do.

Rows are drawn by their places in the order of `Canonical` over all columns, which depends neither on category names nor
on units of numbers nor on the order of rows. So the same people are drawn wherever the rows are. Only the hash of each
row is held in memory, eight bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.case.case import Case
from divulge.case.encoded import ROLES
from divulge.case.invariant_order import _OF_COLUMN, _OF_ROW, _OF_TABLE, _ranks
from divulge.core.hashing import value_hashes

__all__ = ["drawn_people"]

Ints = NDArray[np.int64]
Hashes = NDArray[np.uint64]
Codes = NDArray[Any]

_BLOCK = 1_000_000  # rows that are hashed at once


def drawn_people(case: Case, which: int, people: int) -> Ints:
    """Return the rows of at most so many people of one table, ascending; units come with all their rows.

    Parameters
    ----------
    which
        0 real, 2 holdout.
    people
        At least 1.

    Examples
    --------
    >>> import polars as pl
    >>> from divulge.case.case import build_case
    >>> ages = pl.DataFrame({"age": [30, 41, 52]})
    >>> [ages["age"][row] for row in drawn_people(build_case(ages, ages), 0, 1).tolist()]
    [41]
    >>> back = ages.reverse()
    >>> [back["age"][row] for row in drawn_people(build_case(back, ages), 0, 1).tolist()]
    [41]
    """
    role = ROLES[which]
    n_people = case.n_people(role)
    if n_people <= people:
        return np.arange(case.n_rows(role))
    place = case.rng(f"people asked, {role}").choice(n_people, people, replace=False)
    order = _Order(case, which)
    return order.rows_at(np.sort(place)) if case.unit is None else order.rows_of_units(np.sort(place))


class _Order:
    """The rows of one table in canonical order."""

    def __init__(self, case: Case, which: int) -> None:
        self._names = tuple(sorted(case.columns))
        self._codes: list[Codes] = [case.codes(n, binned=False)[which] for n in self._names]
        self._marks: list[Codes | None] = [
            case.encoded.marks(n) if case.encoded.is_number(n) else None for n in self._names
        ]
        """Of a column of numbers the mark of each code."""
        self._unit = None if case.unit is None else self._codes[self._names.index(case.unit)]
        self.hashes = self._hashed(case, which)

    def rows_at(self, place: Ints) -> Ints:
        """Return the rows at some places of the order, ascending."""
        ordered = np.sort(self.hashes)
        rows = self._sorted(self._having(ordered[place]))
        of_row = self.hashes[rows]
        first = np.searchsorted(ordered, of_row) + _within(of_row)
        return np.sort(rows[_is_among(first, place)])

    def rows_of_units(self, place: Ints) -> Ints:
        """Return the rows of the units at some places, by the first row of each unit, ascending."""
        assert self._unit is not None
        unit = self._unit.astype(np.int64)
        alone = np.flatnonzero(unit == 0)  # a row without a unit is its own
        unit[alone] = int(unit.max(initial=0)) + 1 + np.arange(len(alone))
        least = np.full(int(unit.max()) + 1, np.iinfo(np.uint64).max)
        np.minimum.at(least, unit, self.hashes)
        occurs = np.zeros(len(least), dtype=np.bool_)
        occurs[unit] = True
        ordered = np.sort(least[occurs])
        rows = self._having(ordered[place])
        rows = self._sorted(rows[self.hashes[rows] == least[unit[rows]]])
        _, first = np.unique(unit[rows], return_index=True)
        rows = rows[np.sort(first)]
        of_row = self.hashes[rows]
        chosen = rows[_is_among(np.searchsorted(ordered, of_row) + _within(of_row), place)]
        wanted = np.zeros(len(least), dtype=np.bool_)
        wanted[unit[chosen]] = True
        return np.flatnonzero(wanted[unit])

    def _having(self, hashes: Hashes) -> Ints:
        """Return the rows with one of some hashes, ascending."""
        wanted = np.unique(hashes)
        return np.concatenate([a + np.flatnonzero(_is_among(self.hashes[a:b], wanted)) for a, b in self._blocks()])

    def _sorted(self, rows: Ints) -> Ints:
        """Return rows in canonical order: by hash, then by the codes of categories, then by number."""
        hashes = self.hashes[rows]
        order = np.argsort(hashes, kind="stable")
        rows, hashes = rows[order], hashes[order]
        shared = np.flatnonzero(np.r_[False, hashes[1:] == hashes[:-1]] | np.r_[hashes[1:] == hashes[:-1], False])
        some = rows[shared]
        ties = [_category(codes[some], marks) for codes, marks in zip(self._codes, self._marks, strict=True)]
        rows[shared] = some[np.lexsort((*ties, hashes[shared]))]
        return rows

    def _blocks(self) -> Iterator[tuple[int, int]]:
        n = len(self._codes[0])
        for a in range(0, n, _BLOCK):
            yield a, min(a + _BLOCK, n)

    def _hashed(self, case: Case, which: int) -> Hashes:
        """Return the hash of each row, as `Canonical` makes it."""
        ranked, numbers = [], 0
        for name, marks in zip(self._names, self._marks, strict=True):
            if marks is None:
                ranked.append(np.zeros(case.n_codes(name, binned=False), dtype=np.uint64))
                continue
            found = case.pooled(name).counts[which] > 0
            ranked.append(value_hashes(_ranks(case.numbers(name), np.flatnonzero(found).astype(np.int32)), numbers))
            numbers += 1
        whole = value_hashes(np.array([which], dtype=np.uint64), _OF_TABLE)[0]
        every = [np.arange(len(r)) if m is None else m for r, m in zip(ranked, self._marks, strict=True)]
        colours = [np.zeros(int(marks.max()) + 1, dtype=np.uint64) for marks in every]
        out = np.empty(len(self._codes[0]), dtype=np.uint64)
        for last in (False, False, True):
            tables = [
                fixed + value_hashes(colour, _OF_COLUMN + j)[marks]
                for j, (fixed, colour, marks) in enumerate(zip(ranked, colours, every, strict=True))
            ]
            summed = [np.zeros(len(colour), dtype=np.uint64) for colour in colours]
            for a, b in self._blocks():
                hashes = np.full(b - a, whole)
                for table, codes in zip(tables, self._codes, strict=True):
                    hashes += table[codes[a:b]]
                if last:
                    out[a:b] = hashes
                    continue
                salted = value_hashes(hashes, _OF_ROW)
                for total, codes, marks in zip(summed, self._codes, self._marks, strict=True):
                    if len(total) == 1:
                        total += salted.sum(dtype=np.uint64)
                    else:
                        np.add.at(total, _category(codes[a:b], marks), salted)
            colours = summed
        return out


def _category(codes: Codes, marks: Codes | None) -> Codes:
    """Return the category of each row; in a column of numbers the mark."""
    return codes if marks is None else marks[codes]


def _within(ordered: Hashes) -> Ints:
    """Return the place of each entry among those equal to it, of sorted entries."""
    place = np.arange(len(ordered))
    first = np.r_[True, ordered[1:] != ordered[:-1]] if len(ordered) else np.zeros(0, dtype=np.bool_)
    return place - np.maximum.accumulate(np.where(first, place, 0))


def _is_among(values: NDArray[Any], ascending: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which values are among some, which ascend."""
    place = np.minimum(np.searchsorted(ascending, values), len(ascending) - 1)
    return np.asarray(ascending[place] == values)
