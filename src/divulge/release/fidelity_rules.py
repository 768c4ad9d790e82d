"""Rules on measures of fidelity: 'column_pairs.ruler > 3', 'column_shapes differs', 'any closer'."""

from __future__ import annotations

import re
from collections.abc import Sequence

from divulge.core.errors import SettingError
from divulge.core.result import tidy
from divulge.measures.catalogue import all_measures
from divulge.measures.linked.catalogue import linked_measures
from divulge.measures.result import FidelityResult, name_of
from divulge.release import rules
from divulge.release.rules import LONGEST, Judged, against, read_rule, unfinished
from divulge.report.model import Assessment
from divulge.report.policy_model import PolicyRule

__all__ = ["fidelity_rule", "judge_rule", "parse_rule"]

_WORD = re.compile(r"\s*(?:([a-z_]+)(?:\[([^\[\]]+)\])?\s+)?(differs|closer)\s*")
_FIELDS = ("ruler", "value", "low", "high")
_WORDS = {"differs": "differs", "closer": "closer than a fresh sample"}
ALL = "all"
"""The part of a measure that is about all columns together."""


def fidelity_rule(rule: str, source: str = "--fail-on") -> PolicyRule | None:
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
    >>> fidelity_rule("column_pairs.ruler > 3").limit
    3.0
    >>> fidelity_rule("column_shapes differs").field, fidelity_rule("cap.high > 0.05")
    ('differs', None)
    >>> fidelity_rule("differs") == fidelity_rule("any differs")
    True
    """
    known = [m.name for m in (*all_measures(), *linked_measures())]
    said = _WORD.fullmatch(rule) if len(rule) <= LONGEST else None
    found = read_rule(rule, _FIELDS, "fidelity")
    if said is None and (found is None or (found.field != "ruler" and found.of not in known)):
        return None
    name = said[1] or "any" if said else found.of if found else ""
    if name not in ("any", *known):
        raise SettingError(f"{source} {rule!r}: no measure {name!r}. hint: any, {', '.join(known)}.")
    return PolicyRule(kind="fidelity", of=name, part=(said[2] or "").strip(), field=said[3]) if said else found


def parse_rule(rule: str, known: Sequence[str], source: str = "--fail-on") -> PolicyRule:
    """Return a rule on attacks or on fidelity, read from its text.

    Raises
    ------
    SettingError
        The rule cannot be read, or names neither an attack nor a measure.
    """
    return fidelity_rule(rule, source) or rules.parse_rule(rule, known, source)


def judge_rule(data: Assessment, rule: PolicyRule) -> Judged:
    """Return what was found about a rule on fidelity, and whether the assessment keeps it.

    A rule is about the largest number over the results of the measure, or about any of their verdicts. It
    is broken where the measure has no such number: fidelity was left out, the measure failed, or nothing was compared.
    """
    own = [r for r in data.fidelity if _is_about(r, rule)]
    if not own or all(r.verdict == "not measured" for r in own):
        return Judged("", False, _why_not(data, rule))
    judged = _of_words(own, rule) if rule.field in _WORDS else _of_numbers(own, rule)
    late = _unfinished(data, rule)
    return Judged("", False, late) if judged.kept and late else judged


def _is_about(r: FidelityResult, rule: PolicyRule) -> bool:
    if rule.of not in ("any", r.measure):
        return False
    whole = not r.columns and not r.variant and not r.group
    return rule.part in ("", r.variant, " + ".join(r.columns)) or (rule.part == ALL and whole)


def _of_words(own: Sequence[FidelityResult], rule: PolicyRule) -> Judged:
    verdict = _WORDS[rule.field]
    found = [r for r in own if r.verdict == verdict]
    if not found:
        return Judged(f"none of {len(own):,} results", True)
    shown = next((r for r in found if r.columns), found[0])
    why = "it differs" if rule.field == "differs" else "it is closer"
    return Judged(f"{len(found):,} of {len(own):,} results, as {tidy(name_of(shown))}", False, why)


def _of_numbers(own: Sequence[FidelityResult], rule: PolicyRule) -> Judged:
    numbers = [(getattr(r, rule.field), r) for r in own]
    found = [(float(v), r) for v, r in numbers if v is not None]
    if not found:
        return Judged("", False, "has no such number")
    value, result = max(found, key=lambda pair: pair[0])
    text, why = against(value, rule, 4)
    return Judged(f"{text} ({tidy(name_of(result))})", not why, why)


def _why_not(data: Assessment, rule: PolicyRule) -> str:
    """Return why nothing was found about a rule."""
    if data.fidelity_scope is None:
        return "fidelity was left out"
    return next((n.why for n in data.fidelity_scope.not_measured if n.measure == rule.of), "was not measured")


def _unfinished(data: Assessment, rule: PolicyRule) -> str:
    """Return why a rule on all measures is not settled; "" where each one that was begun is done."""
    return unfinished(data, "fidelity") if rule.of == "any" else ""
