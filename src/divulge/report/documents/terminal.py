"""The report for a terminal and for `print`: risk, interval, members against strangers, verdict in words."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any

from divulge.core.result import Risk, number, percent
from divulge.report import formatting
from divulge.report.model import Assessment, ResultRecord
from divulge.report.prose import statement, wp216

__all__ = ["clean", "summary"]

_ORDER = {"excess found": 0, "cannot tell": 1, "none found": 2, "no holdout": 3}
_SHOWN = 16
_DROPPED = {"without": 105, "strangers": 80, "members": 70}  # columns that a terminal of fewer characters goes without
_PARTS = 3  # near copies on part of the columns


def clean(text: object) -> str:
    """Return text without control characters: column names are untrusted and must not steer the terminal."""
    return "".join(c if c.isprintable() else "\ufffd" for c in str(text))


def summary(data: Assessment, *, width: int = 110, colour: bool = False) -> str:
    """Return the summary of a report as text."""
    from rich.console import Console

    stream = io.StringIO()
    console = Console(
        file=stream, width=width, force_terminal=colour, no_color=not colour, highlight=False, legacy_windows=False
    )
    for part in _parts(data, width):
        console.print(part)
    return stream.getvalue().rstrip()


def _parts(data: Assessment, width: int) -> list[Any]:
    from rich.padding import Padding
    from rich.text import Text

    verdict = data.verdict
    parts: list[Any] = [
        *(
            [Text("! this report holds data values: it was asked to reveal " + clean(", ".join(data.revealed)))]
            if data.revealed and data.edition == "custodian"
            else []
        ),
        Text(f"divulge: {verdict.verdict}", style="bold"),
        Text(clean(formatting.spoken(data, verdict.sentence))),
        Text(""),
    ]
    bad = [c for c in data.preconditions if not c.ok]
    parts += [Text(clean(f"! {c.check}: {c.detail}"), style="yellow") for c in bad]
    parts += [
        Text(
            clean(f"! left out: {o.n:,} of {o.of:,} tests of {o.attack.replace('_', ' ')}: {o.why}"),
            style="yellow",
        )
        for o in data.left_out
    ]
    if data.policy:
        broken = sum(not c.kept for c in data.policy.conditions)
        told = f"broken, {broken} of {len(data.policy.conditions)} conditions" if broken else "kept"
        parts.append(Text(f"Policy «{clean(formatting.prose(data.policy.name, 120))}»: {told}."))
    if data.change:
        parts.append(Text(f"Change: {clean(data.change.sentence)}"))
    answers = wp216.answers(data)
    if any(a["headline"] for a in answers):
        parts += [Text(clean(wp216.line(a))) for a in answers]
    judged = [r for r in formatting.judged(data.results) if not formatting.in_question(r)]
    if judged:
        parts.append(Text(""))
        shared = formatting.shared_keys(judged)
        if shared:
            parts.append(Text(f"Known: {clean(' + '.join(shared))}"))
        sizes = {role: formatting.rows_of(data, role) for role in ("real", "synthetic", "holdout")}
        parts.append(_table(judged, shared, sizes, width))
    shown = min(len(formatting.few_parts(judged, _PARTS)), _SHOWN)
    if len(judged) > shown:
        what = "comparisons" if any(r.holdout for r in judged) else "results"
        parts.append(Text(f"{len(judged) - shown} more {what} are in the report."))
    if statement.threat_line(data):
        parts.append(Text(clean(statement.threat_line(data))))
    parts += [Text(clean(f"! {f.attack.replace('_', ' ')} failed: {f.why}"), style="red") for f in data.failed]
    records = data.records
    if records:
        parts.append(Text(formatting.standing_out(records)))
        if formatting.flags(records):
            parts.append(Text(formatting.flags(records)))
    if data.utility:
        told = ", ".join(f"{u.measure} {number(u.value)} (reference {number(u.reference)})" for u in data.utility)
        parts.append(Text(f"Utility: {clean(told)}."))
    seen = formatting.controls(data)
    if seen:
        parts.append(Text("\nPositive control", style="bold"))
        parts += [Padding(Text(clean(f"{kind}: {text}")), (0, 0, 0, 2), expand=False) for kind, text in seen]
        parts.append(Padding(Text(formatting.CONTROL, style="dim"), (0, 0, 1, 2), expand=False))
    parts.append(Text("Not tested: " + clean(", ".join(n.what for n in data.not_tested)) + "."))
    return parts


def _sort_key(r: ResultRecord) -> tuple[int, float]:
    bound = formatting.risk_value(r, "low_simultaneous")
    rate = formatting.rate_of(r.real)
    return _ORDER[r.verdict or "no holdout"], -(bound if bound is not None else rate if rate is not None else 0.0)


def _table(judged: list[ResultRecord], shared: Sequence[str], sizes: Mapping[str, int | None], width: int) -> Any:
    """Return the comparisons as a table; a narrow terminal gets fewer columns rather than cut ones."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    compared = any(r.holdout for r in judged)
    heads = ["attack", "members", "without"]
    if compared:
        heads = ["attack", "members", "strangers", "without", "risk, simultaneous", "verdict"]
    shown = [h for h in heads if not (compared and h in _DROPPED and width < _DROPPED[h])]
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for head in shown:
        side: Any = "left" if head in ("attack", "verdict") else "right"
        table.add_column(head, justify=side, overflow="fold", no_wrap=head != "attack")
    for r in formatting.few_parts(sorted(judged, key=_sort_key), _PARTS)[:_SHOWN]:
        row = [clean(_label(r, shared)), _rate(r, "real", sizes), percent(formatting.rate_of(r.baseline))]
        if compared:
            row = [*row[:2], _rate(r, "holdout", sizes), row[2], _interval(r.risk), str(r.verdict)]
        style = {"excess found": "bold red", "cannot tell": "yellow"}.get(str(r.verdict), "")
        cells = dict(zip(heads, row, strict=True))
        table.add_row(*(Text(cells[h], style=style if h == "verdict" else "") for h in shown))
    return table


def _interval(risk: Risk | None) -> str:
    if risk is None or risk.value is None:
        return "-"
    return f"{number(risk.value)} ({number(risk.low_simultaneous)} to {number(risk.high_simultaneous)})"


def _label(r: ResultRecord, shared: Sequence[str]) -> str:
    text: str = r.attack + (f" ({r.variant})" if r.variant else "")
    if r.keys and list(r.keys) != list(shared):
        text += ": " + " + ".join(map(formatting.name, r.keys))
    return text + (f" -> {formatting.name(r.target)}" if r.target else "")


def _rate(r: ResultRecord, role: str, sizes: Mapping[str, int | None]) -> str:
    """Return a rate, with the number of people or rows where it is not everybody of the table."""
    rate = formatting.side_of(r, role)
    if not rate or rate.rate is None:
        return "-"
    if rate.n == sizes["synthetic" if formatting.of_rows(r) else role]:
        return percent(rate.rate) + (" of rows" if formatting.of_rows(r) else "")
    return f"{percent(rate.rate)} of {rate.n:,}{' rows' if formatting.of_rows(r) else ''}"
