"""The first page: the verdict in a sentence about people, what it means for a release, its scope, what to do now."""

from __future__ import annotations

from dataclasses import dataclass

from divulge.core.result import FOUND, identity
from divulge.report import formatting, order
from divulge.report.model import Assessment, Bound, ResultRecord
from divulge.report.prose.advice import AGAIN, Advice, advice
from divulge.report.prose.bounds import SEES_A_COPY, UNFAIR, undecided
from divulge.report.prose.compared import how_many, is_mean, lead, plain_share, quoted
from divulge.report.prose.contradictions import contradictions
from divulge.report.prose.tiles import Tile, clearest, repeated_person, tiles

__all__ = ["Decision", "decision", "headline"]

_FEW = 4


@dataclass(frozen=True, slots=True)
class Decision:
    """What the first page says; every document renders it."""

    title: str
    """The verdict, and what it means for a release, in a few words."""
    headline: str
    """The verdict in a sentence that leads with people."""
    release: str
    """What the evidence says about a release."""
    at_risk: str
    """Who is at risk; "" where nobody was found to be."""
    tiles: tuple[Tile, ...]
    preconditions: str
    bounded: str
    screened: str
    not_tested: str
    first: str
    """What the reader does at once, before the advice; "" where nothing stands against a release."""
    advice: tuple[Advice, ...]
    again: str
    """What all advice has in common; "" where it asks for no change."""
    contradictions: tuple[str, ...]


def decision(data: Assessment) -> Decision:
    """Return what the first page says about an assessment."""
    do = tuple(advice(data))
    return Decision(
        title=_TITLES.get(data.verdict.verdict, formatting.capitalized(data.verdict.verdict)),
        headline=headline(data), release=_release(data), at_risk=_at_risk(data), tiles=tiles(data),
        preconditions=_preconditions(data), bounded=_bounded(data), screened=_screened(data),
        not_tested=_not_tested(data), first=_FIRST.get(data.verdict.verdict, ""), advice=do, again=_again(data),
        contradictions=tuple(contradictions(data)),
    )  # fmt: skip


_TITLES = {
    "excess found": "Excess found: evidence against release",
    "deficit found": "Deficit found: evidence against release",
    "none found": "None found: no evidence against release",
    "cannot tell": "Cannot tell: not cleared for release",
    "no holdout": "No holdout: not cleared for release",
}
_FIRST = {
    "excess found": "Withhold the table. Pass these steps to whoever makes it:",
    "deficit found": "Withhold the table. Pass these steps to whoever makes it:",
    "cannot tell": "Do not release on this evidence. Pass these steps to whoever makes the table:",
    "no holdout": "Do not release on this evidence. Pass these steps to whoever makes the table:",
}


def _again(data: Assessment) -> str:
    """Return what follows the advice: a new table and a new test, or a new test alone."""
    if any(r.verdict in FOUND for r in data.results) or data.verdict.verdict in FOUND:
        return AGAIN
    return "" if data.verdict.verdict == "none found" else "Then measure it again."


# ---------------------------------------------------------------- the headline


def headline(data: Assessment) -> str:
    """Return the verdict in one or two plain sentences that begin with people."""
    verdict = data.verdict.verdict
    if verdict in FOUND:
        return _found(data)
    told = _word_for_word(data)
    if verdict in ("none found", "cannot tell") and not order.in_doubt(data):
        told += _by_chance(data)
    if verdict == "no holdout":
        return f"{told} There were no other people to compare with, so nothing says how many chance gives.".strip()
    if order.in_doubt(data):
        return f"{told} The two groups of people cannot be compared, so nothing follows from it.".strip()
    if verdict == "none found":
        return f"{told} No test found that the table says more about its own people than about others.".strip()
    return f"{told} No test found a leak, and this run cannot exclude one{_why(data)}.".strip()


def _found(data: Assessment) -> str:
    found = [r for r in data.results if r.verdict == data.verdict.verdict]
    person = repeated_person(data)
    if not found:
        return person or formatting.sentence(data)
    told = lead(clearest(found, data)) or formatting.sentence(data)
    if data.verdict.verdict == "deficit found":
        return f"{told} Rows near people are missing, and the gaps tell who is in the real table."
    return f"{told} {person}".strip()


