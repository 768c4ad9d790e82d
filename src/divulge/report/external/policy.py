"""The policy in an external edition: the limits unchanged, the findings as that edition shows them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from divulge.core.records import INVALIDATING
from divulge.core.result import identity
from divulge.report import formatting
from divulge.report.control_model import PositiveControl
from divulge.report.external.masking import HIDDEN
from divulge.report.external.rounding import WITHHELD
from divulge.report.external.source import CHECKS, Source
from divulge.report.model import ResultRecord
from divulge.report.policy_model import (
    BREAKS,
    UNTESTED,
    AcceptedLimit,
    Change,
    Condition,
    Policy,
    PolicyRule,
    condition_in_words,
)

__all__ = ["policy"]

_LIMIT = r"-?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?"
_FOUND = re.compile(rf"(?:{_LIMIT}|withheld) \((.*)\)", re.DOTALL)
_FIXED_FOUND = ("not tested", "nothing against it", "no column of units was named")
_KINDS = "(?:random people|unusual people|near copies)"
_PLAIN_FOUND = re.compile(
    rf"«[a-z ]+»|[\d,]+ comparisons? with strangers|seen: (?:none|{_KINDS}(?:, {_KINDS})*)|(?:not )?bounded"
)
_SOME = r"(?:[\d,]+ of [\d,]+|the one)"
_LACKING = re.compile(rf"({_SOME} comparisons? ha(?:ve|s) (?:no such bound|none), as )(.*)", re.DOTALL)
_UNFINISHED = rf"(?:[a-z_]+ failed|{_SOME} tests? of [a-z_ ]+ (?:was|were) left out)"
_PLAIN_WHY = re.compile(
    r"|it differs|it is closer|fidelity was left out|was not measured|has no such number"
    r"|chance can hardly make such a record|nothing can be compared there"
    r"|it has no bound|not allowed|it fails|it does not|none did|was not tested|it did not run"
    r"|it ran, and nothing was compared with strangers"
    r"|no headline comparison was made|no positive control was run|no previous run was given|a risk rose"
    rf"|no headline comparison of [a-z_]+ reached anybody|{_SOME} targets? (?:was|were) compared with nobody"
    rf"|nothing could be compared|(?:above|below|not above|not below) {_LIMIT}"
    rf"|not (?:seen|so small): {_KINDS}(?:, {_KINDS})*"
    rf"|{_KINDS}: could not be planted(?:; {_KINDS}: could not be planted)*"
    rf"|{_UNFINISHED}(?:; {_UNFINISHED})*"
)
"""Patterns of findings and reasons that name no column."""


def policy(
    s: Source,
    results: Sequence[ResultRecord],
    controls: Sequence[PositiveControl],
    change: Change | None,
) -> Policy | None:
    """Return the policy with findings from the results, positive controls and change that are shown; None if none."""
    p = s.data.policy
    if p is None:
        return None
    name = p.name
    if name not in ("policy", "--fail-on") and s.names.text(name) != name:
        name = HIDDEN  # the user chose it: it names a column or a file
    judged = _Judged(s, results, controls, change)
    return Policy(
        name=name,
        sha256=p.sha256,
        kept=p.kept,
        conditions=tuple(map(judged.condition, p.conditions)),
        primary=p.primary,
        accepted=tuple(map(_accepted, p.accepted)),
    )


def _accepted(a: AcceptedLimit) -> AcceptedLimit:
    """Return an accepted limit without what somebody wrote, which may name a column or a person."""
    return replace(a, why=HIDDEN, by=HIDDEN)


@dataclass(frozen=True)
class _Judged:
    source: Source
    results: Sequence[ResultRecord]
    controls: Sequence[PositiveControl]
    change: Change | None

    def condition(self, c: Condition) -> Condition:
        """Return one condition of a policy, with its limit unchanged and its finding as shown here."""
        rule = c.rule
        if rule is None or not re.fullmatch("[a-z_ ]*", rule.of):
            return Condition(condition=HIDDEN, found=HIDDEN, kept=c.kept, why=self.why(c.why))
        if rule.part and rule.part != "all":
            rule = replace(rule, part=self.asked_variant(rule.part))
        found = c.found
        if rule.kind in ("risk", "power"):
            found = self.found(c, rule)
        elif found not in _FIXED_FOUND:
            found = self.found_else(rule, found)
        return Condition(condition=condition_in_words(rule), found=found, kept=c.kept, why=self.why(c.why), rule=rule)

    def asked_variant(self, variant: str) -> str:
        known = {r.variant: r for r in self.source.data.results}
        return self.source.variant(known[variant]) if variant in known else HIDDEN

    def found(self, c: Condition, rule: PolicyRule) -> str:
        """Return the number that a comparison shows in this edition, "withheld" where it shows none."""
        if c.found in _FIXED_FOUND:
            return c.found
        known = _FOUND.fullmatch(c.found)
        r = self.source.labels.get(known[1]) if known else None
        if r is None:
            return WITHHELD
        pairs = zip(self.source.data.results, self.results, strict=True)
        shown = [_number_shown(e, rule) for one, e in pairs if identity(one) == identity(r)]
        value = shown[0] if len(shown) == 1 else None
        # a number rounded outward may lie on the other side of the limit
        says = "withheld" if value is None or _keeps(value, rule) != c.kept else f"{value:.12g}"
        return f"{says} ({self.source.relabelled(r)})"

    def found_else(self, rule: PolicyRule, found: str) -> str:
        """Return what was found about a condition that sets no limit on a comparison."""
        checks = self.source.data.preconditions
        if rule.kind == "always" and rule.of == "comparison":
            broken = [c for c in checks if c.check in INVALIDATING and not c.ok]
            return "; ".join(f"{c.check}: {self.source.sentence(c.detail)}" for c in broken) or HIDDEN
        if rule.kind == "precondition":
            made = [self.source.sentence(c.detail) for c in checks if c.check == rule.of and c.check in CHECKS]
            return "; ".join(made) or HIDDEN
        if rule.kind == "change":
            return f"«{self.change.verdict}»: {self.change.sentence}" if self.change else HIDDEN
        if rule.kind == "control" and rule.limit is not None:
            return "; ".join(f"{c.kind}: {WITHHELD}" for c in self.controls) or HIDDEN
        return found if _PLAIN_FOUND.fullmatch(found) else HIDDEN

    def why(self, why: str) -> str:
        """Return why a condition is not kept."""
        if why.startswith(f"{UNTESTED}: "):  # the reason stays here: it speaks of the tables
            return UNTESTED
        lacking = _LACKING.fullmatch(why)
        if lacking:
            return lacking[1] + self.source.worded(lacking[2])
        return why if _PLAIN_WHY.fullmatch(why) else HIDDEN


def _number_shown(e: ResultRecord, rule: PolicyRule) -> float | None:
    if rule.kind == "power":
        return e.smallest_detectable
    field = "value" if rule.field == "value" else f"{rule.field}_simultaneous"
    return e.score if rule.field == "score" else formatting.risk_value(e, field)


def _keeps(value: float, rule: PolicyRule) -> bool:
    assert rule.limit is not None
    return not BREAKS[rule.operator or ">"](value, rule.limit)
