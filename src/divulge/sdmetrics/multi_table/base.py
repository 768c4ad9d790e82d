"""The path under which SDMetrics has the class above its metrics of several tables."""

from divulge.sdmetrics.base import MultiTableMetric

__all__ = ["MultiTableMetric"]
