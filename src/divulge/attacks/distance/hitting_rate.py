"""Hitting rate: the share of people to whom a synthetic row is similar in every column.

It was published as one number. It can be far from 0 without any leak, so the same number is given for strangers, and a
risk with an interval compares the two.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from divulge.attacks.checks import Floats, by_record
from divulge.attacks.distance.attracted import prepared_distances
from divulge.attacks.entry import Cost, EngineWork, Exact, Settings, Words, per_table
from divulge.attacks.registry import attack
from divulge.case.case import Case
from divulge.core.distinct_values import distinct_values
from divulge.core.errors import SettingError
from divulge.core.result import Result
from divulge.kernels.counts.contingency import combine
from divulge.kernels.neighbours.gower import Rows
from divulge.kernels.places import places

__all__ = ["hitting_rate"]

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

_PAIRS = 2_000_000  # pairs compared at once: a limit on the memory
_PART = 2_000_000  # synthetic rows looked at at once: a limit on the memory
_LOOKED_AT = 50_000  # rows at most by which the columns with most values are told


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


def _seconds(work: EngineWork, settings: Settings) -> float:
    in_parts = work.asked * math.ceil(work.synthetic / 10**6)  # who is hit by no row is looked for in each part
    return 4.7e-8 * work.synthetic * work.columns + 5e-7 * in_parts


@attack(
    family="distance",
    question="Is there a synthetic row that agrees with this person in every category and nearly in every number?",
    needs="numbers or categories; a holdout says how many hits chance gives",
    reference="Lautrup et al. 2024, SynthEval (hitting rate).",
    words=_HITTING_RATE_WORDS,
    sampled=True,
    plan=per_table(by_parts="yes"),
    cost=Cost(seconds=_seconds),
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
    Synthetic rows whose codes nobody has are left out, and people are looked at in the order of their windows.
    """
    n = len(people)
    own_group, group = _groups(people, synthetic)
    is_asked = np.zeros(int(max(own_group.max(initial=0), group.max(initial=0))) + 1, dtype=bool)
    is_asked[own_group] = True
    kept = np.flatnonzero(is_asked[group])
    group, synthetic = group[kept], synthetic.take(kept)
    # the marks in the codes tell missing from numbers
    own, numbers = (np.where(np.isnan(rows.numbers), 0.0, rows.numbers) for rows in (people, synthetic))
    some = numbers[:: 1 + len(numbers) // _LOOKED_AT]
    order = np.argsort([-len(distinct_values(x)) for x in some.T], kind="stable")
    steps: tuple[int, ...] = (0,)
    if len(order) > 1:
        own_cell, cell, n_cells = _cells(own[:, order[1]], numbers[:, order[1]], float(width[order[1]]))
        own_group, group = (g * (n_cells + 2) + c + 1 for g, c in ((own_group, own_cell), (group, cell)))
        steps = (-1, 0, 1) if n_cells > 1 else (0,)
    rank, low, high, n_ranks = _windows(own, numbers, order, width)
    key = group * n_ranks + rank
    place = np.argsort(key, kind="stable")
    key, candidates = key[place], numbers[place]
    asked = np.argsort(own_group * n_ranks + low, kind="stable")
    base_of, own = own_group[asked], own[asked]
    low, high, hit = low[asked], high[asked], np.zeros(n, dtype=bool)
    for step in steps:
        base = (base_of + step) * n_ranks
        first, last = np.searchsorted(key, base + low, side="left"), np.searchsorted(key, base + high, side="left")
        # the middle of the window first: most people who are hit are hit there
        middle_ = first + (last - first) // 2
        for begin, end in ((np.maximum(first, middle_ - 4), np.minimum(last, middle_ + 4)), (first, last)):
            for person, row in _pairs(begin, np.where(hit, begin, end)):
                with np.errstate(invalid="ignore"):  # infinity less infinity: equal
                    near = np.ones(len(person), dtype=bool)
                    for j in order:
                        near &= ~(np.abs(own[person, j] - candidates[row, j]) > width[j])
                hit[person[near]] = True
    out = np.empty(n, dtype=bool)
    out[asked] = hit
    return out


def _groups(people: Rows, synthetic: Rows) -> tuple[Ints, Ints]:
    """Return the group number of each row; rows of equal codes share one, and numbers run from 0 without gaps."""
    n = len(people)
    if not people.codes.shape[1]:
        return np.zeros(n, dtype=np.int64), np.zeros(len(synthetic), dtype=np.int64)
    columns = [np.concatenate([a, b]) for a, b in zip(people.codes.T, synthetic.codes.T, strict=True)]
    ids, limit = combine(columns, [int(c.max(initial=0)) + 1 for c in columns])
    group = places(ids, limit)[1]
    return group[:n], group[n:]


def _cells(own: Floats, others: Floats, width: float) -> tuple[Ints, Ints, int]:
    """Return the cells of the numbers of people and of synthetic rows, and how many cells there are.

    Cells are one width wide, or wider if there were more than a million. Wider cells give more pairs to compare and the
    same result.
    """
    finite = [x[np.isfinite(x)] for x in (own, others)]
    low, high = min(x.min(initial=np.inf) for x in finite), max(x.max(initial=-np.inf) for x in finite)
    if low > high or not width > 0:
        return np.zeros(len(own), dtype=np.int64), np.zeros(len(others), dtype=np.int64), 1
    wide = max(width, (high / 1e6 - low / 1e6)) * (1 + 1e-9)
    first, second = (((np.clip(x, low, high) - low) // wide).astype(np.int64) for x in (own, others))
    return first, second, int((high - low) // wide) + 1


def _windows(own: Floats, numbers: Floats, order: Ints, width: Floats) -> tuple[Ints, Ints, Ints, int]:
    """Return the rank of each synthetic row by the number with most distinct values, and the ranks for each person."""
    if not len(order):
        zero = np.zeros(len(own), dtype=np.int64)
        return np.zeros(len(numbers), dtype=np.int64), zero, zero + 1, 1
    x, others = own[:, order[0]], numbers[:, order[0]]
    distinct = distinct_values(others)
    rank = np.searchsorted(distinct, others)
    w = width[order[0]] * (1 + 1e-9)  # slightly too wide: the exact comparison decides
    low, high = np.searchsorted(distinct, x - w, side="left"), np.searchsorted(distinct, x + w, side="right")
    return rank, low, high, len(distinct) + 1


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
