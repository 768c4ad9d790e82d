"""The compiled searches of `Index`: prepares the arrays, chooses the box tree or the brute force scan, runs threads.

A probe of 64 queries is searched through the tree. If it visits a large share of the leaves, the tree prunes little and
the scan is used instead, unless the nearest distances are too short for 16 bits.
"""

from __future__ import annotations

import os
import threading
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from divulge.kernels import _box_tree
from divulge.kernels._box_tree import LEAF, NODE
from divulge.kernels._native.library import Filled, Kernel
from divulge.kernels._tree import binary_tree
from divulge.kernels.neighbours import _brute_force
from divulge.kernels.neighbours._brute_force import MISSING, NO_LIMIT, TILE
from divulge.kernels.neighbours._parts import in_parts
from divulge.kernels.neighbours.distinct import Distinct, Progress
from divulge.kernels.neighbours.gower import Floats, Rows, Ruler, pairwise
from divulge.kernels.runtime import IN_CACHE, side_by_side

__all__ = ["CompiledIndex", "near_each_other"]

Ints = NDArray[np.int64]

_PROBE = 64
_PRUNED = 0.12  # share of visited leaves above which the scan is used; start value
_GROUP = 255  # mismatches that a byte can count
_SCANNED = 256  # queries that one call scans
_ORDERED = 20_000  # queries from which their order is worth a tree of their own
_SAMPLED = 20_000  # rows at most from which the medians come


