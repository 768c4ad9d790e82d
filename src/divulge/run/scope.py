"""What a run looks at: results over all calls of an attack, and the columns that no comparison looks at."""

from __future__ import annotations

from divulge.attacks.distance.one_column import own_columns
from divulge.case.case import Case
from divulge.report.model import NotCompared
from divulge.report.prose.bounds import UNREAD

__all__ = ["not_compared"]


def not_compared(case: Case) -> list[NotCompared]:
    """Return the columns that no comparison with strangers looks at, and why."""
    compared = own_columns(case) if case.in_memory else ()  # by themselves, whatever their role
    return [
        NotCompared(column=c.name, why=why)
        for c in case.schema.columns
        if (why := UNREAD if case.is_unread(c.name) else "" if c.name in compared else _why_not(case, c.name))
    ]


def _why_not(case: Case, name: str) -> str:
    roles = case.schema[name].roles
    if "ignore" in roles:
        return "ignored"
    return "the unit" if "unit" in roles else ""
