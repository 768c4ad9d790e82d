"""SDMetrics' detection of synthetic rows by a model of scikit-learn, or by one of the user's own."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.measures.detection import detection_score, scaled
from divulge.sdmetrics.base import SingleTableMetric
from divulge.sdmetrics.columns import Frame, frame_of
from divulge.sdmetrics.computed import in_sound_mode
from divulge.sdmetrics.errors import IncomputableMetricError
from divulge.sdmetrics.goal import Goal
from divulge.sdmetrics.metadata import checked_pair, table_metadata
from divulge.sdmetrics.single_table.features import Features
from divulge.sdmetrics.sound_models import detection_sound

__all__ = ["DetectionMetric", "LogisticDetection", "SVCDetection", "ScikitLearnClassifierDetectionMetric"]

Floats = NDArray[np.float64]
_TYPES = ("numerical", "datetime", "categorical")


class DetectionMetric(SingleTableMetric):
    """Metrics that train a model to tell synthetic rows from real ones.

    A class derived from this one has a method `_fit_predict`.
    """

    name = "SingleTable Detection"
    goal, min_value, max_value = Goal.MAXIMIZE, 0.0, 1.0

    @classmethod
    def _fit_predict(cls, X_train: Floats, y_train: Floats, X_test: Floats) -> Any:
        """Return a number for each test row, higher for rows that look real; labels are 1 for real rows."""
        raise NotImplementedError(f"{cls.__name__} has no model. hint: define _fit_predict(X_train, y_train, X_test).")

    @classmethod
    def compute(
        cls,
        real_data: Any,
        synthetic_data: Any,
        metadata: Any = None,
        table_name: str | None = None,
        *,
        seed: int = 0,
        mode: str = "compatible",
        real_validation_data: Any = None,
    ) -> float:
        """Return 1 less the mean over three folds of 2 AUC - 1, where an AUC below 0.5 counts as 0.5.

        Ordinal and boolean columns, keys and personal columns are left out.

        Parameters
        ----------
        real_data, synthetic_data
            Frames with the same columns.
        metadata, table_name
            As SDMetrics takes them.
        seed
            A run with `seed` draws what SDMetrics draws after ``numpy.random.seed(seed)``.
        mode
            "sound" is `divulge.detection`: 1 less |2 AUC - 1| of a model that is fitted to two thirds of the rows and
            judges the rest, with a p-value by permuted labels; by logistic regression where that is the model here,
            else by gradient boosting.
        real_validation_data
            In sound mode: people whom the synthesizer never saw, whose score stands beside it.
        """
        if in_sound_mode(cls.__name__, mode, real_validation_data):
            return float(cls._sound(real_data, synthetic_data, metadata, table_name, real_validation_data)["score"])
        chosen = table_metadata(metadata, table_name)
        real, synthetic = frame_of(real_data, "real_data"), frame_of(synthetic_data, "synthetic_data")
        real, synthetic, entries = checked_pair(real, synthetic, chosen)
        real, synthetic = (_compared(table, {**(chosen or {}), "columns": entries}) for table in (real, synthetic))
        features, state = Features(real, synthetic), np.random.RandomState(seed)
        rows = features.of(real), features.of(synthetic)
        predict: Callable[..., Any] = cls._fit_predict
        if "state" in inspect.signature(predict).parameters:
            predict = partial(predict, state=state)
        try:
            return detection_score(*rows, predict, state)
        except ValueError:
            raise IncomputableMetricError(
                "DetectionMetric: Unable to be fit. hint: it needs three rows of each table, and a numerical, datetime "
                "or categorical column that is no key and not personal."
            ) from None

    @classmethod
    def compute_breakdown(cls, *args: Any, mode: str = "compatible", **kwargs: Any) -> dict[str, Any]:
        """Return the score and, in sound mode, what it is made of; see `compute`."""
        if in_sound_mode(cls.__name__, mode, kwargs.get("real_validation_data")):
            kwargs.pop("seed", None)
            return cls._sound(*args, **kwargs)
        return {"score": cls.compute(*args, **kwargs)}

    @classmethod
    def compute_both(cls, *args: Any, real_validation_data: Any = None, **kwargs: Any) -> dict[str, Any]:
        """Return both breakdowns, as released and sound."""
        sound = cls.compute_breakdown(*args, **kwargs, mode="sound", real_validation_data=real_validation_data)
        return {"compatible": cls.compute_breakdown(*args, **kwargs), "sound": sound}

    @classmethod
    def _sound(
        cls, real_data: Any, synthetic_data: Any, metadata: Any = None, table_name: str | None = None,
        real_validation_data: Any = None,
    ) -> dict[str, Any]:  # fmt: skip
        model = "logistic regression" if cls.__name__.startswith("Logistic") else ""
        return detection_sound(model, real_data, synthetic_data, metadata, table_name, real_validation_data)


class ScikitLearnClassifierDetectionMetric(DetectionMetric):
    """Detection by a model of scikit-learn: a class derived from this one has a method `_get_classifier`."""

    @staticmethod
    def _get_classifier() -> Any:
        """Return a model with `predict_proba`."""
        raise NotImplementedError("There is no model. hint: define _get_classifier() as a static method.")

    @classmethod
    def _fit_predict(
        cls, X_train: Floats, y_train: Floats, X_test: Floats, state: np.random.RandomState | None = None
    ) -> Any:
        """Return the probability of being real, of a model behind steps that fill in means and scale."""
        return scaled(cls._get_classifier(), state).fit(X_train, y_train).predict_proba(X_test)[:, 1]


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


class LogisticDetection(ScikitLearnClassifierDetectionMetric):
    """How badly logistic regression tells synthetic rows from real ones; see `compute`."""

    name = "LogisticRegression Detection"

    @staticmethod
    def _get_classifier() -> Any:
        from sklearn.linear_model import LogisticRegression

        return LogisticRegression(solver="lbfgs")


class SVCDetection(ScikitLearnClassifierDetectionMetric):
    """As LogisticDetection, by a support vector machine."""

    name = "SVC Detection"

    @staticmethod
    def _get_classifier() -> Any:
        from sklearn.svm import SVC

        return SVC(probability=True, gamma="scale")
