"""Train a generator again and again: several at a time, within a budget, with failures told and finished work kept."""

from __future__ import annotations

import errno
import os
import shutil
import time
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from contextvars import copy_context
from dataclasses import dataclass, field

import numpy as np

from divulge.auditing.checks import Unusable, content_hash, notes_on
from divulge.auditing.design import Evidence, Trial
from divulge.auditing.pool import Training, seed_of
from divulge.auditing.processes import Processes
from divulge.auditing.result import Run
from divulge.auditing.source import Source
from divulge.auditing.store import Finished, Store
from divulge.auditing.trainers import Given, Trainer
from divulge.core import __version__
from divulge.core.atomic_write import is_of_disk, why_not
from divulge.core.errors import DivulgeError, SettingError, TableError
from divulge.report.formatting import enumerated
from divulge.tables.frames import Table

__all__ = ["FIRST", "AuditStopped", "Limits", "NoTraining", "Ran", "Runner"]

FIRST = 2
"""Trainings of the dry run."""
_LONGEST = 3600.0  # seconds of the first training without --timeout and --budget
_TIMES, _LEAST = 10.0, 60.0  # later ones: so many times the longest so far, and no less than this
_LOOK, _ENDING = 0.2, 1.5  # seconds: between looks for a signal, and in which trainings end after one
_FULL = 1 << 20  # bytes that are free where a training that failed has filled the disk
_LARGEST_SEED = 2**31  # what numpy, torch and R take


class AuditStopped(KeyboardInterrupt):
    """An audit was interrupted; finished trainings are kept."""

    def __init__(self, kept: int, planned: int) -> None:
        super().__init__(kept, planned)
        self.kept = kept
        self.planned = planned
        self.what = "trainings"


class NoTraining(DivulgeError):
    """No training of the dry run gave a table."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How many trainings, and how long."""

    runs: int
    jobs: int = 1
    budget: float | None = None
    """Seconds; no training is started that would not end within them."""
    timeout: float | None = None
    """Seconds of one training."""
    rows: int | None = None
    """Rows to make; None for as many as a training table has."""
    first_only: bool = False
    """Whether the audit ends after the dry run."""


@dataclass(frozen=True, slots=True)
class Ran:
    """All trainings of an audit, and what was read in their tables."""

    runs: tuple[Run, ...]
    evidence: dict[int, Evidence]
    notes: tuple[str, ...]
    seconds: float
    """Of all trainings together, also of those that were resumed."""


@dataclass(slots=True)
class _Clock:
    """How long trainings took."""

    began: float = field(default_factory=time.monotonic)
    seconds: list[float] = field(default_factory=list)

    def limit(self, limits: Limits) -> float:
        """Return the seconds that a training may take."""
        if limits.timeout is not None:
            return limits.timeout
        if not self.seconds:
            return _LONGEST if limits.budget is None else max(limits.budget, 1.0)
        return max(_LEAST, _TIMES * max(self.seconds))

    def each(self) -> float:
        """Return the mean seconds of a training so far."""
        return sum(self.seconds) / len(self.seconds) if self.seconds else 0.0

    def fits(self, limits: Limits) -> bool:
        """Return whether another training fits into the budget."""
        return limits.budget is None or time.monotonic() - self.began + self.each() <= limits.budget


