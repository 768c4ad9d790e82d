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

from divulge.kernels._native.library import Kernel, Struct, available
from divulge.kernels.runtime import side_by_side

__all__ = ["Histograms", "column_histograms", "pair_histograms"]

_COMPILE_FROM = 20_000  # rows times units below which numpy takes no longer
_FEW = 300_000  # rows times units that are not worth a thread of their own
_COUNTED = 3 * 10**7  # rows times units that a thread counts in one call, which an interrupt waits for: about 50 ms


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
    if available() and n_rows * len(units) >= _COMPILE_FROM:
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
    block = None if blocks is None else np.ascontiguousarray(blocks, dtype=np.int32)
    ends = None
    if block is not None and (block[1:] >= block[:-1]).all():  # a block at a time stays in the processor's cache
        ends = np.cumsum(np.bincount(block, minlength=len(counts)), dtype=np.int64)
        block = None
    struct, loop = _LOOPS[rows.dtype.itemsize]
    task = struct(
        rows=rows, n=rows.shape[1], code_bytes=rows.dtype.itemsize, first=first, second=second, width=width,
        start=start, block=block, ends=ends, n_blocks=len(counts), n_cells=counts.shape[1], counts=counts,
    )  # fmt: skip
    n = max(1, rows.shape[1])
    each = min(max(-(-len(units) // (4 * threads)), _FEW // n), max(1, _COUNTED // n))
    side_by_side(lambda low, high: loop(task, low, high), len(units), threads, each=each)


def _loop(codes: str) -> tuple[Struct, Kernel]:
    """Return the arguments and the compiled loop for codes of one width."""
    task = Struct(
        rows=f"{codes}*", n="i8", code_bytes="i8", first="i8*", second="i8*", width="i8*", start="i8*", block="i4*",
        ends="i8*", n_blocks="i8", n_cells="i8", counts="i8!",
    )  # fmt: skip
    return task, Kernel("histograms", task, "i8", "i8")


_LOOPS = {1: _loop("u1"), 2: _loop("u2"), 4: _loop("i4")}
