"""Turn tables of any kind into canonical columns.

This is the only file that imports narwhals; `canonical_values.py` says what a canonical column is.

The engine that holds a table (DuckDB relations, lazy polars frames) does the counting: a group-by
returns distinct raw rows with their multiplicity, and the rows are normalised here. The engines disagree
on NaN, null and -0.0 in a group-by; merging after normalising makes that harmless.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import polars as pl
from numpy.typing import NDArray

from divulge.core.errors import DivulgeError, FrameError, SettingError, TableError
from divulge.tables._duckdb_types import handed_over_relation
from divulge.tables.arrow_columns import columns_of
from divulge.tables.calendar_bounds import bounded, lazy_bounded
from divulge.tables.canonical_values import from_pandas, plain, read_numbers, without_codes
from divulge.tables.checks import BROKEN, check_missing, check_rows, text_names
from divulge.tables.counting import Counting, Edges, coded_in
from divulge.tables.engine_errors import answered, changed, engine_error

__all__ = [
    "Table",
    "check_missing",
    "collect",
    "collect_some",
    "distinct_values",
    "plain",
    "profiles",
    "read_numbers",
    "table_of",
    "without_codes",
]

_LEVELS = "the index {} is no column, so that nothing compares it; reset_index() makes it one"
_COUNT = "n_rows"  # no column is called so: they are c0, c1, ...
_ACCEPTED = (
    "hint: pass a pandas, polars, pyarrow or DuckDB table, an object with an Arrow stream or to_pandas; or the "
    "path of a file."
)


@dataclass(frozen=True, slots=True)
class Table:
    """One table as it was passed, with checked column names as text."""

    role: str
    """"real", "synthetic" or "holdout": the name of the table in errors and notes."""
    columns: tuple[str, ...]
    n_rows: int
    frame: pl.DataFrame | None
    """The rows if they are in memory; columns are renamed to c0, c1, ..."""
    lazy: nw.LazyFrame[Any] | None = None
    """The rows if an engine holds them; columns are renamed to c0, c1, ..."""
    names: dict[str, Any] = field(default_factory=dict)
    """Column name as text -> name inside `frame` or `lazy`."""
    sha256: str = ""
    """Hash of the file, if the table came from a file."""
    file: str = ""
    """Name of the file or folder that the table came from, without the folder that it lies in."""
    notes: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    """Texts for missing that are null here already."""
    levels: tuple[str, ...] = ()
    """Names of the levels of a pandas index; they are no columns, and nothing compares them."""
    parts: tuple[int, ...] = ()
    """Rows of each of the tables that were stacked; empty where this is one table."""
    holds: Any = None
    """What must exist as long as an engine is asked for the rows, such as the connection to a database."""
    counting: Counting | None = None
    """The engine that counts the rows, where it was asked to; there is neither `frame` nor `lazy` then."""

    def __len__(self) -> int:
        return self.n_rows

    def series(self, column: str) -> pl.Series:
        """Return one raw column of a table in memory."""
        assert self.frame is not None
        return self.frame[self.names[column]]

    def rows_at(self, rows: NDArray[np.int64] | slice) -> Table:
        """Return some rows of a table in memory."""
        assert self.frame is not None
        frame = self.frame[rows]
        return replace(self, frame=frame, n_rows=frame.height, sha256="", parts=())

    def named(self) -> pl.DataFrame:
        """Return the rows of a table in memory under the names of its columns."""
        return pl.DataFrame({column: self.series(column) for column in self.columns})


def table_of(native: Any, role: str) -> Table:
    """Return a `Table` from a frame of any supported kind.

    Parameters
    ----------
    native
        pandas, polars (eager or lazy), pyarrow, DuckDB relation, anything narwhals reads, a narwhals frame,
        or an object with an Arrow stream (`__arrow_c_stream__`) or else `to_pandas`. A `Table` is returned with the new
        role.
    role
        "real", "synthetic" or "holdout", for messages.

    Raises
    ------
    FrameError
        The object is not a table.
    ColumnError
        The table has no columns, or two columns have the same name as text.
    TableError
        The table has no rows, or the engine that holds it fails.

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
        columns = [_of_pandas(native.iloc[:, i], role) for i in range(native.shape[1])]
        table = _table_in_memory(list(native.columns), columns, len(native), role)
        levels = tuple(str(name) for name in native.index.names if name is not None)
        notes = (f"{role}: {_LEVELS.format(' and '.join(map(repr, levels)))}",) if levels else ()
        return replace(table, levels=levels, notes=(*notes, *table.notes))
    if nw.dependencies.is_pyarrow_table(native):
        return _table_in_memory(native.column_names, columns_of(native, role), native.num_rows, role)
    return _table_elsewhere(native, role)


