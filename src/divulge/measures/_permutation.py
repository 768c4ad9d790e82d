"""P-values and ranges from a statistic and its values under permuted labels; corrected over statistics by max-T."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from divulge.measures.result import FidelityResult, FreshSample, HoldoutValue

__all__ = ["Tail", "fresh_sample", "holdout_of", "permuted_p", "with_tail"]

Floats = NDArray[np.float64]
_TIE = 1e-9


@dataclass(frozen=True, slots=True)
class Tail:
    """The p-values of one statistic of a family."""

    p: float
    """Share of the permutations that are as large, the truth among them."""
    p_low: float
    """Share of the permutations that are as small."""
    p_adjusted: float
    """Share of the permutations in which any statistic of the family is as extreme (max-T of studentised values)."""
    p_low_adjusted: float


def permuted_p(observed: Sequence[float], null: Floats) -> list[Tail]:
    """Return the p-values of some statistics whose permutations share their labels.

    Parameters
    ----------
    observed
        The statistics, higher is farther from a fresh sample.
    null
        Shape (n_statistics, n_permutations).

    Examples
    --------
    >>> null = np.stack([np.arange(99.0), np.arange(99.0)[::-1]])
    >>> first, second = permuted_p([200.0, 49.0], null)
    >>> first.p, first.p_adjusted, round(second.p, 2), round(second.p_adjusted, 2)
    (0.01, 0.01, 0.51, 0.99)
    """
    t, draws = np.asarray(observed, dtype=np.float64), null.shape[1]
    both = np.column_stack([t, null])
    scale = both.std(axis=1, ddof=1)
    z = (both - both.mean(axis=1, keepdims=True)) / np.where(scale > 0, scale, 1.0)[:, None]
    high, low = z.max(axis=0), z.min(axis=0)
    return [
        Tail(
            _share(both[i] >= t[i] - _TIE * max(1.0, abs(t[i])), draws),
            _share(both[i] <= t[i] + _TIE * max(1.0, abs(t[i])), draws),
            _share(high >= z[i, 0] - _TIE, draws),
            _share(low <= z[i, 0] + _TIE, draws),
        )
        for i in range(len(t))
    ]


def with_tail(result: FidelityResult, tail: Tail) -> FidelityResult:
    """Return a result with the p-values of its statistic.

    Examples
    --------
    >>> found = with_tail(FidelityResult(measure="pmse"), Tail(0.01, 0.99, 0.02, 1.0))
    >>> found.p_value, found.p_low_tail, found.p_adjusted, found.p_low_tail_adjusted
    (0.01, 0.99, 0.02, 1.0)
    """
    return replace(
        result, p_value=tail.p, p_low_tail=tail.p_low, p_adjusted=tail.p_adjusted,
        p_low_tail_adjusted=tail.p_low_adjusted,
    )  # fmt: skip


def holdout_of(value: float, tail: Tail, fresh: FreshSample | None, n: int) -> HoldoutValue:
    """Return what a statistic is for the holdout, of which `n` rows were compared with real ones."""
    return HoldoutValue(value=value, n=n, fresh_sample=fresh, p_value=tail.p, p_adjusted=tail.p_adjusted)


def fresh_sample(null: Floats, level: float = 0.95) -> FreshSample | None:
    """Return mean and range of what permuted labels give; None without permutations."""
    if not len(null):
        return None
    low, high = np.quantile(null, [(1 - level) / 2, (1 + level) / 2])
    return FreshSample(mean=math.fsum(null.tolist()) / len(null), low=float(low), high=float(high))


def _share(reached: NDArray[np.bool_], draws: int) -> float:
    return int(np.count_nonzero(reached)) / (draws + 1)
