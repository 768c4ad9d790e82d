"""The attraction of members against strangers: worked numbers, its interval and its permutation test."""

import itertools
import math
from fractions import Fraction as F

import numpy as np
import pytest
from amount import tries
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from divulge.core.errors import SettingError
from divulge.stats import wilson
from divulge.stats.attraction import attraction


def of(members, strangers, n_synthetic=None, seed=0, **more):
    members, strangers = (np.asarray(c, dtype=float) for c in (members, strangers))
    m = round(members.sum() + strangers.sum()) if n_synthetic is None else n_synthetic
    return attraction(members, strangers, m, rng=np.random.default_rng(seed), **more)


def test_the_numbers_of_a_small_table():
    """Five rows: members collect 2 + 1 + 1, strangers 1; by hand f = 4 (1 - 1/4) / 5."""
    found = of([2, 1, 1, 0], [0, 1, 0, 0])
    assert (found.share, found.null_share, found.n_credits) == (0.8, 0.5, 5)
    assert found.risk.value == pytest.approx(0.6)
    assert found.difference.value == pytest.approx(0.3)
    assert (found.real.n, found.real.hits, found.holdout.n, found.holdout.rate) == (4, 4, 4, 0.25)
    assert found.difference.low == pytest.approx(found.risk.low / 2)
    assert found.difference.high == pytest.approx(found.risk.high / 2)


def test_the_copied_fraction_follows_from_the_share_whatever_the_sizes():
    rng = np.random.default_rng(1)
    for n_t, n_c in ((3, 3), (7, 2), (2, 9)):
        c = rng.integers(0, 5, n_t + n_c)
        c[0] += 1
        found = of(c[:n_t], c[n_t:])
        m, n = int(c.sum()), n_t + n_c
        share = F(int(c[:n_t].sum()), m)
        assert found.risk.value == pytest.approx(float((share - F(n_t, n)) / F(n_c, n)))
        assert found.difference.value == pytest.approx(float(share - F(n_t, n)))


def test_where_credits_vary_much_the_interval_is_welchs():
    rng = np.random.default_rng(2)
    members, strangers = (rng.choice([0.0, 30.0], n, p=[0.8, 0.2]) for n in (80, 50))
    found, m = of(members, strangers), members.sum() + strangers.sum()
    welch = stats.ttest_ind(members, strangers, equal_var=False).confidence_interval()
    low, high = welch.low * 80 / m, welch.high * 80 / m
    assert found.risk.low <= low
    assert found.risk.high >= high
    # the other of the two sees as many rows as vary this much: nearly the same
    assert found.risk.high - found.risk.low == pytest.approx(high - low, rel=0.05)


def test_where_credits_do_not_vary_the_rows_still_do():
    """Everybody attracts three rows: Wilson's interval of 60 in 120, from -1 to 1 instead of 0 to 1."""
    found, rows = of(np.full(20, 3.0), np.full(20, 3.0)), wilson(20, 40)
    # no spread: as many rows as there are people at most
    assert (found.risk.low, found.risk.high) == pytest.approx((2 * rows.low - 1, 2 * rows.high - 1))
    copied = of(np.full(20, 1.0), np.zeros(20))
    assert (copied.risk.value, copied.risk.high) == (1, 1)
    assert copied.risk.low == pytest.approx(2 * wilson(20, 20).low - 1)


def test_where_credits_vary_less_than_rows_the_rows_give_the_width():
    """Of 100 rows 99 people attract one and one attracts none; independent rows would leave 37 with none."""
    members, strangers = np.full(50, 1.0), np.full(50, 1.0)
    strangers[0] = 0
    found, rows = of(members, strangers), wilson(50, 99)
    assert (found.risk.low, found.risk.high) == pytest.approx((2 * rows.low - 1, 2 * rows.high - 1))


