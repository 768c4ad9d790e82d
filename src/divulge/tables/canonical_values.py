"""Turn values of any kind of frame into canonical columns, and choose one family for each column of all tables.

A *canonical column* is a polars Series of one of four families:

========  =================  ==========================================================
family    polars dtype       comes from
========  =================  ==========================================================
boolean   Boolean            booleans; 0 and 1, or "true" and "false", beside booleans
number    Float64 or Int64   integers, floats, decimals, durations, times of day
datetime  Datetime("us")     dates and datetimes, text of ISO 8601 or with the day or month first; time zones become UTC
text      String             everything else
========  =================  ==========================================================

Missing is null, and only null: NaN, NaT, None, pandas.NA and the empty string all become null; -0.0 becomes
0.0; a float32 counts as the shortest decimal that prints it, so that 0.1 is 0.1 in either width.

One family is chosen for all tables together, one that all can be read as. So an integer column is the same column
where one table has it as floats (as pandas does beside a missing value) and another as text. Text is read as numbers
or dates in the form of its column (`written_forms.py`). Without a common family the real table decides: what cannot
be read as its numbers, dates or booleans is missing in the others. If it is text there, all are compared as text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from divulge.tables.calendar_bounds import in_microseconds, nested_bounded

__all__ = [
    "DISTINCT",
    "FEW_ROWS",
    "NUMBERS",
    "VALUES",
    "distinct",
    "evaluated",
    "float_text",
    "from_arrow",
    "from_pandas",
    "may_be_numbers",
    "may_be_thousands",
    "numbers_among",
    "numbers_of",
    "plain",
    "read_numbers",
    "without_codes",
    "without_missing",
]


_NUMBERS = (pl.Int64, pl.Float64)
VALUES = pl.first()
"""The values of the column to which `evaluated` applies an expression."""
DISTINCT = VALUES.drop_nulls().unique()


def evaluated(series: pl.Series, *expressions: pl.Expr) -> pl.Series:
    """Return the values of expressions, each applied to what the one before gives.

    An expression takes a tenth of a millisecond, whatever its length; polars computes twice what stands in it twice.
    """
    frame = series.to_frame()
    for expression in expressions:
        frame = frame.select_seq(expression)
    return frame.to_series()


# ---------------------------------------------------------------- raw columns of each kind of frame


def from_arrow(column: Any) -> pl.Series:
    """Return a column of an Arrow table."""
    import pyarrow as pa

    from divulge.tables.arrow_types import as_common, is_rare

    kind = column.type
    if pa.types.is_dictionary(kind) or is_rare(kind):  # of dictionaries polars reads those of text only
        found = as_common(column)
        return _from_objects(found) if isinstance(found, list) else from_arrow(found)
    if pa.types.is_timestamp(kind):
        if kind.unit == "s":  # polars has milliseconds, which hold fewer years
            column = _within_years(column)
        if kind.tz is not None:
            column = column.cast(pa.timestamp(kind.unit, "UTC"))
    series = pl.from_arrow(column)
    assert isinstance(series, pl.Series)
    return series


def _within_years(column: Any) -> Any:
    """Return timestamps in seconds within the years that milliseconds hold, far beyond those of the calendar."""
    import pyarrow as pa
    import pyarrow.compute as pc

    seconds = column.cast(pa.int64())
    most = 2**53
    within = pc.max_element_wise(pc.min_element_wise(seconds, most, skip_nulls=False), -most, skip_nulls=False)
    return within.cast(column.type)


def from_pandas(series: Any) -> pl.Series:
    """Return a column of a pandas frame, whatever its dtype; pyarrow is needed for Arrow dtypes alone."""
    import pandas as pd

    dtype = series.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return _gathered(from_pandas(pd.Series(dtype.categories)), series.cat.codes.to_numpy())
    if isinstance(dtype, pd.ArrowDtype) or (isinstance(dtype, pd.StringDtype) and dtype.storage == "pyarrow"):
        return from_arrow(series.array.__arrow_array__())
    if isinstance(dtype, pd.SparseDtype):
        return from_pandas(series.sparse.to_dense())
    if isinstance(dtype, pd.DatetimeTZDtype):
        return from_pandas(series.dt.tz_convert("UTC").dt.tz_localize(None)).dt.replace_time_zone("UTC")
    if isinstance(dtype, pd.PeriodDtype):
        try:
            return from_pandas(series.dt.to_timestamp())
        except (ValueError, OverflowError):  # outside the years of datetime64[ns]
            return _from_objects([None if p is pd.NaT else str(p) for p in series])
    if hasattr(dtype, "numpy_dtype") and not isinstance(dtype, pd.StringDtype):  # Int64, boolean, Float64
        kind = dtype.numpy_dtype
        values = pl.Series(series.to_numpy(dtype=kind, na_value=kind.type(0)))
        return values.set(pl.Series(series.isna().to_numpy()), None)
    if isinstance(dtype, np.dtype) and dtype.kind in "biufMm":
        values = series.to_numpy()
        if dtype.kind in "Mm":
            values = in_microseconds(values)
        elif dtype == np.float16:  # unknown to older polars; see _widened
            values = values.astype(str).astype(np.float64)
        return pl.Series(np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("=")))
    text = _text_of_pandas(series)
    return _from_objects(series.to_numpy(dtype=object, na_value=None).tolist()) if text is None else text


def _text_of_pandas(series: Any) -> pl.Series | None:
    """Return a pandas column of text, None when there is anything else in it."""
    import pandas as pd

    if str not in map(type, series.iloc[:100]):
        return None
    # Where all is text, pandas 2 compares it up to the first null character only; None in front keeps it from that.
    values = np.concatenate([[None], series.to_numpy(dtype=object)])
    try:
        codes, levels = pd.factorize(values)  # -1 where missing, be it None, NaN, NaT or NA
    except TypeError:  # values that have no hash
        return None
    if set(map(type, levels)) != {str}:
        return None
    # each text is made once, not once a row
    return _gathered(pl.Series(levels.tolist(), dtype=pl.String), codes[1:])


def _gathered(levels: pl.Series, codes: NDArray[Any]) -> pl.Series:
    """Return the level of each code; a negative code gives null."""
    rows = pl.Series(codes.astype(np.int64, copy=False))
    return levels.gather(rows.set(rows < 0, None) if codes.min(initial=0) < 0 else rows)


def _is_missing(value: Any) -> bool:
    if isinstance(value, Decimal):
        return value.is_nan()
    if isinstance(value, float | complex | np.inexact | np.datetime64 | np.timedelta64):
        return bool(value != value)
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def _from_objects(values: list[Any]) -> pl.Series:
    """Return a column from Python objects; mixed types become text, value by value."""
    if set(map(type, values)) <= {str, type(None)}:
        return pl.Series(values, dtype=pl.String)
    clean = [None if _is_missing(v) else _python(v) for v in values]
    types = {type(v) for v in clean if v is not None}

    def built(dtype: type[pl.DataType] | pl.DataType, make: Callable[[Any], Any]) -> pl.Series:
        return pl.Series([None if v is None else make(v) for v in clean], dtype=dtype)

    def only(*kinds: type) -> bool:
        return all(issubclass(t, kinds) for t in types)

    if not types:
        return pl.Series(clean, dtype=pl.Null)
    if only(str):
        return built(pl.String, str)
    if only(bool):
        return built(pl.Boolean, bool)
    if only(int, float, Decimal) and bool not in types:
        if all(v is None or isinstance(v, int) or _is_whole_decimal(v) for v in clean):
            small = all(v is None or -(2**63) <= v < 2**63 for v in clean)
            return built(pl.Int64, int) if small else built(pl.String, lambda v: str(int(v)))
        if all(abs(v) < 2**1023 for v in clean if isinstance(v, int)):
            return built(pl.Float64, float)
    if only(date):
        moments = built(pl.Datetime("us"), _as_datetime)
        aware = any(getattr(v, "tzinfo", None) is not None for v in clean)
        return moments.dt.replace_time_zone("UTC") if aware else moments
    if only(timedelta):
        return built(pl.Int64, lambda v: v // timedelta(microseconds=1)).cast(pl.Duration("us"))
    if only(time):
        return built(pl.Time, lambda v: v.replace(tzinfo=None))
    return built(pl.String, _object_text)


def _is_whole_decimal(value: Any) -> bool:
    return isinstance(value, Decimal) and value.is_finite() and value == value.to_integral_value()


def _python(value: Any) -> Any:
    """Return a numpy scalar or array as plain Python; short floats as in `_widened`."""
    if isinstance(value, np.float16 | np.float32):
        return float(str(value))
    if isinstance(value, np.datetime64):
        first, last = np.datetime64("0001-01-01", "us"), np.datetime64("9999-12-31", "us")
        moment = in_microseconds(np.array([value]))[0]
        return (first if moment < first else last if moment >= last + np.timedelta64(1, "D") else moment).item()
    if isinstance(value, np.timedelta64):
        return in_microseconds(np.array([value]))[0].item()
    return value.tolist() if isinstance(value, np.generic | np.ndarray) else value


def _as_datetime(value: date) -> datetime:
    if not isinstance(value, datetime):
        return datetime(value.year, value.month, value.day)
    if value.tzinfo is not None:
        value = value.astimezone(UTC)
    day = (value.year, value.month, value.day)
    return datetime(*day, value.hour, value.minute, value.second, value.microsecond)


def _object_text(value: Any) -> str:
    """Return one value of a mixed column as text, as a column of its type would give it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float | Decimal):
        return float_text(float(value))
    if isinstance(value, date):
        return _as_datetime(value).strftime("%Y-%m-%d %H:%M:%S.%f")
    return _text_of_bytes(value) if isinstance(value, bytes) else str(value)


