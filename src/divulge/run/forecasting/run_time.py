"""How long a run takes: what is told before it begins, and how much is left while it goes on."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

from divulge.attacks.entry import EngineWork
from divulge.case.case import Case
from divulge.report.formatting import several
from divulge.run.cost.budget import Clock
from divulge.run.cost.engine_cost import engine_work, seconds_at_end, seconds_of_each
from divulge.run.cost.expected_cost import Work, expected_seconds, seconds_of_fidelity, seconds_of_tests, work_of
from divulge.run.cost.expected_time import duration
from divulge.run.cost.memory import room
from divulge.run.cost.time_left import TimeLeft
from divulge.run.engines.drawn_rows import rows_measured
from divulge.run.engines.engine_plan import bytes_of_fidelity_on, uses_engine
from divulge.run.making.positive_control import KINDS
from divulge.run.planning.options import RunOptions
from divulge.run.planning.people import people_of_run
from divulge.run.planning.plan import Plan, Task, without_models

__all__ = ["size_in_words", "time_left_of"]


def size_in_words(case: Case, plan: Plan, options: RunOptions) -> str:
    """Return how many tests are planned, and about how long they take, in words."""
    runs = 1 + _n_controls(options)
    tests = several(len(plan.tasks), "test")
    again = "" if runs == 1 else f", {runs - 1} times more with planted copies"
    seconds = _elsewhere(case, plan, options) if uses_engine(options) else _here(case, plan, options)
    return f"{tests} of {several(len(set(plan.attacks)), 'attack')}{again}, about {duration(seconds)}"


def _here(case: Case, plan: Plan, options: RunOptions) -> float:
    return (1 + _n_controls(options)) * expected_seconds(_work(case, plan, options), options.jobs)


def _elsewhere(case: Case, plan: Plan, options: RunOptions) -> float:
    """Return the seconds of the tests of a run by an engine, and of what follows; codes are written by then."""
    work = _engine_work(case, options)
    tests = sum(seconds_of_each(work, plan.tasks, options.jobs))
    return tests + _fidelity_elsewhere(case, work, options)


def _fidelity_elsewhere(case: Case, work: EngineWork, options: RunOptions) -> float:
    there = room()
    rows = [t.n_rows for t in case.tables]
    free = None if there is None else there.free
    return seconds_at_end(work, rows_measured(rows, bytes_of_fidelity_on(case), free, options), options.jobs)


def time_left_of(case: Case, plan: Plan, options: RunOptions, clock: Clock) -> TimeLeft:
    """Return the time that is left of a run which begins its tests now.

    Its parts are (run, test) by number, run 0 being that without planted copies, and "fidelity".
    """
    each, fidelity = _parts(case, plan, options)
    runs = [plan.tasks, *[without_models(plan.tasks)] * _n_controls(options)]
    parts: dict[Hashable, float] = {
        (n, i): seconds for n, tasks in enumerate(runs) for i, seconds in enumerate(each(tasks))
    }
    return TimeLeft(parts | {"fidelity": fidelity}, clock)


def _parts(case: Case, plan: Plan, options: RunOptions) -> tuple[Callable[[Sequence[Task]], list[float]], float]:
    """Return what gives the seconds of tests, and the seconds of fidelity."""
    jobs = options.jobs
    if uses_engine(options):
        elsewhere = _engine_work(case, options)
        return lambda tasks: seconds_of_each(elsewhere, tasks, jobs), _fidelity_elsewhere(case, elsewhere, options)
    work = _work(case, plan, options)
    return lambda tasks: seconds_of_tests(work, tasks, jobs), seconds_of_fidelity(work, jobs)


def _n_controls(options: RunOptions) -> int:
    return 0 if options.positive_control is None else len(KINDS)


def _work(case: Case, plan: Plan, options: RunOptions) -> Work:
    return work_of(case, plan.tasks, options, asked=_n_asked(case, options))


def _engine_work(case: Case, options: RunOptions) -> EngineWork:
    return engine_work(case, 0 if options.sample is None else _n_asked(case, options))


def _n_asked(case: Case, options: RunOptions) -> int:
    people = people_of_run(case, options.sample)
    return sum(people.fewest.n_rows(role) for role in ("real", "holdout"))
