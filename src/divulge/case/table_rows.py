"""Rows of encoded tables on a ruler, made part by part."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from divulge.kernels.neighbours.gower import Measured, Rows, rows_of

__all__ = ["SomeRows", "TableRows"]

Codes = NDArray[np.int32]
Ints = NDArray[np.int64]


class TableRows:
    """The rows of one or more tables, one after the other, made part by part from the codes."""

    def __init__(self, columns: Sequence[Measured], codes: Sequence[tuple[Codes, ...]], tables: Sequence[int]) -> None:
        self._columns = columns
        self._codes = [[of_column[i] for i in tables] for of_column in codes]

    def __len__(self) -> int:
        return sum(map(len, self._codes[0]))

    def part(self, first: int, last: int) -> Rows:
        """Return the rows from one number to before another."""
        return self._rows([_joined(of_column, first, last) for of_column in self._codes])

    def take(self, rows: Ints) -> Rows:
        """Return some of the rows."""
        begin = np.cumsum([0, *map(len, self._codes[0])])
        table = np.searchsorted(begin, rows, side="right") - 1
        return self._rows([_taken(of_column, table, rows - begin[table]) for of_column in self._codes])

    def _rows(self, at: Sequence[Codes]) -> Rows:
        return rows_of(self._columns, 0, len(at[0]), at)


class SomeRows:
    """Some of the rows of tables, made part by part."""

    def __init__(self, source: TableRows, rows: Ints) -> None:
        self._source, self._own = source, rows

    def __len__(self) -> int:
        return len(self._own)

    def part(self, first: int, last: int) -> Rows:
        """Return the rows from one number to before another."""
        return self._source.take(self._own[first:last])

    def take(self, rows: Ints) -> Rows:
        """Return some of the rows."""
        return self._source.take(self._own[rows])


def _taken(parts: Sequence[Codes], table: Ints, rows: Ints) -> Codes:
    """Return the codes of some rows of several tables."""
    if len(parts) == 1:
        return parts[0][rows]
    out = np.empty(len(rows), dtype=np.int32)
    for number, part in enumerate(parts):
        own = table == number
        out[own] = part[rows[own]]
    return out


def _joined(parts: Sequence[Codes], first: int, last: int) -> Codes:
    """Return a part of the codes of several tables, one after the other."""
    out, begin = [], 0
    for part in parts:
        own = part[max(0, first - begin) : max(0, last - begin)]
        if len(own):
            out.append(own)
        begin += len(part)
    return out[0] if len(out) == 1 else np.concatenate([parts[0][:0], *out])
