"""Numbers and moments of people that stand in the synthetic table nearly equal: rounded, or moved by a little."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["NEARLY_EQUAL", "NEARLY_EQUAL_NOTE", "nearly_equal"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

NEARLY_EQUAL = "one column, nearly equal"
NEARLY = 1 / 200
"""A synthetic value counts whole where it is so much nearer than the nearest other person's; chosen on 400 to 4,000
people whose values were moved by 30 seconds of six years, or by 1e-5 of themselves."""
NEARLY_EQUAL_NOTE = (
    "a person's value stands in the synthetic table, or one that is at least 200 times nearer to it than the nearest "
    "other person's; it counts the less the farther it is, and not where somebody else has the value"
)


def nearly_equal(values: Floats, person: Ints, released: NDArray[np.bool_]) -> Floats:
    """Return for each value of a column how nearly the synthetic table has it.

    Nothing depends on who is a member, so that labels of people are exchangeable given what is returned.

    Parameters
    ----------
    values
        Distinct values, shape (n,); nan and infinite ones are nan.
    person
        Number of the only person who has it; -1 where several have it, -2 where nobody has, shape (n,).
    released
        Which of them the synthetic table has, shape (n,).

    Returns
    -------
    scores
        Shape (n,), min(1, NEARLY o / d) with d the distance to the nearest synthetic value and o that to the nearest
        other person's; 0 for values that several people have; nan for values that are no number or nobody's.

    Examples
    --------
    >>> nearly_equal(np.array([1.0, 1.001, 5.0]), np.array([0, -2, 1]), np.array([False, True, False])).round(3)
    array([1.   ,   nan, 0.005])
    """
    out = np.full(len(values), np.nan)
    finite = np.isfinite(values)
    known = np.flatnonzero(finite & (person >= -1))
    if not len(known):
        return out
    out[known] = 0.0
    known = known[np.argsort(values[known], kind="stable")]
    synthetic = np.sort(values[finite & released])
    if not len(synthetic):
        return out
    own = values[known]
    place = np.searchsorted(synthetic, own)
    with np.errstate(over="ignore"):
        other = _to_another(own, person[known])
        before = own - synthetic[np.maximum(place - 1, 0)]
        after = synthetic[np.minimum(place, len(synthetic) - 1)] - own
    distance = np.minimum(np.abs(before), np.abs(after))
    with np.errstate(divide="ignore", invalid="ignore"):
        score = np.where(distance == 0, 1.0, np.minimum(1.0, NEARLY * other / distance))
    alone = person[known] >= 0
    out[known[alone]] = score[alone].round(9)  # digits of the unit of a column must not matter
    return out


def _to_another(values: Floats, person: Ints) -> Floats:
    """Return the distance of each value to the nearest one of another person, shape (n,); values ascend.

    Neighbours of one person are passed over together.
    """
    first = np.flatnonzero(np.r_[True, (person[1:] != person[:-1]) | (person[1:] < 0)])
    last = np.r_[first[1:], len(values)] - 1
    run = np.repeat(np.arange(len(first)), last - first + 1)
    before = np.r_[-np.inf, values][first][run]  # the value before the first one of the run
    after = np.r_[values, np.inf][last + 1][run]
    return np.asarray(np.minimum(values - before, after - values))
