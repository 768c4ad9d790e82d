"""Exact nearest neighbours under the mixed distance: the nearest, the k nearest, all ties, all within a radius.

Equal rows are searched once, with a multiplicity. Small tasks use matrices in numpy. Larger tasks use compiled loops: a
tree of boxes (`_box_tree`) or, where a probe shows that the tree prunes little, a scan in 16 bits (`_brute_force`).
Both only select candidates. The distance of each candidate is computed in float64 from the raw values by the formula of
`gower`, so all searches give distances that are equal to the last bit, and ties are true ties. Threads, block sizes and
the order of rows do not change a result.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from divulge.core.errors import SettingError
from divulge.kernels.neighbours._compiled import CompiledIndex
from divulge.kernels.neighbours._matrices import nearest_by_matrix, within_by_matrix
from divulge.kernels.neighbours._reached import in_parts, listed_up_to, reach_of, too_many
from divulge.kernels.neighbours.distinct import Distinct, Progress
from divulge.kernels.neighbours.gower import Floats, Rows, Ruler
from divulge.kernels.neighbours.nearest import Listed, Nearest, Pairs, Reach
from divulge.kernels.runtime import has_loops

__all__ = ["CREDIT", "Index"]

Ints = NDArray[np.int64]
_FEW = 40_000  # pairs of rows below which a matrix is faster
CREDIT = 2.0**36
"""An attraction is a multiple of 1 / CREDIT."""


class Index:
    """Reference rows, prepared for search.

    Parameters
    ----------
    ruler, reference
        From `fit_ruler`; at least one row. A caller that has the distinct rows (`Distinct`) passes these, here and as
        queries.
    threads
        Number of threads; None takes all cores. The result does not depend on it.
    engine
        "numpy" (matrices), "boxes" (the tree of `_box_tree`) or "tiles" (the scan of `_brute_force`) forces one way of
        searching; None chooses.
    compiled
        The compiled searches in these rows, if there are any.

    Raises
    ------
    SettingError
        The reference has no rows.

    Examples
    --------
    >>> from divulge.kernels.neighbours.gower import Field, fit_ruler
    >>> people, asked = np.array([1.0, 5.0, 5.0, 11.0]), np.array([4.0, 8.0])
    >>> marks = np.zeros(4, np.int32), np.zeros(2, np.int32)
    >>> ruler, (reference, queries) = fit_ruler([Field("x", (people, asked), marks)], ranges_of=[0])
    >>> found = Index(ruler, reference).nearest(queries)
    >>> found.distances.ravel().tolist(), found.rows.ravel().tolist(), found.n_ties.tolist()
    ([0.1, 0.3], [1, 1], [2, 3])
    """

    def __init__(
        self,
        ruler: Ruler,
        reference: Rows | Distinct,
        *,
        threads: int | None = None,
        engine: str | None = None,
        progress: Progress = lambda done, total: None,
        compiled: CompiledIndex | None = None,
    ) -> None:
        if not len(reference):
            raise SettingError("neighbours: the reference table has no rows. hint: pass a table with rows.")
        self.ruler, self.n_rows = ruler, len(reference)
        self._distinct = Distinct.of(reference)
        self._threads, self._engine, self._progress = threads, engine, progress
        self._compiled = compiled
        self._asked: tuple[Rows, Distinct, Nearest] | None = None
        self._ties: tuple[Rows, list[tuple[Ints, Ints]]] | None = None
        self._asking, self._building = threading.Lock(), threading.Lock()

    @property
    def distinct(self) -> Distinct:
        """The distinct reference rows."""
        return self._distinct

    def nearest(self, queries: Rows | Distinct, k: int = 1, *, own: Ints | None = None) -> Nearest:
        """Return the k nearest reference rows of each query; the nearest rows of the last queries are cached.

        Parameters
        ----------
        queries
            Rows on the same ruler.
        k
            At least 1.
        own
            Shape (n_queries,): the row number of the query itself in the reference, which is left out; -1 where
            it is not there.

        Returns
        -------
        Nearest
            Distances are infinite and rows -1 where the reference has fewer than k (other) rows.
        """
        if k < 1:
            raise SettingError(f"k: {k} is below 1. hint: 1 is the nearest alone.")
        if k == 1 and own is None:
            return self._nearest_of(queries)[1]
        asked, own_distinct, back = self._ask(queries, own)
        distance, distinct, beyond = self.nearest_distinct(asked, k, own_distinct)
        return self._spread(distance, distinct, beyond, k, own_distinct, own, back)

    def nearest_up_to(self, queries: Rows, k: int, limits: Floats, own: Ints | None = None) -> tuple[Ints, Nearest]:
        """Return the queries with a row up to their limit, and the k nearest rows of each of these.

        Parameters
        ----------
        queries, k, own
            As for `nearest`.
        limits
            Shape (n_queries,): rows beyond it may be left out. A query whose limit is negative is not asked.
        """
        own_distinct = None if own is None else self._distinct.which(own)
        distance, distinct, beyond = self.nearest_distinct(queries, k, own_distinct, limits)
        some = np.flatnonzero((distinct[:, 0] >= 0) & (distance[:, 0] <= limits))
        if own is not None and own_distinct is not None:
            own, own_distinct = own[some], own_distinct[some]
        return some, self._spread(distance[some], distinct[some], beyond[some], k, own_distinct, own, None)

    def count_within(self, queries: Rows | Distinct, radius: float | Floats, *, own: Ints | None = None) -> Ints:
        """Return how many reference rows lie at most `radius` from each query (one radius, or one each)."""
        limits = np.broadcast_to(np.asarray(radius, dtype=np.float64), (len(queries),))
        asked, own_distinct, back = self._ask(queries, own, limits)
        counts = self._within(asked, limits if back is None else _first_of(back, limits), own_distinct, listing=False)
        return counts[0] if back is None else counts[0][back]

    def within(self, queries: Rows, radius: float | Floats, *, own: Ints | None = None) -> Pairs:
        """Return the reference rows whose distance from each query is at most `radius`."""
        limits = np.broadcast_to(np.asarray(radius, dtype=np.float64), (len(queries),))
        own_distinct = None if own is None else self._distinct.which(own)
        counts, found = self._within(queries, limits, own_distinct, listing=True)
        times = self._distinct.times[found[1]]
        query = np.repeat(found[0], times)
        rows = _members(self._distinct, found[1], times)
        if own is not None:
            keep = rows != own[query]
            query, rows = query[keep], rows[keep]
        order = np.lexsort((rows, query))
        return Pairs(np.append(0, np.cumsum(counts)), rows[order])

    def ties(self, queries: Rows, *, own: Ints | None = None) -> tuple[Nearest, Pairs]:
        """Return the nearest reference row of each query, and all rows at exactly that distance."""
        found = self.nearest(queries, own=own)
        single = Pairs(np.arange(len(queries) + 1), found.rows[:, 0])
        shared = np.flatnonzero(found.n_ties > 1)
        if not len(shared):
            return found, single
        radius = found.distances[shared, 0]
        more = self.within(queries.take(shared), radius, own=None if own is None else own[shared])
        start = np.append(0, np.cumsum(found.n_ties))
        rows = np.empty(int(start[-1]), dtype=np.int64)
        alone = found.n_ties == 1
        rows[start[:-1][alone]] = found.rows[alone, 0]
        rows[np.repeat(~alone, found.n_ties)] = more.rows
        return found, Pairs(start, rows)

    def reach(self, queries: Rows | Distinct, k: int) -> Reach:
        """Return for each distinct query the distances of its k nearest rows, and how many rows are within them.

        Parameters
        ----------
        queries
            Rows on the same ruler. A query that is a reference row is not left out of the reference.
        k
            At least 1; equal reference rows count one by one.

        Examples
        --------
        >>> from divulge.kernels.neighbours.gower import Field, fit_ruler
        >>> people, asked = np.array([1.0, 5.0, 5.0, 11.0]), np.array([4.0, 8.0, 8.0])
        >>> marks = np.zeros(4, np.int32), np.zeros(3, np.int32)
        >>> ruler, (reference, queries) = fit_ruler([Field("x", (people, asked), marks)], ranges_of=[0])
        >>> index = Index(ruler, reference)
        >>> reach = index.reach(queries, 1)
        >>> reach.distances.ravel().tolist(), reach.n_rows.tolist(), reach.queries.of_row.tolist()
        ([0.1, 0.3], [2, 3], [0, 1, 1])
        >>> [(part.start.tolist(), part.rows.tolist()) for part in index.up_to(reach)]
        [([0, 1, 3], [1, 1, 2])]
        """
        if k < 1:
            raise SettingError(f"k: {k} is below 1. hint: 1 is the nearest alone.")
        asked = Distinct.of(queries)
        far, nearest, beyond = self.nearest_distinct(asked.rows, k)
        return reach_of(asked, self._distinct, far, nearest, beyond)

    def up_to(self, reach: Reach, which: Ints | None = None) -> Iterator[Listed]:
        """Yield all distinct reference rows up to and including the k-th distance, in parts that fit into memory.

        Parameters
        ----------
        reach
            From `reach` of this index.
        which
            Distinct queries, ascending; None takes all.
        """
        return listed_up_to(reach, which, self.pairs)

    def pairs(self, queries: Rows, radius: Floats) -> tuple[Ints, Ints]:
        """Return the pairs (query, distinct row) within each query's radius."""
        return self._within(queries, radius, None, listing=True)[1]

    def attraction(
        self, queries: Rows | Distinct, chosen: NDArray[np.bool_] | None = None, closer_than: Floats | None = None
    ) -> Floats:
        """Return how many queries each reference row attracts: the queries whose nearest row it is, ties shared.

        Parameters
        ----------
        queries
            Rows on the same ruler.
        chosen
            Shape (n_queries,): which queries to count; None counts all.
        closer_than
            Shape (n_reference,): a row attracts only queries that are closer to it than this; equal rows must have
            equal values. None sets no limit.

        Returns
        -------
        ndarray
            Shape (n_reference,). The share 1 / n in a tie of n rows is rounded down to a multiple of 2**-36, so that
            sums are exact, do not exceed the number of queries, and do not depend on the order of rows. Ties are
            processed in parts that fit into memory.
        """
        asked, nearest = self._nearest_of(queries)
        found = nearest if asked.of_row is None else nearest.take(asked.first())
        times = asked.times
        if chosen is not None:
            times = np.asarray(chosen, dtype=np.int64)
            if asked.of_row is not None:
                times = np.bincount(asked.of_row, weights=times, minlength=len(asked.times)).astype(np.int64)
        credit = times * (int(CREDIT) // np.maximum(found.n_ties, 1))  # rounded down, so that a tie adds to at most 1
        total = np.zeros(len(self._distinct.times), dtype=np.int64)
        limit = None if closer_than is None else closer_than[self._distinct.first()]
        alone = np.flatnonzero(found.n_ties == 1)
        pairs = [(alone, self._distinct.which(found.rows[alone, 0]))]
        for query, which in chain(pairs, self._ties_of(asked, found)):
            near = slice(None) if limit is None else found.distances[query, 0] < limit[which]
            np.add.at(total, which[near], credit[query[near]])
        return (total if self._distinct.of_row is None else total[self._distinct.of_row]) / CREDIT

    def credited(self, queries: Rows, found: Nearest, credit: Ints, closer_than: Floats | None = None) -> Ints:
        """Return the credit of each reference row: the sum of that of the queries whose nearest distance it has.

        Parameters
        ----------
        queries
            Rows on the same ruler.
        found
            Their nearest rows, and how many tie, in a reference of which this one may be a part.
        credit
            Shape (n_queries,): what each of the tied rows gets.
        closer_than
            As in `attraction`.
        """
        total = np.zeros(len(self._distinct.times), dtype=np.int64)
        limit = None if closer_than is None else closer_than[self._distinct.first()]
        far = found.distances[:, 0]
        for part in in_parts(np.arange(len(queries)), np.minimum(found.n_ties, len(total))):
            query, row = self._within(queries.take(part), far[part], None, listing=True)[1]
            query = part[query]
            near = slice(None) if limit is None else far[query] < limit[row]
            np.add.at(total, row[near], credit[query[near]])
        return total if self._distinct.of_row is None else total[self._distinct.of_row]

    def knows(self, queries: Distinct, nearest: Nearest) -> None:
        """Take the nearest row of each query from another search, as if it had been found here."""
        with self._asking:
            self._asked = queries.whole, queries, nearest

    def _nearest_of(self, queries: Rows | Distinct) -> tuple[Distinct, Nearest]:
        """Return the distinct queries and the nearest row of each; cached."""
        whole = queries.whole if isinstance(queries, Distinct) else queries
        with self._asking:
            known = self._asked
            if known is None or known[0] is not whole:
                asked = Distinct.of(queries)
                far, nearest, beyond = self.nearest_distinct(asked.rows, 1)
                known = self._asked = whole, asked, self._spread(far, nearest, beyond, 1, None, None, asked.of_row)
        return known[1:]

    def _ties_of(self, asked: Distinct, found: Nearest) -> Iterable[tuple[Ints, Ints]]:
        """Return the pairs of the queries with ties; cached if they are not too many."""
        with self._asking:
            known = self._ties
            if known is None or known[0] is not asked.whole:
                if too_many(found.n_ties[found.n_ties > 1].sum()):
                    return self._tied(asked, found)
                known = self._ties = asked.whole, list(self._tied(asked, found))
        return known[1]

    def _tied(self, asked: Distinct, found: Nearest) -> Iterator[tuple[Ints, Ints]]:
        """Yield the pairs (distinct query, distinct row) of queries with several nearest rows, part by part."""
        shared = np.flatnonzero(found.n_ties > 1)
        for part in in_parts(shared, found.n_ties[shared]):
            _, pairs = self._within(asked.rows.take(part), found.distances[part, 0], None, listing=True)
            yield part[pairs[0]], pairs[1]

    # ------------------------------------------------------------ equal queries are searched once

    def _ask(
        self, queries: Rows | Distinct, own: Ints | None, limits: Floats | None = None
    ) -> tuple[Rows, Ints | None, Ints | None]:
        """Return the distinct queries, the reference row that each of them is, and the distinct query of each query."""
        own_distinct = None if own is None else self._distinct.which(own)
        whole = queries.whole if isinstance(queries, Distinct) else queries
        if own is not None or (limits is not None and np.ptp(limits) > 0):
            # a query that is a reference row leaves itself out: only queries that are all reference rows may be merged
            if own is None or limits is not None or self._distinct.of_row is None or (own < 0).any():
                return whole, own_distinct, None
            assert own_distinct is not None
            _, first, back = np.unique(own_distinct, return_index=True, return_inverse=True)
            return whole.take(first), own_distinct[first], back
        distinct = Distinct.of(queries)
        return distinct.rows, None, distinct.of_row

    def _spread(
        self,
        distance: Floats,
        distinct: Ints,
        beyond: Ints,
        k: int,
        own_distinct: Ints | None,
        own: Ints | None,
        back: Ints | None,
    ) -> Nearest:
        """Return the rows that the distinct rows stand for; at equal distances the lowest row numbers come first."""
        times = np.where(distinct >= 0, self._distinct.times[distinct], 0)
        if own_distinct is not None:
            times -= distinct == own_distinct[:, None]
        if back is not None:
            distance, distinct, beyond, times = distance[back], distinct[back], beyond[back], times[back]
        if self._distinct.of_row is None:
            ties = (distance == distance[:, -1:]).sum(axis=1) + beyond
            return Nearest(distance, distinct, np.where(np.isfinite(distance[:, -1]), ties, 0))
        n = len(distance)
        reached = np.minimum(times.cumsum(axis=1), k)
        last = np.argmax(reached >= np.minimum(k, reached[:, -1:]), axis=1)
        at_last = distance[np.arange(n), last]
        ties = (times * (distance == at_last[:, None])).sum(axis=1) + np.where(at_last == distance[:, -1], beyond, 0)
        # one row more than needed of each distinct row: the query itself may be among them
        taken = np.minimum(self._distinct.times[distinct], k + 1)
        taken[distinct < 0] = 0
        query, slot = np.nonzero(taken)
        each = taken[query, slot]
        rows = _members(self._distinct, distinct[query, slot], each)
        query, far = np.repeat(query, each), np.repeat(distance[query, slot], each)
        if own is not None:
            keep = rows != own[query]
            query, far, rows = query[keep], far[keep], rows[keep]
        order = np.lexsort((rows, far, query))
        query, far, rows = query[order], far[order], rows[order]
        place = np.arange(len(query)) - np.searchsorted(query, np.arange(n))[query]
        keep = place < k
        out, numbers = np.full((n, k), np.inf), np.full((n, k), -1, dtype=np.int64)
        out[query[keep], place[keep]], numbers[query[keep], place[keep]] = far[keep], rows[keep]
        return Nearest(out, numbers, np.where(np.isfinite(out[:, -1]), ties, 0))

    # ------------------------------------------------------------ three ways to search distinct rows

    def nearest_distinct(
        self, queries: Rows, k: int, own: Ints | None = None, limits: Floats | None = None
    ) -> tuple[Floats, Ints, Ints]:
        """Return the k nearest distinct rows of each query, and how many rows beyond them tie with the last.

        Distances are infinite and rows -1 where there are fewer; `own` is the distinct row that a query itself is. Rows
        beyond a query's limit may be left out.
        """
        engine = self._choose(len(queries))
        if engine == "numpy":
            return nearest_by_matrix(self.ruler, queries, self._distinct, k, own)
        return self._compiled_index(engine).nearest(queries, k, own, limits)

    def _within(
        self, queries: Rows, radius: Floats, own: Ints | None, *, listing: bool
    ) -> tuple[Ints, tuple[Ints, Ints]]:
        """Return the rows within each query's radius: their number, and (query, distinct row) pairs if wanted."""
        engine = self._choose(len(queries))
        if engine == "numpy":
            return within_by_matrix(self.ruler, queries, self._distinct, radius, own, listing)
        return self._compiled_index(engine).within(queries, radius, own, listing)

    def _choose(self, n_queries: int) -> str:
        if self._engine is not None and n_queries:
            return self._engine
        n_pairs = n_queries * len(self._distinct.times)
        return "compiled" if n_pairs >= _FEW and has_loops(n_pairs) else "numpy"

    def _compiled_index(self, engine: str) -> CompiledIndex:
        with self._building:
            if self._compiled is None:
                self._compiled = CompiledIndex(self.ruler, self._distinct, engine, self._threads, self._progress)
            return self._compiled


def _first_of(back: Ints, values: Floats) -> Floats:
    out = np.empty(int(back.max(initial=-1)) + 1)
    out[back] = values
    return out


def _members(distinct: Distinct, which: Ints, taken: Ints) -> Ints:
    """Return the given number of rows of each distinct row, the first ones."""
    if distinct.of_row is None:
        return which
    place = np.arange(int(taken.sum())) - np.repeat(np.cumsum(taken) - taken, taken)
    return np.asarray(distinct.members[np.repeat(distinct.start[which], taken) + place])
