"""NNDR, the nearest neighbour distance ratio: the distance to the nearest person over that to the second nearest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from msgspec.structs import replace

from divulge.attacks.distance.attracted import (
    ATTRACTED,
    GRID,
    POINTED,
    attracted,
    middle,
    prepared_distances,
    quantiles,
)
from divulge.attacks.entry import Coarse, Withheld, Words, per_table
from divulge.attacks.registry import MIXED, attack
from divulge.case.case import Case
from divulge.case.distances import Distances, distances_of
from divulge.core.result import Result, Value
from divulge.kernels.neighbours.gower import Floats

__all__ = ["nndr"]


def ratios(d: Distances, reference: str) -> Floats | None:
    """Return the nearest over the second nearest distance of each synthetic row; 0/0 is 1. None for a one-row table."""
    if d.n_rows(reference) < 2:
        return None
    found = d.nearest("synthetic", reference, 2).distances
    first, second = found[:, 0], found[:, 1]
    return np.where(second > 0, first / np.where(second > 0, second, 1.0), 1.0)


def expect(case: Case, settings: Sequence[Mapping[str, Any]]) -> None:
    """Announce the two nearest people of each synthetic row: other attacks then find the nearest one with them."""
    for columns in {s.get("columns") for s in settings}:
        for role in ("real", "holdout")[: 1 + case.has_holdout]:
            distances_of(case, columns).expect("synthetic", role, 2)


_NNDR_WORDS = Words(
    says=(
        "I find synthetic rows that lie much nearer to one person than to anybody else, so they speak of that person."
    ),
    knows="The records of members and of strangers, and the whole synthetic table.",
    data="Columns of numbers, dates or categories, every row in memory; a holdout for risk and verdict. " + MIXED,
    formula=(
        "ratio of a synthetic row = distance to the nearest person / distance to the next; 0 / 0 is 1\n"
        "ratio: 5% quantile among real people, and among holdout people\n"
        "pointed: synthetic rows with a ratio of at most 0.5, members and strangers together\n"
        "risk of pointed = n_T * (mean c of members - mean c of strangers) / m\n"
        "c: pointed rows nearest to the person, ties shared; n_T: real records; m: all synthetic rows."
    ),
    reading=(
        "A ratio near 0 points at one person, 1 at nobody in particular; leak-free data give real and holdout the "
        "same. For pointed rows the rate is those that point at members, as a share of all synthetic rows, and its "
        "baseline is the share that leak-free data would give members, in the context. Risk 0 means that members "
        "and strangers are pointed at alike, 1 that every synthetic row points at a member, and a negative risk "
        "that strangers are pointed at more."
    ),
    silent=(
        "Copies of people who have doubles do not show: a double makes the ratio 1.",
        "A jitter that is wide beside the gaps between people hides a copy.",
        "Tables that pass may leak.",
    ),
)


@attack(
    family="distance",
    question="Do synthetic rows point at one person in the table, much nearer than anybody else?",
    needs="numbers or categories; a holdout to say anything about disclosure",
    reference="Platzer and Reutterer 2021; Lowe 2004 for the ratio.",
    words=_NNDR_WORDS,
    plan=per_table(),
    expect=expect,
    counts="rows",
    values={"ratio": "5% quantile of the ratio among "},
    coarse=Coarse(),
    context={
        **ATTRACTED,
        "10th smallest among holdout": Withheld(),
        "10th smallest among real": Withheld(),
        "median among holdout": Withheld(),
        "median among real": Withheld(),
    },
)
def nndr(case: Case, *, columns: Sequence[str] | None = None) -> tuple[Result, ...]:
    """Return the nearest neighbour distance ratio: distance to the nearest person over that to the second nearest.

    "ratio": the 5% quantile, among real and among holdout people; for leak-free data the two are equal. A ratio of 0/0
    (several equal people) counts as 1, because the row points at nobody in particular. "pointed": the synthetic rows
    whose nearest person, members and strangers pooled, is at most half as far as the next, and whether this person is a
    member. For leak-free data n_T/N of these rows point at members. The measure sees outliers that were copied closely.
    It does not see copies of people whose record somebody else has too, and tables that pass may leak.

    Parameters
    ----------
    columns
        Compare only these columns; None takes all that can be compared.

    Examples
    --------
    >>> import polars as pl
    >>> real, synthetic = pl.DataFrame({"x": [1.0, 2.0, 9.0]}), pl.DataFrame({"x": [1.25, 9.0]})
    >>> [round(v, 3) for v in nndr(real, synthetic)[0].curves["among real"]][::50]
    [0.0, 0.167, 0.333]
    """
    d, notes, settings = prepared_distances(case, columns)
    plain = Result(attack="nndr", settings=settings, notes=tuple(notes))
    value: dict[str, float | None] = {}
    context: dict[str, float | None] = {}
    curves = {"share": (GRID / 1000).tolist()}
    for role in ("real", "holdout")[: 1 + case.has_holdout]:
        found = ratios(d, role)
        if found is None:
            plain = replace(plain, notes=(*plain.notes, f"{role}: one row has no second nearest, so no ratio"))
            continue
        value[role], context[f"median among {role}"] = quantiles(found, [50])[0], middle(found)
        tenth = np.sort(found)
        context[f"10th smallest among {role}"] = float(tenth[9]) if len(tenth) > 9 else None
        curves[f"among {role}"] = quantiles(found, GRID)
    first = replace(plain, variant="ratio", value=Value(**value), context=context, curves=curves)
    pointed = ratios(d, "people")
    chosen = np.zeros(d.n_rows("synthetic"), dtype=bool) if pointed is None else pointed <= POINTED + 1e-12
    second = replace(plain, variant="pointed", settings=settings | {"ratio at most": POINTED})
    return first, attracted(case, second, d, d.attraction(chosen), alone=True)
