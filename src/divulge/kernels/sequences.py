"""One statistic per sequence, from rows in the order of their sequences; by compiled loops where there are any."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from divulge.kernels._native.library import Kernel, available
from divulge.kernels.relations import counted_order

__all__ = ["STATISTICS", "Statistic", "per_sequence"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Statistic = Literal["mean", "median", "std", "min", "max"]
STATISTICS: tuple[Statistic, ...] = ("mean", "median", "std", "min", "max")

_FEW = 40
"""Sequences below which a loop over rows takes less time than one step of numpy for each."""


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
    ascending = np.argsort(values)
    sequence = np.repeat(np.arange(len(lengths)), lengths)[ascending]
    ordered = values[ascending[counted_order(sequence)]].astype(np.float64)
    upper, lower = ordered[starts[:-1] + lengths // 2], ordered[starts[:-1] + (lengths - 1) // 2]
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(lengths % 2 == 1, upper, (upper + lower) / 2))


def _means(values: NDArray[Any], starts: Ints) -> Floats:
    return _state(values, starts, _sum_side_by_side, _sum_in_turn)[0] / np.diff(starts)


def _deviations(values: NDArray[Any], starts: Ints) -> Floats:
    squares = _state(values, starts, _square_side_by_side, _square_in_turn)[1]
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.sqrt(squares / (np.diff(starts) - 1)))


def _state(
    values: NDArray[Any],
    starts: Ints,
    side_by_side: Callable[[Floats, Floats, Floats, int], None],
    in_turn: Callable[..., None],
) -> tuple[Floats, Floats]:
    """Return two numbers of each sequence after its last row, which begin at 0.

    The first rows of all sequences are added together, the second ones, and so on, as long as enough sequences have
    one; the other rows are added in turn. Either way a sequence adds its rows in their order.
    """
    numbers = values.astype(np.float64)
    first, second = np.zeros(len(starts) - 1), np.zeros(len(starts) - 1)
    if available():
        _LOOPS[in_turn](numbers, np.ascontiguousarray(starts, dtype=np.int64), len(first), first, second)
        return first, second
    lengths = np.diff(starts)
    longest_first = np.argsort(-lengths, kind="stable")
    begin, ordered = starts[longest_first], lengths[longest_first]
    n_steps = int(ordered[_FEW - 1]) if len(ordered) >= _FEW else 0
    n_active = np.searchsorted(-ordered, -np.arange(n_steps), side="left")
    one, other = np.zeros(len(lengths)), np.zeros(len(lengths))
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        for i, n in enumerate(n_active.tolist()):
            side_by_side(numbers[begin[:n] + i], one[:n], other[:n], i)
    longer = np.flatnonzero(ordered > n_steps)
    rest, rest_other = one[longer].tolist(), other[longer].tolist()
    bounds = (begin[longer] + n_steps).tolist(), (begin[longer] + ordered[longer]).tolist()
    in_turn(numbers.tolist(), *bounds, n_steps, rest, rest_other)
    one[longer], other[longer] = rest, rest_other
    first[longest_first], second[longest_first] = one, other
    return first, second


def _sum_side_by_side(row: Floats, total: Floats, compensation: Floats, _: int) -> None:
    row -= compensation
    t = total + row
    np.subtract(t - total, row, out=compensation)
    compensation[np.isnan(compensation)] = 0.0
    total[:] = t


def _sum_in_turn(values: Any, begin: Any, end: Any, _: int, total: Any, compensation: Any) -> None:
    for s in range(len(total)):
        t, c = total[s], compensation[s]
        for r in range(begin[s], end[s]):
            y = values[r] - c
            after = t + y
            c = after - t - y
            if c != c:
                c = 0.0
            t = after
        total[s], compensation[s] = t, c


def _square_side_by_side(row: Floats, mean: Floats, squares: Floats, step: int) -> None:
    after = mean + (row - mean) / (step + 1)
    squares += (row - after) * (row - mean)
    mean[:] = after


def _square_in_turn(values: Any, begin: Any, end: Any, step: int, mean: Any, squares: Any) -> None:
    for s in range(len(mean)):
        m, q, n = mean[s], squares[s], step
        for r in range(begin[s], end[s]):
            n += 1
            after = m + (values[r] - m) / n
            q += (values[r] - after) * (values[r] - m)
            m = after
        mean[s], squares[s] = m, q


_LOOPS: dict[Callable[..., None], Kernel] = {
    _sum_in_turn: Kernel("sums_in_turn", "f8*", "i8*", "i8", "f8!", "f8!"),
    _square_in_turn: Kernel("squares_in_turn", "f8*", "i8*", "i8", "f8!", "f8!"),
}

_BY_NAME: dict[str, Callable[[NDArray[Any], Ints], NDArray[Any]]] = {
    "mean": _means,
    "median": _medians,
    "std": _deviations,
    "min": _extreme(np.minimum),
    "max": _extreme(np.maximum),
}
