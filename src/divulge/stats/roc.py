"""ROC curves of members against strangers: the AUC, the true positive rate at a false positive rate, the advantage.

The threshold of a true positive rate is taken from the strangers, so that two errors add up: that of the threshold and
that of the members above it. An interval that takes the threshold as known (Clopper and Pearson) covers 32 to 90%
instead of 95%; see `tests/calibration/test_membership_calibration.py`. No curve is interpolated: with 250 strangers, a
rate at a false positive rate of 0.1% would be a number without a single stranger behind it.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np
from scipy.special import bdtr, gammaln

from divulge.core.errors import SettingError
from divulge.stats.intervals import Interval, newcombe, normal_quantile, wilson
from divulge.stats.outcomes import Floats, Ints

__all__ = ["Claims", "advantage", "auc", "auc_gain", "claims_at", "least_strangers", "many_members", "mid_ranks"]

_UNDEFINED = Interval(math.nan, math.nan, math.nan)


# ---------------------------------------------------------------- AUC


def mid_ranks(scores: Floats) -> Floats:
    """Return the rank of each score, from 1 on; equal scores share the mean of their ranks.

    Examples
    --------
    >>> mid_ranks(np.array([3.0, 1.0, 3.0])).tolist()
    [2.5, 1.0, 2.5]
    """
    _, which, times = np.unique(scores, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(times) - (times - 1) / 2)[which])


def auc(members: Floats, strangers: Floats, level: float = 0.95, spread: float = 1.0) -> Interval:
    """Return the probability that a member scores higher than a stranger, with DeLong's interval on the logit scale.

    Ties count one half. Where nobody's place varies (all members above all strangers) the limits are Wilson's for as
    many trials as the smaller group has people.

    Parameters
    ----------
    members, strangers
        Scores, shapes (n_T,) and (n_C,).
    level
        Coverage aimed at.
    spread
        The standard error is multiplied by it; above 1 for scores of models that were fitted on other people of these.

    References
    ----------
    DeLong, DeLong and Clarke-Pearson (1988), Comparing the areas under two or more correlated ROC curves.

    Examples
    --------
    >>> found = auc(np.array([1.0, 2.0, 4.0]), np.array([0.0, 2.0, 3.0]))
    >>> round(found.value, 4), round(found.low, 4), round(found.high, 4)
    (0.6111, 0.1319, 0.942)
    """
    z = normal_quantile(level)
    if min(len(members), len(strangers)) == 0:
        return _UNDEFINED
    of_members, of_strangers = _placements(members, strangers)
    area = _mean(of_members)
    error = spread * math.sqrt(_variance(of_members) / len(members) + _variance(of_strangers) / len(strangers))
    if area in (0.0, 1.0):
        n = min(len(members), len(strangers))
        found = wilson(area * n, n, level)
        return Interval(area, found.low, found.high)
    centre, half = math.log(area / (1 - area)), z * error / (area * (1 - area))
    return Interval(area, _logistic(centre - half), _logistic(centre + half))


def auc_gain(
    one: tuple[Floats, Floats], other: tuple[Floats, Floats], level: float = 0.95, spread: float = 1.0
) -> Interval:
    """Return by how much the AUC of the first scores exceeds that of others of the same people, with DeLong's interval.

    Parameters
    ----------
    one, other
        The scores of the members and those of the strangers, the people in one order.
    level
        Coverage aimed at.
    spread
        The standard error is multiplied by it, as for `auc`.

    Examples
    --------
    >>> same = np.arange(5.0), np.arange(4.0)
    >>> auc_gain(same, same)
    Interval(value=0.0, low=0.0, high=0.0)
    """
    sides = [np.subtract(a, b) for a, b in zip(_placements(*one), _placements(*other), strict=True)]
    value = _mean(sides[0])
    half = spread * normal_quantile(level) * math.sqrt(sum(_variance(s) / len(s) for s in sides))
    return Interval(value, value - half, value + half)


def _placements(members: Floats, strangers: Floats) -> tuple[Floats, Floats]:
    """Return for each member the share of strangers below, and for each stranger that of members above; ties half."""
    low, high = np.sort(strangers), np.sort(members)
    below = np.searchsorted(low, members) + np.searchsorted(low, members, side="right")
    above = 2 * len(high) - np.searchsorted(high, strangers) - np.searchsorted(high, strangers, side="right")
    return below / (2 * len(strangers)), above / (2 * len(members))


def _mean(values: Floats) -> float:
    return math.fsum(values.tolist()) / len(values)


def _variance(values: Floats) -> float:
    """Return the variance, the same in any order of rows."""
    if len(values) < 2:
        return 0.25  # the largest of shares: nothing is known of the spread
    centre = _mean(values)
    return math.fsum(((values - centre) ** 2).tolist()) / (len(values) - 1)


def _logistic(x: float) -> float:
    return 1 / (1 + math.exp(-x)) if x > -700 else 0.0


# ---------------------------------------------------------------- claims at a false positive rate


@dataclass(frozen=True, slots=True)
class Claims:
    """Who is claimed as a member where about a share `fpr` of strangers would be claimed too."""

    fpr: float
    hits: int
    """Members above the k-th highest stranger; ties are not claimed."""
    k: int
    """Rank of the stranger whose score is the threshold; 0 where there are too few strangers for this rate."""
    n_members: int
    n_strangers: int
    tpr: Interval
    """The true positive rate of the threshold whose false positive rate among all people is `fpr`; nan if k is 0."""
    p_value: float
    """Chance of at least so many members above the k-th stranger if labels are exchangeable; 1 if k is 0."""

    @property
    def difference(self) -> Interval:
        """TPR less the observed share of strangers, with the limits of TPR - fpr, widened to hold it; nan if k is 0.

        The observed share k / n_C is within 1 / n_C of fpr.
        """
        value = self.tpr.value - self.k / self.n_strangers if self.k else math.nan
        return Interval(value, min(self.tpr.low - self.fpr, value), max(self.tpr.high - self.fpr, value))

    @property
    def residual(self) -> Interval:
        """(TPR - fpr) / (1 - fpr): the share of members that is copied, if copies score highest."""
        return Interval(*((x - self.fpr) / (1 - self.fpr) for x in (self.tpr.value, self.tpr.low, self.tpr.high)))


def claims_at(members: Floats, strangers: Floats, fpr: float, level: float = 0.95) -> Claims:
    """Return who is claimed at a false positive rate, and the true positive rate with an interval that covers.

    The attacker claims everybody above the stranger of rank k = floor(fpr (n_C + 1)) from the top. The share of all
    strangers above this one is Beta(k, n_C + 1 - k), which enters the interval beside Wilson's interval of the members
    above it: the halves of the two errors add up in square ("MOVER").

    Parameters
    ----------
    members, strangers
        Scores, shapes (n_T,) and (n_C,).
    fpr
        False positive rate, in (0, 1).
    level
        Coverage aimed at.

    References
    ----------
    Donner and Zou (2012), Closed-form confidence intervals for functions of the normal mean and standard deviation,
    for the combination of limits; Newcombe (1998) for two proportions.

    Examples
    --------
    >>> found = claims_at(np.arange(60.0, 160.0), np.arange(100.0), fpr=0.1)
    >>> found.k, found.hits, [round(x, 3) for x in (found.tpr.low, found.tpr.high)]
    (10, 69, [0.582, 0.805])
    """
    if not 0 < fpr < 1:
        raise SettingError(f"fpr: {fpr} is outside (0, 1). hint: 0.1, 0.01 and 0.001 are usual.")
    n, m = len(members), len(strangers)
    k = math.floor(fpr * (m + 1) + 1e-9)
    if not n or k < 1:
        return Claims(fpr, 0, 0, n, m, _UNDEFINED, 1.0)
    ordered, mine = np.sort(strangers)[::-1], np.sort(members)
    hits = _above(mine, float(ordered[k - 1]))
    j_low, j_high = _ranks_around(m, fpr, level)
    least = _above(mine, float(ordered[j_low - 1])) / n if j_low else 0.0
    most = 1.0 if j_high > m else (n - int(np.searchsorted(mine, ordered[j_high - 1], side="left"))) / n
    own = wilson(hits, n, level)
    value = hits / n
    low = value - math.hypot(value - own.low, value - min(least, value))
    high = value + math.hypot(own.high - value, max(most, value) - value)
    tpr = Interval(value, max(0.0, low), min(1.0, high))
    return Claims(fpr, hits, k, n, m, tpr, many_members(hits, n, m, k))


def _above(ordered: Floats, threshold: float) -> int:
    return len(ordered) - int(np.searchsorted(ordered, threshold, side="right"))


@functools.lru_cache(maxsize=64)
def _ranks_around(n: int, fpr: float, level: float) -> tuple[int, int]:
    """Return the ranks j of strangers whose own false positive rate is surely below fpr (the last), and surely above.

    Of n strangers the j-th highest has a rate of Beta(j, n + 1 - j); it is above fpr with the probability that at most
    j - 1 of n strangers fall above the true threshold. The first rank is 0 where there is none, the last n + 1.
    """
    tail = (1 - level) / 2
    above = bdtr(np.arange(n, dtype=np.float64), n, fpr)  # of ranks 1 to n
    j_low = int(np.searchsorted(above, tail, side="right"))
    j_high = int(np.searchsorted(above, 1 - tail, side="left")) + 1
    return j_low, j_high


def least_strangers(fpr: float, level: float = 0.95) -> int:
    """Return how many strangers the lower limit of a true positive rate needs before it can be above 0.

    Examples
    --------
    >>> [least_strangers(a) for a in (0.1, 0.05, 0.01, 0.001)]
    [36, 72, 368, 3688]
    """
    return math.ceil(math.log((1 - level) / 2) / math.log1p(-fpr) - 1e-9)


def many_members(hits: int, n_members: int, n_strangers: int, k: int) -> float:
    """Return the chance of at least so many members above the k-th highest stranger, all orders being as likely.

    Among the hits + k - 1 highest people at most k - 1 are strangers (negative hypergeometric).

    References
    ----------
    Rosenbaum (1954), Tables for a nonparametric test of location.

    Examples
    --------
    >>> round(many_members(15, 500, 500, 5), 4), round(many_members(20, 1000, 1000, 10), 4)
    (0.0091, 0.0298)
    """
    if not (0 <= hits <= n_members and 1 <= k <= n_strangers):
        raise SettingError("claims: needs 0 <= hits <= members and 1 <= k <= strangers.")
    if hits == 0:
        return 1.0
    drawn, people = hits + k - 1, n_members + n_strangers
    found = np.arange(max(0, drawn - n_members), min(k - 1, n_strangers, drawn) + 1, dtype=np.float64)
    if not len(found):
        return math.ulp(0.0)
    logs = _choose(n_strangers, found) + _choose(n_members, drawn - found) - _choose(people, np.array([float(drawn)]))
    return min(1.0, max(math.fsum(np.exp(logs).tolist()), math.ulp(0.0)))


def _choose(n: int, k: Floats | Ints) -> Floats:
    """Return the logarithm of n choose k."""
    return np.asarray(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1))


# ---------------------------------------------------------------- advantage


def advantage(members: Floats, strangers: Floats, level: float = 0.95) -> Interval:
    """Return the membership advantage TPR - FPR of claiming whoever scores above the median of all people.

    The threshold does not look at labels, and nothing is chosen among thresholds: the largest advantage over all
    thresholds is above 0 without any leak. The interval is Newcombe's.

    References
    ----------
    Yeom, Giacomelli, Fredrikson and Jha (2018), Privacy risk in machine learning.

    Examples
    --------
    >>> found = advantage(np.arange(50.0, 150.0), np.arange(100.0))
    >>> round(found.value, 2), found.low > 0.3
    (0.5, True)
    """
    n, m = len(members), len(strangers)
    if min(n, m) == 0:
        return _UNDEFINED
    middle = float(np.quantile(np.concatenate([members, strangers]), 0.5, method="inverted_cdf"))
    hits, alarms = (int(np.count_nonzero(side > middle)) for side in (members, strangers))
    return newcombe(hits, n, alarms, m, level)
