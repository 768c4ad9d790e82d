"""The metadata of SDMetrics in each of its shapes, and the checks of tables against it."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Mapping
from typing import Any

from divulge.sdmetrics.columns import Column, Frame, pandas_column

__all__ = ["as_datetimes", "checked_pair", "columns_of", "dictionary", "no_sdtype", "table_metadata", "types_of"]

TYPES = {
    "i": {"sdtype": "numerical"},
    "f": {"sdtype": "numerical"},
    "O": {"sdtype": "categorical"},
    "b": {"sdtype": "boolean"},
    "M": {"sdtype": "datetime"},
}
"""The entry of a column without metadata, by the kind of its dtype; other dtypes have none."""
_SHAPE = "hint: metadata looks like {'columns': {'age': {'sdtype': 'numerical'}, 'job': {'sdtype': 'categorical'}}}."
_NO_SDTYPE = {"u": "unsigned whole numbers", "m": "timedeltas", "c": "complex numbers"}


def table_metadata(metadata: Any, table_name: str | None = None) -> dict[str, Any] | None:
    """Return the metadata of one table.

    Parameters
    ----------
    metadata
        A dictionary with "columns", or one with "tables", or None. Beyond SDMetrics: an object with `to_dict`, such as
        SDV's Metadata.
    table_name
        Name of the table, if there are several.

    Raises
    ------
    TypeError
        The metadata is no dictionary, or the name is no text.
    ValueError
        There is no table, there are several and no name, or the name is unknown.
    """
    if table_name is not None and not isinstance(table_name, str):
        raise TypeError("`table_name` must be a string.")
    if metadata is None:
        return None
    given = dictionary(metadata)
    if "tables" not in given:
        return given
    tables = dictionary(given["tables"])
    names = list(tables)
    if not names:
        raise ValueError("Metadata does not contain any tables.")
    if table_name is None:
        if len(names) > 1:
            raise ValueError("Metadata contains more than one table, please specify the `table_name`.")
        table_name = names[0]
    elif table_name not in tables:
        raise ValueError(f"Unknown table ('{table_name}'). Must be one of {names}.")
    return dictionary(tables[table_name])


def dictionary(metadata: Any) -> dict[str, Any]:
    """Return metadata as a dictionary, those of SDV's Metadata by its `to_dict`; a `TypeError` for anything else."""
    if not isinstance(metadata, Mapping) and callable(getattr(metadata, "to_dict", None)):
        metadata = metadata.to_dict()
    if not isinstance(metadata, dict):
        raise TypeError(
            f"Expected a dictionary but received a '{type(metadata).__name__}' instead. For SDV metadata objects, "
            "please use the 'to_dict' function to convert it to a dictionary."
        )
    return metadata


def columns_of(metadata: Mapping[str, Any]) -> dict[Hashable, dict[str, Any]]:
    """Return the entry of each column of one table's metadata.

    Raises
    ------
    TypeError
        The columns, or the entry of one of them, are no dictionary.
    """
    columns = metadata.get("columns", {})
    if not isinstance(columns, Mapping):
        raise TypeError(f"'columns' of the metadata is of type {type(columns).__name__}. {_SHAPE}")
    for name, entry in columns.items():
        if not isinstance(entry, Mapping):
            raise TypeError(f"The metadata of column {name!r} is of type {type(entry).__name__}. {_SHAPE}")
    return dict(columns)


def types_of(frame: Frame) -> dict[Hashable, dict[str, str] | None]:
    """Return the entries of a table without metadata, by dtype; None where a dtype has none."""
    return {name: TYPES.get(column.kind) for name, column in frame.columns.items()}


def no_sdtype(column: Column) -> str:
    """Return the name of the dtype of a column that has no entry without metadata."""
    return _NO_SDTYPE.get(column.kind, "a dtype that is none of numbers, text, truth values and datetimes")


def checked_pair(
    real: Frame, synthetic: Frame, metadata: dict[str, Any] | None
) -> tuple[Frame, Frame, dict[Hashable, Any]]:
    """Return both tables with datetimes parsed, and the entry of each column.

    Raises
    ------
    ValueError
        The columns of the tables differ, or those of metadata and tables do, or a datetime column cannot be parsed.
    """
    if set(real.names) != set(synthetic.names):
        raise ValueError("`real_data` and `synthetic_data` must have the same columns")
    if metadata is None:
        return real, synthetic, types_of(real)
    if "columns" not in metadata:
        raise ValueError(
            "Each table in the metadata must include a 'columns' key that maps column names to their corresponding "
            "information."
        )
    entries = columns_of(metadata)
    for name in real.names:
        if name not in entries:
            raise ValueError(f"Column {name} not found in metadata")
    for name, entry in entries.items():
        if name not in real.columns:
            raise ValueError(f"Field {name} not found in data")
        if entry.get("sdtype", "") == "datetime":
            real = real.with_column(name, as_datetimes(name, real[name], entry))
            synthetic = synthetic.with_column(name, as_datetimes(name, synthetic[name], entry))
    return real, synthetic, entries


def as_datetimes(name: Hashable, column: Column, entry: Mapping[str, Any]) -> Column:
    """Return a column of instants; text is read by the `datetime_format` of its entry.

    Raises
    ------
    ValueError
        There is no format, or a value does not follow it.
    """
    if column.kind == "M":
        return column
    form = entry.get("datetime_format")
    if form is None:
        raise ValueError(
            f"Datetime column '{name}' does not have a specified 'datetime_format'. Please add a the required "
            "datetime_format to the metadata or convert this column to 'pd.datetime' to bypass this requirement."
        )
    try:
        import pandas as pd
    except ModuleNotFoundError as error:  # pragma: no cover # the tests have pandas
        raise ValueError(
            f"Datetime column '{name}' is text; reading it needs pandas. hint: pip install pandas."
        ) from error
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            parsed = pd.to_datetime(pd.Series(column.values), format=form)
        except Exception as error:
            raise ValueError(
                f"Error converting column '{name}' to timestamp: {type(error).__name__}; a value does not follow the "
                "'datetime_format' of the metadata."
            ) from None
    return pandas_column(parsed)
