"""A regime: what somebody asks of a release, line by line, and which result or field of a report answers it."""

from __future__ import annotations

import re
import tomllib
from importlib.resources import files
from os import PathLike
from pathlib import Path
from textwrap import wrap
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from divulge.attacks.entry import CATALOGUE
from divulge.core.bounded_read import read_at_most
from divulge.core.errors import SettingError
from divulge.core.result import tidy
from divulge.core.threat_model import TABLES, questions
from divulge.release.policy import policy_from_toml

__all__ = [
    "MAPPING",
    "Regime",
    "RegimeCondition",
    "RegimeLine",
    "known_fields",
    "policy_text",
    "read_regime",
    "regime_from_toml",
    "regimes",
]

MAPPING = "Mapping by us, no legal statement."
"""What every document about a regime says."""
UNREAD = {"second hand": "by other accounts of the source", "not confirmed": "not confirmed in the source"}
"""What is said of a line whose source nobody read."""

Text = Annotated[str, Meta(min_length=1, max_length=300)]
Read = Literal["source", "second hand", "not confirmed"]
_OURS = "divulge.release.regimes"
_MOST = 20  # lines, so that a document has four pages at most
_JUDGES = re.compile(r"complian", re.IGNORECASE)

_FIELDS = (
    "claim",
    "edition",
    "facts.repeated",
    "facts.verbatim",
    "fidelity",
    "not_tested",
    "policy",
    "positive_control",
    "preconditions",
    "records",
    "settings.acceptable",
    "settings.keys",
    "settings.targets",
    "settings.unit",
    "tables",
    "tables.holdout",
    "verdict",
    "verdict.bounds",
    "versions",
)
"""The fields of a report that a line may name; `fields.py` has a sentence for each."""


class RegimeLine(msgspec.Struct, frozen=True, kw_only=True):
    """One line of a regime; its source, edition and date are those of the regime where it states none."""

    under: Text
    """Heading of the regime that the line belongs to."""
    asks: Text
    """What is asked, in the words of whoever wrote the mapping."""
    results: tuple[str, ...] = ()
    """Attacks whose results answer it."""
    fields: tuple[str, ...] = ()
    """Fields of the report that answer it."""
    missing: str = ""
    """Why the report does not answer it, or not the whole of it."""
    source: str = ""
    edition: str = ""
    date: str = ""
    read: Read | None = None

    @property
    def unanswered(self) -> bool:
        """Whether no report answers the line."""
        return not self.results and not self.fields


class RegimeCondition(msgspec.Struct, frozen=True, kw_only=True):
    """Some lines of the policy of a regime, and why they are there."""

    toml: Text
    why: Text


class Regime(msgspec.Struct, frozen=True, kw_only=True):
    """What somebody asks of a release."""

    name: Annotated[str, Meta(pattern="^[a-z0-9][a-z0-9-]{0,39}$")]
    title: Text
    source: Text
    edition: Text
    date: Text
    read: Read
    """"source": whoever wrote the mapping read the source; "second hand": somebody's account of it."""
    note: Text
    by: str = "divulge"
    """Who made the mapping."""
    line: Annotated[tuple[RegimeLine, ...], Meta(min_length=1, max_length=_MOST)]
    condition: tuple[RegimeCondition, ...] = ()

    def read_of(self, line: RegimeLine) -> str:
        """Return where a line comes from, "" where the regime says it for all lines."""
        given = "; ".join(dict.fromkeys(t for t in (line.source, line.edition) if t and t != "not seen"))
        unseen = "edition not seen" if line.edition == "not seen" else ""
        unread = UNREAD.get(line.read or "", "")
        return "; ".join(t for t in (given, unseen, unread) if t)


def regimes() -> list[str]:
    """Return the names of the regimes that come with divulge.

    Examples
    --------
    >>> regimes()
    ['ehds', 'gdpr-recipient', 'sp800-226', 'wp216']
    """
    return sorted(f.name.removesuffix(".toml") for f in files(_OURS).iterdir() if f.name.endswith(".toml"))


def known_fields() -> list[str]:
    """Return the fields that a line of a regime may name.

    Examples
    --------
    >>> known_fields()[:3], known_fields()[-1]
    (['claim', 'edition', 'facts.repeated'], 'threat.decision.triggers')
    """
    return [*_FIELDS, "threat.actors", *(f"threat.{table}.{key}" for table in TABLES for key in questions(table))]


def read_regime(given: str | PathLike[str]) -> Regime:
    """Return the regime of this name, or in this TOML file.

    Raises
    ------
    SettingError
        There is no such regime; or the file cannot be read, is not TOML, or has an unknown or invalid entry.

    Examples
    --------
    >>> read_regime("wp216").line[0].results
    ('singling_out',)
    """
    if str(given) in regimes():
        return regime_from_toml(files(_OURS).joinpath(f"{given}.toml").read_text(encoding="utf-8"), str(given))
    path = Path(given)
    if path.suffix.lower() != ".toml":
        known = ", ".join(regimes())
        raise SettingError(f"--regime: no regime {tidy(str(given))!r}. hint: use {known}, or name a file .toml.")
    name = tidy(path.name)
    try:
        text = read_at_most(path, 8, name).decode("utf-8-sig")
    except OSError as error:
        raise SettingError(f"{name}: cannot be read ({error.strerror}). hint: check the path.") from None
    except UnicodeDecodeError:
        raise SettingError(f"{name}: not UTF-8. hint: save it as UTF-8.") from None
    return regime_from_toml(text, name)


