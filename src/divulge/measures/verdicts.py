"""Verdicts of measures of fidelity, and the correction of p-values over several measures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from msgspec.structs import replace

from divulge.measures.result import FidelityResult, FidelityVerdict

__all__ = ["corrected", "judged", "verdict_of"]

_ALIKE = 1e-12  # p-values that differ by less are equal


def verdict_of(
    p_adjusted: float | None,
    p_low_tail_adjusted: float | None,
    high: float | None,
    tolerance: float,
    level: float = 0.95,
) -> FidelityVerdict:
    """Return the verdict of one comparison.

    Parameters
    ----------
    p_adjusted, p_low_tail_adjusted
        Corrected p-values of both tails; None where there is no test.
    high
        Upper limit of the true difference.
    tolerance
        The largest difference that does not matter.
    level
        1 less the chance of a false "differs".

    Examples
    --------
    >>> verdict_of(0.001, 1.0, 0.3, 0.05), verdict_of(0.4, 1.0, 0.04, 0.05), verdict_of(0.4, 1.0, 0.2, 0.05)
    ('differs', 'like a fresh sample', 'cannot tell')
    """
    rare = 1 - level - _ALIKE
    if p_adjusted is not None and p_adjusted < rare:
        return "differs"
    if p_low_tail_adjusted is not None and p_low_tail_adjusted < rare:
        return "closer than a fresh sample"
    if high is not None and high <= tolerance:
        return "like a fresh sample"
    return "cannot tell"


def judged(result: FidelityResult, level: float = 0.95) -> FidelityResult:
    """Return the result with the verdict that follows from its numbers; "not measured" where it has no value.

    Where the verdict is "cannot tell", `rows_needed` says with how many rows of each table a table without difference
    would be told: limits shrink as one over the root of the rows.
    """
    if result.value is None:
        return replace(result, verdict="not measured", rows_needed=None)
    verdict = verdict_of(result.p_adjusted, result.p_low_tail_adjusted, result.high, result.tolerance, level)
    return replace(result, verdict=verdict, rows_needed=_rows_needed(result) if verdict == "cannot tell" else None)


def _rows_needed(result: FidelityResult) -> int | None:
    fresh, tolerance = result.fresh_sample, result.tolerance
    if result.quantity != "distance" or fresh is None or result.high is None or result.value is None or not tolerance:
        return None
    without = fresh.mean + result.high - result.value  # the upper limit of a table that shows a fresh sample's mean
    if without <= 0 or not result.n or not result.m:
        return None
    rows = 2 * result.n * result.m / (result.n + result.m)
    return math.ceil(rows * max(1.0, (without / tolerance) ** 2))


def corrected(
    families: Sequence[Sequence[FidelityResult]], level: float = 0.95, shares: Sequence[float] | None = None
) -> list[tuple[FidelityResult, ...]]:
    """Return the results of several measures, corrected over the measures, with the verdicts that follow.

    `p_adjusted` of each measure is corrected within it already. Over k measures each is multiplied by k; where all
    results of a measure are significant even so, the others are multiplied by k - 1, and so on (Holm's steps for
    families). A false finding among all measures is then as rare as within one. A measure with a share below 1 counts
    as so much of a measure, and its p-values are divided by it.

    Parameters
    ----------
    families
        The results of each measure.
    level
        1 less the chance of a false finding.
    shares
        Of each measure; None is 1.

    Examples
    --------
    >>> one, other = (FidelityResult(measure=m, value=0.2, p_adjusted=p) for m, p in (("a", 0.02), ("b", 0.5)))
    >>> [r.p_adjusted for ((r,), _) in (corrected([[one], [other]]), corrected([[one], [other]], shares=[0.5, 0.5]))]
    [0.04, 0.04]
    >>> corrected([[one], [other]], shares=[1, 0.5])[0][0].p_adjusted
    0.03
    """
    of = [1.0] * len(families) if shares is None else shares
    measured = [[r if r.value is not None else None for r in family] for family in families]
    far = _stepped([[r.p_adjusted if r else None for r in family] for family in measured], of)
    near = _stepped([[r.p_low_tail_adjusted if r else None for r in family] for family in measured], of)
    return [
        _recounted([
            judged(replace(r, p_adjusted=p, p_low_tail_adjusted=q), level) if r.value is not None else r
            for r, p, q in zip(family, far[f], near[f], strict=True)
        ])
        for f, family in enumerate(families)
    ]  # fmt: skip


def _recounted(family: list[FidelityResult]) -> tuple[FidelityResult, ...]:
    """Return the results of a measure; each one that counts verdicts counts anew those up to the next that does."""
    heads = [i for i, r in enumerate(family) if {"differ", "closer"} <= set(r.context)]
    out = list(family)
    for i, end in pairwise([*heads, len(family)]):
        verdicts = [r.verdict for r in family[i + 1 : end]]
        counts = {"differ": verdicts.count("differs"), "closer": verdicts.count("closer than a fresh sample")}
        out[i] = replace(family[i], context={**family[i].context, **counts})
    return tuple(out)


def _stepped(families: Sequence[Sequence[float | None]], shares: Sequence[float]) -> list[list[float | None]]:
    """Return the corrected p-values of families whose p-values are corrected within each."""
    tested = [f for f, family in enumerate(families) if any(p is not None for p in family)]
    largest = {f: max(p for p in families[f] if p is not None) / shares[f] for f in tested}
    order = sorted(tested, key=lambda f: largest[f])
    left, steps = 0.0, []  # at which p-value each family has left, and the factor of those that stay
    for place, f in enumerate(order):
        stay = math.fsum(shares[other] for other in order[place:])
        steps.append((left, stay))
        left = max(left, stay * largest[f])
    out: list[list[float | None]] = []
    for f, family in enumerate(families):
        mine = steps[: order.index(f) + 1] if f in largest else []
        scaled = [None if p is None else p / shares[f] for p in family]
        out.append([None if p is None else float(np.min([1, *(max(a, k * p) for a, k in mine)])) for p in scaled])
    return out
