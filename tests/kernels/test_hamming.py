"""Nearest keys: every way of searching against plain Python, and the loops of `kernels` against numpy."""

from collections import Counter

import numpy as np
import pytest
from amount import tries
from hypothesis import given, settings
from hypothesis import strategies as st

from divulge.kernels._native.library import at_level, levels
from divulge.kernels.counts import hamming, hamming_plain
from divulge.kernels.counts.disclosure import disclosed, disclosed_numpy
from divulge.kernels.counts.hamming import nearest_votes
from divulge.kernels.counts.hamming_plain import Keys, by_matrix, by_pairs, nearest_distance

ANSWERS = ("distance", "total", "of_cell", "largest", "n_largest")
# What a pair or a grouped key is said to cost decides which way is taken; no way may change a digit.
WAYS = {
    "chosen": {},
    "pairs of buckets": {"_PAIR_COLUMN": 1.0, "_PAIR": 0.0},
    "groups": {"_PAIR_COLUMN": 1.0, "_PAIR": 1.0},
    "groups, then all pairs": {"_PAIR_COLUMN": 1e-7, "_PAIR": 1.0},
    "too many choices": {"_PAIR_COLUMN": 1.0, "_PAIR": 1.0, "_CHOICES_MAX": 5},
    "one vote at a time": {"_PAIR_COLUMN": 1.0, "_PAIR": 1.0, "_LISTED": 1},
    "colliding buckets": {"_PAIR_COLUMN": 1.0, "_BUCKET_BITS": 1},
}


def brute(queries, references):
    """Compare every pair in plain Python."""
    out = {name: [] for name in ANSWERS}
    for i, q in enumerate(queries.codes.tolist()):
        far = [sum(a != b for a, b in zip(q, r, strict=True)) for r in references.codes.tolist()]
        votes = Counter()
        for j in np.flatnonzero(np.array(far) == min(far)):
            cells = slice(references.start[j], references.start[j + 1])
            for t, n in zip(references.target[cells].tolist(), references.count[cells].tolist(), strict=True):
                votes[t] += n
        out["distance"].append(min(far))
        out["total"].append(sum(votes.values()))
        out["largest"].append(max(votes.values()))
        out["n_largest"].append(list(votes.values()).count(max(votes.values())))
        out["of_cell"] += [votes[t] for t in queries.target[queries.start[i] : queries.start[i + 1]].tolist()]
    return out


def dense(queries, references, n_targets):
    """Count votes in a matrix of keys and targets, as a table of contingency has them."""
    votes = np.zeros((len(references), n_targets), dtype=np.int64)
    votes[np.repeat(np.arange(len(references)), np.diff(references.start)), references.target] = references.count
    differ = (queries.codes[:, None] != references.codes).sum(axis=2)
    near = (differ == differ.min(axis=1, keepdims=True)).astype(np.int64) @ votes
    largest = near.max(axis=1, keepdims=True)
    return {
        "distance": differ.min(axis=1),
        "total": near.sum(axis=1),
        "of_cell": near[np.repeat(np.arange(len(queries)), np.diff(queries.start)), queries.target],
        "largest": largest[:, 0],
        "n_largest": (near == largest).sum(axis=1),
    }


def assert_same(found, expected):
    for name in ANSWERS:
        assert getattr(found, name).tolist() == list(expected[name]), name


def some_keys(rng, n, n_columns, levels, n_targets, most=3):
    """Return random distinct keys, each with one to `most` targets."""
    codes = np.unique(rng.integers(0, levels, (n, n_columns)).astype(np.int32), axis=0)
    rng.shuffle(codes)
    sizes = rng.integers(1, min(most, n_targets) + 1, len(codes))
    target = np.concatenate([rng.choice(n_targets, size, replace=False) for size in sizes])
    return Keys(codes, np.append(0, np.cumsum(sizes)), target, rng.integers(1, 5, len(target)))


def single(codes, target=0, count=1):
    return Keys(np.array([codes], np.int32), np.array([0, 1]), np.array([target]), np.array([count]))


