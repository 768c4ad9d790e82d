"""The typed content of the positive control in assessment.json: what a run finds once copies of people are planted."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from divulge.core.records import DECISION, LISTING, PUBLIC, Verdict

__all__ = ["Found", "Kind", "Planted", "PositiveControl", "Smallest"]


Kind = Literal["random people", "unusual people", "near copies"]


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """A comparison that shows an excess once people are planted.

    `without`: whether the run without the plant shows it too; null where that run did not make the comparison.
    """

    attack: str
    risk: float | None
    low: float | None
    high: float | None
    without: Annotated[bool | None, DECISION]


class Smallest(msgspec.Struct, frozen=True, kw_only=True):
    """The comparison of an attack that would find the smallest share of planted rows; above 1 it would find none."""

    attack: str
    difference_without: float
    difference_with: float
    smallest_detectable: float
    smallest_share: float


class Planted(msgspec.Struct, frozen=True, kw_only=True):
    """People that `exposure` flags: planted ones, others, and how many without the plant."""

    planted: int
    flagged: int
    others_flagged: int
    flagged_without: int


class PositiveControl(msgspec.Struct, frozen=True, kw_only=True):
    """One rerun of all attacks with copies of real people in a share of the synthetic rows.

    A kind that could not be planted has no verdict and says why in its note.
    """

    kind: Kind
    share: Annotated[float, Meta(gt=0, le=0.5), PUBLIC]
    n_planted: Annotated[int, PUBLIC]
    verdict: Verdict | None
    n_judged: Annotated[int, LISTING]
    found: tuple[Found, ...]
    people: Planted | None
    attacks: tuple[Smallest, ...]
    smallest_share: float | None
    method: str
    note: str
