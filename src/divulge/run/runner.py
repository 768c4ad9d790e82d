"""Makes the tests of a case: results are kept, progress is reported, and a test that fails does not stop the run."""

from __future__ import annotations

import dataclasses
import signal
from collections import Counter
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import groupby
from typing import Any, NamedTuple, cast

import msgspec

from divulge.attacks import CATALOGUE
from divulge.case.case import Case
from divulge.core import __version__
from divulge.core.errors import DivulgeError
from divulge.core.result import Result
from divulge.kernels.runtime import one_by_one
from divulge.report.environment import package_versions
from divulge.run.budget import TIME_UP, Clock, counted_left_out
from divulge.run.checkpoint_format import Checkpoint, fits
from divulge.run.checkpoints import CheckpointStore, key_of
from divulge.run.people import People, people_of_run
from divulge.run.plan import Task, without_models

__all__ = ["Finished"]

Progress = Callable[[str, int, int], None]


class Finished(NamedTuple):
    """What was done for one attack; reported when its last test is done or left out."""

    attack: str
    n: int
    """Number of tests that were made, or whose results were read from the folder."""
    seconds: float
    """Seconds that these tests took when they were made."""
    kept: int
    """How many of the `n` were read from the folder."""
    failed: int
    """How many of the `n` failed."""
    left_out: int
    """Number of tests that were not made because the time was up."""


class Answer(NamedTuple):
    """The outcome of a task: its results, or the reason why it failed, or None where it was left out."""

    found: tuple[Result, ...] | str | None
    kept: bool = False
    untaught: bool = False
    """Whether models were left out because time was short."""


@dataclass
class Watch:
    """Reports which attack runs and, during a long search, how far the search is."""

    progress: Progress
    what: str = ""
    done: int = 0
    total: int = 1
    stopped: bool = False
    """Whether the run was interrupted; threads in a long search stop when they next report progress."""

    def attacking(self, what: str, done: int, total: int) -> None:
        self.what, self.done, self.total = what, done, total
        self.progress(what, done, total)

    def searching(self, rows: int, of: int) -> None:
        if self.stopped:
            raise KeyboardInterrupt
        if self.what and rows < of:
            self.progress(f"{self.what}: {rows:,} of {of:,} rows searched", self.done, self.total)


@dataclass
class RunOutcome:
    """The outcome of all tests of a case."""

    results: list[Result]
    failed: list[dict[str, str]]
    left_out: list[dict[str, Any]]


@dataclass
class Runner:
    """Makes the tests of a case. Kept results are read instead, and no test begins once the time is up."""

    watch: Watch
    clock: Clock
    store: CheckpointStore | None
    finished: Callable[[Finished], None]
    models: bool | None
    people: int | None = None

    def untimed(self) -> Runner:
        """Return a runner without a time limit, which does not call `finished`."""
        return dataclasses.replace(self, clock=Clock(0.0, None), finished=lambda done: None)

    def made(self, case: Case, task: Task, about: str) -> Answer:
        """Return the outcome of a task; `about` is the hash of everything that the results of this case depend on."""
        kept = self._kept(case, task, about)
        if kept is not None or self.clock.up:
            return Answer(kept, kept=kept is not None)
        untaught = self.models is None and self.clock.used > 0.5 and "model" in task.settings.get("ways", ())
        if untaught:
            task = without_models([task])[0]
            kept = self._kept(case, task, about)
        if kept is not None:
            return Answer(kept, kept=True, untaught=untaught)
        found = _attacked(dataclasses.replace(case, draws=0) if task.in_family else case, task)
        if self.store is not None and not isinstance(found, str):
            self.store.put(_key(about, task), Checkpoint(found, case.encoded.binned))
        return Answer(found, untaught=untaught)

    def _kept(self, case: Case, task: Task, about: str) -> tuple[Result, ...] | None:
        if self.store is None:
            return None
        kept = self.store.get(key := _key(about, task))
        if kept is None:
            return None
        known = set(kept.coded) <= set(case.columns)
        if not known or not fits(kept.results, task.attack, case.n_rows("real"), case.n_rows("holdout")):
            self.store.refuse(key)
            return None
        for column in kept.coded:  # the report tells the bins of every column that was cut
            case.binning(column)
        return kept.results


def heed_interrupts() -> None:
    """Let an interrupt end the wait for threads: importing polars makes such waits restart after a signal."""
    if hasattr(signal, "siginterrupt"):  # not on Windows
        signal.siginterrupt(signal.SIGINT, True)


