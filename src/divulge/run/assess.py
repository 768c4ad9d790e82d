"""Run the attacks on three tables, correct for their number, survive one that fails. Never prints."""

from __future__ import annotations

import dataclasses
import signal
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import groupby
from math import inf, isfinite
from pathlib import Path
from typing import Any, Literal, NamedTuple, cast

import msgspec
import numpy as np
from msgspec.structs import replace

from divulge.attacks import CATALOGUE
from divulge.attacks.checks import ACCEPTABLE, hold_back
from divulge.attacks.inference.inference import UNTAUGHT, WAYS
from divulge.attacks.key_sets import Disclosing, KeySet, minimal_disclosing, ranked_key_sets
from divulge.attacks.multiplicity import correct
from divulge.case.case import Case, build_case
from divulge.case.preconditions import CRITICAL, check_all, table_facts
from divulge.core import __version__
from divulge.core.errors import ColumnError, DivulgeError, SettingError
from divulge.core.result import TOWARDS, Result, counts_guesses, counts_rows, hits_are, label, number, percent
from divulge.core.schema import Schema, check_columns
from divulge.kernels.neighbours.index import warm_up
from divulge.kernels.runtime import one_by_one
from divulge.measures.single_table import utility as utility_of
from divulge.report.environment import package_versions
from divulge.report.report import Report
from divulge.run.checkpoints import Checkpoint, CheckpointStore, Interrupted, key_of
from divulge.run.positive_control import KINDS, check_share
from divulge.run.positive_control import positive_control as controlled
from divulge.run.records import exposed_strangers, per_record
from divulge.stats import holm
from divulge.tables.frames import fingerprint

__all__ = ["Finished", "assess"]

Progress = Callable[[str, int, int], None]
Search = Literal["default", "full", "off"]

_KEEP = 20
_TESTS = 3000  # comparisons of a search at most
_INFERRED = 40  # targets that are attacked knowing all other columns, when none are named
_TAUGHT = 3_000_000  # people times targets up to which models are trained without being asked for: about two minutes

_CONTROL = "positive control"
_FIRST = ("copies", "singling_out", "linkability", "dcr", "inference", "cap")
"""Attacks in the order of their weight, for a run whose time may be up; the others follow in the order of the plan."""
_HEADLINES = ("copies", "singling_out", "linkability", "inference")
"""Attacks without any of which "none found" is not said of the whole run."""
_TIME_UP = "the time was up"


class Finished(NamedTuple):
    """What was done about one attack, told when the last of its tests is done or left out."""

    attack: str
    n: int
    """Tests that were made, or taken from the folder of kept ones."""
    seconds: float
    """That they took, when they were made."""
    kept: int
    """Of `n`: taken from the folder."""
    failed: int
    """Of `n`: failed."""
    left_out: int
    """Tests that were not made, as the time was up."""


@dataclass(frozen=True, slots=True)
class _Task:
    attack: str
    settings: dict[str, Any]
    in_family: bool = False
    """One of many: its resampling is shared by the family."""


class _Answer(NamedTuple):
    """What came of a task: results, or why it failed, or None where it was left out."""

    found: tuple[Result, ...] | str | None
    kept: bool = False
    untaught: bool = False
    """Models were left out, as time was short."""


@dataclass(frozen=True, slots=True)
class _Clock:
    """The time that a run may take."""

    began: float
    budget: float | None

    @property
    def used(self) -> float:
        """The share of the budget that is used up; 0 without one."""
        return 0.0 if self.budget is None else (_now() - self.began) / self.budget if self.budget else inf

    def left(self) -> float:
        return inf if self.budget is None else self.budget - (_now() - self.began)

    @property
    def up(self) -> bool:
        return self.left() <= 0


def _now() -> float:
    return time.perf_counter()


@dataclass
class _Watch:
    """Tells which attack runs and, while it searches for long, how far the search is."""

    progress: Progress
    what: str = ""
    done: int = 0
    total: int = 1
    stopped: bool = False
    """The run was interrupted: threads that search for long stop when they next tell how far they are."""

    def attacking(self, what: str, done: int, total: int) -> None:
        self.what, self.done, self.total = what, done, total
        self.progress(what, done, total)

    def searching(self, rows: int, of: int) -> None:
        if self.stopped:
            raise KeyboardInterrupt
        if self.what and rows < of:
            self.progress(f"{self.what}: {rows:,} of {of:,} rows searched", self.done, self.total)


