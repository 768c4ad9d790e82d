"""A table, real and synthetic, as the properties of the reports read it: columns, codes and dates are made once."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.sdmetrics.columns import Column
from divulge.sdmetrics.inputs import Columns, columns_from, known_codes
from divulge.sdmetrics.metadata import as_datetimes, columns_of
from divulge.sdmetrics.single_column import comparisons, formats
from divulge.sdmetrics.single_table.table_structure import dtypes_of

__all__ = ["COMPARED", "CONTINUOUS", "DISCRETE", "Coded", "TableData", "as_text"]

CONTINUOUS = ("numerical", "datetime")
DISCRETE = ("categorical", "ordinal", "boolean")
COMPARED = (*CONTINUOUS, *DISCRETE)

Pair = tuple[Hashable, Hashable]
Coded = tuple[list[NDArray[Any]], int]
"""The codes of a column in the real and in the synthetic table, 0 for a missing value, and the number of codes."""


class TableData:
    """The columns of one table in the real and in the synthetic data, with dates given as text converted.

    Parameters
    ----------
    metadata
        Metadata of the table, with "columns".
    real, synthetic
        Columns by name. The columns of a join have the codes of no other table.
    dtypes
        Names and dtypes of both tables as their libraries write them.
    """

    def __init__(
        self,
        metadata: Mapping[str, Any],
        real: Columns,
        synthetic: Columns,
        dtypes: tuple[set[tuple[Any, str]], set[tuple[Any, str]]] = (set(), set()),
    ) -> None:
        self.metadata, self.entries = metadata, columns_of(metadata)
        self.originals: tuple[Columns, Columns] = (real, synthetic)
        self.sides: tuple[dict[Hashable, Column], dict[Hashable, Column]] = (dict(real), dict(synthetic))
        self.dtypes = dtypes
        self._codes: dict[Hashable, Coded] = {}
        self._convert_dates()

    @classmethod
    def of_frames(cls, metadata: Mapping[str, Any], real: Any, synthetic: Any) -> TableData:
        """Return the table of two frames."""
        sides = ((real, "real_data"), (synthetic, "synthetic_data"))
        columns, other = (columns_from(data, role) for data, role in sides)
        first = dtypes_of(real, "real_data", columns)
        second = dtypes_of(synthetic, "synthetic_data", other)
        return cls(metadata, columns, other, (first, second))

    def _convert_dates(self) -> None:
        """Convert columns of dates where both tables allow it; the real one also where the synthetic one does not."""
        for name, entry in self.entries.items():
            if entry.get("sdtype") != "datetime":
                continue
            for side, dtypes in zip(self.sides, self.dtypes, strict=True):
                if name not in side:
                    break
                try:
                    converted = as_datetimes(name, side[name], entry)
                except ValueError:
                    break
                if converted is not side[name]:
                    side[name] = converted.named(name)
                    written = {d for d in dtypes if d[0] == name}
                    dtypes -= written
                    dtypes |= {(name, "datetime64[ns]")} if written else set()

    def n_rows(self, side: int) -> int:
        """Return the rows of the real (0) or of the synthetic table (1)."""
        return len(next(iter(self.sides[side].values()), ()))

    def pair(self, name: Hashable) -> tuple[Column, Column]:
        """Return a column of both tables; a `KeyError` where one lacks it."""
        return self.sides[0][name], self.sides[1][name]

    def codes(self, name: Hashable) -> Coded:
        """Return the codes of a column, equal where Python says that the values are equal."""
        if name not in self._codes:
            codes, size = known_codes(list(self.pair(name)))
            smallest = np.min_scalar_type(size)
            self._codes[name] = ([c.astype(smallest, copy=False) for c in codes], size + 1)
        return self._codes[name]

    def counts(self, name: Hashable) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return how often each value of a column occurs in both tables, missing values apart."""
        codes, size = self.codes(name)
        first, second = (np.bincount(c, minlength=size)[1:] for c in codes)
        return first, second

    def ks(self, name: Hashable) -> float:
        """Return the score of KSComplement of a column."""
        return float(comparisons.ks_complement(*self.pair(name))["score"])

    def within(self, name: Hashable, options: Mapping[str, Any]) -> float:
        """Return the score of BoundaryAdherence of a column."""
        return float(comparisons.boundary_adherence(*self.pair(name), **options)["score"])

    def among(self, name: Hashable, options: Mapping[str, Any]) -> float:
        """Return the score of CategoryAdherence of a column."""
        return float(comparisons.category_adherence(*self.pair(name), **options)["score"])

    def of_format(self, name: Hashable, datetime_format: Any) -> float:
        """Return the score of DatetimeFormatAdherence of a column."""
        real, synthetic = (side[name] for side in self.originals)
        return float(formats.datetime_format_adherence(real, synthetic, datetime_format)["score"])

    def of_pattern(self, name: Hashable, regex_format: Any) -> float:
        """Return the score of RegexFormatAdherence of a column."""
        real, synthetic = (Column("O", c, np.zeros(len(c), dtype=bool)) for c in map(as_text, self.pair(name)))
        return float(formats.regex_format_adherence(real, synthetic, regex_format)["score"])

    def unique(self, names: Sequence[Hashable]) -> float:
        """Return the score of KeyUniqueness of a key of one column or of several."""
        _, theirs = ([side[name] for name in names] for side in self.sides)
        return comparisons.key_share(theirs)

    def rows_of(self, names: Pair, sides: Sequence[tuple[Column, Column]]) -> Sequence[tuple[Column, Column]]:
        """Return two columns row by row, for each table, given what `pair` has of them."""
        return sides

    def some_real_rows(self, most: int, seed: int) -> TableData | None:
        """Return a table with at least so many rows of the real table, or with all; None where none can be had."""
        return self


def as_text(column: Column) -> NDArray[Any]:
    """Return the values as text; as released, a missing value becomes the text nan or None."""
    texts: NDArray[Any] = np.empty(len(column), dtype=object)
    texts[:] = [str(v) for v in column.as_objects()]
    return texts
