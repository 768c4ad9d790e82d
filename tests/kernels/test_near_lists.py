"""Merged lists of near rows: the compiled loop, numpy, and what one list of all rows says."""

import numpy as np
import pytest
from amount import tries

from divulge.kernels._native.library import at_level, levels
from divulge.kernels.neighbours._near_lists import merge, nothing
from divulge.kernels.neighbours.nearest import Nearest


def listed(far, rows, times, k):
    """The k nearest of some rows, given their distances, and how many rows lie at the last of these."""
    order = np.lexsort((rows, far))[:k]
    pad = k - len(order)
    kept = np.pad(far[order], (0, pad), constant_values=np.inf)
    last = times[rows[far == kept[-1]]].sum() if np.isfinite(kept[-1]) else 0
    return kept, np.pad(rows[order], (0, pad), constant_values=-1), last


def of_parts(rng, n_queries, k, weighted):
    """Lists of k for each of three parts of a reference, the lists of all its rows, and how often each row counts."""
    n = int(rng.integers(1, 12))
    far = rng.integers(0, rng.integers(2, 6), (n_queries, n)) / 4.0
    times = rng.integers(1, 4, n) if weighted else np.ones(n, dtype=np.int64)
    part_of = rng.integers(0, 3, n)
    parts = []
    for which in (0, 1, 2):
        own = np.flatnonzero(part_of == which)
        parts.append([listed(far[i, own], own, times, k) for i in range(n_queries)])
    return parts, [listed(f, np.arange(n), times, k) for f in far], times


def together(lists):
    far, rows, last = (np.array(each) for each in zip(*lists, strict=True))
    return Nearest(far, rows.astype(np.int64), last.astype(np.int64))


@pytest.mark.parametrize("level", [*levels(), "none"])
@pytest.mark.parametrize("weighted", [False, True])
def test_merged_parts_are_the_list_of_all_rows(level, weighted):
    for seed in range(tries(60)):
        rng = np.random.default_rng([seed, weighted])
        n, k = int(rng.integers(1, 8)), int(rng.integers(1, 6))
        parts, whole, times = of_parts(rng, n, k, weighted)
        kept = nothing(n, k)
        for part in parts:
            which = np.flatnonzero(rng.random(n) < 0.5)
            for some in (which, np.setdiff1d(np.arange(n), which)):  # some queries now, the others then
                with at_level(level):
                    merge(kept, some, together(part).take(some), times if weighted else None)
        for own, oracle in zip((kept.distances, kept.rows, kept.n_ties), zip(*whole, strict=True), strict=True):
            assert own.tolist() == np.array(oracle).tolist(), (seed, level)


def test_a_list_that_is_farther_changes_nothing():
    kept = Nearest(np.array([[0.1, 0.2]]), np.array([[3, 1]]), np.array([4]))
    merge(kept, np.array([0]), Nearest(np.array([[0.3, np.inf]]), np.array([[0, -1]]), np.array([0])))
    assert (kept.distances.tolist(), kept.rows.tolist(), kept.n_ties.tolist()) == ([[0.1, 0.2]], [[3, 1]], [4])


def test_no_queries_are_no_error():
    merge(nothing(3, 2), np.empty(0, dtype=np.int64), nothing(0, 2))
