"""Isolation: printed chances, enumeration by fractions, and a plain oracle of the permutation test."""

import math
from fractions import Fraction as F
from itertools import combinations

import numpy as np
import pytest
from amount import tries
from hypothesis import given, settings
from hypothesis import strategies as st

from divulge.attacks.multiplicity import _permuted_family
from divulge.core.errors import SettingError
from divulge.stats import isolation
from divulge.stats.intervals import mover_residual, newcombe
from divulge.stats.isolation import Fits, chance, fit_alone, isolations, right, singled_out, thinned

some = settings(max_examples=tries(60), deadline=None, derandomize=True, database=None)


def fits_of(guesses, most=64, record=None, groups=None):
    """Fits from a list of sets of people."""
    count = np.array([len(g) for g in guesses], dtype=np.int64)
    listed = [sorted(g) if len(g) <= most else [] for g in guesses]
    return Fits(
        count=np.minimum(count, most + 1),
        start=np.append(0, np.cumsum([len(g) for g in listed])).astype(np.int64),
        people=np.array([p for g in listed for p in g], dtype=np.int64),
        most=most,
        record=np.arange(len(guesses)) if record is None else np.asarray(record, dtype=np.int64),
        groups=tuple(np.array(g, dtype=np.int64) for g in (groups or [range(len(guesses))])),
    )


def members_first(n, m):
    return np.arange(n + m) < n


def rng():
    return np.random.default_rng(7)


# ---------------------------------------------------------------- chances


def test_thinning_gives_the_printed_numbers():
    found = thinned(1000, 500, 4)
    assert found.round(5).tolist() == [0, 0.5, 0.5005, 0.37538, 0.25]


@pytest.mark.parametrize(("n", "part"), [(n, k) for n in range(8) for k in range(n + 1)])
def test_thinning_is_what_enumeration_gives(n, part):
    found = thinned(n, part, 9)
    for k in range(10):
        parts = list(combinations(range(n), part)) if k <= n else []
        expected = F(sum(len(set(p) & set(range(k))) == 1 for p in parts), len(parts)) if parts else F(0)
        assert found[k] == pytest.approx(float(expected), abs=1e-15), k


@pytest.mark.parametrize("n", [1, 5, 1000])
def test_a_table_that_is_its_own_part_needs_exactly_one(n):
    assert thinned(n, n, 6).tolist() == [0, 1, 0, 0, 0, 0, 0]


def test_thinning_of_a_million_loses_no_digit():
    n, part = 10**6, 10**5
    found = thinned(n, part, 64)
    for k in (1, 2, 40, 64):
        # C(n - k, part - 1) / C(n, part) with what both have cancelled
        exact = F(k * part * math.perm(n - part, k - 1), math.perm(n, k))
        assert found[k] == pytest.approx(float(exact), rel=1e-12)


@pytest.mark.parametrize(("n", "printed"), [(10, 0.38742), (100, 0.36973), (500, 0.36825), (1000, 0.36806)])
def test_one_in_n_is_alone_by_chance_as_often_as_printed(n, printed):
    assert round(chance(np.array([1, 1, 1]), n, n, 64), 5) == printed


def test_chance_is_the_mean_over_guesses():
    counts, n_people, size = [0, 1, 3, 10, 11, 500], 20, 8
    alone = [size * w * (1 - w) ** (size - 1) for w in (k / n_people for k in counts if k <= 10)]
    assert chance(np.array(counts), n_people, size, 10) == pytest.approx(sum(alone) / len(counts), rel=1e-12)


def test_chance_of_guesses_that_fit_everybody_or_of_none():
    assert chance(np.array([4, 4]), 4, 4, 64) == 0
    assert chance(np.array([1]), 1, 1, 64) == 1  # the one person there is
    assert chance(np.array([], dtype=int), 4, 4, 64) == 0
    assert chance(np.array([1]), 0, 0, 64) == 0


# ---------------------------------------------------------------- a plain oracle


def alone(k, n, size):
    """The chance that a random part of a table of n holds exactly one of k."""
    return F(k * math.comb(n - k, size - 1), math.comb(n, size)) if 0 < k <= n else F(0)


