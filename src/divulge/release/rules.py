"""Rules of a release, such as 'cap.high > 0.05': a run in which one holds ends with exit status 1."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite

from divulge.core.errors import SettingError
from divulge.core.result import FOUND
from divulge.core.schema import no_such
from divulge.report import formatting
from divulge.report.model import Assessment, ResultRecord

__all__ = [
    "BROKEN", "KEPT", "LONGEST", "Judged", "against", "breaches", "in_words", "judge_rule", "judge_score", "named",
    "of_all", "parse_rule", "parse_score_rule", "read_rule", "unfinished",
]  # fmt: skip

_RULE = re.compile(r"\s*([a-z_]+)(?:\[([^\[\]]+)\])?\.([a-z_]+)\s*(>=|>|<=|<)\s*(-?\d*\.?\d+(?:[eE]-?\d+)?)\s*")
_OPERATORS: dict[str, Callable[[float, float], bool]] = {
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
}
_FIELDS = {"high": "high_simultaneous", "low": "low_simultaneous", "value": "value"}
_NAMES = {
    "high": "simultaneous upper limit of risk",
    "low": "simultaneous lower limit of risk",
    "value": "risk",
    "score": "score",
}
LONGEST = 1000
"""Characters of a rule: a regular expression takes time that grows faster than its text."""
KEPT = {">": "at most", ">=": "below", "<": "at least", "<=": "above"}
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


def read_rule(rule: str, fields: Iterable[str]) -> tuple[str, str, str, str, float] | None:
    """Return name, part ("" for all), field, operator and limit of a rule; None for what is no rule on these fields.

    Examples
    --------
    >>> read_rule("cap[zero].high > 0.05", ["high"])
    ('cap', 'zero', 'high', '>', 0.05)
    """
    match = _RULE.fullmatch(rule) if len(rule) <= LONGEST else None
    if not match or match[3] not in fields or not isfinite(float(match[5])):
        return None
    return match[1], (match[2] or "").strip(), match[3], match[4], float(match[5])


def parse_rule(rule: str, known: Sequence[str], source: str = "--fail-on") -> tuple[str, str, str, str, float] | str:
    """Return attack, variant ("" for all), field, operator and limit of a rule, or "excess" for the rule of that name.

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
    >>> parse_rule("cap.high > 0.05", ["cap"])
    ('cap', '', 'high', '>', 0.05)
    >>> parse_rule("inference[nearest record].score < 95", ["inference"])
    ('inference', 'nearest record', 'score', '<', 95.0)
    """
    if rule.strip() == "excess":
        return "excess"
    found = read_rule(rule, _NAMES)
    if not found:
        raise SettingError(
            f"{source} {rule!r}: not a rule. hint: write 'cap.high > 0.05', 'singling_out[3 columns].score < 95', "
            "'any.low > 0', 'excess', 'column_pairs.ruler > 3' or 'column_shapes differs'."
        )
    if found[0] != "any" and found[0] not in known:
        raise SettingError(f"{source} {rule!r}: no attack {found[0]!r}. hint: any, {', '.join(known)}.")
    return found


def in_words(rule: str, known: Sequence[str]) -> str:
    """Return the condition that a rule sets, in words.

    Examples
    --------
    >>> in_words("linkability[random halves, k = 1].high > 0.05", ["linkability"])
    'linkability (random halves, k = 1): simultaneous upper limit of risk at most 0.05'
    >>> in_words("any.score < 95", [])
    'all attacks: score at least 95'
    """
    parsed = parse_rule(rule, known)
    if isinstance(parsed, str):
        return "overall verdict: none of «excess found», «deficit found» and «no holdout»"
    attack, variant, field, operator, limit = parsed
    who = ("all attacks" if attack == "any" else attack) + (f" ({variant})" if variant else "")
    # the largest number (of scores, the smallest) is compared: a rule the other way round is about that one alone
    usual = operator.startswith("<") == (field == "score")
    one = "" if usual else "the smallest " if field == "score" else "the largest "
    return f"{who}: {one}{_NAMES[field]} {KEPT[operator]} {limit:.12g}"


def breaches(data: Assessment, rules: Sequence[str], known: Sequence[str]) -> list[str]:
    """Return a sentence for each rule that the assessment breaks (see `judge_rule`)."""
    judged = ((rule.strip(), judge_rule(data, rule, known)) for rule in rules)
    return [f"{rule}: {f'found {j.found}' if j.found else j.why}" for rule, j in judged if not j.kept]


def judge_rule(data: Assessment, rule: str, known: Sequence[str]) -> Judged:
    """Return what was found about a rule, and whether the assessment keeps it.

    The rule is about the largest bound (or the smallest score) over the results of the attack, or of its variant, or of
    those that an actor asks. A
    rule counts as broken where there is no such number: the attack did not run or has no such variant, there was no
    holdout, or the risk is undefined. It also counts as broken where some results lack the bound or tests of the attack
    failed or were left out. Two kinds of results are ignored: those without a bound whose strangers are always hit
    (their risk is undefined, and they cannot show an excess) and, in a rule on scores, those without a score.

    Raises
    ------
    SettingError
        The rule cannot be read or names no attack.
    """
    parsed = parse_rule(rule, known)
    if isinstance(parsed, str):
        verdict = data.verdict.verdict
        why = "not allowed" if verdict in (*FOUND, "no holdout") else unfinished(data, "any")
        return Judged(f"«{verdict}»", not why, why)
    attack, variant, field, operator, limit = parsed
    own = [r for r in data.results if attack in ("any", r.attack) and variant in ("", r.variant, *r.actors)]
    judged = _compared(own, field, operator, limit)
    missing = unfinished(data, attack)
    return Judged("", False, missing) if judged.kept and missing else judged


def _compared(results: Sequence[ResultRecord], field: str, operator: str, limit: float) -> Judged:
    if field == "score":
        found = [(r.score, r) for r in results if r.score is not None]
        lacking = []
    else:
        bounds = [(formatting.risk_value(r, _FIELDS[field]), r) for r in results if r.risk is not None]
        found = [(bound, r) for bound, r in bounds if bound is not None]
        lacking = [r for bound, r in bounds if bound is None and not _strangers_always_hit(r)]
    if not found and not lacking:
        return Judged("", False, "was not tested")
    if lacking:
        some = of_all(len(lacking), len(found) + len(lacking), "comparison{s} {have} no such bound")
        return Judged("", False, f"{some}, as {named(lacking[0])}")
    value, result = (min if field == "score" else max)(found, key=lambda f: f[0])
    text, why = against(value, operator, limit, 1 if field == "score" else 4)
    return Judged(f"{text} ({named(result)})", not why, why)


def against(value: float, operator: str, limit: float, digits: int) -> tuple[str, str]:
    """Return a number as text, and why it breaks a rule, "" if it does not."""
    breaks = _OPERATORS[operator]
    text = f"{value:.{digits}f}"
    if breaks(float(text), limit) != breaks(value, limit):
        text = repr(value)  # rounded, it would be on the other side of the limit
    return text, f"{BROKEN[operator]} {limit:.12g}" if breaks(value, limit) else ""


def judge_score(rule: str, name: str, scores: Mapping[str, float]) -> Judged:
    """Return what was found about a rule on scores from 0 to 1, and whether it is kept.

    Parameters
    ----------
    rule
        "quality.score < 0.9" is about the score of the whole, "quality[Column Shapes].score < 0.9" about a part.
    name
        Name of the whole: "quality" or "diagnostic".
    scores
        The score of the whole under "", and of each part; nan where there is none, which breaks a rule.

    Raises
    ------
    SettingError
        The rule cannot be read, or names something else.

    Examples
    --------
    >>> judge_score("quality.score < 0.9", "quality", {"": 0.85})
    Judged(found='0.8500', kept=False, why='below 0.9')
    """
    part, operator, limit = parse_score_rule(rule, name, list(scores))
    value = scores[part]
    if not isfinite(value):
        return Judged("", False, "has no score")
    text, why = against(value, operator, limit, 4)
    return Judged(text, not why, why)


def parse_score_rule(rule: str, name: str, parts: Sequence[str], source: str = "--fail-on") -> tuple[str, str, float]:
    """Return part, operator and limit of a rule on scores; see `judge_score`."""
    form = f"'{name}.score < 0.9'" + "".join(f" or '{name}[{p}].score < 0.9'" for p in parts[1:2])
    found = read_rule(rule, _NAMES)
    if not found:
        raise SettingError(f"{source} {rule!r}: not a rule. hint: write {form}.")
    if found[0] != name or found[2] != "score":
        raise SettingError(f"{source} {rule!r}: a rule here is about {name}.score. hint: write {form}.")
    _, part, _, operator, limit = found
    if part not in parts:
        raise SettingError(no_such(f"{source} {rule!r}", "property", part, [p for p in parts if p]))
    return part, operator, limit


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
