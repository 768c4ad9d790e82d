"""Makes tasks in several threads. What they post is done in the thread of the caller, who may end all by stopping."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from math import inf
from queue import Empty, SimpleQueue
from typing import TypeVar

__all__ = ["Posts", "as_they_end"]

_T = TypeVar("_T")
_HEED = 0.5  # seconds between two looks for an interrupt, where it does not end a wait


class Posts:
    """What threads want done in the thread of the caller, in the order in which they said so."""

    def __init__(self) -> None:
        self._waiting: SimpleQueue[Callable[[], None]] = SimpleQueue()

    def put(self, function: Callable[[], None]) -> None:
        """Have a function called in the thread of the caller."""
        self._waiting.put(function)

    def next(self) -> None:
        """Do the next, once there is one."""
        while True:
            try:
                function = self._waiting.get(timeout=_HEED)
            except Empty:
                continue
            return function()


def as_they_end(
    make: Callable[[int], _T],
    tasks: Sequence[int],
    threads: int,
    posts: Posts,
    *,
    size: Callable[[int], float] = lambda task: 0.0,
    room: float = inf,
    in_order: bool = False,
) -> Iterator[tuple[int, _T]]:
    """Yield each task and what was made of it, as they end. In one thread, the caller's, they end in their order.

    Parameters
    ----------
    make
        Makes a task; what it raises is raised here.
    tasks
        They begin in this order.
    threads
        Tasks that are made at a time, at most.
    posts
        Where `make` posts what is to be done in the caller's thread.
    size, room
        The memory that a task takes, and how much tasks may take together: one that does not fit waits until it does,
        or no other is made. Those that wait are overtaken.
    in_order
        Whether none is overtaken.

    Examples
    --------
    >>> sorted(as_they_end(lambda i: i * i, range(4), 2, Posts()))
    [(0, 0), (1, 1), (2, 4), (3, 9)]
    """
    if threads < 2 or len(tasks) < 2:
        for task in tasks:
            yield task, make(task)
        return
    line = _Line({task: size(task) for task in tasks}, room, in_order)
    ended: list[tuple[int, _T]] = []

    def work() -> None:
        while (task := line.take()) is not None:
            try:
                found = make(task)
            except BaseException as error:
                posts.put(_raising(error))
                return
            finally:
                line.end(task)
            posts.put(lambda made=(task, found): ended.append(made))  # type: ignore[misc] # the default has the type

    pool = ThreadPoolExecutor(threads)
    try:
        for _ in range(threads):
            pool.submit(work)
        for _ in tasks:
            while not ended:
                posts.next()
            yield ended.pop()
    finally:
        line.stop()
        pool.shutdown(wait=False, cancel_futures=True)


def _raising(error: BaseException) -> Callable[[], None]:
    def fail() -> None:
        raise error

    return fail


class _Line:
    """Tasks that wait for a thread."""

    def __init__(self, sizes: Mapping[int, float], room: float, in_order: bool) -> None:
        self._waiting, self._sizes, self._room, self._in_order = list(sizes), sizes, room, in_order
        self._running, self._stopped = set[int](), False
        self._changed = threading.Condition()

    def take(self) -> int | None:
        """Return the next task, once one may begin; None where none is left."""
        with self._changed:
            while self._waiting and not self._stopped:
                first = self._waiting[:1] if self._in_order else self._waiting
                left = self._room - sum(self._sizes[t] for t in self._running)
                task = next((t for t in first if not self._running or self._sizes[t] <= left), None)
                if task is not None:
                    self._waiting.remove(task)
                    self._running.add(task)
                    return task
                self._changed.wait()
            return None

    def end(self, task: int) -> None:
        """Say that a task is done."""
        with self._changed:
            self._running.discard(task)
            self._changed.notify_all()

    def stop(self) -> None:
        """Let no further task begin."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()
