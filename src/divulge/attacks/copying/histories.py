"""Histories: all rows of one person, and whether one synthetic person has them, or nearly all of them.

A history can be copied whole although each of its rows is common, so that no comparison of rows sees it. Rows are equal
or not, in every column but identifiers, the unit and ignored ones; their order does not count, nor does how often a
person has the same row.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from divulge.attacks.checks import by_record
from divulge.attacks.other_people import pooled_units
from divulge.case.case import Case
from divulge.case.drawn_people import drawn_people
from divulge.core.result import Result
from divulge.kernels.row_sets import RowSets, nearest_rows, pairs_of, row_sets

__all__ = ["HISTORIES", "HISTORIES_NOTES", "NEAR_HISTORY", "WHOLE_HISTORY", "histories"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

HISTORIES = "histories"
WHOLE_HISTORY = "whole history"
NEAR_HISTORY = "history, nearly"
_WORK = 1e8  # pairs of people with an equal row that are added up; a limit on the time
_FEWEST = 200  # people of either side who are asked at least
_DIGITS = 12
_LARGEST = 1_000  # rows of a person; who has more is no person whose history is compared

_WHOLE = "all rows of a person with two different rows or more stand under one synthetic {}, in any order"
_NEAR = (
    "1 - s / o, at least 0: s and o are the parts of different rows that a person and the nearest synthetic {}, and a "
    "person and the nearest other one, do not share"
)
_ELSEWHERE = "histories: not compared, they need every row in memory"
_SAMPLED = "histories: a random sample of {:,} members and {:,} strangers was asked"
_LONG = f"histories: people with more than {_LARGEST:,} different rows were left out"
HISTORIES_NOTES = (
    _WHOLE.format("'…'"),
    _NEAR.format("'…'"),
    _ELSEWHERE,
    _SAMPLED.replace("{:,}", "#"),
    _LONG,
)
"""Notes for the entry; "#" stands for a number and "'…'" for a quoted name."""


def histories(case: Case) -> tuple[list[Result], str]:
    """Return how many members and strangers have their rows, all or nearly all, under one synthetic person.

    Only where the schema names a unit. Who has no two different rows is not asked; each person
    counts once, however many rows he has.

    Returns
    -------
    results, note
        "whole history" and "history, nearly"; the note says why they were not compared, or that a sample was asked.
    """
    if case.unit is None:
        return [], ""
    if not case.in_memory:
        return [], _ELSEWHERE
    roles = ("real", "holdout") if case.has_holdout else ("real",)
    synthetic, units = case.units("synthetic"), pooled_units(case, roles)
    columns = case.whole_record
    if synthetic is None or units is None or not columns:
        return [], ""
    real, released, holdout = case.contingency(columns, (), binned=False).cells
    assert real is not None and released is not None
    content = real if holdout is None else np.concatenate([real, holdout])
    people, n = row_sets(content.astype(np.int64), units["people"]), len(real)
    several = people.sizes > 1
    usable = np.flatnonzero(several & (people.sizes <= _LARGEST))
    if not len(usable) or not len(synthetic):
        return [], ""
    theirs = row_sets(released.astype(np.int64), synthetic)
    asked, note = _asked(case, people, theirs, usable, n)
    to_synthetic, to_people = nearest_rows(asked, people, theirs), nearest_rows(asked, people)
    with np.errstate(divide="ignore", invalid="ignore"):
        near = np.where(to_people.difference > 0, 1 - to_synthetic.difference / to_people.difference, 0.0)
    scores = (
        (WHOLE_HISTORY, _WHOLE, to_synthetic.complete),
        (NEAR_HISTORY, _NEAR, np.maximum(near, 0.0).round(_DIGITS)),
    )
    long = [_LONG] if len(usable) < several.sum() else []
    out = []
    for variant, told, score in scores:
        of_person = np.full(len(people.sizes), np.nan)
        of_person[asked] = score
        rows = of_person[people.person]
        plain = Result(attack="copies", variant=variant, keys=(case.unit,), notes=(told.format(repr(case.unit)), *long))
        out.append(by_record(case, plain, rows[:n], rows[n:] if case.has_holdout else None, once=True))
    return out, note


def _asked(case: Case, people: RowSets, theirs: RowSets, usable: Ints, n: int) -> tuple[Ints, str]:
    """Return the numbers of the persons who are asked: all, or those of a random sample; and a note on a sample."""
    work = float((pairs_of(people, theirs) + pairs_of(people))[usable].sum())
    if work <= _WORK:
        return usable, ""
    most = max(_FEWEST, int(len(usable) / 2 * _WORK / work))
    rows = [
        offset + drawn_people(case, which, most) for which, offset in zip(case.encoded.people, (0, n), strict=False)
    ]
    asked = np.intersect1d(people.person[np.concatenate(rows)], usable)
    sides = [min(most, case.n_people(role)) for role in ("real", "holdout")[: len(rows)]]
    return asked, _SAMPLED.format(*sides, *[0] * (len(sides) < 2))
