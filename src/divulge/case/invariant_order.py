"""An order of rows and levels, used for random draws, that does not depend on category names or row order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from divulge.case.case import Case
from divulge.core.hashing import value_hashes
from divulge.tables.counting import narrowest

__all__ = ["Canonical", "canonical_of"]

Ints = NDArray[np.int64]
Hashes = NDArray[np.uint64]

_HOLDOUT = 2
_OF_COLUMN, _OF_ROW, _OF_TABLE = 1_000, 5_000, 10_007  # salts of hashes


class _Hashed(NamedTuple):
    """What takes the time of an order."""

    colours: list[Hashes]
    """For each column the hash of each level, shape (n_levels,)."""
    rows: list[Hashes]
    """For each table the hash of each row that enters, shape (n_rows,)."""


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
        lengths = [len(self._levels_of(0, t)) for t in self._tables]
        of_table = [0 if blind and t == _HOLDOUT else t for t in self._tables]
        fixed = np.repeat(value_hashes(np.array(of_table, dtype=np.uint64), _OF_TABLE), lengths)
        every: list[NDArray[Any]] = []
        n_numbers = 0
        for j, column in enumerate(self.columns):
            if self._encoded.is_number(column):
                found = np.concatenate([self._levels_of(j, t) for t in self._tables])
                fixed += value_hashes(_ranks(self._encoded.numbers(column), found), n_numbers)[found]
                n_numbers += 1
            marks = [self._part(self.codes(j, t), t) for t in self._tables]
            width = narrowest(1 + max(int(m.max(initial=0)) for m in marks))  # they are held for all columns
            every.append(np.concatenate([m.astype(width) for m in marks]))
        colours = [np.zeros(int(c.max(initial=0)) + 1, dtype=np.uint64) for c in every]
        for _ in range(3):
            hashes = fixed.copy()
            for j, codes in enumerate(every):
                hashes += value_hashes(colours[j], _OF_COLUMN + j)[codes]
            salted = value_hashes(hashes, _OF_ROW)
            colours = [_summed(codes, salted, len(k)) for codes, k in zip(every, colours, strict=True)]
        return _Hashed(colours, np.split(hashes, np.cumsum(lengths)[:-1]))

    def order(self, which: int) -> Ints:
        """Return the row numbers of a table (0 real, 1 synthetic, 2 holdout) that enter, in canonical order."""
        ties: list[NDArray[Any]] = [self._part(self.codes(j, which), which) for j in range(len(self.columns))]
        order = np.lexsort((*ties, self.rows[self._tables.index(which)]))
        return self._rows[which][order] if which in self._rows else order

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
        return codes[np.lexsort((codes, self.colours[column][codes]))]


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


def _summed(codes: NDArray[Any], values: Hashes, n: int) -> Hashes:
    """Return for each code the sum of the values of its rows, modulo 2**64."""
    out = np.zeros(n, dtype=np.uint64)
    np.add.at(out, codes, values)
    return out
