"""One search in two tables at once against the full matrices of both, in every engine."""

import numpy as np
import pytest
from amount import tries
from test_neighbours import ENGINES, tables

from divulge.kernels.neighbours.distinct import Distinct
from divulge.kernels.neighbours.gower import pairwise
from divulge.kernels.neighbours.two_tables import TwoTables


def check_both(seed, engine):
    """Each listed distance, and how many rows of each table lie there, counted in the matrices."""
    rng, ruler, reference, queries, _ = tables(seed)
    cut = int(rng.integers(0, len(reference) + 1))
    parts = reference.take(np.arange(cut)), reference.take(np.arange(cut, len(reference)))
    asked = Distinct.of(queries)
    k = int(rng.choice([1, 3, 21]))
    of_each = [pairwise(ruler, asked.rows, rows) for rows in parts]
    both = TwoTables(ruler, *parts, engine=engine, threads=int(rng.choice([1, 2])))
    for near in both.near(asked, k):
        matrices = [m[near.queries] for m in of_each]
        whole = np.hstack(matrices)
        assert ((near.rows[0] + near.rows[1]).sum(axis=1) >= min(k, whole.shape[1])).all()
        for i, far in enumerate(near.far):
            assert far[0] == whole[i].min()
            for matrix, rows, beyond in zip(matrices, near.rows, near.beyond, strict=True):
                for distance in np.unique(far[np.isfinite(far)]):
                    listed = rows[i][far == distance].sum() + (beyond[i] if distance == far[-1] else 0)
                    assert listed == (matrix[i] == distance).sum(), (seed, engine, i)
        known = np.isfinite(near.far)
        assert not near.rows[0][~known].any()
        assert not near.rows[1][~known].any()


@pytest.mark.parametrize("engine", ENGINES)
def test_rows_of_both_tables_are_counted_at_each_distance(engine):
    for seed in range(tries(100)):
        check_both(seed, engine)


def test_queries_come_in_parts(monkeypatch):
    monkeypatch.setattr("divulge.kernels.neighbours.two_tables._BLOCK", 2)
    _, ruler, reference, queries, _ = tables(3)
    halves = reference.take(np.arange(0, len(reference), 2)), reference.take(np.arange(1, len(reference), 2))
    asked = Distinct.of(queries)
    found = list(TwoTables(ruler, *halves).near(asked, 3))
    monkeypatch.setattr("divulge.kernels.neighbours.two_tables._BLOCK", 10_000)
    (whole,) = TwoTables(ruler, *halves).near(asked, 3)
    assert len(found) == -(-len(asked.times) // 2)
    assert np.array_equal(np.vstack([part.far for part in found]), whole.far)
    for side in (0, 1):
        assert np.array_equal(np.vstack([part.rows[side] for part in found]), whole.rows[side])
        assert np.array_equal(np.concatenate([part.beyond[side] for part in found]), whole.beyond[side])
