"""The columns of a table, real and synthetic, as numbers and as codes for the scores of pairs; each is made once."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from contextlib import suppress
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from divulge.sdmetrics.columns import Column
from divulge.sdmetrics.inputs import from_least, numbers_of
from divulge.sdmetrics.metadata import as_datetimes
from divulge.sdmetrics.readings import as_numbers
from divulge.sdmetrics.reports.details import described
from divulge.sdmetrics.reports.tables import CONTINUOUS, Coded, TableData

__all__ = ["Failed", "Prepared", "bins_of", "is_continuous", "sdtype"]

_Kept = TypeVar("_Kept")
_BINS = 10
_ROWS_AT_ONCE = 2**14


class Failed(Exception):
    """A column that could not be prepared, with the text of its error."""


def sdtype(table: TableData, name: Hashable) -> str:
    """Return the sdtype that the metadata state of a column, "" where they state none."""
    return str(table.entries[name].get("sdtype", ""))


def is_continuous(table: TableData, name: Hashable) -> bool:
    """Return whether a column is one of numbers or dates."""
    return sdtype(table, name) in CONTINUOUS


class Prepared:
    """The columns as numbers and as codes, each made once; what fails is kept as the error of its pairs."""

    def __init__(self, table: TableData) -> None:
        self.table = table
        self._columns: dict[Hashable, tuple[Column, Column] | Failed] = {}
        self._coded: dict[Hashable, Coded | Failed] = {}

    def all_columns(self, names: Iterable[Hashable]) -> dict[Hashable, tuple[Column, Column]]:
        """Return those of the continuous columns that can be had."""
        found = {}
        for name in dict.fromkeys(names):
            with suppress(Failed):
                found[name] = self.columns(name)
        return found

    def columns(self, name: Hashable) -> tuple[Column, Column]:
        """Return a continuous column of both tables, dates as numbers."""
        return _kept(self._columns, name, self._continuous)

    def coded(self, name: Hashable) -> Coded:
        """Return the codes of a column, those of a continuous one its bins."""
        return _kept(self._coded, name, self._bins if is_continuous(self.table, name) else self.table.codes)

    def _continuous(self, name: Hashable) -> tuple[Column, Column]:
        real, synthetic = self.table.pair(name)
        if sdtype(self.table, name) == "datetime":
            entry = self.table.entries[name]
            real, synthetic = (as_datetimes(name, c, entry) for c in (real, synthetic))
        else:
            real, synthetic = as_numbers([real, synthetic])
        return _without_unit(real, name), _without_unit(synthetic, name)

    def _bins(self, name: Hashable) -> Coded:
        """As released, each table has bins of its own range, so that a shifted and stretched column looks the same."""
        return [_binned(c) for c in self.columns(name)], _BINS + 2


def _kept(cache: dict[Hashable, _Kept | Failed], name: Hashable, make: Callable[[Hashable], _Kept]) -> _Kept:
    if name not in cache:
        try:
            cache[name] = make(name)
        except Exception as error:
            cache[name] = error if isinstance(error, Failed) else Failed(described(error))
    kept = cache[name]
    if isinstance(kept, Failed):
        raise kept
    return kept


def _without_unit(column: Column, name: Hashable) -> Column:
    """Return instants and durations as numbers."""
    if column.dtype.kind not in "mM":
        return column
    numbers = numbers_of(column)
    if not column.has_missing:
        return Column("i", numbers, name=name)
    full = np.full(len(column), np.nan)
    full[~column.missing] = numbers
    return Column("f", full, name=name)


def _binned(column: Column) -> NDArray[Any]:
    """Return the number of the bin of each row, 1 to 10; the largest value and missing values have 11."""
    values = numbers_of(column)
    if values.dtype.kind == "b":
        values = values.astype(np.uint8)
    values = from_least(values, values, _BINS)
    with np.errstate(all="ignore"):
        edges = np.histogram_bin_edges(values, bins=_BINS)
    codes = bins_of(values, edges)
    if len(values) == len(column):
        return codes
    full = np.full(len(column), _BINS + 1, dtype=np.uint8)
    full[~column.missing] = codes
    return full


def bins_of(values: NDArray[Any], edges: NDArray[np.float64]) -> NDArray[np.uint8]:
    """Return `numpy.digitize` for a few edges: the number of edges that a value is not below."""
    found = np.zeros(len(values), dtype=np.uint8)
    for low in range(0, len(values), _ROWS_AT_ONCE):  # a part stays in the processor's cache for all edges
        part, own = values[low : low + _ROWS_AT_ONCE].astype(np.float64), found[low : low + _ROWS_AT_ONCE]
        for edge in edges:
            own += (part >= edge).view(np.uint8)
    return found
