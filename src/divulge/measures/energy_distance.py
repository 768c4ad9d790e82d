"""The energy distance of the real and the synthetic rows, against that of permuted labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from divulge.case.case import Case
from divulge.case.features import features_of
from divulge.measures._permutation import Tail, fresh_sample, holdout_of, permuted_p, with_tail
from divulge.measures._rows import TableRows, labelled, relabelled, sampled, table_rows, unfit
from divulge.measures.entry import MeasureWords
from divulge.measures.registry import measure
from divulge.measures.result import FidelityResult, FreshSample
from divulge.measures.verdicts import judged

__all__ = ["Energy", "energy", "energy_distance", "row_distances"]

Floats = NDArray[np.float64]

_ROWS = 1_500  # rows of each table: the matrix of distances grows as the square
_DRAWS = 999
_BLOCK = 16  # rows whose distances are made at once

_WORDS = MeasureWords(
    what="The mean distance between real and synthetic rows is compared with the mean distances within both tables.",
    formula="E = 2 mean |r - s| - mean |r - r'| - mean |s - s'|\n"
    "ratio = E / mean E under permuted labels; numbers count by rank, categories as indicators",
    reading="A fresh sample has a ratio about 1, a copy 0; more is farther from the real table.",
    silent=("Differences in few columns, or in how columns go together, where there are many columns.",),
)


@dataclass(frozen=True, slots=True)
class Energy:
    """The energy distance of two samples."""

    distance: float
    """0 for equal samples; in the unit of the distances."""
    ratio: float
    """Over its mean under permuted labels; 0 where all rows are equal."""
    p: Tail
    fresh: FreshSample | None
    """Of the ratio."""


@measure(
    family="joint",
    question="Are synthetic rows as far from real rows as real rows are from each other?",
    needs="A usable column, and 20 rows of each table.",
    reference="Szekely and Rizzo (2013), Energy statistics: a class of statistics based on distances.",
    better="near the reference",
    null="the energy distance under permuted labels",
    words=_WORDS,
    models=True,
)
def energy_distance(case: Case, *, columns: Sequence[str] | None = None) -> tuple[FidelityResult, ...]:
    """Return the energy distance over its mean under permuted labels.

    Parameters
    ----------
    columns
        Columns to compare. None takes all usable ones.

    Returns
    -------
    tuple of FidelityResult
        One, of quantity "ratio". Not measured where no column is usable or a table has fewer than 20 rows.

    Examples
    --------
    >>> import polars as pl
    >>> real = pl.DataFrame({"a": [i % 50 + i / 1000 for i in range(100)]})
    >>> [found] = energy_distance(real, real.with_columns(a=real["a"] + 30))
    >>> found.verdict, found.value > 5
    ('differs', True)
    """
    names = tuple(sorted(case.schema.usable() if columns is None else columns))
    why = unfit(case, names)
    if why:
        return (FidelityResult(measure="energy_distance", quantity="ratio", notes=(why,)),)
    tables, found = _beside(case, names, "synthetic")
    holdout = None
    if case.has_holdout and not unfit(case, names, ("holdout",)):
        others, strangers = _beside(case, names, "holdout")
        holdout = holdout_of(strangers.ratio, strangers.p, strangers.fresh, len(others[1]))
    result = FidelityResult(
        measure="energy_distance", quantity="ratio", value=found.ratio, fresh_sample=found.fresh,
        excess=None if found.fresh is None else found.ratio - found.fresh.mean, n=len(tables[0]), m=len(tables[1]),
        notes=sampled("the distances", *tables), context={"energy": found.distance}, holdout=holdout,
    )  # fmt: skip
    return (judged(with_tail(result, found.p), case.level),)


def _beside(case: Case, names: tuple[str, ...], other: str) -> tuple[list[TableRows], Energy]:
    """Return rows of the real and of another table, and their energy distance."""
    tables = [table_rows(case, names, role, _ROWS, f"energy {role}") for role in ("real", other)]
    rows = labelled(tables[0], tables[1], case.rng("energy order"))
    far = row_distances(*features_of(case, names).apart(rows.x))
    return tables, energy(far, relabelled(rows, _DRAWS, case.rng("energy labels")), case.level)


def row_distances(numbers: Floats, categories: Floats) -> Floats:
    """Return the distance of any two rows: Euclid's, where two different categories are 1 apart.

    Parameters
    ----------
    numbers, categories
        Shapes (n, n_numbers) and (n, n_categories).

    Examples
    --------
    >>> row_distances(np.array([[0.0], [0.0], [0.75]]), np.array([[3.0], [5.0], [3.0]]))[0].tolist()
    [0.0, 1.0, 0.75]
    """
    n = len(numbers)
    out = np.empty((n, n))
    for first in range(0, n, _BLOCK):  # the rows of a block stay in the processor's cache
        block = slice(first, first + _BLOCK)
        squares = np.zeros((len(out[block]), n))
        for column in numbers.T:
            gap = column[block, None] - column
            gap *= gap
            squares += gap
        for column in categories.T:
            squares += column[block, None] != column
        np.sqrt(squares, out=out[block])
    return out


def energy(far: Floats, labels: Floats, level: float = 0.95) -> Energy:
    """Return the energy distance of rows under the truth and under permuted labels.

    Parameters
    ----------
    far
        The distance of any two rows, shape (n, n).
    labels
        Shape (n, 1 + n_permutations), 1 for a real row; the first column is the truth.
    level
        Share of fresh samples that are in the range given.

    Examples
    --------
    >>> far = np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 1.0], [2.0, 1.0, 0.0]])
    >>> energy(far, np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])).distance  # 2 (2 + 1) / 2 - 2 1 / 4 - 0
    2.5
    """
    n_real = labels.sum(axis=0)
    weights = labels / n_real - (1 - labels) / (len(labels) - n_real)
    with threadpool_limits(1):
        # a quadratic form in the weights: minus the sum over all pairs of w_i w_j |i - j|
        found = np.maximum(-np.einsum("ij,ij->j", weights, far @ weights), 0.0)
    found[found < 1e-12] = 0.0
    null, mean = found[1:], float(found[1:].mean())
    [tail] = permuted_p([float(found[0])], null[None])
    ratio = float(found[0]) / mean if mean > 0 else 0.0
    return Energy(float(found[0]), ratio, tail, fresh_sample(null / mean, level) if mean > 0 else None)
