"""Compare two groups of people: the scores of an attack on each, the excess, and its uncertainty.

Everything here is about two groups. *Members* are real people the synthesizer was trained on, *strangers*
are people of the same population it never saw. An attack scores each of them between 0 (failed) and 1
(succeeded), and only the excess among members says anything about the synthetic table.

Three choices run through this file and `families.py`.

*The unit is the cluster.* Rows of one person or household succeed together, so every variance, resample and
permutation is over clusters. A group is reduced to its distinct pairs (sum of values, number of rows) with
the number of clusters that have them, sorted. Row order, cluster names and the merging of equal rows are
gone after that step, so no later digit can depend on them.

*An interval has width.* Where a group shows no spread at all (nobody was hit), Wilson's limits at the number
of clusters stand in for the variance estimate of 0.

*Nothing is clipped.* A negative excess is information; an excess over strangers who always succeed is
undefined and comes out as nan.
"""

import math
from dataclasses import dataclass, field, replace

import numpy as np

from divulge.core.errors import SettingError
from divulge.stats.exact import fisher, two_sided
from divulge.stats.intervals import (
    _UNDEFINED,
    Interval,
    _check_level,
    _mover_difference,
    _mover_ratio,
    _residual,
    _t,
    _within,
    mover_residual,
    normal_quantile,
    wilson,
)
from divulge.stats.outcomes import Floats, Outcomes, _Clusters, _exact_sum, _merge, _reduce
from divulge.stats.power import smallest_detectable
from divulge.stats.resampling import _PERMUTATIONS, LEAST_P, _bootstrap_log_failure, _percentiles, _permuted_differences

__all__ = ["Comparison", "Tally", "compare", "residual_over"]


RESAMPLE_UP_TO = 20_000
"""Largest number of clusters that we resample and permute; above it the normal limit is as good and far cheaper."""

_NO_SPREAD = 1e-18  # a variance of values in [0, 1] below this is rounding


@dataclass(frozen=True, slots=True)
class Tally:
    """How often an attack succeeded on one group."""

    hits: float
    """Sum of the outcomes; fractional if the outcomes are."""
    n: int
    """Records attacked."""
    rate: float
    """``hits / n``; nan when nobody was attacked."""
    n_clusters: int
    """People or households among them; equal to `n` when each row is its own."""


