"""Room A: tables of any kind come in, canonical columns go out.

This is the only file that imports narwhals. A *canonical column* is a polars Series of one of four families:

========  =================  ==========================================================
family    polars dtype       comes from
========  =================  ==========================================================
boolean   Boolean            booleans; 0 and 1, or "true" and "false", beside booleans
number    Float64 or Int64   integers, floats, decimals, durations, times of day
datetime  Datetime("us")     dates and datetimes, ISO 8601 text; time zones become UTC
text      String             everything else
========  =================  ==========================================================

Missing is null, and only null: NaN, NaT, None, pandas.NA and the empty string all become null; -0.0 becomes
0.0; a float32 counts as the shortest decimal that prints it, so that 0.1 is 0.1 in either width.

The family is settled over all tables together, so that an integer column which one table holds as floats
(pandas does so beside a missing value) and another as text counts as the same column in all of them. Each
table says which families its values can be read as, and the tables take a family that all of them can. Text
reads as numbers only beside a table that holds numbers; where the tables have no family in common they are
compared as text, numbers, dates and booleans written one way.

Tables that live elsewhere (DuckDB relations, lazy polars frames) are counted where they live: a group-by
sends back distinct raw rows with their multiplicity, and the rows are normalised here. The engines disagree
on NaN, null and -0.0 in a group-by; merging after normalising makes that harmless.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from functools import partial
from typing import Any, Literal

import narwhals.stable.v2 as nw
import numpy as np
import polars as pl
from numpy.typing import NDArray

from divulge.errors import ColumnError, DivulgeError, FrameError, TableError

__all__ = [
    "PooledColumn",
    "Table",
    "collect",
    "fingerprint",
    "plain",
    "pool",
    "profiles",
    "read_numbers",
    "table_of",
    "without_codes",
]

Family = Literal["boolean", "number", "datetime", "text"]

_EXACT = 2**53  # beyond it a float64 no longer tells neighbouring integers apart
_COUNT = "n_rows"  # no column is called so: they are c0, c1, ...
_NUMBERS = (pl.Int64, pl.Float64)
_ACCEPTED = "hint: pass a pandas, polars, pyarrow or DuckDB table; divulge.read(path) reads a file."


@dataclass(frozen=True, slots=True)
class Table:
    """One table as it came in, its column names made text and checked."""

    role: str
    """"real", "synthetic" or "holdout": how errors and notes call it."""
    columns: tuple[str, ...]
    n_rows: int
    frame: pl.DataFrame | None
    """The rows, when they are in memory; columns renamed to c0, c1, ..."""
    lazy: nw.LazyFrame[Any] | None = None
    """The rows, when they live elsewhere; columns renamed to c0, c1, ..."""
    names: dict[str, Any] = field(default_factory=dict)
    """Column name as text -> name inside `frame` or `lazy`."""
    sha256: str = ""
    """Hash of the file, when the table came from one."""
    notes: tuple[str, ...] = ()

    def series(self, column: str) -> pl.Series:
        """Return one raw column of a table in memory."""
        assert self.frame is not None
        return self.frame[self.names[column]]


def table_of(native: Any, role: str) -> Table:
    """Return a `Table` from a frame of any supported kind.

    Parameters
    ----------
    native
        pandas, polars (eager or lazy), pyarrow, DuckDB relation, anything narwhals reads, a narwhals frame,
        or anything that hands out an Arrow stream. A `Table` is returned as it is, under the new role.
    role
        "real", "synthetic" or "holdout", for messages.

    Raises
    ------
    FrameError
        The object is no table.
    ColumnError
        No columns, or two columns of the same name once names are text.
    TableError
        No rows, or the engine that holds the table fails.

    Examples
    --------
    >>> table_of(pl.DataFrame({"age": [30, 41]}), "real").n_rows
    2
    """
    if isinstance(native, Table):
        return native if native.role == role else replace(native, role=role)
    if isinstance(native, dict | list | tuple | str | bytes | np.ndarray) or native is None:
        raise FrameError(f"{role}: a {type(native).__name__} is not a table. {_ACCEPTED}")
    native = nw.to_native(native, pass_through=True)
    if type(native).__module__.startswith("narwhals."):  # a frame of narwhals' main namespace
        native = native.to_native()
    if isinstance(native, pl.DataFrame):
        return _table_in_memory(native.columns, native.get_columns(), native.height, role)
    if nw.dependencies.is_pandas_dataframe(native):
        columns = [_from_pandas(native.iloc[:, i]) for i in range(native.shape[1])]
        return _table_in_memory(list(native.columns), columns, len(native), role)
    if nw.dependencies.is_pyarrow_table(native):
        columns = [_from_arrow(native.column(i)) for i in range(native.num_columns)]
        return _table_in_memory(native.column_names, columns, native.num_rows, role)
    return _table_elsewhere(native, role)


def collect(table: Table) -> Table:
    """Return the table with its rows in memory."""
    if table.lazy is None:
        return table
    return replace(table, frame=_run(table.lazy, table.role), lazy=None)


def _table_in_memory(raw_names: Sequence[Any], columns: Sequence[pl.Series], n_rows: int, role: str) -> Table:
    names = _text_names(raw_names, role)
    _check_rows(n_rows, names, role)
    frame = pl.DataFrame([s.rename(f"c{i}") for i, s in enumerate(columns)])
    return Table(role, tuple(names), n_rows, frame, names={name: f"c{i}" for i, name in enumerate(names)})


def _table_elsewhere(native: Any, role: str) -> Table:
    try:
        wrapped = nw.from_native(native)
    except TypeError:
        # record batches and readers; single columns stream too, but have no schema
        if hasattr(native, "__arrow_c_stream__") and hasattr(native, "schema"):
            whole = native.read_all if hasattr(native, "read_all") else lambda: pl.DataFrame(native)
            return _guarded(lambda: table_of(whole(), role), role)
        raise FrameError(
            f"{role}: cannot read a {type(native).__module__}.{type(native).__name__} as a table. {_ACCEPTED}"
        ) from None
    except Exception as error:
        raise _engine_error(error, role) from None
    if isinstance(wrapped, nw.DataFrame):  # the cousins of pandas: modin, cuDF
        return table_of(wrapped.to_pandas(), role)
    return _guarded(lambda: _lazy_table(wrapped, role), role)


def _lazy_table(wrapped: nw.LazyFrame[Any], role: str) -> Table:
    native = wrapped.to_native()
    raw_names = native.columns if wrapped.implementation.is_duckdb() else wrapped.collect_schema().names()
    names = _text_names(raw_names, role)
    # new names: polars takes "^a$" for a pattern, Spark a dot for a field, narwhals on DuckDB "*" for all columns
    inner = [f"c{i}" for i in range(len(names))]
    if wrapped.implementation.is_duckdb():
        quoted = ('"' + name.replace('"', '""') + '"' for name in names)
        lazy = nw.from_native(native.project(", ".join(map("{} AS {}".format, quoted, inner))))
    else:
        lazy = wrapped.rename(dict(zip(raw_names, inner, strict=True)))
    n_rows = int(_run(lazy.select(nw.len()), role).item())
    _check_rows(n_rows, names, role)
    return Table(role, tuple(names), n_rows, None, lazy, dict(zip(names, inner, strict=True)))


def _guarded(make: Callable[[], Table], role: str) -> Table:
    try:
        return make()
    except DivulgeError:
        raise
    except (Exception, pl.exceptions.PanicException) as error:
        raise _engine_error(error, role) from None


def _run(lazy: nw.LazyFrame[Any], role: str) -> pl.DataFrame:
    """Return the rows of a query; the engine's own message stays unsaid, because it may show a value."""
    try:
        frame: pl.DataFrame = lazy.collect("polars").to_native()
    except (Exception, pl.exceptions.PanicException) as error:
        raise _engine_error(error, role) from None
    return frame


