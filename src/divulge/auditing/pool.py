"""The people of an audit, and the training tables that are made of them.

A training table is a list of row numbers, and for some columns other row numbers: designs draw numbers and never touch
a value, so that a cell reaches the generator exactly as the file had it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from divulge.tables.frames import Table

__all__ = ["Pool", "Training", "seed_of"]

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Training:
    """Which cells of the pool one training table has."""

    rows: Ints
    """Row of the pool for each row of the training table; a row that stands twice is trained on twice."""
    columns: Mapping[str, Ints] = field(default_factory=dict)
    """Columns whose cells are of other rows of the pool, each as long as `rows`: swapped secrets, cross-overs."""


@dataclass(frozen=True, slots=True)
class Pool:
    """The people who take part, in an order that depends on their values alone."""

    table: Table
    """Rows in memory, in the order of the pool."""
    rows: Ints
    """Row of the table as it was given, for each row of the pool."""
    seed: int
    unit: str | None = None
    """Column of the person or household; its rows are swapped, taken and left out together."""
    ignore: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()

    def rng(self, step: str, run: int | None = None) -> np.random.Generator:
        """Return the generator of random numbers of a step, or of one training of it; it depends on nothing else."""
        return np.random.default_rng(seed_of(self.seed, step, run))


def seed_of(seed: int, step: str, run: int | None = None) -> int:
    """Return the seed of a step, and of one training of it: a whole number below 2**63.

    Examples
    --------
    >>> seed_of(0, "coins", 1) == seed_of(0, "coins", 2)
    False
    """
    text = f"{seed} {step}" + ("" if run is None else f" {run}")
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1
