"""Read files: tables from CSV, Parquet, Arrow and Excel, schemas from TOML and SDV's JSON."""

from __future__ import annotations

import hashlib
import io
import json
import logging
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from os import PathLike
from os.path import exists, isfile
from pathlib import Path
from typing import Any, TypeVar

import polars as pl
from msgspec.structs import replace as changed

from divulge.core.bounded_read import read_at_most
from divulge.core.errors import DivulgeError, SettingError, TableError, tidy
from divulge.core.relations import RelationalSchema, relational_from_sdv, relational_from_toml
from divulge.core.schema import Schema, schema_from_sdv, schema_from_toml
from divulge.tables.arrow_columns import check_arrow, parquet_types, rare_in_file, read_rare
from divulge.tables.calendar_bounds import bounded
from divulge.tables.canonical_values import without_missing
from divulge.tables.checks import check_is_here, named
from divulge.tables.counting import COUNTING, check_engine
from divulge.tables.csv_files import header_of, read_csv
from divulge.tables.databases import in_database, relation_in
from divulge.tables.engines import counted_path
from divulge.tables.excel_files import EXCEL, read_excel, sheet_in
from divulge.tables.file_bytes import bytes_of, bytes_of_stream, check_fits, check_kind
from divulge.tables.frames import Table, check_missing, table_of
from divulge.tables.json_files import JSON, read_json
from divulge.tables.many_files import in_files, in_names, is_several, joined, with_rows
from divulge.tables.packed_files import Packing, packing_of, unpacked, without_packing
from divulge.tables.parquet import PARQUET

__all__ = [
    "ARROW",
    "EXCEL",
    "JSON",
    "PARQUET",
    "TEXT",
    "Content",
    "checked_file",
    "columns_in",
    "content_of",
    "is_table_file",
    "read",
    "read_relational_schema",
    "read_schema",
    "table_in",
    "told",
]

_LOG = logging.getLogger("divulge.read")
_T = TypeVar("_T")
_TABLES = re.compile(r"^\s*\[+\s*(table\.|relation)", re.M)
"""What the schema of several tables has and that of one table does not."""
TEXT = (".csv", ".tsv", ".txt")
ARROW = (".arrow", ".feather", ".ipc")
_READ = (
    "CSV (.csv .tsv .txt), JSON records (.jsonl .ndjson .json), each also compressed (.gz .zst .bz2 .xz .zip), Parquet "
    "(.parquet .pq), Arrow (.arrow .feather .ipc), Excel (.xlsx .xls)"
)
_FROM_SPSS = "Python pyreadstat.read_{0}(file)[0].to_parquet(new), R arrow::write_parquet(haven::read_{1}(file), new)"
_FROM_R = "R write.csv({0}, new, row.names = FALSE), or arrow::write_parquet"
_MADE_BY = {
    ".sav": _FROM_SPSS.format("sav", "sav"),
    ".zsav": _FROM_SPSS.format("sav", "sav"),
    ".por": _FROM_SPSS.format("por", "por"),
    ".dta": _FROM_SPSS.format("dta", "dta"),
    ".sas7bdat": _FROM_SPSS.format("sas7bdat", "sas"),
    ".xpt": _FROM_SPSS.format("xport", "xpt"),
    ".rds": _FROM_R.format("readRDS(file)"),
    ".rdata": _FROM_R.format("NAME") + ", after load(file)",
    ".rda": _FROM_R.format("NAME") + ", after load(file)",
    **dict.fromkeys((".sqlite", ".sqlite3", ".db"), "sqlite3 -header -csv file 'select * from NAME' > new"),
    ".pkl": "Python pandas.read_pickle(file).to_parquet(new)",
    ".orc": "Python pandas.read_orc(file).to_parquet(new)",
}
"""How files of statistics programs, which divulge does not read, become files that it reads."""

_LARGEST_SCHEMA = 64  # MB
_HEADER = 1 << 20  # bytes of a file in which its header is looked for


