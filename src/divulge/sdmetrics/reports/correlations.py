"""Pearson's correlations of all columns of a table at once, where no value is missing."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from divulge.sdmetrics.columns import Column

__all__ = ["correlations"]

_ROWS_AT_ONCE = 2**15
Pair = tuple[float, float]


def correlations(columns: Mapping[Hashable, tuple[Column, Column]]) -> dict[tuple[Hashable, Hashable], Pair]:
    """Return the correlation of each pair of columns in both tables.

    Parameters
    ----------
    columns
        Each column in the real and in the synthetic table. Those are left out that have a missing value, are constant
        or hold something else than finite numbers in either.
    """
    plain = [name for name, both in columns.items() if all(map(_is_plain, both))]
    if len(plain) < 2:
        return {}
    real, synthetic = (_matrix([columns[name][side].values for name in plain]) for side in (0, 1))
    places = [(i, j) for i in range(len(plain)) for j in range(len(plain))]
    return {(plain[i], plain[j]): (float(real[i, j]), float(synthetic[i, j])) for i, j in places}


def _is_plain(column: Column) -> bool:
    values = column.values
    if values.dtype.kind not in "iuf" or len(values) < 3 or column.missing.any():
        return False
    return bool(np.isfinite(values).all()) and not bool((values == values[0]).all())


def _matrix(columns: Sequence[NDArray[np.generic]]) -> NDArray[np.float64]:
    """Return Pearson's correlations of the columns, in blocks of rows."""
    n = len(columns[0])
    means = [c.astype(np.float64).mean() for c in columns]
    with np.errstate(all="ignore"):
        norms = [np.linalg.norm(c.astype(np.float64) - m) for c, m in zip(columns, means, strict=True)]
        products = np.zeros((len(columns), len(columns)))
        for low in range(0, n, _ROWS_AT_ONCE):
            block = np.array(
                [
                    (c[low : low + _ROWS_AT_ONCE].astype(np.float64) - mean) / norm
                    for c, mean, norm in zip(columns, means, norms, strict=True)
                ]
            )
            products += block @ block.T
    return np.clip(products, -1.0, 1.0)
