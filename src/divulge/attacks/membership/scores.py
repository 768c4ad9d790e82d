"""All membership scores of a case, one entry a person: ten that are tested by default, and seven more.

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
from divulge.attacks.membership import edit_score as edits
from divulge.attacks.membership import margin_scores as margins
from divulge.case.case import Case
from divulge.core.errors import SettingError
from divulge.stats.roc import mid_ranks
from divulge.stats.score_tests import FRONT, SHARES

__all__ = ["EVERY", "MEAN_RANK", "STACKED", "TESTED", "checked_scores", "person_scores", "shares_of"]

Floats = NDArray[np.float64]

MEAN_RANK = "mean rank"
TESTED = (
    MEAN_RANK, "ratio", "hit", "dpi", "classifier", "2-way margins", "3-way margins", "4-way margins",
    "rare 4-way margins", edits.NAME,
)  # fmt: skip
"""The scores that are tested by default; the first is the headline."""
EVERY = (*TESTED, "ratio of 5", "ratio of 20", "dcr", "dcr difference", "monte carlo", "domias", "gen-lra")
STACKED = (
    "ratio", "hit", "dpi", "classifier", "2-way margins", "3-way margins", "4-way margins", "rare 4-way margins",
    "ratio of 5", "ratio of 20", "dcr", "dcr difference", "monte carlo",
)  # fmt: skip
"""Scores that the known-members attack combines, whichever are tested alone."""
PARTS = ("ratio", "hit", "classifier", "3-way margins")
"""Scores whose ranks "mean rank" averages, fixed in advance: one of each kind of trace, and the score of `exposure`."""


def checked_scores(wanted: Sequence[str] | str | None) -> tuple[str, ...]:
    """Return the names of the wanted scores, or of the one, in their fixed order; None is the ten.

    Raises
    ------
    SettingError
        No score is named, or a name is unknown.
    """
    if wanted is None:
        return TESTED
    names = [wanted] if isinstance(wanted, str) or not isinstance(wanted, Iterable) else list(wanted)
    known = ", ".join(EVERY)
    if not names:
        raise SettingError(f"scores: none named. hint: leave it out for the ten, or name some of: {known}.")
    for name in names:
        if name not in EVERY:
            raise SettingError(f"scores: {str(name)[:40]!r} is no score. hint: use some of: {known}.")
    return tuple(name for name in EVERY if name in names)


def person_scores(case: Case, columns: tuple[str, ...], wanted: Sequence[str]) -> dict[str, Floats]:
    """Return the wanted scores of all people (real rows, then holdout rows), by name; higher is more like a member.

    Nan for people whom a score does not ask.
    """
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
    if edits.NAME in needed:
        found[edits.NAME] = edits.edit_score(case, columns)
    if MEAN_RANK in wanted:
        ranks = [(mid_ranks(found[name]) - 0.5) / len(found[name]) for name in PARTS]
        found[MEAN_RANK] = np.array([math.fsum(each) for each in zip(*ranks, strict=True)]) / len(PARTS)
    return {name: found[name] for name in EVERY if name in wanted}


def shares_of(scores: Iterable[str]) -> list[tuple[float, ...]]:
    """Return the shares of all people, those with the highest scores, among whom members are counted, for each score.

    Edit distances recognise few people surely, and tell others hardly apart, so that their front is looked at closely.
    """
    return [FRONT if name == edits.NAME else SHARES for name in scores]
