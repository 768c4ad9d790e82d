"""An order of rows and of levels for draws: names of categories and the order of rows do not enter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from divulge.case.case import Case
from divulge.case.distances import _field
from divulge.core.hashing import value_hashes

__all__ = ["Canonical"]

Ints = NDArray[np.int64]
Hashes = NDArray[np.uint64]


class Canonical:
    """An order of rows and of levels that names of categories, units of numbers and row order do not enter.

    Numbers count by rank, levels by how often they occur and beside what: rows are hashed by their levels and levels by
    their rows, three times. What is still equal is told apart by its code, and hardly ever matters. `tables` says which
    tables count (0 real, 1 synthetic, 2 holdout); None takes all. `rows` says which rows of a table count; of a table
    that is not named there all do.
    """

    def __init__(
        self,
        case: Case,
        columns: Sequence[str],
        tables: Sequence[int] | None = None,
        rows: Mapping[int, Ints] | None = None,
    ) -> None:
        self.fields = [_field(case, c, 1.0) for c in sorted(columns)]
        self._tables = tuple(range(len(case.tables))) if tables is None else tuple(tables)
        self._rows = {} if rows is None else rows
        parts: list[Hashes] = []
        self._codes: list[Ints] = []
        for f in self.fields:
            codes = np.concatenate([self._part(f.codes, t) for t in self._tables]).astype(np.int64)
            if f.numbers is not None:
                numbers = np.concatenate([self._part(f.numbers, t) for t in self._tables])
                ranks = np.unique(numbers, return_inverse=True)[1]
                parts.append(value_hashes(ranks.astype(np.uint64), len(parts)))
            self._codes.append(codes)
        lengths = [len(self._part(self.fields[0].codes, t)) for t in self._tables]
        table = np.repeat(self._tables, lengths).astype(np.uint64)
        fixed = sum(parts, value_hashes(table, 10_007))
        self.colours = [np.zeros(int(c.max(initial=0)) + 1, dtype=np.uint64) for c in self._codes]
        levels = [_levels(codes) for codes in self._codes]
        for _ in range(3):
            hashes = fixed.copy()
            for j, codes in enumerate(self._codes):
                hashes += value_hashes(self.colours[j], 1_000 + j)[codes]
            self.rows = np.split(hashes, np.cumsum(lengths)[:-1])
            salted = value_hashes(hashes, 5_000)
            self.colours = [_summed(of, salted, len(k)) for of, k in zip(levels, self.colours, strict=True)]

    def order(self, which: int) -> Ints:
        """Return the rows of a table (0 real, 1 synthetic, 2 holdout) that count, by number, in canonical order."""
        ties: list[NDArray[Any]] = [self._part(f.codes, which) for f in self.fields]
        order = np.lexsort((*ties, self.rows[self._tables.index(which)]))
        return self._rows[which][order] if which in self._rows else order

    def _part(self, values: Sequence[NDArray[Any]], which: int) -> NDArray[Any]:
        return values[which][self._rows[which]] if which in self._rows else values[which]

    def sorted_codes(self, field: int, codes: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return codes of a field in canonical order."""
        return codes[np.lexsort((codes, self.colours[field][codes]))]


class _Levels(NamedTuple):
    """The rows of each level of a column, one level after the other."""

    rows: Ints
    first: Ints
    code: Ints


def _levels(codes: Ints) -> _Levels:
    rows = np.argsort(codes, kind="stable")
    first = np.flatnonzero(np.diff(codes[rows], prepend=-1))
    return _Levels(rows, first, codes[rows[first]])


def _summed(levels: _Levels, values: Hashes, n: int) -> Hashes:
    """Return the sum of the values of the rows of each code, modulo 2**64."""
    out = np.zeros(n, dtype=np.uint64)
    out[levels.code] = np.add.reduceat(values[levels.rows], levels.first)
    return out
