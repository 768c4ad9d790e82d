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
from divulge.kernels._simd import LEAF, NODE, boxes_inside, boxes_meet, count_bits, lowest_bit, rows_within
from divulge.kernels._tree import binary_tree
from divulge.kernels.runtime import compiled, side_by_side

if TYPE_CHECKING:
    from divulge.kernels.predicates.conditions import Predicates, Progress

__all__ = ["CompiledConjunctions"]

Ints = NDArray[np.int64]
# Limits on time and memory: start values. They do not change a result.
_SAMPLE = 16  # size of the sample in leaves of 64 rows
_SAMPLE_FROM = 64  # rows of the rarest condition from which the sample is searched first
_FEW = 4.0  # times the square root of the number of rows: if the rarest condition has more rows, the tree is faster
_CHUNK = 4096  # predicates in one task of a thread
_ROOM = 2**22  # row numbers that a thread may hold


class _Table(NamedTuple):
    """The rows, prepared for search."""

    values: Any  # int32 (n_columns * n_rows + 64,): columns, one after the other; rows in the order of the leaves
    lists: Any  # int32: rows in the order of their codes, n_rows for each column that has a list
    list_of: Any  # int64 (n_columns,): where the list of a column begins
    starts: Any  # int32: where each code of each column begins in the order of codes
    of_column: Any  # int64 (n_columns + 1,): where each column begins in `starts`
    sample: Any  # int32 (n_columns * n_sampled,)
    low: Any  # int32 (n_nodes, n_columns, 16): boxes of the children of a node
    high: Any
    child: Any  # int32 (n_nodes, 16): a node, _LEAF_CHILD or _box_tree.NO_CHILD
    begin: Any  # int32 (n_nodes, 16): where the rows of a child begin and end
    end: Any


_LEAF_CHILD = -1


# ---------------------------------------------------------------- building


@compiled
def _list_by_code(values: Any, start: Any, rows: Any) -> None:
    """Write the rows in the order of their codes; start[c] is where code c begins."""
    place = start.copy()
    for i in range(len(values)):
        rows[place[values[i]]] = i
        place[values[i]] += 1


@compiled
def _fill_boxes(values: Any, n: int, begin: Any, end: Any, left: Any, low: Any, high: Any) -> None:
    """Write the smallest and the largest code of each column in each node of the binary tree."""
    for k in range(len(left) - 1, -1, -1):  # children come after their parents
        a = left[k]
        for j in range(low.shape[1]):
            if a >= 0:
                low[k, j], high[k, j] = min(low[a, j], low[a + 1, j]), max(high[a, j], high[a + 1, j])
            else:
                at = j * n + begin[k]
                least, most = values[at], values[at]
                for i in range(at, j * n + end[k]):
                    least, most = min(least, values[i]), max(most, values[i])
                low[k, j], high[k, j] = least, most


# ---------------------------------------------------------------- searching


