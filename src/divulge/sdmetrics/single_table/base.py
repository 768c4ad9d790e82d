"""The path under which SDMetrics has the class above its metrics."""

from divulge.sdmetrics.base import SingleTableMetric

__all__ = ["SingleTableMetric"]
