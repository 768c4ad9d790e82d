"""The propensity score mean squared error (pMSE) of a logistic regression, against that of permuted labels."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from divulge.case.case import Case
from divulge.measures._permutation import Tail, fresh_sample, holdout_of, permuted_p, with_tail
from divulge.measures._rows import TableRows, indicators, labelled, relabelled, sampled, table_rows, unfit
from divulge.measures.entry import MeasureWords
from divulge.measures.registry import measure
from divulge.measures.result import FidelityResult, FreshSample
from divulge.measures.verdicts import judged

__all__ = ["Propensity", "pmse", "propensity", "table_pmse"]

Floats = NDArray[np.float64]

_ROWS = 4_000  # rows of each table; a limit on the time
_DRAWS = 999
_REFITS = 20  # permutations that the logistic regression is fitted to
_STRENGTH = 100.0  # the penalty of the logistic regression is its inverse
_STEPS, _CLOSE = 40, 1e-9
_FLAT = 1e-9

_WORDS = MeasureWords(
    what="A logistic regression on the values and bins of all columns gives each row a probability of being synthetic; "
    "its spread is compared with that under permuted labels.",
    formula="pMSE = mean over all rows of (p - c)^2, c the share of synthetic rows\n"
    "ratio = pMSE / mean pMSE under permuted labels",
    reading="A fresh sample has a ratio about 1, a copy 0; a table drawn from the real rows with replacement has about "
    "0.5. Published ratios divide by what a sample drawn from the real rows would show instead, so that a fresh sample "
    "of equal size has 2 there.",
    silent=("How columns go together: the regression sees one column at a time.",),
)


@dataclass(frozen=True, slots=True)
class Propensity:
    """The pMSE of two tables and its null."""

    pmse: float
    """Of the logistic regression."""
    ratio: float
    """Over its mean under permuted labels; nan where the columns are constant."""
    p: Tail
    """Of a linear regression, whose pMSE is nearly the same; fitted again to each permutation."""
    fresh: FreshSample | None
    """Of the ratio."""
    k: int
    """Indicators of the model."""


@measure(
    family="joint",
    question="Do single columns give synthetic rows away, all columns together?",
    needs="A usable column, and 20 rows of each table.",
    reference="Snoke, Raab, Nowok, Dibben and Slavkovic (2018), General and specific utility measures for synthetic "
    "data; Raab, Nowok and Dibben (2021), Assessing, visualizing and improving the utility of synthetic data.",
    better="near the reference",
    null="the pMSE under permuted labels",
    words=_WORDS,
    models=True,
)
def pmse(case: Case, *, columns: Sequence[str] | None = None) -> tuple[FidelityResult, ...]:
    """Return the pMSE ratio: how much better than by chance a logistic regression tells synthetic rows from real ones.

    Parameters
    ----------
    columns
        Columns of the model. None takes all usable ones.

    Returns
    -------
    tuple of FidelityResult
        One, of quantity "ratio". Not measured where no column is usable or a table has fewer than 20 rows.

    Examples
    --------
    >>> import polars as pl
    >>> real = pl.DataFrame({"a": ["x", "y"] * 100})
    >>> [found] = pmse(real, real)
    >>> found.value, found.p_low_tail < 0.2
    (0.0, True)
    """
    names = tuple(sorted(case.schema.usable() if columns is None else columns))
    why = unfit(case, names)
    if why:
        return (FidelityResult(measure="pmse", quantity="ratio", notes=(why,)),)
    tables, found = _beside(case, names, "synthetic")
    holdout = None
    if case.has_holdout and not unfit(case, names, ("holdout",)):
        others, strangers = _beside(case, names, "holdout")
        if not math.isnan(strangers.ratio):
            holdout = holdout_of(strangers.ratio, strangers.p, strangers.fresh, len(others[1]))
    result = FidelityResult(
        measure="pmse", quantity="ratio", value=None if math.isnan(found.ratio) else found.ratio,
        fresh_sample=found.fresh, excess=None if found.fresh is None else found.ratio - found.fresh.mean,
        n=len(tables[0]), m=len(tables[1]), notes=sampled("the model", *tables), holdout=holdout,
        context={"pmse": found.pmse, "indicators": found.k},
    )  # fmt: skip
    return (judged(with_tail(result, found.p), case.level),)


def _beside(case: Case, names: tuple[str, ...], other: str) -> tuple[list[TableRows], Propensity]:
    """Return rows of the real and of another table, and how a regression tells them apart."""
    tables = [table_rows(case, names, role, _ROWS, f"pmse {role}") for role in ("real", other)]
    rows = labelled(tables[0], tables[1], case.rng("pmse order"))
    labels = 1.0 - relabelled(rows, _DRAWS, case.rng("pmse labels"))
    return tables, propensity(indicators(rows.x, rows.numeric), labels, case.level)


def propensity(features: Floats, labels: Floats, level: float = 0.95) -> Propensity:
    """Return the pMSE of rows under the truth and permuted labels.

    Parameters
    ----------
    features
        Indicators, shape (n, k).
    labels
        Shape (n, 1 + n_permutations), 1 for a synthetic row; the first column is the truth.
    level
        Share of fresh samples that are in the range given.
    """
    linear = _linear(features, labels)
    [tail] = permuted_p([float(linear[0])], linear[None, 1:])
    refits = _logistics(features, labels[:, 1 : 1 + _REFITS])
    own = _logistic(features, labels[:, 0])
    # the linear pMSE of the same permutations tells how far their mean is from that of all of them
    few, mean = float(linear[1 : 1 + len(refits)].mean()), float(linear[1:].mean())
    usual = math.fsum(refits) / len(refits) * (mean / few if few > 0 else 1.0)
    if mean <= _FLAT**2:
        return Propensity(own, math.nan, tail, None, features.shape[1])
    return Propensity(own, own / usual, tail, fresh_sample(linear[1:] / mean, level), features.shape[1])


def _linear(features: Floats, labels: Floats) -> Floats:
    """Return the mean square of the fitted values of a linear regression of each labelling, shape (n_labellings,)."""
    with threadpool_limits(1):
        centred = features - features.mean(axis=0)
        values, vectors = np.linalg.eigh(centred.T @ centred)
        kept = values > _FLAT * max(1.0, float(values.max(initial=0.0)))
        basis = centred @ (vectors[:, kept] / np.sqrt(values[kept]))
        return np.asarray(((basis.T @ labels) ** 2).sum(axis=0) / len(labels))


def _logistic(features: Floats, label: Floats) -> float:
    from sklearn.linear_model import LogisticRegression

    if features.shape[1] == 0:
        return 0.0
    with threadpool_limits(1), warnings.catch_warnings(action="ignore"):
        # a small penalty: where a column tells all rows apart there is no solution without one
        model = LogisticRegression(C=_STRENGTH, solver="newton-cholesky", max_iter=50).fit(features, label)
        chance = model.predict_proba(features)[:, 1]
    return math.fsum((chance - label.mean()) ** 2) / len(label)


def _logistics(features: Floats, labels: Floats) -> list[float]:
    """Return the pMSE of a logistic regression of each labelling, fitted to all of them at once.

    Where chances are near the share of a label the curvature is nearly the same for all, so that one matrix serves each
    step of each labelling. Where they are far from it, as in tables of few rows, a labelling is fitted for itself.
    """
    from scipy.linalg import cho_factor, cho_solve

    n, k = features.shape
    if k == 0 or not labels.shape[1]:
        return [0.0] * labels.shape[1]
    x = np.column_stack([features, np.ones(n)])
    share = labels.mean(axis=0)
    penalty = np.append(np.full(k, 1 / _STRENGTH), 0.0)
    with threadpool_limits(1), np.errstate(over="ignore"):
        weight = float(np.mean(share * (1 - share)))
        factor = cho_factor(weight * (x.T @ x) + np.diag(penalty + _FLAT))
        slopes = np.zeros((k + 1, labels.shape[1]))
        slopes[-1] = np.log(share / (1 - share))
        for _ in range(_STEPS):
            chance = 1 / (1 + np.exp(-(x @ slopes)))
            slope = x.T @ (chance - labels) + penalty[:, None] * slopes
            step = cho_solve(factor, slope)
            slopes -= step
            if np.abs(step).max() < _CLOSE:
                break
        done = np.abs(step).max(axis=0) < _CLOSE
        chance = 1 / (1 + np.exp(-(x @ slopes)))
    return [
        math.fsum((chance[:, d] - share[d]) ** 2) / n if done[d] else _logistic(features, labels[:, d])
        for d in range(labels.shape[1])
    ]


def table_pmse(real: Sequence[int], synthetic: Sequence[int]) -> tuple[float, float, float]:
    """Return the pMSE of two tables of counts, its mean for a fresh sample, and for a sample drawn from the real rows.

    Parameters
    ----------
    real, synthetic
        Counts of the same cells.

    Examples
    --------
    >>> own, fresh, drawn = table_pmse([2, 1], [1, 2])
    >>> [round(1 / v) for v in (own, fresh, drawn)]
    [36, 24, 48]
    """
    r, s = (np.asarray(counts, dtype=np.float64) for counts in (real, synthetic))
    kept = r + s > 0
    r, s = r[kept], s[kept]
    n, c = float((r + s).sum()), float(s.sum() / (r + s).sum())
    own = math.fsum((s / (r + s) - c) ** 2 * (r + s)) / n
    return own, (len(r) - 1) * c * (1 - c) / n, (len(r) - 1) * (1 - c) ** 2 * c / n
