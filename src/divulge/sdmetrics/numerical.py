"""SDMetrics' attackers on numbers, and the losses of their guesses.

As in `attackers`, each has a method for one tuple, like SDMetrics, and a method for many, which the metrics use.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.sdmetrics.attackers import (
    PrivacyAttackerModel,
    answers_many,
    distinct_rows,
    tuples_of,
)
from divulge.sdmetrics.columns import Column, Frame, first_table, frame_of, same_dtype
from divulge.sdmetrics.fields import NUMERICAL, attack_tables, settings_of
from divulge.sdmetrics.readings import as_numbers
from divulge.sdmetrics.univariate import BLOCK, Distribution, choose_distribution

__all__ = [
    "METRICS",
    "InverseCDFCutoff",
    "InverseCDFDistance",
    "LRAttacker",
    "LossFunction",
    "MLPAttacker",
    "NumericalRadiusNearestNeighborAttacker",
    "SVRAttacker",
    "numerical_adapter",
]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def _numbers(column: Column, name: Hashable) -> NDArray[Any]:
    """Return the values of a column as numbers, in its dtype.

    Raises
    ------
    ValueError
        A value is no number.
    """
    (column,) = as_numbers([column], shifted=False)
    if column.dtype.kind == "m":
        return np.where(column.missing, np.nan, column.values.view(np.int64))
    if column.values.dtype.kind not in "OM":
        return column.values
    try:
        if column.values.dtype.kind == "M":
            raise TypeError
        return np.where(column.missing, np.nan, column.values).astype(np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"Column {name} is declared numerical and has a value that is no number.") from None


def _matrix(columns: Sequence[Column], names: Sequence[Hashable]) -> NDArray[Any]:
    """Return columns as one matrix in one dtype, shape (n_rows, n_columns), column by column in memory as in pandas.

    Raises
    ------
    ValueError
        A value is no number.
    """
    return np.stack([_numbers(c, n) for c, n in zip(columns, names, strict=True)]).T


def _one_row(values: Any) -> NDArray[Any]:
    return np.array([tuple(values)])


# ---------------------------------------------------------------- losses


class LossFunction:
    """How far a guess is from the truth.

    A class of one's own needs `measure`, and `fit` where it learns from the real table. It is called with
    `loss_function_kwargs`, which are `{"p": 2}` where none are given.
    """

    def fit(self, data: Any, cols: Any) -> None:
        """Learn the columns of a table."""

    def measure(self, pred: Any, real: Any) -> Any:
        """Return the loss of one guess; both are tuples of one value for each column."""
        raise NotImplementedError("Please implement the loss measuring algorithm!")


class InverseCDFDistance(LossFunction):
    """Distance on the scale of each column's distribution: the sum of abs(F(a) - F(b))**p over the columns.

    Parameters
    ----------
    p
        Power.

    Notes
    -----
    F is the cumulative distribution function that `choose_distribution` finds for the column.

    Examples
    --------
    >>> import polars as pl
    >>> loss = InverseCDFDistance(p=2)
    >>> loss.fit(pl.DataFrame({"income": [3, 3, 3]}), ["income"])
    >>> loss.measure((2,), (3,)), loss.measure((4,), (3,))
    (1.0, 0.0)
    """

    def __init__(self, p: float = 2) -> None:
        self.p = p
        self.cdfs: list[Distribution] = []

    def fit(self, data: Any, cols: Any) -> None:
        """Choose a distribution for each column.

        Raises
        ------
        ValueError
            No distribution fits a column: a value is missing or infinite, or there are no rows.
        """
        frame = frame_of(data, "data")
        for name in cols:
            try:
                self.cdfs.append(choose_distribution(_numbers(frame[name], name)))
            except ValueError as error:
                raise ValueError(f"Column {name}: {error}") from None

    def measure(self, pred: Any, real: Any) -> Any:
        """Return the loss of one guess."""
        if len(pred) != len(real):
            raise AssertionError(f"the guess has {len(pred)} values, the truth {len(real)}.")
        return self.measure_many(_one_row(pred), _one_row(real)).tolist()[0]

    def measure_many(self, pred: NDArray[Any], real: NDArray[Any]) -> Floats:
        """Return the loss of each guess, shape (n,); both are matrices, shape (n, n_columns)."""
        return self._sum(self._shares(pred), self._shares(real), (len(pred),))

    def totals(self, asked: NDArray[Any], held: NDArray[Any], times: Ints) -> Floats:
        """Return for each key in `asked` the sum of the weights of all keys in `held`.

        Parameters
        ----------
        asked, held
            Keys, shapes (n_asked, n_columns) and (n_held, n_columns).
        times
            How often each key is held, shape (n_held,).

        Returns
        -------
        totals
            Shape (n_asked,).
        """
        a, h = self._shares(asked), self._shares(held)
        step = max(1, BLOCK // max(1, len(h)))
        totals = np.empty(len(a))
        for i in range(0, len(a), step):
            block = a[i : i + step, None]
            totals[i : i + step] = self._weights(self._sum(block, h[None], (len(block), len(h)))) @ times
        return totals

    def _shares(self, values: NDArray[Any]) -> Floats:
        return np.stack([d.cdf(v) for d, v in zip(self.cdfs, values.T, strict=True)], axis=1)

    def _sum(self, one: Floats, other: Floats, shape: tuple[int, ...]) -> Floats:
        total = np.zeros(shape)
        for j in range(one.shape[-1]):
            total += np.abs(one[..., j] - other[..., j]) ** self.p
        return total

    def _weights(self, distances: Floats) -> Floats:
        return distances


class InverseCDFCutoff(InverseCDFDistance):
    """Weight 1 where the distance is less than cutoff**p times the number of columns, else 0.

    Parameters
    ----------
    p, cutoff
        Power, and distance per column.
    """

    def __init__(self, p: float = 2, cutoff: float = 0.1) -> None:
        super().__init__(p)
        self.cutoff = cutoff**p

    def fit(self, data: Any, cols: Any) -> None:
        """Choose a distribution for each column."""
        super().fit(data, cols)
        self.cutoff *= len(cols)

    def measure_many(self, pred: NDArray[Any], real: NDArray[Any]) -> Floats:
        """Return the weight of each pair of keys, shape (n,)."""
        return self._weights(super().measure_many(pred, real))

    def _weights(self, distances: Floats) -> Floats:
        return np.where(distances < self.cutoff, 1.0, 0.0)


# ---------------------------------------------------------------- attackers


class NumericalSklearnAttacker(PrivacyAttackerModel):
    """Guess numbers by a regression of scikit-learn, in its default settings.

    Randomness: inside a metric the generator of its `seed`; else that of seed 0.
    """

    def __init__(self) -> None:
        self._random: np.random.RandomState | None = None
        self._names: list[Hashable] = []
        self._model: Any = None

    def fit(self, synthetic_data: Any, key_fields: Any, sensitive_fields: Any) -> None:
        """Learn the synthetic table.

        Raises
        ------
        ValueError
            There are no rows, or a value is missing, infinite or no number.
        """
        frame = frame_of(synthetic_data, "synthetic_data")
        if len(frame) == 0:
            raise ValueError("`synthetic_data` has no rows, so there is nothing to learn.")
        for name in [*key_fields, *sensitive_fields]:
            _finite(_numbers(frame[name], name), f"Column {name} of the synthetic table")
        self._names = list(key_fields)
        keys = _matrix([frame[n] for n in key_fields], key_fields)
        target = _matrix([frame[n] for n in sensitive_fields], sensitive_fields)
        with _calm():
            self._learn(keys, target, self._random or np.random.RandomState(0))

    def predict(self, key_data: Any) -> Any:
        """Return the guess for one key."""
        return tuple(self.predict_many(_one_row(key_data))[0])

    def predict_many(self, keys: NDArray[Any]) -> Floats:
        """Return the guesses for many keys, shape (n_keys, n_sensitive).

        Raises
        ------
        ValueError
            A key is missing or infinite.
        """
        _finite(keys, "A key of the real table")
        with _calm():
            return np.asarray(self._ask(keys)).reshape(len(keys), -1)

    def _learn(self, keys: NDArray[Any], target: NDArray[Any], random: np.random.RandomState) -> None:
        raise NotImplementedError

    def _ask(self, keys: NDArray[Any]) -> Any:
        return self._model.predict(keys)


def _finite(values: NDArray[Any], what: str) -> None:
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        raise ValueError(f"{what} is missing or infinite, which the model does not take. hint: remove such rows.")


class _calm:
    """Suppress warnings of scikit-learn, and use one thread, so that sums do not depend on the number of cores."""

    def __enter__(self) -> None:
        from threadpoolctl import threadpool_limits

        self._quiet, self._threads = warnings.catch_warnings(action="ignore"), threadpool_limits(1)
        self._threads.__enter__()
        self._quiet.__enter__()

    def __exit__(self, *error: Any) -> None:
        self._quiet.__exit__(*error)
        self._threads.__exit__(*error)


class LRAttacker(NumericalSklearnAttacker):
    """Guess by linear regression."""

    def _learn(self, keys: NDArray[Any], target: NDArray[Any], random: np.random.RandomState) -> None:
        from sklearn.linear_model import LinearRegression

        self._model = LinearRegression().fit(keys, target)


class MLPAttacker(NumericalSklearnAttacker):
    """Guess by a neural network."""

    def _learn(self, keys: NDArray[Any], target: NDArray[Any], random: np.random.RandomState) -> None:
        from sklearn.neural_network import MLPRegressor

        self._model = MLPRegressor(random_state=random).fit(keys, target)


class SVRAttacker(NumericalSklearnAttacker):
    """Guess by a support vector regression for each sensitive field."""

    def _learn(self, keys: NDArray[Any], target: NDArray[Any], random: np.random.RandomState) -> None:
        from sklearn.svm import SVR

        self._model = [SVR().fit(keys, y) for y in target.T]

    def _ask(self, keys: NDArray[Any]) -> Any:
        return np.stack([model.predict(keys) for model in self._model], axis=1)


class NumericalRadiusNearestNeighborAttacker(PrivacyAttackerModel):
    """Guess the sum of all synthetic values, divided by the total weight of the synthetic keys; 0 where that is 0.

    SDMetrics means a weighted mean and leaves the weights out of the sum; the guess is what it computes.

    Parameters
    ----------
    weight_func
        Class of the weight: `fit` learns the synthetic keys, `measure` gives the weight of a pair of keys.
    weight_func_kwargs
        Its settings.
    """

    def __init__(self, weight_func: Any = None, weight_func_kwargs: Any = None) -> None:
        if not callable(weight_func):
            raise TypeError("`weight_func` must be a class, such as InverseCDFCutoff; put it into `model_kwargs`.")
        self.weight_func = weight_func(**(weight_func_kwargs or {}))
        self._keys: list[Column] = []
        self._names: list[Hashable] = []
        self._times: Ints = np.zeros(0, dtype=np.int64)
        self._sums: list[Any] = []

    def fit(self, synthetic_data: Any, key_fields: Any, sensitive_fields: Any) -> None:
        """Learn the synthetic table.

        Raises
        ------
        ValueError
            There are no rows, or the weight cannot learn the keys.
        """
        frame = frame_of(synthetic_data, "synthetic_data")
        if len(frame) == 0:
            raise ValueError("`synthetic_data` has no rows, so there is nothing to learn.")
        self.weight_func.fit(synthetic_data, key_fields)
        self._names = list(key_fields)
        self._keys, which = distinct_rows(frame, key_fields)
        self._times = np.bincount(which)
        # added one by one in the dtype of the row, as in SDMetrics, for the same digits
        sensitive = same_dtype([frame[n] for n in sensitive_fields])
        self._sums = [np.cumsum(v, dtype=v.dtype)[-1] for v in _matrix(sensitive, sensitive_fields).T]

    def predict(self, key_data: Any) -> Any:
        """Return the guess for one key."""
        return tuple(self._guesses(self._totals([tuple(key_data)]))[0])

    def predict_many(self, keys: NDArray[Any]) -> Floats:
        """Return the guesses for many keys, shape (n_keys, n_sensitive)."""
        if not answers_many(self.weight_func, "measure", "totals"):
            return self._guesses(self._totals(list(map(tuple, keys.tolist()))))
        return self._guesses(self.weight_func.totals(keys, _matrix(self._keys, self._names), self._times))

    def _totals(self, keys: list[tuple[Any, ...]]) -> Floats:
        held = list(zip(tuples_of(self._keys), self._times.tolist(), strict=True))
        totals = (sum(self.weight_func.measure(key, other) * n for other, n in held) for key in keys)
        return np.fromiter(totals, dtype=np.float64, count=len(keys))

    def _guesses(self, totals: Floats) -> Floats:
        guesses = np.zeros((len(totals), len(self._sums)))
        some = totals != 0
        guesses[some] = np.stack([s / totals[some] for s in self._sums], axis=1)
        return guesses


# ---------------------------------------------------------------- the metrics


def numerical_adapter(
    attacker_class: Callable[..., Any], settings: dict[str, Any] | None = None
) -> Callable[..., dict[str, Any]]:
    """Return the metric of an attacker: the mean loss of its guesses over the real rows.

    Parameters
    ----------
    attacker_class
        Called with `model_kwargs`.
    settings
        Its `model_kwargs` where none are given.

    Returns
    -------
    callable
        Takes the arguments of SDMetrics' `compute` and `seed`, gives {"score": float}. It raises what
        `fields.attack_tables`, the attacker and the loss raise, and ZeroDivisionError where there are no real rows.
    """

    def breakdown(
        real_data: Any,
        synthetic_data: Any,
        metadata: Any = None,
        table_name: str | None = None,
        key_fields: Any = None,
        sensitive_fields: Any = None,
        model_kwargs: Any = None,
        loss_function: Any = None,
        loss_function_kwargs: Any = None,
        *,
        seed: int = 0,
    ) -> dict[str, Any]:
        real, _, keys, sensitive = attack_tables(
            real_data, synthetic_data, metadata, table_name, key_fields, sensitive_fields, NUMERICAL
        )
        if loss_function is not None and not callable(loss_function):
            raise TypeError(
                f"`loss_function` is of type {type(loss_function).__name__}; it must be a class, such as "
                "InverseCDFDistance."
            )
        given = settings if model_kwargs is None else model_kwargs
        attacker = attacker_class(**settings_of("model_kwargs", given))
        if isinstance(attacker, NumericalSklearnAttacker):
            attacker._random = np.random.RandomState(seed)
        attacker.fit(first_table(synthetic_data), keys, sensitive)
        if len(real) == 0:
            raise ZeroDivisionError("`real_data` has no rows, so there is no mean over them.")
        loss_settings = {"p": 2} if loss_function_kwargs is None else loss_function_kwargs
        loss = (loss_function or InverseCDFDistance)(**settings_of("loss_function_kwargs", loss_settings))
        loss.fit(first_table(real_data), sensitive)
        return {"score": _mean_loss(attacker, loss, real, keys, sensitive)}

    return breakdown


def _mean_loss(attacker: Any, loss: Any, real: Frame, keys: list[Hashable], sensitive: list[Hashable]) -> float:
    key, which_key = distinct_rows(real, keys)
    truth, which_truth = distinct_rows(real, sensitive)
    pairs, times = np.unique(which_key * len(truth[0]) + which_truth, return_counts=True)
    guessed = attacker.predict_many(_matrix(key, keys))[pairs // len(truth[0])]
    true = _matrix(truth, sensitive)[pairs % len(truth[0])]
    if answers_many(loss, "measure", "measure_many"):
        losses = loss.measure_many(guessed, true)
    else:
        asked = zip(guessed.tolist(), true.tolist(), strict=True)
        losses = np.array([loss.measure(tuple(g), tuple(t)) for g, t in asked], dtype=np.float64)
    return float(losses @ times) / len(real)


RADIUS = {"weight_func": InverseCDFCutoff, "weight_func_kwargs": {"p": 2, "cutoff": 0.3}}

METRICS: tuple[tuple[str, str, Callable[..., dict[str, Any]], str], ...] = (
    (
        "NumericalLR",
        "Numerical Linear Regression",
        numerical_adapter(LRAttacker),
        "How hard it is to guess sensitive numbers by linear regression, learnt from the synthetic table.",
    ),
    (
        "NumericalMLP",
        "Multi-layer Perceptron Regression",
        numerical_adapter(MLPAttacker),
        "How hard it is to guess sensitive numbers by a neural network, learnt from the synthetic table.",
    ),
    (
        "NumericalSVR",
        "Numerical Support-vector Regression",
        numerical_adapter(SVRAttacker),
        "How hard it is to guess sensitive numbers by support vector regression, learnt from the synthetic table.",
    ),
    (
        "NumericalRadiusNearestNeighbor",
        "Numerical Radius Nearest Neighbor",
        numerical_adapter(NumericalRadiusNearestNeighborAttacker, RADIUS),
        "How hard it is to guess sensitive numbers from the synthetic rows with near keys. As released: the sum of "
        "all synthetic values, divided by the number of near ones.",
    ),
)
"""Of each metric: name, title, adapter, and first paragraph of what it says."""
