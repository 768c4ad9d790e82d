"""The metrics of sequences, under the paths that they have in SDMetrics."""

from divulge.sdmetrics.base import TimeSeriesMetric

__all__ = ["TimeSeriesMetric"]
