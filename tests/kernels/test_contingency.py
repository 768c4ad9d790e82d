import numpy as np
import pytest
from amount import tries
from hypothesis import given, settings
from hypothesis import strategies as st

from divulge.kernels.counts.contingency import ContingencyTable, combine, count

codes = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(0, 2)), min_size=0, max_size=30)


def laid(rows):
    array = np.array(rows, dtype=np.int32).reshape(-1, 3)
    return [array[:, 0], array[:, 1]], array[:, 2]


def counted(real, synthetic, holdout, weights=(None, None, None)):
    parts = [laid(t) for t in (real, synthetic, holdout)]
    return count([p[0] for p in parts], [4, 3], [p[1] for p in parts], 3, weights=weights)


@settings(max_examples=tries(150), deadline=None)
@given(codes, codes, codes)
def test_counts_equal_a_dictionary(real, synthetic, holdout):
    if not (real or synthetic or holdout):
        return
    table = counted(real, synthetic, holdout)
    found = {}
    for i in range(len(table.o)):
        cell = (*table.key_codes[table.key[i]].tolist(), int(table.target[i]))
        found[cell] = (int(table.o[i]), int(table.s[i]), int(table.c[i]))
    expected = {}
    for which, rows in enumerate((real, synthetic, holdout)):
        for row in rows:
            expected.setdefault(row, [0, 0, 0])[which] += 1
    assert found == {k: tuple(v) for k, v in expected.items()}


@settings(max_examples=tries(50), deadline=None)
@given(codes.filter(len), codes.filter(len))
def test_margins_and_maxima_follow_from_the_cells(real, synthetic):
    table = counted(real, synthetic, [])
    for j in range(table.n_keys):
        own = table.key == j
        assert table.o_key[j] == table.o[own].sum()
        assert table.s_key[j] == table.s[own].sum()
        assert table.largest(table.s)[j] == table.s[own].max()
        assert table.n_distinct_targets(table.o)[j] == (table.o[own] > 0).sum()


def test_each_row_knows_its_cell():
    real = [(0, 0, 1), (1, 2, 0), (0, 0, 1)]
    table = counted(real, [(1, 2, 2)], [(3, 1, 0)])
    cells = table.cells[0]
    assert table.o[cells].tolist() == [2, 1, 2]
    assert table.cells[2].tolist() == [int(np.flatnonzero(table.c)[0])]


def test_merged_rows_count_by_their_weight():
    rows = [(0, 0, 0), (1, 1, 1)]
    weights = np.array([3, 1]), np.array([1, 1]), None
    one = counted(rows, rows, [], weights=weights)
    other = counted([rows[0]] * 3 + [rows[1]], rows, [])
    assert (one.o == other.o).all()
    assert one.times == weights
    assert one.cells[0].tolist() == [0, 1]


def test_codes_too_large_for_one_number_are_compressed():
    rng = np.random.default_rng(0)
    columns = [rng.integers(0, 2**20, 50).astype(np.int32) for _ in range(5)]
    ids, _ = combine(columns, [2**20] * 5)
    distinct = {tuple(c[i] for c in columns) for i in range(50)}
    assert len(set(ids.tolist())) == len(distinct)


def test_profiles_hold_every_cell():
    rng = np.random.default_rng(1)
    rows = [tuple(r) for r in rng.integers(0, [4, 3, 3], (200, 3)).tolist()]
    table = counted(rows, rows[:90], rows[50:])
    profile, times = table.profiles()
    assert times.sum() == len(table.o)
    assert (profile["o"] * times).sum() == 200
    cap = table.shares(table.s, table.s_key)
    with np.errstate(invalid="ignore"):
        share = profile["s"] / profile["s_key"]
    assert np.nansum(share * profile["o"] * times) == pytest.approx(np.nansum(cap * table.o))


def test_keys_that_are_missing_are_counted_like_any_other():
    table = ContingencyTable.from_rows([None, None, "a"], [1, 1, 2], [None], [1])
    assert table.o_key.tolist() == [2, 1]
    assert table.s_key.tolist() == [1, 0]


def test_no_key_column_is_one_key_for_everybody():
    target = np.array([0, 1, 1], dtype=np.int32)
    table = count([[], [], []], [], [target, target, target[:0]], 2)
    assert table.n_keys == 1
    assert table.o_key.tolist() == [3]
