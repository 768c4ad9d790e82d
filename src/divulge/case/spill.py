"""Where what does not fit into memory is written."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

__all__ = ["Spill"]


class Spill(NamedTuple):
    """Where indices are written that are searched block by block."""

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
