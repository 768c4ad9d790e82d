"""Numbers and how sure we are of them: intervals, comparisons of two groups of people, many tests at once.

Everything here is about two groups. *Members* are real people the synthesizer was trained on, *strangers*
are people of the same population it never saw. An attack scores each of them between 0 (failed) and 1
(succeeded), and only the excess among members says anything about the synthetic table.

Three choices run through the file.

*The unit is the cluster.* Rows of one person or household succeed together, so every variance, resample and
permutation is over clusters. A group is reduced to its distinct pairs (sum of values, number of rows) with
the number of clusters that have them, sorted. Row order, cluster names and the merging of equal rows are
gone after that step, so no later digit can depend on them.

*An interval has width.* Where a group shows no spread at all (nobody was hit), Wilson's limits at the number
of clusters stand in for the variance estimate of 0.

*Nothing is clipped.* A negative excess is information; an excess over strangers who always succeed is
undefined and comes out as nan.
"""

import functools
import math
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaincinv, gammaln, ndtr, ndtri, stdtrit
from threadpoolctl import ThreadpoolController

from divulge.errors import SettingError

__all__ = [
    "Comparison",
    "Family",
    "Interval",
    "Outcomes",
    "Tally",
    "benjamini_hochberg",
    "clopper_pearson",
    "compare",
    "holm",
    "max_t",
    "mover_residual",
    "newcombe",
    "size_needed",
    "smallest_detectable",
    "smallest_detectable_sd",
    "wilson",
]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

RESAMPLE_UP_TO = 20_000
"""Clusters up to which we resample and permute; above, the normal limit is as good and far cheaper."""

_PERMUTATIONS = 1999
_NORMAL_DRAWS = 20_000
_CHUNK = 2_000_000  # entries of a block of draws: 16 MB
_NO_SPREAD = 1e-18  # a variance of values in [0, 1] below this is rounding
_SURE = 1.0 - 2.0**-50  # the highest level: its normal quantile is finite


# --- intervals -----------------------------------------------------------------------------------------


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
    z = _z(level)
    _check_counts(hits, n)
    if n == 0:
        return Interval(math.nan, 0.0, 1.0)
    centre = (hits + z * z / 2) / (n + z * z)
    half = z / (n + z * z) * math.sqrt(hits * (n - hits) / n + z * z / 4)
    low = 0.0 if hits == 0 else max(0.0, centre - half)
    high = 1.0 if hits == n else min(1.0, centre + half)
    return Interval(hits / n, low, high)


