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

from divulge.kernels.counts.contingency import combine
from divulge.kernels.runtime import THREADS_FROM, compiled, one_by_one

__all__ = ["MarginSums", "margin_sums"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_BLOCK = 25  # sets whose sums are added before they enter the total; fixed, as the digits depend on it
_RARE = 2
"""Cells that at most so many other people are in count as rare."""
_COMPILE_FROM = 1_000_000  # rows times sets below which numpy is used: loading the loop takes 0.3 s
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
    synthetic: Sequence[NDArray[np.int32]],
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
        Per column: codes from 0 to size - 1, shapes (n_people,) and (n_synthetic,).
    sizes
        Number of codes of each column.
    sets
        Numbers of the columns of each set, shape (n_sets, n_columns).
    unit
        Unit of each person, 0, 1, ...; None means that each row is its own.
    engine
        "numpy" or "compiled" forces one loop; None chooses.

    Examples
    --------
    >>> a, b = np.array([0, 0, 1], np.int32), np.array([0, 1], np.int32)
    >>> margin_sums([a], [b], [2], np.array([[0]])).total.round(3).tolist()
    [0.0, 0.0, 1.099]
    """
    rows = np.ascontiguousarray(np.stack(people)), np.ascontiguousarray(np.stack(synthetic))
    n, m = rows[0].shape[1], rows[1].shape[1]
    of_unit = np.arange(n) if unit is None else unit
    order = np.argsort(of_unit, kind="stable")
    start = np.flatnonzero(np.r_[True, np.diff(of_unit[order]) > 0, True])
    logs = np.log(np.arange(max(n, m) + 1) + 0.5)
    wide = np.asarray(sizes, dtype=np.int64)
    plain = engine == "numpy" or (engine is None and (n + m) * len(sets) < _COMPILE_FROM)
    loop: Any = _plain if plain else compiled(_count)

    def work(first: int) -> tuple[Floats, Floats]:
        total, rare = np.zeros(n), np.zeros(n)
        loop(*rows, wide, sets[first : first + _BLOCK], order, start, logs, _RARE, _DIRECT, total, rare)
        return total, rare

    sums = np.zeros((2, n))
    large = not plain and (os.cpu_count() or 1) > 1
    for total, rare in one_by_one(work, range(0, len(sets), _BLOCK), THREADS_FROM if large else 0):
        sums[0] += total
        sums[1] += rare
    return MarginSums(sums[0], sums[1])


def _plain(
    people: Any, synthetic: Any, sizes: Any, sets: Any, order: Any, start: Any, logs: Any, rare_at: int, direct: int,
    total: Any, rare: Any,
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
        if n_cells > direct:
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
        rare += np.where(w <= rare_at, ratio, 0.0)


def _count(
    people: Any, synthetic: Any, sizes: Any, sets: Any, order: Any, start: Any, logs: Any, rare_at: int, direct: int,
    total: Any, rare: Any,
) -> None:  # fmt: skip
    """Add the log ratios of some sets (compiled): cells are counted in an array, or in a hash table where too many."""
    n, m = people.shape[1], synthetic.shape[1]
    slots = 1
    while slots < 2 * (n + m):
        slots *= 2
    limit = max(slots, direct)
    of_people, of_synthetic = np.zeros(limit, np.int32), np.zeros(limit, np.int32)
    keys = np.full(slots, -1, np.int64)
    cell = np.empty(n, np.int64)
    for q in range(len(sets)):
        cells, hashed = np.int64(1), False
        for c in sets[q]:
            if cells > limit // sizes[c]:
                hashed = True
            cells = cells * sizes[c]  # may wrap around where hashed: a wrapped key still tells most rows apart
        for side in range(2):
            rows = people if side == 0 else synthetic
            for i in range(rows.shape[1]):
                key = np.int64(0)
                for c in sets[q]:
                    key = key * sizes[c] + rows[c, i]
                if hashed:
                    key &= np.int64(0x7FFFFFFFFFFFFFFF)
                    place = (key ^ (key >> 29)) * np.int64(0x5851F42D4C957F2D)
                    place = (place ^ (place >> 32)) & np.int64(slots - 1)
                    while keys[place] != key and keys[place] != -1:
                        place = (place + 1) & np.int64(slots - 1)
                    keys[place] = key
                    key = place
                if side == 0:
                    of_people[key] += 1
                    cell[i] = key
                else:
                    of_synthetic[key] += 1
        for u in range(len(start) - 1):
            low, high = start[u], start[u + 1]
            others = logs[n - (high - low)]
            for j in range(low, high):
                of_people[cell[order[j]]] -= 1
            for j in range(low, high):
                i = order[j]
                w = of_people[cell[i]]
                ratio = (logs[of_synthetic[cell[i]]] - logs[m]) - (logs[w] - others)
                total[i] += ratio
                if w <= rare_at:
                    rare[i] += ratio
            for j in range(low, high):
                of_people[cell[order[j]]] += 1
        used = slots if hashed else cells
        of_people[:used] = 0
        of_synthetic[:used] = 0
        if hashed:
            keys[:] = -1
