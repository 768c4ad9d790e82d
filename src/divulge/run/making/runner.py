"""Makes the tests of a case: results are kept, progress is reported, and a test that fails does not stop the run."""

from __future__ import annotations

import dataclasses
import os
import signal
import traceback
from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple, TypedDict, cast

import msgspec

from divulge.attacks.entry import CATALOGUE
from divulge.case.case import Case
from divulge.case.contents import contents
from divulge.core import __version__
from divulge.core.errors import DivulgeError
from divulge.core.process_wide import one_thread, return_memory
from divulge.core.result import Result
from divulge.kernels import runtime
from divulge.report.environment import package_versions
from divulge.report.formatting import several
from divulge.report.model import Failure, LeftOut
from divulge.run.cost.budget import TIME_UP, Clock, counted_left_out
from divulge.run.making.checkpoint_format import Checkpoint, fits
from divulge.run.making.checkpoints import CheckpointStore, key_of
from divulge.run.making.progress import Watch
from divulge.run.making.schedule import as_they_end
from divulge.run.planning.people import People, people_of_run
from divulge.run.planning.plan import Task, without_models

__all__ = ["Finished"]


_BYTES_OF_A_ROW, _BYTES_OF_A_PERSON = 1200, 500
"""Bytes that a test on whole rows takes for each row, and another for each person; the most that was seen on Adult."""
_ROOM = 2**28
"""Bytes that tests may take together: little beside what a run takes where several fit."""


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
class RunOutcome:
    """The outcome of all tests of a case."""

    results: list[Result]
    failed: list[Failure]
    left_out: list[LeftOut]


@dataclass
class Runner:
    """Makes the tests of a case. Kept results are read instead, and no test begins once the time is up."""

    watch: Watch
    clock: Clock
    store: CheckpointStore | None
    finished: Callable[[Finished], None]
    models: bool | None
    people: int | None = None
    jobs: int = 1
    """Tests that are made at a time, at most."""
    before: Callable[[str], None] = lambda told: None
    """Takes what is told before the tests begin."""
    run: int = 0
    """0 for the run itself, from 1 on for those with planted copies."""

    def untimed(self, run: int) -> Runner:
        """Return a runner of a further run, without a time limit, which does not call `finished`."""
        return dataclasses.replace(self, clock=Clock(0.0, None), finished=lambda done: None, run=run)

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
    """Return the outcome of all tasks, in their order; several are made side by side."""
    in_order = runner.clock.budget is not None
    people = people_of_run(case, runner.people)
    about = "" if runner.store is None else _about(people)
    _prepare(people, tasks)
    if runner.store is not None and runner.store.resume and not runner.run:
        taken = sum(runner.store.has(_key(about, task)) for task in tasks)
        runner.before(f"{taken:,} of {several(len(tasks), 'test')} taken over, {len(tasks) - taken:,} to go")
    watch = runner.watch

    def made(i: int) -> Answer:
        watch.attacking(f"{tasks[i].attack} {tasks[i].settings.get('target', '')}".strip(), (runner.run, i))
        answer = _in_little_memory(runner.made(people.of(tasks[i].attack), tasks[i], about))
        if sizes["size"](i) > _ROOM:
            return_memory()
        return answer

    sizes, answers = _sizes(people, tasks), dict[int, Answer]()
    watch.begin_tests(len(tasks))
    waiting = Counter(t.attack for t in tasks)
    order = _by_weight(tasks) if in_order else range(len(tasks))
    found = as_they_end(made, order, _n_threads(case, runner.jobs), watch.posts, in_order=in_order, **sizes)
    # the libraries of linear algebra of numpy and of scipy are loaded, the latter with `scipy.special`;
    # closed at once when the run is interrupted: tests that have not begun are cancelled
    with one_thread(), closing(cast(Generator[tuple[int, Answer]], found)):
        for i, answer in found:
            answers[i], attack = answer, tasks[i].attack
            watch.attacked((runner.run, i), made=answer.found is not None and not answer.kept)
            waiting[attack] -= 1
            if not waiting[attack]:
                runner.finished(_told(attack, [answers[j] for j, t in enumerate(tasks) if t.attack == attack]))
                if CATALOGUE[attack].plan.in_memory:
                    # in files no other attack searches the same, and indices fill the disk
                    people.of(attack).encoded.forget_rows(indices=not case.in_memory)
    if max(map(sizes["size"], range(len(tasks))), default=0) > _ROOM:
        return_memory()
    return _outcome(tasks, answers)


