"""The first page: the verdict in a sentence about people, what it means for a release, its scope, what to do now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, sqrt

from divulge.attacks.checks import LEVEL
from divulge.attacks.copying.one_column import ONE_COLUMN, ROW_NUMBERS
from divulge.core.result import FOUND, identity
from divulge.report import formatting, order
from divulge.report.external.rounding import BASE
from divulge.report.model import NOT_TESTED, Assessment, ResultRecord
from divulge.report.prose.advice import AGAIN, UNTIL, Advice, advice
from divulge.report.prose.bounds import NO_RELATION, holding
from divulge.report.prose.compared import (
    MEMBERS,
    STRANGERS,
    beside_commonest,
    exact_copies,
    how_many,
    is_mean,
    lead,
    more_people,
    plain_share,
    quoted,
    seen,
)
from divulge.report.prose.contradictions import contradictions
from divulge.report.prose.people import people_in, people_or_rows, size_of
from divulge.report.prose.reach import Reach, excluded, main_tests, reaches, ruled_out_beside_findings, why_open
from divulge.report.prose.sampled import sampled_in_words
from divulge.report.prose.several_tables import together_in_words
from divulge.report.prose.tiles import Tile, clearest, leading, repeated_person, tiles
from divulge.report.verdicts import RISK

__all__ = ["Decision", "copied_without_strangers", "decision", "headline", "untested"]

_FEW = 4


@dataclass(frozen=True, slots=True)
class Decision:
    """What the first page says; every document renders it."""

    title: str
    """The verdict, and what it means for a release, in a few words."""
    excluded: str
    """From which share of people on a leak is excluded; "" where something was found or nobody could be compared."""
    headline: str
    """The verdict in a sentence that leads with people."""
    release: str
    """What the evidence says about a release."""
    at_risk: str
    copied: bool
    """Whether people are copied and there are no strangers, so that the list names them beside no finding."""
    """Who is at risk; "" where nobody was found to be."""
    tiles: tuple[Tile, ...]
    asked: str
    """Who was asked, where that is a sample of people; "" otherwise."""
    main: str
    """Which tests must exclude a leak, and above which share; "" where that clears nothing."""
    together: str
    """That several synthetic tables were taken together; "" of one table."""
    preconditions: str
    reach: tuple[Reach, ...]
    """The main tests that found nothing, with how far a leak could still reach."""
    found: bool
    """Whether a test found something, so that these limits stand beside it."""
    unbounded: str
    """What is said where there is none."""
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
        title=_title(data),
        excluded=_excluded(data),
        headline=headline(data), release=_release(data), at_risk=_at_risk(data), tiles=tiles(data),
        copied=copied_without_strangers(data),
        together=together_in_words(data), asked=sampled_in_words(data), main=main_tests(data),
        preconditions=_preconditions(data),
        reach=reaches(data), found=any(r.verdict in FOUND for r in data.results),
        unbounded=_unbounded(data), screened=_screened(data), not_tested=_not_tested(data),
        first=RISK[data.verdict.verdict].first, advice=do, again=_again(data, do),
        contradictions=tuple(contradictions(data)),
    )  # fmt: skip


def _title(data: Assessment) -> str:
    """Return the verdict and what it means for a release; without strangers also that people are copied."""
    if copied_without_strangers(data):
        return "No holdout, and real records stand in the table: not cleared for release"
    return RISK[data.verdict.verdict].title


def _excluded(data: Assessment) -> str:
    """Return what is excluded, which comes first: that not all is does not make it less."""
    if data.verdict.verdict not in ("none found", "cannot tell") or order.in_doubt(data):
        return ""
    return excluded(data)


def _again(data: Assessment, do: Sequence[Advice]) -> str:
    """Return what follows the advice: this table stays as it is, and a new one is measured."""
    found = data.verdict.verdict in FOUND or any(r.verdict in FOUND for r in data.results)
    if found or (data.verdict.verdict != "none found" and any(a.trains for a in do)):
        return AGAIN
    return "" if data.verdict.verdict == "none found" else UNTIL


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
        told += _own_values(data)
        how = "how many of these chance alone would give" if copied_without_strangers(data) else "how many chance gives"
        return f"{told} There were no {STRANGERS} to compare with, so nothing says {how}.".strip()
    if order.in_doubt(data):
        return f"{told} The two groups of people cannot be compared, so nothing follows from it.".strip()
    if verdict == "none found":
        return f"{told} No test found that the table says more about its own people than about others.".strip()
    return f"{told} No leak was found, yet one is possible{_because(why_open(data))}.".strip()


def _found(data: Assessment) -> str:
    found = [r for r in data.results if r.verdict == data.verdict.verdict]
    person = repeated_person(data)
    if not found:
        return person or formatting.sentence(data)
    first = leading(data) or clearest(found, data)
    told = f"{lead(first)}{beside_commonest(first, data)}" if lead(first) else formatting.sentence(data)
    if data.verdict.verdict == "deficit found":
        return f"{told} Rows near people are missing: the gaps tell who is in the real table."
    return f"{told} {person}".strip()


def copied_without_strangers(data: Assessment) -> bool:
    """Return whether whole records of people stand in the table, and no strangers say how many chance gives."""
    exact = exact_copies(data)
    return data.verdict.verdict == "no holdout" and exact is not None and bool(exact.real and exact.real.hits)


def _word_for_word(data: Assessment) -> str:
    """Return how many people's whole records stand in the synthetic table, beside strangers."""
    exact = exact_copies(data)
    if exact is not None and exact.real is not None and not formatting.withheld(exact.real):
        return lead(exact)
    if data.tables.real.rows is None or formatting.rows_of(data, "holdout") is None:
        return ""
    members, strangers = size_of(data, "real", MEMBERS), size_of(data, "holdout", STRANGERS)
    return f"{members} were compared with {strangers}."


