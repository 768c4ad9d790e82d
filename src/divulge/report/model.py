"""The typed content of assessment.json: one frozen struct for each part. Every document is rendered from it."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from divulge.core.records import (
    CLOCK,
    COUNTS,
    DECISION,
    LISTING,
    PUBLIC,
    Count,
    Facts,
    Group,
    KeySet,
    MinimalKeySet,
    Number,
    Precondition,
    Rate,
    Repeated,
    ResultRecord,
    Verbatim,
    Verdict,
)
from divulge.core.threat_model import Threat
from divulge.measures.result import FidelityResult
from divulge.report.claims.model import ClaimRead
from divulge.report.control_model import PositiveControl
from divulge.report.fidelity_model import FidelityScope
from divulge.report.policy_model import Change, Policy
from divulge.report.summary_model import Summary

__all__ = [
    "ANY_COUNT",
    "EXPOSED",
    "FORMAT",
    "NOT_TESTED",
    "UNTESTED",
    "About",
    "Assessment",
    "Bound",
    "Column",
    "ExposedPeople",
    "Facts",
    "Failure",
    "Group",
    "KeySet",
    "LeftOut",
    "LinkedTable",
    "MinimalKeySet",
    "NotCompared",
    "NotTested",
    "Number",
    "Overall",
    "Precondition",
    "Rate",
    "Records",
    "Repeated",
    "ResultRecord",
    "Settings",
    "Table",
    "Tables",
    "Verbatim",
]

ANY_COUNT = "of any count shown like these"
"""`method` of a risk in an external edition whose limits hold for every count that would be shown in the same way."""

FORMAT = "divulge-assessment/1"
NOT_TESTED = (
    ("membership", "membership", "is somebody in the real table at all?"),
    ("singling_out", "singling out", "can a description that fits one synthetic row single out one person?"),
    ("linkability", "linkability", "can two sets of columns of one person be joined through the synthetic table?"),
    (
        "linear_reconstruction",
        "reconstruction of secrets",
        "can secrets be solved for from the counts of the synthetic table?",
    ),
)
"""Attacks with the field's word and the question: the report lists as not tested those that have no result."""

UNTESTED = {
    "exchangeable": "are members and strangers a random split of the same people?",
    "no overlap": "is anybody both member and stranger?",
    "holdout unseen": "did the synthesizer see the strangers too?",
    "rows belong together": "do several rows belong to one person?",
}
"""Questions of the preconditions that cannot be tested on every table."""


class LinkedTable(msgspec.Struct, frozen=True, kw_only=True):
    """One of several linked tables of a side."""

    name: str
    rows: Annotated[Count | None, COUNTS]
    columns: Annotated[Count, PUBLIC]
    people: Annotated[
        Count | None, Meta(description="People with a row there; null of a table whose rows are nobody's."), COUNTS
    ]
    longest: Annotated[Count | None, Meta(description="Most rows of one person.")] = None
    longest_shared: Annotated[
        Count | None, Meta(description="Most rows that ten people, or more, have as many of."), PUBLIC
    ] = None
    file: Annotated[
        str, Meta(description='Name of its file, behind that of its folder; "" of a frame, and in an external edition.')
    ] = ""


class Table(msgspec.Struct, frozen=True, kw_only=True):
    """One of the three tables; of real and holdout an external edition has no hash, and rows in steps of 5."""

    rows: Annotated[Count | None, Meta(description="Null where an external edition withholds a small table."), COUNTS]
    columns: Annotated[Count, PUBLIC]
    sha256: str | None
    hashed: Literal["file", "canonical columns"]
    missing: Annotated[float | None, Meta(description="Share of cells without a value."), PUBLIC] = None
    repeated: Annotated[Count | None, Meta(description="Rows that repeat another one."), COUNTS] = None
    units: Annotated[
        Count | None, Meta(description="People or households, where a column tells them apart."), COUNTS
    ] = None
    file: Annotated[str, Meta(description='Name of its file; "" of a frame, and in an external edition.')] = ""
    linked: Annotated[
        tuple[LinkedTable, ...],
        Meta(
            description="Of several linked tables each, that of the people first; `rows` are then the people, and "
            "`columns` their own and those that describe their rows."
        ),
    ] = ()


