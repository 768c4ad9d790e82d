"""Floor 5: SDMetrics' attackers on categories: they learn the synthetic table and guess sensitive fields from keys.

Each has `fit` and `predict` of one tuple, as in SDMetrics. The metrics ask `predict_many` for all distinct keys at
once; an attacker that has only `predict`, such as a user's own, is asked key by key.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from divulge.counts import joint
from divulge.sdmetrics.columns import Column, Frame, equal_codes, frame_of, same_dtype
from divulge.sdmetrics.fields import CATEGORICAL, attack_tables

__all__ = [
    "METRICS",
    "CAPAttacker",
    "CategoricalEnsembleAttacker",
    "CategoricalKNNAttacker",
    "CategoricalNBAttacker",
    "CategoricalRFAttacker",
    "CategoricalSVMAttacker",
    "GeneralizedCAPAttacker",
    "Guesses",
    "PrivacyAttackerModel",
    "ZeroCAPAttacker",
    "answers_many",
    "categorical_adapter",
    "categorical_ensemble",
    "distinct_rows",
    "first_table",
    "tuples_of",
]

Codes = NDArray[np.int32]
Ints = NDArray[np.int64]

PLACEHOLDER = "place_holder_for_nan"
"""What SDMetrics writes for a missing value before it learns; a real value of this text would match it there too."""
BLOCK = 2**22
"""Numbers that a model may hold for the keys that it is asked in one go."""


class PrivacyAttackerModel:
    """An attacker: it learns a synthetic table, and guesses the sensitive fields of a person from the key fields.

    A class of one's own needs `fit` and `predict`; in `CategoricalEnsemble` its `predict` is asked once for each
    distinct key.
    """

    def fit(self, synthetic_data: Any, key_fields: Any, sensitive_fields: Any) -> None:
        """Learn the synthetic table.

        Parameters
        ----------
        synthetic_data
            The synthetic table.
        key_fields, sensitive_fields
            Lists of names of columns.
        """
        raise NotImplementedError("Please implement fit method of attackers")

    def predict(self, key_data: Any) -> Any:
        """Return the guess for one key.

        Parameters
        ----------
        key_data
            Tuple of values of the key fields.

        Returns
        -------
        tuple or None
            Values of the sensitive fields; None for no guess.
        """
        raise NotImplementedError("Please implement predict method of attackers")

    def score(self, key_data: Any, sensitive_data: Any) -> Any:
        """Return how far the attacker believes in the right values of one person, 0 to 1, or None for no opinion."""
        raise NotImplementedError("Posterior probability based scoring not supported for this attacker!")


class Guesses(NamedTuple):
    """The guesses for many keys."""

    which: Ints
    """Place of each guess among the outcomes, shape (n_keys,); -1 for no guess."""
    outcomes: list[Any]
    """Distinct guesses, tuples of values."""


# ---------------------------------------------------------------- rows and tuples


def distinct_rows(frame: Frame, names: Sequence[Hashable]) -> tuple[list[Column], Ints]:
    """Return some columns at their distinct rows, as rows of these columns have them, and which is that of each row.

    Parameters
    ----------
    frame
        The table, n_rows rows.
    names
        Columns, at least one.

    Returns
    -------
    columns, which
        Columns of n_distinct rows, in order of first appearance, and shape (n_rows,), 0 to n_distinct - 1. A missing
        number is equal to nothing.
    """
    columns = same_dtype([frame[n] for n in names])
    first, which = _firsts(_joint_codes([[c] for c in columns])[0][0])
    return [c.take(first) for c in columns], which


def _firsts(codes: Codes) -> tuple[Ints, Ints]:
    """Return the rows where a code appears first, and the rank of each row's code by first appearance."""
    first, inverse = np.unique(codes, return_index=True, return_inverse=True)[1:]
    order = np.argsort(first)
    rank = np.empty(len(first), dtype=np.int64)
    rank[order] = np.arange(len(first))
    return first[order].astype(np.int64), rank[inverse]


def _joint_codes(columns: Sequence[Sequence[Column]]) -> tuple[list[Codes], int]:
    """Return one code per row over several columns, each given by its part in every table."""
    coded = [equal_codes(parts) for parts in columns]
    return joint([[c[0][t] for c in coded] for t in range(len(columns[0]))], [c[1] for c in coded])


