"""How well a model tells synthetic rows from real ones: a test with two tables and two models, and SDMetrics' score."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.case.case import Case
from divulge.measures._permutation import Tail, fresh_sample, permuted_p, with_tail
from divulge.measures._refits import FOLDS, Refitted, fold_auc, folds_of, leaves, refitted
from divulge.measures._rows import (
    Labelled,
    TableRows,
    indicators,
    labelled,
    relabelled,
    sampled,
    table_rows,
    tree_matrix,
    unfit,
)
from divulge.measures.entry import MeasureWords
from divulge.measures.registry import measure
from divulge.measures.result import TOLERANCE, FidelityResult, FreshSample
from divulge.measures.verdicts import judged
from divulge.stats.intervals import Interval

__all__ = ["Detection", "Telling", "detection", "detection_score", "scaled", "told_apart"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_FOLDS = 3  # of SDMetrics
_ROWS = 6_000  # rows of each table for the boosting; a limit on the time
_REFIT_ROWS = 2_500  # rows of each table for the model that is fitted again; a limit on the time
_DRAWS = 999
_ITERATIONS = 40
_TELLING = 5  # columns that a result names
_MODELS = ("gradient boosting", "logistic regression")


@dataclass(frozen=True, slots=True)
class Telling:
    """A column by which a model tells real from synthetic rows."""

    column: str
    drop: float
    """By how much the AUC falls where the values of the column are exchanged between rows at random."""


@dataclass(frozen=True, slots=True)
class Detection:
    """How well a model tells real from synthetic rows that it was not fitted to."""

    model: str
    auc: Interval
    """Over pairs of rows of one fold, equal rows in one fold: 0.5 is not at all, 1 is always."""
    p: Tail
    """Probability that a linear model, fitted again to permuted labels, tells as well; low: with equal rows in
    different folds it tells as badly, which is so where rows of both tables are twins."""
    fresh: FreshSample | None
    """The AUC of the linear model under permuted labels."""
    refitted: float
    """The AUC of the linear model."""
    apart: float
    """The same with equal rows in different folds; about 0.2 for a copy of the real table."""
    tells: tuple[Telling, ...]
    """The columns of the boosting, the one that tells most first."""


_WORDS = MeasureWords(
    what="A model that learns from two thirds of the rows tells for the other rows whether they are real or synthetic.",
    formula="AUC = share of pairs (real row, synthetic row) in which the real row has the higher score\n"
    "low, high = limits of |2 AUC - 1|",
    reading="An AUC of 0.5 tells nothing apart, as in a fresh sample; 1 always does. The columns are in the order in "
    "which they tell. Where equal rows of both tables are in different folds, an AUC far below 0.5 says that "
    "synthetic rows repeat real ones.",
    silent=(
        "A difference that is in few rows, as in one small group of people, moves the AUC little.",
        "The p-value is that of a linear model of margins and of leaves of random trees, on at most 2,500 rows of each "
        "table; the boosting may see more.",
    ),
)


@measure(
    family="joint",
    question="Can a model tell synthetic rows from real ones?",
    needs="A usable column, and 20 rows of each table.",
    reference="Lopez-Paz and Oquab (2017), Revisiting classifier two-sample tests; Kim, Ramdas, Singh and Wasserman "
    "(2021), Classification accuracy as a proxy for two-sample testing.",
    better="near the reference",
    null="the AUC of a smaller model under permuted labels, fitted again to each",
    words=_WORDS,
    models=True,
)
def detection(
    case: Case, *, columns: Sequence[str] | None = None, tolerance: float = TOLERANCE
) -> tuple[FidelityResult, ...]:
    """Return how well gradient boosting and logistic regression tell real from synthetic rows.

    Both are fitted on two thirds of the rows and judge the rest. The boosting sees margins and how columns go together;
    the logistic regression sees margins only, and says whether these are enough. Rows of one person or household are in
    one fold.

    Parameters
    ----------
    columns
        Columns of the models. None takes all usable ones.
    tolerance
        The largest difference, as |2 AUC - 1|, that does not matter.

    Returns
    -------
    tuple of FidelityResult
        Gradient boosting, then logistic regression; `columns` of a result has those that tell most. Not measured where
        no column is usable or a table has fewer than 20 rows.

    Examples
    --------
    >>> import divulge
    >>> import polars as pl
    >>> rng = np.random.default_rng(0)
    >>> a = rng.integers(0, 4, 150)
    >>> real = pl.DataFrame({"a": a, "b": a}).cast(pl.String)
    >>> boosting, logistic = detection(real, real.with_columns(real["b"].shuffle(seed=1)))
    >>> boosting.verdict, boosting.value > 0.7 > 0.6 > logistic.value
    ('differs', True)
    """
    names = tuple(sorted(case.schema.usable() if columns is None else columns))
    why = unfit(case, names)
    if why:
        return (FidelityResult(measure="detection", quantity="AUC", notes=(why,)),)
    large, small = (
        tuple(table_rows(case, names, role, most, f"detection {role} {most}") for role in ("real", "synthetic"))
        for most in (_ROWS, _REFIT_ROWS)
    )
    notes = (*sampled("the models", *large), *sampled("the permutations", *small))
    return tuple(_result(case, found, large, notes, tolerance) for found in told_apart(case, large, small))


def _result(
    case: Case, found: Detection, tables: Sequence[TableRows], notes: tuple[str, ...], tolerance: float
) -> FidelityResult:
    low, high = max(0.0, 2 * found.auc.low - 1), max(2 * found.auc.high - 1, 1 - 2 * found.auc.low)
    tells = [t for t in found.tells if t.drop > 0][:_TELLING]
    fresh = found.fresh
    result = FidelityResult(
        measure="detection", variant=found.model, quantity="AUC", value=found.auc.value, fresh_sample=fresh,
        excess=None if fresh is None else found.auc.value - fresh.mean, low=low, high=high,
        tolerance=tolerance, n=len(tables[0]), m=len(tables[1]), notes=notes,
        context={
            "auc_low": found.auc.low, "auc_high": found.auc.high, "auc_refitted": found.refitted,
            "auc_equal_rows_apart": found.apart,
            **{f"column_{i}": t.column for i, t in enumerate(tells, 1)},
            **{f"drop_{i}": t.drop for i, t in enumerate(tells, 1)},
        },
    )  # fmt: skip
    return judged(with_tail(result, found.p), case.level)


def told_apart(
    case: Case, large: Sequence[TableRows], small: Sequence[TableRows], draws: int = _DRAWS
) -> tuple[Detection, ...]:
    """Return what both models tell.

    Parameters
    ----------
    case
        Decides the draws.
    large, small
        Real and synthetic rows for the models, and for the model that is fitted again.
    draws
        Permutations of the labels.
    """
    refits = _refits(case, small, draws)
    tails = permuted_p([t.distance for t, _ in refits], np.stack([t.null for t, _ in refits]))
    nears = permuted_p([a.distance for _, a in refits], np.stack([a.null for _, a in refits]))
    rows = labelled(large[0], large[1], case.rng("detection order"))
    fold = folds_of(rows, case.rng("detection folds"), together=True)
    out = []
    for i, (model, fit) in enumerate(zip(_MODELS, (_boosting, _logistic), strict=True)):
        score, judges = _cross_fitted(rows, fold, fit)
        together, apart = refits[i]
        auc = fold_auc(rows.is_real, score, fold, rows.unit, case.level, together.spread).auc
        p = Tail(tails[i].p, nears[i].p_low, tails[i].p_adjusted, nears[i].p_low_adjusted)
        tells = _telling(case, rows, fold, score, judges) if i == 0 else ()
        out.append(
            Detection(model, auc, p, fresh_sample(together.null_auc, case.level), together.auc, apart.auc, tells)
        )
    return tuple(out)


def _refits(case: Case, tables: Sequence[TableRows], draws: int) -> list[tuple[Refitted, Refitted]]:
    """Return for each model the refits of a linear one in its place, with equal rows in one fold and apart."""
    rows = labelled(tables[0], tables[1], case.rng("detection refit order"))
    labels = relabelled(rows, draws, case.rng("detection labels"))
    folds = [
        folds_of(rows, case.rng(f"detection refit {way}"), together=way == "together") for way in ("together", "apart")
    ]
    margins = indicators(rows.x, rows.numeric)
    both = np.hstack([margins, leaves(rows.x)])
    return [
        (refitted(x, labels, folds[0], rows.unit), refitted(x, labels, folds[1], rows.unit)) for x in (both, margins)
    ]


_Judge = Callable[[Floats], Floats]


def _cross_fitted(
    rows: Labelled, fold: Ints, fit: Callable[[Labelled, NDArray[np.bool_]], _Judge]
) -> tuple[Floats, dict[int, _Judge]]:
    """Return the score of each row by a model of the other folds, and the models."""
    score, judges = np.full(len(rows), 0.5), {}
    for f in range(FOLDS):
        taught, asked = fold != f, fold == f
        if asked.any() and len(np.unique(rows.is_real[taught])) == 2:
            judges[f] = fit(rows, taught)
            score[asked] = judges[f](rows.x[asked])
    return score, judges


def _boosting(rows: Labelled, taught: NDArray[np.bool_]) -> _Judge:
    from sklearn.ensemble import HistGradientBoostingClassifier
    from threadpoolctl import threadpool_limits

    x, categories = tree_matrix(rows.x, rows.numeric)
    dead = np.isnan(x[taught]).all(axis=0)
    model = HistGradientBoostingClassifier(
        max_iter=_ITERATIONS, learning_rate=5 / _ITERATIONS, max_leaf_nodes=8, l2_regularization=1.0,
        early_stopping=False, random_state=0, categorical_features=categories,
    )  # fmt: skip

    def matrix(values: Floats) -> Floats:
        out = tree_matrix(values, rows.numeric)[0]
        out[:, dead] = 0.0
        return out

    with threadpool_limits(1), warnings.catch_warnings(action="ignore"):
        model.fit(matrix(rows.x[taught]), rows.is_real[taught])

    def judge(values: Floats) -> Floats:
        with threadpool_limits(1):
            return np.asarray(model.predict_proba(matrix(values))[:, 1])

    return judge


def _logistic(rows: Labelled, taught: NDArray[np.bool_]) -> _Judge:
    from sklearn.linear_model import LogisticRegression
    from threadpoolctl import threadpool_limits

    of_row = _Margins(rows)
    with threadpool_limits(1), warnings.catch_warnings(action="ignore"):
        model = LogisticRegression(max_iter=200, solver="newton-cholesky").fit(
            of_row(rows.x[taught]), rows.is_real[taught]
        )

    def judge(values: Floats) -> Floats:
        with threadpool_limits(1):
            return np.asarray(model.predict_proba(of_row(values))[:, 1])

    return judge


class _Margins:
    """Indicators of rows, with the bins and categories of all rows of both tables."""

    def __init__(self, rows: Labelled) -> None:
        self._levels = [np.unique(column, return_inverse=True) for column in rows.x.T]
        self._codes = [indicators(rows.x[:, [j]], [n]) for j, n in enumerate(rows.numeric)]
        # one row of indicators for each value of the column
        self._rows = []
        for (values, inverse), codes in zip(self._levels, self._codes, strict=True):
            first = np.empty(len(values), dtype=np.int64)
            first[inverse.ravel()[::-1]] = np.arange(len(inverse))[::-1]
            self._rows.append(codes[first])

    def __call__(self, x: Floats) -> Floats:
        parts = [
            rows[np.searchsorted(values, x[:, j])]
            for j, ((values, _), rows) in enumerate(zip(self._levels, self._rows, strict=True))
        ]
        return np.hstack(parts)


def _telling(case: Case, rows: Labelled, fold: Ints, score: Floats, judges: dict[int, _Judge]) -> tuple[Telling, ...]:
    """Return the columns by permutation importance: values are exchanged between rows of one fold."""
    before = fold_auc(rows.is_real, score, fold, rows.unit).auc.value
    after = np.full((len(rows.names), len(rows)), 0.5)
    for f, judge in judges.items():
        asked = np.flatnonzero(fold == f)
        x = np.tile(rows.x[asked], (len(rows.names), 1, 1))
        for j in range(len(rows.names)):
            x[j, :, j] = x[j, case.rng(f"detection importance {f} {j}").permutation(len(asked)), j]
        # one call for all columns: a call of a model costs more than its rows
        after[:, asked] = judge(x.reshape(-1, len(rows.names))).reshape(len(rows.names), -1)
    drops = [before - fold_auc(rows.is_real, score, fold, rows.unit).auc.value for score in after]
    found = [Telling(name, 0.0 if math.isnan(d) else d) for name, d in zip(rows.names, drops, strict=True)]
    return tuple(sorted(found, key=lambda t: (-t.drop, t.column)))


def detection_score(
    real: Floats, synthetic: Floats, predict: Callable[[Floats, Floats, Floats], Any], state: np.random.RandomState
) -> float:
    """Return 1 less the mean over three folds of 2 * max(AUC, 0.5) - 1: 1 where the model cannot tell rows apart.

    As in SDMetrics, an AUC below 0.5 counts as 0.5 in each fold, so that a fresh sample of the people scores below 1.

    Parameters
    ----------
    real, synthetic
        Numbers, nan where one is missing, shapes (n, n_columns) and (m, n_columns).
    predict
        Takes the rows to learn from, their labels (1 for a real row) and the rows to judge, and returns a number for
        each row to judge, higher for rows that look real.
    state
        Decides the folds.

    Raises
    ------
    ValueError
        The model cannot be fitted.
    """
    from sklearn.metrics import roc_auc_score
    from sklearn.model_selection import StratifiedKFold

    rows = np.concatenate([real, synthetic])
    rows[np.isinf(rows)] = np.nan
    label = np.repeat([1.0, 0.0], [len(real), len(synthetic)])
    scores = []
    for train, test in StratifiedKFold(_FOLDS, shuffle=True, random_state=state).split(rows, label):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = predict(rows[train], label[train], rows[test])
        scores.append(max(0.5, roc_auc_score(label[test], found)) * 2 - 1)
    return float(1 - np.mean(scores))


def scaled(model: Any, state: np.random.RandomState | None = None) -> Any:
    """Return the model behind a step that fills in means and one that scales by quartiles.

    Parameters
    ----------
    model
        A model of scikit-learn.
    state
        What the model draws from, if it draws and has no seed of its own.
    """
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import RobustScaler

    if state is not None and model.get_params().get("random_state", 0) is None:
        model.set_params(random_state=state)
    return Pipeline([("imputer", SimpleImputer()), ("scaler", RobustScaler()), ("model", model)])
