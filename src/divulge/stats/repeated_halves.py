"""Scores of people over several trainings, in each of which a random half was trained on.

Scores look at no label. The label of a training is a fair draw of its own, so that permuting the labels within each
training is an exact test of any statistic, models fitted on the labels of other trainings included if they are fitted
again in each permutation.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, stdtrit

from divulge.core.process_wide import one_thread
from divulge.stats.intervals import normal_quantile
from divulge.stats.outcomes import Floats
from divulge.stats.roc import auc, mid_ranks

__all__ = ["Halves", "calibrated", "mean_auc", "person_p", "smallest_person_p", "stacked"]

Bools = NDArray[np.bool_]

_DRAWS = 999
_FEWEST = 99
_ENTRIES = 40_000_000  # scores of all people and trainings under all permutations: a limit on the time
_PENALTY = 80.0  # of squared coefficients, as in the known-members attack
_POOLED = 0.3
"""Share of the spread of all people that is added to a person's own; from the lab."""
_EXACT = 60  # trainings up to which the distribution of rank sums is counted
_FEWEST_RUNS = 5


@dataclass(frozen=True, slots=True, eq=False)
class Halves:
    """How well a score tells who was trained on, over all trainings."""

    score: Floats
    """Shape (n_runs, n_people); higher is more like a member."""
    each: Floats
    """Shape (n_runs,): AUC of each training."""
    auc: float
    low: float
    high: float
    method: str
    p_value: float
    """One-sided."""


def calibrated(scores: Floats) -> Floats:
    """Return how unusual each score is among the same person's scores of the other trainings; no label enters.

    (x - mean of the others) / (standard deviation of the others + 0.3 of that of all people in a training).

    Parameters
    ----------
    scores
        Shape (n_scores, n_runs, n_people), at least 3 runs.
    """
    n_runs = scores.shape[1]
    total = scores.sum(axis=1, keepdims=True)
    mean = (total - scores) / (n_runs - 1)
    centre = total / n_runs
    squares = ((scores - centre) ** 2).sum(axis=1, keepdims=True)
    # the sum of squares without one value, around the mean of the others
    rest = np.maximum(squares - (scores - centre) ** 2 * n_runs / (n_runs - 1), 0.0)
    spread = np.sqrt(rest / (n_runs - 2))
    pooled = scores.std(axis=2, keepdims=True).mean(axis=1, keepdims=True)
    scale = spread + _POOLED * pooled
    return np.asarray(np.divide(scores - mean, scale, out=np.zeros_like(scores), where=scale > 0).round(9))


def mean_auc(score: Floats, inside: Bools, rng: np.random.Generator, level: float = 0.95) -> Halves:
    """Return the mean AUC over the trainings, its interval, and the p-value of permuted labels.

    Parameters
    ----------
    score, inside
        Shape (n_runs, n_people): a score that looks at no label, and who was trained on.
    rng
        Source of the permutations.
    level
        Level of the interval: Student's over the trainings, from five on; else DeLong's, averaged.
    """
    draws = _draws(score.size)
    ranks = np.array([mid_ranks(x) for x in score])
    totals = np.zeros(draws)
    for rank, mine in zip(ranks, inside, strict=True):
        totals += _rank_share(rank, _relabelled(mine, draws, rng))
    seen = math.fsum(float(_rank_share(r, m[:, None].astype(float))[0]) for r, m in zip(ranks, inside, strict=True))
    return _found(score, inside, _reached(totals, seen), level)


def stacked(features: Floats, inside: Bools, rng: np.random.Generator, level: float = 0.95) -> Halves:
    """Return the same for a combination of scores whose weights are learnt from the labels of the other trainings.

    The weights are a ridge regression. They are learnt again in each permutation of the labels, so that the p-value is
    exact although the trainings teach each other.

    Parameters
    ----------
    features
        Shape (n_features, n_runs, n_people), finite; no label enters.
    """
    n_features, n_runs, n = features.shape
    draws = _draws(2 * n_runs * n)
    labels = np.array([np.column_stack([m.astype(float), _relabelled(m, draws, rng)]) for m in inside])
    centred = labels - labels.mean(axis=1, keepdims=True)
    scale = features.std(axis=(1, 2), keepdims=True)
    x = np.divide(features, scale, out=np.zeros_like(features), where=scale > 0).transpose(1, 2, 0)
    x = x - x.mean(axis=1, keepdims=True)
    with one_thread():
        gram = np.array([a.T @ a for a in x])
        moment = np.array([a.T @ y for a, y in zip(x, centred, strict=True)])
        totals = np.zeros(1 + draws)
        score = np.empty((n_runs, n))
        for r in range(n_runs):
            weight = np.linalg.solve(
                gram.sum(axis=0) - gram[r] + _PENALTY * np.eye(n_features), moment.sum(axis=0) - moment[r]
            )
            made = (x[r] @ weight).round(9)
            score[r] = made[:, 0]
            totals += _ranked(made, labels[r])
    return _found(score, inside, _reached(totals[1:], float(totals[0])), level)


