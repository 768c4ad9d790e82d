"""Pearson's correlations of all columns of a table at once, from sums of whole numbers.

Each column is put on a grid of 2**53 steps between its smallest and its largest number, and a number of steps is split
into three parts of 18 bits. Sums of products of the parts are whole numbers that float64 holds exactly, so that neither
the order of the rows nor the blocks in which they come change a digit. Products below a 2**54th of the squared range
are left out.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from divulge.sdmetrics.columns import Column
from divulge.sdmetrics.inputs import known

__all__ = ["ROWS_AT_ONCE", "Grid", "Sums", "correlations", "grid_of", "steps"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Pair = tuple[float, float]

ROWS_AT_ONCE = 2**14
"""Most rows of one block."""
_BITS = 18  # of a part of a number of steps
_STEPS = 2.0**53  # from the middle of the range to its ends
_SMALLEST, _LARGEST = 1e-125, 1e150  # half of a range: beyond, squares of float64 fail, as in SDMetrics
_FAR = 1e10  # middle, in halves of the range: beyond, the mean of float64 is off, as in SDMetrics
_ROWS_IN_INT64 = 2**26  # rows whose sums fit into int64
_LEFT = 1e-4
"""Share of a column's squares that must be left where another column has a value; with less, digits are lost."""


class Grid(NamedTuple):
    """The range of a column: the middle, and half of its width."""

    middle: float
    half: float


def grid_of(values: NDArray[Any]) -> Grid | None:
    """Return the grid of some numbers without nan; None where they are no finite numbers, all alike or too extreme.

    Examples
    --------
    >>> grid_of(np.array([1, 2, 4]))
    Grid(middle=2.5, half=1.5)
    """
    if values.dtype.kind not in "biuf" or not len(values):
        return None
    low, high = float(values.min()), float(values.max())
    half = high / 2 - low / 2
    middle = low / 2 + high / 2
    return Grid(middle, half) if _SMALLEST < half < _LARGEST and abs(middle) < _FAR * half else None


def steps(values: NDArray[Any], grid: Grid) -> Floats:
    """Return numbers as steps from the middle, in three parts: shape (3, n), the first the greatest.

    Examples
    --------
    >>> a, b, c = steps(np.array([0.0, 0.75, 1.0]), Grid(0.5, 0.5))
    >>> ((a * 2**36 + b * 2**18 + c) / 2**53).tolist()
    [-1.0, 0.5, 1.0]
    """
    whole = np.rint((values - grid.middle) / grid.half * _STEPS)
    out = np.empty((3, len(whole)))
    np.rint(whole * 2.0 ** (-2 * _BITS), out=out[0])
    whole -= out[0] * 2.0 ** (2 * _BITS)
    np.rint(whole * 2.0**-_BITS, out=out[1])
    np.subtract(whole, out[1] * 2.0**_BITS, out=out[2])
    return out


