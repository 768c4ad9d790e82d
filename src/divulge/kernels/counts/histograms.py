"""Histograms of columns and of pairs of columns, per block of rows, from integer codes, in one pass over the rows.

Every table of counts that compares two tables by columns or by pairs of columns comes from here. Counts are whole
numbers, so that neither the order of rows nor the number of threads changes a digit.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.kernels.runtime import compiled, side_by_side, worth_compiling

__all__ = ["Histograms", "column_histograms", "pair_histograms"]

_CELLS_OF_PARTS = 2**12  # cells of which four counts stay in the processor's fastest cache


@dataclass(frozen=True, slots=True, eq=False)
class Histograms:
    """Counts of the cells of several units, where a unit is a column or a pair of columns."""

    counts: NDArray[np.int64]
    """Shape (n_blocks, n_cells): rows of each block in each cell; the cells of the units follow one another."""
    start: NDArray[np.int64]
    """Shape (n_units + 1,): first cell of each unit, and the number of all cells."""
    shapes: tuple[tuple[int, ...], ...]
    """Of each unit: the number of codes of its column or columns."""

    def unit(self, number: int) -> NDArray[np.int64]:
        """Return the counts of a unit over all blocks, shape (codes,) or (codes of the first, codes of the second)."""
        return np.asarray(self.blocks(number).sum(axis=0))

    def blocks(self, number: int) -> NDArray[np.int64]:
        """Return the counts of a unit in each block, shape (n_blocks, codes ...)."""
        cells = self.counts[:, self.start[number] : self.start[number + 1]]
        return cells.reshape(len(self.counts), *self.shapes[number])


def column_histograms(
    codes: Sequence[NDArray[Any]],
    sizes: Sequence[int],
    *,
    blocks: NDArray[Any] | None = None,
    n_blocks: int = 1,
    threads: int | None = None,
) -> Histograms:
    """Return how often each code of each column occurs in each block of rows.

    Parameters
    ----------
    codes
        Per column: whole numbers from 0 to size - 1, shape (n_rows,).
    sizes
        Number of codes of each column.
    blocks
        Number of the block of each row, 0 to n_blocks - 1, shape (n_rows,); None puts all rows into the first block.
    n_blocks
        Number of blocks.
    threads
        None takes as many as there are processors.

    Examples
    --------
    >>> found = column_histograms([np.array([0, 2, 2])], [3], blocks=np.array([0, 0, 1]), n_blocks=2)
    >>> found.unit(0).tolist(), found.blocks(0).tolist()
    ([1, 0, 2], [[1, 0, 1], [0, 0, 1]])
    """
    alone = [(i,) for i in range(len(codes))]
    return _histograms(codes, sizes, alone, blocks, n_blocks, threads)


def pair_histograms(
    codes: Sequence[NDArray[Any]],
    sizes: Sequence[int],
    pairs: Sequence[tuple[int, int]] | None = None,
    *,
    blocks: NDArray[Any] | None = None,
    n_blocks: int = 1,
    threads: int | None = None,
) -> Histograms:
    """Return how often each pair of codes occurs in each block of rows, for several pairs of columns.

    Parameters
    ----------
    codes, sizes, blocks, n_blocks, threads
        As for `column_histograms`.
    pairs
        Numbers of the columns of each pair; None takes all pairs, in the order of `itertools.combinations`.

    Examples
    --------
    >>> found = pair_histograms([np.array([0, 1, 1]), np.array([0, 1, 0])], [2, 2])
    >>> found.unit(0).tolist()
    [[1, 0], [1, 1]]
    """
    chosen = list(combinations(range(len(codes)), 2)) if pairs is None else list(pairs)
    return _histograms(codes, sizes, chosen, blocks, n_blocks, threads)


def _histograms(
    codes: Sequence[NDArray[Any]],
    sizes: Sequence[int],
    units: Sequence[tuple[int, ...]],
    blocks: NDArray[Any] | None,
    n_blocks: int,
    threads: int | None,
) -> Histograms:
    shapes = tuple(tuple(int(sizes[i]) for i in unit) for unit in units)
    start = np.cumsum([0, *(int(np.prod(shape)) for shape in shapes)], dtype=np.int64)
    n_rows = len(codes[0]) if len(codes) else 0
    counts = np.zeros((n_blocks, int(start[-1])), dtype=np.int64)
    if worth_compiling(n_rows * len(units)):
        _count_compiled(codes, sizes, units, start, blocks, counts, threads or os.cpu_count() or 1)
    else:
        count_plainly(codes, units, shapes, start, blocks, counts)
    return Histograms(counts, start, shapes)


def count_plainly(
    codes: Sequence[NDArray[Any]],
    units: Sequence[tuple[int, ...]],
    shapes: Sequence[tuple[int, ...]],
    start: NDArray[np.int64],
    blocks: NDArray[Any] | None,
    counts: NDArray[np.int64],
) -> None:
    """Add the rows to the counts with numpy alone, unit by unit."""
    n_blocks = len(counts)
    for u, (unit, shape) in enumerate(zip(units, shapes, strict=True)):
        cells = int(start[u + 1] - start[u])
        cell = codes[unit[0]].astype(np.int64)
        for i, size in zip(unit[1:], shape[1:], strict=True):
            cell = cell * size + codes[i]
        if blocks is not None:
            cell += blocks.astype(np.int64) * cells
        found = np.bincount(cell, minlength=n_blocks * cells) if cells else np.empty(0, dtype=np.int64)
        counts[:, start[u] : start[u + 1]] += found.reshape(n_blocks, cells)


def _count_compiled(
    codes: Sequence[NDArray[Any]],
    sizes: Sequence[int],
    units: Sequence[tuple[int, ...]],
    start: NDArray[np.int64],
    blocks: NDArray[Any] | None,
    counts: NDArray[np.int64],
    threads: int,
) -> None:
    largest = max(max(sizes), 1)
    dtype: Any = np.uint8 if largest <= 2**8 else np.uint16 if largest <= 2**16 else np.int32
    rows = np.empty((len(codes), len(codes[0])), dtype=dtype)
    for i, column in enumerate(codes):
        rows[i] = column
    first = np.array([unit[0] for unit in units], dtype=np.int64)
    second = np.array([unit[1] if len(unit) > 1 else -1 for unit in units], dtype=np.int64)
    width = np.array([sizes[unit[1]] if len(unit) > 1 else 1 for unit in units], dtype=np.int64)
    block = np.empty(0, dtype=np.int32) if blocks is None else np.ascontiguousarray(blocks, dtype=np.int32)
    loop = compiled(_count)

    def work(low: int, high: int) -> None:
        loop(rows, first, second, width, start, block, low, high, counts)

    side_by_side(work, len(units), threads)


def _count(
    rows: Any,
    first: Any,
    second: Any,
    width: Any,
    start: Any,
    block: Any,
    low: int,
    high: int,
    counts: Any,
) -> None:
    """Add all rows to the counts of the units from low to high - 1 (compiled)."""
    n = rows.shape[1]
    parts = np.zeros((4, _CELLS_OF_PARTS), dtype=np.uint32)
    for u in range(low, high):
        a = rows[first[u]]
        base, cells, size = start[u], start[u + 1] - start[u], np.uint64(width[u])
        if second[u] < 0:
            for r in range(n):
                where = 0 if len(block) == 0 else block[r]
                counts[where, base + a[r]] += 1
            continue
        b = rows[second[u]]
        if len(block) > 0:
            for r in range(n):
                counts[block[r], base + np.int64(a[r]) * width[u] + np.int64(b[r])] += 1
        elif cells > _CELLS_OF_PARTS or 4 * cells > n:
            own = counts[0, base : start[u + 1]]
            for r in range(n):  # without a sign, so that no index is looked at for being negative
                own[np.uint64(a[r]) * size + np.uint64(b[r])] += 1
        else:
            # Rows next to each other often have one cell, and each addition would wait for the one before: so every
            # fourth row has counts of its own.
            p, q, s, t = parts[0], parts[1], parts[2], parts[3]
            whole = n - n % 4
            for r in range(0, whole, 4):
                p[np.uint64(a[r]) * size + np.uint64(b[r])] += np.uint32(1)
                q[np.uint64(a[r + 1]) * size + np.uint64(b[r + 1])] += np.uint32(1)
                s[np.uint64(a[r + 2]) * size + np.uint64(b[r + 2])] += np.uint32(1)
                t[np.uint64(a[r + 3]) * size + np.uint64(b[r + 3])] += np.uint32(1)
            for r in range(whole, n):
                p[np.uint64(a[r]) * size + np.uint64(b[r])] += np.uint32(1)
            for c in range(cells):
                counts[0, base + c] += np.int64(p[c]) + np.int64(q[c]) + np.int64(s[c]) + np.int64(t[c])
                p[c] = q[c] = s[c] = t[c] = 0
