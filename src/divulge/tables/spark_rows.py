"""The rows of a Spark frame by an identifier, with numbers and codes looked up in place of values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import polars as pl

from divulge.core.errors import ColumnError, SettingError, TableError
from divulge.core.schema import check_columns
from divulge.tables._spark_counts import SparkCounts
from divulge.tables.engine_errors import answered
from divulge.tables.engines import _SPARK, _table
from divulge.tables.frames import Table, table_of
from divulge.tables.spark_session import asked

__all__ = ["SparkRows", "is_spark", "spark_rows"]

_WHOLE_OR_TEXT = ("tinyint", "smallint", "int", "bigint", "string")


class SparkRows(NamedTuple):
    """A Spark frame whose rows an identifier tells apart."""

    table: Table
    """Its columns but the identifier, which Spark counts."""
    counts: SparkCounts
    id: str
    """Name of the identifier, as the user wrote it."""
    inner_id: str
    """Its name in `counts`."""

    @property
    def session(self) -> Any:
        """The session of the frame."""
        return self.counts.session

    def looked_up(self, entries: Mapping[str, pl.DataFrame]) -> Any:
        """Return a frame of the identifier, as "id", and the entries of the values of some columns."""
        from pyspark.sql import functions as f

        names = [self.table.names[column] for column in entries]
        rows = self.counts.looked_up(names, list(entries.values()), [self.inner_id])
        return rows.select(f.col(self.inner_id).alias("id"), *(n for own in entries.values() for n in own.columns))

    def type_of_id(self) -> Any:
        """Return the type of the identifier in Spark."""
        return self.counts.frame.schema[self.inner_id].dataType


def is_spark(table: Table) -> bool:
    """Return whether Spark holds a table."""
    implementation = getattr(table.lazy, "implementation", None)
    return str(getattr(implementation, "value", "")) in _SPARK


def spark_rows(native: Any, role: str, id_column: str) -> SparkRows:
    """Return the rows of a Spark frame by an identifier.

    Raises
    ------
    ColumnError
        There is no such column.
    SettingError
        This is no Spark frame, or the column is neither whole numbers nor text.
    TableError
        The identifier is missing in a row, or two rows have the same; Spark fails.
    """
    table = table_of(native, role)
    if not is_spark(table) or table.lazy is None:
        raise SettingError(
            f"id: {role} is no Spark frame, and id is for these alone. hint: leave it out; the answer is then in the "
            f"order of {role}."
        )
    check_columns("id", [id_column], table.columns)
    counts = SparkCounts(table.lazy.to_native())
    counted = _table(role, table.columns, lambda: counts)
    left = tuple(c for c in table.columns if c != id_column)
    if not left:
        raise ColumnError(f"{role}: there is no column but the id. hint: keep the columns to compare.")
    rows = SparkRows(replace(counted, columns=left), counts, id_column, table.names[id_column])
    _check_id(rows)
    return rows


def _check_id(rows: SparkRows) -> None:
    """Raise an error unless each row has an identifier of its own."""
    from pyspark.sql import functions as f

    kind = rows.type_of_id().simpleString()
    if kind not in _WHOLE_OR_TEXT:
        raise SettingError(f"id: column {rows.id!r} is of type {kind}. hint: take one of whole numbers or of text.")
    own = f.col(rows.inner_id)
    told = rows.counts.frame.agg(f.count(own).alias("there"), f.count_distinct(own).alias("distinct"))
    there, distinct = answered(rows.table.role, lambda: asked(rows.session, told.collect))[0]
    if distinct < rows.table.n_rows:
        missing = rows.table.n_rows - there
        raise TableError(
            f"id: column {rows.id!r} does not tell rows apart: it is missing in {missing:,} rows, and has "
            f"{distinct:,} values in the other {there:,}. hint: take a column with a value of its own in each row."
        )
