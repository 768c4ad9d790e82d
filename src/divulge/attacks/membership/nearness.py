"""Nearness: are members too many among the people whom synthetic rows are nearest to?

A share of synthetic rows is bounded far worse than a share of people: each row is one coin. Here each person has two
scores, the distance to the nearest synthetic row, and its ratio to the distance to the fifth nearest other person, and
members among the nearest people are counted (`divulge.stats.precedence.nearest_people`). Both scores are made from all
people together, so that the p-values are exact.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from divulge.attacks.checks import ACCEPTABLE, CANNOT_TELL, SHOWN, finite, score_of, shown_difference
from divulge.attacks.distance.hole import nearest_of_units
from divulge.attacks.entry import Rounding, Withheld
from divulge.attacks.membership.near_people import near_people
from divulge.attacks.membership.other_people import half_the_smallest
from divulge.case.case import Case
from divulge.core.result import Rate, Result, Risk
from divulge.stats import Interval
from divulge.stats.intervals import normal_quantile
from divulge.stats.power import smallest_detectable
from divulge.stats.precedence import BOUNDED, FRONT, Nearest, NearestPeople, PeopleScore, nearest_people

__all__ = ["NEARNESS", "NEARNESS_CONTEXT", "NEARNESS_NOTES", "Nearness", "nearness"]

Floats = NDArray[np.float64]

NEARNESS = "nearness"
SCORES = ("distance", "ratio")
_DIGITS = 12  # of a ratio, so that equal ones tie

_HOW = (
    "people are ordered by the distance to the nearest synthetic row, and by its ratio to the distance to the fifth "
    "nearest other person; members and strangers are counted among the nearest people"
)
_BOUNDS = (
    "the limits are of the widest of the nearest 1, 2, 5 and 10% of people, ties left out, by the score that bounds "
    "more; they bound copies that lie that near, and not rows that were changed much"
)
_ABOUT = "the rates are of the nearest {:g}% of people by {}"
_WORDS = ("the distance", "the ratio of distances")
_FEW = "cannot tell: members who have a synthetic row that near may be up to {:.3f} more than strangers"
_BLIND = "cannot tell: even verbatim copies would hardly be nearer here than other people are"
_APART = "cannot tell: the p-value shows an excess, but the interval of the difference reaches 0"
NEARNESS_NOTES = (
    _HOW,
    _BOUNDS.replace("1, 2, 5 and 10%", "#, #, # and #%"),
    *(f"the rates are of the nearest #% of people by {how}" for how in _WORDS),
    _FEW.replace("{:.3f}", "#"),
    _BLIND,
    _APART.replace("0", "#"),
)
"""Notes for the entry; "#" stands for a number."""
NEARNESS_CONTEXT: dict[str, Rounding] = {
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
        notes = [n for n in result.notes if not n.startswith((CANNOT_TELL, _ABOUT[:20]))]
        if p <= alpha and tested.difference.low > 0 and tested.risk.low > 0:
            notes.append(_ABOUT.format(FRONT[tested.group] / 10, _WORDS[tested.score]))
            return self._with(replace(result, verdict="excess found", notes=tuple(notes)), tested, n_families)
        notes.append(_ABOUT.format(BOUNDED[bound.group] / 10, _WORDS[bound.score]))
        if p > alpha and bound.limit <= acceptable:
            return self._with(replace(result, verdict="none found", notes=tuple(notes)), bound, n_families)
        wide = _FEW.format(bound.limit) if bound.limit < 1 else _BLIND
        notes.append(_APART if p <= alpha else wide)
        return self._with(replace(result, verdict="cannot tell", notes=tuple(notes)), bound, n_families)

    def _with(self, result: Result, group: Nearest, n_families: int) -> Result:
        n, m = self.people.n_members, self.people.n_strangers
        rates = [Rate(hits=float(hits), n=k, rate=hits / k if k else None)
                 for hits, k in zip(group.hits, (n, m), strict=True)]  # fmt: skip
        low, high = finite(group.risk.low), finite(group.risk.high)
        each = 1 - (1 - self.level) / self.people.p_values.size
        share = (group.hits[0] + group.hits[1]) / max(1, n + m)
        half = normal_quantile(each) * math.sqrt(share * (1 - share) * (1 / max(1, n) + 1 / max(1, m)))
        band = half / (1 - share) if share < 1 else None
        risk = Risk(
            value=finite(group.risk.value), low=low, high=high, low_simultaneous=low, high_simultaneous=high,
            level=self.level, method="MOVER of Wilson's limits, for all scores and groups",
            leak_free_low=None if band is None else -band, leak_free_high=band,
        )  # fmt: skip
        least = smallest_detectable(
            group.hits[1] / max(1, m), n, m, level=1 - (1 - each) / n_families, limits=each
        ) if n and m else math.nan  # fmt: skip
        context = result.context | {SHOWN: finite(group.shown)}
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


def nearness(case: Case, plain: Result, columns: Sequence[str]) -> Result:
    """Return the result of exact tests on the people nearest to the synthetic table, and of its limits.

    It needs a holdout. The p-value is corrected for both scores and all groups, so that the result is a family of its
    own (`Attack.alone`). The verdict is "excess found", "none found" or "cannot tell".
    """
    found = nearest_people(_scores(case, columns))
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
        plain, p_value=found.p_value, p_adjusted=found.p_value, context=plain.context | context,
        notes=(*plain.notes, _HOW, _BOUNDS), comparison=comparison,
    )  # fmt: skip
    return comparison.judged(plain, ACCEPTABLE)


def _scores(case: Case, columns: Sequence[str]) -> list[PeopleScore]:
    """Return both scores of each person; a unit has those of its nearest row."""
    near = near_people(case, tuple(columns), listed=0, reach=False)
    floor = half_the_smallest([near.to_synthetic, near.farther])  # a distance of 0 has a ratio, too
    far = np.maximum(near.farther, floor)
    ratio = (np.maximum(near.to_synthetic, floor) / far).round(_DIGITS)
    copied = (floor / far).round(_DIGITS)
    n = case.n_rows("real")
    own, others = case.units("real"), case.units("holdout")

    def of_people(score: Floats, copy: Floats) -> PeopleScore:
        return PeopleScore(
            members=nearest_of_units(score[:n], own),
            strangers=nearest_of_units(score[n:], others),
            copied=nearest_of_units(copy[:n], own),
        )

    return [of_people(near.to_synthetic, np.zeros(len(far))), of_people(ratio, copied)]
