"""Sizes of classes of equal keys, the curve of shares by size, and classes of a population from those of a sample."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import Any

import numpy as np

from divulge.attacks.checks import Floats
from divulge.case.case import Case, build_case
from divulge.core.schema import check_columns
from divulge.kernels.counts.contingency import Ints
from divulge.tables.frames import table_of
from divulge.tables.readers import read

_SIZES = (1, 2, 3, 4, 5, 10, 20, 50, 100)


def _class_sizes(margin: Ints) -> dict[str, list[float]]:
    """Return for each size the share of records in classes of at most that size."""
    used = margin[margin > 0]
    total = max(int(used.sum()), 1)
    return {"at_most": [float(used[used <= k].sum() / total) for k in _SIZES]}


def _least(values: Any) -> float | None:
    return float(values.min()) if len(values) else None


def _share_at_most(values: Floats, margin: Ints, levels: Sequence[float]) -> list[float]:
    used = margin > 0
    total = max(int(margin[used].sum()), 1)
    return [float(margin[used][values[used] <= x + 1e-9].sum() / total) for x in levels]


def _most(values: Any) -> float | None:
    return float(values.max()) if len(values) else None


def mean_inverse(f: Ints, fraction: float) -> Floats:
    """Return the mean of 1/F for each class of `f` people of a sample, F of them in the population.

    F - f is negative binomial with f and the sampling fraction p: E(1/F) is the integral over t from 0 to 1 of
    t^(f-1) (p / (1 - (1 - p) t))^f, which is p^f / f times the hypergeometric function 2F1(f, f; f+1; 1-p).

    Parameters
    ----------
    f
        People of the sample in each class, from 1 on.
    fraction
        p = n / N in (0, 1].

    Examples
    --------
    >>> mean_inverse(np.array([1, 3]), 0.05).round(7).tolist()
    [0.1576701, 0.0239825]
    """
    from scipy.special import hyp2f1

    if fraction >= 1:
        return 1 / f
    size, back = np.unique(f, return_inverse=True)
    # Euler: p^f 2F1(f, f; f+1; q) = p 2F1(1, 1; f+1; q), the sum of k! q^k / ((f+1) ... (f+k))
    small = size < _SERIES  # scipy has no value for large ones, whose sum has fallen to nothing after 200 terms
    k = np.arange(1, 200)
    ratios = (1.0 - fraction) * k / (size[~small, None] + k)
    sums = np.concatenate([hyp2f1(1.0, 1.0, size[small] + 1.0, 1.0 - fraction), 1 + ratios.cumprod(1).sum(1)])
    out: Floats = (fraction / size * sums)[back]
    return out


_SERIES = 20


def _among_population(case: Case, population: Any, keys: Sequence[str]) -> Case:
    """Return a case whose strangers are the people of a population.

    Raises
    ------
    ColumnError, TableError
        The population lacks a key, or cannot be read.
    """
    if isinstance(population, str | PathLike):
        people = read(population, role="population", missing=case.missing)
    else:
        people = table_of(population, "population")
    among = build_case(
        case.tables[0],
        case.tables[1],
        people,
        schema=case.schema,
        missing=case.missing,
        seed=case.seed,
        level=case.level,
    )
    check_columns("population", keys, among.columns)
    return among
