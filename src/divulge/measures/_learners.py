"""Models that learn to predict a column: their training rows, the models, and losses of test people."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from divulge.case.case import Case
from divulge.measures._refits import leaves
from divulge.measures._rows import TableRows, indicators, tree_matrix

__all__ = [
    "MODELS",
    "Answer",
    "Lesson",
    "block_labels",
    "dealt_blocks",
    "fitted",
    "lesson_of",
    "losses",
    "ridge_features",
    "usual_targets",
]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MODELS = ("gradient boosting", "linear", "tree")
Answer = Callable[[Floats], Floats]
"""Takes rows as a `TableRows` has them without the target; returns the prediction, shape (n, n_outputs)."""
_CLASSES = 5
_BLOCKS = 32  # of each training table
_TARGETS = 3
_CELLS = 10_000  # cells of the cross table of a pair at most; start value
_LEAVES = 32  # of the tree
_TREES, _DEPTH = 8, 3  # of the random trees of the ridge
_BOOSTED = 120  # trees of one boosting: one for each class and iteration; start value
_BINS, _COMMONEST = 5, 10  # of its indicators


@dataclass(frozen=True, slots=True, eq=False)
class Lesson:
    """What is to be predicted from what."""

    target: str
    is_number: bool
    of_place: Floats
    """Shape (n_places,): the outcome of each place of the target; for a category the class, 0 to 4."""
    column: int
    """The target among the columns of the rows."""
    numeric: tuple[bool, ...]
    """Of the other columns."""
    n_classes: int

    def known(self, rows: TableRows) -> Floats:
        """Return the other columns."""
        return np.delete(rows.x, self.column, axis=1)

    def has(self, rows: TableRows) -> NDArray[np.bool_]:
        """Return which rows have a value of the target; to a category missing is a value."""
        return np.asarray(rows.x[:, self.column] >= 0) if self.is_number else np.ones(len(rows), dtype=bool)

    def taught(self, rows: TableRows) -> TableRows:
        """Return the rows that have a value of the target."""
        return rows.take(self.has(rows)) if self.is_number else rows

    def outcome(self, rows: TableRows) -> Floats:
        """Return the outcome of each row, shape (n, n_outputs): a number in units of its spread, or one of classes."""
        place = rows.x[:, self.column]
        if self.is_number:
            return self.of_place[place.astype(np.int64)][:, None]
        return np.eye(self.n_classes)[self.classes(rows)]

    def classes(self, rows: TableRows) -> Ints:
        """Return the class of each row: the four commonest values of people, and all others."""
        place = rows.x[:, self.column]
        return np.where(place < 0, self.n_classes - 1, np.minimum(place, self.n_classes - 1)).astype(np.int64)


def lesson_of(case: Case, rows: TableRows, target: str) -> Lesson:
    """Return what a model learns of a target, from real rows."""
    column = rows.names.index(target)
    is_number = rows.numeric[column]
    others = (*rows.numeric[:column], *rows.numeric[column + 1 :])
    place = rows.x[:, column]
    if not is_number:
        return Lesson(target, False, np.empty(0), column, others, int(min(_CLASSES, place.max(initial=0) + 2)))
    numbers = case.numbers(target)
    # places are ranks of the numbers that occur in any table, infinite ones among them
    levels = np.unique(numbers[~np.isnan(numbers) & case.encoded.occurs(target)])
    own = place[place >= 0].astype(np.int64)
    levels = _squarable(levels, levels[own])
    finite = levels[own][np.isfinite(levels[own])]
    low, high = np.quantile(finite, [0.005, 0.995]) if len(finite) else (0.0, 1.0)
    # beyond these quantiles of the real rows a number counts as the quantile: squares of a few values would decide
    clipped = np.clip(levels, low, high)
    spread = float(np.std(clipped[own])) if len(own) else 0.0
    return Lesson(target, True, (clipped - low) / (spread if spread > 0 else 1.0), column, others, 1)


def _squarable(levels: Floats, own: Floats) -> Floats:
    """Return numbers by a power of two, so that squares of the real rows' own are floats; units do not matter here."""
    largest = float(np.abs(own[np.isfinite(own)]).max(initial=0.0))
    if largest == 0 or 1e-100 < largest < 1e100:
        return levels
    with np.errstate(over="ignore"):  # numbers of other tables, which count as a quantile of the real ones
        return np.ldexp(levels, -int(np.frexp(largest)[1]))