def clopper_pearson(hits: int, n: int, level: float = 0.95) -> Interval:
    """Return a proportion with the interval that covers at least `level` whatever the truth.

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


def _z(level: float) -> float:
    """Two-sided normal quantile, from the tail so that levels close to 1 keep their digits."""
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


# --- many p-values -------------------------------------------------------------------------------------


def holm(p: ArrayLike) -> Floats:
    """Return p-values adjusted so that the chance of any false finding stays at the level.

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
    """Return p-values adjusted so that the expected share of false findings stays at the level.

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


# --- sizes ---------------------------------------------------------------------------------------------


def smallest_detectable(p_c: float, n_t: float, n_c: float, level: float = 0.95, power: float = 0.8) -> float:
    """Return the smallest excess ``p_T - p_C`` that a one-sided test would probably find.

    Solves ``d^2 = (z_level + z_power)^2 (p_T q_T / n_T + p_C q_C / n_C)`` for ``d = p_T - p_C``, which is
    a quadratic equation with one positive root.

    Parameters
    ----------
    p_c
        Success rate among strangers.
    n_t, n_c
        Members and strangers attacked (clusters, when rows are not independent).
    level, power
        1 minus the size of the one-sided test, and the chance to find the excess.

    Returns
    -------
    float
        Between 0 and ``1 - p_c``; nan when no such excess exists, or a group is empty.

    References
    ----------
    Fleiss, Levin and Paik (2003), Statistical methods for rates and proportions, chapter 4.

    Examples
    --------
    >>> round(smallest_detectable(0.3, 2185, 2185), 4)
    0.035
    """
    factor = _power_factor(level, power)
    if math.isnan(p_c) or n_t <= 0 or n_c <= 0:
        return math.nan
    k, spread = factor / n_t, p_c * (1 - p_c)
    linear, constant = k * (1 - 2 * p_c), spread * (k + factor / n_c)
    excess = (linear + math.sqrt(linear * linear + 4 * (1 + k) * constant)) / (2 * (1 + k))
    return excess if 0 < excess <= 1 - p_c else math.nan


def smallest_detectable_sd(
    sd_t: float, n_t: float, sd_c: float, n_c: float, level: float = 0.95, power: float = 0.8
) -> float:
    """Return the smallest difference of means that a one-sided test would probably find.

    Parameters
    ----------
    sd_t, sd_c
        Standard deviations of the values (of the cluster values, when rows are not independent).
    n_t, n_c
        Members and strangers attacked.
    level, power
        As in `smallest_detectable`.

    Returns
    -------
    float
        ``(z_level + z_power) sqrt(sd_t^2 / n_t + sd_c^2 / n_c)``; nan when a group is empty.

    References
    ----------
    Fleiss, Levin and Paik (2003), Statistical methods for rates and proportions, chapter 4.

    Examples
    --------
    >>> round(smallest_detectable_sd(0.5, 400, 0.5, 400), 4)
    0.0879
    """
    factor = _power_factor(level, power)
    if n_t <= 0 or n_c <= 0:
        return math.nan
    return math.sqrt(factor * (sd_t * sd_t / n_t + sd_c * sd_c / n_c))


def size_needed(p_c: float, excess: float, level: float = 0.95, power: float = 0.8) -> int:
    """Return how many people a side a one-sided test needs to probably find an excess.

    Parameters
    ----------
    p_c
        Success rate among strangers.
    excess
        ``p_T - p_C``, above 0 and at most ``1 - p_c``. A residual r is an excess of ``r (1 - p_c)``.
    level, power
        As in `smallest_detectable`.

    References
    ----------
    Fleiss, Levin and Paik (2003), Statistical methods for rates and proportions, chapter 4.

    Examples
    --------
    >>> size_needed(0.3, 0.035)
    2185
    """
    factor = _power_factor(level, power)
    p_t = p_c + excess
    if not (0 <= p_c < 1 and excess > 0 and p_t <= 1 + 1e-12):
        raise SettingError("excess: must lie above 0 and at most at 1 - p_c, the room strangers leave.")
    p_t = min(p_t, 1.0)
    # A hair off before rounding up: at exactly smallest_detectable's excess the two functions agree.
    return max(1, math.ceil(factor * (p_t * (1 - p_t) + p_c * (1 - p_c)) / excess**2 * (1 - 1e-12)))


def _power_factor(level: float, power: float) -> float:
    if not 0 < power < 1:
        raise SettingError(f"power: must lie between 0 and 1, got {power}. hint: 0.8.")
    return float(ndtri(_check_level(level)) + ndtri(power)) ** 2


# --- what an attack scored -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Outcomes:
    """What one attack scored on one group of people.

    Examples
    --------
    >>> o = Outcomes(np.array([1.0, 0.5, np.nan]))
    >>> o.hits, o.n, o.rate
    (1.5, 2, 0.75)
    """

    value: Floats
    """Shape (n_rows,), in [0, 1]; nan where the attack skips the record, which then counts nowhere."""
    count: Ints | None = None
    """Shape (n_rows,): how many equal records this row stands for; None is 1 each."""
    cluster: Ints | None = None
    """Shape (n_rows,): the person or household of each row; None is each row its own."""

    def __post_init__(self) -> None:
        """Check shapes and ranges, and take away the rounding beyond 0 and 1."""
        value = np.asarray(self.value, dtype=np.float64)
        if value.ndim != 1:
            raise SettingError(f"value: must have one dimension, found {value.ndim}.")
        if np.any(value < -1e-9) or np.any(value > 1 + 1e-9):
            raise SettingError("value: outcomes must lie between 0 and 1, or be nan where skipped.")
        if self.count is not None and self.cluster is not None:
            raise SettingError("count, cluster: pass one of them; merged rows have lost their cluster.")
        object.__setattr__(self, "value", np.clip(value, 0.0, 1.0) + 0.0)  # + 0.0 makes -0.0 a 0.0
        for name in ("count", "cluster"):
            given = getattr(self, name)
            if given is None:
                continue
            array = np.asarray(given)
            if array.shape != value.shape or not (array.size == 0 or array.dtype.kind in "iu"):
                raise SettingError(f"{name}: must hold one whole number per row ({value.size} rows).")
            object.__setattr__(self, name, array.astype(np.int64))
        if self.count is not None and np.any(self.count < 0):
            raise SettingError("count: a row cannot stand for fewer than 0 records.")

    @property
    def hits(self) -> float:
        """Sum of the defined values, correctly rounded: row order and merging change no digit."""
        defined = ~np.isnan(self.value)
        return _exact_sum(self.value[defined], None if self.count is None else self.count[defined])

    @property
    def n(self) -> int:
        """Records the attack did not skip."""
        defined = ~np.isnan(self.value)
        return int(defined.sum() if self.count is None else self.count[defined].sum())

    @property
    def rate(self) -> float:
        """Mean of the defined values; nan without any."""
        n = self.n
        return self.hits / n if n else math.nan

    @property
    def is_binary(self) -> bool:
        """Whether every defined value is 0 or 1 and every row is its own cluster."""
        return self.cluster is None and _zero_or_one(self.value[~np.isnan(self.value)])


def _zero_or_one(value: Floats) -> bool:
    return bool(np.all((value == 0) | (value == 1)))


def _exact_sum(value: Floats, count: Ints | None) -> float:
    """Sum of value * count, correctly rounded, as if the rows were written out."""
    if _zero_or_one(value):
        return float(np.count_nonzero(value) if count is None else count[value == 1].sum())
    if count is None:
        return math.fsum(value.tolist())
    # 26 bits by 26 bits is exact in float64: split both factors and let fsum add the products.
    scaled = value * 134217729.0
    upper = scaled - (scaled - value)
    small = count & (2**26 - 1)
    parts = [small] if np.array_equal(small, count) else [small, count - small]
    products = [half * part for half in (upper, value - upper) for part in parts]
    return math.fsum(np.concatenate(products).tolist())


@dataclass(frozen=True, slots=True)
class _Clusters:
    """The distinct (sum, size) pairs of the clusters of a group, sorted, and how many clusters have each."""

    total: Floats
    size: Floats
    times: Ints

    @property
    def n(self) -> int:
        return int(self.times.sum())

    @property
    def is_binary(self) -> bool:
        return bool(np.all(self.size == 1)) and _zero_or_one(self.total)


def _reduce(outcomes: Outcomes) -> _Clusters:
    keep = ~np.isnan(outcomes.value)
    if outcomes.count is not None:
        keep &= outcomes.count > 0
    value = outcomes.value[keep]
    times = np.ones(value.size, dtype=np.int64) if outcomes.count is None else outcomes.count[keep]
    if outcomes.cluster is None:
        return _merge(value, np.ones(value.size), times)
    codes = np.unique(outcomes.cluster[keep], return_inverse=True)[1]
    order = np.lexsort((value, codes))  # by value within a cluster: its sum forgets row order
    total = np.bincount(codes[order], weights=value[order]).astype(np.float64)
    size = np.bincount(codes).astype(np.float64)
    return _merge(total, size, np.ones(total.size, dtype=np.int64))


def _merge(total: Floats, size: Floats, times: Ints) -> _Clusters:
    if np.all(size == 1) and _zero_or_one(total):  # no need to sort a million hits
        hits = int(times[total == 1].sum())
        counts = np.array([int(times.sum()) - hits, hits], dtype=np.int64)
        seen = np.flatnonzero(counts)
        return _Clusters(seen.astype(np.float64), np.ones(seen.size), counts[seen])
    order = np.argsort(total, kind="stable") if np.all(size == 1) else np.lexsort((total, size))
    total, size, times = total[order], size[order], times[order]
    new = np.ones(total.size, dtype=np.bool_)
    new[1:] = (total[1:] != total[:-1]) | (size[1:] != size[:-1])
    first = np.flatnonzero(new)
    return _Clusters(total[first], size[first], np.add.reduceat(times, first))


# --- two groups ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Tally:
    """How often an attack succeeded on one group."""

    hits: float
    """Sum of the outcomes; fractional when outcomes are."""
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
        if self.variance == 0:
            return wilson(self.tally.rate * self.tally.n_clusters, self.tally.n_clusters, level)
        half = _t(level, self.df) * math.sqrt(self.variance)
        return Interval(self.tally.rate, self.tally.rate - half, self.tally.rate + half)


@dataclass(frozen=True, slots=True)
class Comparison:
    """How an attack did on members and on strangers, and the excess with its intervals."""

    real: Tally
    """The members."""
    holdout: Tally
    """The strangers."""
    difference: Interval
    """``p_T - p_C``, members minus strangers."""
    risk: Interval
    """``r = (p_T - p_C) / (1 - p_C)``; nan when strangers always succeed."""
    p_value: float
    """Two-sided, of no difference."""
    method: str
    """How the intervals of difference and risk came about."""
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
        return difference, Interval(
            scale.value, outer(scale.low, self.risk.low), inner(scale.high, self.risk.high)
        )


def compare(
    members: Outcomes,
    strangers: Outcomes,
    *,
    level: float = 0.95,
    rng: np.random.Generator,
    draws: int = 2000,
) -> Comparison:
    """Return the excess of an attack's success on members over its success on strangers.

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
        Bootstrap draws.

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
    if draws < 1:
        raise SettingError(f"draws: need at least 1 bootstrap draw, got {draws}.")
    one, two = _reduce(members), _reduce(strangers)
    binary = one.is_binary and two.is_binary
    a, b = _side(members, one, binary), _side(strangers, two, binary)
    difference = _difference(a, b, level)
    p_value = _p_value(one, two, a, b, rng)
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
    return Interval(value, value - half, value + half)