def _exact_copies(data: Assessment) -> ResultRecord | None:
    return next((r for r in data.results if (r.attack, r.variant) == ("copies", "exact")), None)


def _word_for_word(data: Assessment) -> str:
    """Return how many people's whole records stand in the synthetic table, beside strangers."""
    exact = _exact_copies(data)
    if exact is not None and exact.real is not None and not formatting.withheld(exact.real):
        return lead(exact)
    n, m = data.tables.real.rows, formatting.rows_of(data, "holdout")
    if n is None or m is None:
        return ""
    return f"{n:,} people in the real table were compared with {m:,} people who were never in the training data."


def _by_chance(data: Assessment) -> str:
    """Return that chance explains the copies that are told; "" where none is told, or a difference was found."""
    exact = _exact_copies(data)
    copied = exact is not None and exact.real is not None and exact.holdout is not None and exact.real.hits
    return " Chance explains that." if copied and exact is not None and exact.verdict not in FOUND else ""


def _why(data: Assessment) -> str:
    """Return in a few words why a run without a finding cannot say that there is none."""
    if data.verdict.without_strangers:
        return f": the holdout lacks {quoted(data.verdict.without_strangers, 2)}"
    primary = [b for b in data.verdict.bounds if b.primary]
    wide = undecided(data.verdict.bounds)
    if len(primary) < 2:
        return ": the values are so coarse that even a full copy would hardly show"
    few, unfair = (
        list(dict.fromkeys(_BOUNDED.get(b.attack, b.attack.replace("_", " ")) for b in wide if bool(b.why) is away))
        for away in (False, True)
    )
    why = [f"there are too few people for that ({', '.join(few)})"] * bool(few)
    why += [f"{UNFAIR} ({', '.join(unfair)})"] * bool(unfair)
    return f": {', and '.join(why)}" if why else ""


# ---------------------------------------------------------------- release, who is at risk


def _release(data: Assessment) -> str:
    """Return what the evidence says about a release; the decision stays with whoever signs."""
    verdict = data.verdict.verdict
    if order.in_doubt(data) and verdict not in FOUND:
        return "This evidence decides nothing: mend what fails first, and test again."
    if verdict in FOUND:
        more = "The table says more about its own people than about others. " if verdict == "excess found" else ""
        return f"{more}The evidence speaks against releasing it as it is."
    if verdict == "none found":
        return "The evidence does not speak against a release. It covers the questions below and no others."
    if verdict == "no holdout":
        return "This evidence decides nothing: it lacks people to compare with."
    return "The evidence is too thin to decide either way."


def _at_risk(data: Assessment) -> str:
    """Return how many people were found to be at risk, and where they are named."""
    found = [r for r in data.results if r.verdict == "excess found"]
    told = []
    if found:
        told.append(_more_than_chance(clearest(found, data)))
    told.append(_named(data))
    return " ".join(t for t in told if t)


def _named(data: Assessment) -> str:
    """Return how many people are named in the list of exposed people, as chance can hardly make their record."""
    if data.facts is None:
        return ""
    named = max(data.facts.verbatim.named, data.facts.repeated.named if data.facts.repeated.found else 0)
    if not named:
        return ""
    who = "One copied record is" if named == 1 else f"{named:,} copied records are"
    return (
        f"{who} so rare that chance can hardly make {'it' if named == 1 else 'them'}: see the list of exposed people."
    )


def _more_than_chance(r: ResultRecord) -> str:
    """Return how many more members are hit than strangers would be, as people."""
    members, strangers = formatting.rate_of(r.real), formatting.rate_of(r.holdout)
    n = r.real.n if r.real else None
    of_people = formatting.of_people(r) and not is_mean(r)
    if members is None or strangers is None or not n or not of_people or members <= strangers:
        return ""
    more = (members - strangers) * n
    share = plain_share(more / n, n)
    return (
        f"By this comparison alone, about {more:,.0f} people more are at risk than chance explains ({share} of all); "
        "other findings may add to them."
    )


