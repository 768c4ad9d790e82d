"""The blind check of whole people: can members be told from strangers without the synthetic tables?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.attacks.membership.blind import LEVEL, TOLD, Blind
from divulge.attacks.membership.whole_people.tables import STEEP, LinkedPeople, PersonRows
from divulge.case.comparable.overlap import IN_BOTH, shared_rows
from divulge.kernels.set_distances import SetsOfRows, unit_of
from divulge.stats.cross_fitting import FOLDS, cross_fitted
from divulge.stats.roc import auc

__all__ = ["IN_BOTH_SIDES", "blind_check_of_people", "visible_of"]

Floats = NDArray[np.float64]

_PENALTY = 40.0
_DRAWS = 199
_LEVELS = 20  # categories that are told apart
_OVERLAP = 0.001
IN_BOTH_SIDES = "{:,} of {:,} people of the holdout equal a real person with all rows: {}"


def blind_check_of_people(people: LinkedPeople, rng: np.random.Generator) -> Blind:
    """Return whether members and strangers can be told apart, or are partly the same, whatever the synthetic tables."""
    members, strangers = people.whole[: people.n_members], people.whole[people.n_members :]
    shared, p = shared_rows(members.view(np.int64), strangers.view(np.int64), rng)
    if p <= _OVERLAP:
        return Blind(None, None, IN_BOTH_SIDES.format(shared, len(strangers), IN_BOTH))
    is_member = people.is_member
    if min(is_member.sum(), (~is_member).sum()) < 2 * FOLDS:
        return Blind(None, None)
    columns = [c for rows in (people.parent, *people.below) if rows is not None for c in _features(rows)]
    # rounded: sums over the rows of a person
    features = np.column_stack([c for c in columns if np.ptp(c) > 0] or [np.zeros(len(people))]).round(9)
    found = cross_fitted(features, is_member, penalty=_PENALTY, rng=rng, draws=_DRAWS)
    area = auc(found.score[is_member], found.score[~is_member]).value
    return Blind(area, found.p_value, TOLD.format(area, found.p_value) if found.p_value <= LEVEL else "")


def _features(rows: PersonRows) -> Iterator[Floats]:
    """Yield the number of rows, the mean of numbers, and the shares of frequent categories of each person."""
    persons = rows.pot
    yield np.log(rows.size[0])
    top = STEEP * unit_of(len(rows.columns))
    for c in range(len(rows.columns)):
        codes = persons.codes[:, c]
        if c < persons.n_categories:
            frequent = np.argsort(-np.bincount(codes), kind="stable")[:_LEVELS]
            yield from (_mean(persons, codes == level) for level in frequent)
        else:
            missing = codes > top
            yield _mean(persons, missing)
            yield _mean(persons, np.where(missing, 0.5, codes / top))


def _mean(persons: SetsOfRows, values: NDArray[Any]) -> Floats:
    weights = persons.share * values
    return np.bincount(persons.owner, weights=weights, minlength=len(persons)).astype(np.float64, copy=False)


def visible_of(people: LinkedPeople, rate: float) -> float:
    """Return the risk of a full copy for somebody who claims whoever stands in the tables whole, word for word."""
    members, strangers = people.whole[: people.n_members], people.whole[people.n_members :]
    matched = float(np.isin(strangers, members).mean()) if len(strangers) else 0.0
    return 1.0 if matched <= rate else (rate / matched - rate) / (1 - rate)
