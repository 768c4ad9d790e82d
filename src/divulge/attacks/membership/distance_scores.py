"""Membership scores from distances: is the synthetic table nearer to a person than other people are?"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from divulge.attacks.membership.near_people import PERSON, REACH, NearPeople, near_people
from divulge.attacks.other_people import DIGITS, half_the_smallest
from divulge.case.case import Case
from divulge.case.distances import Distances, distances_of

__all__ = ["NAMES", "distance_scores"]

Floats = NDArray[np.float64]

NAMES = ("ratio", "hit", "dpi", "ratio of 5", "ratio of 20", "dcr", "dcr difference", "monte carlo")


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
    neighbour, the distance is the largest possible, 1.
    """
    listed = REACH if "ratio of 20" in wanted else PERSON if "ratio of 5" in wanted else 0
    near = near_people(case, columns, listed=listed, reach="dpi" in wanted)
    to_synthetic, to_person = near.to_synthetic, near.to_person
    floor = half_the_smallest([to_synthetic, to_person, near.farther])
    log_synthetic = np.log(np.maximum(to_synthetic, floor))
    scores: dict[str, Callable[[], Floats]] = {
        "ratio": lambda: np.log(np.maximum(to_person, floor)) - log_synthetic,
        "hit": lambda: np.log(np.maximum(near.farther, floor)) - log_synthetic,
        "dpi": lambda: _dpi(near),
        "ratio of 5": lambda: _mean_ratio(near, PERSON, floor),
        "ratio of 20": lambda: _mean_ratio(near, REACH, floor),
        "dcr": lambda: -to_synthetic,
        "dcr difference": lambda: (to_person - to_synthetic).round(DIGITS),
        "monte carlo": lambda: _monte_carlo(distances_of(case, columns), to_synthetic),
    }
    return {name: score() for name, score in scores.items() if name in wanted}


def _mean_ratio(near: NearPeople, k: int, floor: float) -> Floats:
    """Return the mean over the k nearest of the log of both distances' ratio; 1 where there is no such neighbour."""
    assert near.listed is not None
    synthetic, people = (np.log(np.where(np.isfinite(d), np.maximum(d, floor), 1.0))[:, :k] for d in near.listed)
    return np.asarray((people - synthetic).mean(axis=1).round(DIGITS))


def _dpi(near: NearPeople) -> Floats:
    """Return the share of the synthetic table over the sum of both shares, within the 20th neighbour of both.

    Sizes are divided out, which the published code leaves to tables of equal size.

    References
    ----------
    Ward, Wang and Cheng (2024), Data plagiarism index.
    """
    assert near.shares is not None
    synthetic, people = near.shares
    return np.asarray((synthetic / (synthetic + people)).round(DIGITS))


def _monte_carlo(distances: Distances, nearest: Floats) -> Floats:
    """Return how many synthetic rows lie within the median distance to the synthetic table.

    The median is that of all people, so that it looks at no label.
    """
    radius = float(np.quantile(nearest, 0.5, method="inverted_cdf"))
    # a hair more: the radius was rounded, and the row that set it must lie within
    return distances.count_within("people", "synthetic", radius + 10.0**-DIGITS).astype(float)
