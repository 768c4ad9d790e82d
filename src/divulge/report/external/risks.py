"""Risk and difference in an external edition: rounded, or computed again from the counts that are shown."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite, isnan

import numpy as np
from msgspec.structs import replace

from divulge.core.result import Difference, Risk, counts_rows
from divulge.report.external.rounding import BASE, FEW, Limits, places, rounded, to_step
from divulge.report.external.source import Source, hidden
from divulge.report.formatting import limits_of, of_guesses
from divulge.report.model import ANY_COUNT, Group, Rate, ResultRecord
from divulge.stats.intervals import mover_residual
from divulge.stats.outcomes import Outcomes
from divulge.stats.two_sample import compare

__all__ = ["Coarse", "any_count", "difference", "own_risk", "rounded_risk", "shown_difference", "whole_people"]


@dataclass(frozen=True)
class Coarse:
    """How the numbers of one comparison are rounded: to decimals or to a grid."""

    decimals: int | None
    step: float | None = None

    @classmethod
    def by(cls, part: Difference | Risk) -> Coarse:
        """Return the rounding to the decimals that the interval of this part supports."""
        found = places((part.low, part.high))
        return cls(places((part.low_simultaneous, part.high_simultaneous)) if found is None else found)

    def near(self, value: float | None) -> float | None:
        """Return the rounded number."""
        return rounded(value, self.decimals) if self.step is None else to_step(value, self.step)

    def outward(self, limits: Limits) -> Limits:
        """Return the limits rounded outward."""
        low, high = limits
        if self.step is not None:
            return to_step(low, self.step, "down"), to_step(high, self.step, "up")
        under = rounded(low, self.decimals, "down")
        if under == 0 and low:  # a limit above 0 stays above 0: the verdict says so too
            under = float(f"{low:.0e}") if float(f"{low:.0e}") <= low else float(f"{low / 2:.0e}")
        return under, rounded(high, self.decimals, "up")


def difference(part: Difference | None) -> Difference | None:
    """Return the difference, rounded to the decimals that its interval supports."""
    if part is None:
        return None
    coarse = Coarse.by(part)
    (low, high), (under, over) = (coarse.outward(limits_of(part, kind)) for kind in ("", "_simultaneous"))
    return Difference(value=coarse.near(part.value), low=low, high=high, low_simultaneous=under, high_simultaneous=over)


def rounded_risk(part: Risk | None) -> Risk | None:
    """Return the risk, rounded to the decimals that its interval supports."""
    if part is None:
        return None
    coarse = Coarse.by(part)
    (low, high), (under, over) = (coarse.outward(limits_of(part, kind)) for kind in ("", "_simultaneous"))
    left, right = coarse.outward((part.leak_free_low, part.leak_free_high))
    return Risk(
        value=coarse.near(part.value), low=low, high=high, low_simultaneous=under, high_simultaneous=over,
        level=part.level, method=part.method, leak_free_low=left, leak_free_high=right,
    )  # fmt: skip


def own_risk(s: Source, r: ResultRecord) -> Risk | None:
    """Return the risk of a result, rounded; an upper limit that the verdict calls acceptable stays acceptable."""
    out = rounded_risk(r.risk)
    if out and _is_kept(s, r):  # the verdict says so too
        return replace(out, high_simultaneous=min(out.high_simultaneous or 0.0, s.data.settings.acceptable))
    return out


def _is_kept(s: Source, r: ResultRecord) -> bool:
    """Return whether the verdict says that the upper limit of risk is at most the acceptable one."""
    high = r.risk.high_simultaneous if r.risk else None
    return r.verdict == "none found" and high is not None and high <= s.data.settings.acceptable


def any_count(s: Source, r: ResultRecord, real: Rate | None, holdout: Rate | None) -> Risk | None:
    """Return a risk whose limits hold for every count that would be shown, or withheld, in the same way as these."""
    risk = r.risk
    if risk is None:
        return None
    tests = sum(o.attack == r.attack and o.risk is not None for o in s.data.results)
    hits = _any_hits(r.real, real), _any_hits(r.holdout, holdout)
    out: dict[str, float | None] = dict.fromkeys(("value", "leak_free_low", "leak_free_high"))
    for kind, times in (("", 1), ("_simultaneous", tests)):
        limits: Limits = (None, None)
        if hits[0] is not None and hits[1] is not None and not counts_rows(r) and not of_guesses(r.attack):
            limits = _envelope(hits[0], hits[1], 1 - (1 - risk.level) / times, limits_of(risk, kind))
        out |= {f"low{kind}": rounded(limits[0], 2, "down"), f"high{kind}": rounded(limits[1], 2, "up")}
    if not hidden(real, holdout):
        out |= _of_shown(real, holdout, 1 - (1 - risk.level) / tests, places((risk.low, risk.high)))
    if r.verdict == "excess found":  # the verdict says so too
        out |= {k: 0.0 if (low := out[k]) is None else max(low, 0.0) for k in ("low", "low_simultaneous")}
    if r.verdict == "deficit found":
        out |= {k: 0.0 if (high := out[k]) is None else min(high, 0.0) for k in ("high", "high_simultaneous")}
    if _is_kept(s, r):
        most, high = s.data.settings.acceptable, out["high_simultaneous"]
        out["high_simultaneous"] = most if high is None else min(high, most)
    return Risk(**out, level=risk.level, method=ANY_COUNT)


def _any_hits(rate: Rate | None, shown: Rate | None) -> tuple[float, float, int] | None:
    """Return the smallest and largest count that would be shown like this one, and n; None where either is missing."""
    if rate is None or shown is None or not shown.n:
        return None
    n = shown.n
    if shown.hits is not None:
        low, high = shown.hits - BASE / 2, shown.hits + BASE / 2
    elif rate.hits is None or rate.n is None:
        return None
    else:
        few, many = rate.hits < FEW, rate.n - rate.hits < FEW
        low, high = 0.0 if few else n - FEW, n if many else FEW
    return max(0.0, low), min(float(n), high), n


def _envelope(real: tuple[float, float, int], holdout: tuple[float, float, int], level: float, own: Limits) -> Limits:
    """Return limits of risk that hold for all counts in these ranges and enclose the limits `own`."""
    (low_a, high_a, n_a), (low_b, high_b, n_b) = real, holdout
    corners = [mover_residual(a, n_a, b, n_b, level) for a in (low_a, high_a) for b in (low_b, high_b)]
    ends = [c for c in corners if not isnan(c.value)]
    if len(ends) < len(corners):
        return None, None
    low, high = min(c.low for c in ends), max(c.high for c in ends)
    low = low if own[0] is None else min(low, own[0])
    high = high if own[1] is None else max(high, own[1])
    return (low if isfinite(low) else None), (high if isfinite(high) else None)


def whole_people(r: ResultRecord | Group) -> bool:
    """Return whether a part counts people as right or wrong, so that exact numbers would reveal the exact counts."""
    counted = all(s and s.n and float(s.hits or 0).is_integer() for s in (r.real, r.holdout))
    return counted and r.risk is not None


def _of_shown(real: Rate | None, holdout: Rate | None, level: float, decimals: int | None) -> dict[str, float | None]:
    """Return the risk and the leak-free band, computed from the counts that are shown."""
    counts = [(int(s.hits or 0), (s.n or 0) - int(s.hits or 0)) for s in (real, holdout) if s is not None]
    one, other = (Outcomes(np.array([1.0, 0.0]), count=np.array(c)) for c in counts)
    found = compare(one, other, rng=np.random.default_rng(0), draws=0)
    band = found.leak_free(level)
    shown = (rounded(v, decimals) if isfinite(v) else None for v in (found.risk.value, band.low, band.high))
    return dict(zip(("value", "leak_free_low", "leak_free_high"), shown, strict=True))


def shown_difference(real: Rate | None, holdout: Rate | None, own: Difference | None) -> Difference | None:
    """Return the difference of the rates that are shown, without limits; the limits of risk state its uncertainty."""
    if own is None or real is None or holdout is None or real.rate is None or holdout.rate is None:
        return None
    value = rounded(real.rate - holdout.rate, places((own.low, own.high)))
    return Difference(value=value, low=None, high=None)