def _text_of_bytes(value: bytes) -> str:
    """Return bytes as the text that they are in UTF-8, as columns from SAS or Hive are; else their hexadecimal digits.

    Examples
    --------
    >>> _text_of_bytes(b"K12"), _text_of_bytes(bytes([255, 7])), _text_of_bytes(bytes(2))
    ('K12', 'ff07', '0000')
    """
    try:
        text = value.decode()
    except UnicodeDecodeError:
        return value.hex()
    return value.hex() if any(c < " " and c not in "\t\n\r" for c in text) else text


def float_text(value: float) -> str:
    """Return a number as text; whole numbers have no decimal point, so that 3.0 and 3 give the same text."""
    return str(int(value)) if value.is_integer() and abs(value) < 1e22 else repr(value)


# ---------------------------------------------------------------- one table's column, normalised


_SAMPLE = 10_000
FEW_ROWS = 1000  # rows below which looking for distinct values takes longer than the work it saves


def distinct(series: pl.Series) -> tuple[pl.Series, NDArray[Any] | None]:
    """Return the distinct values of a raw column, and the position of each row's value among them.

    Everything after this works on a handful of values instead of a million rows. Where there are few rows, most rows
    differ, or a table of places would be too large, the column comes back as it is, with None.
    """
    if series.len() < FEW_ROWS:
        return series, None
    if series.dtype == pl.String:
        return _distinct_text(series)
    physical = series.to_physical()
    if not physical.dtype.is_integer() or physical.null_count() == physical.len():
        return series, None
    low, high = int(physical.min()), int(physical.max())
    size = high - low + 1
    if size > series.len() + 1000 or low < -(2**63) or high >= 2**63:
        return series, None
    # missing values have the last place of the table
    place = np.asarray((physical.cast(pl.Int64) - low).fill_null(size))
    row = np.full(size + 1, -1, dtype=np.int64)
    row[place] = np.arange(series.len())
    known = np.flatnonzero(row >= 0)
    rank = np.zeros(size + 1, dtype=np.int32)
    rank[known] = np.arange(len(known), dtype=np.int32)
    return series.gather(row[known]), rank.take(place)


