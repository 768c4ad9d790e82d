"""What an engine answers about a table whose rows it keeps: its values, and how often combinations of codes occur."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from math import isfinite
from typing import Any, Literal, NamedTuple, Protocol, get_args

import numpy as np
import polars as pl
from numpy.typing import NDArray

from divulge.core.errors import SettingError

__all__ = [
    "BY_ROWS",
    "COUNTING",
    "ENGINES",
    "PART",
    "PARTS",
    "Codes",
    "Counting",
    "Edges",
    "Engine",
    "Floats",
    "Ints",
    "KeyPart",
    "Numbers",
    "Spread",
    "check_engine",
    "coded_in",
    "divided",
    "narrow",
    "narrowed",
    "narrowest",
    "numbers_in",
]

Codes = NDArray[Any]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

COUNTING = ("duckdb", "polars", "spark")
"""Engines that count tables where they are."""
BY_ROWS = ("duckdb", "polars")
"""Those of them that tell the codes of each row."""
PART = 500_000  # rows of which an engine tells the codes at once
Engine = Literal["auto", "memory", "duckdb", "polars", "spark"]
ENGINES: tuple[Engine, ...] = get_args(Engine)
"""Settings of `engine`."""
PARTS = 4096
"""Equal parts of an interval that numbers are counted in."""


class Edges(NamedTuple):
    """How an engine codes a column of many numbers without a look-up: by comparisons."""

    at: Floats
    """Ascending, finite: a number is coded by how many edges lie below it, plus 1; what is missing has code 0."""
    missing: tuple[float, ...] = ()
    """Numbers that stand for missing."""


class KeyPart(NamedTuple):
    """A column of a key whose values an engine tells apart: NaN is missing, and -0.0 is 0.0."""

    column: str
    lost: tuple[str | float, ...] = ()
    """Texts, or numbers of a column of numbers, that stand for missing."""
    as_float: bool = False
    """Whether numbers are taken as float64, in which large whole ones may be equal."""


class Spread(NamedTuple):
    """What is known of the numbers of a column; NaN is no number."""

    n: int
    """Rows with a number."""
    low: float
    high: float
    """Smallest and largest finite number, nan where there is none."""
    below: int
    above: int
    """Rows of minus and of plus infinity."""
    fractions: int
    """Rows of finite numbers that are not whole."""


def divided(low: float, high: float) -> tuple[float, float]:
    """Return (h, s) so that a number x of an interval is in part floor((x h - low h) s) of `PARTS` or one more.

    Rounding moves the borders of the parts but never their order. s is infinite where the interval is too small.

    Examples
    --------
    >>> divided(0.0, 1.0), divided(-1.5e308, 1.5e308)[0]
    ((1.0, 4096.0), 0.5)
    """
    half = 1.0 if isfinite(high - low) else 0.5
    with np.errstate(all="ignore"):
        return half, float(np.float64(PARTS) / (np.float64(high) * half - np.float64(low) * half))


class Numbers(Protocol):
    """The numbers of one column of a table whose rows an engine keeps, without missing ones.

    Times are microseconds, and all are taken as float64, which holds them exactly where `most` says so.
    """

    kind: str
    """"number", "float32", or "datetime" with what else tells times of one kind from others. Within a kind, equal
    values are equal numbers, and greater ones greater."""
    most: float
    """The largest absolute number up to which float64 holds each value exactly."""

    whole: bool
    """The type holds whole numbers alone."""

    def ends(self) -> tuple[float, float]:
        """Return the smallest and the largest value of a type of whole numbers; nan without one.

        Numbers that stand for missing may be among them.
        """
        ...

    def spread(self) -> Spread:
        """Return how many there are, and between which numbers."""
        ...

    def n_distinct(self) -> int:
        """Return how many numbers differ."""
        ...

    def parts(self, within: Sequence[tuple[float, float]]) -> tuple[Ints, Ints, Floats, Floats]:
        """Return how many rows are in each of `PARTS` parts of closed intervals that do not overlap.

        Returns
        -------
        part, n, low, high
            For each part that has a row, shape (n_parts,): its number, which ascends with the numbers in it; rows; and
            the smallest and the largest number in it.
        """
        ...

    def counts(self, within: Sequence[tuple[float, float]]) -> tuple[Floats, Ints]:
        """Return the distinct numbers in some closed intervals that do not overlap, and how many rows have each."""
        ...


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

    def types(self) -> list[pl.DataType]:
        """Return the type of each column as polars has it where the rows are read into memory."""
        ...

    def n_keys(self, key: Sequence[KeyPart]) -> int:
        """Return how many combinations of values differ, without the one in which all are missing."""
        ...

    def combinations(self, columns: Sequence[str]) -> tuple[list[pl.Series], Ints]:
        """Return the distinct combinations of raw values of some columns, and how many rows have each."""
        ...

    def raw(self, column: str) -> Iterator[pl.Series]:
        """Yield the raw value of each row in a column, some rows at a time; the rows come in no order.

        Raises
        ------
        SettingError
            The engine tells counts alone.
        """
        ...

    def values(self, column: str) -> tuple[pl.Series, Ints]:
        """Return the distinct raw values of a column, missing among them, and how many rows have each."""
        ...

    def numbers(self, column: str, missing: Sequence[float]) -> Numbers | None:
        """Return the numbers of a column without those that stand for missing; None for types that are no numbers."""
        ...

    def cells(self, columns: Sequence[str], codes: Sequence[Codes | Edges]) -> tuple[list[Codes], Ints]:
        """Return the distinct combinations of codes of some columns, and how many rows have each.

        Parameters
        ----------
        columns
            Columns whose values have been asked for before, and columns of numbers.
        codes
            For each column the code of each of its values, in the order of `values`; or edges.

        Returns
        -------
        codes, count
            For each column shape (n_cells,), in the dtype given; rows per cell, shape (n_cells,).
        """
        ...

    def n_cells(self, columns: Sequence[str], codes: Sequence[Codes | Edges]) -> int:
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


def narrowed(found: Codes, own: Codes | Edges) -> Codes:
    """Return codes that an engine gave in the dtype in which they were asked for."""
    return narrow(found, len(own.at) + 2) if isinstance(own, Edges) else found.astype(own.dtype, copy=False)


# ---------------------------------------------------------------- where they are

_MODULES = {
    "polars": "_polars_counts",
    "duckdb": "_duckdb_counts",
    "pyspark": "_spark_counts",
    "pyspark_connect": "_spark_counts",
}
"""What counts the rows of a lazy table, as narwhals calls it; loaded where there is one."""


def _module(where: str) -> Any:
    return import_module(f"divulge.tables.{_MODULES[where]}")


def check_engine(engine: Any) -> None:
    """Raise a `SettingError` unless `engine` is one of `ENGINES`."""
    if engine not in ENGINES:
        raise SettingError(f"engine: no such engine. hint: one of {', '.join(ENGINES)}.")


def numbers_in(native: Any, where: str, column: str, missing: Sequence[float]) -> Numbers | None:
    """Return the numbers of a column of a lazy table; None for types that are no numbers, and for other engines."""
    if where not in _MODULES:
        return None
    found: Numbers | None = _module(where).numbers_in(native, column, missing)
    return found


def coded_in(native: Any, where: str, columns: Mapping[str, tuple[str, Edges]]) -> Any:
    """Return a lazy table with further columns of codes: name -> column and the edges that code it."""
    return _module(where).coded_in(native, columns)
