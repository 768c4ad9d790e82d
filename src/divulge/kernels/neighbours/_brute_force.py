"""Brute force search: every query against every row, in 16 bits (compiled). For tables on which a tree prunes little.

Rows are stored in tiles of 128, column by column, so that a tile stays in the first cache while it is compared with a
block of queries. A tile is first compared by its categories, which are bytes; its numbers, rounded to whole 16-bit
units, are read only if some row may still be within the limit. Sums saturate, and a saturated sum counts as within the
limit. So the bounds can only be too small, up to `slack` units of rounding, as in the tree, and `_box_tree.exact`
decides.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from divulge.kernels._box_tree import add, exact
from divulge.kernels._simd import NO_LIMIT, TILE, lowest_bit, tile_bounds
from divulge.kernels.runtime import compiled

__all__ = ["BLOCK", "Tiles", "scan"]

BLOCK = 16
"""Queries that are compared with one tile before the next tile is read."""


class Tiles(NamedTuple):
    """Reference rows and queries in 16-bit units."""

    numbers: Any  # int16 (n_tiles, n_numbers, 128)
    codes: Any  # uint8 (n_tiles, n_codes, 128)
    asked: Any  # int16 (n, n_numbers)
    asked_codes: Any  # uint8 (n, n_codes)
    group: Any  # int64 (n_groups + 1,)
    unit: Any  # int16 (n_groups,): what one mismatch adds
    n_whole: int  # number columns without a missing value come first
    per_distance: float  # units of a distance of 1
    slack: int


@compiled
def _in_units(per_distance: float, slack: int, limit: float) -> int:
    """Return the largest bound that a row within the limit may have."""
    units = np.ceil(limit * per_distance) + slack
    return NO_LIMIT if not units < NO_LIMIT else int(units)


@compiled
def _most_mismatches(unit: Any, limit: int) -> int:
    """Return the greatest number of mismatches that a row within the limit may have; 255 stands for any number."""
    least = NO_LIMIT
    for g in range(len(unit)):
        least = min(least, unit[g])
    if limit == NO_LIMIT or least == 0:
        return 255
    return min(255, limit // least)


@compiled
def scan(
    queries: Any, first: int, last: int, k: int, radius: Any, listing: bool,
    tile_numbers: Any, tile_codes: Any, asked: Any, asked_codes: Any, group: Any, unit: Any, n_whole: int,
    per_distance: float, slack: int,
    numbers: Any, codes: Any, reference_numbers: Any, reference_codes: Any, rate: Any, number_weight: Any,
    all_of: Any, all_weight: Any, whole: float, cap: float, split: float, times_of: Any, own_of: Any,
    out_distance: Any, out_row: Any, out_beyond: Any, found_query: Any, found_row: Any,
) -> Any:  # fmt: skip
    """Search all rows for queries[first:last] (at most `BLOCK`); the results are those of `_box_tree.search`.

    The arrays of `Tiles` and `_box_tree.Exact` are passed one by one. Returns the number of pairs and `last`, or
    `first` if the pairs did not fit.
    """
    n = last - first
    n_rows = len(times_of)
    bound, within = np.empty(TILE, np.int16), np.empty(2, np.uint64)
    kept, rows, counts = np.empty((n, k + 1)), np.empty((n, k + 1), np.int64), np.empty((n, k + 1), np.int64)
    filled, beyond = np.zeros(n, np.int64), np.zeros(n, np.int64)
    limit, border, most = np.empty(n), np.empty(n, np.int64), np.empty(n, np.int64)
    n_found = 0
    for x in range(n):
        limit[x] = radius[queries[first + x]] if k == 0 else np.inf
        border[x] = _in_units(per_distance, slack, limit[x])
        most[x] = _most_mismatches(unit, border[x])
    for tile in range(tile_codes.shape[0]):
        left = n_rows - tile * TILE
        for x in range(n):
            i = queries[first + x]
            if not tile_bounds(
                tile_numbers, tile_codes, tile, asked, asked_codes, i, group, unit,
                n_whole, np.uint8(most[x]), np.int16(border[x]), bound, within,
            ):  # fmt: skip
                continue
            if left < TILE:
                if left <= 64:
                    within[1] = np.uint64(0)
                if left < 64:
                    within[0] &= (np.uint64(1) << np.uint64(left)) - np.uint64(1)
                elif left > 64:
                    within[1] &= (np.uint64(1) << np.uint64(left - 64)) - np.uint64(1)
            best = -1
            if k > 0:  # the nearest first: it makes the limit small
                for half in range(2):
                    rest = within[half]
                    while rest != 0:
                        j = lowest_bit(rest) + 64 * half
                        rest &= rest - np.uint64(1)
                        if best < 0 or bound[j] < bound[best]:
                            best = j
            for step in range(3):  # the nearest, then the two halves
                bits = np.uint64(best >= 0) if step == 0 else within[step - 1]
                while bits != 0:
                    j = best if step == 0 else lowest_bit(bits) + 64 * (step - 1)
                    bits &= bits - np.uint64(1)
                    if step > 0 and (j == best or bound[j] > border[x]):
                        continue
                    row = tile * TILE + j
                    times = times_of[row]
                    if row == own_of[i]:
                        times -= 1
                        if times == 0:
                            continue
                    d = exact(
                        numbers,
                        codes,
                        reference_numbers,
                        reference_codes,
                        rate,
                        number_weight,
                        all_of,
                        all_weight,
                        whole,
                        cap,
                        split,
                        i,
                        row,
                    )
                    if d > limit[x]:
                        continue
                    if k == 0:
                        beyond[x] += times
                        if listing:
                            if n_found == len(found_query):
                                return 0, first
                            found_query[n_found], found_row[n_found] = i, row
                            n_found += 1
                        continue
                    filled[x], beyond[x] = add(k, filled[x], beyond[x], d, row, times, x, kept, rows, counts)
                    if filled[x] == k and kept[x, k - 1] < limit[x]:
                        limit[x] = kept[x, k - 1]
                        border[x] = _in_units(per_distance, slack, limit[x])
                        most[x] = _most_mismatches(unit, border[x])
    for x in range(n):
        i = queries[first + x]
        out_beyond[i] = beyond[x]
        for h in range(filled[x]):
            out_distance[i, h], out_row[i, h] = kept[x, h], rows[x, h]
    return n_found, last