def _engine_error(error: BaseException, role: str) -> DivulgeError:
    kind = type(error).__name__
    if kind == "DuplicateError":
        return ColumnError(f"{role}: two columns have the same name. hint: rename one.")
    if isinstance(error, ModuleNotFoundError):
        return FrameError(f"{role}: this table needs another package. hint: pip install {error.name}")
    return TableError(
        f"{role}: the engine that holds the table failed with a {kind}. hint: collect the table first, or "
        "cast columns of a rare type to text."
    )


def _check_rows(n_rows: int, names: Sequence[str], role: str) -> None:
    if n_rows == 0:
        raise TableError(f"{role}: the table has {len(names)} columns and no rows. hint: pass a table with rows.")


def _text_names(raw: Sequence[Any], role: str) -> list[str]:
    names = [str(name) for name in raw]
    if not names:
        raise ColumnError(f"{role}: the table has no columns. hint: pass a table with at least one column.")
    if len(set(names)) < len(names):
        twice = sorted({name for name in names if names.count(name) > 1})
        raise ColumnError(
            f"{role}: {len(twice)} column name(s) occur twice: {', '.join(map(repr, twice))}. hint: rename them."
        )
    return names


# ---------------------------------------------------------------- raw columns of each kind of frame


def _from_arrow(column: Any) -> pl.Series:
    import pyarrow as pa

    kind = column.type
    if pa.types.is_dictionary(kind):
        # polars reads text dictionaries only; decode the others in Arrow
        return _from_arrow(column.cast(kind.value_type))
    if isinstance(kind, pa.BaseExtensionType) or any(
        test(kind) for test in (pa.types.is_decimal256, pa.types.is_interval, pa.types.is_run_end_encoded)
    ):
        return _from_objects(column.to_pylist())
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        column = column.cast(pa.timestamp(kind.unit, "UTC"))  # polars knows no zone such as +05:30
    series = pl.from_arrow(column)
    assert isinstance(series, pl.Series)
    return series


