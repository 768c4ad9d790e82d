"""Elements of an SVG drawing: the drawing itself, lines, texts, marks of verdicts, ticks of an axis."""

from __future__ import annotations

from math import ceil, floor, log10

from markupsafe import Markup, escape

from divulge.core.errors import tidy
from divulge.report.verdicts import word_of

_NARROW = 360  # widest chart that a phone shows whole with letters of 10 px; a wider one is moved sideways there


def drawing(
    uid: str,
    width: int,
    height: int,
    title: str,
    body: str,
    css: str,
    description: str = "",
    *,
    stretched: bool = False,
) -> Markup:
    """Return a drawing with a title and a description for screen readers; `body` is markup and not escaped.

    A stretched one fills its place, whatever the ratio of its sides.
    """
    words = f'<title id="{uid}t">{escape(tidy(title))}</title>'
    names = f"{uid}t"
    if description:
        words += f'<desc id="{uid}d">{escape(tidy(description))}</desc>'
        names += f" {uid}d"
    own = f' width="{width}" tabindex="0"' if css == "chart" and width > _NARROW else ""
    fit = ' preserveAspectRatio="none"' if stretched else ""
    return Markup(  # every text above is escaped, the rest are numbers
        f'<svg class="{css}" viewBox="0 0 {width} {height}"{fit}{own} role="img" aria-labelledby="{names}">'
        f"{words}{body}</svg>"
    )


def ticks(low: float, high: float, about: int = 6) -> list[float]:
    """Return round numbers from low to high, about `about` of them."""
    rough = (high - low) / about
    power = 10.0 ** floor(log10(rough))
    step = next(m * power for m in (1, 2, 2.5, 5, 10) if m * power >= rough * 0.999)
    first = ceil(low / step - 1e-9)
    return [round(i * step, 10) + 0.0 for i in range(first, floor(high / step + 1e-9) + 1)]


def line(x1: float, y1: float, x2: float, y2: float, css: str) -> str:
    """Return a straight line."""
    end = f"H{x2:g}" if y1 == y2 else f"V{y2:g}" if x1 == x2 else f"L{x2:g} {y2:g}"
    return f'<path class="{css}" d="M{x1:g} {y1:g}{end}"/>'


def text_mark(x: float, y: float, text: str, anchor: str = "middle", css: str = "tick") -> str:
    """Return a text, escaped."""
    return f'<text class="{css}" x="{x:g}" y="{y:g}" text-anchor="{anchor}">{escape(tidy(text))}</text>'


def verdict_mark(x: float, y: float, verdict: str) -> str:
    """Return the mark of a verdict; the marks differ in shape, so that colour is not needed."""
    css, below, path = word_of(verdict).mark
    if not path:
        return f'<circle class="mark {css}" cx="{x:g}" cy="{y:g}" r="4.5"/>'
    return f'<path class="mark {css}" d="M{x:g} {y + below:g}{path}"/>'
