"""The nearest rows of some queries, merged with those in a further part of the reference."""

from __future__ import annotations

import os

import numpy as np
from numpy.typing import NDArray

from divulge.kernels._native.library import Kernel, Struct
from divulge.kernels.neighbours.nearest import Nearest
from divulge.kernels.runtime import has_loops, side_by_side

__all__ = ["merge", "nothing"]

Ints = NDArray[np.int64]
_AT_ONCE = 16_384  # lists of a task of a thread

_LISTS = Struct(far="f8!", row="i8!", n_last="i8!")
_merge = Kernel("merge_near", _LISTS, _LISTS, "i8*", "i8*", "i8", "i8", "i8")


def nothing(n: int, k: int) -> Nearest:
    """Return the result of a search for the k nearest of no rows."""
    return Nearest(np.full((n, k), np.inf), np.full((n, k), -1, dtype=np.int64), np.zeros(n, dtype=np.int64))


def merge(
    kept: Nearest, which: Ints, more: Nearest, times: NDArray[np.int64] | None = None, threads: int | None = None
) -> None:
    """Put the nearest rows in a further part of the reference among those that were found before, in place.

    Parameters
    ----------
    kept
        Of all queries; `n_ties` are all rows at the last distance, listed or not.
    which, more
        Some queries, and what was found for them; the rows have the numbers that they have in `kept`.
    times
        For how many rows each row stands; None for one each.

    Examples
    --------
    >>> kept = Nearest(np.array([[0.1, 0.2], [0.5, np.inf]]), np.array([[4, 0], [3, -1]]), np.array([5, 0]))
    >>> merge(kept, np.array([0, 1]), Nearest(np.array([[0.2, 0.3], [0.1, 0.1]]), np.array([[9, 8], [6, 7]]),
    ...                                       np.array([1, 3])))
    >>> kept.distances.tolist(), kept.rows.tolist(), kept.n_ties.tolist()
    ([[0.1, 0.2], [0.1, 0.1]], [[4, 0], [6, 7]], [6, 3])
    """
    if not has_loops(len(which)):
        _by_sorting(kept, which, more, times)
        return
    lists = [_LISTS(far=n.distances, row=n.rows, n_last=n.n_ties) for n in (kept, more)]
    k = kept.distances.shape[1]
    side_by_side(
        lambda a, b: _merge(*lists, which, times, k, a, b), len(which), threads or os.cpu_count() or 1, _AT_ONCE
    )


def _by_sorting(kept: Nearest, which: Ints, more: Nearest, times: Ints | None) -> None:
    """Merge in numpy; the compiled loop must give the same."""
    parts, k = (kept.take(which), more), kept.distances.shape[1]
    numbers, distances = (np.hstack([getattr(p, name) for p in parts]) for name in ("rows", "distances"))
    order = np.lexsort((numbers, distances), axis=1)[:, :k]
    merged = np.take_along_axis(distances, order, axis=1)
    last, ties = merged[:, -1:], np.zeros(len(which), dtype=np.int64)
    for p in parts:
        # a list whose last distance is beyond that of the merged one names all its rows at the latter
        listed = (p.distances == last) & (p.rows >= 0)
        n_listed = (listed if times is None else listed * times[p.rows]).sum(axis=1)
        ties += np.where(p.distances[:, -1] == last[:, 0], p.n_ties, n_listed)
    kept.distances[which], kept.rows[which] = merged, np.take_along_axis(numbers, order, axis=1)
    kept.n_ties[which] = np.where(np.isfinite(last[:, 0]), ties, 0)
