"""Which block of a reference a row belongs to: rows that are alike come into one block.

The splits are those of the top of a tree of boxes (`_tree`), chosen from a sample of rows: by the column in which pairs
of rows differ most, numbers at the median, categories by groups of values. A query then finds its nearest row mostly in
the block it would belong to itself, and most other blocks lie beyond that distance: what a query would have to differ
by to be on the other side of the splits above a block is a lower bound of its distance to all rows there.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from divulge.kernels.neighbours.gower import Floats, Rows, Ruler
from divulge.kernels.runtime import IN_CACHE, side_by_side

__all__ = ["Routing", "fit_routing"]

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

_CODES = 256  # codes are told apart mod 256, as in the tree
_EVEN = 0.25  # share of the rows on the smaller side from which a split is taken without trying others
_SLACK = 1 + 1e-9  # a bound may exceed a distance by rounding
_OVER = 1.1  # how much larger than wanted a block may be


class _Split(NamedTuple):
    """One split; a side that is negative is block -1 - side."""

    column: int
    """Of the numbers, or of the codes after them."""
    border: float
    """Numbers up to it, and missing ones, go left."""
    goes_left: Bools
    """Shape (256,): the codes that go left."""
    left: int
    right: int


class Routing(NamedTuple):
    """The splits, the first one at the top."""

    splits: list[_Split]
    n_blocks: int
    gaps: Bools
    """Shape (n_numbers,): whether a reference row may lack the number."""

    def route(self, rows: Rows) -> NDArray[np.int32]:
        """Return the block of each row."""
        out = np.zeros(len(rows), dtype=np.int32)

        def part(a: int, b: int) -> None:
            out[a:b] = self._routed(rows.part(a, b))

        side_by_side(part, len(rows), os.cpu_count() or 1, IN_CACHE)
        return out

    def _routed(self, rows: Rows) -> NDArray[np.int32]:
        out = np.zeros(len(rows), dtype=np.int32)
        waiting = [(0, np.arange(len(rows)))] if self.splits else []
        while waiting:
            at, which = waiting.pop()
            split = self.splits[at]
            left = _left(split, rows, which)
            for side, some in ((split.left, which[left]), (split.right, which[~left])):
                if side < 0:
                    out[some] = -1 - side
                else:
                    waiting.append((side, some))
        return out

    def within(self, ruler: Ruler, queries: Rows, limits: Floats) -> Iterator[tuple[int, Ints]]:
        """Yield each block and the queries, ascending, that may have a row there up to their limit.

        Parameters
        ----------
        limits
            Shape (n_queries,).
        """
        most = limits * (ruler.total * ruler.cap) * _SLACK
        asked = np.flatnonzero(limits >= 0)
        if not self.splits:
            yield 0, asked
            return
        waiting = [_Reached(0, asked, np.zeros(len(asked)), {})]
        while waiting:
            reached = waiting.pop()
            for on in _sides(self.splits[reached.at], ruler, queries, reached, self.gaps):
                on = on.of(on.bound <= most[on.queries])
                if on.at < 0:
                    yield -1 - on.at, on.queries
                elif len(on.queries):
                    waiting.append(on)


class _Reached(NamedTuple):
    """The queries that may have a row on one side of a split."""

    at: int
    queries: Ints
    bound: Floats
    """What they differ by at least from the rows there."""
    of_column: dict[int, Floats]
    """Its parts."""

    def of(self, some: Bools) -> _Reached:
        """Return some of the queries."""
        parts = {column: part[some] for column, part in self.of_column.items()}
        return _Reached(self.at, self.queries[some], self.bound[some], parts)


def _sides(split: _Split, ruler: Ruler, queries: Rows, reached: _Reached, gaps: Bools) -> Iterator[_Reached]:
    """Yield the queries on the left and on the right side of a split, each with its new bound."""
    left, column = _left(split, queries, reached.queries), split.column
    across = _across(split, ruler, queries, reached.queries)
    known = reached.of_column.get(column, np.zeros(len(left)))
    # a row without the number lies on the left, and differs by its mark, which is a column of its own
    unknown = column < len(gaps) and bool(gaps[column])
    for side, own in ((split.left, left | unknown), (split.right, ~left)):
        part = np.where(own, known, np.maximum(known, across))
        yield _Reached(side, reached.queries, reached.bound - known + part, {**reached.of_column, column: part})


def _across(split: _Split, ruler: Ruler, queries: Rows, which: Ints) -> Floats:
    """Return what a query differs by at least, in the column of a split, from all values on the other side of it."""
    n_numbers = queries.numbers.shape[1]
    if split.column >= n_numbers:
        return np.full(len(which), ruler.code_weight[split.column - n_numbers] * ruler.cap)
    with np.errstate(invalid="ignore", over="ignore"):
        term = np.abs(queries.numbers[which, split.column] - split.border) * ruler.rate[split.column]
    return np.asarray(np.where(term > 0, np.minimum(term, ruler.cap), 0.0) * ruler.number_weight[split.column])


def fit_routing(ruler: Ruler, sample: Rows, n_rows: int, block_rows: int) -> Routing:
    """Return a routing of so many rows into blocks of about so many, from a sample of them."""
    splits: list[_Split] = []
    n_blocks, most = 0, _OVER * block_rows * len(sample) / n_rows
    # the place of a split in the list, and the side of it that leads here
    waiting: list[tuple[int, str, Ints]] = [(-1, "", np.arange(len(sample)))]
    while waiting:
        above, side, which = waiting.pop()
        split = _best(ruler, sample, which) if len(which) > most else None
        here = -1 - n_blocks if split is None else len(splits)
        if above >= 0:
            old = splits[above]
            splits[above] = old._replace(left=here) if side == "left" else old._replace(right=here)
        if split is None:
            n_blocks += 1
            continue
        left = _left(split, sample, which)
        splits.append(split)
        waiting += [(here, "left", which[left]), (here, "right", which[~left])]
    return Routing(splits, n_blocks, np.asarray(np.isnan(sample.numbers).any(axis=0)))


def _left(split: _Split, rows: Rows, which: Ints) -> Bools:
    """Return which of some rows go left."""
    n_numbers = rows.numbers.shape[1]
    if split.column >= n_numbers:
        return np.asarray(split.goes_left[rows.codes[which, split.column - n_numbers] % _CODES])
    return np.asarray(~(rows.numbers[which, split.column] > split.border))


def _best(ruler: Ruler, sample: Rows, which: Ints) -> _Split | None:
    """Return the split of some rows by the column in which they differ most; None where all are equal."""
    found, largest = None, 0.0
    for split in _candidates(ruler, sample, which):
        share = float(_left(split, sample, which).mean())
        even = min(share, 1 - share)
        if even > largest:
            found, largest = split, even
        if even >= _EVEN:
            break
    return found


def _candidates(ruler: Ruler, sample: Rows, which: Ints) -> Iterator[_Split]:
    """Yield a split by each column, the column with the largest differences first."""
    n_numbers = sample.numbers.shape[1]
    for column in np.argsort(-_contrast(ruler, sample, which), kind="stable").tolist():
        none = np.zeros(_CODES, dtype=np.bool_)
        if column >= n_numbers:
            codes = sample.codes[which, column - n_numbers] % _CODES
            yield _Split(column, 0.0, _half(np.bincount(codes, minlength=_CODES)), -1, -1)
            continue
        values = sample.numbers[which, column]
        values = np.sort(values[~np.isnan(values)])
        if len(values):
            middle = values[len(values) // 2]
            below = values[values < middle]
            yield _Split(column, float(below[-1] if len(below) else middle), none, -1, -1)


def _contrast(ruler: Ruler, sample: Rows, which: Ints) -> Floats:
    """Return for each column how much pairs of some rows differ in it; numbers come first."""
    half = len(which) // 2
    a, b = sample.take(which[:half]), sample.take(which[half : 2 * half])
    cut = [np.clip(r.numbers, ruler.low, ruler.low + ruler.span) for r in (a, b)]
    numbers = np.nansum(np.abs(cut[0] - cut[1]) / ruler.span, axis=0) * ruler.number_weight
    return np.concatenate([numbers, (a.codes != b.codes).sum(axis=0) * ruler.code_weight])


def _half(counts: Ints) -> Bools:
    """Return which values go left: the commonest first, each to the side with fewer rows."""
    left, sizes = np.zeros(len(counts), dtype=np.bool_), [0, 0]
    for value in np.argsort(-counts, kind="stable").tolist():
        side = int(sizes[0] > sizes[1])
        left[value] = side == 0
        sizes[side] += int(counts[value])
    return left
