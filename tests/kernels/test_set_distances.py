"""Distances of sets of rows: compiled loops and numpy are the same, and equal to double loops."""

import numpy as np
import pytest

from divulge.kernels._native.library import at_level, levels
from divulge.kernels.set_distances import FARTHEST, SetsOfRows, set_distances, unit_of


def persons(rng, n, most, n_categories=2, n_numbers=2):
    size = rng.integers(0, most + 1, n)
    start = np.r_[0, np.cumsum(size)].astype(np.int64)
    numbers = rng.integers(0, 6 * unit_of(n_categories + n_numbers), (start[-1], n_numbers))
    codes = np.hstack([rng.integers(0, 3, (start[-1], n_categories)), numbers]).astype(np.uint16)
    parts = rng.integers(1, 4, start[-1])
    owner = np.repeat(np.arange(n), size)
    return SetsOfRows(start, codes, parts / np.bincount(owner, weights=parts, minlength=n)[owner], n_categories)


def by_loops(people, others, themselves, n_near):
    unit, rows = unit_of(people.codes.shape[1]), people.codes.astype(int)
    full = unit * rows.shape[1]
    forth, back = np.zeros((len(people), len(others))), np.zeros((len(people), len(others)))
    near = np.full((len(rows), n_near), FARTHEST)
    of_row = [[] for _ in rows]
    for p in range(len(people)):
        own = range(people.start[p], people.start[p + 1])
        for q in range(len(others)):
            them = range(others.start[q], others.start[q + 1])
            if not len(own) or not len(them):
                forth[p, q] = back[p, q] = full if len(own) != len(them) else 0
                continue
            gaps = np.zeros((len(own), len(them)))
            for i, a in enumerate(own):
                for j, b in enumerate(them):
                    for c in range(rows.shape[1]):
                        gap = abs(int(rows[a, c]) - int(others.codes[b, c]))
                        gaps[i, j] += unit * (gap > 0) if c < people.n_categories else min(gap, unit)
                if not (themselves and p == q):
                    of_row[a].append(gaps[i].min())
            forth[p, q] = sum(people.share[a] * gaps[i].min() for i, a in enumerate(own))
            back[p, q] = sum(others.share[b] * gaps[:, j].min() for j, b in enumerate(them))
    for a, found in enumerate(of_row):
        kept = sorted(found)[:n_near]
        near[a, : len(kept)] = kept
    return forth, back, near


@pytest.mark.parametrize("seed", range(4))
def test_every_level_equals_double_loops(seed):
    rng = np.random.default_rng(seed)
    people, others = persons(rng, 12, 5), persons(rng, 9, (0, 1, 5, 9)[seed])
    for level in (*levels(), "none"):
        with at_level(level):
            for given, themselves in ((None, True), (others, False)):
                found = set_distances(people, 0, 12, given, near=4)
                wanted = by_loops(people, given or people, themselves, 4)
                np.testing.assert_allclose(found.forth, wanted[0], rtol=0, atol=1e-9)
                np.testing.assert_allclose(found.back, wanted[1], rtol=0, atol=1e-9)
                np.testing.assert_array_equal(found.near, wanted[2])
                assert ((found.who >= 0) == (found.near < FARTHEST)).all()


def test_blocks_and_levels_change_no_digit():
    rng = np.random.default_rng(5)
    people, others = persons(rng, 300, 40, 3, 4), persons(rng, 200, 60, 3, 4)
    whole = [set_distances(people, 0, 300, given, near=32) for given in (None, others)]
    for level in (*levels(), "none"):
        with at_level(level):
            for given, all_at_once in zip((None, others), whole, strict=True):
                found = [set_distances(people, a, min(300, a + 77), given, near=32) for a in range(0, 300, 77)]
                for part in ("forth", "back", "near"):
                    joined = np.concatenate([getattr(f, part) for f in found])
                    np.testing.assert_array_equal(joined, getattr(all_at_once, part))


def test_worked_numbers():
    """{1, 4} and {1, 2, 9} of range 10: mean distances 1 and 2."""
    rows = np.array([[1], [4], [1], [2], [9]], dtype=np.uint16) * np.uint16(100)
    people = SetsOfRows(np.array([0, 2, 5]), rows, np.array([0.5, 0.5, 1 / 3, 1 / 3, 1 / 3]), 0)
    found = set_distances(people, 0, 2, near=2)
    assert ((found.forth + found.back) / 2 / unit_of(1)).round(12).tolist() == [[0, 0.15], [0.15, 0]]
    assert found.near.tolist() == [[0, FARTHEST], [200, FARTHEST], [0, FARTHEST], [100, FARTHEST], [500, FARTHEST]]
    assert found.who[:, 0].tolist() == [1, 1, 0, 0, 0]


def test_wide_tables_stay_within_sixteen_bits():
    assert unit_of(4) == 1000 and unit_of(400) * 400 <= FARTHEST - 1 and unit_of(70_000) == 0
