"""How well a model tells synthetic rows from real ones."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["detection_score", "scaled"]

Floats = NDArray[np.float64]
_FOLDS = 3


def detection_score(
    real: Floats, synthetic: Floats, predict: Callable[[Floats, Floats, Floats], Any], state: np.random.RandomState
) -> float:
    """Return 1 less the mean over three folds of 2 * max(AUC, 0.5) - 1: 1 where the model cannot tell rows apart.

    As in SDMetrics, an AUC below 0.5 counts as 0.5 in each fold, so that a fresh sample of the people scores below 1.

    Parameters
    ----------
    real, synthetic
        Numbers, nan where one is missing, shapes (n, n_columns) and (m, n_columns).
    predict
        Takes the rows to learn from, their labels (1 for a real row) and the rows to judge, and returns a number for
        each row to judge, higher for rows that look real.
    state
        Decides the folds.

    Raises
    ------
    ValueError
        The model cannot be fitted.
    """
    from sklearn.metrics import roc_auc_score
    from sklearn.model_selection import StratifiedKFold

    rows = np.concatenate([real, synthetic])
    rows[np.isinf(rows)] = np.nan
    label = np.repeat([1.0, 0.0], [len(real), len(synthetic)])
    scores = []
    for train, test in StratifiedKFold(_FOLDS, shuffle=True, random_state=state).split(rows, label):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = predict(rows[train], label[train], rows[test])
        scores.append(max(0.5, roc_auc_score(label[test], found)) * 2 - 1)
    return float(1 - np.mean(scores))


def scaled(model: Any, state: np.random.RandomState | None = None) -> Any:
    """Return the model behind a step that fills in means and one that scales by quartiles.

    Parameters
    ----------
    model
        A model of scikit-learn.
    state
        What the model draws from, if it draws and has no seed of its own.
    """
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import RobustScaler

    if state is not None and model.get_params().get("random_state", 0) is None:
        model.set_params(random_state=state)
    return Pipeline([("imputer", SimpleImputer()), ("scaler", RobustScaler()), ("model", model)])
