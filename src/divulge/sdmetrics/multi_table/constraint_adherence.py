"""SDMetrics' share of rows that keep a constraint."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from divulge.sdmetrics.base import MultiTableMetric
from divulge.sdmetrics.computed import computed_by, refused
from divulge.sdmetrics.constraints.adherence import LazyColumns, adherence
from divulge.sdmetrics.constraints.base import Tables
from divulge.sdmetrics.metadata import dictionary

__all__ = ["ConstraintAdherence"]

_STATED = (
    "a stated rule holds or does not. hint: divulge.validity(real, synthetic, holdout=holdout) counts rows "
    "beside real ones."
)


def constraint_adherence(
    real_data: Any, synthetic_data: Any, metadata: Any, constraint: Mapping[str, Any]
) -> dict[str, float]:
    """Return the breakdown of ConstraintAdherence."""
    given = dictionary(metadata)
    sides = {"real_data": real_data, "synthetic_data": synthetic_data}
    frames = {role: not isinstance(data, Mapping) for role, data in sides.items()}
    if len(set(frames.values())) > 1:
        raise TypeError("`real_data` and `synthetic_data` must both be dictionaries of tables, or both be frames.")
    if "tables" not in given:
        tables = ["table"] if frames["real_data"] else list(real_data)
        if len(tables) != 1:
            raise ValueError("Metadata must include a 'tables' key that maps table names to their respective metadata.")
        given = {"tables": {tables[0]: given}}
    if frames["real_data"]:
        if len(given["tables"]) != 1:
            raise ValueError(
                f"The metadata have {len(given['tables'])} tables. hint: give dictionaries of frames by their names."
            )
        sides = {role: {next(iter(given["tables"])): data} for role, data in sides.items()}
    real, synthetic = (Tables(LazyColumns(data, role), given, data) for role, data in sides.items())
    return {"score": adherence(constraint, real, synthetic)}


@computed_by(constraint_adherence, sound=refused("ConstraintAdherence", _STATED))
class ConstraintAdherence(MultiTableMetric):
    """Share of synthetic rows that keep a constraint.

    nan, with a line in the log, where the constraint cannot be checked; a warning where the real rows do not keep it.

    Parameters
    ----------
    real_data, synthetic_data
        Dictionaries of frames by the name of their table; or two frames, for metadata of one table.
    metadata
        SDV metadata.
    constraint
        A dictionary with "class_name", the name of a constraint of SDV, and "parameters".

    Examples
    --------
    >>> import pandas as pd
    >>> real = pd.DataFrame({"start": [1, 2], "end": [3, 2]})
    >>> synthetic = pd.DataFrame({"start": [1, 5, 2], "end": [1, 2, 3]})
    >>> metadata = {"tables": {"t": {"columns": {c: {"sdtype": "numerical"} for c in real}}}}
    >>> parameters = {"low_column_name": "start", "high_column_name": "end", "table_name": "t"}
    >>> rule = {"class_name": "Inequality", "parameters": parameters}
    >>> round(ConstraintAdherence.compute({"t": real}, {"t": synthetic}, metadata, rule), 3)
    0.667
    """

    name = "ConstraintAdherence"
