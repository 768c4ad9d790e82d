"""The binary tree over rows that the compiled searches use; threads build it in parallel."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.kernels import _box_tree
from divulge.kernels._box_tree import LEAF
from divulge.kernels.runtime import side_by_side

__all__ = ["binary_tree"]

Ints = NDArray[np.int64]
_SUBTREES = 8  # subtrees that threads build in parallel


def binary_tree(
    numbers: NDArray[np.float32], codes: NDArray[np.uint8], weight: NDArray[np.float32], order: Ints, threads: int
) -> tuple[Ints, Ints, Ints]:
    """Return the binary tree over the rows: begin, end and left child of each node. Sorts `order` by leaf.

    The top nodes are split here; the subtrees are built in parallel, and their nodes are numbered after the top nodes.
    """
    rows = _box_tree.rows_of(numbers, codes, weight, order)
    begin, end, left = [0], [len(order)], [-1]
    k, n_subtrees = 0, 1
    while k < len(left) and n_subtrees < _SUBTREES:
        if end[k] - begin[k] > 64 * LEAF:
            middle = _box_tree.split(rows, begin[k], end[k])
            left[k] = len(left)
            begin += [begin[k], middle]
            end += [middle, end[k]]
            left += [-1, -1]
            n_subtrees += 1
        k += 1
    tops = [k for k in range(len(left)) if left[k] < 0]
    parts: list[Any] = [None] * len(tops)

    def subtree(x: int, y: int) -> None:
        for t in range(x, y):
            parts[t] = _box_tree.binary(rows, begin[tops[t]], end[tops[t]])

    side_by_side(subtree, len(tops), threads, each=1)
    b, e, c = ([np.array(x)] for x in (begin, end, left))
    offset = len(left)
    for top, (some_begin, some_end, some_left) in zip(tops, parts, strict=True):
        # the first node of a subtree is `top` itself; its others follow
        moved = np.where(some_left >= 0, some_left - 1 + offset, -1)
        c[0][top] = moved[0]
        b.append(some_begin[1:])
        e.append(some_end[1:])
        c.append(moved[1:])
        offset += len(some_left) - 1
    return np.concatenate(b), np.concatenate(e), np.concatenate(c)
