"""The answer to one of the three questions, from which every document is rendered."""

from __future__ import annotations

from dataclasses import dataclass

from divulge.core.result import Risk, Verdict
from divulge.report.model import Number, Rate, ResultRecord

__all__ = ["Answer", "Chart", "Further", "Headline", "Part"]


@dataclass(frozen=True, slots=True)
class Part:
    """One column set or subgroup of a result."""

    of: str
    way: str
    name: str
    real: Rate
    holdout: Rate | None
    risk: Risk | None


@dataclass(frozen=True, slots=True)
class Headline:
    """The result that answers a question, in words."""

    r: ResultRecord
    verdict: Verdict | None
    text: str


@dataclass(frozen=True, slots=True)
class Chart:
    """Results that are drawn in one chart, each with the label of its row."""

    title: str
    rows: list[tuple[str, ResultRecord]]
    left_out: int


@dataclass(frozen=True, slots=True)
class Further:
    """Further numbers of results as a table; a row begins with what distinguishes its result."""

    heads: list[str]
    rows: list[tuple[tuple[str, ...], list[Number | None]]]


@dataclass(frozen=True, slots=True)
class Answer:
    """What the report says about one of the three questions."""

    attack: str
    id: str
    name: str
    definition: str
    says: str
    example: str
    how: str
    caption: str
    heads: tuple[str, ...]
    headline: Headline | None
    """None when the attack has no result."""
    missing: str
    rows: list[ResultRecord]
    n: int
    charts: list[Chart]
    parts: list[Part]
    """Column sets or subgroups."""
    n_parts: int
    of_guesses: bool
    splits: list[tuple[str, list[str], list[str]]]
    untested: list[str]
    notes: list[str]
    further: Further | None
    any_shown: bool
