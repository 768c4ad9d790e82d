"""A table of a DuckDB file, named FILE.duckdb::TABLE; the database is read, never written."""

from __future__ import annotations

import re
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from divulge.core.errors import TableError, tidy
from divulge.tables._duckdb_base import base_of, engine_of
from divulge.tables.engine_errors import engine_error

__all__ = ["allow_files_under", "in_database", "relation_in", "table_in_base"]

_PART = re.compile(r'"(?:[^"]|"")*"|[^."]+')
_NAMED = re.compile(r"(?P<file>.+\.(?:duckdb|ddb|db))::(?P<table>.+)", re.I | re.S)

_may_read: list[Path] = []
"""Folders whose files views of DuckDB files may read."""


def allow_files_under(folders: Sequence[str]) -> None:
    """Have views of DuckDB files that are opened from now on read files of these folders, and of no others."""
    _may_read[:] = map(Path, folders)


def in_database(path: str | PathLike[str]) -> bool:
    """Return whether a path names a table of a database.

    Examples
    --------
    >>> in_database("warehouse.duckdb::people"), in_database("people.csv")
    (True, False)
    """
    return _NAMED.fullmatch(str(path)) is not None


def relation_in(path: str | PathLike[str], role: str) -> tuple[Any, Any]:
    """Return the DuckDB relation of FILE.duckdb::TABLE, and its connection; TABLE may be a view and name its schema.

    The relation can be read as long as the connection exists: older versions of DuckDB close it when nothing holds it.

    Raises
    ------
    FrameError
        DuckDB is not installed.
    TableError
        No such file, no database, or no such table in it.
    """
    base, table = table_in_base(path, role)
    return base.sql(f"from {table}"), base


def table_in_base(path: str | PathLike[str], role: str) -> tuple[Any, str]:
    """Return a connection to the file of FILE.duckdb::TABLE, and the name of the table as SQL writes it.

    Raises
    ------
    FrameError, TableError
        As `relation_in`.
    """
    named = _NAMED.fullmatch(str(path))
    assert named is not None
    file, table = Path(named["file"]), named["table"]
    where = f"{role}: {tidy(file.name)}"
    duckdb = engine_of(where)
    try:
        is_there = file.is_file()
    except OSError as error:
        raise TableError(f"{where}: cannot be read: {error.strerror}. hint: check the path.") from None
    if not is_there:
        raise TableError(f"{where}: no such file in {str(file.parent)!r}. hint: check the path.")
    try:
        base = base_of(file, where, _may_read)
    except duckdb.Error:
        raise TableError(
            f"{where}: DuckDB cannot open it. hint: is it a DuckDB file, of a version that the installed DuckDB reads, "
            "that you may read and no other program holds open for writing?"
        ) from None
    try:
        base.execute(f"from {_quoted(table)} limit 0")
    except duckdb.PermissionException as error:
        raise engine_error(error, where) from None
    except duckdb.Error:
        names = [str(name) for (name,) in base.sql("select table_name from information_schema.tables").fetchall()]
        there = ", ".join(map(tidy, sorted(names)[:10])) or "no table"
        raise TableError(
            f"{where}: there is no table {tidy(table)!r} that can be read. hint: it has {there}."
        ) from None
    return base, _quoted(table)


def _quoted(name: str) -> str:
    """Return the name of a table, its parts in quotation marks: nothing of it is read as a query."""
    parts = _PART.findall(name)
    if ".".join(parts) != name:
        parts = [name]
    return ".".join(p if p[0] == p[-1] == '"' and len(p) > 1 else '"' + p.replace('"', '""') + '"' for p in parts)
