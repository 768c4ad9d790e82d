"""Split linked tables at random: people are drawn, and each row follows the person to whom it belongs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from divulge.case.relational.people import PEOPLE_TOGETHER, linked_together, rows_of_people
from divulge.core.errors import ColumnError
from divulge.core.relations import RelationalSchema
from divulge.core.schema import check_columns
from divulge.measures.linked.tables import linked_tables
from divulge.run.splitting.holdout_split import Division, split_rows
from divulge.tables.frames import table_of

__all__ = ["LinkedDivision", "split_linked"]

Ints = NDArray[np.int64]

_LENGTH = "rows of the person"


@dataclass(frozen=True, slots=True)
class LinkedDivision:
    """How the people of linked tables were split, and where the rows of each table go."""

    people: str
    """The table with a row for each person."""
    division: Division
    rows: dict[str, tuple[Ints, Ints]]
    """Of each table the rows of real and of holdout, ascending."""
    notes: tuple[str, ...]


def split_linked(
    tables: Mapping[str, Any],
    *,
    holdout: float,
    schema: RelationalSchema | None = None,
    unit: str | None = None,
    stratify: Sequence[str] = (),
    seed: int = 0,
    missing: Sequence[str] = (),
) -> LinkedDivision:
    """Return which rows of each table go where.

    People are drawn as `split` draws units, in strata of tenths of the number of their rows, so that people of many
    rows are on both sides. People who are linked by a row stay together. Rows that belong to nobody go nowhere, and
    those of tables that describe rows to both sides.

    Parameters
    ----------
    tables
        By name, frames of any kind.
    schema
        Its relations stand in place of those that the tables suggest.
    unit
        The table of the people; None takes the only one above all others.
    stratify
        Columns of that table.
    holdout, seed, missing
        As for `split`.

    Raises
    ------
    SettingError, ColumnError, TableError
        As for `split`; it is not clear which table is that of the people.

    Examples
    --------
    >>> tables = {"users": pl.DataFrame({"uid": [1, 2, 3, 4]}), "orders": pl.DataFrame({"uid": [4, 1, 4, 2]})}
    >>> found = split_linked(tables, holdout=0.5)
    >>> found.people, sum(len(side) for side in found.rows["orders"])
    ('users', 4)
    """
    linked = linked_tables(tables, tables, schema=schema, missing=missing, seed=0)
    rows = rows_of_people(linked, unit)
    together, linking = linked_together(linked, rows)
    frame = linked.frame(rows.people, "real")
    check_columns("stratify", stratify, frame.columns)
    lengths = np.zeros(frame.height, dtype=np.int64)
    for own in rows.owned.values():
        lengths += np.bincount(own[0].person, minlength=frame.height)
    added, named = [pl.Series(_LENGTH, lengths)], list(stratify)
    if linking:
        added.append(pl.Series(PEOPLE_TOGETHER, _by_values(frame, together[0])))
    if taken := [s.name for s in added if s.name in frame.columns]:
        raise ColumnError(f"{rows.people!r}: it has a column {taken[0]!r}, which divulge makes. hint: rename it.")
    few = len(np.unique(lengths)) < 2
    found = split_rows(
        table_of(frame.with_columns(added), "table"), holdout=holdout, seed=seed, missing=missing,
        unit=PEOPLE_TOGETHER if linking else None, stratify=named if few else [*named, _LENGTH],
    )  # fmt: skip
    notes = [n for n in found.notes if _LENGTH not in n]
    out = {}
    for name in linked.names:
        if name == rows.people:
            out[name] = (found.real, found.holdout)
        elif name not in rows.owned:
            every = np.arange(linked.n_rows(name, "real"))
            out[name] = (every, every)
            notes.append(f"{name}: its rows belong to nobody, and stand on both sides")
        else:
            found_rows = rows.owned[name][0]
            away = np.isin(found_rows.person, found.holdout)
            out[name] = (np.unique(found_rows.row[~away]), np.unique(found_rows.row[away]))
            if lost := linked.n_rows(name, "real") - len(np.unique(found_rows.row)):
                notes.append(f"{name}: {lost:,} rows lead to no person, and were left out")
    return LinkedDivision(rows.people, found, out, tuple(notes))


def _by_values(frame: pl.DataFrame, together: Ints) -> Ints:
    """Return numbers of those who are together that do not depend on the order of the rows."""
    place = np.empty(frame.height, dtype=np.int64)
    place[frame.select(pl.struct(sorted(frame.columns)).arg_sort()).to_series().to_numpy()] = np.arange(frame.height)
    first = np.full(int(together.max(initial=-1)) + 1, frame.height)
    np.minimum.at(first, together, place)
    return np.asarray(first[together])
