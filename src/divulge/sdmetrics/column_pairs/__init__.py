"""The metrics of pairs of columns, under the paths that they have in SDMetrics."""

from divulge.sdmetrics.base import ColumnPairsMetric
from divulge.sdmetrics.sequences import InterRowMSAS, StatisticMSAS

__all__ = ["ColumnPairsMetric", "InterRowMSAS", "StatisticMSAS"]
