"""Numbers that are whole multiples of one step from one origin: whole numbers, decimals, halves, thirds, dates.

The difference of two such numbers is a whole number of steps. In float64 the differences 0.3 - 0.2 and 0.2 - 0.1 are
not equal; the steps are.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["digits_of", "steps_of", "whole_steps"]

Floats = NDArray[np.float64]

_MOST = 2.0**24  # steps from end to end; with more, rounding of a step adds up to a part of it
_ROUNDINGS = 4  # units in the last place by which a number may lie beside its multiple
_WHOLE = 2.0**52


def steps_of(values: Floats) -> tuple[float, float] | None:
    """Return origin and step of a lattice that holds all values; None where there is none.

    Parameters
    ----------
    values
        Numbers, all finite.

    Examples
    --------
    >>> steps_of(np.array([0.25, 1.75, 0.75])), steps_of(np.array([3.0, 9.0, -3.0]))
    ((0.25, 0.5), (-3.0, 6.0))
    >>> steps_of(np.array([0.0, 1.0, 2**0.5])) is None
    True
    """
    known = np.unique(values)
    if len(known) < 2:
        return None
    origin, largest = float(known[0]), float(np.abs(known).max())
    if largest < _WHOLE and np.array_equal(known, np.rint(known)):
        return origin, float(np.gcd.reduce((known - origin).astype(np.int64)))
    if not 1e-290 < largest < 1e290:
        return None
    away, ulp = known - origin, float(np.spacing(largest))
    step = float(np.diff(known).min())
    while True:  # Euclid: what is left over by the step divides what the step has to divide
        if step < 64 * ulp or away[-1] > _MOST * step:
            return None
        count = np.rint(away / step)
        left = np.abs(away - count * step)
        over = left > 2 * (count + 1) * ulp
        if not over.any():
            break
        step = float(left[over].min())
    step = float(away[-1] / count[-1])
    count = np.rint(away / step)
    if (np.abs(known - (origin + count * step)) > _ROUNDINGS * ulp).any():
        return None
    common = float(np.gcd.reduce(count.astype(np.int64)))
    return origin, step * common


def whole_steps(values: Floats, origin: float, step: float) -> Floats:
    """Return the number of steps of each value from the origin: whole where a value is on the lattice; nan stays nan.

    Examples
    --------
    >>> whole_steps(np.array([0.3, 0.1, 0.25, np.inf]), 0.1, 0.1).tolist()
    [2.0, 0.0, 1.4999999999999998, inf]
    """
    with np.errstate(over="ignore", invalid="ignore"):
        count = (values - origin) / step
        near = np.rint(count)
        on = np.abs(values - (origin + near * step)) <= _ROUNDINGS * np.spacing(np.maximum(np.abs(values), abs(origin)))
    return np.asarray(np.where(on, near, count))


def digits_of(values: Floats) -> int | None:
    """Return after how many digits behind the point all values end, at most 12; negative ends before it; else None.

    Examples
    --------
    >>> digits_of(np.array([1.25, 3.5])), digits_of(np.array([100.0, 2300.0])), digits_of(np.array([1 / 3]))
    (2, -2, None)
    """
    for digits in range(-12, 13):
        with np.errstate(over="ignore"):
            if (values == values.round(digits)).all():
                return digits
    return None
