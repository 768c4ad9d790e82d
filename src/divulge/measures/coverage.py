"""How much of what the real column has the synthetic column has too: its values, or its range."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.case.case import Case
from divulge.measures._counted import Found, Unit, counted_results
from divulge.measures.blocks import Dealt, column_counts, compared_columns
from divulge.measures.entry import MeasureWords
from divulge.measures.noise_floor import Family, Labels, leave_one_out, on_grid
from divulge.measures.registry import measure
from divulge.measures.result import TOLERANCE, FidelityResult

__all__ = ["coverage", "expected_coverage"]

_BINS = 64


def expected_coverage(shares: Sequence[float] | NDArray[Any], m: int) -> NDArray[np.float64]:
    """Return the chance that each value occurs among m rows: 1 - (1 - share)^m.

    Examples
    --------
    >>> expected_coverage([0.5, 0.5], 3).tolist()
    [0.875, 0.875]
    """
    p = np.asarray(shares, dtype=np.float64)
    with np.errstate(divide="ignore"):
        return np.asarray(-np.expm1(m * np.log1p(-p)))


@measure(
    family="columns",
    question="Which part of the real values occurs in the synthetic table, and would occur in a fresh sample?",
    needs="columns of numbers, dates or categories; a holdout shows what another sample of the people scores",
    reference="Good 1953 (values that a sample lacks).",
    better="lower",
    null="The rows of both tables are dealt into blocks and the blocks relabelled 999 times.",
    words=MeasureWords(
        what="The values of each real column that no synthetic row has; numbers and dates are in at most 64 bins.",
        formula="d = real values without a synthetic row / real values",
        reading=(
            "0 is nothing lost. A fresh sample lacks rare values: above what it lacks, values were dropped; below it, "
            "rare values of single people were kept."
        ),
        silent=("How often the values occur: column_shapes compares that.",),
    ),
)
def coverage(case: Case, *, tolerance: float = TOLERANCE) -> tuple[FidelityResult, ...]:
    """Return the share of real values that the synthetic table lacks, and that a fresh sample would lack.

    The first result is the mean over the columns; it differs where any column does. p-values are corrected over all
    columns (max-T). `context` has what m rows should show if the real shares were the truth.

    Parameters
    ----------
    tolerance
        The largest difference that does not matter.

    Examples
    --------
    >>> import polars as pl
    >>> real = pl.DataFrame({"place": [f"p{i % 40}" for i in range(800)]})
    >>> found = coverage(real, pl.DataFrame({"place": [f"p{i % 30}" for i in range(800)]}))
    >>> found[1].value, found[1].fresh_sample.mean, found[1].verdict
    (0.25, 0.0, 'differs')
    """
    return counted_results(case, "coverage", tolerance, _lost, "no column can be compared")


def _lost(case: Case, rows: Dealt) -> Found | None:
    names = compared_columns(case)
    if not names:
        return None
    counts = column_counts(case, rows, _BINS)
    family, units = Family(rows.labels, case.level), []
    for i, name in enumerate(names):
        cells = counts.counts[:, counts.start[i] : counts.start[i + 1]]
        there = np.asarray(cells[:, cells.any(axis=0)], dtype=np.float64)
        null, without = _shares_lost(there, rows.labels)
        family.add_distances(null, null[1:], without)
        real = there[: rows.labels.n_first].sum(axis=0)
        expected = 1 - float(np.mean(expected_coverage(real[real > 0] / real.sum(), rows.m)))
        units.append(
            Unit((name,), context={"real values": int((real > 0).sum()), "expected to be lost": round(expected, 12)})
        )
    return Found(units, family.floors())


def _shares_lost(cells: NDArray[np.float64], labels: Labels) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the share of values of the first table that the second lacks, by relabelling and without each block."""
    every = cells.sum(axis=0)
    ours = labels.first @ cells
    sides = leave_one_out(cells, labels.n_first)
    return _lost_of(ours, every - ours), _lost_of(*sides)


def _lost_of(real: NDArray[np.float64], other: NDArray[np.float64]) -> NDArray[np.float64]:
    there = real > 0
    lost = (there & (other == 0)).sum(axis=1)
    return on_grid(lost / np.maximum(there.sum(axis=1), 1))[:, None]
