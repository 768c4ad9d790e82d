"""What an engine answers about a table whose rows it keeps: its values, and how often combinations of codes occur."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import polars as pl
from numpy.typing import NDArray

__all__ = ["COUNTING", "ENGINES", "Codes", "Counting", "Ints", "narrow"]

Codes = NDArray[Any]
Ints = NDArray[np.int64]

COUNTING = ("duckdb", "polars", "spark")
"""Engines that count tables where they are."""
ENGINES = ("auto", "memory", *COUNTING)
"""Settings of `engine`."""


class Counting(Protocol):
    """A table that an engine counts; its columns are called c0, c1, ...

    A column is coded by a look-up of its own values: the engine tells them once, raw, and gets back a code for each. So
    no engine decides what is missing or which values are equal, and a look-up loses no row.
    """

    engine: str
    """One of `COUNTING`."""

    def n_rows(self) -> int:
        """Return the number of rows."""
        ...

    def values(self, column: str) -> tuple[pl.Series, Ints]:
        """Return the distinct raw values of a column, missing among them, and how many rows have each."""
        ...

    def cells(self, columns: Sequence[str], codes: Sequence[Codes]) -> tuple[list[Codes], Ints]:
        """Return the distinct combinations of codes of some columns, and how many rows have each.

        Parameters
        ----------
        columns
            Their values have been asked for before.
        codes
            For each column the code of each of its values, in the order of `values`.

        Returns
        -------
        codes, count
            For each column shape (n_cells,), in the dtype given; rows per cell, shape (n_cells,).
        """
        ...

    def n_cells(self, columns: Sequence[str], codes: Sequence[Codes]) -> int:
        """Return how many cells there are, and send none."""
        ...


def narrow(codes: Codes, n_codes: int) -> Codes:
    """Return codes from 0 to n_codes - 1 in the smallest dtype that holds them.

    Examples
    --------
    >>> narrow(np.array([0, 3]), 4).dtype
    dtype('uint8')
    """
    dtype: Any = np.uint8 if n_codes <= 2**8 else np.uint16 if n_codes <= 2**16 else np.int32
    return codes.astype(dtype)
