"""Rules that a run must keep, such as 'cap.high > 0.05': the exit status of a nightly build."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from divulge.errors import SettingError
from divulge.report import view

__all__ = ["breaches", "parse_rule"]

_RULE = re.compile(
    r"\s*([a-z_]+)(?:\[([^\[\]]+)\])?\.(high|low|value|score)\s*(>=|>|<=|<)\s*(-?\d*\.?\d+(?:[eE]-?\d+)?)\s*"
)
_OPERATORS: dict[str, Callable[[float, float], bool]] = {
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
}
_FIELDS = {"high": "high_simultaneous", "low": "low_simultaneous", "value": "value"}

Json = Mapping[str, Any]


def parse_rule(rule: str, known: Sequence[str]) -> tuple[str, str, str, str, float] | str:
    """Return attack, variant ("" for all), field, operator and limit of a rule, or "excess" for the rule of that name.

    Parameters
    ----------
    rule
        "ATTACK.high > 0.05" (high, low: simultaneous limits of risk; value: its estimate), "ATTACK.score < 95",
        "any.high > 0.05", or "excess" for any verdict of that name. A variant may follow the attack in brackets, as
        in "singling_out[3 columns].high > 0.05", "linkability[balanced halves, k = 1].high > 0.05" or
        "inference[nearest record].high > 0.2".
    known
        Names of attacks.

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
    match = _RULE.fullmatch(rule)
    if not match:
        raise SettingError(
            f"--fail-on {rule!r}: not a rule. hint: write 'cap.high > 0.05', 'singling_out[3 columns].score < 95', "
            "'any.low > 0' or 'excess'."
        )
    if match[1] != "any" and match[1] not in known:
        raise SettingError(f"--fail-on {rule!r}: no attack {match[1]!r}. hint: any, {', '.join(known)}.")
    return match[1], (match[2] or "").strip(), match[3], match[4], float(match[5])


def breaches(data: Json, rules: Sequence[str], known: Sequence[str]) -> list[str]:
    """Return a sentence for each rule that the assessment breaks.

    The largest bound over the results of the attack, or of its variant, is compared, and of scores the smallest. A rule
    that finds no such number (the attack did not run or has no such variant, there was no holdout, or the risk is
    undefined) counts as broken: a gate that was not tested is not open. So does a rule on a bound that some results
    lack, but for those whose strangers are always hit: their risk is undefined, and they cannot show an excess. Results
    without a score are left out of rules on scores.
    """
    broken = []
    for rule in rules:
        parsed = parse_rule(rule, known)
        if isinstance(parsed, str):
            if data["verdict"]["verdict"] in ("excess found", "no holdout"):
                broken.append(f"excess: the verdict is «{data['verdict']['verdict']}»")
            continue
        attack, variant, field, operator, limit = parsed
        own = [r for r in data["results"] if attack in ("any", r["attack"]) and variant in ("", r["variant"])]
        why = _broken_by(own, field, _OPERATORS[operator], limit)
        if why:
            broken.append(f"{rule.strip()}: {why}")
    return broken


def _broken_by(results: Sequence[Json], field: str, breaks: Callable[[float, float], bool], limit: float) -> str:
    """Return why results break a rule, "" when they keep it."""
    if field == "score":
        found = [(r["score"], r) for r in results if r["score"] is not None]
        lacking = []
    else:
        bounds = [(r["risk"][_FIELDS[field]], r) for r in results if r["risk"] is not None]
        found = [(bound, r) for bound, r in bounds if bound is not None]
        lacking = [r for bound, r in bounds if bound is None and not _strangers_always_hit(r)]
    if not found and not lacking:
        return "was not tested"
    if lacking:
        return f"{len(lacking)} of {len(found) + len(lacking)} comparisons have no such bound, as {_named(lacking[0])}"
    value, result = (min if field == "score" else max)(found, key=lambda f: f[0])
    return f"found {value:.{1 if field == 'score' else 4}f} ({_named(result)})" if breaks(value, limit) else ""


def _strangers_always_hit(result: Json) -> bool:
    rate = (result["holdout"] or {}).get("rate")
    return rate is not None and rate >= 1 - 1e-12


def _named(result: Json) -> str:
    return view.tidy(view.label(result, "->"))