def run_all(case: Case, tasks: Sequence[Task], runner: Runner) -> RunOutcome:
    """Return the outcome of all tasks, in their order; the targets of inference are attacked in parallel."""
    order = range(len(tasks)) if runner.clock.budget is None else _by_weight(tasks)
    people = people_of_run(case, runner.people)
    about = "" if runner.store is None else _about(people)
    pairs = case.n_rows("synthetic") * (case.n_rows("real") + case.n_rows("holdout"))
    answers: dict[int, Answer] = {}
    for attack in dict.fromkeys(t.attack for t in tasks):
        if (expect := CATALOGUE[attack].expect) is not None:
            expect(people.of(attack), [t.settings for t in tasks if t.attack == attack])
    for attack, batch in groupby(order, key=lambda i: tasks[i].attack):
        several = list(batch)
        asked = people.of(attack)
        size = pairs if CATALOGUE[attack].plan.per == "target" else 0

        def made(i: int, case: Case = asked) -> Answer:
            return runner.made(case, tasks[i], about)

        found = one_by_one(made, several, size)
        # closed at once when the run is interrupted: tests that have not begun are cancelled
        with closing(cast(Generator[Answer], found)):
            for i in several:
                what = f"{attack} {tasks[i].settings.get('target', '')}".strip()
                runner.watch.attacking(what, len(answers), len(tasks))
                answers[i] = next(found)
        own = [i for i, t in enumerate(tasks) if t.attack == attack]
        if answers.keys() >= set(own):
            runner.finished(_told(attack, [answers[i] for i in own]))
    run = RunOutcome([], [], [])
    for i, task in enumerate(tasks):
        answer = answers[i].found
        if isinstance(answer, str):
            run.failed.append({"attack": task.attack, "why": answer})
        elif answer is not None:
            run.results += answer
    planned = Counter(t.attack for t in tasks)
    run.left_out += counted_left_out([tasks[i].attack for i, a in answers.items() if a.found is None], planned, TIME_UP)
    why = "no model was trained, as half of the time was used"
    run.left_out += counted_left_out([tasks[i].attack for i, a in answers.items() if a.untaught], planned, why)
    return run


def _by_weight(tasks: Sequence[Task]) -> list[int]:
    """Return the numbers of the tasks, greatest weight first; the first key set of each target precedes its others."""
    before: Counter[tuple[str, str]] = Counter()
    weight = []
    for task in tasks:
        pair = task.attack, task.settings.get("target", "")
        entry = CATALOGUE[task.attack]
        weight.append((-entry.weight, before[pair] if entry.plan.searched == "all" else 0))
        before[pair] += 1
    return sorted(range(len(tasks)), key=lambda i: weight[i])


def _told(attack: str, answers: Sequence[Answer]) -> Finished:
    made = [a for a in answers if a.found is not None]
    seconds = sum(r.seconds for a in made if not isinstance(a.found, str) for r in a.found or ())
    failed = sum(isinstance(a.found, str) for a in made)
    return Finished(attack, len(made), seconds, sum(a.kept for a in made), failed, len(answers) - len(made))


def _about(people: People) -> str:
    """Return a hash of everything but the task that the results of a case depend on."""
    case = people.case
    tables = [case.encoded.fingerprint(i) for i in range(len(case.tables))]
    schema = msgspec.json.encode(case.schema).decode()
    return key_of([__version__, str(package_versions()), *tables, schema, str(case.seed), repr(float(case.level)),
                   repr(case.missing), str(case.reveal_values), _size(people)])  # fmt: skip


def _size(people: People) -> str:
    """Return how many rows of members and strangers are asked; "" where all are."""
    return "" if people.asked is None else ",".join(str(people.asked.case.n_rows(r)) for r in ("real", "holdout"))


def _key(about: str, task: Task) -> str:
    return key_of([about, task.attack, repr(sorted(task.settings.items())), str(task.in_family)])


def _attacked(case: Case, task: Task) -> tuple[Result, ...] | str:
    """Return the results of one task, or the reason why it failed."""
    try:
        found = CATALOGUE[task.attack].run(case, **task.settings)
    except DivulgeError as error:
        return str(error)
    except (ArithmeticError, LookupError, TypeError, ValueError, RuntimeError) as error:
        # the message of a library may hold a data value: only the error's type is reported
        where = " -> ".join(str(v) for v in task.settings.values() if v)
        return f"{type(error).__name__} inside the attack ({where}); please report it"
    return found if isinstance(found, tuple) else (found,)
