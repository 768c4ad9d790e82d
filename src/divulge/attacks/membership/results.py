"""Results of membership scores: who is claimed at a price in strangers, and the verdict on each score."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, isfinite, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from divulge.attacks.checks import ABSENT, ACCEPTABLE, SHOWN, finite, hold_back, score_of, shown_difference
from divulge.attacks.membership.edit_score import NAME
from divulge.core.result import BY_HIGHEST, BY_ORDER, GAPS_BY_ORDER, Individual, Rate, Result, Risk, Verdict
from divulge.stats.intervals import Interval, normal_quantile
from divulge.stats.roc import Claims, advantage, auc, claims_at, least_strangers
from divulge.stats.score_tests import FRONT, SHARES, ScoreTests

if TYPE_CHECKING:
    from divulge.attacks.membership.blind import Blind

__all__ = [
    "CONTEXT",
    "GAIN",
    "LEAST_ADVANTAGE",
    "LEAST_AUC",
    "NOTES",
    "NO_HOLDOUT",
    "RATES",
    "WEIGHT",
    "WHOLE",
    "Judgement",
    "Scored",
    "judgement",
    "judgements",
    "shown",
    "three",
]

Floats = NDArray[np.float64]

RATES = (0.1, 0.01, 0.001)
"""False positive rates at which true positive rates are given; the first is that of the rates and of the risk."""
_METHOD = "threshold from the strangers, the errors of members and of the threshold added in square"
_POWER = 0.8
_GRID = np.unique(np.round(np.geomspace(0.001, 1.0, 60), 6))
_NAMES = {rate: f"{100 * rate:g}%" for rate in RATES}

_LEAST = "a lower limit of the rate at a false positive rate of {} needs {:,} strangers; there are {:,}"
_TRACES = (
    f"{BY_ORDER}, as exact statistics leave them: at a false positive "
    "rate of 10% no more members are claimed than chance allows"
)
_GAPS = f"{GAPS_BY_ORDER}: at a false positive rate of 10% no fewer members are claimed than chance allows"
_SURELY = f"{BY_HIGHEST}: among the {{:g}}% of people with the highest scores are more members than chance allows"
_CONSTANT = "the score is the same for everybody"
_FEW = "strangers are too few for a lower limit at a false positive rate of 10%: {:,}; {:,} would do"
_WIDE = (
    "the interval is too wide; about {:,} real and {:,} holdout records that the attack reaches would bring the upper "
    "limit to {:g} where there is no excess"
)
_COARSE = (
    "of a full copy of the real table only {:.3f} would show here, so that a copied fraction of {:g} could not be told "
    "from none"
)
_TIED = (
    "{:.0f}% of strangers share the score at which 10% would be claimed, so that the rate of members there is not "
    "known; more people would not narrow it"
)
_SMALL_RATE = "an excess at a false positive rate of 1% cannot be excluded: its upper limit is above {:g}"
NOTES = (
    _LEAST.format("#%", 0, 0).replace("0", "#"),
    _TRACES.replace("10", "#"),
    _GAPS.replace("10", "#"),
    _SURELY.replace("{:g}", "#"),
    _CONSTANT,
    ABSENT,
    "cannot tell: " + _FEW.format(0, 0).replace("10%", "#%").replace("0", "#"),
    "cannot tell: " + _TIED.format(0).replace("0%", "#%", 1).replace("10%", "#%"),
    "cannot tell: " + _SMALL_RATE.format(0).replace("0", "#").replace("1%", "#%"),
)
"""Notes for the entry; "#" stands for a number."""
NO_HOLDOUT = "no holdout: members cannot be compared with anybody; give people that the synthesizer never saw"
WHOLE = "whole person"
"""The score of a person of linked tables."""
_LIMITS = ("", ", lower limit", ", upper limit")
GAIN = "gain over the best single score"
LEAST_AUC, LEAST_ADVANTAGE = (f"smallest {name} found with 80% power" for name in ("AUC", "membership advantage"))
_AT_FRONT, _HIGHEST = "members among the nearest {:g}% of people", "members among the highest {:g}% of people"
WEIGHT = "weight in the score of the whole person"
_MEASURED = ("AUC", "TPR at FPR #%", "TPR at FPR #.#%", "membership advantage", GAIN)
CONTEXT = (
    *(f"{name}{limit}" for name in _MEASURED for limit in _LIMITS),
    "AUC without the synthetic table",
    "p-value without the synthetic table",
    *(name.replace("80", "#") for name in (LEAST_AUC, LEAST_ADVANTAGE)),
    SHOWN,
    _AT_FRONT.replace("{:g}", "#"),
    _HIGHEST.replace("{:g}", "#"),
    WEIGHT,
)
"""Further numbers, by name; "#" stands for digits."""


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """A score of all units, and what is common to the scores of a call."""

    variant: str
    members: Floats
    strangers: Floats
    settings: Mapping[str, Any]
    keys: tuple[str, ...]
    blind: Blind
    level: float
    visible: float = 1.0
    """The part of a full copy of the real table that would show."""
    individual: Individual | None = None
    front: tuple[float, ...] = ()
    """Shares of all people, those with the highest scores, among whom the members are told."""
    weight: float | None = None
    """How much it counts in a score of several."""


@dataclass(frozen=True, slots=True, eq=False)
class Judgement:
    """A score of members and strangers with its test, already corrected for the other scores of the call."""

    members: Floats
    strangers: Floats
    """Scores, ascending: no order of people enters, and sorting again is quick."""
    p_value: float
    p_adjusted: float
    towards: int
    """1 where members score higher, -1 where lower, by the statistic that decides."""
    level: float
    level_each: float
    """Level of each interval such that the intervals of the call hold together."""
    visible: float
    """The part of a full copy of the real table that would show."""
    unfair: str
    """Why the comparison of members with strangers says nothing; "" where it is fair."""
    spread: float = 1.0
    """Standard error of the AUC over DeLong's."""
    share: float = 0.0
    """Share of people, those with the highest scores, among whom the number of members decides; 0 is the AUC."""
    corrected = True

    def at(self, level: float) -> tuple[Interval, Interval]:
        """Return the difference and the risk at a false positive rate of 10%, with intervals of a level.

        Where the comparison is unfair they have no limits.
        """
        claims = claims_at(self.members, self.strangers, RATES[0], level)
        difference, risk = claims.difference, claims.residual
        if self.unfair:
            return Interval(difference.value, math.nan, math.nan), Interval(risk.value, math.nan, math.nan)
        return difference, risk

    def judged(self, result: Result, acceptable: float, n_families: int = 1) -> Result:
        """Return the result with its verdict and score, held back where members and strangers are no fair comparison.

        `n_families` is the number of families that a finding is corrected for afterwards.
        """
        verdict, told = _verdict(result, self, acceptable)
        notes = [n for n in result.notes if not n.startswith(("cannot tell", ABSENT, _TRACES, _GAPS, BY_HIGHEST))]
        result = replace(result, verdict=verdict, notes=(*notes, *([] if self.unfair else told)))
        if result.risk is not None:
            least = self._detectable(n_families)
            score = score_of(result.risk, self.visible, verdict)[0]
            result = replace(result, score=score, smallest_detectable=finite(min(1.0, least)))
        return hold_back(replace(result, score=None), self.unfair) if self.unfair else result

    def _detectable(self, n_families: int) -> float:
        """Return the smallest excess of the rate of members that is found with 80% power."""
        spread = _spread(len(self.members), len(self.strangers), RATES[0])
        return self._errors(n_families) * spread * (1 - RATES[0])

    def _errors(self, n_families: int = 1) -> float:
        """Return how many standard errors from chance are found with 80% power, corrected for all scores."""
        level = 1 - (1 - self.level_each) / n_families
        return normal_quantile(level) + normal_quantile(2 * _POWER - 1)

    def least_seen(self) -> dict[str, float | None]:
        """Return the smallest AUC and membership advantage that such scores show with 80% power; None with nobody."""
        n, m = len(self.members), len(self.strangers)
        if not n * m:
            return {LEAST_AUC: None, LEAST_ADVANTAGE: None}
        ties = np.unique(np.concatenate([self.members, self.strangers]), return_counts=True)[1].astype(np.float64)
        untied = 1 - float((ties**3 - ties).sum()) / ((n + m) ** 3 - (n + m))
        area, share = self.spread * sqrt(untied * (n + m + 1) / (12 * n * m)), sqrt((1 / n + 1 / m) / 4)
        found = 0.5 + self._errors() * area, self._errors() * share
        return {name: min(1.0, x) for name, x in zip((LEAST_AUC, LEAST_ADVANTAGE), found, strict=True)}


