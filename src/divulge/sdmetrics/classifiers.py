"""The attackers of SDMetrics that train a scikit-learn classifier on the synthetic table."""

from __future__ import annotations

import warnings
from collections.abc import Hashable
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from divulge.kernels.counts.contingency import joint
from divulge.sdmetrics.attackers import Codes, Guesses, Ints, PrivacyAttackerModel, first_rows, one_row
from divulge.sdmetrics.columns import Column, equal_codes, frame_of, objects_of, unhashable

__all__ = [
    "CategoricalKNNAttacker",
    "CategoricalNBAttacker",
    "CategoricalRFAttacker",
    "CategoricalSVMAttacker",
    "CategoricalSklearnAttacker",
]

PLACEHOLDER = "place_holder_for_nan"
"""The text that SDMetrics writes for a missing value before training; a real value of this text equals it there."""
BLOCK = 2**22
"""Numbers that a model may hold at once for the keys it predicts."""


class _Categories(NamedTuple):
    """The sorted values of one column of the synthetic table, as in scikit-learn's encoders."""

    values: NDArray[Any]
    gap: bool
    """Whether a missing value that is not written as text (NA) is one more category, which no real value equals."""
    codes: Codes

    @property
    def n(self) -> int:
        return len(self.values) + self.gap

    def places(self, column: Column) -> Ints:
        """Return the place of each value among the categories, -1 for a value that is not among them."""
        column = _filled(column)
        own = Column(self.values.dtype.kind, self.values, np.zeros(len(self.values), dtype=bool))
        (held, asked), n_codes = equal_codes([own, column])
        place = np.full(n_codes, -1, dtype=np.int64)
        place[held] = np.arange(len(self.values))
        return place[asked]


def _filled(column: Column) -> Column:
    """Return the column with a text in place of each nan and None."""
    rows = np.flatnonzero(column.missing)
    if len(rows) == 0 or (column.values.dtype != object and column.kind != "f"):
        return column
    values, missing = column.values.astype(object), column.missing.copy()
    for i in rows:
        if values[i] is None or isinstance(values[i], float):
            values[i], missing[i] = PLACEHOLDER, False
    return Column("O", values, missing)


def _categories(column: Column, name: Hashable) -> _Categories:
    """Return the categories of a column of the synthetic table.

    Raises
    ------
    TypeError
        The values cannot be sorted, such as numbers beside text, or numbers of which some are missing; or a value is a
        list or another thing that is no category.
    ValueError
        A number is infinite, or a date is missing.
    """
    gap = column.values.dtype == object and column.kind in "biuf" and bool(column.missing.any())
    column = column if gap else _filled(column)
    if column.kind == "M" and column.missing.any():
        raise ValueError(f"Column {name} of the synthetic table has missing dates, which the model does not take.")
    if column.values.dtype != object:
        if column.kind == "f" and np.isinf(column.values).any():
            raise ValueError(f"Column {name} of the synthetic table holds an infinite number. hint: remove the row.")
        values, codes = np.unique(column.values, return_inverse=True)
        return _Categories(values, False, codes.astype(np.int32))
    there = column.values[~column.missing] if gap else column.values
    try:
        distinct = set(there.tolist())
    except TypeError:
        raise unhashable(name, there.tolist()) from None
    try:
        ordered = sorted(distinct)
    except TypeError:
        raise TypeError(
            f"Column {name} of the synthetic table mixes types that cannot be sorted; a missing number counts as text. "
            "hint: make the column text, and write a text for missing values."
        ) from None
    values = np.empty(len(ordered), dtype=object)
    values[:] = ordered
    place = {v: i for i, v in enumerate(ordered)}
    found = (place.get(v, len(ordered)) for v in column.values.tolist())
    return _Categories(values, gap, np.fromiter(found, dtype=np.int32, count=len(column)))


