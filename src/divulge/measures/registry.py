"""The registry of measures of fidelity: the entry of each measure, and the public function made from it."""

from __future__ import annotations

import functools
import inspect
import textwrap
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from divulge.case.case import COLLECTED, LEFT_OUT, READ, Case, build_case
from divulge.core.errors import SettingError
from divulge.core.process_wide import one_thread
from divulge.core.schema import Schema, check_columns, column_names
from divulge.measures.entry import Better, Family, Measure, MeasureWords, Run, Seconds
from divulge.measures.result import FidelityResult

__all__ = ["GROUP", "REGISTRY", "checked_tolerance", "measure", "run_measure", "timed"]

REGISTRY: dict[str, Measure] = {}
"""The measures in the order in which a run makes them."""
GROUP = "divulge.measures"
"""Entry points of other packages in this group are imported before a run, and register their measures."""
EVERY = (
    "Every measure also takes `holdout` (people of the same population that the synthesizer never saw), `schema`, "
    "`unit` (the column of the person or household), `ignore`, `missing` (texts that stand for missing), `seed` and "
    "`level` (of the interval)."
)
SHARED = ("tolerance", "targets", "groups")
"""Settings that a run passes to each measure that takes them."""

_TABLES = inspect.signature(
    lambda real, synthetic, holdout=None, *, schema=None, unit=None, ignore=(), missing=(), seed=0, level=0.95: None
)
_COLUMNS = ("targets", "groups", "columns")
_ONE = ("target",)


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
    public function takes the tables instead, and also `holdout`, `schema`, `unit`, `ignore`, `missing`, `seed` and
    `level`; `public.run` is the decorated function, timed. The arguments become the fields of `Measure`, which
    documents them.
    """

    def enter(function: Run) -> Any:
        entry = Measure(
            function.__name__, family, question, needs, reference, better, null, words, timed(function),
            custodian_only, holdout, models, share, seconds,
        )  # fmt: skip
        REGISTRY[entry.name] = entry
        return _public(entry)

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


def _public(entry: Measure) -> Any:
    """Return the public function, which measures tables."""
    own = inspect.signature(entry.run)

    @functools.wraps(entry.run)
    def public(
        real: Any,
        synthetic: Any,
        holdout: Any = None,
        *,
        schema: Schema | None = None,
        unit: str | None = None,
        ignore: Sequence[str] = (),
        missing: Sequence[str] = (),
        seed: int = 0,
        level: float = 0.95,
        **settings: Any,
    ) -> tuple[FidelityResult, ...]:
        own.bind(None, **settings)  # an unknown setting fails before the tables are read
        settings = {name: _named(name, given) for name, given in settings.items()}
        case = build_case(
            real, synthetic, holdout, schema=schema, unit=unit, ignore=ignore, missing=missing, seed=seed, level=level
        ).collected("this measure needs every row")
        for name in (n for n in (*_COLUMNS, *_ONE) if settings.get(n) is not None):
            check_columns(name, [settings[name]] if name in _ONE else settings[name], case.columns)
        notes = tuple(n for n in case.notes if LEFT_OUT in n or n.startswith((COLLECTED, READ)))
        found = run_measure(entry, case, settings)
        return tuple(replace(r, notes=(*r.notes, *(() if i else notes))) for i, r in enumerate(found))

    extra = [p for n, p in own.parameters.items() if n != "case"]
    shared = list(_TABLES.parameters.values())
    # Python 3.13 takes the indentation out of docstrings, earlier ones leave it
    doc = inspect.cleandoc(entry.run.__doc__ or "") + _COMMON.format(every=_EVERY_LINES, reference=entry.reference)
    public.__signature__ = _TABLES.replace(parameters=[*shared[:3], *extra, *shared[3:]])  # type: ignore[attr-defined] # functions take attributes
    public.run = entry.run  # type: ignore[attr-defined] # functions take attributes
    public.__doc__ = doc
    return public


def _named(setting: str, given: Any) -> Any:
    """Return the columns that a setting names as texts; None and other settings as they are."""
    if given is None or setting not in (*_COLUMNS, *_ONE):
        return given
    names = column_names(setting, given)
    one = setting in _ONE and (isinstance(given, str) or not isinstance(given, Iterable))
    return names[0] if one else names


_EVERY_LINES = textwrap.fill(EVERY, 116)
_COMMON = """

{every}

References
----------
{reference}
"""
