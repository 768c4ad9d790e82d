"""Correlations of pairs of numbers in two tables, compared on Fisher's z scale against relabelled blocks of rows."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.case.case import Case
from divulge.measures._counted import Found, Unit, counted_results
from divulge.measures.blocks import Dealt, compared_columns
from divulge.measures.entry import MeasureWords
from divulge.measures.noise_floor import Family
from divulge.measures.registry import measure
from divulge.measures.result import TOLERANCE, FidelityResult
from divulge.measures.smooth import correlation_z, smooth_distances, standard_levels

__all__ = ["correlations"]

Floats = NDArray[np.float64]

_KINDS = ("Pearson", "Spearman")


@measure(
    family="pairs",
    question="Do two numbers rise and fall together as in the real table?",
    needs="two columns of numbers or dates; a holdout shows what another sample of the people scores",
    reference="Fisher 1921 (the z of a correlation); Spearman 1904.",
    better="lower",
    null="The rows of both tables are dealt into blocks and the blocks relabelled 999 times.",
    words=MeasureWords(
        what="Pearson's and Spearman's correlation of each pair of columns of numbers, over rows that have both.",
        formula=(
            "d = tanh(|z_R - z_S|), z = artanh(r)\n"
            "r: Pearson's correlation of the numbers, or of their ranks in both tables together."
        ),
        reading="0 is the same correlation. Near a correlation of 0, d is the difference itself; near 1 it is larger.",
        silent=("A dependence that neither rises nor falls has no correlation: column_pairs counts values.",),
    ),
)
def correlations(case: Case, *, tolerance: float = TOLERANCE) -> tuple[FidelityResult, ...]:
    """Return how far the correlations of the synthetic table are from the real ones, and a fresh sample's would be.

    The first result is the mean over the pairs, Pearson's and Spearman's; it differs where any does. p-values are
    corrected over all of them (max-T). The spread comes from blocks of rows, so that heavy tails and units count.

    Parameters
    ----------
    tolerance
        The largest difference that does not matter.

    Examples
    --------
    >>> import polars as pl
    >>> x = [i * 37 % 101 for i in range(400)]
    >>> real = pl.DataFrame({"x": x, "y": x})
    >>> found = correlations(real, pl.DataFrame({"x": x, "y": x[::-1]}))
    >>> found[1].columns, found[1].variant, found[1].verdict
    (('x', 'y'), 'Pearson', 'differs')
    """
    return counted_results(case, "correlations", tolerance, _correlations, "fewer than two columns are numbers")


def _correlations(case: Case, rows: Dealt) -> Found | None:
    names = [c for c in compared_columns(case) if case.encoded.is_number(c)]
    if len(names) < 2:
        return None
    pairs = list(combinations(range(len(names)), 2))
    family = Family(rows.labels, case.level)
    units = []
    codes = [rows.both(case.codes(name, binned=False)) for name in names]
    for kind in _KINDS:
        levels = [
            standard_levels(own, case.numbers(n), ranks=kind == "Spearman") for n, own in zip(names, codes, strict=True)
        ]
        sums = _sums_of_pairs(levels, codes, rows, pairs)
        family.add_distances(*smooth_distances(sums, rows.labels, correlation_z))
        found = [np.tanh(correlation_z(own @ sums)) for own in (rows.labels.first[:1], 1 - rows.labels.first[:1])]
        for (a, b), real, other in zip(pairs, found[0][0], found[1][0], strict=True):
            context = {"real": round(float(real), 12), _role(rows): round(float(other), 12)}
            units.append(Unit((names[a], names[b]), kind, context=context))
    return Found(units, family.floors())


def _role(rows: Dealt) -> str:
    """Return what the table is called that the real one is compared with."""
    return "synthetic" if rows.which[1] == 1 else "holdout"


def _sums_of_pairs(
    levels: Sequence[Floats], codes: Sequence[NDArray[Any]], rows: Dealt, pairs: Sequence[tuple[int, int]]
) -> Floats:
    """Return the sums of `correlation_z` of each pair in each block, shape (n_blocks, 6 * n_pairs).

    Parameters
    ----------
    levels
        Of each column the number of each code on one scale, nan where there is none.
    codes
        Of each column the code of each row.
    rows, pairs
        The rows that are compared, and which columns make a pair.
    """
    ends = np.cumsum(rows.labels.sizes).astype(np.int64)
    of_blocks = np.empty((len(ends), 4, len(codes), len(codes)))
    for found, first, last in zip(of_blocks, np.append(0, ends[:-1]).tolist(), ends.tolist(), strict=True):
        # rows are in order of blocks; one block at a time, as the numbers of all rows take twice their codes
        part = np.stack([numbers[own[first:last]] for numbers, own in zip(levels, codes, strict=True)])
        there = ~np.isnan(part)
        own, mask = np.where(there, part, 0.0), there.astype(np.float64)
        for place, side in enumerate((mask, own, own**2)):
            np.matmul(side, mask.T, out=found[place])
        np.matmul(own, own.T, out=found[3])
    n, sums, squares, products = np.moveaxis(of_blocks, 1, 0)
    i, j = (np.array([pair[side] for pair in pairs]) for side in (0, 1))
    parts = (n[:, i, j], sums[:, i, j], sums[:, j, i], squares[:, i, j], squares[:, j, i], products[:, i, j])
    return np.stack(parts, axis=1).reshape(len(ends), -1)
