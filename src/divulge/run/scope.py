"""What a run looks at: results over all calls of an attack, and the columns that no comparison looks at."""

from __future__ import annotations

from collections.abc import Sequence

from divulge.attacks import CATALOGUE
from divulge.attacks.distance.one_column import own_columns
from divulge.attacks.registry import worded
from divulge.case.case import Case
from divulge.core.result import Result
from divulge.report.model import NotCompared

__all__ = ["not_compared", "summarised"]


def summarised(case: Case, results: Sequence[Result]) -> list[Result]:
    """Return the results, and after those of each attack its results over all calls, such as a mean over targets."""
    out = list(results)
    for name, entry in CATALOGUE.items():
        own = [r for r in results if r.attack == name]
        if entry.summary is not None and own:
            place = 1 + max(i for i, r in enumerate(out) if r.attack == name)
            out[place:place] = [worded(r, entry) for r in entry.summary(case, own)]
    return out


def not_compared(case: Case) -> list[NotCompared]:
    """Return the columns that no comparison with strangers looks at, and why."""
    compared = own_columns(case)  # by themselves, whatever their role
    return [
        NotCompared(column=c.name, why=why)
        for c in case.schema.columns
        if c.name not in compared and (why := _why_not(case, c.name))
    ]


def _why_not(case: Case, name: str) -> str:
    roles = case.schema[name].roles
    if "ignore" in roles:
        return "ignored"
    return "the unit" if "unit" in roles else ""
