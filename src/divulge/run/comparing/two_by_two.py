"""Any two candidates: which is riskier, and which is farther from the real table; on the same people and rows."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from divulge.attacks.checks import finite
from divulge.case.case import build_case
from divulge.measures.distances_together import distances_together
from divulge.report.comparison.model import FidelityPair, TwoByTwo
from divulge.report.comparison.prose import some
from divulge.report.comparison.rows import PARTS
from divulge.stats.rank_intervals import Ranking
from divulge.stats.shared_error import Contrast, contrasts
from divulge.tables.stacking import stacked

if TYPE_CHECKING:
    from divulge.run.comparing.candidates import Assessed, Assessment, Ranked

__all__ = ["paired_distances", "two_by_two"]


def paired_distances(run: Assessment, assessed: Sequence[Assessed], labels: Sequence[str]) -> tuple[FidelityPair, ...]:
    """Return the differences of distance of any two candidates, by measure; none where a table has too few rows.

    Parameters
    ----------
    run
        The inputs and settings that all tables share.
    assessed
        The tables that were attacked.
    labels
        The candidates.
    """
    given = [a.given for a in assessed if a.given is not None]
    if len(labels) < 2 or len(given) < len(assessed):
        return ()
    stack = stacked(given)
    if run.drawn is None:
        holdout = stack.columns if run.holdout is None else run.holdout.columns
        both = [c for c in run.real.columns if c in stack.columns]
        away = [c for c in both if c in run.reading.ignore or c not in holdout]
        case = build_case(
            run.real, stack, schema=run.reading.schema, unit=run.reading.unit, ignore=away,
            missing=run.reading.missing, seed=run.options.seed, level=run.options.level,
        ).collected("distances are of single rows")  # fmt: skip
    else:  # what is ignored and missing is known from all rows
        case = build_case(
            run.drawn.real, stack, schema=run.drawn.schema, seed=run.options.seed, level=run.options.level
        )  # fmt: skip
    groups = [[i for i, a in enumerate(assessed) if a.label == label] for label in labels]
    n = len(PARTS) * len(labels) * (len(labels) - 1) // 2
    found = {t.measure: t for t in distances_together(case)}
    out = []
    for measure in (m for m in PARTS if m in found):
        t, fresh = found[measure], float(found[measure].fresh.mean())
        of = contrasts(t.excess, t.without_real, t.without_own, groups, level=run.options.level, n=n)
        out += [_distance(measure, c, labels, fresh) for c in of]
    return tuple(out)


def _distance(measure: str, c: Contrast, labels: Sequence[str], fresh: float) -> FidelityPair:
    farther = c.first if c.low > 0 and c.first_low > 0 else c.second if c.high < 0 and c.second_low > 0 else None
    return FidelityPair(
        measure=measure, first=labels[c.first], second=labels[c.second], difference=c.difference, low=c.low,
        high=c.high, ruler=c.difference / fresh if fresh > 0 else None,
        farther=None if farther is None else labels[farther], paired=True,
    )  # fmt: skip


def two_by_two(labels: Sequence[str], ranked: Ranked | None, distances: Sequence[FidelityPair]) -> tuple[TwoByTwo, ...]:
    """Return for any two candidates which is riskier and which is farther from the real table.

    Parameters
    ----------
    labels
        The candidates.
    ranked
        Their risks, where there are strangers.
    distances
        Differences of distance: those of the first measure are told.
    """
    ranking = None if ranked is None else ranked.ranking
    told = {(d.first, d.second): d for d in reversed(distances)}
    if ranking is None and not told:
        return ()
    out = []
    for i, j in combinations(range(len(labels)), 2):
        first, second = labels[i], labels[j]
        d = told.get((first, second))
        risk = None if ranking is None or ranked is None else _clearest(ranking, i, j)
        words = [] if ranked is None or ranking is None else [_risk_in_words(ranked, ranking, labels, i, j)]
        words += [] if d is None else [_distance_in_words(d)]
        over = None if ranking is None else _riskier(ranking, labels, i, j)
        out.append(TwoByTwo(
            first=first, second=second, riskier=over,
            attack=None if risk is None or ranked is None else ranked.attacks[risk[0]][0],
            risk=None if risk is None else finite(risk[1]), risk_low=None if risk is None else finite(risk[2]),
            risk_high=None if risk is None else finite(risk[3]),
            farther=None if d is None else d.farther, distance=None if d is None else d.difference,
            distance_low=None if d is None else d.low, distance_high=None if d is None else d.high,
            sentence=" ".join(words),
        ))  # fmt: skip
    return tuple(out)


def _riskier(ranking: Ranking, labels: Sequence[str], i: int, j: int) -> str | None:
    """Return on whom the worst attack is worse for certain."""
    return labels[i] if ranking.riskier[i, j] else labels[j] if ranking.riskier[j, i] else None


def _clearest(ranking: Ranking, i: int, j: int) -> tuple[int, float, float, float]:
    """Return the attack under which two candidates differ most clearly, and the difference with its limits."""
    gap, low, high = (a[:, i, j] for a in (ranking.difference, ranking.difference_low, ranking.difference_high))
    half = np.maximum((high - low) / 2, 1e-12)
    a = int(np.argmax(np.round(np.abs(gap) / half, 9)))
    return a, float(gap[a]), float(low[a]), float(high[a])


def _risk_in_words(ranked: Ranked, ranking: Ranking, labels: Sequence[str], i: int, j: int) -> str:
    for a, b in ((i, j), (j, i)):
        if ranking.riskier[a, b]:
            return f"“{labels[a]}” is riskier than “{labels[b]}”."
    sides = []
    for a, b in ((i, j), (j, i)):
        under = [ranked.attacks[k][0] for k in np.flatnonzero(ranking.difference_low[:, a, b] > 0)]
        sides += [f"under {some(under)} “{labels[a]}” has more"] if under else []
    told = f"; {', and '.join(sides)}" if sides else ""
    for a, b in ((i, j), (j, i)):
        if ranked.behind[a] and not ranked.behind[b]:
            told = f"“{labels[a]}” stands behind “{labels[b]}” by its verdict{told or ' alone'}"
            return f"{told}. Cannot tell which is riskier."
    return f"Cannot tell which is riskier{told}." if sides else "Cannot tell which is riskier."


def _distance_in_words(d: FidelityPair) -> str:
    if d.farther is not None:
        nearer = d.second if d.farther == d.first else d.first
        return f"“{d.farther}” is farther from the real table than “{nearer}”."
    if d.low > 0 or d.high < 0:
        near = d.second if d.low > 0 else d.first
        other = d.first if d.low > 0 else d.second
        return f"“{near}” is nearer to the real table, but “{other}” may be as near as another sample."
    return "Cannot tell which is farther from the real table."