def _distinct_text(text: pl.Series) -> tuple[pl.Series, NDArray[Any] | None]:
    # Hashing each row is what takes time. The first rows mostly show all levels, so that one pass over the others
    # is enough, and a second one tells what they did not show.
    levels = text.head(_SAMPLE).unique().drop_nulls()
    if 2 * levels.len() > min(text.len(), _SAMPLE):
        return text, None
    index = text.cast(pl.Enum(levels), strict=False)
    if index.null_count() > text.null_count():
        levels = pl.concat([levels, text.filter(index.is_null()).unique().drop_nulls()])
        index = text.cast(pl.Enum(levels))
    place = index.to_physical()
    if place.null_count():
        place = place.cast(pl.Int32).fill_null(levels.len())
        levels = levels.extend_constant(None, 1)
    return levels, place.to_numpy()


def plain(series: pl.Series) -> pl.Series:
    """Return the column in one of the dtypes Boolean, Int64, Float64, Datetime("us"), String, Null."""
    dtype = series.dtype
    if dtype in (pl.Boolean, pl.Null):
        return series
    if isinstance(dtype, pl.Decimal) and dtype.scale == 0:
        series = series.cast(pl.Int128)
        dtype = series.dtype
    if dtype.is_integer():
        if dtype.is_signed_integer() and dtype != pl.Int128:
            return series.cast(pl.Int64)
        narrow = series.cast(pl.Int64, strict=False)
        return narrow if narrow.null_count() == series.null_count() else _as_text(series)
    if dtype.is_float() or dtype.is_decimal():
        return _tidy(series.cast(pl.Float64) if dtype.is_decimal() or dtype == pl.Float64 else _widened(series))
    if dtype == pl.Date:
        return series.cast(pl.Datetime("us"))
    if isinstance(dtype, pl.Datetime):
        if dtype.time_zone is not None:
            series = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
        return series.cast(pl.Datetime("us"))
    if isinstance(dtype, pl.Duration):
        if dtype.time_unit == "ms":  # microseconds hold fewer years
            most = (2**63 - 1) // 1000
            series = series.to_physical().clip(-most, most).cast(dtype)
        return series.cast(pl.Duration("us")).cast(pl.Int64)
    if dtype == pl.Time:
        return series.cast(pl.Int64) // 1000  # of nanoseconds; durations and texts are microseconds
    if dtype == pl.Object:
        return plain(_from_objects(series.to_list()))
    if dtype == pl.Binary:
        series = pl.Series([None if v is None else _text_of_bytes(v) for v in series.to_list()], dtype=pl.String)
    elif dtype in (pl.Categorical, pl.Enum):
        series = series.cast(pl.String)
    elif dtype != pl.String:
        # lists and structs: their text, so that equal values stay equal
        return _as_text(series)
    empty = series == ""
    return series.set(empty, None) if empty.any() else series


