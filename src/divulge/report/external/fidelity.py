"""Fidelity in an external edition: verdicts over all columns, and what was not compared. Its numbers are withheld.

Each is a function of exact counts of real people, and none can be made of counts as shown.
"""

from __future__ import annotations

from msgspec.structs import replace

from divulge.measures import catalogue as _  # noqa: F401 # enters the measures
from divulge.measures.registry import REGISTRY
from divulge.measures.result import FidelityResult
from divulge.report.external.source import Source
from divulge.report.fidelity_model import (
    FAILED,
    LONG,
    NO_GROUPS,
    NO_GROUPS_OF_TABLES,
    NO_MODELS,
    NO_SEQUENCES,
    FidelityScope,
    NotMeasured,
)

__all__ = ["results", "scope"]

_REASONS = (NO_GROUPS, NO_GROUPS_OF_TABLES, NO_SEQUENCES, NO_MODELS, FAILED, LONG, "the time was up", "")
_OTHER = "these tables do not allow it"


def results(s: Source) -> tuple[FidelityResult, ...]:
    """Return the first result of each measure, which is about all columns, with its verdict and without numbers."""
    first: dict[tuple[str, str], FidelityResult] = {}
    for r in s.data.fidelity:
        if not r.columns and not r.group and r.target is None:
            first.setdefault((r.measure, r.table), r)
    return tuple(_result(s, r) for r in first.values())


def _result(s: Source, r: FidelityResult) -> FidelityResult:
    known = r.measure in REGISTRY
    return FidelityResult(
        measure=r.measure if known else s.names.text(r.measure),
        table=s.table(r.table),
        variant=r.variant if known else s.names.text(r.variant),
        quantity=r.quantity if known else s.names.text(r.quantity),
        verdict=r.verdict,
        tolerance=r.tolerance,
        m=r.m if r.table else s.data.tables.synthetic.rows or 0,
    )


def scope(s: Source) -> FidelityScope | None:
    """Return what was compared and what was not, without pictures of columns."""
    whole = s.data.fidelity_scope
    if whole is None:
        return None
    return FidelityScope(
        tolerance=whole.tolerance,
        too_close=whole.too_close,
        not_measured=tuple(_not_measured(s, n) for n in whole.not_measured),
        not_compared=tuple(replace(c, column=s.names.name(c.column)) for c in whole.not_compared),
        warnings=tuple(s.names.prose(w) for w in whole.warnings),
    )


def _not_measured(s: Source, n: NotMeasured) -> NotMeasured:
    entry = REGISTRY.get(n.measure)
    return NotMeasured(
        measure=n.measure if entry else s.names.text(n.measure),
        question=entry.question if entry else s.names.prose(n.question),
        why=n.why if n.why in _REASONS else _OTHER,
    )
