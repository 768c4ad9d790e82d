"""The path under which SDMetrics has the class above its metrics of sequences."""

from divulge.sdmetrics.base import TimeSeriesMetric

__all__ = ["TimeSeriesMetric"]
