"""Parts of a report that are made of a case alone, and what a run found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import polars as pl

from divulge.case.case import Case
from divulge.case.preconditions import table_facts
from divulge.core.result import Result
from divulge.report.model import Facts
from divulge.run.fidelity_in_run import FidelityFound

__all__ = ["RunResult", "tables_in_report"]


@dataclass
class RunResult:
    """What a run found."""

    results: list[Result]
    facts: Facts | None
    fidelity: FidelityFound
    failed: list[dict[str, str]]
    left_out: list[dict[str, Any]]
    control: list[dict[str, Any]]
    records: pl.DataFrame | None
    exposed: float | None


def tables_in_report(case: Case) -> dict[str, Any]:
    """Return what the report says of each table."""
    out: dict[str, Any] = {"real": None, "synthetic": None, "holdout": None}
    facts = table_facts(case)
    for i, table in enumerate(case.tables):
        out[table.role] = {
            "rows": table.n_rows,
            "columns": len(table.columns),
            "sha256": table.sha256 or case.encoded.fingerprint(i),
            "file": table.file,
            "hashed": "file" if table.sha256 else "canonical columns",
            **facts[i],
        }
    return out
