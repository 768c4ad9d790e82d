"""A comparison of candidates as one offline HTML page, with the report's style sheet."""

from __future__ import annotations

from typing import Any

from divulge.report import formatting, words
from divulge.report.comparison import tables
from divulge.report.comparison.charts import Point, risk_against_utility
from divulge.report.comparison.model import Comparison
from divulge.report.comparison.prose import RISK, SINGLE, TWO, asked_in_words, choice_in_words
from divulge.report.comparison.rows import by_order, matrix, reasons, two_rows, utility_rows
from divulge.report.documents.page_of import page_of
from divulge.report.model import Utility

__all__ = ["page"]

DISTANCE = Utility(
    measure="distance of pairs of columns", value=None, reference=0.0, better="lower",
    about="How far pairs of columns are from the real ones beyond another sample of the same people.", notes=(),
)  # fmt: skip
"""The measure of use of the front."""

_FIRST = "propensity AUC"
"""The measure of the first chart: it compares whole rows and needs no target."""
_PAIRS = 400


def page(data: Comparison) -> str:
    """Return the comparison as one HTML page; every label and name in it is untrusted text."""
    candidates = by_order(data)
    pictures = [*_front(data), *_pictures(data)]
    pairs = sorted(data.pairs, key=lambda p: (p.riskier is None, -abs(p.difference or 0)))
    context = {
        "data": data,
        "version": data.divulge,
        "ranked": bool(data.verdict.order),
        "asked": asked_in_words(data.sampling),
        "candidates": candidates,
        "of": tables,
        "pictures": pictures,
        "attacks": data.attacks,
        "pairs": pairs[:_PAIRS],
        "pairs_left_out": max(0, len(pairs) - _PAIRS),
        "reasons": reasons(data),
        "utility": utility_rows(data),
        "risk": RISK,
        "single": SINGLE,
        "two": TWO,
        "choice": choice_in_words(data),
        "crossed": bool(matrix(data)),
        "n_two": len(two_rows(data)),
        "level": f"{100 * data.settings.level:g}%",
        "limits": words.LIMITS[:7],
    }  # fmt: skip
    return page_of("comparison.html.j2", context, package="divulge.report.comparison")


def _front(data: Comparison) -> list[dict[str, Any]]:
    """Return the chart of risk against the distance of pairs, with limits of both; [] without a front."""
    if data.front is None:
        return []
    points = [
        Point(formatting.name(c.label), w.value, w.low, w.high, max(0.0, f.excess), c.verdict, (f.low, f.high))
        for c in by_order(data)
        if (f := c.fidelity) and (w := c.worst) and w.value is not None and w.low is not None and w.high is not None
    ]
    if not points:
        return []
    svg = risk_against_utility(
        "front", points, measure=DISTANCE.measure, better="lower", reference=0.0, said="another sample",
        acceptable=data.settings.acceptable,
    )  # fmt: skip
    return [{"svg": svg, "measure": DISTANCE, "points": points}]


def _pictures(data: Comparison) -> list[dict[str, Any]]:
    """Return a chart of risk against each utility measure, the main one first; none without risk or utility."""
    measures = sorted(utility_rows(data), key=lambda m: m[0].measure != _FIRST)
    candidates = by_order(data)
    out = []
    for i, (measure, values) in enumerate(measures):
        points = [
            Point(formatting.name(c.label), w.value, w.low, w.high, v, c.verdict)
            for c, v in zip(candidates, values, strict=True)
            if v is not None and (w := c.worst) and w.value is not None and w.low is not None and w.high is not None
        ]
        if points:
            svg = risk_against_utility(
                f"p{i}", points, measure=measure.measure, better=measure.better, reference=measure.reference,
                acceptable=data.settings.acceptable,
            )  # fmt: skip
            out.append({"svg": svg, "measure": measure, "points": points})
    return out
