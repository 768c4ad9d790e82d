"""Predicates: the compiled search against numpy, plain Python, pandas and polars, on every kind of table."""

import threading
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from amount import tries
from hypothesis import given
from hypothesis import strategies as st

from divulge.core.errors import SettingError
from divulge.kernels._native.library import at_level
from divulge.kernels.predicates.conditions import Predicates
from divulge.kernels.predicates.predicates import Conjunctions, Matches

FUZZED = tries(200)
LARGEST = 2**31 - 1
# What decides which way is taken; no way may change a digit.
WAYS = {
    "chosen": {},
    "lists": {"_FEW": 1e9},
    "tree": {"_FEW": 0.0},
    "tree without a sample": {"_FEW": 0.0, "_SAMPLE": 0},
    "small parts": {"_CHUNK": 7, "_ROOM": 100},
}
# age (rank), job (1 nurse, 2 baker, 3 monk), city; 0 is missing
PEOPLE = np.array(
    [[1, 1, 1], [2, 1, 2], [2, 2, 1], [3, 3, 1], [3, 1, 0], [4, 1, 1], [0, 2, 2]],
    np.int32,
)


def of(*conjunctions, width=5):
    """Return predicates from lists of (column, low, high); places that are not used hold nonsense."""
    arrays = [np.full((len(conjunctions), width), fill, np.int32) for fill in (-7, 9, -9)]
    for i, conditions in enumerate(conjunctions):
        for t, condition in enumerate(conditions):
            for a, value in zip(arrays, condition, strict=True):
                a[i, t] = value
    return Predicates(*arrays, np.array([len(c) for c in conjunctions], dtype=np.int64))


def take_way(patch, way):
    for name, value in WAYS[way].items():
        patch.setattr(f"divulge.kernels.predicates._compiled.{name}", value)


def assert_same(found, expected, said=""):
    for name in Matches.__slots__:
        assert getattr(found, name).tolist() == getattr(expected, name).tolist(), f"{name}, {said}"
        assert getattr(found, name).dtype == np.int64


# ---------------------------------------------------------------- by hand

BY_HAND = {
    "nurses": ([(1, 1, 1)], [0, 1, 4, 5]),
    "nurses of rank 3 or more": ([(0, 3, LARGEST), (1, 1, 1)], [4, 5]),
    "of age 2 or less, known": ([(0, 1, 2)], [0, 1, 2]),
    "age missing": ([(0, 0, 0)], [6]),
    "city missing, nurse, age 3": ([(2, 0, 0), (1, 1, 1), (0, 3, 3)], [4]),
    "the same column twice": ([(0, 2, 9), (0, 0, 3)], [1, 2, 3, 4]),
    "the same column, apart": ([(0, 1, 1), (0, 3, 3)], []),
    "an end above the other": ([(0, 3, 2)], []),
    "beyond the largest code": ([(0, 5, 9)], []),
    "below zero": ([(0, -5, -1)], []),
    "ends as far as they go": ([(0, -(2**31), LARGEST), (2, 2, 2)], [1, 6]),
    "no condition": ([], [0, 1, 2, 3, 4, 5, 6]),
}


@pytest.mark.parametrize("engine", ["numpy", "compiled"])
@pytest.mark.parametrize("case", BY_HAND)
def test_rows_by_hand(engine, case):
    conditions, rows = BY_HAND[case]
    table = Conjunctions(PEOPLE, engine=engine)
    found = table.matches(of(conditions))
    assert found.count.tolist() == [len(rows)]
    assert found.rows.tolist() == rows
    assert found.start.tolist() == [0, len(rows)]
    assert table.count(of(conditions), most=1).tolist() == [min(len(rows), 2)]


@pytest.mark.parametrize("engine", ["numpy", "compiled"])
def test_beyond_most_a_count_is_cut_and_nothing_listed(engine):
    table = Conjunctions(PEOPLE, engine=engine)
    asked = of([(1, 1, 1)], [(1, 2, 2)], [(1, 3, 3)], [])
    assert_same(
        table.matches(asked, most=2),
        SimpleNamespace(count=np.array([3, 2, 1, 3]), start=np.array([0, 0, 2, 3, 3]), rows=np.array([2, 6, 3])),
    )
    assert table.matches(asked, most=0).count.tolist() == [1, 1, 1, 1]
    assert table.matches(asked, most=0).rows.tolist() == []
    assert table.count(asked, most=10**9).tolist() == [4, 2, 1, 7]


