"""Split the table in a file and write both parts with the texts, header and separator of the file."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from divulge.core.atomic_write import check_writable, new_folder, replacing, why_not
from divulge.core.errors import SettingError
from divulge.run.splitting.holdout_split import Division, split_rows
from divulge.run.splitting.linked_split import LinkedDivision, split_linked
from divulge.tables.excel_files import EXCEL, sheet_in
from divulge.tables.folders import table_files
from divulge.tables.verbatim import open_verbatim

__all__ = ["next_command", "split_file", "split_linked_files"]

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


def _suffix(own: str, kind: str) -> str:
    """Return the suffix of the files to write."""
    if kind != "same":
        return f".{kind}"
    if own in EXCEL:
        raise SettingError(
            "the table is an Excel file, which divulge reads and does not write. hint: say what the two parts "
            "are to be: --format csv, or --format parquet."
        )
    return own


def _check_folder(folder: Path) -> None:
    try:
        check_writable(folder)
    except OSError as error:
        raise _cannot_write(error) from None


def _cannot_write(error: OSError) -> SettingError:
    return SettingError(f"--out: cannot write there ({why_not(error)}). hint: name another folder.")


def split_linked_files(
    given: str,
    folder: str | Path,
    *,
    kind: str,
    force: bool,
    missing: Sequence[str] = (),
    **settings: Any,
) -> tuple[LinkedDivision, Path, Path]:
    """Split the tables in a folder, or in a list, and write them into the folders `real` and `holdout` of a folder.

    Arguments and errors as for `split_linked` and `split_file`; cells are copied unchanged.
    """
    if not str(folder).strip():
        raise SettingError("--out: the name of the folder is empty. hint: an unset variable of the shell?")
    listed = [given] if Path(given).is_dir() else [part for part in given.split(",") if part.strip()]
    sources = {name: open_verbatim(path, missing) for name, path in table_files(listed, option="TABLE").items()}
    suffixes = {name: _suffix(source.suffix, kind) for name, source in sources.items()}
    sides = Path(folder) / "real", Path(folder) / "holdout"
    targets = {name: [side / f"{name}{suffix}" for side in sides] for name, suffix in suffixes.items()}
    if os.path.isdir(given) and any(side.exists() and os.path.samefile(side, given) for side in sides):
        raise SettingError("--out: its folder real or holdout is the folder of the tables. hint: name another folder.")
    if there := [p for paths in targets.values() for p in paths if p.exists() and not force]:
        raise SettingError(f"--out: {there[0].name} is there already. hint: another folder, or --force.")
    typed = {
        name: s.table.named().with_columns(s.typed(s.table.series(c)).alias(c) for c in s.table.columns)
        for name, s in sources.items()
    }
    found = split_linked(typed, missing=missing, **settings)
    try:
        check_writable(Path(folder))
        for side in sides:
            new_folder(side, private=True)
        with ExitStack() as open_files:
            for name, source in sources.items():
                for path, rows in zip(targets[name], found.rows[name], strict=True):
                    source.write(open_files.enter_context(replacing(path, private=True)), suffixes[name], rows)
    except OSError as error:
        raise SettingError(f"--out: cannot write there ({why_not(error)}). hint: name another folder.") from None
    notes = [note for source in sources.values() for note in source.notes]
    return replace(found, notes=(*notes, *found.notes)), *sides


def next_command(real: Path, holdout: Path, unit: str | None, schema: str | None = None) -> str:
    """Return the command to run after a split."""
    named = [*([] if unit is None else ["--unit", unit]), *([] if schema is None else ["--schema", schema])]
    synthetic = "synthetic" if real.is_dir() else "synthetic.csv"
    return shlex.join(["divulge", "assess", str(real), synthetic, "--holdout", str(holdout), *named])
