"""The registry of measures of fidelity: the entry of each measure, and the public function made from it."""

from __future__ import annotations

import functools
import inspect
import time
from collections.abc import Callable, Mapping
from typing import Any

from msgspec.structs import replace

from divulge.case.case import COLLECTED, LEFT_OUT, READ, Case, build_case
from divulge.case.door import of_one_table, public_function
from divulge.core.errors import SettingError
from divulge.core.process_wide import one_thread
from divulge.core.schema import check_columns, column_names
from divulge.measures.blocks import coded_columns
from divulge.measures.entry import Better, Family, Measure, MeasureWords, Run, Seconds
from divulge.measures.result import FidelityResult
from divulge.tables.counting import COUNTING, Engine

__all__ = ["GROUP", "REGISTRY", "checked_tolerance", "measure", "run_measure", "timed"]

REGISTRY: dict[str, Measure] = {}
"""The measures in the order in which a run makes them."""
GROUP = "divulge.measures"
"""Entry points of other packages in this group are imported before a run, and register their measures."""
SHARED = ("tolerance", "targets", "groups")
"""Settings that a run passes to each measure that takes them."""


def measure(
    *,
    family: Family,
    question: str,
    needs: str,
    reference: str,
    better: Better,
    null: str,
    words: MeasureWords,
    custodian_only: bool = False,
    holdout: bool = False,
    models: bool = False,
    share: float = 1.0,
    seconds: Seconds | None = None,
) -> Callable[[Run], Any]:
    """Enter a function into the registry and return the public function that builds the case for it.

    The decorated function takes a `Case` and its own keyword settings, and returns a tuple of `FidelityResult`. The
    public function takes the tables instead, and also what `_answer` takes; `public.run` is the decorated function,
    timed. The arguments become the fields of `Measure`, which documents them.
    """

    def enter(function: Run) -> Any:
        entry = Measure(
            function.__name__, family, question, needs, reference, better, null, words, timed(function),
            custodian_only, holdout, models, share, seconds,
        )  # fmt: skip
        REGISTRY[entry.name] = entry
        return public_function(entry, _answer, of_one_table)

    return enter


def run_measure(entry: Measure, case: Case, settings: Mapping[str, Any]) -> tuple[FidelityResult, ...]:
    """Return the results of a measure on a case; of the settings it is given those that it takes.

    A measure that needs a holdout and has none gives one result, "not measured".
    """
    if entry.holdout and not case.has_holdout:
        return (FidelityResult(measure=entry.name, notes=("there is no holdout, and it needs one",)),)
    own = inspect.signature(entry.run).parameters
    return entry.run(case, **{name: value for name, value in settings.items() if name in own})


def checked_tolerance(tolerance: float) -> float:
    """Return the tolerance as a float.

    Raises
    ------
    SettingError
        It is no number between 0 and 1.
    """
    if isinstance(tolerance, bool) or not isinstance(tolerance, int | float) or not 0 <= tolerance < 1:
        raise SettingError(
            "tolerance: this is no number from 0 to below 1. hint: 0.05 calls differences of up to 5% small."
        )
    return float(tolerance)


def timed(function: Run) -> Run:
    """Return a measure with its tolerance checked, on one thread; its results share the seconds it took.

    Products of small matrices take one thread: threads that wait for each other cost four times as much.
    """

    @functools.wraps(function)
    def run(data: Any, **settings: Any) -> tuple[FidelityResult, ...]:
        if "tolerance" in settings:
            settings["tolerance"] = checked_tolerance(settings["tolerance"])
        began = time.perf_counter()
        with one_thread():
            found = function(data, **settings)
        seconds = (time.perf_counter() - began) / max(1, len(found))
        return tuple(replace(r, seconds=seconds) for r in found)

    return run


def _answer(
    entry: Measure, settings: dict[str, Any], *, engine: Engine = "auto", **tables: Any
) -> tuple[FidelityResult, ...]:
    """Return the results of a measure on tables, which `of_one_table` describes.

    Parameters
    ----------
    engine
        Where tables are counted: "memory", or where they are, by "duckdb", "polars" or "spark", for measures that fit
        no model; codes of their rows come into memory. "auto" reads the tables.
    """
    if engine in COUNTING and entry.models:
        raise SettingError(
            f"engine: {entry.name} needs every row, and {engine} counts rows where they are. hint: engine='memory' "
            "reads them."
        )
    case = build_case(**tables, engine=engine)
    if engine not in COUNTING:
        case = case.collected("this measure needs every row")
    if settings.get("columns") is not None:  # an attack's may be two lists, which the door leaves alone
        settings["columns"] = column_names("columns", settings["columns"])
    for name in ("targets", "groups", "columns", "target"):
        if (given := settings.get(name)) is not None:
            check_columns(name, [given] if name == "target" else given, case.by_table)
    if engine in COUNTING:
        case = case.with_codes(coded_columns(case, settings.get("groups") or ()))
    notes = tuple(n for n in case.notes if LEFT_OUT in n or n.startswith((COLLECTED, READ)))
    found = run_measure(entry, case, settings)
    return tuple(replace(r, notes=(*r.notes, *(() if i else notes))) for i, r in enumerate(found))
