"""How far the coefficients of two tables are apart, beside those of tables that exchanged persons.

A regression of both tables together says how far each person moves its coefficients. If the second table is a fresh
sample of the first one's population, its persons can be exchanged with those of the first: the difference of what both
tables move has the distribution that exchanges give it, exactly, whatever the errors of the coefficients are. One fit
serves all exchanges, because it does not depend on who is in which table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from divulge.measures._permutation import Tail, permuted_p

__all__ = ["Moves", "exchanged", "moves_of"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_CHUNK = 100  # exchanges whose labels are in memory together


@dataclass(frozen=True, slots=True, eq=False)
class Moves:
    """How far the persons of both tables move the coefficients of one regression."""

    of: Floats
    """Shape (n_units, n_coefficients): what a unit adds, in directions in which all units have the same spread."""
    rows: Floats
    """Shape (n_units,): rows of each unit that have a value of the target."""


def moves_of(x: Floats, outcome: Floats, slopes: Floats, unit: Ints, n_units: int, *, linear: bool) -> Moves | None:
    """Return how far units move the coefficients of a regression of all rows; None where these are not told apart.

    Parameters
    ----------
    x
        Shape (n, k), the constant first.
    outcome
        Shape (n,); 0 or 1 where the regression is logistic.
    slopes
        Shape (k,): the fit to all rows.
    unit, n_units
        Unit of each row, from 0 on, shape (n,); and how many there are, as a unit may have no row.
    linear
        Whether the regression is linear, or else logistic.

    Examples
    --------
    >>> x = np.column_stack([np.ones(4), [0.0, 0.0, 1.0, 1.0]])
    >>> found = moves_of(x, np.array([0.0, 2.0, 3.0, 5.0]), np.array([1.0, 3.0]), np.arange(4), 4, linear=True)
    >>> found.of.ravel().tolist()
    [0.5, -0.5, -0.5, 0.5]
    """
    expected = x @ slopes
    weights = np.ones(len(x))
    if not linear:
        expected = 1 / (1 + np.exp(-expected))
        weights = expected * (1 - expected)
    try:
        step = np.linalg.solve((x * weights[:, None]).T @ x, x.T)[1:].T * (outcome - expected)[:, None]
        of_units = np.zeros((n_units, step.shape[1]))
        np.add.at(of_units, unit, step)
        root = np.linalg.cholesky(of_units.T @ of_units)
        of = np.linalg.solve(root, of_units.T).T
    except np.linalg.LinAlgError:
        return None
    return Moves(of, np.bincount(unit, minlength=n_units).astype(np.float64))


def exchanged(moves: Sequence[Moves], n_first: int, draws: int, rng: np.random.Generator) -> list[Tail]:
    """Return the p-values of several regressions, whose units are exchanged together.

    Parameters
    ----------
    moves
        Of each regression, over the same units; those of the first table come first.
    n_first
        Units of the first table.
    draws
        Exchanges.
    rng
        Draws which units count as the first table's.

    Examples
    --------
    >>> alike = Moves(np.array([[0.5], [-0.5], [0.5], [-0.5]]), np.ones(4))
    >>> apart = Moves(np.array([[0.5], [0.5], [-0.5], [-0.5]]), np.ones(4))
    >>> near, far = exchanged([alike, apart], 2, 999, np.random.default_rng(0))
    >>> near.p, near.p_low < 0.7, far.p < 0.4, far.p_low
    (1.0, True, True, 1.0)
    """
    every = [np.column_stack([m.of, m.rows]) for m in moves]
    truth = np.arange(len(every[0])) < n_first
    distances = np.empty((len(moves), 1 + draws))
    for first in range(0, 1 + draws, _CHUNK):
        drawn = range(first, min(first + _CHUNK, 1 + draws))
        labels = np.stack([truth if d == 0 else rng.permutation(truth) for d in drawn]).astype(np.float64)
        for i, (own, m) in enumerate(zip(every, moves, strict=True)):
            distances[i, drawn] = _squared(labels @ own, float(m.rows.sum()))
    return permuted_p(distances[:, 0].tolist(), distances[:, 1:])


def _squared(sums: Floats, n_rows: float) -> Floats:
    """Return the squared distance of the mean moves of both tables from the sums and the rows of the first one.

    The moves of both tables together add up to 0.
    """
    first = np.clip(sums[:, -1], 1.0, n_rows - 1)
    return np.asarray((sums[:, :-1] ** 2).sum(axis=1) * (1 / first + 1 / (n_rows - first)) ** 2)
