"""Functions that the distance measures share: attraction of synthetic rows by members and strangers, and quantiles."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from divulge.attacks.checks import SHOWN, finite, judge
from divulge.attacks.entry import Rounding, Withheld
from divulge.case.case import Case
from divulge.case.distances import Distances, distance_columns, distances_of
from divulge.core.result import TOWARDS, Individual, Rate, Result
from divulge.kernels.neighbours.gower import Floats
from divulge.stats import Comparison
from divulge.stats.attraction import attraction

GRID = np.arange(0, 1001, 10)
"""Quantiles of the curves, per mille."""
NAMED = (0, 10, 50, 250, 500, 750, 950)
POINTED = 0.5
"""A synthetic row points at its nearest person if the next person is at least twice as far: a ratio of distances of at
most 0.5. Start value, fixed before any data, not calibrated."""
_CREDIT = 2.0**-36
_PASSES = "tables that pass distance tests were shown to leak: a mean over rows hides the few who are copied"
_COUNTED = "the rate is of synthetic rows: those whose nearest person is a member, or a stranger; ties are shared"


ATTRACTED: Mapping[str, Rounding] = {
    "copied fraction of synthetic rows": Withheld(),
    "highest attraction of one person": Withheld(),
    TOWARDS: Withheld(),
    SHOWN: Withheld(),
    "share of synthetic rows counted": Withheld(),
    "share towards members": Withheld(),
}
"""Further numbers of `attracted`, and how an external edition rounds them."""


def prepared_distances(case: Case, columns: Sequence[str] | None) -> tuple[Distances, list[str], dict[str, Any]]:
    """Return the distances of a case, notes on columns left out, and the settings to report."""
    used, notes = distance_columns(case, columns)
    return distances_of(case, columns), notes, {"columns": list(used) if columns is not None else len(used)}


def quantiles(values: Floats, per_mille: Sequence[int] | NDArray[np.int64]) -> list[float]:
    """Return quantiles, each a value of the data or the midpoint of two values; empty without values.

    Positions are computed in whole numbers, so repeating every row does not change a quantile.
    """
    ordered, n = np.sort(values), len(values)
    out = []
    for p in per_mille if n else ():
        place, rest = divmod(int(p) * n, 1000)
        if rest or place in (0, n):
            out.append(float(ordered[min(place, n - 1)]))
        else:
            out.append(float(ordered[place - 1] / 2 + ordered[place] / 2))
    return out


def middle(values: Floats) -> float | None:
    """Return the median; None where it is undefined."""
    found = quantiles(values, [500])
    return finite(found[0]) if found else None


def shown_of_a_copy(d: Distances, *, alone: bool) -> float:
    """Return the risk that a full copy of the real table would have: 1 if no two people have equal records.

    A copy of a record that strangers have too also gives them credit. With `alone` (for measures that ignore people
    who share a record) such a copy gives no credit at all.
    """
    members, strangers = d.alike()
    n = int(members.sum())
    if alone:
        return float(members[members + strangers == 1].sum()) / n
    each = members + strangers
    mine = math.fsum((members.astype(float) ** 2 / each).tolist())
    theirs = math.fsum((members * strangers / each).tolist())
    return (mine - n / max(1, int(strangers.sum())) * theirs) / n


def attracted(
    case: Case, plain: Result, d: Distances, credits: Floats, *, all_rows: bool = False, alone: bool = False
) -> Result:
    """Return the result with members compared with strangers by the credits of people (real, then holdout).

    `all_rows` says that every synthetic row gives credit, `alone` that people who share a record get none.
    """
    n, m = d.n_rows("real"), d.n_rows("synthetic")
    # a table in which every row is repeated counts once
    repeats = d.repeats()
    each = credits / repeats
    plain = replace(
        plain,
        individual=Individual(real=each[:n], holdout=each[n:] if case.has_holdout else None),
        notes=(*plain.notes, *([_COUNTED] if case.has_holdout else []), _PASSES),
    )
    if not case.has_holdout:
        return replace(plain, verdict="no holdout")
    found = attraction(
        credits[:n],
        credits[n:],
        m,
        cluster_members=case.units("real"),
        cluster_strangers=case.units("holdout"),
        repeats=repeats,
        level=case.level,
        rng=case.rng(f"{plain.attack} {plain.variant}"),
    )
    to_members = finite(found.share)
    context = {
        TOWARDS: finite(found.null_share),
        "copied fraction of synthetic rows": finite(found.risk.value),
        SHOWN: finite(shown_of_a_copy(d, alone=alone)),
        "highest attraction of one person": float(credits.max(initial=0.0)),
    }
    if not all_rows:
        context |= {"share towards members": to_members, "share of synthetic rows counted": found.n_credits / m}
    plain = replace(
        plain,
        real=_rate(credits[:n], m),
        holdout=_rate(credits[n:], m),
        context=plain.context | context,
    )
    return judge(plain, cast(Comparison, found), case.level)


def _rate(credits: Floats, m: int) -> Rate:
    hits = round_sum(credits)
    return Rate(hits=hits, n=m, rate=hits / m if m else None)


def round_sum(credits: Floats) -> float:
    """Return the sum of credits. Credits are multiples of 2**-36, so the sum is exact in any order.

    Three thirds add to 1 only to ten digits, so a sum that close to a whole number is rounded to it.
    """
    total = int((credits / _CREDIT).astype(np.int64).sum()) * _CREDIT
    return float(round(total)) if abs(total - round(total)) < 1e-6 else total
