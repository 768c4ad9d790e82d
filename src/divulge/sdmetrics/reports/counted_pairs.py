"""What is found of pairs of columns whose rows an engine keeps, from one pass over the rows of each table.

Tables of few cells are counted while the rows come by, and so are the sums of correlations. Larger tables, and those of
an engine that tells counts alone, are asked for one by one, as the cells that occur.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.kernels.counts.histograms import pair_histograms
from divulge.sdmetrics.inputs import known
from divulge.sdmetrics.reports.correlations import ROWS_AT_ONCE, Sums, grid_of, in_both, steps
from divulge.sdmetrics.reports.counted_table import CountedTable
from divulge.sdmetrics.reports.judged_pairs import DENSE, Cells, Found, Pair, judged_cells, judged_tables
from divulge.sdmetrics.reports.prepared import Failed, Prepared
from divulge.sdmetrics.reports.tables import Coded

__all__ = ["counted_pairs"]

Codes = NDArray[Any]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_CELLS = 2**22  # of all tables that are counted while the rows come by
_CELLS_OF_ONE = 2**20  # of one of them
_FILLED = 2**24  # cells of a table that is filled whole where it is asked for alone


def counted_pairs(
    table: CountedTable, prepared: Prepared, pairs: Sequence[Pair], numbers: Sequence[Hashable], threshold: float
) -> tuple[dict[Pair, Found | Exception], dict[Pair, tuple[float, float]]]:
    """Return what is found of pairs by contingency, and the correlations of columns in both tables.

    Parameters
    ----------
    table, prepared
        Columns by their distinct values.
    pairs
        Pairs that are compared by contingency.
    numbers
        Columns whose correlations are asked.
    threshold
        Association that the real table must exceed; 0 lets every pair count.
    """
    found: dict[Pair, Found | Exception] = {}
    sizes: dict[Pair, int] = {}
    for pair in pairs:
        try:
            sizes[pair] = prepared.coded(pair[0])[1] * prepared.coded(pair[1])[1]
        except Failed as error:
            found[pair] = error
    asked = _Numbers(prepared, numbers)
    if table.by_rows:
        passing = _passing(sizes)
        passes = _Passes(table, prepared, passing, asked)
        found.update(zip(passing, passes.judged(threshold), strict=True))
        known_correlations = passes.correlations()
    else:
        known_correlations = asked.by_cells(table)
    for pair in sizes:
        if pair not in found:
            found[pair] = _asked(table, pair, (prepared.coded(pair[0]), prepared.coded(pair[1])), threshold)
    return found, known_correlations


def _passing(sizes: dict[Pair, int]) -> list[Pair]:
    """Return the pairs that are counted while the rows come by: the smallest tables, up to so many cells of all."""
    chosen, cells = set(), 0
    for pair in sorted(sizes, key=sizes.__getitem__):
        cells += sizes[pair]
        if sizes[pair] > _CELLS_OF_ONE or cells > _CELLS:
            break
        chosen.add(pair)
    return [pair for pair in sizes if pair in chosen]


class _Numbers:
    """The columns whose correlations are asked, as steps of their distinct values in each table."""

    def __init__(self, prepared: Prepared, numbers: Sequence[Hashable]) -> None:
        columns = prepared.all_columns(numbers)
        grids = {name: [grid_of(known(c)) for c in both] for name, both in columns.items()}
        self.plain = [name for name, both in grids.items() if None not in both]
        if len(self.plain) < 2:
            self.plain = []
        self._steps: list[list[Floats]] = [[], []]
        self._missing: list[list[NDArray[np.bool_] | None]] = [[], []]
        for name in self.plain:
            for side, (column, grid) in enumerate(zip(columns[name], grids[name], strict=True)):
                assert grid is not None
                self._steps[side].append(np.where(column.missing, 0.0, steps(column.values, grid)))
                self._missing[side].append(column.missing if column.has_missing else None)

    def sums(self, side: int, of: Sequence[int]) -> Sums:
        """Return empty sums of some of the columns."""
        return Sums(len(of), [i for i, column in enumerate(of) if self._missing[side][column] is not None])

    def add(self, side: int, of: Sequence[int], sums: Sums, part: Sequence[Codes]) -> None:
        """Add rows to the sums of some of the columns, given the numbers of their distinct values."""
        n = len(part[0])
        for low in range(0, n, ROWS_AT_ONCE):
            rows = slice(low, min(n, low + ROWS_AT_ONCE))
            block = np.empty((3, len(of), rows.stop - low))
            there = []
            for i, (column, codes) in enumerate(zip(of, part, strict=True)):
                self._steps[side][column].take(codes[rows], axis=1, out=block[:, i])
                lost = self._missing[side][column]
                there += [] if lost is None else [1.0 - lost.take(codes[rows])]
            sums.add(block, np.array(there).reshape(len(there), rows.stop - low))

    def by_cells(self, table: CountedTable) -> dict[Pair, tuple[float, float]]:
        """Return the correlations where an engine tells counts alone: of each pair from its cells."""
        found: dict[Pair, tuple[float, float]] = {}
        for i, j in combinations(range(len(self.plain)), 2):
            names, of, matrices = [self.plain[i], self.plain[j]], (i, j), []
            for side, own in enumerate(table.counted):
                sums = self.sums(side, of)
                for part in own.rows_of_pair(names):
                    self.add(side, of, sums, part)
                matrices.append(sums.correlations())
            found |= in_both(names, *matrices)
        return found


class _Passes:
    """One pass over the rows of each table, in which pairs are counted and correlations summed."""

    def __init__(self, table: CountedTable, prepared: Prepared, pairs: Sequence[Pair], numbers: _Numbers) -> None:
        self._table, self._pairs, self._numbers = table, pairs, numbers
        self._coded = {name: prepared.coded(name) for pair in pairs for name in pair}
        self._matrices: list[Floats] = []
        self._done, self._n_rows = 0, table.n_rows(0) + table.n_rows(1)

    def judged(self, threshold: float) -> list[Found]:
        """Return what is found of the pairs; both tables are passed."""
        shapes = [(self._coded[a][1], self._coded[b][1]) for a, b in self._pairs]
        start = np.cumsum([0, *(a * b for a, b in shapes)], dtype=np.int64)
        real = self._passed(0, range(len(self._pairs)))
        return judged_tables(real, start, shapes, threshold, lambda chosen: self._passed(1, chosen))

    def correlations(self) -> dict[Pair, tuple[float, float]]:
        """Return the correlation of each pair of columns in both tables, once they are passed."""
        return in_both(self._numbers.plain, *self._matrices)

    def _passed(self, side: int, chosen: Sequence[int]) -> Ints:
        """Return the cells of some pairs in one table, one pair after the other, and sum its correlations."""
        pairs = [self._pairs[i] for i in chosen]
        counted = list(dict.fromkeys(name for pair in pairs for name in pair))
        units = [(counted.index(a), counted.index(b)) for a, b in pairs]
        coded = [self._coded[name] for name in counted]
        sizes = [size for _, size in coded]
        total = np.zeros(sum(sizes[a] * sizes[b] for a, b in units), dtype=np.int64)
        own, plain = self._table.counted[side], self._numbers.plain
        sums = self._numbers.sums(side, range(len(plain)))
        names = [name for name in own.levels if name in {*counted, *plain}]
        for part in own.rows(names) if names else ():
            of = dict(zip(names, part, strict=True))
            if units:
                codes = [own_codes[side].take(of[name]) for name, (own_codes, _) in zip(counted, coded, strict=True)]
                total += pair_histograms(codes, sizes, units).counts[0]
            if plain:
                self._numbers.add(side, range(len(plain)), sums, [of[name] for name in plain])
            self._done += len(part[0])
            own.progress("comparing the tables", self._done, self._n_rows)
        self._matrices.append(sums.correlations())
        return total


def _asked(table: CountedTable, pair: Pair, coded: tuple[Coded, Coded], threshold: float) -> Found:
    """Return what is found of one pair from the cells that occur."""
    width, n_rows = coded[1][1], table.n_rows(0) + table.n_rows(1)
    size = coded[0][1] * width

    def cells(side: int) -> Cells:
        (first, second), n = table.counted[side].cells(pair, [c[side] for c, _ in coded])
        numbers, place = np.unique(first.astype(np.int64) * width + second, return_inverse=True)
        times = np.zeros(len(numbers), dtype=np.int64)
        np.add.at(times, place, n)  # an engine tells some equal values apart
        return numbers, times

    def filled(side: int) -> Ints:
        own = np.zeros(size, dtype=np.int64)
        numbers, n = cells(side)
        own[numbers] = n
        return own

    if size <= min(_FILLED, max(DENSE, n_rows)):  # as of rows in memory, to the last digit
        (found,) = judged_tables(
            filled(0), np.array([0, size]), [(coded[0][1], width)], threshold,
            lambda chosen: filled(1) if chosen else np.empty(0, dtype=np.int64),
        )  # fmt: skip
        return found
    return judged_cells(cells(0), width, lambda: cells(1), threshold)
