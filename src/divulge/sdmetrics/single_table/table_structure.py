"""SDMetrics' comparison of the columns and dtypes of two tables."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

from divulge.sdmetrics.base import SingleTableMetric
from divulge.sdmetrics.columns import Column, frame_of
from divulge.sdmetrics.computed import computed_by, refused

__all__ = ["TableStructure", "dtypes_of", "structure_score"]

_NO_SAMPLE = "names and types of columns are no sample of people, so that there is no fresh sample to compare with."

Dtypes = set[tuple[Any, str]]


def structure(real_data: Any, synthetic_data: Any) -> dict[str, Any]:
    """Return the breakdown of TableStructure."""
    return {"score": structure_score(dtypes_of(real_data, "real_data"), dtypes_of(synthetic_data, "synthetic_data"))}


def structure_score(real: Dtypes, synthetic: Dtypes) -> float:
    """Return the share of the columns of either table, with their dtypes, that both have."""
    if not real | synthetic:
        raise ValueError("TableStructure: the tables have no columns.")
    return len(real & synthetic) / len(real | synthetic)


def dtypes_of(data: Any, role: str, columns: Mapping[Hashable, Column] | None = None) -> Dtypes:
    """Return the name of each column with the text of its dtype, as its own library writes it.

    Parameters
    ----------
    data, role
        A frame, and its name for errors.
    columns
        The columns of the frame, where they are made already.
    """
    if type(data).__module__.split(".")[0] in ("pandas", "polars") and hasattr(data, "dtypes"):
        return set(zip(data.columns, map(str, data.dtypes), strict=True))
    columns = frame_of(data, role).columns if columns is None else columns
    return {(name, str(column.dtype)) for name, column in columns.items()}


@computed_by(structure, sound=refused("TableStructure", _NO_SAMPLE), min_value=0, max_value=1)
class TableStructure(SingleTableMetric):
    """Share of the columns of either table that both have, where a column is its name and its dtype.

    As released, a column whose dtypes differ counts twice among the columns of either table.

    Parameters
    ----------
    real_data, synthetic_data
        Frames.
    """

    name = "TableStructure"
