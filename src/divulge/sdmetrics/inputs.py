"""The columns that the metrics of one and of two columns take: a series, an array or a list, with its dtype."""

from __future__ import annotations

import ctypes
import datetime
import numbers
import sys
from collections.abc import Hashable, Mapping
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.sdmetrics.columns import (
    CodedColumn,
    Column,
    Frame,
    equal_codes,
    frame_of,
    pandas_column,
    unhashable,
)
from divulge.sdmetrics.readings import as_numbers, family_of, is_plain

__all__ = [
    "Category",
    "Columns",
    "aligned",
    "codes_of",
    "column_of",
    "columns_from",
    "counts_of",
    "from_least",
    "known",
    "known_codes",
    "number_pair",
    "numbers_of",
    "ordered_numbers",
    "pair_of",
    "sortable",
    "two_columns",
]

Columns = Mapping[Hashable, Column]
_KIND_OF_TEXT, _KIND_OF_CATEGORIES = "S", "C"
_SHARED_FROM = 2**12  # rows from which it is looked whether rows share their objects
_SAMPLE = 2**14


class Category(CodedColumn):
    """A column of pandas' category dtype; some of the rows, or the column under a name, are a `CodedColumn`."""

    __slots__ = ()


def column_of(data: Any, role: str) -> Column:
    """Return a column from a series of pandas or polars, an array or a list; a column is returned unchanged.

    Instants keep their unit. Kind "C" is pandas' category dtype, "S" its nullable text.

    Raises
    ------
    TypeError
        `data` is none of these.
    """
    if isinstance(data, Column):
        return data
    module = type(data).__module__.split(".")[0]
    if module == "pandas" and hasattr(data, "dtype"):
        return _of_pandas(data)
    if isinstance(data, np.ndarray):
        return _of_array(data, role)
    if module in ("polars", "pyarrow"):
        return next(iter(frame_of(_as_frame(data), role).columns.values()))
    if isinstance(data, (list, tuple)):
        return _of_list(data, role)
    raise TypeError(f"`{role}` is of type {type(data).__name__}; it must be a pandas.Series, an array or a list.")


def _as_frame(data: Any) -> Any:
    import polars as pl

    return pl.DataFrame({"column": data if isinstance(data, pl.Series) else pl.Series(data)})


def _of_pandas(series: Any) -> Column:
    dtype = series.dtype
    if dtype == "category":
        levels = np.asarray(dtype.categories, dtype=object)
        return Category(_KIND_OF_CATEGORIES, levels, series.cat.codes.to_numpy(), lost=np.nan)
    if isinstance(dtype, np.dtype):
        return _of_array(series.to_numpy(), "column")
    if getattr(dtype, "kind", "O") == "M" and getattr(dtype, "tz", None) is not None:
        naive = series.dt.tz_convert("UTC").dt.tz_localize(None)
        return Column("M", naive.to_numpy())
    column = pandas_column(series)
    if str(dtype) == "string":
        return Column(_KIND_OF_TEXT, column.values, column.missing)
    return column


def _of_array(values: NDArray[Any], role: str) -> Column:
    if values.ndim != 1:
        raise TypeError(f"`{role}` has {values.ndim} dimensions; it must be one column.")
    kind = values.dtype.kind
    if kind in "biufMOmc":
        return Column(kind, values)
    return Column("O", values.astype(object))


def _of_list(values: Any, role: str) -> Column:
    """Return the column that pandas would make of a list: numbers with None are floats, anything mixed is objects."""
    there = [v for v in values if v is not None]
    whole = len(there) == len(values)
    if all(isinstance(v, numbers.Real) and not isinstance(v, bool) for v in there):
        return _of_array(np.array([np.nan if v is None else v for v in values], dtype=None if whole else float), role)
    if whole and all(isinstance(v, bool) for v in there):
        return _of_array(np.array(values), role)
    objects = np.empty(len(values), dtype=object)
    objects[:] = list(values)
    if there and all(isinstance(v, datetime.datetime) and v.tzinfo is None for v in there):
        return Column("M", objects.astype("datetime64[us]"))
    return Column("O", objects)


def columns_from(data: Any, role: str) -> dict[Hashable, Column]:
    """Return the columns of a frame, those of pandas with their own dtypes and units of dates.

    Raises
    ------
    TypeError, ValueError
        `data` is no frame, or two columns have one name.
    """
    if type(data).__module__.split(".")[0] == "pandas" and hasattr(data, "columns"):
        names = list(data.columns)
        if len(set(names)) < len(names):
            raise ValueError(f"`{role}` has two columns of one name. hint: rename one of them.")
        return {name: column_of(data[name], role).named(name) for name in names}
    return dict(frame_of(data, role).columns)


