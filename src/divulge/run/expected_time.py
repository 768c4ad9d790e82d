"""How long a run will take, known roughly before it begins."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

from divulge.attacks import CATALOGUE
from divulge.report.formatting import several
from divulge.run.plan import Task

__all__ = ["duration", "expected_seconds"]

# CPU seconds by rows of all tables, measured on 2,000 to 39,000 members of Adult (15 columns) on one machine; other
# machines and columns differ by a factor of two or three, which "about" says.
_COLUMNS = 15
_RUN, _RUN_A_ROW = 3.0, 1.5e-4
_TARGET, _TARGET_A_ROW = 0.3, 3e-5
_MODEL, _MODEL_A_ROW = 0.5, 3.6e-5
_PAIR = 0.004
_FOREST, _FOREST_A_ROW = 0.3, 6e-4  # of membership
_ALONE = 0.4  # share of the work that no further thread shortens

_STEPS = ((90, 10, 1, "second"), (90 * 60, 60, 60, "minute"))  # below, rounded up to multiples of, seconds of the unit


def expected_seconds(tasks: Sequence[Task], n_rows: int, n_columns: int, jobs: int) -> float:
    """Return about how many seconds the tests of a run will take.

    Parameters
    ----------
    tasks
        The planned tests.
    n_rows
        Rows of all tables together.
    n_columns
        Columns that are compared.
    jobs
        Threads.

    Examples
    --------
    >>> round(expected_seconds([], n_rows=1000, n_columns=15, jobs=1))
    3
    """
    cells = n_rows * n_columns / _COLUMNS
    cpu = _RUN + _RUN_A_ROW * cells
    for task in tasks:
        per = CATALOGUE[task.attack].plan.per
        if per == "target":
            cpu += _TARGET + _TARGET_A_ROW * cells
            cpu += _MODEL + _MODEL_A_ROW * cells if "model" in task.settings.get("ways", ()) else 0.0
        elif per == "pair":
            cpu += _PAIR
        elif task.attack == "membership":
            cpu += _FOREST + _FOREST_A_ROW * cells
    return cpu * (_ALONE + (1 - _ALONE) / jobs)


def duration(seconds: float) -> str:
    """Return a number of seconds in words, rounded up to 10 seconds, minutes or hours.

    Examples
    --------
    >>> duration(3), duration(61), duration(100), duration(20_000)
    ('10 seconds', '70 seconds', '2 minutes', '6 hours')
    """
    step, unit, word = next(((s, u, w) for most, s, u, w in _STEPS if seconds < most), (3600, 3600, "hour"))
    return several(max(1, ceil(seconds / step)) * step // unit, word)
