"""Seconds in words."""

from __future__ import annotations

from math import ceil

from divulge.report.formatting import several

__all__ = ["duration"]

_STEPS = ((90, 10, 1, "second"), (90 * 60, 60, 60, "minute"))  # below, rounded up to multiples of, seconds of the unit


def duration(seconds: float) -> str:
    """Return a number of seconds in words, rounded up to 10 seconds, minutes or hours.

    Examples
    --------
    >>> duration(3), duration(61), duration(100), duration(20_000)
    ('10 seconds', '70 seconds', '2 minutes', '6 hours')
    """
    step, unit, word = next(((s, u, w) for most, s, u, w in _STEPS if seconds < most), (3600, 3600, "hour"))
    return several(max(1, ceil(seconds / step)) * step // unit, word)
