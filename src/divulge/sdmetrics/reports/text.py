"""A report for a terminal: the scores, and where they are lowest."""

from __future__ import annotations

import io
from math import isfinite
from typing import Any

from divulge.report.documents.terminal import clean
from divulge.report.formatting import brief
from divulge.sdmetrics.plot_elements import score_text
from divulge.sdmetrics.reports.content import Content, Shown
from divulge.sdmetrics.reports.details import Row
from divulge.sdmetrics.reports.figures import label_of

__all__ = ["summary"]

_SHOWN = 8
_ERRORS = 4
_LABEL = 60


def summary(content: Content, *, width: int = 110, colour: bool = False) -> str:
    """Return the summary of a report as text."""
    from rich.console import Console
    from rich.text import Text

    stream = io.StringIO()
    console = Console(
        file=stream, width=width, force_terminal=colour, no_color=not colour, highlight=False, legacy_windows=False
    )
    name = "quality" if content.is_quality else "diagnosis"
    console.print(Text(f"divulge: {name} {score_text(content.score)}", style="bold"))
    sizes = [_counted(content.n_rows(side.split()[0]), side) for side in ("real row", "synthetic row")]
    console.print(Text(f"{_counted(len(content.tables), 'table')}; {', '.join(sizes)}."))
    console.print(_properties(content))
    lowest = _lowest(content)
    if lowest.row_count:
        console.print(lowest)
    for error, n in content.errors()[:_ERRORS]:
        console.print(Text(f"! {n:,} without a score: {clean(brief(error, 200))}", style="yellow"))
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines()).rstrip()


def _counted(n: int, what: str) -> str:
    return f"{n:,} {what}{'' if n == 1 else 's'}"


def _table(*heads: str) -> Any:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for head in heads:
        right = head in ("score", "scores")
        whole = head not in ("lowest", "")
        table.add_column(head, justify="right" if right else "left", overflow="fold", no_wrap=whole)
    return table


def _properties(content: Content) -> Any:
    table = _table("property", "score", "scores", "")
    for p in content.properties:
        below = f"{p.n_below:,} pair{'s' if p.n_below > 1 else ''} below the threshold" if p.n_below else ""
        if not p.rows:
            below = "does not apply"
        table.add_row(p.name, score_text(p.score), f"{len(p.rows) - p.n_below:,}", below)
    return table


def _lowest(content: Content) -> Any:
    """Return the lowest scores below 1."""
    table = _table("lowest", "of", "metric", "score")
    found = [(row, p) for p in content.properties for row in p.ranked() if isfinite(row["Score"]) and row["Score"] < 1]
    for row, p in sorted(found, key=lambda f: f[0]["Score"])[:_SHOWN]:
        table.add_row(*map(clean, (_where(row, p, content), p.name, str(row["Metric"]), score_text(row["Score"]))))
    return table


def _where(row: Row, shown: Shown, content: Content) -> str:
    label = brief(label_of(shown.name, row), _LABEL)
    table = row.get("Table")
    return label if table is None or len(content.tables) == 1 or label == table else f"{brief(table, 30)}: {label}"
