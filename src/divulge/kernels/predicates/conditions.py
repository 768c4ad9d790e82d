"""Conjunctions of conditions, each an interval of codes of one column."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Predicates"]

Progress = Callable[[int, int], None]
"""Called with the number of predicates done and the number of all predicates."""


@dataclass(frozen=True, slots=True, eq=False)
class Predicates:
    """Conjunctions of conditions, each an interval of codes of one column.

    Every row meets a predicate without conditions; no row meets an interval whose low end is above its high end.
    One column may have several conditions.

    Examples
    --------
    >>> both = Predicates(
    ...     column=np.array([[0, 1], [1, 0]]),
    ...     low=np.array([[3, 1], [0, 0]], np.int32),
    ...     high=np.array([[9, 1], [0, 0]], np.int32),
    ...     n=np.array([2, 1]),
    ... )
    >>> len(both), both.take([1]).low.tolist()
    (2, [[0, 0]])
    """

    column: NDArray[np.integer[Any]]
    """Shape (m, width): column of each condition."""
    low: NDArray[np.int32]
    """Shape (m, width): smallest code that meets the condition."""
    high: NDArray[np.int32]
    """Shape (m, width): largest code that meets it."""
    n: NDArray[np.integer[Any]]
    """Shape (m,): number of conditions that are used, the first ones of the row; 0 to width."""

    def __len__(self) -> int:
        return len(self.n)

    def take(self, which: Any) -> Predicates:
        """Return some of the predicates: by number, slice or truth values."""
        return Predicates(self.column[which], self.low[which], self.high[which], self.n[which])

    @staticmethod
    def concatenate(parts: Sequence[Predicates]) -> Predicates:
        """Return the predicates of all parts, one part after the other; their widths may differ."""
        width = max((p.column.shape[1] for p in parts), default=0)
        none = np.empty((0, width), dtype=np.int32)
        wide = [Predicates(none, none, none, np.empty(0, dtype=np.int64)), *parts]
        columns, lows, highs = (
            np.concatenate([np.pad(a, ((0, 0), (0, width - a.shape[1]))) for a in arrays])
            for arrays in ([p.column for p in wide], [p.low for p in wide], [p.high for p in wide])
        )
        return Predicates(columns, lows, highs, np.concatenate([p.n for p in wide]))
