"""The typed part of a report that a policy and a baseline add."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from divulge.core.records import DECISION, LISTING, PUBLIC, Verdict

__all__ = [
    "AcceptedLimit",
    "Change",
    "Changed",
    "ChangedFidelity",
    "Condition",
    "Moved",
    "MovedFidelity",
    "Policy",
    "PolicyRule",
]


Moved = Literal["rose", "fell", "no change found", "cannot compare"]


MovedFidelity = Literal["farther", "closer", "no change found"]


class PolicyRule(msgspec.Struct, frozen=True, kw_only=True):
    """What a condition asks, in fields; `report/prose/conditions.py` makes its words of them."""

    kind: Literal[
        "always", "verdict", "excess", "precondition", "required", "risk", "fidelity", "bounded", "power", "control",
        "change",
    ]  # fmt: skip
    of: str = ""
    """The attack, measure or precondition; "any" for all. Of what every policy asks: which of these."""
    part: str = ""
    """The variant of an attack; of a measure its variant, its columns, or "all" for all columns together."""
    field: str = ""
    """The number or verdict that is compared."""
    operator: Literal["", ">", ">=", "<", "<="] = ""
    """The condition is broken where the number stands so to the limit."""
    limit: Annotated[float | None, PUBLIC] = None
    """None of bounds that must be at most the acceptable risk."""
    verdicts: tuple[Verdict, ...] = ()
    """Overall verdicts that are allowed."""


class Condition(msgspec.Struct, frozen=True, kw_only=True):
    """One condition of a policy: what was asked, what was found, whether it is kept."""

    condition: str
    found: str
    kept: Annotated[bool, DECISION]
    why: str
    rule: PolicyRule | None = None
    """What `condition` says, in fields; None of rules on an audit or on scores."""


class AcceptedLimit(msgspec.Struct, frozen=True, kw_only=True):
    """A limit that somebody accepts in place of the acceptable risk: what, why, who, when, and what is known."""

    attack: str
    limit: Annotated[float, PUBLIC]
    why: str
    by: str
    on: str
    """A date, as the policy states it."""
    known: str
    """What earlier runs of the same tables are known, and whether the limit was accepted after one of them."""


class Policy(msgspec.Struct, frozen=True, kw_only=True):
    """The conditions that the run had to keep, from --policy and --fail-on."""

    name: str
    sha256: str | None
    kept: Annotated[bool, DECISION]
    conditions: tuple[Condition, ...]
    primary: tuple[str, ...] = ()
    """Attacks whose bounds the policy asks for; () of the usual ones."""
    accepted: tuple[AcceptedLimit, ...] = ()
    file_changed: str | None = None
    """When the file was last changed, as the file system says, which whoever copies it may change."""
    known_since: str | None = None
    """When the first run began that is known to have been judged by this very file: this one or an earlier one."""


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
    same_people: Annotated[bool, DECISION]
    same_synthetic: Annotated[bool, DECISION]
    level: Annotated[float, PUBLIC]
    new: Annotated[int, LISTING]
    gone: Annotated[int, LISTING]
    comparisons: tuple[Changed, ...]
    verdict: Moved
    sentence: str
    fidelity: tuple[ChangedFidelity, ...] = ()
    previous_edition: Literal["custodian", "external"] = "custodian"
