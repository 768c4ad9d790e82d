"""The columns of a table as numbers for a model, fitted on one table and applied to others, as SDMetrics has them.

Numbers and dates: the mean where one is missing. Truth values: the commonest. Anything else: a column of 0 and 1 for
each category.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.sdmetrics.columns import Column, Frame
from divulge.sdmetrics.inputs import known
from divulge.sdmetrics.readings import as_numbers, family_of

__all__ = ["Features"]

Floats = NDArray[np.float64]


class Features:
    """Numbers for each row of a table.

    Parameters
    ----------
    table
        The table that decides means and categories.
    asked
        The table whose numbers are asked for, too.
    """

    def __init__(self, table: Frame, asked: Frame) -> None:
        self._columns: dict[Hashable, tuple[bool, Callable[[Column], Floats]]] = {
            name: _fitted(column, asked[name]) for name, column in table.columns.items()
        }

    def of(self, table: Frame) -> Floats:
        """Return the numbers of each row, shape (n_rows, n_features): categories after all other columns.

        Raises
        ------
        ValueError
            The table has a category that the fitted one lacks.
        """
        ordered = sorted(self._columns.items(), key=lambda item: item[1][0])  # stable: categories last
        blocks = [function(table[name]) for name, (_, function) in ordered]
        return np.hstack([np.empty((len(table), 0)), *blocks])


def _fitted(column: Column, asked: Column) -> tuple[bool, Callable[[Column], Floats]]:
    """Return whether the column is categories, and the function that gives its numbers."""
    kind = _kind(column)
    if kind == "O" and not _refused_as_categories(column, asked):
        return True, _one_hot(column)
    values = _as_floats(column)
    there = values[~np.isnan(values)]
    filler = float(np.mean(there)) if len(there) else float("nan")
    if kind == "b" and len(there):
        filler = float(filler > 0.5)

    def numbers_of(other: Column) -> Floats:
        found = _as_floats(other)
        return np.where(np.isnan(found), filler, found)[:, None]

    return False, numbers_of


def _refused_as_categories(column: Column, asked: Column) -> bool:
    """Return whether decimals, times or periods are numbers, as the other table has some that this one lacks."""
    if family_of([column, asked]) is None:
        return False
    return not set(known(asked).tolist()) <= set(known(column).tolist())


def _kind(column: Column) -> str:
    """Return i for numbers and dates, b for truth values, O for anything else; objects by what they hold."""
    if column.kind in "iufmM":
        return "i"
    if column.kind == "b":
        return "b"
    values = known(column).tolist()
    if values and all(isinstance(v, bool) for v in values):
        return "b"
    if values and all(isinstance(v, numbers.Real) and not isinstance(v, bool) for v in values):
        return "i"
    return "O"


def _as_floats(column: Column) -> Floats:
    (column,) = as_numbers([column], shifted=False)
    full = np.full(len(column), np.nan)
    if column.dtype.kind == "m":  # as released, a missing duration is the least of all
        return column.values.view(np.int64).astype(np.float64)
    values = known(column)
    if values.dtype.kind == "M":
        values = values.astype(values.dtype).view(np.int64)
    try:
        full[~column.missing] = values.astype(np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"Column {column.name!r} has numbers in one table and other values in the other.") from None
    return full


def _one_hot(column: Column) -> Callable[[Column], Floats]:
    from sklearn.preprocessing import OneHotEncoder

    try:
        encoder = OneHotEncoder().fit(_objects(column))
    except TypeError:
        raise ValueError(
            f"Column {column.name!r} has values that cannot be ordered, such as text and numbers."
        ) from None

    def numbers_of(other: Column) -> Floats:
        try:
            return np.asarray(encoder.transform(_objects(other)).toarray(), dtype=np.float64)
        except ValueError:
            raise ValueError(
                f"Column {column.name!r} has a category in one table that the table which the model learns from "
                "lacks. hint: leave the column out, or merge its rare categories."
            ) from None

    return numbers_of


def _objects(column: Column) -> NDArray[Any]:
    return column.values.astype(object)[:, None]
