"""Whether synthetic values are such as the real table or its rules allow: ranges, lists, keys, relations."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["cardinality_boundary_adherence", "key_uniqueness", "missing_value_similarity", "share"]


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
