"""Room B: compiled loops, each beside its plain numpy oracle.

numba is imported when the first large task asks for it, never before: small tables are answered by numpy, which
takes less time than loading a compiler. The compiled code is cached on disk where a folder is writable and
compiled in memory where none is (read-only containers).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["compiled", "disclosed", "disclosed_numpy", "hamming_votes", "hamming_votes_numpy"]

COMPILE_FROM = 4_000_000
"""Pairs of rows below which numpy is used and nothing is compiled (2,000 x 2,000)."""


@cache
def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function compiled by numba, from its disk cache where there is one."""
    import numba

    try:
        return numba.njit(nogil=True, cache=True)(function)  # type: ignore[no-any-return] # numba has no types
    except RuntimeError:  # "no locator available": neither the package folder nor a cache folder is writable
        return numba.njit(nogil=True)(function)  # type: ignore[no-any-return] # numba has no types


def hamming_votes_numpy(
    queries: NDArray[np.int32],
    references: NDArray[np.int32],
    votes: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the votes of all references at the smallest Hamming distance of each query, and that distance.

    Parameters
    ----------
    queries
        Shape (n, n_columns).
    references
        Shape (m, n_columns), m at least 1.
    votes
        Shape (m, n_targets): what each reference adds.

    Returns
    -------
    votes, distance
        Shapes (n, n_targets) and (n,).
    """
    n = len(queries)
    out = np.zeros((n, votes.shape[1]), dtype=np.int64)
    distance = np.zeros(n, dtype=np.int64)
    block = max(1, 2_000_000 // max(len(references), 1))
    for a in range(0, n, block):
        mismatches = np.zeros((len(queries[a : a + block]), len(references)), dtype=np.int64)
        for j in range(queries.shape[1]):
            mismatches += queries[a : a + block, j, None] != references[None, :, j]
        distance[a : a + block] = mismatches.min(axis=1)
        ties = mismatches == distance[a : a + block, None]
        out[a : a + block] = ties.astype(np.int64) @ votes
    return out, distance


def _hamming_votes_loop(
    queries: Any, columns: Any, votes: Any, out: Any, distance: Any
) -> None:  # pragma: no cover # runs compiled
    n, n_columns = queries.shape
    m = columns.shape[1]
    tile = 1024
    mismatches = np.empty(tile, dtype=np.uint8)
    for i in range(n):
        best = n_columns + 1
        for first in range(0, m, tile):
            size = min(tile, m - first)
            mismatches[:size] = 0
            for j in range(n_columns):
                value = queries[i, j]
                for r in range(size):
                    mismatches[r] += columns[j, first + r] != value
            least = n_columns + 1
            for r in range(size):
                least = min(least, mismatches[r])
            if least > best:
                continue
            if least < best:
                best = least
                out[i, :] = 0
            for r in range(size):
                if mismatches[r] == best:
                    out[i, :] += votes[first + r, :]
        distance[i] = best


def hamming_votes(
    queries: NDArray[np.int32],
    references: NDArray[np.int32],
    votes: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return what `hamming_votes_numpy` returns, compiled where the task is large enough to pay for it."""
    if len(queries) * len(references) < COMPILE_FROM or queries.shape[1] > 250:
        return hamming_votes_numpy(queries, references, votes)
    largest = max(int(queries.max(initial=0)), int(references.max(initial=0)))
    dtype = np.uint8 if largest < 256 else np.int32
    out = np.zeros((len(queries), votes.shape[1]), dtype=np.int64)
    distance = np.zeros(len(queries), dtype=np.int64)
    columns = np.ascontiguousarray(references.T.astype(dtype))
    compiled(_hamming_votes_loop)(np.ascontiguousarray(queries.astype(dtype)), columns, votes, out, distance)
    return out, distance


def disclosed_numpy(
    group_synthetic: NDArray[np.int64],
    group_real: NDArray[np.int64],
    n_groups: int,
    synthetic: NDArray[np.int32],
    real: NDArray[np.int32],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return how many synthetic rows lie in groups of one target, and how many real rows such groups name rightly.

    Parameters
    ----------
    group_synthetic, group_real
        Group of each row, shapes (m,) and (n,), values 0 to n_groups - 1.
    synthetic, real
        Targets as codes, shapes (n_targets, m) and (n_targets, n): each row is one target column.

    Returns
    -------
    n_pure, n_right
        Shape (n_targets,) each.
    """
    n_targets = len(synthetic)
    pure, right = np.zeros(n_targets, dtype=np.int64), np.zeros(n_targets, dtype=np.int64)
    size = np.bincount(group_synthetic, minlength=n_groups)
    for j in range(n_targets):
        first = np.full(n_groups, -1, dtype=np.int64)
        first[group_synthetic] = synthetic[j]
        first[group_synthetic[first[group_synthetic] != synthetic[j]]] = -2
        pure[j] = size[first >= 0].sum()
        right[j] = (first[group_real] == real[j]).sum()
    return pure, right


def _disclosed_loop(
    group_synthetic: Any, group_real: Any, n_groups: int, synthetic: Any, real: Any, pure: Any, right: Any
) -> None:  # pragma: no cover # runs compiled
    first = np.empty(n_groups, dtype=np.int32)
    size = np.zeros(n_groups, dtype=np.int32)
    for i in range(len(group_synthetic)):
        size[group_synthetic[i]] += 1
    for j in range(len(synthetic)):
        first[:] = -1
        for i in range(len(group_synthetic)):
            g = group_synthetic[i]
            t = synthetic[j, i]
            if first[g] == -1:
                first[g] = t
            elif first[g] != t:
                first[g] = -2
        n_pure = 0
        for g in range(n_groups):
            if first[g] >= 0:
                n_pure += size[g]
        n_right = 0
        for i in range(len(group_real)):
            if first[group_real[i]] == real[j, i]:
                n_right += 1
        pure[j] = n_pure
        right[j] = n_right


def disclosed(
    group_synthetic: NDArray[np.int64],
    group_real: NDArray[np.int64],
    n_groups: int,
    synthetic: NDArray[np.int32],
    real: NDArray[np.int32],
    *,
    compile_it: bool,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return what `disclosed_numpy` returns, compiled when the caller has enough such tasks to pay for it."""
    if not compile_it:
        return disclosed_numpy(group_synthetic, group_real, n_groups, synthetic, real)
    pure, right = np.zeros(len(synthetic), dtype=np.int64), np.zeros(len(synthetic), dtype=np.int64)
    compiled(_disclosed_loop)(group_synthetic, group_real, n_groups, synthetic, real, pure, right)
    return pure, right
