"""One column of all tables: its family, its levels in one order, and the code of each row."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from divulge.core.schema import Column
from divulge.tables.canonical_values import distinct, numbers_among, plain, without_codes
from divulge.tables.column_families import Family, Settled, as_family, needs_int64, settle, with_plain_digits
from divulge.tables.column_notes import Notes, lost
from divulge.tables.frames import Table, distinct_values
from divulge.tables.levels import codes_of, levels_of

__all__ = ["PooledColumn", "pool"]

_LOST = 0.05
"""Part of the values of a table that cannot be read, above which the column counts as not compared."""


@dataclass(frozen=True, slots=True)
class PooledColumn:
    """One column over all tables: its levels in ascending order, and the count of each level in each table."""

    name: str
    family: Family
    integer: bool
    """All numbers are whole."""
    levels: pl.Series
    """Distinct values in ascending order, without missing. Level i has code i + 1; code 0 is missing."""
    counts: tuple[NDArray[np.int64], ...]
    """Per table, shape (n_levels + 1,): rows with each code."""
    codes: tuple[NDArray[np.int32] | None, ...]
    """Per table, shape (n_rows,): the code of each row; None if an engine holds the rows."""
    missing: tuple[str, ...]
    note: str
    """How the tables differ in it; "" where they do not."""
    settled: Settled
    """How it is read from each table."""
    read_alike: bool = True
    """False where the difference that `note` names makes the tables hard to compare."""
    of_values: tuple[NDArray[np.int32] | None, ...] = ()
    """Per table that an engine counts the code of each of its distinct values, in its order; else None."""
    unread: str = ""
    """Why values that look like numbers or dates are compared as text, or many of a table as missing; "" for none."""

    def encode(self, raw: pl.Series, which: int = 0) -> NDArray[np.int32]:
        """Return the codes of raw values of one table, all of which must be among its values."""
        clean = self.settled.without_listed(without_codes(with_plain_digits(plain(raw)), self.missing))
        whole = self.levels.dtype == pl.Int64
        return codes_of(
            as_family(clean, self.family, whole, self.settled.declared, self.settled.form(which)), self.levels
        )

    def numbers(self) -> NDArray[np.float64]:
        """Return the levels as numbers, shape (n_levels,): datetimes in microseconds.

        Text that is not a number is nan. If any text has a leading zero ("01234"), the texts are codes and all nan.
        Of whole numbers that float64 cannot tell apart, the smallest is subtracted from all.
        """
        levels = self.levels
        if self.family == "text":
            levels = numbers_among(levels)
        elif levels.dtype == pl.Int64:  # beyond 2**53; a difference of two may not fit an int64
            whole = levels.to_numpy().view(np.uint64)
            return np.asarray(whole - whole[:1], dtype=np.float64)
        elif self.family == "datetime":
            levels = levels.cast(pl.Int64)
        return np.asarray(levels.to_numpy(), dtype=np.float64)


def pool(tables: Sequence[Table], column: str, missing: Iterable[str] = (), said: Column | None = None) -> PooledColumn:
    """Return one column of all tables with shared codes.

    Parameters
    ----------
    tables
        Each table must have the column.
    column
        Name of the column.
    missing
        Texts that stand for missing besides empty cells and null, such as "?" or "-8"; numbers are compared
        as numbers. With "none" texts such as "?" are values, also among numbers and dates.
    said
        What the schema says of the column.

    Returns
    -------
    PooledColumn
        Its levels are empty if every value is missing.

    Raises
    ------
    ColumnError
        The values cannot be read as the schema says.
    """
    missing = tuple(missing)
    raw: list[pl.Series] = []
    weights: list[NDArray[np.int64] | None] = []
    for table in tables:
        if table.frame is not None:
            raw.append(table.series(column))
            weights.append(None)
        else:
            values, count = distinct_values(table, column)
            raw.append(values)
            weights.append(count)
    coded = [distinct(s) for s in raw]
    # texts that the reader of a file took out are not looked for again
    left = [tuple(m for m in missing if m not in table.missing) for table in tables]
    given = [
        without_codes(with_plain_digits(plain(values)), codes) for (values, _), codes in zip(coded, left, strict=True)
    ]
    listed = "none" not in missing and (said is None or said.missing_texts != "none")
    settled = settle(given, said=said, listed=listed)
    clean = [settled.without_listed(s) for s in given]
    family, declared = settled.family, settled.declared
    as_integer = family == "number" and needs_int64(clean)
    cast = [as_family(s, family, as_integer, declared, settled.form(i)) for i, s in enumerate(clean)]
    levels = levels_of(pl.concat(cast))
    codes = [codes_of(s, levels) for s in cast]
    codes = [c if place is None else c.take(place) for c, (_, place) in zip(codes, coded, strict=True)]
    counts = tuple(
        np.bincount(c, weights=w, minlength=levels.len() + 1).astype(np.int64)
        for c, w in zip(codes, weights, strict=True)
    )
    whole = as_integer or (family == "number" and _all_whole(levels.to_numpy()))
    kept = tuple(c if w is None else None for c, w in zip(codes, weights, strict=True))
    dropped = [_n_lost(*one) for one in zip(given, clean, coded, weights, strict=True)]
    lost = [_n_lost(*one) for one in zip(clean, cast, coded, weights, strict=True)]
    notes = Notes(tables, settled, given, clean, cast, dropped, lost, counts, levels)
    if said is not None:
        notes.check(column, said)
    missed = notes.of_lost()
    unlike = missed or settled.note or notes.of_zones(raw) or notes.of_texts_for_missing()
    mixed = notes.of_mixed_values()
    there = [int(c.sum() - c[0]) + n for c, n in zip(counts, lost, strict=True)]
    years = notes.of_years()
    unread = [
        told
        for told, of in ((missed, lost), (years, notes.beyond()))
        if any(n > _LOST * all_ for n, all_ in zip(of, there, strict=True))
    ]
    return PooledColumn(
        column, family, bool(whole), levels, counts, kept, missing,
        "; ".join(filter(None, (
            unlike or notes.of_forms(), years, notes.of_dropped(), notes.of_codes(), notes.of_alike_values(), mixed
        ))),
        settled, not unlike,
        tuple(c if t.counting is not None else None for c, t in zip(codes, tables, strict=True)),
        mixed or next(iter(unread), ""),
    )  # fmt: skip


def _all_whole(numbers: NDArray[Any]) -> bool:
    return bool((np.isfinite(numbers) & (numbers == np.round(numbers))).all())


def _n_lost(
    was: pl.Series, now: pl.Series, coded: tuple[pl.Series, NDArray[Any] | None], weight: NDArray[np.int64] | None
) -> int:
    """Return how many rows have a value that is null only after a step."""
    marked = lost(was, now)
    if not marked.any():
        return 0
    marked = marked if coded[1] is None else marked[coded[1]]
    return int(marked.sum() if weight is None else weight[marked].sum())
