"""Rules on measures of fidelity: 'column_pairs.ruler > 3', 'column_shapes differs', 'any closer'."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from divulge.core.errors import SettingError
from divulge.core.result import tidy
from divulge.measures.catalogue import all_measures
from divulge.measures.linked.catalogue import linked_measures
from divulge.measures.result import FidelityResult, name_of
from divulge.release import rules
from divulge.release.rules import KEPT, LONGEST, Judged, against, read_rule, unfinished
from divulge.report.model import Assessment

__all__ = ["FidelityRule", "fidelity_rule", "in_words", "judge_rule", "parse_rule"]

_WORD = re.compile(r"\s*(?:([a-z_]+)(?:\[([^\[\]]+)\])?\s+)?(differs|closer)\s*")
_FIELDS = {
    "ruler": "ruler",
    "value": "value",
    "low": "lower limit of the difference",
    "high": "upper limit of the difference",
}
_WORDS = {"differs": "differs", "closer": "closer than a fresh sample"}
ALL = "all"
"""The part of a measure that is about all columns together."""


@dataclass(frozen=True, slots=True)
class FidelityRule:
    """One rule on a measure, or on any; it is broken where it holds."""

    measure: str
    part: str
    """A variant, columns joined by " + ", "all" for all columns together, or "" for every result."""
    field: str
    """A field with a number, or the verdict in a word."""
    operator: str = ""
    limit: float = 0.0


def fidelity_rule(rule: str, source: str = "--fail-on") -> FidelityRule | None:
    """Return a rule on fidelity; None for one that is not about a measure.

    Parameters
    ----------
    rule
        "MEASURE.ruler > 3" (ruler, value: the largest over its results; low, high: limits of the difference),
        "MEASURE differs", "MEASURE closer", or one of these with "any" for all measures, which "differs" and "closer"
        alone mean, too. In brackets stand a variant,
        the columns, or "all" for the mean over all of them: "column_pairs[age + sex].ruler > 3".
    source
        Where the rule was given, for the error.

    Raises
    ------
    SettingError
        It is about fidelity and names no measure, or has no such field.

    Examples
    --------
    >>> fidelity_rule("column_pairs.ruler > 3")
    FidelityRule(measure='column_pairs', part='', field='ruler', operator='>', limit=3.0)
    >>> fidelity_rule("column_shapes differs").field, fidelity_rule("cap.high > 0.05")
    ('differs', None)
    >>> fidelity_rule("differs") == fidelity_rule("any differs")
    True
    """
    known = [m.name for m in (*all_measures(), *linked_measures())]
    said = _WORD.fullmatch(rule) if len(rule) <= LONGEST else None
    found = read_rule(rule, _FIELDS)
    if said is None and (found is None or (found[2] != "ruler" and found[0] not in known)):
        return None
    name = said[1] or "any" if said else found[0] if found else ""
    if name not in ("any", *known):
        raise SettingError(f"{source} {rule!r}: no measure {name!r}. hint: any, {', '.join(known)}.")
    if said:
        return FidelityRule(name, (said[2] or "").strip(), said[3])
    return FidelityRule(*found) if found else None


def parse_rule(rule: str, known: Sequence[str], source: str = "--fail-on") -> None:
    """Check a rule on attacks or on fidelity.

    Raises
    ------
    SettingError
        The rule cannot be read, or names neither an attack nor a measure.
    """
    if fidelity_rule(rule, source) is None:
        rules.parse_rule(rule, known, source)


def in_words(rule: str, known: Sequence[str]) -> str:
    """Return the condition that a rule sets, in words.

    Examples
    --------
    >>> in_words("column_pairs[all].ruler > 3", []), in_words("any differs", [])
    ('column_pairs (all): ruler at most 3', 'all measures: no result differs from a fresh sample')
    """
    asked = fidelity_rule(rule)
    if asked is None:
        return rules.in_words(rule, known)
    who = ("all measures" if asked.measure == "any" else asked.measure) + (f" ({asked.part})" if asked.part else "")
    if asked.field == "differs":
        return f"{who}: no result differs from a fresh sample"
    if asked.field == "closer":
        return f"{who}: no result is closer than a fresh sample"
    one = "" if asked.operator.startswith(">") else "the largest "
    return f"{who}: {one}{_FIELDS[asked.field]} {KEPT[asked.operator]} {asked.limit:.12g}"


def judge_rule(data: Assessment, rule: str, known: Sequence[str]) -> Judged:
    """Return what was found about a rule, and whether the assessment keeps it.

    A rule on fidelity is about the largest number over the results of the measure, or about any of their verdicts. It
    is broken where the measure has no such number: fidelity was left out, the measure failed, or nothing was compared.
    """
    asked = fidelity_rule(rule)
    if asked is None:
        return rules.judge_rule(data, rule, known)
    own = [r for r in data.fidelity if _is_about(r, asked)]
    if not own or all(r.verdict == "not measured" for r in own):
        return Judged("", False, _why_not(data, asked))
    judged = _of_words(own, asked) if asked.field in _WORDS else _of_numbers(own, asked)
    late = _unfinished(data, asked)
    return Judged("", False, late) if judged.kept and late else judged


def _is_about(r: FidelityResult, asked: FidelityRule) -> bool:
    if asked.measure not in ("any", r.measure):
        return False
    whole = not r.columns and not r.variant and not r.group
    return asked.part in ("", r.variant, " + ".join(r.columns)) or (asked.part == ALL and whole)


def _of_words(own: Sequence[FidelityResult], asked: FidelityRule) -> Judged:
    verdict = _WORDS[asked.field]
    found = [r for r in own if r.verdict == verdict]
    if not found:
        return Judged(f"none of {len(own):,} results", True)
    shown = next((r for r in found if r.columns), found[0])
    why = "it differs" if asked.field == "differs" else "it is closer"
    return Judged(f"{len(found):,} of {len(own):,} results, as {tidy(name_of(shown))}", False, why)


def _of_numbers(own: Sequence[FidelityResult], asked: FidelityRule) -> Judged:
    numbers = [(getattr(r, asked.field), r) for r in own]
    found = [(float(v), r) for v, r in numbers if v is not None]
    if not found:
        return Judged("", False, "has no such number")
    value, result = max(found, key=lambda pair: pair[0])
    text, why = against(value, asked.operator, asked.limit, 4)
    return Judged(f"{text} ({tidy(name_of(result))})", not why, why)


def _why_not(data: Assessment, asked: FidelityRule) -> str:
    """Return why nothing was found about a rule."""
    if data.fidelity_scope is None:
        return "fidelity was left out"
    return next((n.why for n in data.fidelity_scope.not_measured if n.measure == asked.measure), "was not measured")


def _unfinished(data: Assessment, asked: FidelityRule) -> str:
    """Return why a rule on all measures is not settled; "" where each one that was begun is done."""
    return unfinished(data, "fidelity") if asked.measure == "any" else ""