class CategoricalSklearnAttacker(PrivacyAttackerModel):
    """Guess by a classifier of scikit-learn, in its default settings.

    A key with a value that the synthetic table does not have gets no guess. A missing value (nan, None) is learnt as a
    category of its own, and a real row in which a sensitive value is missing is never guessed.

    Randomness: inside a metric the generator of its `seed`; else that of seed 0.
    """

    ORDINAL: ClassVar[bool] = False
    """Whether keys go in as whole numbers; else as one column of 0 and 1 for each value."""

    def __init__(self) -> None:
        self._random: np.random.RandomState | None = None
        self._keys: list[_Categories] = []
        self._sensitive: list[_Categories] = []
        self._model: Any = None

    def fit(self, synthetic_data: Any, key_fields: Any, sensitive_fields: Any) -> None:
        """Learn the synthetic table.

        Raises
        ------
        ValueError
            There are no rows, or the model cannot learn the table.
        TypeError
            The values of a column cannot be sorted.
        """
        frame = frame_of(synthetic_data, "synthetic_data")
        if len(frame) == 0:
            raise ValueError("`synthetic_data` has no rows, so there is nothing to learn.")
        self._keys = [_categories(frame[n], n) for n in key_fields]
        self._sensitive = [_categories(frame[n], n) for n in sensitive_fields]
        gaps = [n for n, c in zip(sensitive_fields, self._sensitive, strict=True) if c.gap]
        gaps += [n for n, c in zip(key_fields, self._keys, strict=True) if c.gap and self.ORDINAL]
        if gaps:
            raise ValueError(f"Column {gaps[0]} has missing values of a nullable dtype, which the model does not take.")
        keys = self._matrix(np.stack([c.codes for c in self._keys], axis=1))
        target = np.stack([c.codes for c in self._sensitive], axis=1).astype(np.float64)
        with warnings.catch_warnings(action="ignore"):
            self._learn(keys, target, self._random or np.random.RandomState(0))

    def predict(self, key_data: Any) -> Any:
        """Return the guess for one key, or None where a value of the key is not in the synthetic table."""
        found = self.predict_many(one_row(tuple(key_data)))
        return found.outcomes[found.which[0]] if found.which[0] >= 0 else None

    def predict_many(self, keys: list[Column]) -> Guesses:
        """Return the guesses for many keys, given by columns."""
        places = np.stack([c.places(k) for c, k in zip(self._keys, keys, strict=True)], axis=1)
        known = np.flatnonzero((places >= 0).all(axis=1))
        which = np.full(len(places), -1, dtype=np.int64)
        if len(known) == 0:
            return Guesses(which, [])
        step = max(1, BLOCK // self._width())
        with warnings.catch_warnings(action="ignore"):
            blocks = [self._ask(self._matrix(places[known[i : i + step]])) for i in range(0, len(known), step)]
        guessed = np.concatenate([b.reshape(len(b), -1) for b in blocks]).astype(np.int32)
        codes, _ = joint([list(guessed.T)], [c.n for c in self._sensitive])
        first, which[known] = first_rows(codes[0])
        return Guesses(which, self._outcomes(guessed[first]))

    def _outcomes(self, guessed: Codes) -> list[Any]:
        """Return the guesses as tuples; all values come back with the one dtype that their columns share.

        Dates beside text come back as numbers, so that SDMetrics never finds them right, and neither do we.
        """
        try:
            dtype = np.result_type(*(c.values.dtype for c in self._sensitive))
        except TypeError:
            raise TypeError(
                "`sensitive_fields` has dates beside numbers, which share no type. hint: leave one of the two out."
            ) from None
        parts = (c.values.astype(dtype)[g] for c, g in zip(self._sensitive, guessed.T, strict=True))
        return list(zip(*(objects_of(p).tolist() for p in parts), strict=True))

    def _matrix(self, codes: NDArray[Any]) -> Any:
        """Return what the model takes for keys: whole numbers, or a sparse matrix of 0 and 1."""
        if self.ORDINAL:
            return codes.astype(np.float64)
        from scipy.sparse import csr_matrix

        n, sizes = len(codes), [c.n for c in self._keys]
        columns = codes + np.cumsum([0, *sizes[:-1]])
        rows = np.arange(n + 1) * len(sizes)
        return csr_matrix((np.ones(n * len(sizes)), columns.ravel(), rows), shape=(n, sum(sizes)))

    def _width(self) -> int:
        """Return how many numbers the model holds for each key that it is asked."""
        return sum(c.n for c in self._sensitive)

    def _learn(self, keys: Any, target: NDArray[np.float64], random: np.random.RandomState) -> None:
        raise NotImplementedError

    def _ask(self, keys: Any) -> NDArray[Any]:
        """Return the codes guessed, shape (n_keys,) or (n_keys, n_sensitive)."""
        return np.asarray(self._model.predict(keys))


class CategoricalKNNAttacker(CategoricalSklearnAttacker):
    """Guess by a vote of the five nearest synthetic rows.

    Which of the rows at one distance vote is settled by numpy's partial sort, one row of distances at a time: the same
    for a key alone and among others, but not on each kind of processor. SDMetrics' score moves with it in the same way.
    """

    def _learn(self, keys: Any, target: NDArray[np.float64], random: np.random.RandomState) -> None:
        from sklearn.neighbors import KNeighborsClassifier

        self._model = KNeighborsClassifier().fit(keys, _narrow(target))
        self._n_rows = len(target)

    def _width(self) -> int:
        return 2 * self._n_rows

    def _ask(self, keys: Any) -> NDArray[Any]:
        if self._n_rows < self._model.n_neighbors:
            raise ValueError(
                f"`synthetic_data` has {self._n_rows} rows; the attacker asks {self._model.n_neighbors} neighbours."
            )
        return super()._ask(keys)


class CategoricalRFAttacker(CategoricalSklearnAttacker):
    """Guess by a random forest."""

    def _learn(self, keys: Any, target: NDArray[np.float64], random: np.random.RandomState) -> None:
        from sklearn.ensemble import RandomForestClassifier

        self._model = RandomForestClassifier(random_state=random).fit(keys, _narrow(target))


def _narrow(target: NDArray[np.float64]) -> NDArray[np.float64]:
    return target[:, 0] if target.shape[1] == 1 else target


class _OneModelEach(CategoricalSklearnAttacker):
    """One model for each sensitive field."""

    def _ask(self, keys: Any) -> NDArray[Any]:
        return np.stack([model.predict(keys) for model in self._model], axis=1)


class CategoricalNBAttacker(_OneModelEach):
    """Guess by naive Bayes, each sensitive field alone."""

    ORDINAL = True

    def _learn(self, keys: Any, target: NDArray[np.float64], random: np.random.RandomState) -> None:
        from sklearn.naive_bayes import CategoricalNB

        self._model = [CategoricalNB().fit(keys, y) for y in target.T]


class CategoricalSVMAttacker(_OneModelEach):
    """Guess by a support vector machine, each sensitive field alone."""

    def _learn(self, keys: Any, target: NDArray[np.float64], random: np.random.RandomState) -> None:
        from sklearn.svm import SVC

        if any(c.n < 2 for c in self._sensitive):
            raise ValueError(
                "The number of classes has to be greater than one: a sensitive column of `synthetic_data` has one "
                "value. hint: take another attacker, or leave the column out."
            )
        self._model = [SVC(random_state=random).fit(keys, y) for y in target.T]

    def _width(self) -> int:
        return sum(c.n * (c.n + 1) // 2 for c in self._sensitive)