class Sums:
    """Sums over rows from which the correlation of each two columns follows, over the rows in which both have a value.

    Parameters
    ----------
    n_columns
        Number of the columns.
    gaps
        Those columns that lack values in some rows, ascending.
    """

    def __init__(self, n_columns: int, gaps: Sequence[int]) -> None:
        k, g = n_columns, len(gaps)
        self._place = {column: 1 + i for i, column in enumerate(gaps)}
        self._k, self._rows = k, 0
        shapes = {"products": (3 * k, k), "middles": (k, k), "totals": (3 * k, g + 1), "squares": (3 * k, g),
                  "rows": (g + 1, g + 1)}  # fmt: skip
        self._now: dict[str, Ints] = {name: np.zeros(shape, dtype=np.int64) for name, shape in shapes.items()}
        self._all: dict[str, Any] = {name: np.zeros(shape, dtype=object) for name, shape in shapes.items()}

    def add(self, block: Floats, there: Floats) -> None:
        """Add at most `ROWS_AT_ONCE` rows.

        Parameters
        ----------
        block
            Of `steps`, shape (3, n_columns, n_rows); 0 where a value is missing.
        there
            1 where a column of `gaps` has a value and 0 elsewhere, shape (n_gaps, n_rows).
        """
        a, b, c = block
        n = block.shape[2]
        flat = block.reshape(3 * self._k, n)
        both = np.concatenate([np.ones((1, n)), there])
        found = {"products": flat @ a.T, "middles": b @ b.T, "totals": flat @ both.T, "rows": both @ both.T}
        if len(there):
            found["squares"] = np.concatenate([a * a, a * b, 2 * a * c + b * b]) @ there.T
        for name, own in found.items():
            self._now[name] += own.astype(np.int64)
        self._rows += n
        if self._rows > _ROWS_IN_INT64 - ROWS_AT_ONCE:
            self._carry()

    def _carry(self) -> None:
        for name, own in self._now.items():
            self._all[name] += own.astype(object)
            own[:] = 0
        self._rows = 0

    def correlations(self) -> Floats:
        """Return the correlations, shape (n_columns, n_columns).

        They are nan where two columns share hardly a row, or hardly a difference in the rows that they share.
        """
        self._carry()
        k, each = self._k, self._all
        aa, ba, ca = (each["products"][i * k : (i + 1) * k] for i in range(3))
        products = (aa << 4 * _BITS) + ((ba + ba.T) << 3 * _BITS) + ((ca + ca.T + each["middles"]) << 2 * _BITS)
        sums = self._whole(each["totals"], (2 * _BITS, _BITS, 0))
        squares = self._whole(each["squares"], (4 * _BITS, 3 * _BITS + 1, 2 * _BITS))
        place = [self._place.get(i, 0) for i in range(k)]
        left = np.full((k, k), 0, dtype=object)
        n_rows = np.full((k, k), 0, dtype=object)
        for i in range(k):
            for j in range(k):
                n_rows[i, j] = each["rows"][place[i], place[j]]
                square = products[i, i] if not place[j] else squares[i, place[j] - 1]
                left[i, j] = n_rows[i, j] * square - sums[i, place[j]] ** 2
        out = np.full((k, k), np.nan)
        for i in range(k):
            for j in range(k):
                if _is_sound(left, n_rows, i, j) and _is_sound(left, n_rows, j, i):
                    shared = n_rows[i, j] * products[i, j] - sums[i, place[j]] * sums[j, place[i]]
                    found = float(shared) / math.sqrt(float(left[i, j])) / math.sqrt(float(left[j, i]))
                    out[i, j] = max(-1.0, min(1.0, found))
        return out

    def _whole(self, parts: Any, shifts: tuple[int, int, int]) -> Any:
        """Return the sum of three parts, each shifted by some bits."""
        return sum(parts[i * self._k : (i + 1) * self._k] << shift for i, shift in enumerate(shifts))


def _is_sound(left: Any, n_rows: Any, i: int, j: int) -> bool:
    """Return whether column i has enough rows, and enough of its spread, where column j has a value."""
    n, own = n_rows[i, j], n_rows[i, i]
    return bool(n > 2 and left[i, j] > 0 and float(left[i, j]) / n > _LEFT * float(left[i, i]) / own)


def correlations(columns: Mapping[Hashable, tuple[Column, Column]]) -> dict[tuple[Hashable, Hashable], Pair]:
    """Return the correlation of each pair of columns in both tables, over the rows in which both have a value.

    Parameters
    ----------
    columns
        Each column in the real and in the synthetic table. Those are left out that are constant or hold something else
        than finite numbers in either table; and pairs with hardly a row, or hardly a difference, in common.
    """
    grids = {name: [grid_of(known(c)) for c in both] for name, both in columns.items()}
    plain = [name for name, both in grids.items() if None not in both]
    if len(plain) < 2:
        return {}
    sides = []
    for side in (0, 1):
        own = [columns[name][side] for name in plain]
        sides.append(_matrix(own, [grid for name in plain if (grid := grids[name][side]) is not None]))
    return in_both(plain, sides[0], sides[1])


def in_both(names: Sequence[Hashable], real: Floats, synthetic: Floats) -> dict[tuple[Hashable, Hashable], Pair]:
    """Return for each two columns both correlations, where both are known."""
    first, second = np.nonzero(~np.isnan(real) & ~np.isnan(synthetic))
    found = zip(real[first, second].tolist(), synthetic[first, second].tolist(), strict=True)
    places = zip(first.tolist(), second.tolist(), strict=True)
    return {(names[i], names[j]): both for (i, j), both in zip(places, found, strict=True)}


def _matrix(columns: Sequence[Column], grids: Sequence[Grid]) -> Floats:
    """Return Pearson's correlations of the columns, in blocks of rows; nan where they cannot be had so."""
    missing = {i: c.missing for i, c in enumerate(columns) if c.has_missing}
    values, n = [c.values for c in columns], len(columns[0])
    sums = Sums(len(columns), list(missing))
    for low in range(0, n, ROWS_AT_ONCE):
        rows = slice(low, min(n, low + ROWS_AT_ONCE))
        block = np.empty((3, len(columns), rows.stop - low))
        there = np.ones((len(missing), rows.stop - low))
        for i, (own, grid) in enumerate(zip(values, grids, strict=True)):
            block[:, i] = steps(own[rows], grid)
        for g, (i, lost) in enumerate(missing.items()):
            block[:, i, lost[rows]] = 0.0
            there[g][lost[rows]] = 0.0
        sums.add(block, there)
    return sums.correlations()
