"""Open the tables of a call: frames of any kind as they are, and files by their readers."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import Any

from divulge.core.errors import SettingError
from divulge.tables.counting import COUNTING, check_engine
from divulge.tables.frames import Table, collect, table_of
from divulge.tables.stacking import stacked

__all__ = ["load", "opened"]


def opened(table: Any, role: str, missing: Sequence[str] = (), engine: str = "auto") -> Table:
    """Return a table that was passed as a frame of any kind, or as the path of a file.

    As the synthetic table several tables of one training set can be passed, in a list; their rows become one table.
    `engine` says where the rows are counted, as in `readers.read`.

    Raises
    ------
    DivulgeError
        As `readers.read` and `table_of`.

    Examples
    --------
    >>> import polars as pl
    >>> opened(pl.DataFrame({"age": [30, 41]}), "real").n_rows
    2
    """
    check_engine(engine)
    if role == "synthetic" and isinstance(table, list | tuple):
        if engine in COUNTING and len(table) > 1:
            raise SettingError(
                f"engine: {engine} counts one synthetic table, and there are {len(table)}. hint: put their Parquet "
                "files into one folder."
            )
        if engine in COUNTING and table:
            return opened(table[0], role, missing, engine)
        return stacked([opened(one, f"synthetic table {i}", missing) for i, one in enumerate(table, start=1)])
    found = table
    if isinstance(table, str | PathLike):
        from divulge.tables.readers import read  # readers of files are loaded where there is one

        found = read(table, role=role, missing=missing, engine=engine)
    if engine in COUNTING:
        from divulge.tables.engines import counted

        return counted(found, role, engine)
    read_in = table_of(found, role)
    return collect(read_in) if engine == "memory" else read_in


def load(table: Any, role: str) -> Any:
    """Return a frame as a `Table`, so that it is converted once; paths stay as they are."""
    if isinstance(table, str | PathLike | Table) or table is None:
        return table
    if role == "synthetic" and isinstance(table, list | tuple):
        return [load(one, f"synthetic table {i}") for i, one in enumerate(table, start=1)]
    return opened(table, role)
