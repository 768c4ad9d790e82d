"""Attraction: do synthetic rows lie nearer to the people in the table than to strangers, and by how much?

Each synthetic row gives one credit to its nearest person among members and strangers. Without a leak the two groups do
not differ, so members collect n_T/N of the credits, however many there are. There are many synthetic rows, and many of
them are nearest to the same few people. A binomial test over rows therefore finds leaks that do not exist (in 24% of
leak-free tables with twenty rows a person, at a nominal 5%). The people are the units: the test permutes their labels,
and the interval is Welch's on their credits.

Welch's interval has no width if the credits have no spread (a table copied row for row, or no copy at all). So the
wider of two limits is used at each end. The first is Welch's. The second is the limit for independent synthetic rows:
Wilson's limits of the shares of rows credited to members and to strangers, for the number of independent rows that
would vary as much as the credits do, combined by MOVER with the correlation of two shares of one table. For all rows,
where the shares add up to 1, this is Wilson's interval of the share, transformed.
"""

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr, ndtri

from divulge.core.errors import SettingError
from divulge.stats.intervals import (
    _UNDEFINED,
    Interval,
    _check_level,
    _t,
    _within,
    normal_quantile,
    wilson,
)
from divulge.stats.multiple_testing import max_t
from divulge.stats.outcomes import Floats, Ints
from divulge.stats.power import smallest_share
from divulge.stats.resampling import LEAST_P
from divulge.stats.two_sample import _NO_SPREAD, Tally

__all__ = ["Attraction", "attraction"]


@dataclass(frozen=True, slots=True)
class _Credits:
    """The credits of one group of people."""

    total: float
    n: int
    n_clusters: int
    variance: float  # of the total, over samples of clusters; nan for less than two

    @property
    def tally(self) -> Tally:
        return Tally(self.total, self.n, self.total / self.n if self.n else math.nan, self.n_clusters)


@dataclass(frozen=True, slots=True)
class Attraction:
    """The share of synthetic rows that members attract, compared with chance, with intervals.

    Has what `attacks.common.judge` and a family of tests ask of a comparison.
    """

    share: float
    """Credits of members divided by all credits; nan without credits."""
    null_share: float
    """n_T / N: the share of members that leak-free data would give."""
    n_credits: float
    """Sum of all credits: the synthetic rows that were counted."""
    n_synthetic: int
    """m: rows of the whole synthetic table."""
    difference: Interval
    """Credits of members minus their null share of the credits, divided by m."""
    risk: Interval
    """f = n_T (mean_T c - mean_C c) / m: the fraction of synthetic rows that are copied. Negative when strangers
    attract more; never clipped."""
    p_value: float
    """Two-sided, by permutation of the labels; the members of a household move together."""
    method: str
    level: float
    may_resample = False
    least_p = LEAST_P
    _members: _Credits = field(repr=False)
    _strangers: _Credits = field(repr=False)
    _rows: float = field(repr=False)  # synthetic rows that count as independent at most

    @property
    def real(self) -> Tally:
        """The members: their credits, and the number of people."""
        return self._members.tally

    @property
    def holdout(self) -> Tally:
        """The strangers."""
        return self._strangers.tally

    @property
    def possible(self) -> tuple[float, float]:
        """The least and the largest difference that there can be: no row copied from members, or all."""
        return -self.null_share, 1 - self.null_share

    def at(self, level: float) -> tuple[Interval, Interval]:
        """Return difference and risk at another level, for simultaneous intervals."""
        if _check_level(level) == self.level:
            return self.difference, self.risk
        return _intervals(self._members, self._strangers, self.n_synthetic, self._rows, level)

    def leak_free(self, level: float) -> Interval:
        """Return the range of the risk at this level if members attract as many rows as strangers do."""
        a, b = self._members, self._strangers
        k, m = a.n_clusters, b.n_clusters
        if min(k, m) < 2 or not self.n_synthetic:
            return _UNDEFINED
        # each variance is one of a sum over its clusters: together they are two estimates of what one cluster varies
        one = (a.variance + b.variance) / (k + m)
        spread = math.sqrt(one * (k + (a.n / b.n) ** 2 * m)) / self.n_synthetic
        half = _t(_check_level(level), k + m - 2) * spread
        return _within(Interval(0.0, -half, half), -a.n / b.n, 1.0) if half > 0 else _UNDEFINED

    def detectable(self, level: float, limits: float | None = None, power: float = 0.8) -> float:
        """Return the smallest excess (as `difference`) that is found with a given power; nan where no excess is.

        `level` is 1 minus the two-sided level of the test; the interval is about as strict, so that `limits` is unused.
        """
        if math.isnan(self.risk.value):
            return math.nan
        a, b, m = self._members, self._strangers, self.n_synthetic
        rows = max(1.0, self._rows)
        _, one_row = _shares(a, b, m)
        variance = max(_variance(a, b, m), one_row / rows)
        clusters = min(a.n_clusters, b.n_clusters)
        needed = _t(level, 2 * clusters - 2) if clusters > 1 else normal_quantile(level)
        needed += float(ndtri(power))
        low, share = 0.0, 1.0
        for _ in range(50):  # rows that are copied vary as independent ones, and fewer others are left
            middle = (low + share) / 2
            enough = middle >= needed * math.sqrt(variance * (1 - middle) + middle / rows)
            low, share = (low, middle) if enough else (middle, share)
        # so many rows must all lie nearest to members before chance is excluded
        least = smallest_share(_fewest_rows(self.null_share, level), rows, power)
        found = max(share, least) if variance else least  # without credits only the number of rows counts
        return found * (1 - self.null_share) if found <= 1 else math.nan


