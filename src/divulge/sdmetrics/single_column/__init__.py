"""The metrics of one column, under the paths that they have in SDMetrics."""

from divulge.sdmetrics.base import SingleColumnMetric

__all__ = ["SingleColumnMetric"]
