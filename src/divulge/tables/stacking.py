"""Several synthetic tables of one training set as one table: their rows, one table after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from divulge.core.errors import ColumnError, FrameError
from divulge.tables.frames import Table, collect, plain

__all__ = ["LACKING", "TOGETHER", "one_column", "stacked"]

TOGETHER = "tables of one training set, taken together"
LACKING = "columns that not all of these tables have are left out"


def stacked(tables: Sequence[Table]) -> Table:
    """Return the rows of several tables as one table of the columns that all have; `parts` has the rows of each.

    Raises
    ------
    FrameError
        There is no table.
    ColumnError
        The tables have no column in common.

    Examples
    --------
    >>> from divulge.tables.frames import table_of
    >>> both = stacked([table_of(pl.DataFrame({"age": ages}), "synthetic") for ages in ([30, 41], [52.5])])
    >>> both.parts, both.named()["age"].to_list()
    ((2, 1), [30.0, 41.0, 52.5])
    """
    if not tables:
        raise FrameError("synthetic: the list has no table. hint: pass at least one.")
    first = tables[0]
    if len(tables) == 1:
        return replace(first, role="synthetic")
    columns = [c for c in first.columns if all(c in t.columns for t in tables)]
    if not columns:
        raise ColumnError(
            "synthetic: the tables have no column in common. hint: columns are matched by name; rename them."
        )
    here = [collect(t) for t in tables]
    frame = pl.DataFrame([one_column([t.series(c) for t in here]).rename(f"c{i}") for i, c in enumerate(columns)])
    parts = tuple(t.n_rows for t in here)
    notes = [note for t in tables for note in t.notes]
    notes.append(f"synthetic: {len(parts)} {TOGETHER}: {sum(parts):,} rows")
    if lost := len({c for t in tables for c in t.columns}) - len(columns):
        notes.append(f"synthetic: {LACKING}, {lost} in all")
    return Table(
        "synthetic", tuple(columns), frame.height, frame, names={c: f"c{i}" for i, c in enumerate(columns)},
        notes=tuple(dict.fromkeys(notes)), missing=_alike([t.missing for t in tables]), parts=parts,
    )  # fmt: skip


def one_column(columns: Sequence[pl.Series]) -> pl.Series:
    """Return the values of one column of several tables; as text, where their types have no other in common."""
    same = {c.dtype for c in columns}
    if len(same) == 1 and not isinstance(columns[0].dtype, pl.Categorical | pl.Enum):
        return pl.concat(columns)
    tidy = [plain(c) for c in columns]
    known = {c.dtype for c in tidy if c.dtype != pl.Null}
    if len(known) > 1:
        target = pl.Float64() if known == {pl.Int64(), pl.Float64()} else pl.String()
        tidy = [c.cast(target) for c in tidy]
    else:
        tidy = [c.cast(next(iter(known), pl.Null())) for c in tidy]
    return pl.concat(tidy)


def _alike(missing: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """Return the texts for missing that are null in every table already."""
    return tuple(m for m in missing[0] if all(m in others for others in missing[1:]))
