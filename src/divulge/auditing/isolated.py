"""The people who are easiest to recognise, and how single records are scored."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from divulge.attacks.membership.scores import person_scores
from divulge.attacks.other_people import others_near
from divulge.auditing.pool import Pool, Training
from divulge.auditing.worlds import Encoded, case_of
from divulge.case.distances import distance_columns, distances_of
from divulge.stats.roc import mid_ranks
from divulge.tables.frames import Table

__all__ = ["SCORES", "isolation", "ranks_of", "scores_of"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SCORES = ("ratio", "hit", "2-way margins", "3-way margins", "rare 4-way margins")
"""Scores of a single record against the others, fixed beforehand."""
_NEIGHBOUR = 5


def isolation(people: Encoded) -> Floats:
    """Return how far each unit is from the fifth nearest record of others, that of its most isolated record.

    References
    ----------
    Meeus, Guepin, Cretu and de Montjoye (2023), Achilles' heels: vulnerable record identification in synthetic data
    publishing.
    """
    distances = distances_of(people.case)
    units = None if people.case.unit is None else {"real": people.units}
    near = others_near(distances, "real", "real", units, _NEIGHBOUR)
    last = np.where(np.isfinite(near), near, -1.0).max(axis=1)
    out = np.zeros(people.n_units)
    np.maximum.at(out, people.units, last)
    return out


def scores_of(pool: Pool, people: Encoded, others: Ints, asked: Training, synthetic: Table) -> dict[str, Floats]:
    """Return the scores of some records, compared with the synthetic table and with the other people.

    Parameters
    ----------
    others
        Rows of the pool that are no canary.
    asked
        The records.
    """
    case = case_of(pool, people.schema, Training(others), synthetic, asked)
    found = person_scores(case, distance_columns(case)[0], SCORES)
    return {name: score[len(others) :] for name, score in found.items()}


def ranks_of(scores: Sequence[Floats]) -> Floats:
    """Return the mean rank of each record over the scores, in (0, 1)."""
    return np.asarray(np.mean([(mid_ranks(s) - 0.5) / len(s) for s in scores], axis=0).round(12))
