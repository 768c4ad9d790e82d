"""Room A: tables of any kind come in, canonical columns go out.

This is the only file that imports narwhals. A *canonical column* is a polars Series of one of four families:

========  =================  ==========================================================
family    polars dtype       comes from
========  =================  ==========================================================
boolean   Boolean            booleans; text or numbers that stand beside booleans elsewhere
number    Float64 or Int64   integers, floats, decimals, durations, times of day
datetime  Datetime("us")     dates and datetimes; time zones become UTC
text      String             everything else
========  =================  ==========================================================

Missing is null, and only null: NaN, NaT, None, pandas.NA and the empty string all become null; -0.0 becomes 0.0.
The family is settled over all tables together, so that an integer column which one table holds as floats
(pandas does so beside a missing value) and another as text counts as the same column in all of them.

Tables that live elsewhere (DuckDB relations, lazy polars frames) are counted where they live: a group-by sends
back distinct raw rows with their multiplicity, and the rows are normalised here. The engines disagree on NaN,
null and -0.0 in a group-by; merging after normalising makes that harmless.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from typing import Any, Literal

import narwhals.stable.v2 as nw
import numpy as np
import polars as pl
from numpy.typing import NDArray

from divulge.errors import ColumnError, FrameError, TableError

__all__ = ["PooledColumn", "Table", "pool", "profiles", "table_of"]

Family = Literal["boolean", "number", "datetime", "text"]

_EXACT = 2**53  # beyond it a float64 no longer tells neighbouring integers apart
_COUNT = "divulge_n_rows"


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
    """The rows, when they live elsewhere; with the engine's own column names."""
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
        pandas, polars (eager or lazy), pyarrow, DuckDB relation, or anything narwhals reads. A `Table` is
        returned as it is.
    role
        "real", "synthetic" or "holdout", for messages.

    Raises
    ------
    FrameError
        The object is no table.
    ColumnError
        No columns, or two columns of the same name once names are text.
    TableError
        No rows.

    Examples
    --------
    >>> table_of(pl.DataFrame({"age": [30, 41]}), "real").n_rows
    2
    """
    if isinstance(native, Table):
        return native
    if isinstance(native, dict | list | tuple | str | np.ndarray) or native is None:
        raise FrameError(
            f"{role}: a {type(native).__name__} is not a table. hint: pass a pandas, polars, pyarrow or DuckDB "
            "table; divulge.read(path) reads a file."
        )
    try:
        wrapped = nw.from_native(native)
    except TypeError:
        raise FrameError(
            f"{role}: cannot read a {type(native).__module__}.{type(native).__name__} as a table. "
            "hint: pass a pandas, polars, pyarrow or DuckDB table."
        ) from None
    if isinstance(wrapped, nw.LazyFrame):
        return _lazy_table(wrapped, role)
    return _eager_table(native, wrapped, role)


def _eager_table(native: Any, wrapped: nw.DataFrame[Any], role: str) -> Table:
    if wrapped.implementation.is_pandas_like():
        raw_names = list(native.columns)
        columns = [_from_pandas(native.iloc[:, i]) for i in range(len(raw_names))]
    elif isinstance(native, pl.DataFrame):
        raw_names, columns = list(native.columns), native.get_columns()
    else:
        arrow = wrapped.to_arrow() if not wrapped.implementation.is_pyarrow() else native
        raw_names = list(arrow.column_names)
        columns = [_from_arrow(arrow.column(i)) for i in range(len(raw_names))]
    names = _text_names(raw_names, role)
    n_rows = len(wrapped)
    if n_rows == 0:
        raise TableError(f"{role}: the table has {len(names)} columns and no rows. hint: pass a table with rows.")
    frame = pl.DataFrame([s.rename(f"c{i}") for i, s in enumerate(columns)])
    return Table(role, tuple(names), n_rows, frame, names={name: f"c{i}" for i, name in enumerate(names)})


def _lazy_table(lazy: nw.LazyFrame[Any], role: str) -> Table:
    raw_names = lazy.collect_schema().names()
    names = _text_names(raw_names, role)
    n_rows = int(lazy.select(nw.len()).collect("polars").item())
    if n_rows == 0:
        raise TableError(f"{role}: the table has {len(names)} columns and no rows. hint: pass a table with rows.")
    return Table(role, tuple(names), n_rows, None, lazy, dict(zip(names, raw_names, strict=True)))


def _text_names(raw: Sequence[Any], role: str) -> list[str]:
    names = [name if isinstance(name, str) else str(name) for name in raw]
    if not names:
        raise ColumnError(f"{role}: the table has no columns. hint: pass a table with at least one column.")
    seen: set[str] = set()
    twice = sorted({n for n in names if n in seen or seen.add(n)})  # type: ignore[func-returns-value] # set.add is falsy
    if twice:
        raise ColumnError(
            f"{role}: {len(twice)} column name(s) occur twice: {', '.join(map(repr, twice))}. hint: rename them."
        )
    return names


# ---------------------------------------------------------------- raw columns of each kind of frame


def _from_arrow(column: Any) -> pl.Series:
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        # polars reads text dictionaries only; decode the others in Arrow
        column = column.cast(column.type.value_type)
    if pa.types.is_decimal(column.type):
        column = column.cast(pa.float64())
    series = pl.from_arrow(column)
    assert isinstance(series, pl.Series)
    return series


def _from_pandas(series: Any) -> pl.Series:
    import pandas as pd

    dtype = series.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        levels = _from_pandas(pd.Series(dtype.categories))
        codes = pl.Series(np.asarray(series.cat.codes, dtype=np.int64))
        return levels.gather(codes.set(codes < 0, None))
    if isinstance(dtype, pd.ArrowDtype):
        return _from_arrow(series.array.__arrow_array__())
    if dtype == object or isinstance(dtype, pd.StringDtype):
        return _from_objects(series.to_numpy(dtype=object, na_value=None).tolist())
    if isinstance(dtype, pd.DatetimeTZDtype):
        series = series.dt.tz_convert("UTC").dt.tz_localize(None)
    elif isinstance(dtype, pd.PeriodDtype):
        series = series.dt.to_timestamp()
    elif pd.api.types.is_extension_array_dtype(dtype):
        mask = series.isna().to_numpy()
        if isinstance(dtype, pd.SparseDtype):
            return pl.Series(np.asarray(series))
        kind = dtype.numpy_dtype
        values = pl.Series(series.to_numpy(dtype=kind, na_value=kind.type(0)))
        return values.set(pl.Series(mask), None)
    values = series.to_numpy()
    if values.dtype.kind == "M":
        return pl.Series(values.astype("datetime64[us]"))
    if values.dtype.kind == "m":
        return pl.Series(values.astype("timedelta64[us]"))
    if values.dtype.kind == "c":
        return _from_objects(values.tolist())
    if values.dtype == np.float16:
        values = values.astype(np.float32)
    return pl.Series(np.ascontiguousarray(values))


def _is_missing(value: Any) -> bool:
    if value is None:
        return True
    if isinstance(value, float | np.floating | np.datetime64 | np.timedelta64 | Decimal):
        return bool(value != value)
    return type(value).__name__ in ("NAType", "NaTType")


def _from_objects(values: list[Any]) -> pl.Series:
    """Return a column from python objects; mixed types become text, value by value."""
    types = set(map(type, values))
    if types <= {str, type(None)}:
        return pl.Series(values, dtype=pl.String)
    clean = [None if _is_missing(v) else v for v in values]
    types = {type(v) for v in clean if v is not None}
    if not types:
        return pl.Series(clean, dtype=pl.Null)
    if all(issubclass(t, str) for t in types):
        return pl.Series([None if v is None else str(v) for v in clean], dtype=pl.String)
    if all(issubclass(t, bool | np.bool_) for t in types):
        return pl.Series([None if v is None else bool(v) for v in clean], dtype=pl.Boolean)
    numbers = (int, float, Decimal, np.integer, np.floating)
    if all(issubclass(t, numbers) and not issubclass(t, bool) for t in types):
        if all(issubclass(t, int | np.integer) for t in types):
            ints = [None if v is None else int(v) for v in clean]
            if all(v is None or -(2**63) <= v < 2**63 for v in ints):
                return pl.Series(ints, dtype=pl.Int64)
            return pl.Series([None if v is None else str(v) for v in ints], dtype=pl.String)
        return pl.Series([None if v is None else float(v) for v in clean], dtype=pl.Float64)
    if all(issubclass(t, date) for t in types):
        return pl.Series([None if v is None else _as_datetime(v) for v in clean], dtype=pl.Datetime("us"))
    return pl.Series([None if v is None else _object_text(v) for v in clean], dtype=pl.String)


def _as_datetime(value: date) -> datetime:
    from datetime import UTC

    if not isinstance(value, datetime):
        return datetime(value.year, value.month, value.day)
    if value.tzinfo is not None:
        return value.astimezone(UTC).replace(tzinfo=None)
    return datetime(
        value.year, value.month, value.day, value.hour, value.minute, value.second, value.microsecond
    )


def _object_text(value: Any) -> str:
    """Return the text of one value of a mixed column, the same as `_number_text` gives for a column of numbers."""
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, int | np.integer):
        return str(int(value))
    if isinstance(value, float | np.floating | Decimal):
        number = float(value)
        return str(int(number)) if number.is_integer() and abs(number) < _EXACT else repr(number)
    if isinstance(value, date):
        return _as_datetime(value).isoformat(sep=" ")
    if isinstance(value, bytes):
        return value.hex()
    return str(value)


# ---------------------------------------------------------------- families, settled over the tables


def _plain(series: pl.Series) -> pl.Series:
    """Return the column in one of the dtypes Boolean, Int64, Float64, Datetime("us"), String, Null."""
    dtype = series.dtype
    if dtype in (pl.Boolean, pl.Null, pl.Int64):
        return series
    if dtype.is_integer():
        if dtype in (pl.UInt64, pl.Int128, getattr(pl, "UInt128", pl.Int128)):
            low, high = series.min(), series.max()
            if high is not None and (int(high) >= 2**63 or int(low) < -(2**63)):  # type: ignore[arg-type] # integers
                return series.cast(pl.String)
        return series.cast(pl.Int64)
    if dtype.is_float() or dtype.is_decimal():
        series = series.cast(pl.Float64).fill_nan(None) + 0.0  # -0.0 + 0.0 is 0.0
        return series
    if dtype == pl.Date:
        return series.cast(pl.Datetime("us"))
    if isinstance(dtype, pl.Datetime):
        if dtype.time_zone is not None:
            series = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
        return series.cast(pl.Datetime("us"))
    if dtype in (pl.Duration, pl.Time):
        return series.cast(pl.Int64)
    if dtype in (pl.Categorical, pl.Enum):
        series = series.cast(pl.String)
    elif dtype == pl.Binary:
        series = series.bin.encode("hex")
    elif dtype == pl.Object:
        return _plain(_from_objects(series.to_list()))
    elif dtype != pl.String:
        # lists and structs: their text, so that equal values stay equal
        return pl.Series([None if v is None else str(v) for v in series.to_list()], dtype=pl.String)
    if series.len() and (series == "").any():
        series = series.set(series == "", None)
    return series


def _without_codes(series: pl.Series, missing: Sequence[str]) -> pl.Series:
    """Return the column with the user's codes for missing turned into null."""
    if not missing:
        return series
    if series.dtype == pl.String:
        return series.set(series.is_in(list(missing)).fill_null(False), None)
    numbers = [x for x in map(_parse_number, missing) if x is not None]
    if numbers and series.dtype in (pl.Int64, pl.Float64):
        return series.set(series.cast(pl.Float64).is_in(numbers).fill_null(False), None)
    return series