def _as_text(series: pl.Series) -> pl.Series:
    """Return each value as Python writes it."""
    values = nested_bounded(series).to_list()
    return pl.Series([None if v is None else str(v) for v in values], dtype=pl.String)


def _tidy(floats: pl.Series) -> pl.Series:
    """Return floats with NaN as null and -0.0 as 0.0."""
    values = floats.to_numpy()  # nan where null
    if np.isnan(values).sum() == floats.null_count() and not np.signbit(values[values == 0]).any():
        return floats
    return evaluated(floats, VALUES.fill_nan(None), _TIDY)


def _widened(series: pl.Series) -> pl.Series:
    """Return short floats as the float64 of their shortest decimal: 0.1, not 0.10000000149."""
    distinct = series.unique().drop_nulls().sort()
    wide = pl.Series(distinct.to_numpy().astype(str).astype(np.float64))
    if distinct.is_empty():
        return series.cast(pl.Float64)
    return wide.gather(distinct.search_sorted(series)).set(series.is_null(), None)


def without_codes(series: pl.Series, missing: Sequence[str]) -> pl.Series:
    """Return a plain column with the user's codes for missing values as null.

    Text that is numbers once the codes are gone becomes numbers.
    """
    if not missing:
        return series
    if series.dtype == pl.String:
        coded = series.is_in(list(missing)).fill_null(False)
        if not coded.any():
            return series
        series = series.set(coded, None)
        numbers = read_numbers(series)
        return series if numbers is None else numbers
    if series.dtype in _NUMBERS:
        for code in _numbers_in(pl.Series(list(missing), dtype=pl.String)).drop_nulls():
            series = series.set((series.cast(pl.Float64) == code).fill_null(False), None)
        return series
    return series


def without_missing(series: pl.Series, missing: Sequence[str]) -> pl.Series:
    """Return a column as it was read, or a plain one without name and without what stands for missing."""
    # polars takes a name such as "^a$" for a pattern
    return without_codes(plain(series.alias("")), missing) if missing else series


