"""Singling out: predicates made from the synthetic table alone that fit exactly one person of the real table."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from numbers import Real
from typing import Any, cast

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from divulge.attacks.checks import CANNOT_TELL, SHOWN, finite, judge
from divulge.attacks.entry import Count, Primary, Record, Withheld, Words, per_table
from divulge.attacks.identity._guesses import _UNIVARIATE, _Coded, _coded, _Guesses, _made, _name
from divulge.attacks.registry import attack
from divulge.case.case import Case
from divulge.case.distances import check_count, distance_columns
from divulge.core.distinct_values import distinct_values
from divulge.core.errors import SettingError
from divulge.core.result import Baseline, Group, Individual, Rate, Result
from divulge.kernels.predicates.conditions import Predicates
from divulge.kernels.predicates.predicates import Conjunctions
from divulge.stats import Comparison
from divulge.stats.isolation import (
    Fits,
    Isolation,
    by_chance,
    chance,
    fit_alone,
    isolations,
    right,
    shown_of_a_copy,
    singled_out,
    total,
)

__all__ = ["singling_out"]

Ints = NDArray[np.int64]

MOST = 64
"""A guess that fits more people than this, in two tables of equal size together, has weight 0: it singles out nobody
under any labels. If the tables differ in size, the limit holds for a part of the larger table with equal size."""
_NUMBERS_OF_COLUMNS = (1, 2, 3, 4, 5)
_SHOWN_SETS = 10  # column sets in `groups`
_FEWEST = 20  # guesses below which there is no verdict; start value, not calibrated
_OVERLAP = (
    "guesses overlap in the people they fit, and the same are tried on both tables: intervals count as many "
    "independent guesses as the permutations of labels show"
)


_SINGLING_OUT_WORDS = Words(
    says="From the synthetic table alone I wrote down a description that fits exactly one person in your data.",
    knows="The whole synthetic table, and nothing about any person.",
    data=(
        "Columns of numbers, dates or categories, every row in memory; a holdout for risk and verdict. Constants, "
        "identifiers and free text are left out unless named."
    ),
    formula=(
        "guess = conditions on some columns that together fit exactly one distinct synthetic row\n"
        "right = the guess fits exactly one person of the table\n"
        "p_T, p_C = share of guesses that are right about members, about strangers, at equal size n\n"
        "a random n of the N people of a larger table, c of whom fit, hold exactly one with chance h\n"
        "h = c C(N - c, n - 1) / C(N, n)\n"
        "risk = (p_T - p_C) / (1 - p_C)\n"
        "baseline: mean of h over the guesses, c and N counted among members and strangers together\n"
        "(about n w (1 - w)^(n - 1), the chance of a guess of weight w that knows nothing of the table)\n"
        "C(a, b): ways to choose b of a. A guess that fits too many people counts as failed."
    ),
    reading=(
        "The rate is a share of guesses, not of people: 1 means that every guess fits exactly one member, 0 that "
        "none does. The baseline is what descriptions that fit as many people would give by chance, and in large "
        "tables is at most 0.37; it needs strangers. Risk 0 means that strangers are singled out as often, 1 that "
        "every guess singles out a member, and a negative risk that strangers are singled out more often. The "
        "context counts the distinct people behind the guesses."
    ),
    silent=(
        "Other descriptions than conjunctions of values and bounds may single out more.",
        "That a description fits one person does not say what else is learnt about that person.",
        "Guesses overlap in whom they fit: intervals count fewer independent guesses than were made.",
    ),
)


@attack(
    family="singling out",
    question="Does a description made from the synthetic table fit exactly one person in the real table?",
    needs="two columns of any kind; a holdout to say anything about disclosure",
    reference="Article 29 Working Party (2014), Opinion 05/2014; Cohen and Nissim (2020); Giomi et al. (2023).",
    words=_SINGLING_OUT_WORDS,
    plan=per_table(),
    weight=6,
    primary=Primary("singling out", first=("univariate", "4 columns", "3 columns", "2 columns")),
    record=Record("singled_out", "any"),
    counts="guesses",
    context={
        "distinct people singled out": Count("real"),
        "distinct people singled out, strangers": Count("holdout"),
        "expected under permuted labels": Withheld(),
        "guesses that fit more than # people": Withheld(),
        "guesses that fit nobody": Withheld(),
        "independent guesses": Withheld(),
        "largest share of one column": Withheld(),
        "n w (1 - w)^(n - 1)": Withheld(),
        SHOWN: Withheld(),
        "synthetic records described": Withheld(),
        "tries": Withheld(),
    },
    notes=(
        "# guesses found of # wanted, in # tries",
        "# guesses were left out because one of their columns had its share of guesses",
        "# guesses were left out because they fit more people than the weight allows",
        "cannot tell: fewer than # guesses could be made, too few to compare members with strangers",
        "guesses overlap in the people they fit, and the same are tried on both tables: intervals count as many "
        "independent guesses as the permutations of labels show",
        "left out of the guesses: '…'",
    ),
)
def singling_out(
    case: Case,
    *,
    n_columns: int | str | Sequence[int | str] | None = None,
    columns: Sequence[str] | None = None,
    guesses: int = 2000,
    tries: int = 5_000_000,
    weight_at_most: float | None = None,
) -> tuple[Result, ...]:
    """Return how many guesses single out a member, and how many a stranger, for each number of columns.

    A guess is a conjunction of conditions that fits exactly one distinct synthetic row; it is made from the synthetic
    table alone. It is right if it fits exactly one person. Members and strangers are compared at equal size: for the
    larger table a guess scores the probability that a random part as large as the smaller table has exactly one person
    who fits. Hits are guesses, each made once (one condition a column, one guess for each synthetic record and column
    set). `context` has the number of distinct people they single out, `groups` the same by column set; `individual`
    says which people some guess fits alone in their own table, whatever its size. With `unit` a guess must fit exactly
    one person or household.

    A guess on several columns takes a random synthetic record and random columns. A category must equal that of the
    record, or be missing like it. A number must be at least the record's value where that is above the median of the
    synthetic table, else at most that value. Univariate guesses take values that occur once, missing where one row
    misses, and the smallest and the largest number.

    Parameters
    ----------
    n_columns
        "univariate", a number of columns from 1 on, or several of these; None takes "univariate" and 1 to 5.
    columns
        Columns to use in guesses; None takes all but constants, identifiers and free text.
    guesses
        Number of guesses for each number of columns. A column takes part in at most twice its fair share of them.
    tries
        Number of predicates tried on the synthetic table to find guesses; if fewer are possible, each is tried once.
    weight_at_most
        Keep guesses that fit at most this share of all people (Cohen and Nissim's weight); None keeps all. A guess that
        fits more than 64 people counts as a failure.

    Examples
    --------
    >>> import polars as pl
    >>> real = pl.DataFrame({"age": [21.5, 35.5, 62.5, 80.5], "job": ["nurse", "baker", "nurse", "nurse"]})
    >>> found, = singling_out(real, real, n_columns=2)
    >>> found.real.hits, found.real.n
    (3.0, 3)
    """
    check_count("guesses", guesses)
    check_count("tries", tries)
    if weight_at_most is not None and not (isinstance(weight_at_most, Real) and 0 < weight_at_most <= 1):
        raise SettingError(f"weight_at_most: {weight_at_most!r} is outside (0, 1]. hint: a share of all people.")
    used, notes = distance_columns(case, columns)
    notes = [n.replace("of the distance", "of the guesses") for n in notes]
    wanted = _wanted(n_columns, len(used))
    coded = _coded(case, used)
    index = Conjunctions(coded.records, progress=case.progress)
    made = [_made(case, coded, index, w, guesses, tries) for w in wanted]
    predicates = Predicates.concatenate([g.predicates for g in made])
    people, n_members = _people(case)
    is_member = np.arange(int(people.max(initial=-1)) + 1) < n_members
    fits = _fits(coded, predicates, people, made, weight_at_most, _most(is_member), case)
    plain = Result(
        attack="singling_out",
        settings={
            "columns": list(used) if columns is not None else len(used),
            "guesses": guesses,
            "tries": tries,
            "most people": fits.most,
            "weight at most": weight_at_most,
        },
        notes=(*notes, *([_OVERLAP] if case.has_holdout else [])),
    )
    each = right(fits, is_member)[: 1 + case.has_holdout]
    described = [
        _described(replace(plain, variant=_name(w)), coded, predicates, g, fits, which, each, is_member, people)
        for w, g, which in zip(wanted, made, fits.groups, strict=True)
    ]
    if not case.has_holdout:
        return tuple(replace(r, verdict="no holdout") for r in described)
    found = isolations(fits, is_member, level=case.level, rng=case.rng("singling_out labels"))
    copied = [shown_of_a_copy(fits, which, is_member) if len(which) else None for which in fits.groups]
    return tuple(_judged(r, c, shown, case.level) for r, c, shown in zip(described, found, copied, strict=True))


def _wanted(n_columns: int | str | Sequence[int | str] | None, n_usable: int) -> list[int]:
    """Return the numbers of columns; 0 stands for univariate."""
    if n_columns is None:
        return [0, *(k for k in _NUMBERS_OF_COLUMNS if k <= n_usable)]
    several = isinstance(n_columns, Iterable) and not isinstance(n_columns, str)
    asked: list[Any] = list(cast(Iterable[Any], n_columns)) if several else [n_columns]
    if not asked:
        raise SettingError("n_columns: none given. hint: 3, or [1, 2, 3], or leave it out for all.")
    out = []
    for value in asked:
        if value == _UNIVARIATE:
            out.append(0)
            continue
        if isinstance(value, str):
            raise SettingError('n_columns: not a known text. hint: "univariate", or a number of columns.')
        check_count("n_columns", value)
        if value > n_usable:
            raise SettingError(f"n_columns: {value}, and usable columns: {n_usable}. hint: at most {n_usable}.")
        out.append(int(value))
    if len(set(out)) < len(out):
        raise SettingError("n_columns: a number is named twice. hint: name each once.")
    return sorted(out)


# ---------------------------------------------------------------- guesses


# ---------------------------------------------------------------- whom they fit


def _people(case: Case) -> tuple[Ints, int]:
    """Return the person or household of each row (real, then holdout), and the number of them that are members."""
    n, m = case.n_rows("real"), case.n_rows("holdout")
    if case.unit is None:
        return np.arange(n + m), n
    members = np.unique(cast(Ints, case.units("real")), return_inverse=True)[1]
    strangers = case.units("holdout")
    n_members = int(members.max(initial=-1)) + 1
    if strangers is None:
        return members, n_members
    return np.concatenate([members, n_members + np.unique(strangers, return_inverse=True)[1]]), n_members


def _most(is_member: NDArray[np.bool_]) -> int:
    """Return how many people a guess may fit: `MOST`, or more where one table is larger than the other."""
    n, m = int(is_member.sum()), int((~is_member).sum())
    return math.ceil(MOST * (n + m) / (2 * min(n, m))) if n and m else MOST


def _fits(
    coded: _Coded,
    predicates: Predicates,
    people: Ints,
    made: Sequence[_Guesses],
    weight_at_most: float | None,
    most: int,
    case: Case,
) -> Fits:
    """Return the people that each guess fits (rows of one person merged), and the guesses of each number of columns."""
    n_people, rows_each = int(people.max(initial=-1)) + 1, int(np.bincount(people).max(initial=1))
    rows = Conjunctions(coded.people, progress=case.progress).matches(predicates, most=most * rows_each)
    guess = np.repeat(np.arange(len(predicates)), np.diff(rows.start))
    guess, fitting = np.divmod(distinct_values(guess * n_people + people[rows.rows]), max(1, n_people))
    number = np.bincount(guess, minlength=len(predicates))
    number[np.diff(rows.start) < rows.count] = most + 1
    few = number <= most
    light = np.ones(len(number), dtype=bool) if weight_at_most is None else number <= weight_at_most * n_people
    edges = np.cumsum([0, *(len(g.record) for g in made)])
    return Fits(
        count=number,
        start=np.append(0, np.cumsum(np.where(few, number, 0))),
        people=fitting[few[guess]],
        most=most,
        record=np.concatenate([g.record for g in made]),
        groups=tuple(a + np.flatnonzero(light[a:b]) for a, b in pairwise(edges)),
    )


# ---------------------------------------------------------------- results


def _described(
    plain: Result,
    coded: _Coded,
    predicates: Predicates,
    made: _Guesses,
    fits: Fits,
    which: Ints,
    each: Sequence[NDArray[np.float64]],
    is_member: NDArray[np.bool_],
    people: Ints,
) -> Result:
    """Return the result of one number of columns with rates, people and column sets, but without the comparison."""
    n, m, n_rows = int(is_member.sum()), int((~is_member).sum()), len(people)
    hits = [h[which] for h in each]
    persons = [singled_out(fits, which, is_member, members=side) for side in (True, False)[: 1 + bool(m)]]
    alone = fit_alone(fits, which, is_member)[people].astype(np.float64)
    n_real = int((people < n).sum())
    sets = np.sort(predicates.column[which][:, : max(1, int(predicates.n[which].max(initial=1)))], axis=1)
    columns, of_set = (
        np.unique(sets, axis=0, return_inverse=True) if len(which) else (sets, np.zeros(0, dtype=np.int64))
    )
    takes_part = np.bincount(sets.ravel(), minlength=1)
    count = fits.count[which]
    context: dict[str, float | None] = {
        "tries": float(made.tries),
        "synthetic records described": float(len(np.unique(fits.record[which]))),
        "distinct people singled out": total(persons[0]),
        f"guesses that fit more than {fits.most} people": float((count > fits.most).sum()),
        "guesses that fit nobody": float((count == 0).sum()),
        "largest share of one column": float(takes_part.max()) / len(which) if len(which) else None,
    }
    baseline = None  # without strangers the people of the table are all there are, and chance is the rate itself
    if m:
        size, count = min(n, m), fits.count[which]
        formula = chance(count, n + m, size, fits.most) if len(which) else None
        context |= {"distinct people singled out, strangers": total(persons[1]), "n w (1 - w)^(n - 1)": formula}
        baseline = Baseline(
            rate=by_chance(count, n + m, size, fits.most) if len(which) else None,
            what=f"a guess that knows nothing of the table, n w (1 - w)^(n - 1) at n = {size:,}, exactly for finitely "
            "many people",
        )
    return replace(
        plain,
        real=_rate(hits[0]),
        holdout=_rate(hits[1]) if m else None,
        baseline=baseline,
        context=context,
        groups=_by_set(coded, columns, of_set.ravel(), hits),
        notes=(*plain.notes, *_remarks(made, plain.settings["guesses"], len(which))),
        individual=Individual(real=alone[:n_real], holdout=alone[n_real:n_rows] if m else None),
    )


def _remarks(made: _Guesses, wanted: int, kept: int) -> list[str]:
    notes = []
    found = len(made.record)
    if found < wanted:
        notes.append(f"{found:,} guesses found of {wanted:,} wanted, in {made.tries:,} tries")
    if made.left_out:
        notes.append(f"{made.left_out:,} guesses were left out because one of their columns had its share of guesses")
    if kept < found:
        notes.append(f"{found - kept:,} guesses were left out because they fit more people than the weight allows")
    return notes


def _by_set(coded: _Coded, sets: NDArray[Any], of_set: Ints, hits: Sequence[NDArray[np.float64]]) -> tuple[Group, ...]:
    """Return the column sets whose guesses single out the most members."""
    tried = np.bincount(of_set, minlength=len(sets))
    sums = [np.bincount(of_set, weights=h, minlength=len(sets)) for h in hits]
    best = np.lexsort((np.arange(len(sets)), -tried, -sums[0].round(9)))[:_SHOWN_SETS]
    return tuple(
        Group(
            of="column set",
            name=" + ".join(coded.columns[c] for c in sets[i]),
            real=_of(float(sums[0][i]), int(tried[i])),
            holdout=_of(float(sums[1][i]), int(tried[i])) if len(sums) > 1 else None,
        )
        for i in best.tolist()
    )


def _rate(hits: NDArray[np.float64]) -> Rate:
    return _of(total(hits), len(hits))


def _of(hits: float, n: int) -> Rate:
    return Rate(hits=hits, n=n, rate=hits / n if n else None)


def _judged(result: Result, found: Isolation, shown: float | None, level: float) -> Result:
    if found.real.n < _FEWEST:
        why = f"{CANNOT_TELL}: fewer than {_FEWEST} guesses could be made, too few to compare members with strangers"
        return replace(result, verdict="cannot tell", notes=(*result.notes, why))
    context = result.context | {
        "expected under permuted labels": finite(found.expected),
        "independent guesses": found.effective,
        SHOWN: shown,
    }
    return judge(replace(result, context=context), cast(Comparison, found), level)