def plain(guesses, members, strangers, most):
    """The expected hits of each guess on either side, by sets and fractions."""
    size = min(len(members), len(strangers))
    fewer = [g if len(g) <= most else set() for g in guesses]
    return (
        [alone(len(g & members), len(members), size) for g in fewer],
        [alone(len(g & strangers), len(strangers), size) for g in fewer],
    )


cases = st.tuples(st.integers(1, 6), st.integers(1, 6)).flatmap(
    lambda s: st.tuples(
        st.just(s), st.lists(st.sets(st.integers(0, sum(s) - 1), max_size=sum(s)), min_size=1, max_size=12)
    )
)


@some
@given(cases, st.integers(1, 6))
def test_rates_are_those_of_plain_python(case, most):
    (n, m), guesses = case
    a, b = plain(guesses, set(range(n)), set(range(n, n + m)), most)
    fits, is_member = fits_of(guesses, most), members_first(n, m)
    each = right(fits, is_member)
    assert each[0].tolist() == pytest.approx([float(x) for x in a], abs=1e-15)
    assert each[1].tolist() == pytest.approx([float(x) for x in b], abs=1e-15)
    (found,) = isolations(fits, is_member, rng=rng(), draws=9)
    assert (found.real.n, found.holdout.n) == (len(guesses), len(guesses))
    assert found.real.hits == pytest.approx(float(sum(a)))
    assert found.holdout.hits == pytest.approx(float(sum(b)))
    assert found.real.rate == pytest.approx(float(sum(a) / len(a)))
    assert found.difference.value == pytest.approx(float((sum(a) - sum(b)) / len(a)), abs=1e-15)
    if sum(b) == len(b):
        assert math.isnan(found.risk.value)
    else:
        assert found.risk.value == pytest.approx(float((sum(a) - sum(b)) / (len(b) - sum(b))), abs=1e-14)


GUESSES = [{0}, {1}, {0, 1}, {2, 5}, {3}, {1, 2, 3}, {6, 0}, {2}, {0, 3, 5, 6}, {2, 4}]


@pytest.mark.first(1)
@pytest.mark.parametrize(("n", "m"), [(4, 4), (6, 2), (2, 6), (7, 1)])
def test_the_permutation_test_is_that_of_all_labellings(n, m):
    """The p-value, the spread and the rate by chance of many draws, against every way to choose the members."""
    a, b = plain(GUESSES, set(range(n)), set(range(n, n + m)), 64)
    seen = abs(sum(a) - sum(b))
    every = []
    for chosen in combinations(range(n + m), n):
        x, y = plain(GUESSES, set(chosen), set(range(n + m)) - set(chosen), 64)
        every.append((sum(x) - sum(y), sum(x) + sum(y)))
    draws = 20_000
    (found,) = isolations(fits_of(GUESSES), members_first(n, m), rng=rng(), draws=draws)
    p = float(F(sum(abs(d) >= seen for d, _ in every), len(every)))
    assert found.p_value == pytest.approx(p, abs=4 * math.sqrt(p * (1 - p) / draws) + 2 / draws)
    spread = math.sqrt(sum(float(d) ** 2 for d, _ in every) / len(every)) / len(GUESSES)
    assert found.spread == pytest.approx(spread, rel=0.03)
    expected = float(sum(s for _, s in every)) / len(every) / 2 / len(GUESSES)
    assert found.expected == pytest.approx(expected, rel=0.02)
    assert found.z == pytest.approx(float(seen) / len(GUESSES) / spread, rel=0.03)


def test_a_p_value_counts_the_table_itself():
    """Eight guesses that fit one member each: no labelling of 8 and 8 by chance has them all again."""
    guesses = [{i} for i in range(8)]
    (found,) = isolations(fits_of(guesses), members_first(8, 8), rng=rng(), draws=99)
    assert found.p_value == pytest.approx(1 / 100)
    assert (found.real.rate, found.holdout.rate, found.risk.value) == (1, 0, 1)


# ---------------------------------------------------------------- sides, order, groups


def random_guesses(seed, n_people, n_guesses=60):
    draw = np.random.default_rng(seed)
    return [set(draw.choice(n_people, draw.integers(0, 5), replace=False).tolist()) for _ in range(n_guesses)]