def _difference_method(a: _Side, b: _Side) -> str:
    if a.tally.n == 0 or b.tally.n == 0:
        return "undefined, a group is empty"
    if a.binary:
        return "Newcombe"
    if a.variance > 0 and b.variance > 0:
        return "Welch"
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
    with np.errstate(invalid="ignore"):  # both always succeed in a resample: it says nothing
        logs = _bootstrap_log_failure(one, rng, draws) - _bootstrap_log_failure(two, rng, draws)
    finite = logs[np.isfinite(logs)]
    if finite.size == draws and draws > 1:
        spread = float(finite.std(ddof=1))
    low, high = _percentiles(logs, level)
    value = _residual(a.tally.hits, a.tally.n, b.tally.hits, b.tally.n)
    how = f"cluster bootstrap ({draws} draws)"
    return Interval(value, 1 - _exp(high), 1 - _exp(low)), spread, how


def _risk_from_limits(a: _Side, b: _Side, level: float) -> Interval:
    s, t = a.tally, b.tally
    if a.binary:
        return mover_residual(s.hits, s.n, t.hits, t.n, level) if s.n and t.n else _UNDEFINED
    value = _residual(s.hits, s.n, t.hits, t.n)
    if math.isnan(value):
        return _UNDEFINED
    return _mover_ratio(_failure(a.limits(level)), _failure(b.limits(level)), value)