def _fewest_rows(null_share: float, level: float) -> int:
    """Return how many rows, all nearest to members, have a two-sided p-value of at most 1 - level."""
    k, share = 1, min(max(null_share, 1e-9), 1 - 1e-9)
    while k < 10_000:
        # no further from the expectation on the other side: k * share - x >= k - k * share
        other = math.floor(k * (2 * share - 1) + 1e-9)
        if share**k + (float(bdtr(other, k, share)) if other >= 0 else 0.0) <= 1 - level:
            break
        k += 1
    return k


def attraction(
    members: Floats,
    strangers: Floats,
    n_synthetic: int,
    *,
    cluster_members: Ints | None = None,
    cluster_strangers: Ints | None = None,
    repeats: int = 1,
    level: float = 0.95,
    rng: np.random.Generator,
) -> Attraction:
    """Return whether synthetic rows lie nearer to members, and the fraction of rows that is copied.

    Parameters
    ----------
    members, strangers
        Credits of each person, shapes (n_T,) and (n_C,), at least 0. Together at most `n_synthetic`; less where only
        some synthetic rows are counted, chosen without looking at who is a member.
    n_synthetic
        m, rows of the whole synthetic table.
    cluster_members, cluster_strangers
        Person or household of each row; None is each row its own.
    repeats
        How often each synthetic row is written at least: a table written out twice says no more than once.
    level
        Coverage of the intervals.
    rng
        Source of the permutations.

    Returns
    -------
    Attraction
        Unchanged by row order and cluster names; all nan when a group or the synthetic table is empty.

    References
    ----------
    Platzer and Reutterer (2021), Holdout-based empirical assessment of mixed-type synthetic data, for the share;
    Welch (1947); Zou and Donner (2008), Construction of confidence limits about effect measures (MOVER);
    Korn and Graubard (1998) for the effective size.

    Examples
    --------
    >>> found = attraction(np.array([2.0, 1, 1, 0]), np.array([0.0, 1, 0, 0]), 5, rng=np.random.default_rng(0))
    >>> found.share, found.null_share, round(found.risk.value, 3)
    (0.8, 0.5, 0.6)
    """
    _check_level(level)
    members, strangers = (np.asarray(c, dtype=np.float64) for c in (members, strangers))
    for credits in (members, strangers):
        if credits.ndim != 1 or not np.all(credits >= 0):
            raise SettingError("attraction: credits must have one dimension and be at least 0.")
    if (cluster_members is None) != (cluster_strangers is None):
        raise SettingError("cluster_members, cluster_strangers: give both or neither.")
    a, b = _credits(members, cluster_members), _credits(strangers, cluster_strangers)
    given = a.total + b.total
    if given > n_synthetic * (1 + 1e-9):
        raise SettingError("attraction: more credits than synthetic rows.")
    n, undefined = a.n + b.n, not (a.n and b.n and n_synthetic)
    rows = n_synthetic / max(1, repeats)
    difference, risk = _intervals(a, b, n_synthetic, rows, level)
    p_value = math.nan
    if not undefined:
        p_value = float(
            max_t(
                members[:, None] / max(1, repeats),  # the order of draws follows the values
                strangers[:, None] / max(1, repeats),
                cluster_members=cluster_members,
                cluster_strangers=cluster_strangers,
                level=level,
                rng=rng,
            ).p_value[0]
        )
    return Attraction(
        share=a.total / given if given else math.nan,
        null_share=a.n / n if n else math.nan,
        n_credits=given,
        n_synthetic=n_synthetic,
        difference=difference,
        risk=risk,
        p_value=p_value,
        method="undefined, a table is empty" if undefined else "Welch on credits of people and MOVER on synthetic rows",
        level=level,
        _members=a,
        _strangers=b,
        _rows=rows,
    )