def _parse_number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return None if math.isnan(number) else number


def _numbers_in(series: pl.Series) -> pl.Series:
    """Return a text column parsed as numbers, null where a value is no number."""
    parsed = series.str.strip_chars().cast(pl.Float64, strict=False).fill_nan(None) + 0.0
    return parsed


_ISO = r"^\d{4}-\d{2}-\d{2}([ T]\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})?)?$"


def _all_iso(values: pl.Series) -> bool:
    return bool(values.len()) and bool(values.str.contains(_ISO).all())


def _iso_datetimes(series: pl.Series) -> pl.Series:
    """Return ISO 8601 text as datetimes in UTC, null where it is none."""
    text = series.str.replace("T", " ", literal=True).str.replace(r"Z$", "+00:00")
    text = text.str.replace(r"([+-]\d{2})(\d{2})$", "$1:$2").str.replace(r"^(\S+)$", "$1 00:00:00")
    text = text.str.replace(r"^(\S+ \d{2}:\d{2})($|[+-])", "$1:00$2")
    zoned = text.str.contains(r"[+-]\d{2}:\d{2}$")
    naive = text.str.to_datetime("%Y-%m-%d %H:%M:%S%.f", time_unit="us", strict=False)
    aware = (
        text.str.to_datetime("%Y-%m-%d %H:%M:%S%.f%:z", time_unit="us", strict=False, time_zone="UTC")
        .dt.replace_time_zone(None)
    )
    return pl.select(pl.when(zoned).then(aware).otherwise(naive)).to_series()