# ---------------------------------------------------------------- against the oracle


def tables(rng):
    """Return codes: ties, missing, constant columns, rows written several times, one value a row, up to 70,000 codes."""
    n = int(rng.choice([1, 2, 63, 64, 65, 129, 300, 1000, 3000]))
    columns = []
    for _ in range(int(rng.integers(1, 7))):
        nature = rng.integers(0, 4)
        if nature == 0:
            column = rng.permutation(n) + 1
        elif nature == 1:
            column = np.minimum(rng.geometric(0.3, n), 12)
        else:
            column = rng.integers(0, int(rng.choice([1, 2, 3, 8, 60, 1000, 70_001])), n)
        column[rng.random(n) < rng.choice([0, 0.2])] = 0
        columns.append(column)
    codes = np.stack(columns, axis=1).astype(np.int32)
    return codes[rng.integers(0, n, n)] if rng.random() < 0.3 else codes


def some_predicates(rng, codes, m):
    """Return predicates made from rows, and some that contradict themselves or lie outside the codes."""
    width = int(rng.integers(1, 6))
    column = rng.integers(0, codes.shape[1], (m, width))
    value = codes[rng.integers(0, len(codes), m)[:, None], column]
    nature = rng.random((m, width))
    low, high = value.copy(), value.copy()
    low[nature < 0.3] = rng.choice([0, 1, -(2**31)], (nature < 0.3).sum())
    high[(nature > 0.2) & (nature < 0.6)] = LARGEST
    odd = nature > 0.95
    low[odd], high[odd] = rng.integers(-3, 70_003, (2, odd.sum()))
    return Predicates(column, low, high, rng.integers(0, width + 1, m))


def check_against_numpy(seed, ways):
    rng = np.random.default_rng(seed)
    codes = tables(rng)
    asked = some_predicates(rng, codes, 120)
    oracle = Conjunctions(codes, engine="numpy")
    for way in ways:
        with pytest.MonkeyPatch.context() as patch:
            take_way(patch, way)
            table = Conjunctions(codes, engine="compiled", threads=int(rng.choice([1, 2, 8])))
            for most in (0, 1, 2, 64, len(codes), 2**40):
                said = f"seed {seed}, {way}, most {most}"
                expected = oracle.matches(asked, most)
                assert_same(table.matches(asked, most), expected, said)
                assert table.count(asked, most).tolist() == expected.count.tolist(), said


