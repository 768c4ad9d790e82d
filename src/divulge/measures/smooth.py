"""Distances of statistics that are smooth functions of sums over rows: correlations, agreement above chance."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.measures.noise_floor import Labels, on_grid

__all__ = ["agreement_z", "correlation_z", "moments", "smooth_distances", "standard_levels", "standard_numbers"]

Floats = NDArray[np.float64]

_MOST = 1 - 1e-12  # of a correlation, so that its z is finite
_FEWEST = 8
_MOMENTS = 6


def standard_numbers(codes: NDArray[Any], numbers: Floats, *, ranks: bool = False) -> Floats:
    """Return the number of each row as `standard_levels` has it, shape (n_rows,).

    Examples
    --------
    >>> standard_numbers(np.array([0, 1, 1, 2]), np.array([np.nan, 5.0, 7.0]), ranks=True).round(3).tolist()
    [nan, -0.707, -0.707, 1.414]
    """
    return np.asarray(standard_levels(codes, numbers, ranks=ranks)[codes])


def standard_levels(codes: NDArray[Any], numbers: Floats, *, ranks: bool = False) -> Floats:
    """Return numbers, or their ranks, less their mean over all rows, in standard deviations; nan where there is none.

    They are rounded so that sums of their products are exact in any order.

    Parameters
    ----------
    codes
        Code of each row of both tables, shape (n_rows,).
    numbers
        Number of each code, nan or infinite for none, shape (n_codes,).
    ranks
        Whether to take middle ranks among all rows.

    Returns
    -------
    ndarray
        Of each code, shape (n_codes,).
    """
    bits = math.floor((52 - math.log2(max(2, len(codes)))) / 2)
    numbers = np.where(np.isfinite(numbers), numbers, np.nan)
    counts = np.bincount(codes, minlength=len(numbers)).astype(np.float64)
    counts[np.isnan(numbers)] = 0
    if ranks:
        numbers = _ranks(numbers, counts)
    there = counts > 0
    if there.any():
        with np.errstate(over="ignore"):
            numbers = numbers / max(float(np.abs(numbers[there]).max()), 1e-300)
            numbers = numbers - np.average(numbers[there], weights=counts[there])
            spread = math.sqrt(float(np.average(numbers[there] ** 2, weights=counts[there])))
        numbers = numbers / spread if spread > 1e-12 else numbers * 0
    return np.asarray(np.rint(numbers * 2.0**bits) / 2.0**bits)


def _ranks(numbers: Floats, counts: Floats) -> Floats:
    """Return the middle rank of each number among all rows."""
    order = np.argsort(numbers, kind="stable")  # nan last
    ranks = np.full(len(numbers), np.nan)
    ranks[order] = np.cumsum(counts[order]) - (counts[order] - 1) / 2
    ranks[np.isnan(numbers)] = np.nan
    return ranks


def moments(x: Floats, y: Floats, block: NDArray[Any], n_blocks: int) -> Floats:
    """Return the sums of `correlation_z` for rows that have both numbers, shape (n_blocks, 6).

    Parameters
    ----------
    x, y
        Shape (n_rows,), nan where there is no number.
    block
        Block of each row.
    n_blocks
        Number of blocks.
    """
    there = ~(np.isnan(x) | np.isnan(y))
    x, y, block = x[there], y[there], block[there]
    weights = (None, x, y, x * x, y * y, x * y)
    return np.stack([np.bincount(block, weights=w, minlength=n_blocks) for w in weights], axis=1)


def correlation_z(sums: Floats) -> Floats:
    """Return Fisher's z of correlations, 0 where there are fewer than 8 rows or one value.

    Parameters
    ----------
    sums
        Shape (n, 6 * n_pairs): first the rows of each pair that have both numbers, then their sums of x, y, xx, yy, xy.

    Returns
    -------
    ndarray
        Shape (n, n_pairs).

    Examples
    --------
    >>> x, y = np.arange(9.0), np.arange(9.0) ** 2
    >>> sums = moments(x, y, np.zeros(9, dtype=np.int64), 1)
    >>> abs(np.tanh(correlation_z(sums)[0, 0]) - np.corrcoef(x, y)[0, 1]) < 1e-12
    np.True_
    """
    n, x, y, xx, yy, xy = np.moveaxis(sums.reshape(len(sums), _MOMENTS, -1), 1, 0)
    rows = np.maximum(n, 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        sides = np.maximum(xx - x * x / rows, 0) * np.maximum(yy - y * y / rows, 0)
        r = (xy - x * y / rows) / np.sqrt(sides)
    usable = (n >= _FEWEST) & (sides > 1e-9)
    return np.asarray(np.arctanh(np.clip(np.where(usable, r, 0.0), -_MOST, _MOST)))


def agreement_z(sums: Floats) -> Floats:
    """Return Fisher's z of the agreement of pairs above chance, 0 where there are fewer than 8 pairs or one value.

    Agreement above chance is (A - C) / (1 - C), where A is the share of pairs whose members have one value and C the
    chance that two members of any pairs have one: the correlation within pairs, for categories.

    Parameters
    ----------
    sums
        Shape (n, 1 + n_codes): the pairs whose members agree, and the members with each code.

    Returns
    -------
    ndarray
        Shape (n, 1).

    Examples
    --------
    >>> float(np.tanh(agreement_z(np.array([[6.0, 10.0, 10.0]]))[0, 0]).round(9))  # 6 of 10 pairs agree, 5 by chance
    0.2
    """
    members = sums[:, 1:].sum(axis=1)
    safe = np.maximum(members, 1)
    chance = ((sums[:, 1:] / safe[:, None]) ** 2).sum(axis=1)
    usable = (members >= 2 * _FEWEST) & (chance < 1 - 1e-9)
    found = (2 * sums[:, 0] / safe - chance) / np.where(usable, 1 - chance, 1.0)
    return np.asarray(np.arctanh(np.clip(np.where(usable, found, 0.0), -_MOST, _MOST))[:, None])


def smooth_distances(sums: Floats, labels: Labels, value: Callable[[Floats], Floats]) -> tuple[Floats, Floats, Floats]:
    """Return the distances tanh |z_R - z_S| under each relabelling, of fresh samples, and without each block.

    Parameters
    ----------
    sums
        Sums over the rows of each block, shape (n_blocks, n_sums); exact in any order.
    labels
        The relabellings of the blocks.
    value
        Takes sums, shape (n, n_sums), and returns z, shape (n, n_units).

    Returns
    -------
    null, fresh, without
        As `Family.add_distances` takes them.
    """
    first, every = labels.first, sums.sum(axis=0)
    own = first @ sums
    apart = np.tanh(np.abs(value(own) - value(every - own)))
    sides = [own[0], every - own[0]]
    z = [value(side[None, :]) for side in sides]
    n_first = labels.n_first
    left = np.concatenate([value(sides[0] - sums[:n_first]), value(sides[1] - sums[n_first:])])
    without = np.tanh(np.abs(np.concatenate([left[:n_first] - z[1], z[0] - left[n_first:]])))
    # to first order the statistic of a table is the mean of the influences of its blocks
    influence = np.empty_like(left)
    for part, of_side in ((slice(0, n_first), z[0]), (slice(n_first, None), z[1])):
        moved = (of_side - left[part]) * (len(left[part]) - 1)
        influence[part] = moved - moved.mean(axis=0)
    n_second = len(labels.sizes) - n_first
    drawn = first[1:] @ influence * (1 / n_first + 1 / n_second)
    return on_grid(apart), on_grid(np.tanh(np.abs(drawn * labels.correction))), on_grid(without)
