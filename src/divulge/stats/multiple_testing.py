"""Many tests on the same people: their labels are permuted jointly, and all tests share one resampling."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from divulge.core.coded_scores import CodedScores, Scores, decoded
from divulge.core.errors import SettingError
from divulge.core.hashing import row_hashes
from divulge.core.process_wide import one_thread
from divulge.stats import two_sample
from divulge.stats.exact import fisher, two_sided
from divulge.stats.intervals import normal_quantile
from divulge.stats.moments import Limit, distinct_of, limit_of
from divulge.stats.outcomes import Floats, Ints, _exact_sum, _zero_or_one
from divulge.stats.resampling import _PERMUTATIONS, _blocks, _labels
from divulge.stats.two_sample import _NO_SPREAD, Comparison

__all__ = ["Family", "max_t", "resample"]

_COUNTED_TESTS = 8  # families of more tests take the normal limit for outcomes that are not 0 and 1
_COUNTED_VALUES = 500
_LOOKED_AT = 1000
_Both = tuple[Ints | None, Ints | None]
"""Of members and of strangers."""
_SURE = 1.0 - 2.0**-50  # the highest level: its normal quantile is finite


@dataclass(frozen=True, slots=True, eq=False)
class Family:
    """Tests on the same people, corrected for their number."""

    critical: float
    """The `level` quantile of the largest |z| of the family under the null."""
    level_each: float
    """Level of each interval such that all intervals hold together; at least `level`."""
    p_adjusted: Floats
    """Shape (n_tests,): probability of any |z| this large in the family; nan for a test without people."""
    p_value: Floats
    """Shape (n_tests,): p-value of each single test, two-sided: Fisher's for hits of 0 or 1, else by permutation."""


def max_t(
    members: Floats | Sequence[Scores],
    strangers: Floats | Sequence[Scores],
    *,
    cluster_members: Ints | None = None,
    cluster_strangers: Ints | None = None,
    count_members: Ints | None = None,
    count_strangers: Ints | None = None,
    level: float = 0.95,
    rng: np.random.Generator,
    draws: int = _PERMUTATIONS,
) -> Family:
    """Return p-values and a critical value that account for several tests on the same people.

    The labels "member" and "stranger" are permuted jointly for all tests, which keeps their dependence,
    and each |z| is compared with the distribution of the largest. One step, not step-down: an interval
    at `level_each` then excludes 0 when the adjusted p-value says so, up to the shape of the interval.
    Above 20,000 clusters the multivariate normal limit takes the place of the permutations. Hits that are 0 or 1, each
    row its own cluster, have Fisher's exact p-value; where no permutation reaches the observed |z|, their adjusted
    p-value is Bonferroni's.

    Parameters
    ----------
    members, strangers
        Outcomes, shapes (n_members, n_tests) and (n_strangers, n_tests), or a column for each test, which saves the
        memory of the table where people are many, the more if it is coded; nan where a test skips a person.
        Keep the tests in a canonical order: columns are told apart by their position.
    cluster_members, cluster_strangers
        Person or household of each row, shapes (n_members,) and (n_strangers,); None is each row its own.
    count_members, count_strangers
        How many people each row stands for, where people with equal outcomes were merged; None is one.
    level
        Coverage of the family's intervals together.
    rng
        Source of the permutations.
    draws
        Permutations.

    Returns
    -------
    Family
        Unchanged by row order, cluster names and the merging of equal rows. A test without spread gets p = 1 and does
        not contribute; one with nobody on a side gets nan.

    References
    ----------
    Westfall and Young (1993), Resampling-based multiple testing, single-step max-T.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> leak = (rng.random((300, 2)) < [0.5, 0.2]).astype(float)
    >>> none = (rng.random((300, 2)) < [0.2, 0.2]).astype(float)
    >>> family = max_t(leak, none, rng=rng)
    >>> family.p_adjusted[0] < 0.01 < 0.1 < family.p_adjusted[1]
    np.True_
    """
    z = normal_quantile(level)
    if draws < 1:
        raise SettingError(f"draws: need at least 1 permutation, got {draws}.")
    a, b = _columns(members), _columns(strangers)
    if len(a) != len(b):
        raise SettingError("members, strangers: need two dimensions, and the same tests as columns.")
    if (cluster_members is None) != (cluster_strangers is None):
        raise SettingError("cluster_members, cluster_strangers: give both or neither.")
    n_tests = len(a)
    if n_tests == 0 or min(len(a[0]), len(b[0])) == 0:
        return Family(z, level, np.full(n_tests, np.nan), np.full(n_tests, np.nan))
    clusters, counts = (cluster_members, cluster_strangers), (count_members, count_strangers)
    if _is_few(counts):
        a, b = (_written_out(side, count) for side, count in zip((a, b), counts, strict=True))
        counts = None, None
    varied = _varied(a, b)
    # a test in which all outcomes are alike must not even change the order of the draws
    some = [[c for c, keep in zip(side, varied, strict=True) if keep] for side in (a, b)]
    tested = np.array(
        [not any(np.isnan(distinct_of(c)).all() for c in both) for both in zip(a, b, strict=True)], dtype=np.bool_
    )
    p_adjusted, p_value = np.where(tested, 1.0, np.nan), np.where(tested, 1.0, np.nan)
    if not varied.any():
        return Family(z, level, p_adjusted, p_value)
    family = _of_varied(some[0], some[1], clusters, counts, level, z, rng, draws)
    p_adjusted[varied], p_value[varied] = family.p_adjusted, family.p_value
    return Family(family.critical, family.level_each, p_adjusted, p_value)


