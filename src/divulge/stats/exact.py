"""Exact and normal p-values of one comparison."""

import math

import numpy as np
from scipy.special import gammaln, ndtr

__all__ = ["fisher", "two_sided"]


def fisher(hits_a: int, n_a: int, hits_b: int, n_b: int) -> float:
    """Return the p-value of Fisher's exact test, two-sided: of the tables at most as likely as the one seen.

    Examples
    --------
    >>> round(fisher(3, 4, 1, 4), 4)
    0.4857
    """
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


def two_sided(z: float) -> float:
    """Return the two-sided p-value of a standard normal z."""
    return _above_zero(2 * float(ndtr(-abs(z))))


def _above_zero(p: float) -> float:
    return max(p, float(np.finfo(np.float64).tiny))  # a p-value is never 0
