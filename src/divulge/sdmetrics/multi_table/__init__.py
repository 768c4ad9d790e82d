"""The metrics of several tables, under the paths that they have in SDMetrics."""

from __future__ import annotations

from divulge.sdmetrics import paths
from divulge.sdmetrics.base import MultiTableMetric
from divulge.sdmetrics.multi_table import detection, multi_single_table
from divulge.sdmetrics.multi_table.cardinality import CardinalityShapeSimilarity, CardinalityStatisticSimilarity
from divulge.sdmetrics.multi_table.constraint_adherence import ConstraintAdherence
from divulge.sdmetrics.multi_table.detection import DetectionMetric, ParentChildDetectionMetric
from divulge.sdmetrics.multi_table.multi_single_table import MultiSingleTableMetric

globals().update({**multi_single_table.METRICS, **detection.METRICS})

__all__: list[str] = [
    "CardinalityShapeSimilarity",
    "CardinalityStatisticSimilarity",
    "ConstraintAdherence",
    "DetectionMetric",
    "MultiSingleTableMetric",
    "MultiTableMetric",
    "ParentChildDetectionMetric",
]
__all__ += [*multi_single_table.METRICS, *detection.METRICS]


def __getattr__(name: str) -> type[MultiTableMetric]:
    """Say what is not here; type checkers take it that all metrics are."""
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}. hint: it has {', '.join(__all__)}.")


paths.attach("multi_table")
