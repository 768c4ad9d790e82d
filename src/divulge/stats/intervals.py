"""Intervals of one and two proportions, and p-values for many tests."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaincinv, ndtri, stdtrit

from divulge.core.errors import SettingError

__all__ = [
    "Interval",
    "benjamini_hochberg",
    "clopper_pearson",
    "holm",
    "mover_residual",
    "newcombe",
    "wilson",
]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Interval:
    """A number and its limits; nan where undefined."""

    value: float
    """Point estimate."""
    low: float
    """Lower limit."""
    high: float
    """Upper limit."""


_UNDEFINED = Interval(math.nan, math.nan, math.nan)


def _within(interval: Interval, least: float, most: float) -> Interval:
    """Return the interval without what is not possible; it covers the truth as often. nan stays nan."""
    return Interval(interval.value, max(interval.low, least), min(interval.high, most))


def wilson(hits: float, n: float, level: float = 0.95) -> Interval:
    """Return a proportion with Wilson's score interval.

    Parameters
    ----------
    hits
        Successes, between 0 and `n`; may be fractional.
    n
        Trials. With none the value is nan and the limits are 0 and 1.
    level
        Coverage aimed at, between 0 and 1.

    References
    ----------
    Wilson (1927), Probable inference, the law of succession, and statistical inference.

    Examples
    --------
    >>> i = wilson(81, 263)
    >>> round(i.low, 4), round(i.high, 4)
    (0.2553, 0.3662)
    """
    z = normal_quantile(level)
    _check_counts(hits, n)
    if n == 0:
        return Interval(math.nan, 0.0, 1.0)
    centre = (hits + z * z / 2) / (n + z * z)
    half = z / (n + z * z) * math.sqrt(hits * (n - hits) / n + z * z / 4)
    low = 0.0 if hits == 0 else max(0.0, centre - half)
    high = 1.0 if hits == n else min(1.0, centre + half)
    return Interval(hits / n, low, high)


def clopper_pearson(hits: int, n: int, level: float = 0.95) -> Interval:
    """Return a proportion with an interval that covers the truth with probability at least `level`, whatever the truth.

    Parameters
    ----------
    hits, n
        Successes and trials, whole numbers. Without trials: nan, 0, 1.
    level
        Coverage guaranteed, between 0 and 1.

    References
    ----------
    Clopper and Pearson (1934), The use of confidence or fiducial limits.

    Examples
    --------
    >>> round(clopper_pearson(0, 1000).high, 6)
    0.003682
    """
    _check_level(level)
    _check_counts(hits, n)
    if n == 0:
        return Interval(math.nan, 0.0, 1.0)
    tail = (1 - level) / 2
    low = 0.0 if hits == 0 else float(betaincinv(hits, n - hits + 1, tail))
    high = 1.0 if hits == n else float(betaincinv(hits + 1, n - hits, 1 - tail))
    return Interval(hits / n, low, high)


def newcombe(hits_a: float, n_a: float, hits_b: float, n_b: float, level: float = 0.95) -> Interval:
    """Return the difference of two proportions, a minus b, with Newcombe's hybrid score interval.

    Parameters
    ----------
    hits_a, n_a, hits_b, n_b
        Successes and trials of the two groups. All nan when a group is empty.
    level
        Coverage aimed at, between 0 and 1.

    References
    ----------
    Newcombe (1998), Interval estimation for the difference between independent proportions, method 10.

    Examples
    --------
    >>> i = newcombe(56, 70, 48, 80)
    >>> round(i.low, 4), round(i.high, 4)
    (0.0524, 0.3339)
    """
    return _mover_difference(wilson(hits_a, n_a, level), wilson(hits_b, n_b, level))


def mover_residual(hits_a: float, n_a: float, hits_b: float, n_b: float, level: float = 0.95) -> Interval:
    """Return the residual ``(p_a - p_b) / (1 - p_b)`` with its MOVER interval.

    It is the share of what group b leaves to be gained that group a does gain: 1 minus the ratio of the
    failure rates. The interval comes from Wilson's limits for both, and its lower limit is above 0
    exactly when that of `newcombe` is.

    Parameters
    ----------
    hits_a, n_a, hits_b, n_b
        Successes and trials of the two groups.
    level
        Coverage aimed at, between 0 and 1.

    Returns
    -------
    Interval
        At most 1, never clipped below. All nan when a group is empty or b always succeeds; a lower limit
        of minus infinity when b's failures cannot be told from none.

    References
    ----------
    Donner and Zou (2012), Closed-form confidence intervals for functions of the normal mean and
    standard deviation: the method of variance estimates recovery (MOVER) for a ratio.

    Examples
    --------
    >>> i = mover_residual(150, 500, 100, 500)
    >>> round(i.value, 4), round(i.low, 4), round(i.high, 4)
    (0.125, 0.0599, 0.1867)
    """
    a, b = wilson(n_a - hits_a, n_a, level), wilson(n_b - hits_b, n_b, level)
    return _mover_ratio(a, b, _residual(hits_a, n_a, hits_b, n_b))


def _mover_difference(a: Interval, b: Interval) -> Interval:
    """Difference a - b from the limits of both; swapping a and b negates every digit."""
    value = a.value - b.value
    if math.isnan(value):
        return _UNDEFINED
    low = value - math.sqrt((a.value - a.low) ** 2 + (b.high - b.value) ** 2)
    high = value + math.sqrt((a.high - a.value) ** 2 + (b.value - b.low) ** 2)
    return Interval(value, low, high)


def _mover_ratio(a: Interval, b: Interval, value: float) -> Interval:
    """1 - a/b from the limits of the failure rates a and b."""
    if math.isnan(value):
        return _UNDEFINED
    ab = a.value * b.value
    lower_a, upper_b = a.low * (2 * a.value - a.low), b.high * (2 * b.value - b.high)
    upper_a, lower_b = a.high * (2 * a.value - a.high), b.low * (2 * b.value - b.low)
    # The smaller root in its other form c / (x + sqrt(x^2 - c d)): d is 0 or negative when b is rare.
    below = ab + math.sqrt(max(0.0, ab * ab - lower_a * upper_b))
    smallest = max(0.0, lower_a / below) if below > 0 else 0.0
    root = math.sqrt(max(0.0, ab * ab - upper_a * lower_b))
    largest = (ab + root) / lower_b if lower_b > 0 else math.inf
    return Interval(value, 1 - largest, 1 - smallest)


def _residual(hits_a: float, n_a: float, hits_b: float, n_b: float) -> float:
    if n_a == 0 or n_b == 0 or hits_b >= n_b:
        return math.nan
    return min(1.0, (hits_a / n_a - hits_b / n_b) / ((n_b - hits_b) / n_b))  # 1 + 2e-16 is rounding


def normal_quantile(level: float) -> float:
    """Two-sided normal quantile, computed from the tail so that levels close to 1 stay accurate."""
    return -float(ndtri((1 - _check_level(level)) / 2))


def _t(level: float, df: float) -> float:
    return -float(stdtrit(df, (1 - level) / 2))


def _check_level(level: float) -> float:
    if not 0 < level < 1:
        raise SettingError(f"level: must lie between 0 and 1, got {level}. hint: 0.95 for 95% intervals.")
    return level


def _check_counts(hits: float, n: float) -> None:
    if not 0 <= hits <= n:
        raise SettingError("hits: must lie between 0 and n. hint: pass successes first, then trials.")


def holm(p: ArrayLike) -> Floats:
    """Return p-values adjusted so that the probability of any false finding is at most the level.

    Parameters
    ----------
    p
        Shape (n,). nan marks a test that was not run: it stays nan and is not counted.

    Returns
    -------
    ndarray
        Shape (n,), each at least as large as its p-value and at most 1.

    References
    ----------
    Holm (1979), A simple sequentially rejective multiple test procedure.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])
    """
    values = np.asarray(p, dtype=np.float64)
    run = np.flatnonzero(~np.isnan(values))
    order = run[np.argsort(values[run], kind="stable")]
    adjusted = np.full(values.shape, np.nan)
    stepped = np.maximum.accumulate(values[order] * np.arange(order.size, 0, -1))
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted


def benjamini_hochberg(p: ArrayLike) -> Floats:
    """Return p-values adjusted so that the expected share of false findings is at most the level.

    Parameters
    ----------
    p
        Shape (n,), independent or positively dependent. nan stays nan and is not counted.

    Returns
    -------
    ndarray
        Shape (n,), each at least as large as its p-value and at most 1.

    References
    ----------
    Benjamini and Hochberg (1995), Controlling the false discovery rate.

    Examples
    --------
    >>> benjamini_hochberg([0.01, 0.04, 0.03])
    array([0.03, 0.04, 0.04])
    """
    values = np.asarray(p, dtype=np.float64)
    run = np.flatnonzero(~np.isnan(values))
    order = run[np.argsort(values[run], kind="stable")][::-1]
    adjusted = np.full(values.shape, np.nan)
    stepped = values[order] * (order.size / np.arange(order.size, 0, -1))
    adjusted[order] = np.minimum(np.minimum.accumulate(stepped), 1.0)
    return adjusted