def judgements(
    scored: Sequence[Scored], tests: ScoreTests, shares: Sequence[Sequence[float]] | None = None
) -> list[Judgement]:
    """Return the test of each score of a family; `shares` are those of each, as `score_tests` takes them."""
    shares = [SHARES] * len(scored) if shares is None else shares
    return [
        judgement(s, float(p), float(q), int(t), tests.level_each, share=(0.0, *own)[d])
        for s, p, q, t, d, own in zip(
            scored, tests.p_value, tests.p_adjusted, tests.towards, tests.decides.tolist(), shares, strict=True
        )
    ]


def judgement(
    scored: Scored,
    p_value: float,
    p_adjusted: float,
    towards: int,
    level_each: float,
    spread: float = 1.0,
    share: float = 0.0,
) -> Judgement:
    """Return a score with its test; people whom the score does not ask are left out."""
    members, strangers = (np.sort(side[~np.isnan(side)]) for side in (scored.members, scored.strangers))
    return Judgement(
        members, strangers, p_value, p_adjusted, towards, scored.level, level_each, scored.visible, scored.blind.why,
        spread, share,
    )  # fmt: skip


def shown(scored: Scored, test: Judgement, notes: Sequence[str] = (), acceptable: float = ACCEPTABLE) -> Result:
    """Return the result of one score: rates at a false positive rate of 10%, risk, AUC and verdict."""
    members, strangers = test.members, test.strangers
    m = len(strangers)
    claims = [claims_at(members, strangers, rate, scored.level) for rate in RATES]
    first = claims[0]
    told = list(notes)
    if len(np.unique(np.concatenate([members, strangers]))) == 1:
        told.append(_CONSTANT)
    told += [
        _LEAST.format(_NAMES[c.fpr], least_strangers(c.fpr, scored.level), m)
        for c in claims
        if m < least_strangers(c.fpr, scored.level)
    ]
    result = Result(
        attack="membership",
        variant=scored.variant,
        keys=scored.keys,
        settings={"fpr": RATES[0], **scored.settings},
        p_value=test.p_value,
        p_adjusted=test.p_adjusted,
        context=_context(scored, test, claims),
        curves=_curve(members, strangers),
        notes=tuple(told),
        individual=scored.individual,
        comparison=test,
    )
    if first.k:
        together = claims_at(members, strangers, RATES[0], test.level_each)
        result = _with_rates(result, first, together, scored.level, test.level_each)
    return test.judged(result, acceptable)