def read(path: str | PathLike[str], *, role: str = "real", missing: Sequence[str] = (), engine: str = "auto") -> Table:
    """Return the table in a file, in the files of a folder, or in a database, with notes on how it was read.

    Parameters
    ----------
    path
        CSV (.csv .tsv .txt), JSON records (.jsonl .ndjson .json), each also compressed (.gz .zst .bz2 .xz, or .zip
        with one file inside), Parquet (.parquet .pq), Arrow (.arrow .feather .ipc) or Excel (.xlsx .xls, with the
        extra `divulge[excel]`: the first sheet that holds a table, or "book.xlsx::SHEET"); "-" reads CSV from
        standard input. The header line of a CSV file shows its separator: comma, semicolon, tab or bar. With
        semicolons, numbers may have a decimal comma. A folder, or a pattern such as "part-*.parquet", is one table in
        several files of the same columns; folders named `column=value` are a column. "FILE.duckdb::TABLE" is a
        table of a DuckDB file, with the extra `divulge[duckdb]`; its rows stay there until an attack needs them.
    role
        "real", "synthetic" or "holdout", for messages.
    missing
        Texts that stand for missing besides empty cells: a column of numbers and such codes is numbers.
    engine
        "duckdb" or "polars" leave the rows of Parquet files, and "duckdb" those of a DuckDB file, where they are, for
        attacks that count; "auto" and "memory" read files.

    Raises
    ------
    TableError
        An address, no such file, not readable, empty, broken, of an unknown kind, or lines with too many or too few
        fields; files of different columns; no such table in the database, or a view that reads files.
    ColumnError
        Two columns of the same name.
    FrameError
        Excel or DuckDB without the extra.
    """
    missing = check_missing(missing)
    check_engine(engine)
    check_is_here(path, role)
    name = "" if str(path) == "-" else tidy(Path(path).name)
    return told(replace(_read(path, role, missing, engine), file=name))


def told(table: Table) -> Table:
    """Return a table; how its file was read goes to the log, which every command shows."""
    for note in table.notes:
        _LOG.info("%s", note)
    return table


def _read(path: str | PathLike[str], role: str, missing: Sequence[str], engine: str) -> Table:
    if engine in COUNTING:
        return counted_path(path, role, engine, is_table_file)
    if in_database(path):
        relation, connection = relation_in(path, role)
        return replace(table_of(relation, role), holds=connection)
    if is_several(path):
        files = in_files(path, role, is_table_file)
        read_in = with_rows(files, role, lambda f: table_in(content_of(f, role), role, missing), columns_in)
        return joined(path, *read_in, role)
    return table_in(content_of(path, role), role, missing)


def table_in(content: Content, role: str, missing: Sequence[str] = ()) -> Table:
    """Return the table that a file's bytes hold; parameters and errors as those of `read`."""
    data, suffix, where = content.data, content.suffix, content.where
    notes: tuple[str, ...] = ()
    if suffix in TEXT:
        frame, notes = read_csv(content.unzipped(), where, suffix, missing)
    elif suffix in JSON:
        frame, notes = read_json(content.unzipped(), where, suffix)
    elif suffix in EXCEL:
        frame, notes = read_excel(data, where, content.sheet)
    else:
        frame = _columnar(data, suffix, where)
    if missing and suffix not in TEXT:
        frame = pl.DataFrame({s.name: without_missing(s, missing) for s in frame.get_columns()})
    columns, told = bounded(frame.get_columns(), frame.columns)
    if told:
        frame = pl.DataFrame(dict(zip(frame.columns, columns, strict=True)))
        notes = (*notes, *(f"{where}: {note}" for note in told))
    digest = hashlib.sha256(data).hexdigest()
    return replace(table_of(frame, role), sha256=digest, notes=notes, missing=tuple(missing))


@dataclass(frozen=True, slots=True)
class Content:
    """The bytes of a file that holds a table."""

    data: bytes
    suffix: str
    """Of the kind of file, without that of its compression; ".csv" for standard input."""
    where: str
    """How errors name the file."""
    packing: Packing = ""
    """How the name says that it is compressed."""
    sheet: str = ""
    """Of an Excel file: the sheet that was named."""

    def unzipped(self) -> bytes:
        """Return the bytes of a text file, compressed or not; errors as `unpacked`."""
        return unpacked(self.data, self.packing, self.where)


def content_of(path: str | PathLike[str], role: str) -> Content:
    """Return the bytes of a table's file; "-" is standard input.

    Raises
    ------
    TableError
        No such file, not readable, empty, or of an unknown kind.
    """
    if str(path) == "-":
        where = f"{role}: standard input"
        return Content(bytes_of_stream(sys.stdin.buffer, where), ".csv", where)
    path, sheet = sheet_in(path)
    where = f"{role}: {tidy(path.name or path)}"
    suffix = checked_file(path, role)
    try:
        return Content(bytes_of(path, where), suffix, where, packing_of(path), sheet)
    except OSError as error:
        raise TableError(
            f"{where}: cannot be read: {error.strerror or type(error).__name__}. hint: check the path."
        ) from None


