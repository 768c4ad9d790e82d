"""Counts of a lazy polars frame, in polars' streaming engine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import reduce

import numpy as np
import polars as pl

from divulge.core.memory import room_left
from divulge.core.private_folders import PrivateFolder
from divulge.tables.calendar_bounds import lazy_bounded
from divulge.tables.counting import (
    PART,
    PARTS,
    Codes,
    Edges,
    Floats,
    Ints,
    KeyPart,
    Numbers,
    Spread,
    divided,
    narrowed,
)
from divulge.tables.numeric_types import NumericType, numeric_type

__all__ = ["PolarsCounts", "PolarsNumbers", "coded_in", "numbers_in"]

_N = "n"
_VALUE = "value"
_BYTES_OF_A_KEY = 100  # of a distinct value in a group-by
_SHARE = 4  # of the memory that is left, the part that distinct values may take


class PolarsCounts:
    """A lazy polars frame whose columns are called c0, c1, ...; `names` are their own."""

    engine = "polars"

    def __init__(self, lazy: pl.LazyFrame, names: Sequence[str]) -> None:
        _, lazy, self.told = lazy_bounded(lazy, names)
        # categories of two frames cannot be joined, and neither can columns without a type
        self._types = list(lazy.collect_schema().dtypes())
        text = [c for c, t in lazy.collect_schema().items() if isinstance(t, pl.Categorical | pl.Enum | pl.Null)]
        self._lazy = lazy.with_columns(pl.col(text).cast(pl.String)) if text else lazy
        self._values: dict[str, pl.Series] = {}

    def n_rows(self) -> int:
        """Return the number of rows."""
        return int(_run(self._lazy.select(pl.len())).item())

    def types(self) -> list[pl.DataType]:
        """Return the type of each column."""
        return self._types

    def n_keys(self, key: Sequence[KeyPart]) -> int:
        """Return how many combinations of values differ, without the one in which all are missing."""
        types, names = self._lazy.collect_schema(), [f"k{i}" for i in range(len(key))]
        rows = self._lazy.select(_part(types[p.column], p).alias(name) for name, p in zip(names, key, strict=True))
        rows = rows.filter(pl.any_horizontal(pl.col(names).is_not_null()))
        passes = _passes(self.n_rows() * len(key))
        some = [rows] if passes == 1 else [rows.filter(pl.struct(names).hash() % passes == i) for i in range(passes)]
        return sum(int(_run(part.group_by(names).agg().select(pl.len())).item()) for part in some)

    def combinations(self, columns: Sequence[str]) -> tuple[list[pl.Series], Ints]:
        """Return the distinct combinations of raw values and how many rows have each."""
        found = _run(self._lazy.group_by(columns).agg(pl.len().alias(_N)))
        return [found[c] for c in columns], found[_N].cast(pl.Int64).to_numpy()

    def raw(self, column: str) -> Iterator[pl.Series]:
        """Yield the raw value of each row in a column, some rows at a time."""
        for part in _parts(self._lazy.select(column)):
            yield part[column]

    def values(self, column: str) -> tuple[pl.Series, Ints]:
        """Return the distinct raw values of a column and how many rows have each."""
        found = _run(self._lazy.group_by(pl.col(column).alias(_VALUE)).agg(pl.len().alias(_N)))
        self._values[column] = found[_VALUE]
        return found[_VALUE], found[_N].cast(pl.Int64).to_numpy()

    def numbers(self, column: str, missing: Sequence[float]) -> Numbers | None:
        """Return the numbers of a column; None for types that are no numbers."""
        return numbers_in(self._lazy, column, missing)

    def cells(self, columns: Sequence[str], codes: Sequence[Codes | Edges]) -> tuple[list[Codes], Ints]:
        """Return the distinct combinations of codes and how many rows have each."""
        coded = [f"k{i}" for i in range(len(columns))]
        found = _run(self._cells(columns, codes).cast({_N: pl.Int64}))
        if any(found[name].null_count() for name in coded):  # a value that the column did not have before
            found = found.clear()
        return [narrowed(found[k].to_numpy(), own) for k, own in zip(coded, codes, strict=True)], found[_N].to_numpy()

    def n_cells(self, columns: Sequence[str], codes: Sequence[Codes | Edges]) -> int:
        """Return how many cells there are."""
        return int(_run(self._cells(columns, codes).select(pl.len())).item())

    def coded_rows(self, columns: Sequence[str], codes: Sequence[Codes]) -> Iterator[list[Codes]]:
        """Yield the codes of each row, some rows at a time."""
        lazy, coded = self._coded(columns, codes)
        for part in _parts(lazy.select(coded)):
            if any(part[name].null_count() for name in coded):  # a value that the column did not have before
                return
            yield [part[name].to_numpy() for name in coded]

    def _cells(self, columns: Sequence[str], codes: Sequence[Codes | Edges]) -> pl.LazyFrame:
        lazy, coded = self._coded(columns, codes)
        return lazy.group_by(coded).agg(pl.len().alias(_N))

    def _coded(self, columns: Sequence[str], codes: Sequence[Codes | Edges]) -> tuple[pl.LazyFrame, list[str]]:
        """Return the rows with their codes beside, and the names of the codes."""
        edges = {
            f"k{i}": (c, own) for i, (c, own) in enumerate(zip(columns, codes, strict=True)) if isinstance(own, Edges)
        }
        lazy = coded_in(self._lazy.select(list(dict.fromkeys(columns))), edges)
        coded = []
        for i, (column, own) in enumerate(zip(columns, codes, strict=True)):
            if not isinstance(own, Edges):
                known = pl.DataFrame({_VALUE: self._values[column], f"k{i}": own})
                lazy = lazy.join(known.lazy(), left_on=column, right_on=_VALUE, how="left", nulls_equal=True)
            coded.append(f"k{i}")
        return lazy, coded


class PolarsNumbers:
    """The numbers of one column of a lazy frame.

    Parameters
    ----------
    lazy
        Has one column x: numbers, null where there is none.
    own
        Its type.
    """

    def __init__(self, lazy: pl.LazyFrame, own: NumericType) -> None:
        self.kind, self.most, self.whole = own
        self._lazy = lazy

    def ends(self) -> tuple[float, float]:
        """Return the smallest and the largest value."""
        low, high = _run(self._lazy.select(low=_X.min(), high=_X.max())).row(0)
        return np.nan if low is None else low, np.nan if high is None else high

    def spread(self) -> Spread:
        """Return how many there are, and between which numbers."""
        finite = _X.is_finite()
        found = _run(
            self._lazy.select(
                n=_X.count(), low=_X.filter(finite).min(), high=_X.filter(finite).max(), below=_X.eq(-np.inf).sum(),
                above=_X.eq(np.inf).sum(), fractions=(finite & (_X % 1 != 0)).sum(),
            )
        )  # fmt: skip
        n, low, high, below, above, fractions = found.row(0)
        return Spread(n, np.nan if low is None else low, np.nan if high is None else high, below, above, fractions)

    def n_distinct(self) -> int:
        """Return how many numbers differ."""
        return int(_run(self._lazy.drop_nulls().group_by("x").agg().select(pl.len())).item())

    def parts(self, within: Sequence[tuple[float, float]]) -> tuple[Ints, Ints, Floats, Floats]:
        """Return how many rows are in each of `PARTS` parts of closed intervals, and between which numbers."""
        part = pl.lit(None, pl.Float64)
        for j, (low, high) in enumerate(within):
            half, scale = divided(low, high)
            own = ((_X * half - low * half) * scale).floor() + 2 * PARTS * j
            part = pl.when(_X.is_between(low, high)).then(own).otherwise(part)
        counted = self._lazy.group_by(part=part.cast(pl.Int64)).agg(n=pl.len(), low=_X.min(), high=_X.max())
        found = _run(counted.filter(pl.col("part").is_not_null())).sort("part").cast({"n": pl.Int64})
        return tuple(found[c].to_numpy() for c in ("part", "n", "low", "high"))

    def counts(self, within: Sequence[tuple[float, float]]) -> tuple[Floats, Ints]:
        """Return the distinct numbers in some closed intervals, and how many rows have each."""
        inside = reduce(lambda a, b: a | b, [_X.is_between(low, high) for low, high in within])
        found = _run(self._lazy.filter(inside).group_by("x").agg(n=pl.len().cast(pl.Int64))).sort("x")
        return found["x"].to_numpy(), found["n"].to_numpy()


_X = pl.col("x")


def numbers_in(lazy: pl.LazyFrame, column: str, missing: Sequence[float]) -> PolarsNumbers | None:
    """Return the numbers of a column of a lazy frame; None for types that are no numbers."""
    dtype = lazy.collect_schema()[column]
    own = numeric_type(str(dtype))
    return None if own is None else PolarsNumbers(lazy.select(x=_number(column, dtype, missing)), own)


def coded_in(lazy: pl.LazyFrame, columns: Mapping[str, tuple[str, Edges]]) -> pl.LazyFrame:
    """Return a lazy frame with further columns of codes: name -> column and the edges that code it."""
    types = lazy.collect_schema() if columns else {}
    numbers = [_number(c, types[c], own.missing).alias(f"x_{name}") for name, (c, own) in columns.items()]
    codes = [_placed(f"x_{name}", own).alias(name) for name, (_, own) in columns.items()]
    return lazy.with_columns(numbers).with_columns(codes) if columns else lazy


def _part(dtype: pl.DataType, part: KeyPart) -> pl.Expr:
    """Return a column of a key, null where its value is missing."""
    value = pl.col(part.column)
    key = value.cast(pl.Float64) if part.as_float else value
    if dtype.is_float():
        key = pl.when(key == 0).then(0.0).otherwise(key.fill_nan(None))
    coded = value.cast(pl.Float64) if dtype.is_numeric() else value
    return pl.when(coded.is_in(list(part.lost))).then(None).otherwise(key) if part.lost else key


def _passes(n: int) -> int:
    """Return in how many passes so many values are told apart, each of the values of one hash, so that they fit."""
    there = room_left()
    return 1 if there is None else 1 + n * _BYTES_OF_A_KEY * _SHARE // max(there.free, 1)


def _number(column: str, dtype: pl.DataType, missing: Sequence[float]) -> pl.Expr:
    """Return a column as numbers without NaN, -0.0 and what stands for missing, null where there is none."""
    value = pl.col(column)
    if isinstance(dtype, pl.Datetime):
        value = value.dt.epoch("us")
    value = value.cast(pl.Float64)
    # polars 2 drops "+ 0.0" as if it changed nothing
    number = pl.when(value == 0).then(0.0).otherwise(value.fill_nan(None))
    return reduce(lambda kept, code: pl.when(kept != code).then(kept), missing, number)


def _placed(number: str, edges: Edges) -> pl.Expr:
    """Return the code of a number among edges."""
    code = pl.lit(len(edges.at) + 1, pl.Int32)
    for i, edge in reversed(list(enumerate(edges.at.tolist(), 1))):
        code = pl.when(pl.col(number) <= edge).then(pl.lit(i, pl.Int32)).otherwise(code)
    return pl.when(pl.col(number).is_null()).then(pl.lit(0, pl.Int32)).otherwise(code)


def _run(lazy: pl.LazyFrame) -> pl.DataFrame:
    return lazy.collect(engine="streaming")


def _parts(lazy: pl.LazyFrame) -> Iterator[pl.DataFrame]:
    """Yield the rows of a query, some at a time; polars before 1.34 writes them to a file first."""
    if hasattr(lazy, "collect_batches"):
        yield from lazy.collect_batches(chunk_size=PART, maintain_order=False, engine="streaming")
        return
    folder = PrivateFolder("divulge-")
    try:
        file = folder.path / "codes.parquet"
        lazy.sink_parquet(file, row_group_size=PART, compression="uncompressed", maintain_order=False)
        rows = pl.scan_parquet(file, glob=False)
        for first in range(0, int(rows.select(pl.len()).collect().item()), PART):
            yield rows.slice(first, PART).collect()
    finally:
        folder.remove()
