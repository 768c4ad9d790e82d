"""Distances: do synthetic rows lie nearer to the people in the table than to strangers?

A low distance alone says nothing: a good synthesizer lies near everybody of the population. Only the excess over
strangers does, and even that is no proof of the contrary: tables that pass every test of this file were shown to leak
(Yao, Krco, Ganev and de Montjoye 2025), because a mean over rows hides the few who are copied.

Members and strangers are searched as one table, on one ruler, and ties are shared. What is counted is chosen without
looking at who is a member, so that a permutation of labels is an exact test (see `divulge.stats.attraction`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from divulge.attacks.checks import SHOWN, finite, judge
from divulge.attacks.registry import MIXED, Words, attack
from divulge.case.case import Case
from divulge.case.distances import Distances, distance_columns, distances_of
from divulge.core.result import TOWARDS, Individual, Rate, Result, Value
from divulge.kernels.neighbours.distinct import Distinct
from divulge.kernels.neighbours.gower import Floats
from divulge.stats import Comparison
from divulge.stats.attraction import attraction

__all__ = ["dcr", "identical_match_share", "nndr"]

GRID = np.arange(0, 1001, 10)
"""Quantiles of the curves, per mille."""
NAMED = (0, 10, 50, 250, 500, 750, 950)
POINTED = 0.5
"""A synthetic row points at one person if that person is at most half as far as the next; fixed before any data."""
_CREDIT = 2.0**-36
_PASSES = "tables that pass distance tests were shown to leak: a mean over rows hides the few who are copied"
_COUNTED = "the rate is of synthetic rows: those whose nearest person is a member, or a stranger; ties are shared"


def laid(case: Case, columns: Sequence[str] | None) -> tuple[Distances, list[str], dict[str, Any]]:
    """Return the distances of a case, notes on columns left out, and the settings to state."""
    used, notes = distance_columns(case, columns)
    return distances_of(case, columns), notes, {"columns": list(used) if columns is not None else len(used)}


def quantiles(values: Floats, per_mille: Sequence[int] | NDArray[np.int64]) -> list[float]:
    """Return quantiles that are values of the data or midpoints of two; empty without values.

    Whole-number places: writing every row twice changes no digit.
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
    """Return the median, None where it is undefined."""
    found = quantiles(values, [500])
    return finite(found[0]) if found else None