def _columns(table: Floats | Sequence[Scores]) -> list[Scores]:
    """Return the outcomes of each test."""
    if isinstance(table, np.ndarray) and table.ndim != 2:
        raise SettingError("members, strangers: need two dimensions, and the same tests as columns.")
    columns = table.T if isinstance(table, np.ndarray) else table
    return [c if isinstance(c, CodedScores) else np.asarray(c, dtype=np.float64) for c in columns]


def _is_few(counts: _Both) -> bool:
    """Return whether people were merged who are few enough to be written out, one row each."""
    given = [c for c in counts if c is not None]
    return bool(given) and sum(int(c.sum()) for c in given) <= two_sample.RESAMPLE_UP_TO


def _written_out(columns: list[Scores], count: Ints | None) -> list[Scores]:
    """Return the outcomes of each person, from those of rows that stand for several."""
    return columns if count is None else [np.repeat(decoded(c), count) for c in columns]


def _side_by_side(columns: Sequence[Scores]) -> Floats:
    """Return the outcomes of several tests as a table."""
    return np.stack([decoded(c) for c in columns], axis=1)


def _of_varied(
    members: list[Scores], strangers: list[Scores], clusters: _Both, counts: _Both, level: float, z: float,
    rng: np.random.Generator, draws: int,
) -> Family:  # fmt: skip
    """Return the family of tests that have two different outcomes each."""
    n_tests, alone = len(members), clusters[0] is None
    n_rows = sum(
        len(side[0]) if n is None else int(n.sum()) for side, n in zip((members, strangers), counts, strict=True)
    )
    exact = np.full(n_tests, np.nan)
    if alone:
        few = rng if n_tests <= _COUNTED_TESTS and n_rows > two_sample.RESAMPLE_UP_TO else None
        exact = np.array([_exact_p(a, b, counts, few) for a, b in zip(members, strangers, strict=True)])
    n_clusters = n_rows if clusters[0] is None else sum(np.unique(c).size for c in clusters if c is not None)
    with one_thread():
        if n_clusters > two_sample.RESAMPLE_UP_TO:
            limit = limit_of(members, strangers, *clusters, count_members=counts[0], count_strangers=counts[1])
            return _limit_family(limit, exact, level, z, rng)
        scaled = _standardise(*_pool(_side_by_side(members), _side_by_side(strangers), *clusters))
        return _family(scaled, exact, level, z, rng, draws)


def _varied(members: Sequence[Scores], strangers: Sequence[Scores]) -> NDArray[np.bool_]:
    """Return which tests have two different outcomes, shape (n_tests,)."""
    ends = [
        (np.fmin(np.fmin.reduce(a), np.fmin.reduce(b)), np.fmax(np.fmax.reduce(a), np.fmax.reduce(b)))
        for a, b in zip(map(distinct_of, members), map(distinct_of, strangers), strict=True)
    ]
    return np.array([bool(least < most) for least, most in ends])


def _exact_p(members: Scores, strangers: Scores, counts: _Both, rng: np.random.Generator | None) -> float:
    """Fisher's p-value of one test of outcomes 0 and 1; of others nan or, with a generator, that of permuted counts."""
    if rng is None and not _may_be_hits(members):
        return np.nan
    (a, times_a), (b, times_b) = (_asked(x, n) for x, n in zip((members, strangers), counts, strict=True))
    n_a, n_b = int(times_a.sum()), int(times_b.sum())
    if not (n_a and n_b):
        return np.nan
    if _zero_or_one(a) and _zero_or_one(b):
        return fisher(int(times_a[a == 1].sum()), n_a, int(times_b[b == 1].sum()), n_b)
    return np.nan if rng is None else _permuted_counts((a, times_a), (b, times_b), rng)


