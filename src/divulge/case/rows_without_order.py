"""Rows that an engine tells in no order: an order by what they say, and hashes of tables that depend on no order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.core.hashing import code_hashes, value_hashes

__all__ = ["in_order", "sum_of_rows"]

Codes = NDArray[Any]
Ints = NDArray[np.int64]

_PART = 1_000_000  # rows that are hashed at once
_OF_ROW = 70_001  # salt: the hash of a row is a sum over its columns, and so would be the sum over rows


def in_order(codes: Sequence[Codes], times: Ints | None = None) -> Ints:
    """Return the numbers of rows in an order that follows from their codes, and of equal ones from `times`.

    Rows that are equal in all codes are interchangeable. Two others have the same hash with probability 2**-64; then
    only their order is undefined.

    Parameters
    ----------
    codes
        For each column, shape (n_rows,).
    times
        How many rows each stands for, shape (n_rows,).

    Examples
    --------
    >>> one, other = np.array([3, 1, 2]), np.array([2, 3, 1])
    >>> one[in_order([one])].tolist() == other[in_order([other])].tolist()
    True
    """
    hashes = np.empty(len(codes[0]), dtype=np.uint64)
    for first in range(0, len(hashes), _PART):
        hashes[first : first + _PART] = _hashes(codes, first)
    order = np.argsort(hashes, kind="stable")
    if times is None or not (np.diff(hashes[order]) == 0).any():
        return order
    return np.lexsort((times, hashes))  # two raw values may have one code, so that a cell comes twice


def sum_of_rows(codes: Sequence[Codes], times: Ints | None = None) -> int:
    """Return a 64-bit hash of a table that is the same for its rows in any order, and merged or not.

    Examples
    --------
    >>> sum_of_rows([np.array([3, 1, 3])]) == sum_of_rows([np.array([1, 3])], np.array([1, 2]))
    True
    >>> sum_of_rows([np.array([0, 1]), np.array([0, 1])]) == sum_of_rows([np.array([0, 1]), np.array([1, 0])])
    False
    """
    total = np.zeros(1, dtype=np.uint64)  # an array: it wraps around without a warning
    for first in range(0, len(codes[0]) if codes else 0, _PART):
        salted = value_hashes(_hashes(codes, first), _OF_ROW)
        if times is not None:
            salted *= times[first : first + _PART].astype(np.uint64)
        total += salted.sum(dtype=np.uint64)
    return int(total[0])


def _hashes(codes: Sequence[Codes], first: int) -> NDArray[np.uint64]:
    """Return the hash of each row of a part."""
    return code_hashes([c[first : first + _PART] for c in codes])
