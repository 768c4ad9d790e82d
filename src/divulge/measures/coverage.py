"""How much of what the real column has the synthetic column has too: its values, or its range."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["category_coverage", "range_coverage"]


def category_coverage(real_counts: NDArray[np.int64], synthetic_counts: NDArray[np.int64]) -> tuple[float, int, int]:
    """Return the share of real values that the synthetic table has, and the two numbers of values.

    Parameters
    ----------
    real_counts, synthetic_counts
        Rows with each value, shape (n_values,).

    Returns
    -------
    share, n_real, n_covered
        The share is nan where there is no real value.

    Examples
    --------
    >>> category_coverage(np.array([3, 1, 0]), np.array([1, 0, 5]))
    (0.5, 2, 1)
    """
    there = real_counts > 0
    n_real, n_covered = int(there.sum()), int((there & (synthetic_counts > 0)).sum())
    return (n_covered / n_real if n_real else float("nan")), n_real, n_covered


def range_coverage(real: NDArray[Any], synthetic: NDArray[Any]) -> float:
    """Return the share of the real range that the synthetic range covers; nan if the real range is one point.

    Parameters
    ----------
    real, synthetic
        Numbers without nan, shapes (n,) and (m,). They are subtracted in their own dtype: as in SDMetrics, unsigned
        numbers wrap around.

    Examples
    --------
    >>> float(range_coverage(np.array([0.0, 10.0]), np.array([2.0, 7.0])))
    0.5
    """
    if not len(real) or not len(synthetic):
        return float("nan")
    low, high = real.min(), real.max()
    if low == high:
        return float("nan")
    with np.errstate(all="ignore"):
        below = (synthetic.min() - low) / (high - low)
        above = (high - synthetic.max()) / (high - low)
    score = 1 - (max(below, 0) + max(above, 0))
    return float(max(score, 0))
