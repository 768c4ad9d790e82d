"""How one training is made: by a command, by a Python object in a process, or by one in this process."""

from __future__ import annotations

import io
import os
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import polars as pl
from numpy.typing import NDArray

from divulge.auditing import worker
from divulge.auditing.adapters import check_generator, synthesize
from divulge.auditing.command import Command, command_of
from divulge.auditing.left_files import unfit, within
from divulge.auditing.pool import Training
from divulge.auditing.processes import GROUPS, Ended, Processes
from divulge.auditing.source import Source
from divulge.core.errors import DivulgeError, SettingError
from divulge.core.memory import most_read
from divulge.report.formatting import several
from divulge.tables.frames import Table, table_of
from divulge.tables.readers import read

__all__ = ["Given", "Made", "Trainer", "trainer_of"]

_HERE = (
    "trainings run in this process, one at a time, without a limit of time, and one that ends the process ends the "
    "audit"
)
_LEAST_LEFT, _TIMES = 1 << 28, 100  # bytes of a synthetic table: at least, and for each of its training table
_LARGEST_TOLD = 1 << 16  # bytes
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "POLARS_MAX_THREADS")


@dataclass(frozen=True, slots=True)
class Given:
    """What one training gets."""

    training: Training
    order: NDArray[np.int64]
    """Order of the rows of the training table."""
    seed: int
    rows: int
    """Rows to make."""
    folder: Path
    """Private folder of this training; it is removed afterwards."""
    log: Path
    limit: float


@dataclass(frozen=True, slots=True)
class Made:
    """What came of one training."""

    seconds: float
    table: Table | None = None
    why: str = ""
    """Why there is no table."""


class Trainer(Protocol):
    """What trains a generator once."""

    @property
    def digest(self) -> str:
        """Hash of what is run; "" where it has none."""

    @property
    def alone(self) -> str:
        """Why only one training can run at a time, without a time limit; "" where several can."""

    def train(self, source: Source, given: Given) -> Made:
        """Train once."""


def trainer_of(generator: Any, processes: Processes, jobs: int) -> Trainer:
    """Return what trains a generator: a command in a text, a function or an object.

    Raises
    ------
    SettingError
        The command cannot be run, here or at all, or the object is no generator.
    """
    environment = _environment(jobs)
    if isinstance(generator, str):
        if not GROUPS:
            raise SettingError(
                "--train: this system has no process groups, by which a command is stopped with all that it started. "
                "hint: run it on Linux, macOS or WSL, or train elsewhere: divulge split --pairs, divulge audit "
                "--from-runs."
            )
        return _ByCommand(command_of(generator), processes, environment)
    check_generator(generator)
    if not GROUPS:
        return _InProcess(generator, alone=f"this system has no process groups: {_HERE}")
    pickled = worker.pickled(generator)
    if pickled is None:
        return _InProcess(generator)
    return _ByWorker(pickled, processes, environment)


def _environment(jobs: int) -> dict[str, str]:
    """Return the environment of a training: each has its share of the processors, unless the user said otherwise."""
    share = str(max(1, (os.cpu_count() or 1) // jobs))
    return {**(dict.fromkeys(_THREADS, share) if jobs > 1 else {}), **os.environ}


@dataclass(frozen=True, slots=True)
class _ByCommand:
    command: Command
    processes: Processes
    environment: Mapping[str, str]
    alone: str = ""

    @property
    def digest(self) -> str:
        return sha256("\0".join(self.command.words).encode("utf-8", "surrogatepass")).hexdigest()

    def train(self, source: Source, given: Given) -> Made:
        train, synthetic = (given.folder / f"{name}{source.suffix}" for name in ("train", "synthetic"))
        source.write(given.training, given.order, train)
        places = {"train": str(train), "synthetic": str(synthetic), "seed": str(given.seed), "rows": str(given.rows)}
        environment = {**self.environment, "DIVULGE_SEED": str(given.seed), "TMPDIR": str(given.folder)}
        # the command may take the file away
        most = max(_LEAST_LEFT, _TIMES * train.stat().st_size * max(1, given.rows // len(given.training.rows)))
        ended = self.processes.run(self.command.filled(places), given.log, environment, given.limit)
        return _read(ended, synthetic, source.pool.missing, most, given.limit)


def _read(ended: Ended, synthetic: Path, missing: tuple[str, ...], most: int, limit: float) -> Made:
    """Return the table that a command wrote."""
    if ended.why:
        return Made(ended.seconds, why=ended.why)
    if not os.path.lexists(synthetic):
        return Made(ended.seconds, why="ended well and wrote no file at {synthetic}")
    if why := unfit(synthetic, most):
        return Made(ended.seconds, why=f"left {why} at {{synthetic}}")
    found: Table | None
    try:
        found = within(limit, lambda: read(synthetic, role="synthetic", missing=missing))
    except DivulgeError as error:
        return Made(ended.seconds, why=f"wrote a file that is no table: {error}")
    why = "" if found is not None else f"wrote a file that was not read within {several(round(limit), 'second')}"
    return Made(ended.seconds, found, why)


@dataclass(frozen=True, slots=True)
class _ByWorker:
    generator: worker.Pickled
    processes: Processes
    environment: Mapping[str, str]
    alone: str = ""
    digest: str = ""

    def train(self, source: Source, given: Given) -> Made:
        table = source.frame(given.training, given.order)
        worker.preparation(given.folder, self.generator, table, given.seed, given.rows)
        words = [sys.executable, "-m", worker.__name__, str(given.folder)]
        environment = {**self.environment, "DIVULGE_SEED": str(given.seed), "TMPDIR": str(given.folder)}
        ended = self.processes.run(words, given.log, environment, given.limit)
        told, arrow = given.folder / worker.TOLD, given.folder / worker.ARROW
        if ended.why and not unfit(told, _LARGEST_TOLD):
            return Made(ended.seconds, why=told.read_text(encoding="utf-8", errors="replace"))
        why = ended.why or unfit(arrow, max(_LEAST_LEFT, most_read() or sys.maxsize))
        if why:
            return Made(ended.seconds, why=why if ended.why else f"left {why} in place of its table")
        try:
            made = io.BytesIO(arrow.read_bytes())  # the folder is removed: nothing may be mapped
            return Made(ended.seconds, table_of(pl.read_ipc(made), "synthetic"))
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
            return Made(ended.seconds, why="left no table that can be read")


@dataclass(frozen=True, slots=True)
class _InProcess:
    generator: Any
    digest: str = ""
    alone: str = (
        "the generator holds what no other process can get (an open file, a connection, a lock): "
        f"{_HERE} (hint: open it inside of the function)"
    )

    def train(self, source: Source, given: Given) -> Made:
        began = time.monotonic()
        try:
            table = synthesize(self.generator, source.frame(given.training, given.order), given.seed, given.rows)
        except DivulgeError as error:
            return Made(time.monotonic() - began, why=str(error))
        except Exception as error:  # whatever a user's generator raises; its message may hold data values
            _log(given.log, error)
            return Made(time.monotonic() - began, why=f"raised {type(error).__name__}")
        return Made(time.monotonic() - began, table)


def _log(log: Path, error: Exception) -> None:
    import traceback

    handle = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
        traceback.print_exception(error, file=file)
