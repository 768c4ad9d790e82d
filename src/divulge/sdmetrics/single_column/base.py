"""The path under which SDMetrics has the class above its metrics of one column."""

from divulge.sdmetrics.base import SingleColumnMetric

__all__ = ["SingleColumnMetric"]
