"""Prediction of a column from nearest rows: the answer of the nearest row, and the vote of the k nearest rows.

Ties are treated alike. If several rows are nearest, each gives the answer with equal probability. All rows up to the
k-th distance vote. Two values agree if they are within reach of each other: a category reaches itself, a number reaches
the numbers within a tolerance. The answer with the most votes within its reach wins; of several such answers each is
taken with equal probability. Nothing is drawn at random: a score is the probability of being right.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from divulge.kernels.neighbours.distinct import Distinct
from divulge.kernels.neighbours.gower import Floats, Rows
from divulge.kernels.neighbours.index import Index
from divulge.kernels.neighbours.nearest import Listed, Reach
from divulge.kernels.places import places

__all__ = ["Answered", "Values", "answers", "of_a_copy"]

Ints = NDArray[np.int64]
Places = NDArray[np.int32] | Ints


@dataclass(frozen=True, slots=True, eq=False)
class Values:
    """The values of a column as places in an order such that the values that reach a value are contiguous."""

    first: Ints
    """Shape (n_places,): the value at place p reaches the values at first[p] to last[p] - 1, and they reach it."""
    last: Ints
    """Shape (n_places,)."""
    reference: Places
    """Shape (n_reference,): place of each reference row's value."""
    truth: Places
    """Shape (n_queries,): place of each query's own value."""
    times: Ints | None = None
    """Shape (n_reference,): how many rows each reference row stands for; None is one."""


@dataclass(frozen=True, slots=True, eq=False)
class Answered:
    """The probability that the answers about each query are right, and the confidence given only the reference."""

    nearest: Floats
    """Shape (n_queries,): share of the nearest rows whose value reaches the query's value."""
    distance: Floats
    """Shape (n_queries,): distance of the nearest rows."""
    vote: Floats
    """Shape (n_queries,): probability that the answer with most votes of the k nearest reaches the query's value."""
    share: Floats
    """Shape (n_queries,): share of the votes that this answer has."""


class _Tally(NamedTuple):
    """Votes for each query and place, ordered by query and then by place."""

    key: Ints
    """Query times the number of places, plus place."""
    before: Ints
    """Shape (n + 1,): votes before each entry."""

    def between(self, low: Ints, high: Ints) -> Ints:
        """Return the votes with low <= key < high."""
        return self.before[np.searchsorted(self.key, high)] - self.before[np.searchsorted(self.key, low)]


def answers(index: Index, queries: Rows | Distinct, values: Values, k: int) -> Answered:
    """Return the answers of the nearest row and of the k nearest rows about each query.

    Parameters
    ----------
    index
        The reference rows, without the column to predict.
    queries
        Rows on the same ruler.
    values
        The column to predict.
    k
        At least 1; with fewer reference rows all of them vote.

    Examples
    --------
    >>> from divulge.kernels.neighbours.gower import Field, fit_ruler
    >>> marks = np.zeros(3, np.int32), np.zeros(1, np.int32)
    >>> field = Field("age", (np.array([20.0, 21.0, 60.0]), np.array([20.4])), marks)
    >>> ruler, (reference, queries) = fit_ruler([field], ranges_of=[0])
    >>> place = np.arange(2)  # two jobs, each of which reaches itself
    >>> found = answers(Index(ruler, reference), queries, Values(place, place + 1, np.array([0, 1, 1]), place[1:]), 3)
    >>> found.nearest.tolist(), found.vote.tolist(), found.share.round(2).tolist()
    ([0.0], [1.0], [0.67])
    """
    n_rows = index.n_rows if values.times is None else int(values.times.sum())
    reach = index.reach(queries, min(k, n_rows))
    of_row = reach.queries.of_each
    order = np.argsort(of_row, kind="stable")
    out = np.zeros((3, len(queries)))
    cells = _cells(reach, values)
    for part in index.up_to(reach):
        first, last = np.searchsorted(of_row[order], (part.queries[0], part.queries[-1] + 1))
        rows = order[first:last]
        out[:, rows] = _part(part, cells, values, of_row[rows] - part.queries[0], values.truth[rows])
    return Answered(out[0], reach.distances[of_row, 0], out[1], out[2])


