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

import numpy as np
from numpy.typing import NDArray

from divulge.kernels._box_tree import BOX_QUERIES, TREE
from divulge.kernels._native.library import Kernel
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
from divulge.kernels.neighbours.distinct import Distinct, Progress
from divulge.kernels.neighbours.gower import Ruler
from divulge.kernels.neighbours.index import Index
from divulge.kernels.neighbours.knn_vote import Answered, answers
from divulge.kernels.runtime import has_loops

__all__ = ["LeftOut", "answers_without", "pays"]

Ints = NDArray[np.int64]

_FEW = 40_000  # pairs of rows below which matrices are faster
_walk = Kernel("leave_one_out", TREE, BOX_QUERIES, ASKING, LEFT_OUT, ANSWERS, "i8", "i8")


def answers_without(
    ruler: Ruler,
    reference: Distinct,
    queries: Distinct,
    left_out: Sequence[LeftOut],
    k: int,
    progress: Progress = lambda done, total: None,
    wanted: Sequence[str] = FOUND,
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
    >>> from divulge.kernels.neighbours.knn_vote import Values
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
    found = [Answered(*(np.empty(len(queries) * (name in wanted)) for name in FOUND)) for _ in left_out]
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
    people, start = in_order(queries, near)
    lane_codes = lanes([one.code for one in left_out], ruler.code_weight.size)
    asking = ASKING(
        numbers=queries.rows.numbers, codes=in_lanes(queries.rows.codes, lane_codes),
        reference_numbers=reference.rows.numbers[order],
        reference_codes=in_lanes(reference.rows.codes[order], lane_codes),
        times=reference.times[order], queries=near, start=start, stop=stop,
        n_numbers=ruler.span.size, n_lanes=len(lane_codes), k=k,
    )  # fmt: skip
    rows = reference.first()[order]
    place = np.column_stack([one.values.reference[rows].astype(np.int32) for one in left_out])
    searches = filled(left_out, ruler.span.size, place)

    def part(a: int, b: int) -> None:
        who, first = people[start[a] : start[b]], int(start[a])
        truth = np.column_stack([one.values.truth[who].astype(np.int32) for one in left_out])
        # in the order of the search: the loop would wait for values that lie far apart
        parts = np.empty((4, *truth.shape))
        answers = ANSWERS(truth=truth, **dict(zip(FOUND, parts, strict=True)), first=first)
        _walk(tree, asked, asking, searches, answers, a, b)
        for i, one in enumerate(found):
            for name, own in zip(FOUND, parts, strict=True):
                if len(kept := getattr(one, name)):
                    kept[who] = own[:, i]

    in_parts(part, n, max(64, min(4096, n // (8 * threads))), threads, progress, stop)