class CompiledIndex:
    """Distinct reference rows, prepared for compiled search.

    Parameters
    ----------
    tree
        That of these rows, if it is built.
    centre
        Shape (n_numbers,): where the tree centres its numbers; None takes the medians.
    in_order
        Whether queries come in an order in which adjacent ones take similar paths through the tree.
    """

    def __init__(
        self,
        ruler: Ruler,
        reference: Distinct,
        engine: str,
        threads: int | None,
        progress: Progress,
        tree: _box_tree.Tree | None = None,
        centre: Floats | None = None,
        in_order: bool = False,
    ) -> None:
        self._ruler, self._reference, self._engine = ruler, reference, engine
        self._threads, self._progress = threads or os.cpu_count() or 1, progress
        self._group, self._group_weight = _short_groups(ruler)
        self._tree, self._building, self._in_order = tree, threading.Lock(), in_order
        if centre is None:
            numbers = reference.rows.numbers[:: 1 + len(reference.rows) // _SAMPLED]
            centre = np.array([_median(column) for column in numbers.T])
        self.centre = centre

    def nearest(
        self, queries: Rows, k: int, own: Ints | None, limits: Floats | None = None
    ) -> tuple[Floats, Ints, Ints]:
        """Return distances and distinct rows, shapes (n, k), and how many rows beyond them tie with the last.

        Rows beyond the limit of a query, shape (n,), are not looked for; one with a negative limit is not asked.
        """
        limits = np.full(len(queries), np.inf) if limits is None else limits
        distance, row, beyond, _ = self._run(queries, k, np.ascontiguousarray(limits), own, listing=False)
        return distance, row, beyond

    def within(self, queries: Rows, radius: Floats, own: Ints | None, listing: bool) -> tuple[Ints, tuple[Ints, Ints]]:
        """Return how many rows lie within the radius of each query, and the pairs (query, distinct row) if wanted."""
        _, _, counts, found = self._run(queries, 0, np.ascontiguousarray(radius, dtype=np.float64), own, listing)
        return counts, found

    def walked(self, queries: Rows) -> tuple[Filled, Filled, Ints, Ints]:
        """Return tree and queries as `TREE` and `BOX_QUERIES` for another loop, and the order of rows and of queries.

        The rows are in the order of the tree, and the queries in that of a tree of their own: adjacent ones are near.
        """
        tree, asked = self.built(), self._asked(queries)
        return tree.filled(), asked.filled(), tree.order, self._near_each_other(asked)

    def in_boxes(self, queries: Rows) -> tuple[_box_tree.BoxQueries, Ints]:
        """Return queries as the tree takes them, and an order in which adjacent ones are near."""
        asked = self._asked(queries)
        return asked, self._near_each_other(asked)

    # ------------------------------------------------------------ one search

    def _run(
        self, queries: Rows, k: int, radius: Floats, own: Ints | None, listing: bool
    ) -> tuple[Floats, Ints, Ints, tuple[Ints, Ints]]:
        n = len(queries)
        asked_for = np.flatnonzero(radius >= 0)
        out = _Found(np.full((n, k), np.inf), np.full((n, k), -1, dtype=np.int64), np.zeros(n, dtype=np.int64))
        e = self._exact(queries, own).filled()
        if not len(asked_for):
            return *out, _joined([(asked_for, asked_for)])
        probe = asked_for[np.linspace(0, len(asked_for) - 1, min(_PROBE, len(asked_for))).astype(np.int64)]
        if self._engine != "tiles":
            tree, asked = self.built(), self._asked(queries)
            given = tree.filled(), asked.filled(), e
            share = _visited(given, out, probe, radius) / (len(probe) * (len(tree.first) - 1))
            far = self._far(out, probe, radius)
            if self._engine == "boxes" or share <= _PRUNED or not self._fits(far):
                step = max(64, min(4096, len(asked_for) // (8 * self._threads)))
                order = self._query_order(asked)
                found = self._threaded(_box_tree.search, given, out, order[radius[order] >= 0], radius, listing, step)
                return *out, found
        else:
            out.distance[probe] = self._sampled(queries.take(probe), k)
        farthest = self._reach(self._far(out, probe, radius))
        out.distance[probe] = np.inf
        tiles = self._packed(queries, farthest).filled()
        found = self._threaded(_brute_force.scan, (tiles, e), out, asked_for, radius, listing, _SCANNED)
        return *out, found

    def _threaded(
        self,
        kernel: Kernel,
        given: tuple[Filled, ...],
        out: _Found,
        order: Ints,
        radius: Floats,
        listing: bool,
        step: int,
    ) -> tuple[Ints, Ints]:
        """Search the queries in parts of `step`; an interrupt ends running parts and cancels the others."""
        stop = np.zeros(1, dtype=np.int32)
        asked = _asked_of(out, order, radius, listing, stop)

        def part(a: int, b: int) -> tuple[Ints, Ints]:
            return _listed(kernel, (*given, asked), a, b, listing)

        return _joined(in_parts(part, len(order), step, self._threads, self._progress, stop))

    def _exact(self, queries: Rows, own: Ints | None) -> _box_tree.Exact:
        rows, ruler = self._reference.rows, self._ruler
        bounds, weights = ruler.groups()
        return _box_tree.Exact(
            np.ascontiguousarray(queries.numbers), np.ascontiguousarray(queries.codes),
            np.ascontiguousarray(rows.numbers), np.ascontiguousarray(rows.codes),
            ruler.rate, ruler.number_weight, bounds, weights, np.ascontiguousarray(self._reference.times),
            np.full(len(queries), -1, dtype=np.int64) if own is None else np.ascontiguousarray(own, dtype=np.int64),
            ruler.total, ruler.cap, ruler.split,
        )  # fmt: skip

    # ------------------------------------------------------------ the tree

    def _scaled(self, rows: Rows) -> NDArray[np.float32]:
        return _scaled(self._ruler, self.centre, rows, self._threads)

    def _asked(self, queries: Rows) -> _box_tree.BoxQueries:
        return _box_tree.BoxQueries(self._scaled(queries), _bytes(queries))

    def built(self) -> _box_tree.Tree:
        """Return the tree, built on first use."""
        with self._building:
            if self._tree is None:
                self._tree = self._build()
            return self._tree

    def _build(self) -> _box_tree.Tree:
        rows = self._reference.rows
        numbers, codes = self._scaled(rows), _bytes(rows)
        weight = self._ruler.code_weight.astype(np.float32)
        order = np.arange(len(rows))
        begin, end, left = binary_tree(numbers, codes, weight, order, self._threads)
        rows_in_order = _box_tree.rows_of(numbers, codes, weight, order)
        leaves = np.flatnonzero(left < 0)
        leaves = leaves[np.argsort(begin[leaves], kind="stable")]
        leaf_of = np.full(len(left), -1, dtype=np.int64)
        leaf_of[leaves] = np.arange(len(leaves))
        n_numbers, n_codes = numbers.shape[1], codes.shape[1]
        leaf_numbers = np.full((len(leaves), n_numbers, LEAF), 1e30, dtype=np.float32)
        leaf_codes = np.zeros((len(leaves), n_codes, LEAF), dtype=np.uint8)
        low, high = (np.empty((len(leaves), n_numbers), dtype=np.float32) for _ in range(2))
        masks = np.empty((len(leaves), n_codes), dtype=np.uint32)
        first, last = begin[leaves], end[leaves]
        side_by_side(
            lambda x, y: _box_tree.fill_leaves(
                rows_in_order, first, last, x, y, leaf_numbers, leaf_codes, low, high, masks
            ),
            len(leaves),
            self._threads,
        )
        every = [np.zeros((len(left), a.shape[1]), dtype=a.dtype) for a in (low, high, masks)]
        for box, of_leaf in zip(every, (low, high, masks), strict=True):
            box[leaves] = of_leaf
        _box_tree.put_together(left, len(left), n_numbers, n_codes, *every)
        return self._wide(
            end - begin, left, leaf_of, every, leaf_numbers, leaf_codes, np.append(first, len(rows)), order
        )

    def _wide(
        self, size: Ints, left: Ints, leaf_of: Ints, every: list[Any], leaf_numbers: Any, leaf_codes: Any, first: Ints,
        order: Ints,
    ) -> _box_tree.Tree:  # fmt: skip
        room = len(left) // 2 + 2 + NODE
        child, top, depth = np.full((room, NODE), -1), np.empty(room, np.int64), np.empty(room, np.int64)
        n = _box_tree.widen(size, left, child, top, depth)
        child = child[:n]
        is_leaf, is_inner = (child >= 0) & (left[child] < 0), (child >= 0) & (left[child] >= 0)
        numbered = np.full(child.shape, _box_tree.NO_CHILD, dtype=np.int32)
        numbered[is_leaf] = -1 - leaf_of[child[is_leaf]]
        numbered[is_inner] = 1 + np.arange(is_inner.sum())  # in the order in which `widen` met them
        low, high, masks = (np.ascontiguousarray(a[child].transpose(0, 2, 1)) for a in every)
        absent = np.broadcast_to((child < 0)[:, None, :], low.shape)
        low[absent], high[absent] = np.inf, -np.inf
        return _box_tree.Tree(
            low, high, masks, numbered, leaf_numbers, leaf_codes, first, order, self._group,
            self._group_weight.astype(np.float32), (int(depth[:n].max()) + 2) * NODE,
        )  # fmt: skip

    def _query_order(self, asked: _box_tree.BoxQueries) -> Ints:
        """Return an order in which queries that take similar paths through the tree are adjacent, where that pays."""
        if self._in_order or len(asked.codes) < _ORDERED:
            return np.arange(len(asked.codes))
        return self._near_each_other(asked)

    def _near_each_other(self, asked: _box_tree.BoxQueries) -> Ints:
        return _order_of(self._ruler, asked, self._threads)

    # ------------------------------------------------------------ the scan

    def _sampled(self, queries: Rows, k: int) -> Floats:
        """Return upper limits of the k nearest distances of some queries, from the distances to a sample of rows."""
        n = len(self._reference.rows)
        some = self._reference.rows.take(np.linspace(0, n - 1, min(n, 2048)).astype(np.int64))
        near = np.sort(pairwise(self._ruler, queries, some), axis=1)[:, :k]
        return np.pad(near, ((0, 0), (0, k - near.shape[1])), constant_values=np.inf)

    def _far(self, out: _Found, probe: Ints, radius: Floats) -> Floats:
        """Return the distances beyond which a search looks for nothing, as far as they are known."""
        far = np.minimum(out.distance[probe, -1], radius[probe]) if out.distance.shape[1] else radius
        return far[np.isfinite(far)]

    def _reach(self, far: Floats) -> float:
        """Return a sum of terms that few searches exceed."""
        return float(far.max(initial=0.0)) * self._ruler.total

    def _unit(self, farthest: float) -> float:
        heaviest = max(self._ruler.number_weight.max(initial=0.0), self._group_weight.max(initial=0.0))
        return float(NO_LIMIT / max(heaviest, 1.5 * farthest))

    def _fits(self, far: Floats) -> bool:
        """Return whether 16 bits are precise enough: most nearest distances must be many rounding errors long."""
        if not len(far) or not self._ruler.span.size:
            return True
        slack = self._ruler.span.size + 2
        # the 90% quantile: exact copies have distance 0 and need no resolution
        return float(np.quantile(far, 0.9)) * self._ruler.total * self._unit(self._reach(far)) >= 20 * slack

    def _packed(self, queries: Rows, farthest: float) -> _brute_force.Tiles:
        ruler, rows = self._ruler, self._reference.rows
        unit = self._unit(farthest)
        gaps = np.isnan(rows.numbers).any(axis=0) | np.isnan(queries.numbers).any(axis=0)
        scale = ruler.number_weight * unit / ruler.span
        # columns with gaps last; else those that tell rows apart best first, so that few columns are enough
        some = rows.numbers[:: 1 + len(rows) // _SAMPLED]
        some = np.where(np.isnan(some), self.centre, np.clip(some, ruler.low, ruler.low + ruler.span))
        columns = np.lexsort((-((some - ruler.low) * scale).std(axis=0), gaps))

        def in_units(numbers: Floats) -> NDArray[np.int16]:
            out = np.empty(numbers.shape, dtype=np.int16)

            def part(a: int, b: int) -> None:
                cut = np.clip(numbers[a:b, columns], ruler.low[columns], (ruler.low + ruler.span)[columns])
                whole = np.rint((cut - ruler.low[columns]) * scale[columns])
                out[a:b] = np.where(np.isnan(cut), MISSING, whole)

            side_by_side(part, len(numbers), self._threads, IN_CACHE)
            return out

        return _brute_force.Tiles(
            _tiled(in_units(rows.numbers)), _tiled(_bytes(rows)), in_units(queries.numbers), _bytes(queries),
            self._group, np.minimum(np.floor(self._group_weight * unit), NO_LIMIT).astype(np.int16),
            unit * ruler.total, ruler.span.size + 2, int((~gaps).sum()),
        )  # fmt: skip


def near_each_other(ruler: Ruler, rows: Rows, threads: int | None) -> Ints:
    """Return an order of queries in which adjacent ones take similar paths through trees; few stay as they are."""
    if len(rows) < _ORDERED:
        return np.arange(len(rows))
    threads = threads or os.cpu_count() or 1
    asked = _box_tree.BoxQueries(_scaled(ruler, ruler.low + ruler.span / 2, rows, threads), _bytes(rows))
    return _order_of(ruler, asked, threads)


def _order_of(ruler: Ruler, asked: _box_tree.BoxQueries, threads: int) -> Ints:
    order = np.arange(len(asked.codes))
    binary_tree(*asked, ruler.code_weight.astype(np.float32), order, threads)
    return order


def _scaled(ruler: Ruler, centre: Floats, rows: Rows, threads: int) -> NDArray[np.float32]:
    """Return the numbers cut to the range, centred and scaled; no difference exceeds its part of the distance."""
    out = np.empty(rows.numbers.shape, dtype=np.float32)

    def part(a: int, b: int) -> None:
        cut = np.clip(rows.numbers[a:b], ruler.low, ruler.low + ruler.span)
        out[a:b] = (cut - centre) / ruler.span * ruler.number_weight

    side_by_side(part, len(rows), threads, IN_CACHE)
    return out


class _Found(NamedTuple):
    """Where the answers of a search go."""

    distance: Floats
    row: Ints
    beyond: Ints


def _asked_of(out: _Found, order: Ints, radius: Floats, listing: bool, stop: NDArray[np.int32]) -> Filled:
    return _box_tree.ASKED(
        queries=order, radius=radius, out_distance=out.distance, out_row=out.row, out_beyond=out.beyond, stop=stop,
        k=out.distance.shape[1], listing=listing,
    )  # fmt: skip


def _visited(given: tuple[Filled, ...], out: _Found, probe: Ints, radius: Floats) -> int:
    """Search a few queries through the tree; return how many leaves that took."""
    done, none = np.zeros(3, dtype=np.int64), np.empty(0, dtype=np.int64)
    asked = _asked_of(out, probe, radius, False, np.zeros(1, dtype=np.int32))
    _box_tree.search(*given, asked, _box_tree.PAIRS(query=none, row=none, room=0), 0, len(probe), done)
    return int(done[2])


def _listed(kernel: Kernel, given: tuple[Filled, ...], a: int, b: int, listing: bool) -> tuple[Ints, Ints]:
    """Search queries[a:b]; return the pairs, however many there are."""
    room, pairs, done = 2**14 if listing else 0, [], np.zeros(3, dtype=np.int64)
    while a < b:
        query, row = np.empty(room, dtype=np.int64), np.empty(room, dtype=np.int64)
        kernel(*given, _box_tree.PAIRS(query=query, row=row, room=room), a, b, done)
        n, following = int(done[0]), int(done[1])
        if following == a:
            room *= 4
        pairs.append((query[:n], row[:n]))
        a = following
    return _joined(pairs)


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


def _bytes(rows: Rows) -> NDArray[np.uint8]:
    """Return the codes mod 256."""
    return np.ascontiguousarray(rows.codes.astype(np.uint8))


def _median(values: Floats) -> float:
    values = values[np.isfinite(values)]
    return float(np.median(values)) if len(values) else 0.0


def _tiled(columns: NDArray[Any]) -> NDArray[Any]:
    """Return rows as tiles of 128, column by column; the last tile is padded with zeros."""
    n, d = columns.shape
    whole = np.zeros((-(-n // TILE) * TILE, d), dtype=columns.dtype)
    whole[:n] = columns
    return np.ascontiguousarray(whole.reshape(-(-n // TILE), TILE, d).transpose(0, 2, 1))
