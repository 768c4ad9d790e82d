"""Numbers of a column whose every answer is checked: errors of an engine are told without its message."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from divulge.tables.counting import Floats, Ints, Numbers, Spread

__all__ = ["CheckedNumbers"]


class CheckedNumbers:
    """Numbers of a column; `still` asks for an answer and checks it."""

    def __init__(self, numbers: Numbers, still: Callable[[Callable[[], Any]], Any]) -> None:
        self._numbers, self._still = numbers, still
        self.kind, self.most, self.whole = numbers.kind, numbers.most, numbers.whole

    def ends(self) -> tuple[float, float]:
        """Return the smallest and the largest value."""
        found: tuple[float, float] = self._still(self._numbers.ends)
        return found

    def spread(self) -> Spread:
        """Return how many there are, and between which numbers."""
        found: Spread = self._still(self._numbers.spread)
        return found

    def n_distinct(self) -> int:
        """Return how many numbers differ."""
        return int(self._still(self._numbers.n_distinct))

    def parts(self, within: Sequence[tuple[float, float]]) -> tuple[Ints, Ints, Floats, Floats]:
        """Return how many rows are in each part of closed intervals, and between which numbers."""
        found: tuple[Ints, Ints, Floats, Floats] = self._still(lambda: self._numbers.parts(within))
        return found

    def counts(self, within: Sequence[tuple[float, float]]) -> tuple[Floats, Ints]:
        """Return the distinct numbers in some closed intervals, and how many rows have each."""
        found: tuple[Floats, Ints] = self._still(lambda: self._numbers.counts(within))
        return found
