"""Two measures of divulge's own: how far out synthetic numbers lie, and how concentrated they are."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["half_width", "outlier_coverage", "smoothness_similarity"]

Floats = NDArray[np.float64]
_FENCE = 1.5
"""Tukey's fences: so many interquartile ranges beyond the quartiles."""
_LARGEST = 2.0**1020


def outlier_coverage(real: Floats, synthetic: Floats) -> tuple[float, float, float]:
    """Return how well synthetic outliers stand for the real ones, and the shares of outliers in both tables.

    A real outlier lies beyond a fence: 1.5 interquartile ranges of the real numbers below the first or above the third
    quartile. It counts the share of synthetic numbers that lie at least as far out on its side, over that share of the
    real numbers, at most 1. The measure is the mean over the real outliers.

    Parameters
    ----------
    real, synthetic
        Finite numbers, shapes (n,) and (m,).

    Returns
    -------
    coverage, real_share, synthetic_share
        From 0, where no synthetic number is as far out as any real outlier, to 1. nan without a real outlier or without
        a synthetic number.

    References
    ----------
    Tukey, Exploratory Data Analysis, 1977, for the fences. The measure itself is divulge's own.

    Examples
    --------
    >>> real = np.array([1.0, 2, 3, 4, 5, 6, 7, 20, 40])
    >>> outlier_coverage(real, np.array([1.0, 5, 25]))
    (0.5, 0.2222222222222222, 0.3333333333333333)
    """
    nan = float("nan")
    if not len(real) or not len(synthetic):
        return nan, nan, nan
    if max(np.abs(real).max(), np.abs(synthetic).max()) > _LARGEST:  # the fences would lie beyond the floats
        real, synthetic = real / 8, synthetic / 8
    first, third = np.quantile(real, (0.25, 0.75))
    reach = _FENCE * (third - first)
    fences, shares, covered = (-(first - reach), third + reach), [0, 0], []
    for sign, fence in zip((-1, 1), fences, strict=True):
        ours, theirs = np.sort(sign * real), np.sort(sign * synthetic)
        outliers = ours[np.searchsorted(ours, fence, side="right") :]
        shares[0] += len(outliers)
        shares[1] += len(theirs) - int(np.searchsorted(theirs, fence, side="right"))
        beyond = [(len(v) - np.searchsorted(v, outliers, side="left")) / len(v) for v in (ours, theirs)]
        covered.append(np.minimum(beyond[1] / beyond[0], 1))
    every = np.concatenate(covered)
    mean = float(np.sort(every).mean()) if len(every) else nan
    return mean, shares[0] / len(real), shares[1] / len(synthetic)


def half_width(values: Floats) -> float:
    """Return the length of the shortest interval that holds half of the numbers; nan without any.

    Parameters
    ----------
    values
        Finite numbers, shape (n,).

    References
    ----------
    The interval is the shorth of Andrews et al., Robust Estimates of Location, 1972.

    Examples
    --------
    >>> half_width(np.array([0.0, 4, 5, 6, 50]))
    2.0
    """
    if not len(values):
        return float("nan")
    ordered, inside = np.sort(values), (len(values) + 1) // 2
    return float((ordered[inside - 1 :] - ordered[: len(values) - inside + 1]).min())


def smoothness_similarity(real: Floats, synthetic: Floats) -> tuple[float, float, float]:
    """Return the smaller over the larger `half_width`, and both widths over the real range.

    Parameters
    ----------
    real, synthetic
        Finite numbers, shapes (n,) and (m,).

    Returns
    -------
    similarity, real_width, synthetic_width
        From 0, where half of one table is a single number and the other table is spread, to 1. Two widths of 0 are
        alike. nan without numbers; the widths are nan where the real numbers are all equal.

    Examples
    --------
    >>> smoothness_similarity(np.array([0.0, 1, 2, 3]), np.array([0.0, 2, 4, 6]))
    (0.5, 0.3333333333333333, 0.6666666666666666)
    """
    ours, theirs = half_width(real), half_width(synthetic)
    span = float(real.max() - real.min()) if len(real) else 0.0
    larger = max(ours, theirs)
    similarity = 1.0 if larger == 0 else min(ours, theirs) / larger
    if ours != ours or theirs != theirs:
        similarity = float("nan")
    widths = [w / span if span else float("nan") for w in (ours, theirs)]
    return similarity, widths[0], widths[1]
