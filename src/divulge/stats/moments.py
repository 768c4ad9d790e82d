"""Tests on many people from sums alone: the normal limit of permuted labels needs nobody's scores side by side.

With many people the permutation distribution of several differences of rates is normal, and depends on the people
through the sums of their scores and of the products of their scores. Scores are rounded to whole multiples of a step
before they are multiplied. All products and sums are then whole numbers below 2**53, which floating-point numbers hold
exactly: blocks of people may be added in any order and give the same bits.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from divulge.core.coded_scores import CodedScores, Scores
from divulge.core.errors import SettingError
from divulge.stats.outcomes import Floats, Ints
from divulge.stats.resampling import _blocks
from divulge.stats.two_sample import _NO_SPREAD

__all__ = ["Limit", "distinct_of", "limit_of"]

_DRAWS = 20_000
_DIGITS = 53  # whole numbers up to 2**53 are exact
_MOST_BITS = 24  # of a rounded score: more tell nothing


@dataclass(frozen=True, slots=True, eq=False)
class Limit:
    """The observed |z| of several tests, and the normal limit of their distribution when labels are permuted."""

    z: Floats
    """Shape (n_tests,); nan without people on a side."""
    live: NDArray[np.bool_]
    """Shape (n_tests,): tests with spread."""
    correlation: Floats
    """Shape (n_live, n_live)."""

    def draws(self, rng: np.random.Generator) -> Iterator[Floats]:
        """Yield blocks of draws of |z| of the live tests, shape (n_draws, n_live)."""
        eigenvalues, vectors = np.linalg.eigh(self.correlation)
        # The symmetric root: eigenvectors come with any sign.
        root = (vectors * np.sqrt(np.maximum(eigenvalues, 0.0))) @ vectors.T
        for block in _blocks(_DRAWS, len(root)):
            drawn = rng.standard_normal((block.stop - block.start, len(root))) @ root
            yield np.abs(drawn, out=drawn)


@dataclass(frozen=True, slots=True, eq=False)
class _Sums:
    """Whole-numbered sums over the clusters of one side: scores x, rows asked w, and products."""

    n: int
    x: Floats  # (n_tests,) in fine steps
    w: Floats
    xx: Floats  # (n_tests, n_tests) in coarse steps
    xw: Floats
    ww: Floats


@dataclass(frozen=True, slots=True, eq=False)
class _Steps:
    """What the scores are rounded to multiples of, for sums and for products; powers of two, shape (n_tests,)."""

    fine: Floats
    coarse: Floats


def limit_of(
    members: Sequence[Scores],
    strangers: Sequence[Scores],
    cluster_members: Ints | None = None,
    cluster_strangers: Ints | None = None,
    *,
    count_members: Ints | None = None,
    count_strangers: Ints | None = None,
) -> Limit:
    """Return the observed |z| of several differences of rates and the correlation of their normal limit.

    Parameters
    ----------
    members, strangers
        For each test the outcomes, shapes (n_members,) and (n_strangers,), coded or not; nan where a test skips a
        person.
    cluster_members, cluster_strangers
        Person or household of each row; None is each row its own.
    count_members, count_strangers
        How many people each row stands for; None is one. Only without clusters.

    Returns
    -------
    Limit
        The same bits for any order of rows, and for equal rows that are merged. Memory beyond the outcomes is a block
        of them.

    Raises
    ------
    SettingError
        A cluster or a count for another number of rows.
    """
    sides = [
        (members, _rows_of(cluster_members, count_members, members)),
        (strangers, _rows_of(cluster_strangers, count_strangers, strangers)),
    ]
    steps = _steps(members, strangers, sum(c.n_rows for _, c in sides), max(c.most for _, c in sides))
    one, two = (_sums(columns, rows, steps) for columns, rows in sides)
    n = one.n + two.n
    x, w = one.x + two.x, one.w + two.w
    both = (one.w > 0) & (two.w > 0)
    mean = x * steps.fine / np.maximum(w, 1.0)  # of the outcomes
    xx, xw = one.xx + two.xx, (one.xw + two.xw) * steps.coarse[:, None]
    xx = xx * np.outer(steps.coarse, steps.coarse)
    products = xx - mean[:, None] * xw.T - xw * mean[None, :] + np.outer(mean, mean) * (one.ww + two.ww)
    variance = np.diag(products) / max(1, n - 1)
    live = both & (variance > _NO_SPREAD)
    spread = np.sqrt(np.maximum(variance, 0.0) * (one.n * two.n / n))
    factor = one.n * two.n * (w / n) ** 2 / np.maximum(one.w * two.w, 1.0)
    gap = np.abs(one.x * steps.fine - mean * one.w)
    z = np.where(live, gap / np.where(live, spread, 1.0) * factor, 0.0)
    root = np.sqrt(np.diag(products)[live])
    return Limit(np.where(both, z, np.nan), live, products[np.ix_(live, live)] / np.outer(root, root))


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    """The rows of each cluster, one cluster after the other; `order` is None where each row is its own."""

    n: int
    """Clusters."""
    n_rows: int
    """Rows, equal ones counted as often as they occur."""
    order: Ints | None
    first: Ints
    most: int
    """Rows of the largest cluster."""
    count: Floats | None = None
    """How many people each row stands for; None is one."""

    @property
    def n_sums(self) -> int:
        """How many rows or clusters are added up."""
        return self.n if self.count is None else len(self.count)


def _rows_of(cluster: Ints | None, count: Ints | None, columns: Sequence[Scores]) -> _Rows:
    n_rows, nothing = len(columns[0]), np.empty(0, dtype=np.int64)
    if count is not None:
        if cluster is not None or np.shape(count) != (n_rows,):
            raise SettingError(f"count: must hold one number per row ({n_rows} rows), and no row has a cluster.")
        n = int(np.sum(count))
        return _Rows(n, n, None, nothing, 1, np.asarray(count, dtype=np.float64))
    if cluster is None:
        return _Rows(n_rows, n_rows, None, nothing, 1)
    if np.shape(cluster) != (n_rows,):
        raise SettingError(f"cluster: must hold one number per row ({n_rows} rows).")
    codes = np.asarray(cluster)
    order = np.argsort(codes, kind="stable")
    first = np.flatnonzero(np.append(True, codes[order[1:]] != codes[order[:-1]]))
    return _Rows(len(first), n_rows, order, np.append(first, n_rows), int(np.diff(np.append(first, n_rows)).max()))


def _steps(members: Sequence[Scores], strangers: Sequence[Scores], n_rows: int, most: int) -> _Steps:
    """Return steps so small as whole sums over all `n_rows` rows allow, where a cluster has at most `most` rows.

    The squares of the sums of clusters add up to `most` times the squares of the scores at most.
    """
    highest = np.array([_highest(a, b) for a, b in zip(members, strangers, strict=True)])
    top = np.exp2(np.ceil(np.log2(np.maximum(highest, np.finfo(np.float64).tiny))))
    rows, cluster = (math.ceil(math.log2(n)) for n in (n_rows, most))
    bits = min(_MOST_BITS, (_DIGITS - rows - cluster) // 2)
    return _Steps(top / 2.0 ** (_DIGITS - 1 - rows), top / 2.0**bits)


def _highest(*columns: Scores) -> float:
    return float(np.fmax.reduce([np.fmax.reduce(np.abs(distinct_of(c)), initial=0.0) for c in columns]))


def distinct_of(column: Scores) -> Floats:
    """Return the outcomes of a test, each at least once."""
    return column.values if isinstance(column, CodedScores) else column


def _sums(columns: Sequence[Scores], rows: _Rows, steps: _Steps) -> _Sums:
    n_tests = len(columns)
    x, w = np.zeros(n_tests), np.zeros(n_tests)
    xx, xw, ww = (np.zeros((n_tests, n_tests)) for _ in range(3))
    all_asked = rows.order is None and not any(np.isnan(distinct_of(c)).any() for c in columns)
    for block in _blocks(rows.n_sums, n_tests):
        values = _taken(columns, rows, block)
        times = np.ones(values.shape[1]) if rows.count is None else rows.count[block]
        there = None if all_asked else ~np.isnan(values)
        if there is not None:
            values[~there] = 0.0
        rounded = np.rint(values / steps.coarse[:, None])
        x += [_fine(*one, times) for one in zip(values, rounded, steps.fine, steps.coarse, strict=True)]
        # of each factor of a product one counts the people, so that all stay whole numbers
        rounded = _added(rounded, rows, block)
        counted = rounded if rows.count is None else rounded * times
        xx += rounded @ counted.T
        if there is None:
            w += times.sum()
            xw += counted.sum(axis=1)[:, None]
            ww += times.sum()
        else:
            asked = _added(there.astype(np.float64), rows, block)
            of_people = asked if rows.count is None else asked * times
            w += of_people.sum(axis=1)
            xw += counted @ asked.T
            ww += asked @ of_people.T
    return _Sums(rows.n, x, w, xx, xw, ww)


def _fine(values: Floats, rounded: Floats, fine: float, coarse: float, times: Floats) -> float:
    """Return the sum of a test's outcomes in fine steps; that of hits and quarters is known from coarse ones."""
    if np.array_equal(rounded * coarse, values):
        return float(rounded @ times) * (coarse / fine)
    return float(np.rint(values / fine) @ times)


def _taken(columns: Sequence[Scores], rows: _Rows, block: slice) -> Floats:
    """Return the outcomes of the rows of some clusters, shape (n_tests, n_rows)."""
    which: slice | Ints = block
    if rows.order is not None:
        which = rows.order[rows.first[block.start] : rows.first[block.stop]]
    return np.stack([column[which] for column in columns])


def _added(values: Floats, rows: _Rows, block: slice) -> Floats:
    """Return the sums over the rows of each cluster, shape (n_tests, n_clusters)."""
    if rows.order is None:
        return values
    first = rows.first[block.start : block.stop]
    return np.asarray(np.add.reduceat(values, first - first[0], axis=1))
