"""How large a table is, before it is read: rows, columns and a sample of rows, from headers where a file has them."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import IO, Any, NamedTuple, cast

import numpy as np
import polars as pl
from numpy.typing import NDArray

from divulge.core.errors import DivulgeError, tidy
from divulge.tables.arrow_columns import check_arrow, damaged, rare_in_file
from divulge.tables.checks import check_is_here
from divulge.tables.databases import in_database
from divulge.tables.frames import Table, check_missing, collect_some, table_of
from divulge.tables.many_files import in_files, is_several, joined, with_rows
from divulge.tables.opening import opened
from divulge.tables.packed_files import Packing, opened_packed, packing_of
from divulge.tables.readers import (
    ARROW,
    PARQUET,
    TEXT,
    Content,
    checked_file,
    columns_in,
    content_of,
    is_table_file,
    read,
    table_in,
    told,
)

__all__ = ["TableSize", "size_of"]

Ints = NDArray[np.int64]

_ROWS = 4000  # of the sample: kinds of columns, and how often values repeat
_SLICES = 16  # places of a table that the sample is taken from: rows may be sorted, by date or by region
_HEAD = 1 << 20  # bytes of a text file that the sample is taken from
_PIECE = 1 << 14  # of a compressed file: zip reads as many bytes ahead
_BLOCK = 1 << 24


@dataclass(frozen=True, slots=True)
class TableSize:
    """The size of a table, and some of its rows."""

    rows: int
    exact: bool
    """Whether the rows were counted; of a compressed text file they are estimated."""
    sample: Table
    """Some of the rows; all of a small table."""
    file_bytes: int
    """Bytes of text that are read before the columns get their types; 0 for other kinds of tables."""
    held_bytes: int
    """Bytes of the table that the process holds already."""
    by_rows: bool = True
    """Whether an engine that counts the table tells its rows too; a relation of DuckDB tells counts alone."""

    @property
    def table_bytes(self) -> int:
        """About how many bytes its columns take once they are read."""
        frame = self.sample.frame
        assert frame is not None
        return round(sum(int(s.estimated_size()) for s in frame.get_columns()) * self.rows / self.sample.n_rows)


def size_of(table: Any, role: str, missing: Sequence[str] = ()) -> TableSize | None:
    """Return the size of a table that is passed as a frame of any kind, or as the path of a file.

    None for standard input and for a pipe, which can be read once only.

    Parameters
    ----------
    table
        As in `divulge.assess`; a list is of synthetic tables that are taken together.
    role
        "real", "synthetic" or "holdout", for messages.
    missing
        Texts that stand for missing.

    Raises
    ------
    DivulgeError
        As `read` and `table_of`.

    Examples
    --------
    >>> found = size_of(pl.DataFrame({"age": range(10_000)}), "real")
    >>> found.rows, found.sample.n_rows
    (10000, 4000)
    """
    missing = check_missing(missing)
    if role == "synthetic" and isinstance(table, list | tuple) and table:
        return _together([size_of(one, f"synthetic table {i}", missing) for i, one in enumerate(table, start=1)])
    if not isinstance(table, str | PathLike):
        here = table_of(table, role)
        return replace(_of_frame(here), by_rows=here.lazy is None or not here.lazy.implementation.is_duckdb())
    with suppress(OSError, ValueError):  # what cannot be looked at is told by the reading
        if str(table) == "-" or Path(table).is_fifo():
            return None
    check_is_here(table, role)
    if in_database(table):
        return _of_frame(read(table, role=role, missing=missing))
    if is_several(table):
        return _of_files(table, in_files(table, role, is_table_file), role, missing)
    return _of_file(Path(table), role, missing)


def _of_frame(table: Table) -> TableSize:
    held = 0 if table.frame is None else int(table.frame.estimated_size())
    if table.frame is None:
        return TableSize(table.n_rows, True, collect_some(table, _runs(_places(table.n_rows))), 0, 0)
    return TableSize(table.n_rows, True, table.rows_at(_places(table.n_rows)), 0, held)


def _places(n: int) -> Ints:
    """Return row numbers of the sample: slices at equal distances, or all rows."""
    if n <= _ROWS:
        return np.arange(n)
    each = _ROWS // _SLICES
    return np.concatenate([start + np.arange(each) for start in np.linspace(0, n - each, _SLICES).astype(np.int64)])


def _runs(rows: Ints) -> list[tuple[int, int]]:
    """Return ascending row numbers as runs: the first row of each, and how many."""
    return [(int(run[0]), len(run)) for run in np.split(rows, np.flatnonzero(np.diff(rows) != 1) + 1)]


def _of_file(path: Path, role: str, missing: Sequence[str]) -> TableSize:
    part = _part(path, role, missing)
    return TableSize(part.rows, part.exact, part.some(_places(part.rows)), part.file_bytes, 0)


class _Part(NamedTuple):
    """A file of a table."""

    rows: int
    exact: bool
    file_bytes: int
    some: Callable[[Ints], Table]
    """Gives the rows with some numbers, ascending; of a text file about as many of its first."""


def _part(path: Path, role: str, missing: Sequence[str]) -> _Part:
    suffix = checked_file(path, role)
    if suffix in (*PARQUET, *ARROW) and not rare_in_file(path, parquet=suffix in PARQUET):
        where = f"{role}: {tidy(path.name)}"
        if suffix in ARROW:
            check_arrow(path, where)
        try:
            lazy = pl.scan_parquet(path, glob=False) if suffix in PARQUET else pl.scan_ipc(path)
            if n := int(lazy.select(pl.len()).collect().item()):
                return _Part(n, True, 0, lambda rows: table_of(_rows_of(lazy, rows, where), role))
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
            pass  # a stream of Arrow, or a damaged file: reading says so
    if suffix in TEXT:
        found = _of_text(path, suffix, role, missing)
    else:
        found = replace(_of_frame(read(path, role=role, missing=missing)), held_bytes=0)
    return _Part(found.rows, found.exact, found.file_bytes, lambda rows: _thinned(found.sample, len(rows)))


def _rows_of(lazy: pl.LazyFrame, rows: Ints, where: str) -> pl.DataFrame:
    """Return some rows of a file; of a file of several row groups only those are read that have one."""
    try:
        return pl.concat([lazy.slice(first, n).collect() for first, n in _runs(rows)])
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
        raise damaged(where, "Parquet") from None


def _thinned(sample: Table, n: int) -> Table:
    """Return about so many rows of a sample, at equal distances."""
    return sample.rows_at(np.unique(np.linspace(0, sample.n_rows - 1, min(n, sample.n_rows)).astype(np.int64)))


def _of_text(path: Path, suffix: str, role: str, missing: Sequence[str]) -> TableSize:
    packing = packing_of(path)
    size = path.stat().st_size
    head, used = _head(path, packing)
    if used >= size:  # a small file: its head is the whole
        whole = told(table_in(content_of(path, role), role, missing))
        return replace(_of_frame(whole), file_bytes=len(head), held_bytes=0)
    cut = _whole_lines(head)
    content = Content(cut, suffix, f"{role}: {tidy(path.name)}")
    try:
        sample = table_in(content, role, missing)
    except DivulgeError:
        if len(cut) == len(head):
            raise
        sample = read(path, role=role, missing=missing)  # its own message, where the file is at fault
        return replace(_of_frame(sample), file_bytes=size, held_bytes=0)
    told(
        replace(sample, notes=tuple(n for n in sample.notes if ": the last " not in n))
    )  # of the file, not of its head
    some = sample.rows_at(_places(sample.n_rows))
    if packing:
        rows = round(sample.n_rows * size / used)
        return TableSize(rows, False, some, round(len(head) * size / used), 0)
    lines = sum(block.count(b"\n") for block in _blocks(path))
    rows = round(lines * sample.n_rows / max(1, cut.count(b"\n") - 1)) - 1
    return TableSize(max(rows, sample.n_rows), b'"' not in cut, some, size, 0)


class _InPieces(io.FileIO):
    """A file of which a decompressor does not read far ahead, as that of gzip does since Python 3.12."""

    def read(self, size: int | None = -1, /) -> bytes:
        """Return the next bytes, 16 KB at most where their number is given; a decompressor asks again."""
        return super().read(size if size is None or size < 0 else min(size, _PIECE)) or b""


def _head(path: Path, packing: Packing) -> tuple[bytes, int]:
    """Return the first bytes of the text of a file, and how many bytes of the file they are."""
    size = path.stat().st_size
    if not packing:
        with open(path, "rb") as file:
            head = file.read(_HEAD)
        return head, len(head)
    try:
        with _InPieces(path) as packed, opened_packed(cast(IO[bytes], packed), packing, path.name) as text:
            head = b""
            while len(head) < _HEAD and (part := text.read(min(_PIECE, _HEAD - len(head)))):
                head += part
            used = min(packed.tell(), size)
    except Exception:
        return b"", size  # reading the whole says what is wrong
    return head, size if len(head) < _HEAD else max(1, used)


def _whole_lines(head: bytes) -> bytes:
    """Return the lines of a text up to the last that ends outside quotation marks."""
    end = head.rfind(b"\n")
    for _ in range(1000):
        if end <= 0 or head.count(b'"', 0, end) % 2 == 0:
            break
        end = head.rfind(b"\n", 0, end)
    return head[: end + 1] if end > 0 else head


def _blocks(path: Path) -> Iterator[bytes]:
    with open(path, "rb") as file:
        while block := file.read(_BLOCK):
            yield block


def _of_files(path: str | PathLike[str], files: Sequence[Path], role: str, missing: Sequence[str]) -> TableSize:
    """Return the size of one table in several files; the sample is taken from the files as if they were one."""
    files, parts = with_rows(files, role, lambda file: _part(file, role, missing), columns_in)
    starts = np.cumsum([0, *(p.rows for p in parts)])
    rows = _places(int(starts[-1]))
    of_file = np.searchsorted(starts, rows, side="right") - 1
    used = np.unique(of_file).tolist()
    samples = [parts[i].some(rows[of_file == i] - starts[i]) for i in used]
    return TableSize(
        int(starts[-1]), all(p.exact for p in parts), joined(path, [files[i] for i in used], samples, role),
        sum(p.file_bytes for p in parts), 0,
    )  # fmt: skip


def _together(sizes: Sequence[TableSize | None]) -> TableSize | None:
    known = [s for s in sizes if s is not None]
    if len(known) < len(sizes):
        return None
    return TableSize(
        sum(s.rows for s in known), all(s.exact for s in known), opened([s.sample for s in known], "synthetic"),
        sum(s.file_bytes for s in known), sum(s.held_bytes for s in known), all(s.by_rows for s in known),
    )  # fmt: skip
