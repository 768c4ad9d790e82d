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
    real: Floats, synthetic: Floats, classifier: Callable[[np.random.RandomState], Any], state: np.random.RandomState
) -> float:
    """Return 1 less the mean over three folds of 2 * max(AUC, 0.5) - 1: 1 where the model cannot tell rows apart.

    As in SDMetrics, an AUC below 0.5 counts as 0.5 in each fold, so that a fresh sample of the people scores below 1.

    Parameters
    ----------
    real, synthetic
        Numbers, nan where one is missing, shapes (n, n_columns) and (m, n_columns).
    classifier
        Makes a model of scikit-learn with `predict_proba`, from the state that it draws from.
    state
        Decides the folds, and what the model draws.

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
        model = scaled(classifier(state))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = model.fit(rows[train], label[train]).predict_proba(rows[test])[:, 1]
        scores.append(max(0.5, roc_auc_score(label[test], found)) * 2 - 1)
    return float(1 - np.mean(scores))


def scaled(model: Any) -> Any:
    """Return the model behind a step that fills in means and one that scales by quartiles."""
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import RobustScaler

    return Pipeline([("imputer", SimpleImputer()), ("scaler", RobustScaler()), ("model", model)])
