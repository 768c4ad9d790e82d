"""Charts as SVG, drawn without a library that the page would load. Colours come from the page's style sheet.

Each chart has a title and a description for a screen reader; the page shows a table of its numbers beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from divulge.report import formatting
from divulge.report.documents.svg import drawing, line, text_mark, ticks, verdict_mark
from divulge.report.model import ResultRecord
from divulge.report.verdicts import word_of

__all__ = [
    "Rung",
    "Scale",
    "Series",
    "axis",
    "cumulative",
    "curves",
    "icon",
    "interval_row",
    "ladder",
    "nice_top",
    "rate_row",
    "risk_scale",
    "rung",
]

_WIDTH, _HEIGHT = 300, 22
_PAD = 10


@dataclass(frozen=True, slots=True)
class Scale:
    """A linear scale from low to high."""

    low: float
    high: float
    width: float = _WIDTH

    def x(self, value: float) -> float:
        """Return the x coordinate of a value; a value outside the scale is at its end."""
        share = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return round(_PAD + share * (self.width - 2 * _PAD), 1)


@dataclass(frozen=True, slots=True)
class Rung:
    """One row of a ladder chart: a risk with its intervals, or a rate beside its baseline."""

    label: str
    value: float | None
    inner: tuple[float | None, float | None] = (None, None)
    outer: tuple[float | None, float | None] = (None, None)
    verdict: str | None = None
    baseline: float | None = None
    band: tuple[float | None, float | None] = (None, None)


def rung(label: str, r: ResultRecord, strangers: bool) -> Rung:
    """Return one result as a row of a ladder chart: its risk or, without strangers, its rate."""
    if not strangers:
        return Rung(label, formatting.rate_of(r.real), baseline=formatting.rate_of(r.baseline))
    limits = [
        (formatting.risk_value(r, f"low{kind}"), formatting.risk_value(r, f"high{kind}"))
        for kind in ("", "_simultaneous")
    ]
    return Rung(label, formatting.risk_value(r), limits[0], limits[1], r.verdict, band=formatting.leak_free(r))


@dataclass(frozen=True, slots=True)
class Series:
    """One line of a chart."""

    name: str
    style: str
    """CSS class suffix and marker: members, strangers or synthetic."""
    values: Sequence[float | None]


def icon(verdict: str) -> Markup:
    """Return the icon of a verdict; icons differ in shape, not in colour alone."""
    return drawing("verdict-icon-", 48, 48, verdict, word_of(verdict).icon, "icon")


def risk_scale(limits: Iterable[tuple[float | None, float | None]], acceptable: float) -> Scale:
    """Return the scale that shows these intervals, zero and the acceptable risk.

    Lower limits far below zero would compress the rest; they are cut, and an arrow marks the cut.
    """
    pairs = list(limits)
    high = max([2 * acceptable, *(h for _, h in pairs if h is not None)])
    high = min(high, 1.0)
    low = min([-0.2 * high, *(v for v, _ in pairs if v is not None)])
    return Scale(max(low, -high), high)


def axis(uid: str, scale: Scale, acceptable: float | None, *, percent: bool = False) -> Markup:
    """Return the axis above the rows of a forest plot; `acceptable` is None where there is no such line."""
    shown, parts = _axis(scale, acceptable, percent)
    title = f"Axis from {shown[0]} to {shown[-1]}" if shown else "Axis"
    return drawing(uid, _WIDTH, 34, title, "".join(parts), "row-plot")


def _axis(scale: Scale, acceptable: float | None, percent: bool) -> tuple[list[str], list[str]]:
    marks = ticks(scale.low, scale.high)
    shown = [f"{100 * t:.4g}%" if percent else f"{t:.4g}" for t in marks]
    taken = -99.0 if acceptable is None else scale.x(acceptable)
    parts = [
        text_mark(scale.x(t), 27, s) + line(scale.x(t), 31, scale.x(t), 34, "grid")
        for t, s in zip(marks, shown, strict=True)
        if abs(scale.x(t) - taken) > 13 or t == 0
    ]
    if acceptable is not None:
        x = scale.x(acceptable)
        parts.append(
            text_mark(x, 11, f"acceptable {acceptable:g}", "start" if x < scale.width / 2 else "end", "tick acc")
        )
        parts.append(line(x, 14, x, 34, "accept"))
    return shown, parts


def interval_row(
    uid: str, title: str, scale: Scale, acceptable: float | None, value: float | None,
    inner: tuple[float | None, float | None], outer: tuple[float | None, float | None], verdict: str,
    band: tuple[float | None, float | None] = (None, None),
) -> Markup:  # fmt: skip
    """Return one row of a forest plot: outer interval thin, inner interval thick, the estimate as a mark.

    `band` is the leak-free band; with `acceptable` None no line of acceptable risk is drawn.
    """
    y = _HEIGHT / 2
    # longer than the row: the page clips them at its ends, so that the lines of neighbouring rows meet
    parts = [_band(scale, band, -20, 420)]
    parts += [
        line(scale.x(a), -20, scale.x(a), 400, css)
        for a, css in ((0.0, "zero"), (acceptable, "accept"))
        if a is not None
    ]
    return drawing(
        uid, _WIDTH, _HEIGHT, title, "".join(parts + _interval(scale, y, value, inner, outer, verdict)), "row-plot"
    )


def _band(scale: Scale, band: tuple[float | None, float | None], y: float, height: float) -> str:
    """Return the grey band of a row, clipped to the scale; without a lower limit it begins at the left end."""
    if band[1] is None:
        return ""
    left, right = scale.x(scale.low if band[0] is None else band[0]), scale.x(band[1])
    return f'<rect class="band" x="{left:g}" y="{y:g}" width="{max(right - left, 1):g}" height="{height:g}"/>'


def _interval(
    scale: Scale, y: float, value: float | None, inner: tuple[float | None, float | None],
    outer: tuple[float | None, float | None], verdict: str,
) -> list[str]:  # fmt: skip
    parts = []
    for limits, css in ((outer, "thin"), (inner, "thick")):
        if limits[0] is not None and limits[1] is not None and limits[1] >= scale.low and limits[0] <= scale.high:
            parts.append(line(scale.x(limits[0]), y, scale.x(limits[1]), y, css))
    if outer[0] is not None and outer[0] < scale.low - 1e-9:
        parts.append(f'<path class="arrow" d="M{_PAD - 8} {y:g}l8 -5v10Z"/>')
    if outer[1] is not None and outer[1] > scale.high + 1e-9:
        parts.append(f'<path class="arrow" d="M{scale.width - _PAD + 8:g} {y:g}l-8 -5v10Z"/>')
    if value is not None and scale.low <= value <= scale.high:
        parts.append(verdict_mark(scale.x(value), y, verdict))
    return parts


def rate_row(uid: str, title: str, rate: float | None, baseline: float | None) -> Markup:
    """Return one row without strangers: the rate as a dot, the baseline as a bar."""
    return drawing(
        uid, _WIDTH, _HEIGHT, title, "".join(_dotted(Scale(0.0, 1.0), _HEIGHT / 2, rate, baseline)), "row-plot"
    )


def _dotted(scale: Scale, y: float, rate: float | None, baseline: float | None) -> list[str]:
    parts = [line(_PAD, y, scale.width - _PAD, y, "grid")]
    if baseline is not None:
        parts.append(line(scale.x(baseline), y - 8, scale.x(baseline), y + 8, "baseline"))
    if rate is not None:
        parts.append(f'<circle class="mark m-rate" cx="{scale.x(rate):g}" cy="{y:g}" r="4.5"/>')
    return parts


_LABELS, _STEP, _LETTERS = 122, 20, 16


def ladder(
    uid: str,
    title: str,
    description: str,
    rungs: Sequence[Rung],
    acceptable: float | None,
    common: Scale | None = None,
) -> Markup:
    """Return a chart with risks and intervals in rows, or with rates and baselines when `acceptable` is None.

    `common` is the scale of the page; without it the chart has one that shows its own intervals.
    """
    width = _W - _LABELS - 8
    bottom = 40 + _STEP * len(rungs)
    if common is None:
        common = Scale(0.0, 1.0) if acceptable is None else risk_scale([r.outer for r in rungs], acceptable)
    scale = Scale(common.low, common.high, width)
    lines = ""
    if acceptable is not None:
        lines = "".join(
            line(scale.x(a), 34, scale.x(a), bottom, css) for a, css in ((0.0, "zero"), (acceptable, "accept"))
        )
    parts = [*_axis(scale, acceptable, acceptable is None)[1], lines]
    labels = []
    for i, r in enumerate(rungs):
        y = 40 + _STEP * (i + 0.5)
        text = r.label if len(r.label) <= _LETTERS else f"{r.label[: _LETTERS - 1]}…"
        labels.append(text_mark(_LABELS - 4, y + 4, text, "end", "legend"))
        if acceptable is None:
            parts += _dotted(scale, y, r.value, r.baseline)
        else:
            parts.insert(0, _band(scale, r.band, y - _STEP / 2, _STEP))
            parts += _interval(scale, y, r.value, r.inner, r.outer, r.verdict or "")
    body = f'{"".join(labels)}<g transform="translate({_LABELS} 0)">{"".join(parts)}</g>'
    return drawing(uid, _W, bottom + 4, title, body, "chart", description)


# ---------------------------------------------------------------- curves

_W, _H, _LEFT, _RIGHT, _TOP, _BOTTOM = 360, 236, 46, 12, 30, 40


def curves(
    uid: str, title: str, description: str, x: Sequence[float], series: Sequence[Series], *, x_label: str, step: bool,
    top: float = 1.0, start: bool = False,
) -> Markup:  # fmt: skip
    """Return a chart of shares against x, with a line for each series.

    Parameters
    ----------
    x
        Values at which the shares were taken. With `step` their scale is linear from 0 to 1 and the lines are step
        functions; otherwise they are equally spaced.
    top
        Upper end of the share axis.
    start
        Begin each line at (0, 1): every score is at least 0.
    """
    places = [_LEFT + v * (_W - _LEFT - _RIGHT) for v in x] if step else _side_by_side(len(x))
    body = [
        _frame(top),
        _x_axis(x, places, step),
        text_mark((_LEFT + _W - _RIGHT) / 2, _H - 6, x_label, css="axis-label"),
    ]
    body.append(_legend(series))
    for s in series:
        points = [(p, _y(v, top)) for p, v in zip(places, s.values, strict=False) if v is not None]
        if start and points:
            points = [(float(_LEFT), _y(1.0, top)), *points]
        if points:
            body.append(f'<path class="curve c-{s.style}" d="{_path(points, step)}"/>')
        if not step:
            body += [_dot(px, py, s.style) for px, py in points]
    return drawing(uid, _W, _H, title, "".join(body), "chart", description)


def cumulative(
    uid: str, title: str, description: str, shares: Sequence[float | None], series: Sequence[Series], *, x_label: str
) -> Markup:
    """Return a chart of cumulative shares against a value, drawn from quantiles.

    Parameters
    ----------
    shares
        Shares at which the quantiles were taken, ascending from 0 to 1.
    series
        Their values are the quantiles. A long tail, the first or the last 1%, is cut at the edge.
    """
    lines = [(s, [(v, p) for v, p in zip(s.values, shares, strict=False) if v is not None and p is not None])
             for s in series]  # fmt: skip
    lines = [(s, points) for s, points in lines if points]
    low, high = _range([[v for v, _ in points] for _, points in lines])
    width = _W - _LEFT - _RIGHT

    def place(value: float) -> float:
        return round(_LEFT + (value - low) / (high - low) * width, 1)

    body = [_frame(1.0), _legend(series), text_mark(_LEFT + width / 2, _H - 6, x_label, css="axis-label")]
    body += [text_mark(place(t), _H - _BOTTOM + 15, f"{t:.4g}") for t in ticks(low, high, 5)]
    for s, points in lines:
        drawn = _without_middles([(place(v), _y(p, 1.0)) for v, p in _between(points, low, high)])
        body.append(f'<path class="curve c-{s.style}" d="{_path(drawn, step=False)}"/>')
    return drawing(uid, _W, _H, title, "".join(body), "chart", description)


def _range(series: Sequence[Sequence[float]]) -> tuple[float, float]:
    """Return the ends of an axis for these ascending values, without the 1% of a long tail; from 0 if it is near."""
    if not series:
        return 0.0, 1.0
    inner = min(v[round(0.01 * (len(v) - 1))] for v in series), max(v[round(0.99 * (len(v) - 1))] for v in series)
    low, high = min(v[0] for v in series), max(v[-1] for v in series)
    tail = (inner[1] - inner[0]) / 2
    low = inner[0] if 0 < tail < inner[0] - low else low
    high = inner[1] if 0 < tail < high - inner[1] else high
    low = 0.0 if 0 < low < high / 2 else low
    return (low, high) if high > low else (low, low + (abs(low) or 1.0))


def _between(points: Sequence[tuple[float, float]], low: float, high: float) -> list[tuple[float, float]]:
    """Return a cumulative line, clipped to the axis from low to high."""
    before = [p for p in points if p[0] < low]
    inside = [p for p in points if low <= p[0] <= high]
    after = [p for p in points if p[0] > high]
    first = _crossing(before[-1], inside[0], low) if before and inside else 0.0
    last = _crossing(inside[-1], after[0], high) if after and inside else 1.0
    return [(low, first), *inside, (high, last)]


def _crossing(one: tuple[float, float], other: tuple[float, float], value: float) -> float:
    return one[1] + (other[1] - one[1]) * (value - one[0]) / (other[0] - one[0])


def _without_middles(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return points without those inside a vertical or horizontal segment."""
    out: list[tuple[float, float]] = []
    for p in points:
        if len(out) > 1 and any(out[-2][i] == out[-1][i] == p[i] for i in (0, 1)):
            out.pop()
        if not out or out[-1] != p:
            out.append(p)
    return out


