"""SDMetrics' efficacy: how well a model predicts a column of the test table that learned it from the other table.

As released, the test table comes first. A run with `seed` draws what SDMetrics draws after ``numpy.random.seed(seed)``.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.measures.detection import scaled
from divulge.sdmetrics.base import SingleTableMetric
from divulge.sdmetrics.columns import Column, Frame, frame_of
from divulge.sdmetrics.computed import computed_by
from divulge.sdmetrics.inputs import known
from divulge.sdmetrics.metadata import checked_pair, table_metadata
from divulge.sdmetrics.single_table.features import Features

__all__ = [
    "BinaryAdaBoostClassifier",
    "BinaryDecisionTreeClassifier",
    "BinaryEfficacyMetric",
    "BinaryLogisticRegression",
    "BinaryMLPClassifier",
    "LinearRegression",
    "MLEfficacy",
    "MLEfficacyMetric",
    "MLPRegressor",
    "MulticlassDecisionTreeClassifier",
    "MulticlassEfficacyMetric",
    "MulticlassMLPClassifier",
    "RegressionEfficacyMetric",
]

Breakdown = dict[str, Any]
Model = Callable[[np.random.RandomState], Any]
Tables = tuple[Frame, Frame, Mapping[Any, Any], Any]


class MLEfficacyMetric(SingleTableMetric):
    """Metrics that train a model on one table and test it on the other."""


class BinaryEfficacyMetric(MLEfficacyMetric):
    """F1 of a target of two values; of text, the first label of the test table is the one to find."""


class MulticlassEfficacyMetric(MLEfficacyMetric):
    """Mean F1 over the labels of the target."""


class RegressionEfficacyMetric(MLEfficacyMetric):
    """R squared of a target of numbers."""


def _tables(test_data: Any, train_data: Any, metadata: Any, table_name: str | None, target: Any) -> Tables:
    chosen = table_metadata(metadata, table_name)
    test, train = frame_of(test_data, "test_data"), frame_of(train_data, "train_data")
    test, train, entries = checked_pair(test, train, chosen)
    target = (chosen or {}).get("target", target)
    if target is None:
        raise TypeError("`target` must be passed either directly or inside `metadata`")
    if target not in test.columns:
        raise ValueError(f"`target` names {target!r}, which is no column of the tables.")
    return test, train, entries, target


def _efficacy(model: Model, kind: str) -> Callable[..., Breakdown]:
    def breakdown(
        test_data: Any,
        train_data: Any,
        metadata: Any = None,
        table_name: str | None = None,
        target: Any = None,
        scorer: Any = None,
        *,
        seed: int = 0,
    ) -> Breakdown:
        test, train, _, name = _tables(test_data, train_data, metadata, table_name, target)
        return {"score": _score(model, kind, test, train, name, scorer, np.random.RandomState(seed))}

    return breakdown


def _score(
    model: Model, kind: str, test: Frame, train: Frame, target: Any, scorer: Any, state: np.random.RandomState
) -> Any:
    truth, taught = _labels(test[target], train[target], kind)
    rest = [Frame({n: c for n, c in t.columns.items() if n != target}, t.n_rows) for t in (test, train)]
    guesses = _guesses(model, rest[0], rest[1], taught, state)
    scorers = scorer or _SCORERS[kind]
    if isinstance(scorers, (list, tuple)):
        return tuple(s(truth, guesses) for s in scorers)
    return scorers(truth, guesses)


def _labels(test: Column, train: Column, kind: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the targets of both tables; text of a binary target becomes whether it is the first label."""
    if kind != "binary" or test.kind != "O":
        return test.values, train.values
    first = test.values[0] if len(test) else None
    return test.values == first, train.values == first


def _guesses(
    model: Model, test: Frame, train: Frame, taught: NDArray[Any], state: np.random.RandomState
) -> NDArray[Any]:
    labels = set(taught.tolist())
    if len(labels) == 1:
        return np.full(len(test), labels.pop())
    features = Features(train)
    rows = [features.of(t) for t in (train, test)]
    for r in rows:
        r[np.isinf(r)] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pipeline = scaled(model(state)).fit(rows[0], taught.tolist() if taught.dtype == object else taught)
        return np.asarray(pipeline.predict(rows[1]))


def _f1(truth: Any, guesses: Any) -> float:
    from sklearn.metrics import f1_score

    return float(f1_score(truth, guesses))


def _f1_macro(truth: Any, guesses: Any) -> float:
    from sklearn.metrics import f1_score

    return float(f1_score(truth, guesses, average="macro"))