def pair_of(real_data: Any, synthetic_data: Any) -> tuple[Column, Column]:
    """Return both columns, instants in one unit."""
    return aligned(column_of(real_data, "real_data"), column_of(synthetic_data, "synthetic_data"))


def aligned(real: Column, synthetic: Column) -> tuple[Column, Column]:
    """Return the columns with instants or durations in one unit, the finer of the two."""
    if real.dtype.kind != synthetic.dtype.kind or real.dtype.kind not in "mM":
        return real, synthetic
    if real.dtype == synthetic.dtype:
        return real, synthetic
    finer = np.promote_types(real.dtype, synthetic.dtype)
    first, second = (Column(c.kind, c.values.astype(finer), c.missing, c.name) for c in (real, synthetic))
    return first, second


def two_columns(data: Any, role: str) -> tuple[list[Hashable], list[Column]]:
    """Return the names and columns of a frame of at least two columns.

    Raises
    ------
    ValueError
        The frame has fewer than two columns.
    """
    if isinstance(data, Frame):
        names, columns = data.names, list(data.columns.values())
    elif type(data).__module__.split(".")[0] == "pandas" and hasattr(data, "columns"):
        names = list(data.columns)
        columns = [column_of(data.iloc[:, i], role).named(name) for i, name in enumerate(names)]
    else:
        frame = frame_of(data, role)
        names, columns = frame.names, list(frame.columns.values())
    if len(names) < 2:
        raise ValueError(f"`{role}` has {len(names)} columns; it must have two.")
    return names, columns


def known(column: Column) -> NDArray[Any]:
    """Return the values that are not missing; they may be the memory of the column, not to be written to."""
    return column.values[~column.missing] if column.has_missing else column.values


def counts_of(real: Column, synthetic: Column) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return how often each value occurs in either column, missing values apart, by Python's equality."""
    codes, size = known_codes([real, synthetic])
    first, second = (np.bincount(c, minlength=size + 1)[1:] for c in codes)
    return first, second


def known_codes(columns: list[Column]) -> tuple[list[NDArray[np.integer[Any]]], int]:
    """Return a code for each value over several columns, from 1, 0 for a missing value; and their number.

    Values are equal where Python says so; all missing values are one. Where there are few values, the codes have a
    dtype of few bytes: convert them before you multiply.
    """
    if len(columns) == 2:
        columns = list(aligned(*columns))
    if all(isinstance(c, CodedColumn) for c in columns):
        return _by_levels([c for c in columns if isinstance(c, CodedColumn)])
    if "pandas" in sys.modules and all(c.dtype == object for c in columns):
        return _by_factorize(columns)
    codes, size = codes_of([c.take(~c.missing) if c.has_missing else c for c in columns])
    out: list[NDArray[np.integer[Any]]] = []
    for column, found in zip(columns, codes, strict=True):
        if not column.has_missing:
            out.append(found + 1)
            continue
        full = np.zeros(len(column), dtype=np.int32)
        full[~column.missing] = found + 1
        out.append(full)
    return out, size


def _by_levels(columns: list[CodedColumn]) -> tuple[list[NDArray[np.integer[Any]]], int]:
    """Return the codes of columns that know their levels: only the levels are compared."""
    number: dict[Any, int] = {}
    listed = [[number.setdefault(v, len(number) + 1) for v in column.levels.tolist()] for column in columns]
    smallest = np.min_scalar_type(len(number))
    out = [np.array([*own, 0], dtype=smallest).take(c.places) for c, own in zip(columns, listed, strict=True)]
    return out, len(number)


def _by_factorize(columns: list[Column]) -> tuple[list[NDArray[np.integer[Any]]], int]:
    parts = [np.ascontiguousarray(c.values) for c in columns]
    values, place = _different_objects(parts)
    try:
        codes, distinct = sys.modules["pandas"].factorize(values)
    except TypeError:
        raise unhashable(columns[0].name, values) from None
    codes = np.add(codes, 1, out=codes).astype(np.min_scalar_type(len(distinct)))
    codes = codes if place is None else codes.take(place)
    return np.split(codes, np.cumsum([len(p) for p in parts])[:-1]), len(distinct)


