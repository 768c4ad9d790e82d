"""Where what does not fit into memory is written."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from divulge.core.mapped_arrays import mapped_array

__all__ = ["Spill", "room_for"]


class Spill(NamedTuple):
    """Where indices are written that are searched block by block, and other arrays of a value or more a row."""

    folder: Path
    # a block of so many rows takes some 200 MB; more blocks take more time (docs/neighbours.md)
    block_rows: int = 500_000
    most_blocks: int = 32

    def rows_of_block(self, n_rows: int) -> int:
        """Return the rows of a block of an index over so many, about."""
        return max(self.block_rows, -(-n_rows // self.most_blocks))

    def blocks(self, n_rows: int) -> int:
        """Return how many blocks an index over so many rows has, about."""
        return -(-n_rows // self.rows_of_block(n_rows))


def room_for(spill: Spill | None, shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
    """Return an array to be written: in memory, or in a file where one is named for what does not fit there."""
    return np.empty(shape, dtype) if spill is None else mapped_array(spill.folder, shape, dtype)
