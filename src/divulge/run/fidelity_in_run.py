"""Fidelity as a part of an assessment: the measures that a run makes, and what it lists as not compared.

The measures are imported when they are made: half a hundred modules that a run without fidelity does not need.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
from msgspec.structs import replace

from divulge.case.case import Case
from divulge.case.relational.linked import Linked
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
    NO_GROUPS_OF_TABLES,
    NO_MODELS,
    NO_SEQUENCES,
    ColumnLeftOut,
    FidelityScope,
    Marginal,
    NotMeasured,
)
from divulge.report.model import Failure, LeftOut
from divulge.run.cost.budget import TIME_UP, Clock, told_left_out
from divulge.run.cost.expected_cost import Work, expected_long, made_by_fidelity
from divulge.run.fidelity_of_tables import applies
from divulge.run.planning.options import RunOptions

__all__ = ["FidelityFound", "distances_of_people", "fidelity_in_run"]

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

    if case.persons is not None:
        return _of_linked(case.persons.linked, models=models, tolerance=tolerance, clock=clock, progress=progress)
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
    return FidelityFound(results, _scope({"": case}, results, known, why, tolerance), failed, left_out)


def _of_linked(
    linked: Linked, *, models: bool, tolerance: float, clock: Clock, progress: Callable[[str, int, int], None]
) -> FidelityFound:
    """Return the measures of relations and sequences, and those of each table, in which families are units.

    They are corrected as in `divulge.fidelity`: over all measures of relations together, and within each table.
    """
    from divulge.measures.catalogue import all_measures
    from divulge.measures.linked.catalogue import linked_measures
    from divulge.measures.linked.tables import table_case

    of_one, of_all = all_measures(), linked_measures()
    why = {m.name: NO_MODELS for m in (*of_all, *of_one) if m.models and not models} | {_GROUPS: NO_GROUPS_OF_TABLES}
    why |= {m.name: NO_SEQUENCES for m in of_all if not applies(m, linked)}
    tables = [t for t in linked.names if any("ignore" not in c.roles for c in linked.case(t).schema.columns)]
    own, others = ([m for m in known if m.name not in why] for known in (of_all, of_one))
    total, done, late, failed = len(own) + len(others) * len(tables), 0, 0, list[Failure]()
    results, cases = list[FidelityResult](), dict[str, Case]()
    for table in ("", *tables):
        chosen: Sequence[Measure] = own
        if table:
            cases[table] = table_case(linked, table)
            chosen, _ = made_by_fidelity(others, cases[table], models=models)
            why |= {m.name: LONG for m in others if m not in chosen}
        found, shares = list[tuple[FidelityResult, ...]](), list[float]()
        for entry in chosen:
            name = entry.name.replace("_", " ") + (f" of {table}" if table else "")
            progress(f"measuring {name}", done, total)
            done += 1
            if clock.up:
                late, why[entry.name] = late + 1, TIME_UP
                continue
            made = _made_of(lambda e=entry, t=table: _measured(e, linked, cases.get(t), tolerance))  # type: ignore[misc]
            if isinstance(made, str):
                failed.append(Failure(attack=entry.name, why=made))
                why[entry.name] = FAILED
            else:
                found.append(made)
                shares.append(entry.share)
        families = corrected(found, linked.case(linked.names[0]).level, shares if table else None)
        results += [_stated(replace(r, table=table) if table else r) for family in families for r in family]
    left_out = [told_left_out("fidelity", late, total)] if late else []
    scope = _scope(cases, tuple(results), (*of_all, *of_one), why, tolerance)
    return FidelityFound(tuple(results), scope, failed, left_out)


def distances_of_people(case: Case, measures: Container[str], options: RunOptions) -> tuple[FidelityResult, ...]:
    """Return how far the people of linked tables are from the real ones by some measures, corrected over these."""
    from divulge.measures.catalogue import all_measures

    entries = [m for m in all_measures() if m.name in measures]
    found = [run_measure(m, case, {"tolerance": options.tolerance}) for m in entries]
    return tuple(r for family in corrected(found, case.level, [m.share for m in entries]) for r in family)


def _measured(entry: Measure, linked: Linked, alone: Case | None, tolerance: float) -> tuple[FidelityResult, ...]:
    if alone is None:
        return entry.run(linked, tolerance=tolerance)
    return run_measure(entry, alone, {"tolerance": tolerance})


def _why_not(entry: Measure, models: bool, groups: Sequence[str], work: Work) -> str:
    if entry.models and not models:
        return NO_MODELS
    if expected_long(entry, work):
        return LONG
    return NO_GROUPS if entry.name == _GROUPS and not groups else ""


def _made(entry: Measure, case: Case, settings: dict[str, Any]) -> tuple[FidelityResult, ...] | str:
    """Return the results of a measure, or the reason why it failed."""
    return _made_of(lambda: run_measure(entry, case, settings))


def _made_of(measure: Callable[[], tuple[FidelityResult, ...]]) -> tuple[FidelityResult, ...] | str:
    try:
        return measure()
    except DivulgeError as error:
        return str(error)
    except (ArithmeticError, LookupError, TypeError, ValueError, RuntimeError) as error:
        # the message of a library may hold a data value: only the error's type is reported
        return f"{type(error).__name__} inside the measure; please report it"


def _stated(result: FidelityResult) -> FidelityResult:
    return replace(result, seconds=stated_seconds(result.seconds))


def _scope(
    cases: Mapping[str, Case],
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
        not_compared=tuple(
            ColumnLeftOut(column=_named(table, c), why=why)
            for table, case in cases.items()
            for c, why in columns_left_out(case)
            if not (table and {"ignore", "unit"} & {*case.schema[c].roles})  # keys, and who the family is
        ),
        warnings=warnings_of(results),
        differing=differing(results),
        marginals=tuple(m for table, case in cases.items() for m in _drawn(table, case)),
    )


def _named(table: str, column: str) -> str:
    return f"{table}.{column}" if table else column


def _drawn(table: str, case: Case) -> list[Marginal]:
    from divulge.measures.marginals import marginals

    drawn = [msgspec.convert(m, Marginal, from_attributes=True) for m in marginals(case)]
    return [replace(m, column=_named(table, m.column)) for m in drawn]