@dataclass
class _Plan:
    tasks: list[_Task]
    key_sets: list[KeySet] = field(default_factory=list)
    minimal: list[Disclosing] = field(default_factory=list)
    described: list[str] = field(default_factory=list)
    """Targets for which the minimal key sets are to be listed, after all tests."""
    notes: list[str] = field(default_factory=list)


@dataclass
class _Run:
    """What came of the tests of a case."""

    results: list[Result]
    failed: list[dict[str, str]]
    left_out: list[dict[str, Any]]


@dataclass
class _Runner:
    """Makes the tests of a case: those that are kept are read, and none begins once the time is up."""

    watch: _Watch
    clock: _Clock
    keeper: CheckpointStore | None
    finished: Callable[[Finished], None]
    models: bool | None

    def untimed(self) -> _Runner:
        """Return a runner without a limit of time, that tells of no attack."""
        return dataclasses.replace(self, clock=_Clock(0.0, None), finished=lambda done: None)

    def made(self, case: Case, task: _Task, about: str) -> _Answer:
        """Return what comes of a task; `about` is the hash of all that the results of this case follow from."""
        kept = self._kept(case, task, about)
        if kept is not None or self.clock.up:
            return _Answer(kept, kept=kept is not None)
        untaught = self.models is None and self.clock.used > 0.5 and "model" in task.settings.get("ways", ())
        if untaught:
            task = _without_models([task])[0]
            kept = self._kept(case, task, about)
        if kept is not None:
            return _Answer(kept, kept=True, untaught=untaught)
        found = _attacked(dataclasses.replace(case, draws=0) if task.in_family else case, task)
        if self.keeper is not None and not isinstance(found, str):
            self.keeper.put(_key(about, task), Checkpoint(found, tuple(case._binned)))
        return _Answer(found, untaught=untaught)

    def _kept(self, case: Case, task: _Task, about: str) -> tuple[Result, ...] | None:
        kept = None if self.keeper is None else self.keeper.get(_key(about, task))
        if kept is None:
            return None
        for column in kept.coded:  # the report tells the bins of every column that was cut
            case.binning(column)
        return kept.results