def _from_pandas(series: Any) -> pl.Series:
    import pandas as pd

    dtype = series.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        levels = _from_pandas(pd.Series(dtype.categories))
        codes = pl.Series(series.cat.codes.to_numpy().astype(np.int64))
        return levels.gather(codes.set(codes < 0, None))
    if isinstance(dtype, pd.ArrowDtype):
        return _from_arrow(series.array.__arrow_array__())
    if isinstance(dtype, pd.SparseDtype):
        return _from_pandas(series.sparse.to_dense())
    if isinstance(dtype, pd.DatetimeTZDtype):
        return _from_pandas(series.dt.tz_convert("UTC").dt.tz_localize(None)).dt.replace_time_zone("UTC")
    if isinstance(dtype, pd.PeriodDtype):
        try:
            return _from_pandas(series.dt.to_timestamp())
        except (ValueError, OverflowError):  # outside the years of datetime64[ns]
            return _from_objects([None if p is pd.NaT else str(p) for p in series])
    if hasattr(dtype, "numpy_dtype") and not isinstance(dtype, pd.StringDtype):  # Int64, boolean, Float64
        kind = dtype.numpy_dtype
        values = pl.Series(series.to_numpy(dtype=kind, na_value=kind.type(0)))
        return values.set(pl.Series(series.isna().to_numpy()), None)
    if isinstance(dtype, np.dtype) and dtype.kind in "biufMm":
        values = series.to_numpy()
        if dtype.kind in "Mm":
            values = values.astype(f"{dtype.kind}8[us]")
        elif dtype == np.float16:  # unknown to older polars; see _widened
            values = values.astype(str).astype(np.float64)
        return pl.Series(np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("=")))
    return _from_objects(series.to_numpy(dtype=object, na_value=None).tolist())


def _is_missing(value: Any) -> bool:
    if isinstance(value, Decimal):
        return value.is_nan()
    if isinstance(value, float | complex | np.inexact | np.datetime64 | np.timedelta64):
        return bool(value != value)
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def _from_objects(values: list[Any]) -> pl.Series:
    """Return a column from python objects; mixed types become text, value by value."""
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
    """Return a numpy scalar or array as plain python, short floats as `_widened` takes them."""
    if isinstance(value, np.float16 | np.float32):
        return float(str(value))
    if isinstance(value, np.datetime64 | np.timedelta64):
        return value.astype(f"{value.dtype.kind}8[us]").item()
    return value.tolist() if isinstance(value, np.generic | np.ndarray) else value


def _as_datetime(value: date) -> datetime:
    if not isinstance(value, datetime):
        return datetime(value.year, value.month, value.day)
    if value.tzinfo is not None:
        value = value.astimezone(UTC)
    day = (value.year, value.month, value.day)
    return datetime(*day, value.hour, value.minute, value.second, value.microsecond)


