"""Sums of absolute differences of cells under many relabellings of blocks of rows, unit by unit.

Cells are whole numbers, so that the compiled loop and numpy give the same sums, in any order.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.kernels._native.library import Kernel, Struct, available

__all__ = ["relabelled_sums", "subsets_of"]

Ints = NDArray[np.int64]

_GROUP = 6  # blocks whose subsets have a sum in a table, as in relabelled.c
_AT_ONCE = 2**13  # cells of one call, which an interrupt waits for: some milliseconds


def subsets_of(labels: NDArray[Any]) -> NDArray[np.uint8]:
    """Return the labels of six blocks as the bits of one number, shape (n_labellings, n_groups).

    Parameters
    ----------
    labels
        Shape (n_labellings, n_blocks): 1 where a block has the label.

    Examples
    --------
    >>> subsets_of(np.array([[1, 0, 1, 0, 0, 0, 1]])).tolist()
    [[5, 1]]
    """
    n, n_blocks = labels.shape
    groups = -(-n_blocks // _GROUP)
    bits = np.zeros((n, groups * _GROUP), dtype=np.uint8)
    bits[:, :n_blocks] = labels
    bits = bits.reshape(n, groups, _GROUP) << np.arange(_GROUP, dtype=np.uint8)
    return np.ascontiguousarray(bits.sum(axis=2, dtype=np.uint8))


def relabelled_sums(
    cells: NDArray[Any], start: Ints, labels: NDArray[Any], subsets: NDArray[np.uint8] | None = None
) -> Ints:
    """Return for each labelling and unit the sum over its cells of the absolute sum over the blocks with the label.

    Parameters
    ----------
    cells
        Whole numbers, int32 or int64, shape (n_blocks, n_cells). The sums of int32 must fit into int32, others into 53
        bits.
    start
        Shape (n_units,): first cell of each unit, each of which has a cell.
    labels
        Shape (n_labellings, n_blocks): 1 where a block has the label.
    subsets
        `subsets_of(labels)`, where it is known.

    Returns
    -------
    ndarray
        Shape (n_labellings, n_units).

    Examples
    --------
    >>> cells = np.array([[1, -2, 4], [-3, 1, 4]], dtype=np.int32)
    >>> relabelled_sums(cells, np.array([0, 2]), np.array([[1, 0], [1, 1]])).tolist()
    [[3, 4], [3, 8]]
    """
    if not available():
        sums = np.abs(np.asarray(labels, dtype=np.float64) @ cells.astype(np.float64))
        return np.asarray(np.add.reduceat(sums, start, axis=1), dtype=np.int64)
    subsets = subsets_of(labels) if subsets is None else subsets
    cells = np.ascontiguousarray(cells)
    ends = np.append(start, cells.shape[1]).astype(np.int64)
    out = np.empty((len(start), len(subsets)), dtype=np.int64)
    task = _TASK[cells.dtype.itemsize](
        cells=cells, n_blocks=cells.shape[0], n_cells=cells.shape[1], cell_bytes=cells.dtype.itemsize, subset=subsets,
        n_labellings=len(subsets), n_groups=subsets.shape[1], start=ends, sums=out,
    )  # fmt: skip
    first = 0
    while first < len(start):
        last = max(first + 1, int(np.searchsorted(ends, ends[first] + _AT_ONCE, side="right")) - 1)
        _LOOP[cells.dtype.itemsize](task, first, last)
        first = last
    return out.T


def _task(cells: str) -> Struct:
    return Struct(
        cells=cells, n_blocks="i8", n_cells="i8", cell_bytes="i8", subset="u1*", n_labellings="i8", n_groups="i8",
        start="i8*", sums="i8!",
    )  # fmt: skip


_TASK = {4: _task("i4*"), 8: _task("i8*")}
_LOOP = {size: Kernel("relabelled", task, "i8", "i8") for size, task in _TASK.items()}
