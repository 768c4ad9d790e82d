"""Subgroups: results for groups of people, whose risk may exceed the average. Small groups are always pooled."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from divulge.attacks.checks import Floats
from divulge.attacks.inference._target import TargetValues
from divulge.attacks.people_groups import FEWEST, Named, groups_of
from divulge.case.case import Case
from divulge.core.result import Group

__all__ = ["FEWEST", "by_subgroup"]

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
    return groups_of(case, parts, right)


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