def _own_values(data: Assessment) -> str:
    """Return how many people's own text or identifier stands in the table, where these are more than whole records."""
    exact = exact_copies(data)
    if exact is None or exact.real is None:
        return ""
    kinds = {c.name: c.kind for c in data.schema}
    own = [
        (r.real.hits, r)
        for r in data.results
        if r.attack == exact.attack and r.variant == ONE_COLUMN and r.real is not None and r.real.hits
        and kinds.get(r.keys[0]) in ("text", "identifier") and ROW_NUMBERS not in r.notes
    ]  # fmt: skip
    hits, most = max(own, key=lambda pair: pair[0], default=(0.0, exact))
    rows = " rows of members" if formatting.of_rows(most.real) else ""
    return f" {how_many(hits)}{rows} {seen(most)}." if hits > (exact.real.hits or 0) else ""


def _by_chance(data: Assessment) -> str:
    """Return whether chance explains the copies that are told; "" where none is told, or a difference was found."""
    exact = exact_copies(data)
    if exact is None or exact.real is None or exact.holdout is None or not exact.real.hits or exact.verdict in FOUND:
        return ""
    if (exact.real.rate or 0.0) <= (exact.holdout.rate or 0.0):
        return " That is no more than chance gives."
    alone = exact.risk is not None and (exact.risk.low or 0.0) > 0
    return f"{' With all tests counted, chance' if alone else ' Chance'} can explain the difference."


def _because(why: str) -> str:
    return f": {why}" if why else ""


# ---------------------------------------------------------------- release, who is at risk


_COPIED = "Treat these people as exposed, and do not delete the rows: the gaps would tell who is in the real table."


def _release(data: Assessment) -> str:
    """Return what the evidence says about a release; the decision stays with whoever signs."""
    verdict = data.verdict.verdict
    if order.in_doubt(data) and verdict not in FOUND:
        return "This evidence decides nothing: mend what fails first, and test again."
    if verdict in FOUND:
        return "The evidence speaks against releasing the table as it is."
    if verdict == "none found":
        return "The evidence does not speak against a release. It covers the questions below and no others."
    if verdict == "no holdout":
        who = _COPIED if copied_without_strangers(data) else ""
        return f"{who} This evidence clears nothing: it lacks people to compare with.".strip()
    return "The evidence is too thin to decide either way."


