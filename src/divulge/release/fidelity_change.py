"""The change of fidelity since a previous run: of each measure over all columns, with an interval."""

from __future__ import annotations

from collections.abc import Iterable

from divulge.measures.result import FidelityResult
from divulge.report.model import Assessment
from divulge.report.policy_model import ChangedFidelity, MovedFidelity
from divulge.stats.intervals import normal_quantile
from divulge.stats.mover import Limits, difference

__all__ = ["fidelity_change"]


def fidelity_change(data: Assessment, previous: Assessment) -> tuple[ChangedFidelity, ...]:
    """Return how the distance of each measure over all columns changed, with limits that hold for all together.

    The distance is the one without the noise of samples: its estimate is `excess`, at least 0, within `low` and `high`.
    Limits of the difference are those of two independent estimates, by Bonferroni over the measures; with the same
    people in both runs they are conservative.

    Parameters
    ----------
    data, previous
        The assessments of this run and of the earlier one. Measures that only one of them made are left out.
    """
    now, before = _heads(data.fidelity), _heads(previous.fidelity)
    both = [name for name in now if name in before]
    stretch = normal_quantile(1 - (1 - data.settings.level) / max(1, len(both))) / normal_quantile(data.settings.level)
    return tuple(_row(name, now[name], before[name], stretch) for name in both)


def _heads(results: Iterable[FidelityResult]) -> dict[str, FidelityResult]:
    """Return the first result of each measure of distances, by name."""
    heads: dict[str, FidelityResult] = {}
    for r in results:
        heads.setdefault(f"{r.measure} of {r.table}" if r.table else r.measure, r)
    return {name: r for name, r in heads.items() if r.quantity == "distance" and _limits(r) is not None}


def _limits(r: FidelityResult) -> Limits | None:
    if r.excess is None or r.low is None or r.high is None:
        return None
    return min(max(r.excess, 0.0, r.low), r.high), r.low, r.high


def _row(name: str, now: FidelityResult, before: FidelityResult, stretch: float) -> ChangedFidelity:
    one, other = _limits(now), _limits(before)
    assert one is not None and other is not None
    value, low, high = difference(one, other, stretch)
    verdict: MovedFidelity = "farther" if low > 0 else "closer" if high < 0 else "no change found"
    return ChangedFidelity(
        measure=name, before=before.ruler, now=now.ruler, difference=value, low=low, high=high, verdict=verdict
    )
