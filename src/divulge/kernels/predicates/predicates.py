"""The rows of a table that meet several conditions at once ("age <= 19 and job = nurse"), for many predicates.

A table is a matrix of codes: the rank of each value in its column, 0 for missing. So every condition on one column
(equal, at most, at least, missing) is an interval of codes, and a predicate is a few intervals. Small tasks use numpy,
larger tasks compiled code (`_compiled`), which stops counting at the caller's limit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.core.errors import SettingError
from divulge.kernels.predicates.conditions import Predicates, Progress
from divulge.kernels.runtime import has_loops

__all__ = ["Conjunctions", "Matches"]

Ints = NDArray[np.int64]
_COMPILE_FROM = 400_000  # pairs of predicate and row below which numpy takes less time than building the index
_CELLS = 4_000_000  # pairs of predicate and row in memory at once, for numpy


@dataclass(frozen=True, slots=True, eq=False)
class Matches:
    """The rows that meet each predicate; they are not listed where there are too many."""

    count: Ints
    """Shape (m,): how many rows; `most` + 1 stands for more than `most`."""
    start: Ints
    """Shape (m + 1,): predicate i has rows[start[i] : start[i + 1]]; none where its count is above `most`."""
    rows: Ints
    """Row numbers, ascending within a predicate."""


class Conjunctions:
    """A table of codes, prepared for searches of the rows that meet predicates.

    Parameters
    ----------
    codes
        Shape (n_rows, n_columns): 0 for missing, otherwise the rank of the value in its column, from 1 on; ranks may be
        skipped. Memory grows with the largest code.
    threads
        Number of threads; None takes all cores. The result does not depend on it.
    engine
        "numpy" or "compiled" forces one way of searching; None chooses by the size of the task.
    progress
        Called now and then during long searches.

    Raises
    ------
    SettingError
        A code is negative.

    Examples
    --------
    >>> age, job = [20, 30, 30, 40], [1, 2, 1, 1]
    >>> table = Conjunctions(np.array([[1, 2, 2, 3], job], np.int32).T)
    >>> young, carer = (0, 1, 2), (1, 1, 1)  # age at most 30, job 1: column, low, high
    >>> column, low, high = (np.array([a], np.int32) for a in zip(young, carer))
    >>> both = Predicates(column, low, high, np.array([2]))
    >>> table.count(both).tolist(), table.count(both, most=9).tolist()
    ([2], [2])
    >>> table.matches(both).rows.tolist()
    [0, 2]
    """

    def __init__(
        self,
        codes: NDArray[np.int32],
        *,
        threads: int | None = None,
        engine: str | None = None,
        progress: Progress = lambda done, total: None,
    ) -> None:
        if codes.min(initial=0) < 0:
            raise SettingError("predicates: some codes are negative. hint: 0 is missing, ranks begin at 1.")
        self._codes, self._threads, self._engine, self._progress = codes, threads, engine, progress
        self._compiled: Any = None

    @property
    def n_bytes(self) -> int:
        """Memory of the compiled index in bytes; 0 before it is built."""
        return 0 if self._compiled is None else int(self._compiled.n_bytes)

    def count(self, predicates: Predicates, most: int = 1) -> Ints:
        """Return how many rows meet each predicate, shape (m,); `most` + 1 stands for more than `most`."""
        return self._search(predicates, most, listing=False)[0]

    def matches(self, predicates: Predicates, most: int = 64) -> Matches:
        """Return the rows that meet each predicate; they are not listed where more than `most` rows do.

        Raises
        ------
        SettingError
            `most` is negative, a column does not exist, or a number of conditions is out of range.
        """
        count, predicate, rows = self._search(predicates, most, listing=True)
        listed = np.bincount(predicate, minlength=len(predicates))
        return Matches(count, np.append(0, np.cumsum(listed)), rows)

    def _search(self, predicates: Predicates, most: int, *, listing: bool) -> tuple[Ints, Ints, Ints]:
        self._check(predicates, most)
        if self._choose(len(predicates)) == "numpy":
            return _search_numpy(self._codes, predicates, most)
        if self._compiled is None:
            from divulge.kernels.predicates._compiled import CompiledConjunctions

            self._compiled = CompiledConjunctions(self._codes, self._threads, self._progress)
        found: tuple[Ints, Ints, Ints] = self._compiled.search(predicates, most, listing)
        return found

    def _check(self, predicates: Predicates, most: int) -> None:
        width, n_columns = predicates.column.shape[1], self._codes.shape[1]
        if most < 0:
            raise SettingError(f"most: {most} is negative. hint: 0 or more.")
        if predicates.n.min(initial=0) < 0 or predicates.n.max(initial=0) > width:
            raise SettingError(f"predicates: a number of conditions is not between 0 and {width}. hint: check it.")
        column = predicates.column
        if column.size and column.min() >= 0 and column.max() < n_columns:
            return
        used = np.arange(width) < predicates.n[:, None]
        if ((column < 0) | (column >= n_columns))[used].any():
            raise SettingError(
                f"predicates: a condition names no column of the table, which has {n_columns}. "
                "hint: columns are counted from 0."
            )

    def _choose(self, m: int) -> str:
        if not (m and self._codes.size):
            return "numpy"
        if self._engine is not None:
            return self._engine
        n_pairs = m * len(self._codes)
        small = self._compiled is None and n_pairs < _COMPILE_FROM
        return "numpy" if small or not has_loops(n_pairs) else "compiled"


def _search_numpy(codes: NDArray[np.int32], predicates: Predicates, most: int) -> tuple[Ints, Ints, Ints]:
    """Compare every predicate with every row; the compiled search must give the same results."""
    m, n_rows = len(predicates), len(codes)
    count = np.zeros(m, dtype=np.int64)
    pairs: list[tuple[Ints, Ints]] = [(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))]
    step = max(1, _CELLS // max(1, n_rows))
    for first in range(0, m, step):
        part = predicates.take(slice(first, first + step))
        meets = np.ones((len(part), n_rows), dtype=bool)
        for t in range(part.column.shape[1]):
            some = np.flatnonzero(part.n > t)
            values = codes.T[part.column[some, t]]
            meets[some] &= (part.low[some, t, None] <= values) & (values <= part.high[some, t, None])
        total = meets.sum(axis=1)
        count[first : first + step] = np.minimum(total, most + 1)
        predicate, row = np.nonzero(meets & (total <= most)[:, None])
        pairs.append((first + predicate, row))
    return count, np.concatenate([p for p, _ in pairs]), np.concatenate([r for _, r in pairs])
