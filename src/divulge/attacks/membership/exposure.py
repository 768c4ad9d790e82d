"""Exposure: people who are far from all other people, and people to whom a synthetic row is closer than expected."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.attacks.entry import Coarse, Exact, Withheld, Words, per_table
from divulge.attacks.other_people import (
    DIGITS,
    MOST_OWN,
    UNIT_NOTE,
    half_the_smallest,
    others_near,
    pooled_units,
)
from divulge.attacks.registry import MIXED, attack
from divulge.case.case import Case
from divulge.case.distances import Distances, check_count, distance_columns, distances_of
from divulge.core.errors import SettingError
from divulge.core.result import Individual, Rate, Result, Value
from divulge.stats import benjamini_hochberg

__all__ = [
    "People",
    "exposure",
    "flagged_at",
    "highest_of_unit",
    "hit_scores",
    "p_values",
    "people_of",
    "smallest_flaggable",
]

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_SHARES = np.linspace(0.0, 1.0, 101)
_QUANTILES = {"median": 0.5, "90% quantile": 0.9, "99% quantile": 0.99, "largest": 1.0}


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """The distances and scores of the people of one table, one entry for each record."""

    outlierness: Floats
    """V_k: mean distance to the k nearest other people of the real table; nan where there are no other people."""
    to_person: Floats
    """Distance to the nearest other person of real and holdout pooled; nan where there is none."""
    to_neighbour: Floats
    """Distance to the other person that the score uses, such as the fifth nearest."""
    to_synthetic: Floats
    """Distance to the nearest synthetic row."""
    synthetic_row: Ints
    """Number of the nearest synthetic row, the lowest in ties."""
    score: Floats
    """The hit score; nan where there is no other person."""


@dataclass(frozen=True, slots=True, eq=False)
class People:
    """The arrays behind `exposure`: who is exposed and who is hit."""

    real: Side
    holdout: Side | None
    p_value: Floats | None
    """Conformal p-value of each member; None without a holdout."""
    flagged: Bools | None
    """Members flagged at the false discovery rate; None without a holdout."""
    n_flagged: int
    """Number of flagged members; of flagged units where there are units."""
    n_members: int
    """Number of members, or of units of members."""
    smallest_flaggable: int | None
    """Smallest number of members (or units) that Benjamini-Hochberg can flag with this holdout."""
    notes: tuple[str, ...]


def expect(case: Case, settings: Sequence[Mapping[str, Any]]) -> None:
    """Announce the searches for other people: other attacks then find the nearest one with them."""
    if case.unit is not None:
        return
    for columns, k, neighbour in {(s.get("columns"), s.get("k", 5), s.get("neighbour", 5)) for s in settings}:
        distances = distances_of(case, columns)
        for role in ("real", "holdout")[: 1 + case.has_holdout]:
            distances.expect(role, "real", k)
            distances.expect(role, "people", neighbour)


_EXPOSURE_WORDS = Words(
    says="I know a person who is unlike all others, and this synthetic row is a portrait of that person.",
    knows="The record of one person, and the whole synthetic table.",
    data="Columns of numbers, dates or categories, every row in memory. Without a holdout nobody can be flagged. "
    + MIXED,
    formula=(
        "V_k(x) = mean distance of x to the k nearest other people of the real table\n"
        "score(x) = log(distance of x to another person / distance of x to the nearest synthetic row)\n"
        "p(x) = (1 + strangers who score at least as high) / (strangers + 1)\n"
        "flagged = Benjamini-Hochberg on p at the false discovery rate fdr\n"
        "The other person is the neighbour-th nearest of real and holdout together. In the score a distance\n"
        "of 0 counts as half the smallest positive one."
    ),
    reading=(
        "V_k is 0 for somebody with k doubles, and the larger the more the person stands apart. A score of 0 means "
        "that the nearest synthetic row is as far as that other person, above 0 nearer (1 is 2.7 times as near), "
        "below 0 farther; the baseline is the scores of strangers. The rate is the share of members who are "
        "flagged; of those flagged at most the share fdr is expected to be flagged by chance. No rate is compared "
        "with strangers, so there is no risk and no verdict."
    ),
    silent=(
        "V_k uses no synthetic row: it says who would be easiest to recognise, not who was.",
        "A small holdout cannot name few people: the context has the fewest that can be flagged.",
        "A person whom nobody flags may be exposed on part of the columns.",
    ),
)


@attack(
    family="exposure",
    question="Is this synthetic row a portrait of one particular person?",
    needs="a holdout, to flag people; without one, outliers and scores alone",
    reference="Meeus et al. 2023, Achilles' heels (outlierness of records). Bates et al. 2023, Testing for outliers "
    "with conformal p-values. Benjamini and Hochberg 1995.",
    words=_EXPOSURE_WORDS,
    compared=False,
    plan=per_table(),
    expect=expect,
    hit={"": "flagged:"},
    values={"outliers": "mean distance to the nearest other people: ", "hit": "median hit score: "},
    coarse=Coarse(),
    context={
        "#% quantile of members": Withheld(),
        "#% quantile of strangers": Withheld(),
        "fdr": Exact(),
        "fewest people that can be flagged": Withheld(),
        "fewest units that can be flagged": Withheld(),
        "largest of members": Withheld(),
        "largest of strangers": Withheld(),
        "median of members": Withheld(),
        "median of strangers": Withheld(),
    },
    notes=(
        "# of # people are flagged as having a synthetic row closer than strangers have; at most #% of those "
        "flagged are expected to be flagged by chance",
        "# of # units are flagged as having a synthetic row closer than strangers have; at most #% of those "
        "flagged are expected to be flagged by chance",
        "hit score: log(distance to the # nearest other person / distance to the nearest synthetic row), people "
        "of real and holdout together; its medians are the values shown",
        "mean distance to the # nearest other people of the real table",
        "no holdout: nobody can be flagged, since chance alone gives high scores too",
        "this holdout cannot name fewer than # people: fewer who are hit stay unflagged; a larger holdout names fewer",
        "this holdout cannot name fewer than # units: fewer who are hit stay unflagged; a larger holdout names fewer",
        "this holdout is too small to name anybody at a false discovery rate of #",
        UNIT_NOTE.format("'…'"),
    ),
)
def exposure(
    case: Case, *, columns: Sequence[str] | None = None, k: int = 5, fdr: float = 0.1, neighbour: int = 5
) -> tuple[Result, ...]:
    """Return how far people are from each other, and how many people are hit by a synthetic row.

    "outliers": V_k of a record is the mean distance to the k nearest other people of the real table. It uses no
    synthetic data; it says who would be easiest to recognise. V_k of strangers, to the same table, is given too.

    "hit": the score of a record is log(distance to another person / distance to the nearest synthetic row). The other
    person is the `neighbour`-th nearest of real and holdout pooled, so that members and strangers are scored alike.
    The p-value of a member is (1 + strangers who score at least as high) / (strangers + 1). Benjamini-Hochberg flags
    members such that the expected share of those flagged by chance is at most `fdr`. The result flags single people
    and compares no rate, so there is no verdict.

    Distances of 0 count as half the smallest positive distance. So the score of a copied record increases with the
    distance to other people. A record that `neighbour` or more other people share scores 0 if it was copied, because
    the copy points at none of them, and below 0 if it was not.

    Parameters
    ----------
    columns
        Compare only these columns; None takes all that a distance can compare.
    k
        Number of people in the mean of V_k.
    fdr
        False discovery rate, in (0, 1).
    neighbour
        Rank of the other person whose distance the score uses. The distance to the fifth varies less than to the first.

    Raises
    ------
    SettingError
        k or neighbour is below 1, fdr is outside (0, 1), the rows are not in memory, or there is no column to compare.

    Notes
    -----
    With units (`unit`), other rows of the same unit are not other people; the score of a unit is that of its highest
    record, units are compared with units, and units are counted. A table with a single person has no V_k and no score.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"age": range(0, 400, 2)})
    >>> real, holdout = people[::2], people[1::2]
    >>> outliers, hit = exposure(real, real[:20], holdout=holdout)
    >>> hit.real.hits, hit.context["fewest people that can be flagged"]
    (20.0, 10.0)
    """
    people = people_of(case, columns=columns, k=k, fdr=fdr, neighbour=neighbour)
    compared, left_out = distance_columns(case, columns)
    settings: dict[str, Any] = {"columns": len(compared), "k": k, "fdr": fdr, "neighbour": neighbour}
    keys = () if columns is None else tuple(columns)
    return _outliers(people, keys, settings, left_out), _hit(case, people, keys, settings, left_out)


def people_of(
    case: Case, *, columns: Sequence[str] | None = None, k: int = 5, fdr: float = 0.1, neighbour: int = 5
) -> People:
    """Return who is exposed and who is hit; the case caches it.

    Raises
    ------
    SettingError
        k or neighbour is below 1, fdr is outside (0, 1), the rows are not in memory, or there is no column to compare.
    """
    for name, value in (("k", k), ("neighbour", neighbour)):
        check_count(name, value)
    if not 0 < fdr < 1:
        raise SettingError(f"fdr: {fdr} is outside (0, 1). hint: 0.1 is the default.")
    key = ("people", tuple(sorted(distance_columns(case, columns)[0])), k, fdr, neighbour)
    return case.cache.once(key, lambda: _people(case, distances_of(case, columns), k, fdr, neighbour))


def _people(case: Case, distances: Distances, k: int, fdr: float, neighbour: int) -> People:
    roles = ("real", "holdout") if case.has_holdout else ("real",)
    units = pooled_units(case, roles)
    n_people = sum(case.n_rows(role) for role in roles)  # no more neighbours are there
    k, neighbour = min(k, n_people), min(neighbour, n_people)
    parts = [_distances_of_side(distances, role, units, k, neighbour) for role in roles]
    floor = half_the_smallest([d for p in parts for d in (p[2], p[3])])
    sides = [Side(*p, hit_scores(p[2], p[3], floor)) for p in parts]
    real, holdout = sides[0], sides[1] if case.has_holdout else None
    notes = _unit_notes(case, units)
    own = None if units is None else units["real"]
    n_members = len(real.score) if own is None else len(np.unique(own))
    if holdout is None:
        return People(real, None, None, None, 0, n_members, None, tuple(notes))
    strangers = highest_of_unit(holdout.score, None if units is None else units["holdout"])
    p = p_values(real.score, strangers)
    # a record is flagged if its own p-value is as small as that of a flagged unit
    flagged = flagged_at(p, own, fdr)
    n_flagged = int(flagged.sum()) if own is None else len(np.unique(own[flagged]))
    least = smallest_flaggable(n_members, len(strangers), fdr)
    return People(real, holdout, p, flagged, n_flagged, n_members, least, tuple(notes))


# ---------------------------------------------------------------- distances


def _distances_of_side(
    distances: Distances, role: str, units: dict[str, Ints] | None, k: int, neighbour: int
) -> tuple[Floats, Floats, Floats, Floats, Ints]:
    """Return V_k; distances to the nearest and `neighbour`-th other person and to a synthetic row; and that row."""
    near = others_near(distances, role, "real", units, k)
    known = np.isfinite(near)
    n_known = known.sum(axis=1)
    total = np.where(known, near, 0.0).sum(axis=1)
    outlierness = np.divide(total, n_known, out=np.full(len(near), np.nan), where=n_known > 0)
    people = others_near(distances, role, "people", units, neighbour)
    # if there are fewer other people, the farthest of them is used
    n_people = np.isfinite(people).sum(axis=1)
    chosen = people[np.arange(len(people)), np.maximum(n_people, 1) - 1]
    synthetic = distances.nearest(role, "synthetic")
    return (
        outlierness,
        np.where(np.isfinite(people[:, 0]), people[:, 0], np.nan),
        np.where(n_people > 0, chosen, np.nan),
        synthetic.distances[:, 0].round(DIGITS),
        synthetic.rows[:, 0],
    )


def _unit_notes(case: Case, units: dict[str, Ints] | None) -> list[str]:
    if units is None:
        return []
    notes = [UNIT_NOTE.format(repr(case.unit))]
    if np.bincount(np.unique(units["people"], return_inverse=True)[1]).max() > MOST_OWN:
        notes.append(
            f"some units have more than {MOST_OWN} rows: where so many of them lie together, no other person was found"
        )
    return notes


# ---------------------------------------------------------------- scores


def hit_scores(to_person: Floats, to_synthetic: Floats, floor: float) -> Floats:
    """Return log(distance to another person / distance to a synthetic row); both distances are raised to `floor`.

    Examples
    --------
    >>> hit_scores(np.array([0.4, 0.0, 0.4, np.nan]), np.array([0.1, 0.0, 0.0, 0.1]), 0.05).round(3)
    array([1.386, 0.   , 2.079,   nan])
    """
    return np.log(np.maximum(to_person, floor) / np.maximum(to_synthetic, floor))


def p_values(members: Floats, strangers: Floats) -> Floats:
    """Return the conformal p-value of each member: (1 + strangers who score at least as high) / (strangers + 1).

    A member without a score (nan) has p-value 1.

    References
    ----------
    Bates et al. (2023), Testing for outliers with conformal p-values.

    Examples
    --------
    >>> p_values(np.array([9.0, 2.0, np.nan]), np.array([1.0, 2.0, 3.0]))
    array([0.25, 0.75, 1.  ])
    """
    ordered = np.sort(np.nan_to_num(strangers, nan=-np.inf, posinf=np.inf))
    asked = np.nan_to_num(members, nan=-np.inf, posinf=np.inf)
    return (1 + len(ordered) - np.searchsorted(ordered, asked, side="left")) / (len(ordered) + 1)


def smallest_flaggable(n_members: int, n_strangers: int, fdr: float) -> int:
    """Return the smallest number of members that Benjamini-Hochberg can flag; no p-value is below 1 / (strangers + 1).

    Examples
    --------
    >>> smallest_flaggable(600, 600, 0.1)
    10
    """
    return max(1, math.ceil(n_members / (fdr * (n_strangers + 1)) - 1e-9))


def highest_of_unit(scores: Floats, units: Ints | None) -> Floats:
    """Return the highest score of each unit; nan where none of its records has a score."""
    if units is None:
        return scores
    which = np.unique(units, return_inverse=True)[1]
    out = np.full(which.max() + 1, -np.inf)
    np.maximum.at(out, which, np.nan_to_num(scores, nan=-np.inf))
    return np.where(np.isfinite(out), out, np.nan)


def flagged_at(p: Floats, units: Ints | None, fdr: float) -> Bools:
    """Return which records Benjamini-Hochberg flags; a unit has the smallest p-value of its records."""
    each = p if units is None else -highest_of_unit(-p, units)
    adjusted = benjamini_hochberg(each)
    highest = float(each[adjusted <= fdr * (1 + 1e-12)].max(initial=0.0))
    return np.asarray(p <= highest)


# ---------------------------------------------------------------- results


def _outliers(people: People, keys: tuple[str, ...], settings: dict[str, Any], notes: Sequence[str]) -> Result:
    own = people.real.outlierness
    others = None if people.holdout is None else people.holdout.outlierness
    return Result(
        attack="exposure",
        variant="outliers",
        keys=keys,
        settings={n: settings[n] for n in ("columns", "k")},
        value=Value(real=_mean(own), holdout=None if others is None else _mean(others)),
        context={f"{name} of members": _quantile(own, q) for name, q in _QUANTILES.items()},
        curves=_curves(own, others),
        notes=(*notes, f"mean distance to the {settings['k']} nearest other people of the real table", *people.notes),
        individual=Individual(real=own, holdout=others),
    )


def _hit(
    case: Case, people: People, keys: tuple[str, ...], settings: dict[str, Any], left_out: Sequence[str]
) -> Result:
    own = people.real.score
    others = None if people.holdout is None else people.holdout.score
    what = "people" if case.unit is None else "units"
    notes = [
        *left_out,
        f"hit score: log(distance to the {_nth(settings['neighbour'])} other person / distance to the nearest "
        "synthetic row), people of real and holdout together; its medians are the values shown",
        *people.notes,
    ]
    rate = None
    context: dict[str, float | None] = {f"{name} of members": _quantile(own, q) for name, q in _QUANTILES.items()}
    if others is None:
        notes.append("no holdout: nobody can be flagged, since chance alone gives high scores too")
    else:
        assert people.smallest_flaggable is not None
        rate = Rate(hits=float(people.n_flagged), n=people.n_members, rate=people.n_flagged / people.n_members)
        context |= {f"{name} of strangers": _quantile(others, q) for name, q in _QUANTILES.items()}
        context |= {"fdr": settings["fdr"], f"fewest {what} that can be flagged": float(people.smallest_flaggable)}
        notes += _naming_notes(people, settings["fdr"], what)
    return Result(
        attack="exposure",
        variant="hit",
        keys=keys,
        settings=settings,
        real=rate,
        value=Value(real=_quantile(own, 0.5), holdout=None if others is None else _quantile(others, 0.5)),
        context=context,
        curves=_curves(own, others),
        notes=tuple(notes),
        individual=Individual(real=own, holdout=others),
    )


def _naming_notes(people: People, fdr: float, what: str) -> list[str]:
    """Return notes on what the flags say, and on what this holdout cannot show."""
    least = people.smallest_flaggable or 1
    notes = [
        f"{people.n_flagged} of {people.n_members} {what} are flagged as having a synthetic row closer than strangers "
        f"have; at most {fdr:.0%} of those flagged are expected to be flagged by chance"
    ]
    if least > people.n_members:
        notes.append(f"this holdout is too small to name anybody at a false discovery rate of {fdr:g}")
    elif least > 1:
        notes.append(
            f"this holdout cannot name fewer than {least} {what}: fewer who are hit stay unflagged; a larger holdout "
            "names fewer"
        )
    return notes


def _nth(n: int) -> str:
    return {1: "nearest", 2: "2nd nearest", 3: "3rd nearest"}.get(n, f"{n}th nearest")


def _mean(values: Floats) -> float | None:
    known = values[~np.isnan(values)]
    return math.fsum(known) / len(known) if len(known) else None


def _quantile(values: Floats, share: float) -> float | None:
    known = values[~np.isnan(values)]
    # an observed value: an interpolated one would depend on the rounding of the processor
    return float(np.quantile(known, share, method="inverted_cdf")) if len(known) else None


def _curves(members: Floats, strangers: Floats | None) -> dict[str, list[float]]:
    """Return the quantiles of members and strangers at 101 shares."""
    groups = {"members": members} | ({} if strangers is None else {"strangers": strangers})
    known = {name: v[~np.isnan(v)] for name, v in groups.items()}
    if any(not len(v) for v in known.values()):
        return {}
    curves = {"share": _SHARES.round(2).tolist()}
    return curves | {n: np.quantile(v, _SHARES, method="inverted_cdf").tolist() for n, v in known.items()}
