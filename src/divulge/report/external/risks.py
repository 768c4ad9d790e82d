"""Risk and difference in an external edition: made of the counts that are shown, and of the words of the verdict."""

from __future__ import annotations

from functools import lru_cache
from math import isfinite, isnan

import numpy as np

from divulge.attacks.entry import CATALOGUE
from divulge.core.result import FOUND, TOWARDS, Difference, Risk, counts_rows
from divulge.report.external.rounding import Limits, alike, rounded
from divulge.report.external.source import Source
from divulge.report.model import ANY_COUNT, Rate, ResultRecord
from divulge.stats.intervals import mover_residual
from divulge.stats.outcomes import Outcomes
from divulge.stats.two_sample import compare

__all__ = ["difference", "lower_limit", "risk", "towards"]

Sides = tuple[Rate | None, Rate | None]


def risk(s: Source, r: ResultRecord, sides: Sides) -> Risk | None:
    """Return the risk that follows from what is shown.

    Its limits hold for every count that would be shown, or withheld, in the same way. Where rows, guesses, several
    rows of a person or means over targets are counted, the only limits are those that the verdict states; so too where
    strangers set the threshold of a score, and a finding states none there.
    """
    own = r.risk
    if own is None:
        return None
    tests = s.n_tests[(r.attack, *r.actors[:1])]
    placed = _placed(r)
    people = s.of_people(r) and not s.kept_back(r) and not placed
    out: dict[str, float | None] = dict.fromkeys(("value", "leak_free_low", "leak_free_high"))
    for kind, times in (("", 1), ("_simultaneous", tests)):
        limits = _limits(s, r, sides, 1 - (1 - own.level) / times) if people else (None, None)
        out |= {f"low{kind}": rounded(limits[0], 2, "down"), f"high{kind}": rounded(limits[1], 2, "up")}
    out["value"] = _value(r, sides, towards(s, r))
    if people:
        out |= _leak_free(sides, 1 - (1 - own.level) / tests)
    said = {} if placed and r.verdict in FOUND else _said(s, r, out)
    return Risk(**(out | said), level=own.level, method=ANY_COUNT)


def lower_limit(s: Source, r: ResultRecord, sides: Sides) -> float | None:
    """Return the simultaneous lower limit that holds for all counts that are shown like these, whoever sets a rate."""
    if r.risk is None or not s.of_people(r) or s.kept_back(r):
        return None
    return _limits(s, r, sides, 1 - (1 - r.risk.level) / s.n_tests[(r.attack, *r.actors[:1])])[0]


def _placed(r: ResultRecord) -> bool:
    """Return whether a finding follows from a test of scores, so that the limits of its risk may lie on either side."""
    return r.attack in CATALOGUE and CATALOGUE[r.attack].placed


def towards(s: Source, r: ResultRecord) -> float | None:
    """Return the leak-free share of rows towards members, by the sizes that are shown."""
    n, m = s.rows("real"), s.rows("holdout")
    return None if TOWARDS not in r.context or n is None or m is None else round(n / (n + m), 4)


def difference(r: ResultRecord, sides: Sides, null: float | None) -> Difference | None:
    """Return the difference of the rates that are shown; the limits of risk state its uncertainty."""
    real, holdout = sides
    shown = real is not None and holdout is not None and real.rate is not None and holdout.rate is not None
    if r.difference is None or not shown:
        return None
    assert real is not None and holdout is not None and real.rate is not None and holdout.rate is not None
    if not counts_rows(r):
        return Difference(value=rounded(real.rate - holdout.rate, None), low=None, high=None)
    if null is None:
        return None
    excess = real.rate - null * (real.rate + holdout.rate)
    return Difference(value=rounded(excess, None), low=None, high=None)


def _said(s: Source, r: ResultRecord, out: dict[str, float | None]) -> dict[str, float | None]:
    """Return the limits that the verdict states: beyond 0 for a finding, the acceptable risk for "none found"."""
    if r.verdict == "excess found":
        return {k: 0.0 if (low := out[k]) is None else max(low, 0.0) for k in ("low", "low_simultaneous")}
    if r.verdict == "deficit found":
        return {k: 0.0 if (high := out[k]) is None else min(high, 0.0) for k in ("high", "high_simultaneous")}
    if r.verdict == "none found":
        most, high, alone = s.data.settings.acceptable, out["high_simultaneous"], out["high"]
        together = most if high is None else min(high, most)
        # the interval of the comparison alone lies within the simultaneous one
        return {"high_simultaneous": together, "high": None if alone is None else min(alone, together)}
    return {}


def _limits(s: Source, r: ResultRecord, sides: Sides, level: float) -> Limits:
    """Return limits of risk that hold for all counts that are shown like these."""
    ranges = [(alike(own.hits, shown.n, s.step), shown.n) for own, shown in zip((r.real, r.holdout), sides, strict=True)
              if own is not None and shown is not None]  # fmt: skip
    if len(ranges) < 2:
        return None, None
    (a, n), (b, m) = ranges
    return (None, None) if a is None or b is None or not n or not m else _widest(a, n, b, m, level)


@lru_cache(maxsize=10_000)
def _widest(a: tuple[float, float], n: int, b: tuple[float, float], m: int, level: float) -> Limits:
    """Return limits of risk that hold for all counts in these ranges."""
    corners = [mover_residual(x, n, y, m, level) for x in a for y in b]
    if any(isnan(c.value) for c in corners):
        return None, None
    low, high = min(c.low for c in corners), max(c.high for c in corners)
    return (low if isfinite(low) else None), (high if isfinite(high) else None)


def _value(r: ResultRecord, sides: Sides, null: float | None) -> float | None:
    """Return the risk of the rates that are shown; of rows it is the fraction that is copied."""
    real, holdout = sides
    if real is None or holdout is None or real.rate is None or holdout.rate is None:
        return None
    if counts_rows(r):
        return None if null is None or null >= 1 else rounded(real.rate - null / (1 - null) * holdout.rate, None)
    return None if holdout.rate >= 1 else rounded((real.rate - holdout.rate) / (1 - holdout.rate), None)


def _leak_free(sides: Sides, level: float) -> dict[str, float | None]:
    """Return the leak-free band of the counts that are shown."""
    counts = [(s.hits, s.n) for s in sides if s is not None and s.hits is not None and s.n is not None]
    return _band(*(int(x) for c in counts for x in c), level) if len(counts) == 2 else {}


@lru_cache(maxsize=10_000)
def _band(hits: int, n: int, others: int, m: int, level: float) -> dict[str, float | None]:
    one, other = (Outcomes(np.array([1.0, 0.0]), count=np.array([k, of - k])) for k, of in ((hits, n), (others, m)))
    band = compare(one, other, rng=np.random.default_rng(0), draws=0).leak_free(level)
    ends = {"leak_free_low": band.low, "leak_free_high": band.high}
    return {k: rounded(v, None) if isfinite(v) else None for k, v in ends.items()}
