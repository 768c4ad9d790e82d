"""The checks of a call that SDMetrics' base classes offer to the metrics of users."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from copy import deepcopy
from typing import Any

from divulge.core.errors import SettingError
from divulge.sdmetrics.columns import Column, Frame, first_table, frame_of, objects_of
from divulge.sdmetrics.metadata import checked_pair, table_metadata
from divulge.sdmetrics.single_table.selection import chosen_columns, selected_tables

__all__ = ["selected_fields", "validated_sequences", "validated_tables"]


def validated_tables(real_data: Any, synthetic_data: Any, metadata: Any) -> tuple[Any, Any, dict[str, Any]]:
    """Return copies of both tables as pandas frames, with dates given as text parsed, and the metadata.

    Raises
    ------
    TypeError, ValueError
        The tables do not fit each other or the metadata.
    """
    real, synthetic, table = selected_tables(real_data, synthetic_data, metadata)
    frames = [_as_pandas(first_table(g), f) for g, f in ((real_data, real), (synthetic_data, synthetic))]
    if metadata is None:
        return frames[0], frames[1], {"tables": {"table": {"columns": table["columns"]}}}
    given = metadata.to_dict() if callable(getattr(metadata, "to_dict", None)) else metadata
    return frames[0], frames[1], deepcopy(given)


def _as_pandas(given: Any, frame: Frame) -> Any:
    """Return a copy of a pandas frame in which columns that were parsed are dates; of other frames a pandas frame."""
    try:
        import pandas as pd
    except ModuleNotFoundError as error:  # pragma: no cover # the tests have pandas
        raise SettingError("A metric of one's own gets pandas frames. hint: pip install pandas.") from error
    if not isinstance(given, pd.DataFrame):
        return pd.DataFrame({name: _values(column) for name, column in frame.columns.items()})
    copy = given.copy()
    for name, column in frame.columns.items():
        if column.kind == "M" and getattr(copy[name].dtype, "kind", "O") != "M":
            copy[name] = column.values
    return copy


def _values(column: Column) -> Any:
    return objects_of(column.values) if column.values.dtype == object else column.values


def selected_fields(metadata: Mapping[str, Any], types: str | Sequence[str]) -> list[Hashable]:
    """Return the columns of one or several sdtypes that are no key and not personal, of the first table of metadata."""
    table = next(iter(metadata["tables"].values())) if "tables" in metadata else metadata
    return chosen_columns(table, (types,) if isinstance(types, str) else types)


def validated_sequences(
    real_data: Any, synthetic_data: Any, metadata: Any, sequence_key: Any
) -> tuple[dict[str, Any], list[Any]]:
    """Return the metadata and the columns of the sequence key; as released, without one the sequence index.

    Raises
    ------
    TypeError, ValueError
        The tables do not fit each other or the metadata.
    """
    real, synthetic = frame_of(real_data, "real_data"), frame_of(synthetic_data, "synthetic_data")
    chosen = table_metadata(metadata)
    entries = checked_pair(real, synthetic, chosen)[2]
    found = dict(chosen) if chosen is not None else {"columns": entries}
    key = sequence_key or found.get("sequence_index")
    return found, list(key) if isinstance(key, list) else [key]
