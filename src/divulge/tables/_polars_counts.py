"""Counts of a lazy polars frame, in polars' streaming engine."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import polars as pl

from divulge.tables.counting import PART, Codes, Ints

__all__ = ["PolarsCounts"]

_N = "n"
_VALUE = "value"


class PolarsCounts:
    """A lazy polars frame whose columns are called c0, c1, ..."""

    engine = "polars"

    def __init__(self, lazy: pl.LazyFrame) -> None:
        # categories of two frames cannot be joined, and neither can columns without a type
        text = [c for c, t in lazy.collect_schema().items() if isinstance(t, pl.Categorical | pl.Enum | pl.Null)]
        self._lazy = lazy.with_columns(pl.col(text).cast(pl.String)) if text else lazy
        self._values: dict[str, pl.Series] = {}

    def n_rows(self) -> int:
        """Return the number of rows."""
        return int(_run(self._lazy.select(pl.len())).item())

    def values(self, column: str) -> tuple[pl.Series, Ints]:
        """Return the distinct raw values of a column and how many rows have each."""
        found = _run(self._lazy.group_by(pl.col(column).alias(_VALUE)).agg(pl.len().alias(_N)))
        self._values[column] = found[_VALUE]
        return found[_VALUE], found[_N].cast(pl.Int64).to_numpy()

    def cells(self, columns: Sequence[str], codes: Sequence[Codes]) -> tuple[list[Codes], Ints]:
        """Return the distinct combinations of codes and how many rows have each."""
        coded = [f"k{i}" for i in range(len(columns))]
        found = _run(self._cells(columns, codes).cast({_N: pl.Int64}))
        if any(found[name].null_count() for name in coded):  # a value that the column did not have before
            found = found.clear()
        return [found[name].to_numpy() for name in coded], found[_N].to_numpy()

    def n_cells(self, columns: Sequence[str], codes: Sequence[Codes]) -> int:
        """Return how many cells there are."""
        return int(_run(self._cells(columns, codes).select(pl.len())).item())

    def coded_rows(self, columns: Sequence[str], codes: Sequence[Codes]) -> Iterator[list[Codes]]:
        """Yield the codes of each row, some rows at a time."""
        lazy, coded = self._coded(columns, codes)
        for part in _parts(lazy.select(coded)):
            if any(part[name].null_count() for name in coded):  # a value that the column did not have before
                return
            yield [part[name].to_numpy() for name in coded]

    def _cells(self, columns: Sequence[str], codes: Sequence[Codes]) -> pl.LazyFrame:
        lazy, coded = self._coded(columns, codes)
        return lazy.group_by(coded).agg(pl.len().alias(_N))

    def _coded(self, columns: Sequence[str], codes: Sequence[Codes]) -> tuple[pl.LazyFrame, list[str]]:
        """Return the rows with their codes beside, and the names of the codes."""
        lazy = self._lazy.select(list(dict.fromkeys(columns)))
        coded = []
        for i, (column, own) in enumerate(zip(columns, codes, strict=True)):
            known = pl.DataFrame({_VALUE: self._values[column], f"k{i}": own})
            lazy = lazy.join(known.lazy(), left_on=column, right_on=_VALUE, how="left", nulls_equal=True)
            coded.append(f"k{i}")
        return lazy, coded


def _run(lazy: pl.LazyFrame) -> pl.DataFrame:
    return lazy.collect(engine="streaming")


def _parts(lazy: pl.LazyFrame) -> Iterator[pl.DataFrame]:
    """Yield the rows of a query, some at a time; polars before 1.34 writes them to a file first."""
    if hasattr(lazy, "collect_batches"):
        yield from lazy.collect_batches(chunk_size=PART, maintain_order=False, engine="streaming")
        return
    with tempfile.TemporaryDirectory(prefix="divulge-") as folder:
        file = Path(folder) / "codes.parquet"
        lazy.sink_parquet(file, row_group_size=PART, compression="uncompressed", maintain_order=False)
        rows = pl.scan_parquet(file, glob=False)
        for first in range(0, int(rows.select(pl.len()).collect().item()), PART):
            yield rows.slice(first, PART).collect()
