"""The typed content of assessment.json on fidelity: what the results do not say of themselves."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from divulge.core.records import DECISION, PUBLIC
from divulge.measures.differing import Differing

__all__ = [
    "FAILED",
    "LONG",
    "NO_GROUPS",
    "NO_GROUPS_OF_TABLES",
    "NO_MODELS",
    "NO_SEQUENCES",
    "ColumnLeftOut",
    "FidelityScope",
    "Marginal",
    "NotMeasured",
]

NO_GROUPS = "no subgroups were named"
NO_GROUPS_OF_TABLES = "people of several tables have no subgroups there"
NO_SEQUENCES = "no table has sequences in an order"
NO_MODELS = "it fits models, and this run was not asked for them"
FAILED = "it failed"
LONG = "it was expected to take more than a tenth of the time of the run; divulge fidelity makes it where it is named"
"""Why a run does not make a measure, or has no number of it; measures themselves have further reasons."""

Share = float


class NotMeasured(msgspec.Struct, frozen=True, kw_only=True):
    """A measure of fidelity that this run has no number of, and why."""

    measure: str
    question: str
    why: str


class ColumnLeftOut(msgspec.Struct, frozen=True, kw_only=True):
    """A column that no measure of fidelity compares, and why."""

    column: str
    why: str


class Marginal(msgspec.Struct, frozen=True, kw_only=True):
    """The distribution of one column, for a picture: shares of the rows of each table in some cells.

    Numbers are in bins from small to large; other values in the order of their frequency, the rarest together. An
    external edition has none.
    """

    column: str
    ordered: bool
    real: tuple[Share, ...]
    synthetic: tuple[Share, ...]
    low: Annotated[tuple[Share, ...], Meta(description="What a fresh sample shows in 95 of 100 cases, cell by cell.")]
    high: tuple[Share, ...]
    labels: Annotated[tuple[str, ...], Meta(description='Values or bins; empty unless "values" are revealed.')] = ()


class FidelityScope(msgspec.Struct, frozen=True, kw_only=True):
    """What was compared, what was not, and whether the verdicts of fidelity hold."""

    tolerance: Annotated[float, Meta(ge=0, lt=1, description="The largest difference that does not matter."), PUBLIC]
    too_close: Annotated[
        bool,
        Meta(
            description="Whether pairs of columns, or correlations, are closer to the real table than rows drawn from "
            "it would be."
        ),
        DECISION,
    ]
    not_measured: tuple[NotMeasured, ...] = ()
    not_compared: tuple[ColumnLeftOut, ...] = ()
    warnings: Annotated[tuple[str, ...], Meta(description="Why the verdicts may not hold.")] = ()
    differing: Annotated[
        tuple[Differing, ...],
        Meta(description="The columns that explain the results that differ; an external edition has none."),
    ] = ()
    marginals: tuple[Marginal, ...] = ()