def nice_top(values: Iterable[float | None]) -> float:
    """Return the end of a share axis that shows these values: 5, 10, 25, 50 or 100 %."""
    largest = max((v for v in values if v is not None), default=1.0)
    return next((t for t in (0.05, 0.1, 0.25, 0.5) if largest <= t), 1.0)


def _y(share: float, top: float) -> float:
    return round(_H - _BOTTOM - min(share / top, 1.0) * (_H - _TOP - _BOTTOM), 1)


def _side_by_side(n: int) -> list[float]:
    inner = _W - _LEFT - _RIGHT - 24
    return [round(_LEFT + 12 + (i * inner / (n - 1) if n > 1 else inner / 2), 1) for i in range(n)]


def _frame(top: float) -> str:
    parts = []
    for i in range(5):
        share = top * i / 4
        y = _y(share, top)
        parts.append(line(_LEFT, y, _W - _RIGHT, y, "zero" if i == 0 else "grid"))
        parts.append(text_mark(_LEFT - 6, y + 4, f"{100 * share:.3g}%", "end"))
    return "".join(parts)


def _x_axis(x: Sequence[float], places: Sequence[float], step: bool) -> str:
    y = _H - _BOTTOM + 15
    if step:
        return "".join(text_mark(_LEFT + t * (_W - _LEFT - _RIGHT), y, f"{t:g}") for t in (0, 0.25, 0.5, 0.75, 1))
    return "".join(text_mark(p, y, f"{v:g}") for p, v in zip(places, x, strict=True))


