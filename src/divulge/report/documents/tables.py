"""Tables written down: as HTML, as Markdown, and for a terminal."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any, Literal

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
    Styled,
    Table,
    Word,
)
from divulge.report.documents.console import clean
from divulge.report.formatting import tidy

__all__ = ["escaped", "html_cell", "html_table", "markdown_cell", "markdown_table", "table_of", "terminal_table"]

_ESCAPES = {c: f"\\{c}" for c in "\\`*_[]|~$#"} | {"<": "&lt;", ">": "&gt;", "&": "&amp;", "@": "&#64;"}
_LINKS = {"://": "&#58;//", "mailto:": "mailto&#58;", "www.": "www&#46;"}  # what makes a bare address a link


def _pieces(cell: Cell) -> tuple[Piece, ...]:
    one = isinstance(cell, Small | Styled | Word) or not isinstance(cell, tuple)
    return (cell,) if one else tuple(cell)  # type: ignore[return-value,arg-type] # the pieces above are tuples, too


# ---------------------------------------------------------------- HTML: what is text is escaped where it is put in

_SHAPES: dict[type, str] = {
    Name: "<bdi>{}</bdi>",
    Dim: '<span class="dim">{}</span>',
    Hash: '<span class="hash">{}</span>',
    Strong: "<b>{}</b>",
}


def html_cell(cell: Cell) -> Markup:
    """Return the content of a cell."""
    return Markup("".join(map(_html, _pieces(cell))))


def _html(piece: Piece) -> str:
    if isinstance(piece, Markup):
        return piece
    if isinstance(piece, Small):
        space = "" if piece.css == "note" else " "
        return f"{space}<small{_attribute('class', piece.css)}>{_html(piece.text)}</small>"
    if isinstance(piece, Word):
        text = _html(piece.text)
        text = f'<span class="hidden">{text}</span>' if piece.hidden else text
        return f'<span class="v {piece.shown.css}">{text}</span>'
    if isinstance(piece, Styled):
        return f"<span{_attribute('class', piece.css)}>{html_cell(piece.pieces)}</span>"
    shape = "{}" if isinstance(piece, Name) and _is_plain(piece) else _SHAPES.get(type(piece), "{}")
    return shape.format(escape("-" if piece is None else tidy(piece)))


def _is_plain(name: str) -> bool:
    """Return whether a name can neither turn the direction of a line nor be too long for it."""
    return name.isascii() and len(name) <= _SHORT_NAME


_SHORT_NAME = 16


def html_table(table: Table) -> Markup:
    """Return a table in the box that scrolls it."""
    cols = table.of(HTML)
    heads = (f'<th scope="col"{_classes(c)}{_attribute("data-k", c.key)}>{html_cell(c.head)}</th>' for c in cols)
    bodies = groupby(table.rows, lambda row: html_cell(table.group(row)) if table.group else "")
    caption = f"<caption{_attribute('class', 'hidden' * table.hidden)}>{html_cell(table.caption)}</caption>"
    body = "\n".join(_body(cols, head, rows) for head, rows in bodies) or "<tbody></tbody>"
    head = f"{caption}\n<thead><tr>{''.join(heads)}</tr></thead>"
    right = (f"n{i}" for i, c in enumerate(cols, 1) if _of_table(i, c))
    whole = f"<table{_attribute('class', ' '.join(filter(None, (table.css, *right))))}>{head}\n{body}</table>"
    if not table.scroll:
        return Markup(whole)
    label = _attribute("aria-label", table.label or plain(table.caption))
    return Markup(f'<div class="{table.scroll}" tabindex="0" role="region"{label}>{whole}</div>')


def _body(cols: Sequence[Col], head: str, rows: Iterable[Any]) -> str:
    """Return some rows, below their head where they have one."""
    rest = f'<td colspan="{len(cols) - 1}"></td>'
    group = f'<tr class="group"><th scope="rowgroup">{head}</th>{rest}</tr>\n' if head else ""
    lines = "\n".join(_html_row(cols, row) for row in rows)
    return f"<tbody>{group}{lines}</tbody>"


def _html_row(cols: Sequence[Col], row: Any) -> str:
    (first, head), *others = [(c, c.cell(row)) for c in cols]
    cells = [f'<th scope="row"{_classes(first)}>{html_cell(head)}']  # HTML lets the ends of cells and rows go
    for i, (c, cell) in enumerate(others, 2):
        inside, css = (cell.pieces, cell.css) if isinstance(cell, Styled) else (cell, "")
        classes = _attribute("class", " ".join(filter(None, (c.css, css)))) if _of_table(i, c) else _classes(c, css)
        cells.append(f"<td{classes}{_attribute('data-l', c.label)}>{html_cell(inside)}")
    return f"<tr>{''.join(cells)}"


_SIDES = range(2, 21)  # places of columns that the style sheet aligns by a class of their table, in place of each cell


def _of_table(i: int, col: Col) -> bool:
    """Return whether the class of the table, not that of its cells, says that a column is one of numbers."""
    return col.right and i in _SIDES


def _classes(col: Col, more: str = "") -> str:
    return _attribute("class", " ".join(filter(None, ["n" * col.right, col.css, more])))


def _attribute(name: str, value: str) -> str:
    return f' {name}="{escape(tidy(value))}"' if value else ""


def plain(cell: Cell) -> str:
    """Return a cell as text alone."""
    return "".join(map(_plain, _pieces(cell)))


def _plain(piece: Piece) -> str:
    if isinstance(piece, Markup):
        return ""
    if isinstance(piece, Small):
        inner = piece.text.removesuffix(")").replace(" (", "; ") if " (" in piece.text else piece.text
        return f" ({inner})"
    if isinstance(piece, Styled):
        return plain(piece.pieces)
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
    """Return a table for rich; where the terminal is too narrow columns are left out, and none is cut or a few letters.

    Left out are those that ask for a wider terminal, and where there is no room for the others, the ones that ask for
    the widest. Without a width all columns stay. An edge is an empty line above the table and one below it.
    """
    from rich.box import SIMPLE_HEAD
    from rich.padding import Padding
    from rich.table import Table as Grid
    from rich.text import Text

    cols = table.of(TERMINAL, width)
    cells = {id(c): [c.cell(row) for row in table.rows] for c in cols}
    texts = {of: [clean(plain(cell)) for cell in column] for of, column in cells.items()}
    room = width - 2 * _PADDING
    shown = _fitting(cols, texts, room) if width else dict.fromkeys(range(len(cols)))
    grid = Grid(box=SIMPLE_HEAD, padding=(0, _PADDING), show_edge=False)
    for i, space in shown.items():
        c = cols[i]
        whole = c.whole and (space is None or space >= _widest(c, texts))
        side: Literal["left", "right"] = "right" if c.right else "left"
        grid.add_column(Text(clean(plain(c.head))), justify=side, overflow="fold", no_wrap=whole, width=space)
    kept = [cols[i] for i in shown]
    for j in range(len(table.rows)):
        row = [(texts[id(c)][j], cells[id(c)][j]) for c in kept]
        grid.add_row(*(Text(text, cell.shown.colour if isinstance(cell, Word) else "") for text, cell in row))
    return Padding(grid, (1, 0), expand=False) if edge else grid


_LEAST = 16  # letters of a column that may be broken
_GAP = 3  # spaces between two columns
_PADDING = 1  # before the first column and after the last: rich before 14.3 takes the room where it draws none, too


def _fitting(cols: Sequence[Col], texts: Mapping[int, Sequence[str]], room: int) -> dict[int, int | None]:
    """Return the places of the columns for which there is room, and the width of each."""
    widest = [_widest(c, texts) for c in cols]
    least = [n if c.whole else min(n, _LEAST) for c, n in zip(cols, widest, strict=True)]
    kept = list(range(len(cols)))

    def lacks() -> int:
        return sum(least[i] for i in kept) + _GAP * (len(kept) - 1) - room

    while lacks() > 0 and (loose := [i for i in kept if cols[i].keep]):
        kept.remove(max(loose, key=lambda i: (cols[i].keep, i)))
    for i in kept:  # what is left may be broken between words, the last column (the verdict) last
        if (short := lacks()) > 0:
            words = [len(word) for text in (*texts[id(cols[i])], plain(cols[i].head)) for word in clean(text).split()]
            least[i] = max(least[i] - short, min(least[i], max(words, default=0)))
    most = max(widest)
    while most > 0 and sum(max(least[i], min(widest[i], most)) for i in kept) + _GAP * (len(kept) - 1) > room:
        most -= 1  # the widest give way first
    return {i: max(least[i], min(widest[i], most)) for i in kept}


def _widest(col: Col, texts: Mapping[int, Sequence[str]]) -> int:
    """Return the letters of the longest cell of a column, or of its head."""
    from rich.cells import cell_len

    return max(map(cell_len, (clean(plain(col.head)), *texts[id(col)])))
