"""Compute several metrics on the same tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from divulge.core.errors import SettingError
from divulge.sdmetrics.base import SingleTableMetric

__all__ = ["compute_metrics"]


def compute_metrics(
    metrics: Mapping[str, type[SingleTableMetric]],
    real_data: Any,
    synthetic_data: Any,
    metadata: Any = None,
    **kwargs: Any,
) -> Any:
    """Return the scores of several metrics; a metric that fails has a row with its error.

    Parameters
    ----------
    metrics
        Metrics by the names for the resulting table.
    real_data, synthetic_data, metadata, **kwargs
        Arguments of each metric's `compute`; `metadata` is passed on only if it is given.

    Returns
    -------
    pandas.DataFrame
        One row a metric: metric, name, raw_score, normalized_score, min_value, max_value, goal, error.

    Raises
    ------
    SettingError
        pandas is not installed.

    Examples
    --------
    >>> import pandas as pd
    >>> from divulge.sdmetrics import CategoricalNB
    >>> table = pd.DataFrame({"k": ["a", "b"], "t": ["x", "y"]})
    >>> found = compute_metrics({"guess": CategoricalNB}, table, table, key_fields=["k"], sensitive_fields=["t"])
    >>> found[["metric", "normalized_score", "goal"]].values.tolist()
    [['guess', 0.0, 'MAXIMIZE']]
    """
    try:
        import pandas as pd
    except ModuleNotFoundError as error:  # pragma: no cover # the tests have pandas
        raise SettingError("compute_metrics: gives a pandas frame. hint: pip install pandas.") from error
    if metadata is not None:
        kwargs["metadata"] = metadata
    return pd.DataFrame([_row(name, metric, real_data, synthetic_data, kwargs) for name, metric in metrics.items()])


def _row(
    name: str, metric: type[SingleTableMetric], real_data: Any, synthetic_data: Any, kwargs: dict[str, Any]
) -> dict[str, Any]:
    raw, normalized, problem = None, None, None
    try:
        raw = metric.compute(real_data, synthetic_data, **kwargs)
        normalized = metric.normalize(raw)
    except Exception as error:
        raw, problem = None, str(error)
    return {
        "metric": name,
        "name": metric.name,
        "raw_score": raw,
        "normalized_score": normalized,
        "min_value": metric.min_value,
        "max_value": metric.max_value,
        "goal": None if metric.goal is None else metric.goal.name,
        "error": problem,
    }
