"""The levels of a column, and the code of each row: its place among the levels."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from divulge.tables.canonical_values import DISTINCT, FEW_ROWS, evaluated

__all__ = ["codes_of", "levels_of"]


def levels_of(values: pl.Series) -> pl.Series:
    """Return the distinct values in ascending order, without missing."""
    if values.dtype.is_numeric() and not values.null_count():
        ordered = np.sort(values.to_numpy())  # np.unique hashes whole numbers: 50 times as long for millions
        first = np.ones(len(ordered), dtype=np.bool_)
        np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
        return pl.Series(ordered[first])
    return evaluated(values, DISTINCT).sort()


def codes_of(series: pl.Series, levels: pl.Series) -> NDArray[np.int32]:
    """Return the code of each row: 0 for missing, otherwise 1 + the position among the levels."""
    if levels.len() == 0 or series.len() == 0:
        return np.zeros(series.len(), dtype=np.int32)
    if series.dtype == pl.String:
        if len(series) < FEW_ROWS:
            place = {level: i for i, level in enumerate(levels.to_list(), 1)} | {None: 0}
            return np.array([place[text] for text in series.to_list()], dtype=np.int32)
        index = series.cast(pl.Enum(levels)).to_physical().cast(pl.Int32)
    elif series.dtype == pl.Boolean:
        index = series.cast(pl.Int32) - int(levels[0])
    else:
        return _number_codes(series, levels)
    index += 1
    return np.asarray((index.fill_null(0) if index.null_count() else index).to_numpy(), dtype=np.int32)


def _number_codes(series: pl.Series, levels: pl.Series) -> NDArray[np.int32]:
    """Return the codes of numbers or datetimes; whole numbers in a narrow range use a lookup table."""
    if isinstance(series.dtype, pl.Datetime):
        series, levels = series.cast(pl.Int64), levels.cast(pl.Int64)
    values = (series.fill_null(levels[0]) if series.null_count() else series).to_numpy()
    known = levels.to_numpy()
    low, high = levels[0], levels[-1]  # python numbers: the difference of two int64 may not fit an int64
    codes: NDArray[np.int32]
    if high - low < 4 * (len(values) + 1000) and (known == np.floor(known)).all():
        position = np.zeros(int(high - low) + 1, dtype=np.int32)
        position[(known - low).astype(np.int64)] = np.arange(1, len(known) + 1, dtype=np.int32)
        codes = position[(values - low).astype(np.int64)]
    else:
        # a search per distinct value, in ascending order: seven times as fast as one per row
        distinct, inverse = np.unique(values, return_inverse=True)
        codes = (np.searchsorted(known, distinct) + 1).astype(np.int32)[inverse]
    if series.null_count():
        codes[series.is_null().to_numpy()] = 0
    return codes
