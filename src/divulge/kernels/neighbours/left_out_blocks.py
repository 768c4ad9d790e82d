"""Prediction of several columns, each from the nearest rows on the other columns, in a reference not in memory.

As `leave_one_out`, but that the reference rows are in blocks, each with a tree of its own in a file. A query is
searched in the block that it would belong to itself, then in all others. Of each query and column the rows up to the
k-th distance so far are carried from block to block: their distances, and the votes of each value; the k-th distance is
the limit of the next search. What is carried of the last block answers. Votes are whole numbers and distances do not
depend on the tree, so that answers are those of one tree to the last bit, whatever the blocks. One block at a time is
mapped, and the queries come in batches.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from divulge.kernels._box_tree import BOX_QUERIES, TREE, BoxQueries, Tree
from divulge.kernels._native.library import Filled, Kernel, Struct
from divulge.kernels.neighbours._block_files import ArrayFile, BlockFolder
from divulge.kernels.neighbours._compiled import CompiledIndex
from divulge.kernels.neighbours._left_out import (
    ANSWERS,
    ASKING,
    FOUND,
    LEFT_OUT,
    LeftOut,
    filled,
    in_lanes,
    in_order,
    lanes,
)
from divulge.kernels.neighbours._parts import in_parts
from divulge.kernels.neighbours._routing import Routing, fit_routing
from divulge.kernels.neighbours.block_index import RowSource
from divulge.kernels.neighbours.distinct import Distinct, Progress, unheard
from divulge.kernels.neighbours.gower import Rows, Ruler
from divulge.kernels.neighbours.knn_vote import Answered

__all__ = ["Blocks", "RowsToVote", "answers_in_blocks"]

Ints = NDArray[np.int64]
Codes = NDArray[np.int32]

_SAMPLED = 50_000  # rows at most from which the blocks are chosen
_CARRIED = 2**27  # bytes of what is carried of a batch of queries, about
_ENTRY = 20  # bytes of an entry
_CHUNK = 256  # queries whose entries are one list

_CARRIED_SO_FAR = Struct(start="i8*", far="f8*", place="i4*", votes="i8*")
_FOLLOWING = Struct(count="i8!", far="f8!", place="i4!", votes="i8!", done="i8!", room="i8")
_block = Kernel(
    "left_out_block", TREE, BOX_QUERIES, ASKING, LEFT_OUT, _CARRIED_SO_FAR, _FOLLOWING, "u1*", "i8", "i8"
)  # fmt: skip
_answers = Kernel("left_out_answers", ASKING, LEFT_OUT, _CARRIED_SO_FAR, ANSWERS, "i8", "i8")


class RowsToVote(NamedTuple):
    """Reference rows that are made when they are asked for."""

    rows: RowSource
    """The rows with all columns, on the ruler; at least one."""
    codes: Callable[[Ints], Codes]
    """Gives codes of some rows, shape (n, n_codes); rows with the same codes are equal in every column."""
    places: Callable[[Ints], Codes]
    """Gives the places of their values, shape (n, n_columns_left_out)."""


class Blocks(NamedTuple):
    """How the reference and the queries are divided."""

    folder: Path
    """Where a folder with the blocks is made; it is removed at the end."""
    block_rows: int
    """Rows of a block of the reference, about."""
    query_rows: int | None = None
    """Queries of a batch; None takes as many as 128 MB of carried rows allow."""
    threads: int | None = None


class _Carried(NamedTuple):
    """What is carried of some queries, for each query and search."""

    start: Ints
    far: NDArray[np.float64]
    place: Codes
    votes: Ints


class _Block(NamedTuple):
    """One block in its file."""

    file: ArrayFile
    depth: int

    def opened(self) -> tuple[Filled, dict[str, Any], Codes]:
        """Return the tree, what is asked of the rows, and the places of their values; all read the file."""
        *tree, numbers, codes, times, place = self.file.opened()
        of_rows = {"reference_numbers": numbers, "reference_codes": codes, "times": times}
        names = [name for name in Tree._fields if name not in ("order", "depth")]
        none = np.empty(0, dtype=np.int64)  # the rows are in the order of the tree
        whole = Tree(**dict(zip(names, tree, strict=True)), order=none, depth=self.depth)
        return whole.filled(), of_rows, place


def answers_in_blocks(
    ruler: Ruler,
    reference: RowsToVote,
    queries: Distinct,
    left_out: Sequence[LeftOut],
    k: int,
    blocks: Blocks,
    progress: Progress = unheard,
    wanted: Sequence[str] = FOUND,
) -> list[Answered]:
    """Return what `answers_without` returns, by compiled loops, with one block of the reference at a time in memory.

    A reference in which every row is repeated equally often counts once.

    Parameters
    ----------
    ruler, queries, k, wanted
        As for `answers_without`.
    left_out
        The columns; the values of the reference rows are those of `reference`.

    Raises
    ------
    SizeError
        The disk is full.
    """
    work = _Work(ruler, reference, queries, left_out, k, blocks)
    found = [Answered(*(np.empty(len(queries) * (name in wanted)) for name in FOUND)) for _ in left_out]
    n, step = len(queries.times), work.query_rows()
    for first in range(0, n, step):
        batch = work.batch(first, min(first + step, n))
        work.answer(batch, work.carried(batch, partial(_told, progress, batch, n)), found)
    work.folder.remove()
    return found


class _Batch(NamedTuple):
    """Some of the queries, in the order of the search."""

    first: int
    asked: BoxQueries
    numbers: NDArray[np.float64]
    codes: Codes
    home: NDArray[np.int32]
    """The block that each would belong to."""
    people: Ints
    """The people for whom they stand."""
    start: Ints

    def __len__(self) -> int:
        return len(self.home)


class _Work:
    """The blocks of one reference, and the queries in the order of the search."""

    def __init__(
        self,
        ruler: Ruler,
        reference: RowsToVote,
        queries: Distinct,
        left_out: Sequence[LeftOut],
        k: int,
        blocks: Blocks,
    ) -> None:
        self._ruler, self._reference, self._queries, self._left_out = ruler, reference, queries, left_out
        self._threads, self._query_rows = blocks.threads or os.cpu_count() or 1, blocks.query_rows
        self.folder = BlockFolder(blocks.folder)
        self._lanes = lanes([one.code for one in left_out], ruler.code_weight.size)
        self._searches = filled(left_out, ruler.span.size, np.empty((0, len(left_out)), dtype=np.int32))
        self._centre: NDArray[np.float64] | None = None
        self._blocks: dict[int, _Block] = {}
        routing, block_of = self._routed(blocks.block_rows)
        self._repeats = self._write(routing, block_of)
        self._k = min(k, len(reference.rows) // self._repeats)
        asked = CompiledIndex(ruler, queries, "boxes", self._threads, unheard, centre=self._centre)
        self._asked, near = asked.in_boxes(queries.rows)
        home = routing.route(queries.rows)
        self._order = near[np.argsort(home[near], kind="stable")]  # those of one block together, near ones adjacent
        self._home = home[self._order]

    # ------------------------------------------------------------ blocks

    def _routed(self, block_rows: int) -> tuple[Routing, NDArray[Any]]:
        """Return how rows are routed into blocks, and the block of each reference row, in a file."""
        rows, n = self._reference.rows, len(self._reference.rows)
        sample = rows.take(np.linspace(0, n - 1, min(n, _SAMPLED)).astype(np.int64))
        routing = fit_routing(self._ruler, sample, n, block_rows)
        block_of = self.folder.array((n,), np.min_scalar_type(routing.n_blocks))
        for first in range(0, n, block_rows):
            last = min(first + block_rows, n)
            block_of[first:last] = routing.route(rows.part(first, last))
        return routing, block_of

    def _write(self, routing: Routing, block_of: NDArray[Any]) -> int:
        """Write the blocks; return how often each row is repeated at least, if all are."""
        repeats = 0
        for number in range(routing.n_blocks):
            rows = np.flatnonzero(block_of == number)
            if len(rows):
                self._blocks[number], times = self._written(rows)
                repeats = int(np.gcd(repeats, np.gcd.reduce(times)))
        return repeats

    def _written(self, rows: Ints) -> tuple[_Block, Ints]:
        """Write a block; return it, and how many rows each of its distinct rows stands for."""
        codes = self._reference.codes(rows)
        same = Distinct.of(Rows(np.empty((len(rows), 0)), codes), always=True)
        kept = rows[same.first()]
        alone = self._reference.rows.take(kept)
        none = np.empty(0, dtype=np.int64)
        distinct = Distinct(alone, alone, None, same.times, none, none)
        index = CompiledIndex(self._ruler, distinct, "boxes", self._threads, unheard, centre=self._centre)
        tree, self._centre = index.built(), index.centre
        order = tree.order
        arrays = [getattr(tree, name) for name in Tree._fields if name not in ("order", "depth")]
        of_rows = [alone.numbers[order], in_lanes(alone.codes[order], self._lanes), same.times[order]]
        places = np.ascontiguousarray(self._reference.places(kept[order]), dtype=np.int32)
        return _Block(self.folder.put([*arrays, *of_rows, places]), tree.depth), same.times

    # ------------------------------------------------------------ queries

    def query_rows(self) -> int:
        """Return the queries of a batch."""
        return self._query_rows or max(_CHUNK, _CARRIED // (_ENTRY * (self._k + 4) * len(self._left_out)))

    def batch(self, first: int, last: int) -> _Batch:
        """Return some of the queries in the order of the search."""
        some = self._order[first:last]
        rows, asked = self._queries.rows.take(some), self._asked
        own = BoxQueries(asked.numbers[some], asked.codes[some])
        people, start = in_order(self._queries, some)
        codes = in_lanes(rows.codes, self._lanes)
        return _Batch(first, own, rows.numbers, codes, self._home[first:last], people, start)

    def carried(self, batch: _Batch, progress: Callable[[float], None]) -> list[_Carried]:
        """Return what is carried of the queries after the last block, for each chunk of them."""
        lists = [_nothing((b - a) * len(self._left_out)) for a, b in _chunks(len(batch))]
        steps = [(number, True) for number in self._blocks if (batch.home == number).any()]
        steps += [(number, False) for number in self._blocks if (batch.home != number).any()]
        for done, (number, at_home) in enumerate(steps):
            here = (batch.home == number) if at_home else (batch.home != number)
            self._walk(self._blocks[number], batch, here.view(np.uint8), lists)
            progress((done + 1) / len(steps))
        return lists

    def _asking(self, batch: _Batch, of_rows: dict[str, Any], stop: NDArray[np.int32]) -> Filled:
        return ASKING(
            numbers=batch.numbers, codes=batch.codes, queries=np.empty(0, dtype=np.int64), start=batch.start, stop=stop,
            n_numbers=self._ruler.span.size, n_lanes=len(self._lanes), k=self._k, **of_rows,
        )  # fmt: skip

    def _walk(self, block: _Block, batch: _Batch, here: NDArray[np.uint8], lists: list[_Carried]) -> None:
        """Search some of the queries in a block, and put what follows into the lists."""
        tree, of_rows, place = block.opened()
        if self._repeats > 1:
            of_rows["times"] = of_rows["times"] // self._repeats
        stop = np.zeros(1, dtype=np.int32)
        asked, asking = batch.asked.filled(), self._asking(batch, of_rows, stop)
        searches = filled(self._left_out, self._ruler.span.size, place)
        which = [i for i, (a, b) in enumerate(_chunks(len(batch))) if here[a:b].any()]

        def part(first: int, last: int) -> None:
            for i in which[first:last]:
                own = i * _CHUNK, min((i + 1) * _CHUNK, len(batch))
                lists[i] = self._followed(lists[i], partial(_block, tree, asked, asking, searches), (here, *own))

        step = max(1, min(8, len(which) // (8 * self._threads)))
        in_parts(part, len(which), step, self._threads, unheard, stop)

    def _followed(self, before: _Carried, walk: Callable[..., None], of: tuple[Any, ...]) -> _Carried:
        """Return what is carried of a chunk of the queries after a block."""
        searches = len(before.start) - 1
        room = 2 * len(before.far) + searches * (self._k + 48)
        while True:
            count, done = np.zeros(searches, dtype=np.int64), np.zeros(1, dtype=np.int64)
            far, place, votes = np.empty(room), np.empty(room, dtype=np.int32), np.empty(room, dtype=np.int64)
            walk(
                _CARRIED_SO_FAR(**before._asdict()),
                _FOLLOWING(count=count, far=far, place=place, votes=votes, done=done, room=room),
                *of,
            )
            n = int(done[0])
            if n == 0:
                return before
            if n > 0:
                return _Carried(np.append(0, np.cumsum(count)), far[:n].copy(), place[:n].copy(), votes[:n].copy())
            room *= 4

    def answer(self, batch: _Batch, lists: Sequence[_Carried], found: Sequence[Answered]) -> None:
        """Write what the carried rows say about the people of the queries."""
        stop, none = np.zeros(1, dtype=np.int32), np.empty((0, 0))
        no_rows = {"reference_numbers": none, "reference_codes": none.astype(np.int32), "times": none.astype(int)}
        asking = self._asking(batch, no_rows, stop)

        def part(a: int, b: int) -> None:
            who, first = batch.people[batch.start[a] : batch.start[b]], int(batch.start[a])
            truth = np.column_stack([one.values.truth[who].astype(np.int32) for one in self._left_out])
            parts = np.empty((4, *truth.shape))
            answers = ANSWERS(truth=truth, **dict(zip(FOUND, parts, strict=True)), first=first)
            _answers(asking, self._searches, _CARRIED_SO_FAR(**lists[a // _CHUNK]._asdict()), answers, a, b)
            for i, one in enumerate(found):
                for name, own in zip(FOUND, parts, strict=True):
                    if len(kept := getattr(one, name)):
                        kept[who] = own[:, i]

        in_parts(part, len(batch), _CHUNK, self._threads, unheard, stop)


def _told(progress: Progress, batch: _Batch, n: int, share: float) -> None:
    progress(batch.first + int(share * len(batch)), n)


def _nothing(n_searches: int) -> _Carried:
    """Return what is carried before the first block."""
    far, place, votes = np.empty(0), np.empty(0, dtype=np.int32), np.empty(0, dtype=np.int64)
    return _Carried(np.zeros(n_searches + 1, dtype=np.int64), far, place, votes)


def _chunks(n: int) -> Iterator[tuple[int, int]]:
    """Yield begin and end of each chunk of n queries."""
    for first in range(0, n, _CHUNK):
        yield first, min(first + _CHUNK, n)
