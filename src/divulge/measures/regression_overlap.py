"""Coefficients of regressions on synthetic and on real rows: overlap of intervals, signs, significance."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from divulge.case.case import Case
from divulge.core.errors import SettingError
from divulge.measures._exchanged import Moves, exchanged, moves_of
from divulge.measures._learners import Lesson, lesson_of, usual_targets
from divulge.measures._permutation import with_tail
from divulge.measures._rows import TableRows, sampled, table_rows, together, unfit
from divulge.measures.entry import MeasureWords
from divulge.measures.registry import measure
from divulge.measures.result import FidelityResult, FreshSample
from divulge.measures.verdicts import judged
from divulge.stats.intervals import normal_quantile

__all__ = ["Overlap", "expected_overlap", "interval_overlap", "regression_overlap"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_ROWS = 5_000  # rows of each table; a limit on the time
_TERMS = 20  # coefficients of one regression beside the constant; start value
_PER_TERM = 15  # persons of each table for a coefficient; start value
_APART = 3  # categories of a column with a coefficient of their own
_RARE = 0.05  # share of rows below which an indicator has no coefficient: its estimate would not be normal
_FEWEST = 100
_FRESH = 10_000  # fresh samples by whose overlaps the range is told
_DRAWS = 999  # exchanges of persons between the tables
_EACH = 10  # rows of each outcome with and without a category; start value
_WITHOUT = "it needs statsmodels: pip install statsmodels"
_SINGULAR = "a table has fewer than 100 persons with a value, or the regression has no stable solution in it"

_WORDS = MeasureWords(
    what="A regression of each target on the other columns is fitted to the real and to the synthetic rows, and the "
    "intervals of its coefficients are compared.",
    formula="overlap = 1/2 [(min high - max low) / (high_R - low_R) + (min high - max low) / (high_S - low_S)]\n"
    "linear regression for numbers, logistic regression of the commonest value for categories; robust errors",
    reading="1 is the same intervals, below 0 they are apart. Two samples of the same people have a mean of about "
    "0.71, not 1. A sign or a significance that changes changes what an analyst writes.",
    silent=("Interactions, and columns beyond the 20 coefficients of a regression.",),
)


@dataclass(frozen=True, slots=True, eq=False)
class Overlap:
    """The coefficients of one regression."""

    overlap: float
    """Mean over the coefficients."""
    fresh: FreshSample
    """Of the mean: what a fresh sample has, from the standard errors."""
    moves: Moves
    """What persons move the coefficients by, where both tables are one."""
    signs: int
    """Coefficients with another sign, significant in at least one table."""
    significances: int
    """Coefficients that are significant in one table only."""
    n_terms: int


@measure(
    family="learning",
    question="Would an analyst's regression come to the same coefficients?",
    needs="The package statsmodels, two usable columns, and 100 persons of each table.",
    reference="Karr, Kohnen, Oganian, Reiter and Sanil (2006), A framework for evaluating the utility of data altered "
    "to protect confidentiality; White (1980) for the errors.",
    better="near the reference",
    null="p-values: the regressions of tables that exchanged persons, 999 times; the range: that of normal estimates "
    "with these errors",
    words=_WORDS,
    models=True,
)
def regression_overlap(case: Case, *, targets: Sequence[str] | None = None) -> tuple[FidelityResult, ...]:
    """Return how far the intervals of regression coefficients on synthetic and on real rows overlap.

    Parameters
    ----------
    targets
        Columns to regress on the others. None takes the columns with the target role, else the three columns most
        strongly associated with another one in the real table.

    Returns
    -------
    tuple of FidelityResult
        One for each target, of quantity "overlap". Not measured without statsmodels or with too few rows.

    Examples
    --------
    >>> import polars as pl
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=400)
    >>> real = pl.DataFrame({"x": x, "y": x + rng.normal(size=400)})
    >>> shuffled = real.with_columns(y=real["y"].shuffle(seed=1))
    >>> [found] = regression_overlap(real, shuffled, targets=["y"])  # doctest: +SKIP
    >>> found.verdict, found.value < 0, found.context["significance_changes"]  # doctest: +SKIP
    ('differs', True, 1)
    """
    names = tuple(sorted(set(case.schema.usable()) | set(targets or ())))
    why = unfit(case, names, fewest=_FEWEST) or ("it needs two usable columns" if len(names) < 2 else "")
    models = None if why else _statsmodels()
    if models is None:
        return (FidelityResult(measure="regression_overlap", quantity="overlap", notes=(why or _WITHOUT,)),)
    wanted = tuple(sorted(set(targets))) if targets else usual_targets(case, names)
    tables = [table_rows(case, names, role, _ROWS, f"regression {role}") for role in ("real", "synthetic")]
    both = together(*tables)
    found = [_overlap(case, models, lesson_of(case, both, t), tables) for t in wanted]
    notes = sampled("the regressions", *tables)
    moves = [f.moves for f in found if f is not None]
    n_first = int(tables[0].unit.max()) + 1
    tails = iter(exchanged(moves, n_first, _DRAWS, case.rng("regression exchanges")) if moves else ())
    out = []
    for target, one in zip(wanted, found, strict=True):
        result = FidelityResult(measure="regression_overlap", target=target, quantity="overlap", notes=(_SINGULAR,))
        if one is not None:
            result = with_tail(FidelityResult(
                measure="regression_overlap", target=target, quantity="overlap", value=one.overlap,
                fresh_sample=one.fresh, excess=one.overlap - one.fresh.mean, n=len(tables[0]), m=len(tables[1]),
                notes=notes,
                context={
                    "coefficients": one.n_terms, "sign_changes": one.signs, "significance_changes": one.significances,
                },
            ), next(tails))  # fmt: skip
        out.append(judged(result, case.level))
    return tuple(out)


def _statsmodels() -> Any:
    try:
        from statsmodels import api  # type: ignore[import-untyped] # it has no types
    except ModuleNotFoundError:
        return None
    return api


def interval_overlap(one: tuple[float, float], other: tuple[float, float]) -> float:
    """Return the overlap of two intervals: 1 for equal ones, negative where they are apart.

    Examples
    --------
    >>> interval_overlap((0, 2), (1, 3)), interval_overlap((0, 1), (2, 3))
    (0.5, -1.0)
    """
    if one[1] <= one[0] or other[1] <= other[0]:
        raise SettingError("overlap: an interval without length. hint: give low below high.")
    common = min(one[1], other[1]) - max(one[0], other[0])
    return (common / (one[1] - one[0]) + common / (other[1] - other[0])) / 2


def expected_overlap(error: float, other: float, level: float = 0.95) -> float:
    """Return the mean overlap of the intervals of two independent normal estimates of one number.

    Parameters
    ----------
    error, other
        Their standard errors.

    Examples
    --------
    >>> round(expected_overlap(1.0, 1.0), 3)  # 1 - 2 / sqrt(pi) / (2 1.96)
    0.712
    """
    return float(_overlaps(error, other, level).mean())


def _overlaps(error: float, other: float, level: float, draws: int = 2_000) -> Floats:
    """Return the overlap at evenly spread quantiles of the difference of both estimates."""
    from scipy.special import ndtri

    d = ndtri((np.arange(draws) + 0.5) / draws) * math.hypot(error, other)
    return _overlaps_at(d, np.asarray(error), np.asarray(other), normal_quantile(level))


def _overlaps_at(d: Floats, error: Floats, other: Floats, z: float) -> Floats:
    """Return the overlap of the intervals of two estimates that are d apart."""
    common = np.minimum(z * error, d + z * other) - np.maximum(-z * error, d - z * other)
    return np.asarray((common / (2 * z * error) + common / (2 * z * other)) / 2)


def _fresh_range(covariance: Floats, errors: Sequence[Floats], level: float, rng: np.random.Generator) -> list[float]:
    """Return the range of the mean overlap of a fresh sample, whose coefficients depend on each other."""
    eigenvalues, vectors = np.linalg.eigh(covariance)
    root = (vectors * np.sqrt(np.maximum(eigenvalues, 0.0))) @ vectors.T  # symmetric: eigenvectors come with any sign
    drawn = rng.standard_normal((_FRESH, len(root))) @ root
    means = _overlaps_at(drawn, errors[0], errors[1], normal_quantile(level)).mean(axis=1)
    return [float(q) for q in np.quantile(means, [(1 - level) / 2, (1 + level) / 2])]


def _overlap(case: Case, models: Any, lesson: Lesson, tables: Sequence[TableRows]) -> Overlap | None:
    taught = [lesson.taught(t) for t in tables]
    n_units = min(int(t.unit.max(initial=-1)) + 1 for t in taught)
    if n_units < _FEWEST:
        return None
    design = _designs(lesson, taught, min(_TERMS, n_units // _PER_TERM))
    outcomes = [lesson.outcome(rows)[:, 0] for rows in taught]
    units = [rows.unit for rows in taught]
    fits = [_fit(models, lesson, *one) for one in zip(design, outcomes, units, strict=True)]
    moves = _moves(models, lesson, tables, np.vstack(design), np.concatenate(outcomes))
    if moves is None or any(fit is None for fit in fits):
        return None
    slopes, covariances = zip(*(fit for fit in fits if fit is not None), strict=True)
    return _compared(slopes, covariances, moves, case.level, case.rng(f"regression overlap {lesson.target}"))


def _moves(models: Any, lesson: Lesson, tables: Sequence[TableRows], x: Floats, outcome: Floats) -> Moves | None:
    """Return how far the units of both tables move the coefficients of one regression of all their rows."""
    fit = _regression(models, lesson, x, outcome)
    both = together(*tables)
    if fit is None:
        return None
    return moves_of(
        x, outcome, np.asarray(fit.params), both.unit[lesson.has(both)], int(both.unit.max()) + 1,
        linear=lesson.is_number,
    )  # fmt: skip


def _designs(lesson: Lesson, tables: Sequence[TableRows], most: int) -> list[Floats]:
    """Return the columns of the regression for each table: ranks of numbers, indicators of categories and of missing.

    A column enters only if it varies in each table beside those before it; the commonest columns come first.
    """
    x = [lesson.known(t) for t in tables]
    ends = np.cumsum([len(part) for part in x])[:-1]
    both = np.vstack(x)
    terms: list[tuple[float, Floats]] = []
    for j, is_number in enumerate(lesson.numeric):
        values = both[:, j]
        there = values >= 0
        if is_number:
            rank = np.where(there, values, values[there].mean() if there.any() else 0.0)
            spread = rank.std()
            terms.append((1.0, (rank - rank.mean()) / (spread if spread > 0 else 1.0)))
        level = np.where(there, 1.0, 0.0) if is_number else np.minimum(values, _APART)
        _, code, times = np.unique(level, return_inverse=True, return_counts=True)
        rarer = np.argsort(-times, kind="stable")[1:]
        terms.extend((float(times[v]) / len(both), (code.ravel() == v).astype(np.float64)) for v in rarer)
    terms.sort(key=lambda term: -term[0])
    columns = [np.ones(len(both))]
    outcome = [lesson.outcome(t)[:, 0] for t in tables]
    for share, column in terms:
        if share < 1 and not lesson.is_number and _parted(np.split(column, ends), outcome):
            continue
        if len(columns) <= most and share >= _RARE and _adds(columns, column, ends):
            columns.append(column)
    return np.split(np.column_stack(columns), ends)


def _adds(columns: Sequence[Floats], column: Floats, ends: NDArray[np.int64]) -> bool:
    """Return whether a column is not nearly a combination of the others, in each table."""
    for known, own in zip(np.split(np.column_stack(columns), ends), np.split(column, ends), strict=True):
        left = own - known @ np.linalg.lstsq(known, own, rcond=None)[0]
        if left.var() < 0.05 * max(own.var(), 1e-9) or min(own.var(), 1.0) < _RARE / 2:
            return False
    return True


def _parted(columns: Sequence[Floats], outcomes: Sequence[Floats]) -> bool:
    """Return whether an indicator nearly determines the outcome in a table: its coefficient would have no limit."""
    counts = [np.bincount((2 * c + y).astype(np.int64), minlength=4) for c, y in zip(columns, outcomes, strict=True)]
    return bool(np.min(counts) < _EACH)


def _regression(models: Any, lesson: Lesson, x: Floats, outcome: Floats, **errors: Any) -> Any:
    """Return a fitted regression; None where it does not converge."""
    with threadpool_limits(1), warnings.catch_warnings(action="ignore"):
        try:
            if lesson.is_number:
                return models.OLS(outcome, x).fit(**errors)
            fit = models.Logit(outcome, x).fit(disp=0, maxiter=50, **errors)
        except (ValueError, ArithmeticError, np.linalg.LinAlgError):
            return None
    return fit if fit.mle_retvals["converged"] else None


def _fit(models: Any, lesson: Lesson, x: Floats, outcome: Floats, unit: Ints) -> tuple[Floats, Floats] | None:
    """Return coefficients and their covariance; None where there is no stable solution."""
    alone = int(unit.max()) + 1 == len(unit)
    errors = {"cov_type": "HC3"} if alone else {"cov_type": "cluster", "cov_kwds": {"groups": unit}}
    fit = _regression(models, lesson, x, outcome, **errors)
    if fit is None:
        return None
    slopes, covariance = np.asarray(fit.params)[1:], np.asarray(fit.cov_params())[1:, 1:]
    if not len(slopes) or not np.isfinite(covariance).all() or (np.diag(covariance) <= 0).any():
        return None
    stable = np.abs(slopes).max() < 15 and np.linalg.cond(covariance) < 1e8
    return (slopes, covariance) if stable else None


def _compared(
    slopes: Sequence[Floats], covariances: Sequence[Floats], moves: Moves, level: float, rng: np.random.Generator
) -> Overlap:
    one, other = slopes
    z = normal_quantile(level)
    errors = [np.sqrt(np.diag(v)) for v in covariances]
    overlaps, means = [], []
    for a, b, s, t in zip(one, other, *errors, strict=True):
        overlaps.append(interval_overlap((a - z * s, a + z * s), (b - z * t, b + z * t)))
        means.append(expected_overlap(s, t, level))
    k = len(one)
    low, high = _fresh_range(covariances[0] + covariances[1], errors, level, rng)
    significant = [np.abs(b) > z * s for b, s in zip(slopes, errors, strict=True)]
    return Overlap(
        math.fsum(overlaps) / k, FreshSample(mean=math.fsum(means) / k, low=low, high=high), moves,
        int(np.count_nonzero((np.sign(one) != np.sign(other)) & (significant[0] | significant[1]))),
        int(np.count_nonzero(significant[0] != significant[1])), k,
    )  # fmt: skip
