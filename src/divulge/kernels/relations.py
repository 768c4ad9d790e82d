"""One integer array per relation (child row to parent row) and one order of rows per sequence; nothing is joined."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "MISSING",
    "ORPHAN",
    "SequenceOrder",
    "children_of",
    "composed",
    "counted_order",
    "order_of",
    "parent_rows",
    "repeated_keys",
    "totals_of",
]

Codes = NDArray[np.int32]
Rows = NDArray[np.int32]
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

MISSING = -1
"""In place of a parent row: the child row has no key, or a part of it is missing."""
ORPHAN = -2
"""In place of a parent row: no parent has the key of the child row."""


def parent_rows(parent: NDArray[np.integer], child: NDArray[np.integer], n_keys: int) -> Rows:
    """Return the parent row of each child row.

    Parameters
    ----------
    parent, child
        Shape (n_parents,) and (n_children,): one number per key, 0 to n_keys - 1, equal for equal keys; -1 for a key
        that is missing.
    n_keys
        Number of different keys.

    Returns
    -------
    ndarray
        Shape (n_children,): the first parent row with the key, `MISSING` or `ORPHAN`.

    Examples
    --------
    >>> parent_rows(np.array([0, 1, 1]), np.array([1, 0, -1, 2]), 3).tolist()
    [1, 0, -1, -2]
    """
    first = np.full(n_keys + 1, ORPHAN, dtype=np.int32)
    first[n_keys] = MISSING  # where -1 points to
    backwards = np.flatnonzero(parent >= 0)[::-1]  # the first row of a key is written last
    first[parent[backwards]] = backwards
    rows: Rows = first[child]
    return rows


def repeated_keys(parent: NDArray[np.integer], n_keys: int) -> NDArray[np.bool_]:
    """Return which parent rows have the key of an earlier row, shape (n_parents,); missing keys do not count.

    Examples
    --------
    >>> repeated_keys(np.array([0, 1, 1, -1, -1]), 2).tolist()
    [False, False, True, False, False]
    """
    rows = np.arange(len(parent))
    own = np.where(parent >= 0, parent_rows(parent, parent, n_keys), rows)
    return np.asarray(own != rows)


def children_of(rows: Rows, n_parents: int) -> Ints:
    """Return the number of children of each parent row, shape (n_parents,).

    Examples
    --------
    >>> children_of(np.array([1, 0, 1, -1, -2], dtype=np.int32), 3).tolist()
    [1, 2, 0]
    """
    return np.bincount(rows[rows >= 0], minlength=n_parents).astype(np.int64)


def composed(hops: Sequence[Rows]) -> Rows:
    """Return the ancestor row of each row, several relations up; the first hop that leads nowhere says why.

    Parameters
    ----------
    hops
        At least one array of `parent_rows`, the one of the lowest table first.

    Examples
    --------
    >>> composed([np.array([1, 0, -2], np.int32), np.array([5, -1], np.int32)]).tolist()
    [-1, 5, -2]
    """
    rows = hops[0]
    for hop in hops[1:]:
        rows = np.where(rows >= 0, hop.take(np.maximum(rows, 0)) if len(hop) else rows, rows).astype(np.int32)
    return rows


@dataclass(frozen=True, slots=True)
class SequenceOrder:
    """The rows of a table in the order of their sequences."""

    rows: Ints
    """Row numbers, sequence after sequence, each in its order; rows without a sequence are left out."""
    starts: Ints
    """Shape (n_sequences + 1,): where each sequence starts in `rows`, and their end."""
    n_ties: int
    """Rows that have the index of the row before them in the same sequence: their order is the table's."""
    n_left_out: int
    """Rows whose sequence key is missing."""

    @property
    def lengths(self) -> Ints:
        """Rows of each sequence, shape (n_sequences,)."""
        return np.diff(self.starts)

    def lagged(self, k: int) -> tuple[Ints, Ints]:
        """Return the row numbers of all pairs that stand k rows apart in one sequence: the earlier and the later."""
        n = len(self.rows)
        if k >= n:
            return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        sequence = np.repeat(np.arange(len(self.starts) - 1), self.lengths)
        pairs = np.flatnonzero(sequence[k:] == sequence[: n - k])
        return self.rows[pairs], self.rows[pairs + k]

    def __iter__(self) -> Iterator[Ints]:
        """Yield the row numbers of each sequence."""
        return iter(np.split(self.rows, self.starts[1:-1]) if len(self.starts) > 1 else [])


def order_of(sequence: NDArray[np.integer], index: Sequence[NDArray[np.generic]] = ()) -> SequenceOrder:
    """Return the order of rows: by sequence, then by the index columns, then as they stand.

    Parameters
    ----------
    sequence
        Shape (n_rows,): the number of the sequence of each row, from 0; -1 for a row without one.
    index
        Columns that say the order within a sequence, the first one first; without any, the order is the table's.

    Examples
    --------
    >>> order = order_of(np.array([1, 0, 1, -1]), [np.array([5, 2, 3, 1])])
    >>> order.rows.tolist(), order.starts.tolist(), order.lagged(1)[0].tolist()
    ([1, 2, 0], [0, 1, 3], [2])
    """
    rows = np.lexsort((*reversed(index), sequence)).astype(np.int64) if index else counted_order(sequence)
    rows = rows[int((sequence < 0).sum()) :]
    ordered = sequence[rows]
    new = np.ones(len(rows), dtype=bool)
    new[1:] = ordered[1:] != ordered[:-1]
    ties = 0
    if index:
        tied = ~new
        for column in index:
            values = column[rows]
            tied[1:] &= values[1:] == values[:-1]
        ties = int(tied.sum())
    starts = np.append(np.flatnonzero(new), len(rows)).astype(np.int64)
    return SequenceOrder(rows, starts, ties, len(sequence) - len(rows))


def counted_order(sequence: NDArray[np.integer]) -> Ints:
    """Return the stable order of small numbers, from -1: each row has its place, without a comparison of rows."""
    from scipy.sparse import coo_array

    n = len(sequence)
    if (sequence[1:] >= sequence[:-1]).all():
        return np.arange(n)
    if int(sequence.max()) > 4 * n:
        return np.argsort(sequence, kind="stable").astype(np.int64)
    columns = np.arange(n)
    places = coo_array((np.ones(n, dtype=np.int8), (sequence + 1, columns)), shape=(int(sequence.max()) + 2, n))
    return np.asarray(places.tocsr().indices, dtype=np.int64)


def totals_of(parent: Ints, numbers: Floats, n: int) -> Iterator[tuple[str, Floats]]:
    """Yield mean, sum, minimum and maximum of the numbers of each parent, shape (n,) each; nan where it has none.

    The numbers of a parent are added in order of size, so that the order of the rows changes no digit.

    Examples
    --------
    >>> {what: found.tolist() for what, found in totals_of(np.array([1, 0, 1]), np.array([4.0, 2.0, 5.0]), 2)}["mean"]
    [2.0, 4.5]
    """
    order = np.lexsort((numbers, parent))
    parent, numbers = parent[order], numbers[order]
    counts = np.bincount(parent, minlength=n)
    total = np.bincount(parent, weights=numbers, minlength=n)
    some = counts > 0
    first = np.minimum(np.cumsum(counts) - counts, max(0, len(numbers) - 1))
    last = np.maximum(np.cumsum(counts) - 1, 0)
    ends = numbers if len(numbers) else np.full(1, np.nan)
    found = {"mean": total / np.maximum(counts, 1), "sum": total, "minimum": ends[first], "maximum": ends[last]}
    for what, values in found.items():
        yield what, np.where(some, values, np.nan)
