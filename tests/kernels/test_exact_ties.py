"""Distances whose exact values are equal are equal: every engine against fractions."""

import functools
import itertools
from fractions import Fraction as F

import numpy as np
import polars as pl
import pytest
from amount import tries

import divulge
from divulge.kernels.neighbours.gower import Field, fit_ruler, pairwise
from divulge.kernels.neighbours.index import Index
from divulge.kernels.neighbours.lattice import steps_of, whole_steps

LATTICES = {
    "halves under a range of 1.5": [(F(1, 4), F(1, 2), 4), (F(1, 4), F(1, 2), 4)],
    "tenths": [(F(1, 10), F(1, 10), 8), (F(-3, 10), F(1, 10), 12), (F(5), F(7), 6)],
    "cents and years": [(F(1999, 100), F(1, 100), 1501), (F(18), F(1), 73)],
    "thirds": [(F(1, 3), F(1, 3), 7), (F(0), F(2, 7), 11), (F(1000), F(1), 13)],
    "rescaled by .7": [(F(7, 10), F(7, 10), 10), (F(0), F(1), 4)],
    "ranges without a common multiple in 53 bits": [(F(0), F(1, 10), p + 1) for p in (101, 103, 107, 109, 113, 127, 131, 137)],
}  # fmt: skip


@functools.cache
def table(seed, name, n=60, m=8):
    """Codes and numbers of a lattice, as floats and as fractions; the reference has both ends of each range."""
    rng = np.random.default_rng(seed)
    fields, exact, spans = [], [], []
    for j, (low, step, count) in enumerate(LATTICES[name]):
        place = rng.integers(0, count, n + m)
        place[:2] = 0, count - 1
        values = [low + step * int(p) for p in place]
        floats = np.array([float(v) for v in values])
        fields.append(Field(f"x{j}", (floats[:n], floats[n:]), (np.zeros(n, np.int32), np.zeros(m, np.int32))))
        exact.append(values)
        spans.append(step * (count - 1))
    codes = rng.integers(0, 3, (2, n + m)).astype(np.int32)
    fields += [Field(f"c{j}", None, (c[:n], c[n:])) for j, c in enumerate(codes)]

    def distance(i, r):
        numbers = sum((min(F(1), abs(x[n + i] - x[r]) / span) for x, span in zip(exact, spans, strict=True)), F(0))
        return (numbers + int((codes[:, n + i] != codes[:, r]).sum())) / len(fields)

    ruler, (reference, queries) = fit_ruler(fields, [0])
    return ruler, reference, queries, [[distance(i, r) for r in range(n)] for i in range(m)]


@pytest.mark.first(2)
@pytest.mark.parametrize("engine", ["numpy", "boxes", "tiles"])
@pytest.mark.parametrize("name", LATTICES)
def test_exact_ties_are_ties(name, engine):
    for seed in range(tries(30)):
        ruler, reference, queries, exact = table(seed, name)
        index = Index(ruler, reference, engine=engine, threads=1)
        found = index.nearest(queries, 3)
        for i, distances in enumerate(exact):
            order = sorted(distances)
            assert found.n_ties[i] == distances.count(order[2]), (seed, i)
            np.testing.assert_allclose(found.distances[i], [float(d) for d in order[:3]], rtol=1e-12)
            equal = [a == b for a, b in itertools.pairwise(order[:3])]
            assert equal == [a == b for a, b in itertools.pairwise(found.distances[i].tolist())]


@pytest.mark.parametrize("name", LATTICES)
def test_unequal_distances_stay_unequal(name):
    ruler, reference, queries, exact = table(0, name)
    matrix = pairwise(ruler, queries, reference)
    for row, distances in zip(matrix.tolist(), exact, strict=True):
        ranks = {d: r for r, d in enumerate(sorted(set(distances)))}
        computed = {d: r for r, d in enumerate(sorted(set(row)))}
        assert [computed[d] for d in row] == [ranks[d] for d in distances]


def test_tables_of_every_kind_have_exact_ties():
    """The whole way from a table: 33 ties of these 600 queries were broken in the last bit."""
    rng = np.random.default_rng(0)

    def table(n):
        columns = {c: rng.choice([0.25, 0.75, 1.25, 1.75], n) for c in "ab"}
        return pl.DataFrame(columns | {"c": rng.choice([0.1, 0.2, 0.3, 0.4, 0.7], n)})

    reference, queries = table(200), table(600)
    whole = [np.rint(t.to_numpy() * 100) for t in (reference, queries)]
    terms = np.abs(whole[1][:, None] - whole[0]) * [2, 2, 5]  # ranges of 150, 150 and 60: 300 each
    distance = terms.sum(axis=2)
    n_ties = (distance == distance.min(axis=1, keepdims=True)).sum(axis=1)
    assert divulge.nearest(queries, reference).n_ties.tolist() == n_ties.tolist()


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([3.0, 9.0, -3.0], (-3.0, 6.0)),
        ([0.1, 0.2, 0.4], (0.1, 0.1)),
        ([1 / 3, 2 / 3, 5 / 3], (1 / 3, 1 / 3)),
        ([0.0, 2e9, 4e9 + 2], (0.0, 2.0)),
        ([0.0, 1.0, 2**0.5], None),
        ([5.0, 5.0], None),
        ([1.0, 1.0 + 2**-50, 1.5], None),  # a step of few roundings is none
    ],
)
def test_a_lattice_is_found_where_there_is_one(values, expected):
    found = steps_of(np.array(values))
    assert (found is None) == (expected is None) and (found is None or found == pytest.approx(expected, rel=1e-12))


def test_random_numbers_are_no_lattice():
    rng = np.random.default_rng(0)
    assert all(steps_of(rng.normal(size=n)) is None for n in (4, 10, 100, 5000))


def test_values_beside_the_lattice_keep_their_place():
    assert whole_steps(np.array([0.3, 0.1, 0.25, np.nan, -np.inf]), 0.1, 0.1) == pytest.approx(
        [2, 0, 1.5, np.nan, -np.inf], nan_ok=True
    )