def checked_file(path: Path, role: str) -> str:
    """Return the suffix of a table's file, without that of its compression.

    Raises
    ------
    TableError
        No such file, empty, or of an unknown kind.
    """
    path, _ = sheet_in(path)
    named = Path(str(path).partition("::")[0])
    path = named if named != path and isfile(named) and not exists(path) else path  # False of names that cannot be
    where = f"{role}: {tidy(path.name or path)}"
    _check_file(path, where)
    packing = packing_of(path)
    suffix = Path(without_packing(path, where)).suffix
    if suffix not in TEXT + JSON and (packing or suffix not in PARQUET + ARROW + EXCEL):
        if not (packing or path.suffix):
            raise TableError(
                f"{where}: the name has no suffix, which tells the kind of file. hint: rename it (people.csv); CSV can "
                f"also come from standard input (- < {tidy(path.name)}). divulge reads {_READ}."
            )
        if suffix.lower() in (".duckdb", ".ddb"):
            raise TableError(f"{where}: a DuckDB file holds several tables. hint: name one: {tidy(path.name)}::TABLE.")
        inside = f" of the file inside ({suffix!r})" if packing == "zip" else f" {path.suffix!r}"
        if how := _MADE_BY.get(suffix.lower()):
            raise TableError(f"{where}: the suffix{inside} is not known. hint: write a .parquet or .csv by {how}.")
        raise TableError(f"{where}: the suffix{inside} is not known. hint: divulge reads {_READ}.")
    return suffix


def columns_in(path: str | PathLike[str]) -> tuple[str, ...] | None:
    """Return the names of the columns of a file, read from its header alone.

    None where they cannot be known before the file is read: standard input, a compressed or an Excel file, or a header
    that is not regular; `read` then says what is wrong.
    """
    try:
        if in_database(path):
            relation, _ = relation_in(path, "table")
            return tuple(relation.columns)
        if is_several(path):
            first = in_files(path, "table", is_table_file)[0]
            own = columns_in(first)
            return None if own is None else tuple(dict.fromkeys((*own, *in_names(first, path))))
        path = Path(path)
        suffix = path.suffix.lower()
        if not path.is_file():  # a pipe can be read once
            return None
        if suffix in PARQUET:
            return tuple(
                named((rare_in_file(path, parquet=True) and parquet_types(path)) or pl.read_parquet_schema(path))
            )
        if suffix in ARROW:
            return None if rare_in_file(path, parquet=False) else tuple(named(pl.read_ipc_schema(path)))
        if suffix not in TEXT:
            return None
        with open(path, "rb") as file:
            head = file.read(_HEADER)
        if b"\n" not in head:
            return None
        return tuple(header_of(head[: head.rindex(b"\n")], suffix))
    except (DivulgeError, OSError, ValueError, pl.exceptions.PolarsError, pl.exceptions.PanicException):
        return None


def read_schema(path: str | PathLike[str]) -> Schema:
    """Return the schema in a file: TOML as `divulge schema` writes it, or SDV metadata as JSON.

    The path of an actor's population is taken from the folder of the file.

    Raises
    ------
    SettingError
        The file does not exist, is neither TOML nor JSON, or has an unknown entry.
    """
    schema = _described(path, schema_from_toml, schema_from_sdv)
    actors = tuple(
        changed(a, population=str(Path(path).parent / a.population)) if isinstance(a.population, str) else a
        for a in schema.threat.actors
    )
    return replace(schema, threat=changed(schema.threat, actors=actors))


def read_relational_schema(path: str | PathLike[str]) -> RelationalSchema:
    """Return the tables and relations in a file: TOML of `divulge schema --tables`, or SDV metadata as JSON.

    Raises
    ------
    SettingError
        The file does not exist, is neither TOML nor JSON, has an unknown entry, or a relation names what is not there.
    """
    return _described(path, relational_from_toml, relational_from_sdv)


def read_metadata(path: str | PathLike[str]) -> RelationalSchema | dict[str, Any]:
    """Return what a file says of one table or of several: the schema of a TOML file, or SDV metadata as they stand.

    A TOML file of one table gives a schema with one table, which is called "table". SDV metadata are checked and keep
    their ranges and formats.

    Raises
    ------
    SettingError
        As in `read_relational_schema`.
    """

    def of_toml(text: str, name: str) -> RelationalSchema | dict[str, Any]:
        if _TABLES.search(text):
            return relational_from_toml(text, name)
        alone = schema_from_toml(text, name)
        return RelationalSchema({"table": alone}, (), alone.rules)

    def of_sdv(metadata: Any, name: str) -> RelationalSchema | dict[str, Any]:
        relational_from_sdv(metadata, name)
        return dict(metadata)

    return _described(path, of_toml, of_sdv)


