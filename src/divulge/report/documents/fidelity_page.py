"""The results of all measures of fidelity as one offline HTML page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from divulge.core import __version__
from divulge.measures.registry import REGISTRY
from divulge.measures.result import FidelityResult, name_of, sentence_of
from divulge.report.documents.html import asset, content_policy, template

if TYPE_CHECKING:
    from divulge.report.fidelity import Fidelity

__all__ = ["page"]

_MOST_ROWS = 400
_CLASS = {
    "differs": "excess",
    "closer than a fresh sample": "excess",
    "like a fresh sample": "none",
    "cannot tell": "unsure",
    "not measured": "nohold",
}


def page(fidelity: Fidelity) -> str:
    """Return the results as one HTML page; every name in it is untrusted text."""
    script, style = asset("report.js"), asset("report.css")
    sections = [_section(head, fidelity.of(head.measure)) for head in fidelity.headlines()]
    context = {
        "fidelity": fidelity,
        "sections": sections,
        "script": Markup(script),  # our own files
        "style": Markup(style),
        "policy": Markup(content_policy(script, style)),
        "version": __version__,
    }
    return str(template().environment.get_template("fidelity.j2").render(context))


def _section(head: FidelityResult, results: Sequence[FidelityResult]) -> dict[str, Any]:
    entry = REGISTRY.get(head.measure)
    rows = sorted(results[1:], key=lambda r: (-(r.ruler if r.ruler is not None else -1.0), name_of(r)))
    return {
        "id": head.measure,
        "name": head.measure.replace("_", " "),
        "head": head,
        "sentence": sentence_of(head),
        "entry": entry,
        "mark": _CLASS[head.verdict],
        "rows": [{"result": r, "mark": _CLASS[r.verdict], "label": _label(r)} for r in rows[:_MOST_ROWS]],
        "left_out": max(0, len(rows) - _MOST_ROWS),
    }


def _label(result: FidelityResult) -> str:
    told = " + ".join(result.columns) or result.group or "all columns"
    return told + (f" ({result.variant})" if result.variant else "")