@pytest.mark.parametrize(("n", "m"), [(20, 20), (30, 10), (8, 25)])
def test_swapping_members_and_strangers_turns_the_sign(n, m):
    guesses, record = random_guesses(1, n + m), np.arange(60) % 23
    is_member = members_first(n, m)
    (one,) = isolations(fits_of(guesses, record=record), is_member, rng=rng(), draws=499)
    (other,) = isolations(fits_of(guesses, record=record), ~is_member, rng=rng(), draws=499)
    assert one.difference.value == -other.difference.value != 0
    assert (one.difference.low, one.difference.high) == (-other.difference.high, -other.difference.low)
    assert (one.real, one.holdout) == (other.holdout, other.real)
    assert one.p_value == other.p_value
    np.testing.assert_array_equal(np.abs(one.permuted), np.abs(other.permuted))


@pytest.mark.parametrize(("n", "m"), [(20, 20), (30, 10)])
def test_the_order_of_people_changes_no_digit(n, m):
    guesses, order = random_guesses(2, n + m), np.random.default_rng(3).permutation(n + m)
    (one,) = isolations(fits_of(guesses), members_first(n, m), rng=rng(), draws=199)
    place = np.argsort(order)  # person p of before is person place[p] now
    moved = [{int(place[p]) for p in g} for g in guesses]
    (other,) = isolations(fits_of(moved), members_first(n, m)[order], rng=rng(), draws=199)
    np.testing.assert_array_equal(one.permuted, other.permuted)
    for field in ("real", "holdout", "difference", "risk", "p_value", "spread", "expected", "effective"):
        assert getattr(one, field) == getattr(other, field), field


def test_the_order_of_guesses_changes_no_rate_and_hardly_a_p_value():
    guesses, record = random_guesses(4, 40), np.arange(60) % 9
    order = np.random.default_rng(5).permutation(60)
    (one,) = isolations(fits_of(guesses, record=record), members_first(22, 18), rng=rng())
    (other,) = isolations(
        fits_of([guesses[i] for i in order], record=record[order]), members_first(22, 18), rng=rng()
    )  # fmt: skip
    assert one.real == other.real
    assert one.holdout == other.holdout
    assert one.p_value == pytest.approx(other.p_value, abs=4 * math.sqrt(0.25 / 1000))  # other draws
    assert one.spread == pytest.approx(other.spread, rel=0.1)


def test_groups_share_the_draws():
    """Each group as if it were alone with all people in play, and the same guesses twice give the same draws."""
    guesses = random_guesses(6, 30)
    whole = isolations(
        fits_of(guesses, groups=[range(60), range(30), range(30, 60), range(60), []]), members_first(15, 15), rng=rng()
    )  # fmt: skip
    np.testing.assert_array_equal(whole[0].permuted, whole[3].permuted)
    assert whole[0].p_value == whole[3].p_value
    assert [g.real.n for g in whole] == [60, 30, 30, 60, 0]
    together = whole[1].permuted * whole[1].spread * 30 + whole[2].permuted * whole[2].spread * 30
    np.testing.assert_allclose(together, whole[0].permuted * whole[0].spread * 60, atol=1e-9)
    assert whole[1].real.hits + whole[2].real.hits == whole[0].real.hits


def test_a_group_without_guesses_is_undefined():
    _, nothing = isolations(fits_of([{0}, {1, 2}], groups=[[0, 1], []]), members_first(2, 2), rng=rng(), draws=19)
    assert (nothing.real.n, nothing.real.hits, nothing.z) == (0, 0, 0)
    for value in (nothing.real.rate, nothing.p_value, nothing.expected, nothing.risk.value, nothing.detectable(0.95)):
        assert math.isnan(value)
    assert nothing.permuted.tolist() == [0] * 19
    assert math.isnan(nothing.at(0.99)[0].low)


def test_no_guess_at_all():
    (nothing,) = isolations(fits_of([]), members_first(2, 3), rng=rng(), draws=9)
    assert nothing.real.n == 0


@pytest.mark.parametrize("guess", [set(), set(range(12))])
def test_guesses_that_fit_nobody_or_everybody_single_out_nobody(guess):
    (found,) = isolations(fits_of([guess] * 30), members_first(6, 6), rng=rng(), draws=99)
    assert (found.real.hits, found.holdout.hits, found.p_value, found.z) == (0, 0, 1, 0)
    assert (found.difference.value, found.risk.value, found.expected) == (0, 0, 0)
    assert found.difference.low < 0 < found.difference.high
    assert found.risk.low < 0 < found.risk.high


