"""A true claim of differential privacy is contradicted in at most the nominal share; one a third as large is found.

Quick forms take a band of 3 standard errors, full forms (``-m full``) repeat more and take 2.
"""

import math

import numpy as np
import pytest

from divulge.stats.epsilon import advantage_allowed, split_epsilon

MANY = [
    pytest.param(200, 3.0, id="quick"),
    pytest.param(5000, 2.0, id="full", marks=[pytest.mark.full, pytest.mark.timeout(7200)]),
]


def answers(rng, n, m, epsilon):
    """Say of everybody whether he is in the table, by randomised response; an exchange changes two answers."""
    right = 1 / (1 + math.exp(-epsilon / 2))
    return rng.binomial(n, right), rng.binomial(m, 1 - right)


def histogram(rng, n, m, epsilon):
    """Publish how many people are in each cell, of which everybody has his own, with Laplace noise of scale 2/epsilon."""
    noisy = np.concatenate([np.ones(n), np.zeros(m)]) + rng.laplace(0, 2 / epsilon, n + m)
    claimed = noisy > 1
    return int(claimed[:n].sum()), int(claimed[n:].sum())


def given_away(rng, n, m, epsilon):
    """Randomised response, and with a chance of delta for each person the truth."""
    hits, others = answers(rng, n, m, epsilon)
    return hits + rng.binomial(n - hits, 0.01), others


MECHANISMS = {"answers": (answers, 0.0), "histogram": (histogram, 0.0), "given away": (given_away, 0.01)}


def contradicted(name, runs, claim, true, n, m, seed):
    make, delta = MECHANISMS[name]
    rng = np.random.default_rng(seed)
    counts = (make(rng, n, m, true) for _ in range(runs))
    return np.mean([split_epsilon(h, n, o, m, delta=delta) > claim for h, o in counts])


@pytest.mark.parametrize(("runs", "errors"), MANY)
@pytest.mark.parametrize("name", MECHANISMS)
@pytest.mark.parametrize(("epsilon", "n", "m"), [(0.5, 300, 300), (1.0, 600, 200), (3.0, 300, 300)])
def test_a_true_claim_is_seldom_contradicted(name, epsilon, n, m, runs, errors):
    found = contradicted(name, runs, epsilon, epsilon, n, m, 1)
    assert found <= 0.05 + errors * math.sqrt(0.05 * 0.95 / runs)


@pytest.mark.parametrize(("runs", "errors"), MANY)
@pytest.mark.parametrize("name", MECHANISMS)
def test_a_claim_a_third_as_large_as_the_truth_is_found(name, runs, errors):
    assert contradicted(name, runs, 1.0, 3.0, 300, 300, 2) >= 0.9


@pytest.mark.parametrize(("runs", "errors"), MANY)
@pytest.mark.parametrize("name", ["answers", "histogram"])
def test_the_mean_excess_stays_within_what_is_allowed(name, runs, errors):
    rng = np.random.default_rng(3)
    made = np.array([MECHANISMS[name][0](rng, 300, 300, 1.0) for _ in range(runs)]) / 300
    excess = made[:, 0] - made[:, 1]
    assert excess.mean() <= advantage_allowed(1.0) + errors * excess.std() / math.sqrt(runs)
