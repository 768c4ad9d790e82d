"""Nearest keys under the Hamming distance by matrices, by groups in numpy, and by a loop over all pairs."""

from __future__ import annotations

import os
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.kernels.counts.contingency import Ints, combine
from divulge.kernels.runtime import side_by_side

__all__ = ["Keys", "NearestVotes", "nearest_distance"]

_SEARCHED_CELLS = 4_000_000  # the same for distances alone
_DENSE = 2**20  # groups times targets up to which they are counted without sorting
_LEAST = 2**27  # codes that are not worth a thread: about 8 ms
_COMPARED = 2**31  # codes that a thread compares in one call, which an interrupt waits for: about 0.2 s


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
        first = self.start[keys]
        start = np.append(0, np.cumsum(self.start[keys + 1] - first))
        cells = np.arange(int(start[-1])) + np.repeat(first - start[:-1], np.diff(start))
        return Keys(self.codes[keys], start, self.target[cells], self.count[cells]), cells


@dataclass(frozen=True, slots=True, eq=False)
class NearestVotes:
    """The votes of the nearest references of each query for its targets."""

    distance: Ints
    """Shape (n_queries,): number of columns in which the nearest references differ from the query."""
    total: Ints
    """Shape (n_queries,): records of all nearest references."""
    of_cell: Ints
    """Shape (n_query_cells,): how many of them have the target of the cell."""
    largest: Ints
    """Shape (n_queries,): how many of them have their commonest target; undefined unless requested."""
    n_largest: Ints
    """Shape (n_queries,): how many targets are the commonest; undefined unless requested."""

    @staticmethod
    def empty(n_queries: int, n_cells: int) -> NearestVotes:
        """Return zeros, to be filled."""
        distance, total, largest, n_largest = np.zeros((4, n_queries), dtype=np.int64)
        return NearestVotes(distance, total, np.zeros(n_cells, dtype=np.int64), largest, n_largest)

    def put(self, queries: Ints, cells: Ints, part: NearestVotes) -> None:
        """Fill in the answers of some queries."""
        for name in ("distance", "total", "largest", "n_largest"):
            getattr(self, name)[queries] = getattr(part, name)
        self.of_cell[cells] = part.of_cell


