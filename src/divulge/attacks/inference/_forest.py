"""Inference by a model: a forest of extremely randomised trees, trained on a table and applied to people.

The model sees each number as a rank among the values of its training table and each category as its rank by frequency;
training rows are in the order of `Canonical`. So the result does not depend on the order of rows,
the unit of a number, the number of threads and, where counts tell categories apart, names.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.attacks.inference._guesses import Guesses
from divulge.attacks.inference._target import TargetValues
from divulge.case.case import Case
from divulge.case.invariant_order import canonical_of
from divulge.core.process_wide import quiet

__all__ = ["model_answers", "reference_answers"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Codes = NDArray[np.int32]

MOST_CLASSES = 25
"""Values that can be guessed; rarer ones are pooled in one class that is never guessed. All cells of a number."""
MOST_ROWS = 40_000
"""Most synthetic rows that a model is trained on; from more rows so many are drawn. A limit on the time."""
MOST_STRANGERS = 20_000
"""Most people that the model of the reference is trained on. A limit on the time."""
FOLDS = 5
FEWEST_STRANGERS = 20
_ALONE = threading.Lock()  # scikit-learn's forests set the warnings of the whole process anew, and warn where two do
# The learner's settings are from docs/decisions/attacks.md, "A model is a forest", which has what they were chosen by.
_TREES = (8, 40)
_GROWN = 160_000  # trees of a model times its training rows
_LEAF = (2, 5)  # fewest training rows of a leaf: small leaves remember rows
_ROWS_OF_A_LEAF = 4_000  # training rows a table has for each row of a leaf
_SMALL = 10_000  # training rows up to which a split tries every column; beyond, half of them
_ABSENT = -1.0  # missing and unknown values: below every rank
_CELLS_BELOW, _CELLS_ABOVE = 7, 17  # cells below and above the 5% quantile; the outermost are open
_BLOCK = 50_000
_LEARNER = "a forest of randomised trees trained on"


def model_answers(case: Case, known: Sequence[str], secret: TargetValues) -> Guesses:
    """Return the answers about all people of a model trained on the synthetic table.

    The classes of a categorical target are its values, including missing. A numeric target is cut into cells of twice
    its tolerance, starting at the 5% quantile of the training table's values. The guess of a cell is the median of its
    training values; missing and each value that is no number are classes of their own. The answer is the guess with
    the greatest probability of being right according to the model (a guess of a number may also be right about values
    in the neighbouring cells); this probability is the confidence.

    Parameters
    ----------
    case
        A case with all rows in memory.
    known
        Columns that the attacker knows. Without any, or with only constant ones, the answer is the commonest class.
    secret
        The target, which is not among the known columns.

    Notes
    -----
    Names enter in one case: categories of a column that are equally frequent with the same other values are told apart
    by their code, and so are values of a numeric target that are no numbers.

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
    lesson = _learn(room, _capped(case, room.order, MOST_ROWS, "model"), shared=True, remembers=True)
    right, sure = lesson.ask(np.arange(len(secret.people)))
    return Guesses(right, sure, f"{_LEARNER} the synthetic table" + lesson.in_words(len(room.order)))


def reference_answers(case: Case, known: Sequence[str], secret: TargetValues) -> Guesses | None:
    """Return the answers of a forest with leaves of five rows that is trained on other people.

    With a holdout a model trained on all holdout rows answers about members. It has seen the strangers, so their
    answers are 0, with a confidence of 0. Without a holdout, each member is answered about by a model trained on the
    other four fifths of the real table; rows of one unit are in one fold, and people with the same record get the mean
    of their answers.

    Returns
    -------
    Guesses or None
        None with fewer than 20 people (units) to train on.
    """
    which, role = (2, "holdout") if case.has_holdout else (0, "real")
    room = _Room(case, known, secret, which)
    fold = _folds(case, room, case.units(role))
    if fold is None:
        return None
    right, sure = (np.zeros(len(secret.people)) for _ in range(2))
    if case.has_holdout:
        members = np.arange(case.n_rows("real"))
        rows = _capped(case, room.order, MOST_STRANGERS, "reference")
        lesson = _learn(room, rows, shared=True, remembers=False)
        right[members], sure[members] = lesson.ask(members)
        return Guesses(right, sure, f"{_LEARNER} strangers, without the synthetic table")
    for f in range(FOLDS):
        others = room.order[fold[room.order] != f]
        asked = np.flatnonzero(fold == f)
        rows = _capped(case, others, MOST_STRANGERS, f"reference {secret.name} {f}")
        lesson = _learn(room, rows, shared=False, remembers=False)
        right[asked], sure[asked] = lesson.ask(asked)
    same = room.same()
    right, sure = (_mean_of_equals(v, same) for v in (right, sure))
    return Guesses(right, sure, f"{_LEARNER} other members, without the synthetic table")


