"""What an audit found: its trainings and its results, frozen, with the fields of audit.json."""

from __future__ import annotations

from typing import Any, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from divulge.core.result import Risk, Verdict, jsonable

__all__ = ["IN_MEMORY", "AuditRecord", "AuditResult", "Epsilon", "Findable", "Interval", "People", "PerTraining", "Run"]

Status = Literal["done", "failed", "left out"]
Counted = Literal["pairs", "people", "canaries", "columns", "trainings"]
IN_MEMORY = ("persons",)
"""Fields of a result that never go into audit.json."""


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """One training."""

    number: int
    """From 0; the coins depend on it."""
    status: Status
    seed: int
    """What the generator was told in its last attempt."""
    attempts: int = 1
    seconds: float = 0.0
    """Of the last attempt."""
    rows: int | None = None
    """Rows of the synthetic table; None where there is none."""
    reason: str = ""
    """Why there is no synthetic table, without a data value."""
    notes: tuple[str, ...] = ()
    """What was odd about the synthetic table that is used all the same."""


class Interval(msgspec.Struct, frozen=True, kw_only=True):
    """An interval of a rate."""

    low: float
    high: float
    level: float
    method: str


class PerTraining(msgspec.Struct, frozen=True, kw_only=True):
    """The hits of one training."""

    run: int
    n: int
    hits: float


class People(msgspec.Struct, frozen=True, kw_only=True):
    """How many people are named at risk when each is tested over all trainings."""

    tested: int
    flagged: int
    rate: float
    """False discovery rate: of those flagged, at most this share is expected to be at no risk."""


class Epsilon(msgspec.Struct, frozen=True, kw_only=True):
    """A lower bound of epsilon, with the largest that this audit could have shown."""

    low: float | None
    """None where an external edition withholds it; so with the next."""
    ceiling: float | None
    delta: float
    level: float
    neighbour: str
    """How two neighbouring tables differ: "one person more", "one record replaced", "one secret replaced"."""
    method: str
    claim: float | None = None
    """The epsilon that was claimed, if one was."""
    rejected: bool | None = None
    """Whether the claim is contradicted at this level; None without a claim."""
    power: float | None = None
    """Probability that this audit would contradict the claim if the generator disclosed all; None without a claim."""


class Findable(msgspec.Struct, frozen=True, kw_only=True):
    """What the audit could have found."""

    rate: float | None = None
    """Smallest rate that it finds with probability `power`."""
    power: float = 0.8
    needed: int | None = None
    """How many pairs, people or canaries `none found` would need."""


class AuditRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One test of one design, as in audit.json."""

    test: str
    """"swapped_secrets", "random_halves", "canaries", "target" or "domain"; rules of a gate name it."""
    variant: str = ""
    target: str | None = None
    """The column that the test is about, if it is about one; columns of a block are joined by " + "."""
    counts: Counted = "pairs"
    """What `n` and `hits` count."""
    n: int | None
    """None where an external edition withholds it."""
    hits: float | None = None
    rate: float | None = None
    """hits / n, or the AUC of random halves."""
    chance: float | None = 0.5
    """The rate where nothing is disclosed."""
    interval: Interval | None = None
    """Of the rate."""
    risk: Risk | None = None
    """2 rate - 1 with its limits: 0 is nothing, 1 is everybody."""
    p_value: float | None = None
    p_adjusted: float | None = None
    """Allowing for the other results of this audit."""
    e_value: float | None = None
    """May be looked at after each training: 20 or more contradicts "nothing is disclosed" at 5 %."""
    epsilon: Epsilon | None = None
    findable: Findable | None = None
    people: People | None = None
    verdict: Verdict | None = None
    sentence: str = ""
    """What was found, in plain words and counts, without a data value."""
    trainings: tuple[PerTraining, ...] = ()
    context: dict[str, float | None] = {}
    """Further numbers that help to read the result, by name."""
    notes: tuple[str, ...] = ()


class AuditResult(AuditRecord, frozen=True, kw_only=True):
    """One test of one design, with what it found about each person."""

    persons: dict[str, NDArray[np.generic]] = {}
    """Scores by row of the pool, each as long as it; never in audit.json."""

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain dictionaries and lists, as in audit.json."""
        fields = {f: getattr(self, f) for f in self.__struct_fields__ if f not in IN_MEMORY}
        return jsonable(msgspec.to_builtins(fields))  # type: ignore[no-any-return] # a dict goes in, a dict comes out

    def record(self) -> AuditRecord:
        """Return the result without what it holds about persons."""
        return msgspec.convert(self.to_dict(), AuditRecord)
