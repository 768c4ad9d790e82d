"""The path under which SDMetrics has the class above its metrics of pairs of columns."""

from divulge.sdmetrics.base import ColumnPairsMetric

__all__ = ["ColumnPairsMetric"]
