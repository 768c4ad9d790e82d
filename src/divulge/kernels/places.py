"""The distinct values of an array of whole numbers, and the place of each one's value among them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.core.distinct_values import distinct_values
from divulge.kernels._native.library import Kernel, available

__all__ = ["numbered", "places"]

_FROM = 256  # values below which numpy takes no longer

_places = Kernel("places", "i8*", "i8", "i8!", "i8!", "i8!")


def places(values: NDArray[Any], limit: int | None = None) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return what `np.unique(values, return_inverse=True)` does, in a third of the time where values repeat.

    Parameters
    ----------
    values
        Whole numbers of any size and sign, shape (n,).
    limit
        All values are from 0 to limit - 1; None where that is not known.

    Returns
    -------
    distinct, place
        Ascending, of the dtype of `values`; and shape (n,): `distinct[place]` are the values.

    Notes
    -----
    By a hash table if there are compiled loops, and values repeat. Otherwise by sorting and, where the limit is not
    far above their number, a table of places.

    Examples
    --------
    >>> distinct, place = places(np.array([7, 3, 7]))
    >>> distinct.tolist(), place.tolist()
    ([3, 7], [1, 0, 1])
    """
    found = _hashed(values) if len(values) >= _FROM and values.dtype.kind == "i" and available() else None
    if found is not None:
        return found
    if limit is not None and limit <= max(2**16, 16 * len(values)):
        distinct = distinct_values(values)
        of_value = np.empty(limit, dtype=np.int64)  # only the entries that occur are written and read
        of_value[distinct] = np.arange(len(distinct))
        return distinct, of_value.take(values)
    distinct, inverse = np.unique(values, return_inverse=True)
    return distinct, inverse.astype(np.int64, copy=False)


def numbered(values: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
    """Return the number of each value, and the distinct values in the order of their numbers: that of first occurrence.

    None where most values are different, or there are no compiled loops; sorting then takes less time.

    Examples
    --------
    >>> found = numbered(np.repeat([7, 3, 7], [30, 1, 9]))
    >>> found is None or (found[0][28:33].tolist(), found[1].tolist()) == ([0, 0, 1, 0, 0], [7, 3])
    True
    """
    if not available():
        return None
    values = np.ascontiguousarray(values)
    place, found, n = np.empty_like(values), np.empty_like(values), np.zeros(1, dtype=np.int64)
    _places(values, len(values), place, found, n)
    return None if n[0] < 0 else (place, found[: n[0]])


def _hashed(values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]] | None:
    """Return distinct values and places, or None where most values are different."""
    known = numbered(values.astype(np.int64, copy=False))
    if known is None:
        return None
    place, found = known
    order = np.argsort(found)
    number = np.empty(len(found), dtype=np.int64)
    number[order] = np.arange(len(found))
    return found[order].astype(values.dtype, copy=False), number.take(place)
