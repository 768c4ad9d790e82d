"""The properties of both reports: what each measures, the columns of its details, and how many steps it has."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.sdmetrics.column_pairs import keys
from divulge.sdmetrics.columns import Column, Frame
from divulge.sdmetrics.constraints.adherence import adherence
from divulge.sdmetrics.constraints.base import Tables
from divulge.sdmetrics.errors import IncomputableMetricError
from divulge.sdmetrics.multi_table.cardinality import check_types, n_children
from divulge.sdmetrics.reports.details import MEETS, Row, measured
from divulge.sdmetrics.reports.pairs import Thresholds, pair_rows
from divulge.sdmetrics.reports.tables import CONTINUOUS, DISCRETE, TableData
from divulge.sdmetrics.reports.validity import validity_rows
from divulge.sdmetrics.single_column import formulas
from divulge.sdmetrics.single_column.comparisons import key_codes
from divulge.sdmetrics.single_table.table_structure import structure_score

__all__ = ["DIAGNOSTIC", "QUALITY", "RELATIONAL", "Inputs", "Property", "key_names"]

RELATIONAL = ("Cardinality", "Intertable Trends", "Relationship Validity")


@dataclass(frozen=True, slots=True)
class Inputs:
    """What a report is computed from."""

    tables: Mapping[str, TableData]
    relations: Sequence[Mapping[str, Any]]
    same_tables: bool
    """Whether the real and the synthetic data have the same tables."""
    thresholds: Thresholds
    metadata: Mapping[str, Any]
    constraints: Sequence[Mapping[str, Any]] = ()
    counted: Sequence[tuple[Tables, Tables]] = ()
    """For each constraint the distinct rows of its columns in both tables, where an engine keeps the rows."""


@dataclass(frozen=True, slots=True)
class Property:
    """One property of a report."""

    name: str
    columns: tuple[str, ...]
    rows: Callable[[Inputs], list[Row]]
    n_steps: Callable[[Inputs], int]


def key_names(key: Any) -> list[Hashable]:
    """Return the columns of a key, which is one name or a list."""
    return list(key) if isinstance(key, (list, tuple)) else [key]


def _n_columns(inputs: Inputs) -> int:
    return sum(len(table.entries) for table in inputs.tables.values())


def _n_pairs(inputs: Inputs) -> int:
    return sum(len(t.entries) * (len(t.entries) - 1) // 2 for t in inputs.tables.values())


def _n_relations(inputs: Inputs) -> int:
    return len(inputs.relations)


def _n_table_pairs(inputs: Inputs) -> int:
    tables = inputs.tables
    return sum(len(tables[_parent(r)].entries) * len(tables[_child(r)].entries) for r in inputs.relations)


def _parent(relation: Mapping[str, Any]) -> str:
    return str(relation["parent_table_name"])


def _child(relation: Mapping[str, Any]) -> str:
    return str(relation["child_table_name"])


# --- within tables ----------------------------------------------------------------------------------------------------


def _shapes(inputs: Inputs) -> list[Row]:
    rows = []
    for table_name, table in inputs.tables.items():
        for name, entry in table.entries.items():
            sdtype = entry.get("sdtype")
            if sdtype in CONTINUOUS:
                metric, compute = "KSComplement", _ks
            elif sdtype in DISCRETE:
                metric, compute = "TVComplement", _tv
            else:
                continue
            row = {"Table": table_name, "Column": name, "Metric": metric}
            rows.append({**row, **measured(lambda c=compute, t=table, n=name: c(t, n))})  # type: ignore[misc]
    return rows


def _ks(table: TableData, name: Hashable) -> float:
    return table.ks(name)


def _tv(table: TableData, name: Hashable) -> float:
    real, synthetic = table.counts(name)
    if not real.sum() or not synthetic.sum():
        raise IncomputableMetricError("The TVComplement metric must have 1 or more non-null values.")
    return formulas.tv_complement(real, synthetic)


def _pair_trends(inputs: Inputs) -> list[Row]:
    return [
        {"Table": name, **row}
        for name, table in inputs.tables.items()
        for row in pair_rows(table, list(combinations(table.entries, 2)), inputs.thresholds)
    ]


def _validity(inputs: Inputs) -> list[Row]:
    return [{"Table": name, **row} for name, table in inputs.tables.items() for row in validity_rows(table)]


def _structure(inputs: Inputs) -> list[Row]:
    return [
        {"Table": name, "Metric": "TableStructure", **measured(lambda t=table: structure_score(*t.dtypes))}  # type: ignore[misc]
        for name, table in inputs.tables.items()
    ]


# --- between tables ---------------------------------------------------------------------------------------------------


def _key(table: TableData, side: int, key: Any) -> list[Column]:
    return [table.sides[side][name] for name in key_names(key)]


def _keys(inputs: Inputs, relation: Mapping[str, Any], side: int) -> tuple[list[Column], list[Column]]:
    parent, child = (inputs.tables[name] for name in (_parent(relation), _child(relation)))
    return _key(parent, side, relation["parent_primary_key"]), _key(child, side, relation["child_foreign_key"])


def _cardinality(inputs: Inputs) -> list[Row]:
    def score(relation: Mapping[str, Any]) -> float:
        if not inputs.same_tables:
            raise ValueError("`real_data` and `synthetic_data` must have the same tables.")
        return formulas.ks_complement(*(n_children(*_keys(inputs, relation, side)) for side in (0, 1)))

    return [
        {
            "Child Table": _child(relation),
            "Parent Table": _parent(relation),
            "Foreign Key": relation["child_foreign_key"],
            "Metric": "CardinalityShapeSimilarity",
            **measured(lambda r=relation: score(r)),  # type: ignore[misc]
        }
        for relation in inputs.relations
    ]


def _relationships(inputs: Inputs) -> list[Row]:
    metrics = {
        "ReferentialIntegrity": keys.referential_integrity,
        "CardinalityBoundaryAdherence": keys.cardinality_boundary,
    }
    rows = []
    for relation in inputs.relations:
        for name, metric in metrics.items():
            found = measured(
                lambda r=relation, m=metric: m(*(tuple(map(_whole, _keys(inputs, r, side))) for side in (0, 1)))[
                    "score"
                ]  # type: ignore[misc]
            )
            rows.append(
                {
                    "Parent Table": _parent(relation),
                    "Child Table": _child(relation),
                    "Primary Key": relation["parent_primary_key"],
                    "Foreign Key": relation["child_foreign_key"],
                    "Metric": name,
                    **found,
                }
            )
    return rows


def _whole(key: list[Column]) -> Any:
    return key[0] if len(key) == 1 else Frame({c.name: c for c in key}, len(key[0]))


def _table_pairs(inputs: Inputs) -> list[Row]:
    rows = []
    for relation in inputs.relations:
        joined, of_parent, of_child = _joined(inputs, relation)
        names = {
            "Parent Table": _parent(relation),
            "Child Table": _child(relation),
            "Foreign Key": str(relation["child_foreign_key"]),
        }
        pairs = list(product(of_parent, of_child))
        for row in pair_rows(joined, pairs, inputs.thresholds):
            own = {"Column 1": of_parent[row["Column 1"]], "Column 2": of_child[row["Column 2"]]}
            rows.append({**names, **row, **own})
    return rows


def _joined(
    inputs: Inputs, relation: Mapping[str, Any]
) -> tuple[TableData, dict[Hashable, Hashable], dict[Hashable, Hashable]]:
    """Return the rows of the inner join, and the names in it of the columns of the parent and of the child."""
    parent, child = inputs.tables[_parent(relation)], inputs.tables[_child(relation)]
    itself = parent is child
    of_parent: dict[Hashable, Hashable] = {
        f"{_parent(relation)}.{n}" + (" of the parent" if itself else ""): n for n in parent.entries
    }
    of_child: dict[Hashable, Hashable] = {f"{_child(relation)}.{n}": n for n in child.entries}
    sides = []
    for side in (0, 1):
        above, below = _join_rows(*_keys(inputs, relation, side))
        columns = {
            j: parent.sides[side][n].take(above).named(j) for j, n in of_parent.items() if n in parent.sides[side]
        }
        columns |= {j: child.sides[side][n].take(below).named(j) for j, n in of_child.items() if n in child.sides[side]}
        sides.append(columns)
    entries = {j: parent.entries[n] for j, n in of_parent.items()} | {j: child.entries[n] for j, n in of_child.items()}
    return TableData({"columns": entries}, sides[0], sides[1]), of_parent, of_child


def _join_rows(parent: list[Column], child: list[Column]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the rows of parent and child of each row of their inner join; a missing key equals a missing key."""
    for part_above, part_below in zip(parent, child, strict=True):
        check_types(part_above, part_below)
    above, below = key_codes([parent, child])
    order = np.argsort(above, kind="stable")
    n_keys = int(max(above.max(initial=-1), below.max(initial=-1))) + 1
    n_parents = np.bincount(above, minlength=n_keys)
    first = np.cumsum(n_parents) - n_parents
    times = n_parents[below]
    starts = np.repeat(np.cumsum(times) - times, times)
    rows = np.repeat(np.arange(len(below)), times)
    return order[first[below[rows]] + np.arange(len(rows)) - starts], rows


