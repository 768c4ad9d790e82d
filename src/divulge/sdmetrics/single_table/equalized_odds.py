"""SDMetrics' comparison of how fair models are that learned from real and synthetic rows, by XGBoost (an extra)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.sdmetrics.base import SingleTableMetric
from divulge.sdmetrics.columns import Column, Frame
from divulge.sdmetrics.computed import computed_by, refused
from divulge.sdmetrics.single_table.boosted import as_label, checked_tables, fitted, prediction_counts, seen_by_model

__all__ = ["EqualizedOddsImprovement"]

_OF_A_MODEL = (
    "it is about the fairness of a model, and a fresh sample of the people has no target value. "
    "hint: divulge.subgroups compares each subgroup."
)

Breakdown = dict[str, Any]
_FEWEST = 5


def equalized_odds(
    real_training_data: Any,
    synthetic_data: Any,
    real_validation_data: Any,
    metadata: Any,
    table_name: str | None,
    prediction_column_name: str,
    positive_class_label: Any,
    sensitive_column_name: str,
    sensitive_column_value: Any,
    classifier: str = "XGBoost",
) -> Breakdown:
    """Return the breakdown of EqualizedOddsImprovement."""
    target, group = prediction_column_name, sensitive_column_name
    if not isinstance(group, str):
        raise TypeError("`sensitive_column_name` must be a string.")
    given = real_training_data, synthetic_data, real_validation_data
    frames, entries = checked_tables(given, metadata, table_name, target, positive_class_label, classifier)
    if any(set(f.names) != set(frames[0].names) for f in frames):
        raise ValueError("real_validation_data must have the same columns as synthetic_data and real_training_data")
    if group not in frames[0].columns or group not in entries:
        raise ValueError(f"`sensitive_column_name` names {group!r}, which is no column of the tables and the metadata.")
    groups = [_members(f[group], sensitive_column_value) for f in frames]
    if not all(g.any() for g in groups):
        raise ValueError(f"The given value of the column {group!r} does not occur in each table.")
    frames = tuple(_with_group(f, group, g) for f, g in zip(frames, groups, strict=True))  # type: ignore[assignment] # three
    entries = {**entries, group: {"sdtype": "numerical"}}
    seen = seen_by_model(frames, entries, target)
    truths = [as_label(f[target].values, positive_class_label) for f in frames]
    parts = []
    for i in range(2):
        _check_sizes(truths[i], groups[i])
        guesses = np.asarray(fitted(seen[i], truths[i]).predict(seen[2]))
        parts.append(_odds(truths[2], guesses, groups[2], sensitive_column_value))
    score = (parts[1]["equalized_odds"] - parts[0]["equalized_odds"]) / 2 + 0.5
    return {"score": score, "real_training_data": parts[0], "synthetic_data": parts[1]}


def _members(column: Column, value: Any) -> NDArray[np.int64]:
    """Return 1 for the rows of the sensitive group, which may be those without a value."""
    if value is None or value != value:
        return column.missing.astype(np.int64)
    return as_label(column.values, value)


def _with_group(frame: Frame, name: str, members: NDArray[np.int64]) -> Frame:
    return frame.with_column(name, Column("i", members))


def _check_sizes(truth: NDArray[Any], members: NDArray[Any]) -> None:
    for member, title in ((1, "sensitive"), (0, "non-sensitive")):
        part = truth[members == member]
        if not len(part):
            raise ValueError(f"No data found for {title} group.")
        positive = int(part.sum())
        if min(positive, len(part) - positive) < _FEWEST:
            raise ValueError(
                f"Insufficient data for {title} group: {positive} positive, {len(part) - positive} negative examples "
                "(need ≥5 each)."
            )


def _odds(truth: NDArray[Any], guesses: NDArray[Any], members: NDArray[Any], value: Any) -> Breakdown:
    counts = {member: prediction_counts(truth[members == member], guesses[members == member]) for member in (1, 0)}
    rates = [
        [_rate(c["true_positive"], c["false_negative"]), _rate(c["false_positive"], c["true_negative"])]
        for c in counts.values()
    ]
    fair = min(1 - abs(a - b) for a, b in zip(*rates, strict=True))
    named = {f"{value}={bool(member)}": c for member, c in counts.items()}
    return {"equalized_odds": fair, "prediction_counts_validation": named}


def _rate(hits: int, misses: int) -> float:
    return hits / max(1, hits + misses)


@computed_by(equalized_odds, sound=refused("EqualizedOddsImprovement", _OF_A_MODEL))
class EqualizedOddsImprovement(SingleTableMetric):
    """How much fairer a model is that learned from synthetic rows: half the gain in equalized odds, plus 0.5.

    Parameters
    ----------
    real_training_data, synthetic_data, real_validation_data
        Frames; the models are tested on the last.
    metadata, table_name
        As SDMetrics takes them.
    prediction_column_name, positive_class_label
        The column to predict, and the label of it to find.
    sensitive_column_name, sensitive_column_value
        The group whose true and false positive rates are compared with those of everybody else.
    classifier
        "XGBoost".
    """

    name = "EqualizedOddsImprovement"
