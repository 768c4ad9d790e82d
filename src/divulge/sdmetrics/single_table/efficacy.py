"""SDMetrics' efficacy: how well a model predicts a column of the test table that learned it from the other table.

As released, the test table comes first. A run with `seed` draws what SDMetrics draws after ``numpy.random.seed(seed)``.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from importlib import import_module
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from divulge.measures.detection import scaled
from divulge.sdmetrics.base import SingleTableMetric
from divulge.sdmetrics.columns import Column, Frame, frame_of
from divulge.sdmetrics.computed import computed_by, in_sound_mode
from divulge.sdmetrics.goal import Goal
from divulge.sdmetrics.inputs import known
from divulge.sdmetrics.metadata import checked_pair, table_metadata
from divulge.sdmetrics.single_table.features import Features
from divulge.sdmetrics.sound_models import efficacy_sound

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
Tables = tuple[Frame, Frame, Mapping[Any, Any], Any]


class _Imported:
    """A name of scikit-learn, imported when it is asked for."""

    def __init__(self, module: str, name: str) -> None:
        self._module, self._name = module, name

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        return getattr(import_module(self._module), self._name)


class MLEfficacyMetric(SingleTableMetric):
    """Metrics that train a model on one table and test it on the other.

    A class derived from this one or from one of the three families has `MODEL`, a class of models of scikit-learn. It
    may have `MODEL_KWARGS`, settings of the model, and `SCORER`, a function of true and guessed labels, or a list.
    """

    MODEL: ClassVar[Any] = None
    MODEL_KWARGS: ClassVar[dict[str, Any] | None] = None
    SCORER: ClassVar[Any] = None
    METRICS: ClassVar[Any] = None
    goal = Goal.MAXIMIZE

    @classmethod
    def compute(
        cls,
        test_data: Any,
        train_data: Any,
        metadata: Any = None,
        table_name: str | None = None,
        target: Any = None,
        scorer: Any = None,
        *,
        seed: int = 0,
        mode: str = "compatible",
        real_validation_data: Any = None,
    ) -> Any:
        """Return the score of a model that learnt from `train_data` and was tested on `test_data`.

        Parameters
        ----------
        test_data, train_data
            Frames with the same columns; the test table comes first.
        metadata, table_name
            As SDMetrics takes them; "target" in the metadata goes before `target`.
        target
            The column to predict.
        scorer
            Takes true and guessed labels; a list of such functions gives a tuple of scores.
        seed
            A run with `seed` draws what SDMetrics draws after ``numpy.random.seed(seed)``.
        mode
            "sound" is `divulge.ml_efficacy`: the share of the skill of models of the real rows (`test_data`) that
            models of the synthetic ones keep, both tested on `real_validation_data`.
        real_validation_data
            In sound mode: people whom the synthesizer never saw.
        """
        if in_sound_mode(cls.__name__, mode, real_validation_data):
            return efficacy_sound(
                test_data, train_data, metadata, table_name, target, real_validation_data=real_validation_data
            )["score"]
        if cls.MODEL is None:
            raise NotImplementedError(f"{cls.__name__} has no MODEL. hint: a class of models of scikit-learn.")
        test, train, _, name = _tables(test_data, train_data, metadata, table_name, target)
        truth, taught = cls._labels(test[name], train[name])
        rest = [Frame({n: c for n, c in t.columns.items() if n != name}, t.n_rows) for t in (test, train)]
        guesses = cls._guesses(rest[0], rest[1], taught, np.random.RandomState(seed))
        scorers = scorer or cls.SCORER
        if isinstance(scorers, (list, tuple)):
            return tuple(s(truth, guesses) for s in scorers)
        return scorers(truth, guesses)

    @classmethod
    def compute_breakdown(cls, *args: Any, mode: str = "compatible", **kwargs: Any) -> Breakdown:
        """Return the score and, in sound mode, what it is made of; see `compute`."""
        if in_sound_mode(cls.__name__, mode, kwargs.get("real_validation_data")):
            own = {name: value for name, value in kwargs.items() if name not in ("seed", "scorer")}
            return efficacy_sound(*args[:5], **own)
        return {"score": cls.compute(*args, **kwargs)}

    @classmethod
    def compute_both(cls, *args: Any, real_validation_data: Any = None, **kwargs: Any) -> Breakdown:
        """Return both breakdowns, as released and sound."""
        sound = cls.compute_breakdown(*args, **kwargs, mode="sound", real_validation_data=real_validation_data)
        return {"compatible": cls.compute_breakdown(*args, **kwargs), "sound": sound}

    @classmethod
    def _labels(cls, test: Column, train: Column) -> tuple[NDArray[Any], NDArray[Any]]:
        return test.values, train.values

    @classmethod
    def _guesses(cls, test: Frame, train: Frame, taught: NDArray[Any], state: np.random.RandomState) -> NDArray[Any]:
        labels = set(taught.tolist())
        if len(labels) == 1:
            return np.full(len(test), labels.pop())
        features = Features(train, test)
        rows = [features.of(t) for t in (train, test)]
        for r in rows:
            r[np.isinf(r)] = np.nan
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = scaled(cls.MODEL(**(cls.MODEL_KWARGS or {})), state)
            model.fit(rows[0], taught.tolist() if taught.dtype == object else taught)
            return np.asarray(model.predict(rows[1]))


class BinaryEfficacyMetric(MLEfficacyMetric):
    """F1 of a target of two values; of text, the first label of the test table is the one to find."""

    SCORER = _Imported("sklearn.metrics", "f1_score")
    min_value, max_value = 0.0, 1.0

    @classmethod
    def _labels(cls, test: Column, train: Column) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the targets; text becomes whether it is the first label."""
        if test.kind != "O":
            return test.values, train.values
        first = test.values[0] if len(test) else None
        return test.values == first, train.values == first