def test_too_many_people_are_nobody():
    """A guess above the cap is no hit although one member fits; so it is in every permutation."""
    guess = set(range(5, 16))  # one member and ten strangers
    over, under = (
        isolations(fits_of([guess] * 4, most=k), members_first(6, 14), rng=rng(), draws=99)[0] for k in (10, 11)
    )
    assert (over.real.hits, over.expected) == (0, 0)
    assert under.real.hits == 4
    assert under.expected > 0


def test_both_sides_are_needed():
    with pytest.raises(SettingError, match="needs members and strangers"):
        isolations(fits_of([{0}]), members_first(3, 0), rng=rng())
    with pytest.raises(SettingError, match="needs members and strangers"):
        isolations(fits_of([{0}]), members_first(0, 3), rng=rng())


def test_without_strangers_members_are_taken_as_they_are():
    hits, nobody = right(fits_of([{0}, {0, 1}, {2}]), members_first(3, 0))
    assert hits.tolist() == [1, 0, 1]
    assert nobody.tolist() == [0, 0, 0]


# ---------------------------------------------------------------- people


def test_who_is_singled_out_at_equal_size():
    fits, is_member = fits_of([{0}, {0, 3}, {1, 2}, {4}, {3, 4, 5}]), members_first(3, 3)
    assert singled_out(fits, np.arange(5), is_member, members=True).tolist() == [1, 0, 0]
    assert singled_out(fits, np.arange(5), is_member, members=False).tolist() == [1, 1, 0]
    assert singled_out(fits, np.array([1]), is_member, members=True).tolist() == [1, 0, 0]
    assert singled_out(fits, np.array([], dtype=int), is_member, members=True).tolist() == [0, 0, 0]


@some
@given(cases)
def test_people_are_counted_as_plain_python_does(case):
    (n, m), guesses = case
    fits, is_member = fits_of(guesses), members_first(n, m)
    size = min(n, m)
    for side, people in ((True, range(n)), (False, range(n, n + m))):
        expected = []
        for p in people:  # alone in the part: p is in it and none of the others whom the guess fits
            own = [alone(len(g & set(people)), len(people), size) / len(g & set(people)) for g in guesses if p in g]
            expected.append(float(max(own, default=F(0))))
        found = singled_out(fits, np.arange(len(guesses)), is_member, members=side)
        assert found.tolist() == pytest.approx(expected, abs=1e-15)


# ---------------------------------------------------------------- intervals and families


def test_whom_a_guess_fits_alone():
    fits = fits_of([[0], [1, 2], [2, 3], [3, 4], []])
    is_member = members_first(3, 2)
    # the second fits two members, the third one of each side, the fourth two strangers
    assert fit_alone(fits, np.arange(5), is_member).tolist() == [True, False, True, True, False]
    assert fit_alone(fits, np.array([1, 3]), is_member).tolist() == [False] * 5
    assert fit_alone(fits, np.array([], dtype=int), is_member).tolist() == [False] * 5


def compared(seed=8, n=40, m=40, groups=None, **more):
    return isolations(
        fits_of(random_guesses(seed, n + m, 120), groups=groups, **more), members_first(n, m), rng=rng(), draws=499
    )  # fmt: skip


def test_intervals_at_other_levels_nest_and_keep_the_value():
    (found,) = compared()
    assert found.at(0.95) == (found.difference, found.risk)
    narrow, wide = found.at(0.8), found.at(0.999)
    for inner, outer in zip((*narrow, *found.at(0.95)), (*found.at(0.95), *wide), strict=True):
        assert outer.low < inner.low < inner.value < inner.high < outer.high
        assert inner.value == outer.value
    with pytest.raises(SettingError):
        found.at(1.0)


def test_intervals_are_those_of_the_effective_number_of_guesses():
    (found,) = compared()
    n, e = found.real.n, found.effective
    assert 1 <= e <= n
    expected = newcombe(found.real.hits * e / n, e, found.holdout.hits * e / n, e)
    assert (found.difference.low, found.difference.high) == pytest.approx((expected.low, expected.high))
    expected = mover_residual(found.real.hits * e / n, e, found.holdout.hits * e / n, e)
    assert (found.risk.low, found.risk.high) == pytest.approx((expected.low, expected.high))


