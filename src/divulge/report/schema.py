"""The JSON Schema of assessment.json, made from the structs that the numbers come from."""

from __future__ import annotations

import json
import re
import sys
from inspect import cleandoc
from types import GenericAlias
from typing import Annotated, Any, Literal, get_type_hints

import msgspec
from msgspec import Meta

from divulge.core.result import IN_MEMORY, Result, Risk, Verdict
from divulge.core.threat_model import Threat
from divulge.report.model import FORMAT

__all__ = ["assessment_schema", "fault", "schema_of", "schema_text"]


_DEEPEST = 20
"""Lists and objects in each other; an assessment has fewer than 10."""

Count = Annotated[int, Meta(ge=0, le=2**53)]

_ABOUT = {
    "attack": "Name of the attack, a function of divulge.",
    "variant": "What distinguishes the results of one attack.",
    "keys": "Columns that the attacker knows.",
    "target": "Column that he wants.",
    "settings": "Settings of the attack.",
    "real": "Members: people in the real table.",
    "holdout": "Strangers: people whom the synthesizer never saw.",
    "baseline": "The rate without the synthetic table.",
    "difference": "Members less strangers.",
    "value": "A measure that is no rate, on each table.",
    "risk": "The residual over the holdout, (p_T - p_C) / (1 - p_C); null for absolute measures.",
    "score": "100 (1 - min(1, max(0, risk.high / shown))), shown being the part of a full copy of the real table that "
    "would show here (in context, 1 where it is not); 100 is least risk, null where shown is not above 0.",
    "p_value": "Two-sided, of the difference.",
    "p_adjusted": "Corrected within the family of the attack.",
    "smallest_detectable": "Excess in rate that is found with 80% power by the one-sided 5% test.",
    "verdict": "Null for absolute measures.",
    "context": "Further numbers, by name.",
    "curves": "Lists of equal length, by name.",
    "groups": "Parts of the result: column sets, or numbered subgroups of people.",
    "notes": "Sentences that belong to the numbers.",
    "seconds": "Time taken.",
}


class Table(msgspec.Struct):
    """One of the three tables; an external edition has no hash of real and holdout."""

    rows: Count
    columns: Count
    sha256: str | None
    hashed: Literal["file", "canonical columns"]
    missing: Annotated[float | None, Meta(description="Share of cells without a value.")] = None
    repeated: Annotated[Count | None, Meta(description="Rows that repeat another one.")] = None
    units: Annotated[Count | None, Meta(description="People or households, where a column tells them apart.")] = None


class Tables(msgspec.Struct):
    """The three tables; holdout is null when none was given."""

    real: Table
    synthetic: Table
    holdout: Table | None


class Column(msgspec.Struct):
    """How a column was read."""

    name: str
    kind: str
    roles: list[str]
    why: str
    bins: str


class Settings(msgspec.Struct):
    """Settings of the run; `missing` is the number of texts taken as missing, never the texts."""

    seed: int
    level: Annotated[float, Meta(gt=0, lt=1)]
    jobs: Annotated[int, Meta(ge=1)]
    acceptable: Annotated[float, Meta(gt=0, lt=1)]
    search: Literal["default", "full", "off"]
    models: bool | None
    keys: list[str] | None
    targets: list[str] | None
    subgroups: list[str]
    unit: str | None
    ignore: list[str]
    missing: int


class Overall(msgspec.Struct):
    """The worst result by simultaneous bound, in one sentence."""

    verdict: Verdict
    sentence: str


class Precondition(msgspec.Struct):
    """One check that was made before any attack."""

    check: str
    ok: bool
    detail: str


class KeySet(msgspec.Struct):
    """A key set that was tested, and the share of synthetic rows in classes of one target value."""

    keys: list[str]
    target: str
    share: float


class MinimalKeySet(msgspec.Struct):
    """A key set that discloses a target for some people, none of whose subsets does.

    An external edition withholds counts below 10, here and elsewhere.
    """

    keys: list[str]
    target: str
    n_disclosed: int | None
    share: float | None
    synthetic_share: float


class Records(msgspec.Struct):
    """How many real records stand out; the scores of each are in the file. Null: nothing asked for this sign."""

    n: int
    flagged: int | None
    fdr: float | None
    smallest_flaggable: int | None
    file: str | None
    copied: int | None
    replicated_unique: int | None
    disclosed: int | None
    exposed: int
    exposed_share: float
    exposed_share_strangers: float | None


