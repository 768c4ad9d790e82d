"""The distinct values of an array of whole numbers, and the place of each one's value among them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.core.distinct_values import distinct_values
from divulge.kernels._native.library import Kernel, available

__all__ = ["numbered", "places"]

_FROM = 256  # values below which numpy takes no longer
_LISTED = 4  # times the number of values: limit up to which a table of all values takes a third of the time

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
    By a table of all values if the limit is at most four times their number. Else by a hash table if there are compiled
    loops, and values repeat. Otherwise by sorting and, where the limit is not far above their number, by a table of
    the values that occur.

    Examples
    --------
    >>> distinct, place = places(np.array([7, 3, 7]))
    >>> distinct.tolist(), place.tolist()
    ([3, 7], [1, 0, 1])
    """
    if limit is not None and limit <= _LISTED * len(values):
        return _listed(values, limit)
    found = _hashed(values) if len(values) >= _FROM and values.dtype.kind == "i" and available() else None
    if found is not None:
        return found
    if limit is not None and limit <= max(2**16, 16 * len(values)):
        distinct = distinct_values(values)
        return distinct, _places_in(distinct, values.astype(np.int64, copy=False), limit)
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


def _listed(values: NDArray[Any], limit: int) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return distinct values and places by a table of all values that there may be."""
    whole = values.astype(np.int64, copy=False)  # what is looked up by other whole numbers takes twice the time
    occurs = np.zeros(limit, dtype=np.bool_)
    occurs[whole] = True
    distinct = np.flatnonzero(occurs)
    return distinct.astype(values.dtype, copy=False), _places_in(distinct, whole, limit)


def _places_in(distinct: NDArray[Any], values: NDArray[np.int64], limit: int) -> NDArray[np.int64]:
    of_value = np.empty(limit, dtype=np.int64)  # only the entries that occur are written and read
    of_value[distinct] = np.arange(len(distinct))
    return np.asarray(of_value[values])


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
