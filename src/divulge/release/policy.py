"""A policy: conditions, written before the run, that a synthetic table must meet to be released."""

from __future__ import annotations

import difflib
import hashlib
import re
import tomllib
from collections.abc import Sequence
from datetime import UTC, date, datetime
from os import PathLike
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta

from divulge.attacks.entry import CATALOGUE
from divulge.core.bounded_read import read_at_most
from divulge.core.errors import SettingError
from divulge.core.records import CRITICAL
from divulge.core.result import Verdict, tidy
from divulge.release.fidelity_rules import parse_rule as parse_any_rule
from divulge.release.rules import parse_rule

__all__ = [
    "TEMPLATE",
    "Accepted",
    "Change",
    "Control",
    "Limits",
    "Policy",
    "fixed_by",
    "policy_from_toml",
    "read_policy",
]

Share = Annotated[float, Meta(gt=0, le=1)]
Risk = Annotated[float, Meta(ge=-1, le=1)]
Name = Annotated[str, Meta(min_length=1)]

CHECKS = (*CRITICAL, "same columns", "same types", "infinite values", "same values", "holdout", "sizes")
"""Preconditions that can fail."""


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """Limits on the comparisons of one attack: on the largest of each number, and on the smallest score."""

    high: Risk | None = None
    """Largest simultaneous upper limit of risk that is allowed."""
    low: Risk | None = None
    """Largest simultaneous lower limit of risk that is allowed."""
    value: Risk | None = None
    """Largest risk that is allowed."""
    score: Annotated[float, Meta(ge=0, le=100)] | None = None
    """Smallest score that is allowed."""


class Control(msgspec.Struct, frozen=True, kw_only=True):
    """What the positive control must show, for each kind of planted people."""

    seen: bool = False
    """Whether the run must see the planted people."""
    smallest_share: Share | None = None
    """Upper bound on the smallest share of planted rows that would be seen."""


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """Requires that no risk rose since the previous run."""

    verdict: Literal["no change found"]


class Accepted(msgspec.Struct, frozen=True, kw_only=True):
    """A limit of the bounds of one attack that somebody accepts in place of the acceptable risk."""

    limit: Annotated[float, Meta(gt=0, lt=1)]
    """Largest limit that counts as bounded, a fraction of people."""
    why: Name
    by: Name
    """Who accepts it."""
    on: date
    """When it was accepted."""


class Policy(msgspec.Struct, frozen=True, kw_only=True):
    """Conditions that a run must keep.

    Examples
    --------
    >>> from divulge.release.conditions import conditions
    >>> conditions(Policy(preconditions=False))
    ['overall verdict: none found or cannot tell']
    """

    name: Name = "policy"
    verdicts: Annotated[tuple[Verdict, ...], Meta(min_length=1)] = ("none found", "cannot tell")
    """Overall verdicts that let the table pass."""
    required: tuple[str, ...] = ()
    """Attacks that must have run, and been compared with strangers."""
    fail_on: tuple[str, ...] = ()
    """Rules as in --fail-on."""
    preconditions: bool | tuple[str, ...] = True
    """Whether every critical precondition must hold; names add further ones."""
    power: dict[str, Share] = {}
    """By attack or "any": upper bound on the smallest excess in rate that its headline comparison detects."""
    attacks: dict[str, Limits] = {}
    """Limits by attack, or by "any", either with a variant or an actor in brackets: "any[insider]"."""
    positive_control: Control | None = None
    change: Change | None = None
    primary: tuple[str, ...] = ()
    """Attacks whose bounds "none found" needs; () takes those of the catalogue."""
    accepted: dict[str, Accepted] = {}
    """By attack: the limit that counts as bounded."""
    sha256: str | None = None
    """SHA-256 of the file."""
    file_changed: str | None = None
    """When the file was last changed, as the file system says."""

    @property
    def limits(self) -> dict[str, float]:
        """The accepted limits by attack."""
        return {name: given.limit for name, given in self.accepted.items()}


