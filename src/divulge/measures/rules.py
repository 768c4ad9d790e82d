"""Which rows keep a rule of their table: masks from codes, in which equal values have equal codes and 0 is missing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["carried_over", "combined", "one_value_per_group", "parent_rows_of", "root_rows", "within_segments"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]


def combined(columns: Sequence[Sequence[NDArray[np.integer[Any]]]]) -> list[Ints]:
    """Return one code for each row of several tables, equal where the codes of all columns are equal.

    Parameters
    ----------
    columns
        For each column its codes in each table.

    Examples
    --------
    >>> [c.tolist() for c in combined([[np.array([0, 1]), np.array([1])], [np.array([5, 5]), np.array([5])]])]
    [[0, 1], [1]]
    """
    lengths = np.cumsum([len(part) for part in columns[0]])[:-1]
    codes = np.concatenate(columns[0]).astype(np.int64)
    for parts in columns[1:]:
        own = np.concatenate(parts).astype(np.int64)
        both = codes * (int(own.max(initial=0)) + 1) + own
        codes = np.unique(both, return_inverse=True)[1].astype(np.int64)
    return np.split(codes, lengths)


def one_value_per_group(groups: Ints, values: Ints) -> Mask:
    """Return the rows in whose group all rows have one value.

    Examples
    --------
    >>> one_value_per_group(np.array([1, 1, 2]), np.array([7, 8, 7])).tolist()
    [False, False, True]
    """
    pairs = np.unique(combined([[groups], [values]])[0], return_index=True)[1]
    n_values = np.bincount(groups[pairs], minlength=int(groups.max(initial=0)) + 1)
    return np.asarray(n_values[groups] == 1)


def carried_over(keys: Sequence[Ints], values: Sequence[Ints]) -> list[Mask]:
    """Return the rows whose value is not at odds with the value that an earlier table has for their key.

    As in SDMetrics, the value of a key in a table is that of its last row, and the rows with that value are at odds; a
    missing value is no value, and a row without a key is never at odds.

    Parameters
    ----------
    keys, values
        Codes of each table.

    Examples
    --------
    >>> found = carried_over([np.array([1, 2]), np.array([2, 1])], [np.array([5, 6]), np.array([6, 6])])
    >>> [f.tolist() for f in found]
    [[True, True], [True, False]]
    """
    first = np.zeros(max((int(k.max(initial=0)) for k in keys), default=0) + 1, dtype=np.int64)
    masks = []
    for key, value in zip(keys, values, strict=True):
        last = np.full(len(first), -1, dtype=np.int64)
        last[key] = value
        here = last >= 0
        odd = here & (first != 0) & (first != last)
        first = np.where(here & (first == 0), last, first)
        masks.append(~(odd[key] & (value == last[key]) & (key > 0) & (value > 0)))
    return masks


def within_segments(segments: tuple[Ints, Ints], values: tuple[Floats, Floats]) -> Mask:
    """Return the synthetic rows whose number lies between the smallest and the largest real one of their segment.

    Parameters
    ----------
    segments
        Codes of the real and of the synthetic rows.
    values
        Numbers, nan where one is missing. A missing number is within each segment that the real table has.

    Examples
    --------
    >>> a_b = np.array([0, 0, 1, 1])
    >>> within_segments((a_b, a_b), (np.array([1.0, 2, 10, 20]), np.array([1.0, 5, 10, 30]))).tolist()
    [True, False, True, False]
    """
    real, synthetic = segments
    n = int(max(real.max(initial=-1), synthetic.max(initial=-1))) + 1
    low, high = np.full(n, np.inf), np.full(n, -np.inf)
    known = ~np.isnan(values[0])
    np.minimum.at(low, real[known], values[0][known])
    np.maximum.at(high, real[known], values[0][known])
    seen = np.bincount(real, minlength=n) > 0
    inside = (values[1] >= low[synthetic]) & (values[1] <= high[synthetic])
    return np.asarray(seen[synthetic] & (np.isnan(values[1]) | inside))


def parent_rows_of(base: Ints, parent: Ints) -> Ints:
    """Return for each row the first row whose base is its parent; its own where it is a root.

    Parameters
    ----------
    base, parent
        Codes of the same values, shape (n_rows,). A root has no parent, or itself.

    Returns
    -------
    array
        -1 where the parent is no row of the table.

    Examples
    --------
    >>> parent_rows_of(np.array([1, 2, 3]), np.array([0, 1, 9])).tolist()
    [0, 0, -1]
    """
    first = np.full(int(max(base.max(initial=0), parent.max(initial=0))) + 1, -1, dtype=np.int64)
    rows = np.arange(len(base))
    first[base[::-1]] = rows[::-1]
    first[0] = -1
    return np.where((parent == 0) | (parent == base), rows, first[parent])


def root_rows(above: Ints) -> Ints:
    """Return the row in which each row's chain of parents ends; -1 where it never ends.

    Parameters
    ----------
    above
        What `parent_rows_of` returns.

    Returns
    -------
    array
        A row that is its own parent, or whose parent is not in the table.

    Examples
    --------
    >>> root_rows(np.array([0, 0, -1, 2, 5, 4])).tolist()
    [0, 0, 2, 2, -1, -1]
    """
    own = np.arange(len(above))
    step = np.where(above < 0, own, above)
    ends = step == own
    for _ in range(max(len(above), 1).bit_length() + 1):
        step = step[step]
    return np.where(ends[step], step, -1)
