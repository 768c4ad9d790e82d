"""The attacker who learns: a gradient boosting trained on a table, asked about people.

Every number that the model sees is a rank among the values of its training table, every category a number that its
name does not enter, and training rows stand in the order of `Canonical`: the order of rows, the unit of a number, the
number of threads and (where counts tell categories apart) names change no digit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.attacks.inference._guesses import Guesses
from divulge.attacks.inference._target import TargetValues
from divulge.case.case import Case
from divulge.case.invariant_order import canonical_of

__all__ = ["model_answers", "reference_answers"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Codes = NDArray[np.int32]

MOST_CLASSES = 60
"""Values (or cells of numbers) that are guessed; the rarer ones are one class that is never guessed."""
MOST_ROWS = 100_000
"""Rows that a model is trained on; of more as many are drawn."""
MOST_CATEGORIES = 254
"""Categories that scikit-learn can tell apart in a column; more are ranked by how often they occur."""
FOLDS = 5
FEWEST_STRANGERS = 20
_TREES = 250  # of one model: a tree for each class and iteration
_LEAVES = 15
_ITERATIONS = (10, 100)
_LEARNT = 10.0  # iterations times learning rate
_FASTEST = 0.3
_SHRINKAGE = 5.0  # without it rare classes get leaves of any height: Adult's "country" falls from 0.90 to 0.57 right
_CELLS_BELOW, _CELLS_ABOVE = 7, 17  # of the 5% quantile; the ends are open
_BLOCK = 50_000


def model_answers(case: Case, known: Sequence[str], secret: TargetValues) -> Guesses:
    """Return what a model trained on the synthetic table says about all people.

    The classes of a categorical target are its values, missing among them. A numeric target is cut into cells of
    twice its tolerance, from the 5% quantile of the training table's values; a cell's guess is the median of the
    training values there, and missing and values that are no numbers are classes of their own. The answer is the
    guess that the model thinks likeliest to be right (about a number, in the cells beside its own, too), and that
    probability is the confidence.

    Parameters
    ----------
    case
        Rows in memory.
    known
        Columns that the attacker knows; without any (or with constant ones alone) the answer is the commonest class.
    secret
        The target, which is not among the known.

    Notes
    -----
    Remains of names: categories of a column that are equally frequent beside the same other values are told apart by
    their code, and so are values of a numeric target that are no numbers.

    Examples
    --------
    >>> import polars as pl
    >>> from divulge.attacks.inference._target import target_values
    >>> from divulge.case.case import build_case
    >>> people = pl.DataFrame({"k": list("abc") * 60, "t": list("xyy") * 60})
    >>> case = build_case(people, people)
    >>> float(model_answers(case, ["k"], target_values(case, "t")).right.mean())
    1.0
    """
    room = _Room(case, known, secret, 1)
    lesson = _learn(room, _capped(case, room.order, f"model {secret.name}"))
    right, sure = lesson.ask(np.arange(len(secret.people)))
    return Guesses(right, sure, "gradient boosting trained on the synthetic table" + lesson.in_words(len(room.order)))


def reference_answers(case: Case, known: Sequence[str], secret: TargetValues) -> Guesses | None:
    """Return what the same learner says who has never seen the synthetic table, but other people.

    With a holdout members are asked of a model trained on all holdout rows; strangers, whom it has seen, are not
    asked: their answers are 0, with a confidence of 0. Without one, members are asked of models trained on the other
    four fifths of the real table; rows of one unit are in one fold, and people with the same record get the mean of
    their answers.

    Returns
    -------
    Guesses or None
        None with fewer than 20 people (units) to learn from.
    """
    which, role = (2, "holdout") if case.has_holdout else (0, "real")
    room = _Room(case, known, secret, which)
    fold = _folds(case, room, case.units(role))
    if fold is None:
        return None
    right, sure = (np.zeros(len(secret.people)) for _ in range(2))
    if case.has_holdout:
        members = np.arange(case.n_rows("real"))
        lesson = _learn(room, _capped(case, room.order, f"reference {secret.name}"))
        right[members], sure[members] = lesson.ask(members)
        return Guesses(right, sure, "gradient boosting trained on strangers, without the synthetic table")
    for f in range(FOLDS):
        others = room.order[fold[room.order] != f]
        asked = np.flatnonzero(fold == f)
        lesson = _learn(room, _capped(case, others, f"reference {secret.name} {f}"))
        right[asked], sure[asked] = lesson.ask(asked)
    same = room.same()
    right, sure = (_mean_of_equals(v, same) for v in (right, sure))
    return Guesses(right, sure, "gradient boosting trained on other members, without the synthetic table")


class _Room:
    """The columns of a case as a model sees them that is trained on one of its tables (0 real, 1 synthetic, 2 holdout).

    What a model says about a person depends on the training table and on what is known of the person alone.
    """

    def __init__(self, case: Case, known: Sequence[str], secret: TargetValues, which: int) -> None:
        self.case, self.secret, self.which = case, secret, which
        self.known = sorted(known)
        names = tuple(sorted({*known, secret.name}))
        self.canonical = canonical_of(case, names, [which])
        self.place = {n: i for i, n in enumerate(names)}
        self.order = self.canonical.order(which)
        """The rows of the training table in canonical order."""
        n_real = case.n_rows("real")
        self.target = (secret.people[:n_real], secret.synthetic, secret.people[n_real:])[which]

    @property
    def hashes(self) -> NDArray[np.uint64]:
        """A hash of each row of the training table."""
        return self.canonical.rows[0]

    def rank(self, column: str, codes: Codes) -> Ints:
        """Return the place of some distinct codes of a categorical column in canonical order."""
        place = np.empty(len(codes), dtype=np.int64)
        ordered = self.canonical.sorted_codes(self.place[column], codes)
        place[np.searchsorted(codes, ordered)] = np.arange(len(codes))
        return place

    def same(self) -> Ints:
        """Return a number for each row of the training table that rows of the same record share."""
        columns: list[NDArray[Any]] = [self.canonical.codes(j, self.which)[self.order] for j in range(len(self.place))]
        columns.append(self.hashes[self.order])
        changes = np.any([np.diff(c, prepend=c[:1]) != 0 for c in columns], axis=0)
        same = np.empty(len(self.order), dtype=np.int64)
        same[self.order] = np.cumsum(changes)
        return same

    def is_numeric(self, column: str) -> bool:
        return self.case.schema[column].kind in ("numeric", "datetime")


@dataclass(frozen=True, slots=True)
class _Feature:
    """One known column: the number that stands for each of its codes, nan for missing and for the unknown."""

    of_code: Floats
    people: Codes
    is_category: bool


def _feature(room: _Room, column: str, rows: Ints) -> _Feature | None:
    """Return a column as the training rows let a model see it; None where they are all alike."""
    codes = room.case.codes(column, binned=False)
    trained = codes[room.which][rows]
    counts = np.bincount(trained, minlength=room.case.n_codes(column, binned=False))
    seen = np.flatnonzero(counts[1:] > 0) + 1
    of_code = np.full(len(counts), np.nan)
    is_category = False
    if room.is_numeric(column):
        numbers = room.case.numbers(column)
        values = np.unique(numbers[seen][~np.isnan(numbers[seen])])
        is_number = ~np.isnan(numbers)
        low, high = (np.searchsorted(values, numbers[is_number], side=side) for side in ("left", "right"))
        of_code[is_number] = (low + high - 1) / 2  # between two values of the training table: between their ranks
    else:
        place = room.rank(column, seen.astype(np.int32))
        is_category = len(seen) <= MOST_CATEGORIES
        order = np.lexsort((place, np.zeros_like(place) if is_category else -counts[seen]))
        of_code[seen[order]] = np.arange(len(seen))
    held = of_code[counts > 0]
    if len(np.unique(held)) < 2:  # one value, or missing throughout
        return None
    return _Feature(of_code, np.concatenate([codes[i] for i in range(len(codes)) if i != 1]), is_category)


@dataclass(frozen=True, slots=True)
class _Classes:
    """What a model can answer."""

    of_row: Ints
    """Shape (n_rows,): class of each training row; `len(guess)` is the rest, which is never guessed."""
    guess: Codes
    """Shape (n_classes,): the code that is guessed in each class."""
    met: Floats | None
    """Shape (n_classes or one more, n_classes): part of the training rows of a class about which the guess of another
    is right; None where a guess is right about its own class alone."""
    n_unnamed: int
    """Values or cells that are never guessed."""


def _classes(room: _Room, codes: Codes) -> _Classes:
    """Return the classes of the target, in an order that names of values do not enter."""
    secret = room.secret
    label = _labels(room, codes)
    values, of_row, counts = np.unique(label, return_inverse=True, return_counts=True)
    kept = np.sort(np.lexsort((values, -counts))[:MOST_CLASSES])
    number = np.full(len(values), len(kept))
    number[kept] = np.arange(len(kept))
    of_row = number[of_row.ravel()]
    # the lower median of the rows of a class, as a code: no arithmetic on values
    order = np.lexsort((secret.numbers[codes], of_row))
    size = counts[kept]
    middle = np.cumsum(size) - size + (size - 1) // 2
    guess = codes[order][middle]
    return _Classes(of_row, guess, _met(secret, codes, of_row, guess), len(values) - len(kept))


def _met(secret: TargetValues, codes: Codes, of_row: Ints, guess: Codes) -> Floats | None:
    if secret.tolerance == 0:
        return None
    size = np.bincount(of_row)
    hits = [np.bincount(of_row, weights=secret.right(codes, np.full_like(codes, g))) for g in guess]
    return np.stack(hits, axis=1) / size[:, None]


def _labels(room: _Room, codes: Codes) -> Ints:
    """Return a number for each row of the target that rows of its class share."""
    secret = room.secret
    if not secret.is_numeric:
        seen, inverse = np.unique(codes, return_inverse=True)
        return room.rank(secret.name, seen.astype(np.int32))[inverse]
    numbers = secret.numbers[codes]
    known = np.isfinite(numbers)
    label = _CELLS_BELOW + _CELLS_ABOVE + 1 + codes.astype(np.int64)
    if not known.any():
        return label
    if secret.tolerance == 0:
        return np.asarray(np.argsort(np.argsort(secret.numbers, kind="stable"), kind="stable")[codes])
    label[known] = _cells_of(numbers[known], secret.tolerance)
    return label


def _cells_of(numbers: Floats, tolerance: float) -> Ints:
    """Return the cell of each number: twice the tolerance wide, laid from the 5% quantile, the ends open."""
    start = np.sort(numbers)[(5 * len(numbers)) // 100]
    cell = np.floor((numbers - start) / (2 * tolerance) + 1e-9)  # rounding: a value on an edge belongs above it
    return np.asarray(np.clip(cell, -_CELLS_BELOW, _CELLS_ABOVE).astype(np.int64) + _CELLS_BELOW)


@dataclass(frozen=True, slots=True, eq=False)
class _Lesson:
    """A trained model, or the shares of the classes where nothing can be learnt."""

    secret: TargetValues
    classes: _Classes
    features: tuple[_Feature, ...]
    chance: Callable[[Floats], Floats]
    """From features, shape (n, n_features), to the probability of each class, shape (n, n_classes)."""
    n_rows: int

    def ask(self, people: Ints) -> tuple[Floats, Floats]:
        """Return how likely the answer about some people is right, and how sure the model is."""
        right, sure = np.zeros(len(people)), np.zeros(len(people))
        for first in range(0, len(people), _BLOCK):
            block = slice(first, first + _BLOCK)
            right[block], sure[block] = self._ask(people[block])
        return right, sure

    def _ask(self, people: Ints) -> tuple[Floats, Floats]:
        x = np.zeros((len(people), len(self.features)))
        for j, f in enumerate(self.features):
            x[:, j] = f.of_code[f.people[people]]
        guess = self.classes.guess
        chance = self.chance(x)
        if self.classes.met is not None:
            chance = np.einsum("ic,cg->ig", chance, self.classes.met)  # no BLAS: its digits depend on threads
        # rounded: two guesses are equally good though their last digits differ
        chance = np.round(chance[:, : len(guess)], 9)
        sure = chance.max(axis=1)
        truth = self.secret.people[people]
        hits, n_best = np.zeros(len(people)), np.zeros(len(people))
        for c, code in enumerate(guess):
            best = np.flatnonzero(chance[:, c] == sure)
            hits[best] += self.secret.right(truth[best], np.full(len(best), code))
            n_best[best] += 1
        return hits / n_best, sure

    def in_words(self, n_rows: int) -> str:
        """Return what was left out of the training, "" when nothing was."""
        out = ""
        if self.n_rows < n_rows:
            out += f" ({self.n_rows:,} of its {n_rows:,} rows)"
        if self.classes.n_unnamed:
            out += f"; the {self.classes.n_unnamed:,} rarest values are never guessed"
        return out


def _learn(room: _Room, rows: Ints) -> _Lesson:
    classes = _classes(room, room.target[rows])
    shares = np.bincount(classes.of_row) / len(rows)
    found = [(n, f) for n in room.known if (f := _feature(room, n, rows)) is not None]
    features = tuple(f for _, f in found)
    lesson = _Lesson(room.secret, classes, features, lambda x: np.tile(shares, (len(x), 1)), len(rows))
    if not 2 <= len(shares) <= len(rows) / 2 or not features:  # hardly a value occurs twice: nothing can be learnt
        return lesson
    x = np.stack([f.of_code[room.case.codes(n, binned=False)[room.which][rows]] for n, f in found], axis=1)
    model = _boosted(x, classes.of_row, [f.is_category for f in features], len(shares))
    return replace(lesson, chance=model)


def _boosted(x: Floats, y: Ints, categories: list[bool], n_classes: int) -> Callable[[Floats], Floats]:
    from sklearn.ensemble import HistGradientBoostingClassifier

    n_iterations = int(np.clip(_TREES // (n_classes if n_classes > 2 else 1), *_ITERATIONS))
    model: Any = HistGradientBoostingClassifier(
        max_iter=n_iterations,
        learning_rate=min(_FASTEST, _LEARNT / n_iterations),
        max_leaf_nodes=_LEAVES,
        l2_regularization=_SHRINKAGE,
        categorical_features=categories,
        early_stopping=False,
        random_state=0,
    )
    with _one_thread():
        model.fit(x, y)

    def chance(asked: Floats) -> Floats:
        with _one_thread():
            return np.asarray(model.predict_proba(asked))

    return chance


def _one_thread() -> Any:
    """Context of one OpenMP thread: targets run side by side, and threads of threads wait for each other."""
    from threadpoolctl import threadpool_limits

    return threadpool_limits(1, user_api="openmp")


def _capped(case: Case, rows: Ints, step: str) -> Ints:
    """Return at most `MOST_ROWS` rows, in the order given."""
    if len(rows) <= MOST_ROWS:
        return rows
    return rows[np.sort(case.rng(step).choice(len(rows), MOST_ROWS, replace=False))]


def _folds(case: Case, room: _Room, units: Ints | None) -> Ints | None:
    """Return the fold of each row of the training table, units in one piece; None where there are too few of them."""
    order = room.order
    unit = np.arange(len(order)) if units is None else np.unique(units, return_inverse=True)[1].ravel()
    n_units = int(unit.max()) + 1
    if n_units < FEWEST_STRANGERS:
        return None
    # a unit's place is decided by its records: units of the same records may change places
    total = np.zeros(n_units, dtype=np.uint64)
    np.add.at(total, unit, room.hashes)
    place = np.empty(n_units, dtype=np.int64)
    first = np.full(n_units, len(order))
    np.minimum.at(first, unit[order], np.arange(len(order)))
    place[np.lexsort((first, total))] = np.arange(n_units)
    fold = case.rng(f"folds {room.secret.name}").permutation(n_units) % FOLDS
    return np.asarray(fold[place][unit])


def _mean_of_equals(values: Floats, same: Ints) -> Floats:
    """Return for each row the mean over the rows of the same record, added up smallest first."""
    order = np.lexsort((values, same))
    total = np.bincount(same[order], weights=values[order])
    return np.asarray((total / np.bincount(same))[same])