def tuples_of(columns: Sequence[Column]) -> list[tuple[Any, ...]]:
    """Return the rows of some columns as tuples of the values that a row of a pandas frame gives."""
    return list(zip(*(_values_of(c.values) for c in columns), strict=True))


def _values_of(values: NDArray[Any]) -> list[Any]:
    if values.dtype.kind == "M":
        try:
            import pandas as pd
        except ImportError:
            values = values.astype("datetime64[us]")
        else:
            values = pd.Series(values).astype(object).to_numpy()
    found: list[Any] = values.tolist()
    return found


def first_table(data: Any) -> Any:
    """Return the first table of a dictionary of tables, anything else as it is."""
    return next(iter(data.values())) if isinstance(data, Mapping) and data else data


def _one_row(key_data: Sequence[Any]) -> list[Column]:
    columns = []
    for value in key_data:
        values = np.empty(1, dtype=object)
        values[0] = value
        missing = value is None or (isinstance(value, (float, np.floating)) and bool(np.isnan(value)))
        columns.append(Column("O", values, np.array([missing])))
    return columns


def answers_many(attacker: Any, one: str, many: str) -> bool:
    """Return whether an object answers many questions at once by the rule by which it answers one.

    A class derived from ours that replaces only the method for one must be asked one by one.
    """
    for c in type(attacker).__mro__:
        if many in vars(c):
            return True
        if one in vars(c):
            return False
    return False


def _guesses_of(attacker: Any, keys: list[Column]) -> Guesses:
    if answers_many(attacker, "predict", "predict_many"):
        found: Guesses = attacker.predict_many(keys)
        return found
    return _listed([attacker.predict(key) for key in tuples_of(keys)], type(attacker).__name__)


def _listed(guesses: Iterable[Any], name: str) -> Guesses:
    place: dict[Any, int] = {}
    try:
        which = [-1 if g is None else place.setdefault(g, len(place)) for g in guesses]
    except TypeError:
        raise TypeError(f"{name}.predict must return a tuple of plain values, or None.") from None
    return Guesses(np.array(which, dtype=np.int64), list(place))


# ---------------------------------------------------------------- correct attribution


