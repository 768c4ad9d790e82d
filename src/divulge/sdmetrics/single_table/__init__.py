"""The paths under which SDMetrics has its metrics of one table."""

from __future__ import annotations

from divulge.sdmetrics import _public, paths
from divulge.sdmetrics.base import SingleTableMetric
from divulge.sdmetrics.single_table import detection, efficacy, multi_single_column
from divulge.sdmetrics.single_table.bayesian_network import BNLikelihood, BNLogLikelihood
from divulge.sdmetrics.single_table.data_augmentation import (
    BinaryClassifierPrecisionEfficacy,
    BinaryClassifierRecallEfficacy,
)
from divulge.sdmetrics.single_table.detection import *  # noqa: F403 # its names are listed there
from divulge.sdmetrics.single_table.efficacy import *  # noqa: F403 # its names are listed there
from divulge.sdmetrics.single_table.equalized_odds import EqualizedOddsImprovement
from divulge.sdmetrics.single_table.gaussian_mixture import GMLogLikelihood
from divulge.sdmetrics.single_table.multi_single_column import *  # noqa: F403 # its names are listed there
from divulge.sdmetrics.single_table.table_structure import TableStructure

_PRIVACY: list[str] = [name for name in _public.__all__ if name != "compute_metrics"]
globals().update({name: getattr(_public, name) for name in _PRIVACY})

__all__: list[str] = [
    "BNLikelihood",
    "BNLogLikelihood",
    "BinaryClassifierPrecisionEfficacy",
    "BinaryClassifierRecallEfficacy",
    "EqualizedOddsImprovement",
    "GMLogLikelihood",
    "TableStructure",
    *_PRIVACY,
    *detection.__all__,
    *efficacy.__all__,
    *multi_single_column.__all__,
]


def __getattr__(name: str) -> type[SingleTableMetric]:
    """Say what is not here; type checkers take it that all metrics are."""
    raise AttributeError(
        f"module {__name__!r} has no attribute {name!r}. hint: import what is not here from sdmetrics; the page "
        "'SDMetrics, and what differs' lists what is."
    )


paths.attach("single_table")
