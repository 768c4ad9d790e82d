"""The loops of `hamming` (compiled): find the keys that agree in all but a few columns, and add up their votes.

The keys of both sides are sorted by bucket; keys that agree in a block of columns share a bucket. Within a bucket the
pairs at the distance of the level are found in one of two ways. Either every pair is compared: the exclusive or of two
packed keys has bits in the columns that differ, and an addition moves them to the top bit of each column, where they
are counted. Or, for each choice of dropped columns, the queries are put into a hash table and the references are looked
up in it, so that the cost of a large bucket is linear in its keys.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from divulge.kernels.runtime import compiled

__all__ = ["Found", "Level", "Side", "commonest", "pairs", "walk"]


class Side(NamedTuple):
    """The keys of one side by bucket, and their cells."""

    words: Any  # uint64 (n_sorted, n_words)
    order: Any  # int64 (n_sorted,): number of each key
    bound: Any  # int64 (n_buckets + 1,)
    start: Any  # int64 (n_keys + 1,)
    target: Any  # int64 (n_cells,)
    count: Any  # int64 (n_cells,)


class Level(NamedTuple):
    """The pairs to find: they differ in so many columns, none of these in this block, one in each earlier block."""

    n_differing: int
    block: Any  # uint64 (n_words,): bits of the columns of the block
    earlier: Any  # uint64 (n_earlier, n_words)
    choices: Any  # uint64 (n_choices, n_words): bits of the columns kept
    low: Any  # uint64 (n_words,): all bits of each column but the top one
    high: Any  # uint64 (n_words,): the top bit of each column
    by_pairs: Any  # bool (n_buckets,)


class Found(NamedTuple):
    """Arrays for the answers."""

    tally: Any  # int64 (n_queries, 5): votes, groups, listed votes, and of a single group: largest vote, how many
    of_cell: Any  # int64 (n_query_cells,)
    fill: Any  # int64 (n_queries,): where the next listed vote goes; empty if none are listed
    target: Any  # int64 (n_listed,)
    count: Any  # int64 (n_listed,)


@compiled
def _gather(references: Any, base: int, head: Any, after: Any, votes: Any, touched: Any) -> Any:
    """Add up the votes of a chain of references; return their number and how many targets have any."""
    total, n_touched = 0, 0
    while head > 0:
        r = references.order[base + head - 1]
        for e in range(references.start[r], references.start[r + 1]):
            t = references.target[e]
            if votes[t] == 0:
                touched[n_touched] = t
                n_touched += 1
            votes[t] += references.count[e]
            total += references.count[e]
        head = np.int64(after[head - 1])
    return total, n_touched


@compiled
def _give(
    queries: Any, base: int, head: Any, after: Any, votes: Any, touched: Any, total: int, n_touched: int, found: Any
) -> None:
    """Add the gathered votes to each query of a chain, and reset them."""
    largest, n_largest = 0, 0
    for e in range(n_touched):
        v = votes[touched[e]]
        if v > largest:
            largest, n_largest = v, 0
        if v == largest:
            n_largest += 1
    while head > 0:
        q = queries.order[base + head - 1]
        found.tally[q, 0] += total
        found.tally[q, 1] += 1
        found.tally[q, 2] += n_touched
        found.tally[q, 3] += largest
        found.tally[q, 4] += n_largest
        for e in range(queries.start[q], queries.start[q + 1]):
            found.of_cell[e] += votes[queries.target[e]]
        if len(found.fill) > 0:
            at = found.fill[q]
            for e in range(n_touched):
                found.target[at + e] = touched[e]
                found.count[at + e] = votes[touched[e]]
            found.fill[q] = at + n_touched
        head = np.int64(after[head - 1])
    for e in range(n_touched):
        votes[touched[e]] = 0


@compiled
def _ties(query: Any, words: Any, first: int, last: int, level: Any, after: Any) -> Any:
    """Chain the references of a bucket whose distance from the query is that of the level; return the head."""
    ones, twos, fours = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333), np.uint64(0x0F0F0F0F0F0F0F0F)
    head: Any = 0
    for r in range(first, last):
        n: Any = 0
        apart = np.uint64(0)
        for w in range(len(query)):
            d = query[w] ^ words[r, w]
            apart |= d & level.block[w]
            x = (((d & level.low[w]) + level.low[w]) | d) & level.high[w]
            x -= (x >> np.uint64(1)) & ones
            x = (x & twos) + ((x >> np.uint64(2)) & twos)
            x = (x + (x >> np.uint64(4))) & fours
            n += np.int64((x * np.uint64(0x0101010101010101)) >> np.uint64(56))
        if n != level.n_differing or apart != np.uint64(0):
            continue
        own = True
        for k in range(len(level.earlier)):
            apart = np.uint64(0)
            for w in range(len(query)):
                apart |= (query[w] ^ words[r, w]) & level.earlier[k, w]
            own &= apart != np.uint64(0)
        if own:
            after[r - first] = head
            head = r - first + 1
    return head


@compiled
def _slot(words: Any, i: int, kept: Any, shift: Any) -> Any:
    """Return the hash of the kept columns of a key; the hash of one word is invertible, so different words differ."""
    x = np.uint64(0)
    for w in range(len(kept)):
        x ^= words[i, w] & kept[w]
        x = (x ^ (x >> np.uint64(32))) * np.uint64(0xD6E8FEB86659FD93)
        x = (x ^ (x >> np.uint64(32))) * np.uint64(0xD6E8FEB86659FD93)
    return x


@compiled
def _same(one: Any, i: int, other: Any, j: int, kept: Any) -> bool:
    for w in range(len(kept)):  # noqa: SIM110 # numba has no all() of a generator
        if (one[i, w] ^ other[j, w]) & kept[w] != np.uint64(0):
            return False
    return True


@compiled
def _group(
    one: Any, a: Any, other: Any, b: Any, kept: Any, table: Any, after_one: Any, after_other: Any, shared: Any
) -> int:
    """Chain the keys of a bucket that agree in the kept columns; return how many slots have keys of both sides.

    A slot is a hash and two halves of a word: the last key of either side that has it, plus 1.
    """
    bits = 3
    while (1 << bits) < 2 * (a[1] - a[0]):
        bits += 1
    shift, last = np.uint64(64 - bits), np.uint64((1 << bits) - 1)
    half, low, one_, zero = np.uint64(32), np.uint64(2**32 - 1), np.uint64(1), np.uint64(0)
    table[: 1 << bits] = zero
    n_shared = 0
    for side in range(2):
        words, first, n = (other, b[0], b[1] - b[0]) if side else (one, a[0], a[1] - a[0])
        for i in range(n):
            x = _slot(words, first + i, kept, shift)
            slot = x >> shift
            while table[slot, 1] != zero:
                if table[slot, 0] == x:
                    if len(kept) == 1:
                        break
                    if _same(words, first + i, one, a[0] + np.int64(table[slot, 1] & low) - 1, kept):
                        break
                slot = (slot + one_) & last
            heads = table[slot, 1]
            if side == 0:
                table[slot, 0] = x
                table[slot, 1] = np.uint64(i + 1)
                after_one[i] = heads
            elif heads != zero:
                if heads >> half == zero:
                    shared[n_shared] = slot
                    n_shared += 1
                after_other[i] = heads >> half
                table[slot, 1] = (heads & low) | (np.uint64(i + 1) << half)
    return n_shared


@compiled
def walk(
    queries: Any, references: Any, level: Any, found: Any, first: int, last: int, table: Any, n_targets: int
) -> None:
    """Find the pairs of the level in some buckets, and give the votes of the references to the queries."""
    most = np.zeros(2, dtype=np.int64)
    for bucket in range(first, last):
        most[0] = max(most[0], queries.bound[bucket + 1] - queries.bound[bucket])
        most[1] = max(most[1], references.bound[bucket + 1] - references.bound[bucket])
    after_query, after_reference = np.zeros(most[0], dtype=np.uint32), np.zeros(most[1], dtype=np.uint32)
    shared = np.empty(most[0], dtype=np.int64)
    alone = np.zeros(1, dtype=np.uint32)
    votes, touched = np.zeros(n_targets, dtype=np.int64), np.empty(n_targets, dtype=np.int64)
    low, half = np.uint64(2**32 - 1), np.uint64(32)
    for bucket in range(first, last):
        a = queries.bound[bucket], queries.bound[bucket + 1]
        b = references.bound[bucket], references.bound[bucket + 1]
        if a[0] == a[1] or b[0] == b[1]:
            continue
        if level.by_pairs[bucket]:
            for q in range(a[0], a[1]):
                head = _ties(queries.words[q], references.words, b[0], b[1], level, after_reference)
                if head > 0:
                    total, n_touched = _gather(references, b[0], head, after_reference, votes, touched)
                    _give(queries, q, 1, alone, votes, touched, total, n_touched, found)
            continue
        for c in range(len(level.choices)):
            n = _group(
                queries.words, a, references.words, b, level.choices[c], table, after_query, after_reference, shared
            )
            for s in range(n):
                heads = table[shared[s], 1]
                total, n_touched = _gather(references, b[0], np.int64(heads >> half), after_reference, votes, touched)
                _give(queries, a[0], np.int64(heads & low), after_query, votes, touched, total, n_touched, found)


@compiled
def commonest(start: Any, target: Any, count: Any, votes: Any, largest: Any, n_largest: Any) -> None:
    """Find the largest vote of each query, and how many targets have it, from its listed votes."""
    for i in range(len(largest)):
        for e in range(start[i], start[i + 1]):
            votes[target[e]] += count[e]
        for e in range(start[i], start[i + 1]):
            v = votes[target[e]]
            votes[target[e]] = 0  # a target that is listed twice counts once
            if v > largest[i]:
                largest[i], n_largest[i] = v, 0
            if v == largest[i]:
                n_largest[i] += 1


@compiled
def pairs(
    codes: Any, query_start: Any, query_target: Any,
    columns: Any, reference_start: Any, reference_target: Any, reference_count: Any, n_targets: Any,
    differ: Any, distance: Any, total: Any, largest: Any, n_largest: Any, of_cell: Any,
) -> None:  # fmt: skip
    """Compare each query with all references, and add up the votes of the nearest ones."""
    # Every inner loop over a tile runs over adjacent bytes, so that the compiler vectorises it:
    # 0.05 ns a pair and column with AVX-512, 1 ns where the smallest of a tile is kept in a plain (64-bit) integer.
    n_columns, m = columns.shape
    tile = len(differ)
    least_of = np.empty((m + tile - 1) // tile, dtype=np.int64)
    votes, touched = np.zeros(n_targets, dtype=np.int64), np.empty(n_targets, dtype=np.int64)
    for i in range(len(codes)):
        best = n_columns
        n_touched = 0
        for second in range(2):  # the smallest of each tile; then the tiles that have the smallest of all
            for k in range(len(least_of)):
                if second and least_of[k] > best:
                    continue
                first = k * tile
                size = min(tile, m - first)
                part = differ[:size]
                part[:] = 0
                for j in range(n_columns):
                    value = codes[i, j]
                    column = columns[j, first : first + size]
                    for r in range(size):
                        part[r] += column[r] != value
                if second:
                    for r in range(size):
                        if part[r] == best:
                            for e in range(reference_start[first + r], reference_start[first + r + 1]):
                                t = reference_target[e]
                                if votes[t] == 0:
                                    touched[n_touched] = t
                                    n_touched += 1
                                votes[t] += reference_count[e]
                                total[i] += reference_count[e]
                else:
                    least = part[0]
                    for r in range(size):
                        least = part[r] if part[r] < least else least  # min() widens to 64 bits
                    least_of[k] = least
                    best = min(best, least_of[k])
        distance[i] = best
        for e in range(query_start[i], query_start[i + 1]):
            of_cell[e] = votes[query_target[e]]
        for e in range(n_touched):
            v = votes[touched[e]]
            if v > largest[i]:
                largest[i], n_largest[i] = v, 0
            if v == largest[i]:
                n_largest[i] += 1
            votes[touched[e]] = 0