def of_a_copy(records: Ints, n_members: int, values: Values) -> Floats:
    """Return the probability that the answer about each person is right if the members are the reference.

    A person with the record of a member is answered about by the members with this record, each with equal probability.
    nan where no member has the record.

    Parameters
    ----------
    records
        Shape (n_people,): a number for each person, the same for people with the same record; members first.
    n_members
        Number of members.
    values
        Values whose `truth` is that of the people; `reference` is not used.

    Examples
    --------
    >>> place = np.arange(2)
    >>> truth = Values(place, place + 1, place[:0], np.array([0, 1, 1, 1, 0]))
    >>> of_a_copy(np.array([7, 7, 8, 7, 9]), 3, truth).tolist()
    [0.5, 0.5, 1.0, 0.5, nan]
    """
    n = len(values.first)
    record = places(records.astype(np.int64))[1]  # hashes, of which any numbers do
    alike = np.bincount(record[:n_members], minlength=int(record.max(initial=-1)) + 1)[record]
    right = np.where(alike > 0, 1.0, np.nan)  # a member with a record of their own is told their own value
    several = np.flatnonzero((alike > 1) | ((alike == 1) & (np.arange(len(record)) >= n_members)))
    truth, own = values.truth[several], record[several] * n
    wanted = np.zeros(len(record) + 1, dtype=np.bool_)
    wanted[record[several]] = True
    asked = np.flatnonzero(wanted[record[:n_members]])
    key, of_each = places(record[asked] * n + values.truth[asked])
    tally = _Tally(key, np.append(0, np.cumsum(np.bincount(of_each, minlength=len(key)))))
    right[several] = tally.between(own + values.first[truth], own + values.last[truth]) / alike[several]
    return right


class _Cells(NamedTuple):
    """The values of the rows that each distinct reference row stands for."""

    start: Ints
    place: Ints
    votes: Ints


def _cells(reach: Reach, values: Values) -> _Cells:
    distinct, n = reach.reference, len(values.first)
    keys = distinct.of_each * n + values.reference
    keys, place = places(keys)
    count = np.bincount(place, weights=values.times, minlength=len(keys)).astype(np.int64)
    start = np.append(0, np.cumsum(np.bincount(keys // n, minlength=len(distinct.times))))
    return _Cells(start, keys % n, count)


def _part(
    part: Listed, cells: _Cells, values: Values, query: Ints, truth: Places
) -> tuple[Floats, Floats, Floats]:  # fmt: skip
    """Return for some queries the probability of the nearest answer, that of the vote, and the share of votes."""
    n_queries, n = len(part.queries), len(values.first)
    of_pair = np.repeat(np.arange(n_queries), np.diff(part.start))
    near = part.distances == part.distances[part.start[:-1]][of_pair]
    low, high = query * n + values.first[truth], query * n + values.last[truth]
    nearest = _tally(of_pair[near], part.rows[near], cells, n)
    all_of = nearest.between(query * n, (query + 1) * n)
    right = nearest.between(low, high) / np.maximum(all_of, 1)
    votes = nearest if near.all() else _tally(of_pair, part.rows, cells, n)
    asked, place = np.divmod(votes.key, n)
    support = votes.between(asked * n + values.first[place], asked * n + values.last[place])
    starts = np.flatnonzero(np.diff(asked, prepend=-1))
    most = np.maximum.reduceat(support, starts)
    winners = _Tally(votes.key, np.append(0, np.cumsum(support == most[asked])))
    vote = winners.between(low, high) / np.maximum(winners.between(query * n, (query + 1) * n), 1)
    total = votes.between(query * n, (query + 1) * n)
    return right, vote, most[query] / np.maximum(total, 1)


def _tally(of_pair: Ints, rows: Ints, cells: _Cells, n: int) -> _Tally:
    length = np.diff(cells.start)[rows]
    entry = np.repeat(cells.start[rows] - np.cumsum(length) + length, length) + np.arange(int(length.sum()))
    key = np.repeat(of_pair, length) * n + cells.place[entry]
    order = np.argsort(key, kind="stable")
    key = key[order]
    first = np.flatnonzero(np.diff(key, prepend=-1))
    count = np.append(0, np.cumsum(cells.votes[entry[order]]))
    return _Tally(key[first], np.append(count[first], count[-1]))
