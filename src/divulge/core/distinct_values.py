"""The distinct values of an array of numbers, by sorting."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["distinct_values"]

_Array = TypeVar("_Array", bound=NDArray[Any])


def distinct_values(values: _Array) -> _Array:
    """Return the distinct values of an array of one dimension, ascending; it may hold no nan.

    `np.unique` hashes whole numbers from numpy 2.3 on. Of 1.25 million different ones that takes 1.1 s, and sorting
    with vector instructions 15 ms.

    Examples
    --------
    >>> distinct_values(np.array([3, 1, 3])).tolist()
    [1, 3]
    """
    ordered = np.sort(values)
    first = np.ones(len(ordered), dtype=np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    return ordered[np.flatnonzero(first)]  # type: ignore[return-value] # a third of the time of ordered[first]
