"""Dates and times outside the years 1 to 9999, infinite ones among them: taken as the first or the last day.

Databases write "valid until further notice" as infinity, which Arrow has as the largest number of days. Neither Python
nor the arithmetic of polars holds such dates: it breaks off, or gives others without a word.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

__all__ = ["Outside", "bounded", "in_microseconds", "lazy_bounded", "nested_bounded", "sentences"]

_FIRST_DAY, _LAST_DAY = -719_162, 2_932_896  # since 1970: 0001-01-01 and 9999-12-31
_PER_DAY = {"ms": 86_400_000, "us": 86_400_000_000}


class Outside(NamedTuple):
    """How many values of a column are outside the calendar."""

    after: int
    before: int


def sentences(found: Mapping[str, Outside]) -> tuple[str, ...]:
    """Return what is told of columns with values outside the calendar.

    Examples
    --------
    >>> sentences({"until": Outside(3, 0), "since": Outside(0, 0)})
    ("'until': 3 dates after the year 9999 or infinite, taken as 9999-12-31",)
    """
    out = []
    for name, (after, before) in found.items():
        for n, side, day in ((after, "after the year 9999", "9999-12-31"), (before, "before the year 1", "0001-01-01")):
            if n:
                out.append(f"{name!r}: {n:,} {'date' if n == 1 else 'dates'} {side} or infinite, taken as {day}")
    return tuple(out)


def _is_bounded(kind: pl.DataType) -> bool:
    """Return whether values of a type may be outside the calendar; nanoseconds end in the year 2262."""
    return kind == pl.Date or (isinstance(kind, pl.Datetime) and kind.time_unit in _PER_DAY)


def _limits(kind: pl.DataType) -> tuple[int, int, int]:
    """Return the first moment, the last one, and the beginning of the last day, as a type has them."""
    if not isinstance(kind, pl.Datetime):
        return _FIRST_DAY, _LAST_DAY, _LAST_DAY
    day = _PER_DAY[kind.time_unit]
    return _FIRST_DAY * day, (_LAST_DAY + 1) * day - 1, _LAST_DAY * day


def bounded(columns: Sequence[pl.Series], names: Sequence[str]) -> tuple[list[pl.Series], tuple[str, ...]]:
    """Return columns with all dates within the calendar, and a sentence on each in which some were not."""
    out, found = [], {}
    for raw, name in zip(columns, names, strict=True):
        if not raw.dtype.is_temporal():
            out.append(raw)
            continue
        column = raw.alias("")  # polars takes a name such as "^a$" for a pattern
        if column.dtype == pl.Datetime and column.dtype.time_unit == "ns":
            column = _without_ends(column)
        if not _is_bounded(column.dtype):
            out.append(raw)
            continue
        first, last, day = _limits(column.dtype)
        number = column.to_physical()
        low, high = number.min(), number.max()
        if low is None or high is None or (first <= low and high <= last):
            out.append(column.alias(raw.name))
            continue
        above, below = (number > last).fill_null(False), (number < first).fill_null(False)
        found[name] = Outside(int(above.sum()), int(below.sum()))
        out.append(number.set(above, day).set(below, first).cast(column.dtype).alias(raw.name))
    return out, sentences(found)


def _without_ends(column: pl.Series) -> pl.Series:
    """Return nanoseconds as they are; as microseconds, where the last or the first is what stands for infinity."""
    number = column.to_physical()
    most = 2**63 - 1
    if number.max() != most and number.min() != -most:
        return column
    zone = getattr(column.dtype, "time_zone", None)
    far = (number // 1000).set(number == most, most).set(number == -most, -most)
    return far.cast(pl.Datetime("us", zone))


def lazy_bounded(lazy: pl.LazyFrame, names: Sequence[str]) -> tuple[int, pl.LazyFrame, tuple[str, ...]]:
    """Return how many rows a lazy frame has, the frame as `bounded` gives its columns, and its sentences.

    Parameters
    ----------
    lazy
        Its columns have names that are no patterns.
    names
        What the columns are called in sentences.
    """
    types = {c: kind for c, kind in lazy.collect_schema().items() if _is_bounded(kind)}
    counts = []
    for i, (c, kind) in enumerate(types.items()):
        first, last, _ = _limits(kind)
        number = pl.col(c).to_physical()
        counts += [(number > last).sum().alias(f"after{i}"), (number < first).sum().alias(f"before{i}")]
    n_rows, *found = lazy.select(pl.len().alias("n"), *counts).collect().row(0)
    outside = {c: Outside(found[2 * i], found[2 * i + 1]) for i, c in enumerate(types)}
    odd = [_bounded(pl.col(c), types[c]).alias(c) for c, n in outside.items() if any(n)]
    called = dict(zip(lazy.collect_schema().names(), names, strict=True))
    return n_rows, lazy.with_columns(odd) if odd else lazy, sentences({called[c]: n for c, n in outside.items()})


def _bounded(values: pl.Expr, kind: pl.DataType) -> pl.Expr:
    if _is_bounded(kind):
        first, last, day = _limits(kind)
        number = values.to_physical()
        whole = pl.Int32 if kind == pl.Date else pl.Int64
        within = pl.when(number > last).then(pl.lit(day, whole)).when(number < first).then(pl.lit(first, whole))
        return within.otherwise(number).cast(kind)
    if isinstance(kind, pl.List) and _has_dates(kind):
        return values.list.eval(_bounded(pl.element(), _type(kind.inner)))
    if isinstance(kind, pl.Struct) and _has_dates(kind):
        fields = [f for f in kind.fields if _has_dates(_type(f.dtype))]
        return values.struct.with_fields(_bounded(pl.field(f.name), _type(f.dtype)).alias(f.name) for f in fields)
    return values


def _type(kind: object) -> pl.DataType:
    return kind if isinstance(kind, pl.DataType) else kind()  # type: ignore[operator]


def _has_dates(kind: pl.DataType) -> bool:
    if isinstance(kind, pl.Struct):
        return any(_has_dates(_type(f.dtype)) for f in kind.fields)
    if isinstance(kind, pl.List | pl.Array):
        return _has_dates(_type(kind.inner))
    return _is_bounded(kind)


def nested_bounded(series: pl.Series) -> pl.Series:
    """Return lists and structs with all dates in them within the calendar."""
    kind = series.dtype
    if not kind.is_nested() or not _has_dates(kind):
        return series
    if isinstance(kind, pl.Array):
        series = series.arr.to_list()
    frame = series.alias("c").to_frame()
    return frame.select(_bounded(pl.col("c"), series.dtype)).to_series().alias(series.name)


def in_microseconds(values: NDArray[Any]) -> NDArray[Any]:
    """Return moments or durations in microseconds; those that these do not hold as the farthest that they hold.

    Examples
    --------
    >>> in_microseconds(np.array(["2020-01-01", "NaT", "999999-01-01"], dtype="M8[D]")).astype(str).tolist()
    ['2020-01-01T00:00:00.000000', 'NaT', '294247-01-10T04:00:54.775807']
    """
    kind = values.dtype.kind
    unit = f"{kind}8[us]"
    if np.datetime_data(values.dtype)[0] in ("us", "ps", "fs", "as", "generic") or not len(values):
        return values.astype(unit)
    most = 2**63 - 1  # NaT is -2**63; of nanoseconds the ends stand for infinity
    far = most if np.datetime_data(values.dtype)[0] == "ns" else np.array(most, unit).astype(values.dtype).astype(int)
    number = values.view(np.int64) if kind == "M" or far < most else np.zeros(1, np.int64)
    late, early = number >= far, (number <= -far) & (number > -most - 1)
    out = np.where(late | early, np.zeros(1, values.dtype), values).astype(unit)  # numpy 2.5 refuses what does not fit
    return np.where(late, np.array(most, unit), np.where(early, np.array(-most, unit), out))
