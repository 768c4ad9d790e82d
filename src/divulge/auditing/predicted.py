"""How natural a secret is for a person: a forest that predicts it from the other columns, fitted on one table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["STRATA", "Odds", "log_odds", "out_of_bag", "strata_of"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

TREES = 100
_SAMPLE = 10_000  # rows in the sample of a tree at most: a limit on the time
_CLASSES = 60  # values that are told apart; rarer ones are one class: a limit on the memory
_FLOOR = 1e-3
STRATA = 5
_FEWEST = 20  # units of a stratum


@dataclass(frozen=True, slots=True, eq=False)
class Odds:
    """A prediction of the secret for each row."""

    weight: Floats
    """Shape (n_rows, n_classes): logarithm of the probability of each class; of numbers one column, the prediction."""
    classes: Floats | None
    """Shape (n_classes - 1,): values of the classes; the last class is all others. None for numbers."""

    def of(self, secret: Floats) -> Floats:
        """Return how natural these secrets are for the rows; only differences within a row mean anything."""
        if self.classes is None:
            return np.asarray(self.weight[:, 0] * secret)
        place = np.searchsorted(self.classes, secret)
        known = (place < len(self.classes)) & (self.classes[np.minimum(place, len(self.classes) - 1)] == secret)
        return np.asarray(self.weight[np.arange(len(secret)), np.where(known, place, len(self.classes))])


def out_of_bag(keys: Floats, secret: Floats, numeric: bool, seed: int) -> Odds:
    """Return the odds of people under a forest that is fitted on the same people; nobody's own trees vote."""
    model, y, classes = _forest(secret, numeric, len(keys), seed, 3, True)
    model.fit(keys, y)
    if classes is None:
        found = np.nan_to_num(model.oob_prediction_, nan=float(np.mean(secret)))
        return Odds(found[:, None], None)
    chance = np.nan_to_num(np.atleast_2d(model.oob_decision_function_))
    return Odds(_logs(chance, model.classes_, len(classes), 1e-2), classes)


def log_odds(known: Floats, secret: Floats, asked: Floats, numeric: bool, seed: int) -> Odds:
    """Return the odds of some rows under a forest that is fitted on others: the synthetic table."""
    model, y, classes = _forest(secret, numeric, len(known), seed, 1, False)
    model.fit(known, y)
    if classes is None:
        return Odds(model.predict(asked)[:, None], None)
    return Odds(_logs(model.predict_proba(asked), model.classes_, len(classes), _FLOOR), classes)


def strata_of(odds: Odds, units: Ints, strata: int = STRATA) -> Ints:
    """Return the stratum of each unit: fifths of the people by the prediction, fewer where people are few."""
    score = odds.weight[:, 0] if odds.classes is None else np.exp(odds.weight[:, int(odds.weight.sum(axis=0).argmax())])
    mean = np.bincount(units, weights=score) / np.bincount(units)
    n = len(mean)
    many = max(1, min(strata, n // _FEWEST))
    order = np.argsort(mean.round(9), kind="stable")
    out = np.empty(n, dtype=np.int64)
    out[order] = np.arange(n) * many // n
    return out


def _forest(
    secret: Floats, numeric: bool, n: int, seed: int, leaf: int, bagged: bool
) -> tuple[Any, Floats | Ints, Floats | None]:
    """Return an unfitted forest, what it is to predict, and the classes (None for numbers)."""
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    common = {
        "n_estimators": TREES, "min_samples_leaf": leaf, "random_state": seed, "n_jobs": 1, "oob_score": bagged,
        "max_samples": min(n, _SAMPLE) if n > 1 else None,
    }  # fmt: skip
    if numeric:
        return RandomForestRegressor(max_features=1 / 3, **common), secret, None
    values, which, times = np.unique(secret, return_inverse=True, return_counts=True)
    kept = np.sort(np.argsort(-times, kind="stable")[:_CLASSES])
    place = np.full(len(values), len(kept))
    place[kept] = np.arange(len(kept))
    return RandomForestClassifier(**common), place[which.ravel()], values[kept]


def _logs(chance: Floats, seen: Ints, n_classes: int, floor: float) -> Floats:
    out = np.full((len(chance), n_classes + 1), np.log(floor))
    out[:, seen] = np.log(chance + floor)
    return out
