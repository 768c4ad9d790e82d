"""Draw the plots as SVG; real data are filled, synthetic data are outlined or hatched, so that colour is not needed."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from functools import singledispatch

import numpy as np
from markupsafe import escape
from numpy.typing import NDArray

from divulge.core.result import tidy
from divulge.report.documents.svg import line, text_mark
from divulge.report.formatting import brief
from divulge.sdmetrics.plot_elements import (
    BOTTOM,
    LEFT,
    LETTER,
    NAMES,
    PLOT,
    RIGHT,
    TOP,
    WIDTH,
    axis_below,
    axis_beside,
    box,
    names_below,
    names_beside,
    path,
    percent_marks,
    scale,
    short,
)
from divulge.sdmetrics.plot_scores import matrix, scores
from divulge.sdmetrics.plot_shapes import (
    Axis,
    Bars,
    Boxes,
    Empty,
    Grid,
    Lines,
    Matrix,
    Picture,
    Scores,
    Steps,
    marks_between,
)

__all__ = ["HATCH", "STYLE", "draw"]

Floats = NDArray[np.float64]
_NOTE = 17
STYLE = """
.dvplot{--bg:#fff;--ink:#1d2430;--dim:#5a6474;
--grid:#e3e5e9;--r:#24598f;--s:#b04a00;font-family:system-ui,sans-serif}
@media (prefers-color-scheme:dark){.dvplot{--bg:#1b1f26;--ink:#e4e7ec;--dim:#a2abb8;
--grid:#363d48;--r:#8fc0f0;--s:#ffab70}}
.dvplot .back{fill:var(--bg)}
.dvplot text{fill:var(--ink);font-size:12px}
.dvplot .title{font-size:16px;font-weight:600}
.dvplot .tick,.dvplot .note{fill:var(--dim);font-size:11.5px}
.dvplot .grid{stroke:var(--grid);stroke-width:1;fill:none}
.dvplot .zero{stroke:var(--dim);stroke-width:1.2;fill:none}
.dvplot .r{fill:var(--r);stroke:none}
.dvplot .s{fill:url(#dvhatch);stroke:var(--s);stroke-width:1.2}
.dvplot .ra{fill:var(--r);fill-opacity:.3;stroke:var(--r);stroke-width:1.4}
.dvplot .sa{fill:var(--s);fill-opacity:.12;stroke:var(--s);stroke-width:1.8;stroke-dasharray:6 2}
.dvplot .rl{fill:none;stroke:var(--r);stroke-width:2.2}
.dvplot .sl{fill:none;stroke:var(--s);stroke-width:2.2;stroke-dasharray:7 3}
.dvplot .rb{fill:var(--r);fill-opacity:.18}
.dvplot .sb{fill:var(--s);fill-opacity:.16}
.dvplot .hl{stroke:var(--s);stroke-width:1.6}
.dvplot .rt{fill:none;stroke:var(--r);stroke-width:1.4}
.dvplot .st{fill:none;stroke:var(--s);stroke-width:1.4}
.dvplot .mid{stroke:var(--bg);stroke-width:2;fill:none}
.dvplot .mids{stroke:var(--s);stroke-width:2.4;fill:none}
.dvplot .neg{fill:var(--s);stroke:none}
.dvplot .cell{font-size:10.5px}
.dvplot .on{fill:var(--bg)}
""".replace("\n", "")
HATCH = (
    '<defs><pattern id="dvhatch" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
    '<path class="hl" d="M0 0V5"/></pattern></defs>'
)


def draw(picture: Picture, *, alone: bool = True) -> str:
    """Return a plot as SVG text, with its own styles and background if it stands alone.

    Within a page, the page has `STYLE` and one `HATCH` for all plots: its policy may forbid styles inside elements.
    """
    height, body = _body(picture)
    wrapped = [part for note in picture.notes for part in textwrap.wrap(tidy(note), 124)]
    whole = height + len(wrapped) * _NOTE + 12
    notes = "".join(text_mark(16, height + i * _NOTE, n, "start", "note") for i, n in enumerate(wrapped))
    title = brief(tidy(picture.title), 84)
    own = ' style="max-width:100%;height:auto"' if alone else ""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="dvplot" viewBox="0 0 {WIDTH} {whole:g}" width="{WIDTH}" '
        f'height="{whole:g}" role="img"{own}><title>{escape(title)}</title>'
        f"<desc>{escape(' '.join(wrapped))}</desc>{f'<style>{STYLE}</style>{HATCH}' if alone else ''}"
        f'<rect class="back" width="{WIDTH}" height="{whole:g}"/>{text_mark(16, 28, title, "start", "title")}'
        f"{'' if isinstance(picture, Empty | Grid) else _legend(picture.sides)}{body}{notes}</svg>\n"
    )


def _legend(sides: Sequence[str]) -> str:
    out = ""
    for i, side in enumerate(sides):
        x = 16 + 90 * i
        out += f'<rect class="{LETTER[side]}" x="{x}" y="44" width="14" height="12"/>'
        out += text_mark(x + 20, 54, side, "start", "legend")
    return out


@singledispatch
def _body(picture: Picture) -> tuple[float, str]:
    """Return the height of the drawing without notes, and its elements."""
    return 150, text_mark(WIDTH / 2, 96, "No data to visualize", "middle", "title")


_body.register(Scores, scores)
_body.register(Matrix, matrix)


# ---------------------------------------------------------------- one column


@_body.register
def _bars(p: Bars) -> tuple[float, str]:
    row = 15 * len(p.sides) + 8
    bottom = TOP + row * len(p.axis.names)
    top = max(float(np.nanmax(s, initial=0.0)) for s in p.shares) * 1.02 or 1.0
    x, y = scale(0, top, NAMES, WIDTH - RIGHT - 40), scale(0, len(p.axis.names), TOP, bottom)
    out = line(NAMES, TOP, NAMES, bottom, "zero")
    for value, label in percent_marks(top):
        out += line(x(value), TOP, x(value), bottom, "grid") + text_mark(x(value), bottom + 16, label)
    out += names_beside(p.axis.names, y, NAMES)
    for i, (side, shares) in enumerate(zip(p.sides, p.shares, strict=True)):
        for j, share in enumerate(shares.tolist()):
            at = y(j) + 4 + 15 * i
            if not np.isfinite(share):
                out += text_mark(NAMES + 5, at + 11, "fewer than 5 rows", "start", "note")
            elif share > 0:
                told = f"{side}, {short(p.axis.names[j], 60)}: {share:.1%}"
                out += box(LETTER[side], NAMES, at, x(share) - NAMES, 13, told)
                out += text_mark(x(share) + 5, at + 11, f"{share:.1%}", "start", "note")
    out += text_mark((NAMES + WIDTH - RIGHT) / 2, bottom + 36, "Frequency (share of rows)")
    return bottom + 62, out


@_body.register
def _steps(p: Steps) -> tuple[float, str]:
    bottom = TOP + PLOT
    top = max(float(np.nanmax(h, initial=0.0)) for h in p.heights) * 1.04 or 1.0
    x, y = scale(*p.axis.ends, LEFT, WIDTH - RIGHT), scale(0, top, bottom, TOP)
    out = axis_beside(percent_marks(top), y, p.measure, LEFT, WIDTH - RIGHT, (TOP + bottom) / 2)
    edges = [x(e) for e in p.axis.cells.tolist()]
    for i, (side, heights) in enumerate(zip(p.sides, p.heights, strict=True)):
        if np.isnan(heights).all():
            continue
        if p.areas:
            out += path(f"{LETTER[side]}a", _outline(edges, [y(h) for h in heights.tolist()], bottom), close=True)
        else:
            out += _columns(LETTER[side], edges, [y(h) for h in heights.tolist()], bottom, i, len(p.sides))
    return bottom + BOTTOM + 14, out + axis_below(p.axis, x, bottom, bottom)


def _outline(edges: Sequence[float], tops: Sequence[float], base: float) -> list[tuple[float, float]]:
    """Return the outline of steps, without empty bins at either end."""
    filled = [i for i, top in enumerate(tops) if top != base] or [0]
    points = [(edges[filled[0]], base)]
    for i in range(filled[0], filled[-1] + 1):
        points += [(edges[i], tops[i]), (edges[i + 1], tops[i])]
    return [*points, (edges[filled[-1] + 1], base)]


def _columns(css: str, edges: Sequence[float], tops: Sequence[float], base: float, which: int, of: int) -> str:
    out = ""
    for left, right, top in zip(edges, edges[1:], tops, strict=False):
        width = (right - left) * 0.86 / of
        if top < base:
            out += box(css, round(left + (right - left) * 0.07 + which * width, 1), top, width, base - top)
    return out


# ---------------------------------------------------------------- two columns


@_body.register
def _grid(p: Grid) -> tuple[float, str]:
    left = NAMES if p.y.names else 92
    gap, bottom = 22, TOP + (max(24 * len(p.y.names), 120) if p.y.names else PLOT)
    width = (WIDTH - left - RIGHT - gap * (len(p.sides) - 1)) / len(p.sides)
    top = max(float(c.max(initial=0.0)) for c in p.cells) or 1.0
    low, high = p.y.ends
    y = scale(low, high, TOP, bottom) if p.y.names else scale(low, high, bottom, TOP)
    out = names_beside(p.y.names, y, left) if p.y.names else ""
    turned = bool(p.x.names)
    for i, (side, cells) in enumerate(zip(p.sides, p.cells, strict=True)):
        begin = left + i * (width + gap)
        x = scale(*p.x.ends, begin, begin + width)
        if not p.y.names:
            out += "".join(
                line(begin, y(v), begin + width, y(v), "grid")
                + (text_mark(left - 7, y(v) + 4, t, "end") if i == 0 else "")
                for v, t in p.y.marks(5)
            )
        out += text_mark(begin + width / 2, TOP - 10, f"{side} Data") + _cells(side, cells, p, x, y, top)
        out += names_below(p.x, x, bottom) if turned else axis_below(p.x, x, bottom, bottom, 4)
    words = escape(short(p.y.title, 40))
    out += f'<text text-anchor="middle" transform="translate(17 {(TOP + bottom) / 2:g}) rotate(-90)">{words}</text>'
    if turned:
        longest = max(len(short(n, 20)) for n in p.x.names)
        bottom += 5 * longest + 12
        out += text_mark((left + WIDTH - RIGHT) / 2, bottom + 20, short(p.x.title, 70))
    return bottom + BOTTOM + 44, out + _shade(left, bottom + 46, top)


def _cells(side: str, cells: Floats, p: Grid, x: Callable[[float], float], y: Callable[[float], float], top: float
           ) -> str:  # fmt: skip
    across, down = [x(v) for v in p.x.cells.tolist()], [y(v) for v in p.y.cells.tolist()]
    css = LETTER["Real"]
    out = path(
        "grid", [(across[0], down[0]), (across[-1], down[0]), (across[-1], down[-1]), (across[0], down[-1])], True
    )
    for j, i in zip(*np.nonzero(cells), strict=True):
        share = float(cells[j, i])
        low, high = sorted((down[j], down[j + 1]))
        deep = 0.06 + 0.94 * (share / top) ** 0.5
        told = f"{side}: {share:.2%}"
        out += box(css, across[i], low, across[i + 1] - across[i], high - low, told, deep)
    return out


def _shade(left: float, at: float, top: float) -> str:
    out = text_mark(left, at + 12, "share of rows per cell:", "start", "note")
    for i, part in enumerate((0.01, 0.1, 0.25, 0.5, 1.0)):
        begin = left + 132 + 84 * i
        out += box("r", begin, at, 20, 14, opacity=0.06 + 0.94 * part**0.5)
        out += text_mark(begin + 25, at + 12, f"{part * top:.2%}", "start", "note")
    return out


@_body.register
def _boxes(p: Boxes) -> tuple[float, str]:
    row = 40 if p.violin else 16 * len(p.sides) + 10
    bottom = TOP + row * len(p.names.names)
    x, y = scale(*p.axis.ends, NAMES, WIDTH - RIGHT), scale(0, len(p.names.names), TOP, bottom)
    out = axis_below(p.axis, x, TOP, bottom, 6) + names_beside(p.names.names, y, NAMES)
    words = escape(short(p.names.title, 40))
    out += f'<text text-anchor="middle" transform="translate(17 {(TOP + bottom) / 2:g}) rotate(-90)">{words}</text>'
    for i, (side, found) in enumerate(zip(p.sides, p.found, strict=True)):
        for j, values in enumerate(found):
            if np.isnan(values).any():
                continue
            if p.violin:
                out += _half(side, values, p.axis, x, y(j + 0.5), 0.44 * row / float(values.max()), -1 if i == 0 else 1)
            else:
                out += _one_box(side, [x(v) for v in values.tolist()], y(j) + 7 + 16 * i)
    return bottom + BOTTOM + 14, out


def _half(side: str, heights: Floats, axis: Axis, x: Callable[[float], float], middle: float, scale: float, way: int
          ) -> str:  # fmt: skip
    tops = [round(middle + way * h * scale, 1) for h in heights.tolist()]
    return path(f"{LETTER[side]}a", _outline([x(e) for e in axis.cells.tolist()], tops, middle), close=True)


def _one_box(side: str, at: Sequence[float], top: float) -> str:
    css, middle = LETTER[side], top + 6
    far_low, low, half, high, far_high = at
    out = line(far_low, middle, low, middle, f"{css}t") + line(high, middle, far_high, middle, f"{css}t")
    out += line(far_low, middle - 3, far_low, middle + 3, f"{css}t") + line(
        far_high, middle - 3, far_high, middle + 3, f"{css}t"
    )
    return out + box(css, low, top, high - low, 12) + line(half, top, half, top + 12, "mid" if css == "r" else "mids")


@_body.register
def _lines(p: Lines) -> tuple[float, str]:
    bottom = TOP + PLOT
    low, high = p.ends()
    x, y = scale(*p.x.ends, LEFT + 26, WIDTH - RIGHT), scale(low, high, bottom, TOP)
    marks = marks_between(low, high, dates=p.y_dates, about=5)
    out = axis_beside(marks, y, p.y_title, LEFT + 26, WIDTH - RIGHT, (TOP + bottom) / 2)
    for side, (at, _, below, above) in zip(p.sides, p.lines, strict=True):
        out += _bands(LETTER[side], at, below, above, x, y)
    for side, (at, mean, _, _) in zip(p.sides, p.lines, strict=True):
        points = [(x(a), y(m)) for a, m in zip(at.tolist(), mean.tolist(), strict=True)]
        css = LETTER[side]
        out += path(f"{css}l", points) if len(points) > 1 else "".join(box(css, a - 3, m - 3, 6, 6) for a, m in points)
    return bottom + BOTTOM + 14, out + axis_below(p.x, x, bottom, bottom)


def _bands(css: str, at: Floats, low: Floats, high: Floats, x: Callable[[float], float], y: Callable[[float], float]
           ) -> str:  # fmt: skip
    known = np.flatnonzero(np.isfinite(low))
    out = ""
    for run in np.split(known, np.flatnonzero(np.diff(known) > 1) + 1):
        if len(run) > 1:
            there = [(x(at[i]), y(high[i])) for i in run]
            out += path(f"{css}b", [*there, *[(x(at[i]), y(low[i])) for i in run[::-1]]], close=True)
    return out
