"""Counts of a Spark frame, in Spark."""

from __future__ import annotations

import math
import weakref
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from divulge.core.errors import SettingError
from divulge.tables._sql_numbers import SqlNumbers, coded
from divulge.tables.counting import Codes, Edges, Ints, KeyPart, Numbers, narrowed
from divulge.tables.numeric_types import numeric_type
from divulge.tables.spark_session import asked, fetched, held, let_go

__all__ = ["SparkCounts", "coded_in", "numbers_in"]

_FEW = 100_000  # rows of an answer about numbers: counts of parts, and of the numbers in some of these


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

    def types(self) -> list[pl.DataType]:
        """Return the type of each column as polars has it."""
        return list(fetched(self._frame.limit(0), 0, ()).dtypes)

    def n_keys(self, key: Sequence[KeyPart]) -> int:
        """Return how many combinations of values differ, without the one in which all are missing."""
        names = [f"k{i}" for i in range(len(key))]
        rows = self._frame.select(*(self._part(p).alias(k) for k, p in zip(names, key, strict=True)))
        return int(asked(self.session, rows.na.drop("all").distinct().count))

    def _part(self, part: KeyPart) -> Any:
        """Return a column of a key, null where its value is missing."""
        from pyspark.sql import functions as f

        value = f.col(part.column)
        coded = value if all(isinstance(code, str) for code in part.lost) else value.cast("double")
        lost = coded.isin(*part.lost) if part.lost else f.lit(False)
        if _type(self._frame, part.column) in ("double", "float"):
            lost = lost | f.isnan(value)
        return f.when(value.isNotNull() & ~lost, value.cast("double") if part.as_float else value)

    def combinations(self, columns: Sequence[str]) -> tuple[list[pl.Series], Ints]:
        """Return the distinct combinations of raw values and how many rows have each."""
        from pyspark.sql import functions as f

        counted = self._frame.groupBy(*columns).agg(f.count(f.lit(1)).alias("n"))
        found = fetched(counted, self._n_rows, columns)
        return [found[c] for c in columns], found["n"].to_numpy()

    def raw(self, column: str) -> Iterator[pl.Series]:
        """Refuse: rows stay in Spark."""
        raise SettingError("engine: spark tells counts alone. hint: write the tables as Parquet, and take 'duckdb'.")

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

    def numbers(self, column: str, missing: Sequence[float]) -> Numbers | None:
        """Return the numbers of a column; None for types that are no numbers."""
        return numbers_in(self._frame, column, missing)

    def cells(self, columns: Sequence[str], codes: Sequence[Codes | Edges]) -> tuple[list[Codes], Ints]:
        """Return the distinct combinations of codes and how many rows have each."""
        names = [f"k{i}" for i in range(len(columns))]
        combinations = math.prod(_n_codes(own) for own in codes)
        most = combinations if self._n_rows is None else min(combinations, self._n_rows)
        found = fetched(self._cells(columns, codes), most, names)
        if any(found[name].null_count() for name in names):  # a value that the column did not have before
            found = found.clear()
        coded = [narrowed(found[name].to_numpy(), own) for name, own in zip(names, codes, strict=True)]
        return coded, found["n"].to_numpy()

    def coded_rows(self, columns: Sequence[str], codes: Sequence[Codes]) -> Iterator[list[Codes]]:
        """Refuse: rows stay in Spark."""
        raise SettingError("engine: spark tells counts alone. hint: write the tables as Parquet, and take 'duckdb'.")

    def n_cells(self, columns: Sequence[str], codes: Sequence[Codes | Edges]) -> int:
        """Return how many cells there are."""
        return int(asked(self.session, self._cells(columns, codes).count))

    def _cells(self, columns: Sequence[str], codes: Sequence[Codes | Edges]) -> Any:
        from pyspark.sql import functions as f

        names = [f"k{i}" for i in range(len(columns))]
        by_edges = {k: (c, own) for k, c, own in zip(names, columns, codes, strict=True) if isinstance(own, Edges)}
        by_values = [(k, c, own) for k, c, own in zip(names, columns, codes, strict=True) if k not in by_edges]
        rows = coded_in(self._frame.select(*dict.fromkeys(columns)), by_edges)
        entries = [pl.DataFrame({k: pl.Series(own).cast(pl.Int32)}) for k, _, own in by_values]
        rows = self._beside(rows, [c for _, c, _ in by_values], entries)
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
        rows = self._beside(self._frame.select(*dict.fromkeys([*keep, *columns])), columns, entries)
        return rows.select(*keep, *(name for own in entries for name in own.columns))

    def _beside(self, rows: Any, columns: Sequence[str], entries: Sequence[pl.DataFrame]) -> Any:
        """Return rows with the entries of their values beside them."""
        from pyspark.sql import functions as f

        for i, (column, own) in enumerate(zip(columns, entries, strict=True)):
            given = own.with_columns(pl.int_range(1, own.height + 1, dtype=pl.Int32).alias("id"))
            sent = self.session.createDataFrame(given.to_arrow())
            known = self._values[column].join(sent, "id").select(f.col("value").alias(f"v{i}"), *own.columns)
            rows = rows.join(f.broadcast(known), rows[column].eqNullSafe(known[f"v{i}"]), "left").drop(f"v{i}")
        return rows


def numbers_in(frame: Any, column: str, missing: Sequence[float]) -> SqlNumbers | None:
    """Return the numbers of a column of a Spark frame; None for types that are no numbers."""
    own = numeric_type(_type(frame, column))
    if own is None:
        return None
    rows = frame.select(column)

    def ask(query: str) -> pl.DataFrame:
        return fetched(rows.sparkSession.sql(query, rows=rows), _FEW, ())

    return SqlNumbers(ask, "{rows}", _double(frame, column), own, missing)


def coded_in(frame: Any, columns: Mapping[str, tuple[str, Edges]]) -> Any:
    """Return a Spark frame with further columns of codes: name -> column and the edges that code it."""
    if not columns:
        return frame
    query = coded("{rows}", {name: (_double(frame, column), edges) for name, (column, edges) in columns.items()})
    return frame.sparkSession.sql(f"select * from {query}", rows=frame)


def _type(frame: Any, column: str) -> str:
    return str(frame.schema[column].dataType.simpleString())


def _double(frame: Any, column: str) -> str:
    """Return a column of numbers or times as a double, in SQL."""
    is_time = _type(frame, column) == "timestamp"
    return f"cast(unix_micros({column}) as double)" if is_time else f"cast({column} as double)"


def _n_codes(own: Codes | Edges) -> int:
    """Return how many codes there can be."""
    return len(own.at) + 2 if isinstance(own, Edges) else len(np.unique(own))