class _Room:
    """The columns of a case in the form for a model trained on one of its tables (0 real, 1 synthetic, 2 holdout).

    A model's answer about a person depends only on the training table and on the person's known values.
    """

    def __init__(self, case: Case, known: Sequence[str], secret: TargetValues, which: int) -> None:
        self.case, self.secret, self.which = case, secret, which
        self.known = sorted(known)
        names = tuple(sorted({*known, secret.name}))
        self.names = names
        self.canonical = canonical_of(case, names, [which])
        self.place = {n: i for i, n in enumerate(names)}
        self.order = self.canonical.order(which)
        """Row numbers of the training table in canonical order."""
        n_real = case.n_rows("real")
        self.target = (secret.people[:n_real], secret.synthetic, secret.people[n_real:])[which]

    @property
    def hashes(self) -> NDArray[np.uint64]:
        """A hash of each row of the training table."""
        return self.canonical.rows[0]

    def rank(self, column: str, codes: Codes) -> Ints:
        """Return the ranks of some distinct codes of a categorical column in canonical order."""
        place = np.empty(len(codes), dtype=np.int64)
        ordered = self.canonical.sorted_codes(self.place[column], codes)
        place[np.searchsorted(codes, ordered)] = np.arange(len(codes))
        return place

    def same(self) -> Ints:
        """Return a number for each row of the training table; rows with the same record have the same number."""
        columns: list[NDArray[Any]] = [self.canonical.codes(j, self.which)[self.order] for j in range(len(self.place))]
        columns.append(self.hashes[self.order])
        changes = np.any([np.diff(c, prepend=c[:1]) != 0 for c in columns], axis=0)
        same = np.empty(len(self.order), dtype=np.int64)
        same[self.order] = np.cumsum(changes)
        return same

    def is_numeric(self, column: str) -> bool:
        return self.case.schema[column].kind in ("numeric", "datetime")


@dataclass(frozen=True, slots=True, eq=False)
class _Features:
    """Columns as numbers, for models trained on some rows of a table; -1 for missing and for unknown values."""

    names: tuple[str, ...]
    """Columns with at least two values among the training rows."""
    trained: NDArray[np.float32]
    """Shape (n_rows, n_columns)."""
    people: NDArray[np.float32]
    """Shape (n_people, n_columns)."""

    def of(self, known: Sequence[str]) -> _Features:
        """Return some of the columns."""
        at = [j for j, name in enumerate(self.names) if name in known]
        return _Features(tuple(self.names[j] for j in at), self.trained[:, at], self.people[:, at])


def _features(room: _Room, rows: Ints, *, shared: bool) -> _Features:
    """Return the known columns as features of models trained on these rows; models of all targets may share them."""
    if not shared:
        return _coded(room, room.known, rows)
    key = ("features of models", room.names, room.which)
    return room.case.encoded.once(key, lambda: _coded(room, room.names, rows)).of(room.known)


def _coded(room: _Room, names: Sequence[str], rows: Ints) -> _Features:
    codes = {n: room.case.codes(n, binned=False) for n in names}
    columns = [(n, found) for n in names if (found := _feature(room, n, codes[n][room.which][rows])) is not None]
    trained, people = (np.empty((n, len(columns)), dtype=np.float32) for n in (len(rows), len(room.secret.people)))
    for j, (name, of_code) in enumerate(columns):
        trained[:, j] = of_code[codes[name][room.which][rows]]
        people[:, j] = of_code[np.concatenate([c for i, c in enumerate(codes[name]) if i != 1])]
    return _Features(tuple(name for name, _ in columns), trained, people)


