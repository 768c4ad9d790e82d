"""Tables written down: as HTML, as Markdown, and for a terminal."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from markupsafe import Markup, escape

from divulge.report.blocks.table import (
    HTML,
    MARKDOWN,
    TERMINAL,
    Cell,
    Col,
    Dim,
    Hash,
    Name,
    Piece,
    Small,
    Strong,
    Table,
    Word,
)
from divulge.report.documents.console import clean
from divulge.report.formatting import tidy

__all__ = ["escaped", "html_cell", "html_table", "markdown_cell", "markdown_table", "table_of", "terminal_table"]

_ESCAPES = {c: f"\\{c}" for c in "\\`*_[]|~$#"} | {"<": "&lt;", ">": "&gt;", "&": "&amp;", "@": "&#64;"}
_LINKS = {"://": "&#58;//", "mailto:": "mailto&#58;", "www.": "www&#46;"}  # what makes a bare address a link


def _pieces(cell: Cell) -> tuple[Piece, ...]:
    return cell if isinstance(cell, tuple) and not isinstance(cell, Small | Word) else (cell,)


# ---------------------------------------------------------------- HTML

_SHAPES: dict[type, str] = {
    Name: "<bdi>{}</bdi>",
    Dim: '<span class="dim">{}</span>',
    Hash: '<span class="hash">{}</span>',
    Strong: "<b>{}</b>",
}


def html_cell(cell: Cell) -> Markup:
    """Return the content of a cell."""
    return Markup().join(map(_html, _pieces(cell)))


def _html(piece: Piece) -> Markup:
    if isinstance(piece, Markup):
        return piece
    if isinstance(piece, Small):
        shape = Markup("{}<small{}>{}</small>")
        return shape.format("" if piece.css == "note" else " ", _attribute("class", piece.css), _html(piece.text))
    if isinstance(piece, Word):
        return Markup('<span class="v {}">{}</span>').format(piece.shown.css, tidy(piece.text))
    text = escape("-" if piece is None else tidy(piece))
    return Markup(_SHAPES.get(type(piece), "{}")).format(text)


def html_table(table: Table) -> Markup:
    """Return a table in the box that scrolls it."""
    cols = table.of(HTML)
    heads = Markup().join(
        Markup('<th scope="col"{}{}>{}</th>').format(
            _attribute("class", "n" * c.right), _attribute("data-k", c.key), html_cell(c.head)
        )
        for c in cols
    )
    rows = Markup("\n").join(Markup("<tr>{}</tr>").format(_html_row(cols, row)) for row in table.rows)
    caption = Markup("<caption{}>{}</caption>").format(
        _attribute("class", "hidden" * table.hidden), html_cell(table.caption)
    )
    whole = Markup("<table{}>{}\n<thead><tr>{}</tr></thead>\n<tbody>{}</tbody></table>").format(
        _attribute("class", table.css), caption, heads, rows
    )
    if not table.scroll:
        return whole
    label = table.label or plain(table.caption)
    return Markup('<div class="{}" tabindex="0" role="region" aria-label="{}">{}</div>').format(
        table.scroll, label, whole
    )


def _html_row(cols: Sequence[Col], row: Any) -> Markup:
    cells = [
        (
            _attribute("class", " ".join(filter(None, ["n" * c.right, c.css]))) + _attribute("data-l", c.label),
            html_cell(c.cell(row)),
        )
        for c in cols
    ]
    (attributes, first), *others = cells
    head = Markup('<th scope="row"{}>{}</th>').format(attributes, first)
    return head + Markup().join(Markup("<td{}>{}</td>").format(*cell) for cell in others)


def _attribute(name: str, value: str) -> Markup:
    return Markup(' {}="{}"').format(Markup(name), value) if value else Markup()


def plain(cell: Cell) -> str:
    """Return a cell as text alone."""
    return "".join(map(_plain, _pieces(cell)))


def _plain(piece: Piece) -> str:
    if isinstance(piece, Markup):
        return ""
    if isinstance(piece, Small):
        inner = piece.text.removesuffix(")").replace(" (", "; ") if " (" in piece.text else piece.text
        return f" ({inner})"
    text = piece.text if isinstance(piece, Word) else piece
    return "-" if text is None or isinstance(text, Dim) else tidy(text)


# ---------------------------------------------------------------- Markdown


def escaped(text: object) -> str:
    r"""Return text escaped, so that Markdown and HTML show it literally, without link, emphasis, code, cell or tag.

    Examples
    --------
    >>> escaped("a|b <i> [x](y)")
    'a\\|b &lt;i&gt; \\[x\\](y)'
    """
    out = "".join(_ESCAPES.get(c, c) for c in tidy(text))
    for sign, harmless in _LINKS.items():
        out = re.sub(re.escape(sign), harmless, out, flags=re.IGNORECASE)
    return out


def markdown_cell(cell: Cell) -> str:
    """Return the content of a cell, escaped."""
    return "".join(map(_marked, _pieces(cell)))


def _marked(piece: Piece) -> str:
    text = escaped(_plain(piece))
    if isinstance(piece, Word) and piece.shown.sign:
        return f"{piece.shown.sign} {text}"
    return f"`{text}`" if isinstance(piece, Hash) else text


def markdown_table(table: Table) -> str:
    """Return a table with pipes; "" without rows."""
    cols = table.of(MARKDOWN)
    rows = [[markdown_cell(c.cell(row)) for c in cols] for row in table.rows]
    right = [i for i, c in enumerate(cols) if c.right]
    return table_of([markdown_cell(c.head) for c in cols], rows, right) if rows else ""


def table_of(heads: Sequence[str], rows: Iterable[Sequence[str]], right: Iterable[int] = ()) -> str:
    """Return heads and rows, which are escaped already, as a table with pipes."""
    sides = set(right)
    lines = [heads, ["---:" if i in sides else "---" for i in range(len(heads))], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


# ---------------------------------------------------------------- terminal


def terminal_table(table: Table, width: int = 0, *, edge: bool = True) -> Any:
    """Return a table for rich; a terminal narrower than a column asks for leaves it out, and cuts none."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table as Grid
    from rich.text import Text

    cols = table.of(TERMINAL, width)
    grid = Grid(box=SIMPLE_HEAD, pad_edge=False, show_edge=edge)
    for c in cols:
        grid.add_column(
            Text(clean(plain(c.head))), justify="right" if c.right else "left", overflow="fold", no_wrap=c.whole
        )
    for row in table.rows:
        cells = [c.cell(row) for c in cols]
        grid.add_row(*(Text(clean(plain(cell)), cell.shown.colour if isinstance(cell, Word) else "") for cell in cells))
    return grid
