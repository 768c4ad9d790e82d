"""The report of an audit: frozen structs with the fields of audit.json."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from divulge.auditing.result import AuditRecord, Run
from divulge.core.result import Verdict
from divulge.report.policy_model import Policy
from divulge.report.schema import schema_of

__all__ = ["FORMAT", "Audit", "AuditedTable", "Trained", "audit_schema_text"]

FORMAT = "divulge-audit/1"


class AuditedTable(msgspec.Struct, frozen=True, kw_only=True):
    """The people of an audit."""

    rows: int
    columns: tuple[str, ...]
    unit: str | None
    sha256: str
    """Of the values, without regard to the order of rows and columns."""


class Trained(msgspec.Struct, frozen=True, kw_only=True):
    """How many trainings there were."""

    planned: int
    done: int
    failed: int
    left_out: int
    seconds: float
    """Of all trainings together."""


class Audit(msgspec.Struct, frozen=True, kw_only=True):
    """What an audit found."""

    format: str = FORMAT
    version: str
    started: str
    seconds: float
    """From the start to the report, without what an earlier audit did before it was resumed."""
    design: str
    settings: dict[str, Any]
    seed: int
    level: float
    generator: str
    """The command, or the kind of Python object."""
    table: AuditedTable
    trainings: Trained
    verdict: Verdict
    sentence: str
    """The verdict in plain words."""
    outlook: tuple[str, ...]
    """What so many trainings can find, and cannot."""
    results: tuple[AuditRecord, ...]
    runs: tuple[Run, ...]
    notes: tuple[str, ...]
    policy: Policy | None = None


def audit_schema_text() -> str:
    """Return the JSON Schema (2020-12) of audit.json as the text that is published.

    Examples
    --------
    >>> json.loads(audit_schema_text())["title"]
    'divulge audit'
    """
    return json.dumps(schema_of(Audit, "divulge audit"), indent=2, ensure_ascii=False) + "\n"
