"""The different rows of each person, and the nearest person among others by the rows that two share."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["NearestRows", "RowSets", "nearest_rows", "pairs_of", "row_sets"]

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_AT_ONCE = 2e7  # pairs with an equal row that are added up at once


@dataclass(frozen=True, eq=False)
class RowSets:
    """The different rows of persons."""

    person: Ints
    """Shape (n_rows,): number of the person of each row of the table, 0 to n_persons - 1."""
    sizes: Ints
    """Shape (n_persons,): different rows of each."""
    has: Ints
    """Shape (2, n_pairs): numbers of the persons, and of the contents of their different rows."""

    @cached_property
    def matrix(self) -> Any:
        """Which persons have which row, sparse, shape (n_persons, n_contents)."""
        from scipy.sparse import csr_array

        size = 1 + int(self.has[1].max(initial=0))
        return csr_array((np.ones(self.has.shape[1]), tuple(self.has)), shape=(len(self.sizes), size))


class NearestRows(NamedTuple):
    """How far the nearest of others is."""

    complete: Bools
    """Shape (n_asked,): one of the others has all rows, and at most as many besides."""
    difference: Floats
    """Shape (n_asked,): rows that one of the two has and the other has not, as a part of the rows of both; the smallest
    over the others, 1 where no row is equal."""


def row_sets(content: Ints, persons: Ints) -> RowSets:
    """Return the different rows of persons.

    Parameters
    ----------
    content
        Number of the content of each row, shape (n_rows,).
    persons
        The person of each row, any whole number, shape (n_rows,).

    Examples
    --------
    >>> found = row_sets(np.array([4, 4, 2, 0]), np.array([7, 7, -1, 7]))
    >>> found.sizes.tolist(), found.person.tolist()
    ([1, 2], [1, 1, 0, 1])
    """
    person = np.unique(persons, return_inverse=True)[1].ravel().astype(np.int64)
    size = int(content.max(initial=-1)) + 1
    has = np.stack(np.divmod(np.unique(person * size + content), max(1, size)))
    return RowSets(person, np.bincount(has[0]), has)


def pairs_of(people: RowSets, others: RowSets | None = None) -> Floats:
    """Return for each person how many pairs of equal rows there are with others, or with all people."""
    own, theirs = _matrices(people, people if others is None else others)
    return np.asarray(own @ np.asarray(theirs.sum(axis=0)).ravel(), dtype=np.float64)


def nearest_rows(
    asked: Ints, people: RowSets, others: RowSets | None = None, groups: Ints | None = None
) -> NearestRows:
    """Return how far the nearest of others is from some persons.

    Parameters
    ----------
    asked
        Numbers of the persons who are asked, shape (n_asked,).
    people
        Their rows, and those of others like them.
    others
        With whom they are compared; None takes the other people.
    groups
        Of each person a number that those share who belong together, who are not compared; None where each is alone.

    Examples
    --------
    >>> people = row_sets(np.array([0, 1, 2, 0, 1, 3]), np.array([0, 0, 0, 1, 1, 1]))
    >>> nearest_rows(np.array([0, 1]), people).difference.round(3).tolist()
    [0.333, 0.333]
    >>> nearest_rows(np.array([0]), people, row_sets(np.array([1, 2, 0, 5]), np.zeros(4))).complete.tolist()
    [True]
    """
    own, theirs = _matrices(people, people if others is None else others)
    mine, columns = own[asked], theirs.T.tocsr()
    sizes = people.sizes if others is None else others.sizes
    of = np.arange(len(people.sizes)) if groups is None else groups
    complete, difference = np.zeros(len(asked), dtype=np.bool_), np.ones(len(asked))
    for part in _parts(np.asarray(mine @ np.asarray(theirs.sum(axis=0)).ravel())):
        shared = (mine[part] @ columns).tocoo()
        row, other = shared.coords
        is_other = np.ones(len(row), dtype=np.bool_) if others is not None else of[other] != of[asked[part]][row]
        row, other, n_shared = row[is_other], other[is_other], shared.data[is_other]
        size = people.sizes[asked[part]][row]
        complete[part][row[(n_shared == size) & (sizes[other] <= 2 * size)]] = True
        np.minimum.at(difference[part], row, 1 - 2 * n_shared / (size + sizes[other]))
    return NearestRows(complete, difference)


def _parts(work: Floats) -> Iterator[slice]:
    """Yield runs of persons whose work is at most what is done at once, or one person."""
    if not len(work):
        return
    block = np.floor(np.cumsum(work) / _AT_ONCE)
    borders = np.r_[0, np.flatnonzero(np.diff(block)) + 1, len(work)]
    for a, b in zip(borders[:-1].tolist(), borders[1:].tolist(), strict=True):
        yield slice(a, b)


def _matrices(people: RowSets, others: RowSets) -> tuple[Any, Any]:
    """Return which persons have which row, for both, with as many contents.

    The product of the two is the number of rows that two persons share.
    """
    both = people.matrix, others.matrix
    size = max(m.shape[1] for m in both)
    one, other = (type(m)((m.data, m.indices, m.indptr), shape=(m.shape[0], size)) for m in both)
    return one, other
