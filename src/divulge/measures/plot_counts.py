"""What a plot shows of one or two tables: counts on common bins, quantiles and means made of them.

No cell that is returned stands for fewer than `FEW` rows of a table: on a line, such a bin is merged with its
neighbours, and in a grid it is empty.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor, inf, log10
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "DAY",
    "FEW",
    "bin_codes",
    "bins_of",
    "counts_in",
    "enough",
    "frequent",
    "grid_bins",
    "grid_counts",
    "line_through",
    "merged",
    "quantiles",
    "shown_cells",
]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
FEW = 5
"""Rows of a table from which a cell is shown."""
DAY = 86_400.0
_LEAST, _MOST = 8, 60
_LARGEST, _SMALLEST = 1e300, 1e-290
_SPANS = (1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 300.0, 600.0, 1800.0, 3600.0, 10800.0, 21600.0)
_DAYS = (1, 2, 5, 10, 20, 50, 100, 200)
_FULL = 0.9
"""Share of the rows of each table that must stand in cells with enough rows, or the grid becomes coarser."""


def enough(sides: Sequence[Floats]) -> list[Floats]:
    """Return the tables with enough values to show something."""
    return [v for v in sides if len(v) >= FEW]


def bins_of(
    sides: Sequence[Floats], *, dates: bool = False, least: int = _LEAST, most: int = _MOST, about: int | None = None
) -> Floats:
    """Return the edges of common bins of round width, shape (n_bins + 1,).

    They reach from the fifth smallest to the fifth largest value over the tables, so that no single row decides where
    the plot ends; what lies beyond is counted in the outermost bins. A bin of whole numbers has its edges between
    whole numbers.

    Parameters
    ----------
    sides
        Finite numbers of each table; in seconds where they are dates.
    dates
        Whether widths are those of clocks and calendars.
    least, most
        Limits of the number of bins that is aimed at; as many as twice the cube root of the rows.
    about
        The number to aim at instead.

    Examples
    --------
    >>> bins_of([np.arange(1000.0)], about=5)
    array([-5.000e-01,  1.995e+02,  3.995e+02,  5.995e+02,  7.995e+02,
            9.995e+02])
    """
    shown = enough(sides)
    if not shown:
        return np.array([0.0, 1.0])
    ends = [_inner_ends(v) for v in shown]
    low, high = min(e[0] for e in ends), max(e[1] for e in ends)
    size = min(len(v) for v in shown)
    aim = about or int(min(max(2 * size ** (1 / 3), least), most))
    whole = not dates and max(abs(low), abs(high)) < 2**52 and all(bool((v == np.rint(v)).all()) for v in shown)
    finest = max(abs(low), abs(high)) * 1e-12  # narrower bins have no edges among the floats
    rough = max((high - low) / aim, finest)
    width = _width(rough if high - low > finest + _SMALLEST else _alone(low, dates, whole), dates, whole)
    first = floor(low / width + 1e-9)
    n = max(ceil((high + (1 if whole else 0)) / width - 1e-9) - first, 1)
    return (first + np.arange(n + 1.0)) * width - (0.5 if whole else 0.0)


def _inner_ends(values: Floats) -> tuple[float, float]:
    """Return the fifth smallest and the fifth largest of five values or more, the smaller first."""
    values = np.clip(values, -_LARGEST, _LARGEST)
    n = len(values)
    parted = np.partition(values, sorted({FEW - 1, n - FEW}))
    ends = float(parted[FEW - 1]), float(parted[n - FEW])
    return min(ends), max(ends)


def _alone(value: float, dates: bool, whole: bool) -> float:
    """Return a width for bins around one value."""
    return DAY if dates else 1.0 if whole or abs(value) < _SMALLEST else abs(value) / 10


def _width(rough: float, dates: bool, whole: bool) -> float:
    """Return the smallest round width that is not below a rough one."""
    if dates:
        spans = (*_SPANS, *(d * DAY for d in _DAYS), *(y * 365.25 * DAY for y in (1, 2, 5, 10, 20, 50, 100, 1000)))
        return next((s for s in spans if s >= rough * 0.999), rough) if rough > 1 else 1.0
    power = 10.0 ** floor(log10(rough))
    rounded = (m * power for m in (1, 2, 2.5, 5, 10) if m * power >= rough * 0.999)
    return next(w for w in rounded if not whole or w % 1 == 0) if not whole or rough > 1 else 1.0


def counts_in(values: Floats, edges: Floats) -> Ints:
    """Return the rows in each of several bins of one width, shape (n_bins,); the outermost bins take what is beyond.

    Examples
    --------
    >>> counts_in(np.array([0.2, 1.5, 9.0]), np.array([0.0, 1.0, 2.0]))
    array([1, 2])
    """
    return np.bincount(bin_codes(values, edges), minlength=len(edges) - 1).astype(np.int64)


def bin_codes(values: Floats, edges: Floats) -> Ints:
    """Return the number of the bin of each value, as `counts_in` counts them."""
    width = (edges[-1] - edges[0]) / (len(edges) - 1)
    places = (np.clip(values, edges[0], edges[-1]) - edges[0]) / width
    return np.asarray(np.minimum(np.floor(places + 1e-9).astype(np.int64), len(edges) - 2), dtype=np.int64)


def merged(counts: Ints) -> Floats:
    """Return the mean count of each bin's group, shape (n_bins,): bins of fewer than five rows join their neighbours.

    Parameters
    ----------
    counts
        Rows in each bin; a bin without rows stays as it is where no neighbour needs it.

    Returns
    -------
    ndarray
        All nan if the table has fewer than five rows.

    Examples
    --------
    >>> merged(np.array([8, 3, 0, 3, 0, 9, 1]))
    array([8., 2., 2., 2., 0., 5., 5.])
    """
    out = np.zeros(len(counts))
    for begin, end in _groups(counts):
        out[begin:end] = counts[begin:end].sum() / (end - begin)
    return np.full(len(counts), np.nan) if counts.sum() < FEW else out


def _groups(counts: Ints) -> list[tuple[int, int]]:
    """Return first bin and end of each group; all have no row or five rows or more, if all bins together have."""
    groups: list[tuple[int, int]] = []
    begin, total = 0, 0
    for i, count in enumerate(counts.tolist()):
        total += count
        if total == 0 or total >= FEW:
            groups.append((begin, i + 1))
            begin, total = i + 1, 0
    while total and total < FEW and groups:
        start, end = groups.pop()
        total += int(counts[start:end].sum())
        begin = start
    return groups if begin == len(counts) else [*groups, (begin, len(counts))]


def frequent(counts: Sequence[Ints], totals: Sequence[int], most: int) -> Ints:
    """Return the most frequent codes, the first by their mean share over the tables.

    Parameters
    ----------
    counts
        Per table: rows of each code, shape (n_codes,); equal shares stand in the order of the codes.
    totals
        Per table: its rows.
    most
        Largest number of codes.

    Examples
    --------
    >>> frequent([np.array([9, 50, 4]), np.array([8, 60, 4])], [63, 72], 2)
    array([1, 0])
    """
    shares = sum((c / n for c, n in zip(counts, totals, strict=True)), np.zeros(len(counts[0])))
    return np.asarray(np.argsort(-shares, kind="stable")[:most], dtype=np.int64)


def shown_cells(counts: Ints) -> Ints:
    """Return the counts with those of fewer than five rows left out.

    Examples
    --------
    >>> shown_cells(np.array([[4, 5], [0, 9]]))
    array([[0, 5],
           [0, 9]])
    """
    return np.where(counts >= FEW, counts, 0)


def grid_bins(sides: Sequence[tuple[Floats, Floats]], dates: tuple[bool, bool]) -> tuple[Floats, Floats]:
    """Return the edges of both axes of a grid: the finest in which nine of ten rows of each table are shown.

    Parameters
    ----------
    sides
        Both numbers of each row, for each table.
    dates
        Whether the numbers of each axis are dates.
    """
    edges = []
    for about in (40, 20, 10, 5):
        edges = [bins_of([s[i] for s in sides], dates=dates[i], about=about) for i in (0, 1)]
        if all(_shown_share(s, edges) >= _FULL for s in sides if len(s[0]) >= FEW):
            break
    return edges[0], edges[1]


def _shown_share(side: tuple[Floats, Floats], edges: Sequence[Floats]) -> float:
    return float(shown_cells(grid_counts(*_numbers_in(side, edges))).sum() / len(side[0]))


def _numbers_in(side: tuple[Floats, Floats], edges: Sequence[Floats]) -> tuple[Ints, Ints, int, int]:
    first, second = (bin_codes(v, e) for v, e in zip(side, edges, strict=True))
    return first, second, len(edges[0]) - 1, len(edges[1]) - 1


def grid_counts(first: Ints, second: Ints, n_first: int, n_second: int) -> Ints:
    """Return the rows in each cell of two code columns, shape (n_second, n_first)."""
    cells = np.bincount(second * n_first + first, minlength=n_first * n_second)
    return np.asarray(cells.reshape(n_second, n_first), dtype=np.int64)


def quantiles(counts: Ints, edges: Floats, shares: Sequence[float]) -> Floats:
    """Return quantiles read from bins, as if the rows of a bin were spread evenly over it; nan where too few decide.

    A quantile has at least five rows on either side, so the outer ones move inwards in a small table.

    Examples
    --------
    >>> quantiles(np.array([10, 10]), np.array([0.0, 1.0, 2.0]), [0.01, 0.5])
    array([0.5, 1. ])
    """
    total = int(counts.sum())
    if total < 2 * FEW:
        return np.full(len(shares), np.nan)
    inner = FEW / total
    wanted = np.clip(np.asarray(shares, dtype=float), inner, 1 - inner) * total
    return np.asarray(np.interp(wanted, np.concatenate([[0], np.cumsum(counts)]), edges))


def line_through(x: Floats, y: Floats, x_edges: Floats, y_edges: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Return a line through a table: the mean of y over bins of x, and quartiles of y; each shape (n_points,).

    Returns
    -------
    x, mean, low, high
        Bins without enough rows are merged with their neighbours; quartiles are nan below 20 rows.
    """
    numbers = bin_codes(x, x_edges)
    counts = np.bincount(numbers, minlength=len(x_edges) - 1).astype(np.int64)
    if counts.sum() < FEW:
        return tuple(np.empty(0) for _ in range(4))  # type: ignore[return-value]
    inside = np.clip(y, y_edges[0], y_edges[-1])  # no single row decides where the line goes
    sums = np.bincount(numbers, weights=inside, minlength=len(counts))
    cells = grid_counts(bin_codes(y, y_edges), numbers, len(y_edges) - 1, len(counts))
    points: list[tuple[Any, ...]] = []
    for begin, end in _groups(counts):
        n = int(counts[begin:end].sum())
        if n:
            inner = quantiles(cells[begin:end].sum(axis=0), y_edges, (0.25, 0.75)) if n >= 4 * FEW else (inf, inf)
            points.append(((x_edges[begin] + x_edges[end]) / 2, sums[begin:end].sum() / n, *inner))
    found = np.array(points, dtype=float).T
    found[2:][np.isinf(found[2:])] = np.nan
    return found[0], found[1], found[2], found[3]
