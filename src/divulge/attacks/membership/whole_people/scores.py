"""One score of a whole person, from how much nearer synthetic people stand than other people do.

The score never sees who is a member. Each of its components has null twins: the same number with one half of real and
holdout in the place of the synthetic table, the other half in the place of other people. What is far beyond the twins
is surprising, and the surprises add up. The weight of a group of components is read off the people too: a leak fattens
the upper side of a component beyond its twins and leaves the lower one, a table that is merely off fattens both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from divulge.attacks.membership.whole_people.nearest import Densities, Near, densities_of, nearest_of
from divulge.attacks.membership.whole_people.tables import LinkedPeople
from divulge.kernels.set_distances import SetsOfRows

__all__ = ["GROUPS", "Component", "halves_of", "person_scores_of", "surprise", "weight_of"]

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

GROUPS = {"parent": "parent", "rows": "single rows", "whole": "parent and sets", "sets": "sets of rows"}
"""Groups of components, and the variants of their results."""
HALVINGS = 8
_FIFTH, _THIRD = 5, 3
_CLASSES, _CLASSES_OF_ROWS = 20, 40
_PART = 1 / 3
_START, _LEAST, _MOST, _AGAINST = 0.95, 0.02, 0.5, 1.5
_AT = 0.25
_SMALL, _FLOOR = 1e-7, 1e-3


@dataclass(frozen=True, slots=True, eq=False)
class Component:
    """A number of each person, higher for members if something leaks."""

    value: Floats
    """Shape (n,)."""
    twins: Floats
    """Shape (n, n_halvings): the same with a half of the people in the place of the synthetic table."""


@dataclass(frozen=True, slots=True, eq=False)
class PersonScores:
    """Scores of all people of the pot."""

    whole: Floats
    groups: dict[str, Floats]
    weights: dict[str, float]


def person_scores_of(people: LinkedPeople, rng: np.random.Generator) -> PersonScores:
    """Return the score of each person of the pot, and that of each group."""
    halves = halves_of(len(people), rng)
    found = {g: components_of(g, people, near, halves) for g, near in nearest_of(people).items()}
    scores = {group: _together(parts) for group, parts in found.items()}
    weights = {group: weight_of(parts) for group, parts in found.items()}
    total = np.zeros(len(people))
    for group, score in scores.items():
        total += weights[group] * score
    return PersonScores(total, scores, weights)


def halves_of(n: int, rng: np.random.Generator, n_halvings: int = HALVINGS) -> Bools:
    """Return who is in the first half, for each halving, shape (n, n_halvings)."""
    out = np.zeros((n, n_halvings), dtype=np.bool_)
    for j in range(n_halvings):
        out[rng.permutation(n)[: n // 2], j] = True
    return out


def components_of(group: str, people: LinkedPeople, near: Sequence[Near], halves: Bools) -> list[Component]:
    """Return the components of a group, each with its null twins."""
    if group == "rows":
        of_rows = zip(near, people.below, strict=True)
        return [c for one, rows in of_rows for c in _by_person(hit(one, halves, _CLASSES_OF_ROWS), one.owner, rows.pot)]
    out = [hit(one, halves) for one in near]
    if group == "parent" and people.parent is not None:
        out.append(_density(densities_of(people.parent, near[0], halves), halves, people.n_synthetic))
    return out


# ---------------------------------------------------------------- components


def hit(near: Near, halves: Bools, classes: int = _CLASSES) -> Component:
    """Return log distance to the 5th other person less that to the nearest synthetic one, among peers."""
    known = np.concatenate([near.others.ravel(), near.synthetic])
    far = float(known[np.isfinite(known)].max(initial=1.0))
    others, synthetic = (np.where(np.isfinite(d), d, far) for d in (near.others, near.synthetic))
    if not others.shape[1]:
        return Component(np.zeros(len(synthetic)), np.zeros((len(synthetic), halves.shape[1])))
    nearest = np.concatenate([others[:, 0], synthetic])
    floor = float(np.min(nearest[nearest > _SMALL])) / 2 if (nearest > _SMALL).any() else _FLOOR
    fifth = others[:, min(_FIFTH, others.shape[1]) - 1]
    twins = []
    for half in halves.T:
        own, other = _of_halves(others, near.who, half[near.owner], half)
        twins.append(_among_peers(_log_ratio(own, other, floor), own, classes))
    return Component(_among_peers(_log_ratio(fifth, synthetic, floor), fifth, classes), np.stack(twins, axis=1))


def _of_halves(others: Floats, who: Ints, mine: Bools, half: Bools) -> tuple[Floats, Floats]:
    """Return the distances to the 3rd nearest of the own half and to the nearest of the other, at most to the last."""
    same = half[who] == mine[:, None]
    last = others.shape[1] - 1
    third = same & (np.cumsum(same, axis=1) == _THIRD)
    places = [np.where(found.any(axis=1), found.argmax(axis=1), last) for found in (third, ~same & (who >= 0))]
    rows = np.arange(len(others))
    return others[rows, places[0]], others[rows, places[1]]


def _log_ratio(others: Floats, synthetic: Floats, floor: float) -> Floats:
    return np.asarray(np.log(np.maximum(others, floor)) - np.log(np.maximum(synthetic, floor)))


def _among_peers(value: Floats, key: Floats, classes: int) -> Floats:
    """Return the values less the median of those whose keys are in the same part of all keys."""
    _, inverse, count = np.unique(key, return_inverse=True, return_counts=True)
    rank = (np.cumsum(count) - (count - 1) / 2)[inverse] / max(1, len(key))
    which = np.minimum((rank * classes - 1e-9).astype(np.int64), classes - 1)
    order = np.argsort(which, kind="stable")
    borders = np.searchsorted(which[order], np.arange(classes + 1))
    out = value.copy()
    for a, b in zip(borders[:-1].tolist(), borders[1:].tolist(), strict=True):
        if b - a > 3:
            out[order[a:b]] -= np.median(value[order[a:b]])
    return out


def _density(sums: Densities, halves: Bools, n_synthetic: int) -> Component:
    """Return the log density of synthetic people less that of other people, among peers."""
    n = len(sums.people)
    value = _log(sums.synthetic / max(1, n_synthetic)) - _log(sums.people / max(1, n - 1))
    twins, n_first = [], halves.sum(axis=0)
    for j, half in enumerate(halves.T):
        first, second = sums.halves[:, j], sums.people - sums.halves[:, j]
        mine, other = np.where(half, first, second), np.where(half, second, first)
        n_mine = np.where(half, n_first[j], n - n_first[j])
        ratio = _log(other / np.maximum(1, n - n_mine)) - _log(mine / np.maximum(1, n_mine - 1))
        twins.append(_among_peers(ratio, -mine, _CLASSES))
    return Component(_among_peers(value, -sums.people, _CLASSES), np.stack(twins, axis=1))


def _log(density: Floats) -> Floats:
    return np.asarray(np.log(density + 1e-9))


def _by_person(rows: Component, owner: Ints, persons: SetsOfRows) -> list[Component]:
    """Return two components of people from one of rows: their sum over many rows, and their highest third."""
    n, share = len(persons), persons.share
    every = [rows.value, *rows.twins.T]
    sums, thirds = ([each(v, owner, n, share) for v in every] for each in (_summed, _highest_third))
    return [Component(found[0], np.stack(found[1:], axis=1)) for found in (sums, thirds)]


def _summed(value: Floats, owner: Ints, n: int, share: Floats) -> Floats:
    """Return the mean by share of value - mean, times the root of the number of different rows; 0 without rows."""
    count = np.bincount(owner, minlength=n)
    centred = value - (value.mean() if len(value) else 0.0)
    return np.asarray(np.bincount(owner, weights=share * centred, minlength=n) * np.sqrt(count))


def _highest_third(value: Floats, owner: Ints, n: int, share: Floats) -> Floats:
    """Return the mean of the third of a person's rows with the highest values; the median of all without rows."""
    order = np.lexsort((-value, owner))
    own, part = owner[order], share[order]
    up_to = np.cumsum(part)
    before = np.r_[0.0, up_to][:-1]
    begin = np.searchsorted(own, np.arange(n))
    before = before - np.r_[before, 0.0][begin][own]
    counted = np.clip(_PART - before, 0.0, part)
    total = np.bincount(own, weights=counted, minlength=n)
    mean = np.bincount(own, weights=counted * value[order], minlength=n) / np.where(total > 0, total, 1.0)
    return np.where(total > 0, mean, np.median(value) if len(value) else 0.0)


