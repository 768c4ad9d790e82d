"""Sequences as SDMetrics compares them: lengths, one statistic per sequence, differences between rows."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.kernels.relations import MISSING, SequenceOrder, order_of
from divulge.kernels.sequences import STATISTICS, Statistic, per_sequence
from divulge.measures.rules import combined
from divulge.sdmetrics.base import ColumnPairsMetric, SingleColumnMetric
from divulge.sdmetrics.columns import Column, frame_of
from divulge.sdmetrics.computed import computed_by
from divulge.sdmetrics.inputs import aligned, column_of, known_codes
from divulge.sdmetrics.single_column.formulas import ks_complement

__all__ = ["InterRowMSAS", "SequenceLengthSimilarity", "StatisticMSAS"]

Ints = NDArray[np.int64]
_DECIMALS = 14
"""Values are rounded before they are compared, as KSComplement does."""


@dataclass(frozen=True, slots=True)
class _Sequences:
    """A column of values whose rows belong to sequences."""

    order: SequenceOrder
    values: Column
    unused: int
    """Categories of the keys that occur in no row."""


# ---------------------------------------------------------------- lengths


def sequence_length(real_data: Any, synthetic_data: Any) -> dict[str, Any]:
    """Return the breakdown of `SequenceLengthSimilarity`."""
    real, synthetic = (_lengths(data, role) for data, role in _sides(real_data, synthetic_data))
    return {"score": ks_complement(real, synthetic)}


def _sides(real: Any, synthetic: Any) -> tuple[tuple[Any, str], tuple[Any, str]]:
    return (real, "real_data"), (synthetic, "synthetic_data")


def _lengths(data: Any, role: str) -> Ints:
    if hasattr(data, "columns") and not hasattr(data, "dtype"):
        keys = list(frame_of(data, role).columns.values())
    else:
        keys = [column_of(data, role)]
    codes = _key_codes(keys)
    found = np.bincount(codes[codes >= 0])
    return np.append(found[found > 0], np.zeros(_unused_categories(data), dtype=np.int64))


def _unused_categories(data: Any) -> int:
    """Return how many categories of a pandas column occur in no row: each counts as a sequence of length 0."""
    categories = getattr(data.dtype, "categories", None) if _home(data) == "pandas" and hasattr(data, "dtype") else None
    if categories is None:
        return 0
    return int(len(categories) - data.nunique())


def _key_codes(keys: Sequence[Column]) -> Ints:
    """Return the number of each row's key, -1 where the key or a part of it is missing."""
    parts = [known_codes([key])[0] for key in keys]
    codes = combined(parts)[0]
    codes[np.logical_or.reduce([own == 0 for (own,) in parts])] = MISSING
    return codes


# ---------------------------------------------------------------- one statistic per sequence


def statistic_msas(real_data: Any, synthetic_data: Any, statistic: str = "mean") -> dict[str, Any]:
    """Return the breakdown of `StatisticMSAS`."""
    if statistic not in STATISTICS:
        raise ValueError(f"Invalid statistic: {statistic}. Choose from {list(STATISTICS)}.")
    real, synthetic = (_statistics(s, statistic) for s in _pair(_checked(real_data, synthetic_data)))
    return {"score": ks_complement(real, synthetic)}


def all_lengths(tables: Sequence[Any]) -> list[Ints]:
    return [_lengths(data, f"table {i}") for i, data in enumerate(tables, start=1)]


def all_statistics(tables: Sequence[Any], statistic: str = "mean") -> list[NDArray[Any]]:
    """Return the statistic of each sequence of several tables, the first one real."""
    if statistic not in STATISTICS:
        raise ValueError(f"Invalid statistic: {statistic}. Choose from {list(STATISTICS)}.")
    return [_statistics(side, statistic) for side in _all_sides(tables)]


def _all_sides(tables: Sequence[Any]) -> list[_Sequences]:
    """Return the sequences of several tables; instants are in the unit of the first two."""
    out: list[_Sequences] = []
    for table in tables[1:]:
        first, other = _pair(_checked(tables[0], table))
        out = [*(out or [first]), other]
    return out


