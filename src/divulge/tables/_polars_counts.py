"""Counts of a lazy polars frame, in polars' streaming engine."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from divulge.tables.counting import Codes, Ints

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

    def _cells(self, columns: Sequence[str], codes: Sequence[Codes]) -> pl.LazyFrame:
        lazy = self._lazy.select(list(dict.fromkeys(columns)))
        coded = []
        for i, (column, own) in enumerate(zip(columns, codes, strict=True)):
            known = pl.DataFrame({_VALUE: self._values[column], f"k{i}": own})
            lazy = lazy.join(known.lazy(), left_on=column, right_on=_VALUE, how="left", nulls_equal=True)
            coded.append(f"k{i}")
        return lazy.group_by(coded).agg(pl.len().alias(_N))


def _run(lazy: pl.LazyFrame) -> pl.DataFrame:
    return lazy.collect(engine="streaming")
