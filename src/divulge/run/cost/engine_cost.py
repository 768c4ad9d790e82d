"""How many seconds a run takes whose tables an engine holds: what each operation on their rows costs.

The numbers were measured: the parts of runs of 1, 10 and 100 million rows of 15 columns, by DuckDB (docs/decisions).
Another engine counts in up to three times as long; searches are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil, sqrt
from typing import NamedTuple

from divulge.attacks.catalogue import CATALOGUE
from divulge.case.case import Case
from divulge.run.cost.expected_cost import shortened
from divulge.run.planning.plan import Task

__all__ = ["EngineWork", "engine_work", "seconds_at_end", "seconds_before", "seconds_of_each"]

_MEASURED = 15  # columns


class EngineWork(NamedTuple):
    """What the time of a run depends on whose tables an engine holds."""

    rows: int
    """Of all tables."""
    synthetic: int
    """Rows of the synthetic table."""
    asked: int
    """Members and strangers who are asked; 0 where counts alone are made."""
    columns: int
    """That are compared."""

    @property
    def cells(self) -> int:
        """Values of all tables."""
        return self.rows * self.columns

    @property
    def searches(self) -> float:
        """Searches of people, each as long as one in 15 columns: in fewer columns more rows tie."""
        return self.asked * max(1.0, self.columns / _MEASURED)


def engine_work(case: Case, asked: int) -> EngineWork:
    """Return the work of a run on a case.

    Parameters
    ----------
    case
        Its tables may hold some of their rows only, and state the number of all.
    asked
        Members and strangers who are asked.
    """
    rows = sum(t.n_rows for t in case.tables)
    return EngineWork(rows, case.n_rows("synthetic"), asked, len(case.schema.usable()))


# ---------------------------------------------------------------- CPU seconds, in one thread


def _copies(work: EngineWork) -> float:
    return 5e-8 * work.cells  # whole rows in parts by their hash, and compared


def _hitting_rate(work: EngineWork) -> float:
    in_parts = work.asked * ceil(work.synthetic / 10**6)  # who is hit by no row is looked for in each part
    return 4.7e-8 * work.synthetic * work.columns + 5e-7 * in_parts


def _membership(work: EngineWork) -> float:
    """Return the seconds of trees of blocks, orders of rows and margins; of searches of each person, and of scores."""
    of_rows = 3.3e-7 * work.synthetic * work.columns
    return 4.5 + of_rows + 5.3e-5 * work.searches + 2.3e-6 * work.asked * work.columns


def _linkability(work: EngineWork) -> float:
    """Return the seconds of two trees of halves, in which the more rows tie the more there are."""
    return 4.9e-7 * work.synthetic * work.columns + 1.7e-6 * work.searches * sqrt(sqrt(work.synthetic))


def _other(work: EngineWork) -> float:
    return 0.006 + 9e-9 * work.rows  # distinct rows of some columns


_OF_ATTACKS: dict[str, Callable[[EngineWork], float]] = {
    "copies": _copies,
    "hitting_rate": _hitting_rate,
    "membership": _membership,
    "linkability": _linkability,
}
_BY_KEYS = 3e-8, 3.3e-6  # seconds of a synthetic row and of a person, of one target with named keys
_WALKED = 6e-7, 1.6e-5  # of a cell of the synthetic table for all targets; of a person, for one
_TAUGHT_ROWS, _TAUGHT = 40_000, (0.321, 2.73e-7)  # a model, and a cell that it sees (measured_cost)
_DRAWN = 4e-8, 1e-6  # for fidelity: of a value of the synthetic table, hashed to draw rows; of a value drawn, and coded
_SCORE = 1.5e-7  # of a person under a test: correction for the number of tests, records


def seconds_before(work: EngineWork, *, searched: bool, jobs: int) -> float:
    """Return the seconds of what comes before the tests.

    Parameters
    ----------
    searched
        Whether key sets are searched for.
    jobs
        Threads.
    """
    counts = 0.6 + 2.1e-8 * work.cells
    search = 0.025 * work.columns**2 + 5.3e-8 * work.synthetic * work.columns if searched else 0.0
    codes = 5e-8 * work.cells if work.asked else 0.0  # written, and hashed to draw people
    return (counts + search + codes) * shortened(jobs)


def seconds_of_each(work: EngineWork, tasks: Sequence[Task], jobs: int) -> list[float]:
    """Return about how many seconds each test adds to a run."""
    walked = sum(_walks(t) for t in tasks)
    return [_seconds(work, t, walked) * shortened(jobs) for t in tasks]


def seconds_at_end(work: EngineWork, measured: int, jobs: int) -> float:
    """Return the seconds of measures of fidelity of so many rows: all, by their codes, or fewer that are drawn."""
    if not measured:
        return 0.0
    drawn = _DRAWN[0] * work.synthetic + _DRAWN[1] * measured if measured < work.rows else 0.0
    return (0.0023 * work.columns**2 + (1.3e-7 * measured + drawn) * work.columns) * shortened(jobs)


def _seconds(work: EngineWork, task: Task, walked: int) -> float:
    """Return the CPU seconds of a test; `walked` tests search all targets in one walk, and share its cost."""
    scores = _SCORE * work.asked if CATALOGUE[task.attack].sampled else 0.0
    if task.attack != "inference":
        return scores + _OF_ATTACKS.get(task.attack, _other)(work)
    model = "model" in task.settings.get("ways", ())
    seen = (min(work.synthetic, _TAUGHT_ROWS) + work.asked) * work.columns
    taught = _TAUGHT[0] + _TAUGHT[1] * seen if model else 0.0
    if _walks(task):
        trees = _WALKED[0] * work.synthetic * work.columns / walked
        return scores + taught + trees + _WALKED[1] * work.searches
    return scores + taught + _BY_KEYS[0] * work.synthetic + _BY_KEYS[1] * work.asked


def _walks(task: Task) -> bool:
    """Return whether a test searches rows by all columns but the target."""
    return task.attack == "inference" and "keys" not in task.settings