class Tables(msgspec.Struct, frozen=True, kw_only=True):
    """The three tables; holdout is null when none was given."""

    real: Table
    synthetic: Table
    holdout: Table | None

    def by_role(self) -> dict[str, Table | None]:
        """Return the tables by role: real, synthetic, holdout."""
        return {"real": self.real, "synthetic": self.synthetic, "holdout": self.holdout}


class Column(msgspec.Struct, frozen=True, kw_only=True):
    """How a column was read."""

    name: str
    kind: str
    roles: tuple[str, ...]
    why: str
    bins: str


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """Settings of the run; `missing` is the number of texts taken as missing, never the texts."""

    seed: Annotated[int, PUBLIC]
    level: Annotated[float, Meta(gt=0, lt=1), PUBLIC]
    jobs: Annotated[int, Meta(ge=1), PUBLIC]
    acceptable: Annotated[float, Meta(gt=0, lt=1), PUBLIC]
    search: Literal["default", "full", "off"]
    models: Annotated[bool | None, DECISION]
    people: Annotated[Count | None, PUBLIC] = None
    """Most members, and as many strangers, who were asked by the attacks that may ask a sample; None: all."""
    engine: Literal["auto", "memory", "duckdb", "polars", "spark"] = "auto"
    """Where the rows were counted: "duckdb", "polars" and "spark" left them where they were."""
    keys: tuple[str, ...] | None
    targets: tuple[str, ...] | None
    subgroups: tuple[str, ...]
    unit: str | None
    ignore: tuple[str, ...]
    missing: Annotated[int, PUBLIC]


class Sampling(msgspec.Struct, frozen=True, kw_only=True):
    """Who was asked by the attacks that a random sample of people (or units) will do for."""

    members: Count
    of_members: Count
    strangers: Count
    of_strangers: Count
    excess: Annotated[
        float | None,
        Meta(
            description="Smallest excess over strangers, of whom 2% are hit, that one comparison of these people finds "
            "with 80% power, corrected for the number of attacks; null where none would be."
        ),
    ]


class Bound(msgspec.Struct, frozen=True, kw_only=True):
    """How far one comparison that was fixed before the run bounds the risk; all bounds of a run hold together."""

    attack: str
    variant: str
    keys: tuple[str, ...]
    target: str | None
    words: Annotated[str, Meta(description="What is compared.")]
    primary: Annotated[
        bool, Meta(description='Whether "none found" needs this bound; otherwise it is only stated.'), DECISION
    ]
    limit: Annotated[
        float | None,
        Meta(
            description="Simultaneous upper limit of the risk, divided by the part of a full copy of the real table "
            "that would show here; null where it has none. In an external edition the acceptable risk, or null."
        ),
        PUBLIC,
    ]
    shown: Annotated[float | None, Meta(description="The part of a full copy of the real table that would show here.")]
    bounded: Annotated[bool, Meta(description="Whether the limit is at most the acceptable risk."), DECISION]
    people: Annotated[
        Count | None,
        Meta(description="Members, beside strangers in proportion, who would bound a risk of 0; null where bounded."),
    ]
    why: Annotated[
        str, Meta(description='Why no number of people would bound it; "" where more people would, or it is bounded.')
    ] = ""
    acceptable: Annotated[
        float | None,
        Meta(description="The limit that a policy accepts here; null takes that of the run."),
        PUBLIC,
    ] = None


class NotCompared(msgspec.Struct, frozen=True, kw_only=True):
    """A column that no comparison with strangers looks at."""

    column: str
    why: str


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """The comparison that a finding is of."""

    attack: str
    variant: str
    keys: tuple[str, ...]
    target: str | None


class Overall(msgspec.Struct, frozen=True, kw_only=True):
    """The verdict of the whole, in one sentence, and the bounds behind it."""

    verdict: Verdict
    sentence: str
    bounds: tuple[Bound, ...] = ()
    screened: Annotated[
        int, Meta(ge=0, description="Comparisons that were screened and not to be bounded."), LISTING
    ] = 0
    not_compared: tuple[NotCompared, ...] = ()
    without_strangers: Annotated[
        tuple[str, ...], Meta(description="Columns of the real and the synthetic table that the holdout lacks.")
    ] = ()
    nearer: Annotated[
        bool,
        Meta(
            description="Whether synthetic rows lie nearest to members (dcr) more often than in 95 of 100 tables "
            'without a leak, which holds "none found" back.'
        ),
        DECISION,
    ] = False
    required: Annotated[
        tuple[str, ...],
        Meta(description='Attacks whose bounds a policy asks for before "none found"; empty takes the usual ones.'),
    ] = ()
    most: Annotated[
        Finding | None,
        Meta(
            description="The finding that reaches most people for certain (simultaneous lower limit of the risk, as "
            "people), by the counts that an external edition shows: every edition leads with it. Null without one."
        ),
    ] = None


