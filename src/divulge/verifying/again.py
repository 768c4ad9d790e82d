"""The verdict of a report, and its other parts, made again from the results that it holds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from divulge.attacks.checks import SHOWN
from divulge.attacks.entry import CATALOGUE
from divulge.attacks.registry import worded
from divulge.core.records import CRITICAL
from divulge.core.result import Result, identity, is_compared
from divulge.measures.verdicts import judged
from divulge.report.assembly import about_attacks, not_tested
from divulge.report.claims.judged import claim_read
from divulge.report.external.most import finding_of_most
from divulge.report.model import Assessment, Bound, Overall
from divulge.report.prose.bounds import SEES_A_COPY
from divulge.report.prose.change import change_sentence
from divulge.report.prose.people import repeated_in_words
from divulge.report.prose.reach import members_of
from divulge.run.judging.verdict import Scope, lean_towards_members, told_verdict
from divulge.verifying.numbers import close, comparison_of

_ALLOWED = ("epsilon", "delta", "advantage", "tpr_at_1", "tpr_at_10", "level")
"""What follows from a claim of differential privacy alone."""

__all__ = ["faults_of_bounds", "faults_of_parts", "faults_of_verdict"]


def faults_of_verdict(data: Assessment) -> Iterator[str]:
    """Yield a sentence for each part of the overall verdict that does not follow from results and bounds."""
    shown = data.verdict
    if data.tables.holdout is None:
        if shown.verdict != "no holdout":
            yield "verdict.verdict: there is no holdout"
        return
    again = [_again(data, planned) for planned in _planned(data)]
    if all(shown.verdict != a.verdict for a in again):
        yield "verdict.verdict: does not follow from the results"
    elif all(shown.sentence != a.sentence for a in again):
        yield "verdict.sentence: does not follow from the results"
    if shown.screened != again[0].screened:
        yield "verdict.screened: not the number of comparisons that are screened"
    if shown.nearer != again[0].nearer:
        yield "verdict.nearer: does not follow from the distances"
    if shown.most != finding_of_most(data):
        yield "verdict.most: not the finding that reaches most people for certain"
    if data.policy is None and (shown.required or any(b.acceptable is not None for b in shown.bounds)):
        yield "verdict.required: only a policy asks for attacks or accepts limits, and there is none"


def _planned(data: Assessment) -> list[list[str]]:
    """Return what may have been planned: attacks with results, that failed, were left out, or could not be counted."""
    made = [r.attack for r in data.results]
    late = [*(f.attack for f in data.failed), *(o.attack for o in data.left_out)]
    known = [a for a in CATALOGUE if a in {*made, *late}]
    return [known, [a for a in CATALOGUE if a in {*known, *(o.attack for o in data.not_run)}]]


def _again(data: Assessment, planned: Sequence[str]) -> Overall:
    """Return the verdict that follows from the results and bounds that a report holds."""
    shown, settings = data.verdict, data.settings
    results = [_result(r) for r in data.results if r.attack in CATALOGUE]
    facts = data.facts
    scope = Scope(
        failing=[c.check for c in data.preconditions if c.check in CRITICAL and not c.ok],
        left_out=data.left_out,
        planned=planned,
        not_compared=shown.not_compared,
        without_strangers=shown.without_strangers,
        person=repeated_in_words(facts) if facts is not None and facts.repeated.found else "",
        too_close=data.fidelity_scope is not None and data.fidelity_scope.too_close,
        primary=shown.required or None,
        n_members=0 if data.edition == "external" else members_of(data) or 0,  # there limits are rounded, not of people
    )
    n_judged = sum(r.verdict not in (None, "no holdout") for r in results)
    screened = max(0, n_judged - sum(b.primary for b in shown.bounds))
    verdict, sentence = told_verdict(
        results, settings.level, settings.acceptable, scope, shown.bounds, n_judged, screened
    )
    return Overall(verdict=verdict, sentence=sentence, screened=screened, nearer=lean_towards_members(results))


def _result(record: object) -> Result:
    made = Result(**{f: getattr(record, f) for f in record.__struct_fields__})  # type: ignore[attr-defined] # a struct
    return worded(made, CATALOGUE[made.attack])


def faults_of_bounds(data: Assessment) -> Iterator[str]:
    """Yield a sentence for each bound that does not follow from the result that it bounds."""
    by_name = {identity(r): r for r in data.results}
    n = len(data.verdict.bounds)
    each = max(data.settings.level, 1 - 2 * (1 - data.settings.level) / max(1, n))
    for i, b in enumerate(data.verdict.bounds):
        where = f"verdict.bounds[{i}] ({b.attack})"
        r = by_name.get(identity(b))
        if r is None or not is_compared(r):
            yield f"{where}: no result compares this"
            continue
        part = r.context.get(SHOWN)
        if not close(b.shown, 1.0 if part is None else min(1.0, max(0.0, part))):
            yield f"{where}: shown: not that of its result"
        most = data.settings.acceptable if b.acceptable is None else b.acceptable
        if b.bounded != (b.limit is not None and b.limit <= most):
            yield f"{where}: bounded: does not follow from its limit"
        if b.primary and (b.shown or 0.0) < SEES_A_COPY:
            yield f"{where}: primary: a copy would not show there"
        if b.people is not None and b.bounded:
            yield f"{where}: people: it is bounded already"
        comparison = None if b.why else comparison_of(r, data.settings.level)
        if comparison is not None and b.shown and not _covered(b, data):
            limit = comparison.at(each)[1].high / b.shown
            if not close(b.limit, None if limit >= 1 else limit, 1e-6):
                yield f"{where}: limit: does not follow from the counts"


def _covered(b: Bound, data: Assessment) -> bool:
    """Return whether another comparison may have lent its limit."""
    covering = [CATALOGUE[o.attack].primary for o in data.verdict.bounds if o.attack in CATALOGUE]
    return any(p is not None and p.covers is not None and p.covers[0] == b.attack for p in covering)


def faults_of_parts(data: Assessment) -> Iterator[str]:
    """Yield a sentence for each further part that does not follow from the others."""
    run = {r.attack for r in data.results}
    if data.not_tested != not_tested(run, data.preconditions):
        yield "not_tested: does not follow from the results and the preconditions"
    claim = claim_read(data)
    if data.edition == "external" and claim is not None and data.claim is not None:  # its findings are the custodian's
        claim = replace(data.claim, **{f: getattr(claim, f) for f in _ALLOWED})
    if data.claim != claim:
        yield "claim: does not follow from the results and the claim in the schema file"
    if data.attacks != about_attacks(run):
        yield "attacks: not the entries of this version for the attacks that ran"
    yield from _of_records(data)
    yield from _of_fidelity(data)
    yield from _of_change(data)
    for i, m in enumerate(data.minimal_key_sets):
        rows = data.tables.real.rows
        if m.n_disclosed is not None and rows and not close(m.share, m.n_disclosed / rows):
            yield f"minimal_key_sets[{i}].share: not n_disclosed over the rows"
    for i, c in enumerate(data.positive_control):
        least = min((a.smallest_share for a in c.attacks), default=None)
        if c.smallest_share is not None and not close(c.smallest_share, least):
            yield f"positive_control[{i}].smallest_share: not the smallest of its attacks"


def _of_records(data: Assessment) -> Iterator[str]:
    s = data.records
    if s is None:
        return
    if s.n != data.tables.real.rows:
        yield "records.n: not the rows of the real table"
    if s.n and not close(s.exposed_share, s.exposed / s.n):
        yield "records.exposed_share: not exposed over n"
    for name in s.__struct_fields__:
        value = getattr(s, name)
        if isinstance(value, int) and value > s.n and name != "smallest_flaggable":
            yield f"records.{name}: more than n"
    if max(s.copied or 0, s.replicated_unique or 0, s.disclosed or 0) > s.exposed:
        yield "records.exposed: fewer than one of its signs"
    if (s.exposed_people or 0) > s.exposed:
        yield "records.exposed_people: more than exposed"
    if (s.recognised_not_near or 0) > (s.recognised or 0):
        yield "records.recognised_not_near: more than recognised"


def _of_fidelity(data: Assessment) -> Iterator[str]:
    if data.edition == "external":
        return  # its verdicts are the custodian's, without their numbers
    for i, r in enumerate(data.fidelity):
        where = f"fidelity[{i}] ({r.measure})"
        again = judged(r, data.settings.level)
        if r.verdict != again.verdict and not r.notes:
            yield f"{where}: verdict: does not follow from its numbers"
        fresh = r.fresh_sample
        if fresh is not None and r.value is not None:
            if r.excess is not None and not close(r.excess, r.value - fresh.mean):
                yield f"{where}: excess: not the value minus that of a fresh sample"
            if r.ruler is not None and fresh.mean and not close(r.ruler, r.value / fresh.mean):
                yield f"{where}: ruler: not the value over that of a fresh sample"


def _of_change(data: Assessment) -> Iterator[str]:
    c = data.change
    if c is None:
        return
    same, outside = c.same_people or c.previous_edition == "external", data.edition == "external"
    if c.sentence != change_sentence(c.comparisons, c.verdict, c.previous_started, same, outside=outside):
        yield "change.sentence: does not follow from its comparisons"
    verdicts = {r.verdict for r in c.comparisons}
    follows = "no change found" if verdicts == {"no change found"} else "cannot compare"
    follows = next((v for v in ("rose", "fell") if v in verdicts), follows)
    if c.verdict != follows:
        yield "change.verdict: does not follow from its comparisons"
    now = {identity(r): r for r in data.results}
    for i, row in enumerate(c.comparisons):
        r = now.get(identity(row))
        if r is None or r.risk is None or (not outside and not close(row.now, r.risk.value)):
            yield f"change.comparisons[{i}].now: not the risk of this run"
