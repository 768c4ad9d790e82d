"""The conditions of a policy in a report, judged once more by their rules."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from divulge.core.records import CRITICAL, OF_LINKED
from divulge.release.conditions import judge_rule, standing
from divulge.report.model import Assessment
from divulge.report.policy_model import Condition, PolicyRule, condition_in_words

__all__ = ["faults_of_policy"]

_LETTERS = {
    "verdict": "v", "precondition": "p", "required": "q", "risk": "r", "fidelity": "f", "excess": "e", "bounded": "b",
    "power": "w", "control": "c", "change": "h", "always": "a",
}  # fmt: skip
_NUMBER = ("of", "part", "field", "operator", "limit")
_USED = {
    "verdict": ("verdicts",), "precondition": ("of",), "required": ("of",), "risk": _NUMBER, "fidelity": _NUMBER,
    "excess": (), "bounded": ("of", "limit"), "power": ("of", "limit"), "control": ("field", "limit"), "change": (),
    "always": ("of",),
}  # fmt: skip
"""The fields of each kind of rule; the others are empty."""
_ORDER = re.compile("v?p*q*r*b*w*c*h?[rfe]*p*")
"""The kinds of condition in the order in which a policy asks: rules of --fail-on are last, but for linked tables."""


def faults_of_policy(data: Assessment) -> Iterator[str]:
    """Yield a sentence for each part of the policy in a report that does not follow from the rest of the report."""
    policy = data.policy
    if policy is None:
        return
    if policy.kept != all(c.kept for c in policy.conditions):
        yield "policy.kept: does not follow from its conditions"
    for i, c in enumerate(policy.conditions):
        if c.rule is None or not _is_plain(c.rule) or c.condition != condition_in_words(c.rule):
            yield f"policy.conditions[{i}]: its words are not those of its rule"
    if data.edition == "external":
        return  # the numbers that were judged are the custodian's
    of_policy = policy.name != "--fail-on" or policy.sha256 is not None
    first = standing(data, of_policy)
    if list(policy.conditions[: len(first)]) != first:
        yield "policy.conditions: not those that every policy has for this run, or in another order"
        return
    rest = policy.conditions[len(first) :]
    for i, c in enumerate(rest, len(first)):
        if c.rule is not None and c != judge_rule(data, c.rule):
            yield f"policy.conditions[{i}]: does not follow from the results"
    if len(set(policy.conditions)) < len(policy.conditions):
        yield "policy.conditions: one stands twice"
    kinds = "".join(_LETTERS[c.rule.kind] for c in rest if c.rule is not None)
    if of_policy and not _is_whole(kinds, rest):
        yield "policy.conditions: without those that every policy has"
    if not _ORDER.fullmatch(kinds):
        yield "policy.conditions: in another order than a policy has"


def _is_plain(rule: PolicyRule) -> bool:
    """Return whether a rule states what its kind asks, and nothing else."""
    used = {f: getattr(rule, f) for f in _USED[rule.kind]}
    if rule.kind == "control" and rule.field != ("seen" if rule.limit is None else "smallest_share"):
        return False
    return rule == PolicyRule(kind=rule.kind, **used)


def _is_whole(kinds: str, shown: Sequence[Condition]) -> bool:
    """Return whether a policy asks for a verdict first and, if for preconditions, for all that are critical."""
    always = [check for check in CRITICAL if check not in OF_LINKED]
    checks = [c.rule.of for c in shown if c.rule is not None and c.rule.kind == "precondition"]
    return kinds.startswith("v") and (not checks or checks[: len(always)] == always)
