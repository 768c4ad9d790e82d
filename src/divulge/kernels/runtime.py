"""Whether there are compiled loops (`_native`), and how tasks run in threads."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Sized
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from divulge.kernels._native.library import available, why_absent

__all__ = [
    "ABSENT",
    "IN_CACHE",
    "THREADS_FROM",
    "has_loops",
    "in_threads",
    "note_on_loops",
    "one_by_one",
    "side_by_side",
]

_SLOW_FROM = 25_000_000
"""Pairs of rows from which a search without compiled loops takes more than ten seconds (5,000 x 5,000)."""

ABSENT = "there are no compiled loops: numbers are the same without them, but searches take many times longer"
"""What a report tells of it."""

IN_CACHE = 16_384
"""Rows of a part, where passes of numpy over many rows go part by part."""

THREADS_FROM = 200_000
"""Rows from which tasks of numpy and polars, which release the interpreter's lock, run in several threads."""

_T = TypeVar("_T")
_R = TypeVar("_R")


def in_threads(function: Callable[[_T], _R], tasks: Iterable[_T], n_rows: int) -> list[_R]:
    """Return the function's result for each task, in the order of tasks; few rows are worked on in one thread."""
    return list(one_by_one(function, tasks, n_rows))


def one_by_one(function: Callable[[_T], _R], tasks: Iterable[_T], n_rows: int) -> Iterator[_R]:
    """Yield the function's result for each task, in the order of tasks, while threads work on the next tasks.

    When the caller stops iterating, tasks that have not begun are cancelled.
    """
    if n_rows < THREADS_FROM or (isinstance(tasks, Sized) and len(tasks) < 2):
        yield from map(function, tasks)
        return
    pool = ThreadPoolExecutor(os.cpu_count() or 1)
    try:
        yield from pool.map(function, tasks)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def has_loops(n_pairs: int) -> bool:
    """Return whether there are compiled loops; where there are none and the pairs are many, it is told once."""
    note = "" if n_pairs < _SLOW_FROM else _absence()
    if note and not _told:
        _told.append(note)
        warnings.warn(note, RuntimeWarning, stacklevel=2)
    return available()


def note_on_loops(n_rows: int) -> str:
    """Return what to tell of missing compiled loops before a run on tables of so many rows; empty if nothing."""
    note = "" if n_rows**2 < _SLOW_FROM else _absence()
    if note:
        _told.append(note)
    return note


_told: list[str] = []


def _absence() -> str:
    why = why_absent()
    return why and f"{ABSENT} from 5,000 rows a table on: {why}."


def side_by_side(work: Callable[[int, int], None], n: int, threads: int, each: int | None = None) -> None:
    """Run work(a, b) in threads, on consecutive parts of range(n); one part runs in the thread of the caller."""
    step = each or max(1, -(-n // (4 * threads)))
    if n <= step:
        if n:
            work(0, n)
        return
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(lambda a: work(a, min(a + step, n)), range(0, n, step)))
