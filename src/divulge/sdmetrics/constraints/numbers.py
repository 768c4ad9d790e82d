"""Constraints on the numbers of a row: multiples, codes of one of several, limits of a segment, formulas."""

from __future__ import annotations

import numbers
import sys
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.measures.rules import within_segments
from divulge.sdmetrics.columns import Column
from divulge.sdmetrics.constraints.base import (
    Constraint,
    ConstraintNotApplicableError,
    Mask,
    Tables,
    are_texts,
    check_table,
    codes,
)

__all__ = ["ColumnFormula", "FixedIncrements", "MixedScales", "OneHotEncoding"]

Floats = NDArray[np.float64]
_MAIN = "__main__"


class FixedIncrements(Constraint):
    """A number is a multiple of a whole number, or missing."""

    def __init__(self, column_name: str, increment_value: float, table_name: str | None = None) -> None:
        check_table(table_name)
        if not isinstance(column_name, str):
            raise ValueError("`column_name` must be a string.")
        if not isinstance(increment_value, (int, float)):
            raise ValueError("`increment_value` must be an integer or float.")
        if increment_value <= 0:
            raise ValueError("`increment_value` must be greater than 0.")
        if increment_value % 1 != 0:
            raise ValueError("`increment_value` must be a whole number.")
        self.table, self.name, self.step = str(table_name), column_name, increment_value

    def check(self, data: Tables) -> None:
        """See `Constraint.check`."""
        data.check(self.table, [])
        if self.name not in data.all[self.table]:
            raise ConstraintNotApplicableError(f"The column '{self.name}' is missing from the table '{self.table}'.")
        sdtype = data.entry(self.table, self.name).get("sdtype")
        if sdtype != "numerical":
            raise ConstraintNotApplicableError(
                f"Column '{self.name}' has an incompatible sdtype ('{sdtype}'). The column sdtype must be 'numerical'."
            )

    def valid(self, data: Tables, real: Tables | None) -> dict[str, Mask]:
        """See `Constraint.valid`."""
        (column,) = data.columns(self.table, [self.name])
        found = column.missing.copy()
        known = column.values[~found]
        if known.dtype == object:
            known = _floats(column)[~found]
        with np.errstate(invalid="ignore"):
            found[~column.missing] = known % self.step == 0
        return {self.table: found}


class OneHotEncoding(Constraint):
    """One of several columns is 1, and all others are 0."""

    def __init__(self, column_names: list[str], table_name: str | None = None) -> None:
        check_table(table_name)
        if not are_texts(column_names):
            raise ValueError("The 'column_names' parameter must be a list of strings.")
        self.table, self.names = str(table_name), column_names

    def check(self, data: Tables) -> None:
        """See `Constraint.check`."""
        data.check(self.table, self.names)

    def valid(self, data: Tables, real: Tables | None) -> dict[str, Mask]:
        """See `Constraint.valid`; as released, one column alone is never valid, and neither is text."""
        columns = [_floats(c, text=np.nan) for c in data.columns(self.table, self.names)]
        if not columns:
            return {self.table: ~data.valid(self.table)}
        rows = np.stack(columns, axis=1)
        found = (rows.sum(axis=1) == 1) & (rows.max(axis=1) == 1) & (rows.min(axis=1) == 0)
        return {self.table: np.asarray(found)}


class MixedScales(Constraint):
    """A number lies between the smallest and the largest real one of its segment."""

    def __init__(
        self, mixed_scale_column_name: str, segment_column_names: list[str], table_name: str | None = None
    ) -> None:
        if table_name is not None:
            check_table(table_name)
        if not isinstance(mixed_scale_column_name, str):
            raise ValueError("`mixed_scale_column_name` must be a string.")
        if not are_texts(segment_column_names):
            raise ValueError("`segment_column_names` must be a list of strings.")
        if not segment_column_names:
            raise ValueError("`segment_column_names` is empty. hint: name a column of categories.")
        self.table, self.name, self.segments = table_name, mixed_scale_column_name, list(segment_column_names)

    def _table(self, data: Tables) -> str:
        return self.table if self.table is not None else next(iter(data.metadata.get("tables", {})), "")

    def check(self, data: Tables) -> None:
        """See `Constraint.check`."""
        table = self._table(data)
        if data.entry(table, self.name).get("sdtype") != "numerical":
            raise ConstraintNotApplicableError(
                "A MixedScales constraint is being applied to columns with mismatched sdtypes "
                f"{self.name}. The mixed_scale_column must be numerical."
            )
        for name in self.segments:
            if data.entry(table, name).get("sdtype") not in ("categorical", "boolean"):
                raise ConstraintNotApplicableError(
                    f"A MixedScales constraint is being applied to segment columns with mismatched sdtypes {name}. All "
                    "segment columns must be categorical."
                )
        data.check(table, [self.name, *self.segments])

    def valid(self, data: Tables, real: Tables | None) -> dict[str, Mask]:
        """See `Constraint.valid`; a segment that the real table lacks is invalid."""
        table = self._table(data)
        if real is None:
            return {table: data.valid(table)}
        if not real.n_rows(table):
            return {table: ~data.valid(table)}
        ours, theirs = codes(*(side.columns(table, self.segments) for side in (real, data)))
        of_real, of_data = (_floats(side.columns(table, [self.name])[0]) for side in (real, data))
        return {table: within_segments((ours, theirs), (of_real, of_data))}