class Found(msgspec.Struct):
    """A comparison that shows an excess once people are planted.

    `without`: it does so without the plant too; null where the run without the plant did not make it.
    """

    attack: str
    risk: float | None
    low: float | None
    high: float | None
    without: bool | None


class Smallest(msgspec.Struct):
    """The comparison of an attack that would see the smallest share of planted rows; above 1 it would see none."""

    attack: str
    difference_without: float
    difference_with: float
    smallest_detectable: float
    smallest_share: float


class Planted(msgspec.Struct):
    """People that `exposure` flags: planted ones, others, and how many without the plant."""

    planted: int
    flagged: int
    others_flagged: int
    flagged_without: int


class PositiveControl(msgspec.Struct):
    """One rerun of all attacks with copies of real people in a share of the synthetic rows.

    A kind that could not be planted has no verdict and says why in its note.
    """

    kind: Literal["random people", "unusual people", "near copies"]
    share: Annotated[float, Meta(gt=0, le=0.5)]
    n_planted: int
    verdict: Verdict | None
    n_judged: int
    found: list[Found]
    people: Planted | None
    attacks: list[Smallest]
    smallest_share: float | None
    method: str
    note: str


class Failure(msgspec.Struct):
    """An attack that failed, and why."""

    attack: str
    why: str


class LeftOut(msgspec.Struct):
    """Tests of an attack that were planned and not made, as the time was up."""

    attack: str
    n: int
    of: int
    why: str


class Utility(msgspec.Struct):
    """How much of the real table the synthetic one keeps by one measure.

    `reference`: the same measure of the holdout, what another sample of the population keeps.
    """

    measure: str
    value: float | None
    reference: float | None
    better: Literal["higher", "lower"]
    about: str
    notes: list[str]


class Condition(msgspec.Struct):
    """One condition of a policy: what was asked, what was found, whether it is kept."""

    condition: str
    found: str
    kept: bool
    why: str


class Policy(msgspec.Struct):
    """The conditions that the run had to keep, from --policy and --fail-on."""

    name: str
    sha256: str | None
    kept: bool
    conditions: list[Condition]


class Changed(msgspec.Struct):
    """One comparison then and now; `difference` is now less then, of the risk."""

    attack: str
    variant: str
    keys: list[str]
    target: str | None
    before: float | None
    now: float | None
    difference: float | None
    low: float | None
    high: float | None
    low_simultaneous: float | None
    high_simultaneous: float | None
    p_adjusted: float | None
    verdict: Literal["rose", "fell", "no change found", "cannot compare"]


class Change(msgspec.Struct):
    """What changed since a previous run.

    `same_people`: real and holdout are the same tables as then; the intervals are then cautious.
    `new`, `gone`: comparisons that only one of the two runs made.
    """

    previous_started: str
    previous_divulge: str
    previous_verdict: Verdict
    same_people: bool
    same_synthetic: bool
    level: float
    new: int
    gone: int
    comparisons: list[Changed]
    verdict: Literal["rose", "fell", "no change found", "cannot compare"]
    sentence: str


class NotTested(msgspec.Struct):
    """A question that this run does not answer."""

    what: str
    question: str


class Rate(msgspec.Struct):
    """How often the attack was right on one group of people.

    In an external edition hits and rate are null where fewer than 10 people are hit, or all but fewer than 10.
    """

    hits: float | None
    n: Annotated[int, Meta(ge=0)] | None
    rate: float | None


class Group(msgspec.Struct):
    """One part of a result: the guesses on one set of columns, or the people of one subgroup."""

    of: str
    name: str
    real: Rate
    holdout: Rate | None
    risk: Risk | None


class About(msgspec.Struct):
    """An attack of the catalogue."""

    family: str
    question: str
    needs: str
    reference: str


def _result_struct() -> Any:
    """Return the struct of one result as it is written: without what stays in memory, every field required."""
    hints = get_type_hints(Result)
    # jsonable turns nan into null
    hints["curves"] = dict[str, list[float | None]]
    # an external edition withholds counts
    hints |= {"real": Rate | None, "holdout": Rate | None, "groups": GenericAlias(tuple, (Group, ...))}
    kept = [f for f in Result.__struct_fields__ if f not in IN_MEMORY]
    fields = [(f, Annotated[hints[f], Meta(description=_ABOUT[f])]) for f in kept]
    struct = msgspec.defstruct("Result", fields)
    struct.__doc__ = "One attack with one setting."
    return struct


