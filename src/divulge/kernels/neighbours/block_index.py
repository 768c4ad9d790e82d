"""Exact nearest neighbours in a reference that is not in memory: blocks of rows, each with a tree of its own.

Rows that are alike come into one block (`_routing`). A query is searched in the block it would belong to itself; the
distance found there is the limit of the search in all other blocks, most of which lie beyond it. A block is written
to a file when it is first needed (its distinct rows and their tree) and mapped after that, so that one block at a time
is in memory. Queries come in blocks, too. Distances, lowest row numbers and ties equal those of one `Index` over all
rows, to the last bit, whatever the sizes of the blocks.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from divulge.core.errors import SettingError
from divulge.kernels._box_tree import Tree
from divulge.kernels.neighbours._block_files import BlockFile, BlockFolder
from divulge.kernels.neighbours._compiled import CompiledIndex, SharedQueries
from divulge.kernels.neighbours._reached import listed_up_to, reach_of
from divulge.kernels.neighbours._routing import Routing, fit_routing
from divulge.kernels.neighbours.distinct import Distinct, Progress, unheard
from divulge.kernels.neighbours.gower import Floats, Rows, Ruler
from divulge.kernels.neighbours.index import CREDIT, Index
from divulge.kernels.neighbours.nearest import Listed, Nearest, Reach
from divulge.kernels.runtime import has_loops

__all__ = ["BlockIndex", "RowSource"]

Ints = NDArray[np.int64]

_NONE = np.empty(0, dtype=np.int64)
_TREELESS = ("numpy", "tiles")
_SAMPLED = 50_000  # rows at most from which the blocks are chosen


class RowSource(Protocol):
    """Rows that are made when they are asked for; `Rows` are such a source."""

    def __len__(self) -> int:
        """Return the number of rows."""

    def part(self, first: int, last: int) -> Rows:
        """Return the rows from one number to before another."""

    def take(self, rows: Ints) -> Rows:
        """Return some of the rows."""


class _Block(NamedTuple):
    """One block of the reference."""

    number: int
    rows: Ints
    """Its rows, ascending."""
    searched: Index


class BlockIndex:
    """Reference rows in blocks, prepared for search; what it finds is what `Index` finds.

    Parameters
    ----------
    ruler, reference
        Rows on the ruler; at least one.
    folder
        Where a folder with the blocks is made; it is removed with this object.
    block_rows, query_rows
        Rows of a block of the reference, about, and of one of the queries; None takes as many for the queries.
    threads, engine, progress
        As for `Index`.

    Raises
    ------
    SettingError
        The reference has no rows.

    Examples
    --------
    >>> import tempfile
    >>> from divulge.kernels.neighbours.gower import Field, fit_ruler
    >>> people, asked = np.array([1.0, 5.0, 5.0, 11.0]), np.array([4.0, 8.0])
    >>> marks = np.zeros(4, np.int32), np.zeros(2, np.int32)
    >>> ruler, (reference, queries) = fit_ruler([Field("x", (people, asked), marks)], ranges_of=[0])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     found = BlockIndex(ruler, reference, Path(folder), block_rows=2).nearest(queries)
    >>> found.distances.ravel().tolist(), found.rows.ravel().tolist(), found.n_ties.tolist()
    ([0.1, 0.3], [1, 1], [2, 3])
    """

    def __init__(
        self,
        ruler: Ruler,
        reference: RowSource,
        folder: Path,
        *,
        block_rows: int,
        query_rows: int | None = None,
        threads: int | None = None,
        engine: str | None = None,
        progress: Progress = lambda done, total: None,
    ) -> None:
        if not len(reference):
            raise SettingError("neighbours: the reference table has no rows. hint: pass a table with rows.")
        self.ruler, self.n_rows = ruler, len(reference)
        self._reference, self._block_rows, self._query_rows = reference, block_rows, query_rows or block_rows
        self._threads, self._engine, self._progress = threads, engine, progress
        self._folder = BlockFolder(folder)
        self._files: dict[int, BlockFile] = {}
        self._routed: tuple[Routing, NDArray[Any]] | None = None
        self._shared = SharedQueries()
        self._asked: tuple[RowSource, Nearest] | None = None
        self._numbered: tuple[Ints, Distinct] | None = None

    def nearest(self, queries: RowSource, k: int = 1, *, own: Ints | None = None) -> Nearest:
        """Return the k nearest reference rows of each query; the nearest rows of the last queries are cached.

        Parameters
        ----------
        queries, k, own
            As for `Index.nearest`.
        """
        if k < 1:
            raise SettingError(f"k: {k} is below 1. hint: 1 is the nearest alone.")
        if k > 1 or own is not None:
            return self._nearest(queries, k, own)
        if self._asked is None or self._asked[0] is not queries:
            self._asked = queries, self._nearest(queries, 1, None)
        return self._asked[1]

    def count_within(self, queries: RowSource, radius: float | Floats) -> Ints:
        """Return how many reference rows lie at most `radius` from each query (one radius, or one each)."""
        out = np.zeros(len(queries), dtype=np.int64)
        limits = np.broadcast_to(np.asarray(radius, dtype=np.float64), (len(queries),))
        for first, last in _parts(len(queries), self._query_rows):
            rows = queries.part(first, last)
            for block in self._blocks():
                out[first:last] += block.searched.count_within(rows, limits[first:last])
        return out

    def attraction(
        self, queries: RowSource, chosen: NDArray[np.bool_] | None = None, closer_than: Floats | None = None
    ) -> Floats:
        """Return how many queries each reference row attracts: the queries whose nearest row it is, ties shared.

        Parameters
        ----------
        queries, chosen, closer_than
            As for `Index.attraction`.
        """
        found = self.nearest(queries)
        credit = int(CREDIT) // np.maximum(found.n_ties, 1)
        if chosen is not None:
            credit = credit * chosen
        total = np.zeros(self.n_rows, dtype=np.int64)
        alone = np.flatnonzero((found.n_ties == 1) & (credit > 0))
        row = found.rows[alone, 0]
        near = slice(None) if closer_than is None else found.distances[alone, 0] < closer_than[row]
        np.add.at(total, row[near], credit[alone[near]])
        for first, last in _parts(len(queries), self._query_rows):
            shared = first + np.flatnonzero((found.n_ties[first:last] > 1) & (credit[first:last] > 0))
            if len(shared):
                self._share(queries.part(first, last).take(shared - first), found.take(shared), credit[shared],
                            closer_than, total)  # fmt: skip
        return total / CREDIT

    @property
    def distinct(self) -> Distinct:
        """The distinct reference rows as `reach` numbers them; see there."""
        return self._distinct()[1]

    def reach(self, queries: Rows | Distinct, k: int) -> Reach:
        """Return for each distinct query the distances of its k nearest rows, and how many rows are within them.

        As `Index.reach`, but that distinct reference rows are numbered block by block. Their values, the distinct row
        of each row, and how many rows it stands for are in files.

        Parameters
        ----------
        queries, k
            As for `Index.reach`.
        """
        if k < 1:
            raise SettingError(f"k: {k} is below 1. hint: 1 is the nearest alone.")
        asked = Distinct.of(queries)
        begin, reference = self._distinct()
        n = len(asked.rows)
        far, nearest, beyond = np.full((n, k), np.inf), np.full((n, k), -1, dtype=np.int64), np.zeros(n, dtype=np.int64)
        for first, last in _parts(n, self._query_rows):
            part = slice(first, last)
            found = self._distinct_of_part(asked.rows.part(first, last), k, begin, reference.times)
            far[part], nearest[part], beyond[part] = found
            self._progress(last, n)
        return reach_of(asked, reference, far, nearest, beyond)

    def up_to(self, reach: Reach, which: Ints | None = None) -> Iterator[Listed]:
        """Yield all distinct reference rows up to and including the k-th distance, in parts that fit into memory.

        Parameters
        ----------
        reach, which
            As for `Index.up_to`.
        """
        return listed_up_to(reach, which, self._pairs)

    def _share(self, rows: Rows, found: Nearest, credit: Ints, closer_than: Floats | None, total: Ints) -> None:
        """Add to the total of each reference row the credit of the queries whose nearest distance it has."""
        asked = Distinct.of(rows)
        if asked.of_row is not None:
            found, credit = found.take(asked.first()), np.add.reduceat(credit[asked.members], asked.start[:-1])
        for block in self._blocks():
            limits = None if closer_than is None else closer_than[block.rows]
            total[block.rows] += block.searched.credited(asked.rows, found, credit, limits)

    # ------------------------------------------------------------ distinct rows of all blocks

    def _distinct(self) -> tuple[Ints, Distinct]:
        """Return the number of the first distinct row of each block, and the distinct rows of all blocks.

        Equal rows are in one block. Which rows each stands for is not kept: `start` and `members` are empty.
        """
        if self._numbered is None:
            n_blocks, none, n = self._routing()[0].n_blocks, np.empty(0, dtype=np.int64), 0
            begin, of_row, times = (
                np.zeros(n_blocks + 1, dtype=np.int64),
                self.array(self.n_rows),
                self.array(self.n_rows),
            )
            for block in self._blocks():
                own = block.searched.distinct
                of_row[block.rows] = n + own.of_each
                begin[block.number + 1] = len(own.times)
                times[n : n + len(own.times)] = own.times
                n += len(own.times)
            begin = np.cumsum(begin)
            rows = self._written_rows(begin)
            self._numbered = begin, Distinct(rows, rows, of_row, times[:n], none, none)
        return self._numbered

    def array(self, n: int) -> Ints:
        """Return room for so many whole numbers in a file, which goes with the array."""
        return self._folder.array((n,), np.int64)

    def _written_rows(self, begin: Ints) -> Rows:
        """Return the distinct rows of all blocks, in files."""
        sample, n = self._reference.take(np.zeros(1, dtype=np.int64)), int(begin[-1])
        numbers = self._folder.array((n, sample.numbers.shape[1]), sample.numbers.dtype)
        codes = self._folder.array((n, sample.codes.shape[1]), sample.codes.dtype)
        for block in self._blocks():
            own = slice(begin[block.number], begin[block.number + 1])
            numbers[own], codes[own] = block.searched.distinct.rows.numbers, block.searched.distinct.rows.codes
        return Rows(numbers, codes)

    def _distinct_of_part(self, rows: Rows, k: int, begin: Ints, times: Ints) -> tuple[Floats, Ints, Ints]:
        """Return the k nearest distinct rows of some queries, and how many rows more are as far as the last of them."""
        far, nearest = np.full((len(rows), k), np.inf), np.full((len(rows), k), -1, dtype=np.int64)
        at_last = np.zeros(len(rows), dtype=np.int64)  # rows at the last distance, listed or not
        for block, limits in self._in_turn(rows, far):
            own_far, own, beyond = block.searched.nearest_distinct(rows, k, None, limits)
            some = np.flatnonzero((own[:, 0] >= 0) & (own_far[:, 0] <= limits))
            lists = (far[some], nearest[some]), (own_far[some], np.where(own >= 0, own + begin[block.number], -1)[some])
            numbers, distances = np.hstack([lists[0][1], lists[1][1]]), np.hstack([lists[0][0], lists[1][0]])
            order = np.lexsort((numbers, distances), axis=1)[:, :k]
            kept = np.take_along_axis(distances, order, axis=1)
            ties = []
            for (own_distances, own_numbers), more in zip(lists, (at_last[some], beyond[some]), strict=True):
                there = (own_distances == kept[:, -1:]) & (own_numbers >= 0)
                listed = (there * times[own_numbers]).sum(axis=1)
                ties.append((own_distances[:, -1] == kept[:, -1], listed, more))
            (was, before, all_before), (is_last, here, more_here) = ties
            at_last[some] = np.where(was, all_before, before) + here + np.where(is_last, more_here, 0)
            far[some], nearest[some] = kept, np.take_along_axis(numbers, order, axis=1)
        there = (far == far[:, -1:]) & (nearest >= 0)
        return far, nearest, at_last - (there * times[nearest]).sum(axis=1)

    def _pairs(self, rows: Rows, radius: Floats) -> tuple[Ints, Ints]:
        """Return the pairs (query, distinct row of all blocks) within each query's radius."""
        begin, found = self._distinct()[0], [(_NONE, _NONE)]
        near = dict(self._routing()[0].within(self.ruler, rows, radius))
        for block in self._blocks():
            asked = near.get(block.number, _NONE)
            if len(asked):
                query, row = block.searched.pairs(rows.take(asked), radius[asked])
                found.append((asked[query], row + begin[block.number]))
        query, row = (np.concatenate(each) for each in zip(*found, strict=True))
        return query, row

    # ------------------------------------------------------------ one search

    def _nearest(self, queries: RowSource, k: int, own: Ints | None) -> Nearest:
        out, done = _nothing(len(queries), k), 0
        for first, last in _parts(len(queries), self._query_rows):
            found = self._of_part(queries.part(first, last), k, None if own is None else own[first:last])
            out.distances[first:last], out.rows[first:last], out.n_ties[first:last] = (
                found.distances, found.rows, found.n_ties,
            )  # fmt: skip
            done = last
            self._progress(done, len(queries))
        return out

    def _of_part(self, rows: Rows, k: int, own: Ints | None) -> Nearest:
        """Return the nearest rows of one block of queries."""
        asked = None if own is not None else Distinct.of(rows)
        rows = rows if asked is None else asked.rows
        found = _nothing(len(rows), k)
        for block, limits in self._in_turn(rows, found.distances):
            mine = None if own is None else self._among(block, own)
            some, near = block.searched.nearest_up_to(rows, k, limits, mine)
            _merge(found, some, near, block.rows)
        return found if asked is None or asked.of_row is None else found.take(asked.of_row)

    def _in_turn(self, rows: Rows, far: Floats) -> Iterator[tuple[_Block, Floats]]:
        """Yield the blocks, and up to where each of some rows is searched there: -1 where it is not.

        A row is searched in the block that it would belong to, then in all others.

        Parameters
        ----------
        far
            Shape (n_rows, k): the distances found so far, which the caller writes after each block.
        """
        routing = self._routing()[0]
        home = routing.route(rows)
        for at_home in (True, False):
            which = {} if at_home else dict(routing.within(self.ruler, rows, far[:, -1]))
            for block in self._blocks():
                limits = np.full(len(rows), -1.0)
                asked_here = home == block.number if at_home else which.get(block.number, _NONE)
                limits[asked_here] = far[asked_here, -1]
                if not at_home:
                    limits[home == block.number] = -1.0
                yield block, limits

    def _among(self, block: _Block, rows: Ints) -> Ints:
        """Return the place of some rows of the reference in a block; -1 where they are in another one."""
        here = np.flatnonzero((rows >= 0) & (self._routing()[1][rows] == block.number))
        out = np.full(len(rows), -1)
        out[here] = np.searchsorted(block.rows, rows[here])
        return out

    # ------------------------------------------------------------ blocks

    def _routing(self) -> tuple[Routing, NDArray[Any]]:
        """Return how rows are routed into blocks, and the block of each reference row."""
        if self._routed is None:
            n = self.n_rows
            sample = self._reference.take(np.linspace(0, n - 1, min(n, _SAMPLED)).astype(np.int64))
            routing = fit_routing(self.ruler, sample, n, self._block_rows)
            block_of, gaps = self._folder.array((n,), np.min_scalar_type(routing.n_blocks)), routing.gaps
            for first, last in _parts(n, self._block_rows):
                rows = self._reference.part(first, last)
                block_of[first:last] = routing.route(rows)
                gaps = gaps | np.isnan(rows.numbers).any(axis=0)
            self._routed = routing._replace(gaps=gaps), block_of
        return self._routed

    def _blocks(self) -> Iterator[_Block]:
        """Yield the blocks of the reference; each is written when it is first needed."""
        routing, block_of = self._routing()
        for number in range(routing.n_blocks):
            rows = np.flatnonzero(block_of == number)
            if not len(rows):
                continue
            if number not in self._files:
                self._files[number] = self._written(rows)
            distinct, tree = self._files[number].opened()
            compiled = self._compiled(distinct, tree)
            index = Index(self.ruler, distinct, threads=self._threads, engine=self._engine, compiled=compiled)
            yield _Block(number, rows, index)

    def _written(self, rows: Ints) -> BlockFile:
        distinct = Distinct.of(self._reference.take(rows))
        with_tree = self._engine not in _TREELESS and has_loops(0)
        return self._folder.written(distinct, self._compiled(distinct).built() if with_tree else None)

    def _compiled(self, distinct: Distinct, tree: Tree | None = None) -> CompiledIndex:
        engine = self._engine or "compiled"
        return CompiledIndex(self.ruler, distinct, engine, self._threads, unheard, self._shared, tree)


