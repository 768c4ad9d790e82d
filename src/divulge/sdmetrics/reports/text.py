"""A report for a terminal: the scores, and where they are lowest."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite
from typing import Any

from divulge.report.documents.console import as_terminal_text, clean
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
    lines = as_terminal_text(_parts(content), width=width, colour=colour).splitlines()
    return "\n".join(line.rstrip() for line in lines)


def _parts(content: Content) -> Iterator[Any]:
    from rich.text import Text

    name = "quality" if content.is_quality else "diagnosis"
    yield Text(f"divulge: {name} {score_text(content.score)}", style="bold")
    sizes = [_counted(content.n_rows(side.split()[0]), side) for side in ("real row", "synthetic row")]
    if content.fresh():
        yield Text(f"A fresh sample of the real people, as large, scores {content.fresh_in_words()}.")
    yield Text(f"{_counted(len(content.tables), 'table')}; {', '.join(sizes)}.")
    yield _properties(content)
    lowest = _lowest(content)
    if lowest.row_count:
        yield lowest
    for reason, names in content.without_score():
        more = f" and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else ""
        listed = ", ".join(clean(brief(name, _LABEL)) for name in names[:_SHOWN])
        yield Text(f"Without a score, {reason}: {listed}{more}.")
    for error, n in content.errors()[:_ERRORS]:
        yield Text(f"! {n:,} without a score: {clean(brief(error, 200))}", style="yellow")


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
    fresh = [content.fresh_in_words(p.name) for p in content.properties]
    table = _table("property", "score", *(["a fresh sample scores"] if any(fresh) else []), "scores", "")
    for p, other in zip(content.properties, fresh, strict=True):
        below = f"{p.n_below:,} pair{'s' if p.n_below > 1 else ''} below the threshold" if p.n_below else ""
        if not p.rows:
            below = "does not apply"
        beside = [other or "-"] if any(fresh) else []
        table.add_row(p.name, score_text(p.score), *beside, f"{len(p.rows) - p.n_below:,}", below)
    return table


def _lowest(content: Content) -> Any:
    """Return the lowest scores below 1."""
    from rich.text import Text

    table = _table("lowest", "of", "metric", "score")
    found = [(row, p) for p in content.properties for row in p.ranked() if isfinite(row["Score"]) and row["Score"] < 1]
    for row, p in sorted(found, key=lambda f: f[0]["Score"])[:_SHOWN]:
        cells = (_where(row, p, content), p.name, str(row["Metric"]), score_text(row["Score"]))
        table.add_row(*(Text(clean(cell)) for cell in cells))  # a name is no markup of rich
    return table


def _where(row: Row, shown: Shown, content: Content) -> str:
    label = brief(label_of(shown.name, row), _LABEL)
    table = row.get("Table")
    return label if table is None or len(content.tables) == 1 or label == table else f"{brief(table, 30)}: {label}"
