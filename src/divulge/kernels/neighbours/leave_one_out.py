"""Prediction of several columns, each from the nearest rows on the other columns, in one walk through one tree.

With d the part of a column and D the sum over all columns, the distance without it is D - d. A box of the tree, or a
row, is out of reach only if its bound is too large without each of the columns in turn, so that it is bounded once for
all. Of a row that may be within reach of a search the distance is added up in float64 without the column, in the order
of the definition: distances, ties and votes are those of a search on the other columns, to the last bit. The votes are
counted in the loop (`_native/leave_one_out.c`), and no pair is listed.

Without compiled loops, and for few rows, each column has a search of its own (`knn_vote`).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from divulge.kernels._box_tree import BOX_QUERIES, TREE
from divulge.kernels._native.library import Filled, Kernel, Struct
from divulge.kernels.neighbours._compiled import CompiledIndex
from divulge.kernels.neighbours._parts import in_parts
from divulge.kernels.neighbours.distinct import Distinct, Progress
from divulge.kernels.neighbours.gower import Rows, Ruler
from divulge.kernels.neighbours.index import Index
from divulge.kernels.neighbours.knn_vote import Answered, Values, answers
from divulge.kernels.runtime import has_loops

__all__ = ["LeftOut", "answers_without", "pays"]

Ints = NDArray[np.int64]

_FEW = 40_000  # pairs of rows below which matrices are faster
_LANES = 16  # searches and codes are padded to a multiple: the lanes of the widest register

_ASKING = Struct(
    numbers="f8*", codes="i4*", reference_numbers="f8*", reference_codes="i4*", times="i8*", queries="i8*", start="i8*",
    stop="i4*", n_numbers="i8", n_lanes="i8", k="i8",
)  # fmt: skip
_LEFT_OUT = Struct(
    rate="f8*", total="f8*", cap="f8*", split="f8*", number="i8*", code="i8*", place="i4*", begin="i8*",
    first="i8*", last="i8*", n_targets="i8", width="i8",
)  # fmt: skip
_ANSWERS = Struct(truth="i4*", nearest="f8!", distance="f8!", vote="f8!", share="f8!", first="i8")
_FOUND = ("nearest", "distance", "vote", "share")
_walk = Kernel("leave_one_out", TREE, BOX_QUERIES, _ASKING, _LEFT_OUT, _ANSWERS, "i8", "i8")


@dataclass(frozen=True, slots=True, eq=False)
class LeftOut:
    """A search that leaves out one column, and predicts it."""

    ruler: Ruler
    """The ruler of the other columns; all weights are 1."""
    number: int
    """The place of the column among the numbers of the rows; -1 if it has none."""
    code: int
    """Its place among the codes; -1 if it has none."""
    values: Values
    """The column: the value of each reference row, and that of each query."""

    def rows(self, rows: Rows) -> Rows:
        """Return rows without the column."""
        numbers = rows.numbers if self.number < 0 else np.delete(rows.numbers, self.number, axis=1)
        return Rows(numbers, rows.codes if self.code < 0 else np.delete(rows.codes, self.code, axis=1))


def answers_without(
    ruler: Ruler,
    reference: Distinct,
    queries: Distinct,
    left_out: Sequence[LeftOut],
    k: int,
    progress: Progress = lambda done, total: None,
    wanted: Sequence[str] = _FOUND,
) -> list[Answered]:
    """Return for each column the answers about each query of the nearest row and of the k nearest on the others.

    Parameters
    ----------
    ruler
        The ruler of all columns; all weights are 1.
    reference
        At least one row, with all columns. Rows that are one distinct row have the same value of each column.
    queries
        Rows with all columns.
    left_out
        The columns.
    k
        At least 1; with fewer reference rows all of them vote.
    wanted
        The answers that are looked at. One walk leaves the others out: arrays of no length.

    Examples
    --------
    >>> from divulge.kernels.neighbours.gower import Field, fit_ruler
    >>> place, marks = np.arange(2), (np.zeros(3, np.int32), np.zeros(1, np.int32))
    >>> age = Field("age", (np.array([20.0, 21.0, 60.0]), np.array([20.4])), marks)
    >>> job = Field("job", None, (np.array([0, 1, 1], np.int32), np.array([1], np.int32)))
    >>> ruler, (reference, queries) = fit_ruler([age, job], ranges_of=[0])
    >>> known, _ = fit_ruler([age], ranges_of=[0])
    >>> without_job = LeftOut(known, -1, 0, Values(place, place + 1, np.array([0, 1, 1]), np.array([1])))
    >>> found, = answers_without(ruler, Distinct.of(reference), Distinct.of(queries), [without_job], 3)
    >>> found.nearest.tolist(), found.vote.tolist(), found.share.round(2).tolist()
    ([0.0], [1.0], [0.67])
    """
    if not pays(len(reference), len(queries)):
        return [_alone(reference, queries, one, k, progress) for one in left_out]
    found = [Answered(*(np.empty(len(queries) * (name in wanted)) for name in _FOUND)) for _ in left_out]
    _in_one_walk(ruler, reference, queries, left_out, min(k, len(reference)), progress, found)
    return found


def pays(n_reference: int, n_queries: int) -> bool:
    """Return whether one walk takes less time than a search for each column: there are loops, and rows enough."""
    n_pairs = n_reference * n_queries
    return n_pairs >= _FEW and has_loops(n_pairs)


def _alone(reference: Distinct, queries: Distinct, one: LeftOut, k: int, progress: Progress) -> Answered:
    index = Index(one.ruler, one.rows(reference.whole), progress=progress)
    return answers(index, one.rows(queries.whole), one.values, k)


def _in_one_walk(
    ruler: Ruler, reference: Distinct, queries: Distinct, left_out: Sequence[LeftOut], k: int, progress: Progress,
    found: Sequence[Answered],
) -> None:  # fmt: skip
    threads, n = os.cpu_count() or 1, len(queries.times)
    index, stop = CompiledIndex(ruler, reference, "boxes", threads, progress), np.zeros(1, dtype=np.int32)
    tree, asked, order, near = index.walked(queries.rows)
    people, start = _in_order(queries, near)
    lanes = _lanes([one.code for one in left_out], ruler.code_weight.size)
    asking = _ASKING(
        numbers=queries.rows.numbers, codes=_in_lanes(queries.rows.codes, lanes),
        reference_numbers=reference.rows.numbers[order], reference_codes=_in_lanes(reference.rows.codes[order], lanes),
        times=reference.times[order], queries=near, start=start, stop=stop,
        n_numbers=ruler.span.size, n_lanes=len(lanes), k=k,
    )  # fmt: skip
    searches = _filled(left_out, ruler.span.size, reference.first()[order])

    def part(a: int, b: int) -> None:
        who, first = people[start[a] : start[b]], int(start[a])
        truth = np.column_stack([one.values.truth[who].astype(np.int32) for one in left_out])
        # in the order of the search: the loop would wait for values that lie far apart
        parts = np.empty((4, *truth.shape))
        answers = _ANSWERS(truth=truth, **dict(zip(_FOUND, parts, strict=True)), first=first)
        _walk(tree, asked, asking, searches, answers, a, b)
        for i, one in enumerate(found):
            for name, own in zip(_FOUND, parts, strict=True):
                if len(kept := getattr(one, name)):
                    kept[who] = own[:, i]

    in_parts(part, n, max(64, min(4096, n // (8 * threads))), threads, progress, stop)


def _in_order(queries: Distinct, order: Ints) -> tuple[Ints, Ints]:
    """Return the people for whom the queries stand, in an order of the queries, and where those of each begin."""
    times = queries.times[order]
    start = np.append(0, np.cumsum(times))
    if queries.of_row is None:
        return order, start
    place = np.arange(start[-1]) - np.repeat(start[:-1], times)
    return queries.members[np.repeat(queries.start[order], times) + place], start


def _lanes(left_out: Sequence[int], n_codes: int) -> list[int]:
    """Return the code in each lane, -1 for none: first those that the searches leave out, then all others."""
    others = [j for j in range(n_codes) if j not in left_out]
    return [*left_out, *[-1] * (-len(left_out) % _LANES), *others, *[-1] * (-len(others) % _LANES)]


def _in_lanes(codes: NDArray[np.int32], lanes: Sequence[int]) -> NDArray[np.int32]:
    out = np.zeros((len(codes), len(lanes)), dtype=np.int32)
    for lane, code in enumerate(lanes):
        if code >= 0:
            out[:, lane] = codes[:, code]
    return out


def _padded(values: Sequence[float]) -> NDArray[np.float64]:
    """Return one value for each search, and 1 in the lanes beyond them."""
    return np.array([*values, *[1.0] * (-len(values) % _LANES)])


def _filled(left_out: Sequence[LeftOut], n_numbers: int, rows: Ints) -> Filled:
    """Return the searches as the loop takes them; `rows` are the reference rows in the order of the tree."""
    sizes, rulers = [len(one.values.first) for one in left_out], [one.ruler for one in left_out]
    total = _padded([r.total for r in rulers])
    rate = np.zeros((n_numbers, len(total)))
    for lane, one in enumerate(left_out):
        rate[np.arange(n_numbers) != one.number, lane] = one.ruler.rate
    return _LEFT_OUT(
        rate=rate,
        total=total,
        cap=_padded([r.cap for r in rulers]),
        split=_padded([r.split for r in rulers]),
        number=np.array([one.number for one in left_out]),
        code=np.array([one.code for one in left_out]),
        place=np.column_stack([one.values.reference[rows].astype(np.int32) for one in left_out]),
        begin=np.append(0, np.cumsum(sizes)),
        first=np.concatenate([one.values.first for one in left_out]),
        last=np.concatenate([one.values.last for one in left_out]),
        n_targets=len(left_out),
        width=len(total),
    )
