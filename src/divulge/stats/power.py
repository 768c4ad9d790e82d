"""The smallest excess that a two-sided test finds with a given power.

The excess is of the kind that a leak makes: a share f of the members are hit for certain and the others as often as
strangers, so that members have the rate p + f (1 - p). Hits become more varied with f, and the formula counts that.
"""

import functools
import math

import numpy as np
from scipy.special import bdtr, bdtrc, bdtrik, betaincinv, ndtri, stdtrit

from divulge.core.errors import SettingError
from divulge.stats.exact import fisher
from divulge.stats.intervals import _check_level, newcombe

_FEW = 10.0  # expected hits of strangers up to which the power is computed exactly

__all__ = ["fewest_hits", "smallest_detectable", "smallest_share"]


def smallest_detectable(
    p_c: float,
    n_t: int,
    n_c: int,
    *,
    level: float = 0.95,
    limits: float | None = None,
    power: float = 0.8,
    variances: tuple[float, float] | None = None,
    together: float = 1.0,
) -> float:
    """Return the smallest excess ``d = p_T - p_C`` that a two-sided test finds with a given power.

    For hits that are 0 or 1 and Fisher's test it solves, with the pooled rate p, ::

        d = z(1 - a/2) sqrt(p q (1/n_T + 1/n_C)) + z(power) sqrt(p_T q_T / n_T + p_C q_C / n_C) + (1/n_T + 1/n_C) / 2

    Other outcomes have the variance of each person instead of ``p q``, Student's quantile and no correction for whole
    numbers. Where at most ten strangers are hit, the power of Fisher's test is computed exactly instead of by the
    formula. No excess is less than the share of members whose hits Fisher's test calls significant, with that power,
    where no stranger is hit.

    Parameters
    ----------
    p_c
        Success rate among strangers.
    n_t, n_c
        Members and strangers attacked (clusters, when rows are not independent).
    level
        1 minus the size ``a`` of the two-sided test.
    limits
        Level of the interval whose lower limit must be above 0 too; None is `level`. It counts where hits are few.
    power
        The chance to find the excess.
    variances
        Of the outcome of one member and one stranger (of a cluster's contribution, times its number); None for hits
        that are 0 or 1.
    together
        How many of the `n_t` a leak hits at once.

    Returns
    -------
    float
        Between 0 and ``1 - p_c``; nan when no such excess exists, or a group is empty.

    References
    ----------
    Fleiss, Levin and Paik (2003), Statistical methods for rates and proportions, chapter 4, with the correction of
    Casagrande, Pike and Smith (1978), An improved approximate formula for calculating sample sizes.

    Examples
    --------
    >>> round(smallest_detectable(0.3, 2185, 2185), 4)
    0.04
    """
    z, more = -float(ndtri((1 - _check_level(level)) / 2)), _power_quantile(power)
    if math.isnan(p_c) or n_t <= 0 or n_c <= 0 or p_c >= 1:
        return math.nan
    part, q, whole = n_t / (n_t + n_c), 1 - p_c, (1 / n_t + 1 / n_c) / 2
    own, other = variances or (p_c * q, p_c * q)
    if variances is not None:
        z, whole = _student(level, own / n_t, other / n_c, n_t, n_c, z), 0.0

    def needed(d: float) -> float:
        f = d / q
        leaked = (1 - f) * own + f * (1 - f) * q * q * together
        pooled = part * leaked + (1 - part) * other + part * (1 - part) * d * d
        return (
            z * math.sqrt(pooled * (1 / n_t + 1 / n_c)) + more * math.sqrt(max(0.0, leaked / n_t + other / n_c)) + whole
        )

    low, high = 0.0, q
    if variances is None and p_c * n_c <= _FEW:
        return _exactly((p_c * n_c + 1 / 3) / (n_c + 1 / 3), n_t, n_c, (level, limits or level), power)
    if needed(high) > high:
        return math.nan
    for _ in range(60):  # needed(d) - d changes its sign once: needed is concave in d and above 0 at 0
        middle = (low + high) / 2
        low, high = (middle, high) if needed(middle) > middle else (low, middle)
    least = smallest_share(fewest_hits(n_t, n_c, 0, level, limits or level), n_t, power)
    excess = max(high, least)
    return excess if excess <= q else math.nan


def _exactly(p_c: float, n_t: int, n_c: int, levels: tuple[float, float], power: float) -> float:
    """Return the smallest excess by enumeration, for few hits of strangers."""
    strangers = np.arange(min(n_c, int(bdtrik(1 - 1e-9, n_c, p_c)) + 1 if p_c > 0 else 0) + 1)
    fewest = np.array([fewest_hits(n_t, n_c, int(k), *levels) for k in strangers], dtype=np.float64)
    weight = np.diff(bdtr(strangers, n_c, p_c), prepend=0.0)

    def found(d: float) -> float:
        reached = np.where(fewest <= n_t, bdtrc(fewest - 1, n_t, min(1.0, p_c + d)), 0.0)
        return float((weight * reached).sum())

    low, high = 0.0, 1 - p_c
    if found(high) < power:
        return math.nan
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if found(middle) < power else (low, middle)
    return high


@functools.lru_cache(maxsize=4096)
def fewest_hits(n_t: int, n_c: int, strangers: int, level: float, limits: float) -> int:
    """Return how many members must be hit, with so many strangers, to show an excess; n_t + 1 if none are enough.

    Fisher's p-value must be at most 1 - `level` and Newcombe's lower limit at the level `limits` above 0.

    Examples
    --------
    >>> fewest_hits(2000, 2000, 0, 0.95, 0.95)
    6
    """

    def shows(hits: int) -> bool:
        return fisher(hits, n_t, strangers, n_c) <= 1 - level and newcombe(hits, n_t, strangers, n_c, limits).low > 0

    low, high = math.floor(strangers * n_t / n_c), n_t + 1  # `low` members are hit no more often than strangers
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if shows(middle) else (middle, high)
    return high


def smallest_share(hits: int, n: float, power: float = 0.8) -> float:
    """Return the share of n at which at least so many hits come with a given power; nan where n is less.

    Examples
    --------
    >>> round(smallest_share(1, 1, 0.8), 3), round(smallest_share(6, 2000), 5)
    (0.8, 0.00395)
    """
    _power_quantile(power)
    if hits <= 0:
        return 0.0
    return float(betaincinv(hits, n - hits + 1, power)) if n >= hits else math.nan


def _student(level: float, one: float, two: float, n_t: int, n_c: int, z: float) -> float:
    """Return Student's two-sided quantile at Welch's degrees of freedom, where the groups have spread."""
    if not (one + two > 0 and min(n_t, n_c) > 1):
        return z
    df = (one + two) ** 2 / (one**2 / (n_t - 1) + two**2 / (n_c - 1))
    return -float(stdtrit(df, (1 - level) / 2))


def _power_quantile(power: float) -> float:
    if not 0 < power < 1:
        raise SettingError(f"power: must lie between 0 and 1, got {power}. hint: 0.8.")
    return float(ndtri(power))