def _parts(n: int, size: int) -> Iterator[tuple[int, int]]:
    """Yield begin and end of each block of n rows."""
    for first in range(0, n, size):
        yield first, min(first + size, n)


def _nothing(n: int, k: int) -> Nearest:
    """Return the result of a search in no rows."""
    return Nearest(np.full((n, k), np.inf), np.full((n, k), -1, dtype=np.int64), np.zeros(n, dtype=np.int64))


def _merge(found: Nearest, some: Ints, near: Nearest, rows: Ints) -> None:
    """Put the nearest rows of a further block, which some queries have, among those of the blocks before it."""
    if not len(some):
        return
    parts = found.take(some), near
    numbers = np.hstack([parts[0].rows, np.where(near.rows >= 0, rows[near.rows], -1)])
    distances = np.hstack([p.distances for p in parts])
    order = np.lexsort((numbers, distances), axis=1)[:, : near.rows.shape[1]]
    kept = np.take_along_axis(distances, order, axis=1)
    last = kept[:, -1:]
    # a list whose last distance is beyond that of the merged one names all its rows at the latter
    ties = sum(np.where(p.distances[:, -1:] == last, p.n_ties[:, None], (p.distances == last).sum(1, keepdims=True))
               for p in parts)  # fmt: skip
    found.distances[some], found.rows[some] = kept, np.take_along_axis(numbers, order, axis=1)
    found.n_ties[some] = np.where(np.isfinite(last), ties, 0)[:, 0]