def _credits(credits: Floats, cluster: NDArray[np.int64] | None) -> _Credits:
    """Return the sum of credits and its variance over samples of as many clusters, exact sums in any order."""
    n, total = credits.size, math.fsum(credits.tolist())
    sums, sizes = credits, np.ones(n)
    if cluster is not None:
        codes = np.unique(np.asarray(cluster), return_inverse=True)[1]
        order = np.lexsort((credits, codes))  # by value within a cluster: its sum forgets row order
        sums = np.bincount(codes[order], weights=credits[order]).astype(np.float64)
        sizes = np.bincount(codes).astype(np.float64)
    k = sums.size
    if k < 2:
        return _Credits(total, n, k, math.nan)
    # the ratio estimator: what a cluster holds beyond its size's share
    u = sums - total / n * sizes
    variance = k / (k - 1) * math.fsum((u * u).tolist())
    return _Credits(total, n, k, variance if variance > _NO_SPREAD * k else 0.0)


def _shares(a: _Credits, b: _Credits, m: int) -> tuple[tuple[float, float, float], float]:
    """Return the shares of rows credited to members and strangers, n_T/n_C, and the variance of f for one row."""
    p, q, ratio = min(1.0, a.total / m), min(1.0, b.total / m), a.n / b.n
    return (p, q, ratio), p * (1 - p) + ratio * ratio * q * (1 - q) + 2 * ratio * p * q


def _variance(a: _Credits, b: _Credits, m: int) -> float:
    """Return Welch's variance of f; 0 if a group has fewer than two clusters."""
    if math.isnan(a.variance) or math.isnan(b.variance):
        return 0.0
    return (a.variance + (a.n / b.n) ** 2 * b.variance) / m**2


def _intervals(a: _Credits, b: _Credits, m: int, rows: float, level: float) -> tuple[Interval, Interval]:
    """Return the excess of members over their null share and the copied fraction, each with its interval."""
    if not (a.n and b.n and m):
        return _UNDEFINED, _UNDEFINED
    # whole products first: swapping the groups negates the difference to the last digit
    product, n = a.total * b.n - b.total * a.n, a.n + b.n
    value, scale = product / (m * b.n), b.n / n
    low, high = _mover(a, b, m, rows, level)
    one, two, variance = a.variance, (a.n / b.n) ** 2 * b.variance, _variance(a, b, m) * m**2
    if variance > 0:
        df = variance**2 / (one**2 / (a.n_clusters - 1) + two**2 / (b.n_clusters - 1))
        half = _t(level, df) * math.sqrt(variance) / m
        low, high = min(low, value - half), max(high, value + half)
    risk = _within(Interval(value, low, high), -a.n / b.n, 1.0)
    return Interval(product / (m * n), risk.low * scale, risk.high * scale), risk


def _mover(a: _Credits, b: _Credits, m: int, rows: float, level: float) -> tuple[float, float]:
    """Return limits of f from Wilson's for the shares of members and strangers among independent synthetic rows."""
    (p, q, ratio), one_row = _shares(a, b, m)
    variance = _variance(a, b, m)
    if variance > 0 and one_row > 0:
        # as many independent rows as would vary this much, fewer for few clusters; never more than there are
        fewer = (normal_quantile(level) / _t(level, min(a.n_clusters, b.n_clusters) - 1)) ** 2
        rows = min(rows, one_row / variance * fewer)
    elif min(a.n_clusters, b.n_clusters) < 2:
        rows = 1.0
    else:
        rows = min(rows, float(a.n_clusters + b.n_clusters))
    one, two = wilson(p * rows, rows, level), wilson(q * rows, rows, level)
    # two shares of one table: what the one gains the other loses
    spread = math.sqrt(p * (1 - p) * q * (1 - q))
    correlation = -1.0 if p + q > 1 - 1e-9 else (-p * q / spread if spread > 0 else 0.0)
    below = _combined(p - one.low, ratio * (two.high - q), correlation)
    above = _combined(one.high - p, ratio * (q - two.low), correlation)
    return p - ratio * q - below, p - ratio * q + above


def _combined(a: float, b: float, correlation: float) -> float:
    return math.sqrt(max(0.0, a * a + b * b - 2 * correlation * a * b))
