"""Searches by full matrices in plain numpy: for small tasks, and where there are no compiled loops."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from divulge.kernels.neighbours.distinct import Distinct
from divulge.kernels.neighbours.gower import Floats, Rows, Ruler, blocks, pairwise

__all__ = ["nearest_by_matrix", "within_by_matrix"]

Ints = NDArray[np.int64]


def _own_times(distinct: Distinct, part: slice, own: Ints | None, matrix: Floats) -> Ints:
    """Return how many rows each cell of the matrix stands for; set the distance of a cell without rows to infinity."""
    times = np.broadcast_to(distinct.times, matrix.shape)
    if own is None:
        return times
    times = times.copy()
    query = np.flatnonzero(own[part] >= 0)
    times[query, own[part][query]] -= 1
    matrix[times == 0] = np.inf
    return times


def nearest_by_matrix(
    ruler: Ruler, queries: Rows, reference: Distinct, k: int, own: Ints | None
) -> tuple[Floats, Ints, Ints]:
    """Return what `CompiledIndex.nearest` returns; the compiled searches must give the same results."""
    n, m = len(queries), len(reference.times)
    distance, rows = np.full((n, k), np.inf), np.full((n, k), -1, dtype=np.int64)
    beyond = np.zeros(n, dtype=np.int64)
    for part in blocks(n, m):
        matrix = pairwise(ruler, queries.part(part.start, part.stop), reference.rows)
        times = _own_times(reference, part, own, matrix)
        order = _smallest(matrix, k)
        found = np.take_along_axis(matrix, order, axis=1)
        width = order.shape[1]
        distance[part, :width] = found
        rows[part, :width] = np.where(np.isfinite(found), order, -1)
        if width == k:
            tied = np.where(matrix == found[:, -1:], times, 0).sum(axis=1)
            listed = np.where(found == found[:, -1:], np.take_along_axis(times, order, axis=1), 0).sum(axis=1)
            beyond[part] = np.where(np.isfinite(found[:, -1]), tied - listed, 0)
    return distance, rows, beyond


def _smallest(matrix: Floats, k: int) -> Ints:
    """Return the columns of the k smallest entries of each row, the first of equal ones first."""
    if k > min(2, matrix.shape[1] - 1):  # for more, sorting is as fast
        return np.asarray(np.argsort(matrix, axis=1, kind="stable")[:, :k])
    first: Ints = matrix.argmin(axis=1)[:, None]
    if k == 1:
        return first
    rest = matrix.copy()
    np.put_along_axis(rest, first, np.inf, axis=1)
    second = rest.argmin(axis=1)[:, None]
    # a row without a second finite entry: its infinite entries come in order
    lost = np.isinf(np.take_along_axis(rest, second, axis=1))
    return np.hstack([first, np.where(lost, np.where(first == 0, 1, 0), second)])


def within_by_matrix(
    ruler: Ruler, queries: Rows, reference: Distinct, radius: Floats, own: Ints | None, listing: bool
) -> tuple[Ints, tuple[Ints, Ints]]:
    """Return what `CompiledIndex.within` returns."""
    counts = np.zeros(len(queries), dtype=np.int64)
    found: list[tuple[Ints, Ints]] = [(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))]
    for part in blocks(len(queries), len(reference.times)):
        matrix = pairwise(ruler, queries.part(part.start, part.stop), reference.rows)
        times = _own_times(reference, part, own, matrix)
        inside = (matrix <= radius[part, None]) & np.isfinite(matrix)
        counts[part] = (times * inside).sum(axis=1)
        if listing:
            query, row = np.nonzero(inside)
            found.append((query + part.start, row))
    return counts, (np.concatenate([q for q, _ in found]), np.concatenate([r for _, r in found]))