def all_differences(tables: Sequence[Any], n_rows_diff: int = 1, apply_log: bool = False) -> list[NDArray[Any]]:
    """Return for each sequence of several tables the array of its differences between rows, shape (n_sequences,)."""
    if not isinstance(n_rows_diff, int) or n_rows_diff < 1:
        raise ValueError("'n_rows_diff' must be an integer greater than zero.")
    sides = _all_sides(tables)
    out = []
    for side in sides:
        numbers = _logarithms([side])[0] if apply_log else _numbers(side.values)
        if numbers.dtype.kind == "b":
            raise TypeError("The values are truth values, which are not subtracted. hint: turn them into 0 and 1.")
        numbers = numbers.astype(np.float64)
        found = np.empty(len(side.order.lengths), dtype=object)
        for i, rows in enumerate(side.order):
            own = numbers[rows[n_rows_diff:]] - numbers[rows[:-n_rows_diff]]
            found[i] = _rounded(own[~np.isnan(own)])
        out.append(found)
    return out


def _statistics(side: _Sequences, statistic: Statistic) -> NDArray[Any]:
    """Return the statistic of each sequence that has one, rounded."""
    column = side.values
    if column.kind not in "biufM":
        raise TypeError(
            f"The values are {_NO_NUMBERS}; no {statistic} of them is compared. hint: pass a column of numbers."
        )
    rows, starts = side.order.rows, side.order.starts
    if column.has_missing:
        present = ~column.missing[rows]
        sequence = np.repeat(np.arange(len(starts) - 1), side.order.lengths)[present]
        rows, starts = rows[present], np.append(np.flatnonzero(np.diff(sequence, prepend=-1)), len(sequence))
    values = column.values[rows]
    if column.kind == "M":
        # instants are averaged as floats and cut to whole units
        own = per_sequence(values.view(np.int64), starts, statistic)
        return np.asarray(own[~np.isnan(own)].astype(np.int64))
    values = values.astype(np.float64) if values.dtype == object or values.dtype.kind == "b" else values
    found = per_sequence(values, starts, statistic)
    return _rounded(found[~np.isnan(found)])


_HOMES = ("pandas", "polars", "pyarrow")
_NO_NUMBERS = "texts, or of a dtype that is none of numbers"


def _rounded(values: NDArray[Any]) -> NDArray[Any]:
    with np.errstate(over="ignore", invalid="ignore"):
        return np.round(values, _DECIMALS) if values.dtype.kind == "f" else values


# ---------------------------------------------------------------- differences between rows


def inter_row_msas(
    real_data: Any, synthetic_data: Any, n_rows_diff: int = 1, apply_log: bool = False
) -> dict[str, Any]:
    """Return the breakdown of `InterRowMSAS`."""
    given = _checked(real_data, synthetic_data)
    if not isinstance(n_rows_diff, int) or n_rows_diff < 1:
        raise ValueError("'n_rows_diff' must be an integer greater than zero.")
    if not isinstance(apply_log, bool):
        raise ValueError("'apply_log' must be a boolean.")
    sides = _pair(given)
    numbers = _logarithms(sides) if apply_log else [s.values.values for s in sides]
    found = [
        _differences(side, values, n_rows_diff, role)
        for side, values, (_, role) in zip(sides, numbers, given, strict=True)
    ]
    return {"score": ks_complement(*found)}


def _logarithms(sides: Sequence[_Sequences]) -> list[NDArray[Any]]:
    if any(s.values.kind == "M" for s in sides):
        raise TypeError("Cannot compute log for datetime columns. Please set 'apply_log' to False to use this metric.")
    values = [_numbers(s.values) for s in sides]
    n_invalid = sum(int((v <= 0).sum()) for v in values)
    if n_invalid:
        warnings.warn(
            f"There are {n_invalid} non-positive values in your data, which cannot be used with log. Consider "
            "changing 'apply_log' to False for a better result.",
            stacklevel=6,
        )
    with np.errstate(divide="ignore", invalid="ignore"):
        return [np.asarray(np.log(v)) for v in values]


def _numbers(column: Column) -> NDArray[Any]:
    if column.kind not in "biuf":
        what = "dates" if column.kind == "M" else _NO_NUMBERS
        raise TypeError(
            f"The values are {what}, which are not subtracted. hint: pass numbers, such as days since 1970."
        )
    if column.values.dtype != object:
        return column.values
    out = np.full(len(column), np.nan)  # a nullable dtype in which something is missing
    out[~column.missing] = column.values[~column.missing].astype(np.float64)
    return out


