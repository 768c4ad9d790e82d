"""SDMetrics' efficacy of synthetic rows that are added to the real ones, by XGBoost (extra `xgboost`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.sdmetrics.base import SingleTableMetric
from divulge.sdmetrics.computed import computed_by, refused
from divulge.sdmetrics.single_table.boosted import (
    as_label,
    checked_tables,
    fitted,
    needed,
    prediction_counts,
    probabilities,
    seen_by_model,
)

__all__ = ["BinaryClassifierPrecisionEfficacy", "BinaryClassifierRecallEfficacy"]

_OF_AUGMENTATION = (
    "it is about real rows with synthetic ones added, and a fresh sample of the people added would be more real rows. "
    "hint: divulge.ml_efficacy(real, synthetic, holdout=holdout, targets=[...])."
)

Breakdown = dict[str, Any]


def precision_efficacy(
    real_training_data: Any,
    synthetic_data: Any,
    real_validation_data: Any,
    metadata: Any,
    table_name: str | None,
    prediction_column_name: str,
    minority_class_label: Any,
    classifier: str = "XGBoost",
    fixed_recall_value: float = 0.9,
) -> Breakdown:
    """Return the breakdown of BinaryClassifierPrecisionEfficacy."""
    tables = real_training_data, synthetic_data, real_validation_data
    call = {"prediction_column_name": prediction_column_name, "minority_class_label": minority_class_label}
    return _efficacy(tables, metadata, table_name, call, classifier, "recall", fixed_recall_value)


def recall_efficacy(
    real_training_data: Any,
    synthetic_data: Any,
    real_validation_data: Any,
    metadata: Any,
    table_name: str | None,
    prediction_column_name: str,
    minority_class_label: Any,
    classifier: str = "XGBoost",
    fixed_precision_value: float = 0.9,
) -> Breakdown:
    """Return the breakdown of BinaryClassifierRecallEfficacy."""
    tables = real_training_data, synthetic_data, real_validation_data
    call = {"prediction_column_name": prediction_column_name, "minority_class_label": minority_class_label}
    return _efficacy(tables, metadata, table_name, call, classifier, "precision", fixed_precision_value)


def _efficacy(
    tables: tuple[Any, Any, Any],
    metadata: Any,
    table_name: str | None,
    call: Mapping[str, Any],
    classifier: str,
    fixed: str,
    value: float,
) -> Breakdown:
    """Return the scores of a model of the real rows and of one that has the synthetic rows too.

    Parameters
    ----------
    tables, metadata, table_name, classifier
        As given.
    call
        The column to predict and its label.
    fixed, value
        "recall" or "precision": which is fixed by the choice of a threshold, and at what value.
    """
    if not isinstance(value, (int, float)) or not 0 < value < 1:
        raise TypeError(f"`fixed_{fixed}_value` must be a float in the range (0, 1).")
    target, label = call["prediction_column_name"], call["minority_class_label"]
    frames, entries = checked_tables(tables, metadata, table_name, target, label, classifier)
    _check_labels(frames[0][target].values, frames[1][target].values, target)
    real, synthetic, validation = seen_by_model(frames, entries, target)
    truths = [as_label(f[target].values, label) for f in frames]
    both = needed("pandas").concat([real, synthetic], ignore_index=True)
    baseline = _scores(real, truths[0], validation, truths[2], fixed, value)
    augmented = _scores(both, np.concatenate(truths[:2]), validation, truths[2], fixed, value)
    asked = "precision" if fixed == "recall" else "recall"
    gain = augmented[f"{asked}_score_validation"] - baseline[f"{asked}_score_validation"]
    return {
        "score": gain / 2 + 0.5,
        "real_data_baseline": baseline,
        "augmented_data": augmented,
        "parameters": {**call, "classifier": classifier, f"fixed_{fixed}_value": value},
    }


def _check_labels(real: NDArray[Any], synthetic: NDArray[Any], target: str) -> None:
    new = set(synthetic.tolist()) - set(real.tolist())
    if new:
        raise ValueError(
            f"The `{target}` column must have the same values in the real and synthetic data. {len(new)} values are "
            "present in the synthetic data and not the real data."
        )


def _scores(
    taught: Any, labels: NDArray[Any], validation: Any, truth: NDArray[Any], fixed: str, value: float
) -> dict[str, Any]:
    from sklearn.metrics import precision_score, recall_score

    scorers = {"precision": precision_score, "recall": recall_score}
    model = fitted(taught, labels)
    found = probabilities(model, taught)
    threshold = _threshold(labels, found, fixed, value)
    guesses = (probabilities(model, validation) >= threshold).astype(int)
    trained = scorers[fixed](labels, (found >= threshold).astype(int), zero_division=0)
    return {
        f"{fixed}_score_training": float(trained),
        "recall_score_validation": float(recall_score(truth, guesses, zero_division=0)),
        "precision_score_validation": float(precision_score(truth, guesses, zero_division=0)),
        "prediction_counts_validation": prediction_counts(truth, guesses),
    }


def _threshold(labels: NDArray[Any], found: NDArray[Any], fixed: str, value: float) -> float:
    """Return the threshold whose recall or precision is nearest above the value; 1 where there is none."""
    from sklearn.metrics import precision_recall_curve

    precision, recall, thresholds = precision_recall_curve(labels, found)
    curve = recall if fixed == "recall" else precision
    enough = np.flatnonzero(curve >= value)
    if not len(enough):
        return 1.0
    best = enough[np.argmin(curve[enough] - value)]
    return thresholds[best] if best < len(thresholds) else 1.0


@computed_by(precision_efficacy, sound=refused("BinaryClassifierPrecisionEfficacy", _OF_AUGMENTATION))
class BinaryClassifierPrecisionEfficacy(SingleTableMetric):
    """How much precision a model gains from synthetic rows: half the gain, plus 0.5.

    Parameters
    ----------
    real_training_data, synthetic_data, real_validation_data
        Frames; the models are tested on the last.
    metadata, table_name
        As SDMetrics takes them.
    prediction_column_name, minority_class_label
        The column to predict, and the label of it to find.
    classifier
        "XGBoost".
    fixed_recall_value
        Recall on the training rows at which the threshold is set.
    """

    name = "Binary Classifier Precision Efficacy"


@computed_by(recall_efficacy, sound=refused("BinaryClassifierRecallEfficacy", _OF_AUGMENTATION))
class BinaryClassifierRecallEfficacy(SingleTableMetric):
    """How much recall a model gains from synthetic rows: half the gain, plus 0.5.

    Parameters
    ----------
    real_training_data, synthetic_data, real_validation_data
        Frames; the models are tested on the last.
    metadata, table_name
        As SDMetrics takes them.
    prediction_column_name, minority_class_label
        The column to predict, and the label of it to find.
    classifier
        "XGBoost".
    fixed_precision_value
        Precision on the training rows at which the threshold is set.
    """

    name = "Binary Classifier Recall Efficacy"
