"""Split the table in a file and write both parts with the texts, header and separator of the file."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from divulge.core.atomic_write import check_writable, new_folder, replacing, why_not
from divulge.core.errors import SettingError
from divulge.run.splitting.holdout_split import Division, split_rows
from divulge.tables.excel_files import EXCEL, sheet_in
from divulge.tables.verbatim import open_verbatim

__all__ = ["next_command", "split_file"]

Format = Literal["same", "csv", "parquet"]


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
    source = open_verbatim(path, missing)
    suffix = _suffix(source.suffix, kind)
    folder = Path(folder)
    targets = folder / f"real{suffix}", folder / f"holdout{suffix}"
    for target in targets:
        if str(path) != "-" and target.exists() and os.path.samefile(target, sheet_in(path)[0]):
            raise SettingError(f"--out: {target.name} is the table itself. hint: name another folder.")
        if target.exists() and not force:
            raise SettingError(f"--out: {target.name} is there already. hint: another folder, or --force.")
    _check_folder(folder)
    found = split_rows(
        source.table, holdout=holdout, unit=unit, stratify=stratify, seed=seed, together=together, missing=missing,
        typed=source.typed,
    )  # fmt: skip
    try:
        new_folder(folder, private=True)
        with replacing(targets[0], private=True) as first, replacing(targets[1], private=True) as second:
            for file, rows in ((first, found.real), (second, found.holdout)):
                source.write(file, suffix, rows)
    except OSError as error:
        raise _cannot_write(error) from None
    return replace(found, notes=(*source.notes, *found.notes)), *targets


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


def next_command(real: Path, holdout: Path, unit: str | None) -> str:
    """Return the command to run after a split."""
    named = [] if unit is None else ["--unit", unit]
    return shlex.join(["divulge", "assess", str(real), "synthetic.csv", "--holdout", str(holdout), *named])