def _different_objects(parts: list[NDArray[Any]]) -> tuple[NDArray[Any], NDArray[np.int64] | None]:
    """Return the objects of all parts, and None; where few are shared by many rows, each once and its place by row.

    Readers share the text of equal cells. Then most rows need no look at the text: rows of one address have one object.
    """
    n_rows = sum(map(len, parts))
    addresses = [
        np.ctypeslib.as_array((ctypes.c_ssize_t * len(p)).from_address(p.ctypes.data)) for p in parts if len(p)
    ]
    if n_rows < _SHARED_FROM or any(len(np.unique(a[:_SAMPLE])) > 0.75 * len(a[:_SAMPLE]) for a in addresses):
        return np.concatenate(parts) if len(parts) > 1 else parts[0], None
    place, _ = sys.modules["pandas"].factorize(np.concatenate(addresses))
    first = np.empty(int(place.max()) + 1, dtype=np.int64)
    first[place[::-1]] = np.arange(n_rows)[::-1]
    start = np.cumsum([0, *map(len, parts)])
    inside = [
        p[first[(first >= low) & (first < low + len(p))] - low] for p, low in zip(parts, start.tolist(), strict=False)
    ]
    return np.concatenate(inside), place  # the objects of the first part are the first to appear


def codes_of(columns: list[Column], *, missing_equal: bool = True) -> tuple[list[NDArray[np.int32]], int]:
    """Return `equal_codes` of columns whose instants may differ in unit."""
    if len(columns) == 2:
        columns = list(aligned(*columns))
    return equal_codes(columns, missing_equal=missing_equal)


def numbers_of(column: Column) -> NDArray[Any]:
    """Return the values that are not missing as numbers in their dtype, instants and durations as whole numbers.

    Objects that are numbers become floats.

    Raises
    ------
    TypeError
        The column holds no numbers.
    """
    values = _of_dtype(column)
    if values is not None:
        return values
    (read,) = as_numbers([column], shifted=False)
    if is_plain(read):
        return numbers_of(read)
    raise TypeError(f"{_called(column)} must be numbers or dates, and is of another dtype. hint: convert it.")


def from_least(values: NDArray[Any], bounds: NDArray[Any], n_steps: int) -> NDArray[Any]:
    """Return large whole numbers less the least of `bounds`, if float64 lacks so many steps in their range.

    SDMetrics has no correlation of such numbers, which are one number to it, and no bins. Others come back as they are.
    """
    if bounds.dtype.kind not in "iu" or values.dtype.kind not in "iu" or not len(bounds):
        return values
    low, high = int(bounds.min()), int(bounds.max())
    if low == high or max(abs(low), abs(high)) <= 2**53:
        return values
    ends = np.linspace(float(low), float(high), n_steps + 1)
    if (np.diff(ends) > 0).all():
        return values
    return np.array([v - low for v in values.tolist()], dtype=np.float64)


def _of_dtype(column: Column) -> NDArray[Any] | None:
    """Return the numbers of a column whose dtype is one of numbers; None for others, and where they do not fit it."""
    values = known(column)
    if values.dtype.kind in "mM":
        return values.view(np.int64) if values.flags.c_contiguous else values.copy().view(np.int64)
    if values.dtype.kind in "biuf":
        return values
    if column.kind in "biuf":
        with suppress(OverflowError):
            return values.astype({"b": bool, "i": np.int64, "u": np.uint64, "f": np.float64}[column.kind])
    return None


def ordered_numbers(column: Column) -> NDArray[Any]:
    """Return `numbers_of`, also of a column of objects that are all numbers, or all dates.

    Raises
    ------
    TypeError
        The column holds other objects.
    """
    if column.kind != "O":
        return numbers_of(column)
    values = known(column).tolist()
    if not values:
        return np.array([])
    if family_of([column]):
        return numbers_of(column)
    if all(isinstance(v, datetime.date) and getattr(v, "tzinfo", None) is None for v in values):
        return np.array(values, dtype="datetime64[us]").view(np.int64)
    raise TypeError(f"{_called(column)} holds objects that are not all numbers or dates. hint: convert it.")


def number_pair(real: Column, synthetic: Column) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return `ordered_numbers` of both columns with one origin: what they are without it has no meaning.

    Raises
    ------
    TypeError
        As `ordered_numbers`.
    """
    first, second = as_numbers([real, synthetic])
    return ordered_numbers(first), ordered_numbers(second)


def sortable(real: Column, synthetic: Column) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the values of both columns that are not missing as numbers in their order; text in order of the alphabet.

    Raises
    ------
    TypeError
        The values of a column cannot be ordered.
    """
    if family_of([real, synthetic]) in ("duration", "time", "period"):
        real, synthetic = as_numbers([real, synthetic])
    first, second = _of_dtype(real), _of_dtype(synthetic)
    if first is not None and second is not None:
        return first, second
    first, second = known(real), known(synthetic)
    try:
        ranks = np.unique(np.concatenate([first.astype(object), second.astype(object)]), return_inverse=True)[1]
    except TypeError:
        raise TypeError(f"{_called(real)} has values that cannot be ordered. hint: convert the column.") from None
    return ranks[: len(first)], ranks[len(first) :]


def _called(column: Column) -> str:
    return "The column" if column.name is None else f"Column {column.name!r}"