class Runner:
    """One audit: its people, its trial, what trains, and where it is kept.

    Parameters
    ----------
    source, trial, trainer, store
        What to train on, what for, how, and where results are kept.
    processes
        Those of the trainer; they end when the audit is interrupted.
    limits
        How many trainings and how long.
    progress
        Called with a text, the number of finished trainings and of all.
    outlook
        Called after the first two trainings with the mean seconds of one.
    """

    def __init__(
        self,
        source: Source,
        trial: Trial,
        trainer: Trainer,
        store: Store,
        processes: Processes,
        limits: Limits,
        *,
        progress: Callable[[str, int, int], None] = lambda what, done, total: None,
        outlook: Callable[[float], None] = lambda seconds: None,
    ) -> None:
        self.source, self.trial, self.trainer, self.store = source, trial, trainer, store
        self.processes, self.limits, self.progress, self.outlook = processes, limits, progress, outlook
        self._clock = _Clock()
        self._done: dict[int, Finished] = {}
        self._evidence: dict[int, Evidence] = {}
        self._going: set[Future[Finished]] = set()
        self._jobs = 1 if trainer.alone else limits.jobs

    def run(self) -> Ran:
        """Train, and return what came of it.

        Raises
        ------
        NoTraining
            Neither of the first two trainings gave a table.
        AuditStopped
            The user interrupted the audit.
        TableError
            The synthetic table does not depend on the training table.
        SettingError
            The folder of the trainings cannot be written, such as on a full disk. What is finished is kept.
        """
        try:
            return self._run()
        except OSError as error:
            if not is_of_disk(error):
                raise
            lasting = self.store.lasting
            where = "the folder" if lasting else "the folder for temporary files"
            hint = "and go on with --resume" if lasting else "or name another one"
            raise SettingError(
                f"--keep: {where} cannot be written ({why_not(error)}). hint: make room there, {hint}."
            ) from None

    def _run(self) -> Ran:
        pool = ThreadPoolExecutor(self._jobs, thread_name_prefix="divulge-train")
        try:
            self._take_kept()
            self._train_all(pool)
        except KeyboardInterrupt:
            raise AuditStopped(len(self._done), self.limits.runs) from None
        finally:
            self._end(pool)
        return self._ran()

    def _end(self, pool: ThreadPoolExecutor) -> None:
        """End all trainings; their threads get some time to remove what these left, and no more than that.

        A second signal may come meanwhile, and changes nothing.
        """
        until = time.monotonic() + _ENDING
        while (left := until - time.monotonic()) > 0:
            with suppress(KeyboardInterrupt):
                self.processes.stop()
                pool.shutdown(wait=False, cancel_futures=True)
                wait(self._going, timeout=left)
                return

    def _take_kept(self) -> None:
        """Take the trainings that an earlier audit finished."""
        for number in range(self.limits.runs):
            kept = self.store.finished(number)
            if kept is not None and kept.run.status == "done":  # one that failed is tried again
                self._take(kept)

    def _train_all(self, pool: ThreadPoolExecutor) -> None:
        todo = [n for n in range(self.limits.runs) if n not in self._done][::-1]
        going, told = self._going, False
        while going or todo:
            while todo and len(going) < self._jobs and self._may_start(len(going)):
                going.add(pool.submit(copy_context().run, self._train, todo.pop(), self._clock.limit(self.limits)))
            if not going:
                break  # the budget is used up
            self._read_tables()  # while the next ones train
            self._show(len(going))
            ended = _ended(going)
            going -= ended
            for future in ended:
                self._take(future.result())
            told = told or self._tell_outlook()
            if told and self.limits.first_only:
                todo.clear()
        self._read_tables()

    def _may_start(self, going: int) -> bool:
        """Return whether a training may start: the first two must give a table before a third one starts."""
        if len(self._done) < FIRST and len(self._done) + going >= FIRST:
            return False
        return not self._done or self._clock.fits(self.limits)

    def _tell_outlook(self) -> bool:
        if len(self._done) < min(FIRST, self.limits.runs):
            return False
        if not any(f.run.status == "done" for f in self._done.values()):
            raise NoTraining(self._why_none())
        self.outlook(self._clock.each())
        return True

    def _why_none(self) -> str:
        first = self._done[min(self._done)].run
        log = self.store.log(first.number)
        if "time limit" in first.reason:
            hint = "a longer time limit (timeout)"
        elif not self.store.lasting:
            hint = "name a folder to keep what it printed (keep)"
        elif log.exists() and log.stat().st_size:
            hint = f"what it printed is in {log} (it may quote people)"
        else:
            hint = "it printed nothing; run the command by hand"
        told = f"no training gave a table. The first one: {first.reason.rstrip('.')}."
        return told if "hint:" in told else f"{told} hint: {hint}."

    def _show(self, going: int) -> None:
        done, total = len(self._done), self.limits.runs
        failed = sum(f.run.status == "failed" for f in self._done.values())
        each = f", {self._clock.each():.1f} s each" if self._clock.seconds else ""
        n_failed = f", {failed} failed" if failed else ""
        self.progress(f"training {min(done + max(going, 1), total)} of {total}{n_failed}{each}", done, total)

    def _take(self, finished: Finished) -> None:
        """Take a finished training."""
        self._done[finished.run.number] = finished
        if finished.run.status == "done":
            self._clock.seconds.append(finished.run.seconds)
            self._check_dependence()

    def _read_tables(self) -> None:
        """Read the synthetic tables that came since the last time."""
        for number in [n for n, f in self._done.items() if f.run.status == "done" and n not in self._evidence]:
            evidence = self.store.evidence(number)
            if evidence is None:
                evidence = self.trial.read(number, self.store.table(number))
                self.store.keep_evidence(number, evidence)
            self._evidence[number] = evidence

    def _check_dependence(self) -> None:
        """Raise an error where two different training tables gave the same synthetic table."""
        trained: dict[str, str] = {}
        for finished in self._done.values():
            if finished.content and trained.setdefault(finished.content, finished.trained) != finished.trained:
                raise TableError(
                    "two trainings on different tables gave the same synthetic table. hint: does the command read "
                    "{train}, and is the file it writes a new one?"
                )

    def _train(self, number: int, limit: float) -> Finished:
        """Train once; a training that fails gets a second attempt with another seed and the same coins."""
        training = self.trial.training(number)
        order = self.source.pool.rng("order of rows", number).permutation(len(training.rows))
        rows = self.limits.rows or len(training.rows)
        trained = _hash_of(training)
        for attempt in (1, 2):
            seed = seed_of(self.source.pool.seed, f"training {attempt}", number) % _LARGEST_SEED
            place = self.store.place(number)
            work = place.absolute() / f"work-{os.getpid()}"  # not that of a training whose audit was killed
            for left in place.glob("work*"):
                shutil.rmtree(left, ignore_errors=True)
            work.mkdir(0o700)
            try:
                made = self.trainer.train(
                    self.source, Given(training, order, seed, rows, work, self.store.log(number), limit)
                )
                free = shutil.disk_usage(work).free
            finally:
                shutil.rmtree(work, ignore_errors=True)
            reason = made.why
            notes: tuple[str, ...] = ()
            if made.table is not None:
                try:
                    notes = notes_on(self.source.pool, made.table, rows)
                except Unusable as error:
                    reason = str(error)
            if self.processes.stopped:
                raise KeyboardInterrupt
            if not reason:
                break
            if free < _FULL:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        run = Run(
            number=number, status="failed" if reason else "done", seed=seed, attempts=attempt, seconds=made.seconds,
            rows=None if made.table is None else made.table.n_rows, reason=reason, notes=notes,
        )  # fmt: skip
        return self._kept(run, None if reason else made.table, trained)

    def _kept(self, run: Run, table: Table | None, trained: str) -> Finished:
        """Keep a training."""
        finished = Finished(version=__version__, run=run, trained=trained)
        if table is not None:
            finished = Finished(
                version=__version__, run=run, trained=trained, content=content_hash(table),
                table=self.store.keep_table(run.number, table),
            )  # fmt: skip
        self.store.keep(finished)
        return finished

    def _ran(self) -> Ran:
        left = [n for n in range(self.limits.runs) if n not in self._done]
        why = "a dry run" if self.limits.first_only else "the budget was used up"
        runs = [self._done[n].run for n in sorted(self._done)]
        runs += [Run(number=n, status="left out", seed=0, attempts=0, reason=why) for n in left]
        seconds = sum(f.run.seconds for f in self._done.values())
        evidence = {n: self._evidence[n] for n in sorted(self._evidence)}
        return Ran(tuple(sorted(runs, key=lambda r: r.number)), evidence, self._notes(), seconds)

    def _notes(self) -> tuple[str, ...]:
        notes = [self.trainer.alone] if self.trainer.alone else []
        if not self.limits.first_only and (before := self.store.looked(len(self._done))):
            notes.append(
                f"there was a report after {enumerated([str(n) for n in before])} trainings: who goes on because of "
                "what it said reads the e-value, which allows for that; p-values and intervals do not"
            )
        seen: dict[str, int] = {}
        for finished in self._done.values():
            if finished.content:
                seen[finished.content] = seen.get(finished.content, 0) + 1
        if any(n > 1 for n in seen.values()):
            notes.append("the generator is deterministic: another seed gave the same table")
        return tuple(notes)


def _ended(going: set[Future[Finished]]) -> set[Future[Finished]]:
    """Return the trainings that have ended, once one has.

    It waits a little at a time: importing polars makes a longer wait go on after a signal.
    """
    while not (ended := wait(going, timeout=_LOOK, return_when=FIRST_COMPLETED).done):
        pass
    return ended


def _hash_of(training: Training) -> str:
    """Return a hash of which cells a training table has, in whatever order."""
    from hashlib import sha256

    names = sorted(training.columns)
    stacked = np.stack([training.rows, *(training.columns[c] for c in names)])
    return sha256(
        "\0".join(names).encode() + np.ascontiguousarray(stacked[:, np.lexsort(stacked)]).tobytes()
    ).hexdigest()
