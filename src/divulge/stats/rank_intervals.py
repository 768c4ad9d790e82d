"""Rank several synthetic tables that were attacked on the same people, with simultaneous limits.

A *candidate* is one synthetic table, or a generator of which several tables are at hand. A *cell* is one attack on one
candidate; its risk is the residual of the candidate's person scores. Tables are attacked on the same members and the
same strangers, so that risks are compared person by person: what differs between people cancels.

All statements hold together. The largest studentised error over all cells and all contrasts of two candidates, within
one attack and across attacks, is drawn by a multiplier bootstrap over people. Where several tables of a generator are
at hand, the variation between its tables enters beside that of people.

People whom two candidates hit alike say nothing about a difference. Where few or none are hit by one candidate alone,
their variance is near 0 by chance, so that each side of a contrast keeps at least the width of Wilson's limits at 0
hits, as the limits of a single risk do.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, stdtrit

from divulge.core.errors import SettingError
from divulge.core.hashing import row_hashes
from divulge.core.process_wide import one_thread
from divulge.stats.intervals import Interval, normal_quantile
from divulge.stats.outcomes import Floats, Ints, Outcomes
from divulge.stats.two_sample import compare

__all__ = ["Ranking", "Scores", "rank"]

_DRAWS = 4999
_CHUNK = 4_000_000  # entries of a block of multipliers: 32 MB
_NO_SPREAD = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """The scores of one attack on the people, for each table."""

    members: Floats
    """Shape (n_tables, n_members), in [0, 1]."""
    strangers: Floats
    """Shape (n_tables, n_strangers)."""


@dataclass(frozen=True, slots=True, eq=False)
class Ranking:
    """Risks with limits that hold together, and the ranks that follow from them. Rank 1 is the least risk."""

    risk: Floats
    """Shape (n_attacks, n_candidates)."""
    low: Floats
    high: Floats
    """Simultaneous limits of `risk`."""
    difference: Floats
    """Shape (n_attacks, n_candidates, n_candidates): risk of the first candidate minus risk of the second."""
    difference_low: Floats
    difference_high: Floats
    """Simultaneous limits of `difference`."""
    first: Ints
    last: Ints
    """Shape (n_attacks, n_candidates): the ranks that a candidate may have in an attack."""
    worst: Floats
    """Shape (n_candidates,): the largest risk over the attacks."""
    worst_low: Floats
    worst_high: Floats
    riskier: NDArray[np.bool_]
    """Shape (n_candidates, n_candidates): the worst risk of the first is above that of the second, beyond chance."""
    worst_first: Ints
    worst_last: Ints
    """Shape (n_candidates,): the ranks that a candidate may have by its worst risk, after the groups before."""


def rank(
    scores: Sequence[Scores],
    *,
    tables: Sequence[Sequence[int]],
    behind: Sequence[int] | None = None,
    cluster_members: Ints | None = None,
    cluster_strangers: Ints | None = None,
    level: float = 0.95,
    rng: np.random.Generator,
    draws: int = _DRAWS,
) -> Ranking:
    """Return the ranks of candidates, by each attack and by the worst of them, with limits that hold together.

    Parameters
    ----------
    scores
        One entry for each attack that scores people; the people stand in the same order for every table.
    tables
        For each candidate the numbers of its tables. Several are syntheses of one generator: the statement is then
        about the mean of fresh ones, else about this table.
    behind
        For each candidate its group: whatever its risk, it stands behind those of a smaller number. Only `worst_first`
        and `worst_last` depend on it. None is one group.
    cluster_members, cluster_strangers
        Person or household of each row, shapes (n_members,) and (n_strangers,); None is each row its own.
    level
        Coverage of everything together.
    rng
        Source of the multipliers.
    draws
        Draws of the multipliers.

    Returns
    -------
    Ranking
        Attacks in the order of `scores`. Row order and cluster names change no digit.

    Raises
    ------
    SettingError
        No attack, no candidate, nobody on a side, or an attack whose strangers are always hit (undefined risk).

    References
    ----------
    Romano and Wolf (2005), Exact and approximate stepdown methods (max-T); Chernozhukov, Chetverikov and Kato (2013)
    for the multiplier bootstrap of a maximum; Mogstad, Romano, Shaikh and Wilhelm (2024), Inference for ranks;
    Banerjee (1960) for the two variances of a generator.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> leak = np.array([[0.0], [0.0], [0.3]])
    >>> found = Scores((rng.random((3, 900)) < 0.3 + 0.7 * leak) * 1.0, (rng.random((3, 900)) < 0.3) * 1.0)
    >>> ranking = rank([found], tables=[[0], [1], [2]], rng=rng)
    >>> list(zip(ranking.worst_first.tolist(), ranking.worst_last.tolist()))
    [(1, 2), (1, 2), (3, 3)]
    """
    n = len(tables)
    if n == 0 or not scores:
        raise SettingError("candidates: nothing to rank. hint: give tables and attacks.")
    cells = _person_cells(scores, tables, cluster_members, cluster_strangers)
    critical = _critical(cells, n, level, rng, draws)
    each = max(level, 1 - 2 * float(ndtr(-critical)))
    t = np.array([_t(each, len(own) - 1) for own in tables])
    bands = [_band(cells, i, t[i % n], each, cluster_members, cluster_strangers) for i in range(len(cells.risk))]
    low, high = (np.array([getattr(b, side) for b in bands]) for side in ("low", "high"))
    below, above = _contrasts(cells, critical, t, n)
    return _ranked(cells.risk, low, high, below, above, np.array(behind or [0] * n))


def _t(level: float, df: int) -> float:
    """Two-sided quantile of Student's t; 0 without degrees of freedom: the statement is about this table then."""
    return float(stdtrit(df, (1 + level) / 2)) if df > 0 else 0.0


