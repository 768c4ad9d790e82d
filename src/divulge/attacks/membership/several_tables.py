"""Several synthetic tables of one training set: what their number adds to each membership score.

All rows together are one synthetic table to the scores, and the results are about it: "the sum of all rows that were
released decides". Here the same scores are computed for the first table, the first two, and so on, and for each alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from divulge.attacks.membership.results import three
from divulge.attacks.membership.scores import person_scores, shares_of
from divulge.case.case import Case
from divulge.core.result import Result
from divulge.stats.intervals import Interval
from divulge.stats.roc import auc, auc_gain, claims_at
from divulge.stats.score_tests import score_tests

__all__ = ["BEST_TABLE", "BY_NUMBER", "GAIN_OF_ALL", "TABLES", "by_number_of_tables"]

Floats = NDArray[np.float64]
Sides = tuple[Floats, Floats]
BySide = Callable[[Floats], Sides]

TABLES = "synthetic tables"
BEST_TABLE = "AUC of the best single table"
GAIN_OF_ALL = "gain of all tables over the best single one"
BY_NUMBER = "each number of tables was tested on its own: p-values by number are not corrected for several numbers"
_STEPS = (1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000)
_ALONE = 10  # tables that are scored alone: a limit on the time
_RATE = 0.01


def by_number_of_tables(
    case: Case,
    columns: tuple[str, ...],
    every: Mapping[str, Floats],
    results: Sequence[Result],
    sides: BySide,
) -> list[Result]:
    """Return the results of all tables together, each with its AUC by number of tables, and that of the best table.

    Parameters
    ----------
    case, columns
        A case whose synthetic table is several tables.
    every
        The scores of all tables together, by name.
    results
        Results of these scores, whose variants are the names.
    sides
        What divides a score into that of members and that of strangers.
    """
    parts = case.synthetic_parts
    names = tuple(r.variant for r in results if not np.isnan(every[r.variant]).any())
    if not names:
        return list(results)
    ends = list(accumulate(parts))

    def of_rows(first: int, last: int) -> Mapping[str, Floats]:
        return person_scores(case.synthetic_rows(first, last), columns, names)

    numbers = [k for k in _STEPS if k < len(parts)]
    steps = [of_rows(0, ends[k - 1]) for k in numbers] + [every]
    alone = [steps[0]] + [of_rows(ends[i] - parts[i], ends[i]) for i in range(1, min(len(parts), _ALONE))]
    p_values = [_p_values({name: sides(step[name]) for name in names}, case) for step in steps]
    first = {TABLES: [float(k) for k in (*numbers, len(parts))]}
    first |= {"synthetic rows": [float(ends[int(k) - 1]) for k in first[TABLES]]}
    out = []
    for result in results:
        if result.variant not in names:  # a score that asks a sample of people asks others of fewer tables
            out.append(result)
            continue
        i = names.index(result.variant)
        mine = [sides(step[result.variant]) for step in steps]
        curves = first | _curves(mine, case.level) | {"p-value, adjusted": [float(p[i]) for p in p_values]}
        best = max((sides(one[result.variant]) for one in alone), key=lambda s: auc(*s).value)
        more: dict[str, float | None] = {TABLES: float(len(parts)), BEST_TABLE: auc(*best).value}
        more |= three(GAIN_OF_ALL, auc_gain(mine[-1], best, case.level))
        notes = (*result.notes, BY_NUMBER)
        out.append(
            replace(result, context=result.context | more, curves={**result.curves, **_named(curves)}, notes=notes)
        )
    return out


def _p_values(sides: Mapping[str, Sides], case: Case) -> Floats:
    members, strangers = (np.column_stack(parts) for parts in zip(*sides.values(), strict=True))
    rng = case.rng("membership labels")
    return score_tests(members, strangers, shares=shares_of(sides), level=case.level, rng=rng).p_adjusted


def _curves(sides: Sequence[Sides], level: float) -> dict[str, list[float]]:
    areas = [auc(*s, level) for s in sides]
    rates = [claims_at(*s, _RATE, level) for s in sides]
    out = _limits("AUC", areas)
    return out if not rates[0].k else out | _limits("TPR at FPR 1%", [c.tpr for c in rates])


def _limits(name: str, found: Sequence[Interval]) -> dict[str, list[float]]:
    return {
        name: [f.value for f in found],
        f"{name}, lower limit": [f.low for f in found],
        f"{name}, upper limit": [f.high for f in found],
    }


def _named(curves: Mapping[str, list[float]]) -> dict[str, list[float]]:
    return {name if name == TABLES else f"by tables: {name}": values for name, values in curves.items()}
