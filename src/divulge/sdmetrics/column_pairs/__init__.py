"""The metrics of two columns, under the paths that they have in SDMetrics."""

from divulge.sdmetrics import paths
from divulge.sdmetrics.base import ColumnPairsMetric
from divulge.sdmetrics.column_pairs.statistical import (
    CardinalityBoundaryAdherence,
    ContingencySimilarity,
    ContinuousKLDivergence,
    CorrelationSimilarity,
    DiscreteKLDivergence,
    ReferentialIntegrity,
)
from divulge.sdmetrics.sequences import InterRowMSAS, StatisticMSAS

__all__ = [
    "CardinalityBoundaryAdherence",
    "ColumnPairsMetric",
    "ContingencySimilarity",
    "ContinuousKLDivergence",
    "CorrelationSimilarity",
    "DiscreteKLDivergence",
    "InterRowMSAS",
    "ReferentialIntegrity",
    "StatisticMSAS",
]

paths.attach("column_pairs")
