"""Counting queries of known values, answered by the synthetic table for a group of people.

A query asks for the people with given values on one to three of the known columns. The synthetic table answers with the
share of its rows with these values that have the secret. Times the number of people whom the attacker knows to have the
values, it is a count of secrets among them: one linear equation.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from divulge.kernels.counts.contingency import combine

__all__ = ["FEWEST", "MOST", "Known", "equations"]

Bools = NDArray[np.bool_]
Codes = NDArray[np.int32]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

FEWEST, MOST = 2, 199
"""People whom a query fits, at least and at most: fewer are the person alone, of more the count says little."""
_SPARSE = 8  # cells a row


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """What is known of people and of synthetic rows."""

    people: Sequence[Codes]
    """Per known column, shape (n_people,)."""
    synthetic: Sequence[Codes]
    """Per known column, shape (n_synthetic,)."""
    sizes: Sequence[int]
    """Per known column, the number of codes."""
    secret: Bools
    """Shape (n_synthetic,): which synthetic rows have the secret."""


def equations(known: Known, groups: Sequence[Ints], sets: Sequence[Ints]) -> Iterator[tuple[sparse.csr_array, Floats]]:
    """Yield for each group of people the weighted equations: the matrix, a column a person, and the right side.

    A query that fits c people of the group has the weight 1 / sqrt(c), as errors of a count grow with its root. The
    synthetic table is counted once for all groups.

    Parameters
    ----------
    groups
        People whom the attacker knows, all others being left out.
    sets
        Sets of known columns.
    """
    parts = [_Equations(len(group), len(sets)) for group in groups]
    for number, columns in enumerate(sets):
        cell, share = _answers(known, columns)
        for part, group in zip(parts, groups, strict=True):
            part.add(number, cell[group], share)
    yield from (part.made() for part in parts)


class _Equations:
    """The equations about a group, collected set by set."""

    def __init__(self, n_people: int, n_sets: int) -> None:
        self.query = np.full((n_sets, n_people), -1, dtype=np.int32)
        """Per set and person the number of the query that fits the person; -1 for none."""
        self.roots: list[Floats] = [np.zeros(0)]
        self.right: list[Floats] = [np.zeros(0)]
        self.n_queries = 0

    def add(self, number: int, cell: Ints, share: Floats) -> None:
        """Add the queries of a set, given the cell of each person (-1 for none) and the share of each cell."""
        size = np.bincount(cell + 1, minlength=len(share) + 1)[1:]
        asked = np.flatnonzero((size >= FEWEST) & (size <= MOST))
        of_cell = np.full(len(share) + 1, -1, dtype=np.int32)  # the last entry is that of no cell
        of_cell[asked] = np.arange(self.n_queries, self.n_queries + len(asked))
        self.query[number] = of_cell[cell]
        root = np.sqrt(size[asked])
        self.roots.append(root)
        self.right.append(share[asked] * root)
        self.n_queries += len(asked)

    def made(self) -> tuple[sparse.csr_array, Floats]:
        """Return the matrix, a column a person, and the right side."""
        of_person = self.query.T
        fits = of_person >= 0
        queries = of_person[fits]
        ends = np.concatenate([[0], np.cumsum(fits.sum(axis=1))])
        entries = 1 / np.concatenate(self.roots)[queries]
        shape = len(of_person), self.n_queries
        return sparse.csr_array((entries, queries, ends), shape=shape).T.tocsr(), np.concatenate(self.right)


def _answers(known: Known, columns: Ints) -> tuple[Ints, Floats]:
    """Return the cell of each person, and of each cell the share of its synthetic rows that have the secret.

    A person whom nobody else equals, or whose cell no synthetic row is in, has none (-1).
    """
    stacked = [np.concatenate([known.people[j], known.synthetic[j]]) for j in columns]
    cell, n_cells = combine(stacked, [known.sizes[j] for j in columns])
    if n_cells > _SPARSE * len(cell):  # else empty cells cost less than a sort
        cell = np.unique(cell, return_inverse=True)[1].ravel()
        n_cells = int(cell.max()) + 1
    n = len(known.people[columns[0]])
    size, answered = np.bincount(cell[:n], minlength=n_cells), np.bincount(cell[n:], minlength=n_cells)
    having = np.bincount(cell[n:][known.secret], minlength=n_cells)
    used = np.flatnonzero((size >= FEWEST) & (answered > 0))
    place = np.full(n_cells, -1)
    place[used] = np.arange(len(used))
    return place[cell[:n]], having[used] / answered[used]
