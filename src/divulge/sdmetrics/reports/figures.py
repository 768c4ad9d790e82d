"""The plot of each property of a report, from the scores that the report keeps: no table is read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import isfinite
from typing import Any

import numpy as np

from divulge.sdmetrics.errors import VisualizationUnavailableError
from divulge.sdmetrics.plot_shapes import Empty, Matrix, Picture, Scores, Triangle
from divulge.sdmetrics.reports.details import Row, mean_score

__all__ = ["MOST_BARS", "MOST_NAMES", "key_text", "label_of", "picture_of"]

MOST_BARS = 60
"""Bars that one figure has; those with the lowest scores are drawn."""
MOST_NAMES = 30
"""Columns that a triangle of pairs has; those with the lowest scores are drawn."""
_NO_CELL = (
    "A pair without a cell has no score: its association in the real table is below the threshold, or it could not be "
    "computed."
)
_TITLES = {
    "Cardinality": "Table Relationships",
    "Data Structure": "Data Diagnostic: Structure",
    "Data Validity": "Data Diagnostic: Data Validity",
    "Relationship Validity": "Data Diagnostic: Relationship Validity",
}


def picture_of(name: str, rows: Sequence[Row], *, table: str | None = None) -> Picture:
    """Return the plot of a property.

    Parameters
    ----------
    name
        Name of the property.
    rows
        Rows of its details that are about the table.
    table
        The table that was asked for, None for all.

    Raises
    ------
    VisualizationUnavailableError
        SDMetrics has no plot of this property, or none of a single table.
    """
    if name == "Constraint Validity":
        raise VisualizationUnavailableError(
            "There is no visualization of Constraint Validity. hint: `get_details` has the score of each constraint."
        )
    if name == "Data Structure" and table is not None:
        raise VisualizationUnavailableError(
            "There is no visualization of Data Structure for a single table. hint: leave the name of the table out."
        )
    title = f"{_TITLES.get(name, f'Data Quality: {name}')} (Average Score={round(mean_score(rows), 2)})"
    if name == "Column Pair Trends":
        return _pairs(title, rows)
    if name == "Intertable Trends":
        rows = [row for row in rows if isfinite(row["Score"])]
    return _bars(title, _labels(name, rows), rows)


def key_text(key: Any) -> str:
    """Return the columns of a key as text.

    Examples
    --------
    >>> key_text(["origin", "time_hour"])
    'origin, time_hour'
    """
    return ", ".join(map(str, key)) if isinstance(key, (list, tuple)) else str(key)


# ---------------------------------------------------------------- bars


def label_of(name: str, row: Row) -> str:
    """Return what a row of the details of a property is about: a column, a pair, a table, a relation, a constraint."""
    if name == "Intertable Trends":
        return f"{row['Parent Table']}.{row['Column 1']}, {row['Child Table']}.{row['Column 2']}"
    if "Column 1" in row:
        return f"{row['Column 1']}, {row['Column 2']}"
    if "Foreign Key" in row:
        return f"{row['Child Table']} ({key_text(row['Foreign Key'])}) → {row['Parent Table']}"
    return key_text(next((row[c] for c in ("Column", "Table", "Constraint") if c in row), ""))


def _labels(name: str, rows: Sequence[Row]) -> list[str]:
    labels = [label_of(name, row) for row in rows]
    if name != "Intertable Trends":
        return labels
    times = Counter(labels)
    return [
        f"{label} ({key_text(row['Foreign Key'])})" if times[label] > 1 else label
        for label, row in zip(labels, rows, strict=True)
    ]


def _bars(title: str, labels: Sequence[str], rows: Sequence[Row]) -> Picture:
    """Return the scores, lowest first, those that could not be computed last."""
    if not rows:
        return Empty(title, ())
    values = np.array([row["Score"] for row in rows], dtype=np.float64)
    order = np.argsort(values, kind="stable")[:MOST_BARS].tolist()
    notes = [f"The {MOST_BARS} lowest of {len(rows):,} scores are drawn."] if len(rows) > MOST_BARS else []
    lacking = int(np.isnan(values).sum())
    if lacking:
        notes.append(f"{lacking:,} of {len(rows):,} have no score: `get_details` says why.")
    return Scores(
        title,
        (),
        tuple(labels[i] for i in order),
        tuple(str(rows[i]["Metric"]) for i in order),
        values[order],
        notes=tuple(notes),
    )


# ---------------------------------------------------------------- pairs


def _pairs(title: str, rows: Sequence[Row]) -> Picture:
    scored = [row for row in rows if isfinite(row["Score"])]
    if not scored:
        return Empty(title, ())
    lowest = _lowest(scored)
    names = sorted(lowest, key=lowest.__getitem__)[:MOST_NAMES]
    chosen = {name for name in lowest if name in names}
    drawn = [row for row in scored if {row["Column 1"], row["Column 2"]} <= chosen]
    notes = [_NO_CELL]
    if len(lowest) > MOST_NAMES:
        notes.append(f"The {MOST_NAMES} of {len(lowest):,} columns with the lowest scores are drawn.")
    linear = [row for row in drawn if row["Metric"] == "CorrelationSimilarity"]
    correlations = tuple(
        _triangle(f"numerical correlation in the {side.lower()} data", linear, f"{side} Correlation")
        for side in ("Real", "Synthetic")
        if linear
    )
    similarity = _triangle("Similarity of the real and the synthetic data", drawn, "Score")
    return Matrix(title, (), similarity, correlations, notes=tuple(notes))


def _lowest(rows: Sequence[Row]) -> dict[Any, float]:
    """Return the lowest score of each column, in the order of the columns."""
    found: dict[Any, float] = {}
    for which in ("Column 1", "Column 2"):
        for row in rows:
            found[row[which]] = min(row["Score"], found.get(row[which], 1.0))
    return found


def _triangle(title: str, rows: Sequence[Row], field: str) -> Triangle:
    names = list(dict.fromkeys([row[which] for which in ("Column 1", "Column 2") for row in rows]))
    place = {name: i for i, name in enumerate(names)}
    values = np.full((len(names), len(names)), np.nan)
    for row in rows:
        ends = sorted((place[row["Column 1"]], place[row["Column 2"]]))
        values[ends[1], ends[0]] = row[field]
    return Triangle(title, tuple(map(str, names)), values)
