"""Distinct rows, each with its multiplicity."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.core.hashing import value_hashes
from divulge.kernels.neighbours.gower import Rows
from divulge.kernels.places import numbered
from divulge.kernels.runtime import IN_CACHE, side_by_side

__all__ = ["Distinct", "Progress", "hashes_of", "unheard"]

Ints = NDArray[np.int64]
Progress = Callable[[int, int], None]
"""Called with the number of queries done and the number of all queries."""


def unheard(done: int, total: int) -> None:
    """Tell nobody of the progress."""


@dataclass(frozen=True, slots=True, eq=False)
class Distinct:
    """Distinct rows, in the order of first appearance."""

    whole: Rows
    """The rows with their repeats."""
    rows: Rows
    of_row: Ints | None
    """Shape (n_rows,): the distinct row of each row; None when no row is left out."""
    times: Ints
    """Shape (n_distinct,): how many rows each stands for."""
    start: Ints
    """Shape (n_distinct + 1,): distinct row u stands for members[start[u] : start[u + 1]]."""
    members: Ints
    """Row numbers, ascending within a distinct row."""

    @staticmethod
    def of(rows: Rows | Distinct, *, always: bool = False) -> Distinct:
        """Return the distinct rows; where few rows repeat, the repeats stay in unless `always`. Idempotent."""
        if isinstance(rows, Distinct):
            if rows.of_row is not None or not always:
                return rows
            rows = rows.whole
        known = _numbered(hashes_of(rows), always)
        # two different rows have one hash: 1 in 2**64
        if known is None or not _equal(rows, rows.take(known[1][known[0]])):
            return Distinct.all_of(rows)
        of_row, first = known
        times = np.bincount(of_row, minlength=len(first))
        members = np.argsort(of_row, kind="stable")
        return Distinct(rows, rows.take(first), of_row, times, np.append(0, np.cumsum(times)), members)

    @staticmethod
    def of_counts(rows: Rows, times: Ints) -> Distinct:
        """Return the distinct rows where each of some rows, equal ones among them, stands for several.

        `members` are numbers of `rows`, so that only searches that count rows may use it.
        """
        own = Distinct.of(rows, always=True)
        summed = np.bincount(own.of_each, weights=times, minlength=len(own.times)).astype(np.int64)
        return Distinct(rows, own.rows, own.of_each, summed, own.start, own.members)

    @staticmethod
    def all_of(rows: Rows) -> Distinct:
        """Return the rows as they are, each as a distinct one."""
        numbers = np.arange(len(rows) + 1)
        return Distinct(rows, rows, None, np.ones(len(rows), dtype=np.int64), numbers, numbers[:-1])

    def __len__(self) -> int:
        """Return the number of rows, repeats included."""
        return len(self.whole)

    def first(self) -> Ints:
        """Return the first of the rows that each distinct row stands for."""
        return self.members[self.start[:-1]]

    @property
    def of_each(self) -> Ints:
        """The distinct row of each row, also where no row is left out."""
        return np.arange(len(self.times)) if self.of_row is None else self.of_row

    def which(self, rows: Ints) -> Ints:
        """Return the distinct row of each row number; -1 stays -1."""
        return rows if self.of_row is None else np.where(rows < 0, -1, self.of_row[rows])


def hashes_of(rows: Rows) -> NDArray[np.uint64]:
    """Return a 64-bit hash of each row: the sum of the hashes of its entries, each salted by its column."""
    out = np.zeros(len(rows), dtype=np.uint64)
    columns: list[NDArray[Any]] = [rows.numbers[:, j] for j in range(rows.numbers.shape[1])]
    columns += [rows.codes[:, j] for j in range(rows.codes.shape[1])]

    def part(a: int, b: int) -> None:
        for j, column in enumerate(columns):
            values = column[a:b] + 0.0
            values[np.isnan(values)] = np.nan  # with one bit pattern
            out[a:b] += value_hashes(values.view(np.uint64), j)

    side_by_side(part, len(rows), os.cpu_count() or 1, IN_CACHE)
    return out


def _numbered(hashes: NDArray[np.uint64], always: bool) -> tuple[Ints, Ints] | None:
    """Return the number of each hash, in the order of first occurrence, and where each of these occurs first.

    None where all are different; where few repeat, too, unless `always`.
    """
    found = numbered(hashes.view(np.int64))
    if found is not None:
        highest = np.maximum.accumulate(found[0])
        return found[0], np.flatnonzero(np.append(True, highest[1:] != highest[:-1])[: len(hashes)])
    if _n_distinct(hashes) > 0.95 * len(hashes) and not always:
        return None
    _, first, of_hash = np.unique(hashes, return_index=True, return_inverse=True)
    if len(first) == len(hashes) > 0:
        return None
    order = np.argsort(first)
    rank = np.empty(len(first), dtype=np.int64)
    rank[order] = np.arange(len(first))
    return rank[of_hash], first[order]


def _n_distinct(hashes: NDArray[np.uint64]) -> int:
    ordered = np.sort(hashes)
    return int(np.count_nonzero(ordered[1:] != ordered[:-1])) + min(1, len(hashes))


def _equal(a: Rows, b: Rows) -> bool:
    return bool(np.array_equal(a.codes, b.codes) and np.array_equal(a.numbers, b.numbers, equal_nan=True))
