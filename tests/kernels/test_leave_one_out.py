"""One walk for several columns, each left out in turn: equal to a search on the other columns, to the last bit."""

import gc

import numpy as np
import pytest
from amount import tries

from divulge.core.hashing import once
from divulge.kernels._native.library import at_level, levels
from divulge.kernels.neighbours import leave_one_out, left_out_blocks
from divulge.kernels.neighbours.distinct import Distinct
from divulge.kernels.neighbours.gower import Field, measure, places_of, rows_of, ruler_of
from divulge.kernels.neighbours.knn_vote import Values
from divulge.kernels.neighbours.leave_one_out import LeftOut, answers_without
from divulge.kernels.neighbours.left_out_blocks import Blocks, RowsToVote, answers_in_blocks

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


# ---------------------------------------------------------------- blocks


def told_apart(given):
    """Return codes by which two reference rows are equal in every column, and the places of their values."""
    _, reference, _, left_out, _ = given
    numbers = [np.unique(c, return_inverse=True)[1] for c in reference.whole.numbers.T]
    voted = np.column_stack([one.values.reference for one in left_out]).astype(np.int32)
    return np.column_stack([*numbers, reference.whole.codes, voted]).astype(np.int32), voted


def in_blocks(given, folder, block_rows, threads=1, query_rows=None):
    """Ask the same of blocks; rows are made when they are asked for."""
    ruler, reference, queries, left_out, k = given
    codes, voted = told_apart(given)
    rows = RowsToVote(reference.whole, lambda some: codes[some], lambda some: voted[some])
    blocks = Blocks(folder, block_rows, query_rows, threads)
    return answers_in_blocks(ruler, rows, queries, left_out, k, blocks)


def in_one_tree(given):
    """Return the answers of one tree over the rows that count: a table whose rows all repeat counts once."""
    ruler, reference, queries, left_out, k = given
    kept = once(np.unique(told_apart(given)[0], axis=0, return_inverse=True)[1].ravel())
    voted = [Values(o.values.first, o.values.last, o.values.reference[kept], o.values.truth) for o in left_out]
    searches = [LeftOut(o.ruler, o.number, o.code, v) for o, v in zip(left_out, voted, strict=True)]
    return answers_without(ruler, Distinct.of(reference.whole.take(kept)), queries, searches, k)


@pytest.mark.skipif(not LEVELS, reason="no compiled loops")
def test_blocks_give_the_answers_of_one_tree(monkeypatch, tmp_path):
    monkeypatch.setattr(leave_one_out, "_FEW", 0)
    for seed in range(tries(20)):
        given = task(seed, sizes=((5, 60, 200), (30,)))[:-1] + (1 + seed % 7,)
        n, expected = len(given[1]), in_one_tree(given)
        for block_rows, batch in ((n, None), (-(-n // 2), 7), (-(-n // 8), None), (-(-n // 32), None)):
            assert_equal(expected, in_blocks(given, tmp_path, block_rows, query_rows=batch))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.skipif(not LEVELS, reason="no compiled loops")
@pytest.mark.parametrize("level", LEVELS)
def test_blocks_of_larger_tables_whatever_the_threads_and_batches(level, monkeypatch, tmp_path):
    monkeypatch.setattr(leave_one_out, "_FEW", 0)
    with at_level(level):
        for seed in range(3):
            given = task(seed, sizes=((900,), (600,)), most=20)[:-1] + (10,)
            expected = in_one_tree(given)
            for n_blocks, threads, batch in ((1, 1, None), (2, 3, 300), (8, 2, 270), (32, 3, None)):
                assert_equal(expected, in_blocks(given, tmp_path, -(-900 // n_blocks), threads, batch))


@pytest.mark.skipif(not LEVELS, reason="no compiled loops")
def test_what_is_carried_outgrows_its_room(monkeypatch, tmp_path):
    """Hundreds of values tie: the room of a list is doubled until they fit."""
    n, m = 600, 3
    field = Field("x", (np.append(np.ones(n), np.zeros(m)),), (np.zeros(n + m, np.int32),))
    other = Field("y", None, (np.arange(n + m, dtype=np.int32),))
    measured = [measure(f, [0]) for f in (field, other)]
    rows = rows_of(measured, 0, n + m)
    place = np.arange(n)
    voted = Values(place, place + 1, place, np.array([0, 5, 7]))
    left_out = [LeftOut(ruler_of(measured[:1]), *places_of(measured, "y"), voted)]
    reference, queries = (Distinct.of(rows.take(np.arange(a, b))) for a, b in ((0, n), (n, n + m)))
    given = ruler_of(measured), reference, queries, left_out, 1
    monkeypatch.setattr(leave_one_out, "_FEW", 0)
    found = in_blocks(given, tmp_path, 50)
    assert found[0].nearest.tolist() == [1 / n] * m
    assert_equal(answers_without(*given), found)


@pytest.mark.skipif(not LEVELS, reason="no compiled loops")
def test_answers_in_blocks_are_those_of_all_distances(tmp_path):
    """An oracle in numpy: all distances, sorted; votes counted value by value."""
    rng = np.random.default_rng(5)
    n, m, k = 70, 12, 5
    x, job, home = rng.integers(0, 6, n + m).astype(float), rng.integers(0, 3, n + m), rng.integers(0, 4, n + m)
    fields = [
        Field("x", (x,), (np.zeros(n + m, np.int32),)),
        *(Field(name, None, (c.astype(np.int32),)) for name, c in (("job", job), ("home", home))),
    ]
    measured = [measure(f, [0]) for f in fields]
    rows, place = rows_of(measured, 0, n + m), np.arange(4)
    values = Values(place, place + 1, home[:n], home[n:])
    left_out = [LeftOut(ruler_of(measured[:2]), *places_of(measured, "home"), values)]
    reference, queries = (Distinct.of(rows.take(np.arange(a, b))) for a, b in ((0, n), (n, n + m)))
    (found,) = in_blocks((ruler_of(measured), reference, queries, left_out, k), tmp_path, 9)
    for i in range(m):
        far = (np.abs(x[:n] - x[n + i]) / np.ptp(x) + (job[:n] != job[n + i])).round(12)
        votes = [np.bincount(home[:n][far <= far[np.argsort(far)[at]]], minlength=4) for at in (0, k - 1)]
        own, winners = home[n + i], votes[1] == votes[1].max()
        assert found.nearest[i] == votes[0][own] / votes[0].sum()
        assert found.vote[i] == winners[own] / winners.sum()
        assert found.share[i] == votes[1].max() / votes[1].sum()


@pytest.mark.skipif(not LEVELS, reason="no compiled loops")
def test_the_flag_ends_a_walk_through_blocks_and_the_files_go(monkeypatch, tmp_path):
    def told_to_stop(part, n, step, threads, progress, stop):
        stop[0] = 1
        part(0, n)

    monkeypatch.setattr(left_out_blocks, "in_parts", told_to_stop)
    with pytest.raises(KeyboardInterrupt):
        in_blocks(task(0, sizes=((300,), (300,))), tmp_path, 100)
    gc.collect()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not LEVELS, reason="no compiled loops")
def test_the_progress_through_blocks_ends_at_all_queries(tmp_path):
    ruler, reference, queries, left_out, k = given = task(0, sizes=((300,), (300,)))
    codes, voted = told_apart(given)
    rows, told = RowsToVote(reference.whole, lambda some: codes[some], lambda some: voted[some]), []
    answers_in_blocks(ruler, rows, queries, left_out, k, Blocks(tmp_path, 100, 90), lambda *at: told.append(at))
    assert told == sorted(told) and told[-1] == (len(queries.times),) * 2
