"""Turn tables of any kind into canonical columns.

This is the only file that imports narwhals; `canonical_values.py` says what a canonical column is.

The engine that holds a table (DuckDB relations, lazy polars frames) does the counting: a group-by
returns distinct raw rows with their multiplicity, and the rows are normalised here. The engines disagree
on NaN, null and -0.0 in a group-by; merging after normalising makes that harmless.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import polars as pl
from numpy.typing import NDArray

from divulge.core.errors import DivulgeError, FrameError, SettingError, TableError
from divulge.tables._duckdb_types import handed_over_relation
from divulge.tables._elsewhere import coded_in
from divulge.tables.arrow_columns import columns_of
from divulge.tables.calendar_bounds import bounded, lazy_bounded
from divulge.tables.canonical_values import (
    distinct,
    from_pandas,
    numbers_among,
    plain,
    read_numbers,
    without_codes,
)
from divulge.tables.checks import BROKEN, check_missing, check_rows, text_names
from divulge.tables.column_families import Family, Settled, as_family, family_of, needs_int64, settle
from divulge.tables.counting import Counting, Edges
from divulge.tables.engine_errors import answered, changed, engine_error
from divulge.tables.levels import codes_of, levels_of
from divulge.tables.written_forms import form_of, undecided

__all__ = [
    "PooledColumn",
    "Table",
    "check_missing",
    "collect",
    "collect_some",
    "distinct_values",
    "plain",
    "pool",
    "profiles",
    "read_numbers",
    "table_of",
    "without_codes",
]

_LEVELS = "the index {} is no column, so that nothing compares it; reset_index() makes it one"
_COUNT = "n_rows"  # no column is called so: they are c0, c1, ...
_ACCEPTED = "hint: pass a pandas, polars, pyarrow or DuckDB table; or the path of a file."


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
        or anything that provides an Arrow stream. A `Table` is returned with the new role.
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
    return replace(table, frame=_run(table.lazy, table.role), lazy=None)


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
    return replace(table, frame=frame, lazy=None, n_rows=frame.height)


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
        # record batches and readers; single columns stream too, but have no schema
        if hasattr(native, "__arrow_c_stream__") and hasattr(native, "schema"):
            whole = native.read_all if hasattr(native, "read_all") else lambda: pl.DataFrame(native)
            return _guarded(lambda: table_of(whole(), role), role)
        raise FrameError(
            f"{role}: cannot read a {type(native).__module__}.{type(native).__name__} as a table. {_ACCEPTED}"
        ) from None
    except Exception as error:
        raise engine_error(error, role) from None
    if isinstance(wrapped, nw.DataFrame):  # the cousins of pandas: modin, cuDF
        return table_of(wrapped.to_pandas(), role)
    return _guarded(lambda: _lazy_table(wrapped, role), role)


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


# ---------------------------------------------------------------- pooled columns


@dataclass(frozen=True, slots=True)
class PooledColumn:
    """One column over all tables: its levels in ascending order, and the count of each level in each table."""

    name: str
    family: Family
    integer: bool
    """All numbers are whole."""
    levels: pl.Series
    """Distinct values in ascending order, without missing. Level i has code i + 1; code 0 is missing."""
    counts: tuple[NDArray[np.int64], ...]
    """Per table, shape (n_levels + 1,): rows with each code."""
    codes: tuple[NDArray[np.int32] | None, ...]
    """Per table, shape (n_rows,): the code of each row; None if an engine holds the rows."""
    missing: tuple[str, ...]
    note: str
    """How the tables differ in it; "" where they do not."""
    settled: Settled
    """How it is read from each table."""
    read_alike: bool = True
    """False where the difference that `note` names makes the tables hard to compare."""
    of_values: tuple[NDArray[np.int32] | None, ...] = ()
    """Per table that an engine counts the code of each of its distinct values, in its order; else None."""

    def encode(self, raw: pl.Series, which: int = 0) -> NDArray[np.int32]:
        """Return the codes of raw values of one table, all of which must be among its values."""
        clean = without_codes(plain(raw), self.missing)
        whole = self.levels.dtype == pl.Int64
        return codes_of(
            as_family(clean, self.family, whole, self.settled.declared, self.settled.form(which)), self.levels
        )

    def numbers(self) -> NDArray[np.float64]:
        """Return the levels as numbers, shape (n_levels,): datetimes in microseconds.

        Text that is not a number is nan. If any text has a leading zero ("01234"), the texts are codes and all nan.
        """
        levels = self.levels
        if self.family == "text":
            levels = numbers_among(levels)
        elif self.family == "datetime":
            levels = levels.cast(pl.Int64)
        return np.asarray(levels.to_numpy(), dtype=np.float64)


def pool(tables: Sequence[Table], column: str, missing: Iterable[str] = ()) -> PooledColumn:
    """Return one column of all tables with shared codes.

    Parameters
    ----------
    tables
        Each table must have the column.
    column
        Name of the column.
    missing
        Texts that stand for missing besides empty cells and null, such as "?" or "-8"; numbers are compared
        as numbers.

    Returns
    -------
    PooledColumn
        Its levels are empty if every value is missing.
    """
    missing = tuple(missing)
    raw: list[pl.Series] = []
    weights: list[NDArray[np.int64] | None] = []
    for table in tables:
        if table.frame is not None:
            raw.append(table.series(column))
            weights.append(None)
        else:
            values, count = distinct_values(table, column)
            raw.append(values)
            weights.append(count)
    coded = [distinct(s) for s in raw]
    # texts that the reader of a file took out are not looked for again
    left = [tuple(m for m in missing if m not in table.missing) for table in tables]
    clean = [without_codes(plain(values), codes) for (values, _), codes in zip(coded, left, strict=True)]
    settled = settle(clean)
    family, declared = settled.family, settled.declared
    as_integer = family == "number" and needs_int64(clean)
    cast = [as_family(s, family, as_integer, declared, settled.form(i)) for i, s in enumerate(clean)]
    levels = levels_of(pl.concat(cast))
    codes = [codes_of(s, levels) for s in cast]
    codes = [c if place is None else c.take(place) for c, (_, place) in zip(codes, coded, strict=True)]
    counts = tuple(
        np.bincount(c, weights=w, minlength=levels.len() + 1).astype(np.int64)
        for c, w in zip(codes, weights, strict=True)
    )
    whole = as_integer or (family == "number" and _all_whole(levels.to_numpy()))
    kept = tuple(c if w is None else None for c, w in zip(codes, weights, strict=True))
    lost = [
        _rows(_lost(was, now), place, w) for was, now, (_, place), w in zip(clean, cast, coded, weights, strict=True)
    ]
    unread = [c.filter(_lost(c, now)) if n else c.clear() for c, now, n in zip(clean, cast, lost, strict=True)]
    unlike = _note_on_lost(tables, settled, unread, lost) or settled.note or _note_on_zones(raw)
    return PooledColumn(
        column, family, bool(whole), levels, counts, kept, missing, unlike or _note_on_forms(tables, settled), settled,
        not unlike, tuple(c if t.counting is not None else None for c, t in zip(codes, tables, strict=True)),
    )  # fmt: skip


def _all_whole(numbers: NDArray[Any]) -> bool:
    return bool((np.isfinite(numbers) & (numbers == np.round(numbers))).all())


def _lost(was: pl.Series, now: pl.Series) -> NDArray[np.bool_]:
    """Return which values are null only because they cannot be read; the text NaN is missing anyway."""
    if now.null_count() == was.null_count():  # what is null stays null
        return np.zeros(was.len(), dtype=np.bool_)
    lost = now.is_null() & was.is_not_null()
    if was.dtype == pl.String and lost.any():
        lost &= was.str.strip_chars().str.to_lowercase().is_in(["nan", "+nan", "-nan"]).fill_null(False).not_()
    return np.asarray(lost.to_numpy(), dtype=np.bool_)


def _rows(marked: NDArray[np.bool_], place: NDArray[Any] | None, weight: NDArray[np.int64] | None) -> int:
    """Return how many rows have a marked value."""
    if not marked.any():
        return 0
    marked = marked if place is None else marked[place]
    return int(marked.sum() if weight is None else weight[marked].sum())


_KINDS = {"datetime": "dates", "number": "numbers", "boolean": "true and false", "text": "text"}


def _note_on_lost(tables: Sequence[Table], settled: Settled, unread: Sequence[pl.Series], lost: Sequence[int]) -> str:
    """Return in which tables values cannot be read as those of the real table, and how these values are written."""
    parts = []
    for i, (table, n) in enumerate(zip(tables, lost, strict=True)):
        if not n:
            continue
        form = form_of(unread[i], settled.family) if settled.forms and unread[i].dtype == pl.String else ""
        found = form if form not in ("", "text") else _KINDS.get(family_of(unread[i]) or "text", "text")
        found += ", and no value tells which" if undecided(form) else ""
        parts.append(f"{n:,} of {table.n_rows:,} values in {table.role} ({found}) cannot be read so")
    if not parts:
        return ""
    form = settled.forms[0] if settled.forms else ""
    written_so = f" written {form}" if form else ""
    return f"holds {_KINDS[settled.family]}{written_so} in real; {', '.join(parts)} and are taken as missing"


def _note_on_forms(tables: Sequence[Table], settled: Settled) -> str:
    """Return how dates or numbers are written, where the tables write them differently."""
    told = {t.role: form for t, form in zip(tables, settled.forms, strict=False) if form}
    if len(set(told.values())) < 2:
        return ""
    listed = " and ".join(f"{form} in {role}" for role, form in told.items())
    return f"is written {listed}: read as the same {_KINDS[settled.family]}"


def _note_on_zones(raw: Sequence[pl.Series]) -> str:
    zoned = {s.dtype.time_zone is not None for s in raw if isinstance(s.dtype, pl.Datetime)}
    return "has a time zone in one table and none in another: all taken as UTC" if len(zoned) > 1 else ""


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
