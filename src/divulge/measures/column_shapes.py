"""How alike the distributions of one column are in two tables, from counts of values or from the numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["STATISTICS", "chi_squared_p", "frequencies", "ks_complement", "statistic_similarity", "tv_complement"]

Ints = NDArray[np.int64]
STATISTICS = ("mean", "median", "std")
_NEW = 1e-6
"""What SDMetrics counts in the real table for a value that only the synthetic table has."""
_COUNT_FROM = 2**14  # rows from which whole numbers are counted instead of sorted, if their range is small
_SPAN = 2**22


def ks_complement(real: NDArray[Any], synthetic: NDArray[Any]) -> float:
    """Return 1 less the largest distance between the two empirical distribution functions.

    Parameters
    ----------
    real, synthetic
        Numbers without nan, shapes (n,) and (m,), in any order.

    Returns
    -------
    float
        From 0 to 1; nan if a side is empty.

    Examples
    --------
    >>> round(ks_complement(np.array([1, 2, 3]), np.array([1, 2, 4])), 9)
    0.666666667
    """
    n, m = len(real), len(synthetic)
    if not n or not m:
        return float("nan")
    counted = _counted(real, synthetic)
    if counted is not None:
        below_real, below_synthetic = (np.cumsum(c) / len(v) for c, v in zip(counted, (real, synthetic), strict=True))
    else:
        points = np.concatenate([np.sort(real), np.sort(synthetic)])
        order = np.argsort(points, kind="stable")  # merges two runs
        ordered, below = points[order], np.cumsum(order < n)
        last = np.append(ordered[1:] != ordered[:-1], True)  # of equal numbers
        below_real = below[last] / n
        below_synthetic = (np.arange(1, n + m + 1) - below)[last] / m
    return float(1 - np.abs(below_real - below_synthetic).max())


def _counted(real: NDArray[Any], synthetic: NDArray[Any]) -> tuple[Ints, Ints] | None:
    """Return the counts of each whole number of the range of both; None where sorting is faster or needed."""
    if len(real) + len(synthetic) < _COUNT_FROM or real.dtype.kind != "i" or synthetic.dtype.kind != "i":
        return None
    low = min(int(real.min()), int(synthetic.min()))
    size = max(int(real.max()), int(synthetic.max())) - low + 1
    if size > _SPAN:
        return None
    one, other = (np.bincount(v.astype(np.int64) - low, minlength=size) for v in (real, synthetic))
    return one, other


def tv_complement(real_counts: Ints, synthetic_counts: Ints) -> float:
    """Return 1 less the total variation distance between two distributions of categories.

    A category that only the synthetic table has counts 1e-6 in the real table, as in SDMetrics: so tables without a
    common category score about 1e-6.

    Parameters
    ----------
    real_counts, synthetic_counts
        Rows with each value, shape (n_values,); neither side is empty.

    Examples
    --------
    >>> tv_complement(np.array([2, 1, 0]), np.array([1, 0, 2]))
    0.3333336666665556
    """
    observed, expected = frequencies(real_counts, synthetic_counts)
    return float(1 - 0.5 * np.abs(observed - expected).sum())


def chi_squared_p(real_counts: Ints, synthetic_counts: Ints) -> float:
    """Return the p-value of the chi-squared test between two sets of shares, as SDMetrics has it.

    The statistic is computed from shares and not from counts, so that the number of rows does not matter; a value that
    only the synthetic table has counts 1e-6 in the real table.

    Parameters
    ----------
    real_counts, synthetic_counts
        Rows with each value, shape (n_values,); the synthetic side is not empty.

    Examples
    --------
    >>> round(chi_squared_p(np.array([3, 1]), np.array([1, 3])), 9)
    0.248213079
    """
    from scipy.special import chdtrc

    observed, expected = frequencies(real_counts, synthetic_counts)
    if len(observed) == 1:
        return 1.0
    if not len(observed):
        return float("nan")
    return float(chdtrc(len(observed) - 1, ((observed - expected) ** 2 / expected).sum()))


def frequencies(real_counts: Ints, synthetic_counts: Ints) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the shares of the values in the synthetic and in the real table, with 1e-6 real rows for a new value."""
    occurs = (real_counts > 0) | (synthetic_counts > 0)
    synthetic = synthetic_counts[occurs]
    real = np.where(real_counts[occurs] == 0, _NEW, real_counts[occurs])
    return synthetic / synthetic.sum(), real / real.sum()


def statistic_similarity(real: NDArray[Any], synthetic: NDArray[Any], statistic: str) -> tuple[float, float, float]:
    """Return the score, and the statistic of each side: 1 less their difference as a share of the real range.

    Parameters
    ----------
    real, synthetic
        Numbers without nan, shapes (n,) and (m,).
    statistic
        "mean", "median" or "std" (with n - 1). It has the precision of the numbers.

    Examples
    --------
    >>> statistic_similarity(np.array([0.0, 4.0]), np.array([1.0, 2.0]), "mean")
    (0.875, 2.0, 1.5)
    """
    with np.errstate(all="ignore"):
        ours, theirs = (_statistic(v, statistic) for v in (real, synthetic))
        width = real.max() - real.min() if len(real) else np.nan
        score = float(1 - np.abs(ours - theirs) / np.float64(width).astype(ours.dtype))
    return max(score, 0.0) if score == score else score, float(ours), float(theirs)


def _statistic(values: NDArray[Any], statistic: str) -> Any:
    """Return the statistic as a number of the dtype of the values, of double precision for whole numbers."""
    dtype = values.dtype if values.dtype.kind == "f" else np.dtype(np.float64)
    if len(values) < (2 if statistic == "std" else 1):
        return dtype.type(np.nan)
    if statistic == "std":
        return np.std(values, ddof=1, dtype=np.float64).astype(dtype)
    return np.mean(values, dtype=dtype) if statistic == "mean" else np.median(values).astype(dtype)
