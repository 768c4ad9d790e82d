"""Floor 5: SDMetrics' privacy metrics, same names, same calls, same scores; change one import.

``from sdmetrics.single_table import CategoricalCAP`` becomes
``from divulge.sdmetrics.single_table import CategoricalCAP`` (or ``from divulge.sdmetrics import ...``). Scores are
those of SDMetrics 0.32.0, its faults included; ``mode="sound"`` mends them, and ``compute_both`` shows the two beside
each other.

Examples
--------
>>> import pandas as pd
>>> real = pd.DataFrame({"age": ["20-29", "20-29", "30-39"], "vote": ["red", "blue", "red"]})
>>> synthetic = pd.DataFrame({"age": ["20-29", "20-29", "40-49"], "vote": ["red", "red", "blue"]})
>>> DisclosureProtection.compute_breakdown(real, synthetic, ["age"], ["vote"])
{'score': 1.0, 'cap_protection': 0.5, 'baseline_protection': 0.5}
"""

from __future__ import annotations

from divulge.sdmetrics import catalogue
from divulge.sdmetrics.attackers import CAPAttacker, GeneralizedCAPAttacker, PrivacyAttackerModel, ZeroCAPAttacker
from divulge.sdmetrics.base import SingleTableMetric, metric_classes
from divulge.sdmetrics.catalogue import CategoricalPrivacyMetric, NumericalPrivacyMetric
from divulge.sdmetrics.classifiers import (
    CategoricalKNNAttacker,
    CategoricalNBAttacker,
    CategoricalRFAttacker,
    CategoricalSVMAttacker,
)
from divulge.sdmetrics.compute import compute_metrics
from divulge.sdmetrics.errors import IncomputableMetricError
from divulge.sdmetrics.goal import Goal
from divulge.sdmetrics.guessing import CategoricalEnsembleAttacker
from divulge.sdmetrics.numerical import (
    InverseCDFCutoff,
    InverseCDFDistance,
    LossFunction,
    LRAttacker,
    MLPAttacker,
    NumericalRadiusNearestNeighborAttacker,
    SVRAttacker,
)

METRICS: dict[str, type[SingleTableMetric]] = metric_classes(catalogue.ROWS, __name__)
"""The metrics by name."""
globals().update(METRICS)

__all__: list[str] = [
    "METRICS",
    "CAPAttacker",
    "CategoricalEnsembleAttacker",
    "CategoricalKNNAttacker",
    "CategoricalNBAttacker",
    "CategoricalPrivacyMetric",
    "CategoricalRFAttacker",
    "CategoricalSVMAttacker",
    "GeneralizedCAPAttacker",
    "Goal",
    "IncomputableMetricError",
    "InverseCDFCutoff",
    "InverseCDFDistance",
    "LRAttacker",
    "LossFunction",
    "MLPAttacker",
    "NumericalPrivacyMetric",
    "NumericalRadiusNearestNeighborAttacker",
    "PrivacyAttackerModel",
    "SVRAttacker",
    "SingleTableMetric",
    "ZeroCAPAttacker",
    "compute_metrics",
]
__all__ += list(METRICS)

from divulge.sdmetrics import single_table  # noqa: E402, F401 # it reads the names above


def __getattr__(name: str) -> type[SingleTableMetric]:
    """Say what is not here; type checkers take it that all metrics are."""
    raise AttributeError(
        f"module {__name__!r} has no attribute {name!r}: it has SDMetrics' privacy metrics. hint: import what is not "
        "here from sdmetrics."
    )
