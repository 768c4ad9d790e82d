"""Compiled loops, each beside its plain numpy oracle.

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

__all__ = ["compiled", "in_threads", "one_by_one", "side_by_side"]

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


def side_by_side(work: Callable[[int, int], None], n: int, threads: int, each: int | None = None) -> None:
    """Run work(a, b) on parts of range(n) in threads."""
    step = each or max(1, -(-n // (4 * threads)))
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(lambda a: work(a, min(a + step, n)), range(0, n, step)))
