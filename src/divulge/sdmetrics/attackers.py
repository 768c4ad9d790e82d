"""SDMetrics' attackers on categories: they learn the synthetic table and guess sensitive fields from keys.

Each has `fit` and `predict` for one tuple, as in SDMetrics. The metrics call `predict_many` for all distinct keys at
once; for an attacker with only `predict`, such as a user's own, they call it for each key. The attackers of this file
look up rows; those of `classifiers` train a model.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from divulge.kernels.counts.contingency import joint
from divulge.sdmetrics.columns import Column, Frame, equal_codes, frame_of, no_equal, same_dtype

__all__ = [
    "CAPAttacker",
    "GeneralizedCAPAttacker",
    "Guesses",
    "PrivacyAttackerModel",
    "ZeroCAPAttacker",
    "answers_many",
    "distinct_rows",
    "first_rows",
    "guesses_of",
    "most_frequent",
    "one_row",
    "tuples_of",
]

Codes = NDArray[np.int32]
Ints = NDArray[np.int64]


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
    """Return the distinct rows of some columns, in the dtype of such a row, and the distinct row of each row.

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
    first, which = first_rows(_joint_codes([[c] for c in columns])[0][0])
    return [c.take(first) for c in columns], which


def first_rows(codes: Codes) -> tuple[Ints, Ints]:
    """Return the rows in which a code appears first, and for each row the rank of its code by first appearance."""
    first, inverse = np.unique(codes, return_index=True, return_inverse=True)[1:]
    order = np.argsort(first)
    rank = np.empty(len(first), dtype=np.int64)
    rank[order] = np.arange(len(first))
    return first[order].astype(np.int64), rank[inverse]


def _joint_codes(columns: Sequence[Sequence[Column]]) -> tuple[list[Codes], int]:
    """Return one code a row for several columns together; each column is given by its part in every table."""
    coded = [equal_codes(parts) for parts in columns]
    return joint([[c[0][t] for c in coded] for t in range(len(columns[0]))], [c[1] for c in coded])


def tuples_of(columns: Sequence[Column]) -> list[tuple[Any, ...]]:
    """Return the rows of some columns as tuples of the values that a row of a pandas frame gives."""
    return list(zip(*(c.as_objects().tolist() for c in columns), strict=True))


def one_row(key_data: Sequence[Any]) -> list[Column]:
    """Return a tuple of values as columns of one row."""
    columns = []
    for value in key_data:
        values = np.empty(1, dtype=object)
        values[0] = value
        missing = value is None or (isinstance(value, (float, np.floating)) and bool(np.isnan(value)))
        columns.append(Column("O", values, np.array([missing])))
    return columns


def answers_many(attacker: Any, one: str, many: str) -> bool:
    """Return whether an object's method for many keys follows the same rule as its method for one.

    It does not in a class derived from ours that replaces only the method for one.
    """
    for c in type(attacker).__mro__:
        if many in vars(c):
            return True
        if one in vars(c):
            return False
    return False


def guesses_of(attacker: Any, keys: list[Column]) -> Guesses:
    """Return the guesses of an attacker for many keys; one by one if it has no method for many."""
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

    Among equally frequent values it guesses the one that reaches this number first in the order of rows.

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
        return most_frequent(self._pool(tuple(key_data)))

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
        first, group = first_rows(group_code)
        first_value, value = first_rows(value_code)
        return _cells(first, group, value, tuples_of([c.take(first_value) for c in self._sensitive]))

    def _groups(self) -> dict[tuple[Any, ...], list[tuple[Any, ...]]]:
        if self._rows_of is None:
            for column in (*self._keys, *self._sensitive):
                equal_codes([column])  # refuses, by name, what no dictionary takes
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

    The rows of these keys are concatenated key by key, in the order in which the keys appear.
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
        try:
            differing = [sum(bool(a != b) for a, b in zip(key, held, strict=True)) for held in groups]
        except TypeError:
            raise no_equal(next((c.name for c in self._keys if c.missing.any()), None)) from None
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


def most_frequent(values: Iterable[Any]) -> Any:
    """Return the most frequent value, in ties the one that reaches the number first; None is not counted."""
    seen: dict[Any, int] = {}
    best, most = None, 0
    for v in values:
        if v is not None:
            seen[v] = seen.get(v, 0) + 1
            if seen[v] > most:
                best, most = v, seen[v]
    return best
