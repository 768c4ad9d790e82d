"""A table, real and synthetic, whose rows an engine keeps, as the diagnostic report reads it."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from divulge.sdmetrics.columns import EMPTY, Column, column_of_values
from divulge.sdmetrics.derived import TEXTS
from divulge.sdmetrics.reports.memory_check import check_combinations
from divulge.sdmetrics.reports.tables import TableData, as_text
from divulge.sdmetrics.single_column import comparisons, formats, formulas
from divulge.tables.canonical_values import without_missing
from divulge.tables.counting import BY_ROWS, Counting, KeyPart
from divulge.tables.frames import Table
from divulge.tables.numeric_types import EXACT

__all__ = ["DiagnosedSide", "DiagnosedTable"]

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class DiagnosedSide:
    """The real or the synthetic table."""

    table: Table
    missing: tuple[str, ...]
    """Texts that stand for missing."""
    codes: tuple[float, ...]
    """Those of them that are numbers."""
    types: dict[str, pl.DataType]
    """The type of each column where it is in memory, after missing values were taken out."""
    columns: dict[Hashable, Column] = field(default_factory=dict)
    """Distinct values of columns, or few numbers that stand for all."""
    counts: dict[Hashable, Ints] = field(default_factory=dict)
    """Rows of each of them."""
    read_as: dict[str, tuple[pl.Series, pl.Series]] = field(default_factory=dict)
    """Raw distinct values of columns, and what they are read as: text that is numbers or dates by a schema."""

    @property
    def counting(self) -> Counting:
        """The engine."""
        assert self.table.counting is not None
        return self.table.counting

    def values(self, name: str) -> tuple[pl.Series, Ints]:
        """Return the distinct values of a column, and rows with each."""
        values, n = self.counting.values(self.table.names[name])
        return self._read(name, values), np.asarray(n, dtype=np.int64)

    def _read(self, name: str, values: pl.Series) -> pl.Series:
        if name not in self.read_as:
            return without_missing(values, self.missing)
        known = pl.DataFrame(dict(zip(("value", "read"), self.read_as[name], strict=True)))
        asked = values.alias("value").to_frame()
        return asked.join(known, on="value", how="left", nulls_equal=True, maintain_order="left")["read"]

    def combinations(self, names: Sequence[str]) -> tuple[dict[Hashable, Column], Ints]:
        """Return the distinct rows of some columns, and how often each occurs.

        Raises
        ------
        SizeError
            They do not fit into memory.
        """
        inner = [self.table.names[name] for name in names]
        check_combinations(self.table.role, names, self.counting.n_keys([KeyPart(c) for c in inner]))
        found, n = self.counting.combinations(inner)
        columns: dict[Hashable, Column] = {
            name: column_of_values(name, self._read(name, v)) for name, v in zip(names, found, strict=True)
        }
        return columns, np.asarray(n, dtype=np.int64)

    def key_part(self, name: str) -> KeyPart | None:
        """Return how the engine tells the values of a column apart as Python does; None where it cannot."""
        kind, inner = self.types[name], self.table.names[name]
        raw = dict(zip(self.table.columns, self.counting.types(), strict=True))[name]
        if raw in TEXTS:
            lost: tuple[str, ...] = (*self.missing, "") if self.missing else ()
            return KeyPart(inner, lost) if kind in TEXTS else None  # texts may become numbers without the codes
        if raw in (pl.Boolean, pl.Date) or isinstance(raw, pl.Datetime):
            return KeyPart(inner)
        if raw.is_float():
            return None if raw == pl.Float32 and self.codes else KeyPart(inner, self.codes)
        return KeyPart(inner, self.codes) if raw.is_integer() and kind.is_integer() else None

    def texts(self, name: str) -> Iterator[tuple[NDArray[Any], Ints]]:
        """Yield the texts of a column in parts, and rows with each.

        Raises
        ------
        SizeError
            The engine tells no rows, and the distinct values do not fit into memory.
        """
        kind, inner = self.types[name], self.table.names[name]
        by_parts = self.counting.engine in BY_ROWS and (kind in TEXTS or kind.is_integer() or kind.is_float())
        if not by_parts or self.key_part(name) is None:
            columns, n = self.combinations([name])
            yield as_text(columns[name]), n
            return
        gaps = kind.is_integer() and self._are_floats(name)
        for part in self.counting.raw(inner):
            values = without_missing(part, self.missing)
            counted = (values.cast(pl.Float64) if gaps else values).alias("value").value_counts(name="n")
            yield as_text(column_of_values(name, counted["value"])), counted["n"].cast(pl.Int64).to_numpy()

    def _are_floats(self, name: str) -> bool:
        """Return whether whole numbers are floats in memory: one is missing or they have 128 bits, and none is long."""
        numbers = self.counting.numbers(self.table.names[name], self.codes)
        if numbers is None:  # few bits
            return bool(self.values(name)[0].null_count())
        spread = numbers.spread()
        gaps = spread.n < self.table.n_rows or str(self.types[name]).endswith("128")
        return gaps and not max(abs(spread.low), abs(spread.high)) > EXACT


class DiagnosedTable(TableData):
    """The columns of one table in both data by their distinct values, or by values that stand for all.

    Parameters
    ----------
    metadata
        Metadata of the table, with "columns".
    real, synthetic
        Both tables. Columns that are not in `columns` are there without a value.
    dtypes
        As in `TableData`.
    """

    def __init__(
        self,
        metadata: Mapping[str, Any],
        real: DiagnosedSide,
        synthetic: DiagnosedSide,
        dtypes: tuple[set[tuple[Any, str]], set[tuple[Any, str]]],
    ) -> None:
        self.counted = (real, synthetic)
        ours, theirs = (dict.fromkeys(side.table.columns, EMPTY) | side.columns for side in self.counted)
        super().__init__(metadata, ours, theirs, dtypes)

    def n_rows(self, side: int) -> int:
        """Return the rows of the real (0) or of the synthetic table (1)."""
        return self.counted[side].table.n_rows

    def within(self, name: Hashable, options: Mapping[str, Any]) -> float:
        """Return the score of BoundaryAdherence of a column."""
        return comparisons.boundary_share(*self.pair(name), self.counted[1].counts[name], **options)

    def among(self, name: Hashable, options: Mapping[str, Any]) -> float:
        """Return the score of CategoryAdherence of a column."""
        return comparisons.category_share(*self.pair(name), self.counted[1].counts[name], **options)

    def of_format(self, name: Hashable, datetime_format: Any) -> float:
        """Return the score of DatetimeFormatAdherence of a column."""
        real, synthetic = (side[name] for side in self.originals)
        ours, theirs = (side.counts[name] for side in self.counted)
        return formats.date_format_share(real, synthetic, (ours, theirs), datetime_format)

    def of_pattern(self, name: Hashable, regex_format: Any) -> float:
        """Return the score of RegexFormatAdherence of a column, whose texts come part by part."""
        self.pair(name)
        real, synthetic = (lambda s=side: s.texts(str(name)) for side in self.counted)
        return formats.pattern_share(real, synthetic, regex_format)

    def unique(self, names: Sequence[Hashable]) -> float:
        """Return the score of KeyUniqueness of a key, whose distinct values the engine counts."""
        _, theirs = ([columns[name] for name in names] for columns in self.sides)
        side, asked = self.counted[1], [str(name) for name in names]
        n_rows = side.table.n_rows
        # texts that were read as dates may be equal
        read_anew = any(column is not self.originals[1][n] for n, column in zip(names, theirs, strict=True))
        parts = [None] if read_anew else [side.key_part(name) for name in asked]
        found = [part for part in parts if part is not None]
        if len(found) == len(asked):
            return 1 - formulas.share(n_rows - side.counting.n_keys(found), n_rows)
        columns, _ = side.combinations(asked)
        read = TableData(self.metadata, self.originals[0], columns)
        return comparisons.key_share([read.sides[1][name] for name in asked], n_rows)
