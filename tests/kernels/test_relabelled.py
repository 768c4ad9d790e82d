"""Sums under relabellings: the loop and its numpy twin agree at each level of processor, and are those of the definition."""

import numpy as np
import pytest

from divulge.kernels._native.library import at_level, levels
from divulge.kernels.counts.relabelled import relabelled_sums, subsets_of


def drawn(seed, dtype, n_blocks, n_labellings=30):
    rng = np.random.default_rng(seed)
    most = 2**23 // n_blocks if dtype == np.int32 else 2**44 // n_blocks
    start = np.array([0, 1, 4, 37, 38, 90])
    cells = rng.integers(-most // 90, most // 90, (n_blocks, 133)).astype(dtype)
    return cells, start, (rng.random((n_labellings, n_blocks)) < 0.5).astype(np.float64)


@pytest.mark.parametrize("n_blocks", [2, 5, 6, 64])
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_the_loop_gives_the_sums_of_the_definition(dtype, n_blocks):
    cells, start, labels = drawn(1, dtype, n_blocks)
    sums = np.abs(labels.astype(np.int64) @ cells.astype(np.int64))
    wanted = np.stack([part.sum(axis=1) for part in np.split(sums, start[1:], axis=1)], axis=1)
    for level in ("none", *levels()):
        with at_level(level):
            np.testing.assert_array_equal(relabelled_sums(cells, start, labels), wanted)
            np.testing.assert_array_equal(relabelled_sums(cells, start, labels, subsets_of(labels)), wanted)


def test_parts_of_a_call_change_nothing(monkeypatch):
    cells, start, labels = drawn(2, np.int32, 64)
    wanted = relabelled_sums(cells, start, labels)
    for size in (1, 40):
        monkeypatch.setattr("divulge.kernels.counts.relabelled._AT_ONCE", size)
        np.testing.assert_array_equal(relabelled_sums(cells, start, labels), wanted)