# ---------------------------------------------------------------- cells


@dataclass(frozen=True, slots=True, eq=False)
class _Cells:
    """Attacks with person scores times candidates, attack by attack."""

    members: Floats  # (n_cells, n_members) mean over the candidate's tables
    strangers: Floats
    risk: Floats  # (n_cells,)
    slopes: tuple[Floats, Floats]  # (n_cells,) what the risk gains with the rate of members, and of strangers
    influence: tuple[Floats, Floats]
    """Of members and of strangers, shape (n_clusters, n_cells), canonical order: squares add up to the variance."""
    between: Floats  # (n_cells,) standard error from the variation between tables; 0 for one table


def _person_cells(
    scores: Sequence[Scores], tables: Sequence[Sequence[int]], members: Ints | None, strangers: Ints | None
) -> _Cells:
    sides = [
        np.stack([getattr(s, side)[list(own)].mean(axis=0) for s in scores for own in tables])
        for side in ("members", "strangers")
    ]
    if min(s.shape[1] for s in sides) == 0:
        raise SettingError("real, holdout: nobody to compare. hint: give members and strangers.")
    p, q = (np.array([math.fsum(row) for row in s]) / s.shape[1] for s in sides)
    if (q >= 1 - 1e-12).any():
        raise SettingError("holdout: strangers are always hit by an attack, so that its risk is undefined.")
    risk = (p - q) / (1 - q)
    slopes = 1 / (1 - q), -(1 - risk) / (1 - q)
    of_members, of_strangers = (
        _by_cluster((s - mean[:, None]) * (slope / s.shape[1])[:, None], cluster)
        for s, mean, slope, cluster in zip(sides, (p, q), slopes, (members, strangers), strict=True)
    )
    between = np.array(
        [
            _between([[getattr(s, side)[k] for k in own] for side in ("members", "strangers")], slopes, i)
            for i, (s, own) in enumerate((s, own) for s in scores for own in tables)
        ]
    )
    return _Cells(sides[0], sides[1], risk, slopes, (of_members, of_strangers), between)


def _by_cluster(rows: Floats, cluster: Ints | None) -> Floats:
    """Return the sums over clusters of the influence of rows, shape (n_clusters, n_cells), in canonical order."""
    each = np.ascontiguousarray(rows.T)
    order = np.argsort(row_hashes(each), kind="stable")
    each = each[order]
    if cluster is not None:
        _, number = np.unique(cluster[order], return_inverse=True)
        total = np.zeros((int(number.max()) + 1, each.shape[1]))
        np.add.at(total, number.ravel(), each)  # in the order of hashes within each cluster
        each = total[np.argsort(row_hashes(total), kind="stable")]
    n = len(each)
    return np.asarray(each * math.sqrt(n / max(1, n - 1)))


def _between(sides: Sequence[Sequence[Floats]], slopes: tuple[Floats, Floats], cell: int) -> float:
    """Return the standard error of the risk of a candidate, from the variation between its tables."""
    m = len(sides[0])
    if m < 2:
        return 0.0
    rates = [np.array([math.fsum(row) / len(row) for row in side]) for side in sides]
    linear = slopes[0][cell] * rates[0] + slopes[1][cell] * rates[1]
    return float(linear.std(ddof=1)) / math.sqrt(m)


def _band(
    cells: _Cells, i: int, t: float, level: float, cluster_members: Ints | None, cluster_strangers: Ints | None
) -> Interval:
    """Return the risk of one cell with its simultaneous limits: those of people, and those of tables beside them."""
    found = compare(
        Outcomes(cells.members[i], cluster=cluster_members),
        Outcomes(cells.strangers[i], cluster=cluster_strangers),
        level=0.95,
        rng=np.random.default_rng(0),  # nothing is drawn
        draws=0,
    )
    _, risk = found.at(level)
    value, half = float(cells.risk[i]), t * float(cells.between[i])
    # Banerjee: the halves of two sources of error add up in square
    low, high = value - math.hypot(value - risk.low, half), value + math.hypot(risk.high - value, half)
    return Interval(value, low, min(1.0, high))