@dataclass(frozen=True, slots=True)
class _Side:
    """One group as the intervals see it."""

    tally: Tally
    variance: float  # of the rate; 0 when the clusters show no spread
    binary: bool

    @property
    def df(self) -> int:
        return self.tally.n_clusters - 1

    def limits(self, level: float) -> Interval:
        """Limits of the rate of this group alone."""
        if self.binary:
            return wilson(self.tally.hits, self.tally.n, level)
        n, rate = float(self.tally.n_clusters), self.tally.rate
        if self.variance > 0:
            # Korn and Graubard: as many independent hits of 0 and 1 as would vary this much, fewer for few clusters.
            n = rate * (1 - rate) / self.variance * (normal_quantile(level) / _t(level, self.df)) ** 2
        return wilson(rate * n, n, level)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Success of an attack on members and on strangers, and the excess with its intervals."""

    real: Tally
    """The members."""
    holdout: Tally
    """The strangers."""
    difference: Interval
    """``p_T - p_C``, members minus strangers."""
    risk: Interval
    """``r = (p_T - p_C) / (1 - p_C)``; nan when strangers always succeed."""
    p_value: float
    """Two-sided p-value for no difference."""
    method: str
    """The method behind the intervals of difference and risk."""
    level: float
    """Level of `difference` and `risk`."""
    _members: _Side = field(repr=False)
    _strangers: _Side = field(repr=False)
    _spread: float = field(repr=False)  # sd of the log failure ratio; nan when risk is from limits

    def at(self, level: float) -> tuple[Interval, Interval]:
        """Return difference and risk at another level, for simultaneous intervals.

        A higher level contains a lower one. The tails of 2000 bootstrap draws say nothing about extreme
        levels, so there the risk takes the normal scale of the log failure ratio with the bootstrap's
        standard deviation, widened (or, below the level of this object, narrowed) to nest.

        Examples
        --------
        >>> found = compare(
        ...     Outcomes(np.repeat([1.0, 0.0], [30, 70])), Outcomes(np.repeat([1.0, 0.0], [5, 95])),
        ...     rng=np.random.default_rng(0),
        ... )
        >>> difference, risk = found.at(0.999)
        >>> risk.low < found.risk.low
        True
        """
        if _check_level(level) == self.level:
            return self.difference, self.risk
        difference = _difference(self._members, self._strangers, level)
        if math.isnan(self._spread):
            return difference, _risk_from_limits(self._members, self._strangers, level)
        scale = _risk_on_log_scale(self._members, self._strangers, self._spread, level)
        # Lower before higher: pick the outer or the inner of the two limits.
        outer, inner = (min, max) if level > self.level else (max, min)
        return difference, Interval(scale.value, outer(scale.low, self.risk.low), inner(scale.high, self.risk.high))

    def detectable(self, level: float, limits: float | None = None, power: float = 0.8) -> float:
        """Return the smallest excess in rate that is found with a given power; nan where no excess is.

        Parameters
        ----------
        level
            1 minus the two-sided level of the test: what the p-value must not exceed.
        limits
            Level of the interval whose lower limit must be above 0; None is `level`.
        power
            The chance to find the excess.

        Examples
        --------
        >>> hits = Outcomes(np.array([1.0, 0.0]), count=np.array([100, 400]))
        >>> round(compare(hits, hits, rng=np.random.default_rng(0)).detectable(0.95), 3)
        0.077
        """
        a, b = self._members, self._strangers
        n, m = self.real.n_clusters, self.holdout.n_clusters
        variances = None if a.binary else (a.variance * n, b.variance * m)
        rate = self.holdout.rate
        return smallest_detectable(rate, n, m, level=level, limits=limits, power=power, variances=variances)

    def leak_free(self, level: float) -> Interval:
        """Return the range of the risk at this level if members are hit as often as strangers; nan without people.

        The two groups are pooled: what differs between them is chance. Hits of 0 or 1 take Wilson's centre for the
        pooled rate, so that the band has width where nobody was hit. Where strangers are nearly always hit the risk can
        fall without end, and so does the band.

        Examples
        --------
        >>> found = compare(
        ...     Outcomes(np.repeat([1.0, 0.0], [30, 70])), Outcomes(np.repeat([1.0, 0.0], [5, 95])),
        ...     rng=np.random.default_rng(0),
        ... )
        >>> round(found.leak_free(0.95).low, 3), round(found.leak_free(0.95).high, 3)
        (-0.138, 0.122)
        """
        a, b = self._members, self._strangers
        if not (self.real.n and self.holdout.n):
            return _UNDEFINED
        k, m, z = self.real.n_clusters, self.holdout.n_clusters, normal_quantile(_check_level(level))
        rate = (self.real.hits + self.holdout.hits) / (self.real.n + self.holdout.n)
        if a.binary:
            centre = (rate * (k + m) + z * z / 2) / (k + m + z * z)
            one, half = centre * (1 - centre), z
        elif k + m > 2:
            # variances of two means, each times its clusters, are two estimates of what one cluster varies
            one, half = (a.variance * k * (k - 1) + b.variance * m * (m - 1)) / (k + m - 2), _t(level, k + m - 2)
        else:
            return _UNDEFINED
        share = self.real.n / (self.real.n + self.holdout.n)
        return _band(half * math.sqrt(one * (1 / k + 1 / m)), rate, share)

    @property
    def possible(self) -> tuple[float, float]:
        """The least and the largest difference that there can be."""
        return -1.0, 1.0

    @property
    def least_p(self) -> float:
        """The smallest p-value that the test can give; 0 for exact tests and normal limits."""
        exact = self._members.binary or self.real.n_clusters + self.holdout.n_clusters > RESAMPLE_UP_TO
        return 0.0 if exact else LEAST_P

    @property
    def may_resample(self) -> bool:
        """Whether a bootstrap would refine the risk: fractional or clustered outcomes of not too many people."""
        few = max(self.real.n_clusters, self.holdout.n_clusters) <= RESAMPLE_UP_TO
        return few and not math.isnan(self._spread)

    def resampled(self, logs: Floats) -> "Comparison":
        """Return this comparison with the risk's interval from resamples of the log failure ratio."""
        risk, spread = _from_resamples(self._members, self._strangers, logs, self._spread, self.level)
        how = self.method.split("; ")[0]
        return replace(self, risk=risk, _spread=spread, method=f"{how}; cluster bootstrap ({logs.size} draws)")