def _may_be_hits(values: Scores) -> bool:
    """Return whether some outcomes are all 0, 1 or skipped; of fractions the first few tell it."""
    some = values[:_LOOKED_AT]
    return bool(((some == 0) | (some == 1) | np.isnan(some)).all())


def _asked(values: Scores, count: Ints | None) -> tuple[Floats, Ints]:
    """Return the outcomes that are defined, and how many people have each."""
    if isinstance(values, CodedScores):
        values, count = (values.values, values.times()) if count is None else (decoded(values), count)
    asked = ~np.isnan(values)
    return values[asked], np.ones(int(asked.sum()), dtype=np.int64) if count is None else count[asked]


def _permuted_counts(members: tuple[Floats, Ints], strangers: tuple[Floats, Ints], rng: np.random.Generator) -> float:
    """P-value of a permutation of labels that draws how many people of each outcome are members; nan for many values.

    For people who are many and outcomes that are few: credits of a few synthetic rows are far from normal.
    """
    (a, times_a), (b, times_b) = members, strangers
    values, which = np.unique(np.concatenate([a, b]), return_inverse=True)
    if values.size > _COUNTED_VALUES:
        return np.nan
    one, two = (
        np.bincount(of, weights=times, minlength=values.size).astype(np.int64)
        for of, times in ((which[: a.size], times_a), (which[a.size :], times_b))
    )
    people, n = one + two, int(times_a.sum())
    drawn = rng.multivariate_hypergeometric(people, n, size=_PERMUTATIONS, method="marginals") @ values
    expected = float(people @ values) * n / int(people.sum())
    slack = 1e-9 * max(1.0, abs(expected))
    beyond = np.count_nonzero(np.abs(drawn - expected) >= abs(_exact_sum(values, one) - expected) - slack)
    return (1 + int(beyond)) / (_PERMUTATIONS + 1)


def resample(
    members: Floats | Sequence[Scores],
    strangers: Floats | Sequence[Scores],
    comparisons: Sequence[Comparison],
    *,
    cluster_members: Ints | None = None,
    cluster_strangers: Ints | None = None,
    count_members: Ints | None = None,
    count_strangers: Ints | None = None,
    rng: np.random.Generator,
    draws: int = 2000,
) -> list[Comparison]:
    """Return comparisons whose risk has the percentiles of one cluster bootstrap that all tests share.

    Drawing the people once for all tests costs what one test costs. Comparisons of 0/1 hits, undefined ones and
    those of more than 20,000 clusters are returned as they are.

    Parameters
    ----------
    members, strangers
        Outcomes as in `max_t`, and so are clusters and counts.
    comparisons
        One for each test, made with `draws=0`.

    References
    ----------
    Rao and Wu (1988), Resampling inference with complex survey data.
    """
    waiting = [j for j, c in enumerate(comparisons) if c.may_resample]
    out = list(comparisons)
    if not waiting:
        return out
    with one_thread():
        sides = (_written_out(_columns(members), count_members), _written_out(_columns(strangers), count_strangers))
        a, b = (_side_by_side([side[j] for j in waiting]) for side in sides)
        logs = _log_failures(a, cluster_members, rng, draws)
        others = _log_failures(b, cluster_strangers, rng, draws)
        with np.errstate(invalid="ignore"):  # everybody hit on both sides: undefined
            logs -= others
    for j, column in zip(waiting, logs.T, strict=True):
        out[j] = comparisons[j].resampled(column)
    return out


def _log_failures(values: Floats, cluster: Ints | None, rng: np.random.Generator, draws: int) -> Floats:
    """Log failure rates in resamples of one cluster fewer than there are, shape (draws, n_tests)."""
    total, size, hashes = _sums(values, cluster)
    order = np.argsort(hashes, kind="stable")
    size = np.ones_like(total) if size is None else size[order]
    failed = np.maximum(size - total[order], 0.0)
    n = len(order)
    logs = np.empty((draws, total.shape[1]))
    for block in _blocks(draws, n):
        rows = block.stop - block.start
        drawn = rng.integers(0, n, size=(rows, n - 1)) + np.arange(rows)[:, None] * n
        times = np.bincount(drawn.ravel(), minlength=rows * n).reshape(rows, n).astype(np.float64)
        with np.errstate(divide="ignore", invalid="ignore"):  # nobody attacked, or everybody hit, in a resample
            logs[block] = np.log((times @ failed) / (times @ size))
    return logs


