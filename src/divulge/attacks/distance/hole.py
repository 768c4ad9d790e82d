"""Holes: do strangers lie nearer to the synthetic table than members do, as if rows near to members were removed?

A filter that drops synthetic rows near to real ones turns the sign of every excess and empties the measures that look
for copies. It also tells on everybody with a synthetic row close by: he is not a member. The tests are those of
`divulge.stats.precedence`; they need no radius.
"""

from __future__ import annotations

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from divulge.attacks.checks import ABSENT, score_of, shown_difference, shown_risk
from divulge.attacks.entry import Rounding, Withheld
from divulge.case.case import Case
from divulge.case.distances import Distances
from divulge.core.result import Rate, Result
from divulge.kernels.neighbours.gower import Floats
from divulge.stats import Outcomes, compare
from divulge.stats.precedence import NEAREST, Hole, hole

__all__ = ["CONTEXT", "NOTES", "VARIANT", "missing_near_members", "nearest_of_units"]

VARIANT = "hole"

_FIRST = "strangers nearer to the synthetic table than every member"
_GROUPS = [f"nearest {p / 10:g}%" for p in NEAREST]

CONTEXT: dict[str, Rounding] = {
    _FIRST: Withheld(),
    "members among the nearest #%": Withheld(),
    "strangers among the nearest #%": Withheld(),
    f"p-value, {_FIRST}": Withheld(),
    "p-value, members among the nearest #%": Withheld(),
}
"""Further numbers of the result, and how an external edition rounds them."""

_CAUSES = (
    "a deficit of nearest people has innocent causes too: a split with --together, strangers who are no random "
    "counterpart of the members"
)
_SCREENED = "a screening for missing rows: it can find a deficit, and without one it has no verdict and bounds nothing"
NOTES = (
    _CAUSES,
    _SCREENED,
    "the rates are of the people nearest to the synthetic table: those nearer than every member",
    "the rates are of the people nearest to the synthetic table: the nearest #%, ties included",
)
"""Notes that an external edition may repeat."""


def missing_near_members(case: Case, plain: Result, d: Distances) -> Result:
    """Return the result of four exact tests on the people nearest to the synthetic table; needs a holdout.

    The p-value is corrected for the four tests, so the result is a family of its own (`Attack.alone`). The verdict is
    "deficit found" or none: the tests are one-sided and screen, they say nothing about an excess. The rates are those
    of the nearest 1% of people; where a deficit is found, those of the group whose test has the smallest p-value.
    """
    members, strangers = (
        nearest_of_units(d.nearest(role, "synthetic").distances[:, 0], case.units(role)) for role in ("real", "holdout")
    )
    found = hole(members, strangers)
    context: dict[str, float | None] = {
        _FIRST: float(found.strangers[0]),
        f"p-value, {_FIRST}": float(found.p_values[0]),
    }
    for j, group in enumerate(_GROUPS, 1):
        context |= {
            f"members among the {group}": float(found.members[j]),
            f"strangers among the {group}": float(found.strangers[j]),
            f"p-value, members among the {group}": float(found.p_values[j]),
        }
    plain = replace(plain, p_value=found.p_value, p_adjusted=found.p_value, context=plain.context | context)
    missing = _with_verdict(case, plain, found) if found.p_value <= 1 - case.level else None
    if missing is not None:
        return missing
    return replace(_with_rates(plain, found, 1), notes=(*plain.notes, _about(1), _SCREENED))


def _with_rates(plain: Result, found: Hole, group: int) -> Result:
    real, holdout = (
        Rate(hits=float(hits), n=n, rate=int(hits) / n if n else None)
        for hits, n in (
            (found.members[group], found.n_members),
            (found.strangers[group], found.n_strangers),
        )
    )
    return replace(plain, real=real, holdout=holdout)


def _with_verdict(case: Case, plain: Result, found: Hole) -> Result | None:
    """Return the result with "deficit found", difference and risk; None where their upper limits are not below 0."""
    group = found.decides
    both = [
        Outcomes(np.array([1.0, 0.0]), np.array([hits, n - hits]))
        for hits, n in ((found.members[group], found.n_members), (found.strangers[group], found.n_strangers))
    ]
    comparison = compare(*both, level=case.level, rng=case.rng(f"dcr {VARIANT}"), draws=0)
    # Bonferroni, as for the p-value
    wide, wide_risk = comparison.at(1 - (1 - case.level) / len(found.p_values))
    if not wide.high < 0 or wide_risk.high >= 0:  # the risk is undefined where every stranger is in the group
        return None
    risk = shown_risk(comparison, wide_risk, case.level)
    return replace(
        _with_rates(plain, found, group),
        verdict="deficit found",
        score=score_of(risk, 1.0, "deficit found")[0],
        difference=shown_difference(comparison.difference, wide),
        risk=risk,
        notes=(*plain.notes, _about(group), ABSENT, _CAUSES),
    )


def _about(group: int) -> str:
    """Return which people the rates are of; not how many, as an external edition repeats the note."""
    which = f"the {_GROUPS[group - 1]}, ties included" if group else "those nearer than every member"
    return f"the rates are of the people nearest to the synthetic table: {which}"


def nearest_of_units(distances: Floats, units: NDArray[np.int64] | None) -> Floats:
    """Return the smallest distance of each person or household; the distances themselves where each row is its own."""
    if units is None or not len(units):
        return distances
    order = np.lexsort((distances, units))
    return distances[order][np.r_[True, np.diff(units[order]) != 0]]
