"""A comparison of candidates as one offline HTML page, with the report's style sheet."""

from __future__ import annotations

from typing import Any

from divulge.report import formatting, words
from divulge.report.comparison import tables
from divulge.report.comparison.charts import Point, risk_against_use
from divulge.report.comparison.model import Comparison
from divulge.report.comparison.prose import (
    RISK,
    SINGLE,
    TWO,
    asked_in_words,
    choice_in_words,
    front_in_words,
    order_told,
    steps_in_words,
    use_told,
)
from divulge.report.comparison.reached import share_reached
from divulge.report.comparison.rows import by_order, compared_parts, matrix, reasons, two_rows
from divulge.report.documents.page_of import page_of

__all__ = ["page"]

_PAIRS = 400


def page(data: Comparison) -> str:
    """Return the comparison as one HTML page; every label and name in it is untrusted text."""
    candidates = by_order(data)
    pairs = sorted(data.pairs, key=lambda p: (p.riskier is None, -abs(p.difference or 0)))
    context = {
        "data": data,
        "version": data.divulge,
        "ranked": bool(data.verdict.order),
        "asked": asked_in_words(data.sampling),
        "candidates": candidates,
        "of": tables,
        "picture": _front(data),
        "parts": compared_parts(data),
        "distances": (data.distances or (data.front.pairs if data.front else ()))[:_PAIRS],
        "attacks": data.attacks,
        "pairs": pairs[:_PAIRS],
        "pairs_left_out": max(0, len(pairs) - _PAIRS),
        "reasons": reasons(data),
        "risk": RISK,
        "single": SINGLE,
        "two": TWO,
        "choice": choice_in_words(data),
        "order_told": order_told(data),
        "steps": steps_in_words(data),
        "use_told": use_told(data),
        "front": front_in_words(data),
        "crossed": bool(matrix(data)),
        "n_two": len(two_rows(data)),
        "level": f"{100 * data.settings.level:g}%",
        "limits": words.LIMITS[:7],
    }  # fmt: skip
    return page_of("comparison.html.j2", context, package="divulge.report.comparison")


def _front(data: Comparison) -> dict[str, Any] | None:
    """Return the chart of risk against distance, with limits of both; None without a front."""
    if data.front is None:
        return None
    points = [
        Point(formatting.name(c.label), risk, max(0.0, f.excess), f.low, f.high, c.verdict)
        for c in by_order(data)
        if (f := c.fidelity) and (risk := share_reached(c)) is not None
    ]
    if not points:
        return None
    measure = f"distance of {compared_parts(data)}"
    svg = risk_against_use("front", points, measure=measure, acceptable=data.settings.acceptable)
    return {"svg": svg, "points": points}