def _failure(success: Interval) -> Interval:
    return Interval(1 - success.value, 1 - min(success.high, 1.0), 1 - max(success.low, 0.0))


def _risk_on_log_scale(a: _Side, b: _Side, spread: float, level: float) -> Interval:
    value = _residual(a.tally.hits, a.tally.n, b.tally.hits, b.tally.n)
    half, centre = _z(level) * spread, math.log1p(-value)
    return Interval(value, 1 - _exp(centre + half), 1 - _exp(centre - half))


def _exp(x: float) -> float:
    return math.exp(x) if x < 700 else math.inf


def _bootstrap_log_failure(clusters: _Clusters, rng: np.random.Generator, draws: int) -> Floats:
    """Log failure rate in `draws` resamples of one cluster fewer than there are.

    n - 1 of n, because n of n has (n - 1)/n of the variance it should have (Rao and Wu 1988).
    """
    n = clusters.n
    failed = np.maximum(clusters.size - clusters.total, 0.0)
    one_size = bool(np.all(clusters.size == clusters.size[0]))
    sums = np.empty((2, draws))
    sums[1] = (n - 1) * clusters.size[0]
    if 10 * clusters.times.size < n:
        counts = rng.multinomial(n - 1, clusters.times / n, size=draws)
        sums[0] = (counts * failed).sum(axis=1)
        sums[1] = (counts * clusters.size).sum(axis=1)
    else:
        failed, size = np.repeat(failed, clusters.times), np.repeat(clusters.size, clusters.times)
        for block in _blocks(draws, n):
            drawn = rng.integers(0, n, size=(block.stop - block.start, n - 1), dtype=np.uint32)
            sums[0, block] = failed[drawn].sum(axis=1)
            if not one_size:
                sums[1, block] = size[drawn].sum(axis=1)
    with np.errstate(divide="ignore"):  # a resample in which the attack always succeeds
        return np.asarray(np.log(sums[0] / sums[1]), dtype=np.float64)


