"""One result of an external edition: its counts as shown, and what follows from them."""

from __future__ import annotations

import re
from typing import Any

from msgspec.structs import replace

from divulge.attacks.checks import SHOWN
from divulge.attacks.entry import CATALOGUE, Count, Exact, Rounding, Share
from divulge.core.result import TOWARDS, Baseline, Risk, Value
from divulge.report.external import known_numbers as known
from divulge.report.external.published import published
from divulge.report.external.risks import difference, risk, towards
from divulge.report.external.rounding import digits, rounded
from divulge.report.external.sentences import NUMBER, numberless
from divulge.report.external.source import Source, hidden
from divulge.report.model import Number, ResultRecord
from divulge.report.prose.compared import COMMONEST

__all__ = ["result"]

_BOUNDED = "the score was bounded"
_UNDECIDED = "cannot tell: "
_INFERENCE = "inference without disclosure: "
"""Notes that follow from exact counts."""
_COUNTED_NOTE = re.compile(f"^{NUMBER}|{NUMBER} of {NUMBER}|of the {NUMBER}")
"""Notes with a count of people: that there is one tells that it is not 0."""


def result(s: Source, r: ResultRecord) -> ResultRecord:
    """Return one result as the external edition shows it."""
    named = replace(
        r,
        variant=s.variant(r),
        keys=s.of(r.keys),
        target=s.target(r.target),
        actors=tuple(map(s.names.prose, r.actors)),
        settings=_settings(s, r.settings),
        notes=_notes(s, r),
        groups=(),
    )
    if s.made:
        what = None if r.baseline is None else replace(r.baseline, what=s.sentence(r.baseline.what))
        return replace(named, baseline=what)
    sides, null = s.sides(r), towards(s, r)
    found = risk(s, r, sides)
    # the counts of column sets and of subgroups add up to a number that is shown: they are withheld
    return replace(
        published(named),
        real=sides[0],
        holdout=sides[1],
        baseline=_baseline(s, r),
        difference=None if hidden(*sides) else difference(r, sides, null),
        value=_values(s, r),
        risk=found,
        score=None if hidden(*sides) else _score(r, found),
        context=_context(s, r, null, hidden(*sides)),
    )


def _baseline(s: Source, r: ResultRecord) -> Baseline | None:
    b = r.baseline
    if b is None:
        return None
    # others than a count of people are sums of squares or means, of which one person moves more
    return Baseline(rate=s.share(b.rate, "real") if b.what in COMMONEST else None, what=s.sentence(b.what))


def _values(s: Source, r: ResultRecord) -> Value | None:
    """Return the values of a result that has no rates, as counted; that of the synthetic table as it is."""
    entry = CATALOGUE.get(r.attack)
    coarse = None if entry is None else entry.coarse
    if r.value is None or coarse is None:
        return None if r.value is None else Value()
    columns = (*r.keys, *([r.target] if r.target else []))
    public = coarse.synthetic and bool(columns) and s.alone(columns)
    out: dict[str, float | None] = {"synthetic": digits(r.value.synthetic) if public else None}
    for role in ("real", "holdout") if r.real is None else ():
        value = getattr(r.value, role)
        if coarse.how == "share":
            out[role] = s.share(value, "synthetic" if coarse.of_rows(r.variant) else role)
        elif coarse.how == "class":
            out[role] = s.count(value, s.rows(role))
    return Value(**out)


def _context(s: Source, r: ResultRecord, null: float | None, away: bool) -> dict[str, Number | None]:
    """Return the further numbers; where a count of the result is withheld, those of settings alone."""
    entry = CATALOGUE.get(r.attack)
    rules = {k: None if entry is None else entry.rounding(k) for k in r.context}
    found = {k: _further(s, rules[k], v) for k, v in r.context.items() if not away or isinstance(rules[k], Exact)}
    told: dict[str, Number | None] = {k: v for k, v in found.items() if v is not None}
    if TOWARDS in r.context:
        told[TOWARDS] = null
    if SHOWN in r.context:
        told[SHOWN] = None  # a limit divided by it says more than one that is not
    return told


def _further(s: Source, rule: Rounding | None, value: Number | None) -> Number | None:
    """Return one further number, as its catalogue entry declares; None where withheld or not declared."""
    match rule if value is not None else None:
        case Share(of):
            return s.share(value, of)
        case Count(of):
            return s.count(value, s.rows(of))
        case Exact():
            return digits(value)
    return None


def _settings(s: Source, settings: dict[str, Any]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for name, value in settings.items():
        if name in known.SETTINGS and not isinstance(value, list | dict):
            out[name] = value
        elif name in ("columns", "first", "second") and isinstance(value, list):
            out[name] = list(s.of(value))
        elif name == "columns" and isinstance(value, int):
            out[name] = value
    return out


def _notes(s: Source, r: ResultRecord) -> tuple[str, ...]:
    out = []
    for note in r.notes:
        if note.startswith((_BOUNDED, _UNDECIDED, _INFERENCE)):
            continue
        if note.startswith("near: "):
            out.append("near: a synthetic row at a small distance, taken from how near people lie to each other")
        else:
            out.append(numberless(s.names.note(note)))
    return tuple(n for n in out if n and not _COUNTED_NOTE.search(n))


def _score(r: ResultRecord, risk: Risk | None) -> float | None:
    """Return the score of the upper limit that is shown, rounded down; for a deficit that of the lower limit."""
    if risk is None or SHOWN in r.context:
        return None
    limit = risk.low if r.verdict == "deficit found" else risk.high
    if limit is None:
        return None
    reached = abs(limit) if r.verdict == "deficit found" else max(0.0, limit)
    return rounded(round(100 * (1 - min(1.0, reached)), 9), 0, "down")  # 100 * (1 - 0.93) is 6.999…
