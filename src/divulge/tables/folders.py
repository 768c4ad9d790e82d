"""Several tables from files: a folder, or names and paths."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from os import PathLike
from pathlib import Path
from typing import Any

from divulge.core.errors import SettingError, TableError, tidy
from divulge.core.relations import RelationalSchema
from divulge.tables.excel_files import sheet_in
from divulge.tables.frames import Table
from divulge.tables.packed_files import packing_of
from divulge.tables.readers import columns_in, is_table_file, read, read_metadata, read_relational_schema

__all__ = ["is_linked", "linked_sides", "read_tables", "relations_in", "table_files", "table_role", "tables_of_side"]

_HINT = "hint: name a folder, or list them: users=users.csv,orders=orders.csv"


def read_tables(
    given: Sequence[str], *, missing: Sequence[str] = (), option: str = "--tables", side: str = ""
) -> dict[str, Table]:
    """Return the tables of a folder by the names of their files, or those of a list of `name=path`.

    Parameters
    ----------
    given
        One folder, or one text per table: "users=data/users.csv", or a path alone, whose file gives the name.
    missing
        Texts that stand for missing besides empty cells.
    option
        Where they are named, for messages.
    side
        "real" or "synthetic", for messages about a table.

    Raises
    ------
    SettingError
        Nothing is named, or two tables have one name.
    TableError
        A folder without tables, or a file that cannot be read.
    """
    files = table_files(given, option=option)
    folder = f"{tidy(Path(given[0]).resolve().name)}/" if len(given) == 1 and Path(given[0]).is_dir() else ""
    read_ = {name: read(path, role=table_role(name, side), missing=missing) for name, path in files.items()}
    return {name: replace(table, file=f"{folder}{table.file}") for name, table in read_.items()}


def table_role(name: str, side: str) -> str:
    """Return what messages call a table of a side."""
    return f"{side} table {name!r}".lstrip()


def table_files(given: Sequence[str], *, option: str = "--tables") -> dict[str, Path]:
    """Return the files of tables by the names of the tables; arguments and errors as for `read_tables`."""
    if len(given) == 1 and Path(given[0]).is_dir():
        files = [(_stem(p), p) for p in sorted(Path(given[0]).iterdir()) if p.is_file() and is_table_file(p)]
        if not files:
            kinds = "CSV, JSON lines, Parquet, Arrow, Excel"
            raise TableError(f"{option}: the folder {given[0]!r} has no tables ({kinds}). {_HINT}")
    else:
        files = [_named(text, option) for text in given]
    if not files:
        raise SettingError(f"{option}: no table is named. {_HINT}")
    names = [name for name, _ in files]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise SettingError(
            f"{option}: two tables are called {twice[0]!r}. hint: give each a name of its own, name=path."
        )
    return dict(files)


def _named(text: str, option: str) -> tuple[str, Path]:
    name, equals, path = text.partition("=")
    if not equals:
        return _stem(Path(text)), Path(text)
    if not name.strip() or not path.strip():
        raise SettingError(f"{option}: {text!r} lacks a name or a path. {_HINT}")
    return name.strip(), Path(path.strip())


def _stem(path: Path) -> str:
    file, sheet = sheet_in(path)
    return sheet or Path(file.stem if packing_of(file) else file.name).stem


# ---------------------------------------------------------------- linked tables


def relations_in(path: str | PathLike[str] | None) -> RelationalSchema | None:
    """Return the tables and relations that a schema file describes; None where it describes one table."""
    found = None if path is None else read_metadata(path)
    several = len(found.tables if isinstance(found, RelationalSchema) else (found or {}).get("tables", ())) > 1
    return read_relational_schema(path) if several and path is not None else None


def linked_sides(
    sides: Mapping[str, Any], missing: Sequence[str], *, described: bool, engine: str = "auto"
) -> dict[str, dict[str, Any] | None] | None:
    """Return the tables of each side by name; None where a side is one table.

    A side is several tables if it is a list, users=users.csv,orders=orders.csv, or a folder that the schema describes
    as such, or whose files have different columns. Another folder is one table in several files, as each is to an
    engine that counts rows where they are.

    Raises
    ------
    SettingError
        One side is several tables, and another one is not.
    TableError
        A table cannot be read.
    """
    if engine not in ("auto", "memory") and not described:
        return None
    given_sides = {role: given for role, given in sides.items() if given is not None}
    linked = {role: is_linked(given, described=described) for role, given in given_sides.items()}
    named = described or any("=" in given_sides[role] for role, several in linked.items() if several)
    if not (named and any(linked.values())) and not linked["real"]:
        return None
    folders = {role: several or Path(str(given_sides[role])).is_dir() for role, several in linked.items()}
    for role, several in folders.items():
        if not several:
            if isinstance(given_sides[role], str) and not Path(given_sides[role]).exists():
                tables_of_side(given_sides[role], missing, role)  # its reader says that it is not there
            if not named:
                return None  # what the folder lacks to be one table is told
            raise SettingError(
                f"{role}: this is one table, and another side is several. hint: name folders, or lists: "
                "users=users.csv,orders=orders.csv."
            )
    out: dict[str, dict[str, Any] | None] = dict.fromkeys(sides)
    for role, given in sides.items():
        if given is not None:
            out[role] = tables_of_side(given, missing, role)
    return out


def tables_of_side(given: str, missing: Sequence[str], side: str) -> dict[str, Any]:
    """Return the tables of a folder, or of a list, by name.

    Raises
    ------
    TableError
        A table cannot be read, or there is none.
    """
    listed = [given] if Path(given).is_dir() else [part for part in given.split(",") if part.strip()]
    return dict(read_tables(listed, missing=missing, option=side, side=side))


def is_linked(given: Any, *, described: bool) -> bool:
    """Return whether an argument names several tables; `described` says that the schema has several."""
    if not isinstance(given, str):
        return False
    try:
        if not Path(given).is_dir():
            return "=" in given and not Path(given).exists()
        if described:
            return True
        if not any(p.is_file() for p in Path(given).iterdir()):
            return False  # parts of one table in folders
    except (OSError, ValueError):  # the reader says why it cannot be read
        return False
    known = [set(c) for file in table_files([given]).values() if (c := columns_in(str(file))) is not None]
    return any(not (a & b) or a ^ b for a, b in pairwise(known))
