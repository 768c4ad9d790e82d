"""The metrics of several tables, under the paths that they have in SDMetrics."""

from divulge.sdmetrics.base import MultiTableMetric

__all__ = ["MultiTableMetric"]