def collect(table: Table) -> Table:
    """Return the table with its rows in memory.

    Raises
    ------
    SettingError
        An engine was asked to count it.
    """
    if table.counting is not None:
        raise SettingError(
            f"engine: every row of {table.role} is needed, and {table.counting.engine} counts rows where they are. "
            "hint: engine='memory' reads them."
        )
    if table.lazy is None:
        return table
    return replace(table, frame=_run(table.lazy, table.role), lazy=None, holds=None)


def collect_some(table: Table, rows: Sequence[tuple[int, int]]) -> Table:
    """Return some rows of a table that an engine holds, in memory.

    Parameters
    ----------
    rows
        For each run of rows the first, and how many. Of frames of Spark and others, as many of the first rows are
        taken, since each run would be a query of its own.

    Examples
    --------
    >>> table = table_of(pl.LazyFrame({"age": range(10)}), "real")
    >>> collect_some(table, [(2, 2), (8, 1)]).frame["c0"].to_list()
    [2, 3, 8]
    """
    assert table.lazy is not None
    some, native = table.lazy, table.lazy.to_native()
    if some.implementation.is_polars():  # one query, which looks at no other part of a file
        some = nw.from_native(pl.concat([native.slice(first, n) for first, n in rows]))
    elif some.implementation.is_duckdb():  # one pass
        there = " or ".join(f"divulge_i between {first + 1} and {first + n}" for first, n in rows)
        # no `query`: of old versions it makes a view in the base, which may be read-only
        numbered = native.project("*, row_number() over () as divulge_i")
        some = nw.from_native(numbered.filter(there).order("divulge_i").project("* exclude (divulge_i)"))
    else:
        some = some.head(sum(n for _, n in rows))
    frame = _run(some, table.role)
    return replace(table, frame=frame, lazy=None, holds=None, n_rows=frame.height)


def _of_pandas(series: Any, role: str) -> pl.Series:
    try:
        return from_pandas(series)
    except UnicodeEncodeError:
        raise TableError(
            f"{role}: a text of column {str(series.name)!r} {BROKEN} hint: encode and decode the texts of this "
            "column with errors='replace'."
        ) from None
    except pl.exceptions.PanicException:
        raise TableError(
            f"{role}: column {str(series.name)!r} has the type {str(series.dtype)!r}, which cannot be read. hint: cast "
            "it to text, or leave it out."
        ) from None


def _table_in_memory(raw_names: Sequence[Any], columns: Sequence[pl.Series], n_rows: int, role: str) -> Table:
    names = text_names(raw_names, role)
    check_rows(n_rows, names, role)
    columns, told = bounded(columns, names)
    frame = pl.DataFrame([s.rename(f"c{i}") for i, s in enumerate(columns)])
    inner = {name: f"c{i}" for i, name in enumerate(names)}
    return Table(role, tuple(names), n_rows, frame, names=inner, notes=tuple(f"{role}: {note}" for note in told))


def _table_elsewhere(native: Any, role: str) -> Table:
    try:
        wrapped = nw.from_native(native)
    except TypeError:
        return _guarded(lambda: table_of(_handed_over(native, role), role), role)
    except Exception as error:
        raise engine_error(error, role) from None
    if isinstance(wrapped, nw.DataFrame):  # the cousins of pandas: modin, cuDF
        return table_of(wrapped.to_pandas(), role)
    return _guarded(lambda: _lazy_table(wrapped, role), role)


def _handed_over(native: Any, role: str) -> Any:
    """Return the frame that an object hands over, by Arrow's stream or else by `to_pandas`.

    Raises
    ------
    FrameError
        It hands over none: a single column has a stream too, and `to_pandas` makes a series of it.
    """
    if hasattr(native, "__arrow_c_stream__"):
        if (rows := _rows_of_stream(native)) is not None:
            return rows
    elif callable(getattr(native, "to_pandas", None)):
        frame = native.to_pandas()
        if nw.dependencies.is_pandas_dataframe(frame):
            return frame
    raise FrameError(f"{role}: cannot read a {type(native).__module__}.{type(native).__name__} as a table. {_ACCEPTED}")