def test_guesses_made_twice_say_no_more():
    """The same guesses of the same records ten times over: the same rate and limits, and the same test up to its draws."""
    guesses = [{i} for i in range(0, 60, 2)]
    once, often = (
        isolations(fits_of(guesses * k, record=[*range(30)] * k), members_first(40, 40), rng=rng())[0] for k in (1, 10)
    )
    assert often.real.rate == once.real.rate
    assert often.effective == pytest.approx(once.effective, rel=1e-9)
    assert (often.difference.low, often.risk.high) == pytest.approx((once.difference.low, once.risk.high), rel=1e-9)
    assert often.p_value == pytest.approx(once.p_value, abs=0.05)
    # what the permutations show alone: guesses whose records differ, but not whom they fit
    (other,) = isolations(fits_of(guesses * 10), members_first(40, 40), rng=rng())
    assert other.effective < 30


def test_guesses_of_one_record_stand_and_fall_together():
    """No hit and no permutation shows a spread: the records are the units, not the guesses."""
    nobody = [set()] * 200
    many, few = (
        isolations(fits_of(nobody, record=np.arange(200) % k), members_first(9, 9), rng=rng(), draws=9)[0]
        for k in (200, 10)
    )
    assert (many.effective, few.effective) == (200, 10)
    assert few.risk.high > 4 * many.risk.high


def test_the_smallest_detectable_excess_is_at_least_the_spread_of_two_sides_and_power():
    (found,) = compared()
    assert (1.96 + 0.842) * found.spread < found.detectable(0.95) < 2 * (1.96 + 0.842) * found.spread
    assert found.detectable(0.95) < found.detectable(0.99)
    assert found.detectable(0.95) < found.detectable(0.95, power=0.95)


def test_a_family_is_the_maximum_of_its_draws():
    parts = [range(0, 30), range(30, 120), range(120), range(60, 70), []]
    found = compared(n=50, m=30, groups=parts)
    family = _permuted_family(found, 0.95)
    tested = [c for c in found if c.real.n]
    largest = [max(abs(c.permuted[i]) for c in tested) for i in range(499)]
    for j, c in enumerate(tested):
        joint = (1 + sum(x >= c.z - 1e-9 for x in largest)) / 500
        assert family.p_adjusted[j] == max(joint, c.p_value)
        assert family.p_value[j] == c.p_value
    assert math.isnan(family.p_adjusted[4])
    # of 499 draws and the table itself, 5% lie above the 475th
    assert family.critical == max(1.959963984540054, sorted(largest)[474])
    assert family.critical > 2
    assert family.level_each > 0.95


def test_a_family_of_one_is_the_test_itself():
    (found,) = compared()
    family = _permuted_family([found], 0.95)
    assert family.p_adjusted[0] == found.p_value
    assert family.critical == max(1.959963984540054, np.sort(np.abs(found.permuted))[474])


def test_a_family_in_which_nothing_was_tested():
    nothing = compared(groups=[[], []])
    family = _permuted_family(nothing, 0.95)
    assert np.isnan(family.p_adjusted).all()
    assert (family.level_each, family.critical) == (0.95, pytest.approx(1.96, abs=1e-3))


def test_guesses_that_fit_nobody_and_groups_with_gaps_are_counted_as_in_the_plain_form():
    rng = np.random.default_rng(5)
    who = [np.sort(rng.choice(30, k, replace=False)) for k in (0, 2, 1, 0, 0, 3, 1, 0, 2)]
    start = np.append(0, np.cumsum(list(map(len, who))))
    groups = np.array([0, 1, 3, 5, 8]), np.arange(9), np.array([0, 3, 4])
    fits = Fits(np.diff(start), start, np.concatenate(who), 64, np.arange(9), groups)
    tables = np.array([0.0, 1.0, 0.3, 0.1]), np.array([0.0, 0.7, 0.2, 0.0])
    matrix = isolation._matrix(fits, 30)
    labels = rng.integers(0, 2, (matrix.shape[1], 6)).astype(np.float32)
    found = isolation._differences(isolation._listed(fits, matrix), labels, tables)
    members = (matrix.toarray() @ labels).astype(int)
    for own, table, count in zip(found, tables, (members, np.diff(start)[:, None] - members), strict=True):
        np.testing.assert_array_equal(own, [table[count[g]].sum(axis=0) for g in groups])
