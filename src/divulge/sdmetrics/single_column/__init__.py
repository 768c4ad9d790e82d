"""The metrics of one column, under the paths that they have in SDMetrics."""

from divulge.sdmetrics.base import SingleColumnMetric
from divulge.sdmetrics.sequences import SequenceLengthSimilarity

__all__ = ["SequenceLengthSimilarity", "SingleColumnMetric"]
