"""The typed content of comparison.json: one frozen struct for each part. Every document is rendered from it."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from divulge.core.result import Verdict
from divulge.report.model import LinkedTable, Sampling

__all__ = [
    "FORMAT",
    "Attack",
    "Band",
    "Candidate",
    "CandidateFidelity",
    "CandidateTable",
    "Cell",
    "Comparison",
    "Dominated",
    "Failed",
    "FidelityPair",
    "Front",
    "GivenTable",
    "NotCompared",
    "Order",
    "Pair",
    "People",
    "Reached",
    "Settings",
    "TwoByTwo",
    "Warned",
    "Worst",
]

FORMAT = "divulge-comparison/1"


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """Settings of the run, the same for every table; `missing` is the number of texts taken as missing."""

    seed: int
    level: Annotated[float, Meta(gt=0, lt=1)]
    jobs: Annotated[int, Meta(ge=1)]
    acceptable: Annotated[float, Meta(gt=0, lt=1)]
    people: Annotated[int | None, Meta(description="Most members asked; null asks everybody.")] = None
    engine: str = "auto"
    keys: tuple[str, ...] | None
    targets: tuple[str, ...] | None
    unit: str | None
    ignore: tuple[str, ...]
    missing: int


class GivenTable(msgspec.Struct, frozen=True, kw_only=True):
    """A table as it was given."""

    rows: int
    columns: int
    sha256: str
    hashed: Literal["file", "canonical columns"]
    linked: tuple[LinkedTable, ...] = ()
    """Of several linked tables each, that of the people first; `rows` are then the people."""


class People(msgspec.Struct, frozen=True, kw_only=True):
    """The tables of people."""

    real: GivenTable
    holdout: GivenTable | None


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """The labels in their order, and what that means in words; empty where nothing is ranked.

    Candidates that are cleared for release come first ("none found"), then others without a finding, then those with a
    finding or whose members and strangers cannot be compared; each group by the members that are reached, fewest first,
    and nobody before another who has less risk beyond chance.
    """

    order: tuple[str, ...]
    sentence: str


class Warned(msgspec.Struct, frozen=True, kw_only=True):
    """A precondition about the people that does not hold."""

    check: str
    detail: str


class Worst(msgspec.Struct, frozen=True, kw_only=True):
    """The largest risk over the attacks, with limits and ranks that hold for all candidates together.

    `first` and `last` are the ranks that the candidate may have in the order of `verdict.order`, given the verdicts.
    """

    attack: str
    value: float | None
    low: float | None
    high: float | None
    first: int
    last: int


class Reached(msgspec.Struct, frozen=True, kw_only=True):
    """How many members a candidate reaches, by the report on its table (the worst of them), at its level.

    "at least": beyond chance, in the test that reaches most, where an excess was found. "fewer by": at least so many
    are missing among those hit, where a deficit was found. "at most": what the main test that excludes least leaves
    open, where nothing was found; `share` is null where that is not bounded. `people` is null where `of` are not
    members, but rows, guesses or values.
    """

    kind: Literal["at least", "fewer by", "at most"]
    share: float | None
    people: int | None
    of: Literal["members", "rows", "guesses", "values"]


class Band(msgspec.Struct, frozen=True, kw_only=True):
    """Of all comparisons of an attack on one table: the largest lower and the largest upper limit of risk.

    The limits of all comparisons of all tables hold together. `where`: the comparison of the largest lower limit.
    """

    attack: str
    n: int
    low: float | None
    high: float | None
    where: str


class CandidateTable(GivenTable, frozen=True, kw_only=True):
    """One synthetic table; `folder` has its full report. The verdict is that of the table on its own."""

    folder: str
    verdict: Verdict
    sentence: str
    failed: int
    bands: tuple[Band, ...]


class CandidateFidelity(msgspec.Struct, frozen=True, kw_only=True):
    """How far a candidate is from the real table by one measure of fidelity, the same for all; mean over its tables.

    `measure`: distance of pairs of columns, mean over all pairs; of columns where fewer than two can be compared.
    `excess`: beyond a fresh sample, where 0 is a fresh sample and below it is closer; `low` and `high` are limits of
    the distance without noise, which hold for all candidates together. `verdict` is the worst of its tables.
    """

    measure: str = "column_pairs"
    ruler: float | None
    excess: float
    low: float
    high: float
    verdict: str


class Dominated(msgspec.Struct, frozen=True, kw_only=True):
    """A candidate that is worse than another in risk or in use for certain, and by estimate no better in the other."""

    label: str
    by: str
    sure: Literal["risk", "use", "risk and use"]


class FidelityPair(msgspec.Struct, frozen=True, kw_only=True):
    """The distance of the first candidate beyond a fresh sample less that of the second.

    `farther` is null where that is uncertain, or where the farther one may be as near as a fresh sample: to be nearer
    is no merit. The limits hold for all pairs and both measures together. `paired`: all tables were counted in the same
    cells, with as many rows of each, and the same real rows are behind both distances; otherwise the limits are those
    of independent estimates, which are wider.
    """

    measure: str = "column_pairs"
    first: str
    second: str
    difference: float
    low: float
    high: float
    ruler: float | None = None
    """The difference in rulers: as a multiple of what a fresh sample shows."""
    farther: str | None
    paired: bool = False


class TwoByTwo(msgspec.Struct, frozen=True, kw_only=True):
    """Two candidates: which is riskier, which is farther from the real table, and both differences.

    Risk: of all attacks the difference that is clearest, with limits that hold for all attacks and candidates together;
    null where nothing is ranked. Distance: of pairs of columns (of columns where there is one), beyond a fresh sample.
    """

    first: str
    second: str
    riskier: str | None
    attack: str | None
    risk: float | None
    risk_low: float | None
    risk_high: float | None
    farther: str | None
    distance: float | None
    distance_low: float | None
    distance_high: float | None
    sentence: str


class Front(msgspec.Struct, frozen=True, kw_only=True):
    """The candidates that no other one betters in risk or in use without being worse in the other."""

    labels: tuple[str, ...]
    dominated: tuple[Dominated, ...]
    pairs: tuple[FidelityPair, ...]
    sentence: str


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """A table, or a generator with several; `about` says which the statement is about.

    `verdict` is the worst of its tables; `why` says what a finding rests on, or that the comparison does not hold;
    `clearance` says why it is cleared, or is not, where nothing was found; `apart` says from which others the candidate
    is told apart.
    """

    label: str
    verdict: Verdict
    why: str
    clearance: str = ""
    reached: Annotated[Reached | None, Meta(description="Null where people cannot be compared.")] = None
    next_step: Annotated[str, Meta(description="What to do first, by the report on its table.")] = ""
    apart: str
    about: str
    worst: Worst | None
    tables: tuple[CandidateTable, ...]
    fidelity: CandidateFidelity | None = None


class Cell(msgspec.Struct, frozen=True, kw_only=True):
    """One attack on one candidate. Rates are mean scores of people.

    Limits and ranks hold together over all attacks and candidates; null without a holdout.
    """

    label: str
    members: float | None
    strangers: float | None
    risk: float | None
    low: float | None
    high: float | None
    first: int | None
    last: int | None


class Attack(msgspec.Struct, frozen=True, kw_only=True):
    """One attack, and which of its comparisons were chosen before any outcome was seen."""

    attack: str
    question: str
    chosen: str
    comparisons: int
    candidates: tuple[Cell, ...]


class Pair(msgspec.Struct, frozen=True, kw_only=True):
    """The risk of the first candidate less that of the second under one attack; `riskier` of it, null if uncertain."""

    attack: str
    first: str
    second: str
    difference: float | None
    low: float | None
    high: float | None
    riskier: str | None


class NotCompared(msgspec.Struct, frozen=True, kw_only=True):
    """An attack that is not ranked, and why."""

    what: str
    why: str


class Failed(msgspec.Struct, frozen=True, kw_only=True):
    """A table that could not be attacked, and why."""

    label: str
    why: str


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """What divulge found about several candidate tables. Rates are fractions; no data value is in this file."""

    format: Annotated[str, Meta(pattern=f"^{FORMAT}$")]
    divulge: Annotated[str, Meta(description="Version of divulge.")]
    command: str
    settings: Settings
    started: Annotated[str, Meta(description="ISO 8601, UTC.")]
    seconds: float
    verdict: Order
    tables: People
    sampling: Annotated[
        Sampling | None, Meta(description="Who was asked, the same people for every table; null where everybody was.")
    ] = None
    warnings: tuple[Warned, ...]
    candidates: tuple[Candidate, ...]
    attacks: tuple[Attack, ...]
    pairs: tuple[Pair, ...]
    front: Annotated[Front | None, Meta(description="Null without fidelity, or where nothing is ranked.")] = None
    distances: Annotated[tuple[FidelityPair, ...], Meta(description="Differences of distance, by measure.")] = ()
    two_by_two: Annotated[tuple[TwoByTwo, ...], Meta(description="Any two candidates, in words.")] = ()
    not_compared: tuple[NotCompared, ...]
    failed: tuple[Failed, ...]
    versions: dict[str, str]
    machine: str
    notes: tuple[str, ...]
