"""Read files: tables from CSV, Parquet, Arrow and Excel, schemas from TOML and SDV's JSON.

CSV is read as text and typed here, because the type of a column must depend neither on the number of rows that a
reader inspects nor on the other tables. A column is numeric if every cell is a number and no leading zero would be
lost. Dates and booleans stay text; pooling reads them, as it does for text from any kind of table.

polars parses a file only if `_count_lines` finds it regular. polars silently fills in, drops or fails on the rest
(missing fields, blank lines, quotation marks inside a field); Python's csv module reads these slowly and correctly.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import hashlib
import io
import json
import logging
import re
import sys
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import polars as pl

from divulge.core.errors import ColumnError, DivulgeError, FrameError, SettingError, TableError
from divulge.core.relations import RelationalSchema, relational_from_sdv, relational_from_toml
from divulge.core.result import tidy
from divulge.core.schema import Schema, schema_from_sdv, schema_from_toml
from divulge.tables.canonical_values import may_be_numbers, numbers_of
from divulge.tables.frames import Table, check_missing, plain, read_numbers, table_of, without_codes
from divulge.tables.stacking import stacked

__all__ = ["columns_in", "is_table_file", "opened", "read", "read_relational_schema", "read_schema"]

_T = TypeVar("_T")
_TABLES = re.compile(r"^\s*\[+\s*(table\.|relation)", re.M)
"""What the schema of several tables has and that of one table does not."""
_TEXT = (".csv", ".tsv", ".txt")
_PARQUET = (".parquet", ".pq")
_ARROW = (".arrow", ".feather", ".ipc")
_EXCEL = (".xlsx", ".xls")
_READ = "CSV (.csv .tsv .txt, also .gz), Parquet (.parquet .pq), Arrow (.arrow .feather .ipc), Excel (.xlsx .xls)"

_SEPARATORS = ",;\t|"
_BLOCK = 1 << 24  # bytes looked at together: bounds the memory of the check
_END = "\x1eend\x1e"
_SHOWN = 5  # lines that an error names
_LINES_OF_A_NAME = 4
_HEADER = 1 << 20  # bytes of a file in which its header is looked for


def read(path: str | PathLike[str], *, role: str = "real", missing: Sequence[str] = ()) -> Table:
    """Return the table in a file, with the file's SHA-256 and notes on how it was read.

    Parameters
    ----------
    path
        CSV (.csv .tsv .txt, also with .gz), Parquet (.parquet .pq), Arrow (.arrow .feather .ipc) or Excel (.xlsx
        .xls, first sheet, with the extra `divulge[excel]`); "-" reads CSV from standard input. The header line
        of a CSV file shows its separator: comma, semicolon, tab or bar. With semicolons, numbers may have a
        decimal comma.
    role
        "real", "synthetic" or "holdout", for messages.
    missing
        Texts that stand for missing besides empty cells: a column of numbers and such codes is numbers.

    Raises
    ------
    TableError
        No such file, not readable, empty, broken, of an unknown kind, or lines with too many or too few fields.
    ColumnError
        Two columns of the same name.
    FrameError
        Excel without the extra.
    """
    missing = check_missing(missing)
    if str(path) == "-":
        data = sys.stdin.buffer.read()
        frame, notes = _csv(data, f"{role}: standard input", "", missing)
        return _table(frame, role, data, notes, missing)
    path = Path(path)
    where = f"{role}: {tidy(path.name or path)}"
    _check_file(path, where)
    zipped = path.name.lower().endswith(".gz")
    suffix = Path(path.name.lower().removesuffix(".gz")).suffix
    if suffix not in _TEXT and (zipped or suffix not in _PARQUET + _ARROW + _EXCEL):
        raise TableError(f"{where}: the suffix {path.suffix!r} is not known. hint: divulge reads {_READ}.")
    try:
        data = path.read_bytes()
    except OSError as error:
        raise TableError(
            f"{where}: cannot be read: {error.strerror or type(error).__name__}. hint: check the path."
        ) from None
    notes = ()
    if suffix in _TEXT:
        frame, notes = _csv(_unzipped(data, where, zipped), where, suffix, missing)
    elif suffix in _EXCEL:
        frame, notes = _excel(data, where)
    else:
        frame = _columnar(data, suffix, where)
    if missing and suffix not in _TEXT:
        frame = pl.DataFrame({s.name: _without_codes(s, missing) for s in frame.get_columns()})
    return _table(frame, role, data, notes, missing)


def opened(table: Any, role: str, missing: Sequence[str] = ()) -> Table:
    """Return a table that was passed as a frame of any kind, or as the path of a file.

    As the synthetic table several tables of one training set can be passed, in a list; their rows become one table.

    Raises
    ------
    DivulgeError
        As `read` and `table_of`.

    Examples
    --------
    >>> opened(pl.DataFrame({"age": [30, 41]}), "real").n_rows
    2
    """
    if role == "synthetic" and isinstance(table, list | tuple):
        return stacked([opened(one, f"synthetic table {i}", missing) for i, one in enumerate(table, start=1)])
    if isinstance(table, str | PathLike):
        return read(table, role=role, missing=missing)
    return table_of(table, role)


def columns_in(path: str | PathLike[str]) -> tuple[str, ...] | None:
    """Return the names of the columns of a file, read from its header alone.

    None where they cannot be known before the file is read: standard input, a compressed or an Excel file, or a header
    that is not regular; `read` then says what is wrong.
    """
    path = Path(path)
    suffix = path.suffix.lower()
    try:
        if suffix in _PARQUET:
            return tuple(pl.read_parquet_schema(path))
        if suffix in _ARROW:
            return tuple(pl.read_ipc_schema(path))
        if suffix not in _TEXT:
            return None
        with open(path, "rb") as file:
            head = file.read(_HEADER)
        if b"\n" not in head:
            return None
        content = _utf8(head[: head.rindex(b"\n")], "")[0].lstrip(b"\r\n")
        header = _split_header(content)[0]
        return tuple(_names(header, _separator(header, suffix), ""))
    except (DivulgeError, OSError, ValueError, pl.exceptions.PolarsError, pl.exceptions.PanicException):
        return None


def _without_codes(series: pl.Series, missing: Sequence[str]) -> pl.Series:
    return without_codes(plain(series.alias("")), missing)  # polars takes a name such as "^a$" for a pattern


def _table(frame: pl.DataFrame, role: str, data: bytes, notes: tuple[str, ...], missing: Sequence[str]) -> Table:
    digest = hashlib.sha256(data).hexdigest()
    return replace(table_of(frame, role), sha256=digest, notes=notes, missing=tuple(missing))


def read_schema(path: str | PathLike[str]) -> Schema:
    """Return the schema in a file: TOML as `divulge schema` writes it, or SDV metadata as JSON.

    Raises
    ------
    SettingError
        The file does not exist, is neither TOML nor JSON, or has an unknown entry.
    """
    return _described(path, schema_from_toml, schema_from_sdv)


def read_relational_schema(path: str | PathLike[str]) -> RelationalSchema:
    """Return the tables and relations in a file: TOML of `divulge schema --tables`, or SDV metadata as JSON.

    Raises
    ------
    SettingError
        The file does not exist, is neither TOML nor JSON, has an unknown entry, or a relation names what is not there.
    """
    return _described(path, relational_from_toml, relational_from_sdv)


def read_metadata(path: str | PathLike[str]) -> RelationalSchema | dict[str, Any]:
    """Return what a file says of one table or of several: the schema of a TOML file, or SDV metadata as they stand.

    A TOML file of one table gives a schema with one table, which is called "table". SDV metadata are checked and keep
    their ranges and formats.

    Raises
    ------
    SettingError
        As in `read_relational_schema`.
    """

    def of_toml(text: str, name: str) -> RelationalSchema | dict[str, Any]:
        if _TABLES.search(text):
            return relational_from_toml(text, name)
        alone = schema_from_toml(text, name)
        return RelationalSchema({"table": alone}, (), alone.rules)

    def of_sdv(metadata: Any, name: str) -> RelationalSchema | dict[str, Any]:
        relational_from_sdv(metadata, name)
        return dict(metadata)

    return _described(path, of_toml, of_sdv)


def _described(
    path: str | PathLike[str], from_toml: Callable[[str, str], _T], from_sdv: Callable[[Any, str], _T]
) -> _T:
    path = Path(path)
    name = tidy(path.name)
    if path.suffix.lower() not in (".toml", ".json"):
        raise SettingError(
            f"{name}: another suffix. hint: a schema is a .toml file (`divulge schema real.csv` writes one) or SDV "
            "metadata in .json."
        )
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise SettingError(f"{name}: not UTF-8. hint: save it as UTF-8.") from None
    except (OSError, ValueError) as error:  # a ValueError is a path that no file can have
        raise SettingError(f"{name}: cannot be read: {_why(error)}. hint: check the path.") from None
    try:
        if path.suffix.lower() == ".toml":
            return from_toml(text, name)
        return from_sdv(json.loads(text), name)
    except json.JSONDecodeError as error:
        raise SettingError(
            f"{name}: not JSON: {error.msg} in line {error.lineno}. hint: check how it was written."
        ) from None
    except RecursionError:
        raise SettingError(f"{name}: nested too deeply for a schema. hint: check how it was written.") from None
    except ValueError as error:
        if isinstance(error, DivulgeError):
            raise
        raise SettingError(f"{name}: a number has too many digits. hint: check how it was written.") from None


def _why(error: OSError | ValueError) -> str:
    """Return why a file cannot be read; a `ValueError` is a name that no file can have."""
    if isinstance(error, OSError):
        return error.strerror or type(error).__name__
    return "no file can have this name"


def is_table_file(path: Path) -> bool:
    """Return whether the name of a file is that of a table."""
    suffix = Path(path.name.lower().removesuffix(".gz")).suffix
    return suffix in _TEXT or (not path.name.lower().endswith(".gz") and suffix in _PARQUET + _ARROW + _EXCEL)


def _check_file(path: Path, where: str) -> None:
    try:
        path.lstat()  # `exists` does not tell a path that no file can have from one that none has
    except FileNotFoundError:
        raise TableError(f"{where}: no such file in {str(path.parent)!r}. hint: check the path.") from None
    except (OSError, ValueError) as error:
        raise TableError(f"{where}: cannot be read: {_why(error)}. hint: check the path.") from None
    if not path.exists():
        raise TableError(f"{where}: no such file in {str(path.parent)!r}. hint: check the path.")
    if path.is_dir():
        raise TableError(f"{where}: this is a folder. hint: name one file: {_READ}.")
    if path.is_file() and path.stat().st_size == 0:
        raise TableError(f"{where}: the file is empty (0 bytes). hint: check how it was written.")


def _unzipped(data: bytes, where: str, zipped: bool) -> bytes:
    if not data.startswith(b"\x1f\x8b"):
        if zipped:
            raise TableError(f"{where}: the name ends in .gz, and the file is not gzip. hint: rename it.")
        return data
    try:
        return gzip.decompress(data)
    except (OSError, EOFError, zlib.error):
        raise TableError(f"{where}: the gzip file is cut off or damaged. hint: compress it again.") from None


# ---------------------------------------------------------------- Parquet, Arrow, Excel


def _columnar(data: bytes, suffix: str, where: str) -> pl.DataFrame:
    kind, read_it = "Parquet", pl.read_parquet
    if suffix in _ARROW:
        # a file starts with its magic word, a stream does not
        kind, read_it = "Arrow (Feather)", pl.read_ipc if data.startswith(b"ARROW1") else pl.read_ipc_stream
    try:
        return read_it(data)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
        raise TableError(
            f"{where}: not a {kind} file, or a damaged one. hint: check the suffix, or write the file again."
        ) from None


def _excel(data: bytes, where: str) -> tuple[pl.DataFrame, tuple[str, ...]]:
    try:
        import fastexcel
    except ImportError:
        raise FrameError(f"{where}: Excel needs one more package. hint: pip install 'divulge[excel]'") from None
    try:
        with _quiet("fastexcel"):
            top = pl.read_excel(data, engine="calamine", has_header=False, read_options={"n_rows": 1})
            _check_names(["" if v is None else str(v) for v in top.row(0)] if top.height else [], where)
            frame = pl.read_excel(data, engine="calamine", infer_schema_length=None, drop_empty_rows=False)
            n_sheets = len(fastexcel.read_excel(data).sheet_names)
    except pl.exceptions.NoDataError:
        raise TableError(f"{where}: the first sheet is empty. hint: put the table there, header first.") from None
    except (pl.exceptions.PolarsError, fastexcel.FastExcelError):
        raise TableError(f"{where}: not an Excel file, or a damaged one. hint: save it again as .xlsx.") from None
    # sheets often end in rows that were only formatted; a blank row further up is a record without values
    filled = np.flatnonzero(np.any([s.is_not_null().to_numpy() for s in frame.get_columns()], axis=0))
    notes = (f"{where}: the first of {n_sheets} sheets was read",) if n_sheets > 1 else ()
    return (frame.head(int(filled[-1]) + 1) if len(filled) else frame.clear()), notes


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


def _check_names(names: Sequence[str], where: str) -> None:
    twice = sorted(name for name, n in Counter(names).items() if n > 1)
    if twice:
        raise ColumnError(
            f"{where}: {len(twice)} column name(s) occur twice in the header: {', '.join(map(repr, twice))}. "
            "hint: rename them."
        )


# ---------------------------------------------------------------- CSV


def _csv(data: bytes, where: str, suffix: str, missing: Sequence[str]) -> tuple[pl.DataFrame, tuple[str, ...]]:
    data, notes = _utf8(data, where)
    if b"\n" not in data:
        data = data.replace(b"\r", b"\n")
    content = data.lstrip(b"\r\n")
    n_above = data[: len(data) - len(content)].count(b"\n")
    content = content.rstrip(b"\r\n")
    if not content:
        raise TableError(f"{where}: the file has only blank lines. hint: check how it was written.")
    header, body = _split_header(content)
    separator = _separator(header, suffix)
    names = _names(header, separator, where)
    if not body:
        raise TableError(f"{where}: a header of {len(names)} column(s) and no rows. hint: pass a table with rows.")
    n_above += header.count("\n") + 1
    frame = _parsed_fast(_without_blank_lines(body), separator, len(names))
    if frame is None:
        frame = _parsed_slowly(body, separator, len(names), n_above, where)
    typed = _all_typed(frame.get_columns(), separator == ";", missing)
    return pl.DataFrame(dict(zip(names, typed, strict=True))), notes  # a list would name the nameless


def _utf8(data: bytes, where: str) -> tuple[bytes, tuple[str, ...]]:
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


def _split_header(content: bytes) -> tuple[str, bytes]:
    """Return the header as text and the rows as bytes; a quoted name may contain a line break."""
    end = content.find(b"\n")
    while end >= 0 and content.count(b'"', 0, end) % 2:
        end = content.find(b"\n", end + 1)
    if end < 0:
        return content.decode(), b""
    return content[:end].rstrip(b"\r").decode(), content[end + 1 :]


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
    _check_names(names, where)
    return names


def _swallowed(header: str, separator: str, names: list[str]) -> bool:
    """Return whether a name with line breaks is rather rows, which a quotation mark swallowed and no error may show."""
    try:
        next(csv.reader(io.StringIO(header, newline=""), delimiter=separator, strict=True))
    except csv.Error:  # no separator after the closing mark
        return True
    return max(len(name.splitlines()) for name in names) > _LINES_OF_A_NAME


def _separator(header: str, suffix: str) -> str:
    outside = re.sub(r'"[^"]*"', "", header)
    if suffix == ".tsv" and "\t" in outside:
        return "\t"
    # the commonest; the first of the list among equals, comma when there is none
    return max(_SEPARATORS, key=outside.count)


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


def _parsed_slowly(body: bytes, separator: str, n_fields: int, n_above: int, where: str) -> pl.DataFrame:
    """Return the rows as text, or raise an error that names the lines with too many or too few fields."""
    # a last line of our own: inside a quotation mark that never closes it does not come out as a line
    text = io.StringIO(f"{body.decode()}\n{_END}", newline="")
    reader = csv.reader(text, delimiter=separator)
    rows: list[list[str]] = []
    ragged: list[tuple[int, int]] = []
    before = line = n_above
    closed = False
    try:
        for row in reader:
            if row == [_END]:
                closed = True
                break
            if row and len(row) != n_fields:
                ragged.append((n_above + reader.line_num, len(row)))
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
        raise TableError(_ragged(ragged, n_fields, len(rows), where))
    return pl.DataFrame(rows, schema={f"c{i}": pl.String for i in range(n_fields)}, orient="row")


def _ragged(ragged: Sequence[tuple[int, int]], n_fields: int, n_good: int, where: str) -> str:
    shown = ", ".join(f"line {line} has {count}" for line, count in ragged[:_SHOWN])
    more = f" and {len(ragged) - _SHOWN} more" if len(ragged) > _SHOWN else ""
    hint = "quote fields that hold the separator."
    if not n_good and all(count == n_fields + 1 for _, count in ragged):
        hint = "the header may lack a name for the row names (in R: write.csv with row.names = FALSE)."
    return (
        f"{where}: the header has {n_fields} field(s), and {len(ragged)} line(s) have another number: "
        f"{shown}{more}. hint: {hint}"
    )


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
