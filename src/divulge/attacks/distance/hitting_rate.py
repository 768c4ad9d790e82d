"""Hitting rate: the share of people to whom a synthetic row is similar in every column.

It was published as one number. It can be far from 0 without any leak, so the same number is given for strangers, and a
risk with an interval compares the two.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from divulge.attacks.checks import Floats
from divulge.attacks.distance._by_record import by_record
from divulge.attacks.distance.attracted import prepared_distances
from divulge.attacks.entry import Exact, Words, per_table
from divulge.attacks.registry import attack
from divulge.case.case import Case
from divulge.core.distinct_values import distinct_values
from divulge.core.errors import SettingError
from divulge.core.result import Result
from divulge.kernels.counts.contingency import combine
from divulge.kernels.neighbours.gower import Rows

__all__ = ["hitting_rate"]

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

_PAIRS = 2_000_000  # pairs compared at once: a limit on the memory
_PART = 2_000_000  # synthetic rows looked at at once: a limit on the memory


# ---------------------------------------------------------------- hitting rate


_HITTING_RATE_WORDS = Words(
    says="I find a synthetic row that has a person's every category, and nearly each of the person's numbers.",
    knows="The record of one person, and the whole synthetic table.",
    data=(
        "Columns of numbers, dates or categories, every row in memory; a holdout says how many hits chance gives. "
        "Constants, identifiers, free text, the unit and ignored columns are left out unless named."
    ),
    formula=(
        "hit = some synthetic row has equal categories, and |a - b| <= within * range in every number\n"
        "p_T, p_C = share of members, of strangers who are hit\n"
        "risk = (p_T - p_C) / (1 - p_C)\n"
        "range: of the column in real and holdout together; within = 1/30; missing agrees with missing."
    ),
    reading=(
        "A rate of 0 means that nobody is hit, 1 that everybody is, as on coarse data. Leak-free data hit strangers "
        "as often: risk 0. Risk 1 means that every member is hit, a negative risk that strangers are hit more "
        "often. Strangers are the only baseline."
    ),
    silent=(
        "A jitter beyond the width, or one changed category, hides a copy.",
        "The rate alone says nothing: it depends on how many columns there are and how coarse they are.",
        "The width of 1/30 of the range is a convention.",
    ),
)


@attack(
    family="distance",
    question="Is there a synthetic row that agrees with this person in every category and nearly in every number?",
    needs="numbers or categories; a holdout says how many hits chance gives",
    reference="Lautrup et al. 2024, SynthEval (hitting rate).",
    words=_HITTING_RATE_WORDS,
    sampled=True,
    plan=per_table(by_parts="yes"),
    hit={"": "a synthetic row agrees with"},
    context={
        "leak-free excess over strangers": Exact(),
    },
)
def hitting_rate(case: Case, *, columns: Sequence[str] | None = None, within: float = 1 / 30) -> Result:
    """Return the share of people hit by a synthetic row: all categories equal, every number within range/30.

    Ranges are those of real and holdout pooled; missing agrees only with missing. Leak-free data hit strangers as often
    as members, and on coarse data they hit everybody. The measure sees exact and close copies. Jitter beyond the width,
    or one changed category, hides a copy.

    Parameters
    ----------
    columns
        Compare only these columns; None takes all that can be compared.
    within
        Share of a column's range by which a number may differ, at least 0.

    Raises
    ------
    SettingError
        `within` is negative or not a number.

    Examples
    --------
    >>> import polars as pl
    >>> real = pl.DataFrame({"x": [0.5, 10.0, 30.0], "c": ["a", "a", "b"]})
    >>> hitting_rate(real, pl.DataFrame({"x": [1.0, 12.0, 30.0], "c": ["a", "a", "a"]})).real.hits
    1.0
    """
    if not (math.isfinite(within) and within >= 0):
        raise SettingError("within: must be a number of at least 0. hint: 1/30 of the range is the published width.")
    d, notes, settings = prepared_distances(case, columns)
    plain = Result(
        attack="hitting_rate",
        settings=settings | {"within": within},
        context={"leak-free excess over strangers": 0.0} if case.has_holdout else {},
        notes=tuple(notes),
    )
    # a difference equal to the width counts, whatever its last bit
    width = d.ruler.span * (within * (1 + 1e-12))
    people, synthetic, m = d.rows("people"), d.source("synthetic"), d.n_rows("synthetic")
    hit = np.zeros(len(people), dtype=bool)
    for first in range(0, m, _PART):
        left = np.flatnonzero(~hit)
        hit[left] = _hit(people.take(left), synthetic.part(first, min(first + _PART, m)), width)
    n = d.n_rows("real")
    return by_record(case, plain, hit[:n], hit[n:] if case.has_holdout else None)


def _hit(people: Rows, synthetic: Rows, width: Floats) -> Bools:
    """Return for each person whether a synthetic row has equal codes and every number within its width.

    Rows are grouped by codes and by cells of one number, each one width wide, and sorted by a second number within a
    group. Of the rows in the three cells around a person only those in the window of the second number are compared.
    """
    n = len(people)
    rows = Rows.stack([people, synthetic])
    numbers = np.where(np.isnan(rows.numbers), 0.0, rows.numbers)  # the marks in the codes tell missing from numbers
    group = _groups(rows)
    order = np.argsort([-len(distinct_values(x)) for x in numbers.T], kind="stable")
    steps: tuple[int, ...] = (0,)
    if len(order) > 1:
        cell, n_cells = _cells(numbers[:, order[1]], float(width[order[1]]))
        group = group * (n_cells + 2) + cell + 1
        steps = (-1, 0, 1) if n_cells > 1 else (0,)
    hit = np.zeros(n, dtype=bool)
    rank, low, high, n_ranks = _windows(numbers, order, width, n)
    key = group[n:] * n_ranks + rank[n:]
    place = np.argsort(key, kind="stable")
    key, candidates = key[place], numbers[n:][place]
    for step in steps:
        base = (group[:n] + step) * n_ranks
        first, last = np.searchsorted(key, base + low, side="left"), np.searchsorted(key, base + high, side="left")
        # the middle of the window first: most people who are hit are hit there
        middle_ = first + (last - first) // 2
        for begin, end in ((np.maximum(first, middle_ - 4), np.minimum(last, middle_ + 4)), (first, last)):
            for person, row in _pairs(begin, np.where(hit, begin, end)):
                with np.errstate(invalid="ignore"):  # infinity less infinity: equal
                    near = np.ones(len(person), dtype=bool)
                    for j in order:
                        near &= ~(np.abs(numbers[person, j] - candidates[row, j]) > width[j])
                hit[person[near]] = True
    return hit


def _groups(rows: Rows) -> Ints:
    """Return the group number of each row; rows of equal codes share one, and numbers run from 0 without gaps."""
    if not rows.codes.shape[1]:
        return np.zeros(len(rows), dtype=np.int64)
    columns = [np.ascontiguousarray(c) for c in rows.codes.T]
    ids, _ = combine(columns, [int(c.max(initial=0)) + 1 for c in columns])
    return np.unique(ids, return_inverse=True)[1].astype(np.int64)


def _cells(values: Floats, width: float) -> tuple[Ints, int]:
    """Return the cell of each number. Cells are one width wide, or wider if there were more than a million.

    Wider cells give more pairs to compare and the same result.
    """
    finite_ = values[np.isfinite(values)]
    if not len(finite_) or not width > 0:
        return np.zeros(len(values), dtype=np.int64), 1
    low = finite_.min()
    wide = max(width, (finite_.max() / 1e6 - low / 1e6)) * (1 + 1e-9)
    n_cells = int((finite_.max() - low) // wide) + 1
    clipped = np.clip(values, low, finite_.max())
    return ((clipped - low) // wide).astype(np.int64), n_cells


def _windows(numbers: Floats, order: Ints, width: Floats, n: int) -> tuple[Ints, Ints, Ints, int]:
    """Return the rank of each row by the number with most distinct values, and the range of ranks for each person."""
    if not len(order):
        zero = np.zeros(len(numbers), dtype=np.int64)
        return zero, zero[:n], zero[:n] + 1, 1
    x = numbers[:, order[0]]
    distinct, rank = np.unique(x, return_inverse=True)
    w = width[order[0]] * (1 + 1e-9)  # slightly too wide: the exact comparison decides
    low = np.searchsorted(distinct, x[:n] - w, side="left")
    high = np.searchsorted(distinct, x[:n] + w, side="right")
    return rank.astype(np.int64), low.astype(np.int64), high.astype(np.int64), len(distinct) + 1


def _pairs(first: Ints, last: Ints) -> Iterator[tuple[Ints, Ints]]:
    """Yield blocks of pairs (i, r) with first[i] <= r < last[i], each of bounded size."""
    counts = np.maximum(last - first, 0)
    ends = np.cumsum(counts)
    done = 0
    for upto in range(_PAIRS, int(ends[-1]) + _PAIRS if len(ends) else 0, _PAIRS):
        stop = min(upto, int(ends[-1]))
        numbers = np.arange(done, stop)
        person = np.searchsorted(ends, numbers, side="right")
        yield person, first[person] + numbers - (ends[person] - counts[person])
        done = stop
