"""Sizes of classes of equal keys, the curve of shares by size, and classes of a population from those of a sample."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import Any

import numpy as np

from divulge.attacks.checks import Floats
from divulge.case.case import Case, build_case
from divulge.core.errors import SettingError
from divulge.core.schema import check_columns
from divulge.kernels.counts.contingency import ContingencyTable, Ints
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
    return _in_place_of(case, population, keys, 2)


def people_with_keys(case: Case, population: Any, keys: Sequence[str], table: ContingencyTable) -> Ints:
    """Return how many people of a population have each key of a table that real and holdout records have.

    Keys that the synthetic table alone has are 0.

    Raises
    ------
    ColumnError, TableError
        The population lacks a key, or cannot be read.
    """
    # bins are those of real and holdout, which are the same records in both cases
    beside = _in_place_of(case, population, keys, 1).contingency(keys, ())
    people = np.zeros(table.n_keys, dtype=np.int64)
    for which in (0, 2):
        own, other = table.cells[which], beside.cells[which]
        if own is None or other is None:
            raise SettingError(
                "population: the rows of the tables are elsewhere. hint: engine='memory' (--engine memory) reads them."
            )
        people[table.key[own]] = beside.s_key[beside.key[other]]
    return people


def _in_place_of(case: Case, population: Any, keys: Sequence[str], which: int) -> Case:
    """Return a case with the people of a population as its synthetic (1) or holdout table (2)."""
    if isinstance(population, str | PathLike):
        people = read(population, role="population", missing=case.missing)
    else:
        people = table_of(population, "population")
    tables = [*case.tables[:which], people, *case.tables[which + 1 :]]
    among = build_case(
        tables[0],
        tables[1],
        tables[2] if len(tables) > 2 else None,
        schema=case.schema,
        missing=case.missing,
        seed=case.seed,
        level=case.level,
    )
    check_columns("population", keys, among.columns)
    return among