# --- constraints ------------------------------------------------------------------------------------------------------


def _constraints(inputs: Inputs) -> list[Row]:
    whole = [Tables({n: t.sides[side] for n, t in inputs.tables.items()}, inputs.metadata) for side in (0, 1)]
    sides = inputs.counted or [(whole[0], whole[1])] * len(inputs.constraints)
    return [
        {
            "Constraint": constraint.get("class_name"),
            "Metric": "ConstraintAdherence",
            "Parameters": constraint.get("parameters"),
            **measured(lambda c=constraint, s=own: adherence(c, *s)),  # type: ignore[misc]
        }
        for constraint, own in zip(inputs.constraints, sides, strict=True)
    ]


_PAIR = (
    "Column 1",
    "Column 2",
    "Metric",
    "Score",
    "Real Correlation",
    "Synthetic Correlation",
    "Real Association",
    MEETS,
)
QUALITY = (
    Property("Column Shapes", ("Table", "Column", "Metric", "Score"), _shapes, _n_columns),
    Property("Column Pair Trends", ("Table", *_PAIR), _pair_trends, _n_pairs),
    Property(
        "Cardinality", ("Child Table", "Parent Table", "Foreign Key", "Metric", "Score"), _cardinality, _n_relations
    ),
    Property("Intertable Trends", ("Parent Table", "Child Table", "Foreign Key", *_PAIR), _table_pairs, _n_table_pairs),
)
DIAGNOSTIC = (
    Property("Data Validity", ("Table", "Column", "Metric", "Score"), _validity, _n_columns),
    Property("Data Structure", ("Table", "Metric", "Score"), _structure, lambda inputs: len(inputs.tables)),
    Property(
        "Relationship Validity",
        ("Parent Table", "Child Table", "Primary Key", "Foreign Key", "Metric", "Score"),
        _relationships,
        _n_relations,
    ),
    Property(
        "Constraint Validity",
        ("Constraint", "Metric", "Parameters", "Score"),
        _constraints,
        lambda inputs: len(inputs.constraints),
    ),
)
