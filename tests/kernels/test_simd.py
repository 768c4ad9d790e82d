"""The vector loops beside the same sums in numpy."""

import numpy as np
import pytest

vector = pytest.importorskip("divulge.kernels._simd")
numba = pytest.importorskip("numba")

GROUPS = [
    (np.array([0, 3, 7]), np.array([0.5, 2.0])),
    (np.array([0, 7]), np.array([1.0])),
]


@numba.njit
def leaf(t, c, i, q, qc, j, g, w, limit, out):
    return vector.leaf_bounds(t, c, i, q, qc, j, g, w, limit, out)


@numba.njit
def node(low, high, masks, i, q, bits, j, g, w, limit, out):
    return vector.node_bounds(low, high, masks, i, q, bits, j, g, w, limit, out)


@numba.njit
def tile(t, c, i, q, qc, j, g, u, whole, most, limit, out, within):
    return vector.tile_bounds(t, c, i, q, qc, j, g, u, whole, most, limit, out, within)


@numba.njit
def lowest(bits):
    return vector.lowest_bit(bits)


@numba.njit
def within(values, at, least, most):
    return vector.rows_within(values, at, least, most)


@numba.njit
def meet(low, high, at, least, most):
    return vector.boxes_meet(low, high, at, least, most)


@numba.njit
def inside(low, high, at, least, most):
    return vector.boxes_inside(low, high, at, least, most)


@numba.njit
def how_many(bits):
    return vector.count_bits(bits)


def weighted(mismatch, group, weight):
    parts = [mismatch[a:b].sum(axis=0) * w for a, b, w in zip(group[:-1], group[1:], weight, strict=True)]
    return np.sum(parts, axis=0) if parts else 0


def bits(mask, n):
    return [bool(int(mask) >> j & 1) for j in range(n)]


@pytest.mark.parametrize(("group", "weight"), GROUPS)
def test_leaf_bounds(group, weight):
    rng = np.random.default_rng(0)
    t, c = rng.random((3, 5, 64), dtype=np.float32), rng.integers(0, 4, (3, 7, 64)).astype(np.uint8)
    q, qc = rng.random((2, 5), dtype=np.float32), rng.integers(0, 4, (2, 7)).astype(np.uint8)
    t[1, 2, :9], q[1, 4] = np.nan, np.nan
    out = np.empty(64, np.float32)
    limit = float(3.5 * weight.sum() + 2)
    found = leaf(t, c, 1, q, qc, 1, group, weight.astype(np.float32), np.float32(limit), out)
    expected = np.nan_to_num(abs(t[1] - q[1][:, None])).sum(0) + weighted(c[1] != qc[1][:, None], group, weight)
    np.testing.assert_allclose(out, expected, rtol=1e-6)
    assert bits(found, 64) == (out <= limit).tolist()
    assert 0 < sum(bits(found, 64)) < 64


@pytest.mark.parametrize(("group", "weight"), GROUPS)
def test_node_bounds(group, weight):
    rng = np.random.default_rng(1)
    low = rng.random((2, 5, 16), dtype=np.float32) * np.float32(0.5)
    high = low + np.float32(0.2)
    low[1, 3, 2], high[1, 3, 2] = -np.inf, np.inf
    masks = rng.integers(0, 16, (2, 7, 16)).astype(np.uint32)
    q, asked = rng.random((2, 5), dtype=np.float32), (1 << rng.integers(0, 4, (2, 7))).astype(np.uint32)
    q[1, 0] = np.nan
    out = np.empty(16, np.float32)
    found = node(low, high, masks, 1, q, asked, 1, group, weight.astype(np.float32), np.float32(5.0), out)
    gap = np.maximum(low[1] - q[1][:, None], q[1][:, None] - high[1])
    expected = np.nan_to_num(np.maximum(gap, 0)).sum(0)
    expected = expected + weighted((masks[1] & asked[1][:, None]) == 0, group, weight)
    np.testing.assert_allclose(out, expected, rtol=1e-6)
    assert bits(found, 16) == (out <= 5.0).tolist()


