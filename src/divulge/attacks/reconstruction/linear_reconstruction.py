"""Linear reconstruction: the secrets of all members at once, as the solution of many counts of the synthetic table."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from divulge.attacks.checks import checked_keys, judge, rate_of
from divulge.attacks.drawn_sets import drawn_sets
from divulge.attacks.entry import Withheld, Words, per_target
from divulge.attacks.reconstruction.counts_of_people import Known, equations
from divulge.attacks.registry import CODED, attack
from divulge.case.case import Case
from divulge.case.distances import distance_columns
from divulge.case.invariant_order import canonical_of
from divulge.core.errors import SettingError
from divulge.core.result import Baseline, Individual, Result
from divulge.core.schema import FEW_PEOPLE, check_columns
from divulge.kernels.neighbours.knn_vote import Values, answers
from divulge.stats import Outcomes, compare
from divulge.stats.box_least_squares import box_least_squares
from divulge.stats.intervals import normal_quantile
from divulge.stats.roc import auc

__all__ = ["linear_reconstruction"]

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_ORDERS = (1, 2, 3)
_SETS = 100  # sets of columns of each size at most: a limit on the time
_PENALTY = 0.5
_MOST = 20_000  # people solved together at most: a limit on the time
_DIGITS = 6
_TARGETS = 3  # targets of a run that are attacked: a limit on the time
_ASKED = 5_000  # members, and strangers, of a run that are attacked at most: a limit on the time
_PEOPLE = 200_000  # people of a run in which none is: a limit on the time
_NOT_TWO = "no target has two values only"
_TOO_MANY = "people are too many for the time it takes"

_TWO = "the secret is which of two values a person has"
_COMMONEST = "the secret is whether a person has the commonest value of the target"
_ABOVE = "the secret is whether a person's number lies above the median of real and holdout"
_BLOCKS = (
    "real and holdout differ in size: members and strangers were solved in {} and {} groups of about {} people, so "
    "that both are known to the same extent; the context has the rate about members solved together"
)
_TOGETHER = "right about members solved together"
_AUC = "AUC of the solution, members"
_AUC_STRANGERS = "AUC of the solution, strangers"
_GAIN = "right more often than the nearest record, members"
_GAIN_STRANGERS = "right more often than the nearest record, strangers"
_LIMITS = ("", ", lower limit", ", upper limit")

_WORDS = Words(
    says="I know who the members are and all but one column, and solve the counts of the synthetic table for the rest.",
    knows=(
        "Who is a member, the keys of all members (all other columns that can be compared if none are given), and the "
        "whole synthetic table."
    ),
    data=(
        f"Two columns or more, every row in memory; a holdout for risk and verdict. {CODED} A run attacks the "
        f"{_TARGETS} targets of two values that divide people most evenly, where people are at most {_PEOPLE:,}, and "
        f"draws {_ASKED:,} members and strangers at most."
    ),
    formula=(
        "query = values on 1, 2 or 3 keys that 2 to 199 people have, and a synthetic row\n"
        "b = share of the synthetic rows of the query with the secret * people of the query\n"
        "x = share of the secret for each person, from 0 to 1: minimises\n"
        "    sum over queries of (sum of x over its people - b)^2 / people + (1/2) sum of (x - mean)^2\n"
        "guess = x > 1/2; p_T, p_C = share of members, of strangers, guessed right\n"
        "strangers are solved in the same way, as if they were members\n"
        "risk = (p_T - p_C) / (1 - p_C)."
    ),
    reading=(
        "The rate is the share of people guessed right: 1 is everybody. Risk 0 means that strangers are guessed right "
        "as often, 1 that every member is, and a negative risk that strangers are guessed right more often. The "
        "baseline is one answer for everybody. The context says by how much the attack is right more often than the "
        "nearest record of `inference` about the same people: below 0 it adds nothing."
    ),
    silent=(
        "It uses at most three columns at a time; where rows are near to people, `inference` sees more.",
        "It gains with the number of synthetic rows, so that further tables of one training set should be added.",
        "Secrets of more than two values are reduced to one of two.",
    ),
)


def _secrets(case: Case, targets: Sequence[str]) -> Sequence[str]:
    """Return the targets of two values among people that a run attacks: those that divide them most evenly."""
    if _too_many(case, targets):
        return ()
    rarer = {target: int(counts.min()) for target, counts in _counts_of_two(case, targets).items()}
    return sorted(rarer, key=lambda target: (-rarer[target], target))[:_TARGETS]


def _too_many(case: Case, targets: Sequence[str]) -> bool:
    return case.n_rows("real") + case.n_rows("holdout") > _PEOPLE


def _none_has_two(case: Case, targets: Sequence[str]) -> bool:
    return not _counts_of_two(case, targets)


def _counts_of_two(case: Case, targets: Sequence[str]) -> dict[str, Ints]:
    """Return how many people have either value of the targets that have two values among people.

    Every reader knows which targets are attacked: of 20 people or more at least ten have the rarer value.
    """
    every = {target: case.pooled(target).counts for target in targets}
    people = {target: counts[0] + counts[2] for target, counts in every.items()}
    two = {target: np.sort(counts)[-2:] for target, counts in people.items() if _are_two(counts)}
    least = {target: FEW_PEOPLE if people[target].sum() >= 2 * FEW_PEOPLE else 1 for target in two}
    return {target: counts for target, counts in two.items() if counts.min() >= least[target]}


def _are_two(counts: Ints) -> bool:
    """Return whether nobody has another value than the two commonest; fewer than ten people, where ten have both."""
    ordered = np.sort(counts)
    return len(counts) > 1 and bool(ordered[:-2].sum() < (FEW_PEOPLE if ordered[-2] >= FEW_PEOPLE else 1))


@attack(
    family="attribution",
    question="Do the counts of the synthetic table, solved together, give a secret of each member away?",
    needs="two columns; a holdout to say anything about disclosure",
    reference="Annamalai, Gadotti and Rocher (2024), A linear reconstruction approach for attribute inference attacks "
    "against synthetic data; Dinur and Nissim (2003). Here least squares take the place of a linear program.",
    words=_WORDS,
    plan=per_target(chosen=_secrets, reasons={_NOT_TWO: _none_has_two, _TOO_MANY: _too_many}, strangers=True),
    context={
        _TOGETHER: Withheld(),
        _AUC: Withheld(),
        _AUC_STRANGERS: Withheld(),
        **{f"{name}{limit}": Withheld() for name in (_GAIN, _GAIN_STRANGERS) for limit in _LIMITS},
        "queries": Withheld(),
    },
    notes=(_TWO, _COMMONEST, _ABOVE, _BLOCKS.format("#", "#", "#")),
    most=_ASKED,
)
def linear_reconstruction(case: Case, *, target: str, keys: Sequence[str] | None = None) -> Result:
    """Return how often the counts of the synthetic table, solved together, give a person's secret away.

    Strangers are solved in the same way, as if they were members: what is right about them, too, is inference and no
    disclosure. If real and holdout differ in size, both are solved in groups of the smaller size.

    Parameters
    ----------
    target
        Column that the attacker wants to learn. Of more than two values the secret is whether a person has the
        commonest one; of a number whether it is above the median of real and holdout.
    keys
        Columns that the attacker knows; None takes every other column that can be compared.

    Raises
    ------
    ColumnError, SettingError
        A column is unknown, nothing is left to know, or all people have one value of the target.

    Examples
    --------
    >>> import numpy as np, polars as pl
    >>> rng = np.random.default_rng(0)
    >>> people = pl.DataFrame({c: rng.integers(0, 4, 200) for c in "abcd"} | {"ill": rng.random(200) < 0.5})
    >>> found = linear_reconstruction(people[:100], people[:100], target="ill", holdout=people[100:])
    >>> found.verdict, found.real.rate > 0.9, found.holdout.rate < 0.6
    ('excess found', True, True)
    """
    known, notes = _known(case, target, keys)
    secret, rows, what = _secret(case, target, known)
    n = case.n_rows("real")
    tables = Known(*_codes(case, known), [case.n_codes(c) for c in known], rows)
    rng = case.rng(f"linear reconstruction {target}")
    sets = [s for order in _ORDERS if order <= len(known) for s in drawn_sets(len(known), order, _SETS, rng)]
    orders = _orders(case, (*known, target), n)
    groups = _groups(orders, rng)
    mean = float(rows.mean())
    apart = [g for side in groups for g in side]
    whole = [orders[0]] if len(groups[0]) > 1 and n <= _MOST else []
    solved, n_queries = np.full(len(secret), mean), 0
    context: dict[str, float | None] = {}
    for number, (a, b) in enumerate(equations(tables, [*apart, *whole], sets)):
        found = box_least_squares(a, b, mean, _PENALTY).round(_DIGITS)
        if number < len(apart):
            solved[apart[number]] = found
            n_queries += a.shape[0]
        else:
            context[_TOGETHER] = _mean(_right(found, secret[orders[0]]))
    right = _right(solved, secret)
    context |= _about_solution(solved, secret, n) | {"queries": float(n_queries)}
    if len(groups) == 2 and max(map(len, groups)) > 1:
        size = round(len(secret) / sum(map(len, groups)))
        notes = [*notes, _BLOCKS.format(len(groups[0]), len(groups[1]), size)]
    plain = Result(
        attack="linear_reconstruction",
        keys=() if keys is None else known,
        target=target,
        settings={"known": len(known), "column sets": len(sets)},
        baseline=Baseline(
            rate=max(float(secret.mean()), 1 - float(secret.mean())), what="naming one value for everybody"
        ),
        context=context | _gain(case, right, _nearest(case, known, secret, rows)),
        notes=(what, *notes),
        verdict="no holdout",
    )
    return _result(case, plain, right)


def _known(case: Case, target: str, keys: Sequence[str] | None) -> tuple[tuple[str, ...], list[str]]:
    """Return the known columns, sorted, and notes on them."""
    if keys is not None:
        names, notes = checked_keys(case, keys, target)
        return tuple(sorted(names)), notes
    check_columns("target", [target], case.by_table, case.levels)
    used, notes = distance_columns(case)
    names = tuple(sorted(c for c in used if c != target))
    if not names:
        raise SettingError("linear_reconstruction: no column is left that the attacker could know. hint: name keys.")
    return names, notes


def _secret(case: Case, target: str, known: Sequence[str]) -> tuple[Bools, Bools, str]:
    """Return who of the people has the secret (real, then holdout), which synthetic rows have it, and what it is."""
    codes = case.codes(target, binned=False)
    people = np.concatenate([codes[0], *codes[2:]])
    counts = np.bincount(people, minlength=case.n_codes(target, binned=False))
    values = np.flatnonzero(counts)
    if len(values) < 2:
        raise SettingError(
            f"target: all people have one value of {target!r}. hint: name a column of two values or more."
        )
    numbers = case.numbers(target)
    finite = np.isfinite(numbers[people])
    are_two = _are_two(counts)
    if not are_two and case.encoded.is_number(target) and finite.any():
        middle = np.quantile(numbers[people][finite], 0.5, method="inverted_cdf")
        with np.errstate(invalid="ignore"):
            return numbers[people] > middle, numbers[codes[1]] > middle, _ABOVE
    names = tuple(sorted({*known, target}))
    canonical = canonical_of(case, names, case.encoded.people, blind=True)
    ordered = canonical.sorted_codes(names.index(target), values.astype(np.int32)) if not case.encoded.is_number(
        target) else values  # fmt: skip
    one = ordered[np.argmax(counts[ordered])]
    return people == one, codes[1] == one, _TWO if are_two else _COMMONEST


def _codes(case: Case, known: Sequence[str]) -> tuple[list[NDArray[np.int32]], list[NDArray[np.int32]]]:
    codes = [case.codes(c) for c in known]
    return [np.concatenate([c[0], *c[2:]]) for c in codes], [c[1] for c in codes]


def _orders(case: Case, columns: Sequence[str], n: int) -> list[Ints]:
    """Return the members, and the strangers, in an order that does not depend on that of the rows."""
    canonical = canonical_of(case, columns, case.encoded.people, blind=True)
    return [canonical.order(which) + (0 if which == 0 else n) for which in case.encoded.people]


def _groups(orders: Sequence[Ints], rng: np.random.Generator) -> list[list[Ints]]:
    """Return the groups of members, and of strangers, that are solved together; of about the same size."""
    size = min(_MOST, *map(len, orders)) if len(orders) > 1 else min(_MOST, len(orders[0]))
    out = []
    for order in orders:
        n_groups = max(1, round(len(order) / size))
        of_group = rng.permutation(np.arange(len(order)) % n_groups)
        out.append([order[of_group == g] for g in range(n_groups)])
    return out


def _right(solved: Floats, secret: Bools) -> Floats:
    """Return whether each guess is right; 1/2 where both values are equally likely."""
    return np.where(solved == 0.5, 0.5, (solved > 0.5) == secret)


def _nearest(case: Case, known: Sequence[str], secret: Bools, rows: Bools) -> Floats:
    """Return the probability that the nearest synthetic row on the known columns is right about each person."""
    ruled = case.encoded.measured_columns(known)
    place = np.arange(2)
    values = Values(place, place + 1, rows.astype(np.int64), secret.astype(np.int64))
    return answers(ruled.index("synthetic", case.progress), ruled.distinct("people"), values, 1).nearest


def _about_solution(solved: Floats, secret: Bools, n: int) -> dict[str, float | None]:
    """Return how well the solution ranks people with the secret above the others."""
    out: dict[str, float | None] = {}
    for name, side in ((_AUC, slice(None, n)), (_AUC_STRANGERS, slice(n, None))):
        x, has = solved[side], secret[side]
        if has.any() and not has.all():
            out[name] = auc(x[has], x[~has]).value
    return out


def _gain(case: Case, right: Floats, nearest: Floats) -> dict[str, float | None]:
    """Return by how much the attack is right more often than the nearest record, about the same people."""
    n = case.n_rows("real")
    out: dict[str, float | None] = {}
    for name, role, side in ((_GAIN, "real", slice(None, n)), (_GAIN_STRANGERS, "holdout", slice(n, None))):
        gain = (right - nearest)[side]
        if not len(gain):
            continue
        units = case.units(role)
        of = np.arange(len(gain)) if units is None else np.unique(units, return_inverse=True)[1].ravel()
        value = _mean(gain)
        order = np.lexsort((gain, of))  # sums that the order of rows does not change
        off = np.bincount(of[order], weights=gain[order] - value)
        half = normal_quantile(case.level) * math.sqrt(math.fsum(np.sort(off * off).tolist())) / len(gain)
        out |= dict(zip((name + limit for limit in _LIMITS), (value, value - half, value + half), strict=True))
    return out


def _mean(values: Floats) -> float:
    return math.fsum(values.tolist()) / len(values)


def _result(case: Case, plain: Result, right: Floats) -> Result:
    n = case.n_rows("real")
    members = Outcomes(right[:n], cluster=case.units("real"))
    plain = replace(
        plain,
        real=rate_of(members),
        individual=Individual(real=right[:n], holdout=right[n:] if case.has_holdout else None),
    )
    if not case.has_holdout:
        return plain
    strangers = Outcomes(right[n:], cluster=case.units("holdout"))
    step = f"linear reconstruction {'+'.join(plain.keys)} {plain.target}"
    comparison = compare(members, strangers, level=case.level, rng=case.rng(step), draws=case.draws)
    return judge(replace(plain, holdout=rate_of(strangers)), comparison, case.level)