def shown_of_a_copy(d: Distances, *, alone: bool) -> float:
    """Return which part of a full copy of the real table would show as copied: 1 where nobody has a double.

    A copy of a record that strangers have too gives them credit as well; with `alone` (measures that pass over people
    with a double) it gives none at all.
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
    """Return the result with members judged against strangers by the credits of people (real, then holdout).

    `all_rows` says that each synthetic row gives its credit, `alone` that people with a double get none.
    """
    n, m = d.n_rows("real"), d.n_rows("synthetic")
    # a table written out twice says no more than once
    repeats = int(np.gcd.reduce(Distinct.of(d.rows("synthetic"), always=True).times))
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
    """Return the sum of credits, which are whole multiples of 2**-36: exact in any order.

    A third three times is 1 to ten digits, so sums that close to a whole number are meant as one.
    """
    total = int((credits / _CREDIT).astype(np.int64).sum()) * _CREDIT
    return float(round(total)) if abs(total - round(total)) < 1e-6 else total


# ---------------------------------------------------------------- distance to the closest record


_DCR_WORDS = Words(
    says="I look for the person nearest to each synthetic row, and too often it is one of your people.",
    knows="The records of members and of strangers, and the whole synthetic table.",
    data="Columns of numbers, dates or categories, every row in memory; a holdout for anything but medians. " + MIXED,
    formula=(
        "c = credits of a person: synthetic rows whose nearest person he is; t who tie get 1 / t each\n"
        "attraction: rate = credits of members / m; leak-free = n_T / (n_T + n_C)\n"
        "risk = n_T * (mean c of members - mean c of strangers) / m\n"
        "synthetic rows: median distance of synthetic rows to real, and to holdout\n"
        "people: median distance of members, and of strangers, to the synthetic table\n"
        "n_T, n_C, m: real, holdout and synthetic rows."
    ),
    reading=(
        "Risk estimates the fraction of synthetic rows that are copied: 0 is none, 1 all, and a negative risk means "
        "that strangers attract more. The baseline of the rate is the leak-free share towards members, not 0. "
        "Medians have no verdict: leak-free data give members and strangers equal ones, and synthetic rows equal "
        "ones where real and holdout have one size."
    ),
    silent=(
        "It shows copying on average: a few copied people among many do not show.",
        "On coarse data, where ties abound, it shows hardly anything.",
        "Tables that pass were shown to leak by membership attacks.",
    ),
)


@attack(
    family="distance",
    question="Do synthetic rows lie nearer to people in the table than to strangers?",
    needs="numbers or categories; a holdout to say anything about disclosure",
    reference="Platzer and Reutterer 2021 (holdout share); Yao et al. 2025, The DCR delusion, for what it misses.",
    words=_DCR_WORDS,
)
def dcr(case: Case, *, columns: Sequence[str] | None = None) -> tuple[Result, ...]:
    """Return the distances to the closest record: who attracts synthetic rows, how near they lie, how near people are.

    "attraction": the share of synthetic rows whose nearest person is a member, ties shared. Leak-free data give
    n_T/N; risk is the fraction of synthetic rows that are copied. It shows copying on average. It does not show a few
    copied people among many, and on coarse data, where ties abound, hardly anything: tables that pass may leak.

    "synthetic rows": the median distance of synthetic rows to real and to holdout. Leak-free data give equal ones
    for tables of equal size. "people": the median distance of members and of strangers to the synthetic table, which
    leak-free data make equal. Neither of the two has a verdict.

    Parameters
    ----------
    columns
        Compare these columns alone; None takes all that can be compared.

    Examples
    --------
    >>> import polars as pl
    >>> real, strangers = pl.DataFrame({"x": [1.0, 2.0, 3.0, 4.0]}), pl.DataFrame({"x": [1.4, 2.4, 3.4, 4.4]})
    >>> near, *_ = dcr(real, real + 0.1, holdout=strangers)
    >>> near.real.rate, near.context["leak-free share towards members"]
    (1.0, 0.5)
    """
    d, notes, settings = laid(case, columns)
    plain = Result(attack="dcr", settings=settings, notes=tuple(notes))
    tied = float((d.nearest("synthetic", "people").n_ties > 1).mean())
    first = replace(plain, variant="attraction", context={"share of synthetic rows with several nearest people": tied})
    return (
        attracted(case, first, d, d.attraction(), all_rows=True),
        _of_synthetic_rows(case, replace(plain, variant="synthetic rows"), d),
        _of_people(case, replace(plain, variant="people"), d),
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
    """Return the chance that a random member is closer than a random stranger, ties half; counted, so exact."""
    if not (len(members) and len(strangers)):
        return None
    ordered = np.sort(strangers)
    beyond = len(ordered) - np.searchsorted(ordered, members, side="right")
    at_least = len(ordered) - np.searchsorted(ordered, members, side="left")
    return float(int(beyond.sum()) + int(at_least.sum())) / (2 * len(members) * len(strangers))


# ---------------------------------------------------------------- near one person and nobody else


def ratios(d: Distances, reference: str) -> Floats | None:
    """Return nearest over second nearest distance of each synthetic row; 0/0 is 1, None for a table of one row."""
    if d.n_rows(reference) < 2:
        return None
    found = d.nearest("synthetic", reference, 2).distances
    first, second = found[:, 0], found[:, 1]
    return np.where(second > 0, first / np.where(second > 0, second, 1.0), 1.0)


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
        "c: pointed rows whose nearest person he is, ties shared; n_T: real records; m: all synthetic rows."
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
)
def nndr(case: Case, *, columns: Sequence[str] | None = None) -> tuple[Result, ...]:
    """Return the nearest neighbour distance ratio: distance to the nearest person over that to the second nearest.

    "ratio": the 5% quantile, among real and among holdout people; leak-free data give equal ones. A ratio of 0/0
    (several equal people) counts as 1: it says nobody in particular. "pointed": the synthetic rows whose nearest
    person, members and strangers together, is at most half as far as the next, and whether that is a member. Leak-free
    data point at members in n_T/N of these rows. It sees outliers that were copied closely; it does not see copies of
    people who have doubles, and tables that pass may leak.

    Parameters
    ----------
    columns
        Compare these columns alone; None takes all that can be compared.

    Examples
    --------
    >>> import polars as pl
    >>> real, synthetic = pl.DataFrame({"x": [1.0, 2.0, 9.0]}), pl.DataFrame({"x": [1.25, 9.0]})
    >>> [round(v, 3) for v in nndr(real, synthetic)[0].curves["among real"]][::50]
    [0.0, 0.167, 0.333]
    """
    d, notes, settings = laid(case, columns)
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


# ---------------------------------------------------------------- identical rows


_IDENTICAL_MATCH_SHARE_WORDS = Words(
    says=("I find synthetic rows that equal a person's record, and they are more often your people's than strangers'."),
    knows="The records of members and of strangers, and the whole synthetic table.",
    data=(
        "Columns of numbers, dates or categories, every row in memory; a holdout says how many matches chance "
        "gives. " + MIXED
    ),
    formula=(
        "value = share of synthetic rows that equal some real row, and that equal some holdout row\n"
        "c = credits of a person: synthetic rows equal to the record, shared among all people who have it\n"
        "risk = n_T * (mean c of members - mean c of strangers) / m\n"
        "n_T, m: real and synthetic rows."
    ),
    reading=(
        "A share of 0 means that no synthetic row equals a record, 1 that all do. Shares of real and holdout are "
        "alike in leak-free data of equal sizes; on coarse data both are high, and say nothing. Risk estimates the "
        "fraction of synthetic rows that are exact copies: 0 is none, 1 all, negative where strangers are matched "
        "more. The rate is the rows credited to members; its baseline is the leak-free share in the context."
    ),
    silent=(
        "The smallest jitter hides a copy.",
        "Columns that a distance leaves out are not compared: copies looks at those too.",
        "Tables without a match may leak.",
    ),
)


@attack(
    family="distance",
    question="Which synthetic rows equal a person's record, in the columns that a distance compares?",
    needs="numbers or categories; a holdout says how many matches chance gives",
    reference="Platzer and Reutterer 2021 (identical match share).",
    words=_IDENTICAL_MATCH_SHARE_WORDS,
)
def identical_match_share(case: Case, *, columns: Sequence[str] | None = None) -> Result:
    """Return the share of synthetic rows that equal a real row, and that equal a holdout row.

    The value is the plain share for each. Judged is the attraction of synthetic rows that equal any person: those
    who equal several people are shared among them. Leak-free data give members n_T/N of them; on coarse data most rows
    equal somebody, and the shares say nothing. It sees exact copies alone: a jitter hides them, and tables without
    a match may leak.

    Parameters
    ----------
    columns
        Compare these columns alone; None takes all that can be compared.

    Examples
    --------
    >>> import polars as pl
    >>> real, strangers = pl.DataFrame({"x": [1.0, 2.0, 2.0]}), pl.DataFrame({"x": [2.0, 3.0, 4.0]})
    >>> found = identical_match_share(real, pl.DataFrame({"x": [1.0, 2.0, 5.0, 5.5]}), holdout=strangers)
    >>> found.value.real, found.value.holdout, round(found.real.hits, 3)
    (0.5, 0.25, 1.667)
    """
    d, notes, settings = laid(case, columns)
    shares = {
        role: float((d.nearest("synthetic", role).distances[:, 0] == 0).mean())
        for role in ("real", "holdout")[: 1 + case.has_holdout]
    }
    plain = Result(attack="identical_match_share", settings=settings, value=Value(**shares), notes=tuple(notes))
    return attracted(case, plain, d, d.attraction(d.nearest("synthetic", "people").distances[:, 0] == 0))
