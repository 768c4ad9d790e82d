"""Whether a classifier can tell real from holdout people; after a random split it cannot."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from divulge.case.case import Case
from divulge.case.comparable.check import NOT_IN_MEMORY, Check, data_hash, numbers
from divulge.core.hashing import row_hashes
from divulge.kernels.counts.contingency import combine

__all__ = ["exchangeability", "exchangeable"]


def exchangeable(case: Case) -> Check | None:
    """Return whether a classifier tells real from holdout; None without a holdout, or with too few people."""
    if not case.has_holdout:
        return None
    if not case.in_memory:
        return Check(check="exchangeable", ok=True, tested=False, detail=NOT_IN_MEMORY)
    z, auc = exchangeability(case)
    if np.isnan(z):
        return None
    from scipy.special import ndtr

    p = min(1.0, 2 * float(ndtr(-z)))  # times 2: z is the larger of two folds; one-sided, as only a high AUC counts
    told = numbers({"AUC": auc, "p": p})
    detail = f"a classifier tells real from holdout with AUC {auc:.3f} (0.5 is chance, p = {p:.2g})"
    # The p-value is calibrated in tests/case/test_preconditions.py; 0.01 itself is a start value: one random split in a
    # hundred fails the check.
    if p < 0.01 and z > 0:
        return Check(
            check="exchangeable",
            ok=False,
            detail=detail + ": they are no random split; every excess below is suspect",
            numbers=told,
        )
    return Check(check="exchangeable", ok=True, detail=detail, numbers=told)


def exchangeability(case: Case) -> tuple[float, float]:
    """Return z-score and AUC of a classifier that tries to tell real from holdout people; the larger of two folds.

    A naive Bayes classifier over single columns and pairs of columns (binned codes) is trained on one half of the
    people and ranks the other half; then the halves change roles. If the split was random, the labels of the ranked
    half are exchangeable given the training half, so the rank-sum statistic has its permutation distribution.
    People of one unit are in the same half and their scores are averaged. nan when a side has fewer than 20 people.
    """
    # sorted: the result must not depend on the order of the columns
    names = sorted(n for n in case.schema.usable() if case.n_codes(n) > 1)
    units = [case.units("real"), case.units("holdout")]
    rows = [np.stack([case.codes(n)[i] for n in names], axis=1) if names else None for i in (0, 2)]
    if rows[0] is None or rows[1] is None or min(len(rows[0]), len(rows[1])) < 40:
        return float("nan"), float("nan")
    rng = case.rng(f"exchangeable {data_hash(case)}")
    sizes = [case.n_codes(n) for n in names]
    halves = [_halves(r, u, rng) for r, u in zip(rows, units, strict=True) if r is not None]
    best_z, best_auc = -np.inf, 0.5
    for fold in (0, 1):
        score = _naive_bayes([r[h == fold] for r, h in zip(rows, halves, strict=True) if r is not None], sizes)
        judged = []
        for r, h, u in zip(rows, halves, units, strict=True):
            assert r is not None
            other = h != fold
            judged.append(_mean_by_unit(score(r[other]), None if u is None else u[other]))
        z, auc = _rank_sum(*judged)
        if z > best_z:
            best_z, best_auc = z, auc
    return float(best_z), float(best_auc)


def _halves(rows: NDArray[np.int32], units: NDArray[np.int64] | None, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return 0 or 1 for each row, drawn in the order of the rows' codes, so that row order does not enter."""
    out = np.empty(len(rows), dtype=np.int64)
    columns = _columns(rows)  # numbered in the order of rows, so that one sort does for all columns
    order = np.argsort(combine(columns, [int(c.max(initial=0)) + 1 for c in columns])[0], kind="stable")
    if units is None:
        out[order] = rng.permutation(np.arange(len(rows)) % 2)
        return out
    # units are ordered by a hash of their rows: neither the order of rows nor the unit's name enters
    ordered = rows[order]
    rank = np.empty((len(rows), 1))
    rank[order, 0] = np.cumsum(np.r_[True, (ordered[1:] != ordered[:-1]).any(axis=1)])
    _, unit = np.unique(units, return_inverse=True)
    by_unit = np.argsort(unit, kind="stable")
    start = np.flatnonzero(np.r_[True, np.diff(unit[by_unit]) > 0])
    place = np.argsort(np.add.reduceat(row_hashes(rank)[by_unit], start))
    side = np.empty(len(start), dtype=np.int64)
    side[place] = rng.permutation(np.arange(len(start)) % 2)
    return side[unit]


def _naive_bayes(
    groups: list[NDArray[np.int32]], sizes: list[int]
) -> Callable[[NDArray[np.int32]], NDArray[np.float64]]:
    """Return a score that is high for rows that look like the first group."""
    # limits on the time: at most 300 pairs of columns, each with at most 10,000 cells
    features = [(j,) for j in range(len(sizes))] + [
        (i, j) for i, j in combinations(range(len(sizes)), 2) if sizes[i] * sizes[j] <= 10_000
    ][:300]
    trained = [_columns(g) for g in groups]
    tables = []
    for feature in features:
        capacity = int(np.prod([sizes[j] for j in feature]))
        a, b = (np.bincount(_cell(g, feature, sizes), minlength=capacity) + 0.5 for g in trained)
        tables.append(np.log(a / a.sum()) - np.log(b / b.sum()))

    def score(rows: NDArray[np.int32]) -> NDArray[np.float64]:
        total, columns = np.zeros(len(rows)), _columns(rows)
        for feature, table in zip(features, tables, strict=True):
            total += table[_cell(columns, feature, sizes)]
        return np.round(total, 9)

    return score


def _columns(rows: NDArray[np.int32]) -> list[NDArray[np.int32]]:
    """Return the columns, each in one piece of memory."""
    return list(np.ascontiguousarray(rows.T))


def _cell(columns: list[NDArray[np.int32]], feature: tuple[int, ...], sizes: list[int]) -> NDArray[np.int64]:
    ids = columns[feature[0]].astype(np.int64)
    for j in feature[1:]:
        ids *= sizes[j]
        ids += columns[j]
    return ids


def _mean_by_unit(score: NDArray[np.float64], units: NDArray[np.int64] | None) -> NDArray[np.float64]:
    if units is None:
        return score
    _, inverse = np.unique(units, return_inverse=True)
    order = np.lexsort((score, inverse))  # added by size: the sum does not depend on the order of rows
    return np.bincount(inverse[order], weights=score[order]) / np.bincount(inverse)


def _rank_sum(a: NDArray[np.float64], b: NDArray[np.float64]) -> tuple[float, float]:
    """Return the z-score of the rank-sum statistic (ties corrected) and the AUC of a above b."""
    pooled = np.concatenate([a, b])
    _, inverse, times = np.unique(pooled, return_inverse=True, return_counts=True)
    mid = np.cumsum(times) - (times - 1) / 2
    n_a, n_b = len(a), len(b)
    n = n_a + n_b
    if n_a < 20 or n_b < 20:
        return float("nan"), float("nan")
    rank_sum = mid[inverse][:n_a].sum()
    u = rank_sum - n_a * (n_a + 1) / 2
    ties = float((times.astype(float) ** 3 - times).sum())
    variance = n_a * n_b / 12 * (n + 1 - ties / (n * (n - 1)))
    if variance <= 0:
        return float("nan"), 0.5
    return float((u - n_a * n_b / 2) / np.sqrt(variance)), float(u / (n_a * n_b))