def read_numbers(text: pl.Series) -> pl.Series | None:
    """Return text as Int64 or Float64 if all values read as numbers, otherwise None.

    A leading zero ("01234") marks a code, not a number: such text returns None, and so do integers beyond
    Int64. "NaN" becomes null.
    """
    return numbers_of(text) if may_be_numbers([text])[0] else None


def may_be_numbers(columns: Sequence[pl.Series]) -> list[bool]:
    """Return which columns of text may be numbers: the first rows read as numbers, and no row has a leading zero.

    All columns are looked at together, which takes a tenth of the time of a look at each.
    """
    frame = pl.DataFrame([s.alias(f"c{i}") for i, s in enumerate(columns)])
    sample = frame.head(1000)
    read = sample.select_seq(pl.all().str.strip_chars().cast(pl.Float64, strict=False).null_count())
    found = [a <= b for a, b in zip(read.row(0), sample.null_count().row(0), strict=True)]
    left = [name for name, is_in in zip(frame.columns, found, strict=True) if is_in]
    led = (
        dict(zip(left, frame.select_seq(pl.col(left).str.contains(_ZERO_LED).any()).row(0), strict=True))
        if left
        else {}
    )
    return [is_in and not led[name] for name, is_in in zip(frame.columns, found, strict=True)]


def numbers_of(text: pl.Series) -> pl.Series | None:
    """Return text of `may_be_numbers` as Int64 or Float64, None if a value is no number."""
    for dtype in _NUMBERS:
        numbers = text.cast(dtype, strict=False)
        if numbers.null_count() > text.null_count():
            numbers = text.str.strip_chars().cast(dtype, strict=False)
        if numbers.null_count() == text.null_count() < text.len():
            if dtype == pl.Int64:
                return numbers
            # whole, and not Int64: too long for any number here, so text keeps them apart
            return None if _is_digits(text) or may_be_thousands(text) else _tidy(numbers)
    return None


def may_be_thousands(text: pl.Series) -> bool:
    """Return whether each point may stand between thousands, as in 1.234: other tables or the schema decide."""
    return all(bool(some.str.contains(_THOUSANDS).all()) for some in (text.head(100), text))


def _is_digits(text: pl.Series) -> bool:
    pattern = r"^\s*[+-]?\d+\s*$"
    first = next((v for v in text.head(100) if v is not None), None)
    return (first is None or re.match(pattern, first) is not None) and bool(text.str.contains(pattern).all())


def numbers_among(levels: pl.Series) -> pl.Series:
    """Return text levels as numbers, null if a level is not a number; codes with leading zeros are not numbers.

    Of whole numbers that float64 cannot tell apart, the smallest is subtracted from all.
    """
    numbers = _numbers_in(levels, keep_nan=True)
    if numbers.null_count() == levels.len():
        return numbers
    if (whole := levels.str.strip_chars()).str.contains(r"^[+-]?\d{16,}$").any():
        exact = [int(text) if re.fullmatch(r"[+-]?\d+", text) else None for text in whole.to_list()]
        if all((one is None) == (number is None) for one, number in zip(exact, numbers, strict=True)):
            least = min(one for one in exact if one is not None)
            numbers = pl.Series([None if one is None else float(one - least) for one in exact], dtype=pl.Float64)
    return numbers.clear(levels.len()) if _zero_led(levels).any() else _tidy(numbers)


_THOUSANDS = r"^\s*[+-]?([1-9]\d{0,2}\.\d{3}|\d{1,3})\s*$"
_ZERO_LED = r"^\s*[+-]?0\d"
_AS_NUMBERS = VALUES.str.strip_chars().cast(pl.Float64, strict=False)
# polars 2 drops "+ 0.0" as if it changed nothing, so the sign of -0.0 would survive that
_TIDY = pl.when(VALUES == 0).then(0.0).otherwise(VALUES)
NUMBERS = (_AS_NUMBERS.fill_nan(None), _TIDY)
"""Text as numbers, null if a value is not a number."""


def _zero_led(text: pl.Series) -> pl.Series:
    return text.str.contains(_ZERO_LED)


def _numbers_in(text: pl.Series, keep_nan: bool = False) -> pl.Series:
    """Return text parsed as numbers, null if a value is not a number."""
    numbers = evaluated(text, _AS_NUMBERS)
    return numbers if keep_nan else _tidy(numbers)