def _r_squared(truth: Any, guesses: Any) -> float:
    from sklearn.metrics import r2_score

    return float(r2_score(truth, guesses))


_SCORERS = {"binary": _f1, "multiclass": _f1_macro, "regression": _r_squared}


def _tree(depth: int) -> Model:
    def make(state: np.random.RandomState) -> Any:
        from sklearn.tree import DecisionTreeClassifier

        return DecisionTreeClassifier(max_depth=depth, class_weight="balanced", random_state=state)

    return make


def _boosted(state: np.random.RandomState) -> Any:
    from sklearn.ensemble import AdaBoostClassifier

    return AdaBoostClassifier(random_state=state)


def _logistic(state: np.random.RandomState) -> Any:
    from sklearn.linear_model import LogisticRegression as Logistic

    return Logistic(solver="lbfgs", class_weight="balanced", max_iter=50, random_state=state)


def _perceptron(width: int) -> Model:
    def make(state: np.random.RandomState) -> Any:
        from sklearn.neural_network import MLPClassifier

        return MLPClassifier(hidden_layer_sizes=(width,), max_iter=50, random_state=state)

    return make


def _linear(state: np.random.RandomState) -> Any:
    from sklearn.linear_model import LinearRegression as Linear

    return Linear()


def _perceptron_of_numbers(state: np.random.RandomState) -> Any:
    from sklearn.neural_network import MLPRegressor as Perceptron

    return Perceptron(hidden_layer_sizes=(100,), max_iter=50, random_state=state)


@computed_by(_efficacy(_tree(15), "binary"))
class BinaryDecisionTreeClassifier(BinaryEfficacyMetric):
    """F1 of a decision tree of depth 15; see `BinaryEfficacyMetric`."""


@computed_by(_efficacy(_boosted, "binary"))
class BinaryAdaBoostClassifier(BinaryEfficacyMetric):
    """F1 of AdaBoost; see `BinaryEfficacyMetric`."""


@computed_by(_efficacy(_logistic, "binary"))
class BinaryLogisticRegression(BinaryEfficacyMetric):
    """F1 of logistic regression; see `BinaryEfficacyMetric`."""


@computed_by(_efficacy(_perceptron(50), "binary"))
class BinaryMLPClassifier(BinaryEfficacyMetric):
    """F1 of a perceptron with one layer of 50; see `BinaryEfficacyMetric`."""


@computed_by(_efficacy(_tree(30), "multiclass"))
class MulticlassDecisionTreeClassifier(MulticlassEfficacyMetric):
    """Mean F1 of a decision tree of depth 30."""


@computed_by(_efficacy(_perceptron(100), "multiclass"))
class MulticlassMLPClassifier(MulticlassEfficacyMetric):
    """Mean F1 of a perceptron with one layer of 100."""


@computed_by(_efficacy(_linear, "regression"), min_value=-math.inf, max_value=1)
class LinearRegression(RegressionEfficacyMetric):
    """R squared of linear regression."""


@computed_by(_efficacy(_perceptron_of_numbers, "regression"), min_value=-math.inf, max_value=1)
class MLPRegressor(RegressionEfficacyMetric):
    """R squared of a perceptron with one layer of 100."""


def _chosen_family(
    test_data: Any,
    train_data: Any,
    metadata: Any = None,
    table_name: str | None = None,
    target: Any = None,
    *,
    seed: int = 0,
) -> Breakdown:
    """Return the scores of all models of the family that suits the target, and their mean."""
    test, _, entries, name = _tables(test_data, train_data, metadata, table_name, target)
    sdtype = (entries[name] or {}).get("sdtype")
    families: dict[str | None, type[MLEfficacyMetric]] = {
        "numerical": RegressionEfficacyMetric,
        "categorical": MulticlassEfficacyMetric,
    }
    two = len(set(known(test[name]).tolist())) + bool(test[name].missing.any()) == 2
    family = BinaryEfficacyMetric if two else families.get(sdtype)
    if family is None:
        raise ValueError(f"Unsupported target type: {sdtype}")
    scores = {
        title: metric.compute(test_data, train_data, metadata, table_name, name, seed=seed)
        for title, metric in family.get_subclasses().items()
    }
    return {"score": float(np.mean(list(scores.values()))), **scores}


@computed_by(_chosen_family, min_value=-math.inf, max_value=math.inf)
class MLEfficacy(MLEfficacyMetric):
    """Mean score of the models that suit the target: binary, numerical or categorical. SDMetrics returns None."""

    name = "Machine Learning Efficacy"
