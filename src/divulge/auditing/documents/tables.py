"""The tables of an audit."""

from __future__ import annotations

from collections.abc import Sequence

from divulge.auditing.documents import words
from divulge.auditing.model import Audit
from divulge.auditing.result import AuditRecord, Run
from divulge.core.result import percent
from divulge.report import formatting
from divulge.report.blocks import cells
from divulge.report.blocks.table import Cell, Col, Name, Num, Table

__all__ = ["results", "trainings"]


def results(audit: Audit) -> Table:
    """Return what each test found."""

    def trained(r: AuditRecord) -> str:
        n = audit.trainings.done if audit.edition == "external" else len(r.trainings)
        return str(n) if n else "-"

    def right(r: AuditRecord) -> str:
        counted = "" if r.hits is None else f" ({formatting.compact(r.hits)} of {r.n:,} {r.counts})"
        return "-" if r.rate is None else f"{percent(r.rate)}{counted}"

    def interval(r: AuditRecord) -> str:
        return f"{percent(r.interval.low)} to {percent(r.interval.high)}" if r.interval else "-"

    return Table(
        "All tests",
        [
            Col("test", words.label),
            Col("about", lambda r: cells.named(r.target)),
            Num("trainings", trained, css="wrap"),
            Num("right", right, css="wrap"),
            Num("chance", lambda r: percent(r.chance), css="wrap"),
            Num("interval", interval, css="wrap"),
            Num("p", lambda r: formatting.p_text(r.p_value if r.p_adjusted is None else r.p_adjusted), css="wrap"),
            Col("verdict", lambda r: cells.verdict(r.verdict)),
        ],
        audit.results,
        label="Results",
    )


def trainings(runs: Sequence[Run]) -> Table:
    """Return the trainings, one a row."""

    def remarks(t: Run) -> Cell:
        told = (formatting.brief(t.reason, 200), formatting.brief("; ".join(t.notes), 200))
        return Name("; ".join(filter(None, told)))

    return Table(
        "Trainings",
        [
            Num("no.", lambda t: str(t.number + 1)),
            Col("status", lambda t: t.status),
            Num("seed", lambda t: str(t.seed)),
            Num("attempts", lambda t: str(t.attempts)),
            Num("seconds", lambda t: f"{t.seconds:.1f}"),
            Num("rows", lambda t: "-" if t.rows is None else f"{t.rows:,}"),
            Col("remarks", remarks),
        ],
        runs,
        css="small sortable",
        scroll="scroll tall",
        label="All trainings",
    )
