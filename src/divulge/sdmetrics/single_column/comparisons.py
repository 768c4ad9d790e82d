"""The breakdowns of SDMetrics' metrics of one column: its arguments in, its dictionary out.

`real_data` and `synthetic_data` are a pandas.Series, another series, an array or a list each.
"""

from __future__ import annotations

import datetime
import math
import sys
import warnings
from collections.abc import Collection
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.measures.rules import combined
from divulge.sdmetrics.columns import Column, Frame, frame_of, objects_of
from divulge.sdmetrics.errors import IncomputableMetricError
from divulge.sdmetrics.inputs import (
    Category,
    aligned,
    codes_of,
    column_of,
    counts_of,
    known,
    known_codes,
    number_pair,
    numbers_of,
    ordered_numbers,
    pair_of,
    sortable,
)
from divulge.sdmetrics.readings import as_numbers, family_of, hashable, is_plain
from divulge.sdmetrics.single_column import formulas
from divulge.sdmetrics.warnings import ConstantInputWarning

__all__ = [
    "boundary_adherence",
    "boundary_share",
    "category_adherence",
    "category_coverage",
    "category_share",
    "chi_squared",
    "column_limits",
    "key_codes",
    "key_columns",
    "key_share",
    "key_uniqueness",
    "ks_complement",
    "ks_of_counts",
    "missing_value_similarity",
    "range_coverage",
    "statistic_similarity",
    "tv_complement",
    "unique_keys",
]

Breakdown = dict[str, Any]
Ints = NDArray[np.int64]
_DECIMALS = sys.float_info.dig - 1
_CONSTANT = "The real data input array is constant. The StatisticSimilarity metric is either undefined or infinite."
_NO_TOP = "A column of category dtype has no smallest and largest value. hint: convert it to numbers."


def ks_complement(real_data: Any, synthetic_data: Any) -> Breakdown:
    """Return the breakdown of KSComplement."""
    return {"score": ks_of_numbers(*_numbers_of_pair(real_data, synthetic_data))}


def ks_of_counts(real: Column, real_counts: Ints, synthetic: Column, synthetic_counts: Ints) -> float:
    """Return the score of KSComplement of columns of distinct values, and how many rows have each."""
    counts = [n[~c.missing] for c, n in ((real, real_counts), (synthetic, synthetic_counts))]
    one, other = (_rounded(v) for v in _numbers_of_pair(real, synthetic))
    return formulas.ks_complement_of_counts(one, counts[0], other, counts[1])


def ks_of_numbers(real: NDArray[Any], synthetic: NDArray[Any]) -> float:
    """Return the score of KSComplement for numbers without nan, which are rounded to 14 decimals first."""
    one, other = (_rounded(v) for v in (real, synthetic))
    return formulas.ks_complement(one, other)


