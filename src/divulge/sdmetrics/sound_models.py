"""`mode="sound"` of metrics that fit models: detection, efficacy and likelihood, by the measures of divulge."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from divulge.measures.detection import detection
from divulge.measures.holdout_likelihood import holdout_likelihood
from divulge.measures.ml_efficacy import ml_efficacy
from divulge.measures.result import FidelityResult
from divulge.sdmetrics.sound import measured_tables

__all__ = ["detection_sound", "efficacy_sound", "likelihood_sound"]

Breakdown = dict[str, Any]


def detection_sound(
    model: str, real_data: Any, synthetic_data: Any, metadata: Any = None, table_name: str | None = None,
    real_validation_data: Any = None,
) -> Breakdown:  # fmt: skip
    """Return the sound counterpart of detection: 1 less |2 AUC - 1|, with a p-value by permuted labels.

    Parameters
    ----------
    model
        "logistic regression" or another variant of `divulge.detection`; anything else takes the gradient boosting.
    real_data, synthetic_data, metadata, table_name, real_validation_data
        As for the metric; the score of the holdout stands beside.
    """
    out = _detected(model, {"real_data": real_data, "synthetic_data": synthetic_data}, metadata, table_name)
    if real_validation_data is not None:
        roles = {"real_data": real_data, "real_validation_data": real_validation_data}
        beside = _detected(model, roles, metadata, table_name)
        out["holdout"] = {name: beside[name] for name in ("score", "auc", "p_value", "verdict")}
    return out


def _detected(model: str, roles: dict[str, Any], metadata: Any, table_name: str | None) -> Breakdown:
    case, columns = measured_tables(roles, metadata, table_name)
    results = detection.run(case, columns=columns)
    found: FidelityResult = next((r for r in results if r.variant == model), results[0])
    told = found.value
    return {
        "score": float("nan") if told is None else 1 - abs(2 * told - 1),
        "low": None if found.high is None else max(0.0, 1 - found.high),
        "high": None if found.low is None else 1 - found.low,
        "auc": told,
        "auc_low": found.context.get("auc_low"),
        "auc_high": found.context.get("auc_high"),
        "p_value": found.p_value,
        "p_low_tail": found.p_low_tail,
        "verdict": found.verdict,
        "notes": list(found.notes),
    }


def efficacy_sound(
    test_data: Any,
    train_data: Any,
    metadata: Any = None,
    table_name: str | None = None,
    target: Hashable = None,
    *,
    real_validation_data: Any = None,
) -> Breakdown:
    """Return the sound counterpart of efficacy: models of synthetic and of real rows, both tested on strangers.

    `test_data` are the real rows, `train_data` the synthetic ones. The score is the share of the real models' skill
    that the synthetic ones keep, at most 1.
    """
    _need_strangers("an efficacy metric", real_validation_data, "how well a model of real rows predicts strangers")
    target = _target(metadata, table_name, target)
    roles = {"real_data": test_data, "synthetic_data": train_data, "real_validation_data": real_validation_data}
    case, _ = measured_tables(roles, metadata, table_name)
    if str(target) not in case.columns:
        raise ValueError(f"`target` names {target!r}, which is no column of the tables.")
    return _of_gap(ml_efficacy.run(case, targets=[str(target)])[0])


def _target(metadata: Any, table_name: str | None, target: Any) -> Any:
    from divulge.sdmetrics.metadata import table_metadata

    found = (table_metadata(metadata, table_name) or {}).get("target", target)
    if found is None:
        raise TypeError("`target` must be passed either directly or inside `metadata`")
    return found


def likelihood_sound(
    real_data: Any,
    synthetic_data: Any,
    metadata: Any = None,
    table_name: str | None = None,
    *,
    real_validation_data: Any = None,
) -> Breakdown:
    """Return the sound counterpart of a likelihood: that of strangers under densities of real and of synthetic rows.

    The score is minus the mean loss of log-likelihood a stranger has under the synthetic density; 0 loses nothing.
    """
    _need_strangers("a likelihood", real_validation_data, "how likely strangers are under a density of the real rows")
    roles = {"real_data": real_data, "synthetic_data": synthetic_data, "real_validation_data": real_validation_data}
    case, columns = measured_tables(roles, metadata, table_name)
    found = _of_gap(holdout_likelihood.run(case, columns=columns)[0])
    return found | {"score": float("nan") if found["gap"] is None else -found["gap"]}


def _of_gap(found: FidelityResult) -> Breakdown:
    kept = found.context.get("kept")
    return {
        "score": float("nan") if not isinstance(kept, int | float) else min(1.0, float(kept)),
        "gap": found.context.get("gap", found.value),
        "low": found.low,
        "high": found.high,
        "p_value": found.p_value,
        "p_low_tail": found.p_low_tail,
        "verdict": found.verdict,
        "context": dict(found.context),
        "notes": list(found.notes),
    }


def _need_strangers(what: str, holdout: Any, why: str) -> None:
    if holdout is None:
        raise TypeError(
            f'mode="sound" of {what} needs `real_validation_data`, people whom the synthesizer never saw: without them '
            f"nobody knows {why}."
        )
