"""DCR, the distance to the closest record: are synthetic rows nearer to members than to strangers?

A small distance alone says nothing: a good synthesizer is near all people of the population. Only the excess over
strangers is evidence, and its absence proves nothing: tables that pass the distance tests of the literature were shown
to leak (Yao, Krco, Ganev and de Montjoye 2025), because a mean over rows hides the few people who are copied.

Members and strangers are searched as one table, on one ruler, and ties are shared. The counted quantity does not depend
on who is a member, so a permutation of the labels is an exact test (see `divulge.stats.attraction`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec.structs import replace

from divulge.attacks.checks import finite
from divulge.attacks.distance.aligned import ALIGNED, ALIGNED_CONTEXT, ALIGNED_NOTES, nearer_when_aligned
from divulge.attacks.distance.attracted import ATTRACTED, GRID, NAMED, attracted, middle, prepared_distances, quantiles
from divulge.attacks.distance.nearest_people import (
    CONTEXT,
    NEARNESS,
    NEARNESS_CONTEXT,
    NEARNESS_NOTES,
    NOTES,
    VARIANT,
    missing_near_members,
    nearness,
)
from divulge.attacks.entry import Coarse, Exact, Primary, Withheld, Words, per_table
from divulge.attacks.registry import MIXED, attack
from divulge.case.case import Case
from divulge.case.distances import Distances
from divulge.core.result import Individual, Result, Value
from divulge.kernels.neighbours.gower import Floats

__all__ = ["dcr"]


# ---------------------------------------------------------------- distance to the closest record


_DCR_WORDS = Words(
    says="I look for the person nearest to each synthetic row, and too often it is one of your people.",
    knows="The records of members and of strangers, and the whole synthetic table.",
    data="Columns of numbers, dates or categories, every row in memory; a holdout for anything but medians. " + MIXED,
    formula=(
        "c = credits of a person: synthetic rows nearest to the person; t who tie get 1 / t each\n"
        "attraction: rate = credits of members / m; leak-free = n_T / (n_T + n_C)\n"
        "risk = n_T * (mean c of members - mean c of strangers) / m\n"
        "synthetic rows: median distance of synthetic rows to real, and to holdout\n"
        "people: median distance of members, and of strangers, to the synthetic table\n"
        "nearness: members and strangers among the nearest 1, 2, 5, 10, 20, 50% of people, by d_1(S)\n"
        "      and by d_1(S) / d_5(other people); p = upper tail, times 12;\n"
        "      risk = (p_T - p_C) / (1 - p_C), its limit that of the nearest 1 to 10%,\n"
        "      divided by the risk of verbatim copies, (s - p_C) / (1 - p_C)\n"
        "hole: K strangers lie nearer than every member; p = prod_{i < K} (n_C - i) / (n_T + n_C - i)\n"
        "      members among the nearest 1, 2 and 5% of all people: p = lower tail of the hypergeometric\n"
        "aligned: codes, signs, scales and columns aligned without labels; members among the nearest\n"
        "      1, 2, 5, 10, 20, 50% of people in up to five views: p = upper tail, times all tests\n"
        "n_T, n_C, m: real, holdout and synthetic rows; s: members whom a copy would bring so near."
    ),
    reading=(
        "Risk estimates the fraction of synthetic rows that are copied: 0 is none, 1 all, and a negative risk means "
        "that strangers attract more. The baseline of the rate is the leak-free share towards members, not 0. "
        "Medians have no verdict: leak-free data give members and strangers equal ones, and synthetic rows equal "
        "ones where real and holdout have one size. A hole means that members are missing among the people nearest "
        "to the synthetic table, as a filter that drops rows near to real ones leaves them: then absence tells who "
        "is a member. Without one it has no verdict. Nearness counts people: its risk is 0 without a leak, and "
        "its limit bounds how many members have a copy so near."
    ),
    silent=(
        "It shows copying on average: a few copied people among many do not show.",
        "On coarse data, where ties abound, it shows hardly anything.",
        "Nearness bounds copies that are nearer than nine in ten people have a synthetic row; rows that were blurred "
        "much more are not bounded.",
        "Tables that pass were shown to leak by membership attacks.",
        "Aligned: small shares of copies, and codes that are equally frequent and depend on no other column, do not "
        "show, nor does a column of numbers under the heading of one of texts or dates. At most 2,000 members, as many "
        "strangers, 100,000 synthetic rows and 60 columns are compared.",
    ),
)


@attack(
    family="distance",
    question="Do synthetic rows lie nearer to people in the table than to strangers?",
    needs="numbers or categories; a holdout to say anything about disclosure",
    reference="Platzer and Reutterer 2021 (holdout share); Yao et al. 2025, The DCR delusion, for what it misses.",
    words=_DCR_WORDS,
    plan=per_table(),
    weight=4,
    primary=Primary("nearness", lambda variant: variant == NEARNESS, covers=("copies", "exact"), leans="attraction"),
    counts="rows",
    values={
        "synthetic rows": "median distance of synthetic rows to ",
        "people": "median distance to the synthetic table: ",
    },
    coarse=Coarse(),
    hit={
        NEARNESS: "the people nearest to the synthetic table are",
        VARIANT: "the people nearest to the synthetic table are",
        ALIGNED: "under other labels, the people nearest to the synthetic table are",
    },
    context={
        **ATTRACTED,
        **CONTEXT,
        **ALIGNED_CONTEXT,
        **NEARNESS_CONTEXT,
        "chance that a member is closer than a stranger": Withheld(),
        "leak-free chance that a member is closer": Exact(),
        "of members, #% quantile": Withheld(),
        "of strangers, #% quantile": Withheld(),
        "share of synthetic rows with several nearest people": Withheld(),
        "to holdout, #% quantile": Withheld(),
        "to real, #% quantile": Withheld(),
    },
    notes=(
        "real and holdout differ in size: distances to the larger table are smaller by themselves",
        *NOTES,
        *ALIGNED_NOTES,
        *NEARNESS_NOTES,
    ),
    alone=(NEARNESS, VARIANT, ALIGNED),
)
def dcr(case: Case, *, columns: Sequence[str] | None = None) -> tuple[Result, ...]:
    """Return results on the distance to the closest record: attraction, synthetic rows, people; with strangers more.

    "attraction": the share of synthetic rows whose nearest person is a member, ties shared. Leak-free data give n_T/N;
    the risk is the share of synthetic rows that are copied. It shows copying on average. It does not show a few copied
    people among many, and hardly anything on coarse data, which have many ties: tables that pass may leak.

    "synthetic rows": the median distance from synthetic rows to real and to holdout. For leak-free data the two are
    equal if the tables have equal size. "people": the median distance from members and from strangers to the synthetic
    table. For leak-free data these are equal. Neither result has a verdict.

    "nearness": whether members are too many among the people nearest to the synthetic table, by the distance to the
    nearest synthetic row or by its ratio to the distance to the fifth nearest other person. Twelve exact one-sided
    tests, corrected for their number. Its limits bound how many more members than strangers are among the nearest 1, 2,
    5 and 10% of people, divided by what verbatim copies would show; in a run "none found" needs this bound.

    "hole": whether members are missing among the people nearest to the synthetic table, as if rows near to members were
    removed. Four exact one-sided tests, corrected for their number: strangers who lie nearer than every member, and
    members among the nearest 1, 2 and 5% of people; of a unit the nearest row counts. The verdict is "deficit found" or
    none. The rates are of the nearest 1% of people, or of the group in which the deficit was found.

    "aligned": whether members are too many among the people nearest to the synthetic table, once its codes, signs,
    scales and columns are aligned with all people together, as where labels were renamed or columns changed places.
    Distances are then those of up to five views: the same columns, either sign of a number, any columns, any
    columns and sign, columns matched. Up to 30 exact one-sided tests, corrected for their number. The verdict is
    "excess found" or none.

    Parameters
    ----------
    columns
        Compare only these columns; None takes all that can be compared.

    Examples
    --------
    >>> import polars as pl
    >>> real, strangers = pl.DataFrame({"x": [1.0, 2.0, 3.0, 4.0]}), pl.DataFrame({"x": [1.4, 2.4, 3.4, 4.4]})
    >>> near, *_ = dcr(real, real + 0.1, holdout=strangers)
    >>> near.real.rate, near.context["leak-free share towards members"]
    (1.0, 0.5)
    """
    d, notes, settings = prepared_distances(case, columns)
    plain = Result(attack="dcr", settings=settings, notes=tuple(notes))
    tied = float((d.nearest("synthetic", "people").n_ties > 1).mean())
    first = replace(plain, variant="attraction", context={"share of synthetic rows with several nearest people": tied})
    found = (
        attracted(case, first, d, d.attraction(), all_rows=True),
        _of_synthetic_rows(case, replace(plain, variant="synthetic rows"), d),
        _of_people(case, replace(plain, variant="people"), d),
    )
    if not case.has_holdout:
        return found
    return (
        *found,
        nearness(case, replace(plain, variant=NEARNESS), d),
        missing_near_members(case, replace(plain, variant=VARIANT), d),
        nearer_when_aligned(case, replace(plain, variant=ALIGNED), d.columns),
    )


def _of_synthetic_rows(case: Case, plain: Result, d: Distances) -> Result:
    to_real = d.nearest("synthetic", "real").distances[:, 0]
    context = _named("to real", to_real)
    curves = {"share": (GRID / 1000).tolist(), "to real": quantiles(to_real, GRID)}
    notes, holdout = plain.notes, None
    if case.has_holdout:
        to_holdout = d.nearest("synthetic", "holdout").distances[:, 0]
        holdout = middle(to_holdout)
        context |= _named("to holdout", to_holdout)
        curves["to holdout"] = quantiles(to_holdout, GRID)
        n, k = d.n_rows("real"), d.n_rows("holdout")
        if abs(n - k) > 0.05 * max(n, k):
            notes = (*notes, "real and holdout differ in size: distances to the larger table are smaller by themselves")
    return replace(
        plain, value=Value(real=middle(to_real), holdout=holdout), context=context, curves=curves, notes=notes
    )


def _of_people(case: Case, plain: Result, d: Distances) -> Result:
    members = d.nearest("real", "synthetic").distances[:, 0]
    curves = {"share": (GRID / 1000).tolist(), "members": quantiles(members, GRID)}
    context, strangers, individual = _named("of members", members), None, Individual(real=members)
    if case.has_holdout:
        others = d.nearest("holdout", "synthetic").distances[:, 0]
        strangers = middle(others)
        context |= _named("of strangers", others)
        context |= {
            "chance that a member is closer than a stranger": closer(members, others),
            "leak-free chance that a member is closer": 0.5,
        }
        curves["strangers"] = quantiles(others, GRID)
        individual = Individual(real=members, holdout=others)
    return replace(
        plain,
        value=Value(real=middle(members), holdout=strangers),
        context=context,
        curves=curves,
        individual=individual,
    )


def _named(what: str, values: Floats) -> dict[str, float | None]:
    return {f"{what}, {p / 10:g}% quantile": finite(q) for p, q in zip(NAMED, quantiles(values, NAMED), strict=True)}


def closer(members: Floats, strangers: Floats) -> float | None:
    """Return the probability that a random member is closer than a random stranger; ties count half. It is exact."""
    if not (len(members) and len(strangers)):
        return None
    ordered = np.sort(strangers)
    beyond = len(ordered) - np.searchsorted(ordered, members, side="right")
    at_least = len(ordered) - np.searchsorted(ordered, members, side="left")
    return float(int(beyond.sum()) + int(at_least.sum())) / (2 * len(members) * len(strangers))
