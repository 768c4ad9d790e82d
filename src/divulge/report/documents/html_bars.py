"""Bars of shares as SVG: one bar in a tile, and pairs of bars, members beside strangers, for each comparison."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from divulge.report.documents.svg import drawing, line, text_mark
from divulge.report.prose.compared import Bar

__all__ = ["paired", "single", "top"]

_TILE, _TILE_HEIGHT = 160, 12
_AXIS, _LABELS, _NUMBERS = 162, 128, 150
_BAR, _GAP, _HEAD = 11, 8, 22
_LETTER = 6.6  # width of a letter
_TOPS = (0.05, 0.1, 0.25, 0.5, 1.0)


def top(shares: Sequence[float | None]) -> float:
    """Return the end of the axis of these shares: 5, 10, 25, 50 or 100 %."""
    largest = max((s for s in shares if s is not None), default=0.0)
    return next((t for t in _TOPS if largest <= t), 1.0)


def single(uid: str, bar: Bar) -> Markup:
    """Return one bar on a pale track, whose end is 100%."""
    share = 0.0 if bar.share is None else min(bar.share, 1.0)
    body = f'<rect class="track" x="0" y="0" width="{_TILE}" height="{_TILE_HEIGHT}"/>'
    if share > 0:
        body += _filled(bar.who, 0, 0, max(2.0, share * _TILE), _TILE_HEIGHT)
    return drawing(uid, _TILE, _TILE_HEIGHT, f"{bar.name}: {bar.told}", body, "tile-bar", stretched=True)


def _filled(who: str, x: float, y: float, width: float, height: float) -> str:
    """Return a filled bar; strangers' bars have a notch of paper along the middle, so that colour is not needed."""
    out = f'<rect class="bar f-{who}" x="{x:g}" y="{y:g}" width="{width:.1f}" height="{height:g}"/>'
    if who != "members":
        out += f'<path class="notch" d="M{x:g} {y + height / 2:g}h{width:.1f}"/>'
    return out


def paired(uid: str, title: str, rows: Sequence[tuple[str, tuple[Bar, ...]]], *, labels: int = _LABELS) -> Markup:
    """Return a chart with a label and one to three bars for each row, on one axis of shares.

    Parameters
    ----------
    uid
        Begin of the ids in the drawing.
    title
        What the chart shows.
    rows
        Label and bars of each row; the bars of a row stand below each other.
    labels
        Width of the labels.
    """
    end = top([b.share for _, group in rows for b in group])
    inner, most = _AXIS, int((labels - 12) / _LETTER)
    parts, y = [], float(_HEAD)
    for label, group in rows:
        height = len(group) * (_BAR + 2)
        text = label if len(label) <= most else f"{label[: most - 1]}…"
        parts.append(text_mark(labels - 8, y + height / 2 + 4, text, "end", "legend"))
        for b in group:
            if b.share:
                parts.append(_filled(b.who, labels, y, max(1.5, min(b.share / end, 1.0) * inner), _BAR))
            parts.append(text_mark(labels + inner + 6, y + _BAR - 1, b.told, "start", "tick"))
            y += _BAR + 2
        y += _GAP
    grid = [line(labels + s * inner, _HEAD - 4, labels + s * inner, y - _GAP + 2, css)
            for s, css in ((0.0, "zero"), (0.5, "grid"), (1.0, "grid"))]  # fmt: skip
    heads = [text_mark(labels + s * inner, 12, f"{100 * end * s:g}%") for s in (0.0, 0.5, 1.0)]
    told = "; ".join(f"{label}: {', '.join(f'{b.name} {b.told}' for b in group)}" for label, group in rows)
    return drawing(
        uid, labels + inner + _NUMBERS, round(y), title, "".join([*grid, *heads, *parts]), "chart", f"{told}."
    )
