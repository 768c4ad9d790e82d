"""Counts of a Spark frame, in Spark."""

from __future__ import annotations

import math
import weakref
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import polars as pl

from divulge.core.errors import SettingError
from divulge.tables.counting import Codes, Ints
from divulge.tables.spark_session import asked, fetched, held, let_go

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
        self._n_rows: int | None = None

    @property
    def session(self) -> Any:
        """The session of the frame."""
        return self._frame.sparkSession

    @property
    def frame(self) -> Any:
        """The rows."""
        return self._frame

    def n_rows(self) -> int:
        """Return the number of rows."""
        self._n_rows = int(asked(self.session, self._frame.count))
        return self._n_rows

    def values(self, column: str) -> tuple[pl.Series, Ints]:
        """Return the distinct raw values of a column and how many rows have each."""
        from pyspark.sql import Window
        from pyspark.sql import functions as f

        counted = self._frame.groupBy(f.col(column).alias("value")).agg(f.count(f.lit(1)).alias("n"))
        # a number that is the same whenever Spark makes the values again
        numbered = held(counted.withColumn("id", f.row_number().over(Window.orderBy("value"))))
        weakref.finalize(self, let_go, numbered)
        self._values[column] = numbered
        found = fetched(numbered, self._n_rows, ["id"], is_held=True).sort("id")
        return found["value"], found["n"].to_numpy()

    def cells(self, columns: Sequence[str], codes: Sequence[Codes]) -> tuple[list[Codes], Ints]:
        """Return the distinct combinations of codes and how many rows have each."""
        names = [f"k{i}" for i in range(len(columns))]
        combinations = math.prod(len(np.unique(own)) for own in codes)
        most = combinations if self._n_rows is None else min(combinations, self._n_rows)
        found = fetched(self._cells(columns, codes), most, names)
        if any(found[name].null_count() for name in names):  # a value that the column did not have before
            found = found.clear()
        coded = [found[name].to_numpy().astype(own.dtype) for name, own in zip(names, codes, strict=True)]
        return coded, found["n"].to_numpy()

    def coded_rows(self, columns: Sequence[str], codes: Sequence[Codes]) -> Iterator[list[Codes]]:
        """Refuse: rows stay in Spark."""
        raise SettingError("engine: spark tells counts alone. hint: write the tables as Parquet, and take 'duckdb'.")

    def n_cells(self, columns: Sequence[str], codes: Sequence[Codes]) -> int:
        """Return how many cells there are."""
        return int(asked(self.session, self._cells(columns, codes).count))

    def _cells(self, columns: Sequence[str], codes: Sequence[Codes]) -> Any:
        from pyspark.sql import functions as f

        names = [f"k{i}" for i in range(len(columns))]
        entries = [pl.DataFrame({k: pl.Series(own).cast(pl.Int32)}) for k, own in zip(names, codes, strict=True)]
        rows = self.looked_up(columns, entries)
        return rows.groupBy(*names).agg(f.count(f.lit(1)).alias("n"))

    def looked_up(self, columns: Sequence[str], entries: Sequence[pl.DataFrame], keep: Sequence[str] = ()) -> Any:
        """Return the rows with entries in place of values; null where a value is one that the column did not have.

        Parameters
        ----------
        columns
            Their values have been asked for before.
        entries
            For each column what to put in place of each of its values, in the order of `values`; no name comes twice.
        keep
            Columns that are kept as they are.
        """
        from pyspark.sql import functions as f

        rows = self._frame.select(*dict.fromkeys([*keep, *columns]))
        for i, (column, own) in enumerate(zip(columns, entries, strict=True)):
            given = own.with_columns(pl.int_range(1, own.height + 1, dtype=pl.Int32).alias("id"))
            sent = self.session.createDataFrame(given.to_arrow())
            known = self._values[column].join(sent, "id").select(f.col("value").alias(f"v{i}"), *own.columns)
            rows = rows.join(f.broadcast(known), rows[column].eqNullSafe(known[f"v{i}"]), "left").drop(f"v{i}")
        return rows.select(*keep, *(name for own in entries for name in own.columns))
