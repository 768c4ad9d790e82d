"""The policy in an external edition: the limits unchanged, the findings as that edition shows them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
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
from divulge.report.policy_model import AcceptedLimit, Change, Condition, Policy

__all__ = ["policy"]

_LIMIT = r"-?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?"
_BOUND = "simultaneous upper limit of risk|simultaneous lower limit of risk|risk|score"
_SIDE = "at most|below|at least|above"
_RULE = re.compile(
    rf"(all attacks|[a-z_]+)(?: \((.*)\))?: ((?:the largest |the smallest )?({_BOUND}) ({_SIDE}) ({_LIMIT}))",
    re.DOTALL,
)
_POWER = re.compile(rf"(all attacks|[a-z_]+): smallest detectable excess of the headline comparison at most ({_LIMIT})")
"""Conditions that set a limit, as `divulge.release.rules.in_words` and `divulge.release.conditions` word them."""

_FOUND = re.compile(rf"(?:{_LIMIT}|withheld) \((.*)\)", re.DOTALL)
_FIXED_FOUND = ("not tested", "nothing against it", "no column of units was named")
_KINDS = "(?:random people|unusual people|near copies)"
_PLAIN_FOUND = re.compile(
    rf"«[a-z ]+»|[\d,]+ comparisons? with strangers|seen: (?:none|{_KINDS}(?:, {_KINDS})*)|(?:not )?bounded"
)
_SOME = r"(?:[\d,]+ of [\d,]+|the one)"
_LACKING = re.compile(rf"({_SOME} comparisons? ha(?:ve|s) (?:no such bound|none), as )(.*)", re.DOTALL)
_UNFINISHED = rf"(?:[a-z_]+ failed|{_SOME} tests? of [a-z_ ]+ (?:was|were) left out)"
_HOLDS = "the comparison of members with strangers holds"
_PLAIN_CONDITION = re.compile(
    r"overall verdict: [a-z «»,]+|precondition: [a-z ]+|[a-z_]+: was run and compared with strangers"
    r"|positive control: each kind of planted people is seen"
    rf"|positive control: of each kind a share of planted rows as small as {_LIMIT} would be seen"
    r"|change: no risk rose since the previous run"
    rf"|[a-z_]+: its bound is at most (?:the acceptable risk|{_LIMIT})"
    rf"|{_HOLDS}|at least one attack compares members with strangers"
    r"|nobody is named by a record that stands verbatim or is repeated"
    r"|the holdout has every column of the real and the synthetic table"
    r"|[a-z_]+(?: \(all\))?: (?:the largest )?(?:ruler|value|lower limit of the difference"
    rf"|upper limit of the difference) (?:{_SIDE}) {_LIMIT}"
    r"|(?:all measures|[a-z_]+): no result (?:differs from|is closer than) a fresh sample"
)
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
"""Patterns of conditions, findings and reasons that name no column."""


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
        words, found = c.condition, c.found
        rule, power = _RULE.fullmatch(words), _POWER.fullmatch(words)
        if rule:
            words = rule[1] + (f" ({self.asked_variant(rule[2])})" if rule[2] else "") + f": {rule[3]}"
            found = self.found(c, lambda e: _bound_shown(e, rule[4]), (rule[5], rule[6]))
        elif power:
            found = self.found(c, lambda e: e.smallest_detectable, ("at most", power[2]))
        elif found not in _FIXED_FOUND:
            found = self.found_else(words, found)
        if not (rule or power or _PLAIN_CONDITION.fullmatch(words)):
            words = HIDDEN
        return Condition(condition=words, found=found, kept=c.kept, why=self.why(c.why))

    def asked_variant(self, variant: str) -> str:
        known = {r.variant: r for r in self.source.data.results}
        return self.source.variant(known[variant]) if variant in known else HIDDEN

    def found(self, c: Condition, of: Callable[[ResultRecord], float | None], limit: tuple[str, str]) -> str:
        """Return the number that a comparison shows in this edition, "withheld" where it shows none."""
        if c.found in _FIXED_FOUND:
            return c.found
        known = _FOUND.fullmatch(c.found)
        r = self.source.labels.get(known[1]) if known else None
        if r is None:
            return WITHHELD
        pairs = zip(self.source.data.results, self.results, strict=True)
        shown = [of(e) for one, e in pairs if identity(one) == identity(r)]
        value = shown[0] if len(shown) == 1 else None
        # a number rounded outward may lie on the other side of the limit
        says = "withheld" if value is None or _keeps(value, *limit) != c.kept else f"{value:.12g}"
        return f"{says} ({self.source.relabelled(r)})"

    def found_else(self, words: str, found: str) -> str:
        """Return what was found about a condition that sets no limit on a comparison."""
        head, _, rest = words.partition(": ")
        if words == _HOLDS:
            broken = [c for c in self.source.data.preconditions if c.check in INVALIDATING and not c.ok]
            return "; ".join(f"{c.check}: {self.source.sentence(c.detail)}" for c in broken) or HIDDEN
        if head == "precondition":
            told = [c for c in self.source.data.preconditions if c.check == rest and c.check in CHECKS]
            made = [self.source.sentence(c.detail) for c in told]
            return "; ".join(made) or HIDDEN
        if head == "change":
            return f"«{self.change.verdict}»: {self.change.sentence}" if self.change else HIDDEN
        if head == "positive control" and "as small as" in rest:
            return "; ".join(f"{c.kind}: {WITHHELD}" for c in self.controls) or HIDDEN
        return found if _PLAIN_FOUND.fullmatch(found) else HIDDEN

    def why(self, why: str) -> str:
        """Return why a condition is not kept."""
        lacking = _LACKING.fullmatch(why)
        if lacking:
            return lacking[1] + self.source.worded(lacking[2])
        return why if _PLAIN_WHY.fullmatch(why) else HIDDEN


def _bound_shown(e: ResultRecord, what: str) -> float | None:
    if what == "score":
        return e.score
    field = {"risk": "value", "simultaneous upper limit of risk": "high_simultaneous"}.get(what, "low_simultaneous")
    return formatting.risk_value(e, field)


def _keeps(value: float, how: str, limit: str) -> bool:
    most = float(limit)
    return {"at most": value <= most, "below": value < most, "at least": value >= most, "above": value > most}[how]
