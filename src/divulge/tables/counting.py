"""What an engine answers about a table whose rows it keeps: its values, and how often combinations of codes occur."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

import numpy as np
import polars as pl
from numpy.typing import NDArray

__all__ = ["BY_ROWS", "COUNTING", "ENGINES", "PART", "Codes", "Counting", "Ints", "narrow", "narrowest"]

Codes = NDArray[Any]
Ints = NDArray[np.int64]

COUNTING = ("duckdb", "polars", "spark")
"""Engines that count tables where they are."""
BY_ROWS = ("duckdb", "polars")
"""Those of them that tell the codes of each row."""
PART = 500_000  # rows of which an engine tells the codes at once
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

    def coded_rows(self, columns: Sequence[str], codes: Sequence[Codes]) -> Iterator[list[Codes]]:
        """Yield the codes of each row in some columns, some rows at a time; the rows come in no order.

        It ends early where a row has a value that its column did not have before.

        Parameters
        ----------
        columns, codes
            As in `cells`.

        Returns
        -------
        iterator of list of ndarray
            For each column shape (n_rows_of_this_part,), in the dtype given.

        Raises
        ------
        SettingError
            The engine tells counts alone.
        """
        ...


def narrow(codes: Codes, n_codes: int) -> Codes:
    """Return codes from 0 to n_codes - 1 in the smallest dtype that holds them.

    Examples
    --------
    >>> narrow(np.array([0, 3]), 4).dtype
    dtype('uint8')
    """
    return codes.astype(narrowest(n_codes))


def narrowest(n_codes: int) -> np.dtype[Any]:
    """Return the smallest dtype that holds the codes from 0 to n_codes - 1."""
    return np.dtype(np.uint8 if n_codes <= 2**8 else np.uint16 if n_codes <= 2**16 else np.int32)
