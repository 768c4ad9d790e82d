"""Brute force search: every query against every row, in 16 bits. For tables on which a tree prunes little.

Rows are stored in tiles of 128, column by column, so that a tile stays in the first cache while it is compared with a
block of queries. A tile is first compared by its categories, which are bytes; its numbers, rounded to whole 16-bit
units, are read only if some row may still be within the limit. Sums saturate, and a saturated sum counts as within the
limit. So the bounds can only be too small, up to `slack` units of rounding, as in the tree, and the exact distance
decides. The loops are in `_native/brute_force.c`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from divulge.kernels._box_tree import ASKED, EXACT, PAIRS
from divulge.kernels._native.library import Filled, Kernel, Struct

__all__ = ["MISSING", "NO_LIMIT", "TILE", "Tiles", "scan"]

TILE = 128
"""Rows of a tile of the scan."""
MISSING = -32768
"""The 16-bit value of a missing number in a tile."""
NO_LIMIT = 32767
"""A 16-bit limit that no row exceeds."""


class Tiles(NamedTuple):
    """Reference rows and queries in 16-bit units."""

    numbers: Any  # int16 (n_tiles, n_numbers, 128)
    codes: Any  # uint8 (n_tiles, n_codes, 128)
    asked: Any  # int16 (n, n_numbers)
    asked_codes: Any  # uint8 (n, n_codes)
    group: Any  # int64 (n_groups + 1,)
    unit: Any  # int16 (n_groups,): what one mismatch adds
    per_distance: float  # units of a distance of 1
    slack: int
    n_whole: int  # number columns without a missing value come first

    def filled(self) -> Filled:
        """Return the tiles as the loops take them."""
        n_tiles, n_codes = self.codes.shape[:2]
        sizes = {"n_numbers": self.numbers.shape[1], "n_codes": n_codes, "n_groups": len(self.unit), "n_tiles": n_tiles}
        return TILES(**(self._asdict() | sizes))


TILES = Struct(
    numbers="i2*", codes="u1*", asked="i2*", asked_codes="u1*", group="i8*", unit="i2*", per_distance="f8", slack="i8",
    n_whole="i8", n_numbers="i8", n_codes="i8", n_groups="i8", n_tiles="i8",
)  # fmt: skip

scan = Kernel("scan", TILES, EXACT, ASKED, PAIRS, "i8", "i8", "i8!")
"""The last array takes the number of pairs and the query to continue with."""
