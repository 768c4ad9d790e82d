"""ROC statistics against plain loops, published numbers and enumeration."""

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import beta

from divulge.core.errors import SettingError
from divulge.stats import wilson
from divulge.stats.roc import advantage, auc, auc_gain, claims_at, least_strangers, many_members, mid_ranks


def test_the_auc_counts_pairs_and_half_of_the_ties():
    rng = np.random.default_rng(0)
    members, strangers = rng.integers(0, 6, 40) * 1.0, rng.integers(0, 6, 30) * 1.0
    pairs = [(a > b) + (a == b) / 2 for a in members for b in strangers]
    assert auc(members, strangers).value == pytest.approx(np.mean(pairs), abs=1e-15)


def test_the_standard_error_is_delongs():
    rng = np.random.default_rng(1)
    members, strangers = rng.normal(size=50) + 1, rng.normal(size=70)
    kernel = (members[:, None] > strangers[None, :]) * 1.0
    error = np.sqrt(kernel.mean(axis=1).var(ddof=1) / 50 + kernel.mean(axis=0).var(ddof=1) / 70)
    found = auc(members, strangers)
    half = np.log(found.high / (1 - found.high)) - np.log(found.value / (1 - found.value))
    assert half * found.value * (1 - found.value) == pytest.approx(1.959964 * error, rel=1e-6)
    wider = auc(members, strangers, spread=1.3)
    assert np.log(wider.high / (1 - wider.high)) - np.log(found.value / (1 - found.value)) == pytest.approx(1.3 * half)


def test_swapping_the_groups_turns_the_auc_round():
    rng = np.random.default_rng(2)
    members, strangers = rng.integers(0, 9, 33) * 1.0, rng.integers(2, 9, 21) * 1.0
    here, there = auc(members, strangers), auc(strangers, members)
    assert here.value + there.value == pytest.approx(1, abs=1e-12)
    assert here.low + there.high == pytest.approx(1, abs=1e-12)


def test_where_all_members_stand_above_the_limits_are_wilsons():
    found = auc(np.arange(5.0) + 9, np.arange(8.0))
    assert (found.value, found.high) == (1.0, 1.0)
    assert found.low == pytest.approx(wilson(5, 5).low)


def test_the_gain_over_the_same_scores_is_0_and_over_noise_the_whole_excess():
    rng = np.random.default_rng(3)
    good = rng.normal(size=400) + 1, rng.normal(size=400)
    noise = rng.normal(size=400), rng.normal(size=400)
    found = auc_gain(good, noise)
    assert found.value == pytest.approx(auc(*good).value - auc(*noise).value)
    assert 0 < found.low < found.value < found.high


def test_mid_ranks_share_ties():
    assert mid_ranks(np.array([2.0, 1.0, 2.0, 2.0])).tolist() == [3.0, 1.0, 3.0, 3.0]


def test_claims_are_above_the_stranger_of_the_rank_and_ties_are_not_claimed():
    members, strangers = np.array([5.0, 9, 9, 10, 3]), np.arange(1.0, 20.0)
    found = claims_at(members, strangers, 0.1)
    assert (found.k, found.hits) == (2, 0)  # the second highest stranger scores 18
    tied = claims_at(np.array([18.0, 18, 19]), strangers, 0.1)
    assert tied.hits == 1


def test_too_few_strangers_leave_the_rate_undefined():
    found = claims_at(np.arange(500.0), np.arange(98.0), 0.01)
    assert found.k == 0
    assert np.isnan([found.tpr.value, found.tpr.low, found.tpr.high]).all()
    assert found.p_value == 1.0
    assert claims_at(np.arange(500.0), np.arange(99.0), 0.01).k == 1


@pytest.mark.parametrize(("n", "fpr"), [(1000, 0.01), (462, 0.1), (60, 0.05)])
def test_the_threshold_enters_with_the_beta_distribution_of_its_rate(n, fpr):
    """The limits of the page of the study: ranks whose own rate is surely below and surely above."""
    from divulge.stats.roc import _ranks_around

    j = np.arange(1, n + 1)
    below = np.flatnonzero(beta.sf(fpr, j, n + 1 - j) <= 0.025)
    above = np.flatnonzero(beta.cdf(fpr, j, n + 1 - j) <= 0.025)
    assert _ranks_around(n, fpr, 0.95) == (len(below) and below[-1] + 1, above[0] + 1 if len(above) else n + 1)


def test_the_limits_add_both_errors_in_square():
    rng = np.random.default_rng(4)
    members, strangers = rng.normal(size=300) + 1, rng.normal(size=400)
    found, own = claims_at(members, strangers, 0.1), wilson(claims_at(members, strangers, 0.1).hits, 300)
    assert found.tpr.low < own.low < own.high < found.tpr.high
    assert found.residual.value == pytest.approx((found.tpr.value - 0.1) / 0.9)


def test_a_lower_limit_needs_so_many_strangers():
    assert [least_strangers(a) for a in (0.1, 0.05, 0.01, 0.001)] == [36, 72, 368, 3688]
    for n in (35, 36):
        found = claims_at(np.full(1000, 9.0), np.zeros(n), 0.1)
        assert (found.tpr.low > 0) == (n >= 36)


def test_the_chance_of_many_members_is_counted():
    n, m, k = 4, 5, 2
    seen = [0] * (n + 1)
    for places in combinations(range(n + m), m):  # places of the strangers, from the top
        seen[places[k - 1] - (k - 1)] += 1
    for x in range(n + 1):
        assert many_members(x, n, m, k) == pytest.approx(sum(seen[x:]) / sum(seen))


@pytest.mark.parametrize(
    ("n", "m", "k", "critical"), [(400, 400, 20, 32), (1000, 1000, 10, 19), (1000, 1000, 100, 124), (500, 500, 5, 12)]
)
def test_critical_numbers_of_claims(n, m, k, critical):
    assert many_members(critical, n, m, k) <= 0.05 < many_members(critical - 1, n, m, k)


def test_the_advantage_is_taken_at_the_median_of_all_people():
    found = advantage(np.array([3.0, 4, 5, 0]), np.array([0.0, 1, 2, 6]))
    assert found.value == pytest.approx(3 / 4 - 1 / 4)


def test_what_is_impossible_is_refused():
    with pytest.raises(SettingError, match="outside"):
        claims_at(np.zeros(3), np.zeros(3), 1.0)
    with pytest.raises(SettingError, match="claims"):
        many_members(5, 4, 4, 1)
