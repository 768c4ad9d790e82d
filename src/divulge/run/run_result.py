"""Parts of a report that are made of a case alone, and what a run found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from divulge.case.case import Case
from divulge.case.preconditions import table_facts
from divulge.core.result import Result
from divulge.measures.single_table import utility as utility_of
from divulge.report.model import Facts
from divulge.run.cost.budget import told_left_out
from divulge.run.fidelity_in_run import FidelityFound
from divulge.run.making.runner import Runner, RunOutcome

__all__ = ["RunResult", "measured_utility", "tables_in_report"]


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
    utility: list[dict[str, Any]]


def measured_utility(
    case: Case, targets: Sequence[str] | None, runner: Runner, run: RunOutcome
) -> list[dict[str, Any]]:
    """Return the utility results of the synthetic table; [] once the time is up."""
    if runner.clock.up:
        run.left_out.append(told_left_out("utility", 1, 1))
        return []
    with runner.watch.part("utility"):
        runner.watch.step("measuring utility", 0, 1)
        return [u.to_dict() for u in utility_of(case, targets=targets)]


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
