"""Draw what a report found: bars of scores, and triangles of the scores and the correlations of pairs of columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from divulge.report.documents.svg import line, text_mark
from divulge.sdmetrics.plot_elements import (
    NAMES,
    RIGHT,
    TOP,
    WIDTH,
    box,
    names_below,
    names_beside,
    scale,
    score_text,
    short,
)
from divulge.sdmetrics.plot_shapes import Axis, Matrix, Scores, Triangle

__all__ = ["METRIC_STYLES", "matrix", "scores"]

METRIC_STYLES = {
    "KSComplement": "r", "CorrelationSimilarity": "r", "BoundaryAdherence": "r", "ReferentialIntegrity": "r",
    "TVComplement": "s", "ContingencySimilarity": "s", "CategoryAdherence": "s", "CardinalityBoundaryAdherence": "s",
    "KeyUniqueness": "ra", "RegexFormatAdherence": "sa", "DatetimeFormatAdherence": "rt",
}  # fmt: skip
"""How the bars of a metric are filled, "r" for others: those of one figure differ without colour."""
_ROW = 21
_CHARACTER = 6.6  # width of a letter, about
_BESIDE = 190  # width of a number and the name of a metric right of a bar
_SHADES = (1.0, 0.9, 0.75, 0.5, 0.25, 0.0)
_CELL_HEIGHT = 20
_WIDEST_CELL = 44
_NUMBERED_CELL = 27
"""Width from which a cell has its number as text."""


def scores(p: Scores) -> tuple[float, str]:
    """Return the height of a plot of scores, and its elements."""
    metrics = sorted(set(p.metrics))
    fill = {metric: METRIC_STYLES.get(metric, "r") for metric in metrics}
    legend, top = _legend(metrics, fill)
    left = min(300.0, max(90.0, 20 + _CHARACTER * max(len(short(n, 42)) for n in p.names)))
    bottom = top + _ROW * len(p.names)
    x = scale(0, 1, left, WIDTH - RIGHT - _BESIDE)
    out = legend + _score_axis(x, top, bottom)
    for i, (name, metric, value) in enumerate(zip(p.names, p.metrics, p.values.tolist(), strict=True)):
        at = top + _ROW * i
        out += text_mark(left - 8, at + 15, short(name, 42), "end")
        known = bool(np.isfinite(value))
        if known:
            out += box(fill[metric], left, at + 4, x(value) - left, 13, f"{short(name, 60)}, {metric}: {value:.4f}")
        label = score_text(value, 3) if known else "no score"
        out += text_mark((x(value) if known else left) + 6, at + 15, f"{label} {metric}", "start", "note")
    return bottom + 46, out


def _legend(metrics: Sequence[str], fill: dict[str, str]) -> tuple[str, float]:
    """Return the metrics with their fills, on as many lines as they need, and where the plot begins below them."""
    out, x, y = "", 16.0, 44.0
    for metric in metrics:
        width = 44 + _CHARACTER * len(metric)
        if x > 16 and x + width > WIDTH - RIGHT:
            x, y = 16.0, y + 18
        out += box(fill[metric], x, y, 14, 12) + text_mark(x + 20, y + 10, metric, "start", "legend")
        x += width
    return out, y + 26


def _score_axis(x: Callable[[float], float], top: float, bottom: float) -> str:
    out = line(x(0), top, x(0), bottom, "zero")
    for value in (0.0, 0.25, 0.5, 0.75, 1.0):
        out += line(x(value), top, x(value), bottom, "grid") + text_mark(x(value), bottom + 16, f"{value:g}")
    return out + text_mark((x(0) + x(1)) / 2, bottom + 34, "Score (1 is best)")


# ---------------------------------------------------------------- pairs


def matrix(p: Matrix) -> tuple[float, str]:
    """Return the height of the triangles, and their elements."""
    height, out = _panel(TOP - 14, p.similarity.title, p.similarity.names, [(p.similarity, False)])
    height, key = _key(height, "score:", _SHADES, _unlike)
    out += key
    if p.correlations:
        title = "; ".join(
            f"{where} the diagonal: {t.title}" for where, t in zip(("Below", "above"), p.correlations, strict=True)
        )
        panels = [(t, bool(i)) for i, t in enumerate(p.correlations)]
        height, more = _panel(height + 26, title, p.correlations[0].names, panels)
        height, key = _key(height, "correlation:", (-1.0, -0.5, 0.0, 0.5, 1.0), _strength)
        out += more + key
    return height + 14, out


def _panel(top: float, title: str, names: Sequence[str], parts: Sequence[tuple[Triangle, bool]]) -> tuple[float, str]:
    """Return where a panel ends, and its elements; each triangle lies below or above the diagonal."""
    n = len(names)
    width = min(_WIDEST_CELL, (WIDTH - NAMES - RIGHT) / n)
    begin, bottom = top + 12, top + 12 + _CELL_HEIGHT * n
    x, y = scale(0, n, NAMES, NAMES + width * n), scale(0, n, begin, bottom)
    out = text_mark(16, top, title, "start", "legend")
    out += names_beside(names, y, NAMES) + names_below(Axis("", names=tuple(names)), x, bottom)
    for i in range(n):
        out += box("grid", x(i), y(i), x(i + 1) - x(i), y(i + 1) - y(i))
    for triangle, above in parts:
        shade = _strength if len(parts) > 1 else _unlike
        values = triangle.values.T if above else triangle.values
        for i, j in zip(*np.nonzero(np.isfinite(values)), strict=True):
            value = float(values[i, j])
            told = f"{short(names[i], 60)}, {short(names[j], 60)}: {value:.3f}"
            out += _cell(x(j), y(i), x(j + 1) - x(j), _CELL_HEIGHT, value, shade(value), told)
    longest = max(len(short(name, 20)) for name in names)
    return bottom + 5 * longest + 22, out


def _cell(x: float, y: float, width: float, height: float, value: float, shade: tuple[str, float], told: str) -> str:
    css, deep = shade
    out = box(css, x, y, width, height, told, deep)
    if width < _NUMBERED_CELL:
        return out
    text = f"{value:.2f}".replace("0.", ".", 1) if abs(value) < 0.995 else f"{value:.0f}"
    return out + text_mark(x + width / 2, y + 14, text, "middle", "cell on" if deep > 0.6 else "cell")


def _unlike(score: float) -> tuple[str, float]:
    """Return the fill of a score, darker the further it is from 1."""
    return "r", 0.06 + 0.94 * min(max(1 - score, 0.0), 1.0) ** 0.7


def _strength(correlation: float) -> tuple[str, float]:
    return ("r" if correlation >= 0 else "neg"), 0.05 + 0.95 * min(abs(correlation), 1.0)


def _key(at: float, word: str, values: Sequence[float], shade: Callable[[float], tuple[str, float]]
         ) -> tuple[float, str]:  # fmt: skip
    out = text_mark(NAMES, at + 12, word, "start", "note")
    for i, value in enumerate(values):
        begin = NAMES + 84 + 72 * i
        css, deep = shade(value)
        out += box(css, begin, at, 20, 14, opacity=deep)
        out += text_mark(begin + 26, at + 12, f"{value:g}", "start", "note")
    return at + 22, out
