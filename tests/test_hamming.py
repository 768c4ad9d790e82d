import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from divulge import kernels
from divulge.hamming import nearest_votes
from divulge.kernels import disclosed, disclosed_numpy, hamming_votes, hamming_votes_numpy


def brute(queries, references, votes):
    """Compare every pair in plain Python."""
    out, distance = [], []
    for q in queries:
        d = [sum(a != b for a, b in zip(q, r, strict=True)) for r in references]
        distance.append(min(d))
        out.append(sum(v for v, x in zip(votes, d, strict=True) if x == min(d)))
    return np.array(out), np.array(distance)


@st.composite
def tasks(draw):
    n_columns = draw(st.integers(1, 6))
    levels = draw(st.integers(1, 5))
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    queries = rng.integers(0, levels + 1, (draw(st.integers(1, 25)), n_columns)).astype(np.int32)
    references = np.unique(rng.integers(0, levels, (draw(st.integers(1, 25)), n_columns)).astype(np.int32), axis=0)
    votes = rng.integers(0, 4, (len(references), draw(st.integers(1, 4))))
    votes[:, 0] += 1
    return queries, references, votes


@settings(max_examples=300, deadline=None)
@given(tasks())
def test_nearest_votes_equal_brute_force(task):
    expected = brute(*task)
    for found in (nearest_votes(*task), hamming_votes_numpy(*task)):
        assert (found[0] == expected[0]).all()
        assert (found[1] == expected[1]).all()


@pytest.mark.parametrize("levels", [5, 400])
def test_the_compiled_search_equals_the_plain_one(levels):
    rng = np.random.default_rng(levels)
    queries = rng.integers(0, levels, (2100, 6)).astype(np.int32)
    references = np.unique(rng.integers(0, levels, (2100, 6)).astype(np.int32), axis=0)
    votes = rng.integers(1, 5, (len(references), 3))
    assert len(queries) * len(references) >= kernels.COMPILE_FROM or levels == 5
    found = hamming_votes(np.tile(queries, (3, 1)), references, votes)
    expected = hamming_votes_numpy(np.tile(queries, (3, 1)), references, votes)
    assert (found[0] == expected[0]).all()
    assert (found[1] == expected[1]).all()


def test_many_columns_go_through_the_pairwise_search():
    rng = np.random.default_rng(2)
    queries = rng.integers(0, 3, (30, 14)).astype(np.int32)
    references = np.unique(rng.integers(0, 3, (40, 14)).astype(np.int32), axis=0)
    votes = rng.integers(1, 3, (len(references), 2))
    found, expected = nearest_votes(queries, references, votes), brute(queries, references, votes)
    assert (found[0] == expected[0]).all()
    assert (found[1] == expected[1]).all()


@pytest.mark.parametrize("compile_it", [False, True])
def test_pure_groups_are_counted(compile_it):
    rng = np.random.default_rng(3)
    for _ in range(20):
        m, n, groups = rng.integers(1, 60), rng.integers(0, 60), 12
        gs, gr = rng.integers(0, groups, m), rng.integers(0, groups, n)
        ts, tr = (rng.integers(0, 3, (2, k)).astype(np.int32) for k in (m, n))
        pure, right = disclosed(gs, gr, groups, ts, tr, compile_it=compile_it)
        for j in range(2):
            own = {g: set(ts[j][gs == g]) for g in range(groups)}
            assert pure[j] == sum(len(own[g]) == 1 for g in gs)
            assert right[j] == sum(own[g] == {t} for g, t in zip(gr, tr[j], strict=True))
    assert disclosed_numpy(gs, gr, groups, ts, tr)[0].tolist() == pure.tolist()


def test_a_read_only_install_compiles_without_a_cache(monkeypatch):
    import numba

    real = numba.njit

    def refuse(*args, cache=False, **options):
        if cache:
            raise RuntimeError("cannot cache function: no locator available for file")
        return real(*args, **options)

    monkeypatch.setattr(numba, "njit", refuse)

    def double(x):
        return 2 * x

    assert kernels.compiled(double)(21) == 42
