"""Subgroups: results for groups of people, whose risk may exceed the average. Small groups are always pooled."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from divulge.attacks.checks import Floats, finite, rate_of
from divulge.attacks.inference._target import TargetValues
from divulge.case.case import Case
from divulge.core.result import Group, Risk
from divulge.stats import Outcomes, compare

__all__ = ["FEWEST", "by_subgroup"]

FEWEST = 20
"""Fewest members, and fewest strangers, of a subgroup; smaller subgroups of one column are pooled."""
_SHOWN = 12  # values with a group of their own, the commonest ones; the others are pooled


def by_subgroup(case: Case, secret: TargetValues, right: Floats, columns: Sequence[str]) -> tuple[Group, ...]:
    """Return the results for people with each value of the target, or in each of its tails, and of further columns.

    Parameters
    ----------
    case, secret
        The tables and the target.
    right
        Shape (n_people,): scores of real, then holdout people.
    columns
        Further columns; numbers are binned.

    Returns
    -------
    tuple of Group
        Values are data, so they are numbered by frequency and named only where the case allows it. The simultaneous
        limits of a group's risk account for the number of groups here, but not for other targets.
    """
    n = case.n_rows("real")
    parts = [(secret.name, _of_target(case, secret, right, n))]
    for column in columns:
        if column != secret.name:
            people = np.concatenate([case.encoded.codes_in(column, i) for i in case.encoded.people])
            parts.append((column, _by_size(people, right, n, _words(case, column, binned=True))))
    shown = [(column, name, people) for column, named in parts for name, people in _large(case, named)]
    each = 1 - (1 - case.level) / max(1, len(shown))
    return tuple(_group(case, column, name, right, people, each) for column, name, people in shown)


Named = list[tuple[str, NDArray[np.bool_]]]


def _words(case: Case, column: str, *, binned: bool) -> Callable[[int], str]:
    """Return the text after the number of a value in the name of a subgroup: nothing, or the value itself."""
    if not case.reveal_values:
        return lambda code: ""
    return lambda code: f": {case.value_in_words(column, code, binned=binned)}"


def _of_target(case: Case, secret: TargetValues, right: Floats, n_real: int) -> Named:
    if not secret.is_numeric:
        return _by_size(secret.people, right, n_real, _words(case, secret.name, binned=False))
    numbers = secret.numbers[secret.people]
    known = np.sort(numbers[~np.isnan(numbers)])
    if not len(known):
        return []
    low, high = known[(len(known) - 1) // 10], known[len(known) - 1 - (len(known) - 1) // 10]
    lowest, highest = numbers <= low, numbers >= high
    middle = "the middle" if len(known) == len(numbers) else "the middle, and people without a number"
    named = [("lowest tenth", lowest), (middle, ~(lowest | highest)), ("highest tenth", highest)]
    return named if low < high else []


def _by_size(codes: NDArray[np.int32], right: Floats, n_real: int, words: Callable[[int], str]) -> Named:
    """Return the people with each value, the commonest first; people with the rarest values are pooled."""
    counts = np.bincount(codes)
    # names must not matter: equally common values are ordered by number of members, then by right guesses about them
    members = np.bincount(codes[:n_real], minlength=len(counts))
    hits = [np.bincount(codes[side], right[side], len(counts)) for side in (slice(n_real), slice(n_real, None))]
    order = np.lexsort((*(h.round(6) for h in hits), members, -counts))[: int((counts > 0).sum())]
    named = [(f"value {i + 1}, by frequency{words(c)}", codes == c) for i, c in enumerate(order[:_SHOWN].tolist())]
    rest = order[_SHOWN:]
    return [*named, ("all other values", np.isin(codes, rest))] if len(rest) else named


def _large(case: Case, named: Named) -> Named:
    """Return the groups with enough people, and the small ones pooled; none if one group is everybody."""
    n = case.n_rows("real")
    large: Named = []
    small = np.zeros(n + case.n_rows("holdout"), dtype=np.bool_)
    for name, people in named:
        if _is_small(case, people, n):
            small |= people
        else:
            large.append((name, people))
    name = f"values of fewer than {FEWEST} people on a side"
    if small.any() and large and _is_small(case, small, n):
        # if left out, they could be computed as everybody less the groups shown
        fewest = min(range(len(large)), key=lambda i: int(large[i][1].sum()))
        small, name = small | large.pop(fewest)[1], name + ", and the next"
    if small.any() and not _is_small(case, small, n):
        large.append((name, small))
    return large if len(large) > 1 else []


def _is_small(case: Case, people: NDArray[np.bool_], n: int) -> bool:
    sides = (people[:n], people[n:])[: 1 + case.has_holdout]
    return any(np.count_nonzero(side) < FEWEST for side in sides)


def _group(case: Case, column: str, name: str, right: Floats, people: NDArray[np.bool_], each: float) -> Group:
    n = case.n_rows("real")
    sides = []
    for role, part in (("real", slice(None, n)), ("holdout", slice(n, None))):
        units = case.units(role)
        inside = people[part]
        sides.append(Outcomes(right[part][inside], cluster=None if units is None else units[inside]))
    members, strangers = sides
    if not case.has_holdout:
        return Group(of=column, name=name, real=rate_of(members))
    found = compare(members, strangers, level=case.level, rng=case.rng("subgroups"), draws=0)
    _, wide = found.at(each)
    risk = Risk(
        value=finite(found.risk.value),
        low=finite(found.risk.low),
        high=finite(found.risk.high),
        low_simultaneous=finite(wide.low),
        high_simultaneous=finite(wide.high),
        level=case.level,
        method=found.method,
    )
    return Group(of=column, name=name, real=rate_of(members), holdout=rate_of(strangers), risk=risk)
