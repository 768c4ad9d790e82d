"""Where a table stands in a file that people look at: below titles and comments, and above footers."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np
import polars as pl

from divulge.core.errors import TableError

__all__ = ["check_is_header", "footer_in", "header_row", "is_number"]

Cells = Sequence[str | None]

_LOOKED_AT = 20
"""Rows in which the header is looked for."""
_BELOW = 5
"""Rows below a header that are looked at."""
_NUMBER = re.compile(r"\s*[-+$€£(]?\s*\d[\d.,:/ -]*([eE][-+]?\d+)?\s*[%€)]?\s*|\d{4}-\d\d-\d\d.*")
_PLAIN = re.compile(r"\s*[+-]?\d+([.,]\d+)?\s*")
_YEAR = re.compile(r"(1[89]|20|21)\d\d(\.0)?")
_TOTALS = frozenset(
    ("total", "totals", "sum", "summe", "gesamt", "insgesamt", "overall", "grand total", "gesamtsumme", "subtotal")
)


def is_number(cell: str | None) -> bool:
    """Return whether a cell is a number, a date or a time, which no name of a column is.

    Examples
    --------
    >>> is_number("1,234.50"), is_number("2020-01-31"), is_number("age")
    (True, True, False)
    """
    return cell is not None and _NUMBER.fullmatch(cell) is not None


def header_row(rows: Sequence[Cells], *, needs_numbers: bool = True) -> int:
    """Return which of the first rows is the header: 0, unless titles stand above it.

    A title has fewer filled cells than the header, whose names are no numbers and which has rows of the same width
    below.

    Parameters
    ----------
    rows
        The first rows; empty texts and None are empty cells, and rows may have several lengths.
    needs_numbers
        Whether a title of one cell above two columns, or one of several cells, is seen only where a column below
        the header is of numbers: without them, the row may as well be one of texts below the header. A title of
        more than half as many cells always needs them.

    Examples
    --------
    >>> header_row([["Survey"], [], ["age", "job", "pay"], ["30", "cook", "9"]]), header_row([["a", "b"], ["1", "2"]])
    (2, 0)
    """
    filled = [sum(1 for cell in row if cell) for row in rows]
    first = found = next((i for i, n in enumerate(filled) if n), 0)
    for i in range(first + 1, min(len(rows), _LOOKED_AT)):
        n, above = filled[i], max(filled[first:i])
        below = [row for row, m in zip(rows[i + 1 :], filled[i + 1 :], strict=True) if m][:_BELOW]
        if n < 2 or above >= n or 2 * n < len(rows[i]) or not _are_names(rows[i], years=above == 1):
            continue
        if not below or any(len(row) != len(rows[i]) for row in below) or 2 * sum(map(bool, below[0])) < n:
            continue
        if 2 * filled[found] > n and not _is_prefix(rows[found], rows[i]):
            continue
        alone = above == 1 and n > 2
        if (needs_numbers or 2 * filled[found] > n) and not alone and not _has_numbers(below):
            continue
        found = i
    return found


def _are_names(cells: Cells, *, years: bool) -> bool:
    """Return whether cells may be names of columns: texts, and years beside them."""
    texts = [cell for cell in cells if cell and not is_number(cell)]
    return bool(texts) and all(not is_number(cell) or (years and _YEAR.fullmatch(cell or "")) for cell in cells)


def _is_prefix(row: Cells, header: Cells) -> bool:
    """Return whether the cells of a row are filled from the first of the header on and then empty; or none is.

    A header that lacks names mostly lacks the first, and a header of R is shorter than the rows. A row with a number is
    no header.
    """
    start = next(i for i, cell in enumerate(header) if cell)
    end = max(i for i, cell in enumerate(header) if cell) + 1
    own = [bool(cell) for cell in row[start:end]]
    is_title = own == sorted(own, reverse=True) or any(map(is_number, row))
    return len(row) == len(header) and all(header[start:end]) and is_title


def _has_numbers(rows: Sequence[Cells]) -> bool:
    """Return whether a column is of numbers."""
    columns = zip(*rows, strict=True)
    return any(any(cells) and all(is_number(c) for c in cells if c) for cells in columns)


def check_is_header(names: Cells, rows: Sequence[Cells], where: str, line: str) -> None:
    """Raise a TableError where a row that is taken for the header is rather data; it shows none of it.

    A third of the names, and more than one or half of them, are like the values below: they occur in their own column,
    or are dates above dates, or numbers within the range of those below. Three numbers or more that ascend or descend from
    column to column may be names, as years and wave lengths are: they count where they occur in their column, and those that
    count columns one by one (2019, 2020; 0, 1, 2) never do. Nor does a text that is the only one of its column, as in
    answers of which several may be ticked.

    Parameters
    ----------
    names
        The cells of the header.
    rows
        The first rows below it.
    where
        How the error names the file.
    line
        How it names the header.

    Examples
    --------
    >>> check_is_header(["2019", "2020"], [["1", "9"], ["3000", "2020"]], "f.csv", "the first line")
    >>> check_is_header(["ann", "41", "7"], [["bob", "30", "3"], ["eve", "52", "9"]], "f.csv", "the first line")
    Traceback (most recent call last):
    divulge.core.errors.TableError: f.csv: the first line looks like data: is the header missing? hint: write a line with the names of the columns above it; names that are numbers within the columns need a word, as in 'item 7'.
    """  # noqa: E501
    if len(names) > 1 and any(list(row) == list(names) for row in rows):
        return  # files that were put together repeat their header
    numbers = [_plain(name) for name in names]
    there = [x for x in numbers if x is not None]
    steps = {round(b - a, 9) for a, b in pairwise(there)}
    in_order = len(there) > 2 and (min(steps) > 0 or max(steps) < 0)
    counting = bool(steps) and (steps <= {1.0} or steps <= {-1.0})
    alike = 0
    for i, (name, number) in enumerate(zip(names, numbers, strict=True)):
        below = [cell for row in rows if i < len(row) and (cell := row[i])]
        if not name or not below or (number is not None and counting):
            continue
        if name in below:
            alike += number is not None or len(set(below)) > 1
        elif number is not None and not in_order:
            found = [x for cell in below if (x := _plain(cell)) is not None]
            alike += 2 * len(found) > len(below) and min(found) <= number <= max(found)
        elif number is None and is_number(name):
            alike += 2 * sum(is_number(cell) and _plain(cell) is None for cell in below) > len(below)
    if 3 * alike >= len(names) and (alike > 1 or 2 * alike >= len(names)) and alike:
        raise TableError(
            f"{where}: {line} looks like data: is the header missing? hint: write a line with the names of the columns "
            "above it; names that are numbers within the columns need a word, as in 'item 7'."
        )


def _plain(cell: str | None) -> float | None:
    """Return the number that a cell writes in digits; None for a date and a text."""
    return float(cell.replace(",", ".")) if cell and _PLAIN.fullmatch(cell) else None


def footer_in(frame: pl.DataFrame, last: Callable[[], int], *, word: str) -> str:
    """Return a sentence about rows at the end that may be a footer, or a sum, and no record; "" where there are none.

    Rows of one filled cell, the first, and empty ones between them are taken for a footer only where no row further
    up looks so.

    Parameters
    ----------
    frame
        The rows of a table.
    last
        Counts the number of the last row in its file.
    word
        What rows are called there: "row" or "line".
    """
    n = frame.height
    if n < 2 or frame.width < 2:
        return ""
    first = frame.columns[0]
    text = str(frame[first][-1] or "").strip().rstrip(":").casefold()
    if text in _TOTALS:
        return (
            f"the last row ({word} {last():,}) begins with a word for a sum: if it is no record, take it out, since it "
            "counts as one"
        )
    if frame.width < 3 or not _alone(frame.tail(1))[0]:
        return ""
    alone = _alone(frame.tail(_LOOKED_AT))
    k = len(alone) if alone.all() else int(np.argmin(alone[::-1]))
    if k in (len(alone), n) or _alone(frame.head(n - k)).any():
        return ""
    where = f"the last row ({word} {last():,}) has" if k == 1 else f"the last {k} rows (up to {word} {last():,}) have"
    it = "it is a footer, take it out, since it counts as a record"
    they = "they are a footer, take them out, since they count as records"
    return f"{where} one filled cell of {frame.width} at most: if {it if k == 1 else they}"


def _alone(frame: pl.DataFrame) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Return which rows have no filled cell but the first."""
    empty = np.ones(frame.height, dtype=np.bool_)
    for column in frame.get_columns()[:0:-1]:
        is_empty = column.is_null()
        if column.dtype == pl.String:
            is_empty = is_empty | (column == "").fill_null(True)
        empty &= is_empty.to_numpy()
        if not empty.any():
            break
    return empty
