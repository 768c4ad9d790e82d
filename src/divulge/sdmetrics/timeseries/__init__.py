"""The metrics of sequences, under the paths that they have in SDMetrics."""

from divulge.sdmetrics import paths
from divulge.sdmetrics.base import TimeSeriesMetric
from divulge.sdmetrics.timeseries.lstm import (
    LSTMClassifierEfficacy,
    LSTMDetection,
    TimeSeriesClassificationEfficacyMetric,
    TimeSeriesDetectionMetric,
    TimeSeriesEfficacyMetric,
)

__all__ = [
    "LSTMClassifierEfficacy",
    "LSTMDetection",
    "TimeSeriesClassificationEfficacyMetric",
    "TimeSeriesDetectionMetric",
    "TimeSeriesEfficacyMetric",
    "TimeSeriesMetric",
]

paths.attach("timeseries")
