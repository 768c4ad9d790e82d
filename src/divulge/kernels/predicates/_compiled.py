"""The compiled search of `predicates`: row lists by column, and a tree of boxes that counts.

Rows are stored column by column in the order of the leaves of a tree of boxes (`_box_tree`, on the codes as numbers),
so that the 64 rows of a leaf are compared at once. The rows of a predicate are found in three ways:

- A sample of rows, spread over the tree: most predicates match more rows of the sample than the caller's limit, and
  need no further search.
- A column with rare values has a list of its rows in the order of their codes, in which the rows of one condition are
  adjacent. If the rarest condition of a predicate has few rows, these are tested one by one.
- The tree. A box that misses one condition is skipped, a box inside all conditions adds the number of its rows without
  a test, and any other box is opened.

All three stop as soon as the caller's limit is exceeded.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from divulge.kernels import _box_tree
from divulge.kernels._box_tree import LEAF, NODE
from divulge.kernels._native.library import Kernel, Struct
from divulge.kernels._tree import binary_tree
from divulge.kernels.runtime import side_by_side

if TYPE_CHECKING:
    from divulge.kernels.predicates.conditions import Predicates, Progress

__all__ = ["CompiledConjunctions"]

Codes = NDArray[np.int32]
Ints = NDArray[np.int64]
# Limits on time and memory: start values. They do not change a result.
_SAMPLE = 16  # size of the sample in leaves of 64 rows
_SAMPLE_FROM = 64  # rows of the rarest condition from which the sample is searched first
_FEW = 4.0  # times the square root of the number of rows: if the rarest condition has more rows, the tree is faster
_CHUNK = 4096  # predicates in one task of a thread, which an interrupt waits for
_ROOM = 2**22  # row numbers that a thread may hold


_LEAF_CHILD = -1
_TABLE = {
    "values": "i4*", "lists": "i4*", "list_of": "i8*", "starts": "i4*", "of_column": "i8*", "sample": "i4*",
    "box_low": "i4*", "box_high": "i4*", "child": "i4*", "begin": "i4*", "end": "i4*",
}  # fmt: skip
_TASK = Struct(
    column="i4*", low="i4*", high="i4*", n_conditions="i8*", width="i8", n="i8", n_columns="i8", n_sampled="i8",
    most="i8", few="i8", sample_from="i8", stack_size="i8", **_TABLE,
)  # fmt: skip
_search = Kernel("predicates", _TASK, "i8", "i8", "i8", "i8!", "i4!")
_list_by_code = Kernel("list_by_code", "i4*", "i8", "i4*", "i8", "i4!")
_code_boxes = Kernel("code_boxes", "i4*", "i8", "i8", "i8*", "i8*", "i8*", "i8", "i4!", "i4!")


class _Table(NamedTuple):
    """The rows, prepared for search."""

    values: Codes
    """Shape (n_columns * n_rows + 64,): columns, one after the other; rows in the order of the leaves."""
    lists: Codes
    """Rows in the order of their codes, n_rows for each column that has a list."""
    list_of: Ints
    """Shape (n_columns,): where the list of a column begins."""
    starts: Codes
    """Where each code of each column begins in the order of codes."""
    of_column: Ints
    """Shape (n_columns + 1,): where each column begins in `starts`."""
    sample: Codes
    """Shape (n_columns * n_sampled,)."""
    box_low: Codes
    """Shape (n_nodes, n_columns, 16): boxes of the children of a node."""
    box_high: Codes
    child: Codes
    """Shape (n_nodes, 16): a node, _LEAF_CHILD or _box_tree.NO_CHILD."""
    begin: Codes
    """Shape (n_nodes, 16): where the rows of a child begin and end."""
    end: Codes


class CompiledConjunctions:
    """A table of codes with at least one row and one column, prepared for compiled search."""

    def __init__(self, codes: NDArray[np.int32], threads: int | None, progress: Progress) -> None:
        self._threads, self._progress, self._n = threads or os.cpu_count() or 1, progress, len(codes)
        self._order = np.arange(len(codes))
        self._room, self._few = 0, int(_FEW * len(codes) ** 0.5)
        self._table = self._build(codes)

    @property
    def n_bytes(self) -> int:
        """Memory that the index takes."""
        return int(sum(a.nbytes for a in self._table) + self._order.nbytes)

    def search(self, predicates: Predicates, most: int, listing: bool) -> tuple[Ints, Ints, Ints]:
        """Return the counts up to most + 1, and (with `listing`) pairs of predicate and row in ascending order."""
        m = len(predicates)
        intervals = (predicates.column, predicates.low, predicates.high)
        column, low, high = (np.ascontiguousarray(a, dtype=np.int32) for a in intervals)
        n_columns = len(self._table.list_of)
        task = _TASK(
            column=column, low=low, high=high, n_conditions=np.ascontiguousarray(predicates.n, dtype=np.int64),
            width=column.shape[1], n=self._n, n_columns=n_columns, n_sampled=len(self._table.sample) // n_columns,
            most=min(most, self._n), few=self._few, sample_from=_SAMPLE_FROM, stack_size=self._room,
            **self._table._asdict(),
        )  # fmt: skip
        out = np.zeros(m, dtype=np.int64)
        listed = min(most, self._n) if listing else 0
        at_once = max(1, 64 * _CHUNK // max(64, most))  # a search that may find more takes longer
        step = max(1, min(at_once, m // (4 * self._threads) + 1, _ROOM // max(1, listed)))
        none = np.empty(0, dtype=np.int64)

        def part(a: int) -> tuple[Ints, Ints]:
            b = min(a + step, m)
            found = np.empty((b - a if listing else 0, listed), dtype=np.int32)
            _search(task, a, b, listing, out[a:b], found)
            return self._pairs(a, out[a:b], found) if listing else (none, none)

        pairs = [(none, none), *self._threaded(part, range(0, m, step), m)]
        return out, np.concatenate([p for p, _ in pairs]), np.concatenate([r for _, r in pairs])

    def _pairs(self, first: int, count: Ints, found: NDArray[np.int32]) -> tuple[Ints, Ints]:
        taken = np.where(count <= found.shape[1], count, 0)
        predicate = np.repeat(np.arange(len(count)), taken)
        place = np.arange(len(predicate)) - np.repeat(np.cumsum(taken) - taken, taken)
        pairs = np.sort(predicate * self._n + self._order[found[predicate, place]])
        return first + pairs // self._n, pairs % self._n

    def _threaded(self, part: Callable[[int], tuple[Ints, Ints]], starts: range, m: int) -> list[tuple[Ints, Ints]]:
        """Return the parts in order; an interrupt waits for running parts and cancels the others."""
        out = []
        with ThreadPoolExecutor(self._threads) as pool:
            try:
                for result, a in zip(pool.map(part, starts), starts, strict=True):
                    out.append(result)
                    self._progress(min(a + starts.step, m), m)
            except BaseException:
                pool.shutdown(wait=True, cancel_futures=True)
                raise
        return out

    # ------------------------------------------------------------ building

    def _build(self, codes: NDArray[np.int32]) -> _Table:
        n, d = codes.shape
        top = codes.max(axis=0).astype(np.int64)
        begin, end, left = self._binary(codes, top)
        values = np.zeros(d * n + LEAF, dtype=np.int32)
        of_column = np.append(0, np.cumsum(top + 2))
        starts, listed = np.zeros(of_column[-1], dtype=np.int32), np.empty(d, dtype=bool)

        def count(x: int, y: int) -> None:
            for j in range(x, y):
                np.take(codes[:, j], self._order, out=values[j * n : (j + 1) * n], mode="clip")  # "raise" would copy
                times = np.bincount(values[j * n : (j + 1) * n])
                np.cumsum(times, out=starts[of_column[j] + 1 : of_column[j + 1]])
                listed[j] = times[times > 0].min() <= self._few  # a list whose parts are all too long is never read

        side_by_side(count, d, self._threads, each=1)
        list_of = n * (np.cumsum(listed) - listed)
        lists = np.empty(n * listed.sum(), dtype=np.int32)

        def order(x: int, y: int) -> None:
            for j in np.flatnonzero(listed)[x:y]:
                start = starts[of_column[j] : of_column[j + 1]]
                _list_by_code(values[j * n : (j + 1) * n], n, start, len(start), lists[list_of[j] : list_of[j] + n])

        side_by_side(order, int(listed.sum()), self._threads, each=1)
        low, high = (np.empty((len(left), d), dtype=np.int32) for _ in range(2))
        _code_boxes(values, n, d, begin, end, left, len(left), low, high)
        wide = self._wide(begin, end, left, low, high)
        return _Table(values, lists, list_of, starts, of_column, _sample(values, n, d), *wide)

    def _binary(self, codes: NDArray[np.int32], top: Ints) -> tuple[Ints, Ints, Ints]:
        numbers = np.empty(codes.shape, dtype=np.float32)
        for j, most in enumerate(top):
            np.divide(codes[:, j], np.float32(max(1, most)), out=numbers[:, j], dtype=np.float32)
        none = np.empty((len(codes), 0), dtype=np.uint8)
        tree = binary_tree(numbers, none, np.empty(0, dtype=np.float32), self._order, self._threads)
        self._order = self._order.astype(np.int32)
        return tree

    def _wide(
        self, begin: Ints, end: Ints, left: Ints, low: NDArray[np.int32], high: NDArray[np.int32]
    ) -> tuple[Any, ...]:
        room = len(left) // 2 + 2 + NODE
        child, top, depth = np.full((room, NODE), -1), np.empty(room, np.int64), np.empty(room, np.int64)
        n = _box_tree.widen(end - begin, left, child, top, depth)
        child = child[:n]
        self._room = (int(depth[:n].max()) + 2) * NODE
        is_inner = (child >= 0) & (left[child] >= 0)
        numbered = np.where(child >= 0, _LEAF_CHILD, _box_tree.NO_CHILD).astype(np.int32)
        numbered[is_inner] = 1 + np.arange(is_inner.sum())  # in the order in which `widen` met them
        box_low, box_high = (np.ascontiguousarray(a[child].transpose(0, 2, 1)) for a in (low, high))
        absent = np.broadcast_to((child < 0)[:, None, :], box_low.shape)
        box_low[absent], box_high[absent] = 2**31 - 1, -1
        return box_low, box_high, numbered, begin[child].astype(np.int32), end[child].astype(np.int32)


def _sample(values: NDArray[np.int32], n: int, d: int) -> NDArray[np.int32]:
    """Return rows spread over the whole table, column by column; each run of 64 is spread over it too."""
    n_runs = min(_SAMPLE, n // (4 * LEAF))
    rows = np.linspace(0, n, LEAF * n_runs, endpoint=False).astype(np.int64).reshape(LEAF, n_runs).T.ravel()
    return np.ascontiguousarray(values[: d * n].reshape(d, n)[:, rows]).ravel()
