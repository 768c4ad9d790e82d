"""Gaussian kernel densities of two tables at the rows of one of them, leave-one-out, without a loop over rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from divulge.core.process_wide import one_thread

__all__ = ["log_density_ratio", "scott", "whitened"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_BLOCK = 4_000_000  # entries of a block of kernels: 32 MB
_DIMENSIONS = 8
_NEAREST = 200  # synthetic rows of Gen-LRA, as published
_FLAT = 1e-9


def scott(n: int, dimensions: int) -> float:
    """Return Scott's bandwidth of n points with unit covariance.

    Examples
    --------
    >>> round(scott(1000, 8), 4)
    0.5623
    """
    return float(n ** (-1 / (dimensions + 4)))


def whitened(one: Floats, other: Floats, dimensions: int = _DIMENSIONS) -> tuple[Floats, Floats]:
    """Return two tables on the first principal components of both, each component with variance 1.

    Columns are scaled to unit spread first. Components without spread are left out; the sign of a component is free.
    """
    with one_thread():
        both = np.vstack([one, other])
        both = (both - both.mean(axis=0)) / (both.std(axis=0) + _FLAT)
        values, vectors = np.linalg.eigh(both.T @ both / len(both))
        kept = np.flatnonzero(values > _FLAT * max(1.0, values.max(initial=0.0)))[::-1][:dimensions]
        z = both @ (vectors[:, kept] / np.sqrt(values[kept]))
    return z[: len(one)], z[len(one) :]


def log_density_ratio(people: Floats, synthetic: Floats, unit: Ints, nearest: int = _NEAREST) -> tuple[Floats, Floats]:
    """Return for each person the log density ratio, and the gain in log likelihood of the nearest synthetic rows.

    Parameters
    ----------
    people, synthetic
        Points with unit covariance, shapes (n, d) and (m, d).
    unit
        Unit of each person, rows of one unit together, shape (n,); they are left out of the density of other people.
    nearest
        Synthetic rows whose likelihood counts.

    Returns
    -------
    ratio, gain
        ``log p_S(x) - log p_W(x)`` and ``sum over z of log(1 + K(z - x) / sum over others w of K(z - w))``.

    References
    ----------
    van Breugel, Sun, Qian and van der Schaar (2023), Membership inference attacks against synthetic data through
    overfitting detection (DOMIAS). Ward, Wang and Cheng (2024), Data plagiarism index; Ward et al. (2025), Gen-LRA.
    """
    n, m, d = len(people), len(synthetic), people.shape[1]
    ratio, gain = np.zeros(n), np.zeros(n)
    if n < 2 or not m or not d:
        return ratio, gain
    h_people, h_synthetic = scott(n - 1, d), scott(m, d)  # of the other people, if each row is its own
    k = min(nearest, m)
    with one_thread():
        at_synthetic = _totals(synthetic, people, h_people)
        start = np.flatnonzero(np.r_[True, unit[1:] != unit[:-1], True])
        step = max(1, _BLOCK // (n + m))
        first = 0
        while first < len(start) - 1:
            last = max(first + 1, int(np.searchsorted(start, start[first] + step, side="right")) - 1)
            rows = slice(int(start[first]), int(start[last]))
            own = np.repeat(np.arange(first, last), np.diff(start[first : last + 1]))
            others = n - np.diff(start)[own]
            squared_people, squared = _squared(people[rows], people), _squared(people[rows], synthetic)
            theirs = -0.5 * squared_people / h_people**2
            theirs[unit[rows][:, None] == unit[None, :]] = -np.inf
            constant = np.log(np.maximum(others, 1)) - np.log(m) + d * (np.log(h_people) - np.log(h_synthetic))
            ratio[rows] = _log_sum(-0.5 * squared / h_synthetic**2) - _log_sum(theirs) + constant
            gain[rows] = _gain(squared, at_synthetic, own - first, h_people, k)
            first = last
    return np.where(np.isfinite(ratio), ratio, 0.0), gain


def _gain(squared: Floats, at_synthetic: Floats, own: Ints, bandwidth: float, k: int) -> Floats:
    """Return the gain of each person of a block at the k nearest synthetic rows."""
    kernel = np.exp(-0.5 * squared / bandwidth**2)
    of_unit = np.add.reduceat(kernel, np.flatnonzero(np.r_[True, own[1:] != own[:-1]]), axis=0)
    near = np.argpartition(squared, k - 1, axis=1)[:, :k]
    mine = np.take_along_axis(kernel, near, axis=1)
    left = at_synthetic[near] - np.take_along_axis(of_unit[own], near, axis=1)
    # others may be so far that their kernels vanish: a person then counts a billion times as much, not infinitely
    return np.asarray(np.log1p(mine / np.maximum(left, np.maximum(mine * 1e-9, 1e-300))).sum(axis=1))


def _totals(at: Floats, points: Floats, bandwidth: float) -> Floats:
    """Return the sum of the kernels of all points at each place."""
    out = np.empty(len(at))
    step = max(1, _BLOCK // len(points))
    for first in range(0, len(at), step):
        part = slice(first, first + step)
        out[part] = np.exp(-0.5 * _squared(at[part], points) / bandwidth**2).sum(axis=1)
    return out


def _squared(a: Floats, b: Floats) -> Floats:
    out = (a * a).sum(axis=1)[:, None] + (b * b).sum(axis=1)[None, :] - 2 * a @ b.T
    return np.asarray(np.maximum(out, 0.0, out=out))


def _log_sum(logs: Floats) -> Floats:
    most = logs.max(axis=1, keepdims=True)
    safe = np.where(np.isfinite(most), most, 0.0)
    with np.errstate(divide="ignore"):
        return np.asarray(safe[:, 0] + np.log(np.exp(logs - safe).sum(axis=1)))
