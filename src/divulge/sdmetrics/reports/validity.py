"""Data validity: for each column the metrics of its sdtype, with the limits and formats that its metadata state."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any

from divulge.sdmetrics.reports.details import Row, measured
from divulge.sdmetrics.reports.tables import CONTINUOUS, DISCRETE, TableData

__all__ = ["validity_rows"]

_OPTIONS = {
    "BoundaryAdherence": ("range_min", "range_max", "range_is_nullable"),
    "CategoryAdherence": ("range_values", "range_is_nullable"),
}


def validity_rows(table: TableData) -> list[Row]:
    """Return the rows of one table, a primary key of several columns first.

    As released, the column that orders a sequence has none, and a key declared as numbers or categories is not tested
    for uniqueness.
    """
    primary = table.metadata.get("primary_key", "")
    alternate = [
        name for key in table.metadata.get("alternate_keys") or [] for name in (key if isinstance(key, list) else [key])
    ]
    rows = []
    if isinstance(primary, list) and len(primary) > 1:
        rows.append(_row(primary, "KeyUniqueness", lambda: table.unique(primary)))
    elif isinstance(primary, list):
        primary = primary[0] if primary else ""
    for name, entry in table.entries.items():
        unique = name == primary or name in alternate
        ordered = name == table.metadata.get("sequence_index") and entry.get("sdtype") in CONTINUOUS
        metrics = [] if ordered else _metrics(entry, unique)
        rows += [_row(name, m, lambda m=m, n=name: _score(table, m, n)) for m in metrics]  # type: ignore[misc]
    return rows


def _row(column: Any, metric: str, compute: Callable[[], float]) -> Row:
    return {"Column": column, "Metric": metric, **measured(compute)}


def _metrics(entry: Mapping[str, Any], unique: bool) -> list[str]:
    sdtype = entry.get("sdtype")
    if sdtype in CONTINUOUS:
        dated = sdtype == "datetime" and "datetime_format" in entry
        return ["BoundaryAdherence", *(["DatetimeFormatAdherence"] if dated else [])]
    if sdtype in DISCRETE:
        return ["CategoryAdherence"]
    patterned = sdtype == "id" and "regex_format" in entry
    return [*(["KeyUniqueness"] if unique else []), *(["RegexFormatAdherence"] if patterned else [])]


def _score(table: TableData, metric: str, name: Hashable) -> float:
    entry = table.entries[name]
    options = {o: entry[o] for o in _OPTIONS.get(metric, ()) if o in entry}
    if metric == "DatetimeFormatAdherence":
        return table.of_format(name, entry["datetime_format"])
    if metric == "RegexFormatAdherence":
        return table.of_pattern(name, entry["regex_format"])
    if metric == "KeyUniqueness":
        return table.unique([name])
    return (table.within if metric == "BoundaryAdherence" else table.among)(name, options)