def _with_rates(result: Result, claims: Claims, together: Claims, level: float, level_each: float) -> Result:
    n, m = claims.n_members, claims.n_strangers
    own, wide, spread = claims.residual, together.residual, _spread(n, m, claims.fpr)
    band = normal_quantile(level_each) * spread
    return replace(
        result,
        real=Rate(hits=float(claims.hits), n=n, rate=claims.hits / n),
        holdout=Rate(hits=float(claims.k), n=m, rate=claims.k / m),
        difference=shown_difference(claims.difference, together.difference),
        risk=Risk(
            value=own.value, low=own.low, high=own.high, low_simultaneous=wide.low, high_simultaneous=wide.high,
            level=level, method=_METHOD, leak_free_low=-band, leak_free_high=band,
        ),
    )  # fmt: skip


def _spread(n: int, m: int, fpr: float) -> float:
    """Return the standard deviation of the risk without a leak."""
    return sqrt(fpr * (1 - fpr) * (1 / n + 1 / m)) / (1 - fpr)


def _context(scored: Scored, test: Judgement, claims: Sequence[Claims]) -> dict[str, float | None]:
    members, strangers, level = test.members, test.strangers, scored.level
    out: dict[str, float | None] = three("AUC", auc(members, strangers, level, test.spread))
    for c in claims:
        out |= three(f"TPR at FPR {_NAMES[c.fpr]}", c.tpr)
    out |= three("membership advantage", advantage(members, strangers, level))
    return (
        out
        | test.least_seen()
        | (_at_front(members, strangers, _AT_FRONT, FRONT) if scored.variant == NAME else {})
        | _at_front(members, strangers, _HIGHEST, scored.front)
        | ({} if scored.weight is None else {WEIGHT: scored.weight})
        | {
            SHOWN: scored.visible,
            "AUC without the synthetic table": scored.blind.auc,
            "p-value without the synthetic table": scored.blind.p_value,
        }
    )