def _object_text(value: Any) -> str:
    """Return the text of one value of a mixed column, the same as a column of its type would give."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float | Decimal):
        return _float_text(float(value))
    if isinstance(value, date):
        return _as_datetime(value).strftime("%Y-%m-%d %H:%M:%S.%f")
    return value.hex() if isinstance(value, bytes) else str(value)


def _float_text(value: float) -> str:
    """Return a number as text: whole ones without a decimal point, so that 3.0 and 3 are written alike."""
    return str(int(value)) if value.is_integer() and abs(value) < 1e22 else repr(value)


# ---------------------------------------------------------------- one table's column, normalised


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
        return series.cast(pl.Duration("us")).cast(pl.Int64)
    if dtype == pl.Time:
        return series.cast(pl.Int64)
    if dtype == pl.Object:
        return plain(_from_objects(series.to_list()))
    if dtype == pl.Binary:
        series = series.bin.encode("hex")
    elif dtype in (pl.Categorical, pl.Enum):
        series = series.cast(pl.String)
    elif dtype != pl.String:
        # lists and structs: their text, so that equal values stay equal
        return _as_text(series)
    empty = series == ""
    return series.set(empty, None) if empty.any() else series


def _as_text(series: pl.Series) -> pl.Series:
    """Return each value as python writes it."""
    return pl.Series([None if v is None else str(v) for v in series.to_list()], dtype=pl.String)


def _tidy(floats: pl.Series) -> pl.Series:
    """Return floats with NaN as null and -0.0 as 0.0."""
    floats = floats.fill_nan(None)
    # polars 2 drops "+ 0.0" as if it changed nothing, so the sign would survive that
    zero = floats == 0
    return floats.set(zero, 0.0) if zero.any() else floats


def _widened(series: pl.Series) -> pl.Series:
    """Return short floats as the float64 of their shortest decimal: 0.1, not 0.10000000149."""
    distinct = series.unique().drop_nulls().sort()
    wide = pl.Series(distinct.to_numpy().astype(str).astype(np.float64))
    if distinct.is_empty():
        return series.cast(pl.Float64)
    return wide.gather(distinct.search_sorted(series)).set(series.is_null(), None)


def without_codes(series: pl.Series, missing: Sequence[str]) -> pl.Series:
    """Return a plain column with the user's codes for missing turned into null.

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


def read_numbers(text: pl.Series) -> pl.Series | None:
    """Return text as Int64 or Float64 when all of it reads as numbers, else None.

    A leading zero ("01234") marks a code, not a number: such text returns None, and so do integers beyond
    Int64. "NaN" becomes null.
    """
    sample = text.head(1000)
    if _numbers_in(sample, keep_nan=True).null_count() > sample.null_count() or _zero_led(text).any():
        return None
    for dtype in _NUMBERS:
        numbers = text.cast(dtype, strict=False)
        if numbers.null_count() > text.null_count():
            numbers = text.str.strip_chars().cast(dtype, strict=False)
        if numbers.null_count() == text.null_count() < text.len():
            if dtype == pl.Int64:
                return numbers
            # whole, and not Int64: too long for any number here, so text keeps them apart
            return None if text.str.contains(r"^\s*[+-]?\d+\s*$").all() else _tidy(numbers)
    return None


def _zero_led(text: pl.Series) -> pl.Series:
    return text.str.contains(r"^\s*[+-]?0\d")


def _numbers_in(text: pl.Series, keep_nan: bool = False) -> pl.Series:
    """Return text parsed as numbers, null where a value is no number."""
    numbers = text.str.strip_chars().cast(pl.Float64, strict=False)
    return numbers if keep_nan else _tidy(numbers)


_ISO = r"^\d{4}-\d{2}-\d{2}([ T]\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})?)?$"


