"""An audit as one offline HTML page, with the report's style sheet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from divulge.auditing.documents import tables, words
from divulge.auditing.model import Audit
from divulge.auditing.result import AuditRecord
from divulge.report.documents.page_of import page_of
from divulge.report.documents.svg import drawing, line, text_mark, verdict_mark
from divulge.report.formatting import name
from divulge.report.verdicts import RISK

__all__ = ["page", "rates"]

_W, _LEFT, _RIGHT, _ROW, _HEAD = 760, 250, 24, 30, 26
_RUNS = 1000  # rows of the table of trainings
_LETTERS = 36


def page(audit: Audit) -> str:
    """Return the audit as one HTML page; every name in it is untrusted text."""
    drawn = [r for r in audit.results if r.rate is not None]
    context: dict[str, Any] = {
        "data": audit,
        "version": audit.version,
        "outside": audit.edition == "external",
        "outlook": [words.said(o) for o in audit.outlook],
        "banner": f"b-{RISK[audit.verdict].css}",
        "results": [{"r": r, "label": words.label(r), "epsilon": words.epsilon_in_words(r),
                     "findable": words.found_in_words(r),
             "said": words.sentence_of(audit, r)} for r in audit.results],
        "tables": tables,
        "picture": rates("rates", drawn) if drawn else None,
        "people": [r for r in audit.results if r.people is not None],
        "trained": words.trainings_in_words(audit),
        "reasons": words.reasons(audit),
        "notes": [words.said(n) for n in (*audit.notes, *words.notes_of(audit.results))],
        "knows": [(t.replace("_", " "), words.KNOWS[t]) for t in dict.fromkeys(r.test for r in audit.results)
                  if t in words.KNOWS],
        "runs": audit.runs[:_RUNS],
        "settings": sorted((k, ", ".join(v) if isinstance(v, list | tuple) else v) for k, v in audit.settings.items()),
    }  # fmt: skip
    return page_of("audit.html.j2", context, package="divulge.auditing.documents")


def rates(uid: str, results: Sequence[AuditRecord]) -> Markup:
    """Return the rates of some results on one axis: interval, rate, chance, and a dot for each training."""
    known = [v for r in results for v in (r.rate, r.chance, *((r.interval.low, r.interval.high) if r.interval else ()))]
    low = min(0.4, *(v for v in known if v is not None))
    ends = (max(0.0, low - 0.02), 1.0)

    def x(value: float) -> float:
        share: float = (min(max(value, ends[0]), ends[1]) - ends[0]) / (ends[1] - ends[0])
        return round(_LEFT + share * (_W - _LEFT - _RIGHT), 1)

    bottom = _HEAD + _ROW * len(results)
    body = []
    for percent in range(0, 101, 10):
        if percent / 100 >= ends[0]:
            body += [line(x(percent / 100), _HEAD, x(percent / 100), bottom, "grid"),
                     text_mark(x(percent / 100), _HEAD - 8, f"{percent}%")]  # fmt: skip
    for i, r in enumerate(results):
        body += _row(r, _HEAD + _ROW * i + _ROW / 2, x)
    told = "Each line is the interval of a rate, each dot above it one training; the upright line is chance."
    return drawing(uid, _W, bottom + 8, "How often the attacker was right", "".join(body), "chart", told)


def _row(result: AuditRecord, y: float, x: Any) -> list[str]:
    """Return one row of the chart."""
    text = words.label(result) + (f": {name(result.target)}" if result.target else "")
    short = text if len(text) <= _LETTERS else f"{text[: _LETTERS - 1]}…"
    body = [text_mark(_LEFT - 12, y + 4, short, "end", "legend")]
    if result.chance is not None:
        body.append(line(x(result.chance), y - _ROW / 2, x(result.chance), y + _ROW / 2, "zero"))
    body += [
        f'<circle class="m-rate" cx="{x(t.hits / t.n):g}" cy="{y - 9:g}" r="1.8"/>' for t in result.trainings if t.n
    ]
    if result.interval is not None:
        body.append(line(x(result.interval.low), y, x(result.interval.high), y, "thin"))
    assert result.rate is not None
    body.append(verdict_mark(x(result.rate), y, result.verdict or "cannot tell"))
    return body
