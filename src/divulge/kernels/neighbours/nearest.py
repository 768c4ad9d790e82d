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

    def first(self, k: int) -> Nearest:
        """Return what a search for fewer rows finds.

        Examples
        --------
        >>> two = Nearest(np.array([[0.1, 0.3], [0.2, 0.2]]), np.array([[4, 0], [1, 3]]), np.array([5, 2]))
        >>> one = two.first(1)
        >>> one.rows.ravel().tolist(), one.n_ties.tolist()
        ([4, 1], [1, 2])
        """
        if k >= self.distances.shape[1]:
            return self
        distances, last = self.distances, self.distances[:, k - 1 : k]
        # all rows nearer than the last are listed
        ties = np.where(distances[:, -1] == last[:, 0], self.n_ties, (distances == last).sum(axis=1))
        return Nearest(distances[:, :k], self.rows[:, :k], ties)

    def beside(self, other: Nearest, n_rows: int) -> Nearest:
        """Return the nearest rows of two references together; those of the other one are numbered from `n_rows` on.

        Examples
        --------
        >>> one = Nearest(np.array([[0.1], [0.2]]), np.array([[4], [1]]), np.array([2, 1]))
        >>> other = Nearest(np.array([[0.1], [0.1]]), np.array([[0], [7]]), np.array([3, 1]))
        >>> both = one.beside(other, 10)
        >>> both.rows.ravel().tolist(), both.n_ties.tolist()
        ([4, 17], [5, 1])
        """
        sides, k = (self, other), self.distances.shape[1]
        moved = np.where(other.rows < 0, -1, other.rows + n_rows)
        distances, rows = np.hstack([self.distances, other.distances]), np.hstack([self.rows, moved])
        order = np.argsort(distances, axis=1, kind="stable")[:, :k]
        nearest = np.take_along_axis(distances, order, axis=1)
        last = nearest[:, -1:]
        ties = sum(
            np.where(s.distances[:, -1] == last[:, 0], s.n_ties, (s.distances == last).sum(axis=1)) for s in sides
        )
        return Nearest(nearest, np.take_along_axis(rows, order, axis=1), np.where(np.isfinite(last[:, 0]), ties, 0))


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
