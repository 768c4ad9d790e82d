"""Results for groups of people: who is compared with whom, and limits for all groups of a result together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from divulge.attacks.checks import Floats, finite, rate_of
from divulge.case.case import Case
from divulge.core.result import Group, Risk
from divulge.stats import Outcomes, compare

__all__ = ["FEWEST", "Named", "groups_of"]

FEWEST = 20
"""Fewest members, and fewest strangers, of a subgroup; smaller subgroups of one column are pooled."""
Named = list[tuple[str, NDArray[np.bool_]]]
"""Groups by name, each with who is in it: shape (n_people,), real, then holdout people."""


def groups_of(
    case: Case, parts: Sequence[tuple[str, Named]], scores: Floats, *, once: bool = False
) -> tuple[Group, ...]:
    """Return the results of groups of people; small groups of one part are pooled.

    Parameters
    ----------
    case
        The tables.
    parts
        What the groups of a part are of, such as a column, and the groups.
    scores
        Shape (n_people,): scores of real, then holdout people.
    once
        Whether of each unit one record at most is in a group.

    Returns
    -------
    tuple of Group
        The simultaneous limits of a group's risk account for the number of groups here.
    """
    shown = [(of, name, people) for of, named in parts for name, people in _large(case, named)]
    each = 1 - (1 - case.level) / max(1, len(shown))
    return tuple(_group(case, of, name, scores, people, each, once) for of, name, people in shown)


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


def _group(case: Case, of: str, name: str, scores: Floats, people: NDArray[np.bool_], each: float, once: bool) -> Group:
    n = case.n_rows("real")
    sides = []
    for role, part in (("real", slice(None, n)), ("holdout", slice(n, None))):
        units = None if once else case.units(role)
        inside = people[part]
        sides.append(Outcomes(scores[part][inside], cluster=None if units is None else units[inside]))
    members, strangers = sides
    if not case.has_holdout:
        return Group(of=of, name=name, real=rate_of(members))
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
    return Group(of=of, name=name, real=rate_of(members), holdout=rate_of(strangers), risk=risk)
