"""Counts of a Spark frame, in Spark."""

from __future__ import annotations

import weakref
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from divulge.tables._sql_numbers import SqlNumbers, coded
from divulge.tables.counting import Codes, Edges, Ints, Numbers, narrowed
from divulge.tables.numeric_types import numeric_type

__all__ = ["SparkCounts", "coded_in", "numbers_in"]


class SparkCounts:
    """A Spark frame, classic or of Spark Connect; its columns are called c0, c1, ... here.

    The distinct values of a column stay in Spark, numbered, and the codes are sent there by these numbers: a value that
    went to Python and back could return as another type.

    Parameters
    ----------
    frame
        The rows.
    """

    engine = "spark"

    def __init__(self, frame: Any) -> None:
        self._frame = frame.toDF(*(f"c{i}" for i in range(len(frame.columns))))
        self._values: dict[str, Any] = {}

    def n_rows(self) -> int:
        """Return the number of rows."""
        return int(self._frame.count())

    def values(self, column: str) -> tuple[pl.Series, Ints]:
        """Return the distinct raw values of a column and how many rows have each."""
        from pyspark.sql import Window
        from pyspark.sql import functions as f

        counted = self._frame.groupBy(f.col(column).alias("value")).agg(f.count(f.lit(1)).alias("n"))
        # a number that is the same whenever Spark makes the values again
        numbered = counted.withColumn("id", f.row_number().over(Window.orderBy("value"))).persist()
        weakref.finalize(self, _let_go, numbered)
        self._values[column] = numbered
        found = _here(numbered).sort("id")
        return found["value"], found["n"].to_numpy()

    def numbers(self, column: str, missing: Sequence[float]) -> Numbers | None:
        """Return the numbers of a column; None for types that are no numbers."""
        return numbers_in(self._frame, column, missing)

    def cells(self, columns: Sequence[str], codes: Sequence[Codes | Edges]) -> tuple[list[Codes], Ints]:
        """Return the distinct combinations of codes and how many rows have each."""
        names = [f"k{i}" for i in range(len(columns))]
        found = _here(self._cells(columns, codes))
        if any(found[name].null_count() for name in names):  # a value that the column did not have before
            found = found.clear()
        coded = [narrowed(found[name].to_numpy(), own) for name, own in zip(names, codes, strict=True)]
        return coded, found["n"].to_numpy()

    def n_cells(self, columns: Sequence[str], codes: Sequence[Codes | Edges]) -> int:
        """Return how many cells there are."""
        return int(self._cells(columns, codes).count())

    def _cells(self, columns: Sequence[str], codes: Sequence[Codes | Edges]) -> Any:
        from pyspark.sql import functions as f

        names = [f"k{i}" for i in range(len(columns))]
        edges = {k: (c, own) for k, c, own in zip(names, columns, codes, strict=True) if isinstance(own, Edges)}
        rows = coded_in(self._frame.select(*dict.fromkeys(columns)), edges)
        for name, column, own in zip(names, columns, codes, strict=True):
            if isinstance(own, Edges):
                continue
            given = pl.DataFrame({"id": pl.int_range(1, len(own) + 1, dtype=pl.Int32, eager=True), name: own})
            sent = self._frame.sparkSession.createDataFrame(given.cast({name: pl.Int32}).to_arrow())
            known = self._values[column].join(sent, "id").select(f.col("value").alias(f"v{name}"), name)
            rows = rows.join(f.broadcast(known), rows[column].eqNullSafe(known[f"v{name}"]), "left").drop(f"v{name}")
        return rows.groupBy(*names).agg(f.count(f.lit(1)).alias("n"))


def numbers_in(frame: Any, column: str, missing: Sequence[float]) -> SqlNumbers | None:
    """Return the numbers of a column of a Spark frame; None for types that are no numbers."""
    own = numeric_type(_type(frame, column))
    if own is None:
        return None
    rows = frame.select(column)

    def asked(query: str) -> pl.DataFrame:
        return _here(rows.sparkSession.sql(query, rows=rows))

    return SqlNumbers(asked, "{rows}", _double(frame, column), own, missing)


def coded_in(frame: Any, columns: Mapping[str, tuple[str, Edges]]) -> Any:
    """Return a Spark frame with further columns of codes: name -> column and the edges that code it."""
    if not columns:
        return frame
    asked = coded("{rows}", {name: (_double(frame, column), edges) for name, (column, edges) in columns.items()})
    return frame.sparkSession.sql(f"select * from {asked}", rows=frame)


def _type(frame: Any, column: str) -> str:
    return str(frame.schema[column].dataType.simpleString())


def _double(frame: Any, column: str) -> str:
    """Return a column of numbers or times as a double, in SQL."""
    is_time = _type(frame, column) == "timestamp"
    return f"cast(unix_micros({column}) as double)" if is_time else f"cast({column} as double)"


def _let_go(frame: Any) -> None:
    """Let Spark forget values that it holds; a session that has ended holds none."""
    from contextlib import suppress

    with suppress(Exception):
        frame.unpersist()


def _here(frame: Any) -> pl.DataFrame:
    """Return the rows of a Spark frame."""
    found = pl.from_arrow(frame.toArrow())
    assert isinstance(found, pl.DataFrame)
    return found
