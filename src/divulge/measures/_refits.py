"""How well a linear model tells real from synthetic rows it was not fitted to, under permuted labels fitted again.

All rows of a fold share a fitted model and folds share training rows, so that no formula gives the distribution of
cross-validated scores. It is that of permuted labels, each fitted again. The model is a ridge regression of the label:
its predictions are linear in the labels, so that all permutations are one product of matrices.

An AUC compares rows of one fold only. Across folds a row would be compared with rows its own label was taught to, which
pulls the AUC of a fresh sample below a half (0.46 at 100 rows).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from divulge.stats.intervals import Interval, normal_quantile, wilson
from divulge.stats.roc import mid_ranks

if TYPE_CHECKING:
    from divulge.measures._rows import Labelled

__all__ = ["FOLDS", "Refitted", "fold_auc", "folds_of", "leaves", "refitted"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

FOLDS = 3
_TREES, _DEPTH = 30, 5  # of random trees: about 700 leaves; measured on Adult
_PENALTY = 30.0
_LOOKED_AT = 39  # permutations whose AUC is computed too
_FLAT = 1e-18  # variance of scores below which all are equal
_TOGETHER = 4  # equal rows that share a fold; more would keep whole kinds of rows from the model


@dataclass(frozen=True, slots=True, eq=False)
class Refitted:
    """How a linear model tells real from synthetic rows, and what permuted labels give, each fitted again."""

    distance: float
    """Mean score of the real rows of a fold less that of the synthetic ones, in standard deviations of the scores."""
    null: Floats
    """Shape (n_permutations,): the distance under permuted labels."""
    auc: float
    null_auc: Floats
    """The AUC of the first 39 permutations at most."""
    spread: float
    """Standard deviation of the permuted AUC over the standard error that fixed scores would have; at least 1."""


def folds_of(rows: Labelled, rng: np.random.Generator, *, together: bool) -> Ints:
    """Return the fold of each row; a unit is in one fold.

    Parameters
    ----------
    together
        Whether equal rows, four at a time, share a fold, so that no row is judged by a model that was taught its twin.
        Where rows have units, twins are put together by the first row of their unit.
    """
    _, first, unit = np.unique(rows.unit, return_index=True, return_inverse=True)
    group = np.empty(len(first), dtype=np.int64)
    order = np.argsort(first, kind="stable")
    group[order] = np.arange(len(order))
    if together:
        changed = np.r_[True, (rows.x[1:] != rows.x[:-1]).any(axis=1)][: len(rows)]
        content = np.cumsum(changed) - 1
        starts = np.flatnonzero(changed)
        part = (np.arange(len(rows)) - starts[content]) // _TOGETHER
        record = np.unique(content * (len(rows) + 1) + part, return_inverse=True)[1].ravel()
        group = record[first]
    drawn = rng.permutation(int(group.max(initial=-1)) + 1) % FOLDS
    return np.asarray(drawn[group][unit.ravel()])


def leaves(x: Floats, n_trees: int = _TREES, depth: int = _DEPTH) -> Floats:
    """Return indicators of the leaves of trees that split at random: features of combinations of columns.

    No label enters, so that the features are the same under each permutation.
    """
    from sklearn.ensemble import RandomTreesEmbedding

    trees = RandomTreesEmbedding(n_trees, max_depth=depth, random_state=0, sparse_output=False, n_jobs=1)
    return np.asarray(trees.fit_transform(x)) * (4 / math.sqrt(n_trees))


def refitted(features: Floats, labels: Floats, fold: Ints, unit: Ints) -> Refitted:
    """Return how a linear model tells rows of one fold under the truth and under permuted labels, each fitted again.

    Parameters
    ----------
    features
        Shape (n, n_features).
    labels
        Shape (n, 1 + n_permutations), 1 for real; the first column is the truth.
    fold, unit
        Shape (n,).
    """
    distance = np.zeros(labels.shape[1])
    kept = np.zeros((len(labels), min(labels.shape[1], 1 + _LOOKED_AT)))
    with threadpool_limits(1):
        for f in range(FOLDS):
            asked = fold == f
            if not asked.any() or asked.all():
                continue
            score = _ridge(features[~asked], labels[~asked], features[asked])
            kept[asked] = score[:, : kept.shape[1]]
            distance += _apart(score, labels[asked]) * (asked.sum() / len(asked))
    areas = [fold_auc(labels[:, d] > 0, kept[:, d], fold, unit) for d in range(kept.shape[1])]
    null = np.array([a.auc.value for a in areas[1:] if not math.isnan(a.error)])
    usual = math.sqrt(math.fsum(a.error**2 for a in areas[1:] if not math.isnan(a.error)) / max(1, len(null)))
    spread = max(1.0, float(null.std(ddof=1)) / usual) if usual > 0 and len(null) > 1 else 1.0
    return Refitted(float(distance[0]), distance[1:], areas[0].auc.value, null, spread)


def _ridge(known: Floats, labels: Floats, asked: Floats) -> Floats:
    """Return the ridge prediction of the rows asked under each labelling, up to a constant of each labelling."""
    from scipy.linalg import solve

    centre = known.mean(axis=0)
    known = known - centre
    if len(known) < known.shape[1]:  # the same slopes from a system of rows
        weights = solve(known @ known.T + _PENALTY * np.eye(len(known)), labels, assume_a="pos")
        return np.asarray(((asked - centre) @ known.T) @ weights)
    slopes = solve(known.T @ known + _PENALTY * np.eye(known.shape[1]), known.T @ labels, assume_a="pos")
    return np.asarray((asked - centre) @ slopes)


def _apart(score: Floats, labels: Floats) -> Floats:
    """Return the difference of the mean scores of both labels in standard deviations, for each labelling."""
    n, n_real = len(labels), labels.sum(axis=0)
    of_real, of_all = np.einsum("ij,ij->j", score, labels), score.sum(axis=0)
    difference = of_real / np.maximum(n_real, 1) - (of_all - of_real) / np.maximum(n - n_real, 1)
    variance = np.maximum(np.einsum("ij,ij->j", score, score) / n - (of_all / n) ** 2, 0.0)
    told = (variance > _FLAT) & (n_real > 0) & (n_real < n)
    return np.where(told, difference / np.sqrt(np.where(told, variance, 1.0)), 0.0)


@dataclass(frozen=True, slots=True)
class FoldAuc:
    """The AUC of rows of one fold, its standard error and its interval."""

    auc: Interval
    error: float


def fold_auc(
    is_real: Bools, score: Floats, fold: Ints, unit: Ints, level: float = 0.95, spread: float = 1.0
) -> FoldAuc:
    """Return the AUC over pairs of rows of one fold with DeLong's interval on the logit scale, clustered by unit.

    Parameters
    ----------
    spread
        The standard error is multiplied by it.
    """
    score = np.round(score, 9)
    parts = [np.flatnonzero(fold == f) for f in range(int(fold.max(initial=-1)) + 1)]
    parts = [p for p in parts if 0 < np.count_nonzero(is_real[p]) < len(p)]
    pairs = [int(is_real[p].sum()) * int((~is_real[p]).sum()) for p in parts]
    if not pairs:
        return FoldAuc(Interval(math.nan, math.nan, math.nan), math.nan)
    area = 0.0
    influence = np.zeros(len(score))
    for p, n_pairs in zip(parts, pairs, strict=True):
        places = _placements(is_real[p], score[p])
        own = float(places[is_real[p]].mean())
        weight = n_pairs / sum(pairs)
        area += weight * own
        sizes = np.where(is_real[p], is_real[p].sum(), (~is_real[p]).sum())
        influence[p] = weight * (places - own) / sizes
    of_unit = np.bincount(np.unique(unit, return_inverse=True)[1].ravel(), weights=influence)
    error = spread * math.sqrt(math.fsum(of_unit**2))
    n_least = min(len(np.unique(unit[side])) for side in (is_real, ~is_real))
    if area <= 0 or area >= 1 or error == 0:
        found = wilson(area * n_least, n_least, level)
        return FoldAuc(Interval(area, found.low, found.high), error)
    centre, half = math.log(area / (1 - area)), normal_quantile(level) * error / (area * (1 - area))
    low, high = (1 / (1 + math.exp(-min(max(v, -700), 700))) for v in (centre - half, centre + half))
    return FoldAuc(Interval(area, low, high), error)


def _placements(is_real: Bools, score: Floats) -> Floats:
    """Return for each real row the share of synthetic rows below, for each synthetic row that of real ones above."""
    ranks = mid_ranks(score)
    out = np.empty(len(score))
    for side, sign in ((is_real, 1.0), (~is_real, -1.0)):
        below = (ranks[side] - mid_ranks(score[side])) / max(1, int((~side).sum()))
        out[side] = below if sign > 0 else 1 - below
    return out
