"""The nearest rows that were found for one pair of tables, by how many were asked for."""

from __future__ import annotations

import threading
from collections.abc import Callable

import numpy as np

from divulge.kernels.neighbours.nearest import Nearest

__all__ = ["Searches"]


class Searches:
    """Searches of one reference for all rows of one table; a search for more rows answers one for fewer.

    Whoever asks first searches, and other threads wait for it.
    """

    def __init__(self) -> None:
        self._found: dict[int, Nearest | None] = {}  # None is announced and not made
        self._lock = threading.RLock()

    def expect(self, k: int) -> None:
        """Announce a search for k rows: a search for fewer that comes before it finds all of them."""
        with self._lock:
            self._found.setdefault(k, None)

    def first(self, k: int, search: Callable[[int], Nearest]) -> Nearest:
        """Return the k nearest rows, of a search for at least as many."""
        with self._lock:
            enough = min((n for n in self._found if n >= k), default=k)
            nearest = self._found.get(enough)
            if nearest is None:
                nearest = self._found[enough] = search(enough)
        return nearest.first(k)

    def sizes(self) -> set[int]:
        """Return for how many rows searches were made or announced."""
        with self._lock:
            return set(self._found)

    def keep(self, k: int) -> None:
        """Forget all but the k nearest rows of what was found: who asks for more rows has them searched again."""
        with self._lock:
            longest = self.most()
            if longest is None or longest.distances.shape[1] <= k:
                return
            self._found = {n: found for n, found in self._found.items() if found is None or n <= k}
            self._found[k] = longest.first(k).take(np.arange(len(longest.n_ties)))  # not a view of the longer lists

    def most(self) -> Nearest | None:
        """Return the search for most rows that was made; None where there is none."""
        with self._lock:
            return max((f for f in self._found.items() if f[1] is not None), default=(0, None))[1]