TEMPLATE = """\
# A policy of divulge: what must hold before the synthetic table may be released. Write it before the run.
#   divulge policy --check policy.toml                          what it asks, in words
#   divulge assess real.csv synthetic.csv --holdout holdout.csv --policy policy.toml
# What was not tested is not kept, and nothing is kept where strangers are no fair comparison with members. Risks,
# shares and rates are fractions: 0.05 is 5%. Take away a # to ask for more.

name = "my release"

# Overall verdicts that let the table pass: "none found", "cannot tell", "excess found",
# "deficit found" (rows near to members are missing), "no holdout".
verdicts = ["none found", "cannot tell"]

# Attacks that must have run and been compared with strangers; `divulge attacks` lists all.
required = ["singling_out", "linkability", "inference", "copies", "membership"]

# Attacks whose limits of risk "none found" needs, at most --acceptable (0.05): these are the usual ones. dcr is
# nearness, how many more members than strangers have a synthetic row nearer than all but 1 to 10% of people. Without
# copies and inference no run says "none found". `required` above says what must have run.
# primary = ["copies", "dcr", "linkability", "inference", "membership"]

# Every precondition without which strangers are no fair comparison must hold. A list names further ones.
preconditions = true
# preconditions = ["sizes", "same columns", "same types", "same values"]

# Rules as of --fail-on: the policy is broken where one holds.
# They may ask what the table keeps, too: ruler 1 is a fresh sample of the same people, more is worse.
# fail_on = ["any.low > 0.01", "column_pairs[all].ruler > 3", "column_shapes differs"]

# The smallest excess in rate that the verdict finds in the headline comparison with 80% power is at most this: a run
# with too few people is not kept. It is corrected for the number of comparisons and of attacks. The headline of
# singling out is 3 columns, of linkability k = 1, of inference the nearest record, else the first variant (of
# membership the mean rank of its scores).
[power]
copies = 0.1
linkability = 0.1
inference = 0.15
singling_out = 0.25
membership = 0.15
# any = 0.1

# Limits on the simultaneous limits of risk: high (upper), low (lower), value (risk itself); score is at least.
[attacks.copies]
low = 0.0
# high = 0.1

# [attacks."inference[nearest record]"]
# high = 0.2
# score = 80

# An actor of the schema file ([[actor]]) in brackets: all that is tested for the insider.
# [attacks."any[insider]"]
# high = 0.1

# Copies planted by --positive-control must be seen, each kind, and a share of them as small as this would be.
# [positive_control]
# seen = true
# smallest_share = 0.05

# Another limit than --acceptable, with its reason in writing. The report prints it, with the hash of this file and what
# is known of when: a limit that was accepted after a run of the same tables is said to be so.
# [accepted.dcr]
# limit = 0.1
# why = "1,500 patients are all there are"
# by = "data protection officer"
# on = 2026-11-29

# No risk rose since the previous run.
# [change]
# verdict = "no change found"
"""
"""A policy with comments, to edit."""

# ---------------------------------------------------------------- reading


