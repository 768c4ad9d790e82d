"""The bounds of the box tree and of the scan beside the same sums in numpy, at every level of the processor."""

import numpy as np
import pytest

from divulge.kernels._box_tree import TREE
from divulge.kernels._native.library import Kernel, at_level, levels
from divulge.kernels.neighbours._brute_force import MISSING, TILES

leaf_bounds = Kernel("leaf_bounds", TREE, "i8", "f4*", "u1*", "f8", "f4!", "u8!")
node_bounds = Kernel("node_bounds", TREE, "i8", "f4*", "u4*", "f8", "f4!", "u8!")
tile_bounds = Kernel("tile_bounds", TILES, "i8", "i8", "i8", "i8", "i2!", "u8!", "i8!")

GROUPS = [
    (np.array([0, 3, 7]), np.array([0.5, 2.0])),
    (np.array([0, 7]), np.array([1.0])),
]


@pytest.fixture(params=levels(), autouse=True)
def _level(request):
    with at_level(request.param):
        yield


def weighted(mismatch, group, weight):
    parts = [mismatch[a:b].sum(axis=0) * w for a, b, w in zip(group[:-1], group[1:], weight, strict=True)]
    return np.sum(parts, axis=0) if parts else 0


def bits(mask, n):
    return [bool(int(mask) >> j & 1) for j in range(n)]


def tree(group, weight, n_numbers=5, n_codes=7, **arrays):
    none = dict.fromkeys(("low", "high", "masks", "child", "numbers", "codes", "first", "order"))
    sizes = {"n_numbers": n_numbers, "n_codes": n_codes, "n_groups": len(weight), "depth": 0}
    return TREE(**(none | arrays | sizes | {"group": group, "weight": weight.astype(np.float32)}))


def tiles(numbers, codes, asked, asked_codes, group, unit, n_whole):
    return TILES(
        numbers=numbers, codes=codes, asked=asked, asked_codes=asked_codes, group=group, unit=unit, per_distance=1,
        slack=0, n_whole=n_whole, n_numbers=numbers.shape[1], n_codes=codes.shape[1], n_groups=len(unit),
        n_tiles=len(codes),
    )  # fmt: skip


def bounds_of_a_tile(*arrays, most, limit):
    out, within, some = np.full(128, -1, np.int16), np.zeros(2, np.uint64), np.zeros(1, np.int64)
    tile_bounds(tiles(*arrays), len(arrays[1]) - 1, len(arrays[2]) - 1, most, limit, out, within, some)
    return out, within, some[0]


@pytest.mark.parametrize(("group", "weight"), GROUPS)
def test_leaf_bounds(group, weight):
    rng = np.random.default_rng(0)
    t, c = rng.random((3, 5, 64), dtype=np.float32), rng.integers(0, 4, (3, 7, 64)).astype(np.uint8)
    q, qc = rng.random(5, dtype=np.float32), rng.integers(0, 4, 7).astype(np.uint8)
    t[1, 2, :9], q[4] = np.nan, np.nan
    out, within = np.empty(64, np.float32), np.zeros(1, np.uint64)
    limit = float(3.5 * weight.sum() + 2)
    leaf_bounds(tree(group, weight, numbers=t, codes=c), 1, q, qc, limit, out, within)
    expected = np.nan_to_num(abs(t[1] - q[:, None])).sum(0) + weighted(c[1] != qc[:, None], group, weight)
    np.testing.assert_allclose(out, expected, rtol=1e-6)
    assert bits(within[0], 64) == (out <= np.float32(limit)).tolist()
    assert 0 < sum(bits(within[0], 64)) < 64


@pytest.mark.parametrize(("group", "weight"), GROUPS)
def test_node_bounds(group, weight):
    rng = np.random.default_rng(1)
    low = rng.random((2, 5, 16), dtype=np.float32) * np.float32(0.5)
    high = low + np.float32(0.2)
    low[1, 3, 2], high[1, 3, 2] = -np.inf, np.inf
    low[1, :, 5], high[1, :, 5] = np.inf, -np.inf  # a child that is not there
    masks = rng.integers(0, 16, (2, 7, 16)).astype(np.uint32)
    q, asked = rng.random(5, dtype=np.float32), (1 << rng.integers(0, 4, 7)).astype(np.uint32)
    q[0] = np.nan
    out, within = np.empty(16, np.float32), np.zeros(1, np.uint64)
    node_bounds(tree(group, weight, low=low, high=high, masks=masks), 1, q, asked, 5.0, out, within)
    gap = np.maximum(low[1] - q[:, None], q[:, None] - high[1])
    gap[0] = 0
    expected = np.maximum(gap, 0).sum(0) + weighted((masks[1] & asked[:, None]) == 0, group, weight)
    np.testing.assert_allclose(out, expected, rtol=1e-6)
    assert bits(within[0], 16) == (out <= 5.0).tolist()


@pytest.mark.parametrize(("group", "unit"), [(g, (w * 600).astype(np.int16)) for g, w in GROUPS])
@pytest.mark.parametrize(("most", "limit"), [(255, 9000), (4, 4000), (0, 100), (255, 32767)])
def test_tile_bounds(group, unit, most, limit):
    rng = np.random.default_rng(2)
    t, c = rng.integers(0, 9000, (2, 5, 128)).astype(np.int16), rng.integers(0, 4, (2, 7, 128)).astype(np.uint8)
    q, qc = rng.integers(0, 9000, (2, 5)).astype(np.int16), rng.integers(0, 4, (2, 7)).astype(np.uint8)
    t[1, 3, :20], q[1, 4] = MISSING, MISSING
    out, within, some = bounds_of_a_tile(t, c, q, qc, group, unit, 3, most=most, limit=limit)
    mismatch = c[1] != qc[1][:, None]
    d = abs(t[1].astype(int) - q[1].astype(int)[:, None])
    d[(t[1] == MISSING) | (q[1] == MISSING)[:, None]] = 0
    expected = np.minimum(d.sum(0) + weighted(mismatch, group, unit.astype(int)), 32767)
    if not (mismatch.sum(0) <= most).any():
        assert some == 0
        return
    within_limit = expected <= limit
    assert out[within_limit].tolist() == expected[within_limit].tolist()
    assert (out[~within_limit] > limit).all()
    inside = within_limit.tolist()
    assert bits(within[0], 64) + bits(within[1], 64) == inside
    assert some == any(inside)


@pytest.mark.parametrize("units", [(200, 200), (32767, 1), (0, 129), (128, 32767)])
def test_mismatches_of_a_tile_saturate(units):
    """300 columns are more than a byte counts, in both orders of mismatch and match."""
    c, qc = np.ones((1, 300, 128), np.uint8), np.zeros((1, 300), np.uint8)
    c[0, :, 64:] = np.arange(300)[:, None] >= 290  # 10 mismatches
    t, q = np.zeros((1, 0, 128), np.int16), np.zeros((1, 0), np.int16)
    group, unit = np.array([0, 150, 300]), np.array(units, np.int16)
    out, _, some = bounds_of_a_tile(t, c, q, qc, group, unit, 0, most=255, limit=32767)
    mismatch = c[0] != qc[0][:, None]
    assert out.tolist() == np.minimum(weighted(mismatch, group, np.array(units)), 32767).tolist()
    assert some == 1
    assert bounds_of_a_tile(t, c, q, qc, group, unit, 0, most=9, limit=32767)[2] == 0
    assert bounds_of_a_tile(t, c[:, :, :64].repeat(2, axis=2), q, qc, group, unit, 0, most=254, limit=32767)[2] == 0
