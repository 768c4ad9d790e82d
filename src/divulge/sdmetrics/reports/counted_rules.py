"""Constraints on a table whose rows an engine keeps, from the distinct rows of the columns that each of them names."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from divulge.core.errors import SettingError
from divulge.sdmetrics.columns import EMPTY, Column
from divulge.sdmetrics.constraints import combinations, numbers, order
from divulge.sdmetrics.constraints.adherence import constraint_of
from divulge.sdmetrics.constraints.base import Constraint, Tables
from divulge.sdmetrics.reports.diagnosed_table import DiagnosedTable
from divulge.sdmetrics.reports.tables import TableData

__all__ = ["counted_rules"]

_COLUMNS: dict[type[Constraint], Callable[[Any], list[str] | None]] = {
    combinations.FixedCombinations: lambda c: list(c.names),
    combinations.FixedNullCombinations: lambda c: list(c.names),
    combinations.DenormalizedTable: lambda c: [c.key, *c.names],
    combinations.ReferenceTable: lambda c: None,
    numbers.FixedIncrements: lambda c: [c.name],
    numbers.OneHotEncoding: lambda c: list(c.names),
    numbers.MixedScales: lambda c: [c.name, *c.segments],
    order.Inequality: lambda c: list(c.names),
    order.Range: lambda c: list(c.names),
    order.ChainedInequality: lambda c: list(c.names),
}
"""The columns of constraints that look at one row, or at the set of rows; None is all. Others look at the order of
rows, at several tables, or call a function of the user's."""


def counted_rules(
    constraints: Sequence[Mapping[str, Any]], name: str, table: DiagnosedTable, metadata: Mapping[str, Any]
) -> list[tuple[Tables, Tables]]:
    """Return for each constraint the distinct rows of its columns in both tables.

    Raises
    ------
    SettingError
        A constraint needs the rows themselves.
    SizeError
        The distinct rows of a constraint do not fit into memory.
    """
    made: list[Constraint | None] = []
    for described in constraints:
        constraint = None
        with suppress(Exception):  # its row in the report tells the error
            constraint = constraint_of(described)
        if constraint is not None and type(constraint) not in _COLUMNS:
            raise _needs_rows(constraint, table)
        made.append(constraint)
    return [_sides(constraint, name, table, metadata) for constraint in made]


def _needs_rows(constraint: Constraint, table: DiagnosedTable) -> SettingError:
    engine = table.counted[0].counting.engine
    return SettingError(
        f"constraints: {type(constraint).__name__} needs the rows in their order, and {engine} tells how often each "
        "row occurs. hint: leave it out of the metadata, or read the tables into memory (--engine memory)."
    )


def _sides(
    constraint: Constraint | None, name: str, table: DiagnosedTable, metadata: Mapping[str, Any]
) -> tuple[Tables, Tables]:
    is_here = constraint is not None and getattr(constraint, "table", None) in (None, name)
    wanted = _COLUMNS[type(constraint)](constraint) if constraint is not None and is_here else []
    rows: list[dict[Hashable, Column]] = []
    counts = []
    for side in table.counted:
        asked = [c for c in side.table.columns if wanted is None or c in wanted]
        columns, n = side.combinations(asked) if asked else ({}, np.array([side.table.n_rows], dtype=np.int64))
        rows.append(columns)
        counts.append(n)
    read = TableData(table.metadata, rows[0], rows[1]).sides  # dates
    found = [
        Tables({name: dict.fromkeys(side.table.columns, EMPTY) | own}, metadata, counts={name: n})
        for side, own, n in zip(table.counted, read, counts, strict=True)
    ]
    if constraint is not None and any(_guesses(constraint, tables, name) for tables in found):
        raise _needs_rows(constraint, table)
    return found[0], found[1]


def _guesses(constraint: Constraint, tables: Tables, name: str) -> bool:
    """Return whether how dates are written is guessed from the first rows."""
    if not isinstance(constraint, order.Range | order.ChainedInequality) or constraint.table != name:
        return False
    entries = [tables.entry(name, c) for c in constraint.names]
    if not entries or entries[0].get("sdtype") != "datetime":
        return False
    told = isinstance(constraint, order.Range) and all(e.get("datetime_format") for e in entries)
    texts = (c for c in constraint.names if c in tables.all[name] and tables.all[name][c].kind == "O")
    return not told and any((~tables.all[name][c].missing).any() for c in texts)
