"""People of two releases by their id: who left, who stayed, who joined; and their rows as tables."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from divulge.core.errors import ColumnError, SettingError, TableError
from divulge.core.schema import check_columns, column_names
from divulge.tables.frames import Table, collect
from divulge.tables.pooled_columns import pool

__all__ = ["People", "matched", "with_unit"]

Bools = NDArray[np.bool_]

_NAMES = ("the first real table", "the second real table")


class People:
    """The rows of both real tables by what became of the person.

    Parameters
    ----------
    tables
        The real tables of both releases, in memory.
    unit
        The column of the person.
    found
        Per table, which rows belong to people whom the other table has too.
    sizes
        People who left, who stayed and who joined.
    repeats
        Whether an id stands in two rows of one table.
    """

    def __init__(
        self,
        tables: tuple[Table, Table],
        unit: str,
        found: tuple[Bools, Bools],
        sizes: tuple[int, int, int],
        repeats: bool,
    ) -> None:
        self._tables, self.unit, self._found, self._repeats = tables, unit, found, repeats
        self.n_left, self.n_stayed, self.n_joined = sizes

    @property
    def case_unit(self) -> str | None:
        """The column of the person if an id stands in two rows of one table; else None, as each row is a person."""
        return self.unit if self._repeats else None

    def rows(self, which: int, *, stayed: bool) -> Table:
        """Return the rows of the people of a release who are in the other one too, or of those who are not."""
        table = self._tables[which]
        assert table.frame is not None
        frame = table.frame.filter(pl.Series(self._found[which] == stayed))
        columns = tuple(c for c in table.columns if self._repeats or c != self.unit)
        return replace(table, frame=frame, n_rows=frame.height, columns=columns, notes=())


def matched(first: Table, second: Table, unit: str, synthetic: tuple[Table, Table]) -> People:
    """Return the people of both releases, matched by their id.

    Raises
    ------
    ColumnError
        A real table has no such column.
    SettingError
        No single column is named, or nobody left and nobody joined.
    TableError
        A row has no id, or no id stands in both real tables.
    """
    names = column_names("unit", unit)
    if len(names) != 1:
        raise SettingError("unit: name one column. hint: the column that says which person a row is about.")
    unit = names[0]
    tables = collect(first), collect(second)
    for table, beside, where in zip(tables, synthetic, _NAMES, strict=True):
        if unit not in table.columns and unit in beside.columns:
            raise ColumnError(
                f"unit: {where} has no column {unit!r}, and its synthetic table has. hint: name the real table of a "
                "release before its synthetic table."
            )
        check_columns(f"unit: {where}", [unit], table.columns, table.levels)
    codes = [c for c in pool(tables, unit).codes if c is not None]
    for own, where in zip(codes, _NAMES, strict=True):
        if lacking := int((own == 0).sum()):
            raise TableError(
                f"unit: {lacking:,} rows of {where} have no id, so that nobody knows whether they left. hint: give "
                "every row an id."
            )
    ids = [np.unique(own) for own in codes]
    both = np.intersect1d(ids[0], ids[1])
    if not len(both):
        raise TableError(
            "unit: no id stands in both real tables, so that nobody stayed. hint: ids must be the same in both "
            "releases; the order is REAL1 SYN1 REAL2 SYN2."
        )
    sizes = len(ids[0]) - len(both), len(both), len(ids[1]) - len(both)
    if sizes[0] == sizes[2] == 0:
        raise SettingError(
            "unit: both real tables have the same ids, so that nobody left and nobody joined. hint: pass the real "
            "tables of two releases between which people left."
        )
    repeats = any(len(i) < len(own) for i, own in zip(ids, codes, strict=True))
    return People(tables, unit, (np.isin(codes[0], both), np.isin(codes[1], both)), sizes, repeats)


def with_unit(table: Table, like: Table, unit: str) -> Table:
    """Return a table with a column of the unit in which every value is missing: each row is a person of its own."""
    assert table.frame is not None
    name = f"c{len(table.names)}"
    column = pl.Series(name, [None], dtype=like.series(unit).dtype).new_from_index(0, table.n_rows)
    kept = tuple(c for c in table.columns if c != unit)
    names = {c: table.names[c] for c in kept} | {unit: name}
    return replace(table, frame=table.frame.with_columns(column), columns=(*kept, unit), names=names)
