"""Elements that the plots share: sizes, scales, axes, names beside rows and below columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import isfinite

from markupsafe import escape

from divulge.core.result import tidy
from divulge.report.documents.svg import line, text_mark
from divulge.report.formatting import brief
from divulge.sdmetrics.plot_shapes import Axis, marks_between

__all__ = [
    "BOTTOM", "LEFT", "LETTER", "NAMES", "PLOT", "RIGHT", "TOP", "WIDTH", "axis_below", "axis_beside", "box",
    "names_below", "names_beside", "path", "percent_marks", "scale", "score_text",
    "short",
]  # fmt: skip

WIDTH, TOP, RIGHT, LEFT = 760, 78, 24, 66
NAMES = 190  # width of the column of names
PLOT, BOTTOM = 300, 48
LETTER = {"Real": "r", "Synthetic": "s"}


def short(text: object, most: int = 30) -> str:
    """Return an untrusted name on one line, shortened."""
    return brief(" ".join(tidy(text).split()), most)


def score_text(value: float, digits: int = 4) -> str:
    """Return a score as text; one below 1 is not rounded to 1.

    Examples
    --------
    >>> score_text(0.99996), score_text(1.0), score_text(0.85), score_text(float("nan"))
    ('0.9999', '1.0000', '0.8500', '-')
    """
    if not isfinite(value):
        return "-"
    return f"{min(value, 1 - 10.0**-digits) if value < 1 else value:.{digits}f}"


def scale(low: float, high: float, begin: float, end: float) -> Callable[[float], float]:
    """Return the function from a number between low and high to its place between begin and end."""
    span = (high - low) or 1.0
    return lambda v: round(begin + (v - low) / span * (end - begin), 1)


def axis_below(axis: Axis, x: Callable[[float], float], top: float, bottom: float, about: int = 7) -> str:
    """Return ticks, labels and title of an axis of numbers below a plot."""
    out = line(x(axis.ends[0]), bottom, x(axis.ends[1]), bottom, "zero")
    about = min(about, 5) if axis.dates else about
    for value, label in axis.marks(about):
        out += line(x(value), top, x(value), bottom, "grid") + text_mark(x(value), bottom + 16, label)
    middle = (x(axis.ends[0]) + x(axis.ends[1])) / 2
    return out + text_mark(middle, bottom + 36, short(axis.title, 70))


def axis_beside(
    marks: Iterable[tuple[float, str]],
    y: Callable[[float], float],
    title: str,
    left: float,
    right: float,
    middle: float,
) -> str:
    """Return ticks, labels and the upright title of an axis left of a plot."""
    out = ""
    for value, label in marks:
        out += line(left, y(value), right, y(value), "grid") + text_mark(left - 7, y(value) + 4, label, "end")
    words = escape(short(title, 48))
    return out + f'<text text-anchor="middle" transform="translate(17 {middle:g}) rotate(-90)">{words}</text>'


def percent_marks(top: float) -> list[tuple[float, str]]:
    """Return round shares from 0 to `top`, and their labels."""
    return [(v, f"{v * 100:.10g}%") for v, _ in marks_between(0, top, about=5)]


def names_beside(names: Sequence[str], y: Callable[[float], float], left: float) -> str:
    """Return names left of a plot, one a row."""
    return "".join(text_mark(left - 8, y(i + 0.5) + 4, short(n, 26), "end") for i, n in enumerate(names))


def box(css: str, x: float, y: float, width: float, height: float, told: str = "", opacity: float | None = None) -> str:
    """Return a rectangle; what is told of it is shown where the mouse rests."""
    inside = f"<title>{escape(tidy(told))}</title></rect>" if told else "</rect>"
    deep = "" if opacity is None else f' fill-opacity="{opacity:.3f}"'
    size = f'width="{max(width, 0):.1f}" height="{max(height, 0):.1f}"'
    return f'<rect class="{css}"{deep} x="{x:g}" y="{y:g}" {size}>{inside}'


def path(css: str, points: Iterable[tuple[float, float]], close: bool = False) -> str:
    """Return a line through points, closed to an area on request."""
    return f'<path class="{css}" d="M{"L".join(f"{x:g} {y:g}" for x, y in points)}{"Z" if close else ""}"/>'


def names_below(axis: Axis, x: Callable[[float], float], bottom: float) -> str:
    """Return names below the columns of a plot, turned."""
    return "".join(
        f'<text class="tick" text-anchor="end" transform="translate({x(i + 0.5) + 3:g} {bottom + 12:g}) rotate(-50)">'
        f"{escape(short(name, 20))}</text>"
        for i, name in enumerate(axis.names)
    )
