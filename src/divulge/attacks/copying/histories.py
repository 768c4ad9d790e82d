"""Histories: all rows of one person, and whether one synthetic person has them, or nearly all of them.

A history can be copied whole although each of its rows is common, so that no comparison of rows sees it. Rows are equal
or not, in every column but identifiers, the unit and ignored ones; their order does not count, nor does how often a
person has the same row.
"""

from __future__ import annotations

from dataclasses import replace as changed
from itertools import chain

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from divulge.attacks.checks import by_record, first_records
from divulge.attacks.copying.runs import RUN, RUN_HITS, RUN_NOTES, RUN_OF_INTERVALS, runs_of
from divulge.attacks.people_groups import groups_of
from divulge.case.case import Case
from divulge.case.column_facts import OWN_NUMBERS
from divulge.case.drawn_people import drawn_people
from divulge.case.encoded import ROLES
from divulge.case.relational.persons import (
    DAYS,
    ONE_COLUMN,
    TIMELESS,
    History,
    Steps,
    by_column,
    days_alone,
    intervals,
    time_of,
    values_alone,
)
from divulge.core.records import BY_LENGTH
from divulge.core.result import Group, Result
from divulge.kernels.row_sets import nearest_rows, pairs_of, row_sets

__all__ = [
    "HISTORIES",
    "HISTORIES_NOTES",
    "HISTORY_HITS",
    "NEAR_HISTORY",
    "NUMBERS_ROWS",
    "OWN_ROW",
    "OWN_VALUE",
    "WHOLE_HISTORY",
    "histories",
]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

HISTORIES = "histories"
WHOLE_HISTORY = "whole history"
NEAR_HISTORY = "history, nearly"
OWN_ROW = "own row"
OWN_ROW_IN_BINS = "own row, in bins"
OWN_VALUE = "own value"
HISTORY_HITS = {
    WHOLE_HISTORY: "all rows, under one synthetic unit, of",
    NEAR_HISTORY: "the rows, nearly, under one synthetic unit, of",
    OWN_VALUE: "values, under whatever synthetic unit, of",
    OWN_ROW: "rows, under whatever synthetic unit, of",
    OWN_ROW_IN_BINS: "rows, in bins, under whatever synthetic unit, of",
    f"{WHOLE_HISTORY}, {TIMELESS}": "all rows but their times, under one synthetic unit, of",
    f"{NEAR_HISTORY}, {TIMELESS}": "the rows but their times, nearly, under one synthetic unit, of",
    f"{WHOLE_HISTORY}, {DAYS}": "the days of all rows, under one synthetic unit, of",
    f"{NEAR_HISTORY}, {DAYS}": "the days of the rows, nearly, under one synthetic unit, of",
    f"{WHOLE_HISTORY}, {ONE_COLUMN}": "the values of one column in all rows, under one synthetic unit, of",
    f"{NEAR_HISTORY}, {ONE_COLUMN}": "the values of one column, nearly, under one synthetic unit, of",
    **RUN_HITS,
}
"""What stands in the synthetic table, in words that precede "members"."""
_WORK = 1e8  # pairs of people with an equal row that are added up; a limit on the time
_FEWEST = 200  # people of either side who are asked at least
_DIGITS = 12
_MEASURED = ("numeric", "datetime")
_LARGEST = 1_000  # rows of a person; who has more is no person whose history is compared

_WHOLE = (
    "all rows of a person with two different rows or more stand under one synthetic {} with at most twice as many, in "
    "any order"
)
_NEAR = (
    "1 - s / o, at least 0: s and o are the parts of different rows that a person and the nearest synthetic {}, and a "
    "person and the nearest other one, do not share; of people whose rows nobody else has all of and no others"
)
_OWN = "the share of the rows of a person that no other person has and that stand in the synthetic table, whose ever"
_OWN_VALUE = _OWN.replace("rows", "values")
NUMBERS_ROWS = "each row has a number of its own here"
_ALONE = (
    "one column alone, by how often a person has each value, rounded as all synthetic values are, and no others under "
    "that synthetic {}"
)
_BINS = "numbers were compared in bins"
_ELSEWHERE = "histories: not compared, they need every row in memory"
_SAMPLED = "histories: a random sample of {:,} members and {:,} strangers was asked"
_LONG = f"histories: people with more than {_LARGEST:,} different rows were left out"
HISTORIES_NOTES = (
    _WHOLE.format("'…'"),
    _NEAR.format("'…'"),
    _OWN,
    _OWN_VALUE,
    NUMBERS_ROWS,
    _ALONE.format("'…'"),
    _BINS,
    _ELSEWHERE,
    _SAMPLED.replace("{:,}", "#"),
    _LONG,
    *RUN_NOTES,
)
"""Notes for the entry; "#" stands for a number and "'…'" for a quoted name."""


