"""How alike the dependence between two columns is in two tables, from counts of cells or from the numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "contingency_similarity",
    "correlation_similarity",
    "cramers_v",
    "cramers_v_of_cells",
    "divergence_score",
    "pearson",
    "spearman",
]

Floats = NDArray[np.float64]


def contingency_similarity(real_counts: NDArray[Any], synthetic_counts: NDArray[Any]) -> float:
    """Return 1 less the total variation distance between two tables of counts.

    Parameters
    ----------
    real_counts, synthetic_counts
        Rows in each cell, of one shape. A side without rows has a share of 0 in each cell, so that the score is 0.5.

    Examples
    --------
    >>> contingency_similarity(np.array([[1, 1], [0, 2]]), np.array([[2, 0], [0, 2]]))
    0.75
    """
    shares = [c / total if (total := c.sum()) else np.zeros(c.shape) for c in (real_counts, synthetic_counts)]
    return float(1 - np.abs(shares[0] - shares[1]).sum() / 2)


def cramers_v(counts: NDArray[Any]) -> float:
    """Return Cramér's V of a table of counts, without correction; nan if fewer than two rows or columns have counts.

    Parameters
    ----------
    counts
        Shape (n_rows, n_columns).

    Examples
    --------
    >>> cramers_v(np.array([[5, 0], [0, 5]]))
    1.0
    """
    table = counts[counts.sum(axis=1) > 0][:, counts.sum(axis=0) > 0].astype(np.float64)
    if min(table.shape) < 2:
        return float("nan")
    total = table.sum()
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / total
    chi_squared = ((table - expected) ** 2 / expected).sum()
    return float(np.sqrt(chi_squared / total / (min(table.shape) - 1)))


def cramers_v_of_cells(rows: NDArray[Any], columns: NDArray[Any], counts: NDArray[Any]) -> float:
    """Return `cramers_v` of a table of which only the cells that occur are given.

    Parameters
    ----------
    rows, columns
        Whole numbers of the row and of the column of each cell, shape (n_cells,); no cell stands there twice.
    counts
        Shape (n_cells,).

    Examples
    --------
    >>> round(cramers_v_of_cells(np.array([0, 1]), np.array([0, 1]), np.array([5, 5])), 9)
    1.0
    """
    there = counts > 0
    rows, columns = (np.unique(codes[there], return_inverse=True)[1] for codes in (rows, columns))
    counts = counts[there].astype(np.float64)
    margins = [np.bincount(codes, weights=counts) for codes in (rows, columns)]
    smaller = min(map(len, margins))
    if smaller < 2:
        return float("nan")
    squared = (counts**2 / (margins[0][rows] * margins[1][columns])).sum() - 1
    return float(np.sqrt(max(squared, 0.0) / (smaller - 1)))


def pearson(x: NDArray[Any], y: NDArray[Any]) -> float:
    """Return Pearson's correlation; nan if a side is constant or not finite.

    Parameters
    ----------
    x, y
        Numbers, shape (n,), at least two.

    Examples
    --------
    >>> round(pearson(np.array([1, 2, 3]), np.array([2, 4, 7])), 6)
    0.993399
    """
    x, y = x.astype(np.float64), y.astype(np.float64)
    if (x == x[0]).all() or (y == y[0]).all():
        return float("nan")
    with np.errstate(all="ignore"):
        x, y = x - x.mean(), y - y.mean()
        if len(x) == 2:
            return float(np.sign(x[0]) * np.sign(y[0]))
        found = float(np.dot(x / np.linalg.norm(x), y / np.linalg.norm(y)))
    return max(min(found, 1.0), -1.0) if found == found else found


def spearman(x: NDArray[Any], y: NDArray[Any]) -> float:
    """Return Spearman's correlation of ranks; nan if a side is constant or empty.

    Parameters
    ----------
    x, y
        Numbers without nan, shape (n,).

    Examples
    --------
    >>> round(spearman(np.array([1, 2, 9]), np.array([1, 5, 3])), 9)
    0.5
    """
    from scipy.stats import rankdata

    return pearson(rankdata(x), rankdata(y)) if len(x) > 1 else float("nan")


def correlation_similarity(real: float, synthetic: float) -> float:
    """Return 1 less half the difference of two correlations.

    Examples
    --------
    >>> correlation_similarity(0.5, -0.5)
    0.5
    """
    return 1 - abs(real - synthetic) / 2


def divergence_score(observed: Floats, expected: Floats) -> float:
    """Return 1 / (1 + D), where D is the Kullback-Leibler divergence of the observed shares from the expected.

    Parameters
    ----------
    observed, expected
        Shares, shape (n,); no expected share is 0.

    Examples
    --------
    >>> divergence_score(np.array([0.5, 0.5]), np.array([0.5, 0.5]))
    1.0
    """
    from scipy.special import kl_div

    return float(1 / (1 + kl_div(observed, expected).sum()))
