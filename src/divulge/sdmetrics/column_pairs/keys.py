"""The breakdowns of the metrics of a key and the key that refers to it: SDMetrics' arguments in, its dictionary out.

Each table's keys are a pair: the key of the parents and that of the children, as columns or frames.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.sdmetrics.columns import Column
from divulge.sdmetrics.single_column import formulas
from divulge.sdmetrics.single_column.comparisons import key_codes, key_columns

__all__ = ["all_children", "cardinality_boundary", "children_of", "found_keys", "referential_integrity"]

Breakdown = dict[str, Any]
Key = list[Column]


def _keys(data: Any, role: str) -> tuple[Key, Key]:
    if not isinstance(data, (tuple, list)) or len(data) != 2:
        raise ValueError(f"`{role}` must be a tuple of two: the key of the parents, and that of the children.")
    parent, child = key_columns(data[0], role), key_columns(data[1], role)
    if len(parent) != len(child):
        raise ValueError(
            f"`{role}`: the key of the parents has {len(parent)} columns, that of the children {len(child)}."
        )
    return parent, child


def referential_integrity(real_data: Any, synthetic_data: Any) -> Breakdown:
    """Return the breakdown of ReferentialIntegrity."""
    _, real_child = _keys(real_data, "real_data")
    parent, child = _keys(synthetic_data, "synthetic_data")
    for ours, theirs in zip(parent, child, strict=True):
        _check_comparable(ours, theirs)
    if len(child) == 1 and real_child[0].missing.any():
        child = [child[0].take(~child[0].missing)]
    parents, children = key_codes([parent, child])
    return {"score": formulas.share(int(np.isin(children, parents).sum()), len(children))}


def _check_comparable(parent: Column, child: Column) -> None:
    numbers = [c.values.dtype.kind in "biuf" or c.kind in "biuf" for c in (parent, child)]
    if numbers[0] != numbers[1] and len(parent) and len(child):
        raise ValueError(
            "ReferentialIntegrity: one key is numbers and the other is not, so no child has a parent. hint: give both "
            "columns one dtype."
        )


def cardinality_boundary(real_data: Any, synthetic_data: Any) -> Breakdown:
    """Return the breakdown of CardinalityBoundaryAdherence.

    As released, where there is no parent the children's own keys are the parents.
    """
    real, synthetic = (children_of(d, r) for d, r in ((real_data, "real_data"), (synthetic_data, "synthetic_data")))
    return {"score": formulas.cardinality_boundary_adherence(real, synthetic)}


def found_keys(data: Any, role: str) -> NDArray[np.bool_]:
    """Return which child rows have a key that a parent has, shape (n_children,); a missing key of one column has."""
    parent, child = _keys(data, role)
    for ours, theirs in zip(parent, child, strict=True):
        _check_comparable(ours, theirs)
    parents, children = key_codes([parent, child])
    lost = child[0].missing if len(child) == 1 else np.zeros(len(children), dtype=bool)
    return np.asarray(np.isin(children, parents) | lost)


def all_children(tables: Sequence[Any]) -> list[NDArray[np.int64]]:
    """Return `children_of` of several tables."""
    return [children_of(data, f"table {i}") for i, data in enumerate(tables, start=1)]


def children_of(data: Any, role: str) -> NDArray[np.int64]:
    """Return the number of children of each parent; without a parent, of each key of the children."""
    parent, child = _keys(data, role)
    parents, children = key_codes([parent, child])
    counts = np.bincount(children, minlength=int(parents.max(initial=-1)) + 1)
    return counts[parents] if len(parents) else counts[counts > 0]