def _band(half: float, rate: float, share: float) -> Interval:
    """Return the residuals at two limits of a difference d whose value is 0.

    With the rate of both groups together, and the members' share of them, strangers have rate - share * d.
    """
    if not (half > 0 and rate < 1):
        return _UNDEFINED
    below = 1 - rate - half * share
    return Interval(0.0, -half / below if below > 0 else -math.inf, min(1.0, half / (1 - rate + half * share)))


def compare(
    members: Outcomes,
    strangers: Outcomes,
    *,
    level: float = 0.95,
    rng: np.random.Generator,
    draws: int = 2000,
) -> Comparison:
    """Return the excess of the success of an attack on members over its success on strangers.

    Hits that are 0 or 1, each row its own cluster: Newcombe's interval for the difference, MOVER for
    the residual, Fisher's exact test. Otherwise, by clusters: Welch's interval on linearised cluster
    sums, the percentiles of a cluster bootstrap of the log failure ratio, and a permutation of the
    clusters' labels; above 20,000 clusters their normal limits. `method` says which.

    The two intervals of 0/1 hits are on the same side of 0. Welch's and the bootstrap's are close, and
    can disagree about 0 when a limit is near it; verdicts go by the difference.

    Parameters
    ----------
    members, strangers
        Outcomes of the same attack. With an empty group everything comparative is nan.
    level
        Coverage of the intervals.
    rng
        Source of the permutations and the bootstrap. The number of draws depends on the data.
    draws
        Bootstrap draws; 0 takes the normal limits, as `resample` wants them.

    Returns
    -------
    Comparison
        Unchanged, to the last digit, by row order, cluster names and the merging of equal rows.

    References
    ----------
    Newcombe (1998); Donner and Zou (2012); Welch (1947), The generalization of Student's problem;
    Rao and Wu (1988), Resampling inference with complex survey data; Cochran (1977), chapter 6.

    Examples
    --------
    >>> found = compare(
    ...     Outcomes(np.array([1.0, 0.0]), count=np.array([150, 350])),
    ...     Outcomes(np.array([1.0, 0.0]), count=np.array([100, 400])),
    ...     rng=np.random.default_rng(0),
    ... )
    >>> found.method, round(found.difference.value, 3), round(found.risk.low, 4)
    ('Newcombe; MOVER', 0.1, 0.0599)
    """
    _check_level(level)
    if draws < 0:
        raise SettingError(f"draws: need 0 or more bootstrap draws, got {draws}.")
    one, two = _reduce(members), _reduce(strangers)
    binary = one.is_binary and two.is_binary
    a, b = _side(members, one, binary), _side(strangers, two, binary)
    difference = _difference(a, b, level)
    p_value = _p_value(one, two, a, b, rng if draws else None)
    risk, spread, how = _risk(one, two, a, b, level, rng, draws)
    return Comparison(
        real=a.tally,
        holdout=b.tally,
        difference=difference,
        risk=risk,
        p_value=p_value,
        method=f"{_difference_method(a, b)}; {how}",
        level=level,
        _members=a,
        _strangers=b,
        _spread=spread,
    )


