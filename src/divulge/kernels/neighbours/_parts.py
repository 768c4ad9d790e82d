"""Queries in parts, which threads work on; an interrupt ends them."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from itertools import islice
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from divulge.kernels.neighbours.distinct import Progress

__all__ = ["in_parts"]

_T = TypeVar("_T")


def in_parts(
    work: Callable[[int, int], _T], n: int, step: int, threads: int, progress: Progress, stop: NDArray[np.int32]
) -> list[_T]:
    """Return work(a, b) of all parts of range(n) of a given length, in the order in which they end.

    An interrupt cancels the parts that wait, and sets `stop` (shape (1,)), by which the running parts end.
    """

    def part(a: int) -> tuple[int, _T]:
        b = min(a + step, n)
        return b - a, work(a, b)

    starts, out, done = iter(range(0, n, step)), [], 0
    with ThreadPoolExecutor(max(1, min(threads, -(-n // step)))) as pool:
        try:
            # a few parts are queued for each thread, so that no thread is idle
            waiting = {pool.submit(part, a) for a in islice(starts, 4 * threads)}
            while waiting:
                finished, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                for future in finished:
                    n_done, found = future.result()
                    done += n_done
                    out.append(found)
                waiting |= {pool.submit(part, a) for a in islice(starts, len(finished))}
                progress(done, n)
        except BaseException:
            stop[0] = 1
            pool.shutdown(wait=True, cancel_futures=True)
            raise
    return out
