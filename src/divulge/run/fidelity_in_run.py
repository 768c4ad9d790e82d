"""Fidelity as a part of an assessment: the measures that a run makes, and what it lists as not compared.

The measures are imported when they are made: half a hundred modules that a run without fidelity does not need.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
from msgspec.structs import replace

from divulge.case.case import Case
from divulge.core.errors import DivulgeError
from divulge.measures.blocks import columns_left_out
from divulge.measures.differing import differing
from divulge.measures.entry import Measure
from divulge.measures.registry import run_measure
from divulge.measures.result import TOLERANCE, FidelityResult
from divulge.measures.too_close import too_close
from divulge.measures.verdicts import corrected
from divulge.report.environment import stated_seconds
from divulge.report.fidelity_model import (
    FAILED,
    LONG,
    NO_GROUPS,
    NO_MODELS,
    ColumnLeftOut,
    FidelityScope,
    Marginal,
    NotMeasured,
)
from divulge.report.model import Failure, LeftOut
from divulge.run.cost.budget import TIME_UP, Clock, told_left_out
from divulge.run.cost.expected_cost import Work, expected_long

__all__ = ["FidelityFound", "fidelity_in_run"]

_GROUPS = "subgroups"


@dataclass(frozen=True, slots=True)
class FidelityFound:
    """What a run found about fidelity; a scope of None where it was left out."""

    results: tuple[FidelityResult, ...] = ()
    scope: FidelityScope | None = None
    failed: list[Failure] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)

    @property
    def too_close(self) -> bool:
        """Whether pairs of columns are closer than a generator that never copies makes them."""
        return self.scope is not None and self.scope.too_close


def fidelity_in_run(
    case: Case,
    *,
    models: bool,
    groups: Sequence[str],
    targets: Sequence[str] | None,
    work: Work,
    tolerance: float = TOLERANCE,
    clock: Clock,
    progress: Callable[[str, int, int], None],
) -> FidelityFound:
    """Return the results of the measures of fidelity, corrected over all of them, and what was not compared.

    A measure that fails does not stop the run.

    Parameters
    ----------
    case
        Two or three tables with all rows in memory.
    models
        Whether measures that fit models are made too.
    groups
        Columns whose values define subgroups; without any, subgroups are not compared.
    targets
        Columns that models learn to predict.
    work
        Of the whole run: a measure that says how long it takes is made where that is little.
    tolerance
        The largest difference that does not matter.
    clock
        No measure begins once its time is up.
    progress
        Called with the measure that comes next, the number of those done, and of all.
    """
    from divulge.measures.catalogue import all_measures

    known = all_measures()
    why = {m.name: reason for m in known if (reason := _why_not(m, models, groups, work))}
    wanted = [m for m in known if m.name not in why]
    settings = {"tolerance": tolerance, "targets": targets, "groups": list(groups) or None}
    found, shares = list[tuple[FidelityResult, ...]](), list[float]()
    failed: list[Failure] = []
    late = 0
    for i, entry in enumerate(wanted):
        if clock.up:
            why[entry.name] = TIME_UP
            late += 1
            continue
        progress(f"measuring {entry.name.replace('_', ' ')}", i, len(wanted))
        made = _made(entry, case, settings)
        if isinstance(made, str):
            why[entry.name] = FAILED
            failed.append(Failure(attack=entry.name, why=made))
        else:
            found.append(made)
            shares.append(entry.share)
    results = tuple(_stated(r) for family in corrected(found, case.level, shares) for r in family)
    left_out = [told_left_out("fidelity", late, len(wanted))] if late else []
    return FidelityFound(results, _scope(case, results, known, why, tolerance), failed, left_out)


def _why_not(entry: Measure, models: bool, groups: Sequence[str], work: Work) -> str:
    if entry.models and not models:
        return NO_MODELS
    if expected_long(entry, work):
        return LONG
    return NO_GROUPS if entry.name == _GROUPS and not groups else ""


def _made(entry: Measure, case: Case, settings: dict[str, Any]) -> tuple[FidelityResult, ...] | str:
    """Return the results of a measure, or the reason why it failed."""
    try:
        return run_measure(entry, case, settings)
    except DivulgeError as error:
        return str(error)
    except (ArithmeticError, LookupError, TypeError, ValueError, RuntimeError) as error:
        # the message of a library may hold a data value: only the error's type is reported
        return f"{type(error).__name__} inside the measure; please report it"


def _stated(result: FidelityResult) -> FidelityResult:
    return replace(result, seconds=stated_seconds(result.seconds))


def _scope(
    case: Case,
    results: tuple[FidelityResult, ...],
    known: Sequence[Measure],
    why: dict[str, str],
    tolerance: float,
) -> FidelityScope:
    from divulge.run.fidelity import warnings_of

    silent = {r.measure: r.notes[0] if r.notes else "" for r in reversed(results) if r.verdict == "not measured"}
    measured = {r.measure for r in results if r.verdict != "not measured"}
    silent = {name: text for name, text in silent.items() if name not in measured}
    return FidelityScope(
        tolerance=tolerance,
        too_close=too_close(results),
        not_measured=tuple(
            NotMeasured(measure=m.name, question=m.question, why=(why | silent)[m.name])
            for m in known
            if m.name in why or m.name in silent
        ),
        not_compared=tuple(ColumnLeftOut(column=c, why=why) for c, why in columns_left_out(case)),
        warnings=warnings_of(results),
        differing=differing(results),
        marginals=tuple(_drawn(case)),
    )


def _drawn(case: Case) -> list[Marginal]:
    from divulge.measures.marginals import marginals

    return [msgspec.convert(m, Marginal, from_attributes=True) for m in marginals(case)]
