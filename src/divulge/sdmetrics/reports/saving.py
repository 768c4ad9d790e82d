"""A report as a file: JSON or Parquet with names, scores and errors. Loading one runs no code."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from divulge.core.atomic_write import replaced
from divulge.sdmetrics.reports.details import Row, mean_score
from divulge.sdmetrics.reports.parameters import without_values
from divulge.sdmetrics.reports.saving_parquet import MAGIC, content_of, parquet_of

__all__ = ["LIMIT", "Saved", "read", "report_type", "write"]

LIMIT = 2**28
"""Bytes of the largest file that is read."""
_FORMAT = "divulge.sdmetrics.reports/1"
_TEXT = ("Table", "Column", "Column 1", "Column 2", "Metric", "Child Table", "Parent Table", "Constraint", "Error")
_FLAG = "Meets Threshold?"
_PARAMETERS = "Parameters"
_HEAD = 64  # bytes in which a JSON file names its format
_PARQUET = (".parquet", ".pq")


@dataclass(frozen=True, slots=True)
class Saved:
    """What a file of a report holds."""

    info: dict[str, Any]
    tables: list[str]
    thresholds: Sequence[float]
    score: float
    details: dict[str, list[Row]]


def write(path: str | Path, saved: Saved) -> None:
    """Write a report as Parquet where the name ends in .parquet or .pq, else as JSON; nan is null."""
    content = _content(saved)
    if Path(path).suffix.lower() in _PARQUET:
        keys = {key for rows in saved.details.values() for row in rows[:1] for key in row}
        names = {key for key in keys if _is_name(key) or key == _PARAMETERS}
        replaced(path, parquet_of(content, sorted(names)))
        return
    replaced(path, json.dumps(content, ensure_ascii=False, allow_nan=False, indent=1).encode())


def _content(saved: Saved) -> dict[str, Any]:
    return {
        "format": _FORMAT,
        "info": saved.info,
        "tables": saved.tables,
        "thresholds": list(saved.thresholds),
        "score": _written(saved.score),
        "properties": {name: _written(mean_score(rows)) for name, rows in saved.details.items()},
        "details": {
            name: [{key: _shown(key, value) for key, value in row.items()} for row in rows]
            for name, rows in saved.details.items()
        },
    }


def _shown(column: str, value: Any) -> Any:
    return without_values(value) if column == _PARAMETERS else _written(value)


def _written(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, (str, bool, int)):
        return value
    return [_written(v) for v in value] if isinstance(value, (list, tuple)) else str(value)


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
    form = "Parquet" if content.startswith(MAGIC) else "JSON"
    try:
        found = content_of(content, columns) if form == "Parquet" else json.loads(content)
    except (ValueError, RecursionError):
        raise ValueError(
            f"{path.name}: the file is no {form} of a report. hint: give a file that {report}.save wrote."
        ) from None
    if not isinstance(found, dict) or found.get("format") != _FORMAT:
        raise ValueError(f"{path.name}: the file is no saved report. hint: give a file that {report}.save wrote.")
    kind = found["info"].get("report_type") if isinstance(found.get("info"), dict) else None
    if kind != report:
        raise ValueError(f"{path.name}: the file holds a {kind!r}. hint: it is read by the class of that name.")
    try:
        return _checked(found, columns)
    except (KeyError, TypeError, ValueError, AttributeError):
        raise ValueError(f"{path.name}: the saved report was changed. hint: generate it anew.") from None


def report_type(path: str | Path) -> str | None:
    """Return which report a file of `save` holds, None where it holds none or cannot be read."""
    try:
        with Path(path).open("rb") as file:
            head = file.read(_HEAD)
            content = head + file.read(LIMIT) if head.startswith(MAGIC) or _FORMAT.encode() in head else b""
        found = content_of(content, {}) if head.startswith(MAGIC) else json.loads(content)
        return str(found["info"]["report_type"])
    except (OSError, ValueError, RecursionError, KeyError, TypeError):
        return None


def _checked(found: dict[str, Any], columns: Mapping[str, Sequence[str]]) -> Saved:
    details = {name: [_row(row, columns[name]) for row in rows] for name, rows in found["details"].items()}
    tables = [_of(name, str) for name in found["tables"]]
    first, second = (_number(t) for t in found["thresholds"])
    return Saved(_info(found["info"]), tables, (first, second), _number(found["score"]), details)


def _info(info: dict[str, Any]) -> dict[str, Any]:
    """Return what is said of the whole report, whose values a page shows."""
    for key in ("generated_date", "sdmetrics_version", "divulge_version"):
        _of(info[key], str)
    _number(info["generation_time"])
    for key in ("num_rows_real_data", "num_rows_synthetic_data"):
        for n in info[key].values() if isinstance(info[key], dict) else [info[key]]:
            _of(n, int)
    for name, found in _of(info.get("fresh_sample", {}), dict).items():
        _of(name, str)
        if len([_number(n) for n in _of(found, list)]) != 3:
            raise TypeError
    return info


def _row(row: dict[str, Any], columns: Sequence[str]) -> Row:
    if not set(columns) <= set(row) or not set(row) <= {*columns, "Error"}:
        raise ValueError
    return {name: _cell(name, value) for name, value in row.items()}


def _cell(name: str, value: Any) -> Any:
    if value is None and name in (_FLAG, "Error", "Constraint", _PARAMETERS):
        return None
    if name in (_FLAG, _PARAMETERS):
        return _of(value, bool if name == _FLAG else dict)
    if _is_name(name):
        return [_of(v, str | int) for v in value] if isinstance(value, list) else _of(value, str | int)
    return _number(value)


def _is_name(column: str) -> bool:
    """Whether a column holds names or texts: a name may be a number, and a key a list of names."""
    return column in _TEXT or column.endswith("Key")


def _of(value: Any, kind: Any) -> Any:
    if not isinstance(value, kind):
        raise TypeError
    return value


def _number(value: Any) -> float:
    if value is None:
        return float("nan")
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError
    return float(value)