class CAPAttacker(PrivacyAttackerModel):
    """Guess the most frequent sensitive values of the synthetic rows that have the key; no guess where none has it.

    Among values that are equally frequent, the one that reaches that number first in the order of rows.

    Examples
    --------
    >>> import polars as pl
    >>> attacker = CAPAttacker()
    >>> attacker.fit(pl.DataFrame({"age": [30, 30, 40], "ill": ["no", "yes", "no"]}), ["age"], ["ill"])
    >>> attacker.predict((30,)), attacker.predict((50,)), attacker.score((30,), ("yes",))
    (('no',), None, 0.5)
    """

    def __init__(self) -> None:
        self._keys: list[Column] = []
        self._sensitive: list[Column] = []
        self._rows_of: dict[tuple[Any, ...], list[tuple[Any, ...]]] | None = None

    def fit(self, synthetic_data: Any, key_fields: Any, sensitive_fields: Any) -> None:
        """Learn the synthetic table."""
        frame = frame_of(synthetic_data, "synthetic_data")
        self._keys = same_dtype([frame[n] for n in key_fields])
        self._sensitive = same_dtype([frame[n] for n in sensitive_fields])
        self._rows_of = None

    def predict(self, key_data: Any) -> Any:
        """Return the guess for one key, or None."""
        return _most_frequent(self._pool(tuple(key_data)))

    def score(self, key_data: Any, sensitive_data: Any) -> Any:
        """Return the share of right values among the rows that the guess looks at, or None where there are none."""
        pool = self._pool(tuple(key_data))
        return pool.count(tuple(sensitive_data)) / len(pool) if pool else None

    def predict_many(self, keys: list[Column]) -> Guesses:
        """Return the guesses for many keys, given by columns."""
        cells = self._cells()
        (held, asked), n_codes = _joint_codes([[h, a] for h, a in zip(self._keys, keys, strict=True)])
        group = np.full(n_codes, -1, dtype=np.int64)
        group[held[cells.first]] = np.arange(len(cells.first))
        best = np.append(cells.winners(), -1)  # -1 is the place of the last
        return Guesses(best[group[asked]], cells.outcomes)

    def _cells(self) -> _Cells:
        group_code = _joint_codes([[c] for c in self._keys])[0][0]
        value_code = _joint_codes([[c] for c in self._sensitive])[0][0]
        first, group = _firsts(group_code)
        first_value, value = _firsts(value_code)
        return _cells(first, group, value, tuples_of([c.take(first_value) for c in self._sensitive]))

    def _groups(self) -> dict[tuple[Any, ...], list[tuple[Any, ...]]]:
        if self._rows_of is None:
            self._rows_of = {}
            for key, value in zip(tuples_of(self._keys), tuples_of(self._sensitive), strict=True):
                self._rows_of.setdefault(key, []).append(value)
        return self._rows_of

    def _pool(self, key: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        return self._groups().get(key, [])


class ZeroCAPAttacker(CAPAttacker):
    """As `CAPAttacker`; the score of a key that no synthetic row has is 0."""

    def score(self, key_data: Any, sensitive_data: Any) -> Any:
        """Return the share of right values among the synthetic rows with the key, 0 where there are none."""
        return super().score(key_data, sensitive_data) or 0


class GeneralizedCAPAttacker(CAPAttacker):
    """As `CAPAttacker`, with the rows of all keys that differ from the key in the fewest fields.

    The rows of these keys are put together key by key, in the order in which the keys appear.
    """

    def score(self, key_data: Any, sensitive_data: Any) -> Any:
        """Return the share of right values among the rows of the nearest keys.

        Raises
        ------
        ZeroDivisionError
            The synthetic table has no rows.
        """
        found = super().score(key_data, sensitive_data)
        if found is None:
            raise ZeroDivisionError("the synthetic table has no rows, so there is no nearest key.")
        return found

    def predict_many(self, keys: list[Column]) -> Guesses:
        """Return the guesses for many keys, given by columns."""
        cells = self._cells()
        pairs = zip(self._keys, keys, strict=True)
        codes = [equal_codes([h.take(cells.first), a], missing_equal=False)[0] for h, a in pairs]
        held, asked = np.stack([c[0] for c in codes]), np.stack([c[1] for c in codes], axis=1)
        if held.shape[1] == 0:
            return Guesses(np.full(len(asked), -1, dtype=np.int64), [])
        winners = (cells.winner_of_nearest((held != key[:, None]).sum(axis=0)) for key in asked)
        return Guesses(np.fromiter(winners, dtype=np.int64, count=len(asked)), cells.outcomes)

    def _pool(self, key: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        groups = self._groups()
        differing = [sum(a != b for a, b in zip(key, held, strict=True)) for held in groups]
        least = min(differing, default=0)
        near = (rows for rows, d in zip(groups.values(), differing, strict=True) if d == least)
        return [row for rows in near for row in rows]


class _Cells(NamedTuple):
    """How often each value occurs in each group of rows."""

    first: Ints  # first row of each group; groups are numbered by it
    group: Ints  # of each cell, ascending
    value: Ints
    size: Ints
    last: Ints  # place of the cell's last row, rows sorted by group
    outcomes: list[Any]

    def winners(self) -> Ints:
        """Return the value of each group that reaches the greatest number first."""
        order = np.lexsort([self.last, -self.size, self.group])
        starts = np.searchsorted(self.group, np.arange(len(self.first)))  # ascending groups: the same places after it
        return self.value[order][starts] if len(starts) else np.zeros(0, dtype=np.int64)

    def winner_of_nearest(self, distance: Ints) -> int:
        """Return the value that reaches the greatest number first in the rows of the groups at the least distance."""
        cells = np.flatnonzero((distance == distance.min())[self.group])
        value = self.value[cells]
        votes = np.bincount(value, weights=self.size[cells])
        last = np.zeros(len(votes), dtype=np.int64)
        np.maximum.at(last, value, self.last[cells])
        best = np.flatnonzero(votes == votes.max())
        return int(best[np.argmin(last[best])])


def _cells(first: Ints, group: Ints, value: Ints, outcomes: list[Any]) -> _Cells:
    n_values = max(1, len(outcomes))
    order = np.argsort(group, kind="stable")
    ids = group[order] * n_values + value[order]
    distinct, inverse, count = np.unique(ids, return_inverse=True, return_counts=True)
    last = np.zeros(len(distinct), dtype=np.int64)
    np.maximum.at(last, inverse, np.arange(len(ids)))
    return _Cells(first, distinct // n_values, distinct % n_values, count.astype(np.int64), last, outcomes)


def _most_frequent(values: Iterable[Any]) -> Any:
    """Return the value that reaches the greatest number first; None counts for nothing."""
    seen: dict[Any, int] = {}
    best, most = None, 0
    for v in values:
        if v is not None:
            seen[v] = seen.get(v, 0) + 1
            if seen[v] > most:
                best, most = v, seen[v]
    return best


# ---------------------------------------------------------------- models of scikit-learn


class _Categories(NamedTuple):
    """The sorted values of one column of the synthetic table, as scikit-learn's encoders have them."""

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
    """Return the column with text in the place of each nan and None."""
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
        The values cannot be sorted, such as numbers beside text, or numbers of which some are missing.
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
        ordered = sorted(set(there.tolist()))
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
        found = self.predict_many(_one_row(tuple(key_data)))
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
        first, which[known] = _firsts(codes[0])
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
        return list(zip(*(_values_of(p) for p in parts), strict=True))

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


class CategoricalEnsembleAttacker(PrivacyAttackerModel):
    """Guess what most attackers guess.

    Parameters
    ----------
    attackers
        Classes of attackers, called without arguments. Of guesses named equally often, the one that the attackers,
        taken in this order, name so often first. An attacker without a guess has no vote.
    """

    def __init__(self, attackers: Iterable[Callable[[], Any]] = ()) -> None:
        self.attackers = [attacker() for attacker in attackers]

    def fit(self, synthetic_data: Any, key_fields: Any, sensitive_fields: Any) -> None:
        """Let each attacker learn the synthetic table."""
        for attacker in self.attackers:
            attacker.fit(synthetic_data, key_fields, sensitive_fields)

    def predict(self, key_data: Any) -> Any:
        """Return the guess for one key, or None where no attacker has one."""
        return _most_frequent(attacker.predict(key_data) for attacker in self.attackers)

    def predict_many(self, keys: list[Column]) -> Guesses:
        """Return the guesses for many keys, given by columns."""
        place: dict[Any, int] = {}
        votes = np.full((len(self.attackers), len(keys[0])), -1, dtype=np.int64)
        for i, attacker in enumerate(self.attackers):
            which, outcomes = _guesses_of(attacker, keys)
            places = [place.setdefault(o, len(place)) for o in outcomes]
            votes[i] = np.array([*places, -1], dtype=np.int64)[which]
        return Guesses(_majorities(votes), list(place))


def _majorities(votes: Ints) -> Ints:
    """Return, for each column, the value that reaches the greatest number first from the top; -1 is no vote."""
    best, most = np.full(votes.shape[1], -1, dtype=np.int64), np.zeros(votes.shape[1], dtype=np.int64)
    for i, vote in enumerate(votes):
        so_far = (votes[: i + 1] == vote).sum(axis=0)
        better = (vote >= 0) & (so_far > most)
        best[better], most[better] = vote[better], so_far[better]
    return best


# ---------------------------------------------------------------- the metrics


def categorical_adapter(attacker_class: Callable[..., Any]) -> Callable[..., dict[str, Any]]:
    """Return the metric of an attacker: 1 less the share of real rows whose sensitive fields are all guessed.

    Parameters
    ----------
    attacker_class
        Called with `model_kwargs`.

    Returns
    -------
    callable
        Takes the arguments of SDMetrics' `compute` and `seed`, gives {"score": float}. It raises what
        `fields.attack_tables` and the attacker raise, and ZeroDivisionError where there are no real rows.
    """

    def breakdown(
        real_data: Any,
        synthetic_data: Any,
        metadata: Any = None,
        table_name: str | None = None,
        key_fields: Any = None,
        sensitive_fields: Any = None,
        model_kwargs: Any = None,
        *,
        seed: int = 0,
    ) -> dict[str, Any]:
        real, _, keys, sensitive = attack_tables(
            real_data, synthetic_data, metadata, table_name, key_fields, sensitive_fields, CATEGORICAL
        )
        attacker = attacker_class(**(model_kwargs or {}))
        _draw_from(attacker, np.random.RandomState(seed))
        attacker.fit(first_table(synthetic_data), keys, sensitive)
        return {"score": 1.0 - _share_guessed(attacker, real, keys, sensitive)}

    return breakdown


def _draw_from(attacker: Any, random: np.random.RandomState) -> None:
    """Let all models draw from one generator, as they share numpy's in SDMetrics."""
    if isinstance(attacker, CategoricalSklearnAttacker):
        attacker._random = random
    if isinstance(attacker, CategoricalEnsembleAttacker):
        for part in attacker.attackers:
            _draw_from(part, random)


def _share_guessed(attacker: Any, real: Frame, keys: list[Hashable], sensitive: list[Hashable]) -> float:
    if len(real) == 0:
        raise ZeroDivisionError("`real_data` has no rows, so there is no share of them.")
    key, which_key = distinct_rows(real, keys)
    truth, which_truth = distinct_rows(real, sensitive)
    guesses = _guesses_of(attacker, key)
    place = {t: i for i, t in enumerate(tuples_of(truth))}
    as_truth = np.array([*(place.get(o, -1) for o in guesses.outcomes), -1], dtype=np.int64)
    return int((as_truth[guesses.which][which_key] == which_truth).sum()) / len(real)


def categorical_ensemble(
    real_data: Any,
    synthetic_data: Any,
    metadata: Any = None,
    table_name: str | None = None,
    key_fields: Any = None,
    sensitive_fields: Any = None,
    model_kwargs: Any = None,
    *,
    seed: int = 0,
) -> dict[str, Any]:
    """Return the metric of `CategoricalEnsembleAttacker`.

    Without attackers the score *is* a ValueError, which SDMetrics returns and does not raise.
    """
    given = model_kwargs or {}
    if "attackers" not in given:
        return {"score": ValueError("No attackers specified.")}
    if not isinstance(given["attackers"], list) or len(given["attackers"]) == 0:
        return {"score": ValueError("Zero attackers specified")}
    return categorical_adapter(CategoricalEnsembleAttacker)(
        real_data, synthetic_data, metadata, table_name, key_fields, sensitive_fields, model_kwargs, seed=seed
    )


METRICS: tuple[tuple[str, str, Callable[..., dict[str, Any]], None, str], ...] = (
    (
        "CategoricalKNN",
        "K-Nearest Neighbors",
        categorical_adapter(CategoricalKNNAttacker),
        None,
        "How hard it is to guess sensitive fields by a vote of the five synthetic rows with the nearest keys.",
    ),
    (
        "CategoricalNB",
        "Categorical NaiveBayesian",
        categorical_adapter(CategoricalNBAttacker),
        None,
        "How hard it is to guess sensitive fields by naive Bayes, learnt from the synthetic table.",
    ),
    (
        "CategoricalRF",
        "Categorical Random Forest",
        categorical_adapter(CategoricalRFAttacker),
        None,
        "How hard it is to guess sensitive fields by a random forest, learnt from the synthetic table.",
    ),
    (
        "CategoricalSVM",
        "Support Vector Classifier",
        categorical_adapter(CategoricalSVMAttacker),
        None,
        "How hard it is to guess sensitive fields by support vector machines, learnt from the synthetic table.",
    ),
    (
        "CategoricalEnsemble",
        "Ensemble",
        categorical_ensemble,
        None,
        "How hard it is to guess sensitive fields by a vote of attackers, the classes given in "
        '`model_kwargs={"attackers": [...]}`. Without them the score is a ValueError, returned and not raised.',
    ),
)
"""Of each metric: name, title, adapter, what `compute` gives where it is not the score, and first paragraph."""
