"""What a constraint is, and the tables that it is checked on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.measures.rules import combined
from divulge.sdmetrics.columns import Column
from divulge.sdmetrics.inputs import Columns, known_codes

__all__ = [
    "Constraint",
    "ConstraintNotApplicableError",
    "Ints",
    "Mask",
    "Tables",
    "are_texts",
    "check_table",
    "code_columns",
    "codes",
    "isin",
]

Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]


class ConstraintNotApplicableError(Exception):
    """A constraint cannot be checked on the tables: a table, a column or a key is not there."""


class Tables:
    """The tables of one side under one metadata.

    Parameters
    ----------
    columns
        Columns by name, for each table.
    metadata
        SDV metadata with "tables".
    frames
        The frames as given, for formulas that take a frame.
    counts
        For tables whose columns have distinct rows alone, as many of them as there are in the table.
    """

    def __init__(
        self,
        columns: Mapping[str, Columns],
        metadata: Mapping[str, Any],
        frames: Mapping[str, Any] | None = None,
        counts: Mapping[str, Ints] | None = None,
    ) -> None:
        self.all, self.metadata, self.frames, self.counts = columns, metadata, frames or {}, counts or {}

    @cached_property
    def _described(self) -> Mapping[str, Any]:
        tables = self.metadata.get("tables")
        return tables if isinstance(tables, Mapping) else {}

    def check(self, table: str, names: Sequence[str]) -> None:
        """Raise a `ConstraintNotApplicableError` where the table or one of its columns is missing."""
        if table not in self.all:
            raise ConstraintNotApplicableError(f"The table '{table}' is missing from the data.")
        missing = [name for name in names if name not in self.all[table]]
        if missing:
            quoted = "', '".join(missing)
            raise ConstraintNotApplicableError(f"The column(s) '{quoted}' are missing from the table '{table}'.")

    def columns(self, table: str, names: Sequence[str]) -> list[Column]:
        """Return columns of a table, which are there."""
        return [self.all[table][name].named(name) for name in names]

    def n_rows(self, table: str) -> int:
        """Return the number of rows of a table, of its distinct rows where it has these alone."""
        if table in self.counts:
            return len(self.counts[table])
        return len(next(iter(self.all[table].values()))) if self.all[table] else 0

    def valid(self, table: str) -> Mask:
        """Return a mask in which each row of a table is valid."""
        return np.ones(self.n_rows(table), dtype=bool)

    def entry(self, table: str, column: str) -> Mapping[str, Any]:
        """Return what the metadata say of a column; nothing where they do not have it."""
        described = self._described.get(table)
        columns = described.get("columns") if isinstance(described, Mapping) else None
        found = columns.get(column) if isinstance(columns, Mapping) else None
        return found if isinstance(found, Mapping) else {}

    def primary_key(self, table: str) -> str:
        """Return the name of the primary key of a table, or raise a `ConstraintNotApplicableError`."""
        described = self._described.get(table)
        key = described.get("primary_key") if isinstance(described, Mapping) else None
        if not isinstance(key, str):
            raise ConstraintNotApplicableError(f"The table '{table}' does not have a primary key in the metadata.")
        return key


class Constraint:
    """A rule that each row of a table keeps or breaks; a class derived from this one has its parameters."""

    def check(self, data: Tables) -> None:
        """Raise a `ConstraintNotApplicableError` where the constraint cannot be checked on the tables."""
        raise NotImplementedError

    def valid(self, data: Tables, real: Tables | None) -> dict[str, Mask]:
        """Return the rows of `data` that keep the rule, for each table whose rows count.

        Parameters
        ----------
        data
            Tables to check, for which `check` raises nothing.
        real
            The real tables; None where the constraint cannot be checked on them.
        """
        raise NotImplementedError


def codes(*parts: Sequence[Column]) -> list[Ints]:
    """Return one code for each row of each part, equal where the values of all columns are equal.

    Parameters
    ----------
    *parts
        The columns of each part, in one order. Missing values are equal, and values that Python calls equal.
    """
    return combined([code_columns(*columns) for columns in zip(*parts, strict=True)])


def code_columns(*columns: Column) -> list[Ints]:
    """Return the codes of each column over all of them, 0 for a missing value."""
    found, _ = known_codes(_in_one_unit(columns))
    return [c.astype(np.int64) for c in found]


def _in_one_unit(columns: Sequence[Column]) -> list[Column]:
    """Return the columns, those of instants in the finest unit of all."""
    units = [c.values.dtype for c in columns if c.values.dtype.kind == "M"]
    if not units:
        return list(columns)
    finest = np.result_type(*units)
    return [
        Column(c.kind, c.values.astype(finest), c.missing, c.name) if c.values.dtype.kind == "M" else c for c in columns
    ]


def isin(column: Column, values: Sequence[Any]) -> Mask:
    """Return where a column has one of the values of a list; a missing value where the list has one."""
    listed = np.empty(len(values), dtype=object)
    listed[:] = list(values)
    own, theirs = code_columns(column, Column("O", listed))
    return np.isin(own, theirs)


def check_table(name: Any) -> None:
    """Raise a `ValueError` where the name of a table is no text."""
    if not isinstance(name, str):
        raise ValueError("The 'table_name' parameter must be a string.")


def are_texts(values: Any) -> bool:
    """Return whether a value is a list of texts."""
    return isinstance(values, list) and all(isinstance(value, str) for value in values)
