"""Results of the counted measures from the floors of their units."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from divulge.case.case import Case
from divulge.measures.blocks import FEWEST, Dealt, dealt
from divulge.measures.noise_floor import Floors
from divulge.measures.result import FidelityResult, FreshSample, HoldoutValue
from divulge.measures.verdicts import judged

__all__ = ["MEAN", "Found", "Unit", "counted_results", "holdout_value", "not_measured", "unit_result"]

MEAN = -1
"""Number of the mean over all units among the floors."""


@dataclass(frozen=True, slots=True)
class Unit:
    """What a result is about."""

    columns: tuple[str, ...] = ()
    variant: str = ""
    notes: tuple[str, ...] = ()
    context: Mapping[str, int | float | str | None] = field(default_factory=dict)
    table: str = ""


@dataclass(frozen=True, slots=True)
class Found:
    """The units of a measure and their floors, in the same order; the mean over all units is the last floor."""

    units: Sequence[Unit]
    floors: Floors
    whole: int = MEAN
    """The floor that speaks for all columns together."""
    notes: tuple[str, ...] = ()


def not_measured(measure: str, why: str, tolerance: float) -> tuple[FidelityResult, ...]:
    """Return the one result of a measure that cannot be made."""
    return (FidelityResult(measure=measure, tolerance=tolerance, notes=(why,)),)


def counted_results(
    case: Case, measure: str, tolerance: float, find: Callable[[Case, Dealt], Found | None], nothing: str
) -> tuple[FidelityResult, ...]:
    """Return the results of a counted measure: of all columns together, then of each unit.

    Parameters
    ----------
    case
        All rows in memory.
    measure
        Its name.
    tolerance
        The largest difference that does not matter.
    find
        Gives the units and their floors; None where there is none to compare. For the same case it gives the same
        units whichever table the real one is compared with.
    nothing
        Why there is none, in words.
    """
    rows = dealt(case)
    if rows is None:
        return not_measured(measure, f"a table has fewer than {FEWEST} rows or units", tolerance)
    found = find(case, rows)
    if found is None:
        return not_measured(measure, nothing, tolerance)
    strangers = dealt(case, 2) if case.has_holdout else None
    beside = find(case, strangers) if strangers is not None else None

    def one(number: int, unit: Unit) -> FidelityResult:
        whole = number == found.whole and not unit.columns and not unit.variant
        of_strangers = None
        if beside is not None and strangers is not None:
            of_strangers = holdout_value(beside.floors, number, strangers.m, whole=number == beside.whole)
        made = unit_result(measure, tolerance, (rows.n, rows.m), found.floors, number, unit, whole, of_strangers)
        return judged(made, case.level)

    places = [i for i in range(len(found.units)) if i != found.whole]
    told = [one(i, found.units[i]) for i in places]
    verdicts = [r.verdict for r in told]
    context: dict[str, int | float | str | None] = {
        "compared": len(told), "differ": verdicts.count("differs"),
        "closer": verdicts.count("closer than a fresh sample"),
    }  # fmt: skip
    all_notes = (*found.notes, *rows.notes)
    return (one(found.whole, Unit(notes=all_notes, context=context)), *told)


def unit_result(
    measure: str, tolerance: float, n_rows: tuple[int, int], floors: Floors, number: int, unit: Unit, whole: bool,
    holdout: HoldoutValue | None,
) -> FidelityResult:  # fmt: skip
    """Return the result of one unit, without its verdict.

    Parameters
    ----------
    measure, tolerance
        Of the measure.
    n_rows
        Rows of both tables.
    floors, number
        The floors of all units, and which of them is meant.
    unit
        What it is about.
    whole
        Whether it speaks for all units: it differs where any does.
    holdout
        The same for the holdout.
    """
    value, mean = float(floors.value[number]), float(floors.mean[number])
    p, q = (a.min() if whole else a[number] for a in (floors.p_adjusted, floors.p_low_tail_adjusted))
    return FidelityResult(
        measure=measure,
        table=unit.table,
        variant=unit.variant,
        columns=unit.columns,
        value=value,
        fresh_sample=_fresh(floors, number),
        ruler=value / mean if mean > 0 else None,
        excess=value - mean,
        low=float(floors.low[number]),
        high=float(floors.high[number]),
        p_value=float(floors.p[number]),
        p_low_tail=float(floors.p_low_tail[number]),
        p_adjusted=float(p),
        p_low_tail_adjusted=float(q),
        tolerance=tolerance,
        smallest_detectable=float(floors.smallest_detectable[number]),
        holdout=holdout,
        n=n_rows[0],
        m=n_rows[1],
        notes=unit.notes,
        context=dict(unit.context),
    )


def _fresh(floors: Floors, number: int) -> FreshSample:
    mean, low, high = (float(a[number]) for a in (floors.mean, floors.fresh_low, floors.fresh_high))
    return FreshSample(mean=mean, low=low, high=high)


def holdout_value(floors: Floors, number: int, n: int, *, whole: bool) -> HoldoutValue:
    """Return what the holdout shows for one unit; `n` are its rows."""
    value, mean = float(floors.value[number]), float(floors.mean[number])
    return HoldoutValue(
        value=value,
        n=n,
        fresh_sample=_fresh(floors, number),
        ruler=value / mean if mean > 0 else None,
        p_value=float(floors.p[number]),
        p_adjusted=float(floors.p_adjusted.min() if whole else floors.p_adjusted[number]),
    )
