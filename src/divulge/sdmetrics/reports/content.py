"""What a page and a terminal show of a report: scores and the rows that they are the means of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

from divulge.sdmetrics.reports.details import MEETS, Row
from divulge.sdmetrics.reports.tables import COMPARED, TableData

__all__ = ["ABOUT", "Content", "Shown", "of_table", "without_score"]

ABOUT = {
    "Column Shapes": "How alike the distributions of each column are. KSComplement is 1 - the largest difference of "
    "the distribution functions, TVComplement 1 - half the sum of the differences of the shares.",
    "Column Pair Trends": "How alike the dependence of each pair of columns is. Only pairs whose correlation or "
    "association in the real table exceeds a threshold count.",
    "Cardinality": "How alike the numbers of children of each parent row are.",
    "Intertable Trends": "How alike the dependence of a column of a parent table and a column of its child table is.",
    "Data Validity": "The share of synthetic values within the limits, categories and formats of the real table, or of "
    "the metadata; the share of keys that do not repeat.",
    "Data Structure": "The share of the columns of either table, with their types, that both tables have.",
    "Relationship Validity": "The share of foreign keys that lead to a parent, and of parents with a number of "
    "children that the real table has, too.",
    "Constraint Validity": "The share of synthetic rows that keep each constraint.",
}
"""What each property measures."""


_REASONS = {"id": "identifier", "text": "free text"}


@dataclass(frozen=True, slots=True)
class Shown:
    """One property: its score, and the rows of its details."""

    name: str
    score: float
    columns: tuple[str, ...]
    rows: Sequence[Row]

    def ranked(self) -> list[Row]:
        """Return the rows that count or have an error, lowest score first, those without a score before them."""
        told = [r for r in self.rows if r.get("Error") is not None or isfinite(r["Score"])]
        return sorted(told, key=lambda r: r["Score"] if isfinite(r["Score"]) else -1.0)

    @property
    def n_errors(self) -> int:
        """Number of rows whose score could not be computed."""
        return sum(r.get("Error") is not None for r in self.rows)

    @property
    def n_below(self) -> int:
        """Number of pairs that do not count, as they do not exceed the threshold."""
        return sum(r.get(MEETS, True) is False for r in self.rows)


@dataclass(frozen=True, slots=True)
class Content:
    """A report."""

    info: dict[str, Any]
    tables: Sequence[str]
    score: float
    properties: Sequence[Shown]
    thresholds: tuple[float, float]

    @property
    def is_quality(self) -> bool:
        """Whether it is a quality report."""
        return str(self.info["report_type"]).startswith("Quality")

    @property
    def title(self) -> str:
        """The name of the report in words."""
        return "Quality of the synthetic tables" if self.is_quality else "Diagnosis of the synthetic tables"

    def fresh(self, name: str = "") -> tuple[float, float, float] | None:
        """Return what a fresh sample scores in a property, and over all: mean, lower and upper limit."""
        found = self.info.get("fresh_sample", {}).get(name)
        return None if found is None else (float(found[0]), float(found[1]), float(found[2]))

    def fresh_in_words(self, name: str = "") -> str:
        """Return what a fresh sample scores, in words; "" where that is not known."""
        found = self.fresh(name)
        return "" if found is None else f"{found[0]:.4f} ({found[1]:.4f} to {found[2]:.4f})"

    def n_rows(self, side: str) -> int:
        """Return the number of rows of the "real" or the "synthetic" tables together."""
        found = self.info[f"num_rows_{side}_data"]
        return sum(found.values()) if isinstance(found, dict) else int(found)

    def without_score(self) -> list[tuple[str, list[str]]]:
        """Return the columns without a score, by the reason: names, with their table where there are several."""
        found: dict[str, list[str]] = {}
        for row in self.info.get("columns_without_score", []):
            name = row["Column"] if len(self.tables) == 1 else f"{row['Table']}: {row['Column']}"
            found.setdefault(row["Reason"], []).append(name)
        return list(found.items())

    def errors(self) -> list[tuple[str, int]]:
        """Return each kind of error with the number of scores that it prevented, the most frequent first."""
        found = Counter(str(r["Error"]) for p in self.properties for r in p.rows if r.get("Error") is not None)
        return found.most_common()


def without_score(tables: Mapping[str, TableData], rows: Sequence[Row]) -> list[dict[str, str]]:
    """Return the columns of which no row tells a score: their tables, their names and why.

    Parameters
    ----------
    tables
        All tables.
    rows
        Details of the property of single columns.
    """
    told = {(row["Table"], name) for row in rows for name in _names(row["Column"])}
    columns = [
        (name, table, column)
        for name, table in tables.items()
        for column in dict.fromkeys([*table.entries, *table.sides[0], *table.sides[1]])
    ]
    return [
        {"Table": name, "Column": str(column), "Reason": _reason(table, column)}
        for name, table, column in columns
        if (name, column) not in told
    ]


def _names(column: Any) -> list[Hashable]:
    return column if isinstance(column, list) else [column]  # a key of several columns


def _reason(table: TableData, column: Hashable) -> str:
    if column not in table.entries:
        return "not in the metadata"
    sdtype = str(table.entries[column].get("sdtype"))
    if sdtype in COMPARED:
        return "orders a sequence"
    return _REASONS.get(sdtype, f"sdtype {sdtype}, which has no metric")


def of_table(row: Row, table: str) -> bool:
    """Return whether a row is about a table, or about a relation of it."""
    return table in (row.get("Table"), row.get("Parent Table"), row.get("Child Table"))
