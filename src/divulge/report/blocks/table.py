"""A table as every document has it: its columns say what they show, the writers how it looks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from markupsafe import Markup

from divulge.report.verdicts import VerdictWord

__all__ = [
    "ALL",
    "HTML",
    "MARKDOWN",
    "PAGES",
    "TERMINAL",
    "Cell",
    "Col",
    "Dim",
    "Hash",
    "Name",
    "Num",
    "Piece",
    "Small",
    "Strong",
    "Styled",
    "Table",
    "Word",
]


HTML, MARKDOWN, TERMINAL = "html", "markdown", "terminal"
PAGES, ALL = (HTML, MARKDOWN), (HTML, MARKDOWN, TERMINAL)


class Name(str):
    """A text that is not ours, such as the name of a column: kept apart from the words around it."""

    __slots__ = ()


class Dim(str):
    """What HTML says where there is nothing; a dash elsewhere."""

    __slots__ = ()


class Hash(str):
    """A hash, in letters of one width."""

    __slots__ = ()


class Strong(str):
    """What the row is about: bold in HTML."""

    __slots__ = ()


class Small(NamedTuple):
    """A remark behind the cell: small in HTML, in brackets elsewhere."""

    text: str
    css: str = ""


class Word(NamedTuple):
    """A verdict, with its sign and colour."""

    text: str
    shown: VerdictWord
    hidden: bool = False
    """Only its sign is seen."""


class Styled(NamedTuple):
    """Pieces with a class of the style sheet; that of a whole cell is the class of its box."""

    pieces: tuple[Any, ...]
    css: str


Piece = str | Markup | Small | Styled | Word | None
Cell = Piece | tuple[Piece, ...]
"""Texts are escaped by the writer; markup is a drawing of ours, which HTML alone shows. None is a dash."""


@dataclass(frozen=True, slots=True)
class Col:
    """One column."""

    head: Cell
    cell: Callable[[Any], Cell]
    """What a row shows."""
    needs: object = True
    """It is left out where this is false or empty."""
    right: bool = False
    where: str | tuple[str, ...] = ALL
    keep: int = 0
    """A terminal narrower than this leaves it out."""
    whole: bool = False
    """A terminal does not break its cells."""
    css: str = ""
    key: str = ""
    """Name by which a link sorts it."""
    label: str = ""
    """What a narrow page says before its cells."""


Num = partial(Col, right=True)
"""A column of numbers."""


@dataclass(frozen=True, slots=True)
class Table:
    """Columns and rows; the first column is the head of each row."""

    caption: Cell
    cols: Sequence[Col]
    rows: Sequence[Any]
    css: str = ""
    hidden: bool = False
    """The caption is read aloud and not seen."""
    scroll: str = "scroll"
    """Class of the box that scrolls; "" for none."""
    label: str = ""
    """Of the box, where it is not the caption."""
    group: Callable[[Any], Cell] | None = None
    """The head above a row in HTML, where it is not that of the row before."""

    def of(self, writer: str, width: int = 0) -> list[Col]:
        """Return the columns that a writer shows."""
        return [c for c in self.cols if c.needs and writer in c.where and (not width or width >= c.keep)]
