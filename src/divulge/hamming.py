"""Room B: nearest keys under the Hamming distance, every tie counted.

A query whose key does not occur is answered by all reference keys that differ from it in the fewest columns. At
level h, drop h of the columns and group by the rest: a key at distance exactly h agrees with the query in exactly
one such group, so summing the groups over all choices of h columns adds up the votes of all ties without listing
them. That costs one group-by for each choice; where there are too many choices, the rest is compared pair by pair.
"""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from divulge.counts import Ints, combine
from divulge.kernels import hamming_votes

__all__ = ["nearest_votes"]

_PAIR_COST = 0.06e-9  # seconds a pair and column, compiled
_GROUP_COST = 50e-9  # seconds a row and group-by, and for each target
_VOTE_COST = 12e-9


def nearest_votes(
    queries: NDArray[np.int32],
    references: NDArray[np.int32],
    votes: Ints,
) -> tuple[Ints, Ints]:
    """Return the votes of all references at the smallest Hamming distance of each query, and that distance.

    Parameters
    ----------
    queries
        Distinct keys as codes, shape (n, n_columns).
    references
        Distinct keys as codes, shape (m, n_columns), m at least 1.
    votes
        Shape (m, n_targets): synthetic records of each reference key by target.

    Returns
    -------
    votes, distance
        Shapes (n, n_targets) and (n,), int64.

    Examples
    --------
    >>> near, distance = nearest_votes(np.array([[0, 9]], np.int32), np.array([[0, 1], [0, 2], [3, 3]], np.int32),
    ...                                np.array([[2, 0], [0, 1], [5, 5]]))
    >>> near.tolist(), distance.tolist()
    ([[2, 1]], [1])
    """
    n, n_columns = queries.shape
    out = np.zeros((n, votes.shape[1]), dtype=np.int64)
    distance = np.full(n, -1, dtype=np.int64)
    open_ = np.arange(n)
    for level in range(n_columns + 1):
        if not len(open_):
            break
        choices = comb(n_columns, level)
        group_time = choices * (len(open_) + len(references)) * (_GROUP_COST + votes.shape[1] * _VOTE_COST)
        if group_time > len(open_) * len(references) * n_columns * _PAIR_COST and level > 0:
            out[open_], distance[open_] = hamming_votes(queries[open_], references, votes)
            return out, distance
        found = np.zeros((len(open_), votes.shape[1]), dtype=np.int64)
        for kept in combinations(range(n_columns), n_columns - level):
            found += _votes_of_equal(queries[open_][:, kept], references[:, kept], votes)
        hit = found.any(axis=1)
        out[open_[hit]], distance[open_[hit]] = found[hit], level
        open_ = open_[~hit]
    return out, distance


def _votes_of_equal(queries: NDArray[np.int32], references: NDArray[np.int32], votes: Ints) -> Ints:
    """Return the summed votes of the references that equal each query in all columns, shape (n, n_targets)."""
    if queries.shape[1] == 0:
        return np.broadcast_to(votes.sum(axis=0), (len(queries), votes.shape[1])).copy()
    stacked = np.concatenate([references, queries])
    sizes = [int(x) + 1 for x in stacked.max(axis=0)]
    ids, _ = combine([stacked[:, j] for j in range(stacked.shape[1])], sizes)
    of_reference, of_query = ids[: len(references)], ids[len(references) :]
    order = np.argsort(of_reference, kind="stable")
    ordered = of_reference[order]
    start = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    group_ids = ordered[start]
    place = np.minimum(np.searchsorted(group_ids, of_query), len(group_ids) - 1)
    equal = np.flatnonzero(group_ids[place] == of_query)
    out = np.zeros((len(queries), votes.shape[1]), dtype=np.int64)
    if len(equal):  # not so at level 0, when all queries are keys that do not occur
        out[equal] = np.add.reduceat(votes[order], start, axis=0)[place[equal]]
    return out
