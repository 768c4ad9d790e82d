"""Where values are missing in two tables: in each column, and together, against relabelled blocks of rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.case.case import Case
from divulge.kernels.counts.contingency import combine
from divulge.measures._counted import Found, Unit, counted_results
from divulge.measures.blocks import Dealt, compared_columns
from divulge.measures.entry import MeasureWords
from divulge.measures.noise_floor import Family
from divulge.measures.registry import measure
from divulge.measures.result import TOLERANCE, FidelityResult

__all__ = ["missing_patterns"]


@measure(
    family="columns",
    question="Are values missing as often, and together with the same others, as in the real table?",
    needs="a column in which a value is missing; a holdout shows what another sample of the people scores",
    reference="Rubin 1976 (inference and missing data).",
    better="lower",
    null="The rows of both tables are dealt into blocks and the blocks relabelled 999 times.",
    words=MeasureWords(
        what="Which columns a row has no value in: the pattern of each row, and the share of each column.",
        formula=(
            "pattern: d = 1/2 sum over patterns of |r - s|\n"
            "column: d = |share missing in R - share missing in S|\n"
            "r, s: shares of the rows."
        ),
        reading="0 is the same shares. A fresh sample is never at 0: the ruler divides by what it shows.",
        silent=("Whether the missing values would have been large or small.",),
    ),
)
def missing_patterns(case: Case, *, tolerance: float = TOLERANCE) -> tuple[FidelityResult, ...]:
    """Return how far the missing values of the synthetic table are from the real ones, and a fresh sample's would be.

    The first result is about the patterns: which columns of a row are missing together. It differs where the patterns
    or any column does. p-values are corrected over all of them (max-T).

    Parameters
    ----------
    tolerance
        The largest difference that does not matter.

    Examples
    --------
    >>> import polars as pl
    >>> real = pl.DataFrame({"a": [None, 1, 2, 3] * 100, "b": [None, 1, 2, 3] * 100})
    >>> found = missing_patterns(real, pl.DataFrame({"a": [None, 1, 2, 3] * 100, "b": [1, None, 2, 3] * 100}))
    >>> found[0].value, found[0].verdict, found[1].value
    (0.5, 'differs', 0.0)
    """
    return counted_results(case, "missing_patterns", tolerance, _missing, "no value is missing in a compared column")


def _missing(case: Case, rows: Dealt) -> Found | None:
    names = [c for c in compared_columns(case) if any(counts[0] for counts in case.pooled(c).counts)]
    if not names:
        return None
    gaps = [rows.both(tuple((c == 0).astype(np.uint8) for c in case.codes(n, binned=False))) for n in names]
    patterns, n_patterns = _patterns(gaps)
    counts = rows.histograms([patterns, *gaps], [n_patterns, *(2 for _ in names)])
    family = Family(rows.labels, case.level)
    family.add(counts.counts, counts.start)
    return Found([Unit(), *(Unit((name,)) for name in names)], family.floors(), whole=0)


def _patterns(gaps: Sequence[NDArray[Any]]) -> tuple[NDArray[np.int32], int]:
    """Return one number for the columns that a row has no value in."""
    ids, _ = combine([g.astype(np.int32) for g in gaps], [2] * len(gaps))
    distinct, codes = np.unique(ids, return_inverse=True)
    return codes.astype(np.int32), len(distinct)
