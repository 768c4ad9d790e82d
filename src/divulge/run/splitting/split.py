"""`divulge.split`: one table, or linked ones, into people to train on and a holdout."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from divulge.core.errors import SettingError
from divulge.run.splitting.holdout_split import split_rows
from divulge.run.splitting.linked_split import split_linked
from divulge.tables.frames import Table, collect
from divulge.tables.opening import opened

__all__ = ["split"]

Ints = NDArray[np.int64]


def split(
    table: Any,
    *,
    holdout: float = 0.5,
    unit: str | None = None,
    stratify: Sequence[str] = (),
    seed: int = 0,
    together: bool = False,
    missing: Sequence[str] = (),
) -> tuple[Any, Any]:
    """Return a table of people to train on, and a holdout of people whom the synthesizer must never see.

    Each person or household is in the holdout with the same probability, `holdout`, and all its rows are on one side.
    The number of units drawn, in total and in each stratum, differs from this share by less than one. The draw depends
    on the values and the seed, not on the order of rows or columns.

    Parameters
    ----------
    table
        Any kind of frame, or a table of `divulge.read`; or linked tables, {name: table}, of which people are drawn and
        their rows follow.
    holdout
        Share of the units that go to the holdout, in (0, 1).
    unit
        Column of the person or household. A row whose unit is missing is a unit of its own. None takes each row for
        a person. Of linked tables the table with a row for each person; None takes the one above all others.
    stratify
        Columns whose distribution both tables should keep. Numbers and dates are cut into 10 quantile bins. A unit
        whose rows are in several strata belongs to the stratum of most of them.
    seed
        Seed of the draw.
    together
        Whether rows that are equal in all columns (and have no unit) stay on one side.
    missing
        Texts that stand for missing in `unit` and `stratify`.

    Returns
    -------
    tuple
        (real, holdout): pandas, polars or pyarrow like the given table, else polars; of linked tables dictionaries.
        The order of rows is kept and cells are unchanged.

    Raises
    ------
    SettingError
        The share is outside (0, 1) or leaves a side without a unit, or the seed is negative.
    ColumnError
        The table lacks a column; the unit is the same, or missing, in all rows; a column to stratify by holds
        identifiers or free text.
    TableError, FrameError
        The table has no row or only one, or is no table.

    Examples
    --------
    >>> people = pl.DataFrame({"household": [1, 1, 2, 2, 3, 3, 4, 4], "age": [40, 9, 31, 30, 77, 70, 25, 2]})
    >>> real, holdout = split(people, holdout=0.5, unit="household")
    >>> len(real), len(holdout), set(real["household"]) & set(holdout["household"])
    (4, 4, set())
    """
    if isinstance(table, Mapping):
        return _split_linked(table, together, holdout=holdout, unit=unit, stratify=stratify, seed=seed, missing=missing)
    collected = collect(opened(table, "table"))
    found = split_rows(
        collected, holdout=holdout, unit=unit, stratify=stratify, seed=seed, together=together, missing=missing
    )
    return _taken(table, collected, found.real), _taken(table, collected, found.holdout)


def _split_linked(tables: Mapping[str, Any], together: bool, **settings: Any) -> tuple[Any, Any]:
    """Return the tables of real and of holdout."""
    if together:
        raise SettingError("together: equal rows of linked tables follow their people. hint: leave it out.")
    opened_tables = {name: collect(opened(table, f"table {name!r}")) for name, table in tables.items()}
    found = split_linked(opened_tables, **settings)
    real, away = (
        {name: _taken(tables[name], opened_tables[name], found.rows[name][side]) for name in tables} for side in (0, 1)
    )
    return real, away


def _taken(native: Any, collected: Table, rows: Ints) -> Any:
    """Return some rows of a table as a frame of the kind that was given."""
    home = type(native).__module__.split(".")[0]
    if home == "pandas":
        return native.iloc[rows]
    if home == "pyarrow" and hasattr(native, "take"):
        return native.take(rows)
    if isinstance(native, pl.DataFrame):
        return native[rows]
    assert collected.frame is not None
    return collected.frame[rows].rename({inner: name for name, inner in collected.names.items()})
