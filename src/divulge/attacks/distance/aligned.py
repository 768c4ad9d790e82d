"""Copies under other labels: members nearer to the synthetic table than strangers are, once it is aligned with people.

Codes that were renamed, numbers whose sign, scale or origin changed and columns that changed places keep all that tells
who is in the table, and a comparison of values sees nothing of it. The alignment (`divulge.stats.alignment`) and the
distances are made from all people together, so that the test of `divulge.stats.precedence.front` is exact.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from divulge.attacks.checks import score_of, shown_difference, shown_risk
from divulge.attacks.distance.nearest_people import nearest_of_units
from divulge.attacks.entry import Rounding, Withheld
from divulge.case.case import Case
from divulge.case.drawn_people import drawn_people
from divulge.core.result import Rate, Result
from divulge.kernels.neighbours.gower import Field, fit_ruler
from divulge.kernels.neighbours.index import Index
from divulge.stats import Outcomes, compare
from divulge.stats.alignment import Aligned, align, matched_columns
from divulge.stats.precedence import FRONT, NearestGroups, few_members, front

__all__ = ["ALIGNED", "ALIGNED_CONTEXT", "ALIGNED_NOTES", "nearer_when_aligned"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

ALIGNED = "aligned"
VIEWS = ("same columns", "either sign", "any columns", "any columns and sign", "columns matched")
_MOST_PEOPLE = 2_000  # of either side; a limit on the time
_MOST_ROWS = 100_000  # synthetic rows that are searched; a limit on the time
_MOST_COLUMNS = 60  # that are aligned; a limit on the time
_APART = 2.0  # standard scores from which two numbers are as far apart as two codes that differ
_OFTEN = 0.5  # difference of two frequencies from which codes count as different, where columns may change places
_DIGITS = 9
_LEVEL = 0.05

_LEAST = "smallest share of copied members that would be found, were the alignment complete"
_GROUPS = [f"nearest {p / 10:g}%" for p in FRONT]
ALIGNED_CONTEXT: dict[str, Rounding] = {_LEAST: Withheld(), **{f"p-value, {view}": Withheld() for view in VIEWS}}
"""Further numbers of the result, and how an external edition rounds them."""
_HOW = (
    "codes, signs, scales and places of columns were aligned between the synthetic table and all people together, "
    "whatever their labels; then members and strangers were compared by their distance to the nearest row"
)
_SEES = (
    "a screening: without a finding it has no verdict and bounds nothing. In simulated tables of 400 people it saw "
    "renamed codes and turned signs from 10% of copies on, columns that changed places from 30 to 50%; of 1,500 people "
    "from 5 to 20%. Codes that are equally frequent and depend on no other column cannot be told apart"
)
_FEWER = f"the first {_MOST_COLUMNS} columns by name were aligned"
_SAMPLED = f"at most {_MOST_PEOPLE:,} members, as many strangers and {_MOST_ROWS:,} synthetic rows were compared"
_ABOUT = "the rates are of the people nearest to the aligned synthetic rows"
ALIGNED_NOTES = tuple(
    re.sub(r"\d+(,\d{3})*", "#", note)
    for note in (
        _HOW,
        _SEES,
        _FEWER,
        _SAMPLED,
        *(f"{_ABOUT} ({view}): the nearest 1%, ties included" for view in VIEWS),
    )
)
"""Notes for the entry; "#" stands for a number."""


class _ViewedRows(NamedTuple):
    """Codes, shape (n, n_codes), and numbers, shape (n, n_numbers), of people or of synthetic rows."""

    codes: Ints
    numbers: Floats


def nearer_when_aligned(case: Case, plain: Result, columns: Sequence[str]) -> Result:
    """Return the result of exact tests on the people nearest to the aligned synthetic rows; needs a holdout.

    In each view six groups of people are tested for too many members, and the p-value is corrected for all of them,
    so that the result is a family of its own (`Attack.alone`). The verdict is "excess found" or none.
    """
    names = sorted(columns)[:_MOST_COLUMNS]
    wanted = (_MOST_PEOPLE, _MOST_ROWS, _MOST_PEOPLE)
    asked = [_drawn(case, which, most) for which, most in enumerate(wanted)]
    real, synthetic, holdout = (_rows_of(case, names, which, rows) for which, rows in enumerate(asked))
    people = _ViewedRows(*(np.concatenate(both) for both in zip(real, holdout, strict=True)))
    views = _views(align(people, synthetic))
    order = matched_columns(people, synthetic)
    if order.changes:  # else it is the first view once more
        moved = align(people, (synthetic.codes[:, order.codes], synthetic.numbers[:, order.numbers]))
        views[VIEWS[4]] = _in_columns(moved)
    units = [
        None if (own := case.units(role)) is None else own[rows]
        for role, rows in zip(("real", "holdout"), asked[::2], strict=True)
    ]
    tests = {}
    for view, distances in views.items():
        members, strangers = np.split(distances, [len(real.codes)])
        tests[view] = front(nearest_of_units(members, units[0]), nearest_of_units(strangers, units[1]))
    n_tests = sum(len(t.p_values) for t in tests.values())
    least = {view: float(t.p_values.min()) for view, t in tests.items()}
    view = min(least, key=lambda v: least[v])
    found, p = tests[view], min(1.0, n_tests * least[view])
    context: dict[str, float | None] = {f"p-value, {v}": q for v, q in least.items()}
    context[_LEAST] = least_share(found.n_members, found.n_strangers, n_tests)
    notes = [_HOW, _SEES, *([_FEWER] if len(names) < len(columns) else [])]
    if any(len(rows) < case.n_rows(role) for rows, role in zip(asked, ("real", "synthetic", "holdout"), strict=True)):
        notes.append(_SAMPLED)
    plain = replace(
        plain, p_value=p, p_adjusted=p, context=plain.context | context, notes=(*plain.notes, *notes),
    )  # fmt: skip
    clear = _with_verdict(case, plain, view, found, n_tests) if p <= 1 - case.level else None
    # the rates of a view that was fixed beforehand: which one is smallest may turn on one person
    return _with_rates(plain, VIEWS[0], tests[VIEWS[0]], 0) if clear is None else clear


def _drawn(case: Case, which: int, most: int) -> Ints:
    """Return the rows of a table that are compared: all, or those of a random sample of people."""
    if case.n_rows(("real", "synthetic", "holdout")[which]) <= most:
        return np.arange(case.tables[which].n_rows)
    return drawn_people(case, which, most)


def _rows_of(case: Case, names: Sequence[str], which: int, rows: Ints) -> _ViewedRows:
    codes, numbers = [], []
    for name in names:
        own = case.codes(name, binned=False)[which][rows]
        if case.encoded.is_number(name):
            numbers.append(case.numbers(name)[own])
        else:
            codes.append(own.astype(np.int64))
    return _ViewedRows(
        np.stack(codes, axis=1) if codes else np.zeros((len(rows), 0), dtype=np.int64),
        np.stack(numbers, axis=1) if numbers else np.zeros((len(rows), 0)),
    )


# ---------------------------------------------------------------- distances


def _views(aligned: Aligned) -> dict[str, Floats]:
    """Return the distance of each person to the nearest synthetic row in each view.

    "same columns": codes and signed numbers in their columns; "either sign": numbers without their signs; "any
    columns": the numbers of a row, and the frequencies of its codes, each in order of size; "any columns and sign".
    A further one, "columns matched", is "same columns" after the synthetic columns were put in the order of those that
    they resemble.
    """
    codes = [aligned.people_codes, aligned.synthetic_codes]
    numbers = [aligned.people_numbers / _APART, aligned.synthetic_numbers / _APART]
    often = [_frequencies(c) / _OFTEN for c in codes]
    out = {VIEWS[0]: _in_columns(aligned)}
    if numbers[0].shape[1]:
        out[VIEWS[1]] = _nearest(codes, [np.abs(x) for x in numbers])
    if codes[0].shape[1] + numbers[0].shape[1] > 1:
        out[VIEWS[2]] = _nearest(None, [_in_order(f, x) for f, x in zip(often, numbers, strict=True)])
    if numbers[0].shape[1] > 1:
        out[VIEWS[3]] = _nearest(None, [_in_order(f, np.abs(x)) for f, x in zip(often, numbers, strict=True)])
    return out


def _in_columns(aligned: Aligned) -> Floats:
    """Return the distances by codes and signed numbers in their columns."""
    codes = [aligned.people_codes, aligned.synthetic_codes]
    numbers = [aligned.people_numbers, aligned.synthetic_numbers * aligned.signs]
    return _nearest(codes, [x / _APART for x in numbers])


def _in_order(often: Floats, numbers: Floats) -> Floats:
    """Return the frequencies of the codes of each row, and its numbers, each in order of size."""
    return np.hstack([np.sort(often, axis=1), np.sort(numbers, axis=1)])


def _frequencies(codes: Ints) -> Floats:
    """Return for each code the share of the rows that have it."""
    out = np.empty(codes.shape)
    for j, column in enumerate(codes.T):
        out[:, j] = (np.bincount(column) / max(1, len(column)))[column]
    return out


def _nearest(codes: Sequence[Ints] | None, numbers: Sequence[Floats]) -> Floats:
    """Return the distance of each person to the nearest synthetic row; numbers 1 apart count as codes that differ."""
    fields = (
        [
            Field(f"code {j}", None, (*(c[:, j].astype(np.int32) for c in codes), np.zeros(2, np.int32)))
            for j in range(codes[0].shape[1])
        ]
        if codes is not None
        else []
    )
    for j in range(numbers[0].shape[1]):
        values = (*(x[:, j] for x in numbers), np.array([0.0, 1.0]))
        fields.append(Field(f"number {j}", values, tuple(np.isnan(v).astype(np.int32) for v in values)))
    ruler, (people, synthetic, _) = fit_ruler(fields, ranges_of=[2])
    return np.asarray(Index(ruler, synthetic).nearest(people).distances[:, 0].round(_DIGITS))


# ---------------------------------------------------------------- the result


def least_share(n_members: int, n_strangers: int, n_tests: int, alpha: float = _LEVEL) -> float | None:
    """Return the smallest share of members that is found where these are the nearest and all others mix; None if none.

    Examples
    --------
    >>> least_share(400, 400, 18), least_share(3, 3, 18)
    (0.0225, None)
    """
    n = n_members + n_strangers

    def is_found(copied: int) -> bool:
        for per_mille in FRONT:
            size = max(copied, -(-per_mille * n // 1000))  # copies tie, and are taken together
            mixed = max(0, size - copied) * (n_members - copied) / max(1, n - copied)
            members = min(size, n_members, copied + round(mixed))
            if n_tests * few_members(size - members, size, n_strangers, n_members) <= alpha:
                return True
        return False

    copied = bisect_left(range(n_members + 1), True, key=is_found) if n else n_members + 1
    return copied / n_members if copied <= n_members else None


def _with_rates(plain: Result, view: str, found: NearestGroups, group: int) -> Result:
    real, holdout = (
        Rate(hits=float(hits), n=n, rate=int(hits) / n if n else None)
        for hits, n in ((found.members[group], found.n_members), (found.strangers[group], found.n_strangers))
    )
    told = f"{_ABOUT} ({view}): the {_GROUPS[group]}, ties included"
    return replace(plain, real=real, holdout=holdout, notes=(*plain.notes, told))


def _with_verdict(case: Case, plain: Result, view: str, found: NearestGroups, n_tests: int) -> Result | None:
    """Return the result with "excess found", difference and risk; None where their lower limits are not above 0."""
    group = found.decides
    both = [
        Outcomes(np.array([1.0, 0.0]), np.array([hits, n - hits]))
        for hits, n in ((found.members[group], found.n_members), (found.strangers[group], found.n_strangers))
    ]
    comparison = compare(*both, level=case.level, rng=case.rng(f"dcr {ALIGNED}"), draws=0)
    wide, wide_risk = comparison.at(1 - (1 - case.level) / n_tests)  # Bonferroni, as for the p-value
    if not (wide.low > 0 and wide_risk.low > 0):
        return None
    risk = shown_risk(comparison, wide_risk, case.level)
    return replace(
        _with_rates(plain, view, found, group),
        verdict="excess found",
        score=score_of(risk, 1.0, "excess found")[0],
        difference=shown_difference(comparison.difference, wide),
        risk=risk,
    )
