"""What a fresh sample of the same size would show: blocks of rows, relabelled all at once.

The rows of two tables are dealt into blocks. If the second table is a fresh sample of the first one's population, the
labels of the blocks can be exchanged, and one product of a matrix of labels with the counts of the blocks gives the
counts of every relabelling. These give p-values of both tails, exact but for the number of relabellings, and p-values
corrected over all units by the largest standardised distance (max-T), where a unit is a column or a pair of columns.

Floors and limits are about noise alone, so they come from residual blocks: each block less what it would hold by the
shares of its own table. Blocks of two different tables would give uneven mixtures, which look like noise.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.kernels.counts.relabelled import relabelled_sums, subsets_of

__all__ = [
    "RELABELLINGS",
    "Family",
    "Floors",
    "Labels",
    "Statistic",
    "block_numbers",
    "counts_floor",
    "draw_labels",
    "ks_distance",
    "leave_one_out",
    "on_grid",
    "tv_distance",
]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Statistic = Callable[[Floats, Ints], Floats]
"""Takes differences of cells, shape (n_rows, n_cells), and the first cell of each unit; returns (n_rows, n_units). It
must grow in proportion to the differences. It may write into them."""

RELABELLINGS = 999
_BLOCKS, _FEWER_BLOCKS, _MOST_BLOCKS = 32, 16, 496
_DRAWN = 16
_SINGLE = 2**14  # rows from which many cells are summed in single precision, which takes half of the time
_ALONE = 256  # rows or units of both tables up to which each is a block of its own
_BYTES = 2**24  # of one array of relabelled counts
_GRID = 2.0**34  # distances are whole multiples of its inverse, so that their sums are exact
_MANY_CELLS = 16  # of each unit on average
_ALIKE = 1e-9  # distances that differ by less are equal
_POWER = 0.8416  # normal quantile of 80 %
_HALF_LEVEL = 1.959963984540054  # normal quantile of 97.5 %


# ---------------------------------------------------------------- statistics


def tv_distance(differences: Floats, start: Ints) -> Floats:
    """Return half the sum of the absolute differences of the cells of each unit: the total variation distance.

    Examples
    --------
    >>> tv_distance(np.array([[0.5, -0.25, -0.25]]), np.array([0])).tolist()
    [[0.5]]
    """
    return np.asarray(np.add.reduceat(np.abs(differences, out=differences), start, axis=1) / 2)


def ks_distance(differences: Floats, start: Ints) -> Floats:
    """Return the largest absolute difference of the distribution functions of each unit; cells are in order of size.

    Examples
    --------
    >>> ks_distance(np.array([[0.5, -0.25, -0.25]]), np.array([0])).tolist()
    [[0.5]]
    """
    sums = np.cumsum(differences, axis=1)  # each unit adds up to 0, so that the next one starts at 0
    return np.asarray(np.maximum.reduceat(np.abs(sums, out=sums), start, axis=1))


# ---------------------------------------------------------------- blocks and labels


def block_numbers(n: int, m: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return how many blocks each table has, and how many of its rows (or units) are dealt.

    Blocks of both tables have equal sizes, but for one row, as blocks of unequal sizes cannot be exchanged. Of a table
    that is far larger than the other as many rows are dealt as there are blocks for: more would add next to nothing.

    Parameters
    ----------
    n, m
        Rows (or units) of both tables.

    Examples
    --------
    >>> block_numbers(1000, 1000), block_numbers(50, 60), block_numbers(1000, 10**6)
    (((32, 32), (1000, 1000)), ((50, 60), (50, 60)), ((16, 496), (1000, 31000)))
    """
    if n + m <= _ALONE:
        return (n, m), (n, m)
    small, large = min(n, m), max(n, m)
    blocks = small if small <= _BLOCKS else _BLOCKS if large <= 4 * small else _FEWER_BLOCKS
    if blocks == 0:
        return (0, 0), (0, 0)
    size = small / blocks
    others = min(_MOST_BLOCKS, round(large / size))
    dealt = min(large, math.floor(others * size)) if others == _MOST_BLOCKS else large
    return ((blocks, others), (small, dealt)) if n <= m else ((others, blocks), (dealt, small))


