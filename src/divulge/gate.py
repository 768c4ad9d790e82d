"""Rules that a run must keep, such as 'cap.high > 0.05': the exit status of a nightly build."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from divulge.errors import SettingError

__all__ = ["breaches", "parse_rule"]

_RULE = re.compile(r"\s*([a-z_]+)\.(high|low|value)\s*(>=|>|<=|<)\s*(-?\d*\.?\d+(?:[eE]-?\d+)?)\s*")
_OPERATORS: dict[str, Callable[[float, float], bool]] = {
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
}
_FIELDS = {"high": "high_simultaneous", "low": "low_simultaneous", "value": "value"}


def parse_rule(rule: str, known: Sequence[str]) -> tuple[str, str, str, float] | str:
    """Return the parts of a rule, or "excess" for the rule of that name.

    Parameters
    ----------
    rule
        "ATTACK.high > 0.05" (high, low: simultaneous limits of risk; value: its estimate), "any.high > 0.05", or
        "excess" for any verdict of that name.
    known
        Names of attacks.

    Raises
    ------
    SettingError
        The rule cannot be read or names no attack.

    Examples
    --------
    >>> parse_rule("cap.high > 0.05", ["cap"])
    ('cap', 'high', '>', 0.05)
    """
    if rule.strip() == "excess":
        return "excess"
    match = _RULE.fullmatch(rule)
    if not match:
        raise SettingError(f"--fail-on {rule!r}: not a rule. hint: write 'cap.high > 0.05', 'any.low > 0' or 'excess'.")
    if match[1] != "any" and match[1] not in known:
        raise SettingError(f"--fail-on {rule!r}: no attack {match[1]!r}. hint: any, {', '.join(known)}.")
    return match[1], match[2], match[3], float(match[4])


def breaches(data: Mapping[str, Any], rules: Sequence[str], known: Sequence[str]) -> list[str]:
    """Return a sentence for each rule that the assessment breaks.

    The largest bound over an attack's results is compared. A rule on an attack that has no such bound (it did
    not run, there was no holdout, or the risk is undefined) counts as broken: a gate that was not tested is not open.
    """
    broken = []
    for rule in rules:
        parsed = parse_rule(rule, known)
        if isinstance(parsed, str):
            if data["verdict"]["verdict"] in ("excess found", "no holdout"):
                broken.append(f"excess: the verdict is «{data['verdict']['verdict']}»")
            continue
        name, field, operator, limit = parsed
        tested = [r["risk"] for r in data["results"] if name in ("any", r["attack"]) and r["risk"] is not None]
        bounds = [risk[_FIELDS[field]] for risk in tested if risk[_FIELDS[field]] is not None]
        if not bounds:
            broken.append(f"{rule.strip()}: was not tested")
        elif len(bounds) < len(tested):
            broken.append(
                f"{rule.strip()}: {len(tested) - len(bounds)} of {len(tested)} comparisons have no such bound"
            )
        elif _OPERATORS[operator](max(bounds), limit):
            broken.append(f"{rule.strip()}: found {max(bounds):.4f}")
    return broken
