"""The exact search against full matrices in float64: every engine, every kind of table, to the last bit."""

import threading
import time

import numpy as np
import polars as pl
import pytest
from amount import tries
from hypothesis import given
from hypothesis import strategies as st

import divulge
from divulge.core.errors import SettingError
from divulge.kernels._native.library import at_level, levels
from divulge.kernels.neighbours.distinct import Distinct
from divulge.kernels.neighbours.gower import Field, Rows, fit_ruler, pairwise
from divulge.kernels.neighbours.index import Index

ENGINES = ("numpy", "boxes", "tiles")
FUZZED = tries(2000)


def columns(rng, n, m):
    """Numbers of a common nature: ties, outliers, few values, huge or tiny scales, constants, gaps, infinities."""
    nature = rng.integers(0, 6)
    for j in range(int(rng.integers(0, 5))):
        x = rng.normal(size=n + m)
        if nature == 0:
            x = x.round(1)
        elif nature == 1:
            x = np.exp(5 * x)
        elif nature == 2:
            x = rng.integers(0, 3, n + m).astype(float)
        elif nature == 3:
            x = x * 10.0 ** rng.integers(-290, 300)
        elif nature == 4 and rng.random() < 0.3:
            x[:] = 1.5
        if rng.random() < 0.3:
            x[rng.random(n + m) < 0.2] = np.nan
        if rng.random() < 0.1:
            x[rng.random(n + m) < 0.05] = np.inf * rng.choice([-1, 1])
        if rng.random() < 0.3:
            x[n:] *= 3  # beyond the range of the reference
        marks = np.isnan(x).astype(np.int32)
        marks[np.isnan(x) & (rng.random(n + m) < 0.3)] = 2  # a value that is no number
        yield f"n{j}", (x[:n], x[n:]), (marks[:n], marks[n:])
    for j in range(int(rng.integers(0, 5))):
        c = rng.integers(0, int(rng.choice([2, 5, 40, 600])), n + m).astype(np.int32)
        yield f"c{j}", None, (c[:n], c[n:])


def tables(seed):
    """A ruler, reference rows and queries; some have weights, repeated rows, queries that are reference rows."""
    rng = np.random.default_rng(seed)
    n, m = int(rng.choice([1, 2, 7, 63, 64, 65, 129, 300])), int(rng.choice([1, 3, 17, 128, 150]))
    weighted = rng.random() < 0.4
    fields = [
        Field(*column, float(rng.choice([0.01, 0.3, 0.5, 1, 2])) if weighted else 1.0) for column in columns(rng, n, m)
    ]
    if not fields:
        fields = [Field("c", None, tuple(rng.integers(0, 9, k).astype(np.int32) for k in (n, m)))]
    ruler, (reference, queries) = fit_ruler(fields, [0] if rng.random() < 0.6 else [0, 1])
    if rng.random() < 0.4:
        reference = reference.take(rng.integers(0, n, n))
    if rng.random() < 0.4:
        known = reference.take(rng.integers(0, n, m))
        copied = rng.random(m) < 0.5
        queries = Rows(
            np.where(copied[:, None], known.numbers, queries.numbers),
            np.where(copied[:, None], known.codes, queries.codes),
        )
    own = None
    if rng.random() < 0.3:
        queries, own = reference, np.arange(n)
    return rng, ruler, reference, queries, own


def check_against_matrix(seed, engines):
    """Every fifth table goes in small parts, as many rows do, and its queries are put into an order."""
    with pytest.MonkeyPatch.context() as patch:
        if seed % 5 == 0:
            patch.setattr("divulge.kernels.neighbours._compiled._ORDERED", 1)
            for user in ("_compiled", "distinct", "gower"):
                patch.setattr(f"divulge.kernels.neighbours.{user}.IN_CACHE", 40)
        compare_with_matrix(seed, engines)


