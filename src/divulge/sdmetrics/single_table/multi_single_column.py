"""SDMetrics' metrics of one column and of two, each applied to the columns or pairs of a table that suit it."""

from __future__ import annotations

from divulge.sdmetrics import column_pairs, single_column
from divulge.sdmetrics.base import SingleTableMetric
from divulge.sdmetrics.single_table.wrappers import MultiColumnPairsMetric, MultiSingleColumnMetric

__all__: list[str] = ["MultiColumnPairsMetric", "MultiSingleColumnMetric"]

_NUMBERS, _CATEGORIES = ("numerical", "datetime"), ("categorical", "boolean")
_OF_COLUMNS = {
    "BoundaryAdherence": _NUMBERS,
    "CategoryCoverage": _CATEGORIES,
    "CSTest": ("boolean", "categorical"),
    "KSComplement": _NUMBERS,
    "MissingValueSimilarity": _NUMBERS,
    "OutlierCoverage": _NUMBERS,
    "RangeCoverage": _NUMBERS,
    "SmoothnessSimilarity": _NUMBERS,
    "StatisticSimilarity": _NUMBERS,
    "TVComplement": _CATEGORIES,
}
"""Metrics of one column, and the sdtypes that each takes."""
_OF_PAIRS = {
    "ContingencySimilarity": ("boolean", "categorical"),
    "ContinuousKLDivergence": ("numerical",),
    "CorrelationSimilarity": ("numerical", "datetime"),
    "DiscreteKLDivergence": ("boolean", "categorical"),
}
"""Metrics of two columns, and the sdtypes that each takes."""


def _of_columns(name: str, field_types: tuple[str, ...]) -> type[SingleTableMetric]:
    doc = f"`single_column.{name}` of each column of sdtype {' or '.join(field_types)}."
    members = {"field_types": field_types, "single_column_metric": getattr(single_column, name)}
    return type(name, (MultiSingleColumnMetric,), {"__module__": __name__, "__doc__": doc, **members})


def _of_pairs(name: str, field_types: tuple[str, ...]) -> type[SingleTableMetric]:
    doc = f"`column_pairs.{name}` of each pair of columns of sdtype {' or '.join(field_types)}."
    members = {"field_types": field_types, "column_pairs_metric": getattr(column_pairs, name)}
    return type(name, (MultiColumnPairsMetric,), {"__module__": __name__, "__doc__": doc, **members})


_METRICS: dict[str, type[SingleTableMetric]] = {
    **{name: _of_columns(name, types) for name, types in _OF_COLUMNS.items()},
    **{name: _of_pairs(name, types) for name, types in _OF_PAIRS.items()},
}
globals().update(_METRICS)
__all__ += list(_METRICS)
