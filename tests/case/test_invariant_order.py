"""Orders of rows are the same whether all rows are hashed and sorted at once or some at a time, in memory or in files."""

import numpy as np
import polars as pl
import pytest

from divulge.case import features, invariant_order
from divulge.case.case import build_case
from divulge.case.features import _features
from divulge.case.invariant_order import Canonical
from divulge.case.spill import Spill


def table(rng, n):
    ages = rng.integers(20, 40, n).astype(float)
    ages[rng.random(n) < 0.1] = np.nan
    jobs, towns = rng.choice(["cook", "judge", None], n).tolist(), rng.integers(0, 30, n).astype(str)
    pay = rng.normal(size=n).round(2)  # a column of numbers
    pay[::7] = np.nan
    return pl.DataFrame({"age": ages, "job": jobs, "town": towns, "pay": pay})


@pytest.fixture
def case():
    rng = np.random.default_rng(1)
    real, synthetic = table(rng, 60), table(rng, 80)
    return build_case(real, pl.concat([synthetic, synthetic[:9]]), table(rng, 30))


@pytest.mark.parametrize("rows", [None, {1: np.array([3, 5, 9, 20, 81])}])
def test_rows_hashed_and_sorted_some_at_a_time(case, rows, tmp_path, monkeypatch):
    given = case, case.columns, None, rows
    once = Canonical(*given, blind=True)
    monkeypatch.setattr(invariant_order, "_PART", 7)
    case.encoded.spill = Spill(tmp_path)
    parts = Canonical(*given, blind=True)
    for a, b in zip([*once.colours, *once.rows], [*parts.colours, *parts.rows], strict=True):
        np.testing.assert_array_equal(a, b)
    for which in range(3):
        np.testing.assert_array_equal(parts.order(which), once.order(which))


@pytest.mark.parametrize(("coarse", "cells"), [(64, 65_536), (4, 65_536), (64, 40), (64, 1)])
def test_rows_sorted_by_content_some_at_a_time(case, coarse, cells, tmp_path, monkeypatch):
    for name, value in (("_PART", 7), ("_AT_ONCE", 10), ("_COARSE", coarse), ("_CELLS", cells)):
        monkeypatch.setattr(features, name, value)
    names = tuple(sorted(case.columns))
    expected = _features(case, names, (0, 1, 2)).order("synthetic")
    case.encoded.spill = Spill(tmp_path)
    found = _features(case, names, (0, 1, 2))
    np.testing.assert_array_equal(found.order("synthetic"), expected)
    np.testing.assert_array_equal(found.order("synthetic"), np.lexsort(np.asarray(found.synthetic).T[::-1]))


def test_rows_are_in_order_where_a_column_takes_the_whole_of_its_type(tmp_path, monkeypatch):
    """From -2 for missing to 126: differences do not fit into the eight bits that the numbers are kept in."""
    monkeypatch.setattr(features, "_AT_ONCE", 10)
    values = np.random.default_rng(2).permutation([*range(127), *[None] * 20]).tolist()
    table = pl.DataFrame({"x": values, "y": np.arange(147) % 3})
    expected = _features(build_case(table, table), ("x", "y"), (0, 1)).order("synthetic")
    case = build_case(table, table)
    case.encoded.spill = Spill(tmp_path)
    found = _features(case, ("x", "y"), (0, 1))
    numbers = found.synthetic.columns[0]
    assert (numbers.dtype, numbers.min(), numbers.max()) == (np.int8, -2, 126)
    np.testing.assert_array_equal(found.order("synthetic"), expected)


@pytest.mark.parametrize(("names", "least"), [(["age", "job", "pay", "town"], 8), (["age", "job"], 5), (["pay"], 5)])
def test_rows_of_one_hash_are_sorted_so_in_files_too(names, least, case, tmp_path, monkeypatch):
    monkeypatch.setattr(invariant_order, "_PART", 7)
    canonical = Canonical(case, names)
    for hashes in canonical.rows:
        hashes &= np.uint64(7 << 61)
    expected = [canonical.order(which) for which in range(3)]
    case.encoded.spill = Spill(tmp_path)
    for which, order in enumerate(expected):
        assert least <= len(np.unique(canonical.rows[which])) <= 8
        np.testing.assert_array_equal(canonical.order(which), order)


@pytest.mark.parametrize("rows", [None, {1: np.array([80, 3, 5, 9, 0, 20, 81])}])
def test_rows_of_one_hash_are_sorted_by_their_codes_and_then_by_number(case, rows):
    canonical = Canonical(case, case.columns, None, rows)
    for which, hashes in enumerate(canonical.rows):
        hashes &= np.uint64(7)  # so that many rows share one
        there = (rows or {}).get(which, np.arange(case.tables[which].n_rows))
        ties = [canonical.codes(j, which)[there] for j in range(len(canonical.columns))]
        np.testing.assert_array_equal(canonical.order(which), there[np.lexsort((*ties, hashes))])


@pytest.mark.parametrize("n", [0, 1, 60])
def test_codes_in_canonical_order(case, n):
    canonical = Canonical(case, case.columns)
    for j in range(len(canonical.columns)):
        codes, colours = canonical.codes(j, 0)[:n], canonical.colours[j]
        found = canonical.sorted_codes(j, codes)
        assert found.dtype == codes.dtype
        np.testing.assert_array_equal(found, codes[np.lexsort((codes, colours[codes]))])
