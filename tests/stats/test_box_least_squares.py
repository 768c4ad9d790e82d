"""Least squares between 0 and 1: by hand, beside scipy's solver, and laws."""

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import lsq_linear

from divulge.stats.box_least_squares import box_least_squares


def solved(a, b, centre=0.5, penalty=0.5):
    return box_least_squares(sparse.csr_array(np.asarray(a, dtype=float)), np.asarray(b, dtype=float), centre, penalty)


def test_unknowns_of_their_own_by_hand():
    """Each is the mean of what is measured and of the centre, weighted by 1 and the penalty, and cut at 0 and 1."""
    found = solved(np.eye(4), [1.0, 0.2, 3.0, -2.0], centre=0.5, penalty=0.5)
    np.testing.assert_allclose(found, [(1 + 0.25) / 1.5, (0.2 + 0.25) / 1.5, 1, 0], atol=1e-9)


def test_without_counts_everybody_is_the_centre():
    assert solved(np.zeros((0, 3)), [], centre=0.3).tolist() == [0.3] * 3
    assert solved(np.zeros((2, 3)), [1, 1], centre=0.3).tolist() == [0.3] * 3
    assert solved(np.zeros((2, 0)), [1, 1]).tolist() == []


@pytest.mark.parametrize("seed", range(4))
def test_the_solution_is_that_of_scipy(seed):
    rng = np.random.default_rng(seed)
    a = (rng.random((40, 25)) < 0.2) * rng.random((40, 1))
    b = a @ rng.integers(0, 2, 25) + 0.3 * rng.normal(size=40)
    both = np.vstack([a, np.sqrt(0.5) * np.eye(25)]), np.r_[b, np.full(25, np.sqrt(0.5) * 0.4)]
    wanted = lsq_linear(*both, bounds=(0, 1), method="bvls", tol=1e-14).x
    np.testing.assert_allclose(solved(a, b, centre=0.4), wanted, atol=1e-5)


def test_the_other_value_is_the_other_solution():
    rng = np.random.default_rng(9)
    a = (rng.random((30, 20)) < 0.3) * 1.0
    b = a @ rng.integers(0, 2, 20) + rng.normal(size=30)
    np.testing.assert_allclose(solved(a, b, 0.3), 1 - solved(a, a.sum(axis=1) - b, 0.7), atol=1e-9)
