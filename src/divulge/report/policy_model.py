"""The typed part of a report that a policy and a baseline add, and the words of a condition."""

from __future__ import annotations

import operator
from typing import Annotated, Literal

import msgspec

from divulge.core.records import DECISION, LISTING, PUBLIC, Verdict

__all__ = [
    "BREAKS",
    "KEPT",
    "UNTESTED",
    "AcceptedLimit",
    "Change",
    "Changed",
    "ChangedFidelity",
    "Condition",
    "Moved",
    "MovedFidelity",
    "Policy",
    "PolicyRule",
    "condition_in_words",
]


Moved = Literal["rose", "fell", "no change found", "cannot compare"]


MovedFidelity = Literal["farther", "closer", "no change found"]


class PolicyRule(msgspec.Struct, frozen=True, kw_only=True):
    """What a condition asks, in fields; `condition_in_words` makes its words of them."""

    kind: Literal[
        "always",
        "verdict",
        "excess",
        "precondition",
        "required",
        "risk",
        "fidelity",
        "bounded",
        "power",
        "control",
        "change",
    ]
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


BREAKS = {">": operator.gt, ">=": operator.ge, "<": operator.lt, "<=": operator.le}
"""What a number must be to the limit that the condition is broken."""
UNTESTED = "was not tested"
"""Why a condition is not kept that nothing tested; the reason may follow behind a colon."""
KEPT = {">": "at most", ">=": "below", "<": "at least", "<=": "above"}
_ALWAYS = {
    "comparison": "the comparison of members with strangers holds",
    "compared": "at least one attack compares members with strangers",
    "nobody named": "nobody is named by a record that stands verbatim or is repeated",
    "holdout columns": "the holdout has every column of the real and the synthetic table",
    "real columns": "the real table has every column of the synthetic table",
}
"""What every policy asks; a report lists it only where it is broken."""
_NUMBERS = {
    "high": "simultaneous upper limit of risk",
    "low": "simultaneous lower limit of risk",
    "value": "risk",
    "score": "score",
}
_OF_MEASURES = {
    "ruler": "ruler",
    "value": "value",
    "low": "lower limit of the difference",
    "high": "upper limit of the difference",
}
_OF_VERDICTS = {"differs": "differs from", "closer": "is closer than"}


def condition_in_words(rule: PolicyRule) -> str:
    """Return what a rule asks, in words.

    Examples
    --------
    >>> condition_in_words(PolicyRule(kind="risk", of="cap", field="high", operator=">", limit=0.05))
    'cap: simultaneous upper limit of risk at most 0.05'
    >>> condition_in_words(PolicyRule(kind="fidelity", of="any", field="differs"))
    'all measures: no result differs from a fresh sample'
    >>> condition_in_words(PolicyRule(kind="bounded", of="dcr"))
    'dcr: its bound is at most the acceptable risk'
    """
    who = {"any": "all measures" if rule.kind == "fidelity" else "all attacks"}.get(rule.of, rule.of)
    who += f" ({rule.part})" if rule.part else ""
    limit = "the acceptable risk" if rule.limit is None else f"{rule.limit:.12g}"
    match rule.kind:
        case "always":
            return _ALWAYS[rule.of]
        case "verdict":
            return f"overall verdict: {' or '.join(rule.verdicts)}"
        case "excess":
            return "overall verdict: none of «excess found», «deficit found» and «no holdout»"
        case "precondition":
            return f"precondition: {rule.of}"
        case "required":
            return f"{who}: was run and compared with strangers"
        case "bounded":
            return f"{who}: its bound is at most {limit}"
        case "power":
            return f"{who}: smallest detectable excess of the headline comparison at most {limit}"
        case "control" if rule.field == "seen":
            return "positive control: each kind of planted people is seen"
        case "control":
            return f"positive control: of each kind a share of planted rows as small as {limit} would be seen"
        case "change":
            return "change: no risk rose since the previous run"
        case "fidelity" if rule.field in _OF_VERDICTS:
            return f"{who}: no result {_OF_VERDICTS[rule.field]} a fresh sample"
    names = _OF_MEASURES if rule.kind == "fidelity" else _NUMBERS
    # the largest number (of scores, the smallest) is compared: a rule the other way round is about that one alone
    usual = rule.operator.startswith("<") == (rule.field == "score")
    one = "" if usual else "the smallest " if rule.field == "score" else "the largest "
    return f"{who}: {one}{names[rule.field]} {KEPT[rule.operator]} {limit}"