def residual_over(outcomes: Outcomes, blind: Floats, moved_by: float, level: float = 0.95) -> Interval:
    """Return the residual ``(p - b) / (1 - b)`` of the success on one group over the rate without the synthetic table.

    For a baseline read off the same people, such as the distribution of the target. At each end the wider of two: the
    limits of the log failure ratio linearised in both rates, and MOVER's with Wilson limits (for fractional scores at
    the effective size, and Student's) and the two rates as if independent. The first sees that scores and baseline
    move together, the second that few failures are no certainty.

    Parameters
    ----------
    outcomes
        Of the attack, one row its own cluster.
    blind
        Chance to be right about each record without the table, shape as the outcomes; b is its mean.
    moved_by
        How much one record moves b, in units of its own difference from b: 1 where the chances are given, 2 where they
        are the shares of these very records.
    level
        Coverage aimed at.

    Returns
    -------
    Interval
        At most 1, never clipped below. All nan for an empty group or a baseline of 1.

    References
    ----------
    Donner and Zou (2012), as for `mover_residual`; Cochran (1977), chapter 6, for the linearised ratio.

    Examples
    --------
    >>> hits = Outcomes(np.array([1.0, 0.0]), count=np.array([150, 350]))
    >>> i = residual_over(hits, np.array([0.2, 0.2]), moved_by=1)
    >>> round(i.value, 3), round(i.low, 3), round(i.high, 3)
    (0.125, 0.073, 0.177)
    """
    keep = ~np.isnan(outcomes.value)
    count = None if outcomes.count is None else outcomes.count[keep]
    score, chance = outcomes.value[keep], blind[keep]
    clusters = _reduce(outcomes)
    side = _side(outcomes, clusters, clusters.is_binary)
    n = side.tally.n
    if not n:
        return _UNDEFINED
    base = _exact_sum(chance, count) / n
    if not base < 1:
        return _UNDEFINED
    value = (side.tally.rate - base) / (1 - base)
    # the logarithm of the failure ratio 1 - value, linearised in both rates
    linear = Interval(value, value, value)
    if value < 1 and n > 1:
        u = (score - side.tally.rate) / (1 - side.tally.rate) - moved_by * (chance - base) / (1 - base)
        half = _t(level, n - 1) * math.sqrt(_exact_sum(u * u, count)) / n
        linear = Interval(value, 1 - (1 - value) * _exp(half), 1 - (1 - value) * math.exp(-half))
    success = side.limits(level)
    if not side.binary and side.variance > 0:
        wide = _t(level, side.df) * math.sqrt(side.variance)
        success = _outer(success, Interval(side.tally.rate, side.tally.rate - wide, side.tally.rate + wide))
    spread = normal_quantile(level) * moved_by * math.sqrt(_exact_sum((chance - base) ** 2, count)) / n
    baseline = Interval(base, max(0.0, base - spread), min(1.0, base + spread))
    return _outer(linear, _mover_ratio(_failure(success), _failure(baseline), value))


def _side(outcomes: Outcomes, clusters: _Clusters, binary: bool) -> _Side:
    n, n_clusters, hits = outcomes.n, clusters.n, outcomes.hits
    rate = hits / n if n else math.nan
    variance = 0.0
    if n_clusters > 1:
        # Ratio estimator: the rate moves by (sum - rate * size) / (mean size) / n_clusters per cluster.
        u = (clusters.total - rate * clusters.size) / (n / n_clusters)
        variance = float((clusters.times * u * u).sum()) / (n_clusters - 1)
    live = variance > _NO_SPREAD
    return _Side(Tally(hits, n, rate, n_clusters), variance / n_clusters if live else 0.0, binary)


def _difference(a: _Side, b: _Side, level: float) -> Interval:
    if a.tally.n == 0 or b.tally.n == 0:
        return _UNDEFINED
    if a.binary or a.variance == 0 or b.variance == 0:
        return _mover_difference(a.limits(level), b.limits(level))
    total = a.variance + b.variance
    df = total**2 / (a.variance**2 / a.df + b.variance**2 / b.df)
    half = _t(level, df) * math.sqrt(total)
    value = a.tally.rate - b.tally.rate
    welch = _within(Interval(value, value - half, value + half), -1.0, 1.0)
    return _outer(welch, _mover_difference(a.limits(level), b.limits(level)))


def _outer(one: Interval, two: Interval) -> Interval:
    """The wider of two intervals at each end."""
    return Interval(one.value, min(one.low, two.low), max(one.high, two.high))


def _difference_method(a: _Side, b: _Side) -> str:
    if a.tally.n == 0 or b.tally.n == 0:
        return "undefined, a group is empty"
    if a.binary:
        return "Newcombe"
    if a.variance > 0 and b.variance > 0:
        return "Welch and Wilson at the effective size"
    return "Wilson limits where clusters show no spread"


