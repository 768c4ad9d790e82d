"""The inputs of the diagnostic report on two tables whose rows an engine keeps."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from divulge.core.relations import RelationalSchema
from divulge.sdmetrics.columns import Column, column_of_values
from divulge.sdmetrics.derived import TEXTS, derived_columns
from divulge.sdmetrics.metadata import as_datetimes, columns_of
from divulge.sdmetrics.reports.counted_inputs import Progress
from divulge.sdmetrics.reports.counted_rules import counted_rules
from divulge.sdmetrics.reports.diagnosed_table import DiagnosedSide, DiagnosedTable
from divulge.sdmetrics.reports.ends import Ends, ends_of
from divulge.sdmetrics.reports.inputs import check_sdtypes
from divulge.sdmetrics.reports.pairs import Thresholds
from divulge.sdmetrics.reports.properties import Inputs
from divulge.sdmetrics.reports.tables import COMPARED, CONTINUOUS, DISCRETE
from divulge.tables.canonical_values import read_numbers, without_missing
from divulge.tables.counting import BY_ROWS
from divulge.tables.frames import Table, plain
from divulge.tables.numeric_types import numeric_type

__all__ = ["diagnosed_inputs", "is_listed"]

Ints = np.ndarray[Any, np.dtype[np.int64]]

_DIRECT: Mapping[str, Callable[[pl.DataType], bool]] = {
    "numeric": lambda kind: kind.is_numeric(), "datetime": lambda kind: kind.is_temporal(),
}  # fmt: skip
"""Which types a schema's kinds of columns have as they stand; others are read by their values."""


def is_listed(metadata: Any) -> Callable[[str, pl.DataType], bool]:
    """Return what says of a column, by its name and type, whether its distinct values are asked for.

    Parameters
    ----------
    metadata
        Of one table, as `described` returns them.
    """
    if isinstance(metadata, RelationalSchema):
        (schema,) = metadata.tables.values()
        kinds = {c.name: c.kind for c in schema.columns}
        discrete = {n for n, kind in kinds.items() if kind not in ("numeric", "datetime", "identifier", "text")}
        continuous = {n for n, kind in kinds.items() if kind in ("numeric", "datetime")}
    else:
        (entry,) = metadata["tables"].values()
        found = {str(n): of.get("sdtype") for n, of in columns_of(entry).items()}
        discrete = {n for n, sdtype in found.items() if sdtype in DISCRETE}
        continuous = {n for n, sdtype in found.items() if sdtype in CONTINUOUS}
    return lambda name, kind: name in discrete or (name in continuous and numeric_type(str(kind)) is None)


def diagnosed_inputs(
    real: Table,
    synthetic: Table,
    metadata: RelationalSchema | dict[str, Any],
    thresholds: Thresholds,
    missing: Sequence[str] = (),
    progress: Progress = lambda what, done, total: None,
) -> Inputs:
    """Return the inputs of the properties; parameters and errors as those of `counted_inputs`.

    Raises
    ------
    SizeError
        What a rule needs does not fit into memory.
    """
    sides = (_side(real, missing), _side(synthetic, missing))
    if isinstance(metadata, RelationalSchema):
        metadata = _derived(metadata, sides)
    ((name, entry),) = metadata["tables"].items()
    check_sdtypes(name, entry)
    compared = {str(c): of for c, of in columns_of(entry).items() if of.get("sdtype") in COMPARED}
    for i, (column, of) in enumerate(compared.items()):
        progress("counting the values of columns", i, len(compared))
        if all(column in side.types for side in sides):
            _add(column, of, *sides)
    ours, theirs = ({(c, str(kind)) for c, kind in side.types.items()} for side in sides)
    table = DiagnosedTable(entry, *sides, (ours, theirs))
    constraints = list(metadata.get("constraints") or ())
    rules = counted_rules(constraints, name, table, metadata)
    return Inputs({name: table}, [], True, thresholds, metadata, constraints, rules)


