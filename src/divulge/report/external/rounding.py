"""Rounding for an external edition: counts of few people are withheld, other numbers are rounded."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal
from math import floor, isfinite, log10

__all__ = [
    "BASE", "FEW", "WITHHELD", "Limits", "count", "digits", "few_hidden", "grid", "places", "quantiles", "rounded",
    "share", "stairs", "to_step",
]  # fmt: skip

FEW = 10
"""Counts below this are withheld."""

BASE = 5
"""The other counts of people are multiples of this."""

WITHHELD = "a withheld number"

Limits = tuple[float | None, float | None]


def count(value: float | None, n: float | None = None) -> float | None:
    """Return a count of people as a multiple of 5; None below 10, or when fewer than 10 of `n` remain.

    Examples
    --------
    >>> count(38, 120), count(4, 120), count(0), count(115, 120), count(None)
    (40, None, None, None, None)
    """
    if value is None or value < FEW or (n is not None and n - value < FEW):
        return None
    return BASE * round(value / BASE)


def grid(n: float, people: float = FEW) -> float:
    """Return the smallest step of 0.0001, 0.0002, 0.0005, 0.001 and so on that is at least `people` of n people.

    Examples
    --------
    >>> grid(120), grid(100_000), grid(4)
    (0.1, 0.0001, 1.0)
    """
    steps = (float(f"{m}e{k}") for k in range(-4, 0) for m in (1, 2, 5))
    return next((s for s in steps if s * n >= people * (1 - 1e-9)), 1.0)


def to_step(value: float | None, step: float, side: str = "near") -> float | None:
    """Return a number on a grid: the nearest point, or the next one "down" or "up".

    Examples
    --------
    >>> to_step(0.13, 0.05), to_step(0.13, 0.05, "up"), to_step(-0.13, 0.1, "down")
    (0.15, 0.15, -0.2)
    """
    if value is None:
        return None
    how = {"down": ROUND_FLOOR, "up": ROUND_CEILING}.get(side, ROUND_HALF_EVEN)
    unit = Decimal(repr(step))
    return float((Decimal(repr(float(value))) / unit).to_integral_value(how) * unit) + 0.0


def places(limits: Limits) -> int | None:
    """Return the number of decimals that an interval supports: up to the leading digit of half its width.

    Examples
    --------
    >>> places((0.01, 0.14)), places((0.0, 0.4)), places((None, 1.0))
    (2, 1, None)
    """
    low, high = limits
    if low is None or high is None or not high > low or not isfinite(high - low):
        return None
    return max(0, -floor(log10((high - low) / 2)))


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


def share(value: float | None, n: float | None) -> float | None:
    """Return a share of n people, to the nearest step of at least 5 people; None if it or the rest is below 10 people.

    Examples
    --------
    >>> share(0.5234, 120), share(0.03, 120), share(0.97, 120), share(0.52345678, 1_000_000)
    (0.5, None, None, 0.5235)
    """
    if value is None or not n or value * n < FEW or (1 - value) * n < FEW:
        return None
    shown = to_step(value, grid(n, BASE))
    # in steps of 0.0001 ten people of 250,000 would be shown as nobody
    return None if shown in (0, 1) else shown


def stairs(values: Sequence[float | None], n: float | None) -> list[float | None]:
    """Return a curve of shares of n people in steps of ten people.

    A share of fewer than ten people becomes 0, and one that leaves fewer than ten becomes 1.

    Examples
    --------
    >>> stairs([1.0, 0.96, 0.5, 0.04, 0.0], 200)
    [1.0, 1.0, 0.5, 0.0, 0.0]
    """
    if not n:
        return []
    return [None if v is None else _stair(v * n, n) for v in values]


def _stair(people: float, n: float) -> float:
    if people < FEW:
        return 0.0
    if n - people < FEW:
        return 1.0
    return min(1.0, round(FEW * round(people / FEW) / n, 4))


def quantiles(shares: Sequence[float | None], values: Sequence[float | None], n: float | None) -> list[float | None]:
    """Return quantiles of n people, None for those less than ten people from either end or from one already kept.

    Quantiles are kept from the median outward.

    Examples
    --------
    >>> quantiles([0.0, 0.25, 0.5, 0.75, 1.0], [1.0, 2.0, 3.0, 4.0, 5.0], 30)
    [None, None, 3.0, None, None]
    """
    known = [(i, s) for i, s in enumerate(shares) if s is not None and i < len(values)]
    kept: list[float] = []
    out: list[float | None] = [None] * len(shares)
    for i, s in sorted(known, key=lambda k: (abs(k[1] - 0.5), k[1])):
        apart = all(n and abs(s - other) * n >= FEW - 1e-9 for other in kept)
        if n and s * n >= FEW - 1e-9 and (1 - s) * n >= FEW - 1e-9 and apart:
            kept.append(s)
            out[i] = digits(values[i])
    return out


# ---------------------------------------------------------------- numbers in sentences

_N = r"\d+(?:,\d{3})*(?:\.\d+)?"
_NO_PEOPLE = r"comparisons|conditions|attacks|pairs|results|sets|splits|targets|tests"
_OF = re.compile(rf"(?<![\d.])(?<!column )({_N}) of (the )?({_N})(?![\d.,]*[\d%]| (?:{_NO_PEOPLE})\b)")
_IN = re.compile(rf"(?<![\d.])({_N}) distinct values in ({_N}) rows")
_PEOPLE = re.compile(
    rf"(?<!fewer than )(?<!column )(?<![\d.,])({_N}) ((?:disclosed |real |holdout |other |more |planted )*"
    r"(?:records?|people|persons?|rows?|units?|members?|strangers?)\b)"
)
_PERCENT = re.compile(r" ?\(-?\d[\d.]*%\)|; -?\d[\d.]*% (?=[^;]*\Z)| ?\(p = [\d.e-]+\)")


def few_hidden(text: str) -> str:
    """Return a sentence without counts of fewer than ten people; where a count changed, percentages and p-values go.

    Examples
    --------
    >>> few_hidden("3 of 120 real rows repeat another one (2.5%)")
    'a withheld number of 120 real rows repeat another one'
    >>> few_hidden("23 of 600 rows equal a synthetic one, 3 of 600 a real one (p = 0.00036)")
    '25 of 600 rows equal a synthetic one, a withheld number of 600 a real one'
    >>> few_hidden("4 units are in both; 38 of 120 people; in 2 of 1,970 comparisons")
    'fewer than 10 units are in both; 40 of 120 people; in 2 of 1,970 comparisons'
    """
    hidden = [False]

    def of(match: re.Match[str]) -> str:
        shown = count(_number(match[1]), _number(match[3]))
        hidden[0] |= shown != _number(match[1])  # a percentage or a p-value would reveal it
        return f"{WITHHELD if shown is None else f'{shown:,}'} of {match[2] or ''}{match[3]}"

    def distinct(match: re.Match[str]) -> str:
        shown = count(_number(match[1]), _number(match[2]))
        return f"{'so many' if shown is None else f'{shown:,}'} distinct values in {match[2]} rows"

    def people(match: re.Match[str]) -> str:
        small = _number(match[1]) < FEW
        hidden[0] |= small
        return f"fewer than {FEW} {match[2]}" if small else match[0]

    out = _IN.sub(distinct, _OF.sub(of, text))
    # what the line above wrote is not a count to change
    out = "".join(p if p.startswith(WITHHELD) else _PEOPLE.sub(people, p) for p in _parts(out))
    return _PERCENT.sub("", out) if hidden[0] else out


def _parts(text: str) -> list[str]:
    return re.split(rf"({WITHHELD} of (?:the )?{_N})", text)


def _number(text: str) -> float:
    return float(text.replace(",", ""))
