"""One result of an external edition: its counts, and what follows from them, withheld or rounded."""

from __future__ import annotations

import re
from typing import Any

from divulge.attacks import CATALOGUE
from divulge.attacks.checks import SHOWN
from divulge.attacks.entry import Coarse, Count, Decimals, Exact, Median, Quantile, Rounding, Share
from divulge.core.result import TOWARDS, Baseline, Risk, Value, counts_rows
from divulge.report.external import known_numbers as known
from divulge.report.external.risks import any_count, own_risk, rounded_risk, shown_difference, whole_people
from divulge.report.external.risks import difference as rounded_difference
from divulge.report.external.rounding import count, digits, few_hidden, quantiles, rounded, share, stairs
from divulge.report.external.source import Source, hidden
from divulge.report.formatting import of_guesses
from divulge.report.model import Group, Number, ResultRecord

__all__ = ["result"]

_BOUNDED = "the score was bounded"
_TOO_WIDE = "cannot tell: the interval is too wide"
_UNDECIDED = ("cannot tell: limits and p-value disagree", "cannot tell: too few", _TOO_WIDE)
"""Reasons of which only the first words are told, and where a count is withheld only that it was not decided."""


def result(s: Source, r: ResultRecord) -> ResultRecord:
    """Return one result as the external edition shows it."""
    real, holdout = s.side(r.real, "real"), s.side(r.holdout, "holdout")
    away = hidden(real, holdout)
    if away and counts_rows(r):  # the rows of members and strangers add up to those counted: one side gives the other
        real, holdout = s.side(r.real, "real", few=True), s.side(r.holdout, "holdout", few=True)
    whole = not away and whole_people(r) and not counts_rows(r) and not of_guesses(r.attack)
    risk = any_count(s, r, real, holdout) if away or whole else own_risk(s, r)
    context = _context(s, r, away)
    difference = shown_difference(real, holdout, r.difference) if whole else rounded_difference(r.difference)
    return ResultRecord(
        attack=r.attack,
        variant=s.variant(r),
        keys=s.of(r.keys),
        target=s.target(r.target),
        settings=_settings(s, r.settings),
        real=real,
        holdout=holdout,
        baseline=_baseline(s, r),
        difference=None if away else difference,
        value=_values(s, r),
        risk=risk,
        context=context,
        score=None if away else _score(r, risk, context),
        p_value=None if away else _at_most(r.p_value),
        p_adjusted=None if away else _at_most(r.p_adjusted),
        smallest_detectable=None if away else digits(r.smallest_detectable, 1),
        verdict=r.verdict,
        curves={} if away else _curves(s, r),
        groups=_groups(s, r),
        notes=_notes(s, r, away),
        seconds=float(round(r.seconds)),
    )


def _baseline(s: Source, r: ResultRecord) -> Baseline | None:
    b = r.baseline
    if b is None:
        return None
    rate = digits(b.rate) if r.attack in ("linkability", "singling_out") else share(b.rate, s.people())
    return Baseline(rate=rate, what=s.sentence(b.what))


def _values(s: Source, r: ResultRecord) -> Value | None:
    if r.value is None:
        return None
    coarse = _coarse(r.attack)
    how, by_rows = ("", False) if coarse is None else (coarse.how, coarse.of_rows(r.variant))
    out = {}
    for role in ("real", "holdout", "synthetic"):
        n, value = s.rows("synthetic" if by_rows else role), getattr(r.value, role)
        own = role == "synthetic" and how in ("share", "class")  # the recipient has this table and can count himself
        out[role] = digits(value) if own else _value(value, how, n)
    return Value(**out)


def _context(s: Source, r: ResultRecord, away: bool) -> dict[str, float | None]:
    if away:
        return {k: digits(v) for k, v in r.context.items() if k in (TOWARDS, SHOWN, "fdr")}
    entry = CATALOGUE.get(r.attack)
    found = {k: _further(s, None if entry is None else entry.rounding(k), k, v) for k, v in r.context.items()}
    found |= _answered(s, r)
    return {k: v for k, v in found.items() if v is not None}


def _coarse(attack: str) -> Coarse | None:
    """Return how the values of an attack are rounded; None where the catalogue does not say or lacks the attack."""
    entry = CATALOGUE.get(attack)
    return None if entry is None else entry.coarse


def _further(s: Source, rule: Rounding | None, name: str, value: Number | None) -> float | None:
    """Return one further number, rounded as its catalogue entry declares; None where withheld or not declared."""
    match rule if value is not None else None:
        case Share(of):
            return share(value, s.rows(of))
        case Count(of):
            return count(value, None if of is None else s.rows(of))
        case Decimals(n):
            return rounded(value, n)
        case Median(of):
            return _value(value, "median", s.rows(of))
        case Exact():
            return digits(value)
        case Quantile(of):
            at = int(re.search(r"(\d+)% quantile", name)[1])  # type: ignore[index] # its name says which
            return quantiles([at / 100], [value], s.rows(of))[0]
    return None