def assess(
    real: Any,
    synthetic: Any,
    *,
    holdout: Any = None,
    keys: Sequence[str] | None = None,
    targets: Sequence[str] | None = None,
    subgroups: Sequence[str] = (),
    schema: Schema | None = None,
    unit: str | None = None,
    ignore: Sequence[str] = (),
    missing: Sequence[str] = (),
    search: Search = "default",
    models: bool | None = None,
    utility: bool = False,
    acceptable: float = ACCEPTABLE,
    positive_control: float | None = None,
    seed: int = 0,
    level: float = 0.95,
    jobs: int = 2,
    progress: Progress = lambda what, done, total: None,
    reveal: Sequence[str] = (),
    budget: float | None = None,
    keep: str | Path | None = None,
    resume: bool = False,
    finished: Callable[[Finished], None] = lambda done: None,
) -> Report:
    """Return a report of every attack that fits the tables.

    Parameters
    ----------
    real
        The table that the synthesizer was trained on (any kind of frame, or a table of `divulge.read`).
    synthetic
        The table to be released.
    holdout
        People of the same population that the synthesizer never saw. Without it inference and disclosure are not
        separated.
    keys
        Columns that the attacker knows. None searches key sets by the synthetic table alone and tests the best
        20 for each target.
    targets
        Columns that he wants. None takes every usable column that is no key, in turn.
    subgroups
        Columns whose values tell groups of people apart; inference is reported for each, small groups together.
    schema, unit, ignore, missing
        What the columns are; the column of the person or household; columns to leave out; texts for missing.
    search
        "full" adds the minimal key sets, up to 5 columns, that disclose a target, as description without a
        verdict; "off" tests no key set when none is given.
    models
        Whether inference also trains a model on the synthetic table, and another on strangers, for each target. None
        does so where people times targets are at most 3 million.
    utility
        Whether the report also says how much of the real table the synthetic one keeps : some
        seconds more.
    acceptable
        A risk whose simultaneous upper limit is at most this counts as none found.
    positive_control
        Share of the synthetic rows, in (0, 0.5], that become copies of real people in three further runs, which say
        whether the attacks see them. Needs a holdout. None leaves it out.
    seed, level, jobs
        Of the random steps; of the intervals; threads of the key set search (they change no digit).
    reveal
        "values": call subgroups by their values, which are data; the report says so at its top. Else they are numbered.
    progress
        Called with what is being done, steps done, steps in all.
    budget
        Seconds after which no further test begins. The weightiest come first, and `left_out` of the report says what
        was not made; then the overall verdict is never "none found" unless each of copies, singling out, linkability
        and inference was tested. With `models` None, targets that begin in the second half of the time train no model.
        The positive control is left out where the time that is left is too short for it. None sets no limit.
    keep
        A folder of its own for the results of finished tests, made for its owner alone: they hold scores of each
        person. The caller removes it (`divulge.run.checkpoints.discard`).
    resume
        Whether tests that are in the folder are taken from there. The report is the same as of a run that was not
        interrupted, times aside; of other tables or settings nothing is taken.
    finished
        Called once for each attack, when its last test is done.

    Raises
    ------
    DivulgeError
        The input cannot be used. An attack that fails is reported in `report.failed` instead.
    Interrupted
        A `KeyboardInterrupt` while attacking, with how many tests are kept.
    """
    began, started = _now(), datetime.now(UTC)
    if search not in ("default", "full", "off"):
        raise SettingError("search: hint: one of default, full, off.")
    if not set(reveal) <= {"values"}:
        raise SettingError('reveal: not a known part. hint: "values" calls subgroups by their values.')
    if not 0 < acceptable < 1:
        raise SettingError(f"acceptable: {acceptable} is outside (0, 1). hint: 0.05 is the default.")
    if jobs < 1:
        raise SettingError(f"jobs: {jobs} is below 1.")
    if positive_control is not None:
        check_share(positive_control, holdout is not None, _n_rows(synthetic))
    if budget is not None and not 0 <= budget < inf:
        raise SettingError("budget: not a number of seconds from 0 on. hint: 600 is ten minutes.")
    if resume and keep is None:
        raise SettingError("resume: nothing to go on from. hint: name the folder of finished tests with keep.")
    clock = _Clock(began, budget)
    warm_up(min(_n_rows(real), _n_rows(synthetic)))
    progress("reading columns", 0, 1)
    case = build_case(
        real, synthetic, holdout, schema=schema, unit=unit, ignore=ignore, missing=missing, seed=seed, level=level
    )
    if not case.in_memory:
        case = case.collected("joint tests need the scores of each person together")
    watch = _Watch(progress)
    case = dataclasses.replace(case, progress=watch.searching, reveal_values="values" in reveal)
    progress("checking preconditions", 0, 1)
    checks = check_all(case)
    progress("looking for key sets", 0, 1)
    plan = _plan(case, keys, targets, subgroups, search, models, jobs)
    keeper = (
        None if keep is None else CheckpointStore(keep, resume=resume)
    )  # a mistake in the settings leaves no folder
    runner = _Runner(watch, clock, keeper, finished, models)
    names = [t.attack for t in plan.tasks]
    failing = [c.check for c in checks if c.check in CRITICAL and not c.ok]

    def judged(case: Case, results: list[Result]) -> list[Result]:
        return in_doubt(over_families(correct(case, results, acceptable), level), failing)

    def again(planted: Case) -> tuple[list[Result], str]:
        # models take most of the time, and see hardly any copies
        found = judged(planted, _run(planted, _without_models(plan.tasks), runner.untimed()).results)
        return found, overall(found, case.has_holdout, level, failing, planned=names)["verdict"]

    _heed_interrupts()
    try:
        run = _run(case, plan.tasks, runner)
        if plan.described and not clock.up:
            plan.minimal, notes = minimal_disclosing(case, plan.described, jobs=jobs)
            plan.notes += notes
        elif plan.described:
            run.left_out.append(_left_out("minimal key sets", len(plan.described), len(plan.described)))
        progress("correcting for the number of tests", len(plan.tasks), len(plan.tasks))
        results = judged(case, run.results)
        control = []
        if positive_control is not None and _enough(clock, run):
            before = _now()
            control = controlled(case, positive_control, again, results)
            finished(Finished(_CONTROL, len(KINDS), _now() - before, 0, 0, 0))
        elif positive_control is not None:
            run.left_out.append(_left_out(_CONTROL, len(KINDS), len(KINDS), "three more runs would take too long"))
            finished(Finished(_CONTROL, 0, 0.0, 0, 0, len(KINDS)))
        progress("gathering records", len(plan.tasks), len(plan.tasks))
        records, exposed = per_record(case, results), exposed_strangers(case, results)
        kept = _utility(case, targets, watch, clock, run) if utility else []
    except KeyboardInterrupt:
        watch.stopped = True
        runs = 1 if positive_control is None else 1 + len(KINDS)
        n_kept, folder = (0, None) if keeper is None else (len(keeper.names), keeper.folder)
        raise Interrupted(n_kept, runs * len(plan.tasks), folder) from None
    settings = {
        "seed": seed, "level": level, "jobs": jobs, "acceptable": acceptable, "search": search, "models": models,
        "keys": list(keys) if keys else None, "targets": list(targets) if targets else None,
        "subgroups": list(subgroups),
        "unit": case.unit, "ignore": list(ignore), "missing": len(tuple(missing)),
    }  # fmt: skip
    return Report.build(
        version=__version__,
        settings=settings,
        started=started.isoformat(timespec="seconds"),
        seconds=time.perf_counter() - began,
        tables=_tables(case),
        schema=case.schema,
        bins=case.bins_in_words([c for c in case.columns if c in case._binned]),
        checks=checks,
        results=results,
        failed=run.failed,
        key_sets=plan.key_sets,
        minimal=plan.minimal,
        notes=[*case.notes, *plan.notes, *_on_time(run.left_out, budget), *([] if keeper is None else keeper.notes)],
        verdict=overall(results, case.has_holdout, level, failing, run.left_out, names),
        records=records,
        exposed_strangers=exposed,
        positive_control=control,
        left_out=run.left_out,
        utility=kept,
        revealed=list(reveal),
    )


