"""Outlines of columns of many numbers in tables that an engine holds: counts between a few thousand of their values.

The values of such a column never come here. Its order statistics are found by counting: the interval between the
smallest and the largest number is divided into 4,096 parts, the engine counts each part, and only the parts that hold a
wanted rank are divided again, until their distinct values are few enough to fetch. So an order statistic is a value of
the data, and the same on every engine. The parts are places of float64, whose rounding moves a border but no order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite, nan
from typing import NamedTuple

import numpy as np
import polars as pl

from divulge.tables.canonical_values import numbers_among, plain
from divulge.tables.checked_numbers import CheckedNumbers
from divulge.tables.column_families import Family, Settled
from divulge.tables.counting import PARTS, Edges, Floats, Ints, Numbers, Spread, divided, numbers_in
from divulge.tables.engine_errors import answered, changed
from divulge.tables.frames import Table
from divulge.tables.pooled_columns import PooledColumn

__all__ = ["Outline", "outline"]

MANY = 100_000
"""Distinct values above which a column has an outline instead of its values."""
_FETCHED = 10_000
"""Rows of a part up to which its values are fetched."""


@dataclass(frozen=True, slots=True)
class Outline:
    """A column of many numbers in tables that an engine holds."""

    column: PooledColumn
    """Its levels are some of the values: each stands for all values above the level before, up to itself."""
    most_distinct: int
    """At least so many values differ in one of the tables."""
    roles: tuple[str, ...]
    """Names of the tables."""
    spans: tuple[float, ...]
    """Per table the largest minus the smallest finite number; nan without one."""
    missing: tuple[tuple[float, ...], ...]
    """Per table the numbers that stand for missing."""
    _distinct: dict[int, int]
    """Distinct numbers of the tables that were asked for them: a group-by by all of them takes longest."""
    _numbers: tuple[Numbers, ...]
    _spreads: tuple[Spread, ...]
    _low: Floats
    """Shape (n_levels,): the smallest number that a level stands for, as the engine has it."""
    _high: Floats

    @property
    def is_exact(self) -> bool:
        """Whether the engine compares the numbers that we have, so that an edge need not be one of its values."""
        return self._numbers[0].kind != "float32"

    def n_distinct(self, which: int) -> int:
        """Return how many numbers of a table differ."""
        if which not in self._distinct:
            self._distinct[which] = self._numbers[which].n_distinct()
        return self._distinct[which]

    def ends(self, tables: Sequence[int]) -> tuple[float, float]:
        """Return the smallest and the largest finite number of some tables, nan where there is none."""
        low = [self._spreads[i].low for i in tables if isfinite(self._spreads[i].low)]
        high = [self._spreads[i].high for i in tables if isfinite(self._spreads[i].high)]
        return (min(low), max(high)) if low else (nan, nan)

    def at(self, ranks: Ints, tables: Sequence[int]) -> Floats:
        """Return the numbers that have some ranks among the numbers of some tables.

        Parameters
        ----------
        ranks
            From 1 to the number of rows with a number.

        Returns
        -------
        ndarray
            Shape of `ranks`.
        """
        counts = np.sum([self.column.counts[i][1:] for i in tables], axis=0)
        try:
            found = _order_statistics([self._numbers[i] for i in tables], ranks, counts, self._low, self._high)
            return _canonical(self._numbers[0].kind, found)
        except IndexError:
            raise changed(self.roles[tables[0]], int(self.column.counts[tables[0]].sum())) from None

    def edges(self, edges: Floats, which: int) -> Edges:
        """Return edges, which are values unless the numbers are exact, as the engine compares them in a table."""
        own = edges if self.is_exact else edges.astype(np.float32).astype(np.float64)
        return Edges(own, self.missing[which])


def outline(tables: Sequence[Table], column: str, missing: Sequence[str] = ()) -> Outline | None:
    """Return the outline of a column; None where its values are few, or no numbers that float64 holds.

    Parameters
    ----------
    tables
        Each has the column.
    missing
        Texts that stand for missing.
    """
    if max(t.n_rows for t in tables) <= MANY or any(t.frame is not None for t in tables):
        return None
    codes = [_codes(t, missing) for t in tables]
    found = [_numbers(t, column, own) for t, own in zip(tables, codes, strict=True)]
    numbers = tuple(n for n in found if n is not None)
    if len(numbers) < len(tables) or len({n.kind for n in numbers}) > 1:
        return None
    if any(codes) and numbers[0].kind == "float32":
        return None  # a code is compared with the decimal that prints a number
    if all(n.whole for n in numbers) and not any(high - low >= MANY for low, high in (n.ends() for n in numbers)):
        return None  # so few that no more need be asked
    spreads = tuple(n.spread() for n in numbers)
    if not _is_exact(numbers, spreads):
        return None
    distinct: dict[int, int] = {}
    for i, own in enumerate(numbers):
        distinct[i] = own.n_distinct()
        if distinct[i] > MANY:
            break
    else:
        return None
    counts, smallest, largest = _parts(tables, numbers, spreads)
    kind = numbers[0].kind
    family: Family = "datetime" if kind.startswith("datetime") else "number"
    levels = pl.Series(_canonical(kind, largest))
    pooled = PooledColumn(
        column, family, family == "number" and not any(s.below + s.above + s.fractions for s in spreads),
        levels.cast(pl.Int64).cast(pl.Datetime("us")) if family == "datetime" else levels, counts,
        tuple(None for _ in tables), tuple(missing), "", Settled(family, frozenset([family])),
        of_values=tuple(None for _ in tables),
    )  # fmt: skip
    ends = [_canonical(kind, np.array([s.low, s.high])).tolist() for s in spreads]
    roles = tuple(t.role for t in tables)
    return Outline(
        pooled,
        max(distinct.values()),
        roles,
        tuple(high - low for low, high in ends),
        tuple(codes),
        distinct,
        numbers,
        spreads,
        smallest,
        largest,
    )


def _numbers(table: Table, column: str, missing: Sequence[float]) -> Numbers | None:
    name = table.names[column]
    if table.counting is not None:
        return table.counting.numbers(name, missing)
    assert table.lazy is not None
    where, native = str(getattr(table.lazy.implementation, "value", "")), table.lazy.to_native()
    found = answered(table.role, lambda: numbers_in(native, where, name, missing))
    return None if found is None else CheckedNumbers(found, lambda ask: answered(table.role, ask))


def _codes(table: Table, missing: Sequence[str]) -> tuple[float, ...]:
    """Return the numbers that stand for missing in a table."""
    texts = [text for text in missing if text not in table.missing]
    return tuple(numbers_among(pl.Series(texts, dtype=pl.String)).drop_nulls().drop_nans().to_list()) if texts else ()


def _is_exact(numbers: Sequence[Numbers], spreads: Sequence[Spread]) -> bool:
    return all(
        not isfinite(n.most) or not s.n or max(abs(s.low), abs(s.high)) <= n.most
        for n, s in zip(numbers, spreads, strict=True)
    )


def _canonical(kind: str, numbers: Floats) -> Floats:
    if kind != "float32":
        return numbers
    return np.asarray(plain(pl.Series(numbers.astype(np.float32))).to_numpy(), dtype=np.float64)


def _parts(
    tables: Sequence[Table], numbers: Sequence[Numbers], spreads: Sequence[Spread]
) -> tuple[tuple[Ints, ...], Floats, Floats]:
    """Return how many rows of each table are missing and in each part, and between which numbers a part is."""
    ends = [(s.low, s.high) for s in spreads if isfinite(s.low)]
    found = _divided(numbers, [(min(low for low, _ in ends), max(high for _, high in ends))] if ends else [])
    counts = []
    for table, own, spread in zip(tables, found.counts, spreads, strict=True):
        if own.sum() + spread.below + spread.above != spread.n:
            raise changed(table.role, table.n_rows)
        counts.append(np.concatenate([[table.n_rows - spread.n, spread.below], own, [spread.above]]).astype(np.int64))
    used = np.sum(counts, axis=0)[1:] > 0
    low, high = (np.concatenate([[-np.inf], side, [np.inf]])[used] for side in (found.low, found.high))
    kept = np.concatenate([[True], used])
    return tuple(own[kept] for own in counts), low, high


# ---------------------------------------------------------------- order statistics


class _Parts(NamedTuple):
    """Intervals in ascending order, and how many rows of each table are in each."""

    part: Ints
    counts: list[Ints]
    low: Floats
    high: Floats


class _Wanted(NamedTuple):
    """A rank in an interval that has been counted."""

    place: int
    """Of the rank among all ranks."""
    rank: int
    """Among the numbers of the interval."""
    low: float
    high: float
    n: int


def _order_statistics(numbers: Sequence[Numbers], ranks: Ints, counts: Ints, low: Floats, high: Floats) -> Floats:
    """Return the numbers of some ranks over tables together, from counts of intervals that hold all numbers."""
    out = np.empty(len(ranks))
    wanted = [_within(place, rank, counts, low, high) for place, rank in enumerate(ranks.tolist())]
    while wanted:
        for w in wanted:
            out[w.place] = w.high
        open_ = [w for w in wanted if w.low < w.high]
        few = sorted({(w.low, w.high) for w in open_ if _is_fetched(w)})
        many = sorted({(w.low, w.high) for w in open_} - set(few))
        values, times = _counted(numbers, few)
        parts = _divided(numbers, many)
        together, of = np.sum(parts.counts, axis=0), parts.part // (2 * PARTS)
        wanted = []
        for w in open_:
            if (w.low, w.high) in few:
                inside = slice(*np.searchsorted(values, [w.low, np.nextafter(w.high, np.inf)]))
                wanted.append(_within(w.place, w.rank, times[inside], values[inside], values[inside]))
            else:
                own = of == many.index((w.low, w.high))
                wanted.append(_within(w.place, w.rank, together[own], parts.low[own], parts.high[own]))
    return out


def _within(place: int, rank: int, counts: Ints, low: Floats, high: Floats) -> _Wanted:
    """Return the interval that holds a rank; an `IndexError` says that the numbers are not those that were counted."""
    cumulated = np.cumsum(counts)
    i = int(np.searchsorted(cumulated, rank))
    n = int(counts[i])
    return _Wanted(place, rank - int(cumulated[i]) + n, float(low[i]), float(high[i]), n)


def _is_fetched(wanted: _Wanted) -> bool:
    return wanted.n <= _FETCHED or not isfinite(divided(wanted.low, wanted.high)[1])


def _divided(numbers: Sequence[Numbers], within: Sequence[tuple[float, float]]) -> _Parts:
    """Return the parts of some intervals over all tables."""
    found = [n.parts(within) for n in numbers] if within else []
    every = np.unique(np.concatenate([f[0] for f in found])) if found else np.zeros(0, dtype=np.int64)
    low, high = np.full(len(every), np.inf), np.full(len(every), -np.inf)
    counts = [np.zeros(len(every), dtype=np.int64) for _ in numbers]
    for own, (part, n, smallest, largest) in zip(counts, found, strict=False):
        place = np.searchsorted(every, part)
        own[place] = n
        low[place], high[place] = np.minimum(low[place], smallest), np.maximum(high[place], largest)
    return _Parts(every, counts, low, high)


def _counted(numbers: Sequence[Numbers], within: Sequence[tuple[float, float]]) -> tuple[Floats, Ints]:
    """Return the distinct numbers in some intervals over all tables, and how many rows have each."""
    if not within:
        return np.zeros(0), np.zeros(0, dtype=np.int64)
    found = [n.counts(within) for n in numbers]
    values, place = np.unique(np.concatenate([x for x, _ in found]), return_inverse=True)
    times = np.bincount(place, weights=np.concatenate([n for _, n in found]), minlength=len(values))
    return values, times.astype(np.int64)