def histories(case: Case) -> tuple[list[Result], str]:
    """Return how many members and strangers have their rows, all or nearly all, under one synthetic person.

    Only where the schema names a unit, or the case has people of linked tables; of these each table by itself, and all
    together. Who has no two different rows is not asked; each person counts once, however many rows he has.

    Returns
    -------
    results, note
        "whole history" and "history, nearly", of linked tables also "own row"; the note says why they were not
        compared, or that a sample was asked.
    """
    if case.unit is None and case.persons is None:
        return [], ""
    if not case.in_memory:
        return [], _ELSEWHERE
    found, notes = [], dict[str, None]()
    for history in (*_of_unit(case), *_by_column(case)) if case.persons is None else case.persons.histories:
        results, note = _of_history(case, history)
        found += results
        notes[note] = None
    return found, next(filter(None, notes), "")


def _of_unit(case: Case) -> list[History]:
    """Return the rows of the units of one table; where a column orders them, also without it, and in their order."""
    columns, time = case.whole_record, time_of(case.schema)
    if case.unit is None or not columns:
        return []
    person = _of_persons(case)
    content, unit, persons = _rows(case, columns, binned=False), (case.unit,), tuple(person)
    rest = tuple(c for c in columns if c != time)
    whole = History(unit, content, content, persons)
    if time is None or time not in columns:
        return [whole]
    times, day = case.codes(time, binned=False), days_alone(case, columns)
    days = [] if day is None else [History(unit, day, day, persons, DAYS)]
    if case.schema[time].kind in _MEASURED and not case.is_unread(time):
        when = [case.numbers(time)[t] for t in times]
        whole = changed(whole, intervals=intervals(list(zip(when, person, strict=True))))
    if not rest:
        return [whole, *days]
    exact, alike = (_rows(case, rest, binned=binned) for binned in (False, True))
    # ties by what else stands there, so that the order of the file says nothing
    orders = [np.lexsort((c, when, p)) for c, when, p in zip(exact, times, person, strict=True)]
    steps = tuple(Steps(a[o], p[o]) for a, o, p in zip(alike, orders, person, strict=True))
    return [
        changed(whole, steps=steps),
        History(unit, exact, exact, persons, TIMELESS),
        *days,
    ]


def _by_column(case: Case) -> list[History]:
    """Return the rows of the units of one table by each column alone, where there are several."""
    if case.unit is None:
        return []
    unit = case.unit
    return by_column((((unit, c), values) for c, values in values_alone(case, case.whole_record)), _of_persons(case))


def _of_persons(case: Case) -> list[Ints]:
    """Return of each role the unit of each row; the same number in two synthetic tables is another person."""
    person = [u for role in ROLES[: len(case.tables)] if (u := case.units(role)) is not None]
    parts = np.repeat(np.arange(len(case.synthetic_parts)), case.synthetic_parts)
    person[1] = person[1] * len(case.synthetic_parts) + parts if len(parts) else person[1]
    return person


def _rows(case: Case, columns: tuple[str, ...], *, binned: bool) -> tuple[Ints, ...]:
    """Return of each role a number for what stands in these columns of each row."""
    cells = case.contingency(columns, (), binned=binned).cells[: len(case.tables)]
    return tuple(c.astype(np.int64) for c in cells if c is not None)