@dataclass(frozen=True, slots=True)
class _Scaled:
    """Clusters of both groups in canonical order, scaled so that the sum over one group is its z."""

    e: Floats  # (n_clusters, n_tests)
    size: Floats | None  # (n_clusters, n_tests) rows per cluster and test; None when all are alike
    n_drawn: int  # clusters in the smaller group
    z: Floats  # (n_tests,) observed |z|; nan without people on a side
    live: NDArray[np.bool_]  # (n_tests,) tests with spread


def _family(scaled: _Scaled, exact: Floats, level: float, z: float, rng: np.random.Generator, draws: int) -> Family:
    """Return the family of tests of few people: labels are permuted."""
    n_live, tested = int(scaled.live.sum()), ~np.isnan(scaled.z)
    if n_live == 0:
        return Family(z, level, np.where(tested, 1.0, np.nan), np.where(tested, 1.0, np.nan))
    seen, exact = scaled.z[scaled.live], exact[scaled.live]
    largest, beyond = _permuted_maxima(scaled, seen, rng, draws)
    each = np.where(np.isnan(exact), (1 + beyond) / (draws + 1), exact)
    largest.sort()
    reached = largest.size - np.searchsorted(largest, seen - 1e-9)
    together = (1 + reached) / (largest.size + 1)
    # Draws end at 1 / (draws + 1). Where none reaches the observed |z|, Bonferroni on exact p-values sees further.
    together = np.where(reached == 0, np.fmin(together, n_live * exact), together)
    return _concluded(tested, scaled.live, each, together, largest, level, z)


def _limit_family(limit: Limit, exact: Floats, level: float, z: float, rng: np.random.Generator) -> Family:
    """Return the family of tests of many people: draws from the normal limit of permuted labels."""
    n_live, tested = int(limit.live.sum()), ~np.isnan(limit.z)
    if n_live == 0:
        return Family(z, level, np.where(tested, 1.0, np.nan), np.where(tested, 1.0, np.nan))
    seen, exact = limit.z[limit.live], exact[limit.live]
    largest = np.sort(np.concatenate([drawn.max(axis=1) for drawn in limit.draws(rng)]))
    # Few hits of many people are far from normal: Fisher's exact p stands in for them.
    each = np.fmax(np.array([two_sided(x) for x in seen]), exact)
    together = (1 + largest.size - np.searchsorted(largest, seen - 1e-9)) / (largest.size + 1)
    # Bonferroni sees further than the draws, and what is exact counts where the limit is not.
    together = np.fmax(np.minimum(together, n_live * each), np.minimum(1.0, n_live * exact))
    return _concluded(tested, limit.live, each, together, largest, level, z)


def _concluded(
    tested: NDArray[np.bool_], live: NDArray[np.bool_], each: Floats, together: Floats, largest: Floats, level: float,
    z: float,
) -> Family:  # fmt: skip
    n_live = len(each)
    p_value, p_adjusted = np.where(tested, 1.0, np.nan), np.where(tested, 1.0, np.nan)
    p_value[live] = each
    p_adjusted[live] = np.maximum(each, together) if n_live > 1 else each
    critical = max(z, _critical(largest, level, n_live)) if n_live > 1 else z
    level_each = max(level, min(_SURE, 1 - 2 * float(ndtr(-critical)))) if critical > z else level
    return Family(critical, level_each, p_adjusted, p_value)


def _critical(largest: Floats, level: float, n_tests: int) -> float:
    k = math.ceil(level * (largest.size + 1) - 1e-9)
    if k > largest.size:  # too few draws for this level
        return -float(ndtri((1 - level) / (2 * n_tests)))
    return float(largest[k - 1])


def _permuted_maxima(scaled: _Scaled, seen: Floats, rng: np.random.Generator, draws: int) -> tuple[Floats, Ints]:
    """Largest |z| of each permutation, and for each live test how many |z| reach the observed one."""
    largest, beyond = [], np.zeros(seen.size, dtype=np.int64)
    for z in _permuted(scaled, rng, draws):
        largest.append(z.max(axis=1))
        beyond += np.count_nonzero(z >= seen - 1e-9, axis=0)
    return np.concatenate(largest), beyond