def usual_targets(case: Case, names: Sequence[str], most: int = _TARGETS) -> tuple[str, ...]:
    """Return the columns with the target role, else those most strongly associated with another one in the real table.

    An association that determines the other column (Cramer's V above 0.99) does not count: it is a code written twice.
    """
    wanted = [n for n in case.schema.with_role("target") if n in names]
    if wanted:
        return tuple(sorted(wanted))
    best = dict.fromkeys(sorted(names), -1.0)
    for a, b in combinations(sorted(names), 2):
        if case.n_codes(a) * case.n_codes(b) > _CELLS:
            continue
        v = round(_association(case, (a, b)), 9)
        for name in (a, b) if v <= 0.99 else ():
            best[name] = max(best[name], v)
    return tuple(sorted(sorted(best, key=lambda n: (-best[n], n))[:most]))


def _association(case: Case, pair: tuple[str, str]) -> float:
    """Return Cramér's V of two columns of the real table, with Bergsma's correction; 0 where one is constant."""
    from scipy.stats.contingency import association

    a, b = (case.codes(n)[0].astype(np.int64) for n in pair)
    shape = [case.n_codes(n) for n in pair]
    table = np.bincount(a * shape[1] + b, minlength=shape[0] * shape[1]).reshape(shape)
    table = table[table.any(axis=1)][:, table.any(axis=0)]
    n, (rows, columns) = int(table.sum()), table.shape
    if min(rows, columns) < 2 or n < 2:
        return 0.0
    phi = association(table, method="cramer") ** 2 * (min(rows, columns) - 1)
    phi = max(0.0, phi - (rows - 1) * (columns - 1) / (n - 1))
    least = min(k - (k - 1) ** 2 / (n - 1) for k in (rows, columns)) - 1
    return float(np.sqrt(min(1.0, phi / least))) if least > 0 else 0.0


def fitted(model: str, lesson: Lesson, rows: TableRows) -> Answer:
    """Return a model that was taught these rows."""
    x = lesson.known(rows)
    if model == MODELS[1]:
        return _linear(lesson, x, rows)
    if model == MODELS[2]:
        return _tree(lesson, x, rows)
    matrix, categories = tree_matrix(x, lesson.numeric)
    if lesson.is_number:
        answer = _boosting(matrix, lesson.outcome(rows)[:, 0], categories)
        return lambda asked: np.asarray(answer(tree_matrix(asked, lesson.numeric)[0]))[:, None]
    classes = lesson.classes(rows)
    known = np.unique(classes)
    if len(known) == 1:
        return lambda asked: np.tile(np.eye(lesson.n_classes)[known[0]], (len(asked), 1))
    chances = _boosting(matrix, classes, categories, len(known))
    return lambda asked: _spread_out(chances(tree_matrix(asked, lesson.numeric)[0]), known, lesson.n_classes)


