"""Edit distances: rapidfuzz and plain counting as oracles, numpy and compiled loops alike."""

import numpy as np
import pytest

from divulge.kernels._native.library import at_level, available, levels
from divulge.kernels.edits import FARTHEST, LONGEST, edit_distances, smallest_edits, texts_of

LETTERS = {"digits": "0123456789.", "all": "0123456789.-eaé漢 \U0001f600", "many": [chr(k) for k in range(256, 900)]}


def levenshtein(one, other):
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        last, row = row, [i]
        for j, b in enumerate(other, 1):
            row.append(min(last[j] + 1, row[-1] + 1, last[j - 1] + (a != b)))
    return row[-1]


def words(rng, n, longest, letters="all"):
    found = {"".join(rng.choice(list(LETTERS[letters]), rng.integers(0, longest + 1))) for _ in range(n)}
    return sorted(found)


def tables(seed, kinds, n=50, m=700):
    """Columns of words of some kinds, and rows of them; from 87 words on the compiled loop compares each."""
    rng = np.random.default_rng(seed)
    columns = [words(rng, *kind) for kind in kinds]
    queries, rows = (np.array([rng.integers(0, len(c), k) for c in columns], dtype=np.int32) for k in (n, m))
    return columns, queries, rows, (rng.integers(0, 9, n), rng.integers(0, 9, m))


MIXED = [(300, 7), (20, 3), (5, 1), (300, 16, "digits"), (250, 30), (40, 5), (200, 64), (300, 8, "many"), (1, 0)]


@pytest.mark.parametrize("longest", [1, 7, 8, 9, 16, 17, 32, 33, 63, 64])
def test_distances_are_those_of_a_plain_loop(longest):
    texts = words(np.random.default_rng(longest), 12, longest)
    found = edit_distances(texts_of([texts]), *[np.arange(len(texts))] * 2)
    assert found.tolist() == [[levenshtein(a, b) for b in texts] for a in texts]


@pytest.mark.parametrize("longest", [7, 8, 16, 32, 64])
@pytest.mark.parametrize("engine", ["numpy", pytest.param("compiled", marks=pytest.mark.skipif(not available(), reason="no loops"))])  # fmt: skip
def test_distances_are_those_of_rapidfuzz(longest, engine):
    distance = pytest.importorskip("rapidfuzz.distance").Levenshtein.distance
    texts = words(np.random.default_rng(longest), 150, longest)
    numbers = np.arange(len(texts), dtype=np.int32)[None, :]
    for k in range(0, len(texts), 7):  # the nearest of one row is the distance to it
        found = smallest_edits(texts_of([texts]), numbers, numbers[:, k : k + 1], engine=engine)
        assert found.tolist() == [distance(a, texts[k]) for a in texts]


@pytest.mark.parametrize("with_units", [False, True])
@pytest.mark.parametrize("kinds", [MIXED, MIXED[:1], MIXED[1:3], [(400, 64)] * 3], ids=["mixed", "one", "few", "long"])
def test_the_smallest_sum_is_that_of_a_plain_loop_at_each_level(kinds, with_units):
    columns, queries, rows, units = tables(len(kinds), kinds)
    texts, units = texts_of(columns), units if with_units else None
    plain = smallest_edits(texts, queries, rows, units, engine="numpy")
    for i in range(3):
        mine = [c[q] for c, q in zip(columns, queries[:, i], strict=True)]
        sums = [
            sum(levenshtein(a, c[r]) for a, c, r in zip(mine, columns, rows[:, j], strict=True))
            for j in range(0, rows.shape[1], 7)
            if units is None or units[0][i] != units[1][j]
        ]
        own = smallest_edits(texts, queries[:, i : i + 1], rows[:, ::7], units and (units[0][i : i + 1], units[1][::7]))
        assert own.tolist() == [min(sums)]
    for level in levels():
        with at_level(level):
            assert smallest_edits(texts, queries, rows, units, engine="compiled").tolist() == plain.tolist()


def test_nobody_is_farthest_away():
    texts = texts_of([["ab", "b"]])
    one, none = np.zeros((1, 2), dtype=np.int32), np.zeros((1, 0), dtype=np.int32)
    assert smallest_edits(texts, one, none).tolist() == [FARTHEST] * 2
    assert smallest_edits(texts, none, one).tolist() == []
    for engine in ("numpy", "compiled") if available() else ("numpy",):
        same = (np.array([3, 4]), np.array([3, 3]))
        assert smallest_edits(texts, one, one, same, engine=engine).tolist() == [FARTHEST, 0]
        assert smallest_edits(texts_of([]), one[:0], one[:0], engine=engine).tolist() == [0, 0]


def test_longer_texts_are_refused():
    assert texts_of([["a" * LONGEST]]).start.tolist() == [0, LONGEST]
    with pytest.raises(ValueError, match="64 letters"):
        texts_of([["a" * (LONGEST + 1)]])
