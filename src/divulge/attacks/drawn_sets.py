"""Sets of columns of one size: all, or as many as time allows, drawn at random."""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

__all__ = ["drawn_sets"]


def drawn_sets(n_columns: int, order: int, most: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return all sets of so many columns, or `most` of them drawn at random, shape (n_sets, order).

    Examples
    --------
    >>> drawn_sets(3, 2, 300, np.random.default_rng(0)).tolist()
    [[0, 1], [0, 2], [1, 2]]
    """
    if comb(n_columns, order) <= most:
        return np.array(list(combinations(range(n_columns), order)), dtype=np.int64)
    drawn: dict[tuple[int, ...], None] = {}
    while len(drawn) < most:
        drawn[tuple(sorted(rng.choice(n_columns, order, replace=False).tolist()))] = None
    return np.array(list(drawn), dtype=np.int64)
