"""Tests of several scores on the same people: does any of them rank members above strangers, or below?

Each score is tested by the sum of ranks (the AUC), and by how many members are among the people with the highest
scores, a tenth and a hundredth of all, or other shares (front test). The first sees many small traces, the others a few
people who are recognised surely. The thresholds are shares of all people, so that no statistic looks at a label before
the test, and one permutation of the labels gives the distribution of all of them (max-T).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from divulge.core.process_wide import one_thread
from divulge.stats import two_sample
from divulge.stats.intervals import normal_quantile
from divulge.stats.moments import Limit, limit_of
from divulge.stats.multiple_testing import _permuted, _pool, _Scaled, _standardise
from divulge.stats.outcomes import Floats, Ints
from divulge.stats.resampling import _PERMUTATIONS
from divulge.stats.roc import mid_ranks

__all__ = ["FRONT", "SHARES", "ScoreTests", "score_tests"]

SHARES = (0.1, 0.01)
"""Shares of all people, those with the highest scores, among whom members are counted."""
FRONT = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
"""Shares for a score that recognises few people surely, whatever their number."""
_SKEWED, _SKEWED_AT_THE_LIMIT = 1.0, 0.25
"""Skewness of such a count above which it is not tested. Of 20 leavers among 200 people both of the 2 highest are
leavers in 1 of 105 permutations, and that is 4.2 standard errors: it would set the threshold of all statistics."""


@dataclass(frozen=True, slots=True, eq=False)
class ScoreTests:
    """Tests of scores of the same people, corrected for all statistics of all scores."""

    z: Floats
    """Shape (n_scores, 1 + n_shares): standardised statistics, positive where members score higher; 0 where a score has
    fewer shares than another one."""
    p_value: Floats
    """Shape (n_scores,): p-value of the statistics of a score together, two-sided; 1 for a score without spread."""
    p_adjusted: Floats
    """Shape (n_scores,): the same over all scores."""
    critical: float
    """The `level` quantile of the largest |z| over all statistics of all scores."""
    level_each: float
    """Level of each interval such that all intervals hold together; at least `level`."""

    @property
    def decides(self) -> Ints:
        """Shape (n_scores,): number of the statistic with the largest |z|; 0 is the sum of ranks."""
        return np.asarray(np.argmax(np.abs(self.z), axis=1))

    @property
    def towards(self) -> Ints:
        """Shape (n_scores,): 1 where members score higher by the statistic that decides, -1 where lower, 0 neither."""
        return np.sign(self.z[np.arange(len(self.z)), self.decides]).astype(np.int64)


def score_tests(
    members: Floats,
    strangers: Floats,
    *,
    shares: Sequence[Sequence[float]] | None = None,
    level: float = 0.95,
    rng: np.random.Generator,
    draws: int = _PERMUTATIONS,
) -> ScoreTests:
    """Return p-values of several scores, of each and over all, from one permutation of the labels.

    Parameters
    ----------
    members, strangers
        Scores, shapes (n_T, n_scores) and (n_C, n_scores): higher is more like a member; nan for people whom a score
        does not ask. No score may look at labels. Keep the scores in a fixed order.
    shares
        For each score shares of all people whom it asks; None takes `SHARES`. A share of less than one person is not
        tested, and neither is one of so few people, with so few members or strangers, that the number of members among
        them is very skewed. Of those who tie at the threshold all count or none does, whichever gives a number nearer
        to the share.
    level
        Coverage of the family's intervals together.
    rng
        Source of the permutations; above 20,000 people of draws from their normal limit.
    draws
        Permutations.

    Returns
    -------
    ScoreTests
        Unchanged by row order, and by any change of a score that keeps its order. With nobody on a side p is 1.

    References
    ----------
    Westfall and Young (1993), Resampling-based multiple testing, single-step max-T.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> members, strangers = rng.normal(size=(200, 2)) + [0.5, 0.0], rng.normal(size=(200, 2))
    >>> found = score_tests(members, strangers, rng=rng)
    >>> found.p_adjusted[0] < 0.01 < 0.1 < found.p_adjusted[1], found.towards[0]
    (np.True_, np.int64(1))
    """
    n, n_scores = len(members), members.shape[1]
    of_score = [SHARES] * n_scores if shares is None else shares
    n_ways = 1 + max(map(len, of_score), default=0)
    normal = normal_quantile(level)
    z = np.zeros((n_scores, n_ways))
    if min(n, len(strangers)) == 0 or n_scores == 0:
        return ScoreTests(z, np.ones(n_scores), np.ones(n_scores), normal, level)
    people = np.concatenate([members, strangers])
    columns = np.column_stack([_statistics(score, own, n_ways) for score, own in zip(people.T, of_score, strict=True)])
    shown = columns.reshape(len(people), n_scores, n_ways)[:, :, 1:]
    shown[:, _too_skewed(shown.sum(axis=0), len(people), n)] = 0.0
    z.ravel()[:] = np.sign(_excess(columns, n))
    with one_thread():
        scaled = _scaled(columns[:n], columns[n:])
        if not scaled.live.any():
            return ScoreTests(0 * z, np.ones(n_scores), np.ones(n_scores), normal, level)
        z.ravel()[:] *= np.where(scaled.live, scaled.z, 0.0)
        return _tested(z, scaled, [1 + len(own) for own in of_score], normal, level, rng, draws)


def _scaled(members: Floats, strangers: Floats) -> _Scaled | Limit:
    """Return the observed statistics and what their distribution is drawn from."""
    if len(members) + len(strangers) > two_sample.RESAMPLE_UP_TO:
        return limit_of(list(members.T), list(strangers.T))
    return _standardise(*_pool(members, strangers, None, None))


def _tested(
    z: Floats,
    scaled: _Scaled | Limit,
    n_ways: Sequence[int],
    normal: float,
    level: float,
    rng: np.random.Generator,
    draws: int,
) -> ScoreTests:
    n_scores = len(z)
    live = scaled.live.reshape(z.shape)
    own, largest = _maxima(live, scaled, rng, draws)
    seen = np.abs(z).max(axis=1)
    p_value, p_adjusted = np.ones(n_scores), np.ones(n_scores)
    n_live = int(live.sum())
    for s in np.flatnonzero(live.any(axis=1)):
        p_value[s], p_adjusted[s] = _reached(own[s], seen[s]), _reached(largest, seen[s])
        if isinstance(scaled, Limit):  # Bonferroni sees further than the draws
            each = 2 * float(ndtr(-seen[s]))
            p_value[s] = min(p_value[s], max(n_ways[int(s)] * each, math.ulp(0.0)))
            p_adjusted[s] = min(p_adjusted[s], max(n_live * each, math.ulp(0.0)))
    place = min(len(largest), math.ceil(level * (len(largest) + 1) - 1e-9))
    critical = max(normal, float(largest[place - 1]))
    level_each = max(level, min(1 - 2.0**-50, 1 - 2 * float(ndtr(-critical))))
    return ScoreTests(z, p_value, np.maximum(p_value, p_adjusted), critical, level_each)


def _maxima(
    live: NDArray[np.bool_], scaled: _Scaled | Limit, rng: np.random.Generator, draws: int
) -> tuple[list[Floats], Floats]:
    """Return the largest |z| of each draw, ascending: of each score, and of all scores."""
    blocks = scaled.draws(rng) if isinstance(scaled, Limit) else _permuted(scaled, rng, draws)
    drawn = np.concatenate(list(blocks))
    of_score = np.repeat(np.arange(len(live)), live.sum(axis=1))
    own = [np.sort(drawn[:, of_score == s].max(axis=1, initial=0.0)) for s in range(len(live))]
    return own, np.sort(drawn.max(axis=1))


def _reached(drawn: Floats, seen: float) -> float:
    return float(1 + len(drawn) - np.searchsorted(drawn, seen - 1e-9)) / (len(drawn) + 1)


def _statistics(score: Floats, shares: Sequence[float], n_ways: int) -> Floats:
    """Return the rank of each person, and whether he is among the highest, shape (n, n_ways).

    Who is not asked has the mean rank, and is not among the highest.
    """
    asked = np.flatnonzero(~np.isnan(score))
    known = score[asked]
    n, ordered = len(known), np.sort(known)[::-1]
    out = np.zeros((len(score), n_ways))
    out[:, 0] = (n + 1) / 2
    out[asked, 0] = mid_ranks(known)
    for i, share in enumerate(shares, start=1):
        highest = math.floor(share * n + 1e-9)
        if highest:
            out[asked, i] = _highest(known, float(ordered[highest - 1]), highest)
    return out


def _highest(score: Floats, threshold: float, wanted: int) -> NDArray[np.bool_]:
    """Return who scores highest, with all ties at the threshold or none, whichever number is nearer to the wanted."""
    with_ties, without = score >= threshold, score > threshold
    return with_ties if with_ties.sum() - wanted <= wanted - without.sum() else without


def _too_skewed(counted: Floats, n: int, n_members: int) -> NDArray[np.bool_]:
    """Return where the number of members among so many of `n` people is very skewed if labels are at random.

    Examples
    --------
    >>> _too_skewed(np.array([2.0, 20.0]), 200, 20), _too_skewed(np.array([1.0, 2.0]), 60, 30)
    (array([ True, False]), array([False, False]))
    """
    skew = np.abs((n - 2 * n_members) * (n - 2 * counted)) * math.sqrt(n - 1) / max(1, n - 2)  # hypergeometric
    most = _SKEWED if n <= two_sample.RESAMPLE_UP_TO else _SKEWED_AT_THE_LIMIT  # permuted, or by the normal limit
    return np.asarray(skew > most * np.sqrt(counted * (n - counted) * float(n_members) * (n - n_members)))


def _excess(columns: Floats, n_members: int) -> Floats:
    """Return the mean of members minus that of strangers; ranks are halves, so that the sums are exact."""
    members, strangers = columns[:n_members], columns[n_members:]
    return np.asarray(members.sum(axis=0) * len(strangers) - strangers.sum(axis=0) * len(members))
