"""Scores of pairs of columns from their tables of counts: filled whole, or of the cells that occur."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from divulge.measures import column_pairs as measures

__all__ = ["DENSE", "NAN", "Cells", "Found", "Pair", "judged_cells", "judged_tables"]

Ints = NDArray[np.int64]
Cells = tuple[Ints, Ints]
"""Numbers of the cells that occur, each once, and rows in each."""
Pair = tuple[Hashable, Hashable]
Found = tuple[float, float, float, float, bool | None]
"""Score, real and synthetic correlation, real association, and whether the pair passes the threshold."""
DENSE = 2**18
"""Cells of a table of counts that is filled whole, however few the rows."""
NAN = float("nan")


def judged_tables(
    real: Ints,
    start: Ints,
    shapes: Sequence[tuple[int, ...]],
    threshold: float,
    synthetic_of: Callable[[Sequence[int]], Ints],
) -> list[Found]:
    """Return what is found of pairs from tables of all their cells.

    Parameters
    ----------
    real
        Rows in each cell of the tables, which follow one another, shape (n_cells,).
    start, shapes
        As in `Histograms`.
    threshold
        Association that the real table must exceed; 0 lets every pair count.
    synthetic_of
        Gives the cells of the synthetic table of those pairs that pass, whose numbers it is called with.
    """
    n = len(shapes)
    passed, associations = np.ones(n, dtype=bool), np.full(n, NAN)
    if threshold > 0:
        associations = measures.cramers_vs(real, start, shapes)
        passed = associations > threshold
    synthetic = synthetic_of(np.flatnonzero(passed).tolist())
    sizes = np.diff(start)
    kept = real if passed.all() else real[np.repeat(passed, sizes)]
    scores = np.full(n, NAN)
    scores[passed] = measures.contingency_similarities(kept, synthetic, np.cumsum([0, *sizes[passed]]))
    return [
        (score, NAN, NAN, association, is_in)
        for score, association, is_in in zip(scores.tolist(), associations.tolist(), passed.tolist(), strict=True)
    ]


def judged_cells(real: Cells, width: int, synthetic_of: Callable[[], Cells], threshold: float) -> Found:
    """Return what is found of a pair from the cells that occur.

    Parameters
    ----------
    real
        Numbers of the cells of the real table, each once: code of the first column times `width` plus code of the
        second; and rows in each.
    width
        Codes of the second column.
    synthetic_of
        Gives the cells of the synthetic table; asked where the pair passes.
    threshold
        As in `judged_tables`.
    """
    association = measures.cramers_v_of_cells(*np.divmod(real[0], width), real[1]) if threshold > 0 else NAN
    if threshold > 0 and not association > threshold:
        return NAN, NAN, NAN, association, False
    both = (real, synthetic_of())
    distinct = np.unique(np.concatenate([cells for cells, _ in both]))
    counts = np.zeros((2, len(distinct)), dtype=np.int64)
    for own, (cells, n) in zip(counts, both, strict=True):
        own[np.searchsorted(distinct, cells)] = n
    return measures.contingency_similarity(counts[0], counts[1]), NAN, NAN, association, True