def _floats(column: Column, text: float | None = None) -> Floats:
    """Return numbers and truth values as floats, nan where a value is missing.

    Parameters
    ----------
    column
        The numbers.
    text
        What a column of other values gives in each row; without it, it is a `TypeError`.
    """
    found = np.full(len(column), np.nan)
    known = column.values[~column.missing]
    if known.dtype.kind not in "biuf" and not all(isinstance(v, (numbers.Real, np.bool_)) for v in known.tolist()):
        if text is None:
            raise TypeError(f"Column {column.name!r} holds values that are no numbers. hint: convert it.")
        return np.full(len(column), text)
    found[~column.missing] = known.astype(np.float64)
    return found


class ColumnFormula(Constraint):
    """A column equals what a function makes of other columns, or both are missing.

    Parameters
    ----------
    input_column_names, output_column_name
        Columns that the function takes, as a pandas frame, and the column that it gives.
    formula_function_name
        The function itself, or the name of one that the running program defines. SDMetrics imports the module that a
        constraint names; a constraint from a file could so run any code, and is refused here.
    module_name
        "__main__".
    table_name
        Name of the table.
    """

    def __init__(
        self,
        input_column_names: list[str],
        output_column_name: str,
        formula_function_name: str | Callable[[Any], Any],
        module_name: str = _MAIN,
        table_name: str | None = None,
    ) -> None:
        check_table(table_name)
        if not are_texts(input_column_names) or not input_column_names:
            raise ValueError("The 'input_column_names' parameter must be a non-empty list of strings.")
        if not isinstance(output_column_name, str):
            raise ValueError("The 'output_column_name' parameter must be a string.")
        if not isinstance(formula_function_name, str) and not callable(formula_function_name):
            raise ValueError("The 'formula_function_name' parameter must be a string.")
        if not isinstance(module_name, str):
            raise ValueError("The 'module_name' parameter must be a string.")
        self.table, self.inputs, self.output = str(table_name), input_column_names, output_column_name
        self.function = _function(formula_function_name, module_name)

    def check(self, data: Tables) -> None:
        """See `Constraint.check`."""
        data.check(self.table, [*self.inputs, self.output])

    def valid(self, data: Tables, real: Tables | None) -> dict[str, Mask]:
        """See `Constraint.valid`."""
        frame = _pandas_frame(data, self.table, [*self.inputs, self.output])
        made = self.function(frame[self.inputs])
        if type(made).__name__ != "Series":
            raise TypeError("The formula function must return a pandas Series.")
        asked = frame[self.output]
        found = (made.eq(asked) | (made.isna() & asked.isna())).fillna(False)
        return {self.table: found.to_numpy(dtype=bool)}


def _function(name: str | Callable[[Any], Any], module: str) -> Callable[[Any], Any]:
    if not isinstance(name, str):
        return name
    if module != _MAIN:
        raise ValueError(
            f"ColumnFormula: module {module!r} is not imported. hint: pass the function itself as "
            "`formula_function_name`."
        )
    found = getattr(sys.modules[_MAIN], name, None)
    if found is None:
        raise ValueError(f"Module '{module}' does not contain a function named '{name}'.")
    if not isinstance(found, FunctionType) or found.__module__ != _MAIN:
        raise TypeError(
            f"`formula_function_name` must reference a callable function. '{name}' is not callable, or not defined "
            "there."
        )
    return found


def _pandas_frame(data: Tables, table: str, names: list[str]) -> Any:
    """Return columns of a table as a pandas frame: those given, where they are pandas' own."""
    import pandas

    given = data.frames.get(table)
    if isinstance(given, pandas.DataFrame):
        return given[list(dict.fromkeys(names))]
    return pandas.DataFrame({name: data.all[table][name].values for name in names})
