"""The typed part of a report about a claim of differential privacy: what it allows, and what was found."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from divulge.core.records import LISTING, PUBLIC

__all__ = ["ClaimLine", "ClaimRead", "Judgement"]

Judgement = Literal["contradicted", "not contradicted", "not judged"]


class ClaimLine(msgspec.Struct, frozen=True, kw_only=True):
    """One of the quantities that a claim bounds; its numbers are those of the comparison that says most.

    An external edition withholds the numbers: they stand, rounded, with the results.
    """

    what: Literal["membership advantage", "inference excess", "TPR at FPR 1%", "TPR at FPR 10%"]
    attack: str
    """Attack of the comparison; "" where none was judged."""
    variant: str
    strangers: float | None
    """Rate of strangers (FPR)."""
    allowed: float | None
    """The most that the claim allows at this rate of strangers: of a TPR the rate of members, else the excess."""
    found: float | None
    epsilon_low: float | None
    """Lower bound of epsilon in the units of the claim; the bounds of all comparisons hold together."""
    verdict: Judgement
    why: str
    """Why it was not judged; "" where it was."""


class ClaimRead(msgspec.Struct, frozen=True, kw_only=True):
    """What a claim of differential privacy allows an attacker, and whether the run contradicts it."""

    epsilon: Annotated[float | None, PUBLIC]
    """The claim for two tables in which one person is replaced by another, as members and strangers are compared."""
    delta: Annotated[float | None, PUBLIC]
    advantage: Annotated[float | None, PUBLIC]
    """Largest TPR - FPR of any attack, and largest excess of inference."""
    tpr_at_1: Annotated[float | None, PUBLIC]
    """Largest TPR at an FPR of 1%."""
    tpr_at_10: Annotated[float | None, PUBLIC]
    level: Annotated[float, PUBLIC]
    comparisons: Annotated[int, LISTING]
    """Comparisons whose bounds hold together at this level."""
    lines: tuple[ClaimLine, ...]
    verdict: Judgement
    why: str
    """Why nothing was judged; "" where something was."""