@st.composite
def tasks(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_columns, levels, n_targets = (
        draw(st.integers(1, 7)),
        draw(st.integers(1, 5)),
        draw(st.sampled_from([1, 2, 5, 40])),
    )
    queries = some_keys(rng, draw(st.integers(1, 25)), n_columns, levels + draw(st.integers(0, 2)), n_targets)
    return queries, some_keys(rng, draw(st.integers(1, 25)), n_columns, levels, n_targets), n_targets


def compiled(monkeypatch, way):
    monkeypatch.setattr(hamming, "_FEW", 0.0)
    for name, value in WAYS[way].items():
        monkeypatch.setattr(hamming, name, value)


@settings(max_examples=tries(300), deadline=None)
@given(tasks())
def test_votes_by_matrix_equal_plain_python(task):
    expected = brute(*task[:2])
    assert_same(by_matrix(*task[:2]), expected)
    assert {name: values.tolist() for name, values in dense(*task).items()} == expected


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_compiled_votes_equal_plain_python(way):
    @settings(max_examples=tries(30), deadline=None)
    @given(tasks())
    def check(task):
        with pytest.MonkeyPatch.context() as patch:
            compiled(patch, way)
            assert_same(nearest_votes(*task, modal=True), brute(*task[:2]))
            assert_same(by_pairs(*task), brute(*task[:2]))

    check()


@pytest.mark.parametrize("dense_up_to", [0, 2**20])
def test_votes_grouped_in_numpy_equal_plain_python(dense_up_to):
    @settings(max_examples=tries(100), deadline=None)
    @given(tasks())
    def check(task):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(hamming, "_FEW", 0.0)
            patch.setattr(hamming_plain, "_DENSE", dense_up_to)
            patch.setattr(hamming, "_pack", None)  # nothing is left to compiled code
            found, expected = nearest_votes(*task), brute(*task[:2])
        for name in ("distance", "total", "of_cell"):
            assert getattr(found, name).tolist() == list(expected[name]), name

    check()


@pytest.mark.parametrize("dense_up_to", [0, 2**20])
def test_distances_grouped_in_numpy_equal_plain_python(dense_up_to):
    @settings(max_examples=tries(60), deadline=None)
    @given(tasks())
    def check(task):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(hamming_plain, "_DENSE", dense_up_to)
            found = nearest_distance(task[0].codes, task[1].codes)
        assert found.tolist() == brute(*task[:2])["distance"]

    check()


def test_distances_are_left_to_others_where_groups_are_many(monkeypatch):
    monkeypatch.setattr(hamming_plain, "_SEARCHED_CELLS", 5)
    far = np.array([[1, 1, 1]], np.int32)
    assert nearest_distance(far, np.array([[0, 0, 0]], np.int32)) is None
    assert nearest_distance(far, far).tolist() == [0]


# columns, levels, targets, queries, references
SHAPES = {
    "many columns": (40, 3, 3, 60, 80),
    "more columns than a byte counts": (300, 2, 2, 30, 40),
    "wide codes": (5, 400, 3, 80, 90),
    "codes of three words": (11, 70_000, 3, 50, 60),
    "few levels": (6, 2, 4, 60, 30),
    "one column": (1, 60, 3, 30, 30),
    "many targets": (4, 6, 20_000, 200, 200),
    "one target": (4, 6, 1, 200, 200),
}


@pytest.mark.slow
@pytest.mark.parametrize("way", ["chosen", "pairs of buckets", "groups, then all pairs"])
@pytest.mark.parametrize("shape", SHAPES)
def test_tables_of_many_shapes(monkeypatch, shape, way):
    n_columns, levels, n_targets, n, m = SHAPES[shape]
    rng = np.random.default_rng(len(shape))
    queries = some_keys(rng, n, n_columns, levels, n_targets)
    references = some_keys(rng, m, n_columns, levels, n_targets, most=6)
    expected = brute(queries, references)
    assert_same(by_matrix(queries, references), expected)
    compiled(monkeypatch, way)
    if shape == "more columns than a byte counts":
        monkeypatch.setattr(hamming, "_PAIR_COLUMN", 0.0)  # 150 levels would come first
    assert_same(nearest_votes(queries, references, n_targets, modal=True), expected)


@pytest.mark.parametrize("way", WAYS)
def test_a_key_that_shares_nothing_is_answered_by_all(monkeypatch, way):
    rng = np.random.default_rng(5)
    references = some_keys(rng, 50, 3, 8, 4)
    queries = some_keys(rng, 20, 3, 8, 4)
    queries.codes[:] += 8
    compiled(monkeypatch, way)
    found = nearest_votes(queries, references, 4, modal=True)
    assert set(found.distance.tolist()) == {3}
    assert set(found.total.tolist()) == {int(references.count.sum())}
    assert_same(found, brute(queries, references))


@pytest.mark.parametrize("way", WAYS)
def test_one_synthetic_key_answers_everybody(monkeypatch, way):
    queries = some_keys(np.random.default_rng(6), 60, 4, 5, 3)
    compiled(monkeypatch, way)
    found = nearest_votes(queries, single([1, 2, 3, 4], target=2, count=7), 3, modal=True)
    assert_same(found, brute(queries, single([1, 2, 3, 4], target=2, count=7)))
    assert set(found.largest.tolist()) == {7}


def test_equal_votes_share_the_commonest_target_across_groups(monkeypatch):
    """The nearest of (0, 0) are (0, 1) and (1, 0), found in different groups: targets 0 and 1 have three votes each."""
    references = Keys(
        np.array([[0, 1], [1, 0], [5, 5]], np.int32),
        np.array([0, 2, 4, 5]),
        np.array([0, 1, 0, 1, 2]),
        np.array([1, 2, 2, 1, 9]),
    )
    compiled(monkeypatch, "groups")
    found = nearest_votes(single([0, 0], target=1), references, 3, modal=True)
    assert [getattr(found, name).tolist() for name in ANSWERS] == [[1], [6], [3], [3], [2]]


@pytest.mark.slow
def test_a_million_levels_take_no_dense_table(monkeypatch):
    """Votes as a matrix of keys and targets would take 32 GB here."""
    rng = np.random.default_rng(7)
    queries, references = (some_keys(rng, 4000, 3, 40, 10**6, most=1) for _ in range(2))
    compiled(monkeypatch, "chosen")
    found = nearest_votes(queries, references, 10**6, modal=True)
    assert_same(found, {name: getattr(by_matrix(queries, references), name).tolist() for name in ANSWERS})


@pytest.mark.parametrize("way", ["chosen", "groups"])
def test_row_order_and_threads_change_no_digit(monkeypatch, way):
    rng = np.random.default_rng(8)
    queries, references = some_keys(rng, 3000, 5, 8, 6), some_keys(rng, 3000, 5, 8, 6)
    compiled(monkeypatch, way)
    found = nearest_votes(queries, references, 6, modal=True)
    order = rng.permutation(len(queries))
    moved, cells = queries.take(order)
    monkeypatch.setattr(hamming, "_n_threads", lambda: 7)
    again = nearest_votes(moved, references.take(rng.permutation(len(references)))[0], 6, modal=True)
    assert again.of_cell.tolist() == found.of_cell[cells].tolist()
    for name in set(ANSWERS) - {"of_cell"}:
        assert getattr(again, name).tolist() == getattr(found, name)[order].tolist()


def test_keys_of_two_words_with_one_hash_are_told_apart():
    """One query and one reference in one bucket, grouped by all their bits: they are a pair only if they are equal."""
    from divulge.kernels.counts._hamming_votes import Found, Level, Side, walk

    def mixed(x):
        for _ in range(2):
            x = (x ^ (x >> 32)) * 0xD6E8FEB86659FD93 % 2**64
        return x

    def side(key):
        one, ends = np.zeros(1, np.int64), np.array([0, 1])
        return Side(np.array([key], np.uint64), one, ends, ends, one, one + 1)

    key, other = [3, 5], [4, mixed(3) ^ mixed(4) ^ 5]
    every, nothing = np.full((1, 2), 2**64 - 1, np.uint64), np.zeros((0, 2), np.uint64)
    level = Level(0, np.zeros(2, np.uint64), nothing, every, every[0] >> 1, every[0] & 2**63, np.array([False]))
    for asked, n_pairs in ((key, 1), (other, 0)):
        found = Found(np.zeros((1, 5), np.int64), np.zeros(1, np.int64), *np.zeros((3, 0), np.int64))
        walk(side(key), side(asked), level, found, 0, 1, 1)
        assert found.tally[0].tolist() == [n_pairs] * 5


@pytest.mark.parametrize("modal", [False, True])
def test_without_compiled_loops_votes_are_the_same(monkeypatch, modal):
    rng = np.random.default_rng(9)
    queries, references = some_keys(rng, 3000, 4, 9, 5), some_keys(rng, 2500, 4, 9, 5)
    found = nearest_votes(queries, references, 5, modal=modal)
    monkeypatch.setattr(hamming, "_FEW", 0.0)
    assert_same_votes(nearest_votes(queries, references, 5, modal=modal), found, modal)
    monkeypatch.setattr(hamming, "_FEW_ALONE", 0)
    with at_level("none"):
        assert_same_votes(nearest_votes(queries, references, 5, modal=modal), found, modal)


def assert_same_votes(found, expected, modal):
    for name in ANSWERS if modal else ("distance", "total", "of_cell"):
        assert np.array_equal(getattr(found, name), getattr(expected, name)), name


@pytest.mark.parametrize("level", ["none", None])
def test_pure_groups_are_counted(level):
    rng = np.random.default_rng(3)
    for _ in range(20):
        m, n, groups = rng.integers(1, 60), rng.integers(0, 60), 12
        gs, gr = rng.integers(0, groups, m), rng.integers(0, groups, n)
        ts, tr = (rng.integers(0, 3, (2, k)).astype(np.int32) for k in (m, n))
        with at_level(level or levels()[-1]):
            pure, right = disclosed(gs, gr, groups, ts, tr)
        for j in range(2):
            own = {g: set(ts[j][gs == g]) for g in range(groups)}
            assert pure[j] == sum(len(own[g]) == 1 for g in gs)
            assert right[j] == sum(own[g] == {t} for g, t in zip(gr, tr[j], strict=True))
    assert disclosed_numpy(gs, gr, groups, ts, tr)[0].tolist() == pure.tolist()