def _boosting(x: Floats, y: NDArray[Any], categories: Sequence[bool], n_classes: int = 0) -> Answer:
    """Return a model of numbers, or of classes, as a function of features.

    One thread: with several the sums depend on their number.
    """
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    n_iterations = int(np.clip(_BOOSTED // max(1, n_classes - (n_classes == 2)), 20, 40))
    filled = np.asarray(~np.isnan(x).all(axis=0))  # without columns that are missing in all training rows
    if not filled.any():
        filled[0], x = True, np.zeros_like(x)
    model = (HistGradientBoostingClassifier if n_classes else HistGradientBoostingRegressor)(
        max_iter=n_iterations, learning_rate=5 / n_iterations, max_leaf_nodes=8, l2_regularization=1.0,
        early_stopping=False, random_state=0,
        categorical_features=[c for c, f in zip(categories, filled, strict=True) if f],
    )  # fmt: skip
    with threadpool_limits(1, user_api="openmp"), warnings.catch_warnings(action="ignore"):  # it warns of many classes
        model.fit(x[:, filled], y)
    predict = model.predict_proba if n_classes else model.predict

    def answer(asked: Floats) -> Floats:
        with threadpool_limits(1, user_api="openmp"):
            return np.asarray(predict(asked[:, filled]))

    return answer


def _spread_out(chances: Floats, known: Ints, n: int) -> Floats:
    out = np.zeros((len(chances), n))
    out[:, known] = chances
    return out


def _linear(lesson: Lesson, x: Floats, rows: TableRows) -> Answer:
    from sklearn.linear_model import LogisticRegression, Ridge

    coder = _Indicators(x, lesson.numeric)
    known = np.unique(lesson.classes(rows)) if not lesson.is_number else np.empty(0, dtype=np.int64)
    with threadpool_limits(1), warnings.catch_warnings(action="ignore"):
        if lesson.is_number or len(known) == 1:
            ridge = Ridge(alpha=1.0).fit(coder(x), lesson.outcome(rows))
            return lambda asked: np.asarray(ridge.predict(coder(asked))).reshape(len(asked), -1)
        model = LogisticRegression(max_iter=100).fit(coder(x), lesson.classes(rows))
    return lambda asked: _spread_out(model.predict_proba(coder(asked)), known, lesson.n_classes)


def _tree(lesson: Lesson, x: Floats, rows: TableRows) -> Answer:
    from sklearn.tree import DecisionTreeRegressor

    # a regression tree of class indicators has the leaves of a tree by Gini impurity, and their shares as answers
    least = max(1, min(20, len(x) // 20))
    tree = DecisionTreeRegressor(max_leaf_nodes=_LEAVES, min_samples_leaf=least, random_state=0)
    tree.fit(x, lesson.outcome(rows))
    return lambda asked: np.asarray(tree.predict(asked)).reshape(len(asked), -1)


class _Indicators:
    """Indicators of rows in the bins and categories of the rows that a model was taught."""

    def __init__(self, x: Floats, numeric: Sequence[bool]) -> None:
        self._numeric = numeric
        self._inner = [
            np.unique(np.quantile(v[v >= 0], np.arange(1, 10) / 10, method="inverted_cdf")) if n and (v >= 0).any()
            else np.empty(0)
            for v, n in zip(x.T, numeric, strict=True)
        ]  # fmt: skip
        self._known = [np.unique(self._level(j, v)) for j, v in enumerate(x.T)]

    def _level(self, j: int, values: Floats) -> Floats:
        if not self._numeric[j]:
            return np.minimum(values, 30.0)
        return np.where(values < 0, values, np.searchsorted(self._inner[j], values, side="left").astype(np.float64))

    def __call__(self, x: Floats) -> Floats:
        return np.hstack([(self._level(j, v)[:, None] == self._known[j]).astype(np.float64) for j, v in enumerate(x.T)])


def losses(answer: Answer, lesson: Lesson, rows: TableRows) -> Floats:
    """Return the squared error of each person (for classes the Brier score), shape (n,)."""
    with threadpool_limits(1):
        return np.asarray(((answer(lesson.known(rows)) - lesson.outcome(rows)) ** 2).sum(axis=1))


def ridge_features(x: Floats, numeric: Sequence[bool]) -> Floats:
    """Return features of a small linear model: indicators of coarse bins, leaves of a few random trees, a constant."""
    margins = indicators(x, numeric, _BINS, _COMMONEST)
    return np.hstack([np.ones((len(x), 1)), margins, leaves(x, _TREES, _DEPTH) * math.sqrt(_TREES) / 4])


def dealt_blocks(rows: TableRows, rng: np.random.Generator) -> Ints:
    """Return the block of each training row: units are dealt at random into 32 blocks."""
    n_units = int(rows.unit.max()) + 1
    return np.asarray((rng.permutation(n_units) % min(_BLOCKS, n_units))[rows.unit])


def block_labels(one: Ints, other: Ints, draws: int, rng: np.random.Generator) -> Floats:
    """Return which blocks count as the first table: the truth and permutations, shape (1 + draws, n_blocks)."""
    truth = np.repeat([1.0, 0.0], [int(b.max()) + 1 for b in (one, other)])
    return np.stack([truth, *(rng.permutation(truth) for _ in range(draws))])
