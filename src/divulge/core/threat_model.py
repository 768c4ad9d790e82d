"""Questions that no run can answer: who might attack, what is released, who decides. Free text of the schema file."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, time
from math import isfinite
from typing import Annotated, Any, Literal, get_args, get_type_hints

import msgspec
from msgspec import Meta

from divulge.core.errors import SettingError, tidy
from divulge.core.records import PUBLIC

__all__ = [
    "NOT_STATED",
    "PRESETS",
    "Actor",
    "Attacker",
    "Claim",
    "Decision",
    "Preset",
    "Release",
    "Threat",
    "questions",
    "template",
    "threat_from",
]

Text = tuple[str, ...]


class Attacker(msgspec.Struct, frozen=True, kw_only=True):
    """Who might attack; an empty answer was not stated."""

    who: Annotated[Text, Meta(description="Who could try: a recipient, the public, an insider.")] = ()
    knows: Annotated[Text, Meta(description="What the attacker knows about people: which columns, of whom.")] = ()
    source: Annotated[Text, Meta(description="Where the attacker has this from, and why that is plausible.")] = ()
    wants: Annotated[Text, Meta(description="What is secret; which of it is of a special category.")] = ()
    harm: Annotated[Text, Meta(description="What would happen to people if the attacker learnt it.")] = ()
    sees: Annotated[
        Text,
        Meta(description="Whether the attacker sees the model, the training code, other releases, or none of them."),
    ] = ()
    effort: Annotated[
        Text, Meta(description="Cost, time and technology that the attacker is reasonably likely to use.")
    ] = ()


class Actor(Attacker, frozen=True, kw_only=True):
    """One of several attackers, by name: what each knows and wants is tested for each.

    Examples
    --------
    >>> actor = threat_from({"actor": [{"preset": "insider", "targets": ["income"]}]}).actors[0]
    >>> actor.name, actor.knows_membership, actor.keys
    ('insider', True, None)
    """

    name: Annotated[str, Meta(description="Name of the actor, in every sentence about it.")]
    preset: Annotated[str, Meta(description="Preset whose answers stand where the actor has none of its own.")] = ""
    keys: Annotated[tuple[str, ...] | None, Meta(description="Columns that the actor knows about people.")] = None
    targets: Annotated[tuple[str, ...] | None, Meta(description="Columns that the actor wants to learn.")] = None
    knows_membership: Annotated[
        bool, Meta(description="Whether the actor knows who is in the real table (prosecutor)."), PUBLIC
    ] = False
    population: Annotated[
        int | str | None,
        Meta(description="People of whom the real table is a part: their number, or a table with the keys."),
        PUBLIC,
    ] = None


class Preset(msgspec.Struct, frozen=True, kw_only=True):
    """What an actor knows by default."""

    kinds: tuple[str, ...]
    """Kinds of the columns that it knows, without the targets."""
    marked: bool
    """Whether it knows the columns with the role "key" in their place, where there are any."""
    knows_membership: bool
    texts: dict[str, str]


_CODES = ("categorical", "boolean", "integer-coded")
PRESETS: dict[str, Preset] = {
    "motivated-intruder": Preset(
        kinds=_CODES,
        marked=True,
        knows_membership=False,
        texts={
            "who": "Anybody who wants to know who is in the table, without special skills or access.",
            "source": "What can be seen, asked or looked up: the internet, libraries, public registers.",
            "sees": "The synthetic table alone.",
        },
    ),
    "recipient": Preset(
        kinds=(*_CODES, "datetime"),
        marked=False,
        knows_membership=False,
        texts={
            "who": "Whoever receives the synthetic table.",
            "source": "Records of their own about some of the same people: codes and dates.",
            "sees": "The synthetic table, and what the contract allows.",
        },
    ),
    "insider": Preset(
        kinds=(*_CODES, "datetime", "numeric"),
        marked=False,
        knows_membership=True,
        texts={
            "who": "Somebody who works with the real data, or did.",
            "source": "The real data about a person, all but what is wanted.",
            "sees": "The synthetic table, and who is in the real one.",
        },
    ),
}
"""Actors that a schema file may name."""


class Release(msgspec.Struct, frozen=True, kw_only=True):
    """What is released and how; an empty answer was not stated."""

    dataset: Annotated[Text, Meta(description="Which data set and version the real table is.")] = ()
    period: Annotated[Text, Meta(description="The time that the data are about, and the date of the table.")] = ()
    row_is: Annotated[Text, Meta(description="What a row is: a person, a household, a visit.")] = ()
    generator: Annotated[Text, Meta(description="Which generator made the synthetic table, and its version.")] = ()
    generator_settings: Annotated[Text, Meta(description="Its settings, such as a privacy budget.")] = ()
    tables_released: Annotated[Text, Meta(description="How many tables of this model are or will be released.")] = ()
    model: Annotated[Text, Meta(description="Whether the model is released too: it is to be assessed by itself.")] = ()
    holdout: Annotated[
        Text,
        Meta(description="How the holdout was split off: by row, person, time, site; what was done to duplicates."),
    ] = ()
    recipient: Annotated[Text, Meta(description="Who is to receive the table.")] = ()
    purpose: Annotated[Text, Meta(description="What the table is to be used for.")] = ()
    setting: Annotated[Text, Meta(description="Release setting: public, licensed, enclave.")] = ()
    controls: Annotated[Text, Meta(description="Contracts and technical measures that bind a recipient.")] = ()
    onward: Annotated[Text, Meta(description="To whom a recipient may pass the table on.")] = ()
    legal_basis: Annotated[
        Text, Meta(description="Legal basis of making the table, which is itself processing of personal data.")
    ] = ()
    made_by: Annotated[Text, Meta(description="Who made this assessment.")] = ()


class Decision(msgspec.Struct, frozen=True, kw_only=True):
    """Who decides on what; an empty answer was not stated."""

    acceptable_why: Annotated[Text, Meta(description="Why the acceptable risk is what it is.")] = ()
    acceptable_set: Annotated[Text, Meta(description="When and by whom it was set: before the run?")] = ()
    decided: Annotated[Text, Meta(description="What was decided, and which remaining risk is accepted.")] = ()
    accepted_by: Annotated[Text, Meta(description="Who accepts it.")] = ()
    date: Annotated[Text, Meta(description="When.")] = ()
    dpo_advice: Annotated[Text, Meta(description="What the data protection officer advised.")] = ()
    dpia: Annotated[Text, Meta(description="Where the data protection impact assessment is filed.")] = ()
    review: Annotated[Text, Meta(description="When the decision is looked at again.")] = ()
    triggers: Annotated[
        Text, Meta(description="What makes it due earlier: new auxiliary data, new attacks, a further release.")
    ] = ()


Unit = Literal["person", "row"]
Neighbouring = Literal["replace", "add or remove"]


class Claim(msgspec.Struct, frozen=True, kw_only=True):
    """The differential privacy that is claimed of the table, in [release]; what is null was not stated."""

    epsilon: Annotated[float, PUBLIC, Meta(description="A number above 0.")]
    delta: Annotated[float | None, PUBLIC, Meta(description="A number from 0 on, below 1.")] = None
    unit: Annotated[Unit | None, Meta(description="Whose record the claim protects: person, row.")] = None
    neighbouring: Annotated[
        Neighbouring | None, Meta(description="How two tables differ: replace one, add or remove one.")
    ] = None


class Threat(msgspec.Struct, frozen=True, kw_only=True):
    """What people state about the attacker, the release and the decision.

    Examples
    --------
    >>> Threat(attacker=Attacker(who=("the public",))).attacker.who
    ('the public',)
    """

    attacker: Attacker = Attacker()
    actors: Annotated[
        tuple[Actor, ...], Meta(description="Several attackers, each with keys and targets; empty: there is one.")
    ] = ()
    release: Release = Release()
    decision: Decision = Decision()
    claim: Claim | None = None


NOT_STATED = Threat()

TABLES: dict[str, type[msgspec.Struct]] = {"attacker": Attacker, "release": Release, "decision": Decision}


def questions(table: str) -> dict[str, str]:
    """Return the questions of one table, by key.

    Examples
    --------
    >>> questions("decision")["accepted_by"]
    'Who accepts it.'
    """
    hints = get_type_hints(TABLES[table], include_extras=True)
    return {key: str(hint.__metadata__[0].description) for key, hint in hints.items()}


def threat_from(data: Mapping[str, Any], source: str = "schema") -> Threat:
    """Return what the tables "attacker", "actor", "release" and "decision" of a schema file state.

    Raises
    ------
    SettingError
        A key is unknown, a value is neither text nor a list of text, or an actor cannot be told from another.

    Examples
    --------
    >>> threat_from({"release": {"setting": "public"}}).release.setting
    ('public',)
    """
    parts = {name: data.get(name, {}) for name in TABLES}
    release, claim = parts["release"], None
    if isinstance(release, Mapping):
        claim = _claim({k: v for k, v in release.items() if k in Claim.__struct_fields__}, f"{source}: [release]")
        parts["release"] = {k: v for k, v in release.items() if k not in Claim.__struct_fields__}
    stated = {name: _texts(part, name, source) for name, part in parts.items()}
    return msgspec.convert(stated | {"actors": _actors(data, source), "claim": claim}, Threat)


def _actors(data: Mapping[str, Any], source: str) -> list[Actor]:
    """Return the actors of a schema file, in its order."""
    given = data.get("actor")
    if given is None:
        return []
    if not isinstance(given, list) or not given or not all(isinstance(one, Mapping) for one in given):
        raise SettingError(
            f"{source}: actor holds no actor. hint: write [[actor]], in two brackets, and below it "
            f"name, keys and targets, or preset = {' or '.join(map(repr, PRESETS))}."
        )
    if "attacker" in data:
        raise SettingError(
            f"{source}: both [attacker] and [[actor]]. hint: write what [attacker] says into one [[actor]]."
        )
    actors = [_actor(one, source) for one in given]
    twice = [a.name for i, a in enumerate(actors) if a.name in {b.name for b in actors[:i]}]
    if twice:
        raise SettingError(
            f"{source}: [[actor]]: two actors are named {twice[0]!r}. hint: give each a name of its own."
        )
    return actors


_KNOWN = ("name", "preset", "keys", "targets", "knows_membership", "population")


def _actor(table: Mapping[str, Any], source: str) -> Actor:
    where, known = f"{source}: [[actor]]", (*_KNOWN, *questions("attacker"))
    for key in table:
        if key not in known:
            raise SettingError(f"{where}: unknown entry {key!r}. hint: use {', '.join(known)}.")
    preset = table.get("preset", "")
    if preset != "" and preset not in PRESETS:
        raise SettingError(f"{where}: no preset of this name. hint: one of {', '.join(PRESETS)}.")
    name = table.get("name", preset)
    if not isinstance(name, str) or not 0 < len(name.strip()) <= _LONGEST or "," in name:
        raise SettingError(
            f"{where}: name is no text of 1 to {_LONGEST} characters without a comma. "
            'hint: name = "insurer", or a preset, whose name it then has.'
        )
    where = f"{where} {name!r}"
    member = table.get("knows_membership", preset != "" and PRESETS[preset].knows_membership)
    if not isinstance(member, bool):
        raise SettingError(f"{where}: knows_membership is neither true nor false. hint: knows_membership = true.")
    texts = {k: _text(v, f"{where}: {k}") for k, v in table.items() if k not in _KNOWN}
    usual = {k: (v,) for k, v in PRESETS[preset].texts.items()} if preset else {}
    return Actor(
        name=tidy(name.strip()),
        preset=preset,
        keys=_columns(table, "keys", where),
        targets=_columns(table, "targets", where),
        knows_membership=member,
        population=_population(table.get("population"), where),
        **usual | texts,
    )


_LONGEST = 40


def _columns(table: Mapping[str, Any], entry: str, where: str) -> Text | None:
    """Return the columns that an actor names; None where it names none."""
    given = table.get(entry)
    if given is None:
        return None
    names = [given] if isinstance(given, str) else given
    if not isinstance(names, list) or not names or not all(isinstance(n, str) and n for n in names):
        raise SettingError(f'{where}: {entry} names no column. hint: {entry} = ["age", "sex"], or leave the line out.')
    if len(set(names)) < len(names):
        raise SettingError(f"{where}: {entry}: a column is named twice. hint: name it once.")
    return tuple(names)


def _population(given: Any, where: str) -> int | str | None:
    if given is None or (isinstance(given, str) and given.strip() and not given.strip().endswith("%")):
        return given
    if isinstance(given, bool) or not isinstance(given, int) or given < 1:
        raise SettingError(
            f"{where}: population is neither a whole number of people nor the path of a table. "
            'hint: population = 48000, or "register.csv"; shares and percentages are not read.'
        )
    return given


def _claim(given: Mapping[str, Any], where: str) -> Claim | None:
    """Return the claim among the entries of [release]; None without one."""
    if not given:
        return None
    if "epsilon" not in given:
        raise SettingError(f"{where}: {next(iter(given))} without epsilon. hint: epsilon = 1.0 says what is claimed.")
    for name, least, below in (("epsilon", "above 0", None), ("delta", "from 0 on, below 1", 1)):
        value = given.get(name, 1e-9)
        if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
            usual = 1.0 if name == "epsilon" else "0.00001"
            raise SettingError(
                f"{where}: {name} is no number. hint: {name} = {usual}, without quotes or a percent sign."
            )
        if value < 0 or (name == "epsilon" and value == 0) or (below is not None and value >= below):
            raise SettingError(
                f"{where}: {name} is not {least}. hint: it is a number, no percentage"
                + ("; an epsilon of 0 is a table that depends on nobody." if name == "epsilon" else ": 0.01 is 1%.")
            )
    for name, words in (("unit", get_args(Unit)), ("neighbouring", get_args(Neighbouring))):
        if name in given and given[name] not in words:
            quoted = " or ".join(f'"{w}"' for w in words)
            raise SettingError(f"{where}: {name} is not known. hint: write {quoted}.")
    return msgspec.convert(dict(given), Claim)


def _texts(table: Any, name: str, source: str) -> dict[str, Text]:
    known = questions(name)
    if not isinstance(table, Mapping):
        raise SettingError(f"{source}: {name} is not a table. hint: write [{name}] and below it {', '.join(known)}.")
    for key in table:
        if key not in known:
            raise SettingError(f"{source}: [{name}]: unknown entry {key!r}. hint: use {', '.join(known)}.")
    return {key: _text(value, f"{source}: [{name}]: {key}") for key, value in table.items()}


def _text(value: Any, where: str) -> Text:
    entries = value if isinstance(value, list) else [value]
    for entry in entries:
        # a date or a number without quotes is meant as text
        if isinstance(entry, bool) or not isinstance(entry, str | int | float | date | time):
            raise SettingError(f"{where}: neither text nor a list of text. hint: put it in quotes.")
    return tuple(text for entry in entries if (text := str(entry).strip()))


_SEVERAL = """\
# Several attackers? Take [attacker] out, and write one [[actor]] each; a preset fills in what is left out:
# [[actor]]
# preset = "motivated-intruder"  # or "recipient", "insider"
# name = "insurer"               # in every sentence; else the name of the preset
# keys = ["age", "sex"]          # columns that the actor knows; else by the preset
# targets = ["diagnosis"]        # columns that the actor wants; else --targets, or those marked "target"
# knows_membership = false       # whether the actor knows who is in the real table
# population = 48000             # people of whom the real table is a part, or the path of a table of them
"""


def _actor_in_toml(actor: Actor) -> str:
    import tomli_w

    given = {k: v for k, v in msgspec.structs.asdict(actor).items() if v is not None and v != "" and v != ()}
    usual = {k: (v,) for k, v in PRESETS[actor.preset].texts.items()} if actor.preset else {}
    ordered = {k: given[k] for k in (*_KNOWN, *questions("attacker")) if k in given and usual.get(k) != given[k]}
    texts = {k: list(v) if isinstance(v, tuple) else v for k, v in ordered.items()}
    return "[[actor]]\n" + tomli_w.dumps(texts)


GENERATORS_KNOWN = "# The advice of a report names settings where the answer has one of these words:"
_CLAIM = """\
# The differential privacy that is claimed of the table, if any: the report says what it allows an attacker beside what
# was found. unit: whose record it protects, "person" or "row"; neighbouring: two tables differ in one that is replaced
# ("replace"), or in one that is there or not ("add or remove"). Without all four the claim is not judged."""
_ASKED = {"epsilon": "1.0", "delta": "0.0", "unit": '"person"', "neighbouring": '"replace"'}
_OPENING = """
# Questions that no run can answer. The report prints the answers unchanged, and lists the open questions.
# Remove the # before an answer; write "text" or ["several", "texts"].
"""


