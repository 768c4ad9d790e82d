"""The typed part of a report that a policy and a baseline add."""

from __future__ import annotations

from typing import Literal

import msgspec

from divulge.core.result import Verdict

__all__ = ["Change", "Changed", "ChangedFidelity", "Condition", "Moved", "MovedFidelity", "Policy"]


Moved = Literal["rose", "fell", "no change found", "cannot compare"]


MovedFidelity = Literal["farther", "closer", "no change found"]


class Condition(msgspec.Struct, frozen=True, kw_only=True):
    """One condition of a policy: what was asked, what was found, whether it is kept."""

    condition: str
    found: str
    kept: bool
    why: str


class Policy(msgspec.Struct, frozen=True, kw_only=True):
    """The conditions that the run had to keep, from --policy and --fail-on."""

    name: str
    sha256: str | None
    kept: bool
    conditions: tuple[Condition, ...]


class Changed(msgspec.Struct, frozen=True, kw_only=True):
    """One comparison in the previous run and in this one; `difference` is the risk now minus the risk before."""

    attack: str
    variant: str
    keys: tuple[str, ...]
    target: str | None
    before: float | None
    now: float | None
    difference: float | None
    low: float | None
    high: float | None
    low_simultaneous: float | None
    high_simultaneous: float | None
    p_adjusted: float | None
    verdict: Moved


class ChangedFidelity(msgspec.Struct, frozen=True, kw_only=True):
    """A measure of fidelity over all columns in both runs: its rulers, and by how much the distance changed.

    `difference` is the distance without the noise of samples, now minus before; the limits hold for all measures
    together.
    """

    measure: str
    before: float | None
    now: float | None
    difference: float | None
    low: float | None
    high: float | None
    verdict: MovedFidelity


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """What changed since a previous run.

    `same_people`: real and holdout are the same tables as in the previous run, and the intervals are conservative. Of a
    previous external edition nobody knows, and it is false.
    `new`, `gone`: comparisons that only one of the two runs made.
    """

    previous_started: str
    previous_divulge: str
    previous_verdict: Verdict
    same_people: bool
    same_synthetic: bool
    level: float
    new: int
    gone: int
    comparisons: tuple[Changed, ...]
    verdict: Moved
    sentence: str
    fidelity: tuple[ChangedFidelity, ...] = ()
    previous_edition: Literal["custodian", "external"] = "custodian"
