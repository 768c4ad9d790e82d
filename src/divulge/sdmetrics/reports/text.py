"""A report in tables, and for a terminal: the scores, and where they are lowest."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import isfinite
from typing import Any

from divulge.core.result import number
from divulge.report.blocks.table import HTML, TERMINAL, Cell, Col, Name, Num, Small, Table
from divulge.report.documents.console import as_terminal_text, clean
from divulge.report.documents.tables import terminal_table
from divulge.report.formatting import brief, name
from divulge.sdmetrics.plot_elements import score_text
from divulge.sdmetrics.reports.content import ABOUT, Content, Shown
from divulge.sdmetrics.reports.details import Row
from divulge.sdmetrics.reports.figures import label_of

__all__ = ["by_table", "details", "lowest", "properties", "summary", "tables"]

_SHOWN = 8
_ERRORS = 4
_LABEL = 60


def summary(content: Content, *, width: int = 110, colour: bool = False) -> str:
    """Return the summary of a report as text."""
    lines = as_terminal_text(_parts(content), width=width, colour=colour).splitlines()
    return "\n".join(line.rstrip() for line in lines)


def _parts(content: Content) -> Iterator[Any]:
    from rich.text import Text

    kind = "quality" if content.is_quality else "diagnosis"
    yield Text(f"divulge: {kind} {score_text(content.score)}", style="bold")
    sizes = [_counted(content.n_rows(side.split()[0]), side) for side in ("real row", "synthetic row")]
    if content.fresh():
        yield Text(f"A fresh sample of the real people, as large, scores {content.fresh_in_words()}.")
    yield Text(f"{_counted(len(content.tables), 'table')}; {', '.join(sizes)}.")
    yield terminal_table(properties(content))
    least = lowest(content)
    if least.rows:
        yield terminal_table(least)
    for reason, names in content.without_score():
        more = f" and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else ""
        listed = ", ".join(clean(brief(n, _LABEL)) for n in names[:_SHOWN])
        yield Text(f"Without a score, {reason}: {listed}{more}.")
    for error, n in content.errors()[:_ERRORS]:
        yield Text(f"! {n:,} without a score: {clean(brief(error, 200))}", style="yellow")


def _counted(n: int, what: str) -> str:
    return f"{n:,} {what}{'' if n == 1 else 's'}"


# ---------------------------------------------------------------- its tables


def properties(content: Content) -> Table:
    """Return the properties with their scores."""
    fresh = any(content.fresh_in_words(p.name) for p in content.properties)
    return Table(
        "Properties",
        [
            Col("property", lambda p: p.name, whole=True),
            Num("score", lambda p: score_text(p.score), whole=True),
            Col("a fresh sample scores", lambda p: content.fresh_in_words(p.name) or "-", fresh, whole=True),
            Num("mean of", lambda p: f"{len(p.rows) - p.n_below - p.n_errors:,}", where=HTML),
            Num("scores", lambda p: f"{len(p.rows) - p.n_below:,}", where=TERMINAL, whole=True),
            Col("what it measures", _measures, where=HTML, css="words"),
            Col("", _below, where=TERMINAL),
        ],
        content.properties,
        label="Scores of the properties",
    )


def _measures(p: Shown) -> Cell:
    """Return what a property measures, and how many pairs do not count."""
    pairs, do = ("pairs are", "do") if p.n_below > 1 else ("pair is", "does")
    note = f"{p.n_below:,} {pairs} below the threshold and {do} not count."
    return (ABOUT[p.name], Small(note, "note")) if p.n_below else ABOUT[p.name]


def _below(p: Shown) -> str:
    if not p.rows:
        return "does not apply"
    return f"{p.n_below:,} pair{'s' if p.n_below > 1 else ''} below the threshold" if p.n_below else ""


def lowest(content: Content) -> Table:
    """Return the lowest scores below 1."""
    found = [(row, p) for p in content.properties for row in p.ranked() if isfinite(row["Score"]) and row["Score"] < 1]
    return Table(
        "The lowest scores",
        [
            Col("lowest", lambda f: _where(f[0], f[1], content)),
            Col("of", lambda f: f[1].name, whole=True),
            Col("metric", lambda f: str(f[0]["Metric"]), whole=True),
            Num("score", lambda f: score_text(f[0]["Score"]), whole=True),
        ],
        sorted(found, key=lambda f: f[0]["Score"])[:_SHOWN],
    )


def _where(row: Row, shown: Shown, content: Content) -> str:
    label = brief(label_of(shown.name, row), _LABEL)
    table = row.get("Table")
    return label if table is None or len(content.tables) == 1 or label == table else f"{brief(table, 30)}: {label}"


def by_table(content: Content, rows: Sequence[tuple[str, Sequence[float]]]) -> Table:
    """Return the score of each property within each table."""

    def of(i: int) -> Callable[[Any], str]:
        return lambda row: score_text(row[1][i])

    return Table(
        "Scores by table, the lowest first",
        [Col("table", lambda row: Name(name(row[0]))), *(Num(p.name, of(i)) for i, p in enumerate(content.properties))],
        rows,
        css="small sortable",
        scroll="scroll tall",
        label="Scores by table",
    )


def details(property_name: str, heads: Sequence[tuple[str, bool]], rows: Sequence[Sequence[Any]]) -> Table:
    """Return the scores of a property; of each head whether its cells are numbers."""

    def of(i: int, is_number: bool) -> Callable[[Sequence[Any]], Cell]:
        def cell(row: Sequence[Any]) -> Cell:
            value = row[i]
            if is_number:
                return value if isinstance(value, str) else number(value)
            return None if value is None else Name(brief(value, 200))

        return cell

    return Table(
        f"{property_name}: scores, the lowest first",
        [Col(head.lower(), of(i, right), right=right) for i, (head, right) in enumerate(heads)],
        rows,
        css="small sortable",
        scroll="scroll tall",
        label=f"{property_name}: all scores",
    )


def tables(rows: Sequence[tuple[str, int, int]]) -> Table:
    """Return the numbers of rows of each table."""
    return Table(
        "Rows",
        [
            Col("table", lambda row: Name(name(row[0]))),
            Num("real rows", lambda row: f"{row[1]:,}"),
            Num("synthetic rows", lambda row: f"{row[2]:,}"),
        ],
        rows,
        css="small",
        scroll="scroll tall",
        label="Rows of the tables",
    )