def _utility(
    case: Case, targets: Sequence[str] | None, watch: _Watch, clock: _Clock, run: _Run
) -> list[dict[str, Any]]:
    """Return what the synthetic table keeps, [] once the time is up."""
    if clock.up:
        run.left_out.append(_left_out("utility", 1, 1))
        return []
    watch.progress("measuring utility", 0, 1)
    return [u.to_dict() for u in utility_of(case, targets=targets)]


def _heed_interrupts() -> None:
    """Let an interruption end the wait for threads: polars, once imported, has such waits begin again."""
    if hasattr(signal, "siginterrupt"):  # not on Windows
        signal.siginterrupt(signal.SIGINT, True)


def _n_rows(native: Any) -> int:
    """Return the rows of a table if it knows them without counting, else 0."""
    known = getattr(native, "n_rows", getattr(native, "num_rows", None))
    try:
        return int(known) if isinstance(known, int) else len(native)
    except TypeError:
        return 0


def _plan(
    case: Case,
    keys: Sequence[str] | None,
    targets: Sequence[str] | None,
    subgroups: Sequence[str],
    search: Search,
    models: bool | None,
    jobs: int,
) -> _Plan:
    """Return the attacks to run. Keys that are given are tested as they are; else the best sets of a search."""
    usable = case.schema.usable()
    keys = list(keys) if keys else list(case.schema.with_role("key"))
    targets = list(targets) if targets else list(case.schema.with_role("target"))
    check_columns("keys", keys, case.columns)
    check_columns("targets", targets, case.columns)
    check_columns("subgroups", list(subgroups), case.columns)
    if set(keys) & set(targets):
        both = sorted(set(keys) & set(targets))[0]
        raise SettingError(f"targets: {both!r} is among the keys. hint: what is known cannot be the secret.")
    for what, names in (("keys", keys), ("targets", targets)):
        if len(set(names)) < len(names):
            raise SettingError(f"{what}: a column is named twice.")
        away = [c for c in names if {"ignore", "unit"} & set(case.schema[c].roles)]
        if away:
            raise SettingError(f"{what}: {away[0]!r} is also the unit or to be ignored. hint: decide for one.")
    wanted = targets or [c for c in usable if c not in keys]
    tasks = [_Task("copies", {}), *_on_rows(case)]
    if not wanted:
        if keys:
            return _Plan(
                [*tasks, *_on_keys(case, keys)], notes=["no column is left as a target: attribution was not tested"]
            )
        raise ColumnError(
            "no column can be attacked: all are constant, identifiers, free text, unit or ignored. "
            "hint: `divulge schema` shows why; set kinds there."
        )
    plan = _Plan(tasks)
    inferred = wanted if targets or len(wanted) <= _INFERRED else sorted(wanted)[:_INFERRED]
    if len(usable) > 1:
        people = case.n_rows("real") + case.n_rows("holdout")
        taught = models if models is not None else people * len(inferred) <= _TAUGHT
        plan.tasks += [_inference(t, keys, subgroups, WAYS if taught else UNTAUGHT) for t in inferred]
        if models is None and not taught:
            plan.notes.append(
                "inference: no model was trained, as that takes long on tables of this size; models=True asks for it"
            )
    if len(inferred) < len(wanted):
        plan.notes.append(
            f"inference: {len(wanted)} targets are many, and the first {_INFERRED} by name were attacked; "
            "name others as targets"
        )
    if keys:
        plan.tasks += [t for target in wanted for t in _on_pair(case, keys, target)]
        plan.tasks += _on_keys(case, keys)
    elif search != "off" and len(usable) < 2:
        plan.notes.append("only one column can be attacked, and a key set needs another: no key set was tested")
    elif search != "off":
        keep = max(1, min(_KEEP, _TESTS // len(wanted)))
        plan.key_sets, plan.notes = ranked_key_sets(case, wanted, keep=keep, jobs=jobs)
        if keep < _KEEP:
            plan.notes.append(f"{len(wanted)} targets are many: the best {keep} key set(s) of each were tested")
        plan.tasks += [
            _Task("cap", {"keys": k.keys, "target": k.target, "unseen": "zero"}, in_family=True) for k in plan.key_sets
        ]
        first = {k.target: k for k in reversed(plan.key_sets)}
        for target in wanted:
            plan.tasks += [_Task(a, {"keys": first[target].keys, "target": target}) for a in ("modal_guess", "disco")]
        for keys_of in sorted({k.keys for k in first.values()}):
            plan.tasks += _on_keys(case, keys_of)
    if search == "full" and len(usable) > 1:
        plan.described = wanted
    return plan


def _on_rows(case: Case) -> list[_Task]:
    """Return the attacks that compare whole rows by distance; none when no column can be compared."""
    names = (
        "dcr", "nndr", "identical_match_share", "hitting_rate", "authenticity", "epsilon_identifiability", "nnaa",
        "dcr_baseline", "exposure",
    )  # fmt: skip
    n_usable = len(case.schema.usable())
    if n_usable < 2:
        return [_Task(name, {}) for name in (*names, "singling_out")] if n_usable else []
    return [_Task(name, {}) for name in (*names, "singling_out", "linkability")]


def _inference(target: str, keys: Sequence[str], subgroups: Sequence[str], ways: Sequence[str]) -> _Task:
    settings: dict[str, Any] = {"target": target, "subgroups": tuple(subgroups), "ways": tuple(ways)}
    return _Task("inference", settings | ({"keys": tuple(keys)} if keys else {}), in_family=True)


def _without_models(tasks: Sequence[_Task]) -> list[_Task]:
    return [
        dataclasses.replace(t, settings=t.settings | {"ways": UNTAUGHT}) if t.attack == "inference" else t
        for t in tasks
    ]


def _on_pair(case: Case, keys: Sequence[str], target: str) -> Iterator[_Task]:
    pair = {"keys": tuple(keys), "target": target}
    for unseen in ("zero", "skip", "nearest"):
        yield _Task("cap", pair | {"unseen": unseen})
    for attack in ("modal_guess", "disco", "tcap", "rapid", "abstention", "dcap", "weap", "baseline_cap"):
        yield _Task(attack, pair)
    for kind in ("distinct", "entropy", "recursive"):
        yield _Task("l_diversity", pair | {"kind": kind})
    yield _Task("t_closeness", pair)
    if case.schema[target].kind in ("numeric", "datetime", "integer-coded"):
        yield _Task("t_closeness", pair | {"kind": "ordered"})


def _on_keys(case: Case, keys: Sequence[str]) -> list[_Task]:
    tasks = [_Task("replicated_uniques", {"keys": tuple(keys)}), _Task("k_anonymity", {"keys": tuple(keys)})]
    return [*tasks, _Task("delta_presence", {"keys": tuple(keys)})] if case.has_holdout else tasks


def _run(case: Case, tasks: Sequence[_Task], runner: _Runner) -> _Run:
    """Return what came of all tasks, in their order; the targets of inference are attacked side by side."""
    order = range(len(tasks)) if runner.clock.budget is None else _by_weight(tasks)
    about = "" if runner.keeper is None else _about(case)
    pairs = case.n_rows("synthetic") * (case.n_rows("real") + case.n_rows("holdout"))
    answers: dict[int, _Answer] = {}
    for attack, batch in groupby(order, key=lambda i: tasks[i].attack):
        several = list(batch)
        found = one_by_one(lambda i: runner.made(case, tasks[i], about), several, pairs if attack == "inference" else 0)
        # closed at once when the run is interrupted: tests that have not begun are dropped
        with closing(cast(Generator[_Answer], found)):
            for i in several:
                what = f"{attack} {tasks[i].settings.get('target', '')}".strip()
                runner.watch.attacking(what, len(answers), len(tasks))
                answers[i] = next(found)
        own = [i for i, t in enumerate(tasks) if t.attack == attack]
        if answers.keys() >= set(own):
            runner.finished(_told(attack, [answers[i] for i in own]))
    run = _Run([], [], [])
    for i, task in enumerate(tasks):
        answer = answers[i].found
        if isinstance(answer, str):
            run.failed.append({"attack": task.attack, "why": answer})
        elif answer is not None:
            run.results += answer
    planned = Counter(t.attack for t in tasks)
    run.left_out += _counted([tasks[i].attack for i, a in answers.items() if a.found is None], planned, _TIME_UP)
    why = "no model was trained, as half of the time was used"
    run.left_out += _counted([tasks[i].attack for i, a in answers.items() if a.untaught], planned, why)
    return run


def _by_weight(tasks: Sequence[_Task]) -> list[int]:
    """Return the tasks by number, weightiest first; of the key sets of each target the first comes first."""
    before: Counter[tuple[str, str]] = Counter()
    weight = []
    for task in tasks:
        pair = task.attack, task.settings.get("target", "")
        first = _FIRST.index(task.attack) if task.attack in _FIRST else len(_FIRST)
        weight.append((first, before[pair] if task.attack == "cap" else 0))
        before[pair] += 1
    return sorted(range(len(tasks)), key=lambda i: weight[i])


def _told(attack: str, answers: Sequence[_Answer]) -> Finished:
    made = [a for a in answers if a.found is not None]
    seconds = sum(r.seconds for a in made if not isinstance(a.found, str) for r in a.found or ())
    failed = sum(isinstance(a.found, str) for a in made)
    return Finished(attack, len(made), seconds, sum(a.kept for a in made), failed, len(answers) - len(made))


def _left_out(attack: str, n: int, of: int, why: str = _TIME_UP) -> dict[str, Any]:
    return {"attack": attack, "n": n, "of": of, "why": why}


def _counted(names: Sequence[str], planned: Counter[str], why: str) -> list[dict[str, Any]]:
    """Return for each attack, in the order of the plan, how many of its tests bear this reason."""
    n = Counter(names)
    return [_left_out(attack, n[attack], of, why) for attack, of in planned.items() if n[attack]]


def _enough(clock: _Clock, run: _Run) -> bool:
    """Return whether the time that is left is enough for the further runs of the positive control."""
    return clock.left() > len(KINDS) * sum(r.seconds for r in run.results)


def _on_time(left_out: Sequence[dict[str, Any]], budget: float | None) -> list[str]:
    if not left_out:
        return []
    told = ", ".join(f"{o['attack']} {o['n']} of {o['of']}" for o in left_out)
    return [
        f"the run was given {budget:g} seconds, and these tests were left out or cut short: {told}; "
        "what they would tell of single records is missing among the records"
    ]


def _about(case: Case) -> str:
    """Return a hash of all that the results of a case follow from besides the task."""
    columns = [case.pooled(c) for c in case.columns]
    tables = [fingerprint(columns, i) for i in range(len(case.tables))]
    schema = msgspec.json.encode(case.schema).decode()
    return key_of([__version__, str(package_versions()), *tables, schema, str(case.seed), repr(float(case.level)),
                   repr(case.missing), str(case.reveal_values)])  # fmt: skip


def _key(about: str, task: _Task) -> str:
    return key_of([about, task.attack, repr(sorted(task.settings.items())), str(task.in_family)])


def _attacked(case: Case, task: _Task) -> tuple[Result, ...] | str:
    """Return the results of one task, or why it failed."""
    try:
        found = CATALOGUE[task.attack].run(case, **task.settings)
    except DivulgeError as error:
        return str(error)
    except (ArithmeticError, LookupError, MemoryError, TypeError, ValueError, RuntimeError) as error:
        # the message of a library may hold a data value: its type alone is told
        where = " -> ".join(str(v) for v in task.settings.values() if v)
        return f"{type(error).__name__} inside the attack ({where}); please report it"
    return found if isinstance(found, tuple) else (found,)


# ---------------------------------------------------------------- the verdict


def overall(
    results: Sequence[Result],
    has_holdout: bool,
    level: float,
    failing: Sequence[str] = (),
    left_out: Sequence[dict[str, Any]] = (),
    planned: Sequence[str] = (),
) -> dict[str, Any]:
    """Return the overall verdict and its sentence: the finding, or else the limit, of the worst simultaneous bound.

    It is never "none found" where a headline attack that was planned gave no comparison, whatever the reason.
    """
    judged = [r for r in results if r.risk is not None and r.verdict is not None and _reaches_both(r)]
    untested = [a for a in dict.fromkeys(planned) if a in _HEADLINES and all(r.attack != a for r in judged)]
    late = {o["attack"] for o in left_out if o["n"] == o["of"] and o["why"] == _TIME_UP}
    why = f", as {_TIME_UP}" if untested and late.issuperset(untested) else ""
    gap = f" Not tested{why}: {', '.join(untested)}." if untested else ""
    if not has_holdout:
        return {
            "verdict": "no holdout",
            "sentence": "No holdout was given: inference and disclosure are not separated, so no statement about "
            "disclosure is made. Give people whom the synthesizer never saw with --holdout.",
        }
    doubt = f" But a precondition fails ({', '.join(failing)}): see there before relying on this." if failing else ""
    if not judged:
        return {"verdict": "cannot tell", "sentence": "No attack could be compared with strangers." + gap + doubt}
    n = len(judged)
    found = [r for r in judged if r.verdict == "excess found"]
    if found:
        worst = max(found, key=lambda r: _bound(r, "low_simultaneous"))
        same = sum(r.attack == worst.attack for r in judged)
        return {"verdict": "excess found", "sentence": _found_sentence(worst, level, same) + doubt}
    if all(r.verdict == "none found" for r in judged) and untested:
        return {
            "verdict": "cannot tell",
            "sentence": f"None of {len(judged)} comparisons that were made shows an excess over strangers.{gap}",
        }
    if all(r.verdict == "none found" for r in judged):
        worst = max(judged, key=lambda r: _bound(r, "high_simultaneous"))
        return {
            "verdict": "none found",
            "sentence": f"None of {n} comparisons shows an excess over strangers; the largest simultaneous upper "
            f"limit of risk is {number(_bound(worst, 'high_simultaneous'))} ({label(worst)})."
            + (" No key set was tested." if all(not r.keys for r in judged) else "")
            + _cut_short(left_out),
        }
    if failing:
        return {
            "verdict": "cannot tell",
            "sentence": f"A precondition fails ({', '.join(failing)}): strangers are no fair comparison with the "
            "people of the real table, so that nothing follows either way. See the preconditions.",
        }
    open_ = [r for r in judged if r.verdict != "none found"]
    worst = max(open_, key=lambda r: _bound(r, "high_simultaneous"))
    return {
        "verdict": "cannot tell",
        "sentence": f"No excess over strangers was found, but {len(open_)} of {n} comparisons are too uncertain to "
        f"exclude one; the widest is {label(worst)}{_up_to(worst)}.{gap}{doubt}",
    }


def _cut_short(left_out: Sequence[dict[str, Any]]) -> str:
    """Return which tests are missing from a verdict, as a sentence; "" when none is."""
    told = ", ".join(f"{o['n']:,} of {o['of']:,} of {o['attack']}" for o in left_out)
    return f" Tests were left out: {told}." if told else ""


def _reaches_both(result: Result) -> bool:
    """Return whether the attack reaches a member and a stranger; a comparison with nobody says nothing."""
    return bool(result.real and result.real.n and result.holdout and result.holdout.n)


def over_families(results: Sequence[Result], level: float) -> list[Result]:
    """Return the results with findings that do not survive Holm over the attacks turned into "cannot tell"."""
    smallest = {r.attack: 1.0 for r in results if r.comparison is not None}
    for r in results:
        if r.verdict == "excess found" and r.p_adjusted is not None:
            smallest[r.attack] = min(smallest[r.attack], r.p_adjusted)
    adjusted = dict(zip(smallest, holm(np.array(list(smallest.values()))), strict=True))
    why = "an excess was found within this attack, but not after correction for the number of attacks"
    return [hold_back(r, why) if r.verdict == "excess found" and adjusted[r.attack] > 1 - level else r for r in results]


def in_doubt(results: Sequence[Result], failing: Sequence[str]) -> list[Result]:
    """Return the results with "none found" turned into "cannot tell", and no score, where strangers do not compare."""
    if not failing:
        return list(results)
    why = f"a precondition fails ({', '.join(failing)}), so that strangers are no fair comparison"
    scoreless = [replace(r, score=None) for r in results]
    return [hold_back(r, why) if r.verdict == "none found" else r for r in scoreless]


def _bound(result: Result, which: str) -> float:
    bound = getattr(result.risk, which)
    return float("-inf") if bound is None else float(bound)


def _up_to(worst: Result) -> str:
    high = _bound(worst, "high_simultaneous")
    return f", risk up to {number(high)}" if isfinite(high) else ", whose risk is undefined: strangers are always hit"


def _found_sentence(worst: Result, level: float, n: int) -> str:
    assert worst.real is not None and worst.holdout is not None and worst.risk is not None
    how = f"{100 * level:.0f}% simultaneous over the {n} comparison(s) of this attack"
    if counts_rows(worst):
        share = worst.real.hits / max(worst.real.hits + worst.holdout.hits, 1e-300)
        return (
            f"Excess found: of the synthetic rows that {worst.attack}{f' ({worst.variant})' if worst.variant else ''} "
            f"counts, {percent(share)} lie nearest to a person of the real table, where leak-free data would give "
            f"{percent(worst.context.get(TOWARDS))}; {percent(worst.risk.value)} of the "
            f"synthetic table is copied by this measure, at least {percent(worst.risk.low_simultaneous)} ({how})."
        )
    knowing = f"knowing {' + '.join(worst.keys)}, " if worst.keys else ""
    about = f" about {worst.target}" if worst.target else ""
    name = f"{worst.attack}{f' ({worst.variant})' if worst.variant else ''}"
    people = f"{percent(worst.real.rate)} of the people in the table and {percent(worst.holdout.rate)} of strangers"
    hits = hits_are(worst)
    said = f"{knowing}the attack {name} is right{about} for {people}"
    if hits != "right for":
        said = f"by {label(worst)}, {hits} {people}"
    if counts_guesses(worst):
        shares = f"{percent(worst.real.rate)} of the guesses", f"{percent(worst.holdout.rate)} exactly one stranger"
        said = f"by {label(worst)}, {shares[0]} single out exactly one person of the table and {shares[1]}"
    least = number(worst.risk.low_simultaneous)
    return f"Excess found: {said}; risk {number(worst.risk.value)}, at least {least} ({how})."


def _tables(case: Case) -> dict[str, Any]:
    out: dict[str, Any] = {"real": None, "synthetic": None, "holdout": None}
    facts = table_facts(case)
    for i, table in enumerate(case.tables):
        columns = [case.pooled(c) for c in case.columns]
        out[table.role] = {
            "rows": table.n_rows,
            "columns": len(table.columns),
            "sha256": table.sha256 or fingerprint(columns, i),
            "hashed": "file" if table.sha256 else "canonical columns",
            **facts[i],
        }
    return out
