"""A tree of boxes over rows of numbers and categories, and the search through it (compiled).

The tree is built from all rows at once. A set of rows is halved by the column in which random pairs of its rows differ
most (numbers at the median, categories by groups of values) until at most 64 rows are left: a leaf. Nodes then replace
their children by grandchildren until each has up to 16 children, because the bounds of 16 boxes are computed at once. A
box has, for each number, the smallest and the largest value of its rows, and for each category a mask of 32 bits, one
for each (code mod 32). A query descends to the nearest child first and skips children beyond the best distance so far;
it starts with the distances to the neighbours of the previous query.

Bounds are float32. Numbers are cut to the range, centred at the median and scaled to the weight of their column:
each step can only make a bound smaller, up to rounding, which `slack` covers. For rows within the bound `exact`
computes the distance in float64, and only this distance decides. A missing number is nan and adds nothing to a bound.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from divulge.kernels._simd import LEAF, NODE, leaf_bounds, lowest_bit, node_bounds
from divulge.kernels.runtime import compiled

__all__ = [
    "NO_CHILD",
    "Asked",
    "Exact",
    "Tree",
    "add",
    "build",
    "exact",
    "fill_leaves",
    "put_together",
    "search",
    "split",
    "widen",
]

_SAMPLE = 128  # pairs of rows by which the column of a split is chosen; start value
NO_CHILD = -2147483648
_FAR = np.float32(3e38)


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


class Asked(NamedTuple):
    """The queries in the form that the search of the tree needs."""

    numbers: Any  # float32 (n, n_numbers)
    codes: Any  # uint8 (n, n_codes)
    bits: Any  # uint32 (n, n_codes)


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
    total: float
    cap: float
    split: float
    times: Any  # int64 (m,): how many rows each reference row stands for
    own: Any  # int64 (n,): the reference row that the query itself is, or -1


# ---------------------------------------------------------------- building


@compiled
def _middle(values: Any, n: int, place: int) -> Any:
    """Return the value at a given place of n values in sorted order (Hoare's selection; reorders the values)."""
    low, high = 0, n - 1
    while low < high:
        pivot = values[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while values[i] < pivot:
                i += 1
            while values[j] > pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if place <= j:
            high = j
        elif place >= i:
            low = i
        else:
            break
    return values[place]


@compiled
def _contrast(numbers: Any, codes: Any, weight: Any, order: Any, first: int, last: int, contrast: Any) -> None:
    """Add up for each column the differences between pairs of rows, one from each end of a set."""
    n_numbers, n_codes = numbers.shape[1], codes.shape[1]
    for j in range(n_numbers + n_codes):
        contrast[j] = 0.0
    n_pairs = min((last - first) // 2, _SAMPLE)
    step = (last - first) / (2.0 * n_pairs)
    for r in range(n_pairs):
        a, b = order[first + int(r * step)], order[first + int((r + n_pairs) * step)]
        for j in range(n_numbers):
            d = abs(numbers[a, j] - numbers[b, j])
            if d > 0:
                contrast[j] += d
        for j in range(n_codes):
            if codes[a, j] != codes[b, j]:
                contrast[n_numbers + j] += weight[j]


@compiled
def _partition_number(numbers: Any, column: int, order: Any, first: int, last: int, values: Any) -> int:
    """Move the rows below the median (and missing ones) to the front; return where the others begin, -1 if none do."""
    n = last - first
    below = np.float32(-3e38)
    for r in range(n):
        v = numbers[order[first + r], column]
        values[r] = v if v == v else below
    half = n // 2
    if n > 2 * LEAF:
        half = (n // 2 + LEAF // 2) // LEAF * LEAF  # full leaves
    elif n > LEAF:
        half = LEAF
    pivot = _middle(values, n, half)
    n_less, n_equal = 0, 0
    for r in range(n):
        n_less += values[r] < pivot
        n_equal += values[r] == pivot
    strict = n_less > 0 and (n_less + n_equal >= n or half - n_less <= n_less + n_equal - half)
    if not strict and n_less + n_equal >= n:
        return -1
    i, j = first, last - 1
    while i <= j:
        v = numbers[order[i], column]
        v = v if v == v else below
        if v < pivot or (not strict and v == pivot):
            i += 1
        else:
            order[i], order[j] = order[j], order[i]
            j -= 1
    return i


@compiled
def _partition_code(codes: Any, column: int, order: Any, first: int, last: int, count: Any, side: Any) -> int:
    """Assign the values to two sides, commonest first, each to the smaller side; return where the second one begins."""
    for v in range(256):
        count[v], side[v] = 0, 2
    for r in range(first, last):
        count[codes[order[r], column]] += 1
    left, right = 0, 0
    while True:
        most, which = 0, -1
        for v in range(256):
            if side[v] == 2 and count[v] > most:
                most, which = count[v], v
        if which < 0:
            break
        if left <= right:
            side[which] = 0
            left += most
        else:
            side[which] = 1
            right += most
    if left == 0 or right == 0:
        return -1
    i, j = first, last - 1
    while i <= j:
        if side[codes[order[i], column]] == 0:
            i += 1
        else:
            order[i], order[j] = order[j], order[i]
            j -= 1
    return i


@compiled
def split(numbers: Any, codes: Any, weight: Any, order: Any, first: int, last: int) -> Any:
    """Halve the rows order[first:last] by the column that separates them best; return where the second half begins."""
    n_numbers, n_codes = numbers.shape[1], codes.shape[1]
    contrast = np.empty(n_numbers + n_codes)
    values = np.empty(last - first, dtype=np.float32)
    count, side = np.empty(256, dtype=np.int64), np.empty(256, dtype=np.int64)
    _contrast(numbers, codes, weight, order, first, last, contrast)
    for attempt in range(2):
        if attempt == 1:  # the sampled pairs are equal in all columns: try each column once
            for j in range(n_numbers + n_codes):
                contrast[j] = 1.0 if contrast[j] == 0.0 else -1.0
        while True:
            best = -1
            for j in range(n_numbers + n_codes):
                if contrast[j] > 0 and (best < 0 or contrast[j] > contrast[best]):
                    best = j
            if best < 0:
                break
            column = np.int64(best)
            if column < n_numbers:
                middle = _partition_number(numbers, column, order, first, last, values)
            else:
                middle = _partition_code(codes, column - n_numbers, order, first, last, count, side)
            if middle > 0:
                return middle
            contrast[best] = -1.0
    return (first + last) // 2  # all rows are equal: any split is right


@compiled
def build(
    numbers: Any, codes: Any, weight: Any, order: Any, first: int, last: int, begin: Any, end: Any, left: Any
) -> Any:
    """Fill in the binary tree over order[first:last]: begin and end of each node, and its left child or -1.

    The arrays need at most two entries a row. Returns the number of nodes.
    """
    begin[0], end[0], left[0] = first, last, -1
    n, k = 1, 0
    while k < n:
        if end[k] - begin[k] > LEAF:
            middle = split(numbers, codes, weight, order, begin[k], end[k])
            left[k] = n
            begin[n], end[n], left[n] = begin[k], middle, -1
            begin[n + 1], end[n + 1], left[n + 1] = middle, end[k], -1
            n += 2
        k += 1
    return n


@compiled
def fill_leaves(
    numbers: Any, codes: Any, order: Any, begin: Any, end: Any, x: int, y: int,
    leaf_numbers: Any, leaf_codes: Any, low: Any, high: Any, masks: Any,
) -> None:  # fmt: skip
    """Write the rows of the leaves x to y, column by column, and their boxes."""
    n_numbers, n_codes = numbers.shape[1], codes.shape[1]
    for leaf in range(x, y):
        n = end[leaf] - begin[leaf]
        for j in range(n_numbers):
            least, most = np.float32(np.inf), np.float32(-np.inf)
            for r in range(n):
                v = numbers[order[begin[leaf] + r], j]
                leaf_numbers[leaf, j, r] = v
                if v == v:
                    least, most = min(least, v), max(most, v)
                else:  # the bound treats a missing number as equal to any number
                    least, most = np.float32(-np.inf), np.float32(np.inf)
            low[leaf, j], high[leaf, j] = least, most
        for j in range(n_codes):
            mask = np.uint32(0)
            for r in range(n):
                v = codes[order[begin[leaf] + r], j]
                leaf_codes[leaf, j, r] = v
                mask |= np.uint32(1) << np.uint32(v & 31)
            masks[leaf, j] = mask


@compiled
def put_together(left: Any, low: Any, high: Any, masks: Any) -> None:
    """Fill in the boxes of the inner nodes of the binary tree from those of its leaves."""
    for k in range(len(left) - 1, -1, -1):  # children come after their parents
        if left[k] >= 0:
            a, b = left[k], left[k] + 1
            for j in range(low.shape[1]):
                low[k, j], high[k, j] = min(low[a, j], low[b, j]), max(high[a, j], high[b, j])
            for j in range(masks.shape[1]):
                masks[k, j] = masks[a, j] | masks[b, j]


@compiled
def widen(size: Any, left: Any, child: Any, top: Any, depth: Any) -> Any:
    """Choose the binary nodes that are children of each wide node: the largest are replaced by their own children.

    child (n, width) must be filled with -1; top and depth receive the binary node of each wide node and its depth.
    Returns the number of wide nodes.
    """
    top[0], depth[0] = 0, 0
    n, k = 1, 0
    while k < n:
        child[k, 0] = top[k]
        n_kids = 1
        while n_kids < child.shape[1]:
            best = -1
            for i in range(n_kids):
                if left[child[k, i]] >= 0 and (best < 0 or size[child[k, i]] > size[child[k, best]]):
                    best = i
            if best < 0:
                break
            a = left[child[k, best]]
            child[k, best], child[k, n_kids] = a, a + 1
            n_kids += 1
        for i in range(n_kids):
            if left[child[k, i]] >= 0:
                top[n], depth[n] = child[k, i], depth[k] + 1
                n += 1
        k += 1
    return n


# ---------------------------------------------------------------- searching


@compiled
def exact(
    numbers: Any, codes: Any, reference_numbers: Any, reference_codes: Any, rate: Any, number_weight: Any,
    group: Any, group_weight: Any, total: float, cap: float, split: float, query: int, row: int,
) -> Any:  # fmt: skip
    """Return the distance of a query to a reference row, by the definition."""
    s = 0.0
    for j in range(numbers.shape[1]):
        d = abs(numbers[query, j] - reference_numbers[row, j]) * rate[j]
        d = d if d > 0.0 else 0.0  # nan: one of them is missing
        s += (d if d < cap else cap) * number_weight[j]
    n = 0
    if len(group_weight) == 1:  # a loop over all columns is faster than one over the columns of a group
        for j in range(codes.shape[1]):
            n += 1 if codes[query, j] != reference_codes[row, j] else 0
        s += n * group_weight[0] * cap
    else:
        for g in range(len(group_weight)):
            n = 0
            for j in range(group[g], group[g + 1]):
                n += 1 if codes[query, j] != reference_codes[row, j] else 0
            s += n * group_weight[g] * cap
    carried = s * split
    return (carried - (carried - s)) / (total * cap)


@compiled
def add(
    k: int, filled: int, beyond: int, distance: float, row: int, times: int, x: int, kept: Any, rows: Any, counts: Any
) -> Any:  # fmt: skip
    """Insert a row into the k nearest of query x, which are ordered by distance and row number.

    `beyond` counts the rows that tie with the k-th and are not among the k. Returns the new `filled` and `beyond`.
    """
    if filled == k:
        last = kept[x, k - 1]
        if distance > last:
            return filled, beyond
        if distance == last and row > rows[x, k - 1]:
            return filled, beyond + times
        pushed = counts[x, k - 1]
        place = k - 1
    else:
        pushed, last = 0, np.inf
        place = filled
        filled += 1
    while place > 0 and (
        kept[x, place - 1] > distance or (kept[x, place - 1] == distance and rows[x, place - 1] > row)
    ):
        kept[x, place], rows[x, place], counts[x, place] = (
            kept[x, place - 1],
            rows[x, place - 1],
            counts[x, place - 1],
        )
        place -= 1
    kept[x, place], rows[x, place], counts[x, place] = distance, row, times
    if pushed:
        beyond = beyond + pushed if kept[x, k - 1] == last else 0
    return filled, beyond


@compiled
def search(
    queries: Any, first: int, last: int, k: int, radius: Any, listing: bool,
    low: Any, high: Any, masks: Any, child: Any, leaf_numbers: Any, leaf_codes: Any, first_row: Any, order: Any,
    group: Any, weight: Any,
    asked_numbers: Any, asked_codes: Any, asked_bits: Any,
    numbers: Any, codes: Any, reference_numbers: Any, reference_codes: Any, rate: Any, number_weight: Any,
    all_of: Any, all_weight: Any, whole: float, cap: float, split: float, times_of: Any, own_of: Any,
    room: int, out_distance: Any, out_row: Any, out_beyond: Any, visited: Any, found_query: Any, found_row: Any,
) -> Any:  # fmt: skip
    """Search queries[first:last]: the k nearest rows of each, or (k = 0) all rows within its radius.

    k > 0 fills out_distance, out_row (n, k) and out_beyond; k = 0 counts into out_beyond, and with `listing` writes
    the pairs (query, row) to found_query and found_row. Returns the number of pairs and the query to continue with:
    `last`, or the first query whose pairs did not fit.

    The arrays of `Tree`, `Asked` and `Exact` are passed one by one, and no variable is rebound to another array: numba
    would count references in the innermost loop in both cases. `room` is the size of the stack; visited[0] counts
    leaves.
    """
    stack, stack_bound = np.empty(room, np.int32), np.empty(room, np.float32)
    node_bound, leaf_bound = np.empty(NODE, np.float32), np.empty(LEAF, np.float32)
    kept, rows, counts = np.empty((1, k + 1)), np.empty((1, k + 1), np.int64), np.empty((1, k + 1), np.int64)
    n_found, n_leaves, filled = 0, 0, 0
    relative = np.float32(2.4e-7) * np.float32(asked_numbers.shape[1] + len(weight) + 4)
    for x in range(first, last):
        i = queries[x]
        own = own_of[i]
        absolute = np.float32(1e-30)
        for j in range(asked_numbers.shape[1]):
            v = abs(asked_numbers[i, j])
            if v == v:
                absolute += np.float32(2.4e-7) * v
        limit = radius[i] if k == 0 else np.inf
        if k > 0 and x > first and filled == k:  # start with the neighbours of the previous query
            farthest = 0.0
            for h in range(k):
                if rows[0, h] == own:
                    farthest = np.inf
                    break
                farthest = max(
                    farthest,
                    exact(
                        numbers,
                        codes,
                        reference_numbers,
                        reference_codes,
                        rate,
                        number_weight,
                        all_of,
                        all_weight,
                        whole,
                        cap,
                        split,
                        i,
                        rows[0, h],
                    ),
                )
            limit = farthest
        total = np.float32(min(limit * whole, 1e30))
        bound = total + (absolute + relative * total)
        filled, beyond, n_before = 0, 0, n_found
        top = 1
        stack[0], stack_bound[0] = 0, np.float32(0)
        while top > 0:
            top -= 1
            if stack_bound[top] > bound:
                continue
            at = stack[top]
            if at >= 0:
                bits = node_bounds(
                    low, high, masks, at, asked_numbers, asked_bits, i, group, weight,
                    bound, node_bound,
                )  # fmt: skip
                base = top
                while bits != 0:
                    j = lowest_bit(bits)
                    bits &= bits - np.uint64(1)
                    kid = child[at, j]
                    if kid != NO_CHILD:
                        place = top  # nearest on top
                        top += 1
                        while place > base and stack_bound[place - 1] < node_bound[j]:
                            stack[place], stack_bound[place] = stack[place - 1], stack_bound[place - 1]
                            place -= 1
                        stack[place], stack_bound[place] = kid, node_bound[j]
                continue
            n_leaves += 1
            leaf = -1 - at
            bits = leaf_bounds(
                leaf_numbers, leaf_codes, leaf, asked_numbers, asked_codes, i, group, weight,
                bound, leaf_bound,
            )  # fmt: skip
            start = first_row[leaf]
            n = first_row[leaf + 1] - start
            if n < LEAF:
                bits &= (np.uint64(1) << np.uint64(n)) - np.uint64(1)
            best = -1
            if k > 0 and bits != 0:  # the nearest first: it makes the limit small
                rest = bits
                while rest != 0:
                    j = lowest_bit(rest)
                    rest &= rest - np.uint64(1)
                    if best < 0 or leaf_bound[j] < leaf_bound[best]:
                        best = j
            while bits != 0:
                if best >= 0:
                    j = best
                    best = -1
                    bits &= ~(np.uint64(1) << np.uint64(j))
                else:
                    j = lowest_bit(bits)
                    bits &= bits - np.uint64(1)
                    if leaf_bound[j] > bound:
                        continue
                row = order[start + j]
                times = times_of[row]
                if row == own:
                    times -= 1
                    if times == 0:
                        continue
                d = exact(
                    numbers,
                    codes,
                    reference_numbers,
                    reference_codes,
                    rate,
                    number_weight,
                    all_of,
                    all_weight,
                    whole,
                    cap,
                    split,
                    i,
                    row,
                )
                if d > limit:
                    continue
                if k == 0:
                    beyond += times
                    if listing:
                        if n_found == len(found_query):
                            return n_before, x
                        found_query[n_found], found_row[n_found] = i, row
                        n_found += 1
                    continue
                filled, beyond = add(k, filled, beyond, d, row, times, 0, kept, rows, counts)
                if filled == k and kept[0, k - 1] < limit:
                    limit = kept[0, k - 1]
                    total = np.float32(limit * whole)
                    bound = total + (absolute + relative * total)
        out_beyond[i] = beyond
        for h in range(filled):
            out_distance[i, h], out_row[i, h] = kept[0, h], rows[0, h]
    visited[0] += n_leaves
    return n_found, last
