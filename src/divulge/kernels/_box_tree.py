"""A tree of boxes over rows of numbers and categories, and the search through it (`_native/box_tree.c`).

The tree is built from all rows at once. A set of rows is halved by the column in which random pairs of its rows differ
most (numbers at the median, categories by groups of values) until at most 64 rows are left: a leaf. Nodes then replace
their children by grandchildren until each has up to 16 children, because the bounds of 16 boxes are computed at once. A
box has, for each number, the smallest and the largest value of its rows, and for each category a mask of 32 bits, one
for each (code mod 32). A query descends to the nearest child first and skips children beyond the best distance so far;
it starts with the distances to the neighbours of the previous query.

Bounds are float32. Numbers are cut to the range, centred at the median and scaled to the weight of their column:
each step can only make a bound smaller, up to rounding, which a slack covers. For rows within the bound the exact
distance is computed in float64, and only this distance decides. A missing number is nan and adds nothing to a bound.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from divulge.kernels._native.library import Filled, Kernel, Struct

__all__ = [
    "ASKED",
    "EXACT",
    "LEAF",
    "NODE",
    "NO_CHILD",
    "PAIRS",
    "BoxQueries",
    "Exact",
    "Tree",
    "binary",
    "rows_of",
    "search",
    "widen",
]

LEAF = 64
"""Rows of a leaf of the tree."""
NODE = 16
"""Children of a node of the tree."""
NO_CHILD = -2147483648

Ints = NDArray[np.int64]


class Tree(NamedTuple):
    """The tree as arrays; a child of -1 - x is leaf x."""

    low: Any  # float32 (n_nodes, n_numbers, 16)
    high: Any
    masks: Any  # uint32 (n_nodes, n_codes, 16)
    child: Any  # int32 (n_nodes, 16)
    numbers: Any  # float32 (n_leaves, n_numbers, 64)
    codes: Any  # uint8 (n_leaves, n_codes, 64)
    first: Any  # int64 (n_leaves + 1,): rows of leaf x are order[first[x] : first[x + 1]]
    order: Any  # int64 (n_rows,)
    group: Any  # int64 (n_groups + 1,)
    weight: Any  # float32 (n_groups,)
    depth: int  # entries of the stack of a search

    def filled(self) -> Filled:
        """Return the tree as the loops take it."""
        sizes = {"n_numbers": self.low.shape[1], "n_codes": self.masks.shape[1], "n_groups": len(self.weight)}
        return TREE(**(self._asdict() | sizes))


TREE = Struct(
    low="f4*", high="f4*", masks="u4*", child="i4*", numbers="f4*", codes="u1*", first="i8*", order="i8*", group="i8*",
    weight="f4*", n_numbers="i8", n_codes="i8", n_groups="i8", depth="i8",
)  # fmt: skip


class BoxQueries(NamedTuple):
    """The queries in the form that the search of the tree needs."""

    numbers: Any  # float32 (n, n_numbers)
    codes: Any  # uint8 (n, n_codes)

    def filled(self) -> Filled:
        """Return the queries as the loops take them."""
        return BOX_QUERIES(**self._asdict())


BOX_QUERIES = Struct(numbers="f4*", codes="u1*")


class Exact(NamedTuple):
    """The values of queries and reference rows from which the exact distance is computed."""

    numbers: Any  # float64 (n, n_numbers)
    codes: Any  # int32 (n, n_codes)
    reference_numbers: Any  # float64 (m, n_numbers)
    reference_codes: Any  # int32 (m, n_codes)
    rate: Any
    number_weight: Any
    group: Any
    group_weight: Any
    times: Any  # int64 (m,): how many rows each reference row stands for
    own: Any  # int64 (n,): the reference row that the query itself is, or -1
    total: float
    cap: float
    split: float

    def filled(self) -> Filled:
        """Return the values as the loops take them."""
        (n_rows, n_numbers), n_codes = self.reference_numbers.shape, self.codes.shape[1]
        sizes = {"n_numbers": n_numbers, "n_codes": n_codes, "n_groups": len(self.group_weight), "n_rows": n_rows}
        return EXACT(**(self._asdict() | sizes))


EXACT = Struct(
    numbers="f8*", codes="i4*", reference_numbers="f8*", reference_codes="i4*", rate="f8*", number_weight="f8*",
    group="i8*", group_weight="f8*", times="i8*", own="i8*", total="f8", cap="f8", split="f8", n_numbers="i8",
    n_codes="i8", n_groups="i8", n_rows="i8",
)  # fmt: skip

ASKED = Struct(
    queries="i8*", radius="f8*", out_distance="f8!", out_row="i8!", out_beyond="i8!", stop="i4*", k="i8", listing="i8",
)  # fmt: skip
"""What is asked of a search, and where its answers go.

queries: their numbers in the order of the search; radius: one a query, infinite for none; listing: whether
k = 0 lists pairs; out_distance, out_row (n, k); out_beyond (n,); stop: by this another thread ends the search.
"""

PAIRS = Struct(query="i8!", row="i8!", room="i8")

_ROWS = Struct(numbers="f4*", codes="u1*", weight="f4*", order="i8!", n_numbers="i8", n_codes="i8")

_split = Kernel("split", _ROWS, "i8", "i8", "i8!")
_build = Kernel("build", _ROWS, "i8", "i8", "i8!", "i8!", "i8!", "i8!")
_widen = Kernel("widen", "i8*", "i8*", "i8!", "i8!", "i8!", "i8!")
fill_leaves = Kernel("fill_leaves", _ROWS, "i8*", "i8*", "i8", "i8", "f4!", "u1!", "f4!", "f4!", "u4!")
put_together = Kernel("put_together", "i8*", "i8", "i8", "i8", "f4!", "f4!", "u4!")
search = Kernel("search", TREE, BOX_QUERIES, EXACT, ASKED, PAIRS, "i8", "i8", "i8!")
"""The last array takes the number of pairs, the query to continue with, and the number of leaves visited."""


def rows_of(numbers: NDArray[np.float32], codes: NDArray[np.uint8], weight: NDArray[np.float32], order: Ints) -> Filled:
    """Return the rows of a tree to build: numbers, codes, the weight of each code column, and the order to change."""
    n_numbers, n_codes = numbers.shape[1], codes.shape[1]
    return _ROWS(numbers=numbers, codes=codes, weight=weight, order=order, n_numbers=n_numbers, n_codes=n_codes)


def split(rows: Filled, first: int, last: int) -> int:
    """Halve the rows order[first:last] by the column that separates them best; return where the second half begins."""
    middle = np.empty(1, dtype=np.int64)
    _split(rows, first, last, middle)
    return int(middle[0])


def binary(rows: Filled, first: int, last: int) -> tuple[Ints, Ints, Ints]:
    """Return the binary tree over order[first:last]: begin and end of each node, and its left child or -1."""
    room = 2 * (last - first) + 1  # as many entries as the largest possible tree; few are used
    begin, end, left = (np.empty(room, dtype=np.int64) for _ in range(3))
    n = np.empty(1, dtype=np.int64)
    _build(rows, first, last, begin, end, left, n)
    return begin[: n[0]].copy(), end[: n[0]].copy(), left[: n[0]].copy()


def widen(size: Ints, left: Ints, child: Ints, top: Ints, depth: Ints) -> int:
    """Choose the binary nodes that are children of each wide node: the largest are replaced by their own children.

    child (n, 16) must be filled with -1; top and depth receive the binary node of each wide node and its depth. Returns
    the number of wide nodes.
    """
    n = np.empty(1, dtype=np.int64)
    _widen(size, left, child, top, depth, n)
    return int(n[0])
