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
from divulge.kernels.neighbours._block_files import ArrayFile, BlockFile, BlockFolder
from divulge.kernels.neighbours._compiled import CompiledIndex, near_each_other
from divulge.kernels.neighbours._near_lists import merge, nothing
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
        self._files: dict[int, tuple[BlockFile, ArrayFile] | None] = {}  # the block, and its rows
        self._routed: tuple[Routing, NDArray[Any]] | None = None
        self._centre: Floats | None = None
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
            order = near_each_other(self.ruler, rows, self._threads)
            rows = rows.take(order)
            for block in self._blocks():
                out[first + order] += block.searched.count_within(rows, limits[first + order])
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
        order = near_each_other(self.ruler, asked.rows, self._threads)
        rows, found, credit = asked.rows.take(order), found.take(order), credit[order]
        for block in self._blocks():
            limits = None if closer_than is None else closer_than[block.rows]
            total[block.rows] += block.searched.credited(rows, found, credit, limits)

    # ------------------------------------------------------------ distinct rows of all blocks

    def _distinct(self) -> tuple[Ints, Distinct]:
        """Return the number of the first distinct row of each block, and the distinct rows of all blocks.

        Equal rows are in one block. Which rows each stands for is not kept: `start` and `members` are empty.
        """
        if self._numbered is None:
            n_blocks, none, n = self._routing()[0].n_blocks, np.empty(0, dtype=np.int64), 0
            begin, of_row, times = (
                np.zeros(n_blocks + 1, dtype=np.int64),
                self.array((self.n_rows,), np.int64),
                self.array((self.n_rows,), np.int64),
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

    def array(self, shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
        """Return an array of zeros in a file, which goes with the array."""
        return self._folder.array(shape, dtype)

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
        order = near_each_other(self.ruler, rows, self._threads)
        rows, found = rows.take(order), nothing(len(rows), k)
        for block, which, limits in self._in_turn(rows, found.distances):
            far, own, beyond = block.searched.nearest_distinct(rows.take(which), k, None, limits)
            there = (far == far[:, -1:]) & (own >= 0)
            at_last = (there * block.searched.distinct.times[own]).sum(axis=1) + beyond
            more = Nearest(far, np.where(own >= 0, own + begin[block.number], -1), at_last)
            merge(found, which, more, times, self._threads)
        there = (found.distances == found.distances[:, -1:]) & (found.rows >= 0)
        beyond = found.n_ties - (there * times[found.rows]).sum(axis=1)
        back = np.argsort(order)
        return found.distances[back], found.rows[back], beyond[back]

    def _pairs(self, rows: Rows, radius: Floats) -> tuple[Ints, Ints]:
        """Return the pairs (query, distinct row of all blocks) within each query's radius."""
        begin, found = self._distinct()[0], [(_NONE, _NONE)]
        order = near_each_other(self.ruler, rows, self._threads)
        rows, radius = rows.take(order), radius[order]
        near = dict(self._routing()[0].within(self.ruler, rows, radius))
        for block in self._blocks():
            asked = near.get(block.number, _NONE)
            if len(asked):
                query, row = block.searched.pairs(rows.take(asked), radius[asked])
                found.append((order[asked[query]], row + begin[block.number]))
        query, row = (np.concatenate(each) for each in zip(*found, strict=True))
        return query, row

    # ------------------------------------------------------------ one search

    def _nearest(self, queries: RowSource, k: int, own: Ints | None) -> Nearest:
        n = len(queries)
        if n <= self._query_rows:  # nothing is copied
            found = self._of_part(queries.part(0, n), k, own)
            self._progress(n, n)
            return found
        out = nothing(n, k)
        for first, last in _parts(n, self._query_rows):
            found = self._of_part(queries.part(first, last), k, None if own is None else own[first:last])
            out.distances[first:last], out.rows[first:last], out.n_ties[first:last] = (
                found.distances, found.rows, found.n_ties,
            )  # fmt: skip
            self._progress(last, n)
        return out

    def _of_part(self, rows: Rows, k: int, own: Ints | None) -> Nearest:
        """Return the nearest rows of one block of queries."""
        asked = None if own is not None else Distinct.of(rows)
        rows = rows if asked is None else asked.rows
        order = near_each_other(self.ruler, rows, self._threads)
        rows, own = rows.take(order), None if own is None else own[order]
        found = nothing(len(rows), k)
        for block, which, limits in self._in_turn(rows, found.distances):
            mine = None if own is None else self._among(block, own[which])
            some, near = block.searched.nearest_up_to(rows.take(which), k, limits, mine)
            numbers = np.where(near.rows >= 0, block.rows[near.rows], -1)
            merge(found, which[some], Nearest(near.distances, numbers, near.n_ties), None, self._threads)
        back = np.argsort(order)
        return found.take(back if asked is None or asked.of_row is None else back[asked.of_row])

    def _in_turn(self, rows: Rows, far: Floats) -> Iterator[tuple[_Block, Ints, Floats]]:
        """Yield the blocks, which rows are searched there, ascending, and up to where each of these.

        A row is searched in the block that it would belong to, then in all others that may have a nearer one.

        Parameters
        ----------
        far
            Shape (n_rows, k): the distances found so far, which the caller writes after each block.
        """
        routing = self._routing()[0]
        home = routing.route(rows)
        for at_home in (True, False):
            which = {} if at_home else dict(routing.within(self.ruler, rows, far[:, -1]))
            for number in range(routing.n_blocks):
                asked = np.flatnonzero(home == number) if at_home else which.get(number, _NONE)
                asked = asked if at_home else asked[home[asked] != number]
                block = self._block(number) if len(asked) else None
                if block is not None:
                    yield block, asked, far[asked, -1]

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
        for number in range(self._routing()[0].n_blocks):
            block = self._block(number)
            if block is not None:
                yield block

    def _block(self, number: int) -> _Block | None:
        """Return a block; None where it has no rows."""
        if number not in self._files:
            rows = np.flatnonzero(self._routing()[1] == number)
            self._files[number] = (self._written(rows), self._folder.put([rows])) if len(rows) else None
        files = self._files[number]
        if files is None:
            return None
        distinct, tree = files[0].opened()
        compiled = self._compiled(distinct, tree)
        index = Index(self.ruler, distinct, threads=self._threads, engine=self._engine, compiled=compiled)
        return _Block(number, files[1].opened()[0], index)

    def _written(self, rows: Ints) -> BlockFile:
        distinct = Distinct.of(self._reference.take(rows))
        with_tree = self._engine not in _TREELESS and has_loops(0)
        return self._folder.written(distinct, self._compiled(distinct).built() if with_tree else None)

    def _compiled(self, distinct: Distinct, tree: Tree | None = None) -> CompiledIndex:
        """Return the search of a block; all blocks centre their numbers alike."""
        engine = self._engine or "compiled"
        made = CompiledIndex(self.ruler, distinct, engine, self._threads, unheard, tree, self._centre, in_order=True)
        self._centre = made.centre
        return made


def _parts(n: int, size: int) -> Iterator[tuple[int, int]]:
    """Yield begin and end of each block of n rows."""
    for first in range(0, n, size):
        yield first, min(first + size, n)
