"""`divulge.audit`: train a generator again and again on tables that divulge's coins made, and say what it discloses."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl

from divulge.auditing import worker
from divulge.auditing.design import Design, Trial
from divulge.auditing.designs import Asked, design_of
from divulge.auditing.documents.words import time_in_words
from divulge.auditing.model import Audit, AuditedTable
from divulge.auditing.pool import Pool
from divulge.auditing.processes import Processes
from divulge.auditing.report import AuditReport
from divulge.auditing.result import AuditResult
from divulge.auditing.runner import FIRST, Limits, Ran, Runner
from divulge.auditing.source import Source, open_source
from divulge.auditing.store import Plan, Store, fresh
from divulge.auditing.trainers import trainer_of
from divulge.auditing.verdict import counted, judged, verdict_of
from divulge.core import __version__
from divulge.core.errors import SettingError
from divulge.core.private_folders import PrivateFolder
from divulge.core.schema import column_names
from divulge.report.environment import stated_moment, stated_seconds
from divulge.report.formatting import several
from divulge.run.making.progress import Progress, shown

__all__ = ["audit", "concluded", "open_trial", "plan_of"]

_MOST_RUNS = 100_000


def audit(
    data: Any,
    generator: Any,
    *,
    design: str | Design = "secrets",
    secrets: Sequence[str] | str = (),
    runs: int | None = None,
    everyone: bool = False,
    claim: float | None = None,
    delta: float | None = None,
    unit: str | None = None,
    ignore: Sequence[str] = (),
    missing: Sequence[str] = (),
    rows: int | None = None,
    jobs: int = 1,
    budget: float | None = None,
    timeout: float | None = None,
    keep: str | Path | None = None,
    resume: bool = False,
    discard: bool = False,
    dry_run: bool = False,
    level: float = 0.95,
    acceptable: float = 0.05,
    seed: int = 0,
    progress: Progress | bool | None = None,
    say: Callable[[str], None] = lambda told: None,
) -> AuditReport:
    """Test a generator that can be trained again: divulge tosses coins, trains, attacks, and counts hits.

    Parameters
    ----------
    data
        The real people: a path or a frame of any kind.
    generator
        A command with places, as "python train.py {train} {synthetic} --seed {seed}" (also {rows}); a function of
        (table, seed); or an object with `fit` and `sample` or `generate`. A function gets the kind of frame that
        `data` is. Each training is a process of its own where the generator can be pickled.
    design
        "secrets", "halves", "canaries", "target" or "domain": what the trainings differ in.
    secrets
        Columns whose values are exchanged between people (design "secrets"). None takes the last column that may be
        one, with few values where a column has few, and says so.
    runs
        Number of trainings; None takes that of the design.
    everyone
        Whether all people take part in the exchange, not a third of them.
    claim, delta
        Epsilon that the generator claims, and its delta; None is about 1 / (10 times the number of people),
        and said.
    unit
        Column of the person or household.
    ignore, missing
        Columns to leave out of the attacks; texts that stand for missing.
    rows
        Rows that each training is asked for; None for as many as it is trained on.
    jobs
        Trainings at a time.
    budget
        Seconds; no training is started that would not end within them.
    timeout
        Seconds of one training; None takes ten times the longest so far.
    keep
        Folder for finished trainings; None keeps nothing.
    resume
        Whether trainings that the folder holds are taken.
    discard
        Whether the audit that the folder holds is removed first.
    dry_run
        Whether only the first two trainings are made.
    level, acceptable
        Confidence level; largest upper limit of risk that counts as none found.
    seed
        Seed of all coins and of the seeds of the trainings. Keep it from the generator's author.
    progress
        As in `divulge.assess`; what is called gets a text, the number of finished trainings and of all.
    say
        Called with what the first two trainings show: how long all will take, and what they can find.

    Returns
    -------
    AuditReport
        Verdict, results, trainings, and documents.

    Raises
    ------
    DivulgeError
        The table, the generator or an option cannot be used; no training gave a table.

    Examples
    --------
    >>> import random
    >>> ages, floors = [i % 50 for i in range(100)], [i % 3 for i in range(100)]
    >>> people = pl.DataFrame({"age": ages, "floor": floors, "ill": random.Random(1).choices("ab", k=100)})
    >>> audit(people, lambda table: table, design="halves", runs=1).verdict
    'excess found'
    """
    if os.environ.get(worker.PREPARING):
        raise SettingError(
            "the script of the generator calls divulge.audit where it is imported. hint: put the call under "
            "`if __name__ == '__main__':`."
        )
    began, started = time.monotonic(), datetime.now(UTC)
    _check(runs, jobs, budget, timeout, rows, seed)
    asked = Asked(
        secrets=column_names("secrets", secrets), everyone=everyone, claim=claim, delta=delta, level=level,
        acceptable=acceptable,
    )  # fmt: skip
    chosen, usual = design_of(design, asked) if isinstance(design, str) else (design, design.n_least)
    limits = Limits(max(runs or usual, chosen.n_least), jobs, budget, timeout, rows, dry_run)
    if runs is not None and runs < chosen.n_least:
        raise SettingError(f"--runs: the design {chosen.name!r} needs {chosen.n_least}. hint: --runs {chosen.n_least}.")
    processes = Processes()
    trainer = trainer_of(generator, processes, jobs)
    source = open_source(data, seed=seed, unit=unit, ignore=column_names("ignore", ignore), missing=missing)
    chosen, trial = open_trial(chosen, source.pool)
    plan = plan_of(chosen, source, trainer.digest, rows)
    temporary = PrivateFolder("divulge-audit-")
    try:
        if keep is not None and discard:
            fresh(keep)
        store = Store(temporary.path / "kept" if keep is None else keep, plan, resume=resume, lasting=keep is not None)
        with shown(progress) as tell:
            ran = Runner(
                source, trial, trainer, store, processes, limits, progress=tell,
                outlook=lambda seconds: _say_outlook(say, seconds, trial, limits, trainer.alone),
            ).run()  # fmt: skip
    finally:
        temporary.remove()
    return concluded(chosen, trial, source, ran, words_of(generator), asked, (began, started))


def open_trial(design: Design, pool: Pool) -> tuple[Design, Trial]:
    """Return the design, with what it chose for these people where it was left open, and its trial."""
    trial = design.prepare(pool)
    return getattr(trial, "design", design), trial


def plan_of(design: Design, source: Source, generator: str, rows: int | None) -> Plan:
    """Return what the trainings depend on."""
    pool = source.pool
    return Plan(
        design=design.name, settings=dict(design.settings), seed=pool.seed, table=source.digest, generator=generator,
        unit=pool.unit, ignore=pool.ignore, missing=pool.missing, rows=rows,
    )  # fmt: skip


def concluded(
    design: Design,
    trial: Trial,
    source: Source,
    ran: Ran,
    generator: str,
    asked: Asked,
    began: tuple[float, datetime],
    **mend: str,
) -> AuditReport:
    """Return the report on the trainings of an audit; `mend` is what to do where too many failed."""
    pool = source.pool
    trained = counted(ran.runs, stated_seconds(ran.seconds))
    results = judged(trial.conclude(ran.evidence, ran.runs), trained)
    verdict, sentence = verdict_of(results, trained, **mend)
    found = Audit(
        version=__version__, started=stated_moment(began[1]), seconds=stated_seconds(time.monotonic() - began[0]),
        design=design.name, settings=dict(design.settings), seed=pool.seed, level=asked.level,
        acceptable=asked.acceptable, generator=generator,
        table=AuditedTable(rows=pool.table.n_rows, columns=pool.table.columns, unit=pool.unit, sha256=source.digest),
        trainings=trained, verdict=verdict, sentence=sentence, outlook=trial.outlook(trained.done),
        results=tuple(r.record() for r in results), runs=tuple(_stated(r) for r in ran.runs),
        notes=(*source.notes, *ran.notes),
    )  # fmt: skip
    return AuditReport(found, _people(pool, results), results)


def _stated(run: Any) -> Any:
    from msgspec.structs import replace

    return replace(run, seconds=stated_seconds(run.seconds))


def _people(pool: Pool, results: Sequence[AuditResult]) -> pl.DataFrame | None:
    """Return what was found about each person, by row of the table as it was given; None where nothing was."""
    columns: dict[str, pl.Series] = {}
    for r in results:
        about = "".join(f" [{part}]" for part in (r.variant, r.target) if part)
        for name, values in r.persons.items():
            columns[f"{r.test} {name}{about}"] = pl.Series(values)
    if not columns:
        return None
    return pl.DataFrame({"row": pl.Series(pool.rows + 1), **columns}).sort("row")


def words_of(generator: Any) -> str:
    """Return the command, or the kind of Python object."""
    if isinstance(generator, str):
        return generator
    kind = generator if hasattr(generator, "__qualname__") else type(generator)
    return f"Python: {kind.__qualname__}"


def _say_outlook(say: Callable[[str], None], seconds: float, trial: Trial, limits: Limits, alone: str) -> None:
    """Say what the first two trainings show."""
    more = limits.runs - FIRST
    if more > 0:
        left = time_in_words(seconds * more / (1 if alone else limits.jobs))
        told = f"one training takes {time_in_words(seconds)}; the other {several(more, 'training')}: {left}"
        if limits.budget is not None and seconds:
            n = FIRST + int(max(0.0, limits.budget - FIRST * seconds) / seconds) * (1 if alone else limits.jobs)
            told += "" if n >= limits.runs else f"; the budget is enough for about {n} in all"
        say(told)
    for sentence in trial.outlook(limits.runs):
        say(sentence)


def _check(
    runs: int | None, jobs: int, budget: float | None, timeout: float | None, rows: int | None, seed: int
) -> None:
    for name, value, least in (("runs", runs, 1), ("jobs", jobs, 1), ("rows", rows, 1), ("seed", seed, 0)):
        if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < least):
            raise SettingError(f"--{name}: not a whole number from {least} on. hint: check --{name}.")
    for name, limit in (("budget", budget), ("timeout", timeout)):
        if limit is not None and not limit > 0:
            raise SettingError(f"--{name}: not a number of seconds above 0. hint: check --{name}.")
    if runs is not None and runs > _MOST_RUNS:
        raise SettingError(f"--runs: more than {_MOST_RUNS:,}. hint: 40 are many.")