def regime_from_toml(text: str, where: str = "regime") -> Regime:
    """Return the regime that a TOML text describes; `where` names it at the start of a message.

    Raises
    ------
    SettingError
        The text is not TOML, has an unknown or invalid entry, names a result or field that no report has, or has a
        line that says neither what answers it nor why nothing does.
    """
    try:
        data = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # also a number of 5,000 digits, or 5,000 brackets
        place = re.search(r" \(at [^()]*\)$", str(error))  # the rest may quote the file
        raise SettingError(
            f"{where}: not TOML{place[0] if place else ''}. hint: docs/how-to/regimes.md has one."
        ) from None
    for table, kind in (("line", RegimeLine), ("condition", RegimeCondition)):
        rows = data.get(table, [])
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise SettingError(f"{where}: {table} is no list of tables. hint: write [[{table}]] above each.")
        for i, row in enumerate(rows, 1):
            _check_entries(row, kind, f"{where}: {table} {i}")
    _check_entries(data, Regime, where)
    made = msgspec.convert(data, Regime)
    if len({(c.under) for c in made.line}) > 9:
        raise SettingError(f"{where}: more than 9 headings. hint: put several lines under one.")
    for i, line in enumerate(made.line, 1):
        _check_line(line, f"{where}: line {i}")
    if _JUDGES.search(text):
        raise SettingError(f"{where}: it speaks of compliance, and a mapping judges nothing. hint: leave the word out.")
    if made.condition:
        _check_policy(made, where)
    return made


def policy_text(regime: Regime) -> str:
    """Return the policy of a regime as TOML, each line with a comment that explains it.

    Raises
    ------
    SettingError
        The regime has no policy.

    Examples
    --------
    >>> policy_text(read_regime("wp216")).splitlines()[0]
    '# WP216: the three questions of the Article 29 Working Party'
    """
    if not regime.condition:
        raise SettingError(f"{regime.name}: it has no [[condition]]. hint: `divulge policy` prints a general policy.")
    head = [
        regime.title,
        f"{MAPPING} Mapped by {tidy(regime.by)}. Source: {regime.source}; {regime.edition}.",
        "Write it before the run, and change what is yours to decide:",
        "  divulge assess real.csv synthetic.csv --holdout holdout.csv --policy policy.toml",
    ]
    parts = [_commented(head)]
    parts += [f"{_commented([c.why])}\n{c.toml.strip()}" for c in regime.condition]
    return "\n\n".join(parts) + "\n"


def _commented(texts: list[str]) -> str:
    lines = [line for text in texts for line in (wrap(tidy(text), 116) if len(text) > 116 else [tidy(text)])]
    return "\n".join(f"# {line}" for line in lines)


def _check_entries(body: dict[str, Any], kind: type[msgspec.Struct], where: str) -> None:
    """Raise a `SettingError` unless a table has the entries of a struct, each of its kind."""
    known = kind.__struct_fields__
    named = {f.name: f for f in msgspec.structs.fields(kind)}
    for name in body:
        if name not in known:
            raise SettingError(f"{where}: unknown entry {tidy(name)!r}. hint: use {', '.join(known)}.")
    for name, field in named.items():
        if name not in body and field.required:
            raise SettingError(f"{where}: {name} is missing. hint: use {', '.join(known)}.")
        if name not in body:
            continue
        try:
            msgspec.convert(body[name], field.type)
        except msgspec.ValidationError as error:
            what = str(error).partition(" - at ")[0].replace("`", "").partition(", got")[0]
            if what.startswith("Invalid enum value"):
                what, hint = "no such word", 'use "source", "second hand" or "not confirmed"'
            else:
                hint = "docs/how-to/regimes.md describes each entry"
            raise SettingError(f"{where}: {name}: {what[0].lower()}{what[1:]}. hint: {hint}.") from None


def _check_line(line: RegimeLine, where: str) -> None:
    """Raise a `SettingError` unless a line says what answers it, or why nothing does."""
    for name in line.results:
        if name not in CATALOGUE:
            raise SettingError(f"{where}: no attack {tidy(name)!r}. hint: `divulge attacks` lists all.")
    known = known_fields()
    for name in line.fields:
        if name not in known:
            raise SettingError(f"{where}: no field {tidy(name)!r}. hint: use {', '.join(known)}.")
    if line.unanswered and not line.missing.strip():
        raise SettingError(
            f"{where}: nothing answers it. hint: name results or fields, or say in `missing` why a report does not."
        )


def _check_policy(regime: Regime, where: str) -> None:
    try:
        policy_from_toml(policy_text(regime))
    except SettingError as error:
        raise SettingError(f"{where}: condition: {str(error).removeprefix('policy: ')}") from None
