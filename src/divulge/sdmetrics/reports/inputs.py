"""What a report is computed from: frames or dictionaries of frames and their metadata, checked against each other."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from os import PathLike
from typing import Any

from divulge.core.relations import RelationalSchema
from divulge.core.schema import Schema, no_such
from divulge.sdmetrics.columns import Column
from divulge.sdmetrics.derived import of_schema
from divulge.sdmetrics.metadata import columns_of, dictionary
from divulge.sdmetrics.reports.pairs import Thresholds
from divulge.sdmetrics.reports.properties import Inputs, key_names
from divulge.sdmetrics.reports.tables import TableData
from divulge.tables.readers import read_metadata

__all__ = ["ONE_TABLE", "check_same_columns", "check_sdtypes", "checked_inputs", "unified"]

ONE_TABLE = "table"
"""Name of the table where two frames come with the metadata of one table."""
_PARTS = ("parent_table_name", "parent_primary_key", "child_table_name", "child_foreign_key")
_NO_COLUMNS = (
    "Each table in the metadata must include a 'columns' key that maps column names to their corresponding information."
)
_NO_TABLES = "Metadata must include a 'tables' key that maps table names to their respective metadata."

Frames = Mapping[str, Any]


def unified(real: Any, synthetic: Any, metadata: Any) -> tuple[Frames, Frames, dict[str, Any]]:
    """Return dictionaries of frames, and metadata with "tables"; two frames are one table.

    Raises
    ------
    TypeError, ValueError
        The metadata are no dictionary or describe no table, or one argument is a dictionary of tables and not another.
    """
    if isinstance(metadata, (str, PathLike)):
        metadata = read_metadata(metadata)
    if isinstance(metadata, (Schema, RelationalSchema)):
        return of_schema(metadata, real, synthetic)
    given = dictionary(metadata)
    frames = not isinstance(real, Mapping) and not isinstance(synthetic, Mapping)
    if "tables" not in given:
        if not frames:
            raise ValueError(_NO_TABLES)
        if "columns" not in given:
            raise ValueError(_NO_COLUMNS)
        given = {"tables": {ONE_TABLE: given}}
    if frames:
        if len(given["tables"]) != 1:
            raise ValueError("Please pass in a dictionary mapping tables to dataframes for real_data.")
        name = next(iter(given["tables"]))
        real, synthetic = {name: real}, {name: synthetic}
    for tables, role in ((real, "real_data"), (synthetic, "synthetic_data")):
        if not isinstance(tables, Mapping):
            raise ValueError(f"Please pass in a dictionary mapping tables to dataframes for {role}.")
        for name in given["tables"]:
            if name not in tables:
                raise ValueError(no_such(role, "table", name, list(map(str, tables))))
    for name, entry in given["tables"].items():
        if "columns" not in dictionary(entry):
            raise ValueError(f"Error in table '{name}': {_NO_COLUMNS}")
    return real, synthetic, given


def checked_inputs(
    real: Frames,
    synthetic: Frames,
    metadata: dict[str, Any],
    thresholds: Thresholds,
    *,
    check_columns: bool,
    constraints: Sequence[Mapping[str, Any]] = (),
) -> Inputs:
    """Return the inputs of the properties.

    Parameters
    ----------
    real, synthetic, metadata
        What `unified` returns.
    thresholds
        Of the pairs of columns.
    check_columns
        Whether tables and metadata must name the same columns.
    constraints
        Dictionaries with "class_name" and "parameters".

    Raises
    ------
    ValueError
        They do not, a column has no sdtype, or a relation does not fit the tables.
    """
    tables = {}
    for name, entry in metadata["tables"].items():
        check_sdtypes(name, entry)
        tables[name] = TableData.of_frames(entry, real[name], synthetic[name])
    if check_columns:
        for table in tables.values():
            check_same_columns(table)
    relations = metadata.get("relationships") or []
    for relation in relations:
        _check_relation(relation, tables)
    return Inputs(tables, relations, set(real) == set(synthetic), thresholds, metadata, constraints)


def check_sdtypes(name: str, entry: Mapping[str, Any]) -> None:
    """Raise a `ValueError` for a column of a table that has no sdtype in its metadata."""
    for column, described in columns_of(entry).items():
        if "sdtype" not in described:
            raise ValueError(f"Table {name!r}: column {column!r} has no 'sdtype' in the metadata. hint: add it.")


def check_same_columns(table: TableData) -> None:
    """Raise a `ValueError` where a table and its metadata name different columns."""
    ours = set(table.sides[0]) | set(table.sides[1])
    apart = ours ^ set(table.entries)
    if apart:
        apart |= set(table.entries) - (set(table.sides[0]) & set(table.sides[1]))
        raise ValueError(
            "The metadata does not match the data. The following columns are missing in the real/synthetic data or in "
            f"the metadata: {', '.join(sorted(map(str, apart)))}"
        )


def _check_relation(relation: Any, tables: Mapping[str, TableData]) -> None:
    for part in _PARTS:
        if part not in dictionary(relation):
            raise ValueError(f"A relationship of the metadata has no {part!r}. hint: it has {', '.join(_PARTS)}.")
    parent, child = relation["parent_table_name"], relation["child_table_name"]
    above, below = relation["parent_primary_key"], relation["child_foreign_key"]
    for name in (parent, child):
        if name not in tables:
            raise ValueError(no_such("A relationship of the metadata", "table", name, list(map(str, tables))))
    failed = (
        f"The '{parent}' table and '{child}' table cannot be merged for computing the cardinality. Please make sure "
    )
    if len(key_names(above)) != len(key_names(below)):
        raise ValueError(
            f"{failed}the number of columns in the primary key ({_quoted(above)}) matches the number of columns in the "
            f"foreign key ({_quoted(below)})."
        )
    for one, other in zip(key_names(above), key_names(below), strict=True):
        if _is_text(_key_column(tables, parent, one)) != _is_text(_key_column(tables, child, other)):
            raise ValueError(
                f"{failed}the primary key in '{parent}' ({_quoted(above)}) and the foreign key in '{child}' "
                f"({_quoted(below)}) have the same data types."
            )


def _key_column(tables: Mapping[str, TableData], table: str, name: Hashable) -> Column:
    """Return a column of a key in the real data, before dates were converted."""
    for columns in tables[table].originals:
        if name not in columns:
            raise ValueError(no_such(f"Table {table!r}", "column", str(name), list(map(str, columns))))
    return tables[table].originals[0][name]


def _is_text(column: Column) -> bool:
    return column.kind in "OS"


def _quoted(key: Any) -> str:
    return f"'{key}'" if isinstance(key, str) else str(key)
