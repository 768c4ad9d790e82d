"""Parts of a report that are made of a case alone, and what a run found."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from divulge.case.case import Case
from divulge.case.preconditions import table_facts
from divulge.case.relational.persons import Persons
from divulge.core.result import Result
from divulge.report.control_model import PositiveControl
from divulge.report.model import ExposedPeople, Facts, Failure, LeftOut, LinkedTable, Table, Tables
from divulge.run.fidelity_in_run import FidelityFound

__all__ = ["RunResult", "tables_in_report"]

_SHARED = 10
"""People who must have as many rows, for an external edition to tell how many these are."""


@dataclass
class RunResult:
    """What a run found."""

    results: list[Result]
    facts: Facts | None
    fidelity: FidelityFound
    failed: list[Failure]
    left_out: list[LeftOut]
    control: list[PositiveControl]
    records: pl.DataFrame | None
    exposed: ExposedPeople


def tables_in_report(case: Case) -> Tables:
    """Return what the report says of each table."""
    of = {
        table.role: Table(
            rows=table.n_rows,
            columns=len(table.columns),
            sha256=table.sha256 or case.encoded.fingerprint(i),
            file=table.file,
            hashed="file" if table.sha256 else "canonical columns",
            linked=() if case.persons is None else linked_in_report(case.persons, i),
            **facts,
        )
        for i, (table, facts) in enumerate(zip(case.tables, table_facts(case), strict=True))
    }
    return Tables(real=of["real"], synthetic=of["synthetic"], holdout=of.get("holdout"))


def linked_in_report(persons: Persons, which: int) -> tuple[LinkedTable, ...]:
    """Return what the report says of each of several linked tables in one role, that of the people first."""
    linked, role = persons.linked, persons.linked.roles[which]
    out = []
    for name in sorted(linked.names, key=lambda name: name != persons.table):  # else in their order
        own = persons.lengths.get(name)
        lengths = None if own is None else own[which]
        n_people = None if lengths is None else int((lengths > 0).sum())
        shared = np.flatnonzero(np.bincount(lengths if lengths is not None else []) >= _SHARED)
        out.append(
            LinkedTable(
                name=name,
                rows=linked.n_rows(name, role),
                columns=len(linked.case(name).columns),
                people=linked.n_rows(name, role) if name == persons.table else n_people,
                longest=None if lengths is None else int(lengths.max(initial=0)),
                longest_shared=int(shared[-1]) if len(shared) else None,
                file=linked.case(name).tables[which].file,
            )
        )
    return tuple(out)
