"""What the user states of the values of a column, and the rules between columns: for the diagnostic report."""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from divulge.core.errors import SettingError

__all__ = ["LIMITS", "NO_LIMITS", "Limits", "Rule", "limits_from", "rules_from"]

LIMITS = ("low", "high", "values", "missing", "format", "pattern")
_RULE = 'a rule looks like [[rule]] constraint = "Inequality", low_column_name = "start", high_column_name = "end"'


@dataclass(frozen=True, slots=True)
class Limits:
    """What a column may hold. It is stated by the user, compared with, and copied into no report."""

    low: Any = None
    """Smallest number or first date; None takes that of the real table."""
    high: Any = None
    values: tuple[Any, ...] | None = None
    """Categories; None takes those of the real table."""
    missing: bool | None = None
    """Whether a value may be missing; None goes by the real table."""
    format: str | None = None
    """How dates are written, such as "%Y-%m-%d"."""
    pattern: str | None = None
    """Regular expression of an identifier."""

    def entries(self) -> dict[str, Any]:
        """Return what TOML says of them."""
        stated = {name: getattr(self, name) for name in LIMITS}
        return {n: list(v) if isinstance(v, tuple) else v for n, v in stated.items() if v is not None}


NO_LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule that each row keeps: a constraint of SDV and its parameters."""

    constraint: str
    parameters: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def entries(self) -> dict[str, Any]:
        """Return what TOML says of it."""
        return {"constraint": self.constraint, **self.parameters}


_COUNTED = ("numeric", "datetime", "categorical", "boolean", "integer-coded")
_KINDS = {
    "low": ("numeric", "datetime"),
    "high": ("numeric", "datetime"),
    "values": ("categorical", "boolean", "integer-coded"),
    "missing": _COUNTED,
    "format": ("datetime",),
    "pattern": ("identifier",),
}
"""The kinds of columns that each may stand for."""


def limits_from(name: str, kind: str, entry: Mapping[str, Any], source: str) -> Limits:
    """Return what an entry of a TOML file states of the values of a column.

    Raises
    ------
    SettingError
        An entry has another type, is not for this kind of column, or the limits leave no value.

    Examples
    --------
    >>> limits_from("age", "numeric", {"low": 0, "high": 120}, "schema").entries()
    {'low': 0, 'high': 120}
    """

    def wrong(part: str, what: str) -> SettingError:
        return SettingError(f"{source}: column {name!r}: {part} {what}.")

    for part, kinds in _KINDS.items():
        if part in entry and kind not in kinds:
            raise wrong(part, f"is for {' and '.join(kinds)} columns, and this one is {kind}. hint: leave it out")
    for part in ("low", "high"):
        if not _is_limit(entry.get(part)):
            raise wrong(part, "is no number and no date. hint: write low = 0, or low = 2020-01-31")
    low, high = entry.get("low"), entry.get("high")
    if low is not None and high is not None:
        if type(low) is not type(high) and {type(low), type(high)} != {int, float}:
            raise wrong("low", "and high are of different types. hint: two numbers, or two dates")
        if low > high:
            raise wrong("low", "is above high. hint: exchange them")
    values = entry.get("values")
    if values is not None and not (isinstance(values, list) and values and all(map(_is_plain, values))):
        raise wrong("values", 'is no list of texts or numbers. hint: write values = ["a", "b"]')
    if not isinstance(entry.get("missing", True), bool):
        raise wrong("missing", "is neither true nor false. hint: write missing = false")
    form = entry.get("format")
    if form is not None and not (isinstance(form, str) and "%" in form):
        raise wrong("format", 'is no format of dates. hint: write format = "%Y-%m-%d"')
    _check_pattern(entry.get("pattern"), wrong)
    listed = None if values is None else tuple(values)
    return Limits(low, high, listed, entry.get("missing"), form, entry.get("pattern"))


def _is_limit(value: Any) -> bool:
    return value is None or (isinstance(value, int | float | datetime.date) and not isinstance(value, bool))


def _is_plain(value: Any) -> bool:
    return isinstance(value, str | int | float)


def _check_pattern(pattern: Any, wrong: Any) -> None:
    if pattern is None:
        return
    try:
        re.compile(pattern)
    except (re.error, TypeError, RecursionError, OverflowError):
        raise wrong("pattern", r"is no regular expression. hint: write pattern = '\d{4}'") from None


def rules_from(data: Mapping[str, Any], source: str) -> tuple[Rule, ...]:
    """Return the rules of a TOML file, its tables [[rule]].

    Raises
    ------
    SettingError
        A rule names no constraint.

    Examples
    --------
    >>> rules_from({"rule": [{"constraint": "FixedIncrements", "column_name": "pay", "increment_value": 5}]}, "schema")
    (Rule(constraint='FixedIncrements', parameters={'column_name': 'pay', 'increment_value': 5}),)
    """
    listed = data.get("rule", [])
    if not isinstance(listed, list) or not all(isinstance(rule, dict) for rule in listed):
        raise SettingError(f"{source}: rule is no list of tables. hint: {_RULE}.")
    for rule in listed:
        if not isinstance(rule.get("constraint"), str):
            raise SettingError(f"{source}: a rule names no constraint. hint: {_RULE}.")
    return tuple(Rule(r["constraint"], {k: v for k, v in r.items() if k != "constraint"}) for r in listed)
