"""What the metrics by XGBoost share: checks of the call, the tables as the model sees them, and the model itself."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.core.errors import SettingError
from divulge.sdmetrics.columns import Frame, frame_of
from divulge.sdmetrics.metadata import as_datetimes, columns_of, table_metadata

__all__ = [
    "Tables",
    "as_label",
    "checked_tables",
    "fitted",
    "needed",
    "prediction_counts",
    "probabilities",
    "seen_by_model",
]

Tables = tuple[Frame, Frame, Frame]
"""The real training table, the synthetic one and the real validation table."""
_ROLES = ("real_training_data", "synthetic_data", "real_validation_data")
_MODELABLE = ("numerical", "datetime", "categorical", "boolean", "ordinal")


def checked_tables(
    tables: tuple[Any, Any, Any], metadata: Any, table_name: str | None, target: Any, label: Any, classifier: Any
) -> tuple[Tables, dict[Any, Any]]:
    """Return the tables with dates parsed, and the entries of the columns.

    Raises
    ------
    TypeError, ValueError
        As SDMetrics raises them, without values of the tables.
    """
    chosen = table_metadata(metadata, table_name)
    if not isinstance(target, str):
        raise TypeError("`prediction_column_name` must be a string.")
    if classifier is not None and not isinstance(classifier, str):
        raise TypeError("`classifier` must be a string or None.")
    if classifier != "XGBoost":
        raise ValueError("Currently only `XGBoost` is supported as classifier.")
    entries = columns_of(chosen or {})
    if target not in entries:
        raise ValueError(f"The column `{target}` is not described in the metadata. Please update your metadata.")
    if entries[target].get("sdtype") not in ("categorical", "boolean"):
        raise ValueError(f"The column `{target}` must be either categorical or boolean. Please update your metadata.")
    frames = [_parsed(frame_of(data, role), entries) for data, role in zip(tables, _ROLES, strict=True)]
    for frame, role in ((frames[0], _ROLES[0]), (frames[2], _ROLES[2])):
        if target not in frame.columns or not as_label(frame[target].values, label).any():
            raise ValueError(f"`{role}`: the given label does not occur in the column `{target}`.")
    return (frames[0], frames[1], frames[2]), entries


def _parsed(frame: Frame, entries: Mapping[Any, Any]) -> Frame:
    for name, entry in entries.items():
        if name in frame.columns and entry.get("sdtype") == "datetime":
            frame = frame.with_column(name, as_datetimes(name, frame[name], entry))
    return frame


def as_label(values: NDArray[Any], label: Any) -> NDArray[np.int64]:
    """Return 1 where a value is the label, else 0, shape (n_rows,)."""
    return np.fromiter((v == label for v in values.tolist()), dtype=np.int64, count=len(values))


def seen_by_model(frames: tuple[Frame, ...], entries: Mapping[Any, Any], target: str) -> list[Any]:
    """Return the tables as pandas frames in the order of the metadata, without the target.

    Categories and truth values have pandas' category dtype, with the same categories in each table; dates are whole
    numbers.

    Parameters
    ----------
    frames, entries
        The tables, and the entries of their columns.
    target
        Name of the column to predict.
    """
    pandas = needed("pandas")
    names = [n for n, e in entries.items() if e.get("sdtype") in _MODELABLE and n != target and n in frames[0].columns]
    out = [pandas.DataFrame(index=range(len(f))) for f in frames]
    for name in names:
        sdtype = entries[name]["sdtype"]
        columns = [f[name].values for f in frames]
        if sdtype == "datetime":
            columns = [c.view(np.int64) for c in columns]
        elif sdtype in ("categorical", "boolean"):
            if sdtype == "boolean":
                columns = [np.array(list(map(str, c.tolist())), dtype=object) for c in columns]
            columns = _categories(pandas, columns)
        for frame, values in zip(out, columns, strict=True):
            frame[name] = values
    return out


def _categories(pandas: Any, columns: list[NDArray[Any]]) -> list[Any]:
    objects = [pandas.Series(c.astype(object), dtype=object) for c in columns]
    levels = pandas.Categorical(pandas.concat(objects, ignore_index=True)).categories
    return [pandas.Categorical(c, categories=levels) for c in objects]


def fitted(features: Any, labels: NDArray[np.int64]) -> Any:
    """Return a model of XGBoost with its default settings; it draws nothing.

    Raises
    ------
    SettingError
        XGBoost is not installed.
    """
    classifier = needed("xgboost").XGBClassifier(enable_categorical=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return classifier.fit(features, labels)


def probabilities(model: Any, features: Any) -> NDArray[np.float64]:
    """Return the probability of label 1 for each row, in the precision of the model."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.asarray(model.predict_proba(features)[:, 1])


def needed(package: str) -> Any:
    """Return a package of the extra, or say how to install it."""
    from importlib import import_module

    try:
        return import_module(package)
    except ModuleNotFoundError:
        raise SettingError(
            f"this metric of SDMetrics needs {package}, which is not installed. hint: pip install 'divulge[xgboost]'."
        ) from None


def prediction_counts(truth: NDArray[Any], guesses: NDArray[Any]) -> dict[str, int]:
    """Return how many rows are true and false positives and negatives, by SDMetrics' names."""
    return {
        "true_positive": int(((truth == 1) & (guesses == 1)).sum()),
        "false_positive": int(((truth == 0) & (guesses == 1)).sum()),
        "true_negative": int(((truth == 0) & (guesses == 0)).sum()),
        "false_negative": int(((truth == 1) & (guesses == 0)).sum()),
    }
