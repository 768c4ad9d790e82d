"""The compiled searches of `Index`: prepares the arrays, chooses the box tree or the brute force scan, runs threads.

A probe of 64 queries is searched through the tree. If it visits a large share of the leaves, the tree prunes little and
the scan is used instead, unless the nearest distances are too short for 16 bits.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from divulge.kernels import _box_tree
from divulge.kernels._simd import LEAF, MISSING, NO_LIMIT, NODE, TILE
from divulge.kernels._tree import binary_tree
from divulge.kernels.neighbours import _brute_force
from divulge.kernels.neighbours.gower import Floats, Rows, Ruler, pairwise
from divulge.kernels.runtime import side_by_side

if TYPE_CHECKING:
    from divulge.kernels.neighbours.distinct import Distinct, Progress

__all__ = ["CompiledIndex"]

Ints = NDArray[np.int64]

_PROBE = 64
_PRUNED = 0.12  # share of visited leaves above which the scan is used; start value
_GROUP = 255  # mismatches that a byte can count


class CompiledIndex:
    """Distinct reference rows, prepared for compiled search."""

    def __init__(self, ruler: Ruler, reference: Distinct, engine: str, threads: int | None, progress: Progress) -> None:
        self._ruler, self._reference, self._engine = ruler, reference, engine
        self._threads, self._progress = threads or os.cpu_count() or 1, progress
        self._group, self._group_weight = _short_groups(ruler)
        numbers = reference.rows.numbers
        known = np.where(np.isfinite(numbers), numbers, np.nan) if numbers.size else numbers
        self._centre = np.array([_median(known[:, j]) for j in range(numbers.shape[1])])
        self._tree: _box_tree.Tree | None = None
        self._room = 0

    def nearest(self, queries: Rows, k: int, own: Ints | None) -> tuple[Floats, Ints, Ints]:
        """Return distances and distinct rows, shapes (n, k), and how many rows beyond them tie with the last."""
        distance, row, beyond, _ = self._run(queries, k, np.empty(0), own, listing=False)
        return distance, row, beyond

    def within(self, queries: Rows, radius: Floats, own: Ints | None, listing: bool) -> tuple[Ints, tuple[Ints, Ints]]:
        """Return how many rows lie within the radius of each query, and the pairs (query, distinct row) if wanted."""
        _, _, counts, found = self._run(queries, 0, np.ascontiguousarray(radius, dtype=np.float64), own, listing)
        return counts, found

    # ------------------------------------------------------------ one search

    def _run(
        self, queries: Rows, k: int, radius: Floats, own: Ints | None, listing: bool
    ) -> tuple[Floats, Ints, Ints, tuple[Ints, Ints]]:
        n = len(queries)
        out = np.full((n, k), np.inf), np.full((n, k), -1, dtype=np.int64), np.zeros(n, dtype=np.int64)
        pairs: list[tuple[Ints, Ints]] = [(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))]
        e = self._exact(queries, own)
        if self._engine != "tiles":
            tree, asked = self._built(), self._asked(queries)
            visited, none = np.zeros(2, dtype=np.int64), np.empty(0, dtype=np.int64)
            probe = np.linspace(0, n - 1, min(_PROBE, n)).astype(np.int64)
            _box_tree.search(
                probe, 0, len(probe), k, radius, False, *tree, *asked, *e, self._room, *out, visited, none, none
            )
            share = visited[0] / (len(probe) * (len(tree.first) - 1))
            if self._engine == "boxes" or share <= _PRUNED or not self._fits(out[0][probe], radius):
                order = self._query_order(asked)

                def walk(a: int, b: int, query: Ints, row: Ints) -> tuple[int, int]:
                    return _box_tree.search(  # type: ignore[no-any-return] # compiled
                        order, a, b, k, radius, listing, *tree, *asked, *e, self._room, *out, visited[1:], query, row
                    )

                self._threaded(n, max(64, min(4096, n // (8 * self._threads))), _listed(walk, listing), pairs)
                return *out, _joined(pairs)
        else:
            probe = np.linspace(0, n - 1, min(_PROBE, n)).astype(np.int64)
            out[0][probe] = self._sampled(queries.take(probe), k)
        farthest = self._reach(out[0][probe], radius)
        out[0][probe] = np.inf
        packed = self._packed(queries, farthest)
        order = np.arange(n)

        def pass_over(a: int, b: int, query: Ints, row: Ints) -> tuple[int, int]:
            return _brute_force.scan(  # type: ignore[no-any-return] # compiled
                order, a, b, k, radius, listing, *packed, *e, *out, query, row
            )

        self._threaded(n, _brute_force.BLOCK, _listed(pass_over, listing), pairs)
        return *out, _joined(pairs)

    def _threaded(
        self, n: int, step: int, work: Callable[[int, int], tuple[Ints, Ints]], pairs: list[tuple[Ints, Ints]]
    ) -> None:
        """Run the work on parts of the queries; an interrupt waits for running parts and cancels the others."""
        parts = ((a, min(a + step, n)) for a in range(0, n, step))
        done = 0
        if self._threads == 1 or n <= step:
            for a, b in parts:
                pairs.append(work(a, b))
                self._progress(b, n)
            return
        with ThreadPoolExecutor(self._threads) as pool:
            # a few parts are queued for each thread, so that no thread is idle and few parts remain after an interrupt
            waiting = {pool.submit(_several, work, some) for some in _handfuls(parts, 4 * self._threads, step)}
            queue = _handfuls(parts, None, step)
            try:
                while waiting:
                    finished, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                    for future in finished:
                        for b, found in future.result():
                            done += b
                            pairs.append(found)
                    waiting |= {pool.submit(_several, work, some) for some in islice(queue, len(finished))}
                    self._progress(done, n)
            except BaseException:
                pool.shutdown(wait=True, cancel_futures=True)
                raise

    def _exact(self, queries: Rows, own: Ints | None) -> _box_tree.Exact:
        rows, ruler = self._reference.rows, self._ruler
        bounds, weights = ruler.groups()
        return _box_tree.Exact(
            np.ascontiguousarray(queries.numbers), np.ascontiguousarray(queries.codes),
            np.ascontiguousarray(rows.numbers), np.ascontiguousarray(rows.codes),
            ruler.rate, ruler.number_weight, bounds, weights, ruler.total, ruler.cap, ruler.split,
            self._reference.times,
            np.full(len(queries), -1, dtype=np.int64) if own is None else np.ascontiguousarray(own),
        )  # fmt: skip

    # ------------------------------------------------------------ the tree

    def _scaled(self, rows: Rows) -> NDArray[np.float32]:
        """Return the numbers cut to the range, centred and scaled; no difference exceeds its part of the distance."""
        ruler = self._ruler
        cut = np.clip(rows.numbers, ruler.low, ruler.low + ruler.span)
        return np.ascontiguousarray(((cut - self._centre) / ruler.span * ruler.number_weight).astype(np.float32))

    def _asked(self, queries: Rows) -> _box_tree.Asked:
        bits = np.uint32(1) << (queries.codes & 31).astype(np.uint32)
        return _box_tree.Asked(
            self._scaled(queries), (queries.codes & 255).astype(np.uint8), np.ascontiguousarray(bits)
        )

    def _built(self) -> _box_tree.Tree:
        if self._tree is None:
            self._tree = self._build()
        return self._tree

    def _build(self) -> _box_tree.Tree:
        rows = self._reference.rows
        numbers, codes = self._scaled(rows), np.ascontiguousarray((rows.codes & 255).astype(np.uint8))
        weight = self._ruler.code_weight.astype(np.float32)
        order = np.arange(len(rows))
        begin, end, left = binary_tree(numbers, codes, weight, order, self._threads)
        leaves = np.flatnonzero(left < 0)
        leaves = leaves[np.argsort(begin[leaves], kind="stable")]
        leaf_of = np.full(len(left), -1, dtype=np.int64)
        leaf_of[leaves] = np.arange(len(leaves))
        n_numbers, n_codes = numbers.shape[1], codes.shape[1]
        leaf_numbers = np.full((len(leaves), n_numbers, LEAF), 1e30, dtype=np.float32)
        leaf_codes = np.zeros((len(leaves), n_codes, LEAF), dtype=np.uint8)
        low, high = (np.empty((len(leaves), n_numbers), dtype=np.float32) for _ in range(2))
        masks = np.empty((len(leaves), n_codes), dtype=np.uint32)
        side_by_side(
            lambda x, y: _box_tree.fill_leaves(
                numbers, codes, order, begin[leaves], end[leaves], x, y, leaf_numbers, leaf_codes, low, high, masks
            ),
            len(leaves),
            self._threads,
        )
        every = [np.zeros((len(left), a.shape[1]), dtype=a.dtype) for a in (low, high, masks)]
        for box, of_leaf in zip(every, (low, high, masks), strict=True):
            box[leaves] = of_leaf
        _box_tree.put_together(left, *every)
        return self._wide(
            end - begin, left, leaf_of, every, leaf_numbers, leaf_codes, np.append(begin[leaves], len(rows)), order
        )

    def _wide(
        self, size: Ints, left: Ints, leaf_of: Ints, every: list[Any], leaf_numbers: Any, leaf_codes: Any, first: Ints,
        order: Ints,
    ) -> _box_tree.Tree:  # fmt: skip
        room = len(left) // 2 + 2 + NODE
        child, top, depth = np.full((room, NODE), -1), np.empty(room, np.int64), np.empty(room, np.int64)
        n = _box_tree.widen(size, left, child, top, depth)
        child = child[:n]
        self._room = (int(depth[:n].max()) + 2) * NODE
        is_leaf, is_inner = (child >= 0) & (left[child] < 0), (child >= 0) & (left[child] >= 0)
        numbered = np.full(child.shape, _box_tree.NO_CHILD, dtype=np.int32)
        numbered[is_leaf] = -1 - leaf_of[child[is_leaf]]
        numbered[is_inner] = 1 + np.arange(is_inner.sum())  # in the order in which `widen` met them
        low, high, masks = (np.ascontiguousarray(a[child].transpose(0, 2, 1)) for a in every)
        absent = np.broadcast_to((child < 0)[:, None, :], low.shape)
        low[absent], high[absent] = np.inf, -np.inf
        return _box_tree.Tree(
            low, high, masks, numbered, leaf_numbers, leaf_codes, first, order, self._group,
            self._group_weight.astype(np.float32),
        )  # fmt: skip

    def _query_order(self, asked: _box_tree.Asked) -> Ints:
        """Return an order in which queries that take similar paths through the tree are adjacent."""
        n = len(asked.codes)
        if n < 200_000:
            return np.arange(n)
        key = np.zeros(n, dtype=np.uint64)
        for j in range(asked.codes.shape[1]):
            key = key * np.uint64(31) + asked.codes[:, j]
        return np.argsort(key * np.uint64(0x9E3779B97F4A7C15), kind="stable")

    # ------------------------------------------------------------ the scan

    def _sampled(self, queries: Rows, k: int) -> Floats:
        """Return upper limits of the k nearest distances of some queries, from the distances to a sample of rows."""
        n = len(self._reference.rows)
        some = self._reference.rows.take(np.linspace(0, n - 1, min(n, 2048)).astype(np.int64))
        near = np.sort(pairwise(self._ruler, queries, some), axis=1)[:, :k]
        return np.pad(near, ((0, 0), (0, k - near.shape[1])), constant_values=np.inf)

    def _reach(self, distances: Floats, radius: Floats) -> float:
        """Return a sum of terms that few searches exceed."""
        far = radius if len(radius) else distances[:, -1]
        far = far[np.isfinite(far)]
        return float(far.max(initial=0.0)) * self._ruler.total

    def _unit(self, farthest: float) -> float:
        heaviest = max(self._ruler.number_weight.max(initial=0.0), self._group_weight.max(initial=0.0))
        return float(NO_LIMIT / max(heaviest, 1.5 * farthest))

    def _fits(self, distances: Floats, radius: Floats) -> bool:
        """Return whether 16 bits are precise enough: most nearest distances must be many rounding errors long."""
        far = radius if len(radius) else distances[:, -1]
        far = far[np.isfinite(far)]
        if not len(far) or not self._ruler.span.size:
            return True
        slack = self._ruler.span.size + 2
        # the 90% quantile: exact copies have distance 0 and need no resolution
        return (
            float(np.quantile(far, 0.9)) * self._ruler.total * self._unit(self._reach(distances, radius)) >= 20 * slack
        )

    def _packed(self, queries: Rows, farthest: float) -> _brute_force.Tiles:
        ruler, rows = self._ruler, self._reference.rows
        unit = self._unit(farthest)
        gaps = np.isnan(rows.numbers).any(axis=0) | np.isnan(queries.numbers).any(axis=0)
        columns = np.argsort(gaps, kind="stable")
        scale = ruler.number_weight * unit / ruler.span

        def in_units(numbers: Floats) -> NDArray[np.int16]:
            cut = np.clip(numbers, ruler.low, ruler.low + ruler.span) - ruler.low
            whole = np.where(np.isnan(cut), MISSING, np.rint(cut * scale))
            return np.ascontiguousarray(whole.astype(np.int16)[:, columns])

        return _brute_force.Tiles(
            _tiled(in_units(rows.numbers)), _tiled((rows.codes & 255).astype(np.uint8)),
            in_units(queries.numbers), np.ascontiguousarray((queries.codes & 255).astype(np.uint8)),
            self._group, np.minimum(np.floor(self._group_weight * unit), NO_LIMIT).astype(np.int16),
            int((~gaps).sum()), unit * ruler.total, ruler.span.size + 2,
        )  # fmt: skip


def _several(
    work: Callable[[int, int], tuple[Ints, Ints]], parts: list[tuple[int, int]]
) -> list[tuple[int, tuple[Ints, Ints]]]:
    return [(b - a, work(a, b)) for a, b in parts]


def _handfuls(parts: Iterator[tuple[int, int]], n: int | None, step: int) -> Iterator[list[tuple[int, int]]]:
    """Yield up to n lists of parts with at least about 256 queries each, so that scheduling costs little."""
    each = max(1, 256 // step)
    given = 0
    while n is None or given < n:
        some = list(islice(parts, each))
        if not some:
            return
        yield some
        given += 1


def _listed(
    part: Callable[[int, int, Ints, Ints], tuple[int, int]], listing: bool
) -> Callable[[int, int], tuple[Ints, Ints]]:
    """Return a search of queries[a:b] that returns its pairs, however many there are."""

    def search(a: int, b: int) -> tuple[Ints, Ints]:
        room, pairs = 2**14 if listing else 0, []
        while a < b:
            query, row = np.empty(room, dtype=np.int64), np.empty(room, dtype=np.int64)
            n, following = part(a, b, query, row)
            if following == a:
                room *= 4
            pairs.append((query[:n], row[:n]))
            a = following
        return _joined(pairs)

    return search


def _joined(pairs: list[tuple[Ints, Ints]]) -> tuple[Ints, Ints]:
    return np.concatenate([q for q, _ in pairs]), np.concatenate([r for _, r in pairs])


def _short_groups(ruler: Ruler) -> tuple[Ints, Floats]:
    """Return the groups of equal weight, split so that a byte can count the mismatches of each."""
    bounds, weights = ruler.groups()
    starts, out = [], []
    for first, last, weight in zip(bounds[:-1], bounds[1:], weights, strict=True):
        for start in range(first, last, _GROUP):
            starts.append(start)
            out.append(weight)
    return np.append(starts, bounds[-1]).astype(np.int64), np.array(out, dtype=np.float64)


def _median(values: Floats) -> float:
    values = values[~np.isnan(values)]
    return float(np.median(values)) if len(values) else 0.0


def _tiled(columns: NDArray[Any]) -> NDArray[Any]:
    """Return rows as tiles of 128, column by column; the last tile is padded with zeros."""
    n, d = columns.shape
    whole = np.zeros((-(-n // TILE) * TILE, d), dtype=columns.dtype)
    whole[:n] = columns
    return np.ascontiguousarray(whole.reshape(-(-n // TILE), TILE, d).transpose(0, 2, 1))
