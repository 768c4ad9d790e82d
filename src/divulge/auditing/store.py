"""What an audit keeps in a folder, so that it can be resumed: the plan, and a folder for each training.

A training is finished when its `run.json` stands, which is written last. The folder is private: logs may quote people.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import zlib
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import polars as pl

from divulge.auditing.design import Evidence
from divulge.auditing.result import Run
from divulge.core import __version__
from divulge.core.atomic_write import replaced, replacing, why_not
from divulge.core.errors import SettingError
from divulge.core.result import tidy
from divulge.tables.frames import Table, table_of
from divulge.tables.parquet import write_parquet

__all__ = ["Finished", "Plan", "Store", "fresh"]

_LOOKS = "looks.json"
_PLAN, _RUN, _LOG, _TABLE, _EVIDENCE = "plan.json", "run.json", "log.txt", "synthetic.parquet", "evidence.kept"
_FORMAT = "divulge-audit-plan/1"
_PRIVATE = 0o700
_CHANGED = {
    "design": "the design", "settings": "the settings of the design", "seed": "the seed", "table": "the table",
    "generator": "the command or generator", "unit": "--unit", "ignore": "--ignore", "missing": "--missing",
    "rows": "--rows",
}  # fmt: skip


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """All that the trainings depend on; a resumed audit must have the same."""

    format: str = _FORMAT
    design: str
    settings: dict[str, Any]
    seed: int
    table: str
    """Hash of the values of the table, without regard to the order of its rows."""
    generator: str
    """Hash of the command; "" for a Python object, which has none."""
    unit: str | None
    ignore: tuple[str, ...]
    missing: tuple[str, ...]
    rows: int | None
    """Rows that each training is asked for; None for as many as it is trained on."""


class Finished(msgspec.Struct, frozen=True, kw_only=True):
    """One training as it is kept."""

    version: str
    run: Run
    table: str = ""
    """Hash of the file of the synthetic table; "" where the training failed."""
    content: str = ""
    """Hash of the cells of the synthetic table."""
    trained: str = ""
    """Hash of the cells of the training table."""


class _Array(msgspec.Struct, frozen=True):
    dtype: str
    shape: tuple[int, ...]
    cells: bytes


class _Kept(msgspec.Struct, frozen=True):
    """The evidence of one training."""

    version: str
    arrays: dict[str, _Array]


class Store:
    """The folder of an audit.

    Parameters
    ----------
    folder
        Created if it is missing; only its owner can read it.
    plan
        What the trainings depend on.
    resume
        Whether trainings that are in the folder are taken.
    lasting
        Whether the folder stays when the audit ends.

    Raises
    ------
    SettingError
        The folder cannot be made, holds something else, or an audit with another plan or without `resume`.
    """

    def __init__(self, folder: str | Path, plan: Plan, *, resume: bool, lasting: bool = True) -> None:
        self.folder = Path(folder)
        self.lasting = lasting
        try:
            self.folder.mkdir(_PRIVATE, parents=True, exist_ok=True)
            self.folder.chmod(_PRIVATE)
            self._check(plan, resume)
            replaced(self.folder / _PLAN, msgspec.json.format(msgspec.json.encode(plan), indent=2), mode=0o600)
        except OSError as error:
            raise SettingError(f"--keep: cannot be written ({why_not(error)}). hint: name another folder.") from None

    def _check(self, plan: Plan, resume: bool) -> None:
        path = self.folder / _PLAN
        if not path.exists():
            if any(self.folder.iterdir()):
                where = tidy(str(self.folder))
                raise SettingError(f"--keep: {where} holds other files. hint: name a folder of its own.")
            return
        try:
            kept = msgspec.json.decode(path.read_bytes(), type=Plan)
        except msgspec.DecodeError:
            raise SettingError("--keep: plan.json is damaged. hint: --fresh, or another folder.") from None
        if not resume:
            where = tidy(str(self.folder))
            raise SettingError(f"--keep: {where} holds an audit. hint: --resume continues it, --fresh discards it.")
        was, now = (msgspec.json.decode(msgspec.json.encode(p)) for p in (kept, plan))  # tuples are lists in a file
        changed = [words for field, words in _CHANGED.items() if was[field] != now[field]]
        if changed:
            raise SettingError(
                f"--resume: the audit in the folder differs in {', '.join(changed)}. hint: --fresh, or another --keep."
            )

    def place(self, run: int) -> Path:
        """Return the folder of a training, made if it is missing."""
        place = self.folder / f"{run:04d}"
        place.mkdir(_PRIVATE, exist_ok=True)
        return place

    def log(self, run: int) -> Path:
        """Return the file of what a training printed."""
        return self.place(run) / _LOG

    def looked(self, n_runs: int) -> tuple[int, ...]:
        """Note that a report of so many trainings is made, and return after how many fewer there was one before."""
        path = self.folder / _LOOKS
        try:
            before = msgspec.json.decode(path.read_bytes(), type=list[int])
        except (OSError, msgspec.DecodeError):
            before = []
        replaced(path, msgspec.json.encode(sorted({*before, n_runs})), mode=0o600)
        return tuple(n for n in before if n < n_runs)

    def finished(self, run: int) -> Finished | None:
        """Return a training that is kept whole, None where there is none."""
        place = self.folder / f"{run:04d}"
        try:
            found = msgspec.json.decode((place / _RUN).read_bytes(), type=Finished)
            if found.run.status == "done" and _hash_of(place / _TABLE) != found.table:
                return None
        except (OSError, msgspec.DecodeError):
            return None
        return found if found.run.number == run else None

    def keep_table(self, run: int, table: Table) -> str:
        """Keep a synthetic table, and return the hash of its file."""
        path = self.place(run) / _TABLE
        with replacing(path, mode=0o600) as file:
            write_parquet(_storable(table.named()), file)
        return _hash_of(path)

    def keep(self, finished: Finished) -> None:
        """Say that a training is finished."""
        path = self.place(finished.run.number) / _RUN
        replaced(path, msgspec.json.format(msgspec.json.encode(finished), indent=2), mode=0o600)

    def table(self, run: int) -> Table:
        """Return the synthetic table of a training that is kept."""
        return table_of(pl.read_parquet(self.place(run) / _TABLE), "synthetic")

    def evidence(self, run: int) -> Evidence | None:
        """Return what this version of divulge read in a synthetic table, None where it read nothing yet."""
        try:
            kept = msgspec.msgpack.decode(zlib.decompress((self.place(run) / _EVIDENCE).read_bytes()), type=_Kept)
            if kept.version != __version__:
                return None
            return {name: np.frombuffer(a.cells, a.dtype).reshape(a.shape).copy() for name, a in kept.arrays.items()}
        except (OSError, ValueError, TypeError, zlib.error, msgspec.DecodeError):
            return None

    def keep_evidence(self, run: int, evidence: Evidence) -> None:
        """Keep what was read in a synthetic table."""
        arrays = {
            name: _Array(dtype=a.dtype.str, shape=a.shape, cells=np.ascontiguousarray(a).tobytes())
            for name, a in evidence.items()
        }
        packed = msgspec.msgpack.encode(_Kept(version=__version__, arrays=arrays))
        replaced(self.place(run) / _EVIDENCE, zlib.compress(packed, 1), mode=0o600)


def fresh(folder: str | Path) -> None:
    """Remove the audit that a folder holds: its plan and its trainings, and nothing else."""
    folder = Path(folder)
    if folder.is_symlink() or not (folder / _PLAN).exists():
        return
    for path in folder.iterdir():
        if path.name in (_PLAN, _LOOKS):
            path.unlink()
        elif path.is_dir() and not path.is_symlink() and path.name.isdigit():
            shutil.rmtree(path)


def _storable(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a frame without columns of Python objects, which no file holds."""
    objects = [s.name for s in frame.get_columns() if s.dtype == pl.Object]
    return frame.with_columns(frame[c].cast(pl.String, strict=False) for c in objects) if objects else frame


def _hash_of(path: Path) -> str:
    with os.fdopen(os.open(path, os.O_RDONLY), "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