def _feature(room: _Room, column: str, trained: Codes) -> Floats | None:
    """Return the number of each code of a column; None where the training rows have one value."""
    counts = np.bincount(trained, minlength=room.case.n_codes(column, binned=False))
    seen = np.flatnonzero(counts[1:] > 0) + 1
    of_code = np.full(len(counts), _ABSENT)
    if room.is_numeric(column):
        numbers = room.case.numbers(column)
        values = np.unique(numbers[seen][~np.isnan(numbers[seen])])
        is_number = ~np.isnan(numbers)
        low, high = (np.searchsorted(values, numbers[is_number], side=side) for side in ("left", "right"))
        of_code[is_number] = (low + high - 1) / 2  # a number between two training values is between their ranks
    else:
        order = np.lexsort((room.rank(column, seen.astype(np.int32)), -counts[seen]))
        of_code[seen[order]] = np.arange(len(seen))
    return None if len(np.unique(of_code[counts > 0])) < 2 else of_code


@dataclass(frozen=True, slots=True)
class _Classes:
    """The classes that a model predicts, and the guess of each."""

    of_row: Ints
    """Shape (n_rows,): class of each training row; `len(guess)` is the pooled class, which is never guessed."""
    guess: Codes
    """Shape (n_classes,): the code that is the guess of each class."""
    met: Floats | None
    """Shape (n_classes or one more, n_classes): share of the training rows of a class about which the guess of another
    class is right; None where a guess is right only about its own class."""
    n_unnamed: int
    """Number of values or cells that are never guessed."""