class _Compared:
    """Rows of members and strangers by their contents, and the places of their scores."""

    def __init__(self, case: Case, history: History, contents: tuple[Ints, ...]) -> None:
        self._case, self.people = case, [(0, history.person[0]), *((1, p) for p in history.person[2:])]
        # the same number in two tables is another person
        self._ids = np.concatenate([2 * person + side for side, person in self.people])
        self.sets = row_sets(np.concatenate([contents[0], *contents[2:]]), self._ids)
        self.synthetic = row_sets(contents[1], history.person[1])

    @property
    def groups(self) -> Ints:
        """Of each person a number that those share who are linked together."""
        known = np.unique(self._ids)
        units = [self._case.units(role) for role in ("real", "holdout")]
        if self._case.persons is None or self._case.unit is None:
            return np.arange(len(known))
        out = np.zeros(len(known), dtype=np.int64)
        for side, of in enumerate(units):
            if of is not None:
                out[known % 2 == side] = of[known[known % 2 == side] // 2]
        return out

    @property
    def is_member(self) -> NDArray[np.bool_]:
        """Which persons are members, shape (n_persons,)."""
        return np.asarray(np.unique(self._ids) % 2 == 0)

    def drawn(self, most: tuple[int, int]) -> Ints:
        """Return the numbers of persons of a random sample of either side."""
        known, out = np.unique(self._ids), []
        for (side, person), which, n in zip(self.people, self._case.encoded.people, most, strict=False):
            rows = drawn_people(self._case, which, max(1, n))
            out.append(2 * (person[rows] if self._case.persons is None else rows) + side)
        return np.searchsorted(known, np.intersect1d(np.concatenate(out), known))

    def results(self, plain: Result, score: Floats) -> Result:
        """Return the result of a score of each person, nan for who was not asked."""
        sides = np.split(score[self.sets.person], [len(self.people[0][1])])
        if self._case.persons is not None:
            for i, role in enumerate(("real", "holdout")[: len(self.people)]):
                of_person = np.full(self._case.n_rows(role), np.nan)
                of_person[self.people[i][1]] = sides[i]
                sides[i] = of_person
        once = self._case.persons is None
        return by_record(self._case, plain, sides[0], sides[1] if self._case.has_holdout else None, once=once)


def _of_history(case: Case, history: History) -> tuple[list[Result], str]:
    """Return the results of the rows of people in one table, or in all."""
    exact = _Compared(case, history, history.content)
    coarse = exact if history.alike is history.content else _Compared(case, history, history.alike)
    if not len(exact.synthetic.sizes):
        return [], ""
    if history.values:
        score = _own_rows(exact)
        if np.mean(~np.isnan(score)) < OWN_NUMBERS:
            return [], ""
        notes = (_OWN_VALUE, *([NUMBERS_ROWS] if history.numbers else []))
        return [exact.results(Result(attack="copies", variant=OWN_VALUE, keys=history.keys, notes=notes), score)], ""
    out, note = _together(case, history, exact, coarse)
    if len(history.keys) > 1 or history.part:
        return out, note
    own = () if case.persons is None else ((OWN_ROW, exact, (_OWN,)), (OWN_ROW_IN_BINS, coarse, (_OWN, _BINS)))
    for variant, found, notes in own:  # of one table the comparisons of rows look at them
        score = _own_rows(found)
        if (variant == OWN_ROW or coarse is not exact) and np.mean(~np.isnan(score)) >= OWN_NUMBERS:
            plain = Result(attack="copies", variant=variant, keys=history.keys, notes=notes)
            out.append(found.results(plain, score))
    ordered = [(RUN, history.steps), (RUN_OF_INTERVALS, history.intervals)]
    if any(steps is not None for _, steps in ordered):
        roles, alone = ("real", "holdout")[: 1 + case.has_holdout], case.persons is None
        units = [u for role in roles if (u := case.units(role)) is not None]
        sizes = tuple(int(u.max(initial=-1)) + 1 for u in units) if alone else tuple(map(case.n_rows, roles))
        groups = np.concatenate(units) if units and not alone else None
        compared = (runs_of(steps, sizes, history.keys, groups, what) for what, steps in ordered if steps is not None)
        for plain, scores in chain.from_iterable(compared):
            sides = [s[u] for s, u in zip(scores, units, strict=True)] if alone else scores
            out.append(by_record(case, plain, sides[0], sides[1] if case.has_holdout else None, once=alone))
    return out, note


def _together(case: Case, history: History, exact: _Compared, coarse: _Compared) -> tuple[list[Result], str]:
    """Return who has all rows, or nearly, under one synthetic person; the note says that a sample was asked."""
    sizes, person = exact.sets.sizes, case.unit if case.persons is None else case.persons.table
    usable = np.flatnonzero((sizes > 1) & (sizes <= _LARGEST))
    if not len(usable):
        return [], ""
    asked, note = _asked(exact, usable)
    to_synthetic = nearest_rows(asked, exact.sets, exact.synthetic)
    notes = [*([_LONG] if (sizes > _LARGEST).any() else []), *([_ALONE] if history.part == ONE_COLUMN else [])]
    complete = to_synthetic.difference == 0 if history.part == ONE_COLUMN else to_synthetic.complete
    whole = complete.astype(np.float64)
    scores = [(WHOLE_HISTORY, [_WHOLE, *notes], whole)]
    if coarse is not exact:
        to_synthetic, notes = nearest_rows(asked, coarse.sets, coarse.synthetic), [_BINS, *notes]
    to_people = nearest_rows(asked, coarse.sets, groups=coarse.groups)
    own = to_people.difference > 0
    if own.mean() >= OWN_NUMBERS:
        near = np.full(len(asked), np.nan)
        near[own] = np.maximum(1 - to_synthetic.difference[own] / to_people.difference[own], 0.0).round(_DIGITS)
        scores.append((NEAR_HISTORY, [_NEAR, *notes], near))
    out = []
    for variant, told, score in scores:
        of_person = np.full(len(sizes), np.nan)
        of_person[asked] = score
        variant += f", {history.part}" * bool(history.part)
        notes = [n.format(repr(person)) for n in told]
        plain = Result(attack="copies", variant=variant, keys=history.keys, notes=tuple(notes))
        found = exact.results(plain, of_person)
        out.append(replace(found, groups=_by_length(case, history, found)) if score is whole else found)
    return out, note


def _by_length(case: Case, history: History, found: Result) -> tuple[Group, ...]:
    """Return the result by thirds of the people asked, of both sides together, by their number of rows."""
    told = found.individual
    sides = [] if told is None else [(0, "real", told.real), (2, "holdout", told.holdout)]
    lengths, asked, scores = [], [], []
    for which, role, score in sides:
        if score is None:
            continue
        units = case.units(role) if case.persons is None else None
        n_rows = np.bincount(history.person[which], minlength=len(score))
        lengths.append(n_rows if units is None else n_rows[units])
        asked.append(~np.isnan(score) & (True if units is None else first_records(units)))
        scores.append(score)
    if not scores or not np.concatenate(asked).any():
        return ()
    length, who = np.concatenate(lengths), np.concatenate(asked)
    low, high = np.sort(length[who])[[(who.sum() - 1) // 3, (2 * who.sum() - 1) // 3]].tolist()
    named = [
        (f"lightest third, up to {low:,} rows", who & (length <= low)),
        (f"middle third, {low + 1:,} to {high:,} rows", who & (length > low) & (length <= high)),
        (f"heavy users, more than {high:,} rows", who & (length > high)),
    ]
    known = [group for group in named if group[1].any()]
    return groups_of(case, [(BY_LENGTH, known)], np.concatenate(scores), once=case.persons is None)


def _own_rows(found: _Compared) -> Floats:
    """Return the share of the rows that one person alone has that stand in the synthetic table; nan for none."""
    person, content = found.sets.has
    groups = np.unique(found.groups[person], return_inverse=True)[1].ravel()
    pairs = np.unique(content * (int(groups.max(initial=0)) + 1) + groups)  # a row of linked people is one of theirs
    own = np.bincount(pairs // (int(groups.max(initial=0)) + 1))[content] == 1
    there = np.isin(content, found.synthetic.has[1])
    n = np.bincount(person[own], minlength=len(found.sets.sizes))
    hits = np.bincount(person[own & there], minlength=len(n))
    return np.asarray(np.where(n > 0, hits / np.maximum(n, 1), np.nan).round(_DIGITS))


def _asked(found: _Compared, usable: Ints) -> tuple[Ints, str]:
    """Return the numbers of the persons who are asked: all, or those of a random sample; and a note on a sample."""
    work = float((pairs_of(found.sets, found.synthetic) + pairs_of(found.sets))[usable].sum())
    if work <= _WORK:
        return usable, ""
    is_member = found.is_member
    share = max(_WORK / work, 2 * _FEWEST / len(usable))  # of those who can be asked, and so of all
    asked = np.intersect1d(
        found.drawn((int(np.ceil(share * is_member.sum())), int(np.ceil(share * (~is_member).sum())))), usable
    )
    return asked, _SAMPLED.format(*(int(side[asked].sum()) for side in (is_member, ~is_member)))
