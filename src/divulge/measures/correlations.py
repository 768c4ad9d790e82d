"""Correlations of pairs of numbers in two tables, compared on Fisher's z scale against relabelled blocks of rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from divulge.case.case import Case
from divulge.measures._counted import Found, Unit, counted_results
from divulge.measures.blocks import Dealt, compared_columns
from divulge.measures.entry import MeasureWords
from divulge.measures.noise_floor import Family, Labels, on_grid
from divulge.measures.registry import measure
from divulge.measures.result import TOLERANCE, FidelityResult

__all__ = ["correlations"]

Floats = NDArray[np.float64]

_KINDS = ("Pearson", "Spearman")
_MOST = 1 - 1e-12  # of a correlation, so that its z is finite
_FEWEST_ROWS = 8


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
    for kind in _KINDS:
        sums = _sums_of_pairs(_standard_numbers(case, rows, names, kind), rows, pairs)
        family.add_distances(*_distances(sums, rows.labels))
        found = [np.tanh(_z_of(sums.whole(own))) for own in (rows.labels.first[0], 1 - rows.labels.first[0])]
        for (a, b), real, other in zip(pairs, *found, strict=True):
            context = {"real": round(float(real), 12), _role(rows): round(float(other), 12)}
            units.append(Unit((names[a], names[b]), kind, context=context))
    return Found(units, family.floors())


def _role(rows: Dealt) -> str:
    """Return what the table is called that the real one is compared with."""
    return "synthetic" if rows.which[1] == 1 else "holdout"


def _standard_numbers(case: Case, rows: Dealt, names: Sequence[str], kind: str) -> Floats:
    """Return numbers or ranks less their mean over all rows, in standard deviations; nan where there is none.

    They are rounded so that sums of products are exact in any order.
    """
    bits = math.floor((52 - math.log2(max(2, rows.n + rows.m))) / 2)
    out = np.empty((rows.n + rows.m, len(names)))
    for j, name in enumerate(names):
        codes = rows.both(case.codes(name, binned=False))
        numbers = case.numbers(name).copy()
        numbers[~np.isfinite(numbers)] = np.nan
        counts = np.bincount(codes, minlength=len(numbers)).astype(np.float64)
        counts[np.isnan(numbers)] = 0
        if kind == "Spearman":
            numbers = _ranks(numbers, counts)
        there = counts > 0
        if there.any():
            with np.errstate(over="ignore"):
                numbers = numbers / max(float(np.abs(numbers[there]).max()), 1e-300)
                numbers = numbers - np.average(numbers[there], weights=counts[there])
                spread = math.sqrt(float(np.average(numbers[there] ** 2, weights=counts[there])))
            numbers = numbers / spread if spread > 1e-12 else numbers * 0
        out[:, j] = (np.rint(numbers * 2.0**bits) / 2.0**bits)[codes]
    return out


def _ranks(numbers: Floats, counts: Floats) -> Floats:
    """Return the middle rank of each number among all rows."""
    order = np.argsort(numbers, kind="stable")  # nan last
    ranks = np.full(len(numbers), np.nan)
    ranks[order] = np.cumsum(counts[order]) - (counts[order] - 1) / 2
    ranks[np.isnan(numbers)] = np.nan
    return ranks


@dataclass(frozen=True, slots=True, eq=False)
class _Sums:
    """Of each pair, per block: rows that have both numbers, and sums of x, y, xx, yy and xy."""

    of: Floats
    """Shape (6, n_blocks, n_pairs)."""

    def whole(self, labels: Floats) -> Floats:
        """Return the sums over the blocks of some labels, shape (6, n_pairs) or (6, n_labels, n_pairs)."""
        return np.asarray(labels @ self.of)


def _sums_of_pairs(x: Floats, rows: Dealt, pairs: Sequence[tuple[int, int]]) -> _Sums:
    n_blocks = len(rows.labels.sizes)
    order = np.argsort(rows.block, kind="stable")
    ends = np.cumsum(np.bincount(rows.block, minlength=n_blocks))
    first, second = (np.array([pair[i] for pair in pairs]) for i in (0, 1))
    out = np.zeros((6, n_blocks, len(pairs)))
    for block, part in enumerate(np.split(order, ends[:-1])):
        there = ~np.isnan(x[part])
        own = np.where(there, x[part], 0.0)
        mask = there.astype(np.float64)
        n, sums, squares, products = mask.T @ mask, own.T @ mask, (own**2).T @ mask, own.T @ own
        parts = (n[first, second], sums[first, second], sums[second, first], squares[first, second])
        for i, found in enumerate((*parts, squares[second, first], products[first, second])):
            out[i, block] = found
    return _Sums(out)


def _z_of(sums: Floats) -> Floats:
    """Return Fisher's z of the correlation, 0 where a side has few rows or one value."""
    n, x, y, xx, yy, xy = sums
    rows = np.maximum(n, 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        sides = np.maximum(xx - x * x / rows, 0) * np.maximum(yy - y * y / rows, 0)
        r = (xy - x * y / rows) / np.sqrt(sides)
    usable = (n >= _FEWEST_ROWS) & (sides > 1e-9)
    return np.asarray(np.arctanh(np.clip(np.where(usable, r, 0.0), -_MOST, _MOST)))


def _distances(sums: _Sums, labels: Labels) -> tuple[Floats, Floats, Floats]:
    """Return the distances under each relabelling, of fresh samples, and without each block."""
    every = sums.of.sum(axis=1)
    own = sums.whole(labels.first)
    apart = np.tanh(np.abs(_z_of(own) - _z_of(every[:, None, :] - own)))
    ours = labels.first[0][:, None]
    sides = [sums.whole(labels.first[0]), sums.whole(1 - labels.first[0])]
    z = [_z_of(side) for side in sides]
    left = np.where(ours > 0, _z_of(sides[0][:, None, :] - sums.of), _z_of(sides[1][:, None, :] - sums.of))
    without = np.tanh(np.abs(np.where(ours > 0, left - z[1], z[0] - left)))
    # to first order the correlation of a table is the mean of the influences of its blocks
    influence = np.empty_like(left)
    n_first = labels.n_first
    for part, of_side in ((slice(0, n_first), z[0]), (slice(n_first, None), z[1])):
        moved = (of_side - left[part]) * (len(left[part]) - 1)
        influence[part] = moved - moved.mean(axis=0)
    n_second = len(labels.sizes) - n_first
    drawn = labels.first[1:] @ influence * (1 / n_first + 1 / n_second)
    return on_grid(apart), on_grid(np.tanh(np.abs(drawn * labels.correction))), on_grid(without)
