"""What a run looks at: results over all calls of an attack, and the columns that no comparison looks at."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from divulge.attacks.copying.one_column import WORDS_OF_TEXTS, own_columns
from divulge.attacks.copying.other_spellings import other_form
from divulge.attacks.copying.text_columns import text_columns
from divulge.case.case import Case
from divulge.case.preconditions import unlike_values
from divulge.core.result import Result, is_compared
from divulge.report.model import NotCompared
from divulge.report.prose.bounds import ALONE, BY_RUNS, NO_RELATION, NO_VALUE, OTHER_FORM, UNLIKE, UNREAD
from divulge.run.planning.options import Attacker

__all__ = ["IGNORED", "not_compared", "without_strangers"]

IGNORED = "ignored"

_UNKNOWN = 0.1
"""Share of real rows whose value the synthetic table lacks, from which mostly new values hold "none found" back."""


def not_compared(case: Case, attacker: Attacker, results: Sequence[Result]) -> list[NotCompared]:
    """Return the columns that no comparison with strangers looks at, or not at all of their texts, and why."""
    worded = {r.keys[0] for r in results if r.attack == WORDS_OF_TEXTS and is_compared(r)}
    by_runs = set(text_columns(case)).difference(worded)
    compared = own_columns(case) if case.in_memory else ()  # by themselves, whatever their role
    unlike, named = unlike_values(case), {*(attacker.keys or ()), *(attacker.targets or ())}
    why = {
        c.name: UNREAD
        if case.is_unread(c.name)
        else NO_VALUE
        if unlike.get(c.name) == 1
        else UNLIKE
        if c.name in unlike and (unlike[c.name] >= _UNKNOWN or c.name in named)
        else OTHER_FORM
        if c.name in compared and not _numbers_rows(case, c.name) and other_form(case, c.name)
        else BY_RUNS
        if c.name in by_runs and c.name in compared
        else ""
        if c.name in compared
        else _why_not(case, c.name)
        for c in case.schema.columns
    }
    why |= {name: IGNORED for name in case.without_strangers if name in case.ignored}
    why |= {
        name: IGNORED if name in case.ignored else "row numbers" if _numbers_rows(case, name) else ALONE
        for name in case.without_members
    }
    if case.persons is not None:
        why |= dict.fromkeys(case.persons.apart, NO_RELATION)
    return [NotCompared(column=name, why=reason) for name, reason in why.items() if reason]


def without_strangers(case: Case, results: Sequence[Result]) -> list[str]:
    """Return the columns that the holdout lacks, which hold "none found" back.

    An ignored one holds it back only where the synthetic table has values of people in it, as it may have their names;
    numbers of rows recur in every table.
    """
    recurs = {r.keys[0] for r in results if r.verdict == "no holdout" and len(r.keys) == 1 and r.real and r.real.hits}
    return [
        name
        for name in case.without_strangers
        if name not in case.ignored or (name in recurs and not _numbers_rows(case, name))
    ]


def _why_not(case: Case, name: str) -> str:
    roles = case.schema[name].roles
    if "ignore" in roles:
        return IGNORED
    return "the unit" if "unit" in roles else ""


def _numbers_rows(case: Case, name: str) -> bool:
    """Return whether a column of the synthetic table counts its rows, as an index that was written into a file does."""
    table = case.tables[1]
    if table.frame is None:
        return False
    values = table.series(name)
    if not values.dtype.is_numeric() or values.null_count():
        return False
    numbers, start = values.to_numpy(), np.concatenate([[0], np.cumsum(table.parts or (len(values),))])
    parts = [numbers[a:b] for a, b in pairwise(start.tolist())]
    return all((part - part[0] == np.arange(len(part))).all() for part in parts if len(part))
