"""A comparison of candidates as one offline HTML page, with the report's style sheet."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

from markupsafe import Markup
from msgspec.structs import asdict

from divulge.report import formatting, words
from divulge.report.comparison.charts import Point, risk_against_use
from divulge.report.comparison.model import Comparison
from divulge.report.comparison.prose import asked_in_words
from divulge.report.comparison.text import (
    RISK,
    SINGLE,
    TWO,
    by_order,
    cells,
    choice_in_words,
    compared_parts,
    limits,
    matrix,
    ranks,
    reasons,
    single_rows,
    two_rows,
)
from divulge.report.documents.html import asset, content_policy, template

__all__ = ["page"]

_PAIRS = 400


def page(data: Comparison) -> str:
    """Return the comparison as one HTML page; every label and name in it is untrusted text."""
    script, style = asset("report.js"), asset("report.css")
    candidates = by_order(data)
    pairs = sorted(data.pairs, key=lambda p: (p.riskier is None, -abs(p.difference or 0)))
    context = {
        "data": data,
        "script": Markup(script),  # our own files
        "style": Markup(style),
        "policy": Markup(content_policy(script, style)),
        "ranked": bool(data.verdict.order),
        "asked": asked_in_words(data.sampling),
        "candidates": [{**asdict(c), "ranks": ranks(c.worst), "limits": limits(c.worst)} for c in candidates],
        "picture": _front(data),
        "parts": compared_parts(data),
        "distances": (data.distances or (data.front.pairs if data.front else ()))[:_PAIRS],
        "attacks": [
            {**asdict(a), "cells": [{**asdict(c), "ranks": ranks(c), "limits": limits(c)} for c in cells(data, a)]}
            for a in data.attacks
        ],
        "pairs": pairs[:_PAIRS],
        "pairs_left_out": max(0, len(pairs) - _PAIRS),
        "singles": single_rows(data),
        "reasons": reasons(data),
        "risk": RISK,
        "single": SINGLE,
        "two": TWO,
        "choice": choice_in_words(data),
        "matrix": matrix(data),
        "two_rows": two_rows(data),
        "level": f"{100 * data.settings.level:g}%",
        "limits": words.LIMITS[:7],
    }  # fmt: skip
    text = files("divulge.report.comparison").joinpath("comparison.html.j2").read_text(encoding="utf-8")
    return str(template().environment.from_string(text).render(context))


def _front(data: Comparison) -> dict[str, Any] | None:
    """Return the chart of risk against distance, with limits of both; None without a front."""
    if data.front is None:
        return None
    points = [
        Point(formatting.name(c.label), w.value, w.low, w.high, max(0.0, f.excess), f.low, f.high, c.verdict)
        for c in by_order(data)
        if (f := c.fidelity) and (w := c.worst) and w.value is not None and w.low is not None and w.high is not None
    ]
    if not points:
        return None
    measure = f"distance of {compared_parts(data)}"
    svg = risk_against_use("front", points, measure=measure, acceptable=data.settings.acceptable)
    return {"svg": svg, "points": points}
