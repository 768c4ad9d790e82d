"""The results of neighbour searches."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from divulge.kernels.neighbours.distinct import Distinct
from divulge.kernels.neighbours.gower import Floats

__all__ = ["Listed", "Nearest", "Pairs", "Reach"]

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Nearest:
    """The k nearest reference rows of each query, by distance and then by row number."""

    distances: Floats
    """Shape (n_queries, k), ascending; infinite where the reference has fewer rows."""
    rows: Ints
    """Shape (n_queries, k): row numbers in the reference; -1 where there are fewer."""
    n_ties: Ints
    """Shape (n_queries,): reference rows exactly at the last of the k distances."""

    def take(self, queries: Ints) -> Nearest:
        """Return the result for some of the queries."""
        return Nearest(self.distances[queries], self.rows[queries], self.n_ties[queries])


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """Reference rows of each query, in one long list."""

    start: Ints
    """Shape (n_queries + 1,): query i has rows[start[i] : start[i + 1]]."""
    rows: Ints
    """Row numbers in the reference, ascending within a query."""

    @property
    def counts(self) -> Ints:
        """Shape (n_queries,): how many rows each query has."""
        return np.diff(self.start)


@dataclass(frozen=True, slots=True, eq=False)
class Reach:
    """Distances of the k nearest reference rows of each distinct query; equal reference rows count one by one.

    Query u stands for the rows of `queries` whose `of_row` is u. `Index.up_to` lists the reference rows.
    """

    queries: Distinct
    """The distinct queries."""
    reference: Distinct
    """The distinct reference rows; lists use their numbers, and each stands for `times` rows."""
    distances: Floats
    """Shape (n_distinct_queries, k), ascending: the distance of the j-th nearest row; infinite where there is none."""
    n_rows: Ints
    """Shape (n_distinct_queries,): rows up to and including the k-th distance; all where there are fewer than k."""
    nearest: Ints
    """Shape (n_distinct_queries, k): the nearest distinct rows up to the k-th distance, by distance and then by number,
    -1 where there are fewer than k."""
    far: Floats
    """Shape (n_distinct_queries, k): the distances of `nearest`; infinite where there is none."""
    is_whole: NDArray[np.bool_]
    """Shape (n_distinct_queries,): `nearest` names all distinct rows up to the k-th distance."""


@dataclass(frozen=True, slots=True, eq=False)
class Listed:
    """Distinct reference rows of some distinct queries, up to and including the k-th distance, in one long list."""

    queries: Ints
    """Shape (n,): distinct queries, ascending."""
    start: Ints
    """Shape (n + 1,): query queries[i] has rows[start[i] : start[i + 1]]."""
    rows: Ints
    """Distinct reference rows, by distance and then by number within a query."""
    distances: Floats
    """Their distances."""
