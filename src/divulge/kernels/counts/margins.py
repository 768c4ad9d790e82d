"""How often a person's values on small sets of columns occur in the synthetic table, against other people.

Sums over sets of columns of log((s + 1/2) / (m + 1/2)) - log((w + 1/2) / (n + 1/2)), where s synthetic rows and w rows
of other people have the person's values on the set, of m and n rows. The rows of the person's unit do not count as
other people: they leave the counts while the unit is looked at.

Sets are worked on in blocks of a fixed size, whose sums are added in order, so that threads change no digit. The plain
numpy loop does the same additions as the compiled one.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.kernels._native.library import Kernel, Struct, available
from divulge.kernels.counts.contingency import combine
from divulge.kernels.runtime import THREADS_FROM, one_by_one

__all__ = ["MarginSums", "margin_sums"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Codes = NDArray[np.int32]
Narrow = NDArray[np.integer[Any]]

_BLOCK = 25  # sets whose sums are added before they enter the total; fixed, as the digits depend on it
_RARE = 2
"""Cells that at most so many other people are in count as rare."""
_THREADS_FROM = 1_000_000  # rows times sets from which threads share them
_NARROW = tuple(map(np.dtype, (np.uint8, np.uint16, np.int32)))
_DIRECT = 65_536  # cells of a set that are counted in an array in any case; larger ones are hashed if rows are fewer


@dataclass(frozen=True, slots=True, eq=False)
class MarginSums:
    """Sums of log ratios over sets of columns, one entry a person."""

    total: Floats
    """Over all sets."""
    rare: Floats
    """Over the sets on which at most two other people have the person's values."""


def margin_sums(
    people: Sequence[NDArray[np.int32]],
    synthetic: Sequence[NDArray[np.int32]] | Narrow,
    sizes: Sequence[int],
    sets: NDArray[np.int64],
    unit: Ints | None = None,
    *,
    engine: str | None = None,
) -> MarginSums:
    """Return the sums of log ratios of each person over sets of columns.

    Parameters
    ----------
    people, synthetic
        Per column: codes from 0 to size - 1, shapes (n_people,) and (n_synthetic,). An array of all columns of the
        synthetic table, of uint8, uint16 or int32, is read where it lies.
    sizes
        Number of codes of each column.
    sets
        Numbers of the columns of each set, shape (n_sets, n_columns).
    unit
        Unit of each person, 0, 1, ...; None means that each row is its own.
    engine
        "numpy" or "compiled" forces one loop; None takes the compiled one where there is one.

    Examples
    --------
    >>> a, b = np.array([0, 0, 1], np.int32), np.array([0, 1], np.int32)
    >>> margin_sums([a], [b], [2], np.array([[0]])).total.round(3).tolist()
    [0.0, 0.0, 1.099]
    """
    rows = np.stack(people, dtype=np.int32), _together(synthetic)
    n, m = rows[0].shape[1], rows[1].shape[1]
    of_unit = np.arange(n) if unit is None else unit
    if n == 0:
        return MarginSums(np.zeros(0), np.zeros(0))
    order = np.argsort(of_unit, kind="stable")
    start = np.flatnonzero(np.r_[True, np.diff(of_unit[order]) > 0, True])
    logs = np.arange(max(n, m) + 1, dtype=np.float64)
    logs += 0.5
    np.log(logs, out=logs)  # in place: there are as many as rows
    wide = np.asarray(sizes, dtype=np.int64)
    plain = engine == "numpy" or not available()
    loop = _plain if plain else _compiled

    def work(first: int) -> tuple[Floats, Floats]:
        total, rare = np.zeros(n), np.zeros(n)
        loop(*rows, wide, sets[first : first + _BLOCK], order, start, logs, total, rare)
        return total, rare

    sums = np.zeros((2, n))
    large = not plain and (n + m) * len(sets) >= _THREADS_FROM and (os.cpu_count() or 1) > 1
    for total, rare in one_by_one(work, range(0, len(sets), _BLOCK), THREADS_FROM if large else 0):
        sums[0] += total
        sums[1] += rare
    return MarginSums(sums[0], sums[1])


def _together(columns: Sequence[NDArray[np.int32]] | Narrow) -> Narrow:
    """Return the codes of all columns as one array, which stays as it is where it is one."""
    if isinstance(columns, np.ndarray) and columns.dtype in _NARROW:
        return np.ascontiguousarray(columns)
    return np.asarray(columns, dtype=np.int32)


def _plain(
    people: Codes, synthetic: Narrow, sizes: Ints, sets: Ints, order: Ints, start: Ints, logs: Floats,
    total: Floats, rare: Floats,
) -> None:  # fmt: skip
    """Add the log ratios of some sets with numpy alone."""
    n, m = people.shape[1], synthetic.shape[1]
    size_of_unit = np.diff(start)
    unit = np.empty(n, dtype=np.int64)
    unit[order] = np.repeat(np.arange(len(size_of_unit)), size_of_unit)
    others = n - size_of_unit[unit]
    for chosen in sets:
        both = np.concatenate([people[chosen], synthetic[chosen]], axis=1)
        key, n_cells = combine(list(both), [int(size) for size in sizes[chosen]])
        if n_cells > _DIRECT:
            key = np.unique(key, return_inverse=True)[1].ravel()
            n_cells = int(key.max(initial=-1)) + 1
        s = np.bincount(key[n:], minlength=n_cells)[key[:n]]
        w = np.bincount(key[:n], minlength=n_cells)[key[:n]]
        if len(size_of_unit) == n:
            w -= 1
        else:
            own = np.unique(unit * n_cells + key[:n], return_inverse=True, return_counts=True)
            w -= own[2][own[1].ravel()]
        ratio = (logs[s] - logs[m]) - (logs[w] - logs[others])
        total += ratio
        rare += np.where(w <= _RARE, ratio, 0.0)


_SETS = Struct(
    people="i4*", synthetic="u1*", n="i8", m="i8", wide="i8", sizes="i8*", sets="i8*", n_sets="i8", set_width="i8",
    order="i8*", start="i8*", n_units="i8", logs="f8*", rare_at="i8", direct="i8", total="f8!", rare="f8!",
)  # fmt: skip
_margins = Kernel("margins", _SETS)


def _compiled(
    people: Codes, synthetic: Narrow, sizes: Ints, sets: Ints, order: Ints, start: Ints, logs: Floats,
    total: Floats, rare: Floats,
) -> None:  # fmt: skip
    """Add the log ratios of some sets by the compiled loop."""
    shape = {"n": people.shape[1], "m": synthetic.shape[1], "n_sets": len(sets), "set_width": sets.shape[1]}
    task = _SETS(
        people=people, synthetic=synthetic.view(np.uint8), wide=synthetic.dtype.itemsize, sizes=sizes, sets=sets,
        order=order, start=start, n_units=len(start) - 1, logs=logs, rare_at=_RARE, direct=_DIRECT, total=total,
        rare=rare, **shape,
    )  # fmt: skip
    _margins(task)
