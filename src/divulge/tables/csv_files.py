"""Read CSV: a table's columns, typed, from the bytes of a file.

CSV is read as text and typed here, because the type of a column must depend neither on the number of rows that a
reader inspects nor on the other tables. A column is numeric if every cell is a number and no leading zero would be
lost. Dates and booleans stay text; pooling reads them, as it does for text from any kind of table.

polars parses a file only if `_count_lines` finds it regular. polars silently fills in, drops or fails on the rest
(missing fields, blank lines, quotation marks inside a field); Python's csv module reads these slowly and correctly.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
import polars as pl

from divulge.core.errors import ColumnError, NoRowsError, TableError
from divulge.tables.canonical_values import may_be_numbers, numbers_of
from divulge.tables.checks import named
from divulge.tables.csv_layout import Top, is_padded, top_of, without_blanks
from divulge.tables.frames import plain, read_numbers, without_codes
from divulge.tables.table_layout import check_is_header, footer_in

__all__ = ["CsvText", "check_names", "header_of", "parse_csv", "read_csv", "utf8_of"]

_BLOCK = 1 << 24  # bytes looked at together: bounds the memory of the check
_END = "\x1eend\x1e"
_SHOWN = 5  # lines that an error names
_LINES_OF_A_NAME = 4
_LINE = 1 << 20  # bytes in which the first row ends
_ROWS = 1000  # that are compared with the header


def check_names(names: Sequence[str], where: str) -> None:
    """Raise ColumnError where two columns have one name, or half of several have none, as where a title is above."""
    twice = sorted(name for name, n in Counter(names).items() if n > 1 and (name or 2 * n >= len(names)))
    if twice:
        hint = "rename them." if "" not in twice else "name all columns, and take out what stands above the header."
        raise ColumnError(f"{where}: names that occur twice in the header: {', '.join(map(repr, twice))}. hint: {hint}")


def header_of(head: bytes, suffix: str) -> list[str]:
    r"""Return the names in the header of the first lines of a file.

    Raises
    ------
    DivulgeError
        The header is not regular.

    Examples
    --------
    >>> header_of(b"age;job\n30;cook", ".csv")
    ['age', 'job']
    """
    top, _ = _unpadded(top_of(utf8_of(head, "")[0], suffix))
    return named(_fields_of(top, "")[0])


@dataclass(frozen=True, slots=True)
class CsvText:
    """The rows of a CSV file as texts, as they stand there."""

    frame: pl.DataFrame
    """Columns of texts, named c0, c1, ... in the order of the file."""
    names: list[str]
    """Those of columns without a name are given."""
    header: str
    """The line of the names: unchanged, but for blanks around separators and a last separator without a name."""
    separator: str
    notes: tuple[str, ...]
    """How the file was read."""

    def typed(self, column: pl.Series, missing: Sequence[str]) -> pl.Series:
        """Return a column of numbers where each text is a number or missing, else the texts."""
        return _typed(column, self.separator == ";", missing)


def read_csv(data: bytes, where: str, suffix: str, missing: Sequence[str]) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Return the typed table of a CSV file, and notes on how it was read.

    Parameters
    ----------
    data
        The bytes of the file, not compressed.
    where
        How errors name the file.
    suffix
        Of its name: of equally common separators ".tsv" takes the tab.
    missing
        Texts that stand for a missing value.

    Raises
    ------
    TableError, ColumnError
        As `parse_csv`.
    """
    text = parse_csv(data, where, suffix)
    typed = _all_typed(text.frame.get_columns(), text.separator == ";", missing)
    return pl.DataFrame(dict(zip(text.names, typed, strict=True))), text.notes


def parse_csv(data: bytes, where: str, suffix: str) -> CsvText:
    """Return the texts of a CSV file; parameters as those of `read_csv`.

    Raises
    ------
    TableError
        The file is no text, has no rows, or lines of several lengths; errors name lines, never values.
    ColumnError
        Two columns have one name.
    """
    data, notes = utf8_of(data, where)
    if b"\n" not in data:
        data = data.replace(b"\r", b"\n")
    data = data.rstrip(b"\r\n")
    if not data:
        raise TableError(f"{where}: the file has only blank lines. hint: check how it was written.")
    top, told = _unpadded(top_of(data, suffix))
    names, width, more = _fields_of(top, where)
    told = (*top.notes, *told, *more)
    if not top.body:
        raise NoRowsError(f"{where}: a header and no rows below it. hint: pass a table with rows.")
    header = top.header
    frame = _parsed_fast(_without_blank_lines(top.body), top.separator, width)
    if frame is None:
        frame = _parsed_slowly(top.body, top.separator, width, top.n_above, where, len(names))
    if width > len(names):
        frame, names, header, more = _without_last(frame, names, header, top, where)
        told += more
    elif more:
        header = _without_end(header, top.separator)
    if footer := footer_in(frame, lambda: top.n_above + top.body.count(b"\n") + 1, word="line"):
        told += (footer,)
    return CsvText(frame, named(names), header, top.separator, (*notes, *(f"{where}: {note}" for note in told)))


