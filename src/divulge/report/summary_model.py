"""What the first page says, as a part of the assessment."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from divulge.core.records import COUNTS, DECISION, LISTING

__all__ = ["ActorAnswer", "ColumnAnswer", "NextStep", "QuestionAnswer", "Summary"]


class QuestionAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """A question of the first page, and what answers it."""

    question: str
    asks: str
    state: str
    attack: Annotated[str | None, Meta(description="The attack that speaks for the question.")]
    members: Annotated[float | None, Meta(description="Share of people, guesses or rows that it hits."), COUNTS]
    strangers: Annotated[float | None, COUNTS]
    sentence: str


class NextStep(msgspec.Struct, frozen=True, kw_only=True):
    """What to do now; `warning` is empty where the step does no harm."""

    do: str
    changes: str
    warning: str
    command: Annotated[str, Meta(description='What to type; "" where the step is no command.')] = ""


class ColumnAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What was found about one column in one way; a column that no comparison is about alone has no way."""

    column: str
    kind: str | None
    compared: Annotated[bool, Meta(description="Whether any comparison looks at the column."), DECISION]
    way: str | None
    verdict: str | None
    risk: Annotated[float | None, COUNTS]


class ActorAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What was found for one actor of the schema file, by what the actor knows."""

    actor: Annotated[str | None, Meta(description="Name; null of the tests that are made once for all.")]
    verdict: str
    tests: Annotated[int, Meta(description="Comparisons with strangers."), LISTING]
    sentence: str
    real_table: Annotated[
        str,
        Meta(
            description="How often a link to a row of the real table would be right, as if it were released; no risk "
            "of this release."
        ),
    ]


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """What the first page says. It is made of the other fields, and made anew where a file is read."""

    questions: tuple[QuestionAnswer, ...]
    advice: Annotated[tuple[NextStep, ...], Meta(description="Most urgent first.")]
    actors: Annotated[
        tuple[ActorAnswer, ...], Meta(description="Those of the schema file; empty where there is one attacker.")
    ] = ()
    columns: Annotated[tuple[ColumnAnswer, ...], Meta(description="Worst first.")]
    metrics: Annotated[
        dict[str, float], Meta(description="Ten numbers; one that this edition lacks is left out."), COUNTS
    ]
