"""Counts of an external edition: multiples of five people, or withheld. Every other number is made from these."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal
from math import ceil, floor, isfinite, log10

from divulge.core.schema import FEW_PEOPLE

__all__ = [
    "BASE",
    "FEW",
    "WITHHELD",
    "Limits",
    "alike",
    "at_least",
    "count",
    "digits",
    "nearest",
    "rounded",
    "size",
    "step_of",
    "step_of_rows",
]

FEW = FEW_PEOPLE
"""Of a withheld count at least so many values are possible."""

BASE = 5
"""The other counts are multiples of this; of each, so many values are possible."""

_LEAST = 3
"""Steps of the smallest count that is shown, and of the smallest rest of n: of 13 to 17, the first five that have
one nearest multiple, none is below 10."""

WITHHELD = "a withheld number"

Limits = tuple[float | None, float | None]


def nearest(value: float, step: int = BASE) -> int:
    """Return the multiple of a step that is nearest; halves go up.

    Examples
    --------
    >>> nearest(12), nearest(13), nearest(17), nearest(22.5)
    (10, 15, 15, 25)
    """
    return step * floor(value / step + 0.5)


def size(value: float | None, step: int = BASE) -> int | None:
    """Return the number of people of a table or a part of one as a multiple of `step`; None below three steps.

    Examples
    --------
    >>> size(998), size(13), size(12), size(None)
    (1000, 15, None, None)
    """
    shown = None if value is None else nearest(value, step)
    return None if shown is None or shown < _LEAST * step else shown


def step_of(tables: Iterable[tuple[float | None, float | None]]) -> int:
    """Return the multiple that counts of people are rounded to: 5, times the rows of a person where he has several.

    Parameters
    ----------
    tables
        Rows and units of each table of people; no units (None) where each row is a person.

    Examples
    --------
    >>> step_of([(1000, None), (500, None)]), step_of([(1000, 400), (500, 200)])
    (5, 15)
    """
    known = [(size(rows), size(units)) for rows, units in tables]
    return BASE * max([1, *(ceil(rows / units) for rows, units in known if rows and units)])


def step_of_rows(longest: int) -> int:
    """Return the multiple that the rows of people are rounded to: 5 times as many as one has, made a round number.

    Examples
    --------
    >>> step_of_rows(1), step_of_rows(7), step_of_rows(217)
    (5, 50, 2000)
    """
    tens = int(10 ** (len(str(BASE * longest)) - 1))
    return next(step for step in (tens, 2 * tens, 5 * tens, 10 * tens) if step >= BASE * longest)


def at_least(value: float, step: int = BASE) -> int:
    """Return the number of people as `size` shows it; where it withholds it, the smallest that it shows.

    Examples
    --------
    >>> at_least(998), at_least(4)
    (1000, 15)
    """
    return size(value, step) or _LEAST * step


def count(value: float | None, n: int | None, step: int = BASE) -> int | None:
    """Return a count of people as a multiple of `step`; None where it or the rest of n is below three steps.

    Parameters
    ----------
    value
        The count, or a sum of scores in [0, 1].
    n
        The size as shown: None is withheld, and so are its counts.
    step
        The multiple.

    Examples
    --------
    >>> count(38, 120), count(12, 120), count(0, 120), count(108, 120), count(38, None)
    (40, None, None, None, None)
    """
    if value is None or n is None:
        return None
    shown = nearest(value, step)
    return None if shown < _LEAST * step or n - shown < _LEAST * step else shown


def alike(value: float | None, n: int | None, step: int = BASE) -> tuple[float, float] | None:
    """Return the smallest and the largest count that `count` shows, or withholds, as it does this one.

    A withheld count is a small one or one that leaves a small rest; where n is below six steps, it is any.

    Examples
    --------
    >>> alike(38, 120), alike(3, 120), alike(117, 120), alike(3, 20), alike(3, None)
    ((37.5, 42.5), (0.0, 12.5), (107.5, 120.0), (0.0, 20.0), None)
    """
    if value is None or n is None:
        return None
    shown, edge = nearest(value, step), (_LEAST - 0.5) * step
    if n < 2 * _LEAST * step:
        return 0.0, float(n)
    if shown < _LEAST * step:
        return 0.0, edge
    if n - shown < _LEAST * step:
        return n - edge, float(n)
    return shown - step / 2, shown + step / 2


def rounded(value: float | None, decimals: int | None, side: str = "near") -> float | None:
    """Return a number rounded to `decimals`, or to three significant digits where these are None.

    Examples
    --------
    >>> rounded(0.0456, 2), rounded(0.041, 2, "up"), rounded(0.045678, None)
    (0.05, 0.05, 0.0457)
    """
    if value is None or value == 0:
        return value
    if decimals is None:
        decimals = 2 - floor(log10(abs(value)))
    how = {"down": ROUND_FLOOR, "up": ROUND_CEILING}.get(side, ROUND_HALF_EVEN)
    unit = Decimal(1).scaleb(-decimals)
    # a multiple of the unit, as quantize() refuses more than 28 digits
    return float((Decimal(repr(float(value))) / unit).to_integral_value(how) * unit) + 0.0


def digits(value: float | None, n: int = 3) -> float | None:
    """Return a number with n significant digits; an int stays an int.

    Examples
    --------
    >>> digits(0.0123456), digits(1234), digits(None)
    (0.0123, 1230, None)
    """
    if value is None or value == 0 or not isfinite(value):
        return value
    out = float(f"{value:.{n}g}")
    return int(out) if isinstance(value, int) else out
