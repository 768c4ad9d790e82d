"""The words of a condition of a policy, made of its rule."""

from __future__ import annotations

import operator

from divulge.report.policy_model import PolicyRule

__all__ = ["BREAKS", "KEPT", "condition_in_words"]

BREAKS = {">": operator.gt, ">=": operator.ge, "<": operator.lt, "<=": operator.le}
"""What a number must be to the limit that the condition is broken."""
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
