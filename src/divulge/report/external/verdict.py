"""The overall verdict of an external edition: its sentence is made anew from the bounds and results that it shows."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from divulge.attacks.entry import CATALOGUE
from divulge.core.records import CRITICAL, INVALIDATING
from divulge.core.result import FOUND, counts_rows, is_compared, label, number, percent
from divulge.report import formatting
from divulge.report.external.most import most_people
from divulge.report.external.published import published
from divulge.report.external.source import Source
from divulge.report.model import Bound, NotCompared, Overall, ResultRecord
from divulge.report.prose.bounds import (
    NO_VALUE,
    SEES_A_COPY,
    UNLIKE,
    bounds_in_words,
    cannot_tell,
    does_not_hold,
    fixed_in_words,
    none_found,
)

__all__ = ["overall"]

Pair = tuple[ResultRecord, ResultRecord]


def overall(s: Source, results: Sequence[ResultRecord]) -> Overall:
    """Return the verdict of the whole, from the custodian's assessment and the results of this edition."""
    v = s.data.verdict
    bounds = tuple(_bound(s, b) for b in v.bounds if _is_told(b))
    # that no person has any of the values would be a count of 0
    columns = tuple(
        NotCompared(column=s.names.name(n.column), why=UNLIKE if n.why == NO_VALUE else n.why) for n in v.not_compared
    )
    return Overall(
        verdict=v.verdict,
        sentence=_sentence(s, results, bounds, columns),
        bounds=bounds,
        screened=v.screened,
        not_compared=columns,
        without_strangers=s.of(v.without_strangers),
        nearer=v.nearer,
        required=v.required,
        most=most_people(s),
    )


def _is_told(b: Bound) -> bool:
    """Return whether the sentence of the verdict tells a bound; one that would show little of a copy it does not."""
    return b.primary or b.attack == "singling_out" or b.shown is None or b.shown >= SEES_A_COPY


def _bound(s: Source, b: Bound) -> Bound:
    """Return a bound: at most the acceptable risk, or none; its own limit is made of exact counts."""
    keys, target = s.of(b.keys), s.target(b.target)
    renamed = label(replace(b, keys=keys, target=target))
    return replace(
        published(b),
        keys=keys,
        target=target,
        words=b.words if b.target is None else renamed,
        limit=(b.acceptable or s.data.settings.acceptable) if b.bounded else None,
    )


def _sentence(
    s: Source, results: Sequence[ResultRecord], bounds: Sequence[Bound], columns: Sequence[NotCompared]
) -> str:
    data = s.data
    verdict, scope = data.verdict.verdict, data.verdict
    pairs = [(r, e) for r, e in zip(data.results, results, strict=True) if is_compared(r)]
    failing = [c.check for c in data.preconditions if c.check in CRITICAL and not c.ok]
    invalid = [c for c in failing if c in INVALIDATING]
    if verdict == "no holdout" or not pairs:
        return s.sentence(data.verdict.sentence)
    if invalid and verdict == "cannot tell":
        return does_not_hold(invalid)
    if verdict in FOUND:
        found = [p for p in zip(data.results, results, strict=True) if p[0].verdict == verdict]
        return _finding(found, pairs) if found else formatting.meaning(data)
    reached = bounds_in_words(bounds, data.settings.acceptable)
    if verdict == "none found":
        keys = any(r.keys for r, _ in pairs)
        told = none_found(len(pairs), reached, scope.screened, None, keys, columns, ())
        return told + fixed_in_words(scope.required, bounds)
    untested = [a for a in dict.fromkeys(o.attack for o in data.left_out) if all(r.attack != a for r, _ in pairs)]
    too_close = data.fidelity_scope is not None and data.fidelity_scope.too_close
    return cannot_tell(
        bounds,
        reached,
        scope.screened,
        None,
        failing,
        untested,
        s.of(scope.without_strangers),
        columns,
        (),
        too_close,
        scope.nearer,
        scope.required,
    )


def _finding(found: Sequence[Pair], pairs: Sequence[Pair]) -> str:
    """Return what was found, by the clearest finding."""
    excess = found[0][0].verdict == "excess found"
    sign, end = (1, "low_simultaneous") if excess else (-1, "high_simultaneous")
    r, e = max(found, key=lambda p: sign * (formatting.risk_value(p[1], end) or 0.0))
    same = max(1, sum(p[0].attack == r.attack for p in pairs))
    level = e.risk.level if e.risk else 0.0
    how = f"{100 * level:.0f}% simultaneous over the {formatting.several(same, 'comparison')} of this attack"
    bound, risk = formatting.risk_value(e, end), formatting.risk_value(e)
    value = "" if risk is None else f"{number(risk)}, "
    placed = r.attack in CATALOGUE and CATALOGUE[r.attack].placed
    beyond = bound is not None and sign * bound > 0
    least = f"at {'least' if excess else 'most'} {number(bound)}" if beyond else f"{'above' if excess else 'below'} 0"
    least = "by a test of the scores of all people" if placed else least
    people = "" if counts_rows(e) else _beside(e)
    what = "Excess" if excess else "Deficit"
    return f"{what} found: {formatting.label(e, '->')}{people}; risk {value}{least} ({how})."


def _beside(e: ResultRecord) -> str:
    members, strangers = formatting.rate_of(e.real), formatting.rate_of(e.holdout)
    if members is None or strangers is None:
        return ""
    return f", {percent(members)} among members and {percent(strangers)} among strangers"
