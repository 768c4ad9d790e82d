"""The distribution that SDMetrics chooses for a column of numbers.

SDMetrics uses class `Univariate` of copulas: eight families are fitted, and the one with the smallest
Kolmogorov-Smirnov statistic is chosen. Here this is implemented with scipy alone, with start values that give the same
digits.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Distribution", "choose_distribution"]

Floats = NDArray[np.float64]

LEAST = np.finfo(np.float32).eps
"""A scale below this counts as zero; the limits of a truncated normal are this far outside the data."""
BLOCK = 2**22
"""Pairs of a value and a point of the data that are computed at once."""


@dataclass(frozen=True, slots=True, eq=False)
class Distribution:
    """A fitted distribution."""

    family: str
    """beta, gamma, norm, gaussian_kde, loglaplace, t, truncnorm or uniform; constant where the data has one value."""
    function: Callable[[NDArray[Any]], Floats]
    """Cumulative distribution function of distinct values."""

    def cdf(self, values: NDArray[Any]) -> Floats:
        """Return the share of the distribution up to each value, shape (n,)."""
        distinct, inverse = np.unique(np.asarray(values, dtype=np.float64), return_inverse=True)
        with _quiet():
            return np.asarray(self.function(distinct), dtype=np.float64)[inverse]


def choose_distribution(values: NDArray[Any]) -> Distribution:
    """Return the distribution that is closest to the data.

    Parameters
    ----------
    values
        Numbers, shape (n,), in the dtype of the column.

    Returns
    -------
    Distribution
        The family with the smallest Kolmogorov-Smirnov statistic; in ties the first in `FAMILIES`. Families that cannot
        be fitted are left out.

    Raises
    ------
    ValueError
        No family can be fitted: there are no values, or some are missing or infinite.

    Notes
    -----
    Equal to `copulas.univariate.Univariate` 0.14.1 with the same scipy.

    Examples
    --------
    >>> import numpy as np
    >>> choose_distribution(np.array([3, 3, 3])).cdf(np.array([2, 3, 4])).tolist()
    [0.0, 1.0, 1.0]
    >>> choose_distribution(np.arange(100.0)).family
    'truncnorm'
    """
    if len(values) and (values == values[0]).all():
        constant = values[0]
        return Distribution("constant", lambda x: np.where(x < constant, 0.0, 1.0))
    best, least = None, np.inf
    ordered = np.sort(values).astype(np.float64)
    with _quiet():
        for family, fit in FAMILIES.items():
            try:
                found = Distribution(family, fit(values))
                distance = _kolmogorov_smirnov(found.cdf(ordered))
            except Exception:  # whatever scipy raises where a family does not suit the data
                continue
            if distance < least:
                best, least = found, distance
    if best is None:
        raise ValueError("no distribution fits: there are no values, or some are missing or infinite.")
    return best


def _kolmogorov_smirnov(shares: Floats) -> float:
    """Return the largest distance between the shares at the sorted data and the steps of the data itself."""
    n = len(shares)
    above = np.arange(1.0, n + 1) / n - shares
    below = shares - np.arange(0.0, n) / n
    return float(max(above.max(), below.max())) if not np.isnan(shares).any() else np.nan


def _quiet() -> warnings.catch_warnings[None]:
    return warnings.catch_warnings(action="ignore")


def _beta(values: NDArray[Any]) -> Callable[[NDArray[Any]], Floats]:
    from scipy import stats

    low, high = values.min(), values.max()
    a, b, loc, scale = stats.beta.fit(values, loc=low, scale=high - low)
    if loc > high or loc + scale < low or scale < LEAST:
        raise ValueError("the fit left the data")
    return lambda x: stats.beta.cdf(x, a, b, loc=loc, scale=scale)


def _fitted(family: str) -> Callable[[NDArray[Any]], Callable[[NDArray[Any]], Floats]]:
    """Return the maximum likelihood fit from scipy's own start values."""

    def fit(values: NDArray[Any]) -> Callable[[NDArray[Any]], Floats]:
        from scipy import stats

        law = getattr(stats, family)
        *shapes, loc, scale = law.fit(values)
        return lambda x: law.cdf(x, *shapes, loc=loc, scale=scale)

    return fit


def _norm(values: NDArray[Any]) -> Callable[[NDArray[Any]], Floats]:
    from scipy import stats

    loc, scale = values.mean(), values.std()
    return lambda x: stats.norm.cdf(x, loc=loc, scale=scale)


def _uniform(values: NDArray[Any]) -> Callable[[NDArray[Any]], Floats]:
    from scipy import stats

    loc, scale = values.min(), values.max() - values.min()
    return lambda x: stats.uniform.cdf(x, loc=loc, scale=scale)


def _kernels(values: NDArray[Any]) -> Callable[[NDArray[Any]], Floats]:
    """Return a sum of normal kernels of scipy's width, counted from five standard deviations below the data."""
    from scipy.special import ndtr
    from scipy.stats import gaussian_kde

    points = np.asarray(values.tolist())  # in double precision
    model = gaussian_kde(points)
    width = np.sqrt(model.covariance[0, 0])
    start = ndtr((points.min() - 5 * points.std() - points) / width)
    rows = max(1, BLOCK // len(points))

    def function(x: NDArray[Any]) -> Floats:
        shares = np.empty(len(x))
        for i in range(0, len(x), rows):
            block = ndtr((x[i : i + rows, None] - points) / width)
            shares[i : i + rows] = (block - start) @ model.weights
        return shares

    return function


def _truncnorm(values: NDArray[Any]) -> Callable[[NDArray[Any]], Floats]:
    from scipy.optimize import fmin_slsqp
    from scipy.stats import truncnorm

    low, high = values.min() - LEAST, values.max() + LEAST

    def loss(parameters: Floats) -> Any:
        loc, scale = parameters
        return truncnorm.nnlf(((low - loc) / scale, (high - loc) / scale, loc, scale), values)

    limits = [(low, high), (0.0, (high - low) ** 2)]
    loc, scale = fmin_slsqp(loss, (values.mean(), values.std()), iprint=False, bounds=limits)
    a, b = (low - loc) / scale, (high - loc) / scale
    return lambda x: truncnorm.cdf(x, a, b, loc=loc, scale=scale)


FAMILIES: dict[str, Callable[[NDArray[Any]], Callable[[NDArray[Any]], Floats]]] = {
    "beta": _beta,
    "gamma": _fitted("gamma"),
    "norm": _norm,
    "gaussian_kde": _kernels,
    "loglaplace": _fitted("loglaplace"),
    "t": _fitted("t"),
    "truncnorm": _truncnorm,
    "uniform": _uniform,
}
"""The function that fits each family, in the order in which they are tried."""
