"""Whether what a report of SDMetrics' scores takes fits into memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import polars as pl

from divulge.core.errors import SizeError
from divulge.run.cost.expected_cost import Work, check_work, unseen_levels
from divulge.run.cost.memory import in_bytes, room
from divulge.tables.sizes import TableSize

__all__ = ["check_combinations", "check_scores", "check_values"]

_BYTES_OF_A_LEVEL = 200  # of a distinct value in one table: measured for numbers and texts (docs/decisions/engines.md)


def check_scores(tables: Sequence[TableSize | None]) -> None:
    """Raise an error where tables cannot be read, and scored column by column, in the memory that there is.

    Parameters
    ----------
    tables
        Sizes of all tables of both sides; None where one comes from standard input.

    Raises
    ------
    SizeError
        It does not fit.
    """
    there, known = room(), [s for s in tables if s is not None]
    if there is None or len(known) < len(tables):
        return
    rows = sum(s.rows for s in known)
    work = Work(
        rows=rows, synthetic=0, people=rows, asked=0, columns=0, bits=0.0, levels=0, attacks=False,
        table_bytes=sum(s.table_bytes for s in known), text_bytes=sum(s.file_bytes for s in known),
    )  # fmt: skip
    check_work(work, known, there)


def check_combinations(role: str, names: Sequence[str], n: int) -> None:
    """Raise an error where so many distinct combinations of columns of a table do not fit into memory.

    Raises
    ------
    SizeError
        They do not fit.
    """
    there, needed = room(), n * len(names) * _BYTES_OF_A_LEVEL
    if there is not None and needed > there.free:
        raise SizeError(
            f"memory: {n:,} distinct values of {' + '.join(map(repr, names))} in the {role} table need "
            f"{in_bytes(needed)}, and this process may use {in_bytes(there.free)} ({there.why}). hint: leave the "
            "pattern, the key or the rule that needs each of them out of the metadata."
        )


def check_values(tables: Sequence[TableSize | None], columns: Callable[[str, pl.DataType], bool] | None = None) -> None:
    """Raise an error where the distinct values of tables that an engine counts do not fit into memory.

    Parameters
    ----------
    tables
        Sizes of the tables; how many values differ is told from their samples. None where one is not known.
    columns
        Says by its name and type whether the values of a column are asked for; None asks for all.

    Raises
    ------
    SizeError
        They do not fit.
    """
    there, known = room(), [s for s in tables if s is not None]
    levels = sum(_n_values(s, columns) for s in known)
    if there is not None and levels * _BYTES_OF_A_LEVEL > there.free:
        raise SizeError(
            f"memory: about {levels:,.3g} distinct values need {in_bytes(round(levels * _BYTES_OF_A_LEVEL))}, and this "
            f"process may use {in_bytes(there.free)} ({there.why}). hint: describe columns of many values as 'id' "
            "(--schema), so that they are not compared, or begin nevertheless (--beyond-memory)."
        )


def _n_values(table: TableSize, columns: Callable[[str, pl.DataType], bool] | None) -> float:
    """Return about how many values differ in columns of a table, over all of them."""
    frame = table.sample.frame
    assert frame is not None
    asked = (table.sample.series(name) for name in table.sample.columns)
    some = [s for name, s in zip(table.sample.columns, asked, strict=True) if columns is None or columns(name, s.dtype)]
    counts = (s.value_counts(name="times")["times"].to_numpy().astype(np.int64) for s in some)
    return sum(len(n) + unseen_levels(n, table.rows - frame.height) for n in counts)
