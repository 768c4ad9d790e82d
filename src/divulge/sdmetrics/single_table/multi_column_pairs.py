"""SDMetrics' metrics of two columns, each applied to the pairs of columns of a table that suit it."""

from __future__ import annotations

from divulge.sdmetrics import column_pairs
from divulge.sdmetrics.single_table.wrappers import MultiColumnPairsMetric

__all__ = [
    "ContingencySimilarity",
    "ContinuousKLDivergence",
    "CorrelationSimilarity",
    "DiscreteKLDivergence",
    "MultiColumnPairsMetric",
]


class ContingencySimilarity(MultiColumnPairsMetric):
    """`column_pairs.ContingencySimilarity` of each pair of categorical and boolean columns."""

    field_types = ("boolean", "categorical")
    column_pairs_metric = column_pairs.ContingencySimilarity


class ContinuousKLDivergence(MultiColumnPairsMetric):
    """`column_pairs.ContinuousKLDivergence` of each pair of numerical columns."""

    field_types = ("numerical",)
    column_pairs_metric = column_pairs.ContinuousKLDivergence


class CorrelationSimilarity(MultiColumnPairsMetric):
    """`column_pairs.CorrelationSimilarity` of each pair of numerical and datetime columns."""

    field_types = ("numerical", "datetime")
    column_pairs_metric = column_pairs.CorrelationSimilarity


class DiscreteKLDivergence(MultiColumnPairsMetric):
    """`column_pairs.DiscreteKLDivergence` of each pair of categorical and boolean columns."""

    field_types = ("boolean", "categorical")
    column_pairs_metric = column_pairs.DiscreteKLDivergence
