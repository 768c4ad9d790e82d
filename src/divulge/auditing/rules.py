"""Rules on an audit, such as 'swapped_secrets.p < 0.01', in the grammar of `divulge.release.rules`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from divulge.auditing.model import Audit
from divulge.auditing.result import AuditRecord
from divulge.core.errors import SettingError
from divulge.core.result import FOUND
from divulge.release.rules import Judged, against, read_rule
from divulge.report.formatting import name
from divulge.report.policy_model import KEPT, Condition, Policy, PolicyRule

__all__ = ["TESTS", "judge_audit", "judge_audit_rule", "parse_audit_rule"]

TESTS = ("swapped_secrets", "random_halves", "canaries", "target", "domain")
"""Names of results."""
_FIELDS: dict[str, tuple[str, Callable[[AuditRecord], float | None]]] = {
    "p": ("p-value", lambda r: r.p_value if r.p_adjusted is None else r.p_adjusted),
    "e": ("e-value", lambda r: r.e_value),
    "rate": ("rate", lambda r: r.rate),
    "value": ("risk", lambda r: r.risk.value if r.risk else None),
    "low": ("lower limit of risk", lambda r: r.risk.low if r.risk else None),
    "high": ("upper limit of risk", lambda r: r.risk.high if r.risk else None),
    "epsilon_low": ("lower bound of epsilon", lambda r: r.epsilon.low if r.epsilon else None),
    "people": ("people named at risk", lambda r: None if r.people is None else float(r.people.flagged)),
}
_HINT = "hint: write 'swapped_secrets.p < 0.01', 'canaries.epsilon_low > 1', 'any.high > 0.05' or 'excess'."


def parse_audit_rule(rule: str) -> PolicyRule:
    """Return a rule on the tests of an audit, or "excess", read from its text.

    Raises
    ------
    SettingError
        The rule cannot be read, or names no test.

    Examples
    --------
    >>> parse_audit_rule("swapped_secrets.p < 0.01").limit
    0.01
    """
    if rule.strip() == "excess":
        return PolicyRule(kind="excess")
    found = read_rule(rule, _FIELDS)
    if not found:
        raise SettingError(f"--fail-on {rule!r}: not a rule on an audit. {_HINT}")
    if found.of not in ("any", *TESTS):
        raise SettingError(f"--fail-on {rule!r}: no test {found.of!r}. hint: any, {', '.join(TESTS)}.")
    return found


def judge_audit_rule(audit: Audit, rule: str) -> Judged:
    """Return what was found about a rule, and whether the audit keeps it.

    A rule is about the largest number of its results, one with < about the smallest. It counts as broken where no
    result of the test has such a number.

    Raises
    ------
    SettingError
        The rule cannot be read, or names no test.
    """
    parsed = parse_audit_rule(rule)
    if parsed.kind == "excess":
        allowed = audit.verdict not in FOUND
        return Judged(f"«{audit.verdict}»", allowed, "" if allowed else "not allowed")
    field = parsed.field
    own = [r for r in audit.results if parsed.of in ("any", r.test) and parsed.part in ("", r.variant)]
    numbers = [(value, r) for r in own if (value := _FIELDS[field][1](r)) is not None]
    if not numbers:
        return Judged("", False, f"has no {_FIELDS[field][0]}" if own else "was not tested")
    value, result = (min if parsed.operator.startswith("<") else max)(numbers, key=lambda found: found[0])
    text, why = against(value, parsed, 4)
    if field in ("p", "e") and 0 < value < 1e-4:
        text = f"{value:.1e}"
    return Judged(f"{text} ({_named(result)})", not why, why)


def judge_audit(audit: Audit, rules: Sequence[str]) -> Policy | None:
    """Return what was found about each rule; None without rules."""
    if not rules:
        return None
    judged = [(rule, judge_audit_rule(audit, rule)) for rule in rules]
    conditions = tuple(
        Condition(condition=_in_words(rule), found=j.found or "not computed", kept=j.kept, why=j.why)
        for rule, j in judged
    )
    return Policy(name="rules", sha256=None, kept=all(c.kept for c in conditions), conditions=conditions)


def _in_words(rule: str) -> str:
    parsed = parse_audit_rule(rule)
    if parsed.limit is None:
        return "verdict: neither «excess found» nor «deficit found»"
    who = ("all tests" if parsed.of == "any" else parsed.of) + (f" ({parsed.part})" if parsed.part else "")
    return f"{who}: {_FIELDS[parsed.field][0]} {KEPT[parsed.operator]} {parsed.limit:.12g}"


def _named(result: AuditRecord) -> str:
    told = result.test + (f" ({result.variant})" if result.variant else "")
    return told + (f": {name(result.target)}" if result.target else "")
