"""The results of all measures of fidelity as one offline HTML page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from divulge.measures.differing import Differing
from divulge.measures.linked.registry import LINKED
from divulge.measures.registry import REGISTRY
from divulge.measures.result import FidelityResult, grouped, name_of, sentence_of, telling_of
from divulge.report.documents.page_of import page_of
from divulge.report.formatting import name as shown
from divulge.report.prose.use import agreement_lines

__all__ = ["page"]

_MOST_ROWS = 400


def page(
    results: Sequence[FidelityResult],
    settings: Mapping[str, Any],
    warnings: Sequence[str],
    notes: Sequence[str] = (),
    explained: Sequence[Differing] = (),
) -> str:
    """Return results as one HTML page; every name in it is untrusted text.

    Parameters
    ----------
    results
        Of each measure, the first one is about all columns together.
    settings
        Rows of the tables, tolerance, level and seed.
    warnings
        Why the verdicts may not hold.
    notes
        What was done to the tables.
    explained
        The columns that explain what differs.
    """
    context = {
        "settings": settings,
        "warnings": warnings,
        "notes": notes,
        "explained": [_explained(one, results) for one in explained],
        "sections": [_section(found) for found in grouped(results)],
    }
    return page_of("fidelity.j2", context)


def _explained(found: Differing, results: Sequence[FidelityResult]) -> dict[str, Any]:
    rows = sorted((results[place] for place in found.results), key=lambda r: (-(r.ruler or 0.0), name_of(r)))
    listed = [(name_of(r), r) for r in rows[:_MOST_ROWS]]
    return {"sentence": found.sentence, "rows": listed, "left_out": len(rows) - len(listed)}


def _section(results: Sequence[FidelityResult]) -> dict[str, Any]:
    head = results[0]
    entry = REGISTRY.get(head.measure) or LINKED.get(head.measure)
    rows = sorted(results[1:], key=lambda r: (-(r.ruler if r.ruler is not None else -1.0), name_of(r)))
    return {
        "id": "-".join([head.measure, *head.table.split()]),
        "name": head.measure.replace("_", " ") + (f" of {head.table}" if head.table else ""),
        "head": head,
        "of": _label(head) if head.target is not None else "",
        "sentence": sentence_of(head),
        "entry": entry,
        "unit": "" if head.quantity == "distance" else head.quantity,
        "telling": telling_of(head),
        "agreement": agreement_lines(results),
        "rows": [(_label(r), r) for r in rows[:_MOST_ROWS]],
        "left_out": max(0, len(rows) - _MOST_ROWS),
    }


def _label(result: FidelityResult) -> str:
    of = [" + ".join(result.columns), "" if result.target is None else f"target {shown(result.target)}", result.group]
    told = ", ".join(filter(None, of)) or result.table or "all columns"
    return told + (f" ({result.variant})" if result.variant else "")
