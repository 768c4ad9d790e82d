"""One statistic per sequence, from rows in the order of their sequences; no loop over sequences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

__all__ = ["STATISTICS", "Statistic", "per_sequence"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Statistic = Literal["mean", "median", "std", "min", "max"]
STATISTICS: tuple[Statistic, ...] = ("mean", "median", "std", "min", "max")

_LONG = 5_000
"""Rows from which a sequence is summed on its own; shorter ones are summed side by side."""


def per_sequence(values: NDArray[Any], starts: Ints, statistic: Statistic) -> NDArray[Any]:
    """Return one statistic of each sequence.

    Sums run from the first row to the last with the compensation of Kahan, and squares as Welford adds them, which is
    how pandas adds within groups: sequences whose means are equal there are equal here.

    Parameters
    ----------
    values
        Shape (n_rows,): sequence after sequence, none missing.
    starts
        Shape (n_sequences + 1,): where each sequence starts, and the end. No sequence is empty.
    statistic
        "std" divides by n - 1, and is nan for a sequence of one row.

    Examples
    --------
    >>> per_sequence(np.array([1.0, 2, 6, 5]), np.array([0, 3, 4]), "mean").tolist()
    [3.0, 5.0]
    """
    if len(starts) < 2:
        return np.zeros(0)
    return _BY_NAME[statistic](values, starts)


def _extreme(which: np.ufunc) -> Callable[[NDArray[Any], Ints], NDArray[Any]]:
    def found(values: NDArray[Any], starts: Ints) -> NDArray[Any]:
        out: NDArray[Any] = which.reduceat(values, starts[:-1])
        return out

    return found


def _medians(values: NDArray[Any], starts: Ints) -> Floats:
    lengths = np.diff(starts)
    ordered = values[np.lexsort((values, np.repeat(np.arange(len(lengths)), lengths)))].astype(np.float64)
    upper, lower = ordered[starts[:-1] + lengths // 2], ordered[starts[:-1] + (lengths - 1) // 2]
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(lengths % 2 == 1, upper, (upper + lower) / 2))


def _means(values: NDArray[Any], starts: Ints) -> Floats:
    total = np.zeros(len(starts) - 1)
    compensation = np.zeros(len(total))

    def add(now: Ints | slice, _: int, row: Floats) -> None:
        y = row - compensation[now]
        t = total[now] + y
        left = t - total[now] - y
        compensation[now] = np.where(np.isnan(left), 0.0, left)
        total[now] = t

    def whole(sequence: int, rows: Floats) -> None:
        total[sequence] = rows.sum()

    _side_by_side(values, starts, add, whole)
    return total / np.diff(starts)


def _deviations(values: NDArray[Any], starts: Ints) -> Floats:
    mean, squares = np.zeros(len(starts) - 1), np.zeros(len(starts) - 1)

    def add(now: Ints | slice, step: int, row: Floats) -> None:
        before = mean[now]
        after = before + (row - before) / (step + 1)
        squares[now] += (row - after) * (row - before)
        mean[now] = after

    def whole(sequence: int, rows: Floats) -> None:
        squares[sequence] = ((rows - rows.mean()) ** 2).sum()

    _side_by_side(values, starts, add, whole)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.sqrt(squares / (np.diff(starts) - 1)))


def _side_by_side(
    values: NDArray[Any],
    starts: Ints,
    add: Callable[[Ints | slice, int, Floats], None],
    whole: Callable[[int, Floats], None],
) -> None:
    """Call `add(sequences, i, their i-th values)` for each i, and `whole(sequence, its values)` for long sequences."""
    numbers = values.astype(np.float64)
    lengths = np.diff(starts)
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        for sequence in np.flatnonzero(lengths > _LONG):
            whole(int(sequence), numbers[starts[sequence] : starts[sequence + 1]])
        short = np.flatnonzero(lengths <= _LONG)
        longest_first = short[np.argsort(-lengths[short], kind="stable")]
        ascending = np.sort(lengths[short])
        for i in range(int(ascending[-1]) if len(short) else 0):
            now = longest_first[: len(short) - int(np.searchsorted(ascending, i, side="right"))]
            add(now, i, numbers[starts[now] + i])


_BY_NAME: dict[str, Callable[[NDArray[Any], Ints], NDArray[Any]]] = {
    "mean": _means,
    "median": _medians,
    "std": _deviations,
    "min": _extreme(np.minimum),
    "max": _extreme(np.maximum),
}
