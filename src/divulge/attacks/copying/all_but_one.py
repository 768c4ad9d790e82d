"""Copies with one column changed: a synthetic row equals a person's record in all compared columns or all but one.

On coarse tables such matches happen by chance to some people often and to others hardly ever. So a match is weighted by
1 / max(c, .1), where c is the chance of a match if the synthetic rows were drawn from the other people, members and
strangers together. Weights near 1 / c are the best for independent hits, and c does not depend on who is a member.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from divulge.attacks.checks import SHOWN, by_record, shown_by
from divulge.case.case import Case
from divulge.core.hashing import once
from divulge.core.result import Result
from divulge.stats import Comparison
from divulge.stats.intervals import normal_quantile

__all__ = ["ALL_BUT_ONE", "ALL_BUT_ONE_NOTES", "SMALLEST", "all_but_one"]

Hashes = NDArray[np.uint64]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

ALL_BUT_ONE = "all but one"
SMALLEST = "smallest share of copied people that would be found"
"""Key of the context: for this comparison alone, two-sided at the level of the run, with 80 % power."""
_LEAST = 0.1
"""Chance below which the weight grows no more: the share of the strangers who match would rest on few people."""
_COLUMNS = 3  # with two columns any common value would be a match
_POWER = 0.8

_NOTE = (
    "all but one: a synthetic row equals the record in all compared columns or all but one; a match counts the more "
    "the less the other people would give one by chance, at most 1"
)


_FEW = f"all but one: not tested, fewer than {_COLUMNS} columns are compared"
_ELSEWHERE = "all but one: not tested, it needs every row in memory"
ALL_BUT_ONE_NOTES = (_NOTE, _FEW, _ELSEWHERE)


def all_but_one(case: Case, columns: Sequence[str]) -> tuple[Result | None, str]:
    """Return the weighted share of people whom a synthetic row matches in all columns or all but one.

    Parameters
    ----------
    columns
        The columns of an exact comparison; those with one value are left out.

    Returns
    -------
    result, note
        No result, and a note with the reason, where fewer than three columns are left or rows are not in memory.
    """
    used = sorted(c for c in columns if case.schema[c].kind != "constant")
    if len(used) < _COLUMNS:
        return None, _FEW
    if not case.in_memory:
        return None, _ELSEWHERE
    rows = [case.encoded.row_hashes(used, i) for i in range(len(case.tables))]
    n_synthetic = len(once(rows[1]))  # a synthetic table written twice says no more
    people = np.concatenate([rows[i] for i in case.encoded.people])
    synthetic, n_real = rows[1], len(rows[0])
    hit, copied = np.zeros(len(people), dtype=bool), np.zeros(len(people), dtype=bool)
    exact = _matches(people, synthetic, n_real)[2]
    others = exact - 1
    for column in used:
        own = [case.encoded.row_hashes([column], i) for i in range(len(case.tables))]
        left = people - np.concatenate([own[i] for i in case.encoded.people])
        released, members, times = _matches(left, synthetic - own[1], n_real)
        hit |= released
        copied |= members
        others += times - exact
    weight = _LEAST / np.maximum(_LEAST, _chance(others, len(people), n_synthetic))
    return _result(case, len(used), n_real, hit * weight, copied * weight, weight), ""


def _matches(people: Hashes, synthetic: Hashes, n_real: int) -> tuple[Bools, Bools, Ints]:
    """Return for each person whether a synthetic row has the hash, whether a real row has, and how many people have."""
    order = np.argsort(people)
    ordered, known = people[order], np.sort(synthetic)
    first = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    times = np.diff(np.r_[first, len(people)])
    place = np.minimum(np.searchsorted(known, ordered[first]), len(known) - 1)
    of_each = known[place] == ordered[first], np.logical_or.reduceat(order < n_real, first), times
    out = np.zeros(len(people), dtype=bool), np.zeros(len(people), dtype=bool), np.zeros(len(people), dtype=np.int64)
    for whole, part in zip(out, of_each, strict=True):
        whole[order] = np.repeat(part, times)
    return out


def _chance(others: Ints, n_people: int, n_synthetic: int) -> Floats:
    """Return the chance that one of the synthetic rows would match if each were drawn from the other people."""
    share = np.minimum(others / max(1, n_people - 1), 1.0)
    with np.errstate(divide="ignore"):
        return np.asarray(-np.expm1(n_synthetic * np.log1p(-share)))


def _result(case: Case, n_columns: int, n_real: int, scores: Floats, copied: Floats, weight: Floats) -> Result:
    context: dict[str, float | None] = {}
    if case.has_holdout:
        context = {SHOWN: shown_by(copied[:n_real], copied[n_real:])}
    plain = Result(
        attack="copies", variant=ALL_BUT_ONE, settings={"columns": n_columns}, context=context, notes=(_NOTE,)
    )
    strangers = scores[n_real:] if case.has_holdout else None
    result = by_record(case, plain, scores[:n_real], strangers, curves=True, draws=0)
    if result.comparison is None:
        return result
    share = _smallest(result.comparison, scores[:n_real], weight[:n_real], case.level)
    return replace(result, context={**result.context, SMALLEST: share if share < 1 else None})


def _smallest(comparison: Comparison, scores: Floats, weight: Floats, level: float) -> float:
    """Return the share of copied members that this comparison finds with 80 % power; infinite where it finds none.

    A copied member scores the whole weight. That raises the mean by the share times what is gained, and the variance.
    """
    low, high = comparison.difference.low, comparison.difference.high
    error = ((high - low) / 2 / normal_quantile(level)) ** 2
    n_units, n = comparison.real.n_clusters, len(scores)

    def mean(values: Floats) -> float:
        return math.fsum(values.tolist()) / n

    now, full = mean(scores), mean(weight)
    squares, full_squares = mean(scores * scores), mean(weight * weight)

    def missing(share: float) -> float:
        """The excess that is needed less the one that this share gives; falls where the share can be found."""
        spread = squares + share * (full_squares - squares) - (now + share * (full - now)) ** 2
        more = max(0.0, spread - (squares - now**2)) / n_units
        needed = (normal_quantile(level) + normal_quantile(2 * _POWER - 1)) * math.sqrt(error + more)
        return needed - share * (full - comparison.holdout.rate)

    if not missing(1.0) < 0:
        return math.inf
    below, above = 0.0, 1.0
    for _ in range(40):
        middle = (below + above) / 2
        below, above = (below, middle) if missing(middle) < 0 else (middle, above)
    return above
