"""How much of the real table a synthetic table keeps: four standard measures, each with its value for the holdout.

These are not attacks. A table without information has no risk, so risk should be read together with utility.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from itertools import combinations
from typing import Any, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from divulge.case.case import Case
from divulge.core.hashing import code_hashes, row_hashes
from divulge.core.schema import check_columns

__all__ = ["MEASURES", "Utility", "utility"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MEASURES = (
    "marginal total variation",
    "pairwise association error",
    "propensity AUC",
    "train on synthetic, test on real",
)
"""The measures in the order in which they are returned."""

_REAL, _SYNTHETIC, _HOLDOUT = 0, 1, 2
_ROLES = ("real", "synthetic", "holdout")
_PAIRS = 300
_CELLS = 10_000  # cells of the cross table of a pair at most; start value
_PROPENSITY_ROWS = 10_000
_TAUGHT_ROWS = 5_000
_TARGETS = 5
_CLASSES = 5
_FEWEST = 20  # fewest rows of each table to train and to test a model; start value
_FOLDS = 3
_TOGETHER = 50  # equal rows up to which they are in one fold; start value
_CATEGORIES = 254  # categories that scikit-learn can tell apart in a column
_TREES = 120  # trees of one model: one for each class and iteration; start value


class Utility(msgspec.Struct, frozen=True, kw_only=True):
    """How much of the real table the synthetic table keeps, by one measure."""

    measure: str
    value: float | None
    """None where it is undefined; a note says why."""
    reference: float | None
    """The same measure for the holdout: the value of another sample of the population."""
    better: Literal["higher", "lower"]
    about: str
    notes: list[str] = []

    def to_dict(self) -> dict[str, Any]:
        """Return the entry in the form of assessment.json."""
        return msgspec.to_builtins(self)  # type: ignore[no-any-return] # a struct becomes a dict


def utility(case: Case, *, targets: Sequence[str] | None = None) -> tuple[Utility, ...]:
    """Return how much of the real table the synthetic table keeps, by four measures.

    Parameters
    ----------
    case
        Two or three tables with all rows in memory; its seed decides the samples.
    targets
        Columns that models learn to predict. None takes the columns with the target role, else the 5 columns most
        strongly associated with another one in the real table.

    Returns
    -------
    tuple of Utility
        In the order of `MEASURES`. Where a measure is undefined (no usable column, one column, a side with fewer
        than 20 rows) its value is None and a note says why. Row order and column order do not change a value.

    Raises
    ------
    ColumnError
        The tables do not have one of the targets.
    SettingError
        The rows are not in memory (`case.collected` reads them).

    References
    ----------
    Cramér (1946) with the correction of Bergsma (2013), A bias-correction for Cramér's V; Snoke et al. (2018), General
    and specific utility measures for synthetic data (propensity); Esteban et al. (2017), Real-valued medical time
    series generation (train on synthetic, test on real).

    Examples
    --------
    >>> import polars as pl
    >>> from divulge.case.case import build_case
    >>> people = pl.DataFrame({"a": ["x", "y"] * 50, "b": ["u", "v"] * 50})
    >>> [(u.measure, u.value) for u in utility(build_case(people, people))][:2]
    [('marginal total variation', 0.0), ('pairwise association error', 0.0)]
    """
    names = sorted(case.schema.usable())  # sorted: column order must not change a value
    wanted = list(targets or case.schema.with_role("target"))
    check_columns("targets", wanted, case.columns)
    pairs, left_out = _pairs(case, names)
    strength = {role: [_cramer(case, pair, role) for pair in pairs] for role in _roles(case)}
    if not wanted:
        wanted = _strongest(names, pairs, strength[_REAL])
        how = "the columns most strongly associated with another one in the real table"
    else:
        how = "as named"
    return (
        _marginal(case, names),
        _association(case, names, strength, left_out),
        _propensity(case, names),
        _taught(case, names, wanted, how),
    )


def _roles(case: Case) -> tuple[int, ...]:
    return tuple(i for i, role in enumerate(_ROLES) if case.n_rows(role))


def _has_holdout(case: Case) -> bool:
    return case.n_rows("holdout") > 0


def _no_reference(case: Case) -> list[str]:
    return [] if _has_holdout(case) else ["no holdout: there is no reference"]


# ---------------------------------------------------------------- one column


def _marginal(case: Case, names: Sequence[str]) -> Utility:
    def mean(role: int) -> float | None:
        found = [_total_variation(case, n, role) for n in names]
        return float(np.mean(found)) if found else None

    return Utility(
        measure=MEASURES[0],
        value=mean(_SYNTHETIC),
        reference=mean(_HOLDOUT) if _has_holdout(case) else None,
        better="lower",
        about="Half the sum of the differences between the shares of each value or bin in the real and the synthetic "
        "table, mean over the columns: 0 is the same shares, 1 is no value in common. Missing is a value.",
        notes=[*_unusable(names), *_no_reference(case)],
    )


def _total_variation(case: Case, name: str, role: int) -> float:
    codes, n = case.codes(name), case.n_codes(name)
    shares = [np.bincount(codes[i], minlength=n) / len(codes[i]) for i in (_REAL, role)]
    return float(np.abs(shares[0] - shares[1]).sum()) / 2


def _unusable(names: Sequence[str]) -> list[str]:
    return [] if names else ["undefined: no column is usable (all are constant, identifiers, free text or ignored)"]


# ---------------------------------------------------------------- two columns


def _pairs(case: Case, names: Sequence[str]) -> tuple[list[tuple[str, str]], list[str]]:
    """Return the pairs of columns to compare, and the pairs that are left out."""
    every = list(combinations(names, 2))
    pairs = [(a, b) for a, b in every if case.n_codes(a) * case.n_codes(b) <= _CELLS]
    notes = []
    if len(pairs) < len(every):
        notes.append(f"{len(every) - len(pairs)} of {len(every)} pairs have over {_CELLS:,} cells and were left out")
    if len(pairs) > _PAIRS:
        notes.append(f"{_PAIRS} of {len(pairs):,} pairs were drawn")
        drawn = np.sort(case.rng("utility pairs").choice(len(pairs), _PAIRS, replace=False))
        pairs = [pairs[i] for i in drawn]
    return pairs, notes


def _cramer(case: Case, pair: tuple[str, str], role: int) -> float:
    """Return Cramér's V of two columns with Bergsma's correction; 0 where one of them is constant."""
    from scipy.stats.contingency import association

    a, b = (case.codes(n)[role].astype(np.int64) for n in pair)
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


def _association(case: Case, names: Sequence[str], strength: dict[int, list[float]], left_out: list[str]) -> Utility:
    def error(role: int) -> float | None:
        gaps = np.abs(np.array(strength[_REAL]) - np.array(strength[role]))
        return float(gaps.mean()) if len(gaps) else None

    notes = [*_unusable(names), *left_out, *_no_reference(case)]
    if len(names) == 1:
        notes.insert(0, "undefined: there is one usable column, and a pair needs two")
    return Utility(
        measure=MEASURES[1],
        value=error(_SYNTHETIC),
        reference=error(_HOLDOUT) if _has_holdout(case) else None,
        better="lower",
        about="Difference of Cramér's V (bias-corrected, values or bins) between the real and the synthetic table, "
        f"without sign, mean over {len(strength[_REAL])} pairs of columns: 0 is the same associations.",
        notes=notes,
    )


def _strongest(names: Sequence[str], pairs: Sequence[tuple[str, str]], real: Sequence[float]) -> list[str]:
    """Return the columns with the strongest association in the real table, at most 5, by name."""
    best = dict.fromkeys(names, -1.0)
    for pair, v in zip(pairs, real, strict=True):
        for name in pair:
            best[name] = max(best[name], round(v, 9))
    return sorted(sorted(names, key=lambda n: (-best[n], n))[:_TARGETS])


# ---------------------------------------------------------------- models


def _matrix(case: Case, names: Sequence[str], role: int) -> Floats:
    """Return the features of a table, shape (n_rows, n_columns): numbers, or codes of categories; nan is missing."""
    columns = []
    for name in names:
        codes = case.codes(name, binned=False)[role]
        of_code = np.arange(case.n_codes(name, binned=False), dtype=np.float64)
        if _is_number(case, name):
            of_code[:] = case.numbers(name)
            of_code[~np.isfinite(of_code)] = np.nan
        of_code[0] = np.nan
        columns.append(of_code[codes])
    return np.stack(columns, axis=1)


def _is_number(case: Case, name: str) -> bool:
    return case.schema[name].kind in ("numeric", "datetime")


def _is_category(case: Case, names: Sequence[str]) -> list[bool]:
    return [not _is_number(case, n) and case.n_codes(n, binned=False) <= _CATEGORIES for n in names]


def _drawn(case: Case, rows: Floats, most: int, step: str) -> Ints:
    """Return the numbers of at most a given number of rows, ordered by their contents."""
    order = np.lexsort(rows.T)
    if len(order) <= most:
        return order
    return np.asarray(order[np.sort(case.rng(step).choice(len(order), most, replace=False))])


def _sampled(case: Case, role: int, most: int) -> list[str]:
    n = case.tables[role].n_rows
    return [f"{most:,} of {n:,} {_ROLES[role]} rows were drawn"] if n > most else []


def _propensity(case: Case, names: Sequence[str]) -> Utility:
    roles = _roles(case)
    few = [_ROLES[i] for i in roles if case.tables[i].n_rows < _FEWEST]
    notes = [*_unusable(names), *_no_reference(case)]
    notes += [note for i in roles for note in _sampled(case, i, _PROPENSITY_ROWS)]
    value: float | None = None
    reference: float | None = None
    if names:
        rows = {i: _matrix(case, names, i) for i in roles}
        rows = {i: r[_drawn(case, r, _PROPENSITY_ROWS, f"utility propensity {_ROLES[i]}")] for i, r in rows.items()}
        categories = _is_category(case, names)
        areas = {i: _told_apart(case, rows[_REAL], rows[i], categories) for i in roles if i != _REAL}
        below = [f"{area:.3f} of the {_ROLES[i]} table" for i, area in areas.items() if area is not None and area < 0.5]
        if below:
            notes.append(f"an area below 0.5 tells nothing apart and counts as 0.5: {', '.join(below)}")
        value, reference = (None if areas.get(i) is None else max(0.5, areas[i] or 0.0) for i in (_SYNTHETIC, _HOLDOUT))
        notes += [f"too few {role} rows: at least {_FEWEST} are needed" for role in few]
    return Utility(
        measure=MEASURES[2],
        value=value,
        reference=reference,
        better="lower",
        about="How well a gradient boosting tells real from synthetic rows that it was not trained on (area under the "
        "ROC curve): 0.5 is not at all, 1 is always. Equal rows are judged together.",
        notes=notes,
    )


def _told_apart(case: Case, real: Floats, other: Floats, categories: list[bool]) -> float | None:
    """Return the area under the curve of cross-validated scores; 0.5 where all rows are alike, None for few rows."""
    from sklearn.metrics import roc_auc_score

    if min(len(real), len(other)) < _FEWEST:
        return None
    x = np.concatenate([real, other])
    y = np.repeat([0, 1], [len(real), len(other)])
    order = np.lexsort((y, *x.T))
    x, y = x[order], y[order]
    fold = _folds(x, case.rng("utility folds"))
    score = np.full(len(y), 0.5)
    for f in range(_FOLDS):
        taught, asked = fold != f, fold == f
        if asked.any() and len(np.unique(y[taught])) == 2:
            score[asked] = _classifier(x[taught], y[taught], categories)(x[asked])[:, 1]
    return float(roc_auc_score(y, np.round(score, 9)))


def _folds(x: Floats, rng: np.random.Generator) -> Ints:
    """Return the fold of each row. Up to 50 equal rows share a fold: an equal training row would give the answer."""
    record = row_hashes(np.nan_to_num(x, nan=-1.5))
    order = np.lexsort((rng.random(len(x)), record))
    first = np.flatnonzero(np.diff(record[order], prepend=~record[order[:1]]))
    place = np.arange(len(x)) - np.repeat(first, np.diff(np.append(first, len(x))))
    _, group = np.unique(code_hashes([record[order], place // _TOGETHER]), return_inverse=True)
    fold = np.empty(len(x), dtype=np.int64)
    fold[order] = (rng.permutation(int(group.max()) + 1) % _FOLDS)[group.ravel()]
    return fold


def _taught(case: Case, names: Sequence[str], targets: Sequence[str], how: str) -> Utility:
    test = _HOLDOUT if _has_holdout(case) else _REAL
    notes = [*_unusable(names)]
    if not _has_holdout(case):
        notes.append("no holdout: tested on the real table, and there is no reference")
    notes += [note for i in _roles(case) for note in _sampled(case, i, _TAUGHT_ROWS)]
    values: list[float] = []
    references: list[float] = []
    told, undefined = [], []
    for target in sorted(set(targets)):
        lesson = _Lesson(case, [n for n in names if n != target], target, test)
        value = lesson.score(_SYNTHETIC)
        reference = lesson.score(_REAL) if test == _HOLDOUT else None
        if value is None or (test == _HOLDOUT and reference is None):
            undefined.append(target)
            continue
        values.append(value)
        references += [] if reference is None else [reference]
        beside = "" if reference is None else f" ({reference:.3f} trained on real)"
        told.append(f"{target!r}: {lesson.what} {value:.3f}{beside}")
    if told:
        notes.append(f"targets, {how}: " + "; ".join(told))
    if undefined:
        notes.append(
            f"undefined for {', '.join(map(repr, undefined))}: no other column, fewer than {_FEWEST} rows or one value"
        )
    return Utility(
        measure=MEASURES[3],
        value=float(np.mean(values)) if values else None,
        reference=float(np.mean(references)) if references else None,
        better="higher",
        about="A gradient boosting is trained on synthetic rows and tested on holdout people; the reference is one "
        "trained on real rows. Mean over the targets of the area under the ROC curve, one value against the others "
        f"and mean over the values (at most {_CLASSES}, the rarest together), or of R squared for numbers.",
        notes=notes,
    )


class _Lesson:
    """The prediction of one target: how well a model trained on one table predicts it for people of another."""

    def __init__(self, case: Case, known: Sequence[str], target: str, test: int) -> None:
        self.case, self.known, self.target, self.test = case, list(known), target, test
        self.is_number = _is_number(case, target)
        self.what = "R squared" if self.is_number else "AUC"
        codes = case.codes(target, binned=False)
        counts = np.bincount(codes[_REAL], minlength=case.n_codes(target, binned=False))
        # the commonest values of the real table; ties by the order of the values
        self.common = np.argsort(-counts, kind="stable")[: _CLASSES - 1]

    def score(self, train: int) -> float | None:
        """Return the score of a model trained on one table (0 real, 1 synthetic); None where it is undefined."""
        if not self.known:
            return None
        (x, y), (asked, truth) = self._rows(train), self._rows(self.test)
        if min(len(y), len(truth)) < _FEWEST or y.min() == y.max() or truth.min() == truth.max():
            return None
        categories = _is_category(self.case, self.known)
        if self.is_number:
            from sklearn.metrics import r2_score

            y, truth = _squarable(y, truth)
            return float(r2_score(truth, _regressor(x, y, categories)(asked)))
        from sklearn.metrics import roc_auc_score

        chance = np.zeros((len(truth), _CLASSES))
        chance[:, np.unique(y).astype(int)] = np.round(_classifier(x, y, categories)(asked), 9)
        return float(np.mean([roc_auc_score(truth == c, chance[:, int(c)]) for c in np.unique(truth)]))

    def _rows(self, role: int) -> tuple[Floats, Floats]:
        """Return features and target of a sample of a table, ordered by their contents."""
        x = _matrix(self.case, self.known, role)
        if self.is_number:
            y = _matrix(self.case, [self.target], role)[:, 0]
            x, y = x[np.isfinite(y)], y[np.isfinite(y)]
        else:
            place = np.full(self.case.n_codes(self.target, binned=False), len(self.common))
            place[self.common] = np.arange(len(self.common))
            y = place[self.case.codes(self.target, binned=False)[role]].astype(np.float64)
        both = np.column_stack([x, y])
        kept = _drawn(self.case, both, _TAUGHT_ROWS, f"utility {_ROLES[role]} {self.target}")
        return x[kept], y[kept]


def _squarable(y: Floats, truth: Floats) -> tuple[Floats, Floats]:
    """Return both divided by one power of two where their squares would leave the range of floats; R2 stays."""
    largest = float(max(np.abs(y).max(), np.abs(truth).max()))
    if 1e-100 < largest < 1e100:
        return y, truth
    power = -int(np.frexp(largest)[1])
    return np.ldexp(y, power), np.ldexp(truth, power)


def _settings(n_trees: int) -> dict[str, Any]:
    n_iterations = int(np.clip(_TREES // n_trees, 20, 40))
    return {
        "max_iter": n_iterations, "learning_rate": 5 / n_iterations, "max_leaf_nodes": 8, "l2_regularization": 1.0,
        "early_stopping": False, "random_state": 0,
    }  # fmt: skip


def _classifier(x: Floats, y: NDArray[Any], categories: list[bool]) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    n_classes = len(np.unique(y))
    model = HistGradientBoostingClassifier(**_settings(max(1, n_classes - (n_classes == 2))))
    return _fitted(model, x, y, categories, "predict_proba")


def _regressor(x: Floats, y: NDArray[Any], categories: list[bool]) -> Any:
    from sklearn.ensemble import HistGradientBoostingRegressor

    return _fitted(HistGradientBoostingRegressor(**_settings(1)), x, y, categories, "predict")


def _fitted(model: Any, x: Floats, y: NDArray[Any], categories: list[bool], ask: str) -> Any:
    """Return the trained model as a function of features. One thread: with several the sums depend on their number."""
    from threadpoolctl import threadpool_limits

    filled = np.asarray(~np.isnan(x).all(axis=0))  # without columns that are missing in all training rows
    if not filled.any():
        filled[0], x = True, np.zeros_like(x)
    model.set_params(categorical_features=[c for c, f in zip(categories, filled, strict=True) if f])
    with threadpool_limits(1, user_api="openmp"), warnings.catch_warnings(action="ignore"):  # it warns of many classes
        model.fit(x[:, filled], y)

    def answer(asked: Floats) -> Floats:
        with threadpool_limits(1, user_api="openmp"):
            return np.asarray(getattr(model, ask)(asked[:, filled]))

    return answer