# ---------------------------------------------------------------- scope


_CHECKS = {
    "exchangeable": "members and strangers are a random split",
    "holdout unseen": "the synthesizer never saw the strangers",
    "rows belong together": "one row is one person",
    "no overlap": "nobody is both member and stranger",
    "units apart": "no person is in both tables",
    "different tables": "the tables are different ones",
    "same columns": "the tables have the same columns",
    "same types": "columns are of one kind in all tables",
    "same values": "the tables share their values",
    "sizes": "there are enough rows",
    "infinite values": "all numbers are finite",
    "holdout": "there are strangers to compare with",
    "repeated rows": "few rows repeat others",
}


def _preconditions(data: Assessment) -> str:
    checks = data.preconditions
    if not checks:
        return "None was checked."
    failing = [_CHECKS.get(c.check, c.check) for c in checks if not c.ok]
    unknown = [_CHECKS.get(c.check, c.check) for c in checks if c.ok and not c.tested]
    held = len(checks) - len(failing) - len(unknown)
    told = f"{held} of {len(checks)} hold."
    told += f" Not met: that {'; that '.join(failing)}." if failing else ""
    return told + (f" Not testable here: that {'; that '.join(unknown)}." if unknown else "")


_BOUNDED = {
    "copies": "copies", "linkability": "linkability", "dcr": "copies by distance", "inference": "inference",
    "cap": "inference from the keys", "singling_out": "singling out", "membership": "membership",
}  # fmt: skip


def _bounded(data: Assessment) -> str:
    """Return up to what share of people each main comparison excludes a leak, and which do not."""
    if not order.has_holdout(data):
        return "Nothing."
    found = {r.attack for r in data.results if r.verdict in FOUND}  # a finding says more than a bound
    bounds = [
        b
        for b in data.verdict.bounds
        if b.attack not in found and (b.primary or b.shown is None or b.shown >= SEES_A_COPY)
    ]
    worst: dict[str, Bound] = {}
    for b in bounds:
        words = _BOUNDED.get(b.attack, b.attack.replace("_", " "))
        if words not in worst or _height(b) > _height(worst[words]):
            worst[words] = b
    kept = [f"{_limit(b, data)} of people by {w}" for w, b in worst.items() if b.bounded]
    wide = [
        f"{w} ({'up to ' if b.limit is not None else ''}{_limit(b, data)})" for w, b in worst.items() if not b.bounded
    ]
    if order.in_doubt(data) or not worst:
        return "Nothing."
    told = f"That a leak hits more than {formatting.enumerated(kept)}." if kept else "Nothing yet."
    return told + (f" Not ruled out: {', '.join(wide)}." if wide else "")


def _height(bound: Bound) -> float:
    return float("inf") if not bound.bounded and bound.limit is None else bound.limit or 0.0


def _limit(bound: Bound, data: Assessment) -> str:
    if bound.limit is None:
        return plain_share(data.settings.acceptable, 10_000) if bound.bounded else "not bounded"
    return plain_share(max(0.0, bound.limit), 10_000)


def _screened(data: Assessment) -> str:
    n = data.verdict.screened
    if not n or not order.has_holdout(data):
        return "Nothing."
    primary = {identity(b) for b in data.verdict.bounds if b.primary}
    hits = sum(r.verdict in FOUND and identity(r) not in primary for r in data.results)
    found = f"{hits:,} found a leak" if hits else "none found a leak"
    return f"{n:,} further comparisons, of which {found}. One that finds nothing rules nothing out."


def _not_tested(data: Assessment) -> str:
    names = [n.what for n in data.not_tested]
    late = [f"{how_many(o.n)} of {o.of:,} tests of {o.attack.replace('_', ' ')}" for o in data.left_out[:_FEW]]
    failed = [f"{f.attack.replace('_', ' ')} (it failed)" for f in data.failed[:_FEW]]
    told = [*names, *failed, *late]
    return f"{formatting.capitalized(', '.join(told))}." if told else "Nothing that is on the list."
