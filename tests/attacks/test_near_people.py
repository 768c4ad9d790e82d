"""What is near each person: one search in both tables says the same as a search in each."""

from unittest.mock import patch

import numpy as np
import polars as pl
import pytest
from amount import tries

from divulge.attacks.membership import near_people as near
from divulge.case.case import build_case
from divulge.case.distances import distance_columns, distances_of
from divulge.core.errors import SettingError

FIELDS = ("to_synthetic", "to_person", "farther")


def table(rng, n, kind):
    """Rows of one kind: whole numbers, tenths or hundredths, categories beside them or alone, numbers without steps."""
    numbers = {f"n{j}": (x if kind == 4 else x.round(kind % 3)) for j, x in enumerate(rng.normal(size=(3, n)))}
    names = {f"c{j}": [f"v{v}" for v in rng.integers(0, (3, 9)[j], n)] for j in range(2)}
    return pl.DataFrame(names if kind == 3 else numbers if kind == 4 else numbers | names)


def distances(seed, sizes=(1, 2, 3, 5, 12, 30, 90)):
    """Distances of tables that may have copies of people, equal people, or a record in both real and holdout."""
    rng = np.random.default_rng(seed)
    kind = int(rng.integers(0, 5))
    real, synthetic, holdout = (table(rng, int(rng.choice(sizes)), kind) for _ in range(3))
    if rng.random() < 0.5:
        synthetic = pl.concat([synthetic, real[: max(1, len(real) // 2)]])
    if rng.random() < 0.3:
        holdout = pl.concat([holdout, real[:1]])
    case = build_case(real, synthetic, holdout)
    return distances_of(case, distance_columns(case)[0])


def check_alike(both, each):
    for name in FIELDS:
        assert np.array_equal(getattr(both, name), getattr(each, name)), name
    for here, there in zip(both.shares, each.shares, strict=True):
        assert np.array_equal(here, there)


@pytest.mark.parametrize("few", [0.0, 1.0])  # whether those who need another search are searched alone
def test_one_search_says_what_two_do(few):
    checked = 0
    with patch.object(near, "_FEW", few):
        for seed in range(tries(60)):
            try:
                found = distances(seed)
            except SettingError:  # no column that tells rows apart
                continue
            check_alike(near._of_both(found), near._one_by_one(found, None, 0, True))
            checked += 1
    assert checked > tries(60) / 2


@pytest.mark.parametrize("engine", ["boxes", "tiles"])
def test_one_search_says_what_two_do_in_compiled_loops(engine, monkeypatch):
    monkeypatch.setattr("divulge.kernels.neighbours.index._FEW", 0)
    monkeypatch.setattr("divulge.kernels.neighbours._compiled._PRUNED", 0.0 if engine == "tiles" else 1.0)
    for seed in range(tries(12)):
        found = distances(seed, (40, 300))
        check_alike(near._of_both(found), near._one_by_one(found, None, 0, True))


def test_a_far_synthetic_table_needs_a_search_of_its_own():
    """No synthetic row is among the 21 nearest rows of anybody."""
    rng = np.random.default_rng(1)
    real, holdout = (pl.DataFrame({"x": rng.random(100), "y": rng.random(100)}) for _ in range(2))
    synthetic = pl.DataFrame({"x": [0.999, 0.999], "y": [0.999, 0.998]})
    found = distances_of(build_case(real[:50], synthetic, holdout))
    both = near._of_both(found)
    check_alike(both, near._one_by_one(found, None, 0, True))
    assert (both.shares[0] == 0).mean() > 0.5


@pytest.mark.parametrize("few", [0.0, 1.0])
def test_people_among_many_synthetic_rows_need_a_search_of_their_own(few):
    """The synthetic table is so dense that hardly five other people are among the 21 nearest rows of anybody."""
    rng = np.random.default_rng(2)
    real, holdout, synthetic = (pl.DataFrame({"x": rng.random(n), "y": rng.random(n)}) for n in (30, 20, 900))
    with patch.object(near, "_FEW", few):
        found = distances_of(build_case(real, synthetic, holdout))
        both = near._of_both(found)
    check_alike(both, near._one_by_one(found, None, 0, True))
    assert (both.shares[1] < 5 / 49).mean() > 0.9


def test_rows_that_tie_with_the_last_are_within_reach():
    """On a grid of categories 29 other cells are one mismatch away, and a search for 21 rows lists some of them."""
    grid = pl.DataFrame({"a": [f"a{i // 15}" for i in range(240)], "b": [f"b{i % 15}" for i in range(240)]})
    odd, even = grid[1::2], grid[::2]
    found = distances_of(build_case(odd[:60], even, odd[60:]))
    both = near._of_both(found)
    check_alike(both, near._one_by_one(found, None, 0, True))
    # of 16 values of a and 15 of b, 15 + 14 cells differ from a cell in one of the two
    inside = both.shares[0] * 120 + both.shares[1] * 119
    assert set(inside.tolist()) == {29.0}


def test_lists_are_merged_some_people_at_a_time(monkeypatch):
    """Whatever their number, the rows within reach are those of all lists at once."""
    found = distances(3, (300,))
    whole = near._one_by_one(found, None, near.REACH, True)
    monkeypatch.setattr(near, "_AT_ONCE", 7)
    parts = near._one_by_one(found, None, near.REACH, True)
    check_alike(parts, whole)
    assert all(np.array_equal(a, b) for a, b in zip(parts.listed, whole.listed, strict=True))


def test_rows_that_tie_with_the_end_of_a_list_are_those_of_each_person(monkeypatch):
    rng = np.random.default_rng(0)
    listed = tuple(np.sort(rng.integers(0, 2, (50, near.REACH)) / 4, axis=1) for _ in range(2))
    beyond = tuple(rng.integers(0, 9, 50).astype(float) for _ in range(2))
    expected = np.empty((2, 50))
    for i in range(50):
        radius = np.sort(np.concatenate([distances[i] for distances in listed]))[near.REACH - 1]
        for j, (distances, more) in enumerate(zip(listed, beyond, strict=True)):
            expected[j, i] = (distances[i] <= radius).sum() + more[i] * (distances[i, -1] == radius)
    monkeypatch.setattr(near, "_AT_ONCE", 7)
    assert np.array_equal(near._within_reach(listed, beyond), expected)
    assert 10 < (expected[0] > near.REACH).sum() < 40  # the end of the list ties for some
