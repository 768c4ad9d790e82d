"""Read Excel: the table of a sheet, which may stand below titles, behind a cover sheet and above a footer."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from divulge.core.errors import FrameError, NoRowsError, TableError, tidy
from divulge.tables.checks import named
from divulge.tables.csv_files import check_names
from divulge.tables.excel_sizes import check_excel
from divulge.tables.table_layout import check_is_header, footer_in, header_row

__all__ = ["EXCEL", "read_excel", "sheet_in"]

EXCEL = (".xlsx", ".xls")
_NAMED = re.compile(r"(?P<file>.+\.xlsx?)::(?P<sheet>.+)", re.I | re.S)
_FIRST = 30  # rows in which the header is looked for
_NAMELESS = "__UNNAMED__"  # polars' name for a column without one begins so


def sheet_in(path: str | PathLike[str]) -> tuple[Path, str]:
    """Return the file of a path, and the sheet that FILE.xlsx::SHEET names; "" where none is named.

    Examples
    --------
    >>> sheet_in("book.xlsx::Wave 2")[1], sheet_in("people.csv")[1]
    ('Wave 2', '')
    """
    named = _NAMED.fullmatch(str(path))
    return (Path(path), "") if named is None else (Path(named["file"]), named["sheet"])


def read_excel(data: bytes, where: str, sheet: str = "") -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Return the table of an Excel file, and notes on where it stood.

    Parameters
    ----------
    data
        The bytes of the file.
    where
        How errors name it.
    sheet
        The name of a sheet, or its number where none has this name; by default the first that holds a table of two
        columns and a row, else the first.

    Raises
    ------
    FrameError
        Without the package that reads Excel.
    SizeError
        Its cells take more than half of the free memory.
    TableError, ColumnError
        It is no Excel file, has no such sheet, the sheet is empty, or two columns have one name.
    """
    try:
        import fastexcel
    except ModuleNotFoundError:
        raise FrameError(f"{where}: Excel needs one more package. hint: pip install 'divulge[excel]'") from None
    check_excel(data, where)
    try:
        with _quiet("fastexcel"):
            book = fastexcel.read_excel(data)
            return _table_in(book, data, where, sheet)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, fastexcel.FastExcelError):
        raise TableError(f"{where}: not an Excel file, or a damaged one. hint: save it again as .xlsx.") from None


def _table_in(book: Any, data: bytes, where: str, sheet: str) -> tuple[pl.DataFrame, tuple[str, ...]]:
    names = list(book.sheet_names)
    which, top = _chosen(book, names, where, sheet)
    header = header_row(top, needs_numbers=False)
    check_is_header(top[header], top[header + 1 :], where, f"row {header + 1}")
    check_names(["" if cell is None else cell for cell in top[header]], where)
    # polars takes such names for patterns; the columns get theirs when the rest is done
    odd = any(name and (name == "*" or (name[0] == "^" and name[-1] == "$")) for name in top[header])
    options = {"header_row": None, "skip_rows": header + 1} if odd else {"header_row": header}
    frame = pl.read_excel(
        data, engine="calamine", sheet_name=names[which], infer_schema_length=None, drop_empty_rows=False,
        drop_empty_cols=False, raise_if_empty=False, read_options=options,
    )  # fmt: skip
    if not frame.width:
        raise NoRowsError(f"{where}: a header and no rows below it. hint: pass a table with rows.")
    if odd:  # polars counts from 0 or from 1
        frame.columns = [f"column_{i}" for i in range(frame.width)]
    given = [name or "" for name in top[header]] + [""] * (frame.width - len(top[header]))
    names_of = dict(zip(frame.columns, named(given), strict=False))
    frame = _with_named_columns(frame, top[header])
    notes = []
    if len(names) > 1 and not sheet:
        notes.append(f"sheet {which + 1} of {len(names)} was read, {tidy(names[which])!r}")
    if any(any(cells) for cells in top[:header]):
        above = "row 1 above it was" if header == 1 else "the rows above it were"
        notes.append(f"the header was taken from row {header + 1}: {above} passed over")
    # sheets often end in rows that were only formatted; a blank row further up is a record without values
    filled = np.flatnonzero(np.any([s.is_not_null().to_numpy() for s in frame.get_columns()], axis=0))
    frame = frame.head(int(filled[-1]) + 1) if len(filled) else frame.clear()
    if footer := footer_in(frame, lambda: header + 1 + frame.height, word="row"):
        notes.append(footer)
    frame.columns = [names_of[name] if odd or name.startswith(_NAMELESS) else name for name in frame.columns]
    return frame, tuple(f"{where}: {note}" for note in notes)


def _with_named_columns(frame: pl.DataFrame, header: Sequence[str | None]) -> pl.DataFrame:
    """Return a frame without the columns that have neither a name nor a value, as where cells were only formatted."""
    kept = [
        column
        for i, column in enumerate(frame.get_columns())
        if (i < len(header) and header[i]) or column.null_count() < column.len()
    ]
    return pl.DataFrame(kept)


def _chosen(book: Any, names: list[str], where: str, sheet: str) -> tuple[int, list[list[str | None]]]:
    """Return the number of the sheet to read, and its first rows as texts."""
    if sheet:
        which = _named(names, where, sheet)
        top = _top(book, which)
        if not any(map(any, top)):
            raise TableError(f"{where}: the sheet {tidy(sheet)!r} is empty. hint: name another sheet.")
        return which, top
    tops: list[list[list[str | None]]] = []
    for i in range(len(names)):
        tops.append(_top(book, i))
        if _holds_table(tops[-1]):
            return i, tops[-1]
    found = next((i for i, top in enumerate(tops) if any(map(any, top))), None)
    if found is None:
        what = "the first sheet is" if len(names) < 2 else "all sheets are"
        raise TableError(f"{where}: {what} empty. hint: put the table there, header first.")
    return found, tops[found]


def _named(names: list[str], where: str, sheet: str) -> int:
    for wanted in (sheet, sheet.strip(), sheet.strip().casefold()):
        for i, name in enumerate(names):
            if wanted in (name, name.strip().casefold()):
                return i
    if sheet.strip().isdecimal() and 0 < int(sheet) <= len(names):
        return int(sheet) - 1
    shown = ", ".join(repr(tidy(name)) for name in names[:10])
    more = f" and {len(names) - 10} more" if len(names) > 10 else ""
    raise TableError(f"{where}: there is no sheet {tidy(sheet)!r}. hint: it has {shown}{more}.")


def _top(book: Any, which: int) -> list[list[str | None]]:
    """Return the first rows of a sheet as texts, from its first row on."""
    loaded = book.load_sheet(which, header_row=None, skip_rows=0, n_rows=_FIRST).to_polars()
    texts = loaded.with_columns(pl.all().cast(pl.String)) if loaded.width else loaded
    return [[cell if cell and cell.strip() else None for cell in row] for row in texts.rows()]


def _holds_table(rows: Sequence[Sequence[str | None]]) -> bool:
    """Return whether rows are a table of at least two columns, with a row below its header."""
    filled = [sum(map(bool, row)) for row in rows[header_row(rows, needs_numbers=False) :]]
    return len(filled) > 1 and filled[0] > 1 and max(filled[1:]) > 1


@contextmanager
def _quiet(logger: str) -> Iterator[None]:
    """Keep a package from logging a warning about an empty column."""
    log = logging.getLogger(logger)
    before = log.level
    log.setLevel(logging.ERROR)
    try:
        yield
    finally:
        log.setLevel(before)