@pytest.mark.first(1)
@pytest.mark.parametrize("part", range(5))
def test_hundreds_of_fuzzed_tables(part):
    for seed in range(part * FUZZED // 5, (part + 1) * FUZZED // 5):
        check_against_numpy(seed, ("chosen", list(WAYS)[1 + seed % (len(WAYS) - 1)]))


@pytest.mark.slow
@given(st.integers(2**32, 2**40), st.sampled_from(sorted(WAYS)))
def test_new_tables_each_time(seed, way):
    check_against_numpy(seed, [way])


@pytest.fixture(scope="module")
def census():
    """Many rows: a tree of several levels, built in several parts."""
    rng = np.random.default_rng(3)
    hidden = rng.integers(0, 6, 30_000)
    columns = [(hidden + rng.geometric(0.4, 30_000)) % levels + 1 for levels in (2, 7, 9, 15, 41)]
    columns += [np.argsort(np.argsort(hidden + rng.normal(size=30_000))) // ties for ties in (1, 300)]
    codes = np.stack(columns, axis=1).astype(np.int32)
    return codes, some_predicates(rng, codes, 3000)


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_a_large_table(monkeypatch, census, way):
    codes, asked = census
    if way == "small parts":
        asked = asked.take(slice(0, 200))
    take_way(monkeypatch, way)
    table, oracle = Conjunctions(codes), Conjunctions(codes, engine="numpy")
    for most in (1, 64):
        expected = oracle.matches(asked, most)
        assert_same(table.matches(asked, most), expected)
        assert table.count(asked, most).tolist() == expected.count.tolist()
    assert table.n_bytes > 0
    assert 0.02 < (expected.count == 1).mean() < 0.5 < (expected.count > 1).mean()


def test_numpy_counts_as_plain_python_does():
    rng = np.random.default_rng(9)
    for _ in range(tries(30)):
        codes = tables(rng)[:70]
        asked = some_predicates(rng, codes, 30)
        expected = [
            [
                r
                for r, row in enumerate(codes.tolist())
                if all(asked.low[i, t] <= row[asked.column[i, t]] <= asked.high[i, t] for t in range(asked.n[i]))
            ]
            for i in range(len(asked))
        ]
        found = Conjunctions(codes, engine="numpy").matches(asked, most=99)
        assert found.count.tolist() == [len(rows) for rows in expected]
        assert found.rows.tolist() == [r for rows in expected for r in rows]


def test_numpy_works_in_blocks(monkeypatch):
    rng = np.random.default_rng(10)
    codes = tables(rng)
    asked = some_predicates(rng, codes, 50)
    whole = Conjunctions(codes, engine="numpy").matches(asked)
    monkeypatch.setattr("divulge.kernels.predicates.predicates._CELLS", 1)
    assert_same(Conjunctions(codes, engine="numpy").matches(asked), whole)


# ---------------------------------------------------------------- laws


def test_threads_change_no_digit(census, monkeypatch):
    codes, asked = census
    monkeypatch.setattr("divulge.kernels.predicates._compiled._CHUNK", 100)
    one, two, eight = (Conjunctions(codes, engine="compiled", threads=t).matches(asked) for t in (1, 2, 8))
    assert_same(two, one)
    assert_same(eight, one)


@pytest.mark.parametrize("engine", ["numpy", "compiled"])
def test_rows_and_columns_in_another_order(census, engine):
    codes, asked = census
    asked = asked.take(slice(0, 400))
    rng = np.random.default_rng(1)
    rows, columns, which = (rng.permutation(n) for n in (*codes.shape, len(asked)))
    found = Conjunctions(codes, engine=engine).matches(asked)
    other = asked.take(which)
    other = Predicates(np.argsort(columns)[other.column], other.low, other.high, other.n)
    moved = Conjunctions(np.asfortranarray(codes[rows][:, columns]), engine=engine).matches(other)
    assert moved.count.tolist() == found.count[which].tolist()
    for new, old in enumerate(which):
        mapped = np.sort(rows[moved.rows[moved.start[new] : moved.start[new + 1]]])
        assert mapped.tolist() == found.rows[found.start[old] : found.start[old + 1]].tolist()


@pytest.mark.parametrize("engine", ["numpy", "compiled", None])
@pytest.mark.parametrize("n_rows", [0, 1])
def test_tables_of_no_row_and_of_one(engine, n_rows):
    table = Conjunctions(np.full((n_rows, 2), 4, np.int32), engine=engine)
    found = table.matches(of([], [(0, 4, 4), (1, 1, 9)], [(1, 5, 5)]))
    assert found.count.tolist() == [n_rows, n_rows, 0]
    assert found.rows.tolist() == [0] * (2 * n_rows)


@pytest.mark.parametrize("engine", ["numpy", "compiled", None])
def test_no_predicates(engine):
    found = Conjunctions(PEOPLE, engine=engine).matches(of())
    assert (found.count.tolist(), found.start.tolist(), found.rows.tolist()) == ([], [0], [])
    assert Conjunctions(PEOPLE, engine=engine).count(of()).shape == (0,)


@pytest.mark.parametrize("engine", ["numpy", "compiled"])
def test_tables_without_columns_and_predicates_without_width(engine):
    assert Conjunctions(np.empty((3, 0), np.int32), engine=engine).count(of([]), most=9).tolist() == [3]
    assert Conjunctions(PEOPLE, engine=engine).count(of([], width=0), most=9).tolist() == [7]


# ---------------------------------------------------------------- other tools


def test_counts_are_those_of_pandas_and_polars():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(12)
    n = 2000
    codes = np.stack([rng.integers(0, 50, n), rng.integers(0, 9, n), rng.integers(0, 4, n)], axis=1).astype(np.int32)
    age = np.where(codes[:, 0] == 0, np.nan, 16.5 + codes[:, 0])
    job, city = (np.array([f"v{c}" for c in codes[:, j]], dtype=object) for j in (1, 2))
    frame = pl.DataFrame({"age": age, "job": job, "city": city}).with_columns(pl.col("age").fill_nan(None))
    pandas_frame = pd.DataFrame({"age": age, "job": job, "city": city})
    asked, texts, tests = [], [], []
    for i in range(60):
        a, j, c = codes[rng.integers(0, n)].tolist()
        of_age, words, test = [
            ((0, 0, 0), "age.isna()", pl.col("age").is_null()),
            ((0, 1, max(a, 1)), f"age <= {16.5 + max(a, 1)}", pl.col("age") <= 16.5 + max(a, 1)),
            ((0, max(a, 1), LARGEST), f"age >= {16.5 + max(a, 1)}", pl.col("age") >= 16.5 + max(a, 1)),
        ][i % 3]
        asked.append([of_age, (1, j, j), (2, c, c)])
        texts.append(f"{words} & job == 'v{j}' & city == 'v{c}'")
        tests.append([test, pl.col("job") == f"v{j}", pl.col("city") == f"v{c}"])
    for engine in ("numpy", "compiled"):
        found = Conjunctions(codes, engine=engine).matches(of(*asked), most=n)
        rows = [found.rows[a:b].tolist() for a, b in zip(found.start[:-1], found.start[1:], strict=True)]
        assert rows == [pandas_frame.query(t, engine="python").index.tolist() for t in texts]
        assert found.count.tolist() == [frame.filter(t).height for t in tests]
    assert len(set(found.count.tolist())) > 10


# ---------------------------------------------------------------- the rest


def test_take_and_concatenate():
    asked = of([(0, 1, 2)], [(1, 1, 1), (0, 3, 4)], [], width=2)
    wide = of([(2, 0, 0), (2, 1, 1), (0, 5, 6)], width=3)
    both = Predicates.concatenate([asked, wide])
    assert len(both) == 4 and both.column.shape == (4, 3)
    assert both.take([3]).low.tolist() == wide.low.tolist()
    table = Conjunctions(PEOPLE)
    apart = [*table.count(asked, 9).tolist(), *table.count(wide, 9).tolist()]
    assert table.count(both, 9).tolist() == apart
    assert table.count(both.take(both.n > 1), 9).tolist() == [apart[1], apart[3]]
    assert len(Predicates.concatenate([])) == 0


def test_wrong_calls_are_told():
    table = Conjunctions(PEOPLE)
    with pytest.raises(SettingError, match=r"codes are negative.*hint"):
        Conjunctions(PEOPLE - 1)
    with pytest.raises(SettingError, match="most: -1"):
        table.count(of([]), most=-1)
    for column in (-1, 3):
        with pytest.raises(SettingError, match="names no column of the table, which has 3"):
            table.matches(of([(0, 1, 1)], [(column, 1, 1)]))
    bad = of([(0, 1, 1)], width=1)
    for n in (-1, 2):
        with pytest.raises(SettingError, match="not between 0 and 1"):
            table.count(Predicates(bad.column, bad.low, bad.high, np.array([n])))


def test_the_index_is_small(census):
    rng = np.random.default_rng(0)
    codes = np.concatenate([census[0]] * 2 + [rng.integers(0, 5, (30_000, 1))], axis=1).astype(np.int32)
    table = Conjunctions(codes)
    assert table.n_bytes == 0
    table.count(census[1])
    assert table.n_bytes < 145 * len(codes)  # 15 columns


def test_progress_and_interruption(census, monkeypatch):
    codes, asked = census
    monkeypatch.setattr("divulge.kernels.predicates._compiled._CHUNK", 100)
    seen = []
    table = Conjunctions(codes, engine="compiled", threads=2, progress=lambda *a: seen.append(a))
    table.count(asked)
    assert seen == [(done, 3000) for done in range(100, 3001, 100)]

    def stop(done, total):
        raise KeyboardInterrupt

    before = threading.active_count()
    with pytest.raises(KeyboardInterrupt):
        Conjunctions(codes, engine="compiled", threads=2, progress=stop).count(asked)
    assert threading.active_count() == before


def test_small_tasks_build_no_index():
    table = Conjunctions(PEOPLE)
    assert table.count(of([], [(1, 1, 1)]), most=9).tolist() == [7, 4]
    assert table.n_bytes == 0


def test_without_compiled_loops_numpy_searches(census):
    codes, asked = census
    asked = asked.take(slice(0, 200))
    with at_level("none"):
        table = Conjunctions(codes)
        found = table.matches(asked)
    assert table.n_bytes == 0
    assert_same(found, Conjunctions(codes, engine="compiled").matches(asked))