def person_p(score: Floats, inside: Bools, rng: np.random.Generator) -> Floats:
    """Return for each person the chance of so high scores in the trainings with the person, shape (n_people,).

    The sum of the ranks of these trainings, all sets of as many trainings being as likely; ties are ordered at random,
    so that the p-value is exact. 1 for a person who was always in, or never.

    Parameters
    ----------
    score, inside
        Shape (n_runs, n_people): scores that look at no label, and who was trained on.
    """
    n_runs, n = score.shape
    order = np.lexsort((rng.random((n_runs, n)), score), axis=0)
    rank = np.empty((n_runs, n), dtype=np.int64)
    np.put_along_axis(rank, order, np.arange(1, n_runs + 1)[:, None], axis=0)
    total, times = (rank * inside).sum(axis=0), inside.sum(axis=0)
    out = np.ones(n)
    for k in np.unique(times):
        who = times == k
        if 0 < k < n_runs:
            out[who] = _rank_sum_tail(n_runs, int(k), total[who])
    return out


def smallest_person_p(n_runs: int) -> float:
    """Return the smallest p-value of a person who was in half of the trainings.

    Examples
    --------
    >>> [round(1 / smallest_person_p(n)) for n in (8, 12, 16)]
    [70, 924, 12870]
    """
    return 1 / math.comb(n_runs, n_runs // 2)


def _rank_sum_tail(n: int, k: int, total: NDArray[np.int64]) -> Floats:
    """Return P(sum of the ranks of k of n >= total), all sets of k being as likely."""
    if n > _EXACT:
        deviation = math.sqrt(k * (n - k) * (n + 1) / 12)
        return np.asarray(ndtr(-(total - k * (n + 1) / 2 - 0.5) / deviation))
    tail = _tail_of_sets(n, k)
    return tail[total]


@functools.lru_cache(maxsize=256)
def _tail_of_sets(n: int, k: int) -> Floats:
    """Return for each total the share of sets of k of the numbers 1 to n whose sum is at least so large."""
    most = n * (n + 1) // 2
    count = np.zeros((k + 1, most + 1))
    count[0, 0] = 1
    for i in range(1, n + 1):
        for j in range(min(i, k), 0, -1):
            count[j, i:] += count[j - 1, : most + 1 - i]
    return np.asarray(np.cumsum(count[k][::-1])[::-1] / math.comb(n, k))


# ---------------------------------------------------------------- labels


def _draws(entries: int) -> int:
    return max(_FEWEST, min(_DRAWS, _ENTRIES // max(1, entries)))


def _relabelled(inside: Bools, draws: int, rng: np.random.Generator) -> Floats:
    return rng.permuted(np.repeat(inside[:, None].astype(np.float64), draws, axis=1), axis=0)


def _rank_share(rank: Floats, labels: Floats) -> Floats:
    """Return the AUC under each labelling, shape (n_draws,)."""
    n, k = len(rank), labels[:, 0].sum()
    return np.asarray((rank @ labels - k * (k + 1) / 2) / (k * (n - k)))


def _ranked(scores: Floats, labels: Floats) -> Floats:
    """Return the AUC of each column of scores under the labelling of the same column; ties as they stand."""
    order = np.argsort(scores, axis=0, kind="stable")
    ordered = np.take_along_axis(labels, order, axis=0)
    n, k = len(labels), labels[:, 0].sum()
    return np.asarray((np.arange(1, n + 1) @ ordered - k * (k + 1) / 2) / (k * (n - k)))


def _reached(totals: Floats, seen: float) -> float:
    return float(1 + np.count_nonzero(totals >= seen - 1e-9)) / (1 + len(totals))


def _found(score: Floats, inside: Bools, p_value: float, level: float) -> Halves:
    found = [auc(s[i], s[~i], level) for s, i in zip(score, inside, strict=True)]
    each = np.array([f.value for f in found])
    mean = math.fsum(each.tolist()) / len(each)
    if len(each) >= _FEWEST_RUNS:
        spread = math.sqrt(math.fsum(((each - mean) ** 2).tolist()) / (len(each) - 1) / len(each))
        half, method = -float(stdtrit(len(each) - 1, (1 - level) / 2)) * spread, "Student over the trainings"
    else:
        z = normal_quantile(level)
        spread = math.sqrt(math.fsum(((f.high - f.low) / (2 * z)) ** 2 for f in found)) / len(each)
        half, method = z * spread, "DeLong, averaged over the trainings"
    return Halves(score, each, mean, max(0.0, mean - half), min(1.0, mean + half), method, p_value)
