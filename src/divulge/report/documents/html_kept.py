"""The pictures of what a table keeps: risk and fidelity on a plane, the map of pairs, distributions of columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from divulge.measures.differing import Differing
from divulge.measures.result import FidelityResult, name_of, sentence_of, telling_of
from divulge.report import formatting
from divulge.report.documents import html_bars
from divulge.report.documents.svg import drawing, line, text_mark, ticks, verdict_mark
from divulge.report.fidelity_model import Marginal
from divulge.report.model import Assessment, ResultRecord
from divulge.report.prose import use
from divulge.report.prose.compared import Bar
from divulge.report.prose.tiles import representative_risk
from divulge.report.prose.use import agreement_lines
from divulge.report.verdicts import FIDELITY

__all__ = ["kept"]

_ROWS = 60  # results of one measure in the annex
_LISTED = 20  # pairs beside the map
_MAPPED = 16  # columns of the map
_SHOWN, _DRAWN = 24, 200  # columns whose distributions are on the page, and with those that are folded
_SHADES = (1.25, 2.0, 4.0, 8.0, 16.0)  # rulers above which a cell of the map is darker; start values


def kept(data: Assessment) -> dict[str, Any]:
    """Return what the section on validity and use shows, and its annex."""
    scope = data.fidelity_scope
    heads = use.headlines(data)
    return {
        "scope": scope,
        "differing": [_differing(data, one) for one in use.differing_of(data)],
        "validity": [_line(r) for r in heads if use.family_of(r) == "validity"],
        "use": [_line(r) for r in heads if use.family_of(r) != "validity"],
        "silent": use.silent_line(data) if scope else "",
        "plane": _plane(data),
        "map": _pair_map(data),
        "telling": _telling(data),
        "marginals": _marginals(data),
        "shown": _SHOWN,
        "full": [_measure(data, r) for r in heads],
    }


def _differing(data: Assessment, found: Differing) -> dict[str, Any]:
    """Return a column that explains what differs, and its results, the largest ruler first."""
    rows = sorted((data.fidelity[place] for place in found.results), key=lambda r: (-(r.ruler or 0.0), name_of(r)))
    listed = [(name_of(r), r) for r in rows[:_ROWS]]
    return {"sentence": found.sentence, "rows": listed, "n": len(rows), "left_out": max(0, len(rows) - _ROWS)}


@dataclass(frozen=True, slots=True)
class _Line:
    """One measure over all columns."""

    name: str
    r: FidelityResult
    question: str
    unit: str
    """What the value is, where it is no distance."""


def _line(r: FidelityResult) -> _Line:
    name = use.measure_name(r)
    return _Line(name, r, use.question_of(r), "" if r.quantity == "distance" or r.quantity in name else r.quantity)


def _measure(data: Assessment, head: FidelityResult) -> dict[str, Any]:
    """Return the results of one measure for the annex, the largest ruler first."""
    own = [r for r in data.fidelity if (r.measure, r.table) == (head.measure, head.table)]
    rows = [r for r in own if r is not head]
    rows.sort(key=lambda r: (-(r.ruler if r.ruler is not None else -1.0), r.columns, r.target or "", r.variant))
    return {
        "name": use.measure_name(head), "sentence": formatting.capitalized(sentence_of(head)), "notes": head.notes,
        "rows": rows[:_ROWS], "n": len(rows), "left_out": max(0, len(rows) - _ROWS),
        "agreement": agreement_lines(own),
    }  # fmt: skip


# ---------------------------------------------------------------- the plane of risk and fidelity

_W, _H, _LEFT, _RIGHT, _TOP, _BOTTOM = 440, 250, 46, 14, 30, 44


def _plane(data: Assessment) -> dict[str, Any] | None:
    """Return the plane: fidelity to the right, risk upwards; None without a number of either."""
    head, r = use.of_pairs(data), representative_risk(data)
    inside = None if head is None else use.fresh_range(head)
    if head is None or head.ruler is None or inside is None or r is None or r.risk is None:
        return None
    svg = _plane_drawn(data, head, head.ruler, inside, r)
    return {"svg": svg, "head": head, "inside": inside, "r": r, "drawn": use.drawn_of(head)}


def _plane_drawn(
    data: Assessment, head: FidelityResult, ruler: float, inside: tuple[float, float], r: ResultRecord
) -> Markup:
    value, low, high = (formatting.risk_value(r, w) for w in ("value", "low_simultaneous", "high_simultaneous"))
    acceptable = data.settings.acceptable
    known = [v for v in (value, low, high) if v is not None]
    top, bottom = min(1.0, max([2 * acceptable, *known]) * 1.1), max(-0.5, min([-acceptable / 2, *known]))
    right = max(2.0, min(ruler, 50.0) * 1.1)

    def x(v: float) -> float:
        return round(_LEFT + min(v / right, 1.0) * (_W - _LEFT - _RIGHT), 1)

    def y(v: float) -> float:
        share = (min(max(v, bottom), top) - bottom) / (top - bottom)
        return round(_H - _BOTTOM - share * (_H - _TOP - _BOTTOM), 1)

    floor = _H - _BOTTOM
    body = [_band(x(inside[0]), x(inside[1]), _TOP, floor)]
    for t in ticks(bottom, top, 4):
        body += [line(_LEFT, y(t), _W - _RIGHT, y(t), "grid"), text_mark(_LEFT - 6, y(t) + 4, f"{t:.4g}", "end")]
    body += [text_mark(x(t), floor + 15, f"{t:g}") for t in ticks(0.0, right, 5)]
    body += [line(_LEFT, y(0.0), _W - _RIGHT, y(0.0), "zero"), line(x(1.0), _TOP, x(1.0), floor, "thin")]
    body.append(line(_LEFT, y(acceptable), _W - _RIGHT, y(acceptable), "accept"))
    drawn = use.drawn_of(head)
    if drawn is not None:
        body.append(line(x(drawn), _TOP, x(drawn), floor, "accept"))
    body.append(text_mark(x(1.0), _TOP - 6, "another sample", "start", "tick"))
    place = (_LEFT + 4, "start") if ruler > right / 2 else (_W - _RIGHT, "end")
    body.append(text_mark(place[0], y(acceptable) - 4, f"acceptable {acceptable:g}", place[1], "tick acc"))
    if low is not None and high is not None:
        body.append(line(x(ruler), y(low), x(ruler), y(high), "thin"))
    if value is not None:
        body.append(verdict_mark(x(ruler), y(value), data.verdict.verdict))
    body.append(
        text_mark((_LEFT + _W) / 2, _H - 8, "distance of pairs of columns (1: another sample)", css="axis-label")
    )
    body.append(text_mark(2, 13, "risk", "start", "axis-label"))
    told = f"Distance of pairs {ruler:.2f} times that of another sample; risk {formatting.limit(value)}."
    return drawing("plane", _W, _H, "Risk and fidelity on one plane", "".join(body), "chart", told)


def _band(left: float, right: float, top: float, bottom: float) -> str:
    return (
        f'<rect class="band" x="{left:g}" y="{top:g}" width="{max(1.0, right - left):.1f}" height="{bottom - top:g}"/>'
    )


# ---------------------------------------------------------------- the map of pairs

_CELL, _HIGH, _HEAD = 32, 20, 16
_NUMBERED = 12  # columns up to which the cells hold their numbers


def _pair_map(data: Assessment) -> dict[str, Any] | None:
    """Return the rulers of pairs of columns as a map, and the pairs that are farthest; None without any."""
    head = use.of_pairs(data)
    table = "" if head is None else head.table  # of several tables the farthest
    of_table = [r for r in data.fidelity if r.measure == use.PAIRS and r.table == table]
    pairs = [r for r in of_table if len(r.columns) == 2 and r.ruler is not None]
    if not pairs:
        return None
    names = sorted({c for r in pairs for c in r.columns}, key=lambda c: (-_largest(pairs, c), c))[:_MAPPED]
    names = names if table else [c.name for c in data.schema if c.name in set(names)]
    of = {frozenset(r.columns): r for r in pairs}
    ordered = sorted(pairs, key=lambda r: (-(r.ruler or 0.0), r.columns))
    return {
        "svg": _map_drawn(names, of), "rows": ordered[:_LISTED], "n": len(pairs),
        "left_out": len({c for r in pairs for c in r.columns}) - len(names),
    }  # fmt: skip


def _largest(pairs: Sequence[FidelityResult], column: str) -> float:
    return max((r.ruler or 0.0 for r in pairs if column in r.columns), default=0.0)


def _map_drawn(names: Sequence[str], of: dict[frozenset[str], FidelityResult]) -> Markup:
    labels = 118
    body: list[str] = []
    shades: dict[int, str] = {}  # the cells of one shade are one path
    for i, one in enumerate(names):
        shown = formatting.name(one)
        y = _HEAD + i * _HIGH
        body.append(text_mark(labels - 6, y + 15, shown if len(shown) < 17 else f"{shown[:15]}…", "end", "legend"))
        for j, other in enumerate(names[:i]):
            found = of.get(frozenset((one, other)))
            if found is not None and found.ruler is not None:
                x = labels + j * _CELL
                body += _map_sign(x, y, found, numbered=len(names) <= _NUMBERED)
                shade = sum(found.ruler > s for s in _SHADES)
                shades[shade] = f"{shades.get(shade, '')}M{x:g} {y:g}h{_CELL - 1}v{_HIGH - 1}h{1 - _CELL}Z"
        body.append(text_mark(labels + i * _CELL + _CELL / 2, y + 15, str(i + 1), "middle", "tick"))
    width, height = labels + len(names) * _CELL + 4, _HEAD + len(names) * _HIGH + 4
    told = "One cell for each pair of columns, darker where the ruler is larger; the list beside it has the numbers."
    cells = "".join(f'<path class="cell r{shade}" d="{path}"/>' for shade, path in sorted(shades.items()))
    return drawing("pair-map", width, height, "Pairs of columns by ruler", cells + "".join(body), "chart", told)


def _map_sign(x: float, y: float, r: FidelityResult, *, numbered: bool) -> list[str]:
    """Return the sign of the verdict of a cell and, where there is room, its ruler."""
    ruler = r.ruler or 0.0
    sign = FIDELITY[r.verdict].small
    shown = f"{ruler:.0f}" if ruler >= 9.95 else f"{ruler:.1f}"
    text = f"{shown if numbered else ''}{sign}"
    return [text_mark(x + _CELL / 2, y + 14, text, "middle", "cell-text")] if text else []


# ---------------------------------------------------------------- columns by which a model tells


def _telling(data: Assessment) -> dict[str, Any] | None:
    """Return the columns by which a model tells synthetic rows from real ones; None where no model did."""
    for r in data.fidelity:
        named = telling_of(r)
        if r.measure == "detection" and named:
            rows = [(c, (Bar("synthetic", "AUC without it", d, f"AUC falls by {d:.3f}"),)) for c, d in named]
            title = "Columns by which synthetic rows are told from real ones"
            return {"svg": html_bars.paired("telling", title, rows), "rows": rows, "r": r, "sentence": sentence_of(r)}
    return None


# ---------------------------------------------------------------- distributions of the columns

_SMALL_W, _SMALL_H = 132, 46


def _marginals(data: Assessment) -> list[dict[str, Any]]:
    """Return a small picture for each column, those that differ most first."""
    if data.fidelity_scope is None:
        return []
    alone = [r for r in data.fidelity if r.measure == "column_shapes" and len(r.columns) == 1]
    of = {f"{r.table}.{r.columns[0]}" if r.table else r.columns[0]: r for r in alone}
    found = sorted(
        data.fidelity_scope.marginals,
        key=lambda m: (-((of[m.column].ruler if m.column in of else None) or 0.0), m.column),
    )
    return [
        {"m": m, "svg": _small(f"m{i}", m), "r": of.get(m.column), "cells": _cells(m)}
        for i, m in enumerate(found[:_DRAWN])
    ]


def _cells(m: Marginal) -> list[tuple[str, float, float]]:
    """Return each cell with its shares in both tables, for readers who asked for values."""
    return list(zip(m.labels, m.real, m.synthetic, strict=True)) if m.labels else []


def _small(uid: str, m: Marginal) -> Markup:
    """Return the band of a fresh sample and the shares of the synthetic table."""
    n = len(m.real)
    top = max([*m.high, *m.synthetic, 1e-9])
    width = _SMALL_W / max(1, n)

    def y(share: float) -> float:
        return round(_SMALL_H - 2 - share / top * (_SMALL_H - 4), 1)

    bands = "".join(
        f"M{i * width:.1f} {y(high)}h{width:.1f}v{max(2.6, y(low) - y(high)):.1f}h-{width:.1f}Z"
        for i, (low, high) in enumerate(zip(m.low, m.high, strict=True))
    )
    if m.ordered:
        steps = "".join(
            f"{'M' if i == 0 else 'L'}{i * width:.1f} {y(s)}H{(i + 1) * width:.1f}" for i, s in enumerate(m.synthetic)
        )
    else:
        steps = "".join(f"M{i * width + 1:.1f} {y(s)}H{(i + 1) * width - 1:.1f}" for i, s in enumerate(m.synthetic))
    body = (
        f'<path class="fresh" d="{bands}"/>'
        + line(0, _SMALL_H - 1, _SMALL_W, _SMALL_H - 1, "grid")
        + f'<path class="kept-line" d="{steps}"/>'
    )
    return drawing(uid, _SMALL_W, _SMALL_H, f"Distribution of {formatting.name(m.column)}", body, "small-chart")
