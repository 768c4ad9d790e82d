"""Rules of a release, such as 'cap.high > 0.05': a run in which one holds ends with exit status 1."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Literal, cast

from divulge.core.errors import SettingError
from divulge.core.result import FOUND
from divulge.core.schema import no_such
from divulge.report import formatting
from divulge.report.model import Assessment, ResultRecord
from divulge.report.policy_model import BREAKS, PolicyRule

__all__ = [
    "BROKEN", "LONGEST", "Judged", "against", "judge_rule", "judge_score", "named", "of_all", "parse_rule",
    "parse_score_rule", "read_rule", "unfinished",
]  # fmt: skip

_RULE = re.compile(r"\s*([a-z_]+)(?:\[([^\[\]]+)\])?\.([a-z_]+)\s*(>=|>|<=|<)\s*(-?\d*\.?\d+(?:[eE]-?\d+)?)\s*")
_FIELDS = {"high": "high_simultaneous", "low": "low_simultaneous", "value": "value", "score": "score"}
LONGEST = 1000
"""Characters of a rule: a regular expression takes time that grows faster than its text."""
_LISTED = 3  # attacks of which it is said what was left out
BROKEN = {">": "above", ">=": "not below", "<": "below", "<=": "not above"}


@dataclass(frozen=True, slots=True)
class Judged:
    """What was found about one condition, and whether it is kept."""

    found: str
    """What was found, such as a number and its comparison; "" when nothing was tested."""
    kept: bool
    why: str = ""
    """Why it is not kept."""


def read_rule(rule: str, fields: Iterable[str], kind: Literal["risk", "fidelity"] = "risk") -> PolicyRule | None:
    """Return a rule read from its text; None for what is no rule on these fields.

    Examples
    --------
    >>> found = read_rule("cap[zero].high > 0.05", ["high"])
    >>> found.of, found.part, found.field, found.operator, found.limit
    ('cap', 'zero', 'high', '>', 0.05)
    """
    match = _RULE.fullmatch(rule) if len(rule) <= LONGEST else None
    if not match or match[3] not in fields or not isfinite(float(match[5])):
        return None
    operator = cast('Literal[">", ">=", "<", "<="]', match[4])
    part, limit = (match[2] or "").strip(), float(match[5])
    return PolicyRule(kind=kind, of=match[1], part=part, field=match[3], operator=operator, limit=limit)


def parse_rule(rule: str, known: Sequence[str], source: str = "--fail-on") -> PolicyRule:
    """Return a rule on attacks, or "excess", read from its text.

    Parameters
    ----------
    rule
        "ATTACK.high > 0.05" (high, low: simultaneous limits of risk; value: its estimate), "ATTACK.score < 95",
        "any.high > 0.05", or "excess", which holds for an overall verdict of "excess found" or "no holdout". A
        variant may follow the attack in brackets, as in "singling_out[3 columns].high > 0.05",
        "linkability[balanced halves, k = 1].high > 0.05" or "inference[nearest record].high > 0.2"; or an actor of the
        schema file, as in "any[insider].high > 0.05".
    known
        Names of attacks.
    source
        Where the rule was given, for the error.

    Raises
    ------
    SettingError
        The rule cannot be read or names no attack.

    Examples
    --------
    >>> parse_rule("inference[nearest record].score < 95", ["inference"]).part
    'nearest record'
    """
    if rule.strip() == "excess":
        return PolicyRule(kind="excess")
    found = read_rule(rule, _FIELDS)
    if not found:
        raise SettingError(
            f"{source} {rule!r}: not a rule. hint: write 'cap.high > 0.05', 'singling_out[3 columns].score < 95', "
            "'any.low > 0', 'excess', 'column_pairs.ruler > 3' or 'column_shapes differs'."
        )
    if found.of not in ("any", *known):
        raise SettingError(f"{source} {rule!r}: no attack {found.of!r}. hint: any, {', '.join(known)}.")
    return found


def judge_rule(data: Assessment, rule: PolicyRule) -> Judged:
    """Return what was found about a rule, and whether the assessment keeps it.

    The rule is about the largest bound (or the smallest score) over the results of the attack, or of its variant, or of
    those that an actor asks. A rule counts as broken where there is no such number: the attack did not run or has no
    such variant, there was no holdout, or the risk is undefined. It also counts as broken where some results lack the
    bound or tests of the attack failed or were left out. Two kinds of results are ignored: those without a bound whose
    strangers are always hit (their risk is undefined, and they cannot show an excess) and, in a rule on scores, those
    without a score.
    """
    if rule.kind == "excess":
        verdict = data.verdict.verdict
        why = "not allowed" if verdict in (*FOUND, "no holdout") else unfinished(data, "any")
        return Judged(f"«{verdict}»", not why, why)
    own = [r for r in data.results if rule.of in ("any", r.attack) and rule.part in ("", r.variant, *r.actors)]
    judged = _compared(own, rule)
    missing = unfinished(data, rule.of)
    return Judged("", False, missing) if judged.kept and missing else judged


def _compared(results: Sequence[ResultRecord], rule: PolicyRule) -> Judged:
    if rule.field == "score":
        found = [(r.score, r) for r in results if r.score is not None]
        lacking = []
    else:
        bounds = [(formatting.risk_value(r, _FIELDS[rule.field]), r) for r in results if r.risk is not None]
        found = [(bound, r) for bound, r in bounds if bound is not None]
        lacking = [r for bound, r in bounds if bound is None and not _strangers_always_hit(r)]
    if not found and not lacking:
        return Judged("", False, "was not tested")
    if lacking:
        some = of_all(len(lacking), len(found) + len(lacking), "comparison{s} {have} no such bound")
        return Judged("", False, f"{some}, as {named(lacking[0])}")
    value, result = (min if rule.field == "score" else max)(found, key=lambda f: f[0])
    text, why = against(value, rule, 1 if rule.field == "score" else 4)
    return Judged(f"{text} ({named(result)})", not why, why)


def against(value: float, rule: PolicyRule, digits: int) -> tuple[str, str]:
    """Return a number as text, and why it breaks a rule, "" if it does not."""
    assert rule.limit is not None
    breaks, limit = BREAKS[rule.operator], rule.limit
    text = f"{value:.{digits}f}"
    if breaks(float(text), limit) != breaks(value, limit):
        text = repr(value)  # rounded, it would be on the other side of the limit
    return text, f"{BROKEN[rule.operator]} {limit:.12g}" if breaks(value, limit) else ""


def judge_score(rule: PolicyRule, scores: Mapping[str, float]) -> Judged:
    """Return what was found about a rule on scores from 0 to 1, and whether it is kept.

    Parameters
    ----------
    rule
        "quality.score < 0.9" is about the score of the whole, "quality[Column Shapes].score < 0.9" about a part.
    scores
        The score of the whole under "", and of each part; nan where there is none, which breaks a rule.

    Examples
    --------
    >>> judge_score(parse_score_rule("quality.score < 0.9", "quality", [""]), {"": 0.85})
    Judged(found='0.8500', kept=False, why='below 0.9')
    """
    value = scores[rule.part]
    if not isfinite(value):
        return Judged("", False, "has no score")
    text, why = against(value, rule, 4)
    return Judged(text, not why, why)


def parse_score_rule(rule: str, name: str, parts: Sequence[str], source: str = "--fail-on") -> PolicyRule:
    """Return a rule on scores; see `judge_score`."""
    form = f"'{name}.score < 0.9'" + "".join(f" or '{name}[{p}].score < 0.9'" for p in parts[1:2])
    found = read_rule(rule, _FIELDS)
    if not found:
        raise SettingError(f"{source} {rule!r}: not a rule. hint: write {form}.")
    if found.of != name or found.field != "score":
        raise SettingError(f"{source} {rule!r}: a rule here is about {name}.score. hint: write {form}.")
    if found.part not in parts:
        raise SettingError(no_such(f"{source} {rule!r}", "property", found.part, [p for p in parts if p]))
    return found


def unfinished(data: Assessment, attack: str) -> str:
    """Return which tests of an attack, or of "any", failed or were left out; "" when all were made."""
    failed = dict.fromkeys(f.attack for f in data.failed if attack in ("any", f.attack))
    late = [o for o in data.left_out if attack in ("any", o.attack)]
    parts = [f"{name} failed" for name in failed]
    parts += [of_all(o.n, o.of, "test{s} of {what} {were} left out", what=o.attack) for o in late]
    more = len(parts) - _LISTED
    return "; ".join(parts[:_LISTED] + ([f"and {more} more attack{'s' if more > 1 else ''}"] if more > 0 else []))


def of_all(n: int, of: int, words: str, **names: str) -> str:
    """Return "n of all", or "the one", and the words, with {s}, {have} and {were} in the right number.

    Examples
    --------
    >>> of_all(2, 9, "test{s} {were} left out"), of_all(1, 1, "test{s} {were} left out")
    ('2 of 9 tests were left out', 'the one test was left out')
    """
    one = {"have": "has", "were": "was"} if n == 1 else {"have": "have", "were": "were"}
    return (f"{n:,} of {of:,} " if of > 1 else "the one ") + words.format(s="s" if of > 1 else "", **one, **names)


def _strangers_always_hit(result: ResultRecord) -> bool:
    rate = formatting.rate_of(result.holdout)
    return rate is not None and rate >= 1 - 1e-12


def named(result: ResultRecord) -> str:
    """Return attack, variant, keys and target of a result in one line, without control characters."""
    return formatting.tidy(formatting.label(result, "->"))
