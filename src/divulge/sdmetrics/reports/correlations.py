"""Pearson's correlations of all columns of a table at once, by products of matrices."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from divulge.sdmetrics.columns import Column
from divulge.sdmetrics.inputs import known

__all__ = ["correlations"]

Floats = NDArray[np.float64]
Pair = tuple[float, float]

_ROWS_AT_ONCE = 2**14
_SMALLEST = 1e-250
_LEFT = 1e-4
"""Share of a column's squares that must be left where another column has a value; with less, digits are lost."""


def correlations(columns: Mapping[Hashable, tuple[Column, Column]]) -> dict[tuple[Hashable, Hashable], Pair]:
    """Return the correlation of each pair of columns in both tables, over the rows in which both have a value.

    Parameters
    ----------
    columns
        Each column in the real and in the synthetic table. Those are left out that are constant or hold something else
        than finite numbers in either table; and pairs with hardly a row, or hardly a difference, in common.
    """
    plain = [name for name, both in columns.items() if all(map(_is_plain, both))]
    if len(plain) < 2:
        return {}
    real, synthetic = (_matrix([columns[name][side] for name in plain]) for side in (0, 1))
    first, second = np.nonzero(~np.isnan(real) & ~np.isnan(synthetic))
    found = zip(real[first, second].tolist(), synthetic[first, second].tolist(), strict=True)
    places = zip(first.tolist(), second.tolist(), strict=True)
    return {(plain[i], plain[j]): both for (i, j), both in zip(places, found, strict=True)}


def _is_plain(column: Column) -> bool:
    if column.dtype.kind not in "iuf":
        return False
    values = known(column)
    if len(values) < 3:
        return False
    low, high = values.min(), values.max()
    return bool(np.isfinite(low) and np.isfinite(high) and low < high)


def _matrix(columns: Sequence[Column]) -> Floats:
    """Return Pearson's correlations of the columns, in blocks of rows; nan where they cannot be had so."""
    values = [c.values for c in columns]
    gaps = [c.missing if c.has_missing else None for c in columns]
    means = [known(c).mean(dtype=np.float64) for c in columns]
    k, n, whole = len(columns), len(values[0]), all(gap is None for gap in gaps)
    sums = np.zeros((4, k, k))
    for low in range(0, n, _ROWS_AT_ONCE):
        rows = slice(low, low + _ROWS_AT_ONCE)
        block = np.empty((k, min(_ROWS_AT_ONCE, n - low)))
        for own, column, mean in zip(block, values, means, strict=True):
            np.subtract(column[rows], mean, out=own)
        if whole:
            sums[0] += block @ block.T
            continue
        there = np.ones_like(block)
        for i, gap in enumerate(gaps):
            if gap is not None:
                block[i][gap[rows]] = there[i][gap[rows]] = 0.0
        sums += block @ block.T, block**2 @ there.T, block @ there.T, there @ there.T
    return _of_whole_columns(sums[0]) if whole else _correlations(*sums)


def _of_whole_columns(products: Floats) -> Floats:
    with np.errstate(all="ignore"):
        norms = np.sqrt(np.where(_is_sound(np.diag(products)), np.diag(products), np.nan))
        return np.clip(products / norms[:, None] / norms, -1.0, 1.0)


def _is_sound(squares: Floats) -> NDArray[np.bool_]:
    """Return which sums of squares are neither endless nor so small that they have lost digits."""
    return (squares > _SMALLEST) & np.isfinite(squares)


def _correlations(products: Floats, squares: Floats, totals: Floats, n_rows: Floats) -> Floats:
    """Return correlations over the rows that two columns share, of which each sum is of the first column's numbers."""
    with np.errstate(all="ignore"):
        left = squares - totals**2 / n_rows
        found = (products - totals * totals.T / n_rows) / np.sqrt(left * left.T)
        own = np.diag(squares)[:, None]
        trusted = (n_rows > 2) & (left > _LEFT * own) & _is_sound(own)
    return np.where(trusted & trusted.T, np.clip(found, -1.0, 1.0), np.nan)
