"""Members and strangers among the people whom synthetic rows are nearest to: holes, and nearness.

A hole: do strangers lie nearer to the synthetic table than members do, as if rows near to members were removed?
A filter that drops synthetic rows near to real ones turns the sign of every excess and empties the measures that look
for copies. It also tells on everybody with a synthetic row close by: he is not a member. The tests are those of
`divulge.stats.precedence`; they need no radius.

Nearness: are members too many there? A share of synthetic rows is bounded far worse than a share of people, as each row
is one coin. Each person has two scores, the distance to the nearest synthetic row, and its ratio to the distance to the
fifth nearest other person, and members among the nearest people are counted. Both scores are made from all people
together, so that the p-values are exact.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from divulge.attacks.checks import (
    ABSENT,
    ACCEPTABLE,
    CANNOT_TELL,
    SHOWN,
    finite,
    score_of,
    shown_difference,
    shown_risk,
)
from divulge.attacks.entry import Rounding, Withheld
from divulge.attacks.other_people import DIGITS, half_the_smallest, last_known, others_near, pooled_units
from divulge.case.case import Case
from divulge.core.result import Rate, Result, Risk
from divulge.kernels.neighbours.gower import Floats
from divulge.stats import Interval, Outcomes, compare
from divulge.stats.intervals import normal_quantile
from divulge.stats.power import smallest_detectable
from divulge.stats.precedence import (
    BOUNDED,
    FRONT,
    NEAREST,
    Hole,
    NearestGroup,
    NearestPeople,
    PeopleScore,
    hole,
    nearest_people,
)

if TYPE_CHECKING:
    from divulge.case.distances import Distances

__all__ = [
    "CONTEXT",
    "NEARNESS",
    "NEARNESS_CONTEXT",
    "NEARNESS_NOTES",
    "NOTES",
    "VARIANT",
    "Nearness",
    "missing_near_members",
    "nearest_of_units",
    "nearness",
]

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


# ---------------------------------------------------------------- nearness

NEARNESS = "nearness"
SCORES = ("distance", "ratio")
_NTH = 5  # of the other people, as in `exposure`

_HOW = (
    "people are ordered by the distance to the nearest synthetic row, and by its ratio to the distance to the fifth "
    "nearest other person; members and strangers are counted among the nearest people"
)
_BOUNDS = (
    "the limits are of the widest of the nearest 1, 2, 5 and 10% of people, ties left out, by the score that bounds "
    "more; they bound copies that lie that near, and not rows that were changed much"
)
_ABOUT_GROUP = "the rates are of the group whose limit counts, or of that in which members are too many"
_FEW = "cannot tell: copies of up to {:.3f} of the members may be that near without being told from chance"
_APART = "cannot tell: the p-value shows an excess, but the interval of the difference reaches 0"
NEARNESS_NOTES = (
    _HOW,
    _BOUNDS.replace("1, 2, 5 and 10%", "#, #, # and #%"),
    _ABOUT_GROUP,
    _FEW.replace("{:.3f}", "#"),
    _APART.replace("0", "#"),
)
"""Notes for the entry; "#" stands for a number. Which score and group decide may turn on one person."""
_BY_RATIO, _OF_PEOPLE = "whether the group is that by the ratio", "share of people whom the group has"
NEARNESS_CONTEXT: dict[str, Rounding] = {
    _BY_RATIO: Withheld(),
    _OF_PEOPLE: Withheld(),
    **{f"p-value by {score}": Withheld() for score in SCORES},
    **{f"upper limit by {score}": Withheld() for score in SCORES},
}
"""Further numbers of the result, and how an external edition rounds them."""


@dataclass(frozen=True, slots=True, eq=False)
class Nearness:
    """The nearest people with exact p-values, already corrected for scores and groups."""

    people: NearestPeople
    level: float
    shown: float
    """The part of a full copy that would show in the group whose limits are given at `level`."""
    corrected = True

    def at(self, level: float) -> tuple[Interval, Interval]:
        """Return the difference and the risk of the group that bounds most at a level.

        The risk is in parts of what would show in the group of `level`, so that its limit is divided by `shown` at any
        level.
        """
        found = self.people.bound(level)
        if not math.isfinite(found.limit):
            return found.difference, Interval(found.risk.value, -math.inf, math.inf)
        part = self.shown / found.shown
        return found.difference, Interval(*(x * part for x in (found.risk.value, found.risk.low, found.risk.high)))

    def judged(self, result: Result, acceptable: float, n_families: int = 1) -> Result:
        """Return the result with its verdict, rates and risk, and the smallest excess that it finds.

        `n_families` is the number of families that a finding is corrected for afterwards.
        """
        p, alpha = self.people.p_value, 1 - self.level
        tested, bound = self.people.tested(self.level), self.people.bound(self.level)
        notes = [n for n in result.notes if not n.startswith(CANNOT_TELL) and n != _BOUNDS]
        if p <= alpha and tested.difference.low > 0 and tested.risk.low > 0:
            # its limits are of the group that was tested, in which all of a copy counts
            told = replace(
                result, verdict="excess found", notes=tuple(notes), comparison=dataclasses.replace(self, shown=1.0)
            )
            return self._with(told, tested, FRONT[tested.group], n_families)
        notes.append(_BOUNDS)
        if p > alpha and bound.limit <= acceptable:
            told = replace(result, verdict="none found", notes=tuple(notes))
        else:
            notes.append(_APART if p <= alpha else _FEW.format(min(1.0, bound.limit)))
            told = replace(result, verdict="cannot tell", notes=tuple(notes))
        return self._with(told, bound, BOUNDED[bound.group], n_families)

    def _with(self, result: Result, group: NearestGroup, per_mille: int, n_families: int) -> Result:
        n, m = self.people.n_members, self.people.n_strangers
        rates = [
            Rate(hits=float(hits), n=k, rate=hits / k if k else None)
            for hits, k in zip(group.hits, (n, m), strict=True)
        ]
        low, high = finite(group.risk.low), finite(group.risk.high)
        each = 1 - (1 - self.level) / self.people.p_values.size
        share = (group.hits[0] + group.hits[1]) / max(1, n + m)
        half = normal_quantile(each) * math.sqrt(share * (1 - share) * (1 / max(1, n) + 1 / max(1, m)))
        band = half / (1 - share) if share < 1 else None
        risk = Risk(
            value=finite(group.risk.value),
            low=low,
            high=high,
            low_simultaneous=low,
            high_simultaneous=high,
            level=self.level,
            method="MOVER of Wilson's limits, for all scores and groups",
            leak_free_low=None if band is None else -band,
            leak_free_high=band,
        )
        least = (
            smallest_detectable(group.hits[1] / max(1, m), n, m, level=1 - (1 - each) / n_families, limits=each)
            if n and m
            else math.nan
        )
        context = result.context | {
            SHOWN: finite(group.shown),
            _BY_RATIO: float(group.score),
            _OF_PEOPLE: per_mille / 1000,
        }
        assert result.verdict is not None
        return replace(
            result,
            real=rates[0],
            holdout=rates[1],
            difference=shown_difference(group.difference, group.difference),
            risk=risk,
            context=context,
            score=score_of(risk, group.shown, result.verdict)[0],
            smallest_detectable=finite(least),
        )


def nearness(case: Case, plain: Result, d: Distances) -> Result:
    """Return the result of exact tests on the people nearest to the synthetic table, and of its limits.

    It needs a holdout. The p-value is corrected for both scores and all groups, so that the result is a family of its
    own (`Attack.alone`). The verdict is "excess found", "none found" or "cannot tell".
    """
    found = nearest_people(_scores(case, d))
    bound = found.bound(case.level)
    context = {
        **{
            f"p-value by {s}": min(1.0, len(FRONT) * float(p.min()))
            for s, p in zip(SCORES, found.p_values, strict=True)
        },
        **{
            f"upper limit by {s}": finite(x)
            for s, x in zip(SCORES, (g.limit for g in found.widest(case.level)), strict=True)
        },
    }
    comparison = Nearness(found, case.level, bound.shown)
    plain = replace(
        plain,
        p_value=found.p_value,
        p_adjusted=found.p_value,
        context=plain.context | context,
        notes=(*plain.notes, _HOW, _BOUNDS, _ABOUT_GROUP),
        comparison=comparison,
    )
    return comparison.judged(plain, ACCEPTABLE)


def _scores(case: Case, d: Distances) -> list[PeopleScore]:
    """Return both scores of each person; a unit has those of its nearest row."""
    units = pooled_units(case, ("real", "holdout"))
    sides = [
        (d.nearest(role, "synthetic").distances[:, 0].round(DIGITS), others_near(d, role, "people", units, _NTH))
        for role in ("real", "holdout")
    ]
    to_synthetic, others = (np.concatenate(both) for both in zip(*sides, strict=True))
    farther = last_known(others)
    floor = half_the_smallest([to_synthetic, farther])  # a distance of 0 has a ratio, too
    far = np.maximum(farther, floor)
    ratio = (np.maximum(to_synthetic, floor) / far).round(DIGITS)
    copied = (floor / far).round(DIGITS)
    n = case.n_rows("real")
    own, strangers = case.units("real"), case.units("holdout")

    def of_people(score: Floats, copy: Floats) -> PeopleScore:
        return PeopleScore(
            members=nearest_of_units(score[:n], own),
            strangers=nearest_of_units(score[n:], strangers),
            copied=nearest_of_units(copy[:n], own),
        )

    return [of_people(to_synthetic, np.zeros(len(far))), of_people(ratio, copied)]
