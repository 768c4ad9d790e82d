"""Histograms per block: the loop and the numpy twin agree, and neither row order nor threads change a digit."""

from itertools import combinations

import numpy as np
import pytest
from amount import tries
from hypothesis import given, settings
from hypothesis import strategies as st

from divulge.kernels._native.library import at_level, levels
from divulge.kernels.counts import histograms
from divulge.kernels.counts.histograms import column_histograms, pair_histograms


def drawn(seed, n=203, sizes=(3, 1, 7, 300), n_blocks=5):
    rng = np.random.default_rng(seed)
    return [rng.integers(0, k, n) for k in sizes], list(sizes), rng.integers(0, n_blocks, n), n_blocks


def equal(one, other):
    assert one.counts.dtype == other.counts.dtype and one.shapes == other.shapes
    np.testing.assert_array_equal(one.counts, other.counts)
    np.testing.assert_array_equal(one.start, other.start)


@pytest.fixture
def by_loop(monkeypatch):
    """Count by the compiled loop however few rows there are."""
    monkeypatch.setattr(histograms, "_COMPILE_FROM", 1)
    monkeypatch.setattr(histograms, "_FEW", 1)


@pytest.mark.parametrize("with_blocks", [False, True])
@pytest.mark.parametrize("count", [column_histograms, pair_histograms])
@pytest.mark.parametrize("n", [203, 5003])
def test_the_loop_agrees_with_numpy(by_loop, count, with_blocks, n):
    codes, sizes, blocks, n_blocks = drawn(1, n)
    settings_ = {"blocks": blocks, "n_blocks": n_blocks} if with_blocks else {}
    with at_level("none"):
        by_numpy = count(codes, sizes, **settings_)
    for threads in (1, 3):
        equal(count(codes, sizes, **settings_, threads=threads), by_numpy)


@pytest.mark.parametrize("count", [column_histograms, pair_histograms])
@pytest.mark.parametrize("n", [40, 5003])
def test_rows_in_the_order_of_blocks_are_counted_a_block_at_a_time(by_loop, count, n):
    codes, sizes, blocks, _ = drawn(2, n, (3, 1, 7, 30))
    ordered = np.sort(2 * blocks)  # every other block is empty
    with at_level("none"):
        by_numpy = count(codes, sizes, blocks=ordered, n_blocks=11)
    for level in levels():
        with at_level(level):
            equal(count(codes, sizes, blocks=ordered, n_blocks=11), by_numpy)


@pytest.mark.parametrize("largest", [256, 257, 65_536, 65_537])
def test_codes_of_each_width(by_loop, largest):
    rng = np.random.default_rng(largest)
    codes, sizes = [rng.integers(0, k, 5000) for k in (4, largest, 2)], [4, largest, 2]
    codes[1][:2] = largest - 1, 0
    with at_level("none"):
        wanted = pair_histograms(codes, sizes), column_histograms(codes, sizes)
    equal(pair_histograms(codes, sizes), wanted[0])
    equal(column_histograms(codes, sizes), wanted[1])


@settings(max_examples=tries(60))
@given(st.integers(0, 10**6), st.integers(0, 40))
def test_laws(seed, n):
    codes, sizes, blocks, n_blocks = drawn(seed, n, (2, 4, 3))
    found = pair_histograms(codes, sizes, blocks=blocks, n_blocks=n_blocks)
    order = np.random.default_rng(seed).permutation(n)
    equal(pair_histograms([c[order] for c in codes], sizes, blocks=blocks[order], n_blocks=n_blocks), found)
    columns = column_histograms(codes, sizes, blocks=blocks, n_blocks=n_blocks)
    assert found.counts.sum() == n * 3
    for u, (i, j) in enumerate(combinations(range(3), 2)):
        np.testing.assert_array_equal(found.blocks(u).sum(axis=2), columns.blocks(i))
        np.testing.assert_array_equal(found.blocks(u).sum(axis=1), columns.blocks(j))
        np.testing.assert_array_equal(found.unit(u), pair_histograms(codes, sizes, [(i, j)]).unit(0))
    np.testing.assert_array_equal(columns.blocks(0).sum(axis=1), np.bincount(blocks, minlength=n_blocks))


def test_nothing_to_count():
    assert pair_histograms([np.array([0, 1])], [2]).counts.shape == (1, 0)
    assert column_histograms([np.empty(0, int)], [3]).unit(0).tolist() == [0, 0, 0]
    assert column_histograms([np.empty(0, int)], [0]).unit(0).tolist() == []
    assert column_histograms([], []).start.tolist() == [0]
