"""A report as one offline HTML page, with the style sheet and the content policy of the other reports."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import Any

from markupsafe import Markup

from divulge.report.documents.page_of import page_of
from divulge.report.policy_model import Condition
from divulge.sdmetrics.plot_drawing import HATCH, STYLE, draw
from divulge.sdmetrics.plot_elements import score_text
from divulge.sdmetrics.plot_shapes import Empty
from divulge.sdmetrics.reports import text as tables
from divulge.sdmetrics.reports.content import Content, Shown, of_table
from divulge.sdmetrics.reports.details import MEETS, Row, mean_score
from divulge.sdmetrics.reports.figures import key_text, picture_of
from divulge.sdmetrics.reports.parameters import parameters_text

__all__ = ["page"]

_OWN_STYLE = (
    ".dvplot{display:block;max-width:100%;height:auto}.charts.wide{grid-template-columns:1fr}"
    ".wide figure{width:fit-content;max-width:100%}"
)
_MOST_ROWS = 400
_MOST_FIGURES = 6
_MOST_TABLES = 300
_NO_FIGURE = ("Constraint Validity",)
_NUMBERS = ("Score", "Real Correlation", "Synthetic Correlation", "Real Association")


def page(content: Content, rules: Sequence[Condition] = ()) -> str:
    """Return a report as one HTML page; every name in it is untrusted text.

    Parameters
    ----------
    content
        The report.
    rules
        Rules on the scores and what was found about them.
    """
    context = {
        "content": content,
        "of": tables,
        "hatch": Markup(HATCH),
        "rules": rules,
        "score": score_text,
        "properties": [_property(content, shown) for shown in content.properties],
        "errors": content.errors(),
        "by_table": _by_table(content),
        "tables": _tables(content),
        "tables_left_out": max(0, len(content.tables) - _MOST_TABLES),
    }
    return page_of("page.html.j2", context, package="divulge.sdmetrics.reports", style=STYLE + _OWN_STYLE)


def _property(content: Content, shown: Shown) -> dict[str, Any]:
    """Return what the page shows of a property."""
    rows = shown.ranked()
    figures = _figures(content, shown)
    own = [c for c in shown.columns if c not in ("Score", MEETS) and (c != "Table" or len(content.tables) > 1)]
    columns = [*own, "Score", *(["Error"] if shown.n_errors else [])]
    return {
        "shown": shown,
        "id": shown.name.lower().replace(" ", "-"),
        "figures": figures[:_MOST_FIGURES],
        "figures_left_out": max(0, len(figures) - _MOST_FIGURES),
        "heads": [(c, c in _NUMBERS) for c in columns],
        "rows": [[_cell(row, c) for c in columns] for row in rows[:_MOST_ROWS]],
        "rows_left_out": max(0, len(rows) - _MOST_ROWS),
    }


def _cell(row: Row, column: str) -> Any:
    value = row.get(column)
    if column == "Score":
        return score_text(row["Score"])
    if column == "Parameters":
        return parameters_text(value)
    return value if column in _NUMBERS or value is None else key_text(value)


def _figures(content: Content, shown: Shown) -> list[dict[str, Any]]:
    """Return a figure for each table with scores, the lowest first and not all drawn, or one of all relations."""
    if shown.name in _NO_FIGURE or not shown.rows:
        return []
    if shown.name == "Data Structure":
        return [_figure(shown.name, shown.rows, "")] if len(content.tables) > 1 else []
    if len(content.tables) == 1 or "Table" not in shown.columns:
        return [_figure(shown.name, shown.rows, "")]
    owned = [(table, [r for r in shown.rows if of_table(r, table)]) for table in content.tables]
    ranked = sorted((mean_score(rows), i) for i, (_, rows) in enumerate(owned) if rows and isfinite(mean_score(rows)))
    return [
        _figure(shown.name, owned[i][1], owned[i][0]) if n < _MOST_FIGURES else {} for n, (_, i) in enumerate(ranked)
    ]


def _figure(name: str, rows: Sequence[Row], table: str) -> dict[str, Any]:
    picture = picture_of(name, rows)
    drawn = not isinstance(picture, Empty)
    return {"svg": Markup(draw(picture, alone=False)) if drawn else "", "table": table}  # every name in it is escaped


def _by_table(content: Content) -> list[tuple[str, list[float]]]:
    """Return the score of each property within each table, the lowest tables first; none for one table."""
    if len(content.tables) == 1:
        return []
    found = [
        (table, [mean_score([r for r in p.rows if of_table(r, table)]) for p in content.properties])
        for table in content.tables
    ]
    lowest = {table: min((s for s in scores if isfinite(s)), default=2.0) for table, scores in found}
    return sorted(found, key=lambda f: lowest[f[0]])[:_MOST_TABLES]


def _tables(content: Content) -> list[tuple[str, int, int]]:
    """Return the numbers of rows of each table."""
    sides = [content.info[f"num_rows_{side}_data"] for side in ("real", "synthetic")]
    by_name = [side if isinstance(side, dict) else {content.tables[0]: side} for side in sides]
    return [(name, by_name[0][name], by_name[1][name]) for name in content.tables[:_MOST_TABLES]]
