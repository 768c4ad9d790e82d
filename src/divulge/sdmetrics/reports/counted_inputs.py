"""The inputs of a report on two tables whose rows an engine keeps: the distinct values of each column, and counts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Sequence
from typing import Any

import numpy as np
import polars as pl

from divulge.case.case import schema_of
from divulge.core.errors import SettingError
from divulge.core.hashing import value_hashes
from divulge.core.relations import RelationalSchema
from divulge.core.schema import Schema
from divulge.sdmetrics.columns import column_of_values
from divulge.sdmetrics.derived import derived_columns
from divulge.sdmetrics.metadata import columns_of, dictionary
from divulge.sdmetrics.reports.counted_table import CountedSide, CountedTable, Hashes, Ints
from divulge.sdmetrics.reports.inputs import check_same_columns, check_sdtypes
from divulge.sdmetrics.reports.pairs import Thresholds
from divulge.sdmetrics.reports.properties import Inputs
from divulge.sdmetrics.reports.tables import COMPARED
from divulge.tables.canonical_values import without_missing
from divulge.tables.engines import copied
from divulge.tables.frames import Table
from divulge.tables.opening import opened
from divulge.tables.readers import read_metadata

__all__ = ["Progress", "counted_inputs", "counted_table", "described"]

Progress = Callable[[str, int, int], None]


def counted_table(table: Any, role: str, missing: Sequence[str], engine: str) -> Table:
    """Return a table that an engine counts.

    Parameters
    ----------
    table, role, missing, engine
        As in `divulge.tables.readers.opened`. Rows of a relation of DuckDB, whose connection is the user's, are written
        to a private Parquet file.

    Raises
    ------
    DivulgeError
        As `opened`.
    """
    found = opened(table, role, missing, engine)
    return found if found.counting is not None else copied(found, engine)


def described(metadata: Any, real: Table, missing: Sequence[str] = ()) -> Any:
    """Return metadata of one table: a schema of divulge's, or a dictionary with "tables"; None is what is inferred.

    Parameters
    ----------
    metadata
        SDV metadata or divulge's own schema, the name of a file of either, or None.
    real, missing
        The real table, and texts that stand for missing, where the schema has to be inferred.

    Raises
    ------
    SettingError
        The metadata describe several tables.
    """
    if metadata is None:
        return RelationalSchema({"table": schema_of(real, missing=missing)})
    if isinstance(metadata, str) or hasattr(metadata, "__fspath__"):
        metadata = read_metadata(metadata)
    if isinstance(metadata, Schema):
        metadata = RelationalSchema({"table": metadata}, (), metadata.rules)
    if not isinstance(metadata, RelationalSchema):
        metadata = dictionary(metadata)
        metadata = metadata if "tables" in metadata else {"tables": {"table": metadata}}
    n = len(metadata.tables if isinstance(metadata, RelationalSchema) else metadata["tables"])
    if n != 1:
        raise SettingError(
            f"engine: it counts one table, and the metadata describe {n} tables. hint: name the metadata of that table."
        )
    return metadata


def counted_inputs(
    real: Table,
    synthetic: Table,
    metadata: RelationalSchema | dict[str, Any],
    thresholds: Thresholds,
    missing: Sequence[str] = (),
    progress: Progress = lambda what, done, total: None,
    *,
    check_columns: bool = True,
) -> Inputs:
    """Return the inputs of the properties.

    Parameters
    ----------
    real, synthetic
        Tables that an engine counts.
    metadata
        What `described` returns.
    thresholds
        Of the pairs of columns.
    missing
        Texts that stand for missing.
    progress
        Called with what is done, how much of it, and how much there is of it.
    check_columns
        Whether tables and metadata must name the same columns.

    Raises
    ------
    TableError, SettingError
        A table was written meanwhile, or the engine fails.
    ValueError
        Tables and metadata name different columns, or a column has no sdtype.
    """
    tables = (real, synthetic)
    if isinstance(metadata, RelationalSchema):
        (schema,) = metadata.tables.values()
        primary = schema.with_role("primary")
        ids = {n for role in ("sequence", "unit", "ignore") for n in schema.with_role(role)}
        ids |= set(primary if len(primary) == 1 else ())
        wanted = {c.name for c in schema.columns if c.kind not in ("identifier", "text") and c.name not in ids}
        levels, counts = _told(tables, wanted, missing, progress)
        name = next(iter(metadata.tables))
        unread = [{c: pl.Series([], dtype=pl.String) for c in t.columns if c not in wanted} for t in tables]
        found, *read = derived_columns(
            metadata, *({name: {**apart, **own}} for apart, own in zip(unread, levels, strict=True))
        )
        columns = [{c: s for c, s in side[name].items() if c in wanted} for side in read]
    else:
        found = metadata
        (entry,) = found["tables"].values()
        wanted = {str(c) for c, of in columns_of(entry).items() if of.get("sdtype") in COMPARED}
        columns, counts = _told(tables, wanted, missing, progress)
    ((name, entry),) = found["tables"].items()
    check_sdtypes(name, entry)
    compared = [str(c) for c, of in columns_of(entry).items() if of.get("sdtype") in COMPARED]
    sides = [
        CountedSide(
            table,
            {c: column_of_values(c, own[c]) for c in compared if c in own},
            {c: n[c] for c in compared if c in own},
            {c: _hashes(own[c], j) for j, c in enumerate(sorted(compared)) if c in own},
            progress,
        )
        for table, own, n in zip(tables, columns, counts, strict=True)
    ]
    table = CountedTable(entry, *sides)
    if check_columns:
        check_same_columns(table)
    return Inputs({name: table}, [], True, thresholds, found)


def _told(
    tables: Sequence[Table], wanted: Collection[str], missing: Sequence[str], progress: Progress
) -> tuple[list[dict[str, pl.Series]], list[dict[Hashable, Ints]]]:
    """Return the distinct values of columns in each table, and how many rows have each."""
    levels: list[dict[str, pl.Series]] = []
    counts: list[dict[Hashable, Ints]] = []
    for table in tables:
        assert table.counting is not None
        progress(f"counting the values of the {table.role} table", 0, 1)
        told = {c: table.counting.values(table.names[c]) for c in table.columns if c in wanted}
        levels.append({c: without_missing(values, missing).alias(c) for c, (values, _) in told.items()})
        counts.append({c: np.asarray(n, dtype=np.int64) for c, (_, n) in told.items()})
    return levels, counts


def _hashes(values: pl.Series, salt: int) -> Hashes:
    """Return a hash of each distinct value that follows from its place in their order."""
    if values.dtype.is_numeric():
        values = values + 0.0  # -0.0 is 0.0
    elif values.dtype.is_nested():
        values = pl.Series([None if v is None else repr(v) for v in values.to_list()], dtype=pl.String)
    elif values.dtype.is_temporal():
        values = values.to_physical()  # of durations there is no text
    else:
        values = values.cast(pl.String, strict=False)
    ranks = values.alias("").rank("dense").fill_null(0).to_numpy()
    return value_hashes(ranks.astype(np.uint64), salt)