def compare_with_matrix(seed, engines):
    rng, ruler, reference, queries, own = tables(seed)
    matrix = pairwise(ruler, queries, reference)
    if own is not None:
        matrix[own, own] = np.inf
    k = int(rng.choice([1, 1, 2, 5, 9]))
    order = np.argsort(matrix, axis=1, kind="stable")[:, :k]
    sorted_ = np.take_along_axis(matrix, order, axis=1)
    finite = np.isfinite(sorted_)
    width = sorted_.shape[1]
    radius = np.where(finite[:, 0], sorted_[:, 0], 0.0)
    if rng.random() < 0.5:
        radius = float(np.median(matrix[np.isfinite(matrix)])) if np.isfinite(matrix).any() else 0.0
    inside = (matrix <= np.broadcast_to(radius, len(queries))[:, None]) & np.isfinite(matrix)
    for engine in engines:
        index = Index(ruler, reference, engine=engine, threads=int(rng.choice([1, 2])))
        found = index.nearest(queries, k, own=own)
        said = f"seed {seed}, {engine}"
        assert np.array_equal(found.distances[:, :width], sorted_), said
        assert np.isinf(found.distances[:, width:]).all(), said
        assert np.array_equal(found.rows[:, :width], np.where(finite, order, -1)), said
        last = found.distances[:, -1:]
        assert np.array_equal(found.n_ties, np.where(np.isfinite(last[:, 0]), (matrix == last).sum(1), 0)), said
        assert np.array_equal(index.count_within(queries, radius, own=own), inside.sum(1)), said
        pairs = index.within(queries, radius, own=own)
        assert np.array_equal(pairs.counts, inside.sum(1)), said
        assert np.array_equal(pairs.rows, np.nonzero(inside)[1]), said
        if finite[:, 0].all():
            tied = matrix == matrix.min(axis=1, keepdims=True)
            _, ties = index.ties(queries, own=own)
            assert np.array_equal(ties.rows, np.nonzero(tied)[1]), said
            assert np.array_equal(ties.counts, tied.sum(1)), said


