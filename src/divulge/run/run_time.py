"""How long a run takes: what is told before it begins, and how much is left while it goes on."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace

from divulge.case.case import Case
from divulge.report.formatting import several
from divulge.run.budget import Clock
from divulge.run.counted import counts_elsewhere
from divulge.run.expected_cost import Work, expected_seconds, seconds_afterwards, seconds_of_tests, work_of
from divulge.run.expected_time import duration
from divulge.run.options import RunOptions
from divulge.run.people import people_of_run
from divulge.run.plan import Plan, without_models
from divulge.run.positive_control import KINDS
from divulge.run.time_left import TimeLeft

__all__ = ["size_in_words", "time_left_of"]


def size_in_words(case: Case, plan: Plan, options: RunOptions) -> str:
    """Return how many tests are planned, and about how long they take, in words."""
    runs = 1 + _n_controls(options)
    tests = several(len(plan.tasks), "test")
    again = "" if runs == 1 else f", {runs - 1} times more with planted copies"
    seconds = runs * expected_seconds(_work(case, plan, options), options.jobs)
    return f"{tests} of {several(len(set(plan.attacks)), 'attack')}{again}, about {duration(seconds)}"


def time_left_of(case: Case, plan: Plan, options: RunOptions, clock: Clock) -> TimeLeft:
    """Return the time that is left of a run which begins its tests now.

    Its parts are (run, test) by number, run 0 being that without planted copies, and "fidelity" and "utility".
    """
    work, jobs = _work(case, plan, options), options.jobs
    untaught = without_models(plan.tasks)
    runs = [plan.tasks, *[untaught] * _n_controls(options)]
    parts: dict[Hashable, float] = {
        (n, i): seconds for n, tasks in enumerate(runs) for i, seconds in enumerate(seconds_of_tests(work, tasks, jobs))
    }
    parts.update(seconds_afterwards(work, jobs).items())
    return TimeLeft(parts, clock)


def _n_controls(options: RunOptions) -> int:
    return 0 if options.positive_control is None else len(KINDS)


def _work(case: Case, plan: Plan, options: RunOptions) -> Work:
    people = people_of_run(case, options.sample)
    asked = sum(people.fewest.n_rows(role) for role in ("real", "holdout"))
    work = work_of(case, plan.tasks, options, asked=asked)
    # an engine's run does not make those that search all rows
    return replace(work, attacks=False) if counts_elsewhere(options) else work