def _answered(s: Source, r: ResultRecord) -> dict[str, float | None]:
    """Return recall, precision and PRC of an attacker who may abstain, for each side with enough answers."""
    out: dict[str, float | None] = {}
    for side, role in (("", "real"), (", strangers", "holdout"), (", reference", "holdout")):
        recall, n = r.context.get(f"recall{side}"), s.rows(role)
        people = None if recall is None else recall * n
        if people is None or count(people, n) is None:
            continue
        out[f"recall{side}"] = share(recall, n)
        for name in ("precision", "PRC"):
            if (value := r.context.get(f"{name}{side}")) is not None:
                out[f"{name}{side}"] = share(value, people)
    return out


def _curves(s: Source, r: ResultRecord) -> dict[str, list[float | None]]:
    curves = r.curves
    if "share" in curves:
        coarse = _coarse(r.attack)
        by_rows = coarse is not None and coarse.of_rows(r.variant)
        lines = {n: "synthetic" if by_rows else known.CURVES.get(n) for n in curves if n in known.QUANTILES}
        return {"share": [rounded(v, 4) for v in curves["share"]]} | {
            n: quantiles(curves["share"], curves[n], s.rows(role)) for n, role in lines.items() if role
        }
    axis = next((g for g in known.GRIDS if g in curves), None)
    if axis is None:
        return {}
    out: dict[str, list[float | None]] = {axis: [digits(x) for x in curves[axis]]}
    sizes = {"real": r.real and r.real.n, "holdout": r.holdout and r.holdout.n}
    for n in known.STAIRS:
        if n in curves:
            role = known.CURVES.get(n, n)
            out[n] = stairs(curves[n], sizes.get(role) or s.rows(role))
    return out


def _settings(s: Source, settings: dict[str, Any]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for name, value in settings.items():
        if name in known.SETTINGS and not isinstance(value, list | dict):
            out[name] = value
        elif name in ("columns", "first", "second") and isinstance(value, list):
            out[name] = list(s.of(value))
        elif name in ("columns", "rows") and isinstance(value, int):
            out[name] = value
    return out


def _groups(s: Source, r: ResultRecord) -> tuple[Group, ...]:
    """Return the groups of a result; groups that add up to one number are withheld together."""
    few = {g.of for g in r.groups if hidden(s.rate(g.real, "real"), s.side(g.holdout, "holdout"))}
    out = []
    for i, g in enumerate(r.groups, 1):
        away = g.of in few
        of, name = _group_name(s, r, g, i)
        out.append(
            Group(
                of=of,
                name=name,
                real=s.rate(g.real, "real", away),
                holdout=s.side(g.holdout, "holdout", away),
                risk=None if away or (whole_people(g) and not of_guesses(r.attack)) else rounded_risk(g.risk),
            )
        )
    return tuple(out)


def _group_name(s: Source, r: ResultRecord, g: Group, i: int) -> tuple[str, str]:
    """Return what the groups differ in, a column or "column set", and the name of this group."""
    if of_guesses(r.attack):
        return "column set", s.names.joined(g.name) or f"set {i}"
    return s.names.name(g.of), g.name if known.SUBGROUP.fullmatch(g.name) else f"group {i}"


def _notes(s: Source, r: ResultRecord, away: bool) -> tuple[str, ...]:
    out = []
    for note in r.notes:
        if note.startswith(_UNDECIDED):  # the size needed is computed from exact limits
            out.append("" if away else next(w for w in _UNDECIDED if note.startswith(w)))
        elif away and note.startswith(_BOUNDED):
            continue
        elif note.startswith("near: "):
            out.append("near: a synthetic row at a small distance, taken from how near people lie to each other")
        else:
            out.append(few_hidden(s.names.note(note)))
    return tuple(n for n in out if n)


def _at_most(p: float | None) -> float | None:
    """Return the smallest of 0.001, 0.01, 0.05 and 1 that is at least p: more digits would reveal exact counts."""
    return None if p is None else next(most for most in (0.001, 0.01, 0.05, 1.0) if p <= most)


def _value(value: float | None, how: str, n: int) -> float | None:
    """Return a measure of n rows, rounded; None where it depends on few of them."""
    if value is None or not how:
        return None
    if how == "share":
        return share(value, n)
    if how == "two":
        return rounded(value, 2)
    if how == "class":  # the size of the smallest class of people
        return count(value, n)
    tail = {"median": 0.5, "tail": 0.05}.get(how, 1.0)
    return digits(value) if tail * n >= 10 else None


def _score(r: ResultRecord, risk: Risk | None, context: dict[str, Number | None]) -> float | None:
    """Return the score of the rounded upper limit, rounded down; for a deficit that of the lower limit."""
    if r.verdict == "deficit found":
        low = risk.low if risk else None
        if r.score is None or low is None:
            return None
        return rounded(min(100 * (1 - min(1.0, abs(low))), r.score), 0, "down")
    high, part = (risk.high if risk else None), r.context.get(SHOWN)
    part = 1.0 if part is None else context.get(SHOWN, 1.0)
    if r.score is None or high is None or part is None or part <= 0:
        return None
    return rounded(min(100 * (1 - min(1.0, max(0.0, high / min(1.0, part)))), r.score), 0, "down")