def _side(table: Table, missing: Sequence[str]) -> DiagnosedSide:
    assert table.counting is not None
    codes = pl.Series(list(missing), dtype=pl.String).cast(pl.Float64, strict=False).drop_nulls().to_list()
    types = dict(zip(table.columns, table.counting.types(), strict=True))
    for name, kind in types.items() if missing else ():
        numbers = _numbers_without(table, name, missing) if kind in TEXTS else None
        types[name] = numbers or without_missing(pl.Series([], dtype=kind), missing).dtype
    return DiagnosedSide(table, tuple(missing), tuple(codes), types)


def _numbers_without(table: Table, name: str, missing: Sequence[str]) -> pl.DataType | None:
    """Return the type of texts that are numbers once those that stand for missing are gone; None of others."""
    assert table.counting is not None
    inner = table.names[name]
    some = table.counting.raw(inner) if table.counting.engine in BY_ROWS else [table.counting.values(inner)[0]]
    coded, kinds = False, set()
    for part in some:
        texts = plain(part)
        lost = texts.is_in(list(missing)).fill_null(False)
        coded |= bool(lost.any())
        numbers = read_numbers(texts.set(lost, None))
        if numbers is None:
            return None
        kinds.add(numbers.dtype)
    if not coded:
        return None
    return pl.Float64() if pl.Float64 in kinds else pl.Int64()


def _derived(metadata: RelationalSchema, sides: Sequence[DiagnosedSide]) -> dict[str, Any]:
    """Return the metadata that a schema stands for, and tell the sides which columns it reads in another way."""
    ((name, schema),) = metadata.tables.items()
    given = [{c: pl.Series(c, [], dtype=kind) for c, kind in side.types.items()} for side in sides]
    raw: list[dict[str, pl.Series]] = [{}, {}]
    for column in schema.columns:
        direct = _DIRECT.get(column.kind)
        having = [i for i, side in enumerate(sides) if column.name in side.types]
        if direct is None or all(direct(sides[i].types[column.name]) for i in having):
            continue
        for i in having:
            raw[i][column.name], _ = sides[i].counting.values(sides[i].table.names[column.name])
            given[i][column.name] = without_missing(raw[i][column.name], sides[i].missing).alias(column.name)
    described, *read = derived_columns(metadata, *({name: own} for own in given))
    for side, values, before, after in zip(sides, raw, given, read, strict=True):
        for c, own in values.items():
            if after[name][c].dtype != before[c].dtype:
                side.read_as[c], side.types[c] = (own, after[name][c]), after[name][c].dtype
    return described


def _add(column: str, entry: Mapping[str, Any], real: DiagnosedSide, synthetic: DiagnosedSide) -> None:
    """Add a column to both sides: its distinct values, or a few that stand for all numbers."""
    ours, theirs = (_ends(column, entry, side) for side in (real, synthetic))
    found = _listed(column, real) if ours is None else ours.real()
    other = None if theirs is None else theirs.synthetic(_as_read(found[0], entry), entry)
    for side, own in ((real, found), (synthetic, other or _listed(column, synthetic))):
        side.columns[column], side.counts[column] = own


def _listed(column: str, side: DiagnosedSide) -> tuple[Column, Ints]:
    values, n = side.values(column)
    return column_of_values(column, values), n


def _ends(column: str, entry: Mapping[str, Any], side: DiagnosedSide) -> Ends | None:
    """Return what stands for all numbers of a column of numbers or times; None where all of its values are needed."""
    if entry["sdtype"] not in CONTINUOUS or column in side.read_as:
        return None
    is_time = isinstance(side.types[column], pl.Datetime)
    if not is_time and (entry["sdtype"] == "datetime" and "datetime_format" in entry):
        return None  # numbers that are read as dates
    return ends_of(side.table, column, side.codes)


def _as_read(column: Column, entry: Mapping[str, Any]) -> Column:
    """Return a column of dates as it is compared."""
    if entry["sdtype"] != "datetime":
        return column
    try:
        return as_datetimes(column.name, column, entry)
    except ValueError:
        return column
