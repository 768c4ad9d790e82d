"""The formulas of SDMetrics' metrics of one column, of numbers or of counts of values."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "STATISTICS",
    "cardinality_boundary_adherence",
    "category_coverage",
    "chi_squared_p",
    "frequencies",
    "key_uniqueness",
    "ks_complement",
    "ks_complement_of_counts",
    "missing_value_similarity",
    "range_coverage",
    "share",
    "statistic_similarity",
    "tv_complement",
]

Ints = NDArray[np.int64]
STATISTICS = ("mean", "median", "std")
_NEW = 1e-6
"""What SDMetrics counts in the real table for a value that only the synthetic table has."""
_COUNT_FROM = 2**14  # rows from which numbers are counted instead of sorted
_SPAN = 2**22  # range of whole numbers up to which each has a count of its own
_BUCKETS = 2**13
_MANY = 2**19  # rows from which there are eight times as many buckets


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
        return float(1 - _gaps(np.cumsum(counted[0]), np.cumsum(counted[1]), n, m).max())
    gap = _gap_by_buckets(real, synthetic)
    return float(1 - (_gap_by_sorting(real, synthetic) if gap is None else gap))


def ks_complement_of_counts(
    real: NDArray[Any], real_counts: Ints, synthetic: NDArray[Any], synthetic_counts: Ints
) -> float:
    """Return `ks_complement` of columns of which the distinct numbers are given, and how many rows have each.

    Parameters
    ----------
    real, synthetic
        Numbers without nan, shapes (n_values,) and (m_values,), in any order; a number may stand there twice.
    real_counts, synthetic_counts
        Rows of each.

    Examples
    --------
    >>> three, one = np.array([1, 2, 3]), np.array([1, 1, 1])
    >>> round(ks_complement_of_counts(three, one, np.array([1, 2, 4]), one), 9)
    0.666666667
    """
    n, m = int(real_counts.sum()), int(synthetic_counts.sum())
    if not n or not m:
        return float("nan")
    points = np.unique(np.concatenate([real, synthetic]))
    below = []
    for values, counts in ((real, real_counts), (synthetic, synthetic_counts)):
        at = np.zeros(len(points), dtype=np.int64)
        np.add.at(at, np.searchsorted(points, values), counts)
        below.append(np.cumsum(at))
    return float(1 - _gaps(below[0], below[1], n, m).max())


def _gaps(real: Ints, synthetic: Ints, n: int, m: int) -> NDArray[np.float64]:
    """Return the distances of two distribution functions, given the rows at or below some points."""
    return np.abs(real / n - synthetic / m)


def _gap_by_sorting(real: NDArray[Any], synthetic: NDArray[Any]) -> float:
    n, m = len(real), len(synthetic)
    points = np.concatenate([np.sort(real), np.sort(synthetic)])
    order = np.argsort(points, kind="stable")  # merges two runs
    ordered, below = points[order], np.cumsum(order < n)
    last = np.append(ordered[1:] != ordered[:-1], True)  # of equal numbers
    return float(_gaps(below[last], (np.arange(1, n + m + 1) - below)[last], n, m).max())


def _gap_by_buckets(real: NDArray[Any], synthetic: NDArray[Any]) -> float | None:
    """Return the largest distance without sorting most rows; None where all must be sorted.

    Rows are counted in buckets of equal width. Between the ends of a bucket the distance is at most what its rows
    allow, so that only buckets are sorted whose rows allow more than the largest distance at an end.
    """
    n, m = len(real), len(synthetic)
    if n + m < _COUNT_FROM or real.dtype != np.float64 or synthetic.dtype != np.float64:
        return None
    low, high = min(real.min(), synthetic.min()), max(real.max(), synthetic.max())
    n_buckets = _BUCKETS * (8 if n + m >= _MANY else 1)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        scale = (n_buckets - 1) / (high - low)
    if not (np.isfinite(scale) and scale > 0):
        return None
    sides = (real, synthetic)
    parts = [np.split(v, range(2 * n_buckets, len(v), 2 * n_buckets)) for v in sides]  # stay in the processor's cache
    counts = [np.zeros(n_buckets, dtype=np.int64) for _ in sides]
    for own, those in zip(counts, parts, strict=True):
        for part in those:
            own += np.bincount(_bucket(part, low, scale), minlength=n_buckets)
    ends = [np.cumsum(c) for c in counts]
    starts = [e - c for e, c in zip(ends, counts, strict=True)]
    largest = float(_gaps(ends[0], ends[1], n, m).max())
    allowed = np.maximum(ends[0] / n - starts[1] / m, ends[1] / m - starts[0] / n)
    opened = (allowed > largest) & (counts[0] + counts[1] > 0)
    inside = [np.concatenate([p[opened[_bucket(p, low, scale)]] for p in those]) for those in parts]
    points = np.unique(np.concatenate(inside))
    if not len(points):
        return largest
    bucket = _bucket(points, low, scale)
    below = []
    for values, start, count in zip(inside, starts, counts, strict=True):
        sorted_before = np.cumsum(np.where(opened, count, 0)) - np.where(opened, count, 0)
        below.append((start - sorted_before)[bucket] + np.searchsorted(np.sort(values), points, side="right"))
    return max(largest, float(_gaps(below[0], below[1], n, m).max()))


def _bucket(values: NDArray[Any], low: float, scale: float) -> NDArray[np.intp]:
    """Return the bucket of each number; it never falls where the number grows."""
    return np.asarray(((values - low) * scale).astype(np.intp))


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
    return 1 - 0.5 * math.fsum(np.abs(observed - expected).tolist())


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
    return float(chdtrc(len(observed) - 1, math.fsum(((observed - expected) ** 2 / expected).tolist())))


def frequencies(real_counts: Ints, synthetic_counts: Ints) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the shares of the values in the synthetic and in the real table, with 1e-6 real rows for a new value."""
    occurs = (real_counts > 0) | (synthetic_counts > 0)
    synthetic = synthetic_counts[occurs]
    real, new = real_counts[occurs], real_counts[occurs] == 0
    return synthetic / synthetic.sum(), np.where(new, _NEW, real) / (int(real.sum()) + _NEW * int(new.sum()))


