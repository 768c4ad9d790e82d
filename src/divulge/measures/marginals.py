"""The distribution of each column in both tables, for a picture, beside what a fresh sample would show."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from divulge.case.case import Case
from divulge.measures.blocks import compared_columns
from divulge.measures.plot_counts import bin_codes, bins_of

__all__ = ["Marginal", "marginals"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_BINS = 16  # about so many bins of numbers
_VALUES = 12  # most cells of other values, the one of all rarer values among them
_POINTS = 1000  # quantiles that stand for a table where bins are chosen: the outermost rows decide nothing
_DIGITS = 9


@dataclass(frozen=True, slots=True)
class Marginal:
    """The shares of the rows of each table in the cells of one column, shape (n_cells,)."""

    column: str
    ordered: bool
    real: tuple[float, ...]
    synthetic: tuple[float, ...]
    low: tuple[float, ...]
    """2.5% of fresh samples have a smaller share."""
    high: tuple[float, ...]
    labels: tuple[str, ...]
    """Values or ranges of values, which are data; empty unless the case may reveal values."""


def marginals(case: Case) -> tuple[Marginal, ...]:
    """Return the distribution of each column that measures of fidelity compare, by name.

    Numbers and dates are in about 16 bins of one width, where the outermost hundredths are in the outermost bins; other
    values are cells of their own but for the rarest, which are one. Missing is a cell, the last one. The band is that
    of a fresh sample as large as the synthetic table: what the shares of two samples of one population differ by.

    Parameters
    ----------
    case
        All rows in memory. Labels are there only where it may reveal values.

    Examples
    --------
    >>> import polars as pl
    >>> from divulge.case.case import build_case
    >>> real = pl.DataFrame({"sex": ["f"] * 60 + ["m"] * 40})
    >>> (found,) = marginals(build_case(real, real[20:]))
    >>> found.real, found.synthetic, [round(v, 2) for v in found.low]
    ((0.6, 0.4), (0.5, 0.5), [0.45, 0.25])
    """
    n, m = case.n_rows("real"), case.n_rows("synthetic")
    return tuple(_of_column(case, name, _spread(case) / n + _spread(case) / m) for name in compared_columns(case))


def _spread(case: Case) -> float:
    """Return by how much shares vary more than those of single rows, as several rows belong to one unit."""
    units = case.units("real")
    if units is None:
        return 1.0
    rows = np.unique(units, return_counts=True)[1]
    return float((rows.astype(np.float64) ** 2).sum() / rows.sum())  # rows of one unit are alike at worst


def _of_column(case: Case, name: str, variance: float) -> Marginal:
    counts = np.stack([c.astype(np.int64) for c in case.pooled(name).counts[:2]])
    if case.encoded.is_number(name):
        cell, edges = _bins(case, name, counts)
        words = _ranges(edges)
    else:
        cell = _common(counts)
        words = _values(case, name, cell)
    size = int(cell.max(initial=0)) + 1
    of_cell = np.stack([np.bincount(cell, weights=c, minlength=size) for c in counts])
    there = of_cell.any(axis=0)
    real, synthetic = (c[there] / max(1.0, c.sum()) for c in of_cell)
    pooled = of_cell.sum(axis=0)[there] / max(1.0, of_cell.sum())
    half = 1.959963984540054 * np.sqrt(pooled * (1 - pooled) * variance)
    labels = tuple(words(i) for i in np.flatnonzero(there).tolist()) if case.reveal_values else ()
    numbers = (real, synthetic, np.maximum(0, real - half), np.minimum(1, real + half))
    ours, theirs, low, high = (tuple(np.round(v, _DIGITS).tolist()) for v in numbers)
    return Marginal(name, case.encoded.is_number(name), ours, theirs, low, high, labels)


def _bins(case: Case, name: str, counts: Ints) -> tuple[Ints, Floats]:
    """Return the bin of each code, shape (n_codes,), missing and texts last; and the edges of the bins."""
    numbers = case.numbers(name)
    known = np.isfinite(numbers)
    order = np.flatnonzero(known)[np.argsort(numbers[known], kind="stable")]
    sides = []
    for of_table in counts:
        below = np.cumsum(of_table[order])
        if len(below) and below[-1]:
            wanted = (np.arange(_POINTS) + 0.5) / _POINTS * below[-1]
            sides.append(numbers[order][np.searchsorted(below, wanted)])
    edges = bins_of(sides, dates=case.schema[name].kind == "datetime", about=_BINS)
    cell = np.full(len(numbers), len(edges) - 1, dtype=np.int64)
    cell[known] = bin_codes(numbers[known], edges)
    return cell, edges


def _ranges(edges: Floats) -> Callable[[int], str]:
    return lambda i: f"{edges[i]:g} to {edges[i + 1]:g}" if i < len(edges) - 1 else "no number"


def _common(counts: Ints) -> Ints:
    """Return the cell of each code, shape (n_codes,): the commonest by real rows first, all rarer ones, missing."""
    n_codes = counts.shape[1]
    order = np.lexsort((-counts[1], -counts[0]))
    order = order[order > 0]  # code 0 is missing
    cell = np.empty(n_codes, dtype=np.int64)
    shown = len(order) if len(order) < _VALUES else _VALUES - 1
    cell[order] = np.minimum(np.arange(len(order)), shown)
    cell[0] = shown + 1
    return cell


def _values(case: Case, name: str, cell: Ints) -> Callable[[int], str]:
    def words(i: int) -> str:
        inside = np.flatnonzero(cell == i)
        if len(inside) == 1:
            return case.value_in_words(name, int(inside[0]), binned=False)
        return f"{len(inside):,} other values"

    return words
