"""People of a population with a key, from those of a sample: Benedetti and Franconi's mean of 1/F."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["mean_inverse"]


def mean_inverse(f: NDArray[np.int64], fraction: float) -> NDArray[np.float64]:
    """Return the mean of 1/F for each class of `f` people of a sample, F of them in the population.

    F - f is negative binomial with f and the sampling fraction p: E(1/F) is the integral over t from 0 to 1 of
    t^(f-1) (p / (1 - (1 - p) t))^f, which is p^f / f times the hypergeometric function 2F1(f, f; f+1; 1-p).

    Parameters
    ----------
    f
        People of the sample in each class, from 1 on.
    fraction
        p = n / N in (0, 1].

    Examples
    --------
    >>> mean_inverse(np.array([1, 3]), 0.05).round(7).tolist()
    [0.1576701, 0.0239825]
    """
    from scipy.special import hyp2f1

    if fraction >= 1:
        return 1 / f
    size, back = np.unique(f, return_inverse=True)
    # Euler: p^f 2F1(f, f; f+1; q) = p 2F1(1, 1; f+1; q), the sum of k! q^k / ((f+1) ... (f+k))
    small = size < _SERIES  # scipy has no value for large ones, whose sum has fallen to nothing after 200 terms
    k = np.arange(1, 200)
    ratios = (1.0 - fraction) * k / (size[~small, None] + k)
    sums = np.concatenate([hyp2f1(1.0, 1.0, size[small] + 1.0, 1.0 - fraction), 1 + ratios.cumprod(1).sum(1)])
    out: NDArray[np.float64] = (fraction / size * sums)[back]
    return out


_SERIES = 20
