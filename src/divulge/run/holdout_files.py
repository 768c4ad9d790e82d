"""Split the table in a file and write both parts with the texts, header and separator of the file."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from divulge.core.atomic_write import check_writable, replacing, why_not
from divulge.core.errors import SettingError
from divulge.run.holdout_split import Division, split_rows
from divulge.tables.csv_files import parse_csv
from divulge.tables.frames import Table, table_of
from divulge.tables.parquet import write_parquet
from divulge.tables.readers import EXCEL, PARQUET, TEXT, content_of, table_in

__all__ = ["next_command", "split_file"]

Ints = NDArray[np.int64]
Format = Literal["same", "csv", "parquet"]


@dataclass(frozen=True, slots=True)
class _File:
    """A table in a file; its cells are the texts that stand there."""

    table: Table
    suffix: str
    typed: Callable[[pl.Series], pl.Series]
    """Reads a column of the table as `divulge.read` does."""
    separator: str = ","
    header: str | None = None
    """The first line of a text file, unchanged."""
    notes: tuple[str, ...] = ()


def split_file(
    path: str | Path,
    folder: str | Path,
    *,
    holdout: float = 0.5,
    unit: str | None = None,
    stratify: Sequence[str] = (),
    seed: int = 0,
    together: bool = False,
    missing: Sequence[str] = (),
    kind: Format = "same",
    force: bool = False,
) -> tuple[Division, Path, Path]:
    """Split the table in a file and write both parts into a folder; return the division and the two paths.

    The cells of a CSV file are written with the same text, header and separator, encoded as UTF-8. Parquet made from
    CSV has columns of numbers where `divulge.read` would read numbers.

    Raises
    ------
    SettingError, ColumnError, TableError
        As in `split`. Also: an output file exists and `force` is not given, or it is the file that is read; the folder
        cannot be written; files of this kind (Excel) cannot be written.
    """
    if not str(folder).strip():
        raise SettingError("--out: the name of the folder is empty. hint: an unset variable of the shell?")
    source = _opened(path, missing)
    suffix = _suffix(source.suffix, kind)
    folder = Path(folder)
    targets = folder / f"real{suffix}", folder / f"holdout{suffix}"
    for target in targets:
        if str(path) != "-" and target.exists() and os.path.samefile(target, path):
            raise SettingError(f"--out: {target.name} is the table itself. hint: name another folder.")
        if target.exists() and not force:
            raise SettingError(f"--out: {target.name} is there already. hint: another folder, or --force.")
    _check_folder(folder)
    found = split_rows(
        source.table, holdout=holdout, unit=unit, stratify=stratify, seed=seed, together=together, missing=missing,
        typed=source.typed,
    )  # fmt: skip
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with replacing(targets[0]) as first, replacing(targets[1]) as second:
            for file, rows in ((first, found.real), (second, found.holdout)):
                _write(source, rows, file, suffix)
    except OSError as error:
        raise _cannot_write(error) from None
    return replace(found, notes=(*source.notes, *found.notes)), *targets


def _opened(path: str | Path, missing: Sequence[str]) -> _File:
    """Return the table of a file; the cells of a text file are text."""
    content = content_of(path, "table")
    if content.suffix not in TEXT:
        table = table_in(content, "table")
        return _File(table, content.suffix, lambda column: column, notes=table.notes)
    text = parse_csv(content.unzipped(), content.where, content.suffix)
    named = text.frame.rename(dict(zip(text.frame.columns, text.names, strict=True)))
    return _File(
        table_of(named, "table"), content.suffix, lambda column: text.typed(column, missing), text.separator,
        text.header, text.notes,
    )  # fmt: skip


def _suffix(own: str, kind: Format) -> str:
    """Return the suffix of the files to write."""
    if kind != "same":
        return f".{kind}"
    if own in EXCEL:
        raise SettingError("--format: Excel files are read and not written. hint: --format csv or parquet.")
    return own


def _check_folder(folder: Path) -> None:
    try:
        check_writable(folder)
    except OSError as error:
        raise _cannot_write(error) from None


def _cannot_write(error: OSError) -> SettingError:
    return SettingError(f"--out: cannot write there ({why_not(error)}). hint: name another folder.")


def _write(source: _File, rows: Ints, file: BinaryIO, suffix: str) -> None:
    """Write some rows of a table to a file of the kind that a suffix names."""
    assert source.table.frame is not None
    frame = source.table.frame[rows]
    names = dict(zip(frame.columns, source.table.columns, strict=True))
    if suffix in TEXT:
        own = source.header is not None
        if own:
            file.write(f"{source.header}\n".encode())
        try:
            frame.rename(names).write_csv(file, include_header=not own, separator=source.separator)
        except pl.exceptions.PolarsError:
            raise SettingError("--format: columns of lists cannot be CSV. hint: --format parquet.") from None
        return
    if source.header is not None:
        typed = [source.typed(c) for c in source.table.frame.get_columns()]
        frame = pl.DataFrame(typed)[rows]
    if suffix in PARQUET:
        write_parquet(frame.rename(names), file)
    else:
        frame.rename(names).write_ipc(file)


def next_command(real: Path, holdout: Path, unit: str | None) -> str:
    """Return the command to run after a split."""
    named = [] if unit is None else ["--unit", unit]
    return shlex.join(["divulge", "assess", str(real), "synthetic.csv", "--holdout", str(holdout), *named])
