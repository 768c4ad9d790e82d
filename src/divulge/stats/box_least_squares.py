"""Least squares with a penalty, every unknown between 0 and 1: shares of people from many counts."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from divulge.stats.outcomes import Floats

__all__ = ["box_least_squares"]

_STEPS = 200
_POWER_STEPS = 20
_SAFETY = 1.1  # the largest eigenvalue is found from below


def box_least_squares(a: sparse.csr_array, b: Floats, centre: float, penalty: float) -> Floats:
    """Return the x in [0, 1] that minimises |a x - b|^2 + penalty |x - centre|^2.

    The problem has one solution. It is approached by 200 steps of the accelerated projected gradient, a number that
    depends on no rounding.

    Parameters
    ----------
    a
        Sparse matrix, shape (n_counts, n_unknowns).
    b
        Shape (n_counts,).
    centre
        Value in [0, 1] that each unknown has where no count tells more.
    penalty
        Above 0.

    References
    ----------
    Beck and Teboulle (2009), A fast iterative shrinkage-thresholding algorithm for linear inverse problems; O'Donoghue
    and Candes (2015), Adaptive restart for accelerated gradient schemes.

    Examples
    --------
    >>> counts = sparse.csr_array(np.array([[1.0, 1.0, 0.0], [0.0, 1.0, 1.0], [0.0, 1.0, 0.0]]))
    >>> box_least_squares(counts, np.array([1.0, 0.0, 0.0]), 0.5, 0.01).round(1).tolist()
    [1.0, 0.0, 0.0]
    """
    n = int(a.shape[1])
    back: Any = a.T.tocsr()
    steepness = _SAFETY * _largest(a, back, n) + penalty
    x = np.full(n, centre)
    ahead, momentum = x, 1.0
    for _ in range(_STEPS):
        slope = back @ (a @ ahead - b) + penalty * (ahead - centre)
        nearer = np.clip(ahead - slope / steepness, 0.0, 1.0)
        if ((ahead - nearer) * (nearer - x)).sum() > 0:  # past the valley
            momentum = 1.0
        following = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        ahead = nearer + (momentum - 1) / following * (nearer - x)
        x, momentum = nearer, following
    return np.asarray(x)


def _largest(a: Any, back: Any, n: int) -> float:
    """Return the largest eigenvalue of a' a, by the power method from equal entries (a has no negative ones)."""
    v = np.full(n, 1 / np.sqrt(max(1, n)))
    size = 0.0
    for _ in range(_POWER_STEPS):
        v = back @ (a @ v)
        size = float(np.sqrt((v * v).sum()))
        if size == 0.0:
            return 0.0
        v /= size
    return size
