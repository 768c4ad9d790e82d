"""The probability that the nearest synthetic rows of two lists about one person have a row in common.

Each list has one half of the columns. For each list the k nearest rows are taken; one search serves all k. Rows at the
k-th distance are drawn at random for the last places, and a score is the probability that the two sets share a row.
Pairs of rows are not listed: the search loops over the smaller of the two sets of near rows, by cells of equal rows,
and the distance of each row to the other list gives its place there.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from divulge.core.distinct_values import distinct_values
from divulge.core.errors import SizeError
from divulge.core.hashing import once as kept_once
from divulge.core.mapped_arrays import read_at_random
from divulge.kernels._box_tree import Exact
from divulge.kernels._native.library import Filled
from divulge.kernels.linkage._chance import link_probability
from divulge.kernels.linkage._walk import TASK, walk
from divulge.kernels.neighbours.block_index import BlockIndex
from divulge.kernels.neighbours.distinct import Distinct, Progress
from divulge.kernels.neighbours.gower import Floats, Rows, Ruler, blocks, pairwise
from divulge.kernels.neighbours.index import Index
from divulge.kernels.neighbours.nearest import Listed, Reach
from divulge.kernels.places import places
from divulge.kernels.rows_in_groups import in_groups
from divulge.kernels.runtime import has_loops

__all__ = ["ColumnHalf", "chances", "of_a_copy", "once"]

Ints = NDArray[np.int64]
_LEAST_CELLS, _MOST_CELLS = 20_000, 3_000_000  # cells of a task of a thread: about 0.5 ms and 0.1 s
_PEOPLE = 2**18  # linked at a time, about 1.5 kB each
_AT_ONCE = 2_000_000  # rows of an index in files whose cells are counted at once
_RUNS = 16  # or as many as this part of all rows
_MOST_ROWS = 2**32 - 1  # that are counted and numbered in cells
_SEARCHES = 8  # the search for a cell in a sorted list takes as long as a loop over so many cells; estimate


class ColumnHalf(NamedTuple):
    """One half of the columns."""

    ruler: Ruler
    synthetic: Rows | Distinct | None
    """The same synthetic rows, in the same order, in both halves; not needed beside `near`."""
    people: Rows | Distinct
    """The same people in both halves."""
    near: Index | BlockIndex | None = None
    """An index of the synthetic rows, where there is one already."""


class _Cells(NamedTuple):
    """For each distinct row of one half the distinct rows of the other half that occur with it."""

    start: Ints
    """Shape (n_distinct + 1,)."""
    pairs: NDArray[np.uint32]
    """Shape (n_cells, 2): distinct rows of the other half, ascending for each of this one, and how many rows have both.

    They lie side by side, as each is read where the other is: from files of a table that fills the memory, at random.
    """

    @property
    def other(self) -> NDArray[np.uint32]:
        """The distinct rows of the other half."""
        return self.pairs[:, 0]

    @property
    def n_rows(self) -> NDArray[np.uint32]:
        """How many synthetic rows each cell has."""
        return self.pairs[:, 1]

    def __len__(self) -> int:
        """Return the number of cells."""
        return len(self.pairs)


class _Known(NamedTuple):
    """What is known of one half before people are asked."""

    ruler: Ruler
    near: Index | BlockIndex
    cells: _Cells


class _Side(NamedTuple):
    """The search results of one half."""

    ruler: Ruler
    near: Index | BlockIndex
    reach: Reach
    cells: _Cells
    sure: Ints
    """Shape (n_distinct_people, n_k): rows strictly nearer than the k-th distance."""
    tied: Ints
    """Shape (n_distinct_people, n_k): rows at the k-th distance."""


def once(synthetic: Sequence[Rows | Distinct]) -> Ints:
    """Return the synthetic rows to keep, given their halves, so that a table whose rows all repeat counts once."""
    return kept_once(_keys(*(Distinct.of(rows).of_each for rows in synthetic)))


def chances(
    halves: Sequence[ColumnHalf],
    ks: Sequence[int],
    *,
    engine: str | None = None,
    threads: int | None = None,
    progress: Progress = lambda done, total: None,
) -> Floats:
    """Return the probability that the k nearest synthetic rows on one half share a row with the k nearest on the other.

    Parameters
    ----------
    halves
        The two halves.
    ks
        Ascending, from 1 to the number of synthetic rows.
    engine
        "numpy" or "compiled" forces one way of counting; None chooses.
    threads
        Number of threads; None takes all cores. The result does not depend on it.

    Returns
    -------
    ndarray
        Shape (n_people, n_k), in [0, 1]; only 0 or 1 where no tie is drawn from.

    Examples
    --------
    A person at 0 on both halves, three synthetic rows: the first is nearest on one half, all tie on the other.

    >>> from divulge.kernels.neighbours.gower import Field, fit_ruler
    >>> def half(name, synthetic):
    ...     marks = np.zeros(3, np.int32), np.zeros(1, np.int32)
    ...     ruler, rows = fit_ruler([Field(name, (synthetic, np.zeros(1)), marks)], [0])
    ...     return ColumnHalf(ruler, *rows)
    >>> one, other = half("x", np.array([1.0, 2.0, 3.0])), half("y", np.array([4.0, 4.0, 4.0]))
    >>> chances([one, other], [1, 2]).round(9).tolist()
    [[0.333333333, 1.0]]
    """
    indices = [h.near or _index(h, threads, progress) for h in halves]
    one, other = (near.distinct for near in indices)
    cells = [_cells(a, b, index) for a, b, index in ((one, other, indices[0]), (other, one, indices[1]))]
    for each, distinct in zip(cells, (one, other), strict=True):
        read_at_random(each.start, each.pairs, distinct.rows.numbers, distinct.rows.codes)
    known = [_Known(*each) for each in zip((h.ruler for h in halves), indices, cells, strict=True)]
    people = [Distinct.of(h.people) for h in halves]
    if len(people[0]) <= _PEOPLE:
        return _chances(known, people, ks, engine, threads)
    _, asked, of_person = np.unique(_keys(*(p.of_each for p in people)), return_index=True, return_inverse=True)
    out = np.empty((len(asked), len(ks)))
    for a in range(0, len(asked), _PEOPLE):
        some = asked[a : a + _PEOPLE]
        out[a : a + _PEOPLE] = _chances(known, [p.whole.take(some) for p in people], ks, engine, threads)
    return out[of_person]


def _chances(
    known: Sequence[_Known],
    people: Sequence[Rows | Distinct],
    ks: Sequence[int],
    engine: str | None,
    threads: int | None,
) -> Floats:
    """Return the probability for some people, given by their two halves."""
    sides = []
    for half, own in zip(known, people, strict=True):
        reach = half.near.reach(own, max(ks))
        sides.append(_Side(half.ruler, half.near, reach, half.cells, *_places(reach, ks)))
    pairs = [s.reach.queries.of_each for s in sides]
    _, asked, of_person = np.unique(_keys(*pairs), return_index=True, return_inverse=True)
    pairs = [p[asked] for p in pairs]  # ascending by the first half, then by the second
    if engine is None:
        engine = "compiled" if has_loops(len(asked) * len(known[0].cells)) else "numpy"
    found = _count_numpy(sides, pairs, ks) if engine == "numpy" else _count_compiled(sides, pairs, ks, threads)
    return found[of_person]


def _index(half: ColumnHalf, threads: int | None, progress: Progress) -> Index:
    assert half.synthetic is not None
    return Index(half.ruler, half.synthetic, threads=threads, progress=progress)


def of_a_copy(halves: Sequence[ColumnHalf], n_members: int, ks: Sequence[int]) -> Floats:
    """Return the approximate probability that each person is linked if the synthetic table consists of the members.

    A person with the record of a member on each half is linked by the members who share it, and only these are taken.
    Other people count as not linked.

    Parameters
    ----------
    halves
        The two halves; the first `n_members` people are the members.
    n_members
        At least 1.
    ks
        At least 1 each.

    Returns
    -------
    ndarray
        Shape (n_people, n_k).
    """
    one, other = (Distinct.of(h.people, always=True).of_each for h in halves)
    pair = places(_keys(one, other))[1]
    alike = [np.bincount(ids[:n_members], minlength=int(ids.max()) + 1)[ids] for ids in (one, other, pair)]
    _, of_halves = places(_keys(*alike[:2]))
    _, some, of_person = np.unique(_keys(of_halves, alike[2]), return_index=True, return_inverse=True)
    out = np.zeros((len(some), len(ks)))
    for i, (a, b, both) in enumerate(zip(*(n[some].tolist() for n in alike), strict=True)):
        if both:
            out[i] = [link_probability(a, min(k, a), b, min(k, b), 0, 0, both) for k in ks]
    return np.asarray(out[of_person])


# ---------------------------------------------------------------- cells and places


def _keys(one: Ints, other: Ints) -> Ints:
    """Return one number for each pair; the numbers sort like the pairs."""
    return np.asarray(one * (int(other.max(initial=0)) + 1) + other)


def _cells(one: Distinct, other: Distinct, index: Index | BlockIndex) -> _Cells:
    """Return the cells of one half: of an index in files for some rows at a time, and in files."""
    mine, theirs, n_distinct = one.of_each, other.of_each, len(one.times)
    if len(mine) > _MOST_ROWS:
        raise SizeError(
            f"linkability: {len(mine):,} synthetic rows; at most {_MOST_ROWS:,} can be searched. "
            "hint: leave the attack out."
        )
    width = int(theirs.max(initial=0)) + 1
    if isinstance(index, Index):
        return _cells_of(_keys(mine, theirs), width, 0, n_distinct)
    start, pairs, n = index.array((n_distinct + 1,), np.int64), index.array((len(mine), 2), np.uint32), 0
    for first, last, keys in _keys_by_runs(one, theirs, width, index):
        found = _cells_of(keys, width, first, last)
        start[first : last + 1] = n + found.start
        pairs[n : n + len(found)] = found.pairs
        n += len(found)
    return _Cells(start, pairs[:n])


def _keys_by_runs(one: Distinct, theirs: Ints, width: int, index: BlockIndex) -> Iterator[tuple[int, int, Ints]]:
    """Yield begin and end of runs of distinct rows, and the numbers of the cells of all rows that they stand for.

    The table is read once, not once a run.
    """
    mine, n = one.of_each, len(theirs)
    runs = list(_runs(one.times, max(_AT_ONCE, n // _RUNS)))
    firsts = np.array([first for first, _ in runs])
    n_rows = np.array([one.times[first:last].sum() for first, last in runs], dtype=np.int64)

    def part(a: int, b: int) -> tuple[Ints, list[Ints]]:
        return np.searchsorted(firsts, mine[a:b], "right") - 1, [mine[a:b] * width + theirs[a:b]]

    by_run = in_groups(part, n_rows, [index.array((n,), np.int64)], _AT_ONCE)
    for (first, last), (keys,) in zip(runs, by_run, strict=True):
        yield first, last, keys


def _cells_of(keys: Ints, width: int, begin: int, end: int) -> _Cells:
    """Return the cells of the distinct rows from one to before another, given the numbers of their rows' cells."""
    keys = np.sort(keys)
    first = np.flatnonzero(np.append(True, keys[1:] != keys[:-1])[: len(keys)])
    pairs, kept = np.empty((len(first), 2), dtype=np.uint32), keys[first]
    pairs[:, 0], pairs[:, 1] = kept % width, np.diff(first, append=len(keys))
    return _Cells(np.append(0, np.cumsum(np.bincount(kept // width - begin, minlength=end - begin))), pairs)


def _runs(times: Ints, most: int) -> Iterator[tuple[int, int]]:
    """Yield begin and end of runs of distinct rows that stand for about so many rows."""
    first = 0
    while first < len(times):
        last = (
            first + 1 + int(np.searchsorted(np.cumsum(times[first + 1 : first + most]), most - times[first], "right"))
        )
        yield first, last
        first = last


def _places(reach: Reach, ks: Sequence[int]) -> tuple[Ints, Ints]:
    """Return for each k how many rows are nearer than the k-th distance, and how many are at this distance."""
    far, place, columns = reach.distances, np.arange(reach.distances.shape[1]), np.asarray(ks) - 1
    changes = far[:, 1:] != far[:, :-1]  # distances ascend, so that equal ones are adjacent
    first, after = np.zeros(far.shape, dtype=np.int64), np.full(far.shape, len(place))
    first[:, 1:] = np.maximum.accumulate(np.where(changes, place[1:], 0), axis=1)
    after[:, -2::-1] = np.minimum.accumulate(np.where(changes, place[1:], len(place))[:, ::-1], axis=1)
    sure, listed = first.take(columns, axis=1), after.take(columns, axis=1)
    # beyond the last k more rows may tie with it
    tied = np.where(far.take(columns, axis=1) == far[:, -1:], reach.n_rows[:, None], listed) - sure
    return sure, tied


# ---------------------------------------------------------------- counting in numpy


def _count_numpy(sides: Sequence[_Side], pairs: Sequence[Ints], ks: Sequence[int]) -> Floats:
    """Count with matrices of all distances; the compiled loop must give the same results."""
    cells = sides[0].cells
    of_cell = np.repeat(np.arange(len(cells.start) - 1), np.diff(cells.start)), cells.other.astype(np.int64)
    out = np.zeros((len(pairs[0]), len(ks)))
    for part in blocks(len(out), len(cells)):
        far = [
            pairwise(s.ruler, s.reach.queries.rows.take(p[part]), s.reach.reference.rows)[:, c]
            for s, p, c in zip(sides, pairs, of_cell, strict=True)
        ]
        last = [s.reach.distances[p[part], -1:] for s, p in zip(sides, pairs, strict=True)]
        pair, cell = np.nonzero((far[0] <= last[0]) & (far[1] <= last[1]))
        one, other = far[0][pair, cell], far[1][pair, cell]
        some = slice(part.start, part.start + len(far[0]))
        n = len(far[0])

        def rows(mask: NDArray[np.bool_], pair: Ints = pair, cell: Ints = cell, n: int = n) -> Ints:
            return np.bincount(pair[mask], weights=cells.n_rows[cell[mask]], minlength=n).astype(np.int64)

        for column, k in enumerate(ks):
            at, at_other = (s.reach.distances[p[some][pair], k - 1] for s, p in zip(sides, pairs, strict=True))
            sure, sure_other, tied, tied_other = one < at, other < at_other, one == at, other == at_other
            kinds = [rows(tied & sure_other), rows(sure & tied_other), rows(tied & tied_other)]
            for s, p in zip(reversed(sides), reversed(pairs), strict=True):
                kinds = [s.tied[p[some], column], k - s.sure[p[some], column], *kinds]
            distinct, which = np.unique(np.stack(kinds, axis=1), axis=0, return_inverse=True)
            score = np.array([link_probability(*kind) for kind in distinct.tolist()])[which.ravel()]
            out[some, column] = np.where(rows(sure & sure_other) > 0, 1.0, score)
    return out


# ---------------------------------------------------------------- counting by a compiled loop


def _count_compiled(sides: Sequence[_Side], pairs: Sequence[Ints], ks: Sequence[int], threads: int | None) -> Floats:
    """Count in a loop over the near rows of the half that has fewer cells."""
    out = np.zeros((len(pairs[0]), len(ks)))
    cost = [_cost(sides[i], sides[1 - i], pairs[i], pairs[1 - i]) for i in (0, 1)]
    by_second = cost[1] < cost[0]
    for i, mine in ((0, np.flatnonzero(~by_second)), (1, np.flatnonzero(by_second))):
        walked, checked = sides[i], sides[1 - i]
        if i:
            mine = mine[np.argsort(pairs[1][mine], kind="stable")]
        query, other = pairs[i][mine], pairs[1 - i][mine]
        loop, exact = _walk(walked, checked, ks, bool(i), out), _exact(checked)
        for listed in walked.near.up_to(walked.reach, distinct_values(query)):
            part = slice(*np.searchsorted(query, (listed.queries[0], listed.queries[-1] + 1)))
            place = np.searchsorted(listed.queries, query[part])
            task = loop(listed, mine[part], place, query[part], other[part])
            _side_by_side(task, exact, cost[i][mine[part]], threads)
    return out


def _cost(walked: _Side, checked: _Side, query: Ints, other: Ints) -> Ints:
    """Return the approximate number of cells in the loop for each pair."""
    near, start = walked.reach.nearest, walked.cells.start
    listed = np.where(near >= 0, start[near + 1] - start[near], 0).sum(axis=1)
    everything = len(walked.cells)
    cells = np.where(walked.reach.is_whole, listed, np.minimum(walked.reach.n_rows, everything))[query]
    classes = np.where(walked.reach.is_whole, (near >= 0).sum(axis=1), np.minimum(walked.reach.n_rows, len(start) - 1))
    lookups = (classes[query] * _SEARCHES) * (checked.reach.nearest >= 0).sum(axis=1)[other]
    return np.asarray(np.where(checked.reach.is_whole[other], np.minimum(cells, lookups), cells))


def _walk(walked: _Side, checked: _Side, ks: Sequence[int], swapped: bool, out: Floats) -> Callable[..., Filled]:
    """Return what gives the compiled loop its arguments, for lists of near rows and the pairs that ask for them."""
    near = checked.reach.nearest
    standing = {
        "places": np.ascontiguousarray(walked.reach.distances), "n_near": walked.reach.distances.shape[1],
        "other_places": np.ascontiguousarray(checked.reach.distances),
        "sure": walked.sure, "tied": walked.tied, "other_sure": checked.sure, "other_tied": checked.tied,
        "near": np.ascontiguousarray(near), "near_width": near.shape[1],
        "few": np.where(checked.reach.is_whole, (near >= 0).sum(axis=1), -1), "searches": _SEARCHES,
    }  # fmt: skip
    cells = {"cell_start": walked.cells.start, "cells": walked.cells.pairs}
    wanted = {"ks": np.asarray(ks, dtype=np.int64), "n_ks": len(ks), "swapped": swapped, "out": out}

    def over(listed: Listed, pair: Ints, place: Ints, query: Ints, other: Ints) -> Filled:
        near_rows = {"start": listed.start, "rows": listed.rows, "distances": listed.distances}
        asking = {"pair": pair, "place": place, "query": query, "other": other}
        return TASK(**asking, **near_rows, **cells, **standing, **wanted)

    return over


def _exact(checked: _Side) -> Filled:
    """Return the values from which the loop computes distances in the half that it checks."""
    ruler, rows, asked = checked.ruler, checked.reach.reference.rows, checked.reach.queries.rows
    bounds, weights = ruler.groups()
    unused = np.zeros(0, dtype=np.int64)
    return Exact(
        np.ascontiguousarray(asked.numbers), np.ascontiguousarray(asked.codes),
        np.ascontiguousarray(rows.numbers), np.ascontiguousarray(rows.codes),
        ruler.rate, ruler.number_weight, bounds, weights, unused, unused, ruler.total, ruler.cap, ruler.split,
    ).filled()  # fmt: skip


def _parts(cost: Ints, threads: int) -> list[tuple[int, int]]:
    """Return the first pair and the end of parts that cost about the same, and at most what an interrupt waits for."""
    done = np.append(0, np.cumsum(cost + 1))
    most = min(max(int(done[-1]) // (16 * threads), _LEAST_CELLS), _MOST_CELLS)
    ends = np.unique(np.searchsorted(done, np.arange(most, int(done[-1]) + most, most), side="left"))
    ends = np.minimum(ends, len(cost)).tolist()
    return [(a, b) for a, b in zip([0, *ends], ends, strict=False) if a < b]


def _side_by_side(task: Filled, exact: Filled, cost: Ints, threads: int | None) -> None:
    threads = threads or os.cpu_count() or 1
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(lambda part: walk(task, exact, *part), _parts(cost, threads)))
