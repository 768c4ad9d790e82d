"""Distinct whole numbers and the place of each: against `numpy.unique`, with and without compiled loops."""

import numpy as np
import pytest

from divulge.kernels import places as module
from divulge.kernels.places import places

FARTHEST = np.iinfo(np.int64)


def cases():
    rng = np.random.default_rng(0)
    for n in (0, 1, 255, 256, 5000):
        yield rng.integers(-3, 3, n)
    yield np.zeros(1000, dtype=np.int64)
    yield np.arange(1000)[::-1].copy()  # all different
    yield np.concatenate([np.arange(300), np.zeros(3000, dtype=np.int64)])  # the first eighth different, then not
    yield np.concatenate([np.zeros(1000, dtype=np.int64), np.arange(4000)])  # the other way round
    yield rng.integers(FARTHEST.min, FARTHEST.max, 500).repeat(9)
    yield np.array([FARTHEST.min, FARTHEST.max, -1, 0] * 100)
    yield rng.integers(0, 2_000, 20_000) * 2**40  # equal lower bits
    yield rng.integers(0, 900, 9_000).astype(np.int32)
    yield rng.integers(0, 100, 4_000).astype(np.int8)[::2]  # not contiguous


@pytest.fixture(params=[True, False], ids=["loops", "numpy"])
def loops(request, monkeypatch):
    if not request.param:
        monkeypatch.setattr(module, "available", lambda: False)


@pytest.mark.parametrize("values", list(cases()))
def test_equal_to_unique(values, loops):
    distinct, place = places(values)
    wanted, inverse = np.unique(values, return_inverse=True)
    assert distinct.dtype == values.dtype and place.dtype == np.int64
    assert np.array_equal(distinct, wanted) and np.array_equal(place, inverse)


@pytest.mark.parametrize("limit", [5000, 20_000, 20_001, 10**9])
@pytest.mark.parametrize("n_values", [7, 5000])
@pytest.mark.parametrize("dtype", [np.int16, np.int64])
def test_a_limit_changes_nothing(n_values, limit, dtype, loops):
    values = np.random.default_rng(1).integers(0, n_values, 5000).astype(dtype)
    distinct, place = places(values, limit)
    wanted, inverse = np.unique(values, return_inverse=True)
    assert distinct.dtype == dtype and place.dtype == np.int64
    assert np.array_equal(distinct, wanted) and np.array_equal(place, inverse)


def test_no_value_and_a_limit_of_none():
    distinct, place = places(np.zeros(0, dtype=np.int32), 0)
    assert distinct.dtype == np.int32 and len(distinct) == len(place) == 0


def test_few_values_that_there_may_be_are_listed(monkeypatch):
    monkeypatch.setattr(module, "_hashed", lambda values: pytest.fail("hashed"))
    places(np.arange(5000) % 7, 20_000)


def test_mostly_different_values_are_sorted(monkeypatch):
    """A hash table of them would not fit into a cache; who repeats late is given up late."""
    seen = []
    monkeypatch.setattr(module, "_hashed", lambda values, real=module._hashed: seen.append(real(values)) or seen[-1])
    places(np.arange(100_000))
    places(np.concatenate([np.zeros(40_000, dtype=np.int64), np.arange(60_000)]))
    places(np.arange(100_000) % 40_000)
    places(np.random.default_rng(2).integers(0, 30_000, 100_000))
    assert [found is None for found in seen] == [True, True, True, False]