def _numbers_of_pair(real_data: Any, synthetic_data: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the values of two columns that are not missing as numbers; a `TypeError` for objects that are none."""
    real, synthetic = pair_of(real_data, synthetic_data)
    for column in (real, synthetic):
        if column.kind not in "biufmMCS" and not family_of([real, synthetic]):
            raise TypeError("Expected numeric dtype, got object instead. hint: convert the column to numbers or dates.")
    return sortable(real, synthetic)


def _rounded(values: NDArray[Any]) -> NDArray[Any]:
    if values.dtype.kind == "b":
        return values.astype(np.int64)
    if values.dtype.kind != "f":
        return values
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(values.round(_DECIMALS))


def tv_complement(real_data: Any, synthetic_data: Any) -> Breakdown:
    """Return the breakdown of TVComplement."""
    real, synthetic = counts_of(*pair_of(real_data, synthetic_data))
    if not real.sum() or not synthetic.sum():
        raise IncomputableMetricError("The TVComplement metric must have 1 or more non-null values.")
    return {"score": formulas.tv_complement(real, synthetic)}


def chi_squared(real_data: Any, synthetic_data: Any) -> Breakdown:
    """Return the breakdown of CSTest; missing values count, a nan of a column of floats as a value of its own."""
    columns = pair_of(real_data, synthetic_data)
    if not len(columns[1]) and len(columns[0]):
        raise IncomputableMetricError("CSTest: the synthetic column is empty.")
    codes, size = codes_of(list(columns))
    real, synthetic = (np.bincount(c, minlength=size) for c in codes)
    return {"score": formulas.chi_squared_p(real, synthetic)}


def statistic_similarity(real_data: Any, synthetic_data: Any, statistic: str = "mean") -> Breakdown:
    """Return the breakdown of StatisticSimilarity."""
    real, synthetic = pair_of(real_data, synthetic_data)
    if _is_constant(real):
        warnings.warn(ConstantInputWarning(_CONSTANT), stacklevel=4)
        return {"score": float("nan")}
    if statistic not in formulas.STATISTICS:
        raise ValueError(f"requested statistic {statistic} is not valid. Please choose either mean, std, or median.")
    _check_numbers("StatisticSimilarity", real, synthetic)
    read = as_numbers([real, synthetic], shifted=False)
    if read[0].dtype.kind == "m":
        return _of_durations(read[0], read[1], statistic)
    first, second = _exact_numbers(real), _exact_numbers(synthetic)
    score, ours, theirs = formulas.statistic_similarity(first, second, statistic)
    return {"real": ours, "synthetic": theirs, "score": score}


def _of_durations(real: Column, synthetic: Column, statistic: str) -> Breakdown:
    """Return the breakdown of StatisticSimilarity of durations; as released, a statistic is cut to their unit."""
    values = [numbers_of(c) for c in (real, synthetic)]
    _, *found = formulas.statistic_similarity(values[0], values[1], statistic)
    if any(math.isnan(v) for v in found):
        return {"real": float("nan"), "synthetic": float("nan"), "score": float("nan")}
    ours, theirs = map(int, found)
    score = 1 - abs(ours - theirs) / int(np.ptp(values[0]))
    told = objects_of(np.array([ours, theirs]).astype(real.dtype))
    return {"real": told[0], "synthetic": told[1], "score": max(score, 0.0)}


def _exact_numbers(column: Column) -> NDArray[Any]:
    """Return numbers; whole numbers and decimals of Python as they are, so that sums and ranges of long ones hold."""
    values = known(column)
    if values.dtype == object and any(all(isinstance(v, kind) for v in values) for kind in (int, Decimal)):
        return values
    found = ordered_numbers(column)
    return found.astype(np.int64) if found.dtype.kind == "b" else found


def _check_numbers(metric: str, real: Column, synthetic: Column) -> None:
    """Raise a `TypeError` for text, categories of other things than numbers, and a real column of truth values."""
    if real.kind == "b" or any(c.kind in "CS" and family_of([c]) is None for c in (real, synthetic)):
        raise TypeError(f"{metric}: the columns must be numbers or dates. hint: convert them.")


def _is_constant(column: Column) -> bool:
    there = column.take(~column.missing)
    codes = codes_of([there])[0][0]
    return len(codes) > 0 and bool((codes == codes[0]).all())


def boundary_adherence(
    real_data: Any, synthetic_data: Any, range_min: Any = None, range_max: Any = None, range_is_nullable: Any = None
) -> Breakdown:
    """Return the breakdown of BoundaryAdherence."""
    real, synthetic = pair_of(real_data, synthetic_data)
    return {"score": boundary_share(real, synthetic, None, range_min, range_max, range_is_nullable)}


def boundary_share(
    real: Column,
    synthetic: Column,
    counts: Ints | None,
    range_min: Any = None,
    range_max: Any = None,
    range_is_nullable: Any = None,
) -> float:
    """Return the score of BoundaryAdherence; of columns of distinct values with the synthetic rows of each."""
    real, synthetic = aligned(real, synthetic)
    nullable = bool(real.missing.any()) if range_is_nullable is None else bool(range_is_nullable)
    total = _n_rows(~synthetic.missing, counts) if nullable else _n_rows(np.ones(len(synthetic), dtype=bool), counts)
    if family_of([real, synthetic]) in ("duration", "time", "period"):
        real, synthetic = as_numbers([real, synthetic])
    low, high = (_limit(v, real) for v in (range_min, range_max))
    values, bounds = _ordered(real, synthetic)
    low, high = _with_ends(bounds, low, high)
    if low is None or high is None:
        return formulas.share(0, total)
    own = None if counts is None else counts[~synthetic.missing]
    return formulas.share(_n_rows((values >= low) & (values <= high), own), total)


def _n_rows(kept: NDArray[np.bool_], counts: Ints | None) -> int:
    """Return how many rows are kept, those of distinct values by their counts."""
    return int(kept.sum() if counts is None else counts[kept].sum())


def column_limits(column: Column, range_min: Any, range_max: Any) -> tuple[Any, Any]:
    """Return the limits of BoundaryAdherence for numbers or dates: those given, else the ends of the real column.

    Raises
    ------
    TypeError, ValueError
        The column has no ends, or a limit is no date.
    """
    low, high = (_limit(v, column) for v in (range_min, range_max))
    return _with_ends(ordered_numbers(column), low, high)


def _with_ends(bounds: NDArray[Any], low: Any, high: Any) -> tuple[Any, Any]:
    """Return limits with the ends of numbers in place of None, where there is a number."""
    if not len(bounds):
        return low, high
    return bounds.min() if low is None else low, bounds.max() if high is None else high


def _ordered(real: Column, synthetic: Column) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the numbers of the synthetic and of the real column; text is compared by the alphabet."""
    if any(c.kind == "C" and family_of([c]) is None for c in (real, synthetic)):
        raise TypeError(_NO_TOP)
    if not all(is_plain(c) for c in (real, synthetic)) and family_of([real, synthetic]) == "number":
        return known(synthetic), known(real)  # objects are compared exactly
    if all(_is_text(c) for c in (real, synthetic)):
        bounds, values = sortable(real, synthetic)
    else:
        bounds, values = ordered_numbers(real), ordered_numbers(synthetic)
    return values, bounds


def _is_text(column: Column) -> bool:
    return column.kind == "S" or (column.kind == "O" and all(isinstance(v, str) for v in known(column)))


def _limit(value: Any, column: Column) -> Any:
    """Return a limit as a number of the column; None for None."""
    if column.dtype.kind == "m" and isinstance(value, (datetime.timedelta, np.timedelta64)):
        return np.timedelta64(value).astype(column.dtype).view(np.int64)
    if value is None or column.values.dtype.kind != "M":
        return value
    try:
        return np.datetime64(value).astype(column.values.dtype).view(np.int64)
    except ValueError:
        raise ValueError("BoundaryAdherence: a limit of the range is no date. hint: write it as 2020-12-31.") from None


def category_adherence(
    real_data: Any, synthetic_data: Any, range_values: Collection[Any] | None = None, range_is_nullable: Any = None
) -> Breakdown:
    """Return the breakdown of CategoryAdherence."""
    real, synthetic = pair_of(real_data, synthetic_data)
    return {"score": category_share(real, synthetic, None, range_values, range_is_nullable)}


def category_share(
    real: Column,
    synthetic: Column,
    counts: Ints | None,
    range_values: Collection[Any] | None = None,
    range_is_nullable: Any = None,
) -> float:
    """Return the score of CategoryAdherence; of columns of distinct values with the synthetic rows of each."""
    real, synthetic = aligned(real, synthetic)
    allowed = real if range_values is None else column_of(list(range_values), "range_values")
    if range_is_nullable is None:
        range_is_nullable = real.missing.any() or allowed.missing.any()
    (listed, codes), size = known_codes([allowed, synthetic])
    valid = np.bincount(listed, minlength=size + 1) > 0
    valid[0] = range_is_nullable
    return formulas.share(_n_rows(valid[codes], counts), len(synthetic) if counts is None else int(counts.sum()))


def category_coverage(real_data: Any, synthetic_data: Any) -> Breakdown:
    """Return the breakdown of CategoryCoverage; all categories of pandas' category dtype are values, used or not."""
    columns = [_with_unused(c) for c in pair_of(real_data, synthetic_data)]
    score, n_real, n_covered = formulas.category_coverage(*counts_of(*columns))
    if not n_real:
        raise IncomputableMetricError("CategoryCoverage: the real column has no value.")
    return {"score": score, "real": n_real, "synthetic": n_covered}


def _with_unused(column: Column) -> Column:
    return Column("O", column.levels) if isinstance(column, Category) else column


def range_coverage(real_data: Any, synthetic_data: Any) -> Breakdown:
    """Return the breakdown of RangeCoverage."""
    real, synthetic = pair_of(real_data, synthetic_data)
    if _is_constant(real) and real.kind not in "C":
        return {"score": float("nan")}
    _check_numbers("RangeCoverage", real, synthetic)
    return {"score": formulas.range_coverage(*number_pair(real, synthetic))}


def missing_value_similarity(real_data: Any, synthetic_data: Any) -> Breakdown:
    """Return the breakdown of MissingValueSimilarity."""
    real, synthetic = pair_of(real_data, synthetic_data)
    score, ours, theirs = formulas.missing_value_similarity(real.missing, synthetic.missing)
    return {"score": score, "real": ours, "synthetic": theirs}


def key_uniqueness(real_data: Any, synthetic_data: Any) -> Breakdown:
    """Return the breakdown of KeyUniqueness; a frame is a key of several columns."""
    return {"score": key_share(key_columns(synthetic_data, "synthetic_data"))}


def key_share(columns: list[Column], n_rows: int | None = None) -> float:
    """Return the score of KeyUniqueness; of the distinct keys of so many rows, or of all rows."""
    missing = np.logical_and.reduce([c.missing for c in columns])
    codes = key_codes([columns])[0]
    if n_rows is None:
        return formulas.key_uniqueness(codes, missing)
    return 1 - formulas.share(n_rows - len(np.unique(codes[~missing])), n_rows)


def unique_keys(data: Any, role: str) -> NDArray[np.bool_]:
    """Return which rows have a key that is there and that no earlier row has, shape (n_rows,)."""
    columns = key_columns(data, role)
    codes = key_codes([columns])[0]
    first = np.zeros(len(codes), dtype=bool)
    first[np.unique(codes, return_index=True)[1]] = True
    return np.asarray(first & ~np.logical_and.reduce([c.missing for c in columns]))


def key_columns(data: Any, role: str) -> list[Column]:
    """Return the columns of a key: one of a series, several of a frame."""
    if isinstance(data, Frame):
        return list(data.columns.values())
    if hasattr(data, "columns"):
        return list(frame_of(data, role).columns.values())
    return [hashable(column_of(data, role))]


def key_codes(tables: list[list[Column]]) -> list[NDArray[Any]]:
    """Return one code for each key over several tables, equal where all parts are; missing equals missing."""
    return combined([known_codes(list(columns))[0] for columns in zip(*tables, strict=True)])
