"""Rows whose numbers stand in the synthetic table all times one factor, or all plus one number, of each row's own.

Amounts that are masked by a factor drawn for each record, profiles divided by their total, and values less the mean of
their row keep how the numbers of a person lie to each other.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from divulge.attacks.checks import by_record
from divulge.attacks.copying.one_column import PEOPLE, is_row_number, n_people_with, units_of_people
from divulge.case.case import Case
from divulge.case.drawn_people import drawn_people
from divulge.case.encoded import ROLES
from divulge.core.result import Result
from divulge.kernels.neighbours.gower import Field, fit_ruler
from divulge.kernels.neighbours.index import Index

__all__ = ["MOVED_ROWS", "MOVED_ROWS_NOTES", "MOVED_ROW_HITS", "moved_rows"]

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOVED_ROWS = "moved rows"
SCALED, SHIFTED = "row, scaled", "row, shifted"
MOVED_ROW_HITS = {SCALED: "the numbers, all times one factor, of", SHIFTED: "the numbers, all plus one number, of"}
LEAST = 3
"""Numbers of a row that are compared: of two that lie somehow to each other many people have the like."""
NEARER = 4
"""How many times nearer than the nearest other person's a synthetic row begins to count; chosen on load profiles of 24
hours and on amounts of which four of five are 0, of 1,500 people each."""
_ALONE = (
    0.05  # part of the people with a number other than 0 who have it to themselves, from which a column is compared
)
_MOST_PEOPLE = 2_000  # of either side; a limit on the time
_MOST_ROWS = 100_000  # synthetic rows that are searched; a limit on the time
_MOST_COLUMNS = 60  # a limit on the time
_SPREADS = 3.0  # spreads of a column from which two numbers are as far apart as a number and none
_FARTHEST = 1e3  # in these units, so that the largest numbers have a distance
_DIGITS = 9  # further digits hang on the unit of measure
_MOST_OWN = 64  # rows of one unit that the search for another person's skips

_HOW = (
    f"the numbers of a row other than 0, {LEAST} or more, are compared after the middle one of them is taken off (of "
    "logarithms, where all are scaled); a synthetic row counts that is at least four times nearer than the nearest "
    "other person's, the more the nearer it is"
)
_SAMPLED = f"at most {_MOST_PEOPLE:,} members, as many strangers and {_MOST_ROWS:,} synthetic rows were compared"
_FEWER = f"the first {_MOST_COLUMNS} columns of numbers by name were compared"
_ELSEWHERE = "moved rows: not compared, they need every row in memory"
MOVED_ROWS_NOTES = (_HOW, _SAMPLED, _FEWER, _ELSEWHERE)


def moved_rows(case: Case) -> tuple[list[Result], str]:
    """Return how nearly a synthetic row has the numbers of members and strangers, but for a factor or a number added.

    All columns of numbers are compared together in which a twentieth of the people, of those with a number other than
    0, has one that nobody else has. A 0 is like a missing number: it is the same or it is not. Nothing depends on who
    is a member.

    Returns
    -------
    results, note
        One result for rows times a factor, of columns without negative numbers, and one for a number added, each where
        three columns can be compared; the note says why none was.
    """
    if sum(case.tables[i].n_rows for i in case.encoded.people) < PEOPLE:
        return [], ""
    columns = [c for c in sorted(case.schema.usable()) if _can_be_moved(case, c)]
    if len(columns) < LEAST:
        return [], ""
    if not case.in_memory:
        return [], _ELSEWHERE
    columns = [c for c in columns if _alone(case, c) >= _ALONE]
    positive = [c for c in columns if not _negative(case, c).any()]
    found = [
        _compared(case, variant, some[:_MOST_COLUMNS], fewer=len(some) > _MOST_COLUMNS)
        for variant, some in ((SCALED, positive), (SHIFTED, columns))
        if len(some) >= LEAST
    ]
    return found, ""


def _can_be_moved(case: Case, column: str) -> bool:
    numeric = case.schema[column].kind == "numeric" and column != case.unit and not case.is_unread(column)
    return numeric and not is_row_number(case, column)


def _alone(case: Case, column: str) -> float:
    """Return the part of the people with a number other than 0 who have it to themselves."""
    numbers = case.numbers(column)
    codes = np.concatenate([case.codes(column, binned=False)[i] for i in case.encoded.people]).astype(np.int64)
    tokens = np.where(np.isfinite(numbers[codes]) & (numbers[codes] != 0), codes, -1)
    asked = tokens >= 0
    if asked.sum() < PEOPLE:
        return 0.0
    return float((n_people_with(case, tokens, len(numbers)) == 1)[tokens[asked]].mean())


def _negative(case: Case, column: str) -> Bools:
    occurs = np.sum(case.pooled(column).counts, axis=0) > 0
    return np.asarray(case.numbers(column)[occurs] < 0)


def _compared(case: Case, variant: str, columns: list[str], *, fewer: bool) -> Result:
    rows = {i: drawn_people(case, i, _MOST_ROWS if i == 1 else _MOST_PEOPLE) for i in sorted((*case.encoded.people, 1))}
    numbers = {
        i: np.stack([case.numbers(c)[case.codes(c, binned=False)[i][own]] for c in columns], axis=1)
        for i, own in rows.items()
    }
    people = np.concatenate([numbers[i] for i in case.encoded.people])
    asked, theirs, released = _without_level(people, numbers[1], logarithms=variant == SCALED)
    unit = np.arange(len(people))
    if case.unit is not None:
        ends = np.cumsum([0, *(case.n_rows(ROLES[i]) for i in case.encoded.people)])
        unit = units_of_people(case)[np.concatenate([ends[k] + rows[i] for k, i in enumerate(case.encoded.people)])]
    scores = np.full(len(people), np.nan)
    scores[asked] = _nearer(theirs, released, unit[asked])
    sides, at = [], 0
    for i in case.encoded.people:
        side = np.full(case.n_rows(ROLES[i]), np.nan)
        side[rows[i]] = scores[at : at + len(rows[i])]
        sides.append(side)
        at += len(rows[i])
    sampled = any(len(own) < case.n_rows(ROLES[i]) for i, own in rows.items())
    notes = (_HOW, *([_SAMPLED] if sampled else []), *([_FEWER] if fewer else []))
    plain = Result(attack="copies", variant=variant, settings={"columns": len(columns)}, notes=notes)
    return by_record(case, plain, sides[0], sides[1] if case.has_holdout else None)


def _without_level(people: Floats, synthetic: Floats, *, logarithms: bool) -> tuple[Bools, Floats, Floats]:
    """Return who has enough numbers, and their rows and the synthetic ones that have, in spreads of each column.

    Medians and quantiles are those of the people, whoever is a member; the order of rows and columns changes no digit.
    """
    known = [np.where(np.isfinite(x) & (x != 0), x, np.nan) for x in (people, synthetic)]
    if logarithms:
        known = [np.log(x) for x in known]
    enough = [(~np.isnan(x)).sum(axis=1) >= LEAST for x in known]
    own, released = (x[some] for x, some in zip(known, enough, strict=True))
    if not len(own):
        return enough[0], own, released
    if logarithms:  # of columns in units of their own
        middle = [np.nanmedian(c) if not np.isnan(c).all() else 0.0 for c in own.T]
        own, released = own - middle, released - middle
    own, released = (x - np.nanmedian(x, axis=1, keepdims=True) for x in (own, released))
    spread = [np.ptp(np.nanquantile(c, [0.1, 0.9])) if not np.isnan(c).all() else 0.0 for c in own.T]
    scale = _SPREADS * np.array([s if s > 0 else 1.0 for s in spread])
    with np.errstate(over="ignore"):
        own, released = (np.clip(x / scale, -_FARTHEST, _FARTHEST).round(_DIGITS) for x in (own, released))
    return enough[0], own, released


def _nearer(people: Floats, synthetic: Floats, unit: Ints) -> Floats:
    """Return max(0, 1 - NEARER s / o) of each person, s the distance to the synthetic table and o to another person."""
    if not len(people) or not len(synthetic):
        return np.zeros(len(people))
    fields = []
    for j in range(people.shape[1]):
        values = (people[:, j], synthetic[:, j], np.array([0.0, 1.0]))
        fields.append(Field(f"number {j}", values, tuple(np.isnan(v).astype(np.int32) for v in values)))
    ruler, (own, released, _) = fit_ruler(fields, ranges_of=[2])
    to_released = Index(ruler, released).nearest(own).distances[:, 0].round(_DIGITS)
    most = min(int(np.bincount(np.unique(unit, return_inverse=True)[1]).max()), _MOST_OWN)
    found = Index(ruler, own).nearest(own, 1 + most)
    others = np.where((found.rows >= 0) & (unit[found.rows] != unit[:, None]), found.distances, np.inf)
    to_another = others.min(axis=1).round(_DIGITS)
    with np.errstate(divide="ignore", invalid="ignore"):
        score = 1 - NEARER * to_released / to_another
    # of two people who are the same none is the row's, and of nobody beside the person nothing is near
    told = (to_another > 0) & np.isfinite(to_another)
    return np.where(told, np.maximum(0.0, score), 0.0).round(_DIGITS)
