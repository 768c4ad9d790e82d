"""Classifiers that predict a target from coded columns; scikit-learn is imported on first use."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from divulge.case.case import Case
from divulge.core.process_wide import one_thread, quiet

__all__ = ["predict_proba", "predict_target"]

_WHICH = {"real": 0, "synthetic": 1, "holdout": 2}


def predict_target(case: Case, keys: Sequence[str], target: str, *, fit_on: str, ask: str) -> NDArray[np.int32]:
    """Return the target code that a model trained on one table predicts for each row of another, shape (n_rows,)."""
    classes, share = predict_proba(case, keys, target, fit_on=fit_on, ask=ask)
    return np.asarray(classes[share.argmax(axis=1)], dtype=np.int32)


def predict_proba(
    case: Case, keys: Sequence[str], target: str, *, fit_on: str, ask: str
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Return the target codes that the model knows and its probability of each for each row asked.

    The model is histogram gradient boosting on the codes of the keys. Bins keep their order. A column of up to 254
    categories is categorical; beyond that its codes are used as numbers. Rows are sorted by their codes first, so that
    the order of rows does not matter.
    """
    from sklearn.ensemble import HistGradientBoostingClassifier

    names = sorted(keys)
    x = _matrix(case, names, fit_on)
    y = case.codes(target)[_WHICH[fit_on]]
    order = np.lexsort([y, *x.T])
    x, y = x[order], y[order]
    x[:, np.isnan(x).all(axis=0)] = 0  # a column that is missing throughout teaches nothing, and nan there is an error
    asked = _matrix(case, names, ask)
    if len(np.unique(y)) == 1:
        return y[:1], np.ones((len(asked), 1))
    model = HistGradientBoostingClassifier(
        max_iter=50,
        categorical_features=[
            case.schema[n].kind in ("categorical", "boolean") and case.n_codes(n) < 255 for n in names
        ],
        early_stopping=False,
        random_state=int(case.rng("model").integers(2**31)),
    )
    # with several threads the sums would depend on their number; of many classes scikit-learn warns
    with one_thread(), quiet():
        model.fit(x, y)
        return model.classes_.astype(np.int32), model.predict_proba(asked)


def _matrix(case: Case, names: Sequence[str], role: str) -> NDArray[np.float64]:
    columns = [case.codes(n)[_WHICH[role]].astype(float) for n in names]
    # code 0 is missing, which the model needs as nan
    return np.stack([np.where(c == 0, np.nan, c) for c in columns], axis=1)
