"""Membership scores from distances: is the synthetic table nearer to a person than other people are?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from divulge.attacks.membership.other_people import DIGITS, half_the_smallest, others_near, pooled_units
from divulge.case.case import Case
from divulge.case.distances import Distances, distances_of

__all__ = ["NAMES", "distance_scores"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

NAMES = ("ratio", "hit", "dpi", "ratio of 5", "ratio of 20", "dcr", "dcr difference", "monte carlo")
_NEIGHBOURS = 20  # of DPI, as published
_PERSON = 5  # the other person of the hit score, as in `exposure`


def distance_scores(case: Case, columns: tuple[str, ...], wanted: set[str]) -> dict[str, Floats]:
    """Return the wanted scores of all people (real rows, then holdout rows), by name; higher is more like a member.

    With d_k(x, S) the distance to the k-th nearest synthetic row and d_k(x, W) that to the k-th nearest other person:

    - "ratio": log d_1(x, W) - log d_1(x, S)
    - "ratio of 5", "ratio of 20": the mean over k = 1 to 5 or 20 of log d_k(x, W) - log d_k(x, S)
    - "hit": log d_5(x, W) - log d_1(x, S), the score of `exposure`
    - "dpi": share of the synthetic table over shares of table and people within the distance of the 20th neighbour
    - "dcr": -d_1(x, S)
    - "dcr difference": d_1(x, W) - d_1(x, S)
    - "monte carlo": number of synthetic rows within the median of d_1(x, S) over all people

    In logarithms a distance of 0 counts as half the smallest positive one. Where there is no other person, or no k-th
    neighbour, the distance is the largest possible, 1. Where no score needs more, as many neighbours are searched as
    `exposure` does, which the case then has already.
    """
    near = _searched(case, columns, wanted)
    synthetic, people = near.synthetic, near.people
    to_synthetic, to_person = synthetic[:, 0], np.where(np.isfinite(people[:, 0]), people[:, 0], 1.0)
    farther = _last_known(people[:, :_PERSON])
    floor = half_the_smallest([to_synthetic, to_person, farther])
    log_synthetic = np.log(np.maximum(to_synthetic, floor))
    scores: dict[str, Callable[[], Floats]] = {
        "ratio": lambda: np.log(np.maximum(to_person, floor)) - log_synthetic,
        "hit": lambda: np.log(np.maximum(farther, floor)) - log_synthetic,
        "dpi": lambda: _dpi(near),
        "ratio of 5": lambda: _mean_ratio(synthetic, people, 5, floor),
        "ratio of 20": lambda: _mean_ratio(synthetic, people, 20, floor),
        "dcr": lambda: -to_synthetic,
        "dcr difference": lambda: (to_person - to_synthetic).round(DIGITS),
        "monte carlo": lambda: _monte_carlo(distances_of(case, columns), to_synthetic),
    }
    return {name: score() for name, score in scores.items() if name in wanted}


@dataclass(frozen=True, slots=True, eq=False)
class _Near:
    """Distances of all people to the nearest synthetic rows and to the nearest other people, ascending."""

    synthetic: Floats
    people: Floats
    beyond: tuple[Floats, Floats]
    """For both, how many more rows than are listed lie at the last distance."""
    n_synthetic: int
    others: Floats
    """Rows of other people, shape (n,)."""


def _searched(case: Case, columns: tuple[str, ...], wanted: set[str]) -> _Near:
    distances = distances_of(case, columns)
    units = pooled_units(case, ("real", "holdout"))
    many = bool(wanted & {"dpi", "ratio of 20"})
    n_people = _NEIGHBOURS if many else _PERSON
    n_rows = _NEIGHBOURS if many else _PERSON if "ratio of 5" in wanted else 1
    parts = []
    for role in ("real", "holdout"):
        near = distances.nearest(role, "synthetic", n_rows)
        synthetic = near.distances.round(DIGITS)
        people = others_near(distances, role, "people", units, n_people)
        ties = None if units is not None else distances.nearest(role, "people", n_people).n_ties
        parts.append((synthetic, people, _beyond(synthetic, near.n_ties), _beyond(people, ties)))
    synthetic, people, more, others = (np.concatenate(part) for part in zip(*parts, strict=True))
    n = distances.n_rows("synthetic")
    return _Near(synthetic, people, (more, others), n, _n_others(len(people), units))


def _last_known(distances: Floats) -> Floats:
    """Return the farthest of the neighbours that there are; 1 where there are none."""
    known = np.isfinite(distances)
    last = distances[np.arange(len(distances)), np.maximum(known.sum(axis=1), 1) - 1]
    return np.asarray(np.where(known.any(axis=1), last, 1.0))


def _mean_ratio(synthetic: Floats, people: Floats, k: int, floor: float) -> Floats:
    """Return the mean over the k nearest of the log of both distances' ratio; 1 where there is no such neighbour."""
    logs = [np.log(np.where(np.isfinite(d), np.maximum(d, floor), 1.0))[:, :k] for d in (people, synthetic)]
    return np.asarray((logs[0] - logs[1]).mean(axis=1).round(DIGITS))


def _n_others(n: int, units: dict[str, Ints] | None) -> Floats:
    """Return how many rows of other people each person has, at least 1."""
    if units is None:
        return np.full(n, max(1.0, n - 1.0))
    which = np.unique(units["people"], return_inverse=True)[1]
    return np.maximum(1.0, n - np.bincount(which)[which].astype(np.float64))


def _beyond(distances: Floats, n_ties: Ints | None) -> Floats:
    """Return how many more rows than are listed lie at the last distance; 0 where that is not known."""
    if n_ties is None:
        return np.zeros(len(distances))
    listed = (distances == distances[:, -1:]).sum(axis=1)
    return np.asarray(np.maximum(0.0, n_ties - listed) * np.isfinite(distances[:, -1]))


def _dpi(near: _Near) -> Floats:
    """Return the share of the synthetic table over the sum of both shares, within the 20th neighbour of both.

    Sizes are divided out, which the published code leaves to tables of equal size.

    References
    ----------
    Ward, Wang and Cheng (2024), Data plagiarism index.
    """
    both = np.sort(np.hstack([near.synthetic, near.people]), axis=1)
    known = np.isfinite(both).sum(axis=1)
    radius = both[np.arange(len(both)), np.clip(known, 1, _NEIGHBOURS) - 1][:, None]
    shares = []
    for distances, more, size in (
        (near.synthetic, near.beyond[0], near.n_synthetic),
        (near.people, near.beyond[1], near.others),
    ):
        inside = (distances <= radius).sum(axis=1) + np.where(distances[:, -1] == radius[:, 0], more, 0.0)
        shares.append(inside / size)
    return np.asarray((shares[0] / (shares[0] + shares[1])).round(DIGITS))


def _monte_carlo(distances: Distances, nearest: Floats) -> Floats:
    """Return how many synthetic rows lie within the median distance to the synthetic table.

    The median is that of all people, so that it looks at no label.
    """
    radius = float(np.quantile(nearest, 0.5, method="inverted_cdf"))
    # a hair more: the radius was rounded, and the row that set it must lie within
    return distances.index("synthetic").count_within(distances.rows("people"), radius + 10.0**-DIGITS).astype(float)
