"""Tables of files whose cells are the texts that stand there, to write some of the rows again, unchanged."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

import numpy as np
import polars as pl
from numpy.typing import NDArray

from divulge.core.errors import SettingError
from divulge.tables.csv_files import parse_csv
from divulge.tables.frames import Table, table_of
from divulge.tables.json_files import JSON, JSON_LINES
from divulge.tables.parquet import write_parquet
from divulge.tables.readers import PARQUET, TEXT, content_of, table_in

__all__ = ["Verbatim", "open_verbatim"]

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Verbatim:
    """A table in a file; its cells are the texts that stand there."""

    table: Table
    suffix: str
    """Of the kind of file, without that of its compression."""
    typed: Callable[[pl.Series], pl.Series] = field(default=lambda column: column)
    """Reads a column of the table as `divulge.read` does."""
    separator: str = ","
    header: str | None = None
    """The line of the names in a text file, as `CsvText` has it."""
    notes: tuple[str, ...] = ()

    def write(self, file: BinaryIO, suffix: str, rows: Ints, columns: Mapping[str, Ints] | None = None) -> None:
        """Write some rows to a file of the kind that a suffix names.

        Parameters
        ----------
        file
            An open file.
        suffix
            ".csv", ".parquet" and so on. Parquet made from CSV has columns of numbers where `divulge.read` would read
            numbers.
        rows
            Row numbers, in the order to write.
        columns
            Columns whose cells are of other rows, each as long as `rows`.
        """
        frame = self._taken(rows, columns or {}, as_text=suffix in TEXT)
        names = dict(zip(frame.columns, self.table.columns, strict=True))
        if suffix in TEXT:
            own = self.header is not None
            if own:
                file.write(f"{self.header}\n".encode())
            try:
                frame.rename(names).write_csv(file, include_header=not own, separator=self.separator)
            except pl.exceptions.PolarsError:
                raise SettingError("--format: columns of lists cannot be CSV. hint: --format parquet.") from None
        elif suffix in PARQUET:
            write_parquet(frame.rename(names), file)
        elif suffix in JSON_LINES:
            frame.rename(names).write_ndjson(file)
        elif suffix in JSON:
            frame.rename(names).write_json(file)
        else:
            frame.rename(names).write_ipc(file)

    def _taken(self, rows: Ints, columns: Mapping[str, Ints], *, as_text: bool) -> pl.DataFrame:
        assert self.table.frame is not None
        frame = self.table.frame
        if self.header is not None and not as_text:
            frame = pl.DataFrame([self.typed(c) for c in frame.get_columns()])
        taken = frame[rows]
        moved = [frame[self.table.names[name]][other] for name, other in columns.items()]
        return taken.with_columns(moved) if moved else taken


def open_verbatim(path: str | Path, missing: Sequence[str]) -> Verbatim:
    """Return the table of a file; the cells of a text file are text.

    Raises
    ------
    TableError, ColumnError, FrameError
        As `divulge.read`.
    """
    content = content_of(path, "table")
    if content.suffix not in TEXT:
        table = table_in(content, "table")
        return Verbatim(table, content.suffix, notes=table.notes)
    text = parse_csv(content.unzipped(), content.where, content.suffix)
    named = text.frame.rename(dict(zip(text.frame.columns, text.names, strict=True)))
    return Verbatim(
        table_of(named, "table"), content.suffix, lambda column: text.typed(column, missing), text.separator,
        text.header, text.notes,
    )  # fmt: skip
