"""Histories: all rows of one person, and whether one synthetic person has them, or nearly all of them.

A history can be copied whole although each of its rows is common, so that no comparison of rows sees it. Rows are equal
or not, in every column but identifiers, the unit and ignored ones; their order does not count, nor does how often a
person has the same row.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from divulge.attacks.checks import by_record
from divulge.attacks.copying.nearly_equal import OWN_NUMBERS
from divulge.case.case import Case
from divulge.case.drawn_people import drawn_people
from divulge.case.encoded import ROLES
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

_WHOLE = (
    "all rows of a person with two different rows or more stand under one synthetic {} with at most twice as many, in "
    "any order"
)
_NEAR = (
    "1 - s / o, at least 0: s and o are the parts of different rows that a person and the nearest synthetic {}, and a "
    "person and the nearest other one, do not share; of people whose rows nobody else has all of and no others"
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
    units, columns = [case.units(role) for role in ROLES[: len(case.tables)]], case.whole_record
    if not columns:
        return [], ""
    cells = case.contingency(columns, (), binned=False).cells
    (real, mine), (released, theirs), *strangers = (
        (c.astype(np.int64), u) for c, u in zip(cells, units, strict=False) if c is not None and u is not None
    )
    # the same number in two tables, or in two synthetic tables, is another person's
    persons = np.concatenate([2 * mine, *(2 * u + 1 for _, u in strangers)])
    parts = np.repeat(np.arange(len(case.synthetic_parts)), case.synthetic_parts)
    theirs = theirs * max(1, len(case.synthetic_parts)) + parts if len(parts) else theirs
    content = np.concatenate([real, *(c for c, _ in strangers)])
    people, n = row_sets(content, persons), len(real)
    several = people.sizes > 1
    usable = np.flatnonzero(several & (people.sizes <= _LARGEST))
    if not len(usable) or not len(theirs):
        return [], ""
    synthetic = row_sets(released, theirs)
    asked, note = _asked(case, people, synthetic, usable, n)
    to_synthetic, to_people = nearest_rows(asked, people, synthetic), nearest_rows(asked, people)
    scores = [(WHOLE_HISTORY, _WHOLE, to_synthetic.complete.astype(np.float64))]
    own = to_people.difference > 0
    if own.mean() >= OWN_NUMBERS:
        near = np.full(len(asked), np.nan)
        near[own] = np.maximum(1 - to_synthetic.difference[own] / to_people.difference[own], 0.0).round(_DIGITS)
        scores.append((NEAR_HISTORY, _NEAR, near))
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
    is_member = np.zeros(len(people.sizes), dtype=np.bool_)
    is_member[people.person[:n]] = True
    share = max(_WORK / work, 2 * _FEWEST / len(usable))  # of those who can be asked, and so of all
    sides = (np.ceil(share * count) for count in (is_member.sum(), (~is_member).sum()))
    rows = [
        offset + drawn_people(case, which, max(1, int(most)))
        for which, offset, most in zip(case.encoded.people, (0, n), sides, strict=False)
    ]
    asked = np.intersect1d(people.person[np.concatenate(rows)], usable)
    return asked, _SAMPLED.format(*(int(side[asked].sum()) for side in (is_member, ~is_member)))