@pytest.mark.first(1)
@pytest.mark.parametrize("part", range(10))
def test_two_thousand_fuzzed_tables(part):
    for seed in range(part * FUZZED // 10, (part + 1) * FUZZED // 10):
        # every table through the oracle and, in turn, through one compiled engine or the other of one level
        with at_level(levels()[seed // 2 % len(levels())]):
            check_against_matrix(seed, ("numpy", ENGINES[1 + seed % 2]))


@pytest.mark.full
@pytest.mark.parametrize("engine", ENGINES[1:])
@pytest.mark.parametrize("level", levels())
def test_two_thousand_tables_at_each_level(level, engine):
    with at_level(level):
        for seed in range(10_000, 12_000):
            check_against_matrix(seed, (engine,))


def check_reach(seed, engine, monkeypatch):
    """What `reach` and `up_to` say, spelled out row by row from the matrix."""
    rng, ruler, reference, queries, _ = tables(seed)
    matrix = pairwise(ruler, queries, reference)
    k = int(rng.choice([1, 2, 3, 7]))
    monkeypatch.setattr("divulge.kernels.neighbours._reached._LISTED", int(rng.choice([1, 40, 10_000])))
    index = Index(ruler, reference, engine=engine, threads=int(rng.choice([1, 2])))
    reach = index.reach(queries, k)
    asked, known = reach.queries, reach.reference
    of_query = np.arange(len(queries)) if asked.of_row is None else asked.of_row
    of_row = np.arange(len(reference)) if known.of_row is None else known.of_row
    which = None if rng.random() < 0.5 else np.flatnonzero(rng.random(len(reach.n_rows)) < 0.6)
    listed = {}
    for part in index.up_to(reach, which):
        for i, u in enumerate(part.queries):
            assert u not in listed
            span = slice(part.start[i], part.start[i + 1])
            listed[u] = list(zip(part.distances[span], part.rows[span], strict=True))
    assert sorted(listed) == list(range(len(reach.n_rows)) if which is None else which)
    for i, u in enumerate(of_query):
        near = np.sort(matrix[i])[:k]
        assert reach.distances[u].tolist() == near.tolist() + [np.inf] * (k - len(near))
        inside = matrix[i] <= near[-1]
        assert reach.n_rows[u] == inside.sum()
        expected = sorted({(matrix[i, r], of_row[r]) for r in np.flatnonzero(inside)})
        assert listed.get(u, expected) == expected
        short = [(d, r) for d, r in zip(reach.far[u], reach.nearest[u], strict=True) if r >= 0]
        assert short == expected[:k]
        assert reach.is_whole[u] == (len(expected) <= k)


@pytest.mark.parametrize("engine", ENGINES)
def test_all_rows_up_to_the_kth_distance_are_listed(engine, monkeypatch):
    for seed in range(tries(150)):
        check_reach(seed, engine, monkeypatch)


@given(st.integers(2**32, 2**40))
def test_new_tables_each_time(seed):
    check_against_matrix(seed, ENGINES)


@pytest.mark.slow
@pytest.mark.first(1)
@pytest.mark.parametrize("engine", ["boxes", "tiles", None])
@pytest.mark.parametrize("kind", ["mixed", "numbers", "categories"])
def test_larger_tables_as_scikit_learn_does(engine, kind):
    """Distances agree, tied rows may stand for one another, no true neighbour is missing."""
    rng = np.random.default_rng([5, len(kind)])
    n, m, k = 5000, 900, 4
    fields = []
    if kind != "categories":
        for j in range(4):
            x = rng.normal(size=n + m).round(2)
            fields.append(Field(f"n{j}", (x[:n], x[n:]), (np.zeros(n, np.int32), np.zeros(m, np.int32))))
    if kind != "numbers":
        for j in range(5):
            c = rng.integers(0, 7, n + m).astype(np.int32)
            fields.append(Field(f"c{j}", None, (c[:n], c[n:])))
    ruler, (reference, queries) = fit_ruler(fields, [0])
    found = Index(ruler, reference, engine=engine).nearest(queries, k)
    matrix = pairwise(ruler, queries, reference)
    expected = np.sort(matrix, axis=1)[:, :k]
    assert np.array_equal(found.distances, expected)
    assert np.array_equal(np.take_along_axis(matrix, found.rows, axis=1), expected)
    for i in range(m):
        nearer = np.flatnonzero(matrix[i] < expected[i, -1])
        assert set(nearer) <= set(found.rows[i].tolist())


@pytest.mark.parametrize("engine", ["boxes", "tiles"])
def test_threads_block_size_and_row_order_change_no_digit(engine, monkeypatch):
    _, ruler, reference, queries, _ = tables(11)
    reference, queries = (Rows.stack([x] * 5) for x in (reference, queries))
    base = Index(ruler, reference, engine=engine, threads=1).nearest(queries, 3)
    other = Index(ruler, reference, engine=engine, threads=4).nearest(queries, 3)
    monkeypatch.setattr("divulge.kernels.neighbours._compiled._SCANNED", 3)
    blocks = Index(ruler, reference, engine=engine, threads=2).nearest(queries, 3)
    for found in (other, blocks):
        assert all(np.array_equal(getattr(base, f), getattr(found, f)) for f in base.__slots__)
    rng = np.random.default_rng(0)
    rows, asked = rng.permutation(len(reference)), rng.permutation(len(queries))
    moved = Index(ruler, reference.take(rows), engine=engine).nearest(queries.take(asked), 3)
    assert np.array_equal(moved.distances, base.distances[asked])
    assert np.array_equal(moved.n_ties, base.n_ties[asked])


def test_a_probe_chooses_the_engine(monkeypatch):
    used = []
    from divulge.kernels import _box_tree
    from divulge.kernels.neighbours import _brute_force

    scan, search = _brute_force.scan, _box_tree.search
    monkeypatch.setattr("divulge.kernels.neighbours._brute_force.scan", lambda *a: (used.append("tiles"), scan(*a))[1])
    monkeypatch.setattr("divulge.kernels._box_tree.search", lambda *a: (used.append("boxes"), search(*a))[1])
    rng = np.random.default_rng(1)

    def last_engine(x):
        n = len(x) // 2
        marks = np.zeros(n, np.int32)
        fields = [Field(f"n{j}", (x[:n, j], x[n:, j]), (marks, marks)) for j in range(x.shape[1])]
        ruler, (a, b) = fit_ruler(fields, [0])
        Index(ruler, a).nearest(b)
        return used[-1]

    assert last_engine(rng.random((12_000, 2))) == "boxes"
    assert last_engine(rng.random((12_000, 30))) == "tiles"
    # nearest distances too short for 16 bits: the range is made by a few values far out
    assert last_engine(np.exp(12 * rng.normal(size=(12_000, 30)))) == "boxes"


def test_distinct_rows_stand_in_order_of_first_appearance():
    rows = Rows(np.array([[2.0], [1.0], [2.0], [np.nan], [-0.0], [0.0], [np.nan]]), np.zeros((7, 1), np.int32))
    distinct = Distinct.of(rows)
    assert distinct.of_row.tolist() == [0, 1, 0, 2, 3, 3, 2]
    assert distinct.times.tolist() == [2, 1, 2, 2]
    assert distinct.members.tolist() == [0, 2, 1, 3, 6, 4, 5]


def test_two_rows_of_one_hash_are_kept_apart(monkeypatch):
    monkeypatch.setattr(
        "divulge.kernels.neighbours.distinct.hashes_of", lambda rows: np.zeros(len(rows), dtype=np.uint64)
    )
    distinct = Distinct.of(Rows(np.arange(4.0)[:, None], np.zeros((4, 0), np.int32)))
    assert distinct.of_row is None
    assert distinct.times.tolist() == [1, 1, 1, 1]


def test_more_than_255_columns():
    rng = np.random.default_rng(4)
    codes = rng.integers(0, 2, (90, 600)).astype(np.int32)
    fields = [Field(f"{j:03}", None, (codes[:60, j], codes[60:, j])) for j in range(600)]
    ruler, (a, b) = fit_ruler(fields, [0])
    matrix = pairwise(ruler, b, a)
    for engine in ENGINES:
        found = Index(ruler, a, engine=engine).nearest(b, 2)
        assert np.array_equal(found.distances, np.sort(matrix, axis=1)[:, :2])


@pytest.mark.slow
def test_progress_and_interruption():
    rng = np.random.default_rng(2)
    x = rng.random((40_000, 25))
    marks = np.zeros(20_000, np.int32)
    fields = [Field(f"n{j}", (x[:20_000, j], x[20_000:, j]), (marks, marks)) for j in range(25)]
    ruler, (a, b) = fit_ruler(fields, [0])
    seen = []
    Index(ruler, a, progress=lambda done, total: seen.append((done, total))).nearest(b)
    assert seen[-1] == (20_000, 20_000)
    assert [s for s, _ in seen] == sorted(s for s, _ in seen)

    def stop(done, total):
        if done < total / 2:
            raise KeyboardInterrupt

    before = threading.active_count()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        Index(ruler, a, progress=stop).nearest(b)
    assert time.monotonic() - began < 30
    assert threading.active_count() == before


def test_wrong_calls_are_told():
    _, ruler, reference, queries, _ = tables(3)
    with pytest.raises(SettingError, match="k: 0 is below 1"):
        Index(ruler, reference).nearest(queries, 0)
    with pytest.raises(SettingError, match="no rows"):
        Index(ruler, reference.take(np.zeros(0, np.int64)))


def test_no_queries_give_empty_answers():
    _, ruler, reference, queries, _ = tables(3)
    found = Index(ruler, reference).nearest(queries.take(np.zeros(0, np.int64)), 2)
    assert found.distances.shape == (0, 2)
    assert found.n_ties.shape == (0,)


# ---------------------------------------------------------------- divulge.nearest


def test_nearest_of_frames():
    reference = pl.DataFrame(
        {"x": [0.5, 10.5, None, 5.5], "c": ["a", "b", "b", None], "d": ["2020-01-01", "2020-01-11", None, "2020-01-06"]}
    )
    queries = pl.DataFrame({"d": ["2020-01-06"], "c": [None], "x": [4.5], "extra": [1]})
    schema = divulge.schema_from_toml('[columns.x]\nkind="numeric"\n[columns.c]\nkind="categorical"\n')
    found = divulge.nearest(queries, reference, 2, ranges_from=reference, columns=["x", "c"], schema=schema)
    # x: |4.5 - 5.5| / 10; c: missing against missing is 0
    assert found.distances.tolist() == [[0.05, 0.7]]
    assert found.indices.tolist() == [[3, 0]]
    assert found.n_ties.tolist() == [1]


def test_ranges_come_from_where_they_are_said_to():
    a, b = pl.DataFrame({"x": [0.5, 1.5]}), pl.DataFrame({"x": [1.0]})
    wide = pl.DataFrame({"x": [-49.5, 50.5]})
    assert divulge.nearest(b, a).distances.tolist() == [[0.5]]
    assert divulge.nearest(b, a, ranges_from=wide).distances.tolist() == [[0.005]]
    assert divulge.nearest(b, a).n_ties.tolist() == [2]


def test_weights_by_name():
    a = pl.DataFrame({"x": [0.5, 1.5, 9.5], "c": ["u", "v", "u"]})
    found = divulge.nearest(a[:1], a[1:], weights={"c": 3})
    assert found.distances.tolist() == [[0.25]]  # x is 9 / 9, c is 0 of weight 3
    assert found.indices.tolist() == [[1]]
    assert divulge.nearest(a[:1], a[1:], weights={"x": 0}).distances.tolist() == [[0.0]]
    with pytest.raises(divulge.ColumnError, match="weights"):
        divulge.nearest(a, a, weights={"z": 1})
    with pytest.raises(SettingError, match="negative"):
        divulge.nearest(a, a, weights={"c": -1})
    with pytest.raises(SettingError, match="every weight is 0"):
        divulge.nearest(a, a, weights={"x": 0, "c": 0})


@pytest.mark.parametrize("weights", [{"x": "2"}, {"x": None}, {"x": 1e308, "c": 1e308}, ["x"], "x"])
def test_weights_that_are_no_numbers_are_told(weights):
    a = pl.DataFrame({"x": [0.5, 1.5, 9.5], "c": ["u", "v", "u"]})
    with pytest.raises(SettingError, match="weights"):
        divulge.nearest(a, a, weights=weights)


@pytest.mark.parametrize("k", [0, -1, 1.5, "2", None, True])
def test_a_number_of_neighbours_is_whole_and_positive(k):
    a = pl.DataFrame({"x": [0.5, 1.5, 9.5]})
    with pytest.raises(SettingError, match=r"^k: "):
        divulge.nearest(a, a, k)
    with pytest.raises(SettingError, match=r"^k: "):
        divulge.exposure(a, a, k=k)


def test_nearest_reads_lazy_frames():
    a = pl.DataFrame({"x": [0.5, 1.5, 9.5], "c": ["u", "v", "u"]})
    found, lazy = divulge.nearest(a, a, 2, ranges_from=a), divulge.nearest(a.lazy(), a.lazy(), 2, ranges_from=a.lazy())
    assert lazy.distances.tolist() == found.distances.tolist()
    assert lazy.indices.tolist() == found.indices.tolist()


def test_columns_may_be_any_sequence_of_names():
    a = pl.DataFrame({"x": [0.5, 1.5, 9.5], "c": ["u", "v", "u"]})
    by_list = divulge.nearest(a, a, 2, columns=["x"]).distances.tolist()
    for columns in (("x",), pl.Series(["x"]), np.array(["x"])):
        assert divulge.nearest(a, a, 2, columns=columns).distances.tolist() == by_list


@pytest.mark.parametrize("n", [2999, 3000, 40_001])
def test_ties_of_many_people_never_give_more_than_the_synthetic_rows(n):
    real = pl.DataFrame({"sex": ["f", "m"] * n})
    found = divulge.dcr(real, real[: 2 * 40], holdout=real[: 2 * 10])[0]
    assert found.real.hits + found.holdout.hits == pytest.approx(80, rel=1e-6)
    assert found.risk.value == pytest.approx(0, abs=1e-3)


@pytest.mark.parametrize("engine", ENGINES)
def test_attraction_shares_ties(engine, monkeypatch):
    monkeypatch.setattr("divulge.kernels.neighbours._reached._LISTED", 40)
    for seed in range(tries(60)):
        rng, ruler, reference, queries, _ = tables(seed)
        matrix = pairwise(ruler, queries, reference)
        tied = matrix == matrix.min(axis=1, keepdims=True)
        share = tied / tied.sum(axis=1, keepdims=True)
        index = Index(ruler, reference, engine=engine)
        np.testing.assert_allclose(index.attraction(queries), share.sum(axis=0), atol=1e-9)
        chosen = rng.random(len(queries)) < 0.5
        np.testing.assert_allclose(index.attraction(queries, chosen), share[chosen].sum(axis=0), atol=1e-9)
        limit = pairwise(ruler, reference, reference).mean(axis=1)
        limited = (share * (matrix < limit)).sum(axis=0)
        np.testing.assert_allclose(index.attraction(queries, closer_than=limit), limited, atol=1e-9)
        order = rng.permutation(len(queries))
        assert np.array_equal(index.attraction(queries.take(order)), index.attraction(queries))