def _is_true_false(values: pl.Series) -> bool:
    return bool(values.len()) and bool(values.str.to_lowercase().is_in(["true", "false"]).all())


def _number_text(series: pl.Series) -> pl.Series:
    """Return numbers as text: whole ones without a decimal point."""
    if series.dtype == pl.Int64:
        return series.cast(pl.String)
    whole = ((series == series.round()) & (series.abs() < _EXACT)).fill_null(False)
    text = pl.Series([None if v is None else repr(v) for v in series.to_list()], dtype=pl.String)
    integers = series.set(~whole, None).cast(pl.Int64).cast(pl.String)
    return pl.select(pl.when(whole).then(integers).otherwise(text)).to_series()


def _settle(columns: Sequence[pl.Series], had_codes: bool) -> tuple[Family, str]:
    """Return the family of one column over all tables, and a note when the tables disagree ("" when not)."""
    kinds = {_kind(s) for s in columns} - {"none"}
    if not kinds:
        return "text", ""
    if len(kinds) == 1 and kinds != {"text"}:
        kind = kinds.pop()
        return kind, ""  # type: ignore[return-value] # "none" was taken out
    text = [s.drop_nulls().unique() for s in columns if s.dtype == pl.String]
    values = pl.concat(text) if text else pl.Series([], dtype=pl.String)
    if kinds == {"text"}:
        if _all_iso(values):
            return "datetime", ""
        if _is_true_false(values):
            return "boolean", ""
        if had_codes and not _numbers_in(values).has_nulls():
            return "number", ""
        return "text", ""
    if kinds == {"boolean", "text"} and _is_true_false(values):
        return "boolean", ""
    if kinds <= {"boolean", "number", "text"} and not _numbers_in(values).has_nulls():
        zero_one = all(s.drop_nulls().is_in([0, 1]).all() for s in columns if s.dtype in (pl.Int64, pl.Float64))
        if "boolean" in kinds and zero_one and "text" not in kinds:
            return "boolean", ""
        return "number", ""
    if kinds == {"datetime", "text"} and _all_iso(values):
        return "datetime", ""
    return "text", f"is {' in one table and '.join(sorted(kinds))} in another: compared as text"


