"""SDMetrics' detection of synthetic rows by a model of scikit-learn."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from divulge.measures.detection import detection_score
from divulge.sdmetrics.base import SingleTableMetric
from divulge.sdmetrics.columns import Frame, frame_of
from divulge.sdmetrics.computed import computed_by
from divulge.sdmetrics.errors import IncomputableMetricError
from divulge.sdmetrics.metadata import checked_pair, table_metadata
from divulge.sdmetrics.single_table.features import Features

__all__ = ["DetectionMetric", "LogisticDetection", "SVCDetection", "ScikitLearnClassifierDetectionMetric"]

_TYPES = ("numerical", "datetime", "categorical")


class DetectionMetric(SingleTableMetric):
    """Metrics that train a model to tell synthetic rows from real ones."""


class ScikitLearnClassifierDetectionMetric(DetectionMetric):
    """Detection by a model of scikit-learn."""


def _detection(classifier: Callable[[np.random.RandomState], Any]) -> Callable[..., dict[str, Any]]:
    def breakdown(
        real_data: Any, synthetic_data: Any, metadata: Any = None, table_name: str | None = None, *, seed: int = 0
    ) -> dict[str, Any]:
        chosen = table_metadata(metadata, table_name)
        real, synthetic = frame_of(real_data, "real_data"), frame_of(synthetic_data, "synthetic_data")
        real, synthetic, entries = checked_pair(real, synthetic, chosen)
        real, synthetic = (_compared(table, {**(chosen or {}), "columns": entries}) for table in (real, synthetic))
        features = Features(real)
        rows = features.of(real), features.of(synthetic)
        try:
            return {"score": detection_score(*rows, classifier, np.random.RandomState(seed))}
        except ValueError:
            raise IncomputableMetricError(
                "DetectionMetric: Unable to be fit. hint: it needs three rows of each table, and a numerical, datetime "
                "or categorical column that is no key and not personal."
            ) from None

    return breakdown


def _compared(table: Frame, metadata: Mapping[str, Any]) -> Frame:
    """Return the columns that the model sees; as released, none whose name is a part of the primary key's name."""
    primary = metadata.get("primary_key", "")
    alternate = [n for key in metadata.get("alternate_keys", []) for n in (key if isinstance(key, list) else [key])]

    def counts(name: Any) -> bool:
        entry = metadata["columns"][name] or {}
        if entry.get("sdtype") not in _TYPES or entry.get("pii") or name in alternate:
            return False
        inside = (isinstance(primary, str) and isinstance(name, str)) or isinstance(primary, (list, tuple))
        return not (inside and name in primary)

    return Frame({name: column for name, column in table.columns.items() if counts(name)}, table.n_rows)


def _logistic(state: np.random.RandomState) -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(solver="lbfgs", random_state=state)


def _svc(state: np.random.RandomState) -> Any:
    from sklearn.svm import SVC

    return SVC(probability=True, gamma="scale", random_state=state)


@computed_by(_detection(_logistic))
class LogisticDetection(ScikitLearnClassifierDetectionMetric):
    """How badly logistic regression tells synthetic rows from real ones: 1 less the mean of 2 AUC - 1 over three folds.

    A run with `seed` draws what SDMetrics draws after ``numpy.random.seed(seed)``. Ordinal and boolean columns, keys
    and personal columns are left out.

    Parameters
    ----------
    real_data, synthetic_data
        Frames with the same columns.
    metadata, table_name
        As SDMetrics takes them.
    seed
        Decides the folds.
    """

    name = "LogisticRegression Detection"


@computed_by(_detection(_svc))
class SVCDetection(ScikitLearnClassifierDetectionMetric):
    """As LogisticDetection, by a support vector machine."""

    name = "SVC Detection"
