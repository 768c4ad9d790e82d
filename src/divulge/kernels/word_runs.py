"""Words, and runs of words, that one person alone has and that recur in released texts.

A run of n words is a hash of n word hashes. Each occurrence is one 64-bit number, so that finding the people who share
a run is sorting numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.core.hashing import value_hashes

__all__ = ["RUN", "among", "own_recurring", "own_runs", "pairs"]

Bools = NDArray[np.bool_]
Hashes = NDArray[np.uint64]
Ints = NDArray[np.int64]
Places = NDArray[np.signedinteger[Any]]

RUN = 8
"""Words of a run, a power of two."""
_BITS = 24


def own_runs(words: Hashes, start: Ints, person: Ints, released: Bools) -> NDArray[np.float64]:
    """Return for each text whether a run of eight words that one person alone has stands in a released text.

    Parameters
    ----------
    words, start
        Hashes of the words, shape (n_words,), and the first word of each text, shape (n_texts + 1,).
    person
        Shape (n_texts,): the number of the person who has the text; -1 where several have it, -2 where nobody has.
    released
        Shape (n_texts,): whether the text is in the synthetic table.

    Returns
    -------
    ndarray
        Shape (n_texts,): 1 or 0; nan for texts of fewer than eight words.

    Examples
    --------
    >>> words = np.array([1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2, 3, 4, 5, 6, 7, 8], dtype=np.uint64)
    >>> start = np.array([0, 9, 18])
    >>> own_runs(words, start, np.array([0, -2]), np.array([False, True])).tolist()
    [1.0, 0.0]
    """
    runs, text = _runs(words, start)
    out = np.where(np.diff(start) < RUN, np.nan, 0.0)
    out[text[own_recurring(runs, text, person, released)]] = 1.0
    return out


def own_recurring(hashes: Hashes, text: Places, person: Ints, released: Bools) -> Places:
    """Return the occurrences of what one person alone has and a released text has too.

    Parameters
    ----------
    hashes, text
        Shape (n_occurrences,): a hash of each word (pair, run), and the text that it is in.
    person, released
        Of each text, as in `own_runs`.

    Returns
    -------
    ndarray
        Places among the occurrences, in ascending order.

    Examples
    --------
    >>> words = np.array([7, 5, 5, 8, 7, 5, 8], dtype=np.uint64)
    >>> text = np.array([0, 0, 1, 1, 2, 2, 2])
    >>> own_recurring(words, text, np.array([0, 1, -2]), np.array([False, False, True])).tolist()
    [0, 3]
    """
    theirs = np.flatnonzero(person[text] > -2).astype(np.int32)
    theirs = theirs[among(hashes[theirs], hashes[released[text]])]
    if not len(theirs):
        return theirs
    theirs = theirs[np.argsort(hashes[theirs], kind="stable")]
    ordered, who = hashes[theirs], person[text[theirs]]
    first = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    least, most = np.minimum.reduceat(who, first), np.maximum.reduceat(who, first)
    alone = np.repeat((least == most) & (least >= 0), np.diff(np.r_[first, len(ordered)]))
    return np.sort(theirs[alone])


def pairs(hashes: Hashes, text: Places) -> tuple[Hashes, Places]:
    """Return a hash of each two words that follow each other in a text, and the places of the first ones.

    Examples
    --------
    >>> words = np.array([7, 5, 7, 5], dtype=np.uint64)
    >>> both, place = pairs(words, np.array([0, 0, 0, 1]))
    >>> place.tolist(), bool(both[0] == both[1])
    ([0, 1], False)
    """
    if len(hashes) < 2:
        return hashes[:0], np.empty(0, dtype=np.int32)
    place = np.flatnonzero(text[1:] == text[:-1]).astype(np.int32)
    return value_hashes(value_hashes(hashes[place], 1) + hashes[place + 1], 2), place


def among(values: Hashes, known: Hashes) -> Bools:
    """Return which hashes are among the known ones; a table of their first bits spares most a search."""
    seen = np.zeros(2**_BITS, dtype=np.bool_)
    seen[known >> np.uint64(64 - _BITS)] = True
    found = seen[values >> np.uint64(64 - _BITS)]
    known, left = np.unique(known), values[found]
    if len(known):
        found[found] = known[np.minimum(np.searchsorted(known, left), len(known) - 1)] == left
    return np.asarray(found)


def _runs(words: Hashes, start: Ints) -> tuple[Hashes, Ints]:
    """Return the hash of each run of words, and the text that it is in."""
    if len(words) < RUN:
        return words[:0], start[:0]
    runs, n = words, 1
    while n < RUN:  # a run of 2 n words from the two of n words in it
        runs = value_hashes(value_hashes(runs[:-n], n) + runs[n:], n + 1)
        n *= 2
    text = np.repeat(np.arange(len(start) - 1), np.diff(start))
    whole = text[: len(runs)] == text[RUN - 1 :]
    return runs[whole], text[: len(runs)][whole]
