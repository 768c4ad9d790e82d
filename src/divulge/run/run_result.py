"""Parts of a report that are made of a case alone, and what a run found."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from divulge.case.case import Case
from divulge.case.preconditions import table_facts
from divulge.core.result import Result
from divulge.report.control_model import PositiveControl
from divulge.report.model import Facts, Failure, LeftOut, Table, Tables
from divulge.run.fidelity_in_run import FidelityFound

__all__ = ["RunResult", "tables_in_report"]


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
    exposed: float | None


def tables_in_report(case: Case) -> Tables:
    """Return what the report says of each table."""
    of = {
        table.role: Table(
            rows=table.n_rows,
            columns=len(table.columns),
            sha256=table.sha256 or case.encoded.fingerprint(i),
            file=table.file,
            hashed="file" if table.sha256 else "canonical columns",
            **facts,
        )
        for i, (table, facts) in enumerate(zip(case.tables, table_facts(case), strict=True))
    }
    return Tables(real=of["real"], synthetic=of["synthetic"], holdout=of.get("holdout"))
