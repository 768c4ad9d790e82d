"""All membership scores of a case, one entry a person: nine that are tested by default, and five that others publish.

The reference of a score is label-blind: real and holdout people together, without the person (or the person's unit). If
members and strangers are alike but for the table, labels are exchangeable given all scores, so that any statistic of
labels and scores may be tested by permuting labels, and no stranger is spent on a reference sample.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from divulge.attacks.membership import classifier_score as forest
from divulge.attacks.membership import density_scores as densities
from divulge.attacks.membership import distance_scores as distances
from divulge.attacks.membership import margin_scores as margins
from divulge.case.case import Case
from divulge.core.errors import SettingError
from divulge.stats.roc import mid_ranks

__all__ = ["EVERY", "MEAN_RANK", "NINE", "STACKED", "checked_scores", "person_scores"]

Floats = NDArray[np.float64]

MEAN_RANK = "mean rank"
NINE = (
    MEAN_RANK, "ratio", "hit", "dpi", "classifier", "2-way margins", "3-way margins", "4-way margins",
    "rare 4-way margins",
)  # fmt: skip
"""The scores that are tested by default; the first is the headline."""
EVERY = (*NINE, "ratio of 5", "ratio of 20", "dcr", "dcr difference", "monte carlo", "domias", "gen-lra")
STACKED = (
    "ratio", "hit", "dpi", "classifier", "2-way margins", "3-way margins", "4-way margins", "rare 4-way margins",
    "ratio of 5", "ratio of 20", "dcr", "dcr difference", "monte carlo",
)  # fmt: skip
"""Scores that the known-members attack combines, whichever are tested alone."""
PARTS = ("ratio", "hit", "classifier", "3-way margins")
"""Scores whose ranks "mean rank" averages, fixed in advance: one of each kind of trace, and the score of `exposure`."""


def checked_scores(wanted: Sequence[str] | str | None) -> tuple[str, ...]:
    """Return the names of the wanted scores, or of the one, in their fixed order; None is the nine.

    Raises
    ------
    SettingError
        No score is named, or a name is unknown.
    """
    if wanted is None:
        return NINE
    names = [wanted] if isinstance(wanted, str) or not isinstance(wanted, Iterable) else list(wanted)
    known = ", ".join(EVERY)
    if not names:
        raise SettingError(f"scores: none named. hint: leave it out for the nine, or name some of: {known}.")
    for name in names:
        if name not in EVERY:
            raise SettingError(f"scores: {str(name)[:40]!r} is no score. hint: use some of: {known}.")
    return tuple(name for name in EVERY if name in names)


def person_scores(case: Case, columns: tuple[str, ...], wanted: Sequence[str]) -> dict[str, Floats]:
    """Return the wanted scores of all people (real rows, then holdout rows), by name; higher is more like a member."""
    needed = {*wanted, *(PARTS if MEAN_RANK in wanted else ())}
    found: dict[str, Floats] = {}
    if from_distances := needed & set(distances.NAMES):
        found |= distances.distance_scores(case, columns, from_distances)
    if forest.NAME in needed:
        found[forest.NAME] = forest.classifier_score(case, columns)
    if from_margins := needed & set(margins.NAMES):
        found |= margins.margin_scores(case, columns, from_margins)
    if needed & set(densities.NAMES):
        found |= densities.density_scores(case, columns)
    if MEAN_RANK in wanted:
        ranks = [(mid_ranks(found[name]) - 0.5) / len(found[name]) for name in PARTS]
        found[MEAN_RANK] = np.array([math.fsum(each) for each in zip(*ranks, strict=True)]) / len(PARTS)
    return {name: found[name] for name in EVERY if name in wanted}
