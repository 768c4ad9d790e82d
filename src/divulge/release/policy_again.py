"""The conditions of a policy, read from the words in a report, and judged once more."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from divulge.attacks.entry import CATALOGUE
from divulge.core.errors import SettingError
from divulge.core.records import CRITICAL, OF_LINKED
from divulge.measures.registry import REGISTRY
from divulge.release import conditions as judging
from divulge.release.policy import Control
from divulge.release.rules import KEPT, Judged
from divulge.report.model import Assessment

__all__ = ["faults_of_policy"]

_LIMIT = r"(-?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)"
_NUMBERS = {
    "simultaneous upper limit of risk": "high",
    "simultaneous lower limit of risk": "low",
    "risk": "value",
    "score": "score",
    "ruler": "ruler",
    "value": "value",
    "lower limit of the difference": "low",
    "upper limit of the difference": "high",
}
_RULE = re.compile(
    rf"(all attacks|[a-z_]+)(?: \((.*)\))?: (?:the largest |the smallest )?({'|'.join(_NUMBERS)}) "
    rf"({'|'.join(KEPT.values())}) {_LIMIT}",
    re.DOTALL,
)
_VERDICTS_RULE = "overall verdict: none of «excess found», «deficit found» and «no holdout»"
_WORDED = re.compile(r"(all measures|[a-z_]+)(?: \((.*)\))?: no result (differs from|is closer than) a fresh sample")
_POWER = re.compile(rf"(all attacks|[a-z_]+): smallest detectable excess of the headline comparison at most {_LIMIT}")
_BOUNDED = re.compile(rf"([a-z_]+): its bound is at most (?:the acceptable risk|{_LIMIT})")
_REQUIRED = re.compile(r"([a-z_]+): was run and compared with strangers")
_SHARE = re.compile(rf"positive control: of each kind a share of planted rows as small as {_LIMIT} would be seen")
_SEEN = "positive control: each kind of planted people is seen"
_CHANGE = "change: no risk rose since the previous run"
_ORDER = ("verdict", "precondition", "required", "rule", "bounded", "power", "control", "change", "rule", "linked")
"""The kinds of condition in the order in which a policy asks; rules stand twice."""


def faults_of_policy(data: Assessment) -> Iterator[str]:
    """Yield a sentence for each part of the policy in a report that does not follow from the rest of the report."""
    policy = data.policy
    if policy is None:
        return
    if policy.kept != all(c.kept for c in policy.conditions):
        yield "policy.kept: does not follow from its conditions"
    if data.edition == "external":
        return  # the numbers that were judged are the custodian's
    is_policy = policy.name != "--fail-on" or policy.sha256 is not None
    first = judging._standing(data) + (judging._about_people(data) if is_policy else [])
    shown = [c.condition for c in policy.conditions]
    if shown[: len(first)] != [words for words, _ in first]:
        yield "policy.conditions: not those that every policy has for this run, or in another order"
        return
    places: list[str] = []
    for i, c in enumerate(policy.conditions):
        kind, again = ("", first[i][1]) if i < len(first) else _judged(c.condition, data)
        if again is None:
            yield f"policy.conditions[{i}]: no condition of this version"
            continue
        places += [kind] if kind else []
        if (c.found, c.kept, c.why) != (again.found or judging._UNTESTED, again.kept, again.why):
            yield f"policy.conditions[{i}]: does not follow from the results"
    if len(set(shown)) < len(shown):
        yield "policy.conditions: one stands twice"
    if is_policy and not _is_whole(places, shown[len(first) :]):
        yield "policy.conditions: without those that every policy has"
    if not _in_order(places):
        yield "policy.conditions: in another order than a policy has"


def _is_whole(places: Sequence[str], shown: Sequence[str]) -> bool:
    """Return whether a policy asks for a verdict first and, if for preconditions, for all that are critical."""
    always = [f"precondition: {check}" for check in CRITICAL if check not in OF_LINKED]
    asked = [words for words, kind in zip(shown, places, strict=False) if kind == "precondition"]
    return list(places[:1]) == ["verdict"] and (not asked or asked[: len(always)] == always)


def _in_order(places: Sequence[str]) -> bool:
    at = 0
    for kind in places:
        while at < len(_ORDER) and _ORDER[at] != kind:
            at += 1
        if at == len(_ORDER):
            return False
    return True


def _judged(words: str, data: Assessment) -> tuple[str, Judged | None]:
    """Return the kind of a condition in words, and what a report says of it; None where it is no condition."""
    kind, condition = _read(words)
    if condition is None:
        return kind, None
    try:
        found = condition()
    except (SettingError, KeyError):
        return kind, None
    return kind, found.judge(data) if found.words == words else None


def _read(words: str) -> tuple[str, Callable[[], judging._Condition] | None]:
    """Return the kind of a condition in words, and how it is made."""
    head, _, rest = words.partition(": ")
    if (rule := _rule_of(words)) is not None:
        return "rule", lambda: judging._rule(rule)
    if head == "overall verdict":
        return "verdict", lambda: judging._verdict(rest.split(" or "))
    if head == "precondition":
        return "linked" if rest in OF_LINKED else "precondition", lambda: judging._precondition(rest)
    if found := _POWER.fullmatch(words):
        return "power", lambda: judging._power(_attack(found[1]), float(found[2]))
    if found := _BOUNDED.fullmatch(words):
        return "bounded", lambda: judging._bounded(found[1], None if found[2] is None else float(found[2]))
    if (found := _REQUIRED.fullmatch(words)) and found[1] in CATALOGUE:
        return "required", lambda: judging._required(found[1])
    if words == _SEEN:
        return "control", lambda: judging._control(Control(seen=True))[0]
    if found := _SHARE.fullmatch(words):
        return "control", lambda: judging._control(Control(smallest_share=float(found[1])))[0]
    if words == _CHANGE:
        return "change", lambda: judging._Condition(_CHANGE, judging._changed)
    return "", None


def _rule_of(words: str) -> str | None:
    """Return the rule behind a condition in words; None where it is none."""
    if words == _VERDICTS_RULE:
        return "excess"
    if found := _WORDED.fullmatch(words):
        name = "any" if found[1] == "all measures" else found[1]
        return f"{name}{f'[{found[2]}]' if found[2] else ''} {'differs' if found[3] == 'differs from' else 'closer'}"
    found = _RULE.fullmatch(words)
    if found is None or (found[1] not in CATALOGUE and found[1] not in REGISTRY and found[1] != "all attacks"):
        return None
    operator = next(op for op, kept in KEPT.items() if kept == found[4])
    part = f"[{found[2]}]" if found[2] else ""
    return f"{_attack(found[1])}{part}.{_NUMBERS[found[3]]} {operator} {found[5]}"


def _attack(name: str) -> str:
    return "any" if name == "all attacks" else name
