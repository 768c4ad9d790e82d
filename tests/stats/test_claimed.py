"""What a claim of differential privacy allows, and the bound of epsilon from members and strangers of one table."""

import itertools
import math

import numpy as np
import pytest
from scipy.stats.contingency import odds_ratio

from divulge.core.errors import SettingError
from divulge.stats.epsilon import advantage_allowed, replaced_claim, split_epsilon, tpr_allowed


def test_worked_numbers():
    assert [round(tpr_allowed(a, 1.0), 4) for a in (0.01, 0.1, 0.5)] == [0.0272, 0.2718, 0.8161]
    assert round(advantage_allowed(1.0), 4) == 0.4621  # (e - 1) / (e + 1)
    assert tpr_allowed(0.01, 1.0, 0.05) == pytest.approx(math.e / 100 + 0.05)
    assert replaced_claim(0.5, 1e-5, "replace") == (0.5, 1e-5)
    assert replaced_claim(0.5, 1e-5, "add or remove") == (1.0, pytest.approx((1 + math.exp(0.5)) * 1e-5))
    assert tpr_allowed(0.2, 1e4) == advantage_allowed(1e4) == 1.0  # no overflow
    assert tpr_allowed(1.0, 1.0) == 1.0


@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 0.0), (1.0, 0.0), (1.0, 0.03), (3.0, 0.2)])
def test_the_best_test_of_the_dominating_mechanism_reaches_what_is_allowed_and_no_more(epsilon, delta):
    """Kairouz, Oh and Viswanath: with delta the world is told, else the answer is right with e^epsilon to 1."""
    right = (1 - delta) * math.exp(epsilon) / (1 + math.exp(epsilon))
    wrong = 1 - delta - right
    inside, outside = (
        np.array([delta, right, wrong, 0]),
        np.array([0, wrong, right, delta]),
    )  # by falling likelihood ratio
    tpr, fpr = np.concatenate([[0], np.cumsum(inside)]), np.concatenate([[0], np.cumsum(outside)])
    for a in np.linspace(0.001, 0.999, 50):
        assert tpr_allowed(a, epsilon, delta) == pytest.approx(np.interp(a, fpr, tpr))
    assert advantage_allowed(epsilon, delta) == pytest.approx((tpr - fpr).max())


@pytest.mark.parametrize(
    ("hits", "n", "others", "m"), [(30, 200, 8, 150), (12, 40, 1, 60), (100, 120, 70, 90), (5, 9, 0, 9)]
)
def test_the_bound_is_the_exact_lower_limit_of_the_odds_ratio(hits, n, others, m):
    found = odds_ratio([[hits, others], [n - hits, m - others]], kind="conditional")
    low = found.confidence_interval(0.95, alternative="greater").low
    assert split_epsilon(hits, n, others, m) == pytest.approx(max(0.0, math.log(low)), abs=1e-6)


@pytest.mark.parametrize("seed", range(6))
def test_no_mechanism_hits_more_members_than_the_distribution_that_the_bound_takes(seed):
    """All draws of 3 of 6 people; any likelihood of a table that changes at most by e^epsilon with one exchange."""
    rng, epsilon, n, people = np.random.default_rng(seed), 0.8, 3, 6
    draws = list(itertools.combinations(range(people), n))
    # the largest function below random values that changes by at most epsilon from draw to neighbouring draw
    steps = np.array([[n - len(set(a) & set(b)) for b in draws] for a in draws])
    logs = (rng.uniform(0, 3, len(draws))[None, :] + epsilon * steps).min(axis=1)
    chance = np.exp(logs) / np.exp(logs).sum()
    for size in range(1, people):
        for hit in itertools.combinations(range(people), size):
            members = np.array([len(set(d) & set(hit)) for d in draws])
            k = np.arange(max(0, size - n), min(n, size) + 1)
            weights = [math.comb(n, x) * math.comb(n, size - x) * math.exp(epsilon * x) for x in k]
            for x in k:
                bound = sum(w for y, w in zip(k, weights, strict=True) if y >= x) / sum(weights)
                assert chance[members >= x].sum() <= bound + 1e-12


def test_the_bound_grows_with_what_was_found_and_falls_with_confidence_and_delta():
    at = [split_epsilon(h, 500, 10, 500) for h in range(10, 200, 10)]
    assert at == sorted(at) and at[0] == 0 and at[-1] > 2
    assert split_epsilon(60, 500, 10, 500, level=0.999) < split_epsilon(60, 500, 10, 500)
    few = [split_epsilon(60, 500, 10, 500, delta=d) for d in (0.0, 1e-6, 1e-3, 0.05, 0.2)]
    assert few == sorted(few, reverse=True) and few[-1] == 0
    assert split_epsilon(0, 5, 0, 5) == split_epsilon(5, 5, 5, 5) == 0.0
    assert split_epsilon(500, 500, 0, 500) > 8
    with pytest.raises(SettingError, match="game: needs"):
        split_epsilon(6, 5, 0, 5)