def _permuted(scaled: _Scaled, rng: np.random.Generator, draws: int) -> Iterator[Floats]:
    """Blocks of permutations: |z| of each live test, shape (n_draws, n_live)."""
    n_clusters, columns = scaled.e.shape[0], np.flatnonzero(scaled.live)
    e = np.ascontiguousarray(scaled.e[:, columns])
    size = None if scaled.size is None else np.ascontiguousarray(scaled.size[:, columns])
    for labels in _labels(rng, scaled.n_drawn, n_clusters, draws):
        z = np.abs(labels @ e)
        if size is not None:
            z *= _size_factor(labels @ size, size.sum(axis=0), scaled.n_drawn, n_clusters)
        yield z


def _size_factor(rows: Floats, all_rows: Floats, n_drawn: int, n_clusters: int) -> Floats:
    """What turns the sum of e over one group into the difference of ratios: 1 when sizes are equal."""
    product = rows * (all_rows - rows)
    expected = n_drawn * (n_clusters - n_drawn) * (all_rows / n_clusters) ** 2
    # With nobody on a side the sum of e is 0, and so is the statistic.
    return np.divide(expected, product, out=np.zeros_like(product), where=product > 0.5)


def _standardise(total: Floats, size: Floats | None, is_member: NDArray[np.bool_]) -> _Scaled:
    """Turn cluster sums (overwritten) into centred columns whose sum over one group is its z."""
    n_clusters = is_member.size
    n_drawn = min(int(is_member.sum()), n_clusters - int(is_member.sum()))
    if size is None:
        total -= total.sum(axis=0) / n_clusters
        both = np.ones(total.shape[1], dtype=np.bool_)
    else:
        rows, inside = size.sum(axis=0), is_member.astype(np.float64) @ size
        both = (inside > 0) & (inside < rows)
        total -= total.sum(axis=0) / np.maximum(rows, 1.0) * size
    variance = np.einsum("ij,ij->j", total, total) / max(1, n_clusters - 1)
    live = both & (variance > _NO_SPREAD)
    spread = np.sqrt(variance * (n_drawn * (n_clusters - n_drawn) / n_clusters))
    total *= np.where(live, 1 / np.where(live, spread, 1.0), 0.0)
    z = np.abs(is_member.astype(np.float64) @ total)
    if size is not None:
        z *= _size_factor(inside, rows, n_drawn, n_clusters)
    return _Scaled(total, size, n_drawn, np.where(both, z, np.nan), live)


def _pool(
    members: Floats, strangers: Floats, cluster_members: Ints | None, cluster_strangers: Ints | None
) -> tuple[Floats, Floats | None, NDArray[np.bool_]]:
    """Cluster sums and sizes of both groups in an order that depends only on their contents."""
    one, one_size, one_hash = _sums(members, cluster_members)
    two, two_size, two_hash = _sums(strangers, cluster_strangers)
    # Stable: a member comes before a stranger with the same outcomes.
    order = np.argsort(np.concatenate([one_hash, two_hash]), kind="stable")
    place = np.empty(order.size, dtype=np.int64)
    place[order] = np.arange(order.size)
    first, second = place[: one_hash.size], place[one_hash.size :]
    total = np.empty((order.size, members.shape[1]))
    total[first], total[second] = one, two
    is_member = np.zeros(order.size, dtype=np.bool_)
    is_member[first] = True
    if one_size is None and two_size is None:
        return total, None, is_member
    size = np.empty_like(total)
    size[first] = 1.0 if one_size is None else one_size
    size[second] = 1.0 if two_size is None else two_size
    return total, None if np.all(size == size[0, 0]) else size, is_member


def _sums(values: Floats, cluster: Ints | None) -> tuple[Floats, Floats | None, NDArray[np.uint64]]:
    """Sums and sizes per cluster (sizes None when all are 1), and a hash of each."""
    skipped = np.isnan(values)
    if cluster is None and not skipped.any():
        return values, None, row_hashes(values)
    hashes = row_hashes(np.where(skipped, np.nan, values))  # nan with one bit pattern
    if cluster is None:
        return np.where(skipped, 0.0, values), (~skipped).astype(np.float64), hashes
    codes = np.unique(np.asarray(cluster), return_inverse=True)[1]
    if codes.shape != values.shape[:1]:
        raise SettingError(f"cluster: must hold one number per row ({values.shape[0]} rows).")
    order = np.lexsort((hashes, codes))
    first = np.flatnonzero(np.diff(codes[order], prepend=-1))
    total = np.add.reduceat(np.where(skipped, 0.0, values)[order], first, axis=0)
    size = np.add.reduceat((~skipped).astype(np.float64)[order], first, axis=0)
    return total, size, row_hashes(np.concatenate([total, size], axis=1))
