"""How many seconds a run takes whose tables an engine holds: what entries say of attacks, and what comes beside.

The numbers were measured: the parts of runs of 1, 10 and 100 million rows of 15 columns, by DuckDB (docs/decisions).
Another engine counts in up to three times as long; searches are the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from divulge.attacks.entry import CATALOGUE, EngineWork
from divulge.case.case import Case
from divulge.run.cost.expected_cost import TAUGHT, shortened
from divulge.run.cost.measured_cost import SECONDS
from divulge.run.planning.plan import Task

__all__ = ["engine_work", "seconds_at_end", "seconds_before", "seconds_of_each"]


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
    together = Counter(t.attack for t in tasks if _shared(work, t))
    return [_seconds(work, t, together) * shortened(jobs) for t in tasks]


def seconds_at_end(work: EngineWork, measured: int, jobs: int) -> float:
    """Return the seconds of measures of fidelity of so many rows: all, by their codes, or fewer that are drawn."""
    if not measured:
        return 0.0
    drawn = _DRAWN[0] * work.synthetic + _DRAWN[1] * measured if measured < work.rows else 0.0
    return (0.0023 * work.columns**2 + (1.3e-7 * measured + drawn) * work.columns) * shortened(jobs)


def _seconds(work: EngineWork, task: Task, together: Counter[str]) -> float:
    """Return the CPU seconds of a test; calls that are made `together` share what they take once."""
    entry = CATALOGUE[task.attack]
    seconds = _SCORE * work.asked if entry.sampled else 0.0
    if "model" in task.settings.get("ways", ()):
        seen = (min(work.synthetic, TAUGHT) + work.asked) * work.columns
        seconds += SECONDS["model"] + SECONDS["cell of a model"] * seen
    if _shared(work, task):
        seconds += _shared(work, task) / together[task.attack]
    return seconds + entry.cost.seconds(work, task.settings)


def _shared(work: EngineWork, task: Task) -> float:
    shared = CATALOGUE[task.attack].cost.shared
    return 0.0 if shared is None else shared(work, task.settings)