def _differences(side: _Sequences, values: NDArray[Any], k: int, role: str) -> NDArray[np.float64]:
    numbers = values if values.dtype.kind == "f" else _numbers(side.values)
    if numbers.dtype.kind == "b":
        raise TypeError("The values are truth values, which are not subtracted. hint: turn them into 0 and 1.")
    n_short = int((side.order.lengths <= k).sum()) + side.unused
    if n_short:
        warnings.warn(
            f"n_rows_diff '{k}' is greater or equal to the size of {n_short} sequence keys in {role}.", stacklevel=5
        )
    earlier, later = side.order.lagged(k)
    with np.errstate(invalid="ignore", over="ignore"):
        found = (numbers[later] - numbers[earlier]).astype(np.float64)
    return np.asarray(_rounded(found[~np.isnan(found)]))


# ---------------------------------------------------------------- arguments


def _checked(real: Any, synthetic: Any) -> tuple[tuple[Any, str], tuple[Any, str]]:
    for data in (real, synthetic):
        if not isinstance(data, tuple) or len(data) != 2 or not all(map(_is_series, data)):
            raise ValueError("The data must be a tuple of two pandas series.")
    return _sides(real, synthetic)


def _is_series(data: Any) -> bool:
    return _home(data) in _HOMES and not hasattr(data, "columns") and hasattr(data, "__len__")


def _home(data: Any) -> str:
    """Return the package that an object is of."""
    return type(data).__module__.split(".")[0]


def _pair(given: tuple[tuple[Any, str], ...]) -> list[_Sequences]:
    """Return the sequences of both sides, instants in one unit."""
    sides = [_matched(*data) for data, _ in given]
    values = aligned(*(column_of(v, role) for (_, v), (_, role) in zip(sides, given, strict=True)))
    return [
        _Sequences(order_of(_key_codes([column_of(keys, role)])), own, _unused_categories(keys))
        for (keys, _), own, (_, role) in zip(sides, values, given, strict=True)
    ]


def _matched(keys: Any, values: Any) -> tuple[Any, Any]:
    """Return keys and values row by row; rows of pandas belong together by their index."""
    if {_home(keys), _home(values)} == {"pandas"} and not keys.index.equals(values.index):
        keys = keys.reindex(values.index)
    if len(keys) != len(values):
        raise ValueError(f"The keys have {len(keys)} rows and the values {len(values)}. hint: take both of one table.")
    return keys, values


def score_of_differences(real: NDArray[Any], synthetic: NDArray[Any]) -> float:
    """Return the score of sequences' differences, given as arrays of arrays."""
    sides = [np.concatenate(list(side)) if len(side) else np.zeros(0) for side in (real, synthetic)]
    return ks_complement(*sides) if len(sides[0]) and len(sides[1]) else float("nan")


# ---------------------------------------------------------------- classes


@computed_by(sequence_length, sound="sound_scores.sequence_length_sound")
class SequenceLengthSimilarity(SingleColumnMetric):
    """How alike the lengths of sequences are: KSComplement of the number of rows per sequence key.

    Parameters
    ----------
    real_data, synthetic_data
        The sequence key of each row: a pandas.Series or another column; a frame for a key of several columns.
    """

    name = "Sequence Length Similarity"


@computed_by(statistic_msas, sound="sound_scores.statistic_msas_sound")
class StatisticMSAS(ColumnPairsMetric):
    """How alike the sequences are in one statistic each: KSComplement of the statistic per sequence.

    Parameters
    ----------
    real_data, synthetic_data
        Tuples of two columns: sequence keys and numbers.
    statistic
        "mean", "median", "std", "min" or "max".
    """

    name = "Statistic Multi-Sequence Aggregate Similarity"


@computed_by(inter_row_msas, sound="sound_scores.inter_row_msas_sound")
class InterRowMSAS(ColumnPairsMetric):
    """How alike the steps between rows are: KSComplement of all differences x[t + k] - x[t] within sequences.

    The rows of a sequence are taken in the order of the table.

    Parameters
    ----------
    real_data, synthetic_data
        Tuples of two columns: sequence keys and numbers.
    n_rows_diff
        k, the rows between the two values.
    apply_log
        Whether logarithms are subtracted.
    """

    name = "Inter-Row Multi-Sequence Aggregate Similarity"
