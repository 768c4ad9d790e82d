"""One walk for several columns, each left out in turn: equal to a search on the other columns, to the last bit."""

import numpy as np
import pytest
from amount import tries

from divulge.kernels._native.library import at_level, levels
from divulge.kernels.neighbours import leave_one_out
from divulge.kernels.neighbours.distinct import Distinct
from divulge.kernels.neighbours.gower import Field, measure, places_of, rows_of, ruler_of
from divulge.kernels.neighbours.knn_vote import Values
from divulge.kernels.neighbours.leave_one_out import LeftOut, answers_without

FIELDS = ("nearest", "distance", "vote", "share")
LEVELS = levels()


def column(rng, name, n):
    """Numbers with gaps, infinities and ties, or categories; some of them constant."""
    kind = rng.choice(["whole", "real", "gaps", "category", "constant"], p=[0.3, 0.15, 0.15, 0.35, 0.05])
    if kind == "constant":
        return Field(name, (np.ones(n),), (np.zeros(n, np.int32),))
    if kind == "category":
        return Field(name, None, (rng.integers(0, rng.choice([2, 3, 9, 300]), n).astype(np.int32),))
    x = rng.normal(size=n) * rng.choice([1, 1e6]) if kind == "real" else rng.integers(0, 30, n).astype(float)
    marks = np.zeros(n, np.int32)
    if kind == "gaps":
        x[rng.random(n) < 0.1] = np.inf
        marks = rng.choice(3, size=n, p=[0.8, 0.15, 0.05]).astype(np.int32)
        x[marks > 0] = np.nan
    return Field(name, (x,), (marks,))


def values(rng, n, m):
    size = int(rng.choice([1, 2, 6, 60]))
    value = np.sort(rng.normal(size=size)) if rng.random() < 0.5 else np.arange(size) * 10.0
    reach = np.abs(value[:, None] - value) <= rng.choice([0, 0.3, 1])
    first, last = reach.argmax(axis=1), size - reach[:, ::-1].argmax(axis=1)
    return Values(first, last, rng.integers(0, size, n), rng.integers(0, size, m))


def task(seed, sizes=((1, 2, 5, 60, 200), (1, 4, 30)), most=6):
    """Return a ruler, distinct reference rows and queries, and the columns to leave out."""
    rng = np.random.default_rng(seed)
    n, m = (int(rng.choice(s)) for s in sizes)
    fields = [column(rng, f"c{j}", n + m) for j in range(int(rng.integers(2, most + 1)))]
    if rng.random() < 0.3:  # rows that repeat, and people who are rows
        again = np.append(np.arange(n) % max(1, n // 3), rng.integers(0, n + m, m))
        fields = [
            Field(f.name, None if f.numbers is None else (f.numbers[0][again],), (f.codes[0][again],)) for f in fields
        ]
    measured = [measure(f, [0]) for f in fields]
    rows = rows_of(measured, 0, n + m)
    reference, queries = (Distinct.of(rows.take(np.arange(a, b))) for a, b in ((0, n), (n, n + m)))
    left_out = []
    for c in rng.permutation(len(fields))[: int(rng.integers(1, most + 1))]:
        voted = values(rng, n, m)
        same = np.unique(reference.of_each, return_index=True)[1]
        voted = Values(voted.first, voted.last, voted.reference[same][reference.of_each], voted.truth)
        others = [f for f in measured if f.name != f"c{c}"]
        left_out.append(LeftOut(ruler_of(others), *places_of(measured, f"c{c}"), voted))
    return ruler_of(measured), reference, queries, left_out, int(rng.choice([1, 1, 2, 10, 500]))


def both(seed, monkeypatch, level=None, **sizes):
    given = task(seed, **sizes)
    monkeypatch.setattr(leave_one_out, "_FEW", 10**12)
    expected = answers_without(*given)
    monkeypatch.setattr(leave_one_out, "_FEW", 0)
    with at_level(level or LEVELS[-1]):
        return expected, answers_without(*given)


def assert_equal(expected, found):
    for one, other in zip(expected, found, strict=True):
        for name in FIELDS:
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


@pytest.mark.skipif(not LEVELS, reason="no compiled loops")
def test_fuzzed_tables_equal_a_search_for_each_column(monkeypatch):
    for seed in range(tries(60)):
        assert_equal(*both(seed, monkeypatch))


@pytest.mark.first(1)
@pytest.mark.skipif(not LEVELS, reason="no compiled loops")
@pytest.mark.parametrize("level", LEVELS)
def test_more_searches_than_a_register_has_lanes(level, monkeypatch):
    for seed in range(tries(20)):
        assert_equal(*both(30_000 + seed, monkeypatch, level, most=40))


@pytest.mark.slow
@pytest.mark.skipif(not LEVELS, reason="no compiled loops")
@pytest.mark.parametrize("level", LEVELS)
def test_hundreds_of_tables_at_each_level(level, monkeypatch):
    for seed in range(400):
        assert_equal(*both(10_000 + seed, monkeypatch, level))
    for seed in range(4):
        assert_equal(*both(seed, monkeypatch, level, sizes=((3000,), (2000,))))


@pytest.mark.full
@pytest.mark.parametrize("level", LEVELS)
def test_two_thousand_tables_at_each_level(level, monkeypatch):
    for seed in range(20_000, 22_000):
        assert_equal(*both(seed, monkeypatch, level))


@pytest.mark.skipif(not LEVELS, reason="no compiled loops")
def test_what_nobody_looks_at_is_left_out(monkeypatch):
    monkeypatch.setattr(leave_one_out, "_FEW", 0)
    given = task(1)
    whole, some = answers_without(*given), answers_without(*given, wanted=("share", "nearest"))
    for one, other in zip(whole, some, strict=True):
        assert len(other.distance) == len(other.vote) == 0
        np.testing.assert_array_equal(one.nearest, other.nearest)
        np.testing.assert_array_equal(one.share, other.share)


@pytest.mark.skipif(not LEVELS, reason="no compiled loops")
def test_the_flag_ends_a_running_walk(monkeypatch):
    def told_to_stop(part, n, step, threads, progress, stop):
        stop[0] = 1
        part(0, n)

    monkeypatch.setattr(leave_one_out, "in_parts", told_to_stop)
    with pytest.raises(KeyboardInterrupt):
        answers_without(*task(0, sizes=((300,), (300,))))
