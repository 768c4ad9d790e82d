"""What a run says of each actor of the schema file: the verdict of what the actor's knowledge gives, and its reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from divulge.core.records import CRITICAL
from divulge.core.result import FOUND, identity, is_compared
from divulge.core.threat_model import Actor
from divulge.report import formatting, order
from divulge.report.model import Assessment, ResultRecord
from divulge.report.prose.bounds import holding
from divulge.report.prose.compared import plain_share, quoted, short

__all__ = ["ALL", "OfActor", "by_actor", "knowledge_of", "stated_of"]

ALL = "whoever has the synthetic table"
"""The row of the tests that no knowledge about people changes."""
_NAMED = 3  # columns that a row names
_UNANSWERED = "not answered: population is not stated"


@dataclass(frozen=True, slots=True)
class OfActor:
    """One actor of a run; `actor` is None of the tests that are made once for all."""

    name: str
    actor: Actor | None
    knows: str
    wants: str
    state: str
    """Verdict of the tests that its knowledge makes."""
    n: int
    """Comparisons with strangers."""
    sentence: str
    """The worst comparison."""
    brief: str
    """The same, by its rates alone."""
    real_table: str
    """How often a link to a row of the real table would be right, as if it were released; no risk of this release."""


def by_actor(data: Assessment) -> list[OfActor]:
    """Return a row for each actor, and first one for the tests that are made once for all; [] without actors."""
    if not data.threat.actors:
        return []
    rows = [_row(data, None, [r for r in data.results if not r.actors])]
    return rows + [_row(data, a, [r for r in data.results if a.name in r.actors]) for a in data.threat.actors]


def _row(data: Assessment, actor: Actor | None, own: Sequence[ResultRecord]) -> OfActor:
    compared, (sentence, brief) = [r for r in own if is_compared(r)], _worst(data, own)
    return OfActor(
        name=ALL if actor is None else formatting.name(actor.name),
        actor=actor,
        knows="nothing about people" if actor is None else knowledge_of(actor, _NAMED),
        wants="" if actor is None else quoted(actor.targets or (), _NAMED),
        state=_state(data, own),
        n=len(compared),
        sentence=sentence,
        brief=brief,
        real_table="" if actor is None else _real_table(actor, own),
    )


def knowledge_of(actor: Actor, most: int = 20) -> str:
    """Return what an actor knows, in words.

    Examples
    --------
    >>> knowledge_of(Actor(name="insurer", keys=("age", "sex"), targets=("ill",), knows_membership=True))
    '“age” and “sex”; and who is in the real table'
    """
    return quoted(actor.keys or (), most) + ("; and who is in the real table" if actor.knows_membership else "")


def stated_of(actor: Actor) -> list[tuple[str, list[str]]]:
    """Return what is stated of an actor, or follows from its preset: a name and texts each."""
    people = actor.population
    number = f"{people:,} people" if isinstance(people, int) else people
    told = [
        ("preset", [actor.preset] if actor.preset else []),
        ("columns that the actor knows", [knowledge_of(actor)]),
        ("columns that the actor wants", [quoted(actor.targets or (), 20)]),
        ("population", [formatting.prose(number, 120)] if number else []),
    ]
    return [(head, texts) for head, texts in told if texts]


def _state(data: Assessment, own: Sequence[ResultRecord]) -> str:
    """Return the verdict over an actor's own results: a finding, "none found" where all its bounds hold, or neither."""
    if not order.has_holdout(data):
        return "no holdout"
    if order.in_doubt(data):
        return "cannot tell"
    found = {r.verdict for r in own}
    for verdict in FOUND:
        if verdict in found:
            return verdict
    named = {identity(r) for r in own}
    bounds = [b for b in data.verdict.bounds if b.primary and identity(b) in named]
    sound = all(c.ok for c in data.preconditions if c.check in CRITICAL)
    whole = data.verdict
    leans = whole.nearer and not any(r.actors for r in own)  # of the tests that are made once for all
    held = holding(whole.not_compared) or whole.without_strangers or leans
    clear = bounds and sound and not held and all(b.bounded for b in bounds)
    return "none found" if clear else "cannot tell"


def _worst(data: Assessment, own: Sequence[ResultRecord]) -> tuple[str, str]:
    """Return the worst comparison in words, and in short."""
    judged = [r for r in own if r.verdict is not None and r.real is not None]
    if not judged:
        return "No test compared anybody.", "No test compared anybody."
    primary = {identity(b) for b in data.verdict.bounds if b.primary}
    first = [r for r in judged if r.verdict in FOUND] or [r for r in judged if identity(r) in primary] or judged
    worst = order.worst_first(first)[0]
    of = f" (“{formatting.name(worst.target)}”)" if worst.target else ""
    named, rates = f"{formatting.capitalized(worst.attack.replace('_', ' '))}{of}: ", ""
    members, strangers = worst.real, worst.holdout
    if (
        formatting.of_people(worst)
        and members is not None
        and strangers is not None
        and None not in (members.rate, strangers.rate)
    ):
        of_members, of_strangers = (plain_share(side.rate, side.n) for side in (members, strangers))
        who = [formatting.rows_or(*side) for side in (("members", members), ("strangers", strangers))]
        rates = f"{of_members} of {who[0]}, {of_strangers} of {who[1]}"
    return f"{named}{short(worst)}", f"{named}{rates or short(worst)}"


def _real_table(actor: Actor, own: Sequence[ResultRecord]) -> str:
    """Return how often links to rows of the real table would be right, or that it is not answered."""
    rates = {r.variant: r.real for r in own if r.settings.get("reads") == "real table" and r.real is not None}
    told = [
        f"{variant} {plain_share(rate.rate, rate.n)}"
        for variant, rate in rates.items()
        if rate.rate is not None and (variant != "prosecutor" or actor.knows_membership)
    ]
    return ", ".join(told) if told else _UNANSWERED
