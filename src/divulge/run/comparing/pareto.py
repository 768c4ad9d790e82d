"""The front of risk and use: candidates that no other one betters in one of the two without being worse in the other.

Use is how far pairs of columns (columns, where there are no pairs) are from the real ones beyond what a fresh sample
is: 0 is a fresh sample, and to be closer is no merit.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations
from typing import Literal

import numpy as np

from divulge.measures.result import VERDICTS, FidelityResult
from divulge.report.comparison.model import CandidateFidelity, Dominated, FidelityPair, Front
from divulge.report.comparison.prose import some
from divulge.report.comparison.rows import PARTS
from divulge.stats.intervals import normal_quantile
from divulge.stats.mover import difference

__all__ = ["Standing", "candidate_fidelity", "front_of", "measure_of_use"]

Sure = Literal["risk", "use", "risk and use"]


@dataclass(frozen=True, slots=True)
class Standing:
    """What the front needs of one candidate."""

    label: str
    risk: float
    """The estimate: its place in the order of a comparison, cleared ones first, then by the members reached."""
    riskier_than: frozenset[str]
    """The candidates that have less risk for certain, a finding being more than none."""
    fidelity: CandidateFidelity


def measure_of_use(results: Iterable[FidelityResult]) -> str:
    """Return the measure of use: the distance of pairs of columns, or of columns where no table has pairs.

    Both are counted, where the rows are, and have limits and a fresh sample to stand beside.
    """
    measured = {r.measure for r in results if r.value is not None}
    return next((m for m in PARTS if m in measured), next(iter(PARTS)))


def candidate_fidelity(
    tables: Sequence[Sequence[FidelityResult]], measure: str, level: float, n_candidates: int
) -> CandidateFidelity | None:
    """Return the fidelity of a candidate, with limits that hold for all candidates together (Bonferroni).

    Parameters
    ----------
    tables
        The results of fidelity of each of its tables. The limits of a mean are the means of the limits.
    measure
        The measure of use.
    level
        At which the limits of all candidates hold together.
    n_candidates
        How many they are.

    Returns
    -------
    CandidateFidelity or None
        None where a table has no such distance.
    """
    heads = [next((r for r in own if r.measure == measure and not r.columns), None) for own in tables]
    known = [r for r in heads if r is not None and r.excess is not None and r.low is not None and r.high is not None]
    if not known or len(known) < len(tables):
        return None
    stretch = normal_quantile(1 - (1 - level) / n_candidates) / normal_quantile(level)
    excess, low, high = (float(np.mean([getattr(r, field) for r in known])) for field in ("excess", "low", "high"))
    at = min(max(excess, 0.0, low), high)
    rulers = [r.ruler for r in known if r.ruler is not None]
    return CandidateFidelity(
        measure=measure,
        ruler=float(np.mean(rulers)) if rulers else None,
        excess=excess,
        low=max(0.0, at - stretch * (at - low)),
        high=min(1.0, at + stretch * (high - at)),
        verdict=min((r.verdict for r in known), key=VERDICTS.index),
    )


def front_of(standings: Sequence[Standing], level: float, paired: Sequence[FidelityPair] = ()) -> Front:
    """Return the front, each candidate that is not on it with one that is better, and all differences of distance.

    A candidate is not on the front where another one has less risk for certain, or is nearer to the real counts for
    certain, and by estimate is no worse in the other of the two.

    Parameters
    ----------
    standings
        At least one candidate.
    level
        At which the differences of all pairs hold together.
    paired
        The differences of distance where they are known pair by pair; without them the limits of each distance give
        those of independent estimates, which are wider.
    """
    n_pairs = max(1, len(standings) * (len(standings) - 1) // 2)
    stretch = normal_quantile(1 - (1 - level) / n_pairs) / normal_quantile(1 - (1 - level) / len(standings))
    pairs = tuple(paired) or tuple(_pair(a, b, stretch) for a, b in combinations(standings, 2))
    farther = {(p.first, p.second) if p.farther == p.first else (p.second, p.first) for p in pairs if p.farther}
    worse: dict[str, Dominated] = {}
    for a, b in permutations(standings, 2):
        risk, use = b.label in a.riskier_than, (a.label, b.label) in farther
        no_better = (risk or a.risk >= b.risk) and (use or _beyond(a) >= _beyond(b))
        turned = a.label in b.riskier_than or (b.label, a.label) in farther
        if (risk or use) and no_better and not turned:
            sure: Sure = "risk and use" if risk and use else "risk" if risk else "use"
            worse.setdefault(a.label, Dominated(label=a.label, by=b.label, sure=sure))
    labels = tuple(s.label for s in standings if s.label not in worse)
    return Front(labels=labels, dominated=tuple(worse.values()), pairs=pairs, sentence=_sentence(labels, worse))


def _beyond(s: Standing) -> float:
    """Return the distance beyond a fresh sample; to be closer than one is no merit."""
    return max(0.0, s.fidelity.excess)


def _pair(a: Standing, b: Standing, stretch: float) -> FidelityPair:
    (one, other) = ((min(max(_beyond(s), s.fidelity.low), s.fidelity.high), s.fidelity.low, s.fidelity.high)
                    for s in (a, b))  # fmt: skip
    value, low, high = difference(one, other, stretch)
    farther = a.label if low > 0 else b.label if high < 0 else None
    return FidelityPair(
        measure=a.fidelity.measure, first=a.label, second=b.label, difference=value, low=low, high=high, farther=farther
    )


def _sentence(labels: Sequence[str], worse: dict[str, Dominated]) -> str:
    if not worse:
        return "No candidate is bettered in risk or use for certain: all are on the front."
    named = some([f"“{name}”" for name in labels])
    told = some([f"“{d.label}” (“{d.by}” is better in {d.sure})" for d in worse.values()])
    return f"On the front of risk and use: {named}. Not on it: {told}."