def test_two_shares_are_put_together_with_their_correlation():
    """A tenth of 1,000 rows counts; unequal sizes; credits like those of independent rows."""
    rng = np.random.default_rng(3)
    members = rng.multinomial(80, np.full(400, 1 / 400)).astype(float)
    strangers = rng.multinomial(20, np.full(100, 1 / 100)).astype(float)
    found = of(members, strangers, 1000)
    p, q, ratio = 0.08, 0.02, 4
    sd = math.sqrt((p * (1 - p) + ratio**2 * q * (1 - q) + 2 * ratio * p * q) / 1000)
    assert found.risk.value == pytest.approx(0)
    assert found.risk.high - found.risk.low == pytest.approx(2 * 1.96 * sd, rel=0.12)


def test_shares_that_are_large_gain_what_the_other_loses():
    """Of 100 rows 59 go to members and 20 to strangers, one each: limits by hand, MOVER with the correlation."""
    members, strangers = np.full(60, 1.0), np.full(20, 1.0)
    members[0] = 0
    found, one, two = of(members, strangers, 100), wilson(59, 100), wilson(20, 100)
    correlation = -math.sqrt(0.59 * 0.2 / (0.41 * 0.8))

    def distance(a, b):
        return math.sqrt(a * a + b * b - 2 * correlation * a * b)

    value = 0.59 - 3 * 0.2
    assert found.risk.value == pytest.approx(value)
    assert found.risk.low == pytest.approx(value - distance(0.59 - one.low, 3 * (two.high - 0.2)))
    assert found.risk.high == pytest.approx(value + distance(one.high - 0.59, 3 * (0.2 - two.low)))


@settings(max_examples=tries(150), deadline=None, derandomize=True, database=None)
@given(
    st.lists(st.integers(0, 6), min_size=1, max_size=12),
    st.lists(st.integers(0, 6), min_size=1, max_size=12),
    st.integers(0, 30),
)
def test_an_interval_has_width_and_holds_its_value(members, strangers, more):
    m = sum(members) + sum(strangers) + more
    if not m:
        return
    found = of(members, strangers, m)
    for one in (found.risk, found.difference):
        assert one.low <= one.value <= one.high
        assert one.high - one.low > 0.001
    for level in (0.8, 0.999):
        difference, risk = found.at(level)
        inner, outer = sorted((risk, found.risk), key=lambda i: i.high - i.low)
        assert outer.low <= inner.low <= inner.high <= outer.high
        assert difference.value == found.difference.value
    assert found.at(0.95) == (found.difference, found.risk)


def test_the_p_value_is_that_of_all_permutations():
    members, strangers = [3, 2, 2, 0], [0, 1, 0, 0]
    pool = np.array(members + strangers)
    seen = abs(sum(members) - sum(strangers))
    hits = [abs(2 * pool[list(i)].sum() - pool.sum()) >= seen for i in itertools.combinations(range(8), 4)]
    exact = np.mean(hits)
    assert of(members, strangers).p_value == pytest.approx(exact, abs=3 * math.sqrt(exact * (1 - exact) / 1999))


@pytest.mark.parametrize("seed", range(4))
def test_the_p_value_agrees_with_the_closed_variance(seed):
    """Var_0(share) = n_T n_C / (N (N - 1) m^2) sum (c - mean)^2, a normal share for 400 + 200 people."""
    rng = np.random.default_rng(seed)
    members, strangers = rng.poisson(2.1, 400).astype(float), rng.poisson(2.0, 200).astype(float)
    found, c = of(members, strangers), np.concatenate([members, strangers])
    m, n = c.sum(), 600
    sd = math.sqrt(400 * 200 / (n * (n - 1) * m**2) * ((c - c.mean()) ** 2).sum())
    p = 2 * stats.norm.sf(abs(found.share - 400 / 600) / sd)
    assert found.p_value == pytest.approx(p, abs=0.002 + 4 * math.sqrt(p * (1 - p) / 1999))


def test_the_order_of_rows_changes_no_digit():
    rng = np.random.default_rng(5)
    members, strangers = rng.integers(0, 9, 60) / 3, rng.integers(0, 9, 50) / 3
    homes = rng.integers(0, 20, 60), rng.integers(0, 20, 50)
    one = of(members, strangers, 500, cluster_members=homes[0], cluster_strangers=homes[1])
    a, b = rng.permutation(60), rng.permutation(50)
    other = of(members[a], strangers[b], 500, cluster_members=90 - homes[0][a], cluster_strangers=homes[1][b])
    assert one == other


