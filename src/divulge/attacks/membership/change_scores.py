"""Scores of two releases: how much more is a person like the first synthetic table than like the second?

Each is the difference of a membership score on both tables, so that what it compares with other people cancels.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from divulge.attacks.membership.margin_scores import margin_scores
from divulge.attacks.other_people import DIGITS, half_the_smallest
from divulge.case.case import Case
from divulge.case.distances import distances_of
from divulge.core.errors import SettingError
from divulge.stats.roc import mid_ranks

__all__ = ["SCORES", "change_scores", "checked_changes"]

Floats = NDArray[np.float64]

_MEAN_RANK = "mean rank"
_MARGINS = ("2-way margins", "3-way margins", "4-way margins")
SCORES = (_MEAN_RANK, "nearest", "nearest 5", *_MARGINS)
"""The scores; the first is the headline."""
_PARTS = ("nearest", "nearest 5", "3-way margins")
"""Scores whose ranks "mean rank" averages, fixed in advance."""
_NEIGHBOURS = 5


def checked_changes(wanted: Sequence[str] | str | None) -> tuple[str, ...]:
    """Return the names of the wanted scores, or of the one, in their fixed order; None is all.

    Raises
    ------
    SettingError
        No score is named, or a name is unknown.
    """
    if wanted is None:
        return SCORES
    names = [wanted] if isinstance(wanted, str) or not isinstance(wanted, Iterable) else list(wanted)
    if not names or any(name not in SCORES for name in names):
        found = "none named" if not names else f"{str(next(n for n in names if n not in SCORES))[:40]!r} is no score"
        raise SettingError(f"scores: {found}. hint: use some of: {', '.join(SCORES)}.")
    return tuple(name for name in SCORES if name in names)


def change_scores(case: Case, n_before: int, columns: tuple[str, ...], wanted: Sequence[str]) -> dict[str, Floats]:
    """Return the wanted scores of all people (real rows, then holdout rows), by name; higher is more like the first.

    With d_k(x, S) the distance to the k-th nearest row of a synthetic table:

    - "nearest": log d_1(x, second) - log d_1(x, first)
    - "nearest 5": the mean over k = 1 to 5 of log d_k(x, second) - log d_k(x, first)
    - "k-way margins": the score of `membership` on the first table less that on the second
    - "mean rank": the mean of the ranks of nearest, nearest 5 and 3-way margins

    In logarithms a distance of 0 counts as half the smallest positive one of both tables.

    Parameters
    ----------
    case
        A case whose first `n_before` synthetic rows are the first table, the others the second.
    """
    needed = {*wanted, *(_PARTS if _MEAN_RANK in wanted else ())}
    tables = case.synthetic_rows(0, n_before), case.synthetic_rows(n_before, case.n_rows("synthetic"))
    found: dict[str, Floats] = {}
    if needed & {"nearest", "nearest 5"}:
        first, second = (_distances(one, columns) for one in tables)
        floor = half_the_smallest([first, second])
        logs = np.log(np.maximum(second, floor)) - np.log(np.maximum(first, floor))
        found |= {"nearest": logs[:, 0].round(DIGITS), "nearest 5": logs.mean(axis=1).round(DIGITS)}
    if margins := needed & set(_MARGINS):
        first_of, second_of = (margin_scores(one, columns, margins) for one in tables)
        found |= {name: (first_of[name] - second_of[name]).round(9) for name in margins}
    if _MEAN_RANK in wanted:
        ranks = [(mid_ranks(found[name]) - 0.5) / len(found[name]) for name in _PARTS]
        found[_MEAN_RANK] = np.array([math.fsum(each) for each in zip(*ranks, strict=True)]) / len(_PARTS)
    return {name: found[name] for name in SCORES if name in wanted}


def _distances(case: Case, columns: tuple[str, ...]) -> Floats:
    """Return the distances of all people to the five nearest synthetic rows; 1 where there are fewer rows."""
    distances = distances_of(case, columns)
    near = np.vstack([distances.nearest(role, "synthetic", _NEIGHBOURS).distances for role in ("real", "holdout")])
    return np.where(np.isfinite(near), near, 1.0).round(DIGITS)