def _datetimes_in(text: pl.Series) -> pl.Series:
    """Return ISO 8601 text as datetimes in UTC, null where it is none."""
    text = text.set(~text.str.contains(_ISO), None)
    text = text.str.replace("T", " ", literal=True).str.replace(r"Z$", "+00:00")
    text = text.str.replace(r"^(\S+)$", "$1 00:00:00")
    text = text.str.replace(r"^(\S+ \d{2}:\d{2})($|[+-])", "$1:00$2")
    zoned = text.str.contains(r"[+-]\d{2}:?\d{2}$") & text.str.contains(" ", literal=True)
    naive = text.str.to_datetime("%Y-%m-%d %H:%M:%S%.f", time_unit="us", strict=False)
    aware = text.str.replace(r"([+-]\d{2})(\d{2})$", "$1:$2").str.to_datetime(
        "%Y-%m-%d %H:%M:%S%.f%:z", time_unit="us", strict=False, time_zone="UTC"
    )
    return pl.select(pl.when(zoned).then(aware.dt.replace_time_zone(None)).otherwise(naive)).to_series()


def _booleans_in(text: pl.Series) -> pl.Series:
    """Return "true" and "false" in any case as booleans, null for anything else."""
    lower = text.str.to_lowercase()
    return (lower == "true").set(~lower.is_in(["true", "false"]), None)


def _each_distinct(text: pl.Series, function: Callable[[pl.Series], pl.Series]) -> pl.Series:
    """Return `function` of a text column, called with its distinct values only."""
    distinct = text.unique().drop_nulls()
    if distinct.len() * 2 > text.len():
        return function(text)
    return function(distinct).gather(text.cast(pl.Enum(distinct)).to_physical())


_READERS: dict[Family, Callable[[pl.Series], pl.Series]] = {
    "datetime": _datetimes_in,
    "boolean": _booleans_in,
    "number": partial(_numbers_in, keep_nan=True),
}


# ---------------------------------------------------------------- families, settled over the tables


def _native(series: pl.Series) -> Family | None:
    """Return the family that a plain column's dtype declares; None when every value is missing."""
    if series.null_count() == series.len():
        return None
    if series.dtype == pl.Boolean:
        return "boolean"
    if series.dtype in _NUMBERS:
        return "number"
    return "datetime" if isinstance(series.dtype, pl.Datetime) else "text"


def _readings(series: pl.Series) -> set[Family]:
    """Return the families, text left out, that every value of a plain column can be read as."""
    native = _native(series)
    if native == "boolean":
        return {"boolean", "number"}
    if native == "number":
        return {"number", "boolean"} if ((series == 0) | (series == 1)).all() else {"number"}
    if native == "datetime":
        return {"datetime"}
    values = series.unique().drop_nulls()
    found: set[Family] = set()
    for family, read in _READERS.items():
        if (values.len() > 50 and read(values.head(50)).has_nulls()) or read(values).has_nulls():
            continue
        found.add(family)
    return found - {"number"} if "number" in found and _loses_zeros(values) else found


def _loses_zeros(values: pl.Series) -> bool:
    """Return whether texts that differ by leading zeros only ("01" and "1") would become one number."""
    led = _zero_led(values)
    with_zeros, without = _numbers_in(values.filter(led)), _numbers_in(values.filter(~led)).unique()
    return bool(pl.concat([with_zeros, without]).n_unique() < with_zeros.len() + without.len())


def _settle(columns: Sequence[pl.Series]) -> tuple[Family, frozenset[Family], str]:
    """Return the family of a column over all tables, those that dtypes declare, a note when they differ."""
    present = [s for s in columns if _native(s)]
    declared = frozenset(family for s in present if (family := _native(s)))
    if len(declared) == 1 and "text" not in declared:
        return next(iter(declared)), declared, ""
    common = set.intersection(*map(_readings, present)) if present else set()
    if "datetime" in common:
        return "datetime", declared, ""
    if "boolean" in common and ("number" not in common or "boolean" in declared):
        return "boolean", declared, ""
    if "number" in common and declared != {"text"}:
        padded = any(_zero_led(s).any() for s in present if s.dtype == pl.String)
        note = "is text with leading zeros in one table and numbers in another: compared as numbers"
        return "number", declared, note if padded else ""
    if len(declared) < 2:
        return "text", declared, ""
    return "text", declared, f"is {' in one table and '.join(sorted(declared))} in another: compared as text"


