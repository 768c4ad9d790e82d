"""Margins: plain counting as oracle, numpy and compiled loops alike."""

import numpy as np
import pytest

from divulge.kernels.counts.margins import margin_sums


def by_hand(people, synthetic, sets, unit):
    n, m = len(people), len(synthetic)
    unit = np.arange(n) if unit is None else unit
    total, rare = np.zeros(n), np.zeros(n)
    for i in range(n):
        others = unit != unit[i]
        for chosen in sets:
            s = (synthetic[:, chosen] == people[i, chosen]).all(axis=1).sum()
            w = (people[others][:, chosen] == people[i, chosen]).all(axis=1).sum()
            ratio = np.log((s + 0.5) / (m + 0.5)) - np.log((w + 0.5) / (others.sum() + 0.5))
            total[i] += ratio
            rare[i] += ratio if w <= 2 else 0
    return total, rare


def drawn(seed, sizes, n=30, m=40, units=False):
    rng = np.random.default_rng(seed)
    people, synthetic = (
        np.stack([rng.integers(0, k, rows) for k in sizes], axis=1).astype(np.int32) for rows in (n, m)
    )
    return people, synthetic, rng.integers(0, 8, n) if units else None


@pytest.mark.parametrize("units", [False, True])
def test_the_plain_loop_counts(units):
    sizes = [3, 4, 2, 500]
    people, synthetic, unit = drawn(0, sizes, units=units)
    sets = np.array([[0, 1], [1, 3], [2, 3]])
    found = margin_sums(list(people.T), list(synthetic.T), sizes, sets, unit)
    total, rare = by_hand(people, synthetic, sets, unit)
    np.testing.assert_allclose(found.total, total)
    np.testing.assert_allclose(found.rare, rare)


@pytest.mark.parametrize("units", [False, True])
@pytest.mark.parametrize("sizes", [[3, 4, 2, 5], [3, 90_000, 70_000, 5]], ids=["counted", "hashed"])
def test_the_compiled_loop_gives_the_same_digits(sizes, units):
    people, synthetic, unit = drawn(1, sizes, 300, 200, units)
    people[:100, 1:3] = synthetic[:100, 1:3]  # else hardly a wide cell is shared
    sets = np.array([[0, 1, 2], [1, 2, 3], [0, 2, 3]] * 20)
    plain, fast = (
        margin_sums(list(people.T), list(synthetic.T), sizes, sets, unit, engine=e) for e in ("numpy", "compiled")
    )
    assert plain.total.tolist() == fast.total.tolist()
    assert plain.rare.tolist() == fast.rare.tolist()


@pytest.mark.parametrize("units", [False, True])
@pytest.mark.parametrize("sizes", ["as they are", 2**26], ids=["counted", "hashed"])
@pytest.mark.parametrize(
    ("dtype", "largest"), [("uint8", 255), ("uint16", 255), ("uint16", 65_535), ("int32", 255), ("int32", 70_000)]
)
def test_narrow_codes_give_the_same_digits(dtype, largest, sizes, units):
    """Counted in an array or hashed, and with keys of more than 64 bits: the sizes that are stated say which."""
    people, synthetic, unit = drawn(2, [6] * 4, 300, 1500, units)
    for codes in (people, synthetic):
        codes[codes == 5] = largest
    stated = [largest + 1 if sizes == "as they are" else sizes] * 4
    sets = np.array([[0, 1], [1, 3], [2, 3]]) if largest == 255 else np.array([[0, 1, 2], [1, 2, 3], [0, 2, 3]])
    expected = by_hand(people, synthetic, sets, unit)
    for engine in ("numpy", "compiled"):
        found = margin_sums(list(people.T), synthetic.T.astype(dtype), stated, sets, unit, engine=engine)
        np.testing.assert_allclose((found.total, found.rare), expected)
        plain = margin_sums(list(people.T), list(synthetic.T), stated, sets, unit, engine=engine)
        assert (found.total.tobytes(), found.rare.tobytes()) == (plain.total.tobytes(), plain.rare.tobytes())
    assert len(np.unique(expected[0].round(9))) > 100


def test_keys_of_more_than_64_bits_are_told_apart():
    """Sizes are powers of two, so that a key without its high bits has nothing of the first column left."""
    people = np.array([[0, 5, 7], [2**21, 5, 7], [0, 5, 7]], np.int32)
    synthetic = np.array([[0, 5, 7], [0, 5, 7], [2**21, 5, 7]], np.int32)
    sets = np.array([[0, 1, 2]])
    for engine in ("numpy", "compiled"):
        found = margin_sums(list(people.T), list(synthetic.T), [2**22] * 3, sets, engine=engine)
        np.testing.assert_allclose(found.total, by_hand(people, synthetic, sets, None)[0])


def test_nobody_has_no_sums():
    none, some = np.zeros(0, np.int32), np.zeros(3, np.int32)
    assert margin_sums([none], [some], [1], np.array([[0]])).total.tolist() == []
    assert margin_sums([some], [none], [1], np.array([[0]])).total.tolist() == [0.0, 0.0, 0.0]