def read_policy(path: str | PathLike[str]) -> Policy:
    """Return the policy in a TOML file, with the hash of its bytes.

    Raises
    ------
    SettingError
        The file cannot be read, is not TOML, or has an unknown or invalid entry.
    """
    name = tidy(Path(path).name) or "policy"
    try:
        content = read_at_most(Path(path), 8, name)
        changed = datetime.fromtimestamp(Path(path).stat().st_mtime, UTC).isoformat(timespec="seconds")
    except OSError as error:
        raise SettingError(f"{name}: cannot be read ({error.strerror}). hint: check the path.") from None
    try:
        policy = policy_from_toml(content.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise SettingError(f"{name}: not UTF-8. hint: save it as UTF-8.") from None
    except SettingError as error:
        raise SettingError(f"{name}: " + str(error).removeprefix("policy: ")) from None
    return msgspec.structs.replace(policy, sha256=hashlib.sha256(content).hexdigest(), file_changed=changed)


def fixed_by(policy: Policy | None) -> dict[str, Any]:
    """Return what a policy fixes of the options of a run."""
    return {} if policy is None else {"primary": policy.primary or None, "accepted": policy.limits}


def policy_from_toml(text: str) -> Policy:
    r"""Return the policy that a TOML text describes; an empty text is the default policy.

    Raises
    ------
    SettingError
        The text is not TOML, or has an unknown or invalid entry.

    Examples
    --------
    >>> policy_from_toml('[attacks.linkability]\nhigh = 0.05').attacks["linkability"].high
    0.05
    """
    try:
        data = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # also a number of 5,000 digits, or 5,000 brackets
        where = re.search(r" \(at [^()]*\)$", str(error))  # the rest may quote the file
        raise SettingError(f"policy: not TOML{where[0] if where else ''}. hint: `divulge policy` prints one.") from None
    known = sorted(CATALOGUE)
    data = dict(data)
    power, attacks = (_table(data.pop(name, {}), f"[{name}]") for name in ("power", "attacks"))
    for name in power:
        _check_attack(name, ("any", *known), "[power]")
    for name in attacks:
        _check_attack(name.partition("[")[0], ("any", *known), "[attacks]")
        parse_rule(f"{name}.high > 0", known, "policy: [attacks]")
    parts: dict[str, Any] = {
        "power": {name: _converted(value, Share, f"[power]: {name}") for name, value in power.items()},
        "attacks": {name: _part(Limits, body, f"[attacks.{name}]") for name, body in attacks.items()},
    }
    given = _table(data.pop("accepted", {}), "[accepted]")
    for name in (*given, *_names(data.get("primary"))):
        _check_bounded(name, "[accepted]" if name in given else "primary")
    parts["accepted"] = {name: _accepted(body, f"[accepted.{name}]") for name, body in given.items()}
    for name, kind in (("positive_control", Control), ("change", Change)):
        if name in data:
            parts[name] = _part(kind, data.pop(name), f"[{name}]")
    policy = msgspec.structs.replace(_part(Policy, data, "", without=(*_OF_FILE, *parts)), **parts)
    for name in policy.required:
        _check_attack(name, known, "required")
    for rule in policy.fail_on:
        parse_any_rule(rule, known, "policy: fail_on")
    for check in policy.preconditions if isinstance(policy.preconditions, tuple) else ():
        if check not in CHECKS:
            raise SettingError(f"policy: preconditions: no check {check!r}. hint: use {', '.join(CHECKS)}.")
    return policy


_OF_FILE = ("sha256", "file_changed")  # fields that a policy has of its file, and no entry


def _names(given: Any) -> list[str]:
    """Return the texts of a list; what is no list is refused with the other entries."""
    return [name for name in given if isinstance(name, str)] if isinstance(given, list) else []


def _check_bounded(name: str, where: str) -> None:
    """Raise a `SettingError` unless a run bounds the risk of an attack."""
    known = [n for n, entry in CATALOGUE.items() if entry.primary is not None]
    if name in CATALOGUE and name not in known:
        raise SettingError(f"policy: {where}: no run bounds {name!r}. hint: use {', '.join(known)}.")
    _check_attack(name, known, where)


def _accepted(body: Any, where: str) -> Accepted:
    """Return an accepted limit; every field must be there, and the limit a fraction."""
    body, known = _table(body, where), Accepted.__struct_fields__
    for name in body:
        if name not in known:
            raise SettingError(f"policy: {where}: unknown entry {name!r}. hint: use {', '.join(known)}.")
    for name in known:
        given = body.get(name)
        if given is None or (isinstance(given, str) and not tidy(given).strip()):
            raise SettingError(f"policy: {where}: {name} is missing. hint: write {', '.join(known)} (a date).")
        if name == "on" and (isinstance(given, datetime) or not isinstance(given, date)):
            raise SettingError(f"policy: {where}: on: no date. hint: write it without quotes: on = 2026-11-29.")
        if name == "limit" and isinstance(given, int | float) and not isinstance(given, bool) and not 0 < given < 1:
            raise SettingError(f"policy: {where}: limit: not between 0 and 1. hint: 0.1 is 10%.")
        if name != "on":
            _converted(given, float if name == "limit" else str, f"{where}: {name}")
    return Accepted(**body)


Kind = TypeVar("Kind", bound=msgspec.Struct)


def _part(kind: type[Kind], body: Any, where: str, without: Sequence[str] = ()) -> Kind:
    """Return one table of the file as its struct."""
    body = _table(body, where)
    known = [f for f in kind.__struct_fields__ if f not in without]
    for name in body:
        if name not in known:
            tables = [f"[{n}]" for n in without if n not in _OF_FILE]
            at = f" {where}:" if where else ""
            raise SettingError(f"policy:{at} unknown entry {name!r}. hint: use {', '.join([*known, *tables])}.")
    if where and not any(v is not False for v in body.values()):
        raise SettingError(f"policy: {where} asks for nothing. hint: use {', '.join(known)}.")
    for name, value in body.items():
        _converted({name: value}, kind, f"{where}: {name}" if where else name)
    return msgspec.convert(body, kind)


def _converted(value: Any, kind: Any, where: str) -> Any:
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        what = str(error).partition(" - at ")[0].replace("`", "").replace(" | null", "")
        hint = "`divulge policy` prints one to edit"
        if what.startswith("Invalid enum value"):
            allowed = _words(kind, next(iter(value)))
            wrong = [w for w in _texts(value) if w not in allowed]
            what, hint = f"no such word: {', '.join(map(repr, wrong))}", f"use {', '.join(map(repr, allowed))}"
        raise SettingError(f"policy: {where}: {what[0].lower()}{what[1:]}. hint: {hint}.") from None


def _words(kind: Any, field: str) -> list[str]:
    """Return the words that a field of a struct takes."""
    found: list[str] = []
    open_ = [get_type_hints(kind)[field]]
    while open_:
        part = open_.pop(0)
        if get_origin(part) is Literal:
            found += get_args(part)
        else:
            open_ += get_args(part)
    return found


def _texts(value: Any) -> list[str]:
    """Return the texts inside an entry of the file."""
    if isinstance(value, str):
        return [value]
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for part in inner for text in _texts(part)]


def _table(body: Any, where: str) -> dict[str, Any]:
    if not isinstance(body, dict):
        raise SettingError(f"policy: {where} is no table. hint: `divulge policy` prints one to edit.")
    return body


def _check_attack(name: str, known: Sequence[str], where: str) -> None:
    if name not in known:
        near = difflib.get_close_matches(name, known, n=1)
        meant = f"did you mean {near[0]!r}? " if near else ""
        raise SettingError(f"policy: {where}: no attack {name!r}. hint: {meant}use {', '.join(known)}.")
