"""Counts of a Spark frame, in Spark."""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Sequence
from typing import Any

import polars as pl

from divulge.core.errors import SettingError
from divulge.tables.counting import Codes, Ints

__all__ = ["SparkCounts"]


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

    def cells(self, columns: Sequence[str], codes: Sequence[Codes]) -> tuple[list[Codes], Ints]:
        """Return the distinct combinations of codes and how many rows have each."""
        names = [f"k{i}" for i in range(len(columns))]
        found = _here(self._cells(columns, codes))
        if any(found[name].null_count() for name in names):  # a value that the column did not have before
            found = found.clear()
        coded = [found[name].to_numpy().astype(own.dtype) for name, own in zip(names, codes, strict=True)]
        return coded, found["n"].to_numpy()

    def coded_rows(self, columns: Sequence[str], codes: Sequence[Codes]) -> Iterator[list[Codes]]:
        """Refuse: rows stay in Spark."""
        raise SettingError("engine: spark tells counts alone. hint: write the tables as Parquet, and take 'duckdb'.")

    def n_cells(self, columns: Sequence[str], codes: Sequence[Codes]) -> int:
        """Return how many cells there are."""
        return int(self._cells(columns, codes).count())

    def _cells(self, columns: Sequence[str], codes: Sequence[Codes]) -> Any:
        from pyspark.sql import functions as f

        rows, names = self._frame.select(*dict.fromkeys(columns)), [f"k{i}" for i in range(len(columns))]
        for name, column, own in zip(names, columns, codes, strict=True):
            given = pl.DataFrame({"id": pl.int_range(1, len(own) + 1, dtype=pl.Int32, eager=True), name: own})
            sent = self._frame.sparkSession.createDataFrame(given.cast({name: pl.Int32}).to_arrow())
            known = self._values[column].join(sent, "id").select(f.col("value").alias(f"v{name}"), name)
            rows = rows.join(f.broadcast(known), rows[column].eqNullSafe(known[f"v{name}"]), "left").drop(f"v{name}")
        return rows.groupBy(*names).agg(f.count(f.lit(1)).alias("n"))


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