def _kind(series: pl.Series) -> str:
    if series.null_count() == series.len():
        return "none"
    if series.dtype == pl.Boolean:
        return "boolean"
    if series.dtype in (pl.Int64, pl.Float64):
        return "number"
    return "datetime" if isinstance(series.dtype, pl.Datetime) else "text"


def _cast(series: pl.Series, family: Family, as_integer: bool) -> pl.Series:
    """Return a plain column in the dtype of its family."""
    if series.dtype == pl.Null:
        series = series.cast(pl.String)
    if family == "text":
        if series.dtype in (pl.Int64, pl.Float64):
            return _number_text(series)
        if series.dtype == pl.Boolean:
            return series.cast(pl.Int8).replace_strict({0: "false", 1: "true"}, return_dtype=pl.String)
        if isinstance(series.dtype, pl.Datetime):
            return pl.Series([None if v is None else str(v) for v in series.to_list()], dtype=pl.String)
        return series
    if family == "boolean":
        if series.dtype == pl.String:
            return series.str.to_lowercase() == "true"
        return series.cast(pl.Boolean)
    if family == "datetime":
        return _iso_datetimes(series) if series.dtype == pl.String else series
    if series.dtype == pl.String:
        series = _numbers_in(series)
    if as_integer:
        return series.cast(pl.Int64)
    return series.cast(pl.Float64)


def _needs_int64(columns: Sequence[pl.Series]) -> bool:
    """Return whether whole numbers beyond 2**53 must stay integers to stay apart."""
    large = any(
        s.dtype == pl.Int64 and s.len() and max(abs(int(s.max() or 0)), abs(int(s.min() or 0))) > _EXACT  # type: ignore[arg-type] # integers
        for s in columns
    )
    return large and all(s.dtype in (pl.Int64, pl.Null) for s in columns)


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

    def encode(self, raw: pl.Series) -> NDArray[np.int32]:
        """Return the codes of raw values that are known to be among the levels."""
        series = _cast(_without_codes(_plain(raw), self.missing), self.family, self.levels.dtype == pl.Int64)
        return _codes(series, self.levels)

    def numbers(self) -> NDArray[np.float64]:
        """Return the levels as numbers, shape (n_levels,): datetimes in microseconds, text nan where it is no number."""
        if self.family == "text":
            return _numbers_in(self.levels).to_numpy().astype(np.float64)
        if self.family == "datetime":
            return self.levels.dt.epoch("us").to_numpy().astype(np.float64)
        return self.levels.cast(pl.Float64).to_numpy()


