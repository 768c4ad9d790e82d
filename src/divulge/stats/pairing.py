"""Pairing: do two tables agree row by row more than neighbouring rows do?

Row i of one table is paired with row i of the other, both in one order (of the rows, or of an identifier). The
agreement of the pairs is compared with that of rows a few places apart. Tables that are sorted alike, or in which
neighbours resemble each other, agree at nearby lags as well, and nothing is found; only rows that belong together agree
at lag 0 alone. No random number is drawn, and reversing the order changes no digit.

With T(l) the mean agreement at lag l, the statistic is D(0) for D(l) = T(l) - (T(l - 1) + T(l + 1)) / 2, which takes
out whatever changes steadily with the lag. The other D(l) give its mean and spread by chance.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, stdtr

from divulge.stats.intervals import _UNDEFINED, Interval, _check_level, _t, _within, normal_quantile
from divulge.stats.two_sample import Tally

__all__ = ["LEAST", "Paired", "ascents", "clearest", "follows_order", "lagged", "telling"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

LEAST = 40
"""Pairs below which nothing is compared: there are too few lags for a spread."""
_REACH = 100  # lags on either side at most; start value. Their spread has then about 100 degrees of freedom
_WORK = 400_000_000  # cells compared over all lags; above it only every s-th row is, about 2 seconds
_ALIKE = 0.5  # neighbours differ less than this part of what random rows do: the column follows the order


@dataclass(frozen=True, slots=True)
class Paired:
    """Agreement of the pairs, and of rows that are paired by chance.

    Has what `attacks.checks.judge` and a family of tests ask of a comparison; chance takes the strangers' side.
    """

    real: Tally
    holdout: Tally
    """What chance gives the same number of pairs."""
    difference: Interval
    risk: Interval
    """(p - b) / (1 - b) for the agreement p and the agreement b by chance; limits end at 1."""
    p_value: float
    """One-sided: that pairs agree less than by chance says nothing about people."""
    method: str
    level: float
    spread: float
    """Standard deviation of the difference by chance."""
    df: float
    """Degrees of freedom of the spread."""
    columns: int = 1
    """So many comparisons were looked at: p-value and limits hold for all of them (Bonferroni)."""
    may_resample = False
    least_p = 0.0
    """The smallest p-value that the test can give: it is that of a distribution, not of draws."""
    possible = (-1.0, 1.0)
    """The least and the largest difference that there can be."""

    def at(self, level: float) -> tuple[Interval, Interval]:
        """Return difference and risk at another level, for simultaneous intervals."""
        if _check_level(level) == self.level:
            return self.difference, self.risk
        return _intervals(self.real.rate, self.holdout.rate, self.spread, self.df, _each(level, self.columns))

    def leak_free(self, level: float) -> Interval:
        """Return the range of the risk at this level if rows are paired by chance."""
        each = _each(level, self.columns)
        return _intervals(self.holdout.rate, self.holdout.rate, self.spread, self.df, each)[1]

    def detectable(self, level: float, limits: float | None = None, power: float = 0.8) -> float:
        """Return the smallest excess that is found with a given power; nan where no excess is.

        `level` is 1 minus the level of the p-value, `limits` that of the interval (None is `level`).
        """
        half = _half(self.spread, self.df, _each(max(level, limits or level), self.columns))
        excess = half + self.spread * normal_quantile(2 * power - 1)
        return excess if excess <= 1 - self.holdout.rate else math.nan


def _intervals(p: float, b: float, spread: float, df: float, level: float) -> tuple[Interval, Interval]:
    half = _half(spread, df, level)
    difference = _within(Interval(p - b, p - b - half, p - b + half), -1.0, 1.0)
    if not b < 1:
        return difference, _UNDEFINED
    return difference, Interval(1 - (1 - p) / (1 - b), difference.low / (1 - b), min(1.0, difference.high / (1 - b)))


def _half(spread: float, df: float, level: float) -> float:
    """Return half the width of the interval of the difference."""
    return spread * (_t(level, df) if math.isfinite(df) else normal_quantile(level))


def _each(level: float, n: int) -> float:
    """Return the level at which each of n intervals must hold so that all hold together at a level."""
    return 1 - (1 - level) / n


def _paired(
    p: float, b: float, n: int, spread: float, df: float, p_value: float, how: str, level: float, columns: int = 1
) -> Paired:
    difference, risk = _intervals(p, b, spread, df, _each(_check_level(level), columns))
    p_value = min(1.0, columns * p_value)
    return Paired(
        Tally(p * n, n, p, n), Tally(b * n, n, b, n), difference, risk, p_value, how, level, spread, df, columns
    )  # fmt: skip


def follows_order(values: Ints, scale: int) -> bool:
    """Return whether neighbouring rows differ less than half as much as random rows do.

    Parameters
    ----------
    values, scale
        As for `lagged`.

    Examples
    --------
    >>> follows_order(np.arange(10), 9), follows_order(np.arange(10) * 7 % 10, 9)
    (True, False)
    """
    n = len(values)
    if n < 2:
        return False
    near = int(np.minimum(np.abs(np.diff(values)), scale).sum()) / (n - 1)
    return near < _ALIKE * _mean_apart(values, scale)


def _mean_apart(values: Ints, scale: int) -> float:
    """Return the mean of min(|a - b|, scale) over all pairs of rows."""
    levels, count = np.unique(values, return_counts=True)
    n = len(values)
    if scale == 1:
        return float((n * n - int((count.astype(np.int64) ** 2).sum())) / (n * (n - 1)))
    # pairs nearer than the scale by their distance, all others by the scale
    share = count / n
    first = np.searchsorted(levels, levels - scale, "left")
    weight = np.concatenate([[0.0], np.cumsum(share)])
    moment = np.concatenate([[0.0], np.cumsum(share * levels)])
    here = np.arange(len(levels))
    within, total = weight[here] - weight[first], moment[here] - moment[first]
    below = share * (levels * within - total + scale * weight[first])
    return float(2 * below.sum() * n / (n - 1))


def lagged(one: Sequence[Ints], other: Sequence[Ints], scales: Sequence[int], *, level: float = 0.95) -> Paired:
    """Return how much better rows agree with the row in the same place than with rows a few places apart.

    Parameters
    ----------
    one, other
        For each column, shape (n,), the values of the two tables in their common order, n at least `LEAST`.
    scales
        For each column, the difference from which two values do not agree at all: 1 for categories, the range for
        numbers. The agreement is 1 - min(|a - b|, scale) / scale; the mean over the columns counts.

    Returns
    -------
    Paired
        The p-value is one-sided, by Student's t with the spread of the other lags. A term of Bernstein's inequality
        allows for agreements that are rare, and it is at least the share of other lags that reach the statistic.

    Examples
    --------
    >>> rows = np.arange(200) * 37 % 101
    >>> lagged([rows], [rows], [1]).p_value < 0.001 < 0.1 < lagged([rows], [rows[::-1].copy()], [1]).p_value
    True
    """
    agreement, reach, pairs = _by_lag(one, other, scales)
    return _at_lag_zero(_mean_of(agreement), reach, pairs, level)


def telling(
    one: Sequence[Ints], other: Sequence[Ints], scales: Sequence[int], *, level: float = 0.95
) -> tuple[Paired, int | None]:
    """Return the agreement over all columns or, where it tells more and is found, that of one column.

    A value that most people share moves the mean over many columns by little. So there are two questions, each at half
    of the level: the mean, and the column with the smallest p-value, times the number of columns.

    Parameters
    ----------
    one, other, scales, level
        As for `lagged`.

    Returns
    -------
    found
        The mean; or the best column, if its p-value is the smaller one and at most 1 less the level. P-value and limits
        hold for all that was looked at (`columns`).
    which
        The place of that column, None for the mean. Of columns with equal p-values it is the one with the largest risk,
        then the first.

    Examples
    --------
    >>> rows = np.arange(200) * 37 % 101
    >>> found, which = telling([rows % 7, rows], [rows[::-1] % 7, rows], [1, 1])
    >>> which, found.p_value < 0.001, found.columns
    (1, True, 4)
    """
    agreement, reach, pairs = _by_lag(one, other, scales)
    if len(one) == 1:
        return _at_lag_zero(_mean_of(agreement), reach, pairs, level), None
    mean = _at_lag_zero(_mean_of(agreement), reach, pairs, level, 2)
    each = [_at_lag_zero(a, reach, pairs, level, 2 * len(one)) for a in agreement]
    which = min(range(len(each)), key=lambda i: (each[i].p_value, -each[i].risk.value))
    found = each[which].p_value < mean.p_value and each[which].p_value <= 1 - level
    return (each[which], which) if found else (mean, None)


def clearest(found: Sequence[Paired]) -> tuple[Paired, int]:
    """Return the comparison with the smallest p-value of several, corrected for their number, and its place.

    P-value and limits hold for all that were looked at (Bonferroni). Of equal p-values it is the one with the largest
    risk, then the first.

    Examples
    --------
    >>> rows = np.arange(200) * 37 % 101
    >>> one, other = (lagged([rows], [x], [1]) for x in (rows[::-1].copy(), rows))
    >>> found, which = clearest([one, other])
    >>> which, found.columns, found.p_value == 2 * other.p_value, found.risk.low < other.risk.low
    (1, 2, True, True)
    """
    which = min(range(len(found)), key=lambda i: (found[i].p_value, -found[i].risk.value))
    best = found[which]
    columns = len(found) * best.columns
    each = _each(best.level, columns)
    difference, risk = _intervals(best.real.rate, best.holdout.rate, best.spread, best.df, each)
    p_value = min(1.0, len(found) * best.p_value)
    return replace(best, difference=difference, risk=risk, p_value=p_value, columns=columns), which


def _by_lag(one: Sequence[Ints], other: Sequence[Ints], scales: Sequence[int]) -> tuple[list[Floats], int, int]:
    """Return for each column the agreement at each lag from -reach - 1 to reach + 1, the reach, and the pairs."""
    n = len(one[0])
    reach = min(_REACH, (n - 1) // 4)
    step = max(1, n * len(one) * (2 * reach + 3) // _WORK)
    lags = range(-reach - 1, reach + 2)
    found = [
        np.array([_agreement(x, y, scale, lag, step) for lag in lags])
        for x, y, scale in zip(one, other, scales, strict=True)
    ]
    return found, reach, len(range(0, n, step))


def _mean_of(agreement: Sequence[Floats]) -> Floats:
    total = np.zeros(len(agreement[0]))
    for each in agreement:
        total += each
    return total / len(agreement)


def _at_lag_zero(agreement: Floats, reach: int, pairs: int, level: float, columns: int = 1) -> Paired:
    """Return the comparison of lag 0 with the others; `agreement` runs from lag -reach - 1 to reach + 1."""
    second = agreement[1:-1] - (agreement[:-2] + agreement[2:]) / 2
    rest = np.concatenate([second[: reach - 1], second[reach + 2 :]])  # lags of 1 share T(0) with lag 0
    centre = math.fsum(rest.tolist()) / len(rest)
    squares = math.fsum(((rest - centre) ** 2).tolist()) / (len(rest) - 1)
    excess = float(second[reach]) - centre
    spread = max(math.sqrt(squares * (1 + 1 / len(rest))), 1 / pairs)
    df = len(rest) / 2  # second differences at neighbouring lags depend on each other: about half as many are free
    seen = excess / math.sqrt(spread * spread + max(0.0, excess) / (3 * pairs))
    reached = int((rest >= second[reach] - 1e-12).sum()) / len(rest)
    p_value = max(float(stdtr(df, -seen)), reached, float(np.finfo(np.float64).tiny))
    found = float(agreement[reach + 1])
    how = f"agreement at lag 0 against {len(rest)} lags of up to {reach}; Student"
    chance = min(1.0, max(0.0, found - excess))
    return _paired(found, chance, pairs, spread, df, p_value, how, level, columns)


def _agreement(x: Ints, y: Ints, scale: int, lag: int, step: int) -> float:
    """Return the mean agreement of row i of one table with row i + lag of the other."""
    n = len(x)
    a, b = x[max(0, -lag) : n - max(0, lag) : step], y[max(0, lag) : n + min(0, lag) : step]
    if scale == 1:
        return int((a == b).sum()) / len(a)
    return 1 - int(np.minimum(np.abs(a - b), scale).sum()) / scale / len(a)


def ascents(places: Ints, groups: Ints, *, level: float = 0.95) -> Paired | None:
    """Return how often the next row of a table stands later in another table, too, against a half by chance.

    Parameters
    ----------
    places
        Shape (n,): the place of each row in the other table, all different.
    groups
        Shape (n,): only rows of one group are compared, each with the next of its group.

    Returns
    -------
    Paired or None
        None where no group has two rows. The number of ascents of a random order of g rows has mean (g - 1) / 2 and
        variance (g + 1) / 12; the p-value is the normal limit with a continuity correction.

    References
    ----------
    Stanley, Enumerative Combinatorics 1, on Eulerian numbers.

    Examples
    --------
    >>> found = ascents(np.array([3, 5, 6, 9, 7, 12]), np.zeros(6, dtype=np.int64))
    >>> found.real.hits, found.holdout.hits, round(found.spread * 5, 3)
    (4.0, 2.5, 0.764)
    """
    order = np.argsort(groups, kind="stable")
    same = groups[order][1:] == groups[order][:-1]
    n = int(same.sum())
    if not n:
        return None
    up = int((same & (places[order][1:] > places[order][:-1])).sum())
    sizes = np.unique(groups, return_counts=True)[1]
    sizes = sizes[sizes > 1]
    deviation = math.sqrt(int((sizes + 1).sum()) / 12)
    p_value = max(float(ndtr(-(up - n / 2 - 0.5) / deviation)), float(np.finfo(np.float64).tiny))
    how = "ascents among rows that are found in both tables; normal limit"
    return _paired(up / n, 0.5, n, deviation / n, math.inf, p_value, how, level)
