"""Nearest keys under the Hamming distance, every tie counted.

A query whose key does not occur is answered by all reference keys that differ from it in the fewest columns. The search
goes by levels, from distance 0 on: at each level the remaining queries look for references at exactly that distance.

At level h the columns are split into h + 1 blocks: two keys that differ in h columns agree in a whole block. So keys
are sorted into buckets by each block in turn, and only keys of one bucket can be such a pair; a pair counts in the
first block in which it agrees. In small buckets all pairs are compared. In large buckets h of the columns are dropped
and keys are grouped by the rest: a key at distance h agrees with the query in exactly one such group, so the sum of the
groups over all choices of h columns has the votes of all ties without listing them.

Either way costs little more than the keys there are. Where that is no longer so, because the distance is large and
few queries are left, these are compared with all references. So are small tables. The compiled loops are in
`_hamming_votes`; without them keys are grouped or compared in numpy. Results are whole numbers, the same in every way.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from math import comb, log
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from divulge.kernels.counts.contingency import Ints
from divulge.kernels.counts.hamming_plain import Keys, NearestVotes, by_groups, by_matrix, by_pairs
from divulge.kernels.runtime import THREADS_FROM, has_loops, in_threads

if TYPE_CHECKING:
    from divulge.kernels.counts._hamming_votes import Level, Side

__all__ = ["nearest_votes"]

Words = NDArray[np.uint64]

# measured seconds of one thread, by which the faster way is chosen
_PAIR_COLUMN = 0.06e-9  # a pair and column, all against all
_PAIR = 3e-9  # a pair within a bucket
_GROUPED = 12e-9  # a key and choice of columns
_SORTED = 15e-9  # a key and block
_TASK = 1e-3  # the least that is worth a task of its own
_LONGEST = 0.2  # the most for a task, which an interrupt waits for
_FEW = 3e-3  # all pairs are compared if that takes no longer
_GROUPED_CELLS = 400_000  # keys and cells times choices of columns, up to which numpy groups them
_FEW_ALONE, _GROUPED_CELLS_ALONE = 4_000_000, 100_000_000  # the same without compiled loops: pairs, and cells
_BUCKET_BITS = 16
_CHOICES_MAX = 20_000  # beyond that buckets are compared pair by pair
_LISTED = 2**24  # votes that are listed at a time


def nearest_votes(
    queries: Keys, references: Keys, n_targets: int, *, modal: bool = False, at_least: int = 0
) -> NearestVotes:
    """Return the votes of all references at the smallest Hamming distance of each query.

    Parameters
    ----------
    queries
        Keys with the targets to count votes for; their `count` is not used.
    references
        At least one key of the same columns; each of its records has a vote.
    n_targets
        Targets are 0 to n_targets - 1.
    modal
        Also find the commonest target among the votes.
    at_least
        Lower limit of all distances: 1 if no query is among the references.

    Returns
    -------
    NearestVotes
        Whole numbers, which do not depend on threads or the order of the keys.

    Examples
    --------
    >>> references = Keys(np.array([[0, 1], [0, 2], [3, 3]], np.int32), np.array([0, 1, 2, 4]),
    ...                   np.array([0, 1, 0, 1]), np.array([2, 1, 5, 5]))
    >>> queries = Keys(np.array([[0, 9]], np.int32), np.array([0, 2]), np.array([0, 1]), np.array([1, 1]))
    >>> near = nearest_votes(queries, references, 2, modal=True)
    >>> near.distance.tolist(), near.total.tolist(), near.of_cell.tolist(), near.largest.tolist()
    ([1], [3], [2, 1], [2])
    """
    n, n_columns = queries.codes.shape
    m = len(references)
    out = NearestVotes.empty(n, len(queries.target))
    rest, packed = np.arange(n), None
    is_compiled = has_loops(n * m)
    for distance in range(at_least, n_columns + 1):
        if not len(rest):
            break
        asked, cells = queries.take(rest)
        few = len(rest) * m * n_columns * _PAIR_COLUMN < _FEW if is_compiled else len(rest) * m < _FEW_ALONE
        n_cells = len(cells) + len(references.target)
        most = _GROUPED_CELLS if is_compiled else _GROUPED_CELLS_ALONE
        if not (few or modal) and comb(n_columns, distance) * (len(rest) + m + n_cells) <= most:
            found = by_groups(asked, references, distance, n_targets)
            out.put(rest, cells, found)
            rest = rest[found.total == 0]
            continue
        if few or not is_compiled:
            found = by_pairs(asked, references, n_targets) if is_compiled else by_matrix(asked, references)
            out.put(rest, cells, found)
            break
        packed = packed or _pack(queries.codes, references.codes)
        words, reference_words, fields = packed
        search = _Search.at(distance, asked, words[rest], references, reference_words, fields)
        if search is None:
            out.put(rest, cells, by_pairs(asked, references, n_targets))
            break
        found = search.votes(n_targets, modal)
        out.put(rest, cells, found)  # queries without a reference here are overwritten at a later level
        rest = rest[found.total == 0]
    return out


# ---------------------------------------------------------------- level by level


def _pack(queries: NDArray[np.int32], references: NDArray[np.int32]) -> tuple[Words, Words, Words]:
    """Return codes packed into as few 64-bit words as possible, and the bits of each column.

    Shapes (n_queries, n_words), (n_references, n_words), (n_columns, n_words).
    """
    widths = [max(int(a.max()), int(b.max())).bit_length() for a, b in zip(queries.T, references.T, strict=True)]
    places, word, used = [], 0, 0
    for width in widths:
        if used + width > 64:
            word, used = word + 1, 0
        places.append((word, used))
        used += width
    fields = np.zeros((len(widths), word + 1), dtype=np.uint64)
    packed = np.zeros((len(queries), word + 1), np.uint64), np.zeros((len(references), word + 1), np.uint64)
    for j, ((at, shift), width) in enumerate(zip(places, widths, strict=True)):
        if width:  # a column of one value needs no bits
            fields[j, at] = ((1 << width) - 1) << shift
            for words, codes in zip(packed, (queries, references), strict=True):
                words[:, at] |= codes[:, j].astype(np.uint64) << np.uint64(shift)
    return *packed, fields


def _blocks(queries: NDArray[np.int32], references: NDArray[np.int32], n_blocks: int) -> list[list[int]]:
    """Return the columns in a given number of blocks that separate about equally many random pairs each."""
    apart: list[float] = []
    for a, b in zip(queries.T, references.T, strict=True):
        n = max(int(a.max()), int(b.max())) + 1
        # shares as sums of products; `@` would start the threads of BLAS
        equal = float((np.bincount(a, minlength=n) / len(a) * (np.bincount(b, minlength=n) / len(b))).sum())
        apart.append(-log(max(equal, 1e-9)))
    blocks: list[list[int]] = [[] for _ in range(n_blocks)]
    reach = [0.0] * n_blocks
    for j in sorted(range(len(apart)), key=lambda j: -apart[j]):
        least = min(range(n_blocks), key=lambda i: (reach[i], len(blocks[i])))
        blocks[least].append(j)
        reach[least] += apart[j]
    return blocks


def _by_bucket(words: Words, block: Words, keys: Keys, n_bits: int, among: NDArray[np.bool_] | None = None) -> Side:
    """Return keys sorted by bucket, a hash of the columns of a block; on request only the keys of some buckets."""
    from divulge.kernels.counts._hamming_votes import Side

    x = np.zeros(len(words), dtype=np.uint64)
    for w, bits in enumerate(block):
        x ^= words[:, w] & bits
        x *= np.uint64(0x9E3779B97F4A7C15)
        x ^= x >> np.uint64(32)
    bucket = (x * np.uint64(0xD6E8FEB86659FD93) >> np.uint64(64 - n_bits)).astype(np.uint16)
    if among is None:
        order = np.argsort(bucket, kind="stable")  # of 16 bits, by counting
    else:
        chosen = np.flatnonzero(among[bucket])
        bucket = bucket[chosen]
        order = chosen[np.argsort(bucket, kind="stable")]
    bound = np.append(0, np.cumsum(np.bincount(bucket, minlength=1 << n_bits)))
    return Side(words[order], order, bound, keys.start, keys.target, keys.count)


def _parts(sizes: NDArray[Any], most: float) -> Iterator[slice]:
    """Return slices of at least one entry whose sizes add up to at most a limit."""
    ends = np.cumsum(sizes)
    first = 0
    while first < len(sizes):
        done = ends[first - 1] if first else 0
        last = max(first + 1, int(np.searchsorted(ends, done + most, side="right")))
        yield slice(first, last)
        first = last


@dataclass(frozen=True, slots=True, eq=False)
class _Search:
    """The search for all pairs at one distance: for each block of columns both sides by bucket, and the level."""

    distance: int
    n_queries: int
    n_cells: int
    blocks: list[tuple[Side, Side, Level]]

    @staticmethod
    def at(
        distance: int, queries: Keys, words: Words, references: Keys, reference_words: Words, fields: Words
    ) -> _Search | None:
        """Return the search at a distance; None where comparing all pairs takes less time."""
        n, m, n_columns = len(queries), len(references), len(fields)
        all_pairs = n * m * n_columns * _PAIR_COLUMN
        n_blocks = min(distance + 1, n_columns) if distance < n_columns else 1
        if n_blocks * (n + m) * _SORTED > all_pairs:
            return None
        columns = _blocks(queries.codes, references.codes, n_blocks) if distance < n_columns else [[]]
        bits = [np.bitwise_or.reduce(fields[c], axis=0) for c in columns]

        # more buckets than keys only cost their own upkeep
        n_bits = min(_BUCKET_BITS, max(8, (n + m).bit_length() + 1))

        def both(block: Words) -> tuple[Side, Side]:
            asked = _by_bucket(words, block, queries, n_bits)
            return asked, _by_bucket(reference_words, block, references, n_bits, np.diff(asked.bound) > 0)

        sides = in_threads(both, bits, n + m)
        n_choices = comb(n_columns, distance)
        share = -(-n_choices // n_blocks) if n_choices <= _CHOICES_MAX else n_choices
        seconds = [_seconds(*s, share)[0].sum() for s in sides]
        if sum(seconds) > all_pairs:
            return None
        best = sorted(range(n_blocks), key=lambda i: seconds[i])
        choices = _choices(n_columns, distance, [columns[i] for i in best])
        blocks = []
        for place, i in enumerate(best):
            earlier = np.array([bits[k] for k in best[:place]], dtype=np.uint64).reshape(place, fields.shape[1])
            _, by_pairs = _seconds(*sides[i], len(choices[place]) or n_choices)
            level = _level(distance, bits[i], earlier, choices[place], fields, by_pairs)
            blocks.append((*sides[i], level))
        return _Search(distance, n, len(queries.target), blocks)

    def votes(self, n_targets: int, modal: bool) -> NearestVotes:
        """Return the answers, with a total of 0 where a query has no reference at the distance."""
        of_cell = np.zeros(self.n_cells, dtype=np.int64)
        tally = self._walk(n_targets, of_cell, *_NO_LIST)
        total, n_groups, n_listed, largest, n_largest = tally.T
        if modal:
            # of one group the largest vote is known; several have to be added up first
            several = np.flatnonzero(n_groups > 1)
            for part in _parts(n_listed[several], _LISTED):
                some = several[part]
                largest[some], n_largest[some] = self._of(some)._commonest(n_targets, n_listed[some])
        return NearestVotes(np.full(self.n_queries, self.distance), total, of_cell, largest, n_largest)

    def _of(self, queries: Ints) -> _Search:
        """Return the search for some of the queries, without their cells."""
        place = np.full(self.n_queries, -1)
        place[queries] = np.arange(len(queries))
        start, none = np.zeros(len(queries) + 1, dtype=np.int64), np.zeros(0, dtype=np.int64)
        blocks = []
        for asked, answer, level in self.blocks:
            kept = place[asked.order] >= 0
            bound = np.append(0, np.cumsum(kept))[asked.bound]
            side = type(asked)(asked.words[kept], place[asked.order[kept]], bound, start, none, none)
            blocks.append((side, answer, level))
        return _Search(self.distance, len(queries), 0, blocks)

    def _commonest(self, n_targets: int, n_listed: Ints) -> tuple[Ints, Ints]:
        """Return the largest vote of each query, and how many targets have it, all its groups added up."""
        from divulge.kernels.counts._hamming_votes import commonest

        start = np.append(0, np.cumsum(n_listed))
        target, count = np.empty((2, int(start[-1])), dtype=np.int64)
        self._walk(n_targets, np.zeros(0, dtype=np.int64), start[:-1].copy(), target, count)
        largest, n_largest = np.zeros((2, self.n_queries), dtype=np.int64)

        def work(part: slice) -> None:
            commonest(start[part.start : part.stop + 1], target, count, n_targets, largest[part], n_largest[part])

        in_threads(work, list(_parts(n_listed, 1 + len(target) / (4 * _n_threads()))), THREADS_FROM)
        return largest, n_largest

    def _walk(self, n_targets: int, of_cell: Ints, fill: Ints, target: Ints, count: Ints) -> Ints:
        """Fill in the votes of the cells, list votes where asked for, and return the tally of each query."""
        from divulge.kernels.counts._hamming_votes import Found, walk

        tally = np.zeros((self.n_queries, 5), dtype=np.int64)
        found = Found(tally, of_cell, fill, target, count)
        for asked, answer, level in self.blocks:
            seconds, _ = _seconds(asked, answer, len(level.choices) or _CHOICES_MAX + 1)

            def work(part: slice, asked: Side = asked, answer: Side = answer, level: Level = level) -> None:
                walk(asked, answer, level, found, part.start, part.stop, n_targets)

            # a query is in one bucket, so that no two threads write to one place
            most = min(max(_TASK, seconds.sum() / (8 * _n_threads())), _LONGEST)
            in_threads(work, list(_parts(seconds, most)), THREADS_FROM)
        return tally


_NO_LIST = (np.zeros(0, dtype=np.int64),) * 3


def _n_threads() -> int:
    return os.cpu_count() or 1


def _seconds(queries: Side, references: Side, n_choices: int) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return about how long each bucket takes, and whether that is by comparing its pairs."""
    n, m = np.diff(queries.bound).astype(np.float64), np.diff(references.bound)
    by_pairs, grouped = n * m * _PAIR, (n + m) * (n > 0) * (m > 0) * (n_choices * _GROUPED)
    if n_choices > _CHOICES_MAX:
        return by_pairs, np.ones(len(n), dtype=bool)
    return np.minimum(by_pairs, grouped), by_pairs <= grouped


def _choices(n_columns: int, n_dropped: int, blocks: list[list[int]]) -> list[list[tuple[int, ...]]]:
    """Return the choices of dropped columns by the first block of which none is dropped; none where there are many."""
    out: list[list[tuple[int, ...]]] = [[] for _ in blocks]
    if comb(n_columns, n_dropped) > _CHOICES_MAX:
        return out
    for dropped in combinations(range(n_columns), n_dropped):
        out[next(i for i, block in enumerate(blocks) if not set(block) & set(dropped))].append(dropped)
    return out


def _level(
    distance: int,
    block: Words,
    earlier: Words,
    choices: list[tuple[int, ...]],
    fields: Words,
    by_pairs: NDArray[np.bool_],
) -> Level:
    from divulge.kernels.counts._hamming_votes import Level

    every = np.bitwise_or.reduce(fields, axis=0)
    dropped = np.array(choices, dtype=np.int64).reshape(len(choices), distance)
    kept = every & ~np.bitwise_or.reduce(fields[dropped], axis=1)
    high = np.bitwise_or.reduce(fields & ~(fields >> np.uint64(1)), axis=0)
    return Level(distance, block, earlier, kept, every & ~high, high, by_pairs)