def statistic_similarity(real: NDArray[Any], synthetic: NDArray[Any], statistic: str) -> tuple[float, float, float]:
    """Return the score, and the statistic of each side: 1 less their difference as a share of the real range.

    Parameters
    ----------
    real, synthetic
        Numbers without nan, shapes (n,) and (m,); objects of Python are summed and subtracted exactly.
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
    if values.dtype == object:
        if statistic == "mean":
            return dtype.type(sum(values.tolist())) / len(values)
        values = values.astype(dtype)
    if statistic == "std":
        return np.std(values, ddof=1, dtype=np.float64).astype(dtype)
    return np.mean(values, dtype=dtype) if statistic == "mean" else np.median(values).astype(dtype)


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


def share(number: int, total: int) -> float:
    """Return number / total, nan where there is nothing.

    Examples
    --------
    >>> share(1, 4), share(0, 0)
    (0.25, nan)
    """
    return number / total if total else float("nan")


def missing_value_similarity(real: NDArray[np.bool_], synthetic: NDArray[np.bool_]) -> tuple[float, float, float]:
    """Return 1 less the difference between the shares of missing values, and the two shares.

    Parameters
    ----------
    real, synthetic
        Where a value is missing, shapes (n,) and (m,).

    Examples
    --------
    >>> missing_value_similarity(np.array([True, False]), np.array([False, False, False, True]))
    (0.75, 0.5, 0.25)
    """
    ours, theirs = (share(int(v.sum()), len(v)) for v in (real, synthetic))
    return 1 - abs(ours - theirs), ours, theirs


def key_uniqueness(codes: NDArray[Any], missing: NDArray[np.bool_]) -> float:
    """Return the share of rows whose key is there and has not occurred before; nan where there is no row.

    Parameters
    ----------
    codes
        One whole number a key, equal for equal keys, shape (n_rows,).
    missing
        Where all parts of the key are missing, shape (n_rows,).

    Examples
    --------
    >>> key_uniqueness(np.array([0, 1, 0, 2]), np.array([False, False, False, True]))
    0.5
    """
    first = np.zeros(len(codes), dtype=bool)
    first[np.unique(codes, return_index=True)[1]] = True
    return 1 - share(int((~first | missing).sum()), len(codes))


def cardinality_boundary_adherence(real: NDArray[np.int64], synthetic: NDArray[np.int64]) -> float:
    """Return the share of synthetic parents with as many children as some real parents have, or a number between.

    Parameters
    ----------
    real, synthetic
        Number of children of each parent, shapes (n,) and (m,).

    Returns
    -------
    float
        0 where there is no real parent, nan where there is no synthetic one.

    Examples
    --------
    >>> cardinality_boundary_adherence(np.array([1, 3]), np.array([0, 2, 3, 4]))
    0.5
    """
    if not len(real):
        return 0.0 if len(synthetic) else float("nan")
    return share(int(((synthetic >= real.min()) & (synthetic <= real.max())).sum()), len(synthetic))
