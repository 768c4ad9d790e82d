"""Tables that stay where they are: an engine counts Parquet files, tables of DuckDB files, and frames."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

import polars as pl

from divulge.core.errors import SettingError, TableError, tidy
from divulge.core.private_folders import PrivateFolder
from divulge.tables._duckdb_base import base_in_memory, literal, spilling_into
from divulge.tables._duckdb_counts import DuckdbCounts
from divulge.tables._polars_counts import PolarsCounts
from divulge.tables._spark_counts import SparkCounts
from divulge.tables.arrow_columns import parquet_types, rare_in_file
from divulge.tables.checked_numbers import CheckedNumbers
from divulge.tables.checks import check_rows, text_names
from divulge.tables.counting import Codes, Counting, Edges, Ints, KeyPart, Numbers
from divulge.tables.databases import in_database, table_in_base
from divulge.tables.engine_errors import answered, changed
from divulge.tables.excel_files import sheet_in
from divulge.tables.frames import Table, table_of
from divulge.tables.many_files import in_files, in_names, is_several
from divulge.tables.parquet import PARQUET

__all__ = ["copied", "counted", "counted_path", "spilling_into"]

_T = TypeVar("_T")
_SPARK = ("pyspark", "pyspark[connect]")  # as narwhals calls them
_READ = "spark.read.parquet(...) makes one of files; it needs Java, and pip install 'divulge[spark]'."
_MEMORY = "engine='memory' reads it into memory; or write it as Parquet."


def counted_path(path: str | PathLike[str], role: str, engine: str, is_table: Callable[[Path], bool]) -> Table:
    """Return the table of Parquet files or of a DuckDB file, which the engine counts where it is.

    Raises
    ------
    FrameError
        DuckDB is not installed.
    SettingError
        The engine does not count this kind of file.
    TableError
        No such table, one that may not be read, or files of different columns.
    """
    if engine == "spark":
        raise SettingError(f"engine: {role} is a path, and spark counts Spark frames. hint: {_READ}")
    if in_database(path):
        if engine != "duckdb":
            raise SettingError(
                f"engine: {role} is in a DuckDB file, which {engine} does not read. hint: take 'duckdb'."
            )
        base, source = table_in_base(path, role)
        names = answered(role, lambda: [str(row[0]) for row in base.execute(f"describe {source}").fetchall()])
        return _table(role, names, lambda: DuckdbCounts(base, source, names))
    files = _files(path, role, engine, is_table)
    types = _columns(files, path, role, engine)
    names = list(types)
    if engine == "duckdb":
        made = lambda: DuckdbCounts(_base_of(files, role), _stacked(files, path), names)  # noqa: E731
        return _table(role, names, made, files, list(types.values()))
    return _table(role, names, lambda: PolarsCounts(_scanned(files, path), names), files)


def counted(native: Any, role: str, engine: str) -> Table:
    """Return a frame of any kind as a table that the engine counts.

    Raises
    ------
    FrameError
        DuckDB is not installed, or this is no table.
    SettingError
        Another engine holds the table.
    """
    if engine == "polars" and isinstance(native, pl.LazyFrame):
        raw = answered(role, lambda: native.collect_schema().names())
        named = native.rename({name: f"c{i}" for i, name in enumerate(raw)}.__getitem__)
        return _table(role, raw, lambda: PolarsCounts(named, raw))
    table = table_of(native, role)
    if table.counting is not None:
        if table.counting.engine != engine:
            raise SettingError(f"engine: {role} is counted by {table.counting.engine}, not {engine}. hint: take one.")
        return table
    if table.frame is None:
        where = str(getattr(getattr(table.lazy, "implementation", None), "value", "another engine"))
        if where == engine:
            return table  # its values are counted by its own queries
        if engine == "spark" and where in _SPARK and table.lazy is not None:
            frame = table.lazy.to_native()
            return _table(role, table.columns, lambda: SparkCounts(frame))
        raise SettingError(
            f"engine: {role} is a table of {where}, which {engine} does not count. hint: engine='auto' asks each table "
            "where it is."
        )
    if engine == "spark":
        raise SettingError(f"engine: {role} is no Spark frame, and spark counts these alone. hint: {_READ}")
    frame = table.frame
    if engine == "polars":
        return _like(table, _table(role, table.columns, lambda: PolarsCounts(frame.lazy(), table.columns)))

    def registered() -> Counting:
        base = base_in_memory(role)
        base.register("divulge_frame", frame.to_arrow())
        return DuckdbCounts(base, "divulge_frame", table.columns)

    return _like(table, _table(role, table.columns, registered, types=frame.dtypes))


def copied(table: Table, engine: str) -> Table:
    """Return a table that its own engine holds as one that the engine counts: a relation of DuckDB is copied to a file.

    A relation does not tell its connection, which is the user's, so that no codes could be looked up beside it. The
    file is private, and goes with the table.

    Raises
    ------
    TableError, SettingError
        The rows cannot be written, or another engine holds them.
    """
    assert table.lazy is not None
    native, names = table.lazy.to_native(), table.columns
    if engine == "polars":
        return _table(table.role, names, lambda: PolarsCounts(native, names))
    folder = PrivateFolder("divulge-")
    file = folder.path / "rows.parquet"
    types = answered(table.role, lambda: native.limit(0).pl().dtypes)
    answered(table.role, lambda: native.write_parquet(str(file)))
    made = lambda: DuckdbCounts(_base_of([file], table.role), _stacked([file], file), names)  # noqa: E731
    return replace(_table(table.role, names, made, [file], types), holds=folder)


def _like(read: Table, counting: Table) -> Table:
    """Return a table that an engine counts, with what is known of the one in memory."""
    known = {name: getattr(read, name) for name in ("sha256", "missing", "levels", "parts")}
    return replace(counting, **known, notes=tuple(dict.fromkeys((*read.notes, *counting.notes))))


def _table(
    role: str,
    raw_names: Sequence[str],
    make: Callable[[], Counting],
    files: Sequence[Path] = (),
    types: Sequence[pl.DataType] = (),
) -> Table:
    """Return a table that an engine counts; `types` are those of its columns in memory, where the engine has others."""
    names = text_names(raw_names, role)
    written = _written(files)
    counting = answered(role, make, in_files=bool(files))
    n_rows = answered(role, counting.n_rows, in_files=bool(files))
    check_rows(n_rows, names, role)
    inner = {name: f"c{i}" for i, name in enumerate(names)}
    unchanged = _Unchanged(counting, role, n_rows, files, written, types)
    notes = tuple(f"{role}: {told}" for told in getattr(counting, "told", ()))
    return Table(role, tuple(names), n_rows, None, names=inner, counting=unchanged, notes=notes)


def _written(files: Sequence[Path]) -> list[tuple[int, int] | None]:
    """Return when each file was written, and its size."""
    found: list[tuple[int, int] | None] = []
    for file in files:
        try:
            found.append((file.stat().st_mtime_ns, file.stat().st_size))
        except OSError:
            found.append(None)
    return found


class _Unchanged:
    """A table of an engine whose answers are checked: each must be about the same rows."""

    def __init__(
        self, counting: Counting, role: str, n_rows: int, files: Sequence[Path], written: Sequence[Any],
        types: Sequence[pl.DataType],
    ) -> None:  # fmt: skip
        self._counting, self._role, self._n_rows, self._files, self._then = counting, role, n_rows, files, written
        self._types = list(types)
        self.engine = counting.engine

    def n_rows(self) -> int:
        """Return the number of rows when the table was opened."""
        return self._n_rows

    def types(self) -> list[pl.DataType]:
        """Return the type of each column as polars has it where the rows are read into memory."""
        return self._types or self._answered(self._counting.types)

    def n_keys(self, key: Sequence[KeyPart]) -> int:
        """Return how many combinations of values differ, without the one in which all are missing."""
        return self._still(lambda: self._counting.n_keys(key))

    def combinations(self, columns: Sequence[str]) -> tuple[list[pl.Series], Ints]:
        """Return the distinct combinations of raw values and how many rows have each."""
        return self._checked(lambda: self._counting.combinations(columns))

    def raw(self, column: str) -> Iterator[pl.Series]:
        """Yield the raw value of each row; at the end it is an error if there were not as many rows as before."""
        n_rows = 0
        parts = self._answered(lambda: self._counting.raw(column))
        while (part := self._next(parts)) is not None:
            n_rows += len(part)
            yield part
        self._check(n_rows)

    def values(self, column: str) -> tuple[pl.Series, Ints]:
        """Return the distinct raw values of a column and how many rows have each."""
        return self._checked(lambda: self._counting.values(column))

    def numbers(self, column: str, missing: Sequence[float]) -> Numbers | None:
        """Return the numbers of a column; None for types that are no numbers."""
        found = self._answered(lambda: self._counting.numbers(column, missing))
        return None if found is None else CheckedNumbers(found, self._still)

    def cells(self, columns: Sequence[str], codes: Sequence[Codes | Edges]) -> tuple[list[Codes], Ints]:
        """Return the distinct combinations of codes and how many rows have each."""
        return self._checked(lambda: self._counting.cells(columns, codes))

    def n_cells(self, columns: Sequence[str], codes: Sequence[Codes | Edges]) -> int:
        """Return how many cells there are."""
        return self._answered(lambda: self._counting.n_cells(columns, codes))

    def coded_rows(self, columns: Sequence[str], codes: Sequence[Codes]) -> Iterator[list[Codes]]:
        """Yield the codes of each row; at the end it is an error if they were not those of as many rows as before."""
        n_rows = 0
        parts = self._answered(lambda: self._counting.coded_rows(columns, codes))
        while (part := self._next(parts)) is not None:
            n_rows += len(part[0])
            yield part
        self._check(n_rows)

    def _answered(self, ask: Callable[[], _T]) -> _T:
        return answered(self._role, ask, in_files=bool(self._files))

    def _next(self, parts: Iterator[_T]) -> _T | None:
        try:
            return self._answered(lambda: next(parts, None))
        except TableError:
            self._check(self._n_rows)  # an engine fails where a file changes below it
            raise

    def _checked(self, ask: Callable[[], tuple[_T, Ints]]) -> tuple[_T, Ints]:
        try:
            found, count = self._answered(ask)
        except TableError:
            self._check(self._n_rows)  # an engine fails where a file changes below it
            raise
        self._check(int(count.sum()))
        return found, count

    def _still(self, ask: Callable[[], _T]) -> _T:
        """Return an answer that does not count all rows."""
        try:
            return self._answered(ask)
        finally:
            self._check(self._n_rows)

    def _check(self, n_rows: int) -> None:
        if n_rows != self._n_rows or list(self._then) != _written(self._files):
            raise changed(self._role, self._n_rows)


# ---------------------------------------------------------------- Parquet files


def _files(path: str | PathLike[str], role: str, engine: str, is_table: Callable[[Path], bool]) -> list[Path]:
    """Return the Parquet files of a path, each of which can be read."""
    files = in_files(path, role, is_table) if is_several(path) else [sheet_in(path)[0]]
    for file in files:
        if file.suffix.lower() not in PARQUET:
            if str(path) != "-" and not file.exists():
                raise TableError(
                    f"{role}: {tidy(file.name)}: no such file in {str(file.parent)!r}. hint: check the path."
                )
            raise SettingError(
                f"engine: {role} {tidy(file.name)!r} is no Parquet file, and {engine} counts these alone. hint: "
                f"{_MEMORY}"
            )
        if os.path.exists(file) and not os.path.isfile(file):  # which raise nothing where a folder cannot be read
            raise TableError(f"{role}: {tidy(file.name)}: no file, and {engine} counts files. hint: name a file.")
        try:
            with open(file, "rb") as handle:
                handle.read(1)
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or "no file can have this name"
            raise TableError(f"{role}: {tidy(file.name)}: cannot be read: {why}. hint: check the path.") from None
    return files


def _columns(files: Sequence[Path], path: str | PathLike[str], role: str, engine: str) -> dict[str, pl.DataType]:
    """Return the columns of Parquet files and their types; all files must have the same."""
    first: dict[str, Any] = {}
    for file in files:
        found = _schema(file, role) | dict.fromkeys(in_names(file, path), pl.String())
        if engine == "polars" and (rare := rare_in_file(file, parquet=True)):
            name, kind = next(iter(rare.items()))
            raise TableError(
                f"{role}: {tidy(file.name)}: column {tidy(name)!r} has the type {tidy(str(kind))!r}, which polars does "
                "not hold. hint: engine='memory' reads it, and engine='duckdb' counts it."
            )
        first = first or found
        if odd := sorted(set(first) ^ set(found)):
            there, lacking = (files[0], file) if odd[0] in first else (file, files[0])
            raise TableError(
                f"{role}: the files have different columns: {odd[0]!r} is in {tidy(there.name)} and not in "
                f"{tidy(lacking.name)}. hint: write them alike, or name those of one table alone."
            )
        if unlike := [name for name in first if first[name] != found[name]]:
            raise TableError(
                f"{role}: column {unlike[0]!r} has another type in {tidy(file.name)} than in {tidy(files[0].name)}. "
                f"hint: write them alike; engine='memory' reads them as they are."
            )
    return first


def _schema(file: Path, role: str) -> dict[str, Any]:
    try:
        if rare_in_file(file, parquet=True) and (types := parquet_types(file)) is not None:
            return types
        with open(file, "rb") as handle:  # polars would take signs in a name for a pattern
            return dict(pl.read_parquet_schema(handle))
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError):
        if (types := parquet_types(file)) is not None:
            return types
        raise TableError(
            f"{role}: {tidy(file.name)}: not a Parquet file, or a damaged one. hint: write the file again."
        ) from None


def _scanned(files: Sequence[Path], path: str | PathLike[str]) -> pl.LazyFrame:
    """Return the rows of Parquet files, with the columns that their folders name, under the names c0, c1, ..."""
    names = list(_schema(files[0], "")) + [c for c in in_names(files[0], path) if c not in _schema(files[0], "")]
    inner = {name: f"c{i}" for i, name in enumerate(names)}
    # renamed by a function and then selected: polars takes a name such as "^a$", or "*", for a pattern, and old ones
    # do so in `rename` too
    parts = [
        pl.scan_parquet(file, glob=False, hive_partitioning=False)
        .with_columns(**in_names(file, path))
        .rename(lambda name: inner.get(name, name))
        .select(list(inner.values()))
        for file in files
    ]
    return pl.concat(parts)


def _stacked(files: Sequence[Path], path: str | PathLike[str]) -> str:
    """Return the rows of Parquet files as SQL: those of the same columns in the same folder are read together."""
    alike: dict[tuple[Any, ...], list[Path]] = defaultdict(list)
    for file in files:
        named = {name: pl.select(value).item() for name, value in in_names(file, path).items()}
        alike[tuple(_schema(file, "")), tuple(named.items())].append(file)
    first, more = next(iter(alike))
    names = list(dict.fromkeys((*first, *dict(more))))
    queries = []
    for (own, named), some in alike.items():
        place, given = {name: f"p{i}" for i, name in enumerate(own)}, dict(named)
        chosen = [_text_or_null(given[name]) if name in given else place[name] for name in names]
        listed = ", ".join(literal(_as_it_is(file)) for file in some)
        rows = f"read_parquet([{listed}], hive_partitioning=false) as t({', '.join(place.values())})"
        queries.append(f"select {', '.join(chosen)} from {rows}")
    return f"({' union all '.join(queries)})"


def _base_of(files: Sequence[Path], role: str) -> Any:
    """Return a connection to DuckDB that reads these files alone."""
    return base_in_memory(role, list(dict.fromkeys(f(file) for file in files for f in (_place, _as_it_is))))


def _text_or_null(value: str | None) -> str:
    return "null::varchar" if value is None else f"{literal(value)}::varchar"


def _as_it_is(file: Path) -> str:
    """Return the path of a file so that DuckDB does not take it for a pattern."""
    return "".join(f"[{sign}]" if sign in "*?[" else sign for sign in _place(file))


def _place(file: Path) -> str:
    return str(file.absolute())
