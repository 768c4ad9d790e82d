"""Room B: nearest keys under the Hamming distance, every tie counted.

A query whose key does not occur is answered by all reference keys that differ from it in the fewest columns. At
level h, drop h of the columns and group by the rest: a key at distance exactly h agrees with the query in exactly
one such group, so summing the groups over all choices of h columns adds up the votes of all ties without listing
them.

The codes of a key are packed into 64-bit words, a few bits a column, so that dropping columns is a mask. One choice
of columns is then a hash table of the smaller side, a look-up of the other, and a walk over the groups that both
sides have; memory and time are linear in keys and cells, whatever the number of targets or ties. Where choices are
many and few queries are left, these are compared with all references pair by pair.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.counts import Ints
from divulge.kernels import COMPILE_FROM, compiled, in_threads

__all__ = ["Keys", "NearestVotes", "nearest_votes"]

Words = NDArray[np.uint64]

_PAIR_COST = 0.06e-9  # seconds a pair and column
_GROUP_COST = 15e-9  # seconds a row and choice of columns
_WORKER_BYTES = 2**30  # for what all threads together hold while they group
_ENTRIES = 2**24  # votes that a thread lists at a time


@dataclass(frozen=True, slots=True, eq=False)
class Keys:
    """Distinct keys, and the targets that occur with each: cells in one long list, key by key."""

    codes: NDArray[np.int32]
    """Shape (n_keys, n_columns)."""
    start: Ints
    """Shape (n_keys + 1,): key i has the cells start[i] to start[i + 1] - 1."""
    target: Ints
    """Shape (n_cells,): target of each cell, no target twice within a key."""
    count: Ints
    """Shape (n_cells,): records of each cell, at least 1."""

    def __len__(self) -> int:
        return len(self.codes)

    def take(self, keys: Ints) -> tuple[Keys, Ints]:
        """Return some of the keys, and the cells that they have."""
        sizes = self.start[keys + 1] - self.start[keys]
        start = np.append(0, np.cumsum(sizes))
        cells = np.arange(int(start[-1])) + np.repeat(self.start[keys] - start[:-1], sizes)
        return Keys(self.codes[keys], start, self.target[cells], self.count[cells]), cells


@dataclass(frozen=True, slots=True, eq=False)
class NearestVotes:
    """What the nearest references of each query say of its targets."""

    distance: Ints
    """Shape (n_queries,): columns in which the nearest references differ."""
    total: Ints
    """Shape (n_queries,): records of all nearest references."""
    of_cell: Ints
    """Shape (n_query_cells,): those of them that have the target of the cell."""
    largest: Ints
    """Shape (n_queries,): those that have their commonest target; 0 unless asked for."""
    n_largest: Ints
    """Shape (n_queries,): targets that are the commonest."""

    @staticmethod
    def empty(n_queries: int, n_cells: int) -> NearestVotes:
        """Return zeros to be filled."""
        distance, total, largest, n_largest = np.zeros((4, n_queries), dtype=np.int64)
        return NearestVotes(distance, total, np.zeros(n_cells, dtype=np.int64), largest, n_largest)

    def put(self, queries: Ints, cells: Ints, part: NearestVotes) -> None:
        """Fill in the answers to some of the queries."""
        for name in ("distance", "total", "largest", "n_largest"):
            getattr(self, name)[queries] = getattr(part, name)
        self.of_cell[cells] = part.of_cell


def nearest_votes(queries: Keys, references: Keys, n_targets: int, *, modal: bool = False) -> NearestVotes:
    """Return the votes of all references at the smallest Hamming distance of each query.

    Parameters
    ----------
    queries
        Keys that ask, and the targets they ask about; `count` is not used.
    references
        Keys that answer, at least one, of the same columns; each record has one vote.
    n_targets
        Targets are 0 to n_targets - 1.
    modal
        Also find the commonest target among the votes, which takes longer.

    Returns
    -------
    NearestVotes
        Whole numbers: threads and the order of keys change no digit.

    Examples
    --------
    >>> references = Keys(np.array([[0, 1], [0, 2], [3, 3]], np.int32), np.array([0, 1, 2, 4]),
    ...                   np.array([0, 1, 0, 1]), np.array([2, 1, 5, 5]))
    >>> queries = Keys(np.array([[0, 9]], np.int32), np.array([0, 2]), np.array([0, 1]), np.array([1, 1]))
    >>> near = nearest_votes(queries, references, 2, modal=True)
    >>> near.distance.tolist(), near.total.tolist(), near.of_cell.tolist(), near.largest.tolist()
    ([1], [3], [2, 1], [2])
    """
    n, n_columns = queries.codes.shape
    if n * len(references) < COMPILE_FROM:
        return pairwise_numpy(queries, references)
    out = NearestVotes.empty(n, len(queries.target))
    all_words, reference_words, fields = _pack(queries.codes, references.codes)
    open_, cells, asked = np.arange(n), np.arange(len(queries.target)), queries
    for level in range(n_columns + 1):
        if not len(open_):
            break
        if _group_seconds(len(open_), len(references), n_columns, level) > len(open_) * len(references) * n_columns * _PAIR_COST:
            out.put(open_, cells, _pairwise(asked, references, n_targets))
            break
        masks = np.array([_mask(fields, kept) for kept in combinations(range(n_columns), n_columns - level)])
        found = _Level(asked, all_words[open_], references, reference_words, masks, n_targets)
        hit = found.total > 0
        settled, its_cells = asked.take(np.flatnonzero(hit))
        out.put(open_[hit], cells[its_cells], found.votes(hit, its_cells, level, modal))
        asked, rest = asked.take(np.flatnonzero(~hit))
        open_, cells = open_[~hit], cells[rest]
    return out
