"""The finding that every edition leads with: the one that reaches most people for certain, by counts that all may see.

Exact counts would tell an external edition's reader more than its own: two findings of nearly as many people would
narrow each other's counts. So the choice is made of the rounded ones, in the custodian's edition too.
"""

from __future__ import annotations

from msgspec.structs import replace

from divulge.report import formatting
from divulge.report.external.masking import Names
from divulge.report.external.risks import lower_limit
from divulge.report.external.rounding import rounded
from divulge.report.external.source import Source, hidden
from divulge.report.model import Assessment, Finding, ResultRecord
from divulge.report.prose.compared import is_mean
from divulge.report.prose.tiles import asked, plainest

__all__ = ["finding_of_most", "most_people"]


def finding_of_most(data: Assessment) -> Finding | None:
    """Return the finding that a custodian's assessment leads with; None without one that counts people."""
    return most_people(Source(data, Names.of([c.name for c in data.schema], reveal=True)))


def most_people(s: Source) -> Finding | None:
    """Return the finding that an edition leads with, in its names."""
    if s.made:
        led = s.data.verdict.most
    else:
        names = {attack for q in asked() for attack in q.attacks(s.data)}
        found = [r for r in s.data.results if r.verdict == "excess found" and r.attack in names and _of_people(r)]
        place = {c.name: i for i, c in enumerate(s.data.schema)}

        def rank(r: ResultRecord) -> tuple[object, ...]:
            where = [place.get(c, len(place)) for c in (*r.keys, r.target or "")]
            certain = _certain(s, r)
            return -certain, not certain and hidden(*s.sides(r)), plainest(r), r.attack, r.variant, where

        best = min(found, key=rank, default=None)
        led = None
        if best is not None:
            led = Finding(attack=best.attack, variant=s.variant(best), keys=best.keys, target=best.target)
    return led and replace(led, keys=s.of(led.keys), target=s.target(led.target))


def _of_people(r: ResultRecord) -> bool:
    return formatting.of_people(r) and not is_mean(r) and r.real is not None and r.holdout is not None


def _certain(s: Source, r: ResultRecord) -> float:
    """Return how many more members are hit than strangers, at least, for all counts that would be shown like these."""
    members, strangers = s.sides(r)
    low = rounded(lower_limit(s, r, (members, strangers)), 2, "down")
    by_chance = formatting.rate_of(strangers) or 0.0  # a withheld one is small beside a finding
    return 0.0 if low is None or members is None or not members.n else max(0.0, low) * (1 - by_chance) * members.n
