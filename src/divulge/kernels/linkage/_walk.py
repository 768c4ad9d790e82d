"""The loop of `record_linkage` (compiled): over the near rows of one half, with the place of each in the other half."""

from __future__ import annotations

from typing import Any

import numpy as np

from divulge.kernels._box_tree import exact
from divulge.kernels.linkage._chance import link_probability
from divulge.kernels.runtime import compiled

__all__ = ["walk"]

_chance = compiled(link_probability)


@compiled
def _find(values: Any, low: int, high: int, wanted: int) -> Any:
    """Return the index of a value in values[low:high], which ascend, or -1."""
    end = high
    while low < high:
        middle = (low + high) // 2
        if values[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low if low < end and values[low] == wanted else -1


@compiled
def _nearer(places: Any, query: int, distance: float) -> Any:
    """Return how many rows are nearer to a query than this distance: the first place of rows at the distance."""
    n = 0
    while n < places.shape[1] and places[query, n] < distance:
        n += 1
    return n


@compiled
def walk(
    first: int, last: int, pair: Any, place: Any, query: Any, other: Any, start: Any, rows: Any, distances: Any,
    cell_start: Any, cell_other: Any, cell_count: Any, near: Any, few: Any, searches: int,
    places: Any, other_places: Any, sure: Any, tied: Any, other_sure: Any, other_tied: Any,
    numbers: Any, codes: Any, reference_numbers: Any, reference_codes: Any, rate: Any, number_weight: Any,
    group: Any, group_weight: Any, total: float, cap: float, split: float, ks: Any, swapped: bool, out: Any,
) -> None:  # fmt: skip
    """Fill in the probabilities of the pairs first to last, in a loop over the listed rows of each pair's first half.

    met[i, j] counts the rows for which i rows are nearer in the half of the loop, and j rows in the other half.
    """
    width = places.shape[1]
    met = np.zeros((width, width), dtype=np.int64)
    for x in range(first, last):
        q, o = query[x], other[x]
        limit = other_places[o, width - 1]
        any_met = False
        for e in range(start[place[x]], start[place[x] + 1]):
            row = rows[e]
            begin, end = cell_start[row], cell_start[row + 1]
            look_up = few[o] >= 0 and few[o] * searches < end - begin
            n = few[o] if look_up else end - begin
            for c in range(n):
                cell = _find(cell_other, begin, end, near[o, c]) if look_up else begin + c
                if cell < 0:
                    continue
                d = exact(
                    numbers, codes, reference_numbers, reference_codes, rate, number_weight, group, group_weight,
                    total, cap, split, o, cell_other[cell],
                )  # fmt: skip
                if d <= limit:
                    met[_nearer(places, q, distances[e]), _nearer(other_places, o, d)] += cell_count[cell]
                    any_met = True
        if not any_met:
            continue
        for column in range(len(ks)):
            n, m = sure[q, column], other_sure[o, column]
            both_sure, here, there = 0, 0, 0
            for i in range(n):
                here += met[i, m]
                for j in range(m):
                    both_sure += met[i, j]
            for j in range(m):
                there += met[n, j]
            if both_sure > 0:
                out[pair[x], column] = 1.0
            elif swapped:
                out[pair[x], column] = _chance(
                    other_tied[o, column], ks[column] - m, tied[q, column], ks[column] - n, here, there, met[n, m]
                )
            else:
                out[pair[x], column] = _chance(
                    tied[q, column], ks[column] - n, other_tied[o, column], ks[column] - m, there, here, met[n, m]
                )
        for i in range(width):
            for j in range(width):
                met[i, j] = 0
