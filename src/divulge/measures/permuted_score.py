"""Any score of two samples beside what a fresh sample would score: members relabelled one by one, scored anew.

For scores that are no sums over rows, so that no blocks can be counted: ranges, statistics, keys, divergences.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from divulge.measures._permutation import permuted_p, with_tail
from divulge.measures.result import TOLERANCE, FidelityResult, FreshSample
from divulge.measures.verdicts import judged

__all__ = ["permuted_score"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_DRAWS = 199
_GROUPS = 20  # that are left out one at a time
_POWER = 0.8416  # normal quantile of 80 %


def permuted_score(
    score: Callable[[Ints, Ints], float],
    n: int,
    m: int,
    rng: np.random.Generator,
    *,
    measure: str = "",
    draws: int = _DRAWS,
    level: float = 0.95,
    tolerance: float = TOLERANCE,
) -> FidelityResult:
    """Return 1 less a score as a distance, beside that of relabelled members.

    If the second sample is a fresh sample of the first one's population, all labels are alike. The lower limit of the
    difference subtracts what 97.5% of relabellings show; the upper one adds 1.96 standard errors by the jackknife over
    groups of members.

    Parameters
    ----------
    score
        Takes the numbers of the members of each side, 0 to n + m - 1, and returns a score from 0 to 1; 1 is alike. nan
        where it is undefined.
    n, m
        Members of each side; the first n are those of the first.
    rng
        Draws the relabellings.
    measure, draws, level, tolerance
        Of the result.

    Examples
    --------
    >>> x = np.r_[np.zeros(50), np.ones(50)]
    >>> found = permuted_score(lambda a, b: 1 - abs(x[a].mean() - x[b].mean()), 50, 50, np.random.default_rng(0))
    >>> found.value, found.verdict
    (1.0, 'differs')
    """
    members = np.arange(n + m)
    value = 1 - float(score(members[:n], members[n:]))
    if math.isnan(value) or min(n, m) < 2:
        return FidelityResult(measure=measure, tolerance=tolerance, notes=("the score is undefined",))
    orders = [rng.permutation(n + m) for _ in range(draws)]
    null = 1 - np.array([score(np.sort(o[:n]), np.sort(o[n:])) for o in orders], dtype=np.float64)
    null = null[~np.isnan(null)]
    if len(null) < draws / 2:
        return FidelityResult(measure=measure, tolerance=tolerance, notes=("the score of a fresh sample is undefined",))
    [tail] = permuted_p([value], null[None])
    low, high = (float(q) for q in np.quantile(null, [(1 - level) / 2, (1 + level) / 2]))
    mean, error = math.fsum(null.tolist()) / len(null), _jackknife(score, n, m, rng)
    critical = float(np.quantile(null, level))
    result = FidelityResult(
        measure=measure, value=value, fresh_sample=FreshSample(mean=mean, low=low, high=high),
        ruler=value / mean if mean > 0 else None, excess=value - mean, low=max(0.0, value - high),
        high=value + _normal(level) * error, smallest_detectable=critical + _POWER * error, tolerance=tolerance,
        n=n, m=m,
    )  # fmt: skip
    return judged(with_tail(result, tail), level)


def _normal(level: float) -> float:
    from scipy.special import ndtri

    return float(ndtri((1 + level) / 2))


def _jackknife(score: Callable[[Ints, Ints], float], n: int, m: int, rng: np.random.Generator) -> float:
    """Return the standard error of the score, groups of each side left out in turn."""
    sides = [np.arange(n), np.arange(n, n + m)]
    variance = 0.0
    for i, side in enumerate(sides):
        group = rng.permutation(np.arange(len(side)) % min(_GROUPS, len(side)))
        found = []
        for g in range(int(group.max()) + 1):
            own = [side[group != g] if i == j else other for j, other in enumerate(sides)]
            found.append(score(own[0], own[1]))
        left = np.array([f for f in found if not math.isnan(f)])
        variance += float(((left - left.mean()) ** 2).sum()) * (len(left) - 1) / max(1, len(left)) if len(left) else 0.0
    return math.sqrt(variance)