@dataclass(frozen=True, slots=True, eq=False)
class Labels:
    """Relabellings of the blocks of two tables."""

    first: Floats
    """Shape (n_relabellings + 1, n_blocks): 1 where a block counts as one of the first table. Row 0 is the truth."""
    sizes: Floats
    """Shape (n_blocks,): rows of each block. The blocks of the first table come first."""
    n_first: int
    """Blocks of the first table."""

    @property
    def factor(self) -> Floats:
        """What turns sums of centred counts into differences of shares, shape (n_relabellings + 1,)."""
        rows, every = self.first @ self.sizes, self.sizes.sum()
        return np.asarray(every / (rows * (every - rows)))

    @property
    def correction(self) -> float:
        """By how much residual blocks are too small: each table's own mean is taken from them, not one for both."""
        n = len(self.sizes)
        return math.sqrt((n - 1) / (n - 2)) if n > 2 else 1.0


def draw_labels(
    sizes: NDArray[Any], n_first: int, rng: np.random.Generator, relabellings: int = RELABELLINGS
) -> Labels:
    """Return random relabellings of blocks.

    Where blocks have unequal sizes, because persons have several rows, the relabellings are those of sixteen times as
    many that give the first table most nearly its rows: unequal tables vary more, and a fresh sample would seem close.

    Parameters
    ----------
    sizes
        Rows of each block, shape (n_blocks,); the blocks of the first table come first.
    n_first
        Blocks of the first table.
    rng
        Draws which blocks count as its blocks.
    relabellings
        How many.
    """
    n = len(sizes)
    first = np.zeros((relabellings + 1, n))
    first[0, :n_first] = 1
    if 0 < n_first < n:
        draws = relabellings * (_DRAWN if np.ptp(sizes) > 1 else 1)
        chosen = np.argpartition(rng.random((draws, n)), n_first - 1, axis=1)[:, :n_first]
        rows = np.asarray(sizes)[chosen].sum(axis=1)
        nearest = np.argsort(np.abs(rows - np.sum(sizes[:n_first])), kind="stable")[:relabellings]
        np.put_along_axis(first[1:], chosen[nearest], 1.0, axis=1)
    return Labels(first, np.asarray(sizes, dtype=np.float64), n_first)


# ---------------------------------------------------------------- floors


@dataclass(frozen=True, slots=True, eq=False)
class Floors:
    """What was found about each unit, shape (n_units + 1,): the last one is the mean over the units."""

    value: Floats
    mean: Floats
    """What a fresh sample shows on average."""
    fresh_low: Floats
    fresh_high: Floats
    low: Floats
    high: Floats
    p: Floats
    p_low_tail: Floats
    p_adjusted: Floats
    p_low_tail_adjusted: Floats
    smallest_detectable: Floats


