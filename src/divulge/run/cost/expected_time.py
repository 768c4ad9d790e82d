"""Seconds in words: how long a run takes, and how much of it is left."""

from __future__ import annotations

from math import ceil

from divulge.report.formatting import several

__all__ = ["duration", "time_left"]

_STEPS = ((90, 10, 1, "second"), (90 * 60, 60, 60, "minute"))  # below, rounded up to multiples of, seconds of the unit


_LEFT = ((90, 10, 1, "s"), (90 * 60, 60, 60, "min"))
_HARDLY = 5.0  # seconds below which nothing is said


def duration(seconds: float) -> str:
    """Return a number of seconds in words, rounded up to 10 seconds, minutes or hours.

    Examples
    --------
    >>> duration(3), duration(61), duration(100), duration(20_000)
    ('10 seconds', '70 seconds', '2 minutes', '6 hours')
    """
    step, unit, word = next(((s, u, w) for most, s, u, w in _STEPS if seconds < most), (3600, 3600, "hour"))
    return several(max(1, ceil(seconds / step)) * step // unit, word)


def time_left(seconds: float) -> str:
    """Return how much time is left, in words, rounded up; "" where it is hardly any.

    Examples
    --------
    >>> time_left(4), time_left(37), time_left(100), time_left(20_000)
    ('', 'about 40 s left', 'about 2 min left', 'about 6 h left')
    """
    if seconds < _HARDLY:
        return ""
    step, unit, word = next(((s, u, w) for most, s, u, w in _LEFT if seconds < most), (3600, 3600, "h"))
    return f"about {ceil(seconds / step) * step // unit} {word} left"
