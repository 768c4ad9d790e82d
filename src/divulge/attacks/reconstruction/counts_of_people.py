"""Counting queries of known values, answered by the synthetic table for a group of people.

A query asks for the people with given values on one to three of the known columns. The synthetic table answers with the
share of its rows with these values that have the secret. Times the number of people whom the attacker knows to have the
values, it is a count of secrets among them: one linear equation.
"""

from __future__ import annotations

from collections.abc import Sequence
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


def equations(known: Known, group: Ints, sets: Sequence[Ints]) -> tuple[sparse.csr_array, Floats]:
    """Return the weighted equations about a group of people: the matrix, a column a person, and the right side.

    A query that fits c people has the weight 1 / sqrt(c), as errors of a count grow with its root.

    Parameters
    ----------
    group
        People whom the attacker knows, all others being left out.
    sets
        Sets of known columns.
    """
    rows: list[Ints] = []
    people: list[Ints] = []
    weights: list[Floats] = []
    right: list[Floats] = [np.zeros(0)]
    n_queries = 0
    for columns in sets:
        mine, theirs, n_cells = _cells(known, group, columns)
        size, answered = np.bincount(mine, minlength=n_cells), np.bincount(theirs, minlength=n_cells)
        having = np.bincount(theirs, weights=known.secret, minlength=n_cells)
        asked = np.flatnonzero((size >= FEWEST) & (size <= MOST) & (answered > 0))
        number = np.full(n_cells, -1)
        number[asked] = np.arange(len(asked))
        fits = np.flatnonzero(number[mine] >= 0)
        root = np.sqrt(size[asked])
        rows.append(n_queries + number[mine[fits]])
        people.append(fits)
        weights.append(1 / root[number[mine[fits]]])
        right.append(having[asked] / answered[asked] * root)
        n_queries += len(asked)
    entries = np.concatenate(weights), (np.concatenate(rows), np.concatenate(people))
    return sparse.csr_array(entries, shape=(n_queries, len(group))), np.concatenate(right)


def _cells(known: Known, group: Ints, columns: Ints) -> tuple[Ints, Ints, int]:
    """Return the cell of each person of the group and of each synthetic row, and the limit of the cells."""
    stacked = [np.concatenate([known.people[j][group], known.synthetic[j]]) for j in columns]
    cell, n_cells = combine(stacked, [known.sizes[j] for j in columns])
    if n_cells > _SPARSE * len(cell):  # else empty cells cost less than a sort
        cell = np.unique(cell, return_inverse=True)[1].ravel()
        n_cells = int(cell.max()) + 1
    return cell[: len(group)], cell[len(group) :], n_cells
