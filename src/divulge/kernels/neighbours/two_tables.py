"""The nearest rows of two tables together: one search tells how many rows of each lie near a query."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from divulge.kernels.neighbours.distinct import Distinct, Progress
from divulge.kernels.neighbours.gower import Floats, Rows, Ruler
from divulge.kernels.neighbours.index import Index

__all__ = ["NearBoth", "TwoTables"]

Ints = NDArray[np.int64]

_BITS = 32
"""A count of rows of both tables is one whole number: that of the first in the lower bits, of the second above them."""
_BLOCK = 50_000  # queries whose counts are taken apart at once: some 40 MB


@dataclass(frozen=True, slots=True, eq=False)
class NearBoth:
    """The distances from some queries to the nearest distinct rows of two tables, and whose rows these are."""

    queries: slice
    """Which of the queries."""
    far: Floats
    """Shape (n, k), ascending: distances of the k nearest distinct rows; infinite where there are fewer."""
    rows: tuple[Ints, Ints]
    """Of each table, shape (n, k): how many of its rows each of these stands for; 0 where there is none."""
    beyond: tuple[Ints, Ints]
    """Of each table, shape (n,): how many of its rows tie with the last of these, and are not among them."""


class TwoTables:
    """Rows of two tables, prepared for searches in both at once.

    Parameters
    ----------
    ruler, first, second
        Rows on the same ruler; at least one row.
    threads, engine, progress
        As for `Index`.

    Examples
    --------
    >>> from divulge.kernels.neighbours.gower import Field, fit_ruler
    >>> marks = np.zeros(3, np.int32), np.zeros(2, np.int32), np.zeros(1, np.int32)
    >>> numbers = np.array([0.0, 4.0, 10.0]), np.array([4.0, 5.0]), np.array([4.0])
    >>> ruler, (first, second, asked) = fit_ruler([Field("x", numbers, marks)], ranges_of=[0])
    >>> (found,) = TwoTables(ruler, first, second).near(Distinct.of(asked), 2)
    >>> found.far.tolist(), [rows.tolist() for rows in found.rows], [rows.tolist() for rows in found.beyond]
    ([[0.0, 0.1]], [[[1, 0]], [[1, 1]]], [[0], [0]])
    """

    def __init__(
        self,
        ruler: Ruler,
        first: Rows,
        second: Rows,
        *,
        threads: int | None = None,
        engine: str | None = None,
        progress: Progress = lambda done, total: None,
    ) -> None:
        both = Distinct.of(Rows.stack([first, second]))
        of_each, size = both.of_each, len(both.times)
        counts = (np.bincount(rows, minlength=size) for rows in (of_each[: len(first)], of_each[len(first) :]))
        of_first, of_second = counts
        self._times = of_first + (of_second << _BITS)  # the search only adds up how many rows a distinct row stands for
        self._index = Index(ruler, replace(both, times=self._times), threads=threads, engine=engine, progress=progress)

    def near(self, queries: Distinct, k: int) -> Iterator[NearBoth]:
        """Yield the k nearest distinct rows of each distinct query, some queries at a time.

        Parameters
        ----------
        queries
            Rows on the same ruler. A query that is a row of a table is not left out of it.
        k
            At least 1; these stand for at least k rows, unless the tables have fewer.
        """
        far, rows, beyond = self._index.nearest_distinct(queries.rows, k)
        for start in range(0, len(far), _BLOCK):
            part = slice(start, start + _BLOCK)
            times = np.where(rows[part] >= 0, self._times[rows[part]], 0)
            yield NearBoth(part, far[part], _apart(times), _apart(beyond[part]))


def _apart(counts: Ints) -> tuple[Ints, Ints]:
    return counts & (2**_BITS - 1), counts >> _BITS