def _unpadded(top: Top) -> tuple[Top, tuple[str, ...]]:
    """Return the header and rows without blanks around separators, where there are such, and a note on them."""
    if not is_padded(top.body, top.separator):
        return top, ()
    header, body = (without_blanks(part, top.separator) for part in (top.header.encode(), top.body))
    return top._replace(header=header.decode(), body=body), ("blanks around the separator were left out",)


def _fields_of(top: Top, where: str) -> tuple[list[str], int, tuple[str, ...]]:
    """Return the names, how many fields a row has, and a note where the header alone ends in a separator.

    A row has one field more than there are names, where the first one ends in a separator and so may all: with the
    header, whose last name is empty then, or without it.
    """
    names = _names(top.header, top.separator, where)
    line = "the first line" if top.n_above == 1 else f"line {top.n_above}"
    check_is_header(names, _first_rows(top.body, top.separator), where, line)
    n_empty = next((i for i, name in enumerate(reversed(names)) if name), len(names))
    if n_empty < 2 or n_empty == len(names):
        check_names(names, where)
    first = top.body.lstrip(b"\r\n")[:_LINE].split(b"\n", 1)[0].rstrip(b"\r")
    own = top.separator.encode()
    if len(names) < 2 or not (names[-1] == "" or first.endswith(own)):
        return names, len(names), ()
    found = _width_of(top.body, top.separator)
    if n_empty > 1:
        check_names(names[:-n_empty], where)
        return names[:-n_empty], found if found == len(names) - n_empty else len(names), ()
    if names[-1] == "" and found == len(names) - 1:
        return names[:-1], len(names) - 1, ("the header ends in a separator, which was left out",)
    if names[-1] == "" and found == len(names) and first.endswith(own):
        return names[:-1], len(names), ()
    return names, len(names) + (found == len(names) + 1 and first.endswith(own)), ()


def _width_of(body: bytes, separator: str) -> int:
    """Return how many fields the first row has."""
    return next((len(row) for row in _first_rows(body, separator, 1)), 0)


def _first_rows(body: bytes, separator: str, n: int = _ROWS) -> list[list[str]]:
    """Return the first rows that have fields, as texts; none where they are not regular."""
    text = io.StringIO(body[:_LINE].decode(errors="replace"), newline="")
    try:
        return list(islice(filter(None, csv.reader(text, delimiter=separator)), n))
    except csv.Error:
        return []


def _without_last(
    frame: pl.DataFrame, names: list[str], header: str, top: Top, where: str
) -> tuple[pl.DataFrame, list[str], str, tuple[str, ...]]:
    """Return a table without its last column, which has no name, where all of it is empty."""
    own = _names(header, top.separator, where)
    ends = len(own) > len(names)
    last = [frame[c] for c in frame.columns[len(names) :]]
    if all(bool(((column == "") | column.is_null()).all()) for column in last):
        what = "all lines end" if ends else "all lines but the header end"
        line = header
        for _ in own[len(names) :]:
            line = _without_end(line, top.separator)
        more = "a separator, which was" if len(last) == 1 else f"{len(last)} separators, which were"
        return frame[:, : len(names)], names, line, (f"{what} in {more} left out",)
    if ends:
        check_names(own, where)
        return frame, own, header, ()
    kept = _parsed_slowly(top.body, top.separator, len(names), top.n_above, where)
    return kept, names, header, ()


def _without_end(header: str, separator: str) -> str:
    return header.rstrip(" \r\n").removesuffix('""').removesuffix(separator)