def _legend(series: Sequence[Series]) -> str:
    parts, x = [], float(_LEFT)
    for s in series:
        parts.append(f'<path class="curve c-{s.style}" d="M{x:g} 13h26"/>')
        parts.append(text_mark(x + 31, 17, s.name, "start", "legend"))
        x += 45 + 7 * len(s.name)
    return "".join(parts)


def _path(points: Sequence[tuple[float, float]], step: bool) -> str:
    (x, y), *rest = points
    out, before = f"M{x:g} {y:g}", (x, y)
    for x, y in rest:
        # the share at x counts scores of at least x, so the line drops before it reaches x
        out += f"V{y:g}H{x:g}" if step else _less(x - before[0], y - before[1])
        before = x, y
    return out


def _less(dx: float, dy: float) -> str:
    """Return a line by so much, in the fewest letters: points of a curve have one digit behind the point."""
    x, y = (f"{round(v, 2):g}".replace("0.", ".", 1) if abs(v) < 1 else f"{round(v, 2):g}" for v in (dx, dy))
    return f"l{x}{'' if y.startswith('-') else ' '}{y}"


def _dot(x: float, y: float, style: str) -> str:
    if style == "strangers":
        return f'<path class="dot d-strangers" d="M{x:g} {y - 4.5:g}l4.5 8h-9Z"/>'
    if style == "synthetic":
        return f'<path class="dot d-synthetic" d="M{x - 3.5:g} {y - 3.5:g}h7v7h-7Z"/>'
    return f'<circle class="dot d-members" cx="{x:g}" cy="{y:g}" r="3.5"/>'