def _at_risk(data: Assessment) -> str:
    """Return how many people were found to be at risk, and where they are named."""
    found = [r for r in data.results if r.verdict == "excess found"]
    told = []
    if found and data.verdict.verdict in FOUND:
        told.append(_beyond_chance(leading(data) or clearest(found, data), data))
    elif any(r.attack == "dcr" and r.verdict == "deficit found" for r in data.results):
        told.append(_EVERYBODY)
    told.append(_named(data))
    return " ".join(t for t in told if t)


_EVERYBODY = "The gaps concern every member, so that no list says who."


def _named(data: Assessment) -> str:
    """Return how many people are named in the list of exposed people, as chance can hardly make their record."""
    if data.facts is None:
        return ""
    named = max(data.facts.verbatim.named, data.facts.repeated.named if data.facts.repeated.found else 0)
    together = data.facts.histories
    if together and together.named > named:
        who = "one person" if together.named == 1 else f"{together.named:,} people"
        return f"All rows of {who} stand together, and chance can hardly do this: see the list of exposed people."
    if not named:
        return ""
    who = "One copied record is" if named == 1 else f"{named:,} copied records are"
    if data.tables.real.units is not None:
        of = "one person" if named == 1 else f"{named:,} people"
        return f"Copied records of {of} are so rare that chance can hardly make them: see the list of exposed people."
    return (
        f"{who} so rare that chance can hardly make {'it' if named == 1 else 'them'}: see the list of exposed people."
    )


def _beyond_chance(r: ResultRecord, data: Assessment) -> str:
    """Return how many more members are hit than strangers would be: for certain where the test says so, else about."""
    members, strangers = formatting.rate_of(r.real), formatting.rate_of(r.holdout)
    n = r.real.n if r.real else None
    if members is None or strangers is None or not n or not formatting.of_people(r) or is_mean(r):
        return ""
    step = BASE if data.edition == "external" else 1
    more = step * round((members - strangers) * n / step)
    sure = step * floor((more_people(r, "low_simultaneous") or 0.0) / step)
    if more <= 0:
        return ""
    high = more_people(r, "high_simultaneous")
    hits = n if r.real is None or r.real.hits is None else r.real.hits
    most = None if high is None else step * ceil(min(high, hits) / step)  # no more than are hit at all
    ends = [f"at least {sure:,}"] * (0 < sure < more)
    if most is not None and most > more:
        ends.append(f"at most {most:,}")
    limits = f": {', '.join(ends)} ({_confidence(r, data)})" if ends else ""
    who = "rows of members" if formatting.of_rows(r.real) else "people"
    told = f"That is about {more:,} {who} ({plain_share(more / n, n)}) beyond chance in this test{limits}."
    return f"{told} {_in_all(r, data)}"


def _confidence(r: ResultRecord, data: Assessment) -> str:
    """Return how sure the limits of a test are, and who asked for that."""
    level = data.settings.level
    who = "divulge's default" if level == LEVEL else "set for this run"
    return f"{100 * level:g}% confidence for all tests of {r.attack.replace('_', ' ')}, {who}"


