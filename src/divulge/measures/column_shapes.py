"""How alike the distributions of one column are in two tables, from counts of values or from the numbers."""

from __future__ import annotations

import numpy as np

from divulge.case.case import Case
from divulge.measures._counted import Found, Unit, counted_results
from divulge.measures.blocks import Dealt, coded, column_counts, compared_columns
from divulge.measures.entry import MeasureWords
from divulge.measures.noise_floor import Family, ks_distance, tv_distance
from divulge.measures.registry import measure
from divulge.measures.result import TOLERANCE, FidelityResult

__all__ = ["column_shapes"]

BINS = 64
"""Most bins of a column of numbers."""


@measure(
    family="columns",
    question="Has each column the values of the real one, as often?",
    needs="columns of numbers, dates or categories; a holdout shows what another sample of the people scores",
    reference="Smirnov 1939 (largest difference of two distribution functions); Westfall and Young 1993 (max-T).",
    better="lower",
    null="The rows of both tables are dealt into blocks and the blocks relabelled 999 times.",
    words=MeasureWords(
        what="The shares of each value, or of the numbers up to each of 64 bins, in both tables.",
        formula=(
            "numbers and dates: d = max over x of |F_R(x) - F_S(x)|\n"
            "all others: d = 1/2 sum over v of |r(v) - s(v)|\n"
            "F, r, s: shares of the rows; missing is a value, and below all numbers."
        ),
        reading=(
            "0 is the same counts, 1 no value in common. A fresh sample is never at 0: the ruler divides by what it "
            "shows, so that 1 is a fresh sample and 0.71 are margins drawn from the real counts."
        ),
        silent=(
            "Columns may fit each other wrongly: column_pairs compares pairs.",
            "The ends of a column are few rows: tails looks there.",
        ),
    ),
)
def column_shapes(case: Case, *, tolerance: float = TOLERANCE) -> tuple[FidelityResult, ...]:
    """Return how far the columns of the synthetic table are from the real ones, and a fresh sample's would be.

    The first result is the mean over the columns; it differs where any column does. p-values are corrected over all
    columns (max-T).

    Parameters
    ----------
    tolerance
        The largest difference that does not matter.

    Examples
    --------
    >>> import polars as pl
    >>> real = pl.DataFrame({"sex": ["f", "m"] * 200})
    >>> found = column_shapes(real, pl.DataFrame({"sex": ["f"] * 300 + ["m"] * 100}))
    >>> found[1].columns, found[1].value, found[1].verdict
    (('sex',), 0.25, 'differs')
    """
    return counted_results(case, "column_shapes", tolerance, _shapes, "no column can be compared")


def _shapes(case: Case, rows: Dealt) -> Found | None:
    names = compared_columns(case)
    if not names:
        return None
    counts = column_counts(case, rows, BINS)
    family = Family(rows.labels, case.level)
    for i, name in enumerate(names):
        cells = counts.counts[:, counts.start[i] : counts.start[i + 1]]
        cells = cells[:, cells.any(axis=0)]
        family.add(
            cells, np.array([0, cells.shape[1]]), ks_distance if coded(case, name, BINS).ordered else tv_distance
        )
    return Found([Unit((name,)) for name in names], family.floors())