def _percentiles(values: Floats, level: float) -> tuple[float, float]:
    """Order statistics rather than interpolation: infinite draws are in order, too."""
    values = np.sort(values[~np.isnan(values)])
    if values.size == 0:
        return -math.inf, math.inf
    k = max(1, math.floor((values.size + 1) * (1 - level) / 2))
    return float(values[k - 1]), float(values[values.size - k])


def _blocks(n: int, width: int) -> Iterator[slice]:
    step = max(1, _CHUNK // max(1, width))
    return (slice(first, min(n, first + step)) for first in range(0, n, step))


# --- p-values ------------------------------------------------------------------------------------------


def _p_value(one: _Clusters, two: _Clusters, a: _Side, b: _Side, rng: np.random.Generator) -> float:
    if a.tally.n == 0 or b.tally.n == 0:
        return math.nan
    if a.binary:
        return _fisher(int(a.tally.hits), a.tally.n, int(b.tally.hits), b.tally.n)
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
    if pool.n > RESAMPLE_UP_TO:
        sd = math.sqrt(squares * (1 / one.n + 1 / two.n)) / (n_rows / pool.n)
        return _two_sided(difference / sd)
    permuted = _permuted_differences(pool, residual, n_rows, min(one.n, two.n), rng)
    return (1 + int(np.count_nonzero(permuted >= difference - 1e-12))) / (_PERMUTATIONS + 1)


def _permuted_differences(
    pool: _Clusters, residual: Floats, n_rows: float, n_drawn: int, rng: np.random.Generator
) -> Floats:
    """Absolute ratio differences when a random `n_drawn` of the clusters are the one group.

    With e = sum - p * size (p pooled), the difference of the two rates is e's total in one group times
    n_rows / (rows in the one * rows in the other).
    """
    weights = np.stack([residual, pool.size], axis=1)
    if 10 * pool.times.size < pool.n:
        counts = rng.multivariate_hypergeometric(pool.times, n_drawn, _PERMUTATIONS, method="marginals")
        sums = np.stack([(counts * w).sum(axis=1) for w in weights.T], axis=1)
    else:
        weights = np.repeat(weights, pool.times, axis=0)
        with _one_thread():
            blocks = _labels(rng, n_drawn, pool.n, _PERMUTATIONS)
            sums = np.concatenate([labels @ weights for labels in blocks])
    rows = sums[:, 1]
    return np.asarray(np.abs(sums[:, 0]) * n_rows / (rows * (n_rows - rows)), dtype=np.float64)


def _labels(rng: np.random.Generator, n_ones: int, n: int, draws: int) -> Iterator[Floats]:
    """Blocks of random 0/1 rows of length `n` with `n_ones` ones each, `draws` rows in all."""
    for block in _blocks(draws, n):
        # The n_ones smallest of random keys: three times as fast as shuffling, and 53 bits do not tie.
        keys = rng.random((block.stop - block.start, n))
        yield (keys <= np.partition(keys, n_ones - 1, axis=1)[:, n_ones - 1 : n_ones]).astype(np.float64)


def _fisher(hits_a: int, n_a: int, hits_b: int, n_b: int) -> float:
    """Fisher's exact test, two-sided: the tables at most as likely as the one seen."""
    if (n_a, hits_a) > (n_b, hits_b):  # the same digits when the groups change places
        hits_a, n_a, hits_b, n_b = hits_b, n_b, hits_a, n_a
    n, hits = n_a + n_b, hits_a + hits_b
    mean = n_a * (hits / n)
    reach = 40 * math.sqrt(mean * (1 - hits / n) * (n_b / max(1, n - 1))) + 40  # beyond it all is 1e-300
    low = max(0, hits - n_b, min(hits_a, math.floor(mean - reach)))
    high = min(n_a, hits, max(hits_a, math.ceil(mean + reach)))
    x = np.arange(low, high + 1, dtype=np.float64)
    logs = -(gammaln(x + 1) + gammaln(n_a - x + 1) + gammaln(hits - x + 1) + gammaln(n_b - hits + x + 1))
    weights = np.exp(logs - logs.max())
    unlikely = weights[logs <= logs[hits_a - low] + 1e-7]
    return _above_zero(min(1.0, float(unlikely.sum() / weights.sum())))


def _two_sided(z: float) -> float:
    return _above_zero(2 * float(ndtr(-abs(z))))


def _above_zero(p: float) -> float:
    return max(p, float(np.finfo(np.float64).tiny))  # a p-value is never 0


# --- many tests on the same people ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Family:
    """Tests on the same people, corrected for their number."""

    critical: float
    """The value that the largest |z| of the family stays below with probability `level` under the null."""
    level_each: float
    """Level at which each interval must be computed for all of them to hold together; at least `level`."""
    p_adjusted: Floats
    """Shape (n_tests,): chance of any |z| this large in the family; nan for a test without people."""
    p_value: Floats
    """Shape (n_tests,): each test on its own, two-sided, by permutation."""


def max_t(
    members: Floats,
    strangers: Floats,
    *,
    cluster_members: Ints | None = None,
    cluster_strangers: Ints | None = None,
    level: float = 0.95,
    rng: np.random.Generator,
    draws: int = _PERMUTATIONS,
) -> Family:
    """Return p-values and a critical value that allow for several tests on the same people.

    The labels "member" and "stranger" are permuted jointly for all tests, which keeps their dependence,
    and each |z| is compared with the distribution of the largest. One step, not step-down: an interval
    at `level_each` then excludes 0 when the adjusted p-value says so, up to the shape of the interval.
    Above 20,000 clusters the multivariate normal limit takes the place of the permutations.

    Parameters
    ----------
    members, strangers
        Outcomes, shapes (n_members, n_tests) and (n_strangers, n_tests); nan where a test skips a person.
        Keep the tests in a canonical order: columns are told apart by their position.
    cluster_members, cluster_strangers
        Person or household of each row, shapes (n_members,) and (n_strangers,); None is each row its own.
    level
        Coverage of the family's intervals together.
    rng
        Source of the permutations.
    draws
        Permutations.

    Returns
    -------
    Family
        Unchanged by row order and cluster names. A test without spread gets p = 1 and does not
        contribute; one with nobody on a side gets nan.

    References
    ----------
    Westfall and Young (1993), Resampling-based multiple testing, single-step max-T.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> leak = (rng.random((300, 2)) < [0.5, 0.2]).astype(float)
    >>> none = (rng.random((300, 2)) < [0.2, 0.2]).astype(float)
    >>> family = max_t(leak, none, rng=rng)
    >>> family.p_adjusted[0] < 0.01 < 0.1 < family.p_adjusted[1]
    np.True_
    """
    z = _z(level)
    if draws < 1:
        raise SettingError(f"draws: need at least 1 permutation, got {draws}.")
    members, strangers = np.asarray(members, dtype=np.float64), np.asarray(strangers, dtype=np.float64)
    if members.ndim != 2 or strangers.ndim != 2 or members.shape[1] != strangers.shape[1]:
        raise SettingError("members, strangers: need two dimensions, and the same tests as columns.")
    n_tests = members.shape[1]
    if n_tests == 0 or min(members.shape[0], strangers.shape[0]) == 0:
        return Family(z, level, np.full(n_tests, np.nan), np.full(n_tests, np.nan))
    with _one_thread():
        scaled = _standardise(*_pool(members, strangers, cluster_members, cluster_strangers))
        return _family(scaled, level, z, rng, draws)


@dataclass(frozen=True, slots=True)
class _Scaled:
    """Clusters of both groups in canonical order, scaled so that the sum over one group is its z."""

    e: Floats  # (n_clusters, n_tests)
    size: Floats | None  # (n_clusters, n_tests) rows per cluster and test; None when all are alike
    n_drawn: int  # clusters in the smaller group
    z: Floats  # (n_tests,) observed |z|; nan without people on a side
    live: NDArray[np.bool_]  # (n_tests,) tests with spread


def _family(scaled: _Scaled, level: float, z: float, rng: np.random.Generator, draws: int) -> Family:
    n_live, tested = int(scaled.live.sum()), ~np.isnan(scaled.z)
    p_value = np.where(tested, 1.0, np.nan)
    if n_live == 0:
        return Family(z, level, p_value, p_value.copy())
    seen = scaled.z[scaled.live]
    if scaled.e.shape[0] > RESAMPLE_UP_TO:
        largest = _normal_maxima(scaled, rng)
        each = np.array([_two_sided(x) for x in seen])
    else:
        largest, beyond = _permuted_maxima(scaled, seen, rng, draws)
        each = (1 + beyond) / (draws + 1)
    largest.sort()
    together = (1 + largest.size - np.searchsorted(largest, seen - 1e-9)) / (largest.size + 1)
    if scaled.e.shape[0] > RESAMPLE_UP_TO:
        together = np.minimum(together, n_live * each)  # Bonferroni sees further than the draws
    p_adjusted = p_value.copy()
    p_value[scaled.live] = each
    p_adjusted[scaled.live] = np.maximum(each, together) if n_live > 1 else each
    critical = max(z, _critical(largest, level, n_live)) if n_live > 1 else z
    level_each = max(level, min(_SURE, 1 - 2 * float(ndtr(-critical)))) if critical > z else level
    return Family(critical, level_each, p_adjusted, p_value)


def _critical(largest: Floats, level: float, n_tests: int) -> float:
    k = math.ceil(level * (largest.size + 1) - 1e-9)
    if k > largest.size:  # too few draws for this level
        return -float(ndtri((1 - level) / (2 * n_tests)))
    return float(largest[k - 1])


def _permuted_maxima(
    scaled: _Scaled, seen: Floats, rng: np.random.Generator, draws: int
) -> tuple[Floats, Ints]:
    """Largest |z| of each permutation, and for each live test how many |z| reach the observed one."""
    n_clusters, columns = scaled.e.shape[0], np.flatnonzero(scaled.live)
    e = np.ascontiguousarray(scaled.e[:, columns])
    size = None if scaled.size is None else np.ascontiguousarray(scaled.size[:, columns])
    largest, beyond = [], np.zeros(columns.size, dtype=np.int64)
    for labels in _labels(rng, scaled.n_drawn, n_clusters, draws):
        z = np.abs(labels @ e)
        if size is not None:
            z *= _size_factor(labels @ size, size.sum(axis=0), scaled.n_drawn, n_clusters)
        largest.append(z.max(axis=1))
        beyond += np.count_nonzero(z >= seen - 1e-9, axis=0)
    return np.concatenate(largest), beyond


def _size_factor(rows: Floats, all_rows: Floats, n_drawn: int, n_clusters: int) -> Floats:
    """What turns the sum of e over one group into the difference of ratios: 1 when sizes are equal."""
    product = rows * (all_rows - rows)
    expected = n_drawn * (n_clusters - n_drawn) * (all_rows / n_clusters) ** 2
    # With nobody on a side the sum of e is 0, and so is the statistic.
    return np.divide(expected, product, out=np.zeros_like(product), where=product > 0.5)


def _normal_maxima(scaled: _Scaled, rng: np.random.Generator) -> Floats:
    """Largest |z| in draws of the normal limit of the permutation distribution."""
    n_clusters = scaled.e.shape[0]
    share = scaled.n_drawn * (n_clusters - scaled.n_drawn) / (n_clusters * (n_clusters - 1))
    correlation = share * (scaled.e.T @ scaled.e)[np.ix_(scaled.live, scaled.live)]
    eigenvalues, vectors = np.linalg.eigh(correlation)
    # The symmetric root: eigenvectors come with any sign.
    root = (vectors * np.sqrt(np.maximum(eigenvalues, 0.0))) @ vectors.T
    blocks = _blocks(_NORMAL_DRAWS, root.shape[0])
    draws = (rng.standard_normal((b.stop - b.start, root.shape[0])) @ root for b in blocks)
    return np.concatenate([np.abs(block).max(axis=1) for block in draws])


def _standardise(total: Floats, size: Floats | None, is_member: NDArray[np.bool_]) -> _Scaled:
    """Turn cluster sums (overwritten) into centred columns whose sum over one group is its z."""
    n_clusters = is_member.size
    n_drawn = min(int(is_member.sum()), n_clusters - int(is_member.sum()))
    if size is None:
        total -= total.sum(axis=0) / n_clusters
        both = np.ones(total.shape[1], dtype=np.bool_)
    else:
        rows, inside = size.sum(axis=0), is_member.astype(np.float64) @ size
        both = (inside > 0) & (inside < rows)
        total -= total.sum(axis=0) / np.maximum(rows, 1.0) * size
    variance = np.einsum("ij,ij->j", total, total) / max(1, n_clusters - 1)
    live = both & (variance > _NO_SPREAD)
    spread = np.sqrt(variance * (n_drawn * (n_clusters - n_drawn) / n_clusters))
    total *= np.where(live, 1 / np.where(live, spread, 1.0), 0.0)
    z = np.abs(is_member.astype(np.float64) @ total)
    if size is not None:
        z *= _size_factor(inside, rows, n_drawn, n_clusters)
    return _Scaled(total, size, n_drawn, np.where(both, z, np.nan), live)


def _pool(
    members: Floats, strangers: Floats, cluster_members: Ints | None, cluster_strangers: Ints | None
) -> tuple[Floats, Floats | None, NDArray[np.bool_]]:
    """Cluster sums and sizes of both groups in an order that only their contents decide."""
    if (cluster_members is None) != (cluster_strangers is None):
        raise SettingError("cluster_members, cluster_strangers: give both or neither.")
    one, one_size, one_hash = _sums(members, cluster_members)
    two, two_size, two_hash = _sums(strangers, cluster_strangers)
    # Stable: a member comes before a stranger with the same outcomes.
    order = np.argsort(np.concatenate([one_hash, two_hash]), kind="stable")
    place = np.empty(order.size, dtype=np.int64)
    place[order] = np.arange(order.size)
    first, second = place[: one_hash.size], place[one_hash.size :]
    total = np.empty((order.size, members.shape[1]))
    total[first], total[second] = one, two
    is_member = np.zeros(order.size, dtype=np.bool_)
    is_member[first] = True
    if one_size is None and two_size is None:
        return total, None, is_member
    size = np.empty_like(total)
    size[first] = 1.0 if one_size is None else one_size
    size[second] = 1.0 if two_size is None else two_size
    return total, None if np.all(size == size[0, 0]) else size, is_member


def _sums(values: Floats, cluster: Ints | None) -> tuple[Floats, Floats | None, NDArray[np.uint64]]:
    """Sums and sizes per cluster (sizes None when all are 1), and a hash of each."""
    skipped = np.isnan(values)
    if cluster is None and not skipped.any():
        return values, None, _hash(values)
    hashes = _hash(np.where(skipped, np.nan, values))  # nan with one bit pattern
    if cluster is None:
        return np.where(skipped, 0.0, values), (~skipped).astype(np.float64), hashes
    codes = np.unique(np.asarray(cluster), return_inverse=True)[1]
    if codes.shape != values.shape[:1]:
        raise SettingError(f"cluster: must hold one number per row ({values.shape[0]} rows).")
    order = np.lexsort((hashes, codes))
    first = np.flatnonzero(np.diff(codes[order], prepend=-1))
    total = np.add.reduceat(np.where(skipped, 0.0, values)[order], first, axis=0)
    size = np.add.reduceat((~skipped).astype(np.float64)[order], first, axis=0)
    return total, size, _hash(np.concatenate([total, size], axis=1))


def _hash(values: Floats) -> NDArray[np.uint64]:
    """A 64-bit hash of each row: splitmix64 of every entry, salted by its column, added up.

    Two different rows share a hash with probability 2**-64, and then only their order is in doubt.
    """
    hashes = np.empty(values.shape[0], dtype=np.uint64)
    salt = np.arange(1, values.shape[1] + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    step = max(1, 32_768 // max(1, values.shape[1]))  # stay in cache
    for first in range(0, values.shape[0], step):
        x = (values[first : first + step] + 0.0).view(np.uint64)
        x += salt
        for shift, multiplier in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            x ^= x >> np.uint64(shift)
            x *= np.uint64(multiplier)
        x ^= x >> np.uint64(31)
        hashes[first : first + step] = x.sum(axis=1, dtype=np.uint64)
    return hashes


@functools.cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


def _one_thread() -> AbstractContextManager[object]:
    """Context in which linear algebra uses one thread, so that digits do not depend on the machine's."""
    context: AbstractContextManager[object] = _controller().limit(limits=1, user_api="blas")
    return context
