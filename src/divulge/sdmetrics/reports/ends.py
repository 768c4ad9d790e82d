"""Columns of many numbers or times that an engine counts, as few values that lie alike to the limits of the real one.

BoundaryAdherence asks how many synthetic values lie between two limits. The engine counts them below, between and
above; a value that stands for each of these parts gives the score of all rows.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.sdmetrics.columns import Column
from divulge.sdmetrics.single_column.comparisons import column_limits
from divulge.tables.counting import Edges, Numbers, Spread
from divulge.tables.frames import Table

__all__ = ["Ends", "ends_of"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_NANOSECONDS = 1000  # of a microsecond, in which engines tell times
_MOST = float(np.finfo(np.float64).max)


@dataclass(frozen=True, slots=True)
class Ends:
    """What is known of a column of numbers or times that float64 holds exactly."""

    table: Table
    name: str
    missing: tuple[float, ...]
    """Numbers that stand for missing."""
    spread: Spread
    is_time: bool
    whole: bool
    """The type holds whole numbers alone; times are whole microseconds."""

    def real(self) -> tuple[Column, Ints]:
        """Return the smallest and the largest number, and how a missing one stands there; the counts mean nothing."""
        s = self.spread
        found = [s.low, s.high] if not math.isnan(s.low) else []
        found += [-math.inf] * (s.below > 0) + [math.inf] * (s.above > 0)
        return self._column(found), np.ones(len(found) + self._has_missing, dtype=np.int64)

    def synthetic(self, real: Column, options: Mapping[str, Any]) -> tuple[Column, Ints] | None:
        """Return a number of each part that the limits of the real column make, and the rows in it.

        None where the limits are numbers that cannot be compared as float64.
        """
        counting = self.table.counting
        assert counting is not None
        at = self._edges(real, options)
        if at is None:
            return None
        s = self.spread
        top = math.inf if s.above else s.high if not math.isnan(s.high) else -math.inf
        if not s.n:
            return self._column([]), np.full(int(self._has_missing), self.table.n_rows, dtype=np.int64)
        if not at:
            counts = [s.n]
        else:
            (codes,), n = counting.cells([self.table.names[self.name]], [Edges(np.array(at), self.missing)])
            counts = np.bincount(codes, weights=n, minlength=len(at) + 2)[1:].astype(np.int64).tolist()
        kept = [(value, n) for value, n in zip([*(min(edge, top) for edge in at), top], counts, strict=True) if n]
        column = self._column([value for value, _ in kept])
        return column, np.array([n for _, n in kept] + [self.table.n_rows - s.n] * self._has_missing, dtype=np.int64)

    @property
    def _has_missing(self) -> bool:
        return self.spread.n < self.table.n_rows

    def _column(self, numbers: Sequence[float]) -> Column:
        """Return numbers as the column would have them in memory, and a missing one where it has such."""
        if self.is_time:
            whole = [int(v) * _NANOSECONDS for v in numbers] + [np.iinfo(np.int64).min] * self._has_missing  # NaT
            return Column("M", np.array(whole, dtype=np.int64).view("datetime64[ns]"), name=self.name)
        if self.whole and not self._has_missing:
            return Column("i", np.array(numbers, dtype=np.int64), name=self.name)
        return Column("f", np.array([*numbers, *[np.nan] * self._has_missing], dtype=np.float64), name=self.name)

    def _edges(self, real: Column, options: Mapping[str, Any]) -> list[float] | None:
        """Return the numbers above which another part begins, ascending."""
        try:
            limits = column_limits(real, options.get("range_min"), options.get("range_max"))
        except (TypeError, ValueError):  # the score fails with this error, whatever the rows are
            return []
        edges = []
        for limit, below in zip(limits, (True, False), strict=True):
            if limit is None or isinstance(limit, str):
                continue  # no comparison depends on the rows: there is no limit, or it is no number
            edge = self._edge(limit, below) if isinstance(limit, Real | np.bool_) else None
            if edge is None:
                return None
            edges += [edge] if abs(edge) <= _MOST else []
        return sorted(set(edges))

    def _edge(self, limit: Any, below: bool) -> float | None:
        """Return the largest number below a limit, or not above it; infinite where none or all are; None if unknown."""
        if int(limit) != float(limit) if isinstance(limit, int | np.integer) else math.isnan(limit):
            return None
        scale = _NANOSECONDS if self.is_time else 1
        if math.isinf(limit):
            if limit < 0 and not below:
                return None  # minus infinity alone is within the limits, and no finite number tells it from others
            return _MOST if limit > 0 and below else float(limit)
        if self.whole or self.is_time:
            exact = int(limit) if float(limit).is_integer() else limit
            if isinstance(exact, int):
                return float(-(-exact // scale) - 1 if below else exact // scale)
            return float(math.ceil(exact / scale) - 1 if below else math.floor(exact / scale))
        return float(np.nextafter(limit, -np.inf)) if below else float(limit)


def ends_of(table: Table, name: Hashable, missing: Sequence[float]) -> Ends | None:
    """Return what is known of a column of numbers or times; None of other columns, and of what float64 cannot hold."""
    counting = table.counting
    assert counting is not None
    numbers: Numbers | None = counting.numbers(table.names[str(name)], missing)
    if numbers is None or (numbers.kind == "float32" and missing):  # with codes they are read by their digits
        return None
    is_time = numbers.kind.startswith("datetime")
    codes = () if is_time else tuple(missing)
    if is_time and missing:
        numbers = counting.numbers(table.names[str(name)], ())
        assert numbers is not None
    spread = numbers.spread()
    if max(abs(spread.low), abs(spread.high)) > numbers.most:
        return None
    return Ends(table, str(name), codes, spread, is_time, numbers.whole or is_time)