def test_swapping_the_groups_turns_the_sign():
    rng = np.random.default_rng(6)
    a, b = rng.integers(0, 9, 60) / 7, rng.integers(0, 9, 50) / 7
    here, there = of(a, b, 500), of(b, a, 500)
    assert here.difference.value == -there.difference.value
    assert here.p_value == there.p_value


def test_households_count_once():
    """Each person written three times as a household: the same as the household's sum, one person each."""
    rng = np.random.default_rng(7)
    a, b = rng.integers(0, 9, 30).astype(float), rng.integers(0, 9, 20).astype(float)
    alone = of(3 * a, 3 * b)
    homes = np.repeat(np.arange(30), 3), np.repeat(np.arange(20), 3)
    together = of(np.repeat(a, 3), np.repeat(b, 3), cluster_members=homes[0], cluster_strangers=homes[1])
    naive = of(np.repeat(a, 3), np.repeat(b, 3))
    assert (together.risk.low, together.risk.high) == pytest.approx((alone.risk.low, alone.risk.high))
    assert naive.risk.high - naive.risk.low < 0.7 * (together.risk.high - together.risk.low)
    assert together.p_value == pytest.approx(alone.p_value, abs=0.05)
    assert naive.p_value < together.p_value


def test_a_table_written_twice_says_no_more():
    for a, b in (([1, 0, 2, 1], [0, 1, 0, 0, 1]), ([1, 1, 1], [0, 0, 0]), ([0, 0], [0, 0, 0])):
        m = sum(a) + sum(b) + 4
        once, twice = of(a, b, m), of(2 * np.array(a), 2 * np.array(b), 2 * m, repeats=2)
        assert once.risk == twice.risk
        assert once.p_value == twice.p_value


def test_the_smallest_detectable_excess_is_found_in_four_runs_of_five():
    """Independent rows, 300 + 300 people: the excess it names, planted, is found by the two-sided 5% test."""
    rng = np.random.default_rng(8)
    m, n = 600, 300
    clean = rng.multinomial(m, np.full(2 * n, 1 / (2 * n))).astype(float)
    excess = of(clean[:n], clean[n:]).detectable(0.95)
    p = np.r_[np.full(n, 0.5 + excess), np.full(n, 0.5 - excess)] / n
    drawn = rng.multinomial(m, p, size=200).astype(float)
    z = stats.norm.ppf(0.975)
    found = 0
    for c in drawn:
        sd = math.sqrt(n * n / (2 * n * (2 * n - 1) * m**2) * ((c - c.mean()) ** 2).sum())
        found += (c[:n].sum() / m - 0.5) / sd > z
    assert 0.72 < found / 200 < 0.92


def test_without_people_or_rows_all_is_undefined():
    for found in (of([], [1, 0]), of([1, 0], []), of([0, 0], [0], 0)):
        assert math.isnan(found.risk.value)
        assert math.isnan(found.p_value)
        assert math.isnan(found.detectable(0.95))
        assert found.method.startswith("undefined")


def test_no_credit_at_all_still_has_limits():
    found = of(np.zeros(50), np.zeros(50), 1000)
    assert math.isnan(found.share)
    assert found.risk.value == 0
    assert found.risk.high == pytest.approx(wilson(0, 100).high)
    assert found.risk.low == pytest.approx(-wilson(0, 100).high)
    assert found.p_value == 1


def test_one_person_a_side_bounds_nothing():
    found = of([9], [0], 100)
    assert found.risk.low < 0
    assert found.risk.high > 0.5


@pytest.mark.parametrize(
    ("members", "strangers", "m", "more"),
    [
        ([-1.0], [1.0], 5, {}),
        ([math.nan], [1.0], 5, {}),
        ([[1.0]], [1.0], 5, {}),
        ([5.0], [1.0], 5, {}),
        ([1.0], [1.0], 5, {"cluster_members": np.array([1])}),
        ([1.0], [1.0], 5, {"level": 1.0}),
    ],
)
def test_wrong_input_is_told(members, strangers, m, more):
    with pytest.raises(SettingError):
        of(members, strangers, m, **more)