def utf8_of(data: bytes, where: str) -> tuple[bytes, tuple[str, ...]]:
    """Return the text as UTF-8 without a byte order mark, and a note if the encoding was guessed."""
    if data.startswith(codecs.BOM_UTF8):
        data = data[len(codecs.BOM_UTF8) :]
    elif data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        try:
            return data.decode("utf-16").encode(), ()
        except UnicodeDecodeError:
            raise TableError(f"{where}: damaged UTF-16. hint: save the file as UTF-8.") from None
    if data.startswith((b"PK\x03\x04", b"PAR1", b"ARROW1")) or b"\0" in data[:65536]:
        raise TableError(f"{where}: not a text file (zero bytes inside). hint: check the suffix, or save as UTF-8.")
    if data.isascii():
        return data, ()
    for encoding in ("utf-8", "cp1252", "latin-1"):
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        if encoding == "utf-8":
            return data, ()
        return text.encode(), (f"{where}: not UTF-8, so read as {encoding}; save it as UTF-8 to be sure",)
    raise AssertionError("latin-1 decodes anything")


def _names(header: str, separator: str, where: str) -> list[str]:
    """Return the column names of a header line."""
    try:
        names = next(csv.reader(io.StringIO(header, newline=""), delimiter=separator))
    except csv.Error:
        raise TableError(
            f"{where}: a column name has more than {csv.field_size_limit():,} characters. "
            "hint: is a quotation mark left open in the header?"
        ) from None
    if any("\n" in name or "\r" in name for name in names) and _swallowed(header, separator, names):
        raise TableError(
            f"{where}: a quotation mark opens in the header and does not close there. "
            "hint: close it, and double the marks inside names."
        )
    return names


def _swallowed(header: str, separator: str, names: list[str]) -> bool:
    """Return whether a name with line breaks is rather rows, which a quotation mark swallowed and no error may show."""
    try:
        next(csv.reader(io.StringIO(header, newline=""), delimiter=separator, strict=True))
    except csv.Error:  # no separator after the closing mark
        return True
    return max(len(name.splitlines()) for name in names) > _LINES_OF_A_NAME


def _without_blank_lines(body: bytes) -> bytes:
    body = body.lstrip(b"\r\n")
    if b'"' not in body and (b"\n\n" in body or b"\n\r\n" in body):
        return re.sub(rb"\n(?:\r?\n)+", b"\n", body)
    return body


def _parsed_fast(body: bytes, separator: str, n_fields: int) -> pl.DataFrame | None:
    """Return the rows as text, or None if the file is not regular."""
    n_lines = _count_lines(body, separator, n_fields)
    if n_lines is None:
        return None
    try:
        frame = pl.read_csv(
            body,
            has_header=False,
            schema={f"c{i}": pl.String for i in range(n_fields)},
            separator=separator,
            quote_char='"' if b'"' in body else None,
        )
    except pl.exceptions.PolarsError:
        return None
    return frame if frame.height == n_lines else None


def _count_lines(body: bytes, separator: str, n_fields: int) -> int | None:
    """Return the number of lines of a regular file, or None.

    In a regular file, each line has `n_fields` fields and is not blank, and quotation marks occur only at the ends of
    fields. A separator or line end is inside a field if the number of quotation marks before it is odd; a doubled
    mark counts twice and changes nothing.
    """
    quote, newline, sep = 34, 10, ord(separator)
    everything = np.frombuffer(body, dtype=np.uint8)
    before = np.isin(np.arange(256), [sep, newline, quote])
    after = np.isin(np.arange(256), [sep, newline, quote, 13])
    odd, n_open, n_lines = 0, 0, 0
    for start in range(0, len(body), _BLOCK):
        block = everything[start : start + _BLOCK]
        marks, seps, ends = (np.flatnonzero(block == byte) for byte in (quote, sep, newline))
        if len(marks) or odd:
            opening, closing = marks[odd::2] + start, marks[1 - odd :: 2] + start
            opening, closing = opening[opening > 0], closing[closing < len(body) - 1]
            if not (before[everything[opening - 1]].all() and after[everything[closing + 1]].all()):
                return None
            seps = seps[(np.searchsorted(marks, seps) + odd) % 2 == 0]
            ends = ends[(np.searchsorted(marks, ends) + odd) % 2 == 0]
            odd = (odd + len(marks)) % 2
        if n_fields == 1 and (np.diff(ends) == 1).any():
            return None  # a blank line, which polars takes for a missing value
        upto = np.searchsorted(seps, ends)
        per_line = np.diff(upto, prepend=-n_open)
        if (per_line != n_fields - 1).any():
            return None
        n_open = len(seps) - int(upto[-1]) if len(ends) else n_open + len(seps)
        n_lines += len(ends)
    # the last line has no line end: blank ones were cut off
    return n_lines + 1 if n_open == n_fields - 1 and not odd else None