def _in_little_memory(answer: Answer) -> Answer:
    """Return an answer whose results hold coded scores: they stay until all tests are made."""
    if not isinstance(answer.found, tuple):
        return answer
    found = (
        r if r.individual is None else msgspec.structs.replace(r, individual=r.individual.coded()) for r in answer.found
    )
    return answer._replace(found=tuple(found))


def _n_threads(case: Case, jobs: int) -> int:
    """Return how many tests are made at a time: one where there are few rows, or an engine counts them."""
    pairs = case.n_rows("synthetic") * (case.n_rows("real") + case.n_rows("holdout"))
    return jobs if case.in_memory and pairs >= runtime.THREADS_FROM else 1


class _Sizes(TypedDict):
    size: Callable[[int], float]
    room: float


def _sizes(people: People, tasks: Sequence[Task]) -> _Sizes:
    """Return about how much memory each test takes while it is made, and how much they may take together.

    However many the people, two tests of one target fit, as they did when the memory of runs was measured.
    """
    rows = sum(t.n_rows for t in people.case.tables)
    asked = {True: people.fewest, False: people.case}
    of_one = {s: _BYTES_OF_A_PERSON * (c.n_rows("real") + c.n_rows("holdout")) for s, c in asked.items()}
    entries = [CATALOGUE[t.attack] for t in tasks]
    sizes = [_BYTES_OF_A_ROW * rows if e.plan.per == "table" else of_one[e.sampled] for e in entries]
    room = max([_ROOM, *(2 * size for size, e in zip(sizes, entries, strict=True) if e.plan.per == "target")])
    return {"size": lambda i: sizes[i], "room": room}


def _prepare(people: People, tasks: Sequence[Task]) -> None:
    """Do what must not depend on the order in which threads make the tests.

    Attacks are told of all their calls. All columns are cut that a test may cut, as a kept test tells which were cut.
    """
    case = people.case
    for attack in dict.fromkeys(t.attack for t in tasks):
        if (expect := CATALOGUE[attack].expect) is not None:
            expect(people.of(attack), [t.settings for t in tasks if t.attack == attack])
    named = [task.settings.get(name, ()) for task in tasks for name in ("keys", "subgroups")]
    targets = [task.settings["target"] for task in tasks if "target" in task.settings]
    for column in dict.fromkeys(chain(case.schema.usable(), targets, *named)):
        case.binning(column)


def _outcome(tasks: Sequence[Task], answers: Mapping[int, Answer]) -> RunOutcome:
    run = RunOutcome([], [], [])
    for i, task in enumerate(tasks):
        answer = answers[i].found
        if isinstance(answer, str):
            run.failed.append(Failure(attack=task.attack, why=answer))
        elif answer is not None:
            run.results += [msgspec.structs.replace(r, actors=task.actors) for r in answer] if task.actors else answer
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
    schema = msgspec.json.encode(case.schema).decode()
    return key_of([__version__, str(package_versions()), case.engine or "", *contents(case), schema, str(case.seed),
                   repr(float(case.level)), repr(case.missing), str(case.reveal_values), _size(people)])  # fmt: skip


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
        if os.environ.get("DIVULGE_DEBUG"):
            traceback.print_exc()
        where = " -> ".join(str(v) for v in task.settings.values() if v)
        return f"{type(error).__name__} inside the attack ({where}); please report it"
    return found if isinstance(found, tuple) else (found,)
