"""People who are recognised: conformal p-values of the mean rank, and which attack ranks the person highest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from divulge.attacks.membership.exposure import flagged_at, highest_of_unit, p_values
from divulge.attacks.membership.results import WHOLE
from divulge.attacks.membership.scores import MEAN_RANK, PARTS
from divulge.core.result import Result
from divulge.stats.roc import mid_ranks

__all__ = ["BY_DISTANCE", "FDR", "Recognised", "recognised"]

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

BY_DISTANCE = ("ratio", "hit")
"""Scores of those in the mean rank that are made of distances."""
FDR = 0.1
"""At most this share of the people who are flagged is expected to be flagged by chance, as in `exposure`."""


@dataclass(frozen=True, slots=True, eq=False)
class Recognised:
    """Who of the members is recognised, one entry for each real record."""

    score: Floats
    """The mean rank."""
    p_value: Floats
    """Conformal p-value: strangers who score at least as high."""
    flagged: Bools
    """Flagged at the false discovery rate."""
    by: tuple[str, ...]
    """The score, of those in the mean rank, that ranks the record highest; the first in ties."""

    def among(self, rows: Ints, n: int) -> Recognised:
        """Return the same for all `n` real records, of which these are at `rows`; others have nan, False and ""."""
        score, p_value, flagged = np.full(n, np.nan), np.full(n, np.nan), np.zeros(n, dtype=bool)
        score[rows], p_value[rows], flagged[rows] = self.score, self.p_value, self.flagged
        by = np.full(n, "", dtype=object)
        by[rows] = self.by
        return Recognised(score, p_value, flagged, tuple(by.tolist()))


def recognised(results: Sequence[Result], real: Ints | None = None, holdout: Ints | None = None) -> Recognised | None:
    """Return who is recognised by the results of `membership`; None where they do not tell, or tell nothing.

    Parameters
    ----------
    results
        Results of a run.
    real, holdout
        The unit of each record; None where each record is one. A unit scores as its highest record does.

    References
    ----------
    Bates et al. (2023), Testing for outliers with conformal p-values.
    """
    own = {r.variant: r for r in results if r.attack == "membership" and r.individual is not None}
    first = own.get(MEAN_RANK, own.get(WHOLE))
    parts = PARTS if MEAN_RANK in own else tuple(name for name in own if name != WHOLE)
    if first is None or not parts or not set(parts) <= own.keys():
        return None
    if first.comparison is None or first.comparison.unfair:
        return None
    members, strangers = _sides(first)
    if WHOLE in own and np.isnan(members).any():  # a sample was asked
        return None
    p = p_values(members, highest_of_unit(strangers, holdout))
    ranks = [mid_ranks(np.concatenate(_sides(own[name])))[: len(members)] for name in parts]
    by = tuple(parts[i] for i in np.argmax(ranks, axis=0).tolist())
    return Recognised(members, p, flagged_at(p, real, FDR), by)


def _sides(result: Result) -> tuple[Floats, Floats]:
    assert result.individual is not None and result.individual.holdout is not None
    return result.individual.real, result.individual.holdout
