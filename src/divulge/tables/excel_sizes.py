"""How many cells an Excel file makes its reader hold, found before it is read.

A reader fills all cells between the first and the last that have a value, so that two cells in a file of 1 KB can take
hundreds of gigabytes, and a reader that gets no memory ends the process.
"""

from __future__ import annotations

import io
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator

from divulge.core.errors import TableError
from divulge.tables.file_bytes import check_fits

__all__ = ["check_excel"]

_CELL = 48  # bytes of a cell: in the reader, and as a column
_REFERENCE = re.compile(
    rb"""\sr\s*=\s*["']\$?([A-Za-z]+)\$?(\d+)["']"""  # the name of a cell
    rb"""((?:\s+[\w:]+\s*=\s*"\w*")*\s*/>)?"""  # ends at once: it was formatted, and has no value
)
_ROW = re.compile(rb"""<(?:\w+:)?row(?=[\s/>])(?:[^>]*?\sr\s*=\s*["'](\d+))?""")
_ROW_BEGINS, _CELL_BEGINS = (re.compile(rb"<(?:\w+:)?" + name + rb"[\s/>]") for name in (b"row", b"c"))
_OTHER = ("content.xml", "xl/workbook.bin")  # of OpenDocument and of Excel's binary form
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_BIFF_CELLS = (0x06, 0x01, 0x03, 0x04, 0x05, 0xBD, 0xBE, 0xD6, 0xFD, 0x201, 0x203, 0x204, 0x205, 0x206, 0x27E, 0x406)
_BIFF_SPANS = (0xBD, 0xBE)  # records of several cells, whose last column stands at their end
_SHEET = 0x809  # begins a part of the workbook
_FREE = 0xFFFFFFFA  # numbers of sectors from here on are marks


def check_excel(data: bytes, where: str) -> None:
    """Raise an error unless the bytes are an Excel file whose sheets fit into memory.

    Raises
    ------
    TableError
        It is no .xlsx and no .xls, or it is damaged.
    SizeError
        Its parts, or the cells between the first and the last of a sheet, take more than half of the free memory.
    """
    try:
        if data.startswith(_OLE):
            cells = max(_of_old(_stream(data)), default=0)
        else:
            with zipfile.ZipFile(io.BytesIO(data)) as book:
                if any(name.lower() in _OTHER for name in book.namelist()):
                    raise ValueError
                check_fits(sum(part.file_size for part in book.infolist()), where)
                cells = max((_of_sheet(book.read(part)) for part in book.infolist()), default=0)
    except (zipfile.BadZipFile, zipfile.LargeZipFile, ValueError, NotImplementedError, RuntimeError, struct.error,
            IndexError, EOFError, OSError, zlib.error):  # fmt: skip
        raise TableError(f"{where}: not an Excel file, or a damaged one. hint: save it again as .xlsx.") from None
    check_fits(_CELL * cells, where)


def _of_sheet(part: bytes) -> int:
    """Return how many cells a sheet in XML spans from its first on; 0 for other parts of a book."""
    if b"sheetData" not in part:
        return 0
    last, n_named, columns = 0, 0, set[bytes]()
    for n_named, cell in enumerate(_REFERENCE.finditer(part), start=1):  # noqa: B007  # their number is needed
        letters, row, empty = cell.groups()
        if not empty:
            last = max(last, int(row))
            columns.add(letters)
    widest = max(map(_number, columns), default=0)
    if sum(1 for _ in _CELL_BEGINS.finditer(part)) > n_named:  # cells and rows without a name follow one another
        named = _ROW.findall(part)
        last = max(last, len(named), *(int(row) for row in named if row))
        widest = max(widest, *(len(_CELL_BEGINS.findall(row)) for row in _ROW_BEGINS.split(part)))
    return last * widest


def _number(letters: bytes) -> int:
    """Return the number of a column.

    Examples
    --------
    >>> _number(b"A"), _number(b"XFD")
    (1, 16384)
    """
    out = 0
    for letter in letters.upper():
        out = 26 * out + letter - 64
    return out


# ---------------------------------------------------------------- .xls


def _of_old(stream: bytes) -> Iterator[int]:
    """Yield how many cells each sheet of a .xls file spans: of its records, each a kind, a length and its bytes."""
    rows = columns = at = 0
    while at + 4 <= len(stream):
        kind, length = struct.unpack_from("<HH", stream, at)
        body = stream[at + 4 : at + 4 + length]
        if kind & 0xFF == _SHEET & 0xFF:
            yield rows * columns
            rows = columns = 0
        elif kind in _BIFF_CELLS and len(body) >= 4:
            row, column = struct.unpack_from("<HH", body)
            last = struct.unpack("<H", body[-2:])[0] if kind in _BIFF_SPANS else column
            rows, columns = max(rows, row + 1), max(columns, column + 1, last + 1)
        at += 4 + length
    yield rows * columns


def _stream(data: bytes) -> bytes:
    """Return the workbook of a compound file: sectors, a table of which follows which, and a directory of streams."""
    size = 1 << struct.unpack_from("<H", data, 30)[0]
    first, cutoff, small_first = struct.unpack_from("<I", data, 48)[0], *struct.unpack_from("<II", data, 56)
    sectors = list(struct.unpack_from("<109I", data, 76))
    more = struct.unpack_from("<I", data, 68)[0]
    for _ in range(len(data) // size + 1):
        if more >= _FREE:
            break
        *listed, more = struct.unpack_from(f"<{size // 4}I", data, (more + 1) * size)
        sectors += listed
    after: list[int] = []
    for sector in sectors:
        if sector < _FREE:
            after += struct.unpack_from(f"<{size // 4}I", data, (sector + 1) * size)
    body = data[size:]
    directory = _chained(body, after, first, size)
    entries = [directory[at : at + 128] for at in range(0, len(directory) - 127, 128)]
    for entry in entries:
        name = entry[: max(0, struct.unpack_from("<H", entry, 64)[0] - 2)].decode("utf-16-le", "replace")
        if name.lower() in ("workbook", "book"):
            start, length = struct.unpack_from("<II", entry, 116)
            if length >= cutoff:
                return _chained(body, after, start, size)[:length]
            small = _chained(body, after, struct.unpack_from("<I", entries[0], 116)[0], size)
            follows = _chained(body, after, small_first, size)
            links = list(struct.unpack(f"<{len(follows) // 4}I", follows))
            return _chained(small, links, start, 64)[:length]
    raise ValueError


def _chained(data: bytes, after: list[int], start: int, size: int) -> bytes:
    """Return the sectors of a chain, one after the other."""
    parts, seen = list[bytes](), 0
    while start < _FREE:
        parts.append(data[start * size : (start + 1) * size])
        start, seen = after[start], seen + 1
        if seen > len(after):
            raise ValueError
    return b"".join(parts)