def _classes(room: _Room, codes: Codes) -> _Classes:
    """Return the classes of the target, in an order that does not depend on names of values."""
    secret = room.secret
    label = _labels(room, codes)
    values, of_row, counts = np.unique(label, return_inverse=True, return_counts=True)
    kept = np.sort(np.lexsort((values, -counts))[:MOST_CLASSES])
    number = np.full(len(values), len(kept))
    number[kept] = np.arange(len(kept))
    of_row = number[of_row.ravel()]
    # the guess is the lower median of the rows of a class, as a code: values are not interpolated
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
    """Return a number for each row; rows whose target is in the same class have the same number."""
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
    """Return the cell of each number. Cells start at the 5% quantile, twice the tolerance wide; the ends are open."""
    start = np.sort(numbers)[(5 * len(numbers)) // 100]
    with np.errstate(over="ignore"):  # what overflows lies in an open cell at the end
        cell = np.floor((numbers - start) / (2 * tolerance) + 1e-9)  # rounding: a value on an edge is in the upper cell
    return np.asarray(np.clip(cell, -_CELLS_BELOW, _CELLS_ABOVE).astype(np.int64) + _CELLS_BELOW)


@dataclass(frozen=True, slots=True, eq=False)
class _Lesson:
    """A trained model; where no model can be trained, the shares of the classes."""

    secret: TargetValues
    classes: _Classes
    features: _Features
    chance: Callable[[NDArray[np.float32]], Floats]
    """Maps features, shape (n, n_features), to the probability of each class, shape (n, n_classes)."""
    n_rows: int

    def ask(self, people: Ints) -> tuple[Floats, Floats]:
        """Return for some people the probability that the answer is right, and the confidence of the model."""
        right, sure = np.zeros(len(people)), np.zeros(len(people))
        for first in range(0, len(people), _BLOCK):
            block = slice(first, first + _BLOCK)
            right[block], sure[block] = self._ask(people[block])
        return right, sure

    def _ask(self, people: Ints) -> tuple[Floats, Floats]:
        guess = self.classes.guess
        chance = self.chance(self.features.people[people])
        if self.classes.met is not None:
            chance = np.einsum("ic,cg->ig", chance, self.classes.met)  # not BLAS: its rounding depends on threads
        # rounded: guesses whose probabilities differ only in the last digits are equally good
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
        """Return a text on what was left out of the training; "" when nothing was."""
        out = ""
        if self.n_rows < n_rows:
            out += f" ({self.n_rows:,} of its {n_rows:,} rows)"
        if self.classes.n_unnamed:
            out += f"; the {self.classes.n_unnamed:,} rarest values are never guessed"
        return out


def _learn(room: _Room, rows: Ints, *, shared: bool, remembers: bool) -> _Lesson:
    classes = _classes(room, room.target[rows])
    shares = np.bincount(classes.of_row) / len(rows)
    features = _features(room, rows, shared=shared)
    lesson = _Lesson(room.secret, classes, features, lambda x: np.tile(shares, (len(x), 1)), len(rows))
    if not 2 <= len(shares) <= len(rows) / 2 or not features.names:  # hardly a value occurs twice: nothing to learn
        return lesson
    return replace(lesson, chance=_grown(features.trained, classes.of_row, _seed(room.case), remembers=remembers))


def _grown(x: NDArray[np.float32], y: Ints, seed: int, *, remembers: bool) -> Callable[[NDArray[np.float32]], Floats]:
    """Return the probability of each class by a forest; with `remembers` leaves of small tables are small."""
    from sklearn.ensemble import ExtraTreesClassifier

    n, most_rows = len(x), _GROWN if remembers else _GROWN // 2
    forest: Any = ExtraTreesClassifier(
        n_estimators=int(np.clip(most_rows // n, *_TREES)),
        min_samples_leaf=int(np.clip(n // _ROWS_OF_A_LEAF, *_LEAF)) if remembers else _LEAF[1],
        max_features=None if remembers and n <= _SMALL else 0.5,
        random_state=seed,
        n_jobs=1,  # targets run in parallel
    )
    with quiet(), _ALONE:
        forest.fit(x, y)
    return lambda asked: _mean_of_trees(forest.estimators_, asked)


def _mean_of_trees(trees: Sequence[Any], asked: NDArray[np.float32]) -> Floats:
    """Return what `predict_proba` of their forest does, to the last bit, without touching the process's warnings."""
    total = trees[0].predict_proba(asked, check_input=False)
    for tree in trees[1:]:
        total += tree.predict_proba(asked, check_input=False)
    return np.asarray(total / len(trees))


def _seed(case: Case) -> int:
    """Return the seed of the trees, which is that of the run; all models have the same."""
    return int(case.rng("forest").integers(2**31))


def _capped(case: Case, rows: Ints, most: int, step: str) -> Ints:
    """Return at most so many rows, in the given order."""
    if len(rows) <= most:
        return rows
    return rows[np.sort(case.rng(step).choice(len(rows), most, replace=False))]


def _folds(case: Case, room: _Room, units: Ints | None) -> Ints | None:
    """Return the fold of each row of the training table; a unit is in one fold. None where there are too few units."""
    order = room.order
    unit = np.arange(len(order)) if units is None else np.unique(units, return_inverse=True)[1].ravel()
    n_units = int(unit.max()) + 1
    if n_units < FEWEST_STRANGERS:
        return None
    # units are ordered by their records; units with the same records may change places
    total = np.zeros(n_units, dtype=np.uint64)
    np.add.at(total, unit, room.hashes)
    place = np.empty(n_units, dtype=np.int64)
    first = np.full(n_units, len(order))
    np.minimum.at(first, unit[order], np.arange(len(order)))
    place[np.lexsort((first, total))] = np.arange(n_units)
    fold = case.rng(f"folds {room.secret.name}").permutation(n_units) % FOLDS
    return np.asarray(fold[place][unit])


def _mean_of_equals(values: Floats, same: Ints) -> Floats:
    """Return for each row the mean over the rows with the same record, added smallest first."""
    order = np.lexsort((values, same))
    total = np.bincount(same[order], weights=values[order])
    return np.asarray((total / np.bincount(same))[same])
