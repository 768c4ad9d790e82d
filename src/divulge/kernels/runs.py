"""Runs: stretches of consecutive values of one person that another one has too."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from divulge.core.hashing import value_hashes

__all__ = ["grams", "has_run", "shared_runs"]

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
Hashes = NDArray[np.uint64]

_ODD = np.uint64(0x9E3779B97F4A7C15)


def grams(values: Ints, persons: Ints, k: int) -> tuple[Hashes, Ints]:
    """Return a hash of each run of k values of one person, and the person.

    Parameters
    ----------
    values
        In order, the rows of each person together, shape (n_rows,).
    persons
        The person of each row, shape (n_rows,).

    Examples
    --------
    >>> found, person = grams(np.array([4, 7, 4, 7, 4]), np.array([0, 0, 0, 1, 1]), 2)
    >>> bool(found[1] == found[2]), person.tolist()
    (True, [0, 0, 1])
    """
    n = max(0, len(values) - k + 1)
    total = np.zeros(n, dtype=np.uint64)
    for i in range(k):
        total = total * _ODD + value_hashes(values[i : i + n].astype(np.uint64), 1)
    inside = persons[:n] == persons[k - 1 : k - 1 + n]
    return total[inside], persons[:n][inside]


def has_run(people: tuple[Ints, Ints], others: tuple[Ints, Ints], k: int, n_people: int) -> Bools:
    """Return which people have a run of k values that one of the others has too, shape (n_people,).

    Examples
    --------
    >>> people = np.array([1, 2, 3, 9, 9]), np.array([0, 0, 0, 1, 1])
    >>> has_run(people, (np.array([5, 1, 2, 3]), np.zeros(4, dtype=int)), 3, 2).tolist()
    [True, False]
    """
    own, person = grams(*people, k)
    out = np.zeros(n_people, dtype=np.bool_)
    out[person[np.isin(own, grams(*others, k)[0], kind="sort")]] = True
    return out


def shared_runs(people: tuple[Ints, Ints], k: int, n_people: int, groups: Ints | None = None) -> Bools:
    """Return which people have a run of k values that another one of them has too, shape (n_people,).

    With `groups`, a number of each person, another one is of another group.

    Examples
    --------
    >>> shared_runs((np.array([1, 2, 1, 2, 8, 1, 2]), np.array([0, 0, 0, 0, 1, 1, 1])), 2, 2).tolist()
    [True, True]
    """
    own, person = grams(*people, k)
    order = np.lexsort((person, own))
    own, person = own[order], person[order]
    out = np.zeros(n_people, dtype=np.bool_)
    if len(own):
        starts = np.flatnonzero(np.concatenate([[True], own[1:] != own[:-1]]))
        group = person if groups is None else groups[person]
        several = np.minimum.reduceat(group, starts) != np.maximum.reduceat(group, starts)
        out[person[np.repeat(several, np.diff(starts, append=len(own)))]] = True
    return out