def _f1_macro(truth: Any, guesses: Any) -> float:
    from sklearn.metrics import f1_score

    return float(f1_score(truth, guesses, average="macro"))


class MulticlassEfficacyMetric(MLEfficacyMetric):
    """Mean F1 over the labels of the target."""

    SCORER = staticmethod(_f1_macro)
    min_value, max_value = 0.0, 1.0


class RegressionEfficacyMetric(MLEfficacyMetric):
    """R squared of a target of numbers."""

    SCORER = _Imported("sklearn.metrics", "r2_score")
    min_value, max_value = -math.inf, 1.0


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


class BinaryDecisionTreeClassifier(BinaryEfficacyMetric):
    """F1 of a decision tree of depth 15; see `BinaryEfficacyMetric`."""

    MODEL = _Imported("sklearn.tree", "DecisionTreeClassifier")
    MODEL_KWARGS: ClassVar[dict[str, Any]] = {"max_depth": 15, "class_weight": "balanced"}


class BinaryAdaBoostClassifier(BinaryEfficacyMetric):
    """F1 of AdaBoost; see `BinaryEfficacyMetric`."""

    MODEL = _Imported("sklearn.ensemble", "AdaBoostClassifier")


class BinaryLogisticRegression(BinaryEfficacyMetric):
    """F1 of logistic regression; see `BinaryEfficacyMetric`."""

    MODEL = _Imported("sklearn.linear_model", "LogisticRegression")
    MODEL_KWARGS: ClassVar[dict[str, Any]] = {"solver": "lbfgs", "class_weight": "balanced", "max_iter": 50}


class BinaryMLPClassifier(BinaryEfficacyMetric):
    """F1 of a perceptron with one layer of 50; see `BinaryEfficacyMetric`."""

    MODEL = _Imported("sklearn.neural_network", "MLPClassifier")
    MODEL_KWARGS: ClassVar[dict[str, Any]] = {"hidden_layer_sizes": (50,), "max_iter": 50}


class MulticlassDecisionTreeClassifier(MulticlassEfficacyMetric):
    """Mean F1 of a decision tree of depth 30."""

    MODEL = _Imported("sklearn.tree", "DecisionTreeClassifier")
    MODEL_KWARGS: ClassVar[dict[str, Any]] = {"max_depth": 30, "class_weight": "balanced"}


class MulticlassMLPClassifier(MulticlassEfficacyMetric):
    """Mean F1 of a perceptron with one layer of 100."""

    MODEL = _Imported("sklearn.neural_network", "MLPClassifier")
    MODEL_KWARGS: ClassVar[dict[str, Any]] = {"hidden_layer_sizes": (100,), "max_iter": 50}


class LinearRegression(RegressionEfficacyMetric):
    """R squared of linear regression."""

    MODEL = _Imported("sklearn.linear_model", "LinearRegression")


class MLPRegressor(RegressionEfficacyMetric):
    """R squared of a perceptron with one layer of 100."""

    MODEL = _Imported("sklearn.neural_network", "MLPRegressor")
    MODEL_KWARGS: ClassVar[dict[str, Any]] = {"hidden_layer_sizes": (100,), "max_iter": 50}


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


@computed_by(_chosen_family, sound=efficacy_sound, min_value=-math.inf, max_value=math.inf)
class MLEfficacy(MLEfficacyMetric):
    """Mean score of the models that suit the target: binary, numerical or categorical. SDMetrics returns None."""

    name = "Machine Learning Efficacy"
