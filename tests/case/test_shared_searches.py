"""Searches of a case that several attacks share: what is derived from another search equals a search of its own."""

import numpy as np
import polars as pl
import pytest

from divulge.case.case import build_case
from divulge.case.distances import Distances, distances_of
from divulge.kernels.neighbours.index import Index
from divulge.run.making.runner import Runner, Watch, run_all
from divulge.run.planning.plan import Task

SIDES = ("real", "synthetic", "holdout", "people")


def tables(seed):
    """Three tables with ties, repeated rows and missing values; sometimes with fewer rows than neighbours asked for."""
    rng = np.random.default_rng(seed)
    out = []
    for n in rng.permutation([int(rng.choice([1, 2, 40, 300])), 60, 90]):
        x = rng.integers(0, 12, n).astype(float)
        x[rng.random(n) < 0.1] = np.nan
        out.append(pl.DataFrame({"x": x, "y": rng.normal(size=n).round(1), "c": rng.choice(list("abc"), n)}))
    return out


def asked_alone(case, queries, reference, k):
    """Return what a search of the whole tables for k rows finds, without any other search."""
    d = Distances(case, ("x", "y", "c"))
    return Index(d.ruler, d.rows(reference)).nearest(d.rows(queries), k, own=d._own(queries, reference))


def assert_equal(found, expected):
    np.testing.assert_array_equal(found.distances, expected.distances)
    np.testing.assert_array_equal(found.rows, expected.rows)
    np.testing.assert_array_equal(found.n_ties, expected.n_ties)


@pytest.mark.first(2)
@pytest.mark.parametrize("seed", range(6))
def test_a_search_for_more_rows_answers_for_fewer(seed):
    case = build_case(*tables(seed))
    for queries in SIDES:
        for reference in SIDES:
            d = Distances(case, ("x", "y", "c"))
            d.expect(queries, reference, 5)
            d.expect(queries, reference, 3)
            for k in (2, 1, 4, 3, 5):
                assert_equal(d.nearest(queries, reference, k), asked_alone(case, queries, reference, k))


def test_what_is_announced_is_searched_once(monkeypatch):
    case, n_searches = build_case(*tables(0)), []
    searched = Distances._searched
    monkeypatch.setattr(Distances, "_searched", lambda *a: n_searches.append(a[3]) or searched(*a))
    d = Distances(case, ("x", "y", "c"))
    d.expect("real", "real", 5)
    for k in (1, 2, 5):
        d.nearest("real", "real", k)
    assert n_searches == [5]


@pytest.mark.parametrize("seed", range(6))
def test_attraction_after_a_search_of_each_side(seed):
    case = build_case(*tables(seed))
    plain, shared = Distances(case, ("x", "y", "c")), Distances(case, ("x", "y", "c"), keep=True)
    expected = Index(plain.ruler, plain.rows("people")).attraction(plain.rows("synthetic"))
    shared.expect("synthetic", "real", 2)
    shared.nearest("synthetic", "people")
    np.testing.assert_array_equal(shared.attraction(), expected)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("known", [0, 1, 4])
def test_the_nearest_of_some_rows_is_read_off_a_search_of_all(seed, known):
    case, rng = build_case(*tables(seed)), np.random.default_rng(seed)
    for queries in SIDES[:3]:
        for reference in SIDES[:3]:
            d = Distances(case, ("x", "y", "c"))
            n, m = d.n_rows(queries), d.n_rows(reference)
            if min(n, m) < 2:
                continue
            if known:
                d.nearest(queries, reference, known)
            among = np.sort(rng.permutation(m)[: max(2, m // 3)])
            asked = among if queries == reference else np.sort(rng.permutation(n)[: n // 2])
            index = Index(d.ruler, d.rows(reference).take(among))
            own = np.arange(len(asked)) if queries == reference else None
            expected = index.nearest(d.rows(queries).take(asked), own=own).distances[:, 0]
            found = d.to_nearest_of(queries, asked, reference, among, lambda index=index: index)
            np.testing.assert_array_equal(found, expected)


def test_a_run_announces_the_searches_of_later_attacks():
    case = build_case(*tables(0))
    runner = Runner(Watch(lambda *a: None), None, None, lambda done: None, None).untimed(0)
    run_all(case, [Task("dcr", {}), Task("nndr", {}), Task("exposure", {})], runner)
    found = distances_of(case)._found
    assert found("synthetic", "real").sizes() == {2}  # `dcr` asked for one before `nndr` did for two
    assert found("real", "people").sizes() == {5}
