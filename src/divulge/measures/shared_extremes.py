"""Smallest and largest numbers that one real person alone has, and who has them in the other tables.

A generator whose numbers never leave the real range may have copied its ends, which belong to single people. How often
people of the holdout have the same values by chance says whether it did.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from divulge.case.case import Case
from divulge.case.encoded import ROLES
from divulge.measures.result import FidelityResult
from divulge.stats.exact import fisher

__all__ = ["OUT_OF_RANGE", "CopiedExtremes", "copied_extremes", "with_extremes"]

Ints = NDArray[np.int64]

OUT_OF_RANGE = "out of range"
"""The variant of validity that asks whether numbers leave the real range."""
_OF_ONE, _SHARED = "extremes of one person", "of these in the synthetic table"
_SYNTHETIC, _STRANGERS = "synthetic rows with an extreme of one person", "strangers with an extreme of one person"
_P = "p of copied extremes"


@dataclass(frozen=True, slots=True)
class CopiedExtremes:
    """Extremes of single people that the synthetic table has more often than strangers."""

    columns: tuple[str, ...]
    """Columns whose synthetic numbers never leave the real range and reach an extreme of one person."""
    of_one: int
    """Extremes of these columns that one real person alone has."""
    shared: int
    """How many of them a synthetic row has."""
    synthetic: int
    """Synthetic rows (or units) with such an extreme of any column."""
    strangers: int
    """People of the holdout with one."""


def with_extremes(case: Case, results: Sequence[FidelityResult]) -> tuple[FidelityResult, ...]:
    """Return the results of validity with what is known of extremes that one real person alone has.

    Parameters
    ----------
    case
        All rows in memory.
    results
        Of validity, the one about all columns first.
    """
    ends = {r.columns[0]: _of_one_person(case, r.columns[0]) for r in results if r.variant == OUT_OF_RANGE}
    if not ends:
        return tuple(results)
    first, *others = (
        replace(r, context={**r.context, **_of_column(case, r.columns[0], ends)}) if r.variant == OUT_OF_RANGE else r
        for r in results
    )
    return (replace(first, context={**first.context, **_of_people(case, ends)}), *others)


def copied_extremes(results: Sequence[FidelityResult], level: float = 0.95) -> CopiedExtremes | None:
    """Return extremes that were copied; None where none was, or other people have such extremes about as often.

    Parameters
    ----------
    results
        Of a run.
    level
        1 less the chance to call the extremes of a fresh sample copied.

    Examples
    --------
    >>> told = {"extremes of one person": 2, "of these in the synthetic table": 2}
    >>> column = FidelityResult(measure="validity", variant="out of range", columns=("age",), value=0.0, context=told)
    >>> told = {"synthetic rows with an extreme of one person": 9, "strangers with an extreme of one person": 0}
    >>> head = FidelityResult(measure="validity", context=told | {"p of copied extremes": 0.003})
    >>> copied_extremes([head, column]).columns, copied_extremes([head])
    (('age',), None)
    """
    own = [r for r in results if r.measure == "validity"]
    head = next((r for r in own if not r.columns), None)
    p = None if head is None else head.context.get(_P)
    inside = [r for r in own if r.variant == OUT_OF_RANGE and r.value == 0 and r.context.get(_SHARED)]
    if head is None or not isinstance(p, int | float) or not p < 1 - level or not inside:
        return None
    of_one, shared = (sum(_number(r, key) for r in inside) for key in (_OF_ONE, _SHARED))
    columns = tuple(r.columns[0] for r in inside)
    return CopiedExtremes(columns, of_one, shared, _number(head, _SYNTHETIC), _number(head, _STRANGERS))


def _number(result: FidelityResult, key: str) -> int:
    return int(result.context.get(key) or 0)


def _of_one_person(case: Case, name: str) -> list[int]:
    """Return the codes of the smallest and the largest real number, where one real person alone has it."""
    numbers, counts = case.numbers(name), case.pooled(name).counts[0]
    there = np.flatnonzero(~np.isnan(numbers) & (counts > 0))
    if not len(there):
        return []
    ends = {int(there[np.argmin(numbers[there])]), int(there[np.argmax(numbers[there])])}
    if case.unit is None:
        return sorted(end for end in ends if counts[end] == 1)
    return sorted(end for end in ends if len(_people(case, "real", {name: [end]})) == 1)


def _of_column(case: Case, name: str, ends: Mapping[str, Sequence[int]]) -> dict[str, int]:
    synthetic = case.pooled(name).counts[ROLES.index("synthetic")]
    return {_OF_ONE: len(ends[name]), _SHARED: sum(int(synthetic[end]) > 0 for end in ends[name])}


def _of_people(case: Case, ends: Mapping[str, Sequence[int]]) -> dict[str, float]:
    if not case.has_holdout:
        return {}
    found = [len(_people(case, role, ends)) for role in ROLES[1:]]
    units = [case.units(role) for role in ROLES[1:]]
    every = [case.n_rows(r) if u is None else len(np.unique(u)) for r, u in zip(ROLES[1:], units, strict=True)]
    p = fisher(found[0], every[0], found[1], every[1])
    more = found[0] * every[1] > found[1] * every[0]
    return {_SYNTHETIC: found[0], _STRANGERS: found[1], _P: round(p, 12) if more else 1.0}


def _people(case: Case, role: str, ends: Mapping[str, Sequence[int]]) -> Ints:
    """Return the people (or rows) of a table that have one of these codes."""
    has = np.zeros(case.n_rows(role), dtype=bool)
    for name, codes in ends.items():
        own = case.codes(name, binned=False)[ROLES.index(role)]
        for code in codes:
            has |= own == code
    units = case.units(role)
    return np.flatnonzero(has) if units is None else np.unique(units[has])
