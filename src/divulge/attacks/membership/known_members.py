"""The known-members attack: somebody who knows who some members and strangers are learns which scores to trust."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from divulge.case.case import Case
from divulge.core.errors import SettingError
from divulge.stats.cross_fitting import CrossFitted, cross_fitted
from divulge.stats.roc import mid_ranks

__all__ = ["KNOWN", "check_known", "stacked"]

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

KNOWN = "known members"
_LEAST = 100
_PENALTY = 80.0
"""As a logistic regression of C = 0.05: its log likelihood is a quarter as curved as the sum of squares."""
_HIGHEST = (0.95, 0.99)


def check_known(case: Case, units: dict[str, Ints] | None) -> None:
    """Raise a `SettingError` if there are fewer than 100 members or strangers, or units of them."""
    n, m = (case.n_rows(r) if units is None else len(np.unique(units[r])) for r in ("real", "holdout"))
    if min(n, m) < _LEAST:
        raise SettingError(
            f"known_members: needs {_LEAST} members and {_LEAST} strangers, found {n} and {m}. hint: leave it out."
        )


def stacked(scores: Sequence[Floats], is_member: Bools, rng: np.random.Generator) -> CrossFitted:
    """Return the cross-fitted combination of scores of units.

    Features of each score are its rank, the logit of the rank, and whether the rank is above 0.95 and above 0.99. The
    columns of the tables are no features: with them the combination would learn how the two tables of people differ.
    """
    features = np.hstack([_features(score) for score in scores])
    return cross_fitted(features, is_member, penalty=_PENALTY, rng=rng)


def _features(score: Floats) -> Floats:
    rank = (mid_ranks(score) - 0.5) / len(score)
    # folds follow from the content of rows, and the last bit of a logarithm is not that of every processor
    logit = np.log(rank / (1 - rank)).round(6)
    return np.column_stack([rank - 0.5, logit, *((rank > at) * 1.0 for at in _HIGHEST)])