@pytest.mark.parametrize(("group", "unit"), [(g, (w * 600).astype(np.int16)) for g, w in GROUPS])
@pytest.mark.parametrize(("most", "limit"), [(255, 9000), (4, 4000), (0, 100), (255, 32767)])
def test_tile_bounds(group, unit, most, limit):
    rng = np.random.default_rng(2)
    t, c = rng.integers(0, 9000, (2, 5, 128)).astype(np.int16), rng.integers(0, 4, (2, 7, 128)).astype(np.uint8)
    q, qc = rng.integers(0, 9000, (2, 5)).astype(np.int16), rng.integers(0, 4, (2, 7)).astype(np.uint8)
    t[1, 3, :20], q[1, 4] = vector.MISSING, vector.MISSING
    out, within = np.full(128, -1, np.int16), np.zeros(2, np.uint64)
    some = tile(t, c, 1, q, qc, 1, group, unit, 3, np.uint8(most), np.int16(limit), out, within)
    mismatch = c[1] != qc[1][:, None]
    d = abs(t[1].astype(int) - q[1].astype(int)[:, None])
    d[(t[1] == vector.MISSING) | (q[1] == vector.MISSING)[:, None]] = 0
    expected = np.minimum(d.sum(0) + weighted(mismatch, group, unit.astype(int)), 32767)
    if not (mismatch.sum(0) <= most).any():
        assert some == 0
        return
    assert out.tolist() == expected.tolist()
    inside = (expected <= limit).tolist()
    assert bits(within[0], 64) + bits(within[1], 64) == inside
    assert some == any(inside)


def test_mismatches_of_a_tile_saturate():
    c, qc = np.ones((1, 300, 128), np.uint8), np.zeros((1, 300), np.uint8)
    t, q = np.zeros((1, 0, 128), np.int16), np.zeros((1, 0), np.int16)
    out, within = np.zeros(128, np.int16), np.zeros(2, np.uint64)
    group, unit = np.array([0, 150, 300]), np.array([200, 200], np.int16)
    assert tile(t, c, 0, q, qc, 0, group, unit, 0, np.uint8(255), np.int16(32767), out, within) == 1
    assert (out == 32767).all()


def test_lowest_bit():
    for place in (0, 1, 31, 32, 63):
        assert lowest(np.uint64(1 << place | 1 << 63)) == place


@pytest.mark.parametrize("ends", [(3, 7), (5, 5), (0, 2**31 - 1), (-(2**31), 2**31 - 1), (-(2**31), 4), (9, 2**31 - 1)])
def test_rows_within(ends):
    values = np.random.default_rng(3).integers(0, 10, (2, 100)).astype(np.int32)
    for at in (0, 33, 136):
        some = values.ravel()[at : at + 64]
        expected = (ends[0] <= some) & (some <= ends[1])
        found = within(values, at, *np.array(ends, np.int32))
        assert bits(found, 64) == expected.tolist()
        assert how_many(np.uint64(found)) == expected.sum()


@pytest.mark.parametrize("ends", [(3, 7), (5, 5), (0, 2**31 - 1), (8, 12)])
def test_boxes_meet_and_lie_inside(ends):
    low = np.random.default_rng(4).integers(0, 9, (3, 16)).astype(np.int32)
    high = low + np.random.default_rng(5).integers(0, 5, (3, 16)).astype(np.int32)
    low[1, 4], high[1, 4] = 2**31 - 1, -1  # a box that is not there
    least, most = np.array(ends, np.int32)
    meets = (low[1] <= most) & (high[1] >= least) & (low[1] <= high[1])
    assert bits(meet(low, high, 16, least, most), 64) == meets.tolist() + [False] * 48
    lies = ((low[1] >= least) & (high[1] <= most)).tolist()
    assert [x for j, x in enumerate(bits(inside(low, high, 16, least, most), 16)) if j != 4] == lies[:4] + lies[5:]
    assert any(meets)


def test_arrays_must_be_contiguous():
    t = np.zeros((1, 64, 2), np.float32).transpose(0, 2, 1)
    c, q, qc = np.zeros((1, 0, 64), np.uint8), np.zeros((1, 2), np.float32), np.zeros((1, 0), np.uint8)
    with pytest.raises(TypeError, match="contiguous"):
        leaf(t, c, 0, q, qc, 0, np.array([0]), np.zeros(0, np.float32), np.float32(1), np.empty(64, np.float32))
