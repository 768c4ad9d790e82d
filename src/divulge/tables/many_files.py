"""One table in several files: a folder, or a pattern such as "part-*.parquet"."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TypeVar
from urllib.parse import unquote

import polars as pl

from divulge.core.errors import NoRowsError, TableError, tidy
from divulge.tables.excel_files import sheet_in
from divulge.tables.frames import Table, table_of
from divulge.tables.stacking import one_column

__all__ = ["PARTS", "in_files", "in_names", "is_several", "joined", "with_rows"]

_T = TypeVar("_T")

PARTS = "files were read as one table"
_PATTERN = "*?["
_NOTHING = "__HIVE_DEFAULT_PARTITION__"
"""How Hive and Spark write a missing value in the name of a folder."""


def is_several(path: str | PathLike[str]) -> bool:
    """Return whether a path is a folder or a pattern, and no file."""
    place, sheet = sheet_in(path)
    try:
        return not sheet and (place.is_dir() or (any(sign in str(path) for sign in _PATTERN) and not place.exists()))
    except (OSError, ValueError):  # a path that no file can have; the reader says so
        return False


def in_files(path: str | PathLike[str], role: str, is_table: Callable[[Path], bool]) -> list[Path]:
    """Return the files of a folder, with those of the folders in it, or of a pattern; ordered by their paths.

    Names that begin with "." or "_" are left out: programs write marks and logs under such names.

    Raises
    ------
    TableError
        There is no table, or a folder may not be read: its rows would be missing without a word.
    """
    place = Path(path)
    found = _below(place, role) if place.is_dir() else (Path(p) for p in glob.glob(str(path), recursive=True))
    start = len(place.parts) if place.is_dir() else 0
    files = [p for p in found if p.is_file() and is_table(p) and not _hidden(p.parts[start:])]
    if not files:
        what = "the folder has no table" if place.is_dir() else "no table has a name of this pattern"
        raise TableError(
            f"{role}: {tidy(place.name or path)}: {what}. hint: CSV, JSON lines, Parquet, Arrow or Excel files."
        )
    return sorted(files)


def _below(folder: Path, role: str) -> Iterator[Path]:
    """Yield all files in a folder and in those in it."""

    def refuse(error: OSError) -> None:
        where = Path(error.filename or folder).name
        raise TableError(f"{role}: {tidy(where)}: cannot be read: {error.strerror}. hint: check the path.")

    for place, _, names in os.walk(folder, onerror=refuse):
        yield from (Path(place) / name for name in names)


def _hidden(parts: Sequence[str]) -> bool:
    return any(part.startswith((".", "_")) for part in parts)


def joined(path: str | PathLike[str], files: Sequence[Path], tables: Sequence[Table], role: str) -> Table:
    """Return the rows of several files as one table, one file after the other.

    Folders named `column=value` on the way from `path` to a file, as Hive and Spark write them, are a column of text.

    Raises
    ------
    TableError
        The files do not have the same columns.
    """
    frames = [t.named().with_columns(**in_names(f, path)) for f, t in zip(files, tables, strict=True)]
    columns = frames[0].columns
    for file, frame in zip(files[1:], frames[1:], strict=True):
        _check_alike(role, (files[0], file), (columns, frame.columns))
    whole = pl.DataFrame({c: one_column([f[c] for f in frames]) for c in columns})
    notes = _told_once([note for t in tables for note in t.notes])
    if len(files) > 1:
        notes.append(f"{role}: {len(files)} {PARTS}")
    return replace(table_of(whole, role), notes=tuple(dict.fromkeys(notes)), missing=tables[0].missing)


def _told_once(notes: Sequence[str]) -> list[str]:
    """Return notes on files; what holds of several files is told of the first, and of how many more."""
    alike: dict[str, list[str]] = {}
    for note in dict.fromkeys(notes):
        role, _, rest = note.partition(": ")
        _, _, what = rest.partition(": ")
        alike.setdefault(f"{role}\0{what}" if what else note, []).append(note)
    return [
        first if not more else f"{first} (and so of {len(more)} more {'file' if len(more) == 1 else 'files'})"
        for first, *more in alike.values()
    ]


def with_rows(
    files: Sequence[Path],
    role: str,
    read: Callable[[Path], _T],
    columns: Callable[[Path], Sequence[str] | None],
) -> tuple[list[Path], list[_T]]:
    """Return the files that have rows, and what is read of each; Spark, for one, also writes files without rows.

    Parameters
    ----------
    read
        Reads one file.
    columns
        Tells the columns of one file; None where only a reader knows them.

    Raises
    ------
    TableError
        None has rows, or one without rows has other columns; and as `read`.
    """
    found: dict[Path, _T] = {}
    empty: dict[Path, NoRowsError] = {}
    for file in files:
        try:
            found[file] = read(file)
        except NoRowsError as error:
            empty[file] = error
    if not found:
        raise next(iter(empty.values()))
    first = next(iter(found))
    for file in empty:
        own, others = columns(file), columns(first)
        if own is not None and others is not None:
            _check_alike(role, (first, file), (others, own))
    return list(found), list(found.values())


def _check_alike(role: str, files: tuple[Path, Path], columns: tuple[Sequence[str], Sequence[str]]) -> None:
    """Raise a `TableError` where two files have not the same columns, in whatever order."""
    if odd := sorted(set(columns[0]) ^ set(columns[1])):
        there, lacking = files if odd[0] in columns[0] else files[::-1]
        raise TableError(
            f"{role}: the files have different columns: {odd[0]!r} is in {tidy(there.name)} and not in "
            f"{tidy(lacking.name)}. hint: write them alike, or name those of one table alone; assess, compare, "
            "plan, split, membership, fidelity and quality take tables with relations."
        )


def in_names(file: Path, path: str | PathLike[str]) -> dict[str, pl.Expr]:
    """Return the columns named by the folders between a file and the folder or pattern that was given."""
    given = Path(path).parts
    start = next((i for i, part in enumerate(given) if any(sign in part for sign in _PATTERN)), len(given))
    pairs = [part.partition("=") for part in file.parts[start:-1]]
    return {
        unquote(name): pl.lit(None if value == _NOTHING else unquote(value), dtype=pl.String)
        for name, equals, value in pairs
        if equals and name
    }
