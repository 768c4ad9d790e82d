"""Questions that no run can answer: who might attack, what is released, who decides. Free text of the schema file."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, time
from typing import Annotated, Any, get_type_hints

import msgspec
from msgspec import Meta

from divulge.core.errors import SettingError

__all__ = ["NOT_STATED", "Attacker", "Decision", "Release", "Threat", "questions", "template", "threat_from"]

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


class Threat(msgspec.Struct, frozen=True, kw_only=True):
    """What people state about the attacker, the release and the decision.

    Examples
    --------
    >>> Threat(attacker=Attacker(who=("the public",))).attacker.who
    ('the public',)
    """

    attacker: Attacker = Attacker()
    release: Release = Release()
    decision: Decision = Decision()


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
    """Return what the tables "attacker", "release" and "decision" of a schema file state.

    Raises
    ------
    SettingError
        A key is unknown, or a value is neither text nor a list of text.

    Examples
    --------
    >>> threat_from({"release": {"setting": "public"}}).release.setting
    ('public',)
    """
    return msgspec.convert({name: _texts(data.get(name, {}), name, source) for name in TABLES}, Threat)


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


GENERATORS_KNOWN = "# The advice of a report names settings where the answer has one of these words:"
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
    for name in TABLES:
        lines.append(f"[{name}]")
        for key, question in questions(name).items():
            stated = getattr(getattr(threat, name), key)
            answer = tomli_w.dumps({key: stated[0] if len(stated) == 1 else list(stated)}).rstrip()
            more = [GENERATORS_KNOWN, words_in_toml()] if (name, key) == ("release", "generator") else []
            lines += [f"# {question}", *more, answer if stated else f'# {key} = ""']
        lines.append("")
    return "\n".join(lines)
