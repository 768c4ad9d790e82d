"""Results of guesses of fair coins: how many are right, what that says, and what could have been found."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from divulge.attacks.checks import ACCEPTABLE
from divulge.auditing.result import Findable, Interval, People, PerTraining
from divulge.core.result import Risk, Verdict
from divulge.stats.fair_coins import fewest_right, luck, luck_of_each, mixture_e_value, needed_for_none, smallest_rate
from divulge.stats.intervals import benjamini_hochberg, clopper_pearson

__all__ = ["FDR", "METHOD", "between_trainings", "counted", "named_people", "verdict_on"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

METHOD = "Clopper-Pearson on fair coins"
FDR = 0.1
"""False discovery rate of the people who are named."""
_FEWEST_RUNS = 5


def counted(
    trainings: Sequence[PerTraining], level: float, tests: int = 1, acceptable: float | None = None
) -> dict[str, Any]:
    """Return the fields of a result that follow from hits of fair coins: rate, risk, p-value, e-value, power.

    Parameters
    ----------
    trainings
        Guesses and right guesses of each training; coins are new in each.
    level
        Level of the intervals and of the test.
    tests
        Number of results that are looked at together; simultaneous limits allow for them.
    acceptable
        Largest upper limit of the risk that counts as none found; None where the test never says so.
    """
    n, hits = sum(t.n for t in trainings), int(sum(t.hits for t in trainings))
    if not n:
        return {"n": 0, "hits": 0.0, "trainings": tuple(trainings)}
    own = clopper_pearson(hits, n, level)
    wide = clopper_pearson(hits, n, 1 - (1 - level) / tests)
    half = clopper_pearson(n // 2, n, level)
    needed = None if acceptable is None else needed_for_none(acceptable, level)
    return {
        "n": n,
        "hits": float(hits),
        "rate": hits / n,
        "interval": Interval(low=own.low, high=own.high, level=level, method=METHOD),
        "risk": Risk(
            value=2 * own.value - 1, low=2 * own.low - 1, high=2 * own.high - 1,
            low_simultaneous=2 * wide.low - 1, high_simultaneous=2 * wide.high - 1, level=level, method=METHOD,
            leak_free_low=2 * half.low - 1, leak_free_high=2 * half.high - 1,
        ),
        "p_value": luck(hits, n),
        "e_value": mixture_e_value(hits, n),
        "findable": Findable(rate=smallest_rate(n, level=level), needed=needed),
        "trainings": tuple(trainings),
    }  # fmt: skip


def verdict_on(
    fields: Mapping[str, Any], p_adjusted: float, level: float, acceptable: float = ACCEPTABLE
) -> tuple[Verdict, list[str]]:
    """Return the verdict on guesses of fair coins, and notes on why nobody can tell."""
    n = fields["n"]
    if not n or fewest_right(n, level) > n:
        return "cannot tell", [f"cannot tell: {n:,} guesses are too few for any finding"]
    if p_adjusted <= 1 - level:
        return "excess found", []
    if fields["risk"].high_simultaneous <= acceptable:
        return "none found", []
    needed = fields["findable"].needed
    return "cannot tell", [f"cannot tell: about {needed:,} guesses would bring the upper limit to {acceptable:g}"]


def between_trainings(trainings: Sequence[PerTraining], level: float) -> dict[str, float | None]:
    """Return the mean of the trainings' rates with Student's interval, which is about further trainings."""
    rates = [t.hits / t.n for t in trainings if t.n]
    if len(rates) < _FEWEST_RUNS:
        return {}
    mean = math.fsum(rates) / len(rates)
    spread = math.sqrt(math.fsum((r - mean) ** 2 for r in rates) / (len(rates) - 1))
    half = -float(stdtrit(len(rates) - 1, (1 - level) / 2)) * spread / math.sqrt(len(rates))
    return {
        "mean of trainings": mean,
        "mean of trainings, lower limit": mean - half,
        "mean of trainings, upper limit": mean + half,
        "spread between trainings": spread,
    }


def named_people(hits: Ints, n: Ints) -> tuple[People, Floats]:
    """Return how many people are named at risk at a false discovery rate of 10%, and everybody's p-value.

    Parameters
    ----------
    hits, n
        Shape (n_people,): right guesses and guesses about each person over all trainings.
    """
    p = luck_of_each(hits, n)
    adjusted = benjamini_hochberg(p)
    flagged = int(np.count_nonzero(adjusted <= FDR))
    return People(tested=int(np.count_nonzero(n > 0)), flagged=flagged, rate=FDR), p