@compiled
def _search(
    column: Any, low: Any, high: Any, n_conditions: Any, first: int, last: int, n: int, most: int, listing: bool,
    few: int,
    values: Any, lists: Any, list_of: Any, starts: Any, of_column: Any, sample: Any,
    box_low: Any, box_high: Any, child: Any, begin: Any, end: Any,
    room: int, out: Any, found: Any,
) -> None:  # fmt: skip
    """Count the rows of predicates[first:last] up to most + 1; `listing` writes their places in the tree to `found`.

    The arrays of `Predicates` and `_Table` are passed one by one. Up to `few` rows of the rarest condition are tested
    one by one; `room` is the size of the stack.
    """
    width, n_columns = column.shape[1], len(of_column) - 1
    n_sampled = len(sample) // n_columns
    which, least, greatest = np.empty(width + 1, np.int64), np.empty(width + 1, np.int32), np.empty(width + 1, np.int32)
    rows_of, list_at = np.empty(width + 1, np.int64), np.empty(width + 1, np.int64)
    stack = np.empty(room, np.int32)
    for i in range(first, last):
        k = 0
        for t in range(max(1, n_conditions[i])):  # the rarest condition first
            if n_conditions[i] == 0:  # no condition: every row matches
                j, a, b = np.int64(0), np.int64(0), np.int64(2147483647)
            else:
                j, a, b = np.int64(column[i, t]), np.int64(low[i, t]), np.int64(high[i, t])
            n_codes = of_column[j + 1] - of_column[j] - 1
            a, b = max(a, np.int64(0)), min(b, n_codes - 1)
            begins, size = np.int64(0), np.int64(0)
            if a <= b:
                begins = np.int64(starts[of_column[j] + a])
                size = np.int64(starts[of_column[j] + b + 1]) - begins
            place = k
            k += 1
            while place > 0 and rows_of[place - 1] > size:
                which[place], least[place], greatest[place] = which[place - 1], least[place - 1], greatest[place - 1]
                rows_of[place], list_at[place] = rows_of[place - 1], list_at[place - 1]
                place -= 1
            which[place], least[place], greatest[place] = j, np.int32(a), np.int32(b)
            rows_of[place], list_at[place] = size, begins
        if rows_of[0] == 0 or (k == 1 and not listing):
            out[i] = min(rows_of[0], most + 1)
            continue
        c = np.int64(0)
        if rows_of[0] > max(_SAMPLE_FROM, most):
            for t in range(0, n_sampled, LEAF):
                bits = ~np.uint64(0)
                for q in range(k):
                    bits &= rows_within(sample, which[q] * n_sampled + t, least[q], greatest[q])
                    if bits == 0:
                        break
                c += count_bits(bits)
                if c > most:
                    break
            if c > most:
                out[i] = most + 1
                continue
            c = np.int64(0)
        if rows_of[0] <= few:
            at = list_of[which[0]] + list_at[0]
            for place in range(at, at + rows_of[0]):
                row = np.int64(lists[place])
                inside = True
                for q in range(1, k):
                    v = values[which[q] * n + row]
                    if v < least[q] or v > greatest[q]:
                        inside = False
                        break
                if inside:
                    if c < most and listing:
                        found[i - first, c] = row
                    c += 1
                    if c > most:
                        break
            out[i] = c
            continue
        stack[0] = 0
        top = 1
        while top > 0 and c <= most:
            top -= 1
            at = np.int64(stack[top])
            meet, inside_all = ~np.uint64(0), ~np.uint64(0)
            for q in range(k):
                place = (at * n_columns + which[q]) * NODE
                meet &= boxes_meet(box_low, box_high, place, least[q], greatest[q])
                if meet == 0:
                    break
                inside_all &= boxes_inside(box_low, box_high, place, least[q], greatest[q])
            while meet != 0 and c <= most:
                x = lowest_bit(meet)
                meet &= meet - np.uint64(1)
                start, size = np.int64(begin[at, x]), np.int64(end[at, x] - begin[at, x])
                if inside_all >> np.uint64(x) & np.uint64(1) != 0:
                    if listing and c + size <= most:
                        for z in range(size):
                            found[i - first, c + z] = start + z
                    c += size
                elif child[at, x] != _LEAF_CHILD:
                    stack[top] = child[at, x]
                    top += 1
                else:
                    bits = ~np.uint64(0) >> np.uint64(LEAF - size)
                    for q in range(k):
                        bits &= rows_within(values, which[q] * n + start, least[q], greatest[q])
                        if bits == 0:
                            break
                    size = np.int64(count_bits(bits))
                    if listing and c + size <= most:
                        for z in range(size):
                            found[i - first, c + z] = start + lowest_bit(bits)
                            bits &= bits - np.uint64(1)
                    c += size
        out[i] = min(c, most + 1)


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
        asked = [np.ascontiguousarray(a) for a in (predicates.column, predicates.low, predicates.high, predicates.n)]
        asked = [a.astype(t, copy=False) for a, t in zip(asked, (np.int32, np.int32, np.int32, np.int64), strict=True)]
        out = np.zeros(m, dtype=np.int64)
        listed = min(most, self._n) if listing else 0
        step = max(1, min(_CHUNK, m // (4 * self._threads) + 1, _ROOM // max(1, listed)))
        none = np.empty(0, dtype=np.int64)

        def part(a: int) -> tuple[Ints, Ints]:
            b = min(a + step, m)
            found = np.empty((b - a if listing else 0, listed), dtype=np.int32)
            _search(*asked, a, b, self._n, min(most, self._n), listing, self._few, *self._table, self._room, out, found)
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
                _list_by_code(values[j * n : (j + 1) * n], start, lists[list_of[j] : list_of[j] + n])

        side_by_side(order, int(listed.sum()), self._threads, each=1)
        low, high = (np.empty((len(left), d), dtype=np.int32) for _ in range(2))
        _fill_boxes(values, n, begin, end, left, low, high)
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