def _outer_struct() -> Any:
    fields: list[tuple[str, Any]] = [
        ("format", Annotated[str, Meta(pattern=f"^{FORMAT}$")]),
        ("divulge", Annotated[str, Meta(description="Version of divulge.")]),
        ("command", str),
        ("edition", Literal["custodian", "external"]),
        ("revealed", Annotated[list[str], Meta(description="What --reveal let through.")]),
        ("settings", Settings),
        ("started", Annotated[str, Meta(description="ISO 8601, UTC.")]),
        ("seconds", float),
        ("verdict", Overall),
        ("tables", Tables),
        ("schema", list[Column]),
        ("preconditions", list[Precondition]),
        ("results", GenericAlias(list, (_result_struct(),))),
        ("key_sets", list[KeySet]),
        ("minimal_key_sets", list[MinimalKeySet]),
        ("records", Records | None),
        ("positive_control", list[PositiveControl]),
        ("failed", list[Failure]),
        ("left_out", list[LeftOut]),
        ("utility", list[Utility]),
        ("policy", Policy | None),
        ("change", Change | None),
        ("not_tested", list[NotTested]),
        ("threat", Threat),
        ("versions", Annotated[dict[str, str], Meta(description="Of Python and of the packages that compute.")]),
        ("machine", Annotated[str, Meta(description="System and processors; they change times alone.")]),
        ("attacks", dict[str, About]),
        ("notes", list[str]),
    ]
    struct = msgspec.defstruct("Assessment", fields)
    struct.__doc__ = "What divulge found. Rates are fractions in [0, 1]; no data value is in this file."
    return struct


_ASSESSMENT = _outer_struct()


def fault(data: Any) -> str:
    """Return where the content of an assessment.json is not of its format, "" where it is; values are not told.

    Examples
    --------
    >>> fault({"format": "divulge-assessment/1"})
    '$: a field is absent'
    """
    unwritable = _unwritable(data)
    if unwritable:
        return unwritable
    try:
        msgspec.convert(data, _ASSESSMENT)
    except msgspec.ValidationError as error:
        what, _, where = str(error).rpartition(" - at ")
        absent = (what or where).startswith("Object missing")
        return f"{where.strip('`') if what else '$'}: {'a field is absent' if absent else 'not of its kind'}"
    return ""


def _unwritable(data: Any) -> str:
    """Return where there is a number or a text that no document can show, or nesting without end; "" for nowhere."""
    left = [(data, "$", 0)]
    while left:
        item, where, depth = left.pop()
        if isinstance(item, str) and any("\ud800" <= c <= "\udfff" for c in item):
            return f"{where}: text that is no Unicode"
        if isinstance(item, (int, float)) and not abs(item) <= sys.float_info.max:
            return f"{where}: a number out of range"
        if isinstance(item, (dict, list, tuple)) and depth == _DEEPEST:
            return f"{where}: nested too deeply"
        if isinstance(item, dict):
            left += [(name, f"{where}[...]", depth) for name in item]
            left += [(value, _below(where, name), depth + 1) for name, value in item.items()]
        elif isinstance(item, (list, tuple)):
            left += [(value, f"{where}[...]", depth + 1) for value in item]
    return ""


def _below(where: str, name: object) -> str:
    """Return the place of a field, but of none whose name is no word of ours."""
    return f"{where}.{name}" if isinstance(name, str) and re.fullmatch("[a-z_0-9]+", name) else f"{where}[...]"


def assessment_schema() -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of assessment.json.

    Readers should let unknown fields pass: a later version of the same format may add some.

    Examples
    --------
    >>> assessment_schema()["$schema"]
    'https://json-schema.org/draft/2020-12/schema'
    """
    return schema_of(_ASSESSMENT, "divulge assessment")


def schema_of(struct: Any, title: str) -> dict[str, Any]:
    """Return the JSON Schema of a struct that is always written whole."""
    schema = msgspec.json.schema(struct)
    for definition in schema["$defs"].values():
        _require_all(definition)
        if "description" in definition:  # Python 3.13 takes the indentation out of a docstring, earlier ones leave it
            definition["description"] = cleandoc(definition["description"]).partition("\n\nExamples\n")[0]
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title} | schema


def _require_all(definition: dict[str, Any]) -> None:
    """Require every field: the writer always writes them, whatever their default."""
    if definition.get("type") == "object" and "properties" in definition:
        definition["required"] = list(definition["properties"])
        for field in definition["properties"].values():
            field.pop("default", None)


def schema_text() -> str:
    """Return the schema as the text that is published."""
    return json.dumps(assessment_schema(), indent=2, ensure_ascii=False) + "\n"
