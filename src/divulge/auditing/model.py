"""The report of an audit: frozen structs with the fields of audit.json."""

from __future__ import annotations

import json
from typing import Any, Literal

import msgspec

from divulge.auditing.result import AuditRecord, Run
from divulge.core.result import Verdict
from divulge.report.policy_model import Policy
from divulge.report.schema import schema_of

__all__ = ["FORMAT", "Audit", "AuditedTable", "Trained", "audit_schema_text"]

FORMAT = "divulge-audit/1"


class AuditedTable(msgspec.Struct, frozen=True, kw_only=True):
    """The people of an audit."""

    rows: int | None
    """A multiple of 5 in an external edition; None where that withholds it."""
    columns: tuple[str, ...]
    unit: str | None
    sha256: str | None
    """Of the values, without regard to the order of rows and columns; None in an external edition."""


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
    edition: Literal["custodian", "external"] = "custodian"
    """"external" is made for the recipient of a synthetic table; `divulge.auditing.external` says what it lacks."""
    revealed: tuple[str, ...] = ()
    """What an external edition shows on request: "columns"."""
    started: str
    seconds: float
    """From the start to the report, without what an earlier audit did before it was resumed."""
    design: str
    settings: dict[str, Any]
    seed: int | None
    """None in an external edition: whoever knows it and the people knows every coin."""
    level: float
    acceptable: float = 0.05
    """Largest upper limit of risk that counts as none found."""
    generator: str
    """The command, or the kind of Python object; "" in an external edition."""
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
    """None without rules, and in an external edition."""


def audit_schema_text() -> str:
    """Return the JSON Schema (2020-12) of audit.json as the text that is published.

    Examples
    --------
    >>> json.loads(audit_schema_text())["title"]
    'divulge audit'
    """
    return json.dumps(schema_of(Audit, "divulge audit"), indent=2, ensure_ascii=False) + "\n"
