"""The chart of a comparison as SVG: risk against use, with one point for each candidate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from divulge.core.errors import tidy
from divulge.report.documents.svg import drawing, line, text_mark, ticks, verdict_mark

__all__ = ["Point", "risk_against_use"]

_W, _H, _LEFT, _RIGHT, _TOP, _BOTTOM = 760, 460, 62, 24, 34, 52
_LETTERS, _LETTER, _HIGH = 26, 6.6, 14.0
_PLACES = ((10, 4, "start"), (-10, 4, "end"), (10, -9, "start"), (-10, -9, "end"), (10, 17, "start"), (-10, 17, "end"))

Box = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class Point:
    """One candidate: the limit of its risk, and its distance from the real table with limits."""

    label: str
    risk: float
    """Share of members reached: at least so many where something was found, else at most so many."""
    distance: float
    """Beyond another sample; 0 is as near as one."""
    near: float
    far: float
    verdict: str
    """Decides the shape."""


def risk_against_use(uid: str, points: Sequence[Point], *, measure: str, acceptable: float) -> Markup:
    """Return the chart; points further right are nearer to the real table, points further down have less risk.

    Parameters
    ----------
    points
        At least one, in the order of the table below the chart. Labels are untrusted text.
    measure
        Name of the distance.
    acceptable
        The risk that a line is drawn at.
    """
    x_low, x_high = _range([0.0, *(v for p in points for v in (p.distance, p.near, p.far))])
    y_low, y_high = _range([*(p.risk for p in points), 0.0, acceptable])
    y_low, y_high = max(y_low, -1.0), min(y_high, 1.05)

    def x(value: float) -> float:
        share = (x_high - value) / (x_high - x_low)
        return round(_LEFT + share * (_W - _LEFT - _RIGHT), 1)

    def y(value: float) -> float:
        share = (min(max(value, y_low), y_high) - y_low) / (y_high - y_low)
        return round(_H - _BOTTOM - share * (_H - _TOP - _BOTTOM), 1)

    body = [line(_LEFT, y(t), _W - _RIGHT, y(t), "grid") for t in ticks(y_low, y_high)]
    body += [text_mark(_LEFT - 8, y(t) + 4, f"{100 * t:.4g}%", "end") for t in ticks(y_low, y_high)]
    for t in ticks(x_low, x_high):
        body += [
            line(x(t), _H - _BOTTOM, x(t), _H - _BOTTOM + 4, "thin"),
            text_mark(x(t), _H - _BOTTOM + 17, f"{t:.4g}"),
        ]
    body.append(line(_LEFT, y(0.0), _W - _RIGHT, y(0.0), "zero"))
    body.append(line(_LEFT, y(acceptable), _W - _RIGHT, y(acceptable), "accept"))
    body.append(text_mark(_LEFT + 4, y(acceptable) - 4, f"acceptable {100 * acceptable:g}%", "start", "tick acc"))
    body += [line(x(0.0), _TOP, x(0.0), _H - _BOTTOM, "accept"), text_mark(x(0.0), _TOP - 5, "another sample")]
    body.append(
        text_mark((_LEFT + _W - _RIGHT) / 2, _H - 10, f"{measure}: further right is more useful", css="axis-label")
    )
    body.append(
        text_mark(
            _LEFT - 48, 16, "members reached, at least (found) or at most: further down is less", "start", "axis-label"
        )
    )
    places = [(x(p.distance), y(p.risk)) for p in points]
    body += [line(x(p.near), py, x(p.far), py, "thin") for p, (_, py) in zip(points, places, strict=True)]
    body += [verdict_mark(px, py, p.verdict) for p, (px, py) in zip(points, places, strict=True)]
    crosses = [(x(p.near), py - 1.5, x(p.far), py + 1.5) for p, (_, py) in zip(points, places, strict=True)]
    body += _labels([_short(p.label) for p in points], places, crosses)
    return drawing(
        uid, _W, _H, f"Risk against {measure}", "".join(body), "chart",
        "One point for each candidate, with limits of its distance. The table below has the numbers.",
    )  # fmt: skip


def _range(values: Sequence[float]) -> tuple[float, float]:
    """Return the ends of an axis, with a margin beyond the outermost values."""
    low, high = min(values), max(values)
    room = 0.08 * (high - low) or 0.05
    return low - room, high + room


def _short(label: str) -> str:
    text = tidy(label)
    return text if len(text) <= _LETTERS else f"{text[: _LETTERS - 1]}…"


def _labels(texts: Sequence[str], points: Sequence[tuple[float, float]], lines: Sequence[Box] = ()) -> list[str]:
    """Return the labels, each beside its point and off the lines; where points crowd, it is the candidate's number."""
    upright = [(min(a, c), min(b, d), max(a, c), max(b, d)) for a, b, c, d in lines]
    taken: list[Box] = [*((px - 6, py - 6, px + 6, py + 6) for px, py in points), *upright]
    out = []
    for i, (name, (px, py)) in enumerate(zip(texts, points, strict=True), 1):
        tried = [(text, *place) for text in (name, str(i)) for place in _PLACES]
        boxes = [_box(text, px + dx, py + dy, anchor) for text, dx, dy, anchor in tried]
        best = min(range(len(tried)), key=lambda j: (_covered(boxes[j], taken), j))
        taken.append(boxes[best])
        text, dx, dy, anchor = tried[best]
        out.append(text_mark(px + dx, py + dy, text, anchor, "legend"))
    return out


def _box(text: str, x: float, y: float, anchor: str) -> Box:
    width = _LETTER * len(text)
    left = x if anchor == "start" else x - width
    return left, y - _HIGH + 4, left + width, y + 4


def _covered(box: Box, taken: Sequence[Box]) -> float:
    """Return the area of a label that covers other marks or lies outside the chart."""
    outside = max(0.0, _LEFT - box[0]) + max(0.0, box[2] - _W)
    overlaps = (
        max(0.0, min(box[2], t[2]) - max(box[0], t[0])) * max(0.0, min(box[3], t[3]) - max(box[1], t[1])) for t in taken
    )
    return round(outside * _HIGH + sum(overlaps), 3)