def _at_front(members: Floats, strangers: Floats, name: str, shares: Sequence[float]) -> dict[str, float | None]:
    """Return the share of members among the people with the highest scores; who ties with the last of them counts."""
    people = np.sort(np.concatenate([members, strangers]))[::-1]
    out: dict[str, float | None] = {}
    for share in shares:
        n = math.floor(share * len(people) + 1e-9)
        above, mine = (int((side >= people[n - 1]).sum()) if n else 0 for side in (people, members))
        out[name.format(100 * share)] = mine / above if n else None
    return out


def three(name: str, found: Interval) -> dict[str, float | None]:
    """Return a number and its limits, by name."""
    values = (found.value, found.low, found.high)
    return {name + limit: finite(value) for limit, value in zip(_LIMITS, values, strict=True)}


def _curve(members: Floats, strangers: Floats) -> dict[str, list[float]]:
    """Return true positive rates at false positive rates that the strangers support, without interpolation."""
    n, m = len(members), len(strangers)
    ordered, mine = np.sort(strangers)[::-1], np.sort(members)
    k = np.unique(np.floor(_GRID * (m + 1) + 1e-9).astype(int))
    k = k[(k >= 1) & (k <= m)]
    if not n or not len(k):
        return {}
    above = n - np.searchsorted(mine, ordered[k - 1], side="right")
    return {"fpr": (k / m).tolist(), "tpr": (above / n).tolist()}


# ---------------------------------------------------------------- verdict


def _verdict(result: Result, test: Judgement, acceptable: float) -> tuple[Verdict, list[str]]:
    least, sizes = least_strangers(RATES[0], test.level), (len(test.members), len(test.strangers))
    if sizes[1] < least or result.risk is None:
        return "cannot tell", ["cannot tell: " + _FEW.format(sizes[1], least)]
    if test.p_adjusted <= 1 - test.level:
        if test.towards < 0:
            high = result.risk.high_simultaneous
            return "deficit found", [ABSENT, *([_GAPS] if high is None or high >= 0 else [])]
        low = result.risk.low_simultaneous
        if low is None or low > 0:
            return "excess found", []
        return "excess found", [_SURELY.format(100 * test.share) if 0 < test.share < RATES[0] else _TRACES]
    together = [claims_at(test.members, test.strangers, rate, test.level_each).residual for rate in RATES[:2]]
    limit = acceptable * test.visible
    if all(isfinite(r.high) and r.high <= limit for r in together):
        return "none found", []
    if together[0].high <= limit:
        return "cannot tell", ["cannot tell: " + _SMALL_RATE.format(acceptable)]
    if together[0].high <= acceptable:
        return "cannot tell", ["cannot tell: " + _COARSE.format(test.visible, acceptable)]
    tied, reached = _at_threshold(test.strangers)
    if reached > acceptable:
        return "cannot tell", ["cannot tell: " + _TIED.format(100 * tied)]
    more = max(1.1, ((together[0].high - together[0].value) / acceptable) ** 2)
    return "cannot tell", ["cannot tell: " + _WIDE.format(*(ceil(more * x) for x in sizes), acceptable)]


def _at_threshold(strangers: Floats) -> tuple[float, float]:
    """Return the share of strangers who have the score at which a tenth of them would be claimed; scores ascend.

    And the risk of claiming all who score at least as high, among people who leak nothing: the limit of any number.
    """
    m, a = len(strangers), RATES[0]
    threshold = strangers[m - max(1, int(a * (m + 1) + 1e-9))]
    first, last = (int(np.searchsorted(strangers, threshold, side=side)) for side in ("left", "right"))
    return float(last - first) / m, (float(m - first) / m - a) / (1 - a)
