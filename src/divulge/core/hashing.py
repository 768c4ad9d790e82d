"""Hashes of numbers and rows (splitmix64). Sorting by them gives an order that depends on a table's contents alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["code_hashes", "looked_up_hashes", "once", "row_hashes", "value_hashes"]

Hashes = NDArray[np.uint64]

_STEP = 0x9E3779B97F4A7C15


def _mix(x: Hashes) -> Hashes:
    """Return splitmix64 of each number; the result overwrites the input."""
    for shift, multiplier in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        x ^= x >> np.uint64(shift)
        x *= np.uint64(multiplier)
    x ^= x >> np.uint64(31)
    return x


def value_hashes(values: Hashes, salt: int) -> Hashes:
    """Return a 64-bit hash of each number; different salts give different hashes."""
    return _mix(values + np.uint64((salt + 1) * _STEP % 2**64))


def code_hashes(columns: Sequence[NDArray[Any]]) -> Hashes:
    """Return a 64-bit hash of each row: the sum of the hashes of its codes, each salted by its column."""
    hashes = np.zeros(len(columns[0]), dtype=np.uint64)
    for j, codes in enumerate(columns):
        hashes += value_hashes(codes.astype(np.uint64), j)
    return hashes


def looked_up_hashes(of_codes: Sequence[Hashes], columns: Sequence[NDArray[Any]]) -> Hashes:
    """Return a 64-bit hash of each row: the sum of the hashes of its codes, looked up.

    Parameters
    ----------
    of_codes
        For each column the hash of each of its codes.
    columns
        The codes of the rows.

    Examples
    --------
    >>> one = np.array([3, 5], dtype=np.uint64)
    >>> looked_up_hashes([one, one], [np.array([0, 1]), np.array([1, 1])]).tolist()
    [8, 10]
    """
    hashes = np.zeros(len(columns[0]), dtype=np.uint64)
    for own, codes in zip(of_codes, columns, strict=True):
        hashes += own.take(codes)
    return hashes


def row_hashes(values: NDArray[np.float64]) -> Hashes:
    """Return a 64-bit hash of each row: the sum of the hashes of its entries, each salted by its column.

    Two different rows have the same hash with probability 2**-64; then only their order is undefined.
    """
    hashes = np.empty(values.shape[0], dtype=np.uint64)
    salt = np.arange(1, values.shape[1] + 1, dtype=np.uint64) * np.uint64(_STEP)
    step = max(1, 32_768 // max(1, values.shape[1]))  # stay in cache
    for first in range(0, values.shape[0], step):
        x = (values[first : first + step] + 0.0).view(np.uint64)
        x += salt
        hashes[first : first + step] = _mix(x).sum(axis=1, dtype=np.uint64)
    return hashes


def once(ids: NDArray[Any]) -> NDArray[np.int64]:
    """Return the numbers of the rows to keep, so that a table in which every row is repeated counts once.

    The count of each distinct row is divided by the greatest common divisor of all counts.

    Examples
    --------
    >>> once(np.array([7, 7, 7, 7, 5, 5])).tolist()
    [0, 1, 4]
    """
    _, of_row, counts = np.unique(ids, return_inverse=True, return_counts=True)
    rows = np.arange(len(ids))
    repeats = int(np.gcd.reduce(counts)) if len(counts) else 1
    if repeats == 1:
        return rows
    order = np.argsort(of_row, kind="stable")
    place = np.empty_like(rows)
    place[order] = rows - np.repeat(np.cumsum(counts) - counts, counts)
    return np.flatnonzero(place < (counts // repeats)[of_row])
