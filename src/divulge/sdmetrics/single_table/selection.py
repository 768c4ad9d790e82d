"""The tables of a metric of one table, checked against the metadata, and the columns that a metric takes."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from divulge.sdmetrics.columns import Frame, frame_of
from divulge.sdmetrics.errors import IncomputableMetricError
from divulge.sdmetrics.metadata import checked_pair, table_metadata

__all__ = ["chosen_columns", "selected_tables"]

_NO_COLUMNS = (
    "Each table in the metadata must include a 'columns' key that maps column names to their corresponding information."
)


def selected_tables(real_data: Any, synthetic_data: Any, metadata: Any) -> tuple[Frame, Frame, dict[str, Any]]:
    """Return both tables with dates parsed, and the metadata of the table; without any, they come from the dtypes.

    As released, the first table counts where the metadata has several.

    Raises
    ------
    TypeError
        The metadata or a table is no dictionary or no frame.
    ValueError
        The tables do not fit each other or the metadata.
    """
    real, synthetic = frame_of(real_data, "real_data"), frame_of(synthetic_data, "synthetic_data")
    chosen = table_metadata(metadata, _first_name(metadata))
    real, synthetic, entries = checked_pair(real, synthetic, chosen)
    return real, synthetic, {**(chosen or {}), "columns": entries}


def _first_name(metadata: Any) -> str | None:
    """Return the name of the first table, where there are tables; each of them must have columns."""
    given = metadata.to_dict() if callable(getattr(metadata, "to_dict", None)) else metadata
    tables = given.get("tables") if isinstance(given, Mapping) else None
    if not isinstance(tables, Mapping) or not tables:
        return None
    for name, table in tables.items():
        if isinstance(table, Mapping) and "columns" not in table:
            raise ValueError(f"Error in table '{name}': {_NO_COLUMNS}")
    return str(next(iter(tables)))


def chosen_columns(metadata: Mapping[str, Any], types: Sequence[str]) -> list[Hashable]:
    """Return the columns of the sdtypes that are no key and have no entry "pii", in the order of the metadata.

    Raises
    ------
    IncomputableMetricError
        There is none.
    """
    alternate = [n for key in metadata.get("alternate_keys", []) for n in (key if isinstance(key, list) else [key])]
    keys = [metadata.get("primary_key", ""), *alternate]
    found = [
        name
        for name, entry in metadata["columns"].items()
        if entry is not None and "pii" not in entry and name not in keys and entry.get("sdtype", "") in types
    ]
    if not found:
        raise IncomputableMetricError(f"Cannot find fields of types {tuple(types)}")
    return found