def _in_all(r: ResultRecord, data: Assessment) -> str:
    """Return how many people all tests reach together, where that is known; else that tests overlap."""
    s, hits = data.records, r.real.hits if r.real else None
    if s is None or s.exposed_share_strangers is None or hits is None or s.exposed < hits:
        return _OVERLAP
    n, m = (people_in(t) or 0 for t in (data.tables.real, data.tables.holdout))
    if s.exposed_people is None and people_or_rows(data) != "people":
        return _OVERLAP  # a file of before they were counted
    exposed = s.exposed if s.exposed_people is None else s.exposed_people
    by_chance = s.exposed_share_strangers if s.exposed_people is None else s.exposed_people_share_strangers
    if not n or not m or by_chance is None:
        return _OVERLAP
    members, strangers = plain_share(exposed / n, n), plain_share(by_chance, n)
    if not _beyond(exposed / n, n, by_chance, m):
        return (
            f"{_OVERLAP} The list of exposed people is no evidence here: {members} of members are on it, and "
            f"{strangers} of strangers would be."
        )
    return (
        f"{_OVERLAP} {exposed:,} members ({members}) are on the list of exposed people; by chance {strangers} of "
        "strangers would be."
    )


def _beyond(members: float, n: int, strangers: float, m: int) -> bool:
    """Return whether a share of n members is above that of m strangers by more than chance (95%, one-sided)."""
    pooled = (members * n + strangers * m) / (n + m)
    return members - strangers > _ONE_SIDED * sqrt(pooled * (1 - pooled) * (1 / n + 1 / m))


_ONE_SIDED = 1.645


_OVERLAP = "Tests overlap: do not add their people up."


# ---------------------------------------------------------------- scope


_CHECKS = {
    "exchangeable": "members and strangers are a random split",
    "holdout unseen": "the synthesizer never saw the strangers",
    "rows belong together": "one row is one person",
    "no overlap": "nobody is both member and stranger",
    "units apart": "no person is in both tables",
    "people apart": "no person is in both tables",
    "references": "each row belongs to a person",
    "same lengths": "members have as many rows as strangers",
    "same window": "members and strangers cover the same time",
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
    told = f"{held} of {len(checks)} {'told in this edition ' if data.edition == 'external' else ''}hold."
    told += f" Not met: that {'; that '.join(failing)}." if failing else ""
    return told + (f" Not testable here: that {'; that '.join(unknown)}." if unknown else "")


def _unbounded(data: Assessment) -> str:
    """Return what is ruled out where each attack found something, or why nothing is."""
    if not order.has_holdout(data):
        return "Nothing: there was nobody to compare with."
    if order.in_doubt(data):
        return "Nothing: the two groups of people cannot be compared."
    return ruled_out_beside_findings(data) if data.verdict.bounds else "Nothing."


def _screened(data: Assessment) -> str:
    n = data.verdict.screened
    if not n or not order.has_holdout(data):
        return "No comparison with strangers was made."
    primary = {identity(b) for b in data.verdict.bounds if b.primary}
    hits = sum(r.verdict in FOUND and identity(r) not in primary for r in data.results)
    if not hits:
        return f"{n:,} more. None found a leak. That rules nothing out: only the main tests can."
    each = "which is" if hits == 1 else "each of them"
    return (
        f"{n:,} more. Of these, {hits:,} found an excess or a deficit, {each} evidence against release. The others "
        "rule nothing out."
    )


def untested(data: Assessment) -> list[str]:
    """Return the questions that the run does not answer, each with the reason where the plan gave one."""
    attacks, why = {what: attack for attack, what, _ in NOT_TESTED}, {o.attack: o.why for o in data.not_run}
    told = [(n.what, why.get(attacks.get(n.what, ""), "")) for n in data.not_tested]
    return [f"{what} ({reason})" if reason else what for what, reason in told]


def _not_tested(data: Assessment) -> str:
    names = untested(data)
    late = [f"{how_many(o.n)} of {o.of:,} tests of {o.attack.replace('_', ' ')}" for o in data.left_out[:_FEW]]
    failed = [f"{f.attack.replace('_', ' ')} (it failed)" for f in data.failed[:_FEW]]
    apart = holding(data.verdict.not_compared).get(NO_RELATION, [])
    unrelated = [f"{quoted(apart, _FEW)} (no relation leads from there to the people)"] if apart else []
    told = [*unrelated, *names, *failed, *late]
    return f"{formatting.capitalized(', '.join(told))}." if told else "No question that this report asks."