def _codes(series: pl.Series, levels: pl.Series) -> NDArray[np.int32]:
    if levels.len() == 0:
        return np.zeros(series.len(), dtype=np.int32)
    if series.dtype == pl.String:
        index = series.cast(pl.Enum(levels)).to_physical().cast(pl.Int64)
    elif series.dtype == pl.Boolean:
        index = series.cast(pl.Int64) - int(levels[0])
    else:
        return _number_codes(series, levels)
    return (index + 1).fill_null(0).to_numpy().astype(np.int32)


def _number_codes(series: pl.Series, levels: pl.Series) -> NDArray[np.int32]:
    """Return the codes of numbers or datetimes; whole numbers in a narrow range go through a table."""
    if isinstance(series.dtype, pl.Datetime):
        series, levels = series.dt.epoch("us"), levels.dt.epoch("us")
    values = series.fill_null(levels[0]).to_numpy()
    known = levels.to_numpy()
    low, high = known[0], known[-1]
    narrow = np.isfinite(low) and np.isfinite(high) and high - low < 4 * (len(values) + 1000)
    if narrow and (known == np.floor(known)).all():
        position = np.zeros(int(high - low) + 1, dtype=np.int32)
        position[(known - low).astype(np.int64)] = np.arange(1, len(known) + 1, dtype=np.int32)
        codes = position[(values - low).astype(np.int64)]
    else:
        codes = (np.searchsorted(known, values) + 1).astype(np.int32)
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
    plain = [_plain(s) for s in raw]
    clean = [_without_codes(s, missing) for s in plain]
    had_codes = any(a.null_count() != b.null_count() for a, b in zip(plain, clean, strict=True))
    family, note = _settle(clean, had_codes)
    as_integer = family == "number" and _needs_int64(clean)
    cast = [_cast(s, family, as_integer) for s in clean]
    levels = pl.concat([s.unique() for s in cast]).unique().drop_nulls().sort()
    codes = [_codes(s, levels) for s in cast]
    counts = tuple(
        np.bincount(c, weights=w, minlength=levels.len() + 1).astype(np.int64)
        for c, w in zip(codes, weights, strict=True)
    )
    integer = family == "number" and bool(as_integer or (levels.is_finite() & (levels == levels.round())).all())
    kept = tuple(c if w is None else None for c, w in zip(codes, weights, strict=True))
    return PooledColumn(column, family, integer, levels, counts, kept, missing, note)


def profiles(table: Table, columns: Sequence[str]) -> tuple[list[pl.Series], NDArray[np.int64]]:
    """Return the distinct rows of some columns of a table that lives elsewhere, and how often each occurs.

    The group-by runs in the table's own engine. Values are raw: rows that differ only in how the engine writes
    a missing value are separate here and merge when they are encoded.
    """
    assert table.lazy is not None
    names = [table.names[c] for c in columns]
    counted = table.lazy.group_by(*names).agg(nw.len().alias(_COUNT)).collect("polars").to_native()
    return [counted[n] for n in names], counted[_COUNT].cast(pl.Int64).to_numpy()


def fingerprint(columns: Sequence[PooledColumn], which: int) -> str:
    """Return the SHA-256 of one table's canonical columns: names, families, values, missing, in row order."""
    digest = hashlib.sha256()
    for column in columns:
        codes = column.codes[which]
        digest.update(f"{column.name}\0{column.family}\0".encode())
        if codes is None:
            digest.update(column.counts[which].tobytes())
            continue
        digest.update("\0".join(_used(column, which)).encode())
        present = np.flatnonzero(column.counts[which])
        own = np.zeros(len(column.counts[which]), dtype=np.int32)
        own[present] = np.arange(len(present), dtype=np.int32)
        digest.update(own[codes].tobytes())
        digest.update(b"missing" if column.counts[which][0] else b"")
    return digest.hexdigest()


def _used(column: PooledColumn, which: int) -> list[str]:
    levels = column.levels.filter(pl.Series(column.counts[which][1:] > 0))
    if column.family == "number":
        return _number_text(levels).to_list()
    return levels.cast(pl.String).to_list()


def collect(table: Table) -> Table:
    """Return the table with its rows in memory."""
    if table.lazy is None:
        return table
    return table_of_role(table.lazy.collect("polars").to_native(), table)


def table_of_role(frame: pl.DataFrame, table: Table) -> Table:
    """Return a table like another one, with the rows given."""
    collected = table_of(frame, table.role)
    return Table(
        table.role, collected.columns, collected.n_rows, collected.frame, None, collected.names, table.sha256, table.notes
    )
