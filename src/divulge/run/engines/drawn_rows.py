"""Fidelity where an engine holds the tables: of all rows by their codes, or of rows that are drawn from each table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from divulge.case.asked import asked_of
from divulge.case.case import Case, build_case
from divulge.case.drawn_people import drawn_people
from divulge.case.encoded import ROLES
from divulge.core.errors import SizeError
from divulge.core.schema import Schema
from divulge.run.engines.engine_plan import NO_ROOM, codes_for_fidelity
from divulge.run.planning.options import RunOptions
from divulge.run.planning.plan import Plan
from divulge.tables.frames import Table, table_of

__all__ = [
    "MOST",
    "TOGETHER",
    "DrawnRows",
    "drawn_in_words",
    "drawn_rows",
    "fidelity_case",
    "rows_measured",
    "whole_tables",
]

Ints = NDArray[np.int64]

MOST, TOGETHER = 1_000_000, 4_000_000
"""Rows (or units) that are drawn at most: of a table, and of all synthetic tables and the real one together."""


@dataclass(frozen=True, slots=True, eq=False)
class DrawnRows:
    """Rows of the tables of one run, in memory."""

    real: Table
    synthetic: Table
    holdout: Table | None
    schema: Schema
    """Of all rows."""
    of: tuple[int, ...]
    """Rows of the whole tables, in the same order."""

    @property
    def tables(self) -> tuple[Table, ...]:
        """Real, synthetic, and holdout where there is one."""
        return (self.real, self.synthetic, *([] if self.holdout is None else [self.holdout]))


def drawn_rows(case: Case, options: RunOptions, n_tables: int, first: DrawnRows | None = None) -> DrawnRows | None:
    """Return as many rows of each table as people are asked: these people, and rows of the synthetic table drawn alike.

    Where everybody is asked all synthetic rows are taken; of no table more than `MOST`, or its part of `TOGETHER`.

    Parameters
    ----------
    case
        Of a run by an engine, whose codes of rows are still in files.
    options
        Of the run.
    n_tables
        How many synthetic tables are compared.
    first
        Those of another run on the same people, who are then held once.

    Returns
    -------
    DrawnRows or None
        None where nobody is asked.
    """
    asked, whole = asked_of(case, options.sample), case.in_files
    if asked is None or whole is None or options.sample is None:
        return None
    n_rows = tuple(t.n_rows for t in case.tables)
    everybody = all(asked.case.n_rows(r) == case.n_rows(r) for r in ("real", "holdout"))
    most = min(MOST, TOGETHER // (n_tables + 1))
    n_synthetic = most if everybody else min(options.sample, most)
    synthetic = case.cache.once(
        ("synthetic rows drawn", n_synthetic), lambda: _table(whole, 1, drawn_people(whole, 1, n_synthetic))
    )  # fmt: skip
    if first is not None:
        return replace(first, synthetic=synthetic, of=n_rows)
    rows = {0: asked.real} if asked.holdout is None else {0: asked.real, 2: asked.holdout}
    if options.sample > most:
        rows = {i: drawn_people(whole, i, most) for i in rows}
    people = {i: _table(whole, i, own) for i, own in rows.items()}
    return DrawnRows(people[0], synthetic, people.get(2), case.schema, n_rows)


def whole_tables(case: Case) -> DrawnRows:
    """Return all rows of the tables of a case in memory, as drawn ones."""
    real, synthetic, *holdout = case.tables
    of = tuple(t.n_rows for t in case.tables)
    return DrawnRows(real, synthetic, holdout[0] if holdout else None, case.schema, of)


def _table(case: Case, which: int, rows: Ints) -> Table:
    return table_of(_frame(case, which, rows), ROLES[which])


def _frame(case: Case, which: int, rows: Ints) -> pl.DataFrame:
    """Return what some rows of a table say."""
    data = {}
    for name in case.columns:
        codes = np.asarray(case.codes(name, binned=False)[which][rows], dtype=np.int64)
        place = pl.Series(codes - 1)
        data[name] = case.pooled(name).levels.gather(place.set(place < 0, None))
    return pl.DataFrame(data)


def drawn_in_words(first: DrawnRows | None, candidates: Sequence[Table | None]) -> list[str]:
    """Return on how many rows distances were measured; [] where on all, or where all rows are in memory.

    Parameters
    ----------
    first
        The rows drawn in the first run.
    candidates
        The rows of each candidate.
    """
    if first is None or all(t.n_rows == n for t, n in zip(first.tables, first.of, strict=True)):
        return []
    sizes = [t.n_rows for t in (*first.tables, *candidates) if t is not None]
    rows = f"{min(sizes):,}" if min(sizes) == max(sizes) else f"{min(sizes):,} to {max(sizes):,}"
    return [f"differences of distance were measured on {rows} rows of each table, drawn at random"]


def rows_measured(rows: Sequence[int], needed: int, free: int | None, options: RunOptions) -> int:
    """Return of how many rows of all tables fidelity will be measured: all, those drawn, or 0 where it is not.

    Parameters
    ----------
    rows
        Of each table.
    needed
        Bytes of the measures with the codes of all rows.
    free
        Bytes that the process may take; None where that is not known.

    Examples
    --------
    >>> rows = [100_000_000, 100_000_000, 500_000]
    >>> [rows_measured(rows, 10**10, free, RunOptions(people=10**7)) for free in (10**9, 10**11, None)]
    [2500000, 200500000, 200500000]
    """
    if not options.fidelity:
        return 0
    if free is None or options.beyond_memory or needed <= free:
        return sum(rows)
    return 0 if options.sample is None else sum(min(n, options.sample, MOST) for n in rows)


def fidelity_case(case: Case, plan: Plan, groups: Sequence[str], options: RunOptions) -> Case | None:
    """Return the case that fidelity is measured on: by codes of all rows, or where these do not fit of rows drawn.

    A note of the plan says which, if not all. None where it is not measured: nobody is asked, or nobody wants it.
    """
    if not options.fidelity:
        return None
    try:
        return codes_for_fidelity(case, groups, beyond_memory=options.beyond_memory)
    except SizeError:
        drawn = drawn_rows(case, options, 1)
    if drawn is None:
        plan.notes.append(NO_ROOM)
        return None
    rows = " + ".join(f"{t.n_rows:,}" for t in drawn.tables)
    plan.notes.append(
        f"fidelity was measured on {rows} rows, drawn at random: codes of all rows do not fit into memory"
    )
    return build_case(*drawn.tables, schema=drawn.schema, seed=options.seed, level=options.level)
