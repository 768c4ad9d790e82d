"""Tables made of rows of the pool, and the case in which divulge's attacks compare them with a synthetic table."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from divulge.auditing.pool import Pool, Training
from divulge.case.case import Case, build_case, schema_of
from divulge.core.schema import Schema
from divulge.tables.frames import Table

__all__ = ["Encoded", "case_of", "encoded", "made_of", "unit_numbers"]

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Encoded:
    """The pool as a case of its own, without any synthetic table, and its schema."""

    case: Case
    schema: Schema
    units: Ints
    """Number of the unit of each row of the pool, 0, 1, ...; without a unit column each row is its own."""

    @property
    def n_units(self) -> int:
        """Number of persons or households."""
        return int(self.units.max()) + 1


def encoded(pool: Pool) -> Encoded:
    """Return the pool as a case: the pool stands in for the synthetic table, which is not there yet."""
    schema = schema_of(pool.table, unit=pool.unit, ignore=pool.ignore, missing=pool.missing)
    case = build_case(pool.table, pool.table, schema=schema, missing=pool.missing, seed=pool.seed)
    return Encoded(case, schema, unit_numbers(case))


def unit_numbers(case: Case) -> Ints:
    """Return the number of the unit of each real row, in the order in which units appear first."""
    units = case.units("real")
    if units is None:
        return np.arange(case.n_rows("real"))
    _, first, which = np.unique(units, return_index=True, return_inverse=True)
    place = np.empty(len(first), dtype=np.int64)
    place[np.argsort(first, kind="stable")] = np.arange(len(first))
    return np.asarray(place[which.ravel()])


def made_of(table: Table, training: Training) -> Table:
    """Return the table of a training: rows of the pool, some columns with cells of other rows."""
    assert table.frame is not None
    frame = table.frame[training.rows]
    frame = frame.with_columns(
        table.series(column)[rows].alias(table.names[column]) for column, rows in training.columns.items()
    )
    return replace(table, frame=frame, n_rows=len(training.rows))


def case_of(pool: Pool, schema: Schema, real: Training, synthetic: Table, holdout: Training) -> Case:
    """Return a case whose people are two lists of rows of the pool: two worlds, or two groups of people."""
    first, second = made_of(pool.table, real), replace(made_of(pool.table, holdout), role="holdout")
    known = {c for t in (first, synthetic) for c in t.columns}
    own = Schema(tuple(c for c in schema.columns if c.name in known), schema.threat)
    return build_case(first, synthetic, second, schema=own, missing=pool.missing, seed=pool.seed)
