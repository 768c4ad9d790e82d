"""Limits of the difference of two estimates, from the limits of each (MOVER)."""

from __future__ import annotations

import math

__all__ = ["Limits", "difference"]

Limits = tuple[float, float, float]
"""Value, lower and upper limit."""


def difference(now: Limits, before: Limits, stretch: float = 1.0) -> Limits:
    """Return the difference now - before as (value, low, high), with limits from those of the two (MOVER).

    The limits keep their level for two independent estimates. Where the same people were attacked both times, the
    estimates are positively correlated and the limits are conservative.

    Parameters
    ----------
    now, before
        Value, lower and upper limit, at one level.
    stretch
        Factor of the half-widths, for simultaneous limits: the normal quantile of their level over that of the given
        limits. It is a rough approximation where rates are near 0 or 1 and sizes differ much.

    References
    ----------
    Zou and Donner (2008), Construction of confidence limits about effect measures: a general approach.

    Examples
    --------
    >>> [round(x, 3) for x in difference((0.20, 0.14, 0.26), (0.10, 0.02, 0.18))]
    [0.1, 0.0, 0.2]
    """
    (r, low, high), (s, under, over) = now, before
    value = r - s
    below, above = math.hypot(r - low, over - s), math.hypot(high - r, s - under)
    return value, value - stretch * below, value + stretch * above
