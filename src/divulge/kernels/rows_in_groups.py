"""Columns whose rows are ordered by groups, written in one pass over the table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["in_groups"]

Ints = NDArray[np.int64]
Part = Callable[[int, int], tuple[NDArray[Any], Sequence[NDArray[Any]]]]


def in_groups(
    part: Part, n_rows: Ints, columns: Sequence[NDArray[Any]], at_once: int = 1_000_000
) -> list[list[NDArray[Any]]]:
    """Write columns so that the rows of each group lie together, in the order of the table; return them by group.

    Of a table in files each page is read once; looked up group by group, it would be read once for each group.

    Parameters
    ----------
    part
        Given the first of some rows and the row after them, returns the group of each, whole numbers from 0 to
        n_groups - 1, and their values in each column.
    n_rows
        Shape (n_groups,): the rows of each group.
    columns
        Where the values are written, each of as many as all groups have.
    at_once
        Rows that are asked for at a time.

    Returns
    -------
    list of list of ndarray
        For each group the piece of each column that has its rows.

    Examples
    --------
    >>> values, groups = np.array([5, 6, 7, 8]), np.array([1, 0, 1, 0])
    >>> found = np.zeros(4, dtype=int)
    >>> (first,), (second,) = in_groups(lambda a, b: (groups[a:b], [values[a:b]]), np.array([2, 2]), [found], 3)
    >>> first.tolist(), second.tolist(), found.tolist()
    ([6, 8], [5, 7], [6, 8, 5, 7])
    """
    borders = np.append(0, np.cumsum(n_rows))
    free, n = borders[:-1].copy(), int(borders[-1])
    small = np.min_scalar_type(len(n_rows))  # sorted by radix
    for first in range(0, n, at_once):
        groups, values = part(first, min(first + at_once, n))
        order, n_each = np.argsort(groups.astype(small), kind="stable"), np.bincount(groups, minlength=len(n_rows))
        filled = np.flatnonzero(n_each)
        begin, to = (np.cumsum(n_each) - n_each)[filled].tolist(), free[filled].tolist()
        runs = list(zip(begin, to, n_each[filled].tolist(), strict=True))
        for own, column in zip(values, columns, strict=True):
            ordered = own[order]
            for a, b, some in runs:
                column[b : b + some] = ordered[a : a + some]
        free += n_each
    return [[column[a:b] for column in columns] for a, b in pairwise(borders.tolist())]
