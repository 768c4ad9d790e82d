"""The metrics of one column, under the paths that they have in SDMetrics."""

from divulge.sdmetrics import paths
from divulge.sdmetrics.base import SingleColumnMetric
from divulge.sdmetrics.sequences import SequenceLengthSimilarity
from divulge.sdmetrics.single_column.own import OutlierCoverage, SmoothnessSimilarity
from divulge.sdmetrics.single_column.statistical import (
    BoundaryAdherence,
    CategoryAdherence,
    CategoryCoverage,
    CSTest,
    DatetimeFormatAdherence,
    KeyUniqueness,
    KSComplement,
    MissingValueSimilarity,
    RangeCoverage,
    RegexFormatAdherence,
    StatisticSimilarity,
    TVComplement,
)

__all__ = [
    "BoundaryAdherence",
    "CSTest",
    "CategoryAdherence",
    "CategoryCoverage",
    "DatetimeFormatAdherence",
    "KSComplement",
    "KeyUniqueness",
    "MissingValueSimilarity",
    "OutlierCoverage",
    "RangeCoverage",
    "RegexFormatAdherence",
    "SequenceLengthSimilarity",
    "SingleColumnMetric",
    "SmoothnessSimilarity",
    "StatisticSimilarity",
    "TVComplement",
]

paths.attach("single_column")