def template(threat: Threat) -> str:
    """Return the three tables as TOML: the stated answers, and the open questions as comments.

    Examples
    --------
    >>> [line for line in template(Threat(decision=Decision(date=("2026-11-21",)))).splitlines() if "date =" in line]
    ['date = "2026-11-21"']
    """
    import tomli_w

    from divulge.core.generators import words_in_toml

    lines = [_OPENING]
    given = {} if threat.claim is None else msgspec.structs.asdict(threat.claim)
    claim = {k: tomli_w.dumps({k: v}).rstrip().partition(" = ")[2] for k, v in given.items() if v is not None}
    for name in TABLES:
        if name == "attacker" and threat.actors:
            lines += ["# Attackers; each is tested with its own keys and targets.", *map(_actor_in_toml, threat.actors)]
            continue
        lines += [_SEVERAL] if name == "attacker" else []
        lines.append(f"[{name}]")
        for key, question in questions(name).items():
            stated = getattr(getattr(threat, name), key)
            answer = tomli_w.dumps({key: stated[0] if len(stated) == 1 else list(stated)}).rstrip()
            more = [GENERATORS_KNOWN, words_in_toml()] if (name, key) == ("release", "generator") else []
            lines += [f"# {question}", *more, answer if stated else f'# {key} = ""']
        if name == "release":
            lines += [_CLAIM, *(f"{'' if k in claim else '# '}{k} = {v}" for k, v in (_ASKED | claim).items())]
        lines.append("")
    return "\n".join(lines)