def _parsed_slowly(
    body: bytes, separator: str, n_fields: int, n_above: int, where: str, n_names: int | None = None
) -> pl.DataFrame:
    """Return the rows as text, or raise an error that names the lines with too many or too few fields.

    `n_names` is the width of the header, where that of the rows is another.
    """
    # a last line of our own: inside a quotation mark that never closes it does not come out as a line
    text = io.StringIO(f"{body.decode()}\n{_END}", newline="")
    reader = csv.reader(text, delimiter=separator)
    rows: list[list[str]] = []
    ragged: list[tuple[int, int]] = []
    n_comments = 0
    before = line = n_above
    closed = False
    try:
        for row in reader:
            if row == [_END]:
                closed = True
                break
            if row and len(row) != n_fields:
                ragged.append((n_above + reader.line_num, len(row)))
                n_comments += row[0].startswith("#")
            elif row:
                rows.append(row)
            before, line = line, n_above + reader.line_num
    except csv.Error:
        raise TableError(
            f"{where}: a field after line {line} has more than {csv.field_size_limit():,} characters. "
            "hint: is a quotation mark left open there? Double the marks inside fields."
        ) from None
    if not closed:
        raise TableError(
            f"{where}: a quotation mark opens after line {before} and never closes. "
            "hint: close it, and double the marks inside fields."
        )
    if ragged:
        at_end = ragged[0][0] > n_above + reader.line_num - len(ragged) - 2
        raise TableError(
            _ragged(ragged, n_names or n_fields, len(rows), where, comments=n_comments == len(ragged), at_end=at_end)
        )
    return pl.DataFrame(rows, schema={f"c{i}": pl.String for i in range(n_fields)}, orient="row")


def _ragged(
    ragged: Sequence[tuple[int, int]], n_names: int, n_good: int, where: str, *, comments: bool = False,
    at_end: bool = False,
) -> str:  # fmt: skip
    shown = ", ".join(f"line {line} has {count}" for line, count in ragged[:_SHOWN])
    more = f" and {len(ragged) - _SHOWN} more" if len(ragged) > _SHOWN else ""
    hint = "quote fields that hold the separator."
    if comments:
        hint = "take out the lines that begin with #, which are comments above the header only."
    elif not n_good and n_names == 1:
        hint = "is the first line a title? Take it out, so that the header comes first; else quote fields that hold "
        hint += "the separator."
    elif not n_good and all(count == n_names + 1 for _, count in ragged):
        hint = "the header may lack a name for the row names (in R: write.csv with row.names = FALSE)."
    elif n_good and at_end and all(count == 1 for _, count in ragged):
        hint = "if the last lines are a footer below the table, take them out."
    elif all(count == n_names for _, count in ragged):
        hint = "some lines end in a separator and others do not; write them alike."
    return f"{where}: lines with another number of fields than the header ({n_names}): {shown}{more}. hint: {hint}"


def _all_typed(columns: Sequence[pl.Series], decimal_comma: bool, missing: Sequence[str]) -> list[pl.Series]:
    """Return columns of text as numbers where all values are numbers, otherwise as text."""
    plains = [plain(s) for s in columns]
    if decimal_comma or missing:
        return [_typed(s, decimal_comma, missing) for s in plains]
    read = (numbers_of(s) if may_be else None for s, may_be in zip(plains, may_be_numbers(plains), strict=True))
    return [text if numbers is None else numbers for text, numbers in zip(plains, read, strict=True)]


def _typed(text: pl.Series, decimal_comma: bool, missing: Sequence[str]) -> pl.Series:
    text = without_codes(text, missing)
    if text.dtype != pl.String:
        return without_codes(text, missing)
    if text.null_count() == text.len():
        return text
    numbers = read_numbers(text)
    if numbers is None and decimal_comma:
        pattern = r"^\s*[+-]?\d*(,\d+)?([eE][+-]?\d+)?\s*$"
        if text.head(1000).str.contains(pattern).all() and text.str.contains(pattern).all():
            numbers = read_numbers(text.str.replace(",", ".", literal=True))
    return text if numbers is None else without_codes(numbers, missing)
