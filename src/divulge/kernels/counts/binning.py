"""Binning: integer codes for counting, fitted for each column on real and holdout and used for every table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from divulge.core.schema import Bins, Column

__all__ = ["Binning", "binning_by_edges", "fit_binning", "quantile_edges", "quantile_ranks", "width_edges"]


@dataclass(frozen=True, slots=True)
class Binning:
    """How the levels of one column become codes for counting; code 0 is missing."""

    map: NDArray[np.int32]
    """Shape (n_levels + 1,): level code (0 is missing) -> counting code. Empty where an engine codes by the edges."""
    n_codes: int
    """Counting codes run from 0 to n_codes - 1."""
    bins: str
    """The bins in words, "" when each value is a category of its own."""
    edges: NDArray[np.float64]
    """Inner edges of the bins, right-closed; empty when there are none. They are data values."""


def fit_binning(column: Column, numbers: NDArray[np.float64], counts: NDArray[np.int64]) -> Binning:
    """Return the coding of one column.

    Parameters
    ----------
    column
        Numbers and datetimes are binned as `column.bins` says; columns of other kinds are categories.
    numbers
        Shape (n_levels,): the levels as numbers, nan where a level is none (it stays a category of its own).
    counts
        Shape (n_levels,): how often each level occurs in real and holdout pooled. A level that only the synthetic
        table has goes into the bin that contains it.

    Examples
    --------
    >>> fit_binning(Column("age", "numeric", bins=Bins("width", 2)), np.arange(5.0), np.ones(5, int)).map
    array([0, 1, 1, 1, 2, 2], dtype=int32)
    """
    n_levels = len(numbers)
    binned = column.kind in ("numeric", "datetime") and column.bins.how != "none"
    is_number = ~np.isnan(numbers)
    if not binned or is_number.sum() <= column.bins.n:
        return Binning(np.arange(n_levels + 1, dtype=np.int32), n_levels + 1, "", np.empty(0))
    edges = _edges(column.bins, numbers[is_number], counts[is_number])
    code = np.zeros(n_levels + 1, dtype=np.int32)
    code[1:][is_number] = np.searchsorted(edges, numbers[is_number], side="left") + 1
    n_others = int((~is_number).sum())
    code[1:][~is_number] = len(edges) + 2 + np.arange(n_others)
    how = _in_words(column.bins, edges)
    if n_others:
        how += f", and values that are no number: {n_others}"
    return Binning(code, len(edges) + 2 + n_others, how, edges)


def binning_by_edges(
    bins: Bins, n: int, low: float, high: float, at: Callable[[NDArray[np.int64]], NDArray[np.float64]]
) -> Binning:
    """Return the coding of a column of numbers whose values are not here; it has the edges of `fit_binning`.

    Parameters
    ----------
    n
        Numbers in real and holdout.
    low, high
        Smallest and largest finite one, nan where there is none.
    at
        Returns the numbers of some ranks among these, from 1 to n.

    Examples
    --------
    >>> binning_by_edges(Bins("quantile", 2), 4, 1.0, 4.0, lambda ranks: ranks * 1.0).edges
    array([2.])
    """
    if bins.how == "width":
        edges = width_edges(np.unique([low, high]), bins.n)
    elif n:
        values = at(np.append(quantile_ranks(n, bins.n), n))
        edges = np.unique(values[values < values[-1]])
    else:
        edges = np.empty(0)
    return Binning(np.empty(0, dtype=np.int32), len(edges) + 2, _in_words(bins, edges), edges)


def _in_words(bins: Bins, edges: NDArray[np.float64]) -> str:
    return f"{len(edges) + 1} {bins.how} bins of real and holdout, right-closed"


def _edges(bins: Bins, numbers: NDArray[np.float64], counts: NDArray[np.int64]) -> NDArray[np.float64]:
    order = np.argsort(numbers, kind="stable")  # levels of text come in the order of text
    order = order[counts[order] > 0]
    numbers, counts = numbers[order], counts[order]
    if len(numbers) == 0:
        return np.empty(0)
    if bins.how == "width":
        return width_edges(numbers, bins.n)
    return quantile_edges(numbers, counts, bins.n)


def quantile_edges(numbers: NDArray[np.float64], counts: NDArray[np.int64], n_bins: int) -> NDArray[np.float64]:
    """Return the inner edges of quantile bins: data values (inverse of the distribution function), repeats merged.

    Parameters
    ----------
    numbers
        Distinct values, ascending, shape (n,).
    counts
        How often each occurs, shape (n,).
    n_bins
        Wanted number of bins; fewer come out where values repeat.

    Examples
    --------
    >>> quantile_edges(np.array([1.0, 2, 3, 4]), np.array([1, 1, 1, 1]), 2)
    array([2.])
    """
    cumulated = np.cumsum(counts)
    edges = np.unique(numbers[np.searchsorted(cumulated, quantile_ranks(int(cumulated[-1]), n_bins))])
    return np.asarray(edges[edges < numbers[-1]], dtype=np.float64)


def quantile_ranks(n: int, n_bins: int) -> NDArray[np.int64]:
    """Return the ranks, from 1 to n, of the values at which n_bins quantile bins of n rows end, without the last.

    Examples
    --------
    >>> quantile_ranks(10, 4)
    array([3, 5, 8])
    """
    # whole-number arithmetic: k * n / n_bins in floats would put an edge one value off
    return (np.arange(1, n_bins) * n + n_bins - 1) // n_bins


def width_edges(numbers: NDArray[np.float64], n_bins: int) -> NDArray[np.float64]:
    """Return the inner edges of bins of equal width between the smallest and the largest finite value."""
    finite = numbers[np.isfinite(numbers)]
    if len(finite) < 2:
        return np.empty(0)
    return np.asarray(np.linspace(finite[0], finite[-1], n_bins + 1)[1:-1], dtype=np.float64)