class Family:
    """The units of one measure, added in parts: p-values are corrected over all of them and their mean.

    Parameters
    ----------
    labels
        The relabellings.
    level
        Of the limits.
    """

    def __init__(self, labels: Labels, level: float = 0.95) -> None:
        self._level = level
        n = len(labels.first)
        self._parts: list[dict[str, Floats]] = []
        self._largest, self._smallest = np.full(n, -np.inf), np.full(n, np.inf)
        self._sums: list[dict[str, Floats]] = []
        self._without: list[tuple[Floats, int]] = []
        self._n_units, self._sum = 0, 0.0
        self.under(labels)

    def under(self, labels: Labels) -> None:
        """Take what is added from now on for rows of another kind, which have blocks and labels of their own.

        Parameters
        ----------
        labels
            As many relabellings as before. p-values are corrected as if they were drawn apart, which they are.
        """
        self._labels = labels
        self._sums.append({"null": np.zeros(len(labels.first)), "fresh": np.zeros(len(labels.first))})
        self._without.append((np.zeros(len(labels.sizes)), labels.n_first))
        self._single, self._factor = labels.first.astype(np.float32), labels.factor
        self._subsets = subsets_of(labels.first)

    def add(
        self,
        counts: NDArray[Any],
        start: NDArray[Any],
        statistic: Statistic = tv_distance,
        weights: Floats | None = None,
    ) -> None:
        """Add units by their counts.

        Parameters
        ----------
        counts
            Shape (n_blocks, n_cells): rows of each block in each cell; the cells of a unit follow one another.
        start
            Shape (n_units + 1,): first cell of each unit, and the number of all cells. Each unit has a cell.
        statistic
            The distance of each unit.
        weights
            What each distance is multiplied by, shape (n_units,); None is 1.
        """
        factors = np.ones(len(start) - 1) if weights is None else weights
        most = max(1, _BYTES // (8 * len(self._labels.first)))
        u, n_units = 0, len(start) - 1
        while u < n_units:
            last = max(u + 1, int(np.searchsorted(start, start[u] + most, side="right")) - 1)
            a, b = int(start[u]), int(start[last])
            first = np.asarray(start[u:last] - a, dtype=np.int64)
            self._add(counts[:, a:b], first, statistic, factors[u:last])
            u = last

    def _add(self, counts: NDArray[Any], start: Ints, statistic: Statistic, weights: Floats) -> None:
        labels = self._labels
        sizes, n_first = labels.sizes[:, None], labels.n_first
        h = counts.astype(np.float64)
        every = labels.sizes.sum()
        single = every >= _SINGLE and h.shape[1] >= _MANY_CELLS * len(start)
        totals = [h[part].sum(axis=0) for part in self._halves()]
        centred = sizes * ((totals[0] + totals[1]) / every)
        np.subtract(h, centred, out=centred)
        of = (start, statistic, weights)
        value = self._distances(centred[:n_first], *of, labels.first[:1, :n_first])[0] if single else None
        null = self._distances(centred, *of, labels.first, single=single)
        residual = centred  # its memory
        for part, total in zip(self._halves(), totals, strict=True):
            own = residual[part]
            np.multiply(sizes[part], total / labels.sizes[part].sum(), out=own)
            np.subtract(h[part], own, out=own)
        fresh = self._distances(residual, *of, labels.first, single=single)[1:] * labels.correction
        self.add_distances(null, fresh, _without_each_block(h, totals, labels, *of), value)

    def _halves(self) -> tuple[slice, slice]:
        return slice(0, self._labels.n_first), slice(self._labels.n_first, None)

    def _distances(
        self, centred: Floats, start: Ints, statistic: Statistic, weights: Floats, first: Floats, *,
        single: bool = False,
    ) -> Floats:  # fmt: skip
        """Return the distances of each unit under some labels. Sums are exact, in any order and on any machine.

        For this the counts are rounded, in single precision to a part of a count that depends on the rows.
        """
        every = float(self._labels.sizes.sum())
        scale = 2.0 ** ((23 if single else 51) - math.ceil(math.log2(max(2.0, every))))
        whole = centred * scale
        np.rint(whole, out=whole)
        if statistic is tv_distance and len(first) > 1:
            cells = whole.astype(np.int32 if single else np.int64)
            found = relabelled_sums(cells, start, first, self._subsets) / 2
        else:
            sums: NDArray[Any] = self._single @ whole.astype(np.float32) if single else first @ whole
            found = statistic(sums, start)
        return on_grid(found * weights * (self._factor[: len(first)] / scale)[:, None])

    def add_distances(self, null: Floats, fresh: Floats, without: Floats, value: Floats | None = None) -> None:
        """Add units by distances that were computed elsewhere.

        Parameters
        ----------
        null
            Shape (n_relabellings + 1, n_units): the distances, and under each relabelling.
        fresh
            Shape (n_draws, n_units): distances of fresh samples.
        without
            Shape (n_blocks, n_units): the distances where one block is left out.
        value
            Shape (n_units,): the distances, where the first row of `null` is rounded.
        """
        z = _standardised(null)
        np.maximum(self._largest, z.max(axis=1), out=self._largest)
        np.minimum(self._smallest, z.min(axis=1), out=self._smallest)
        self._sums[-1]["null"] += null.sum(axis=1)
        self._sums[-1]["fresh"][1 : len(fresh) + 1] += fresh.sum(axis=1)
        self._without[-1][0][:] += without.sum(axis=1)
        self._n_units += null.shape[1]
        self._sum += float(np.sum(null[0] if value is None else value))
        se = _jackknife(without, self._labels.n_first)
        self._parts.append(self._part(null, z[0], fresh, se, null[0] if value is None else value))

    def _part(self, null: Floats, z: Floats, fresh: Floats, se: Floats, value: Floats) -> dict[str, Floats]:
        ordered = np.sort(fresh, axis=0)
        outside = (1 - self._level) / 2
        low, high = (_quantile(ordered, share) for share in (outside, 1 - outside))
        return {
            "value": value, "mean": fresh.mean(axis=0), "sd": fresh.std(axis=0), "fresh_low": low,
            "fresh_high": high, "z": z, "se": se, "p": _share(null[1:] >= null[0] - _ALIKE),
            "p_low_tail": _share(null[1:] <= null[0] + _ALIKE),
        }  # fmt: skip

    def _summed(self, of: str) -> Floats:
        """Return the sum over all units under each relabelling, the truth first.

        Kinds of rows have relabellings of their own, so that how they depend on each other is unknown. Their sums are
        added in order of size, as if they rose and fell together: the sum varies at most so much.
        """
        if len(self._sums) == 1:
            return self._sums[0][of]
        return np.concatenate([
            np.sum([s[of][:1] for s in self._sums], axis=0), np.sum([np.sort(s[of][1:]) for s in self._sums], axis=0)
        ])  # fmt: skip

    @property
    def left_out(self) -> Floats:
        """The mean over all units where one block is left out, shape (n_blocks,), for rows of one kind."""
        return np.asarray(self._without[-1][0] / max(1, self._n_units))

    def floors(self) -> Floors:
        """Return what was found about all units, and about their mean."""
        n = max(1, self._n_units)
        null, fresh = (self._summed(of)[:, None] / n for of in ("null", "fresh"))
        fresh = fresh[1:]
        errors = [_jackknife(without[:, None] / n, n_first) for without, n_first in self._without]
        se = np.sqrt(np.sum(np.square(errors), axis=0))
        z = _standardised(null)
        parts = [*self._parts, self._part(null, z[0], fresh, se, np.array([self._sum / n]))]
        largest, smallest = self._largest, self._smallest
        if len(self._sums) == 1:
            largest, smallest = np.maximum(largest, z[:, 0]), np.minimum(smallest, z[:, 0])
        of = {key: np.concatenate([part[key] for part in parts]) for key in parts[0]}
        critical = _quantile(np.sort(largest[1:]), self._level)
        quantile = _normal_quantile(self._level)
        detectable = of["mean"] + float(critical) * of["sd"] + _POWER * of["se"]
        above = np.searchsorted(np.sort(largest[1:]), of["z"] - _ALIKE, side="left")
        below = np.searchsorted(np.sort(smallest[1:]), of["z"] + _ALIKE, side="right")
        draws = len(largest)
        return Floors(
            value=_tidy(of["value"]),
            mean=_tidy(of["mean"]),
            fresh_low=_tidy(of["fresh_low"]),
            fresh_high=_tidy(of["fresh_high"]),
            low=_tidy(np.maximum(0, of["value"] - of["fresh_high"])),
            high=_tidy(np.minimum(1, of["value"] + quantile * of["se"])),
            p=of["p"],
            p_low_tail=of["p_low_tail"],
            p_adjusted=(draws - above) / draws,
            p_low_tail_adjusted=(1 + below) / draws,
            smallest_detectable=_tidy(np.minimum(1, detectable)),
        )


def on_grid(distances: Floats) -> Floats:
    """Return distances as multiples of 2^-34, so that their sums are the same in any order."""
    return np.asarray(np.rint(distances * _GRID) / _GRID, dtype=np.float64)


def leave_one_out(counts: Floats, n_first: int) -> tuple[Floats, Floats]:
    """Return the counts of both tables where one block is left out, each of shape (n_blocks, n_cells)."""
    both = [np.repeat(part.sum(axis=0)[None, :], len(counts), axis=0) for part in (counts[:n_first], counts[n_first:])]
    both[0][:n_first] -= counts[:n_first]
    both[1][n_first:] -= counts[n_first:]
    return both[0], both[1]


def _standardised(null: Floats) -> Floats:
    """Return distances less their mean over the relabellings, in standard deviations; 0 where they do not vary."""
    mean = null.mean(axis=0)
    sd = null.std(axis=0)
    varies = sd > _ALIKE
    return np.where(varies, (null - mean) / np.where(varies, sd, 1.0), 0.0)


def _tidy(numbers: Floats) -> Floats:
    """Return numbers without the digits that may differ from machine to machine."""
    return np.asarray(np.round(numbers, 10), dtype=np.float64)


def _share(reached: NDArray[np.bool_]) -> Floats:
    return np.asarray((1 + reached.sum(axis=0)) / (1 + len(reached)))


def _quantile(ordered: Floats, share: float) -> Floats:
    """Return the smallest of some ordered values that at least a share of them do not exceed."""
    return np.asarray(ordered[max(0, math.ceil(share * len(ordered)) - 1)])


def _normal_quantile(level: float) -> float:
    from scipy.special import ndtri

    return _HALF_LEVEL if level == 0.95 else float(ndtri((1 + level) / 2))


def _without_each_block(
    h: Floats, totals: Sequence[Floats], labels: Labels, start: Ints, statistic: Statistic, weights: Floats
) -> Floats:
    """Return the distances where one block is left out, shape (n_blocks, n_units)."""
    n_first, sizes = labels.n_first, labels.sizes
    halves = (slice(0, n_first), slice(n_first, None))
    shares = [total / sizes[part].sum() for part, total in zip(halves, totals, strict=True)]
    left = np.empty_like(h)
    for sign, part, total, other in ((1, halves[0], totals[0], shares[1]), (-1, halves[1], totals[1], shares[0])):
        rest = np.maximum(sizes[part].sum() - sizes[part], 1)[:, None]
        own = left[part]
        np.subtract(total, h[part], out=own)
        own /= rest
        np.subtract(own, other, out=own) if sign > 0 else np.subtract(other, own, out=own)
    return on_grid(statistic(left, start) * weights)


def _jackknife(without: Floats, n_first: int) -> Floats:
    """Return the standard error from the distances without each block of each table."""
    variance = np.zeros(without.shape[1])
    for side in (without[:n_first], without[n_first:]):
        if len(side):
            variance += ((side - side.mean(axis=0)) ** 2).sum(axis=0) * (len(side) - 1) / len(side)
    return np.asarray(np.sqrt(variance))


# ---------------------------------------------------------------- counts alone


def counts_floor(
    one: Sequence[int] | Ints, other: Sequence[int] | Ints, rng: np.random.Generator, draws: int = RELABELLINGS
) -> tuple[float, float, float, float]:
    """Return the total variation distance of two columns of counts, its mean over relabellings, and both p-values.

    No row is needed: the counts may come from a data warehouse. Rows are taken for independent.

    Parameters
    ----------
    one, other
        Rows with each value, shape (n_values,).
    rng
        Draws the relabellings.
    draws
        How many.

    Returns
    -------
    value, floor, p, p_low_tail

    Examples
    --------
    >>> found = counts_floor([2, 1], [1, 2], np.random.default_rng(0), 9999)
    >>> round(found[0], 6), round(found[1], 1), found[2]
    (0.333333, 0.4, 1.0)
    """
    a, b = (np.asarray(c, dtype=np.int64) for c in (one, other))
    both, n, m = a + b, int(a.sum()), int(b.sum())
    drawn = rng.multivariate_hypergeometric(both, n, draws, method="marginals")
    value = float(np.abs(m * a - n * b).sum() / (2 * n * m))
    null = np.abs(m * drawn - n * (both - drawn)).sum(axis=1) / (2 * n * m)
    tails = [(1 + int(reached.sum())) / (draws + 1) for reached in (null >= value - _ALIKE, null <= value + _ALIKE)]
    return value, float(null.mean()), tails[0], tails[1]
