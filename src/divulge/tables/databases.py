"""A table of a DuckDB file, named FILE.duckdb::TABLE; the database is read, never written."""

from __future__ import annotations

import re
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

from divulge.core.errors import FrameError, TableError
from divulge.core.result import tidy
from divulge.tables._duckdb_counts import is_new, settled

__all__ = ["engine_of", "in_database", "relation_in", "table_in_base"]

_PART = re.compile(r'"(?:[^"]|"")*"|[^."]+')
_NAMED = re.compile(r"(?P<file>.+\.(?:duckdb|ddb|db))::(?P<table>.+)", re.I | re.S)


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
    connect = partial(duckdb.connect, str(file), read_only=True)
    try:
        # the settings of a base that the user has open are the user's
        alone = is_new(connect, duckdb.ConnectionException)
        base = settled(connect()) if alone else connect()
    except duckdb.Error:
        raise TableError(
            f"{where}: DuckDB cannot open it. hint: is it a DuckDB file, of a version that the installed DuckDB reads, "
            "that you may read and no other program holds open for writing?"
        ) from None
    try:
        base.execute(f"from {_quoted(table)} limit 0")
    except duckdb.Error:
        names = [str(name) for (name,) in base.sql("select table_name from information_schema.tables").fetchall()]
        there = ", ".join(map(tidy, sorted(names)[:10])) or "no table"
        raise TableError(
            f"{where}: there is no table {tidy(table)!r} that can be read. hint: it has {there}."
        ) from None
    return base, _quoted(table)


def engine_of(where: str) -> Any:
    """Return the module of DuckDB; a FrameError where it is not installed, or not pyarrow, in which it answers."""
    try:
        import duckdb
        import pyarrow  # noqa: F401
    except ImportError:
        raise FrameError(f"{where}: DuckDB needs an extra. hint: pip install 'divulge[duckdb]' pyarrow.") from None
    return duckdb


def _quoted(name: str) -> str:
    """Return the name of a table, its parts in quotation marks: nothing of it is read as a query."""
    parts = _PART.findall(name)
    if ".".join(parts) != name:
        parts = [name]
    return ".".join(p if p[0] == p[-1] == '"' and len(p) > 1 else '"' + p.replace('"', '""') + '"' for p in parts)
