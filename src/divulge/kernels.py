"""Room B: compiled loops, each beside its plain numpy oracle.

numba is imported when the first large task asks for it, never before: small tables are answered by numpy, which
takes less time than loading a compiler. The compiled code is cached on disk where a folder is writable and
compiled in memory where none is (read-only containers).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sized
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["compiled", "disclosed", "disclosed_numpy", "in_threads", "one_by_one"]

COMPILE_FROM = 4_000_000
"""Pairs of rows below which numpy is used and nothing is compiled (2,000 x 2,000)."""


THREADS_FROM = 200_000
"""Rows from which numpy and polars, which let go of the interpreter's lock, work in several threads."""

_T = TypeVar("_T")
_R = TypeVar("_R")


def in_threads(function: Callable[[_T], _R], tasks: Iterable[_T], n_rows: int) -> list[_R]:
    """Return the function of each task, in their order; one thread is enough for few rows."""
    return list(one_by_one(function, tasks, n_rows))


def one_by_one(function: Callable[[_T], _R], tasks: Iterable[_T], n_rows: int) -> Iterator[_R]:
    """Give out the function of each task, in their order, while threads work on the next ones.

    When whoever asks stops asking, tasks that have not begun are dropped.
    """
    if n_rows < THREADS_FROM or (isinstance(tasks, Sized) and len(tasks) < 2):
        yield from map(function, tasks)
        return
    pool = ThreadPoolExecutor(os.cpu_count() or 1)
    try:
        yield from pool.map(function, tasks)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


@cache
def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function compiled by numba, from its disk cache where there is one."""
    import numba

    try:
        return numba.njit(nogil=True, cache=True, error_model="numpy")(function)  # type: ignore[no-any-return] # numba has no types
    except RuntimeError:  # "no locator available": neither the package folder nor a cache folder is writable
        return numba.njit(nogil=True, error_model="numpy")(function)  # type: ignore[no-any-return] # numba has no types


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