def by_matrix(queries: Keys, references: Keys) -> NearestVotes:
    """Return the result of `nearest_votes`, computed by matrices of all pairs in numpy: the definition."""
    n, n_columns = queries.codes.shape
    out = NearestVotes.empty(n, len(queries.target))
    targets, of_vote = np.unique(references.target, return_inverse=True)
    place = np.minimum(np.searchsorted(targets, queries.target), len(targets) - 1)
    known = targets[place] == queries.target
    n_cells = np.diff(references.start)
    columns = np.ascontiguousarray(references.codes.T)
    dtype = np.uint8 if n_columns < 256 else np.int64
    step = max(1, 2_000_000 // len(references.target))
    for first in range(0, n, step):
        rows = slice(first, min(first + step, n))
        shape = rows.stop - first, len(targets)
        mismatches = np.zeros((shape[0], len(references)), dtype=dtype)
        for asked, column in zip(queries.codes[rows].T, columns, strict=True):
            mismatches += (asked[:, None] != column).view(np.uint8)
        out.distance[rows] = mismatches.min(axis=1)
        query, tie = np.nonzero(mismatches == out.distance[rows, None])
        ends = np.cumsum(n_cells[tie])
        cells = np.arange(int(ends[-1])) + np.repeat(references.start[tie + 1] - ends, n_cells[tie])
        at = np.repeat(query, n_cells[tie]) * len(targets) + of_vote[cells]
        # float64 sums of whole numbers are exact up to 2**53
        votes = np.bincount(at, weights=references.count[cells], minlength=shape[0] * shape[1])
        votes = votes.astype(np.int64).reshape(shape)
        out.total[rows] = votes.sum(axis=1)
        out.largest[rows] = votes.max(axis=1)
        out.n_largest[rows] = (votes == out.largest[rows, None]).sum(axis=1)
        asking = slice(int(queries.start[first]), int(queries.start[rows.stop]))
        key = np.repeat(np.arange(shape[0]), np.diff(queries.start[first : rows.stop + 1]))
        out.of_cell[asking] = votes[key, place[asking]] * known[asking]
    return out


def by_groups(queries: Keys, references: Keys, distance: int, n_targets: int) -> NearestVotes:
    """Return the votes of all references at a distance of queries that have none nearer, by grouping in numpy.

    A key at this distance agrees with the query in exactly one choice of kept columns. A total of 0 where there is
    none; the commonest target is not looked for.
    """
    n, n_columns = queries.codes.shape
    out = NearestVotes.empty(n, len(queries.target))
    out.distance[:] = distance
    records = np.add.reduceat(references.count, references.start[:-1])
    query_of = np.repeat(np.arange(n), np.diff(queries.start))
    reference_of = np.repeat(np.arange(len(references)), np.diff(references.start))
    stacked = np.concatenate([queries.codes, references.codes])
    sizes = (stacked.max(axis=0) + 1).tolist()
    for kept in combinations(range(n_columns), n_columns - distance):
        group, n_groups = _groups(stacked, sizes, kept)
        asked, held = group[:n], group[n:]
        out.total[:] += np.bincount(held, weights=records, minlength=n_groups)[asked].astype(np.int64)
        cell = held[reference_of] * n_targets + references.target
        wanted = asked[query_of] * n_targets + queries.target
        if n_groups * n_targets > _DENSE:
            distinct, cell = np.unique(cell, return_inverse=True)
            place = np.minimum(np.searchsorted(distinct, wanted), len(distinct) - 1)
            there, wanted = distinct[place] == wanted, place
            votes = np.bincount(cell, weights=references.count)[wanted] * there
        else:
            votes = np.bincount(cell, weights=references.count, minlength=n_groups * n_targets)[wanted]
        out.of_cell[:] += votes.astype(np.int64)
    return out


def nearest_distance(queries: NDArray[np.int32], references: NDArray[np.int32]) -> Ints | None:
    """Return the number of columns in which the nearest reference differs from each query, by grouping in numpy.

    Parameters
    ----------
    queries, references
        Codes, shapes (n_queries, n_columns) and (n_references, n_columns), from 0 on; at least one reference.

    Returns
    -------
    ndarray or None
        Shape (n_queries,). None where there would be too many groups: many columns, and queries far from everything.

    Examples
    --------
    >>> people = np.array([[0, 1, 2], [0, 2, 2]], np.int32)
    >>> nearest_distance(np.array([[0, 1, 2], [0, 1, 5], [3, 3, 3]], np.int32), people).tolist()
    [0, 1, 3]
    """
    n_columns = queries.shape[1]
    out, rest, left = np.zeros(len(queries), dtype=np.int64), np.arange(len(queries)), _SEARCHED_CELLS
    sizes = (np.maximum(queries.max(axis=0, initial=0), references.max(axis=0)) + 1).tolist()
    for distance in range(n_columns):
        left -= comb(n_columns, distance) * (len(rest) + len(references))
        if left < 0:
            return None
        for kept in combinations(range(n_columns), n_columns - distance):
            group, n_groups = _groups(np.concatenate([queries[rest], references]), sizes, kept)
            there = np.zeros(n_groups, dtype=bool)
            there[group[len(rest) :]] = True
            found = there[group[: len(rest)]]
            out[rest[found]] = distance
            rest = rest[~found]
            if not len(rest):
                return out
    out[rest] = n_columns
    return out


def _groups(codes: NDArray[np.int32], sizes: list[int], kept: tuple[int, ...]) -> tuple[Ints, int]:
    """Return a number for each row, the same for rows that agree in the kept columns, and the limit of the numbers."""
    if not kept:
        return np.zeros(len(codes), dtype=np.int64), 1
    ids, capacity = combine([codes[:, j] for j in kept], [sizes[j] for j in kept])
    if capacity > _DENSE:
        distinct, ids = np.unique(ids, return_inverse=True)
        capacity = len(distinct)
    return ids.astype(np.int64), capacity


def by_pairs(queries: Keys, references: Keys, n_targets: int) -> NearestVotes:
    """Return the result of `nearest_votes`, computed by a compiled loop over all pairs."""
    from divulge.kernels.counts._hamming_votes import pairs

    n, n_columns = queries.codes.shape
    out = NearestVotes.empty(n, len(queries.target))
    dtype = _narrowest(max(n_columns, int(queries.codes.max(initial=0)), int(references.codes.max(initial=0))))
    columns = np.ascontiguousarray(references.codes.T.astype(dtype))
    codes = np.ascontiguousarray(queries.codes.astype(dtype))

    def work(a: int, b: int) -> None:
        pairs(
            codes[a:b], columns, query_start=queries.start[a : b + 1], query_target=queries.target,
            start=references.start, target=references.target, count=references.count, n_targets=n_targets,
            distance=out.distance[a:b], total=out.total[a:b], largest=out.largest[a:b], n_largest=out.n_largest[a:b],
            of_cell=out.of_cell,
        )  # fmt: skip

    threads = os.cpu_count() or 1
    step = min(max(-(-n // (8 * threads)), _LEAST // columns.size), max(1, _COMPARED // columns.size))
    side_by_side(work, n, threads, each=step)
    return out


def _narrowest(largest: int) -> type[np.integer[Any]]:
    if largest < 2**8:
        return np.uint8
    return np.uint16 if largest < 2**16 else np.int32
