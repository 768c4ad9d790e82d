"""The metrics of pairs of columns, under the paths that they have in SDMetrics."""

from divulge.sdmetrics.base import ColumnPairsMetric

__all__ = ["ColumnPairsMetric"]