EXPOSED = ("copied", "replicated_unique", "n_disclosed")
"""Columns of the records of which one is true, or above 0, for a record on the list of exposed people."""


class ExposedPeople(msgspec.Struct, frozen=True):
    """What is said beside the number of exposed records; None where it is not known."""

    strangers: float | None
    """The share of strangers' records with such a sign."""
    people: int | None = None
    """Members with an exposed record, where a column tells people apart."""
    people_strangers: float | None = None
    """The share of strangers, counted as people, with such a record."""


class Records(msgspec.Struct, frozen=True, kw_only=True):
    """How many real records stand out, by sign; null where no attack looked for the sign. The file has each record."""

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
    exposed_people: Annotated[
        int | None, Meta(description="People or households with an exposed record; null where a record is a person.")
    ] = None
    exposed_people_share_strangers: float | None = None
    recognised: Annotated[int | None, Meta(description="Records that `membership` flags, at a rate of 10%.")] = None
    recognised_not_near: Annotated[
        int | None, Meta(description="Of these, records that margins or the classifier rank highest, not distances.")
    ] = None
    named_in_texts: Annotated[int | None, Meta(description="Records that own words flag, at a rate of 10%.")] = None


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """An attack that failed, and why."""

    attack: str
    why: str


class LeftOut(msgspec.Struct, frozen=True, kw_only=True):
    """Tests of an attack that were planned and not made, as the time was up."""

    attack: str
    n: Annotated[int, LISTING]
    of: Annotated[int, LISTING]
    why: str


class NotRun(msgspec.Struct, frozen=True, kw_only=True):
    """An attack of the catalogue without a planned test, and why."""

    attack: str
    why: str


class NotTested(msgspec.Struct, frozen=True, kw_only=True):
    """A question that this run does not answer."""

    what: str
    question: str


class About(msgspec.Struct, frozen=True, kw_only=True):
    """An attack of the catalogue."""

    family: str
    question: str
    needs: str
    reference: str


class Assessment(msgspec.Struct, frozen=True, kw_only=True):
    """What divulge found. Rates are fractions in [0, 1]; no data value is in this file."""

    format: Annotated[str, Meta(pattern=f"^{FORMAT}$")]
    divulge: Annotated[str, Meta(description="Version of divulge.")]
    command: str
    edition: Literal["custodian", "external"]
    revealed: Annotated[tuple[str, ...], Meta(description="Parts that --reveal made visible.")]
    settings: Settings
    sampling: Annotated[
        Sampling | None, Meta(description="null where everybody is asked, and in an external edition.")
    ] = None
    started: Annotated[str, Meta(description="ISO 8601, UTC.")]
    seconds: Annotated[float, CLOCK]
    verdict: Overall
    summary: Annotated[Summary | None, Meta(description="What the first page says; null in older files.")] = None
    tables: Tables
    schema: tuple[Column, ...]
    preconditions: tuple[Precondition, ...]
    results: tuple[ResultRecord, ...]
    key_sets: tuple[KeySet, ...]
    minimal_key_sets: tuple[MinimalKeySet, ...]
    records: Records | None
    facts: Facts | None = None
    positive_control: tuple[PositiveControl, ...]
    failed: tuple[Failure, ...]
    left_out: tuple[LeftOut, ...]
    not_run: tuple[NotRun, ...]
    fidelity: Annotated[
        tuple[FidelityResult, ...], Meta(description="Of each measure first all columns together.")
    ] = ()
    fidelity_scope: FidelityScope | None = None
    policy: Policy | None
    change: Change | None
    claim: Annotated[
        ClaimRead | None, Meta(description="What a claim of differential privacy allows, beside what was found.")
    ] = None
    not_tested: tuple[NotTested, ...]
    threat: Threat
    versions: Annotated[dict[str, str], Meta(description="Of Python and of the packages that compute.")]
    machine: Annotated[str, Meta(description="System and processors; they change times alone.")]
    attacks: dict[str, About]
    notes: tuple[str, ...]
