"""What a claim of differential privacy allows, beside what a run found: a function of the report alone."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from divulge.attacks.entry import CATALOGUE
from divulge.core.records import CRITICAL
from divulge.core.threat_model import Claim
from divulge.report.claims.model import ClaimLine, ClaimRead, Judgement
from divulge.report.model import Assessment, ResultRecord
from divulge.report.prose.reach import members_of
from divulge.stats.epsilon import advantage_allowed, replaced_claim, split_epsilon, tpr_allowed

__all__ = ["claim_read"]

_RATES = {"TPR at FPR 1%": 0.01, "TPR at FPR 10%": 0.1}
_LINES = ("membership advantage", "inference excess", *_RATES)
_GIVEN_AWAY = 0.1  # people, up to which it does not matter whether they are given away together
_STRANGERS = 10
"""Strangers above a threshold, at least."""


@dataclass(frozen=True, slots=True)
class _Bounding:
    """People who were hit in one comparison: members, and strangers."""

    what: tuple[str, ...]
    r: ResultRecord
    hits: int
    n: int
    others: int
    m: int
    tpr: float
    fpr: float


def claim_read(data: Assessment) -> ClaimRead | None:
    """Return what the claim in the schema file allows and whether the results contradict it; None without a claim.

    Only comparisons count in which whom an attack hits does not depend on who is a member, as the catalogue has it, and
    which are fair. All bounds of epsilon hold together.
    """
    claim = data.threat.claim
    if claim is None:
        return None
    why = _why_not(data, claim)
    if claim.neighbouring is None or claim.delta is None:
        return _read(data, None, None, 0, [_silent(what, why) for what in _LINES], why)
    epsilon, delta = replaced_claim(claim.epsilon, claim.delta, claim.neighbouring)
    counted = [] if why else list(_bounding(data))
    scale = epsilon / claim.epsilon
    each = 1 - (1 - data.settings.level) / max(1, len(counted))
    low = [split_epsilon(c.hits, c.n, c.others, c.m, delta=delta, level=each) / scale for c in counted]
    lines = [_line(what, claim, (epsilon, delta), list(zip(counted, low, strict=True)), why) for what in _LINES]
    return _read(data, epsilon, delta, len(counted), lines, why)


def _read(
    data: Assessment, epsilon: float | None, delta: float | None, n: int, lines: list[ClaimLine], why: str
) -> ClaimRead:
    verdicts = {line.verdict for line in lines}
    both = None if epsilon is None or delta is None else (epsilon, delta)
    return ClaimRead(
        epsilon=epsilon,
        delta=delta,
        advantage=both and advantage_allowed(*both),
        tpr_at_1=both and tpr_allowed(0.01, *both),
        tpr_at_10=both and tpr_allowed(0.1, *both),
        level=data.settings.level,
        comparisons=n,
        lines=tuple(lines),
        verdict=next((v for v in _ORDER if v in verdicts), "not judged"),
        why=why or ("" if n else "no attack compared members with strangers"),
    )


_ORDER: tuple[Judgement, ...] = ("contradicted", "not contradicted", "not judged")


def _why_not(data: Assessment, claim: Claim) -> str:
    """Return why a claim cannot be judged by this run; "" where it can."""
    missing = [f for f in ("delta", "unit", "neighbouring") if getattr(claim, f) is None]
    if missing:
        return f"not stated: {', '.join(missing)}"
    if data.tables.holdout is None:
        return "there is no holdout"
    critical = [c for c in data.preconditions if c.check in CRITICAL]
    if not all(c.ok for c in critical):
        return "members and strangers are no fair comparison"
    if untested := [c.check for c in critical if not c.tested]:
        return f"it could not be tested whether members and strangers are a fair comparison ({', '.join(untested)})"
    if (claim.delta or 0.0) * (members_of(data) or 0) > _GIVEN_AWAY:
        return "delta times the number of people is more than 0.1: all may be given away at once"
    if claim.unit == "row" and (data.settings.unit is not None or data.tables.real.linked):
        return "the claim is about a row, and the run compares people with several rows"
    return ""


def _bounding(data: Assessment) -> Iterator[_Bounding]:
    for r in data.results:
        a, b = r.real, r.holdout
        what = CATALOGUE[r.attack].claimed(r.variant) if r.attack in CATALOGUE else None
        if what is None or r.verdict is None or r.risk is None or r.risk.low is None:
            continue  # without limits the comparison was held back, as it is not fair
        if a is None or b is None or not a.n or not b.n or a.hits is None or b.hits is None:
            continue
        if (a.units or a.n) != a.n or (b.units or b.n) != b.n or a.rate is None or b.rate is None:
            continue  # rows of one person are no independent people
        if what != "TPR":
            # scores of equally near rows are averaged
            hits, others = math.floor(a.hits + 1e-9), math.ceil(b.hits - 1e-9)
            yield _Bounding((what,), r, hits, a.n, others, b.n, a.rate, b.rate)
            continue
        for name, fpr in _RATES.items():
            tpr, k = r.context.get(name), math.floor(fpr * (b.n + 1) + 1e-9)
            if tpr is not None and k >= _STRANGERS:
                also = ("membership advantage",) if fpr == r.settings.get("fpr") else ()
                yield _Bounding((name, *also), r, round(tpr * a.n), a.n, k - 1, b.n, tpr, k / b.n)


def _line(
    what: str, claim: Claim, replaced: tuple[float, float], found: list[tuple[_Bounding, float]], why: str
) -> ClaimLine:
    own = [(c, low) for c, low in found if what in c.what]
    if not own:
        few = (
            f"it needs {math.ceil(_STRANGERS / _RATES[what]):,} strangers" if what in _RATES else "it was not compared"
        )
        return _silent(what, why or few)
    c, low = max(own, key=lambda pair: (pair[1], pair[0].tpr - pair[0].fpr))
    less, fpr = (0.0, _RATES[what]) if what in _RATES else (c.fpr, c.fpr)
    return ClaimLine(
        what=what,  # type: ignore[arg-type] # one of _LINES
        attack=c.r.attack,
        variant=c.r.variant,
        strangers=fpr,
        allowed=tpr_allowed(fpr, *replaced) - less,
        found=c.tpr - less,
        epsilon_low=low,
        verdict="contradicted" if low > claim.epsilon else "not contradicted",
        why="",
    )


def _silent(what: str, why: str) -> ClaimLine:
    return ClaimLine(
        what=what,  # type: ignore[arg-type] # one of _LINES
        attack="",
        variant="",
        strangers=None,
        allowed=None,
        found=None,
        epsilon_low=None,
        verdict="not judged",
        why=why,
    )