# ---------------------------------------------------------------- surprise


def surprise(value: Floats, twins: Floats, at: float = _AT) -> Floats:
    """Return -log of the share of twins above each value, once both have the same lower quartile.

    Parameters
    ----------
    value, twins
        Of any shapes.
    at
        The quantile that is laid together.

    Examples
    --------
    >>> surprise(np.arange(4.0), np.arange(4.0)).round(4).tolist()
    [0.1335, 0.47, 0.9808, 2.0794]
    """
    shifted = value - (np.quantile(value, at) - np.quantile(twins, at))
    ordered = np.sort(twins, axis=None)
    below = np.searchsorted(ordered, shifted, "left") + np.searchsorted(ordered, shifted, "right")
    return np.asarray(-np.log(np.maximum(1 - below / (2 * len(ordered)), 0.5 / len(ordered))))


def _together(components: Sequence[Component]) -> Floats:
    """Return one surprise of each person from those of several components."""
    total = np.sum([surprise(c.value, c.twins) for c in components], axis=0)
    return surprise(total, np.sum([surprise(c.twins, c.twins) for c in components], axis=0))


def weight_of(components: Sequence[Component]) -> float:
    """Return how much a group counts: by how much fatter the upper side of its clearest component is than the twins'.

    Where the lower side is fatter too, the tables are off, and that counts against it.
    """
    strength = [
        _mean_surprise(c.value, c.twins) - _AGAINST * max(0.0, _mean_surprise(-c.value, -c.twins) - 1)
        for c in components
    ]
    return float(np.clip(max(strength) - _START, _LEAST, _MOST))


def _mean_surprise(value: Floats, twins: Floats) -> float:
    """Return the mean surprise once both have the same median; about 1 where nothing leaks."""
    return float(surprise(value, twins, 0.5).mean())