def _risk(
    one: _Clusters, two: _Clusters, a: _Side, b: _Side, level: float, rng: np.random.Generator, draws: int
) -> tuple[Interval, float, str]:
    """The residual with its interval, the sd of the log failure ratio (or nan), and the method's name."""
    if a.tally.n == 0 or b.tally.n == 0:
        return _UNDEFINED, math.nan, "undefined, a group is empty"
    if b.tally.hits >= b.tally.n:
        return _UNDEFINED, math.nan, "undefined, strangers always succeed"
    if a.binary or a.variance == 0 or b.variance == 0:
        return _risk_from_limits(a, b, level), math.nan, "MOVER"
    spread = math.sqrt(a.variance / (1 - a.tally.rate) ** 2 + b.variance / (1 - b.tally.rate) ** 2)
    if max(one.n, two.n) > RESAMPLE_UP_TO:
        how = f"normal limit of the log failure ratio (more than {RESAMPLE_UP_TO:,} clusters)"
        return _risk_on_log_scale(a, b, spread, level), spread, how
    if not draws:
        return _risk_on_log_scale(a, b, spread, level), spread, "normal limit of the log failure ratio"
    with np.errstate(invalid="ignore"):  # both always succeed in a resample: it says nothing
        logs = _bootstrap_log_failure(one, rng, draws) - _bootstrap_log_failure(two, rng, draws)
    return *_from_resamples(a, b, logs, spread, level), f"cluster bootstrap ({draws} draws)"


def _from_resamples(a: _Side, b: _Side, logs: Floats, spread: float, level: float) -> tuple[Interval, float]:
    """Risk with the percentiles of the resampled log failure ratio, and the ratio's standard deviation."""
    finite = logs[np.isfinite(logs)]
    if finite.size == logs.size and logs.size > 1:
        spread = float(finite.std(ddof=1))
    low, high = _percentiles(logs, level)
    value = _residual(a.tally.hits, a.tally.n, b.tally.hits, b.tally.n)
    drawn = Interval(value, 1 - _exp(high), 1 - _exp(low))
    return _outer(drawn, _risk_from_limits(a, b, level)), spread


def _risk_from_limits(a: _Side, b: _Side, level: float) -> Interval:
    s, t = a.tally, b.tally
    if a.binary:
        return mover_residual(s.hits, s.n, t.hits, t.n, level) if s.n and t.n else _UNDEFINED
    if not (s.n and t.n):
        return _UNDEFINED
    value = _residual(s.hits, s.n, t.hits, t.n)
    if math.isnan(value):
        return _UNDEFINED
    return _mover_ratio(_failure(a.limits(level)), _failure(b.limits(level)), value)


def _failure(success: Interval) -> Interval:
    return Interval(1 - success.value, 1 - min(success.high, 1.0), 1 - max(success.low, 0.0))


def _risk_on_log_scale(a: _Side, b: _Side, spread: float, level: float) -> Interval:
    value = _residual(a.tally.hits, a.tally.n, b.tally.hits, b.tally.n)
    half, centre = normal_quantile(level) * spread, math.log1p(-value)
    scale = Interval(value, 1 - _exp(centre + half), 1 - _exp(centre - half))
    return _outer(scale, _risk_from_limits(a, b, level))


def _exp(x: float) -> float:
    return math.exp(x) if x < 700 else math.inf


def _p_value(one: _Clusters, two: _Clusters, a: _Side, b: _Side, rng: np.random.Generator | None) -> float:
    if a.tally.n == 0 or b.tally.n == 0:
        return math.nan
    if a.binary:
        return fisher(int(a.tally.hits), a.tally.n, int(b.tally.hits), b.tally.n)
    pool = _merge(
        np.concatenate([one.total, two.total]),
        np.concatenate([one.size, two.size]),
        np.concatenate([one.times, two.times]),
    )
    n_hits = float((pool.times * pool.total).sum())
    n_rows = float((pool.times * pool.size).sum())
    residual = pool.total - n_hits / n_rows * pool.size
    squares = float((pool.times * residual * residual).sum()) / max(1, pool.n - 1)
    if squares <= _NO_SPREAD:
        return 1.0
    difference = abs(a.tally.rate - b.tally.rate)
    if rng is None or pool.n > RESAMPLE_UP_TO:
        sd = math.sqrt(squares * (1 / one.n + 1 / two.n)) / (n_rows / pool.n)
        return two_sided(difference / sd)
    permuted = _permuted_differences(pool, residual, n_rows, min(one.n, two.n), rng)
    return (1 + int(np.count_nonzero(permuted >= difference - 1e-12))) / (_PERMUTATIONS + 1)
