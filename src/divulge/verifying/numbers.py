"""Numbers of a result that follow from its others: rates, differences, risks, limits, scores, verdicts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from divulge.attacks.checks import ABSENT, CANNOT_TELL, GRID, SHOWN, score_of, verdict_of
from divulge.attacks.entry import CATALOGUE
from divulge.core.result import FOUND, counts_rows, identity
from divulge.report.model import Assessment, Rate, ResultRecord
from divulge.report.order import in_doubt
from divulge.stats import Comparison, Interval, Outcomes, compare

__all__ = ["close", "comparison_of", "faults_of_numbers", "faults_of_shown_rates"]

_NEAR = 1e-9
_EXACT = "Newcombe; MOVER"
"""The method whose numbers follow from counts alone."""
_STEPS = 80
_LOOSE = 1e-6
"""Digits to which the level of a family is found again."""


def faults_of_numbers(data: Assessment) -> Iterator[str]:
    """Yield a sentence for each number or verdict of a result that does not follow from the others."""
    doubtful = bool(in_doubt(data))
    for i, r in enumerate(data.results):
        where = f"results[{i}] ({r.attack})"
        yield from (f"{where}: {what}" for what in _of_result(r, data, doubtful))
    yield from _of_families(data)


def faults_of_shown_rates(data: Assessment) -> Iterator[str]:
    """Yield a sentence for each rate of an external edition that is not its hits over its n, rounded, and the like."""
    n_judged = sum(r.verdict not in (None, "no holdout") for r in data.results)
    has_holdout = data.tables.holdout is not None
    if has_holdout and data.verdict.screened != max(0, n_judged - sum(b.primary for b in data.verdict.bounds)):
        yield "verdict.screened: not the number of comparisons that are screened"
    led = data.verdict.most
    if led is not None and all(identity(r) != identity(led) or r.verdict != "excess found" for r in data.results):
        yield "verdict.most: no finding of this report"
    for i, r in enumerate(data.results):
        for name, side in (("real", r.real), ("holdout", r.holdout)):
            if side is None or side.hits is None or not side.n or side.rate is None:
                continue
            if abs(side.rate - side.hits / side.n) > _ROUNDED:
                yield f"results[{i}] ({r.attack}): {name}.rate: not its hits over its n"
        if r.risk is not None:
            if r.risk.level != data.settings.level:
                yield f"results[{i}] ({r.attack}): risk.level: not the level of the run"
            if wrong := _disorder(r.risk.low, r.risk.value, r.risk.high):
                yield f"results[{i}] ({r.attack}): risk: {wrong}"
        if r.attack not in CATALOGUE:
            yield f"results[{i}]: no attack of this version"


_ROUNDED = 1e-3


def close(a: float | None, b: float | None, near: float = _NEAR) -> bool:
    """Return whether two numbers are the same but for rounding; None equals None and nan."""
    a, b = (None if v is None or not math.isfinite(v) else float(v) for v in (a, b))
    if a is None or b is None:
        return a is b
    return abs(a - b) <= near * max(1.0, abs(a), abs(b))


def _of_result(r: ResultRecord, data: Assessment, doubtful: bool) -> Iterator[str]:
    if r.attack not in CATALOGUE:
        yield "no attack of this version"
        return
    for name, side in (("real", r.real), ("holdout", r.holdout)):
        yield from _of_rate(side, name, data, r)
    for j, group in enumerate(r.groups):
        for name, side in (("real", group.real), ("holdout", group.holdout)):
            yield from _of_rate(side, f"groups[{j}].{name}", data, None)
        if group.risk is not None and (wrong := _disorder(group.risk.low, group.risk.value, group.risk.high)):
            yield f"groups[{j}].risk: {wrong}"
    yield from _of_curves(r)
    if r.risk is None or r.difference is None:
        if r.verdict not in (None, "no holdout", "cannot tell"):
            yield "verdict: it has one, and no risk"
        return
    yield from _of_risk(r, data)
    yield from _of_verdict(r, data, doubtful)


def _of_rate(side: Rate | None, name: str, data: Assessment, r: ResultRecord | None) -> Iterator[str]:
    if side is None or side.n is None or side.hits is None:
        return
    if not close(side.rate, side.hits / side.n if side.n else None):
        yield f"{name}.rate: not its hits over its n"
    if side.hits > side.n * (1 + _NEAR) or side.hits < 0:
        yield f"{name}.hits: not between 0 and n"
    table = data.tables.by_role()["holdout" if name == "holdout" else "real"]
    people = r is not None and CATALOGUE[r.attack].counts == "people" and not counts_rows(r)
    if people and table is not None and table.rows is not None and side.n > table.rows:
        yield f"{name}.n: more than the table has rows"


def _disorder(low: float | None, value: float | None, high: float | None) -> str:
    known = [v for v in (low, value, high) if v is not None]
    return "" if all(a <= b + _NEAR for a, b in pairwise(known)) else "its limits are not in order"


def _of_risk(r: ResultRecord, data: Assessment) -> Iterator[str]:
    assert r.risk is not None and r.difference is not None
    for name, part in (("risk", r.risk), ("difference", r.difference)):
        if wrong := _disorder(part.low, part.value, part.high):
            yield f"{name}: {wrong}"
        if _disorder(part.low_simultaneous, part.low, None) or _disorder(None, part.high, part.high_simultaneous):
            yield f"{name}: the limits that hold together are narrower than those of one"
    if r.risk.level != data.settings.level:
        yield "risk.level: not the level of the run"
    if r.p_value is not None and r.p_adjusted is not None and r.p_adjusted < r.p_value - _NEAR:
        yield "p_adjusted: below p_value"
    if _of_people(r):
        assert r.real is not None and r.holdout is not None
        members, strangers = r.real.rate, r.holdout.rate
        if members is not None and strangers is not None:
            if not close(r.difference.value, members - strangers):
                yield "difference.value: not the rate of members minus that of strangers"
            if not close(r.risk.value, (members - strangers) / (1 - strangers) if strangers < 1 else None):
                yield "risk.value: does not follow from the rates"
    if (found := comparison_of(r, data.settings.level)) is not None:
        pairs = (("difference", r.difference, found.difference), ("risk", r.risk, found.risk))
        for name, part, again in pairs:
            if part.low is not None and not (close(part.low, again.low) and close(part.high, again.high)):
                yield f"{name}: its limits do not follow from the counts"


def _of_curves(r: ResultRecord) -> Iterator[str]:
    """Yield what of the shares of people who score at least so much cannot be: they fall, and have the rate as mean."""
    if list(r.curves.get("at_least") or ()) != _GRID:
        return
    for name, side in (("members", r.real), ("strangers", r.holdout)):
        shares = [v for v in r.curves.get(name) or () if v is not None]
        if len(shares) != len(_GRID) or side is None or side.rate is None:
            continue
        if any(b > a + _NEAR for a, b in pairwise(shares)) or not 0 <= shares[-1] <= shares[0] <= 1 + _NEAR:
            yield f"curves.{name}: more people reach a higher score"
        least, most = sum(shares) / len(_GRID), (1 + sum(shares[:-1])) / len(_GRID)
        if not least - _NEAR <= side.rate <= most + _NEAR:
            yield f"curves.{name}: no such shares have this rate"
        if r.risk is not None and r.risk.method == _EXACT and any(not close(v, side.rate) for v in shares):
            yield f"curves.{name}: not the rate, of scores that are 0 or 1"


_GRID = GRID.round(2).tolist()


def _of_people(r: ResultRecord) -> bool:
    """Return whether risk and difference are made of the two rates that the result shows."""
    assert r.risk is not None
    if r.real is None or r.holdout is None or counts_rows(r):
        return False
    return r.risk.method.startswith(("Newcombe; MOVER", "Welch and Wilson"))


def comparison_of(r: ResultRecord, level: float) -> Comparison | None:
    """Return the comparison behind a result again, where the counts of members and strangers say all of it."""
    if r.risk is None or r.risk.method != _EXACT or r.real is None or r.holdout is None:
        return None
    sides = []
    for side in (r.real, r.holdout):
        if side.hits is None or not side.n or not float(side.hits).is_integer() or not 0 <= side.hits <= side.n:
            return None
        hits = int(side.hits)
        sides.append(Outcomes(np.array([1.0, 0.0]), np.array([hits, int(side.n) - hits])))
    return compare(*sides, level=level, rng=np.random.default_rng(0), draws=0)


def _of_verdict(r: ResultRecord, data: Assessment, doubtful: bool) -> Iterator[str]:
    assert r.risk is not None and r.difference is not None
    part = r.context.get(SHOWN, 1.0)
    shown = 1.0 if part is None else part
    largest = data.settings.acceptable * max(0.0, shown)
    difference, risk = (
        Interval(_or_nan(p.value), _or_nan(p.low_simultaneous), _or_nan(p.high_simultaneous))
        for p in (r.difference, r.risk)
    )
    follows = verdict_of(difference, risk, r.p_adjusted, 1 - data.settings.level, largest)
    held = r.verdict == "cannot tell" and any(n.startswith(CANNOT_TELL) for n in r.notes)
    if r.risk.method.startswith(_ITS_OWN):
        follows = r.verdict if r.verdict is not None else follows
        if r.verdict in FOUND and (r.p_adjusted is None or r.p_adjusted > 1 - data.settings.level + _NEAR):
            yield "verdict: a finding, and its p_adjusted is above 1 minus the level"
    if r.verdict != follows and not held:
        yield "verdict: does not follow from limits and p_adjusted"
    if (r.verdict == "cannot tell") != any(n.startswith(CANNOT_TELL) for n in r.notes):
        yield "notes: a note says why it cannot be told, and the verdict is another; or none says it"
    if (ABSENT in r.notes) != (r.verdict == "deficit found"):
        yield "notes: the note on a deficit does not fit the verdict"
    score, _ = score_of(r.risk, min(1.0, shown), follows if r.verdict is None else r.verdict)
    held_back = r.verdict == "cannot tell" and follows == "deficit found"
    if doubtful and r.score is not None:
        yield "score: a precondition fails, so that there is none"
    elif not doubtful and not held_back and not close(r.score, score):
        yield "score: does not follow from the limits"


_ITS_OWN = (
    "threshold from the strangers",
    "Newcombe and MOVER at the effective",
    "agreement at lag",
    "MOVER of Wilson",
)
"""Methods whose verdict follows from a test of their own, beside the limits."""


def _or_nan(value: float | None) -> float:
    return math.nan if value is None else value


# ---------------------------------------------------------------- families


def _levels(data: Assessment) -> dict[str, float]:
    """Return the level of each comparison of a family at which all of its limits hold together, by family.

    It is found again from the limits of the difference of the comparisons whose counts say all; the commonest counts.
    """
    found: dict[str, list[float]] = {}
    for r in data.results:
        comparison = comparison_of(r, data.settings.level)
        if comparison is None or r.difference is None or r.difference.low_simultaneous is None:
            continue
        level = _level_of(comparison, r.difference.low_simultaneous, data.settings.level)
        if level is not None:
            found.setdefault(_together(r), []).append(level)
    return {family: _commonest(given) for family, given in found.items()}


def _together(r: ResultRecord) -> str:
    """Return what the comparisons whose limits hold together have in common: the attack, and the actor if any."""
    return ", ".join((r.attack, *r.actors[:1]))


def _level_of(comparison: Comparison, low: float, least: float) -> float | None:
    """Return the level at which the lower limit of the difference is this; None where there is none."""
    if close(comparison.difference.low, low):
        return least
    inside, outside = 1 - least, 1e-13  # what is left of the level, so that digits stay
    for _ in range(_STEPS):
        middle = math.sqrt(inside * outside)
        if comparison.at(1 - middle)[0].low > low:
            inside = middle
        else:
            outside = middle
    level = 1 - math.sqrt(inside * outside)
    return level if close(comparison.at(level)[0].low, low, 1e-7) else None


def _commonest(given: Sequence[float]) -> float:
    ordered = sorted(given)
    near = [sum(abs(a - b) <= _LOOSE * (1 - min(a, 1 - 1e-15)) + 1e-12 for b in ordered) for a in ordered]
    return ordered[near.index(max(near))]


def _of_families(data: Assessment) -> Iterator[str]:
    """Yield what the limits of the comparisons of one attack do not have in common: the level of each."""
    known = _levels(data)
    known_here = [r for r in data.results if r.attack in CATALOGUE]
    n = len({_family(r) for r in known_here if r.risk is not None or r.variant in CATALOGUE[r.attack].alone})
    for i, r in enumerate(data.results):
        comparison = comparison_of(r, data.settings.level)
        if comparison is None or _together(r) not in known or r.risk is None or r.difference is None:
            continue
        where = f"results[{i}] ({r.attack})"
        difference, risk = comparison.at(known[_together(r)])
        pairs = (("difference", r.difference, difference), ("risk", r.risk, risk))
        for name, part, again in pairs:
            ends = ((part.low_simultaneous, again.low), (part.high_simultaneous, again.high))
            if part.low_simultaneous is not None and not all(close(a, b, _LOOSE) for a, b in ends):
                yield f"{where}: {name}: its limits do not hold at the level of the other comparisons"
        own = known[_together(r)], data.settings.level
        detectable = [comparison.detectable(1 - (1 - each) / n, each) for each in dict.fromkeys(own)]
        alone = r.variant in CATALOGUE[r.attack].alone  # corrected by a rule of its own
        if not alone and not any(close(r.smallest_detectable, v, 1e-4) for v in detectable):
            yield f"{where}: smallest_detectable: does not follow from the counts"
        bands = [comparison.leak_free(level) for level in (known[_together(r)], data.settings.level)]
        shown = r.risk.leak_free_low, r.risk.leak_free_high
        if not any(close(shown[0], b.low, _LOOSE) and close(shown[1], b.high, _LOOSE) for b in bands):
            yield f"{where}: risk: its leak-free band does not follow from the counts"


def _family(r: ResultRecord) -> str:
    """Return the family that a comparison is corrected in, as a run has them."""
    if r.variant in CATALOGUE[r.attack].alone:
        return f"{r.attack} ({r.variant})"
    name = r.attack if r.holdout is not None else f"{r.attack}, paired rows"
    return f"{name}, {r.actors[0]}" if r.actors else name