def _described(
    path: str | PathLike[str], from_toml: Callable[[str, str], _T], from_sdv: Callable[[Any, str], _T]
) -> _T:
    path = Path(path)
    name = tidy(path.name)
    if path.suffix.lower() not in (".toml", ".json"):
        raise SettingError(
            f"{name}: another suffix. hint: a schema is a .toml file (`divulge schema real.csv` writes one) or SDV "
            "metadata in .json."
        )
    try:
        text = read_at_most(path, _LARGEST_SCHEMA, name).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise SettingError(f"{name}: not UTF-8. hint: save it as UTF-8.") from None
    except DivulgeError:
        raise
    except (OSError, ValueError) as error:  # a ValueError is a path that no file can have
        raise SettingError(f"{name}: cannot be read: {_why(error)}. hint: check the path.") from None
    try:
        if path.suffix.lower() == ".toml":
            return from_toml(text, name)
        return from_sdv(json.loads(text), name)
    except json.JSONDecodeError as error:
        raise SettingError(
            f"{name}: not JSON: {error.msg} in line {error.lineno}. hint: check how it was written."
        ) from None
    except RecursionError:
        raise SettingError(f"{name}: nested too deeply for a schema. hint: check how it was written.") from None
    except ValueError as error:
        if isinstance(error, DivulgeError):
            raise
        raise SettingError(f"{name}: a number has too many digits. hint: check how it was written.") from None


def _why(error: OSError | ValueError) -> str:
    """Return why a file cannot be read; a `ValueError` is a name that no file can have."""
    if isinstance(error, OSError):
        return error.strerror or type(error).__name__
    return "no file can have this name"


def is_table_file(path: Path) -> bool:
    """Return whether the name of a file in a folder is that of a table; .json may as well be a schema, or settings."""
    packing = packing_of(path)
    suffix = Path(path.name.lower().removesuffix(f".{packing}")).suffix
    return suffix in TEXT + JSON[:-1] or (packing == "" and suffix in PARQUET + ARROW + EXCEL)


def _check_file(path: Path, where: str) -> None:
    try:
        path.lstat()  # `exists` does not tell a path that no file can have from one that none has
    except FileNotFoundError:
        raise TableError(f"{where}: no such file in {str(path.parent)!r}. hint: check the path.") from None
    except (OSError, ValueError) as error:
        raise TableError(f"{where}: cannot be read: {_why(error)}. hint: check the path.") from None
    if not path.exists():
        raise TableError(f"{where}: no such file in {str(path.parent)!r}. hint: check the path.")
    if path.is_dir():
        raise TableError(f"{where}: this is a folder. hint: name one file: {_READ}.")
    check_kind(path, where)
    if path.is_file() and path.stat().st_size == 0:
        raise TableError(f"{where}: the file is empty (0 bytes). hint: check how it was written.")


# ---------------------------------------------------------------- Parquet, Arrow


def _columnar(data: bytes, suffix: str, where: str) -> pl.DataFrame:
    kind, read_it, parquet = "Parquet", pl.read_parquet, suffix in PARQUET
    if rare_in_file(data, parquet=parquet):
        return read_rare(data, where, parquet=parquet)
    if suffix in ARROW:
        # a file starts with its magic word, a stream does not
        kind, read_it = "Arrow (Feather)", pl.read_ipc if data.startswith(b"ARROW1") else pl.read_ipc_stream
    if suffix in ARROW:
        check_arrow(data, where)
    check_fits(_decoded(data, suffix), where)
    try:
        return read_it(data)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
        if find_spec("pyarrow"):
            return read_rare(data, where, parquet=parquet)  # its own error, where the file is damaged
        raise TableError(
            f"{where}: not a {kind} file, a damaged one, or one with columns of a rare type. hint: check the suffix, "
            "write the file again, or pip install pyarrow, which reads rare types."
        ) from None


def _decoded(data: bytes, suffix: str) -> int:
    """Return how many bytes the rows of a Parquet or an Arrow file take at least; 0 where reading says what is wrong.

    A column of equal values takes nothing in such a file.
    """
    try:
        lazy = (pl.scan_parquet if suffix in PARQUET else pl.scan_ipc)(io.BytesIO(data))
        widths = (pl.Series([None] * 64, dtype=kind).estimated_size() / 64 for kind in lazy.collect_schema().values())
        n_rows = int(lazy.select(pl.len()).collect().item())
        return round(n_rows * sum(map(float, widths)))
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, TypeError, ValueError):
        return 0