def _cast(series: pl.Series, family: Family, as_integer: bool, declared: frozenset[Family]) -> pl.Series:
    """Return a plain column in the dtype of its family."""
    if series.dtype == pl.Null:
        series = series.cast(pl.String)
    if series.dtype == pl.String:
        if family == "text":
            return _each_distinct(series, lambda t: _rewritten(t, declared)) if len(declared) > 1 else series
        if family == "datetime":
            return _each_distinct(series, _datetimes_in)
        if family == "boolean":
            return _each_distinct(series, _booleans_in)
        if as_integer:
            return _each_distinct(series, lambda t: t.str.strip_chars().cast(pl.Int64, strict=False))
        return _each_distinct(series, _numbers_in)
    if family == "text":
        return _written(series)
    if family == "boolean":
        return series.cast(pl.Boolean)
    if family == "datetime":
        return series
    return series.cast(pl.Int64 if as_integer else pl.Float64)


def _written(series: pl.Series) -> pl.Series:
    """Return booleans, numbers or datetimes as text."""
    if series.dtype == pl.Float64:
        return pl.Series([None if v is None else _float_text(v) for v in series.to_list()], dtype=pl.String)
    if isinstance(series.dtype, pl.Datetime):
        return series.dt.to_string("%Y-%m-%d %H:%M:%S%.6f")
    return series.cast(pl.String)


def _rewritten(text: pl.Series, declared: frozenset[Family]) -> pl.Series:
    """Return text with its numbers, dates and booleans written as columns of those families are."""
    readings = []
    if "number" in declared:
        readings.append(_written(_numbers_in(text.set(_zero_led(text), None))))
    if "datetime" in declared:
        readings.append(_written(_datetimes_in(text)))
    if "boolean" in declared:
        readings.append(_written(_booleans_in(text)))
    return pl.select(pl.coalesce(*readings, text)).to_series()


def _needs_int64(columns: Sequence[pl.Series]) -> bool:
    """Return whether whole numbers beyond 2**53 must stay integers to stay apart, and can."""
    return any(map(_is_large, columns)) and all(map(_is_whole, columns))


def _is_large(series: pl.Series) -> bool:
    if series.dtype != pl.Int64 or series.null_count() == series.len():
        return False
    return bool((series > _EXACT).any() or (series < -_EXACT).any())


def _is_whole(series: pl.Series) -> bool:
    if series.dtype == pl.Float64:
        return bool(((series == series.round()) & (series.abs() < 2**63)).all())
    if series.dtype == pl.String:
        values = series.unique().drop_nulls()
        return not values.str.strip_chars().cast(pl.Int64, strict=False).has_nulls()
    return True


# ---------------------------------------------------------------- pooled columns


@dataclass(frozen=True, slots=True)
class PooledColumn:
    """One column over all tables: its levels in ascending order, and how often each occurs in each table."""

    name: str
    family: Family
    integer: bool
    """All numbers are whole."""
    levels: pl.Series
    """Distinct values, ascending, without missing; level i has code i + 1, and code 0 is missing."""
    counts: tuple[NDArray[np.int64], ...]
    """Per table, shape (n_levels + 1,): rows with each code."""
    codes: tuple[NDArray[np.int32] | None, ...]
    """Per table, shape (n_rows,): the code of each row; None when the rows live elsewhere."""
    missing: tuple[str, ...]
    note: str
    declared: frozenset[Family] = frozenset()
    """The families that the tables' own dtypes declare."""

    def encode(self, raw: pl.Series) -> NDArray[np.int32]:
        """Return the codes of raw values that are known to be among the levels."""
        clean = without_codes(plain(raw), self.missing)
        return _codes(_cast(clean, self.family, self.levels.dtype == pl.Int64, self.declared), self.levels)

    def numbers(self) -> NDArray[np.float64]:
        """Return the levels as numbers, shape (n_levels,): datetimes in microseconds.

        Text is nan where it is no number; with a leading zero somewhere ("01234") it is codes, so all nan.
        """
        levels = self.levels
        if self.family == "text":
            levels = _numbers_in(levels.clear(levels.len()) if _zero_led(levels).any() else levels)
        elif self.family == "datetime":
            levels = levels.dt.epoch("us")
        return np.asarray(levels.to_numpy(), dtype=np.float64)