def _rows_of_stream(native: Any) -> Any:
    """Return the rows of an Arrow stream; None where it is of a single column, and not of structs."""
    try:
        import pyarrow as pa
    except ImportError:
        rows = pl.Series(native)
        return rows.struct.unnest() if rows.dtype == pl.Struct else None
    try:  # pyarrow where it is installed: it has types that polars lacks, and `columns_of` reads them
        reader = pa.RecordBatchReader.from_stream(native)
    except pa.ArrowInvalid:
        return None
    return reader.read_all()


def _lazy_table(wrapped: nw.LazyFrame[Any], role: str) -> Table:
    native = wrapped.to_native()
    raw_names = native.columns if wrapped.implementation.is_duckdb() else wrapped.collect_schema().names()
    names = text_names(raw_names, role)
    # new names: polars takes "^a$" for a pattern, Spark a dot for a field, narwhals on DuckDB "*" for all columns
    inner = [f"c{i}" for i in range(len(names))]
    told: tuple[str, ...] = ()
    if wrapped.implementation.is_duckdb():
        n_rows, native, told = handed_over_relation(native, names, inner)
        lazy = nw.from_native(native)
    elif wrapped.implementation.is_polars():
        renamed = wrapped.rename(dict(zip(raw_names, inner, strict=True))).to_native()
        n_rows, native, told = lazy_bounded(renamed, names)
        lazy = nw.from_native(native)
    else:
        lazy = wrapped.rename(dict(zip(raw_names, inner, strict=True)))
        n_rows = int(_run(lazy.select(nw.len()), role).item())
    check_rows(n_rows, names, role)
    notes = tuple(f"{role}: {note}" for note in told)
    return Table(role, tuple(names), n_rows, None, lazy, dict(zip(names, inner, strict=True)), notes=notes)


def _guarded(make: Callable[[], Table], role: str) -> Table:
    try:
        return make()
    except DivulgeError:
        raise
    except (Exception, pl.exceptions.PanicException) as error:
        raise engine_error(error, role) from None


def _run(lazy: nw.LazyFrame[Any], role: str) -> pl.DataFrame:
    """Return the rows of a query; errors leave out the message of the engine, because it may show a value."""
    try:
        frame: pl.DataFrame = lazy.collect("polars").to_native()
    except (Exception, pl.exceptions.PanicException) as error:
        raise engine_error(error, role) from None
    return frame


# ---------------------------------------------------------------- counts of tables that an engine holds


def profiles(
    table: Table, columns: Sequence[str], edges: Mapping[str, Edges] | None = None
) -> tuple[list[pl.Series], NDArray[np.int64]]:
    """Return the distinct rows of some columns of a table that an engine holds, and the count of each.

    The group-by runs in that engine. Values are raw: rows that differ only in how the engine writes a missing
    value are separate here, and become equal when they are encoded. Columns with `edges` come as codes.
    """
    assert table.lazy is not None
    placed = {f"e{i}": (table.names[c], own) for i, (c, own) in enumerate((edges or {}).items())}
    new = dict(zip(edges or {}, placed, strict=True))
    names = [new.get(c, table.names[c]) for c in columns]
    lazy = table.lazy
    if placed:
        native, where = lazy.to_native(), str(getattr(lazy.implementation, "value", ""))
        lazy = nw.from_native(answered(table.role, lambda: coded_in(native, where, placed)))
    counted = _run(lazy.group_by(*names).agg(nw.len().alias(_COUNT)), table.role)
    times = counted[_COUNT].cast(pl.Int64).to_numpy()
    if times.sum() != table.n_rows:
        raise changed(table.role, table.n_rows)
    return [counted[n] for n in names], times


def distinct_values(table: Table, column: str) -> tuple[pl.Series, NDArray[np.int64]]:
    """Return the distinct raw values of a column of a table that an engine holds, and the count of each."""
    if table.counting is not None:
        return table.counting.values(table.names[column])
    values, count = profiles(table, [column])
    return values[0], count
