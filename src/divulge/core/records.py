"""The records of what a run finds, one frozen struct for each part; `report/model.py` composes assessment.json of them.

An external edition withholds some numbers, which are None there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

__all__ = [
    "BY_LENGTH",
    "CLOCK",
    "COUNTS",
    "CRITICAL",
    "DECISION",
    "FOUND",
    "INVALIDATING",
    "LENGTHS",
    "LISTING",
    "OF_LINKED",
    "PEOPLE_APART",
    "PUBLIC",
    "REFERENCES",
    "WINDOW",
    "Baseline",
    "Count",
    "Difference",
    "Facts",
    "Group",
    "Histories",
    "KeySet",
    "MinimalKeySet",
    "Number",
    "Precondition",
    "Rate",
    "Repeated",
    "ResultRecord",
    "Risk",
    "Value",
    "Verbatim",
    "Verdict",
]  # fmt: skip

Verdict = Literal["excess found", "deficit found", "none found", "cannot tell", "no holdout"]
REFERENCES = "references"
PEOPLE_APART = "people apart"
WINDOW = "same window"
LENGTHS = "same lengths"
OF_LINKED = (REFERENCES, PEOPLE_APART, LENGTHS, WINDOW)
"""Checks of linked tables alone."""
INVALIDATING = ("no overlap", "exchangeable", "holdout unseen", "rows belong together", PEOPLE_APART)
"""Checks without which nothing follows from members and strangers, whatever was found. A stranger who stands in the
real table has himself at distance 0 there, so that comparisons which look at other people find an excess where there is
none. The other critical checks fail where strangers are too much like members, which hides an excess and makes none."""
CRITICAL = ("different tables", "units apart", REFERENCES, WINDOW, LENGTHS, *INVALIDATING)
"""Checks that must hold for members and strangers to be comparable."""
FOUND: tuple[Verdict, ...] = ("excess found", "deficit found")
"""Verdicts that are findings: members are hit more often than strangers, or less often."""
BY_LENGTH = "number of rows"
"""What the groups of a whole history are by: thirds of the people asked."""
Count = Annotated[int, Meta(ge=0, le=2**53)]
Number = int | float
"""A number that JSON keeps unchanged: an integer has no decimal point."""

# How an external edition makes a number or a decision of the model; one without such a mark it withholds
# (`report/external/published.py`).
COUNTS = Meta(extra={"outside": "counts"})
"""Of counts as shown."""
PUBLIC = Meta(extra={"outside": "public"})
"""Of settings or the synthetic table alone. The synthetic table's own rows and cells are public, too."""
LISTING = Meta(extra={"outside": "listing"})
"""A number of entries of a list that is shown, or of tests."""
CLOCK = Meta(extra={"outside": "clock"})
"""Seconds."""
DECISION = Meta(extra={"outside": "decision"})
"""The custodian's decision goes out as it is, as verdicts do."""


class Rate(msgspec.Struct, frozen=True, kw_only=True):
    """How often the attack was right on one group of people.

    In an external edition hits and rate are null where they are withheld, and n where it is small.
    """

    hits: Annotated[Number | None, COUNTS]
    """Sum of scores in [0, 1]; fractional if the attack gives probabilities."""
    n: Annotated[Annotated[int, Meta(ge=0)] | None, COUNTS]
    """Records that were attacked."""
    rate: Annotated[float | None, COUNTS]
    """hits / n, a proportion in [0, 1]; None when n is 0."""
    units: Annotated[
        Count | None,
        Meta(description="People or households whose rows these are; null where a row is a person."),
        COUNTS,
    ] = None

    @property
    def counted(self) -> tuple[Number, int]:
        """Hits and records of a rate that a run made, which withholds neither."""
        assert self.hits is not None and self.n is not None
        return self.hits, self.n


class Baseline(msgspec.Struct, frozen=True, kw_only=True):
    """The rate of an attacker without the synthetic table."""

    rate: Annotated[float | None, COUNTS]
    what: str


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """Rate of members minus rate of strangers, with its interval."""

    value: Annotated[float | None, COUNTS]
    low: float | None
    high: float | None
    low_simultaneous: float | None = None
    high_simultaneous: float | None = None


class Value(msgspec.Struct, frozen=True, kw_only=True):
    """A measure that is not a rate, for each table."""

    real: Annotated[int | float | None, COUNTS] = None
    holdout: Annotated[int | float | None, COUNTS] = None
    synthetic: Annotated[int | float | None, PUBLIC] = None


class Risk(msgspec.Struct, frozen=True, kw_only=True):
    """The residual over the holdout, (p_T - p_C) / (1 - p_C): 0 is no more than strangers have, 1 is everybody.

    For measures that count synthetic rows (such as `dcr`) it is the fraction of synthetic rows that are copied.
    """

    value: Annotated[float | None, COUNTS]
    low: Annotated[float | None, COUNTS]
    high: Annotated[float | None, COUNTS]
    low_simultaneous: Annotated[float | None, COUNTS]
    high_simultaneous: Annotated[float | None, COUNTS]
    level: Annotated[float, PUBLIC]
    method: str
    leak_free_low: Annotated[float | None, COUNTS] = None
    leak_free_high: Annotated[float | None, COUNTS] = None
    """If nothing leaked, the risks of all comparisons of the attack lie between these limits, at this level."""


class Group(msgspec.Struct, frozen=True, kw_only=True):
    """One part of a result: the guesses on one set of columns, or the people of one subgroup."""

    of: str
    """What the parts are: "column set", or the column whose values define the subgroups."""
    name: str
    """Name of the part; subgroups are numbered, because their values are data values."""
    real: Rate
    holdout: Rate | None = None
    risk: Risk | None = None
    """Its simultaneous limits allow for the number of parts."""


class ResultRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One attack with one setting."""

    attack: Annotated[str, Meta(description="Name of the attack, which is a function of divulge.")]
    variant: Annotated[str, Meta(description="What distinguishes the results of one attack.")] = ""
    keys: Annotated[tuple[str, ...], Meta(description="Columns that the attacker knows.")] = ()
    target: Annotated[str | None, Meta(description="Column that the attacker wants to learn.")] = None
    actors: Annotated[
        tuple[str, ...],
        Meta(description="Actors of the schema file who ask it, in the family of the first by name; empty of others."),
    ] = ()
    settings: Annotated[dict[str, Any], Meta(description="Settings of the attack."), PUBLIC] = {}
    real: Annotated[Rate | None, Meta(description="Members: people in the real table.")] = None
    holdout: Annotated[Rate | None, Meta(description="Strangers: people whom the synthesizer never saw.")] = None
    baseline: Annotated[Baseline | None, Meta(description="The rate without the synthetic table.")] = None
    difference: Annotated[Difference | None, Meta(description="Rate of members minus rate of strangers.")] = None
    value: Annotated[Value | None, Meta(description="A measure that is not a rate, for each table.")] = None
    risk: Annotated[
        Risk | None,
        Meta(description="The residual over the holdout, (p_T - p_C) / (1 - p_C); null for absolute measures."),
    ] = None
    score: Annotated[
        float | None,
        Meta(
            description="100 (1 - min(1, max(0, risk.high / shown))), shown being the part of a full copy of the real "
            "table that would show here (in context, 1 where it is not); 100 is least risk, null where shown is not "
            'above 0. With the verdict "deficit found" it is 100 (1 - min(1, |risk.low|)).'
        ),
        COUNTS,
    ] = None
    p_value: Annotated[float | None, Meta(description="Two-sided, of the difference.")] = None
    p_adjusted: Annotated[float | None, Meta(description="Corrected within the family of the attack.")] = None
    smallest_detectable: Annotated[
        float | None,
        Meta(
            description="Excess in rate that the verdict of this run finds with 80% power: two-sided, corrected for "
            "the comparisons of the attack and for the attacks."
        ),
    ] = None
    verdict: Annotated[Verdict | None, Meta(description="Null for absolute measures.")] = None
    context: Annotated[dict[str, Number | None], Meta(description="Further numbers, by name."), COUNTS] = {}
    curves: Annotated[
        Mapping[str, Sequence[float | None]], Meta(description="Lists by name; those of one curve have equal length.")
    ] = {}
    groups: Annotated[
        tuple[Group, ...], Meta(description="Parts of the result: column sets, or numbered subgroups of people.")
    ] = ()
    notes: Annotated[tuple[str, ...], Meta(description="Sentences that belong to the numbers.")] = ()
    seconds: Annotated[float, Meta(description="Time taken.")] = 0.0


class Precondition(msgspec.Struct, frozen=True, kw_only=True):
    """One check that was made before any attack."""

    check: str
    ok: Annotated[bool, DECISION]
    detail: str
    tested: Annotated[bool, DECISION] = True
    """False where these tables cannot show a breach; `detail` says why."""
    numbers: Annotated[
        dict[str, Number], Meta(description="Numbers of the detail, by name; an external edition has none.")
    ] = {}


class KeySet(msgspec.Struct, frozen=True, kw_only=True):
    """A key set that was tested, and the share of synthetic rows in classes of one target value."""

    keys: tuple[str, ...]
    target: str
    share: Annotated[float | None, Meta(description="Null in an external edition where a column is binned."), PUBLIC]


class MinimalKeySet(msgspec.Struct, frozen=True, kw_only=True):
    """A key set that discloses a target for some people, none of whose subsets does.

    An external edition withholds small counts, here and elsewhere.
    """

    keys: tuple[str, ...]
    target: str
    n_disclosed: Annotated[int | None, COUNTS]
    share: Annotated[float | None, COUNTS]
    synthetic_share: Annotated[float | None, PUBLIC]


class Verbatim(msgspec.Struct, frozen=True, kw_only=True):
    """How many people's whole record stands in the synthetic table, whatever a test says."""

    members: Count
    strangers: Count | None
    telling: Annotated[
        Count, Meta(description="Of the members, those whose record chance under these columns can hardly make.")
    ]
    named: Annotated[Count, Meta(description="Of these, those who are named in the records.")]
    why_not_named: str | None


class Repeated(msgspec.Struct, frozen=True, kw_only=True):
    """The synthetic row that is repeated most often among those that equal exactly one person."""

    times: Count
    of: Annotated[str | None, Meta(description="Whether the person is a member or a stranger.")]
    elsewhere: Annotated[Count, Meta(description="How often any row is there that equals nobody, or one stranger.")]
    stands_out: bool
    p_value: float | None
    found: Annotated[bool, Meta(description="Whether this is a finding about one person.")]
    named: Annotated[Count, Meta(description="Members whose record is repeated more often than chance can explain.")]


class Histories(msgspec.Struct, frozen=True, kw_only=True):
    """How many people's rows of a table of linked ones all stand under one synthetic person, whatever a test says."""

    members: Count
    strangers: Count | None
    named: Annotated[Count, Meta(description="Members who are named in the records, as chance can hardly do this.")]
    why_not_named: str | None


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """Facts about single people, beside the verdicts; an external edition has none."""

    verbatim: Verbatim
    repeated: Repeated
    histories: Annotated[Histories | None, Meta(description="Of linked tables alone.")] = None
