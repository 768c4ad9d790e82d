"""What reaches the k-th distance of each query, made from the k nearest distinct rows, however these were found."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from divulge.kernels.neighbours.distinct import Distinct
from divulge.kernels.neighbours.gower import Floats, Rows
from divulge.kernels.neighbours.nearest import Listed, Reach

__all__ = ["in_parts", "listed_up_to", "reach_of", "too_many"]

Ints = NDArray[np.int64]
Pairs = Callable[[Rows, Floats], tuple[Ints, Ints]]
"""Returns all pairs (query, distinct reference row) within a radius of each query."""

_LISTED = 20_000_000  # tied rows listed at once: 320 MB


def too_many(n_ties: int) -> bool:
    """Return whether so many ties are not listed at once."""
    return n_ties > _LISTED


def in_parts(queries: Ints, n_ties: Ints) -> list[Ints]:
    """Split the queries into parts, each with a limited number of listed ties."""
    return np.split(queries, np.flatnonzero(np.diff(np.cumsum(n_ties) // _LISTED)) + 1) if len(queries) else []


def reach_of(asked: Distinct, reference: Distinct, far: Floats, nearest: Ints, beyond: Ints) -> Reach:
    """Return the reach of some queries.

    Parameters
    ----------
    asked
        The distinct queries.
    reference
        The distinct reference rows.
    far, nearest
        Shape (n_distinct_queries, k): the nearest distinct rows and their distances, infinite and -1 where there are
        fewer.
    beyond
        Shape (n_distinct_queries,): how many rows beyond these are at the last of the distances.
    """
    times = np.where(nearest >= 0, reference.times[nearest], 0)
    distances = far
    if reference.of_row is not None:
        reached = times.cumsum(axis=1)
        padded = np.pad(far, ((0, 0), (0, 1)), constant_values=np.inf)
        row = np.arange(len(far))
        distances = np.stack([padded[row, (reached <= j).sum(axis=1)] for j in range(far.shape[1])], axis=1)
    last = np.where(np.isfinite(distances[:, -1]), distances[:, -1], far.max(axis=1, initial=0, where=nearest >= 0))
    inside = (nearest >= 0) & (far <= last[:, None])
    at_the_end = inside[:, -1] & (beyond > 0)
    n_rows = np.where(inside, times, 0).sum(axis=1) + np.where(at_the_end, beyond, 0)
    return Reach(
        asked, reference, distances, n_rows, np.where(inside, nearest, -1), np.where(inside, far, np.inf), ~at_the_end
    )


def listed_up_to(reach: Reach, which: Ints | None, pairs: Pairs) -> Iterator[Listed]:
    """Yield all distinct reference rows up to and including the k-th distance, in parts that fit into memory.

    Parameters
    ----------
    which
        Distinct queries, ascending; None takes all.
    pairs
        Is asked where more rows than are known are at the k-th distance.
    """
    which = np.arange(len(reach.n_rows)) if which is None else which
    listed = (reach.nearest[which] >= 0).sum(axis=1)
    most = np.where(reach.is_whole[which], listed, np.minimum(reach.n_rows[which], len(reach.reference.times)))
    for part in in_parts(which, most):
        yield _listed(reach, part, pairs)


def _listed(reach: Reach, part: Ints, pairs: Pairs) -> Listed:
    nearest, far = reach.nearest[part], reach.far[part]
    longer = np.flatnonzero(~reach.is_whole[part])
    keep = nearest >= 0
    keep[longer] = far[longer] < far[longer, -1:]  # the rows at the k-th distance are more than these
    query, slot = np.nonzero(keep)
    n_inner, n_tied = keep.sum(axis=1), np.zeros(len(part), dtype=np.int64)
    tied = np.empty(0, dtype=np.int64)
    if len(longer):
        width = len(reach.reference.times)
        q, r = pairs(reach.queries.rows.take(part[longer]), far[longer, -1])
        found = np.sort(longer[q] * width + r)
        inner = ~reach.is_whole[part][query]
        found = np.delete(found, np.searchsorted(found, (query * width + nearest[query, slot])[inner]))
        tied = found % width
        n_tied = np.bincount(found // width, minlength=len(part))
    start = np.append(0, np.cumsum(n_inner + n_tied))
    rows, distances = np.empty(start[-1], dtype=np.int64), np.repeat(far[:, -1], n_inner + n_tied)
    place = start[query] + slot
    rows[place], distances[place] = nearest[query, slot], far[query, slot]
    is_tied = np.ones(len(rows), dtype=np.bool_)
    is_tied[place] = False
    rows[is_tied] = tied
    return Listed(part, start, rows, distances)
