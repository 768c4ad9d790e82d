"""Differences of estimates that share an error, from what each is without one block of the data.

Each estimate comes from blocks that all share and from blocks of its own. Leaving out a shared block moves two
estimates together, and only what moves them apart is an error of their difference.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

__all__ = ["Contrast", "contrasts"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Contrast:
    """The difference of two groups, the first less the second, with limits that hold for all contrasts together."""

    first: int
    second: int
    difference: float
    low: float
    high: float
    first_low: float
    """Lower limit of the first group itself, at the level of a contrast."""
    second_low: float


def contrasts(
    value: Floats, shared: Floats, own: Floats, groups: Sequence[Sequence[int]], *, level: float = 0.95, n: int = 0
) -> tuple[Contrast, ...]:
    """Return the difference of any two groups of estimates.

    Parameters
    ----------
    value
        Shape (n_estimates,).
    shared, own
        Shape (n_estimates, n_blocks): the estimates without one block that all share, and without one of their own.
    groups
        The estimates of each group, whose mean stands for it. In a group of several the error of its own blocks is in
        the variation between them: Student's t has one degree of freedom less than they are, as in
        `divulge.stats.rank_intervals`.
    level
        At which all limits hold together (Bonferroni).
    n
        How many limits these are; 0 is the number of pairs of groups.

    Returns
    -------
    tuple of Contrast
        Pairs of groups in the order of `itertools.combinations`.

    References
    ----------
    Efron and Stein (1981), The jackknife estimate of variance; Satterthwaite (1946) for the degrees of freedom.

    Examples
    --------
    >>> shared = np.array([[0.1, 0.3, 0.2], [0.2, 0.4, 0.3]])  # both move by the same
    >>> own = np.array([[0.21, 0.2, 0.19], [0.3, 0.3, 0.3]])
    >>> (found,) = contrasts(np.array([0.2, 0.3]), shared, own, [[0], [1]])
    >>> round(found.difference, 6), round(found.high - found.difference, 6)  # 4.302653 sqrt(2/3 (0.0001 + 0.0001))
    (-0.1, 0.049683)
    """
    pairs = list(combinations(range(len(groups)), 2))
    each = 1 - (1 - level) / max(1, n or len(pairs))
    means = [_Group(value[list(g)], shared[list(g)].mean(axis=0), own[list(g)], each) for g in groups]
    out = []
    for a, b in pairs:
        one, other = means[a], means[b]
        half = _half([(one.shared - other.shared), *one.own, *other.own], each, one.between, other.between)
        low_of_each = [g.mean - _half([g.shared, *g.own], each, g.between) for g in (one, other)]
        gap = one.mean - other.mean
        out.append(Contrast(a, b, gap, gap - half, gap + half, *low_of_each))
    return tuple(out)


class _Group:
    """The mean of some estimates and its errors."""

    def __init__(self, value: Floats, shared: Floats, own: Floats, level: float) -> None:
        self.mean = math.fsum(value.tolist()) / len(value)
        self.shared = shared
        self.own = list(own) if len(value) == 1 else []
        self.between = 0.0
        """Half the width of the limits that the variation between estimates gives."""
        if len(value) > 1:
            spread = float(value.std(ddof=1)) / math.sqrt(len(value))
            self.between = float(stdtrit(len(value) - 1, (1 + level) / 2)) * spread


def _half(parts: Sequence[Floats], level: float, *others: float) -> float:
    """Return half the width of the limits from the errors of independent blocks, and from others."""
    of = [(_variance(part), len(part) - 1) for part in parts]
    total = math.fsum(v for v, _ in of)
    if total <= 0:
        return math.hypot(*others)
    df = total**2 / math.fsum(v * v / k for v, k in of if k > 0)
    return math.hypot(float(stdtrit(df, (1 + level) / 2)) * math.sqrt(total), *others)


def _variance(without: Floats) -> float:
    """Return the variance of an estimate from what it is without each block (jackknife)."""
    k = len(without)
    if k < 2:
        return 0.0
    mean = math.fsum(without.tolist()) / k
    return math.fsum(((without - mean) ** 2).tolist()) * (k - 1) / k
