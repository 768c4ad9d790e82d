"""The blind check: can members be told from strangers without the synthetic table?

What tells them apart without it is a difference between the two tables of people, and no leak. It would carry any score
that looks at the whole of the data, and permuting labels within strata of it does not repair the comparison.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from divulge.attacks.other_people import units_by_content
from divulge.case.case import Case
from divulge.case.comparable.check import data_hash
from divulge.case.comparable.exchangeable import exchangeable
from divulge.case.comparable.overlap import IN_BOTH, overlap
from divulge.case.features import features_of
from divulge.stats.cross_fitting import FOLDS, cross_fitted
from divulge.stats.roc import auc

__all__ = ["LEVEL", "TOLD", "Blind", "blind_check", "same_people"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_PENALTY = 40.0
_DRAWS = 199
_MOST = 10_000  # units of either table that the check looks at: a limit on the time
LEVEL = 0.025
"""One random split in forty fails: the lower limit of a 95% interval is then above 1/2."""


@dataclass(frozen=True, slots=True)
class Blind:
    """What a classifier that never sees the synthetic table tells about who is a member."""

    auc: float | None
    """Cross-fitted; None with fewer than ten people in either table."""
    p_value: float | None
    """By permutation of the labels, the classifier fitted again."""
    why: str = ""
    """Why members and strangers are no fair comparison; "" where nothing was found against it."""


def blind_check(case: Case, columns: tuple[str, ...], units: dict[str, Ints] | None) -> Blind:
    """Return whether members and strangers can be told apart, or are partly the same, whatever the synthetic table."""
    shared = overlap(case)
    if shared is not None and not shared.ok:
        return Blind(None, None, shared.detail)
    of_people, is_member = _sample(case, columns, units)
    sizes = int(is_member.sum()), int((~is_member).sum())
    if min(sizes) < 2 * FOLDS:
        return Blind(None, None)
    rng = case.rng(f"membership blind {data_hash(case, columns)}")
    found = cross_fitted(of_people, is_member, penalty=_PENALTY, rng=rng, draws=_DRAWS)
    area = auc(found.score[is_member], found.score[~is_member]).value
    if found.p_value <= LEVEL:
        return Blind(area, found.p_value, TOLD.format(area, found.p_value))
    check = exchangeable(case)
    return Blind(area, found.p_value, "" if check is None or check.ok else _EXCHANGEABLE)


TOLD = (
    "a classifier that never sees the synthetic table tells members from strangers (AUC {:.3f}, p = {:.2g}), so that "
    "no score says anything about the synthetic table"
)
_EXCHANGEABLE = "real and holdout are no random split of the same people, so that no score says anything"
_OVERLAP = f"# of # holdout rows equal a real row: {IN_BOTH}"
NOTES = tuple(
    f"cannot tell: {text}" for text in (TOLD.replace("{:.3f}", "#").replace("{:.2g}", "#"), _EXCHANGEABLE, _OVERLAP)
)


def same_people(why: str) -> bool:
    """Return whether the comparison is unfair because people stand in both tables."""
    return why.endswith(IN_BOTH)


def _sample(case: Case, columns: tuple[str, ...], units: dict[str, Ints] | None) -> tuple[Floats, NDArray[np.bool_]]:
    """Return the mean of the rows of each unit, of at most 10,000 units of either table, and which are members."""
    features, n = features_of(case, columns, people_alone=True), case.n_rows("real")
    rng = case.rng(f"membership blind sample {data_hash(case, columns)}")
    unit = units_by_content(features.same(), None if units is None else units["people"])
    parts, labels = [], []
    for rows, label in ((np.arange(n), True), (np.arange(n, len(unit)), False)):
        numbers = np.unique(unit[rows])
        if len(numbers) > _MOST:
            numbers = np.sort(rng.choice(numbers, _MOST, replace=False))
            rows = rows[np.isin(unit[rows], numbers)]
        which = np.searchsorted(numbers, unit[rows])
        total = _summed(features.indicators(features.people[rows]), which)
        # rounded: the order of the rows of a unit changes the last digits of their mean
        parts.append((total / np.bincount(which, minlength=len(numbers))[:, None]).round(9))
        labels.append(np.full(len(numbers), label))
    return np.vstack(parts), np.concatenate(labels)


def _summed(values: Floats, which: Ints) -> Floats:
    order = np.argsort(which, kind="stable")
    if int(which.max(initial=-1)) + 1 == len(which):  # each unit has one row
        return values[order]
    first = np.flatnonzero(np.diff(which[order], prepend=-1))
    return np.asarray(np.add.reduceat(values[order], first, axis=0))
