"""All names of the package and of its paths."""

from __future__ import annotations

from divulge.sdmetrics.attackers import CAPAttacker, GeneralizedCAPAttacker, PrivacyAttackerModel, ZeroCAPAttacker
from divulge.sdmetrics.base import SingleTableMetric
from divulge.sdmetrics.catalogue import METRICS, CategoricalPrivacyMetric, NumericalPrivacyMetric
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