# ---------------------------------------------------------------- contrasts


def _spread(cells: _Cells, critical: float) -> Floats:
    """Return the standard error of the difference of any two cells, shape (n_cells, n_cells).

    A side gives at least c / (n + c^2) for each unit of the steeper slope: times c, Wilson's upper limit at 0 hits.
    """
    squared = np.zeros((len(cells.risk), len(cells.risk)))
    for influence, slope in zip(cells.influence, cells.slopes, strict=True):
        with one_thread():
            covariance = influence.T @ influence
        variance = np.diag(covariance)
        steeper = np.maximum.outer(np.abs(slope), np.abs(slope))
        least = steeper * critical / (len(influence) + critical**2)
        squared += np.maximum(variance[:, None] + variance[None, :] - 2 * covariance, least**2)
    return np.asarray(np.sqrt(squared))


def _critical(cells: _Cells, n: int, level: float, rng: np.random.Generator, draws: int) -> float:
    """Return this quantile of the largest studentised error over cells and contrasts."""
    influence = np.concatenate(cells.influence)
    n_clusters, n_cells = influence.shape
    candidate = np.arange(n_cells) % n
    scale = (candidate[:, None] != candidate[None, :]) / _spread(cells, normal_quantile(level))
    own = np.sqrt((influence**2).sum(axis=0))
    own_scale = np.divide(1.0, own, out=np.zeros_like(own), where=own > _NO_SPREAD)
    largest = np.zeros(draws)
    step = max(1, _CHUNK // max(n_clusters, n_cells))
    for first in range(0, draws, step):
        block = slice(first, min(draws, first + step))
        signs = 2.0 * rng.integers(0, 2, size=(block.stop - first, n_clusters), dtype=np.int8) - 1.0
        with one_thread():
            error = signs @ influence
        most = np.abs(error * own_scale).max(axis=1)
        for i in range(n_cells - 1):
            others = np.abs(error[:, i : i + 1] - error[:, i + 1 :]) * scale[i, i + 1 :]
            most = np.maximum(most, others.max(axis=1))
        largest[block] = most
    largest.sort()
    place = min(draws, math.ceil(level * (draws + 1) - 1e-9))
    return max(normal_quantile(level), float(largest[place - 1]))


def _contrasts(cells: _Cells, critical: float, t: Floats, n: int) -> tuple[Floats, Floats]:
    """Return simultaneous limits of the difference of any two cells, shape (n_cells, n_cells) each."""
    gap = cells.risk[:, None] - cells.risk[None, :]
    tables = (t[np.arange(len(cells.risk)) % n] * cells.between) ** 2
    half = np.sqrt((critical * _spread(cells, critical)) ** 2 + tables[:, None] + tables[None, :])
    return gap - half, gap + half


def _ranked(risk: Floats, low: Floats, high: Floats, below: Floats, above: Floats, behind: Ints) -> Ranking:
    n = len(behind)
    n_attacks = len(risk) // n
    shape = (n_attacks, n)
    of_attack = [slice(a * n, (a + 1) * n) for a in range(n_attacks)]
    riskier = np.stack([below[s, s] > 0 for s in of_attack])
    # some cell of the one is above every cell of the other, whichever is the other's worst
    surely = (below > 0).reshape(*shape, *shape)
    over = np.asarray(surely.all(axis=2).any(axis=0))
    first, last = _places(riskier)
    after = np.where(behind[:, None] == behind[None, :], over, behind[:, None] > behind[None, :])
    worst_first, worst_last = _places(after[None])
    table, lows, highs = (x.reshape(shape) for x in (risk, low, high))
    return Ranking(
        risk=table, low=lows, high=highs,
        difference=table[:, :, None] - table[:, None, :],
        difference_low=np.stack([below[s, s] for s in of_attack]),
        difference_high=np.stack([above[s, s] for s in of_attack]),
        first=first, last=last,
        worst=table.max(axis=0), worst_low=lows.max(axis=0), worst_high=highs.max(axis=0),
        riskier=over, worst_first=worst_first[0], worst_last=worst_last[0],
    )  # fmt: skip


def _places(riskier: NDArray[np.bool_]) -> tuple[Ints, Ints]:
    """Return first and last rank of each candidate, from who stands behind whom, shape (n_attacks, n, n)."""
    n = riskier.shape[-1]
    return 1 + riskier.sum(axis=2), n - riskier.sum(axis=1)
