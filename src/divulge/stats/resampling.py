"""Resampling of clusters and permutation of labels."""

import math
from collections.abc import Iterator

import numpy as np

from divulge.core.process_wide import one_thread
from divulge.stats.outcomes import Floats, _Clusters

_CHUNK = 2_000_000  # entries of a block of draws: 16 MB


def _bootstrap_log_failure(clusters: _Clusters, rng: np.random.Generator, draws: int) -> Floats:
    """Log failure rate in `draws` resamples of one cluster fewer than there are.

    n - 1 of n, because n of n has (n - 1)/n of the variance it should have (Rao and Wu 1988).
    """
    n = clusters.n
    failed = np.maximum(clusters.size - clusters.total, 0.0)
    one_size = bool(np.all(clusters.size == clusters.size[0]))
    sums = np.empty((2, draws))
    sums[1] = (n - 1) * clusters.size[0]
    if 10 * clusters.times.size < n:
        counts = rng.multinomial(n - 1, clusters.times / n, size=draws)
        sums[0] = (counts * failed).sum(axis=1)
        sums[1] = (counts * clusters.size).sum(axis=1)
    else:
        failed, size = np.repeat(failed, clusters.times), np.repeat(clusters.size, clusters.times)
        for block in _blocks(draws, n):
            drawn = rng.integers(0, n, size=(block.stop - block.start, n - 1), dtype=np.uint32)
            sums[0, block] = failed[drawn].sum(axis=1)
            if not one_size:
                sums[1, block] = size[drawn].sum(axis=1)
    with np.errstate(divide="ignore"):  # a resample in which the attack always succeeds
        return np.asarray(np.log(sums[0] / sums[1]), dtype=np.float64)


def _percentiles(values: Floats, level: float) -> tuple[float, float]:
    """Use order statistics rather than interpolation, because draws may be infinite."""
    values = np.sort(values[~np.isnan(values)])
    if values.size == 0:
        return -math.inf, math.inf
    k = max(1, math.floor((values.size + 1) * (1 - level) / 2))
    return float(values[k - 1]), float(values[values.size - k])


def _blocks(n: int, width: int) -> Iterator[slice]:
    step = max(1, _CHUNK // max(1, width))
    return (slice(first, min(n, first + step)) for first in range(0, n, step))


def _permuted_differences(
    pool: _Clusters, residual: Floats, n_rows: float, n_drawn: int, rng: np.random.Generator
) -> Floats:
    """Absolute ratio differences when a random `n_drawn` of the clusters are the one group.

    With e = sum - p * size (p pooled), the difference of the two rates is e's total in one group times
    n_rows / (rows in the one * rows in the other).
    """
    weights = np.stack([residual, pool.size], axis=1)
    if 10 * pool.times.size < pool.n:
        counts = rng.multivariate_hypergeometric(pool.times, n_drawn, _PERMUTATIONS, method="marginals")
        sums = np.stack([(counts * w).sum(axis=1) for w in weights.T], axis=1)
    else:
        weights = np.repeat(weights, pool.times, axis=0)
        with one_thread():
            blocks = _labels(rng, n_drawn, pool.n, _PERMUTATIONS)
            sums = np.concatenate([labels @ weights for labels in blocks])
    rows = sums[:, 1]
    return np.asarray(np.abs(sums[:, 0]) * n_rows / (rows * (n_rows - rows)), dtype=np.float64)


def _labels(rng: np.random.Generator, n_ones: int, n: int, draws: int) -> Iterator[Floats]:
    """Blocks of random 0/1 rows of length `n` with `n_ones` ones each, `draws` rows in all."""
    for block in _blocks(draws, n):
        # The n_ones smallest of random keys: three times as fast as shuffling, and 53 bits do not tie.
        keys = rng.random((block.stop - block.start, n))
        yield (keys <= np.partition(keys, n_ones - 1, axis=1)[:, n_ones - 1 : n_ones]).astype(np.float64)


_PERMUTATIONS = 1999

LEAST_P = 1 / (_PERMUTATIONS + 1)
"""The smallest p-value that permutations give."""
