"""A report as a file: JSON with names, scores and errors. Loading one runs no code."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from divulge.core.atomic_write import replaced
from divulge.sdmetrics.reports.details import Row

__all__ = ["LIMIT", "Saved", "read", "write"]

LIMIT = 2**28
"""Bytes of the largest file that is read."""
_FORMAT = "divulge.sdmetrics.reports/1"
_TEXT = ("Table", "Column", "Column 1", "Column 2", "Metric", "Child Table", "Parent Table", "Constraint", "Error")
_FLAG = "Meets Threshold?"
_PARAMETERS = "Parameters"
_VALUES = ("conditional_values", "relationships", "type_value_to_table")
"""Parameters of constraints that hold values of the tables: a file has their number."""


@dataclass(frozen=True, slots=True)
class Saved:
    """What a file of a report holds."""

    info: dict[str, Any]
    tables: list[str]
    thresholds: Sequence[float]
    score: float
    details: dict[str, list[Row]]


def write(path: str | Path, saved: Saved) -> None:
    """Write a report as JSON; nan is null."""
    content = {
        "format": _FORMAT,
        "info": saved.info,
        "tables": saved.tables,
        "thresholds": list(saved.thresholds),
        "score": _written(saved.score),
        "details": {
            name: [
                {key: _parameters(v) if key == _PARAMETERS else _written(v) for key, v in row.items()} for row in rows
            ]
            for name, rows in saved.details.items()
        },
    }
    replaced(path, json.dumps(content, ensure_ascii=False, allow_nan=False, indent=1).encode())


def _written(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, (str, bool, int)):
        return value
    return [_written(v) for v in value] if isinstance(value, (list, tuple)) else str(value)


def _parameters(given: Any) -> Any:
    """Return the parameters of a constraint: names of tables and columns, and how many values there are of the rest."""
    if not isinstance(given, Mapping):
        return None
    return {str(name): f"{len(value)} value(s)" if name in _VALUES else _named(value) for name, value in given.items()}


def _named(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(k): _named(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_named(v) for v in value]
    return value if value is None or isinstance(value, (str, bool, int, float)) else getattr(value, "__name__", None)


def read(path: str | Path, columns: Mapping[str, Sequence[str]], report: str) -> Saved:
    """Return the report of a file.

    Parameters
    ----------
    path
        Name of the file.
    columns
        Columns of the details of each property that the report has.
    report
        Name of the kind of report.

    Raises
    ------
    ValueError
        The file is too large, is no report of this kind, or was changed.
    """
    path = Path(path)
    with path.open("rb") as file:
        content = file.read(LIMIT + 1)
    if len(content) > LIMIT:
        raise ValueError(
            f"{path.name}: the file has more than {LIMIT >> 20} MB. hint: it is no report of {report}.save."
        )
    if content[:1] == b"\x80":
        raise ValueError(
            f"{path.name}: the file is a pickle, and loading one can run any code. hint: load it with SDMetrics, or "
            "generate the report here and save it as JSON."
        )
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        raise ValueError(f"{path.name}: the file is no JSON. hint: give a file that {report}.save wrote.") from None
    if not isinstance(found, dict) or found.get("format") != _FORMAT:
        raise ValueError(f"{path.name}: the file is no saved report. hint: give a file that {report}.save wrote.")
    kind = found["info"].get("report_type") if isinstance(found.get("info"), dict) else None
    if kind != report:
        raise ValueError(f"{path.name}: the file holds a {kind!r}. hint: it is read by the class of that name.")
    try:
        return _checked(found, columns)
    except (KeyError, TypeError, ValueError, AttributeError):
        raise ValueError(f"{path.name}: the saved report was changed. hint: generate it anew.") from None


def _checked(found: dict[str, Any], columns: Mapping[str, Sequence[str]]) -> Saved:
    details = {name: [_row(row, columns[name]) for row in rows] for name, rows in found["details"].items()}
    tables = [_of(name, str) for name in found["tables"]]
    first, second = (_number(t) for t in found["thresholds"])
    return Saved(found["info"], tables, (first, second), _number(found["score"]), details)


def _row(row: dict[str, Any], columns: Sequence[str]) -> Row:
    if not set(columns) <= set(row) or not set(row) <= {*columns, "Error"}:
        raise ValueError
    return {name: _cell(name, value) for name, value in row.items()}


def _cell(name: str, value: Any) -> Any:
    if value is None and name in (_FLAG, "Error", "Constraint", _PARAMETERS):
        return None
    if name in (_FLAG, _PARAMETERS):
        return _of(value, bool if name == _FLAG else dict)
    if name in _TEXT or name.endswith("Key"):
        return [_of(v, str) for v in value] if isinstance(value, list) else _of(value, str)
    return _number(value)


def _of(value: Any, kind: type) -> Any:
    if not isinstance(value, kind):
        raise TypeError
    return value


def _number(value: Any) -> float:
    if value is None:
        return float("nan")
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError
    return float(value)
