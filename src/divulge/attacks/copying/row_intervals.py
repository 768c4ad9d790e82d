"""The intervals between the dates of a row, which hardly anybody else has, and that recur in the synthetic table.

Whoever moves all dates of a person by some days, as is usual before health records are shared, leaves them as they are.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from divulge.attacks.checks import by_record
from divulge.attacks.copying.one_column import PEOPLE, n_people_with
from divulge.attacks.copying.rare_pairs import FEW, MOST, TELLING
from divulge.case.case import Case
from divulge.core.result import Result

__all__ = ["ROW_INTERVALS", "ROW_INTERVALS_NOTES", "row_intervals"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

ROW_INTERVALS = "intervals"
_LARGEST = 6  # columns of dates of which all pairs are looked at; of more, all columns together alone

_NOTE = (
    f"intervals count that at most {FEW} people of real and holdout together have, and that stand in a synthetic row; "
    "who has fewer than two of the dates is left out"
)
_LEFT = "intervals: # of # sets of dates whose intervals are rare among a quarter of the people were compared"
_ELSEWHERE = "intervals: not compared, they need every row in memory"
ROW_INTERVALS_NOTES = (_NOTE, _LEFT, _ELSEWHERE)


def row_intervals(case: Case) -> tuple[list[Result], str]:
    """Return how many members and strangers have rare intervals between their dates that a synthetic row has too.

    All columns of dates together, and of three to six each two, are compared where a quarter of the people, real and
    holdout together, has intervals that at most two people have. Which are compared depends on no label.

    Returns
    -------
    results, note
        One result for each set of columns, at most ten; the note says how many were left, or why none was compared.
    """
    dates = [c for c in sorted(case.schema.usable()) if case.schema[c].kind == "datetime" and not case.is_unread(c)]
    if len(dates) < 2 or sum(case.tables[i].n_rows for i in case.encoded.people) < PEOPLE:
        return [], ""
    if not case.in_memory:
        return [], _ELSEWHERE
    people = case.encoded.people
    moments = np.stack(
        [np.concatenate([case.numbers(c)[case.codes(c, binned=False)[i]] for i in (*people, 1)]) for c in dates], axis=1
    )
    n = sum(case.n_rows(role) for role in ("real", "holdout")[: len(people)])
    sets = [tuple(range(len(dates)))]
    sets += combinations(sets[0], 2) if 2 < len(dates) <= _LARGEST else []
    telling = []
    for places in sets:
        token = _tokens(moments[:, places])
        own, asked = token[:n], token[:n] >= 0
        rare = asked & (n_people_with(case, own, int(token.max(initial=-1)) + 1) <= FEW)[own]
        if rare.mean() >= TELLING:
            telling.append((-rare.mean(), places, np.where(asked, rare & np.isin(own, token[n:]), np.nan)))
    telling.sort(key=lambda t: t[:2])
    rows, found = case.n_rows("real"), []
    for _, places, scores in sorted(telling[:MOST], key=lambda t: t[1]):
        plain = Result(attack="copies", variant=ROW_INTERVALS, keys=tuple(dates[i] for i in places), notes=(_NOTE,))
        found.append(by_record(case, plain, scores[:rows], scores[rows:] if case.has_holdout else None))
    left = _LEFT.replace("#", str(MOST), 1).replace("#", str(len(telling)), 1)
    return found, left if len(telling) > MOST else ""


def _tokens(moments: Floats) -> Ints:
    """Return of each row a number for the intervals from its first date; -1 of rows with fewer than two dates."""
    known = np.isfinite(moments)
    first = np.where(known, moments, np.inf).min(axis=1, initial=np.inf)
    token = np.zeros(len(moments), dtype=np.int64)
    for column, there in zip(moments.T, known.T, strict=True):
        since = np.full(len(token), -1.0)  # without this date
        since[there] = column[there] - first[there]
        values, code = np.unique(since, return_inverse=True)
        token = np.unique(token * len(values) + code.ravel(), return_inverse=True)[1].ravel().astype(np.int64)
    return np.where(known.sum(axis=1) > 1, token, -1)