def _codes(series: pl.Series, levels: pl.Series) -> NDArray[np.int32]:
    """Return the code of each row: 0 where missing, else 1 + its place among the levels."""
    if levels.len() == 0 or series.len() == 0:
        return np.zeros(series.len(), dtype=np.int32)
    if series.dtype == pl.String:
        index = series.cast(pl.Enum(levels)).to_physical().cast(pl.Int32)
    elif series.dtype == pl.Boolean:
        index = series.cast(pl.Int32) - int(levels[0])
    else:
        return _number_codes(series, levels)
    return np.asarray((index + 1).fill_null(0).to_numpy(), dtype=np.int32)


def _number_codes(series: pl.Series, levels: pl.Series) -> NDArray[np.int32]:
    """Return the codes of numbers or datetimes; whole numbers in a narrow range go through a table."""
    if isinstance(series.dtype, pl.Datetime):
        series, levels = series.dt.epoch("us"), levels.dt.epoch("us")
    values = series.fill_null(levels[0]).to_numpy()
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


def pool(tables: Sequence[Table], column: str, missing: Iterable[str] = ()) -> PooledColumn:
    """Return one column of all tables under one set of codes.

    Parameters
    ----------
    tables
        Each must have the column.
    column
        Its name.
    missing
        Texts that stand for missing besides empty cells and null, such as "?" or "-8"; numbers are compared
        as numbers.

    Returns
    -------
    PooledColumn
        Empty levels when every value is missing.
    """
    missing = tuple(missing)
    raw: list[pl.Series] = []
    weights: list[NDArray[np.int64] | None] = []
    for table in tables:
        if table.frame is not None:
            raw.append(table.series(column))
            weights.append(None)
        else:
            distinct, count = profiles(table, [column])
            raw.append(distinct[0])
            weights.append(count)
    clean = [without_codes(plain(s), missing) for s in raw]
    family, declared, note = _settle(clean)
    as_integer = family == "number" and _needs_int64(clean)
    cast = [_cast(s, family, as_integer, declared) for s in clean]
    levels = pl.concat([s.unique() for s in cast]).unique().drop_nulls().sort()
    codes = [_codes(s, levels) for s in cast]
    counts = tuple(
        np.bincount(c, weights=w, minlength=levels.len() + 1).astype(np.int64)
        for c, w in zip(codes, weights, strict=True)
    )
    whole = as_integer or (family == "number" and (levels.is_finite() & (levels == levels.round())).all())
    kept = tuple(c if w is None else None for c, w in zip(codes, weights, strict=True))
    return PooledColumn(
        column, family, bool(whole), levels, counts, kept, missing, note or _note_on_zones(raw), declared
    )


def _note_on_zones(raw: Sequence[pl.Series]) -> str:
    zoned = {s.dtype.time_zone is not None for s in raw if isinstance(s.dtype, pl.Datetime)}
    return "has a time zone in one table and none in another: all taken as UTC" if len(zoned) > 1 else ""


def profiles(table: Table, columns: Sequence[str]) -> tuple[list[pl.Series], NDArray[np.int64]]:
    """Return the distinct rows of some columns of a table that lives elsewhere, and how often each occurs.

    The group-by runs in the table's own engine. Values are raw: rows that differ only in how the engine
    writes a missing value are separate here and merge when they are encoded.
    """
    assert table.lazy is not None
    names = [table.names[c] for c in columns]
    counted = _run(table.lazy.group_by(*names).agg(nw.len().alias(_COUNT)), table.role)
    return [counted[n] for n in names], counted[_COUNT].cast(pl.Int64).to_numpy()


def fingerprint(columns: Sequence[PooledColumn], which: int) -> str:
    """Return the SHA-256 of one table's canonical columns: names, families, values, missing.

    Rows in memory count in their order; a table that lives elsewhere has none, so each column's counts do.
    """
    digest = hashlib.sha256()
    for column in columns:
        counts, codes = column.counts[which], column.codes[which]
        used = counts > 0
        used[0] = True
        levels = column.levels.filter(pl.Series(used[1:]))
        values = _written(levels).to_list()
        # lengths first, so that no value can pass for the border between two
        head = [column.name, column.family, *values]
        digest.update(f"{len(head)} {' '.join(str(len(text)) for text in head)} ".encode())
        digest.update("".join(head).encode())
        own = np.cumsum(used, dtype="<i4") - 1
        digest.update((counts[used] if codes is None else own[codes]).tobytes())
    return digest.hexdigest()
