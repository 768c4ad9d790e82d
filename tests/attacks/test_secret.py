"""The target of an inference: which guesses are right, what a constant guess attains, against brute force."""

import math
from fractions import Fraction as F

import numpy as np
import polars as pl
import pytest
from amount import tries
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from divulge.attacks.inference._target import target_values
from divulge.case.case import build_case
from divulge.core.schema import Column, Schema

INF = math.inf
NUMERIC = Schema((Column("t", "numeric"),))

few = settings(
    max_examples=tries(80), deadline=None, derandomize=True, database=None, phases=[Phase.explicit, Phase.generate]
)


def secret(real, synthetic, holdout=None, tolerance=0.05, kind="numeric", **options):
    """The target "t" of tables beside which nothing is known."""
    frames = [None if v is None else pl.DataFrame({"t": v}, strict=False) for v in (real, synthetic, holdout)]
    case = build_case(*frames, schema=Schema((Column("t", kind),)) if kind else None, **options)
    found = target_values(case, "t", tolerance)
    # the value of each code; 0 is missing
    return found, [None, *case.pooled("t").levels.to_list()]


# ---------------------------------------------------------------- the rule, in fractions

number = st.one_of(
    st.none(), st.integers(-40, 40).map(lambda i: i / 4), st.sampled_from([-INF, INF, 0.0, -7.0, 100.0, 100.0])
)
column = st.lists(number, min_size=1, max_size=25)


def spread(people):
    """Between the smallest numbers that 5% and 95% of all do not exceed."""
    known = sorted(v for v in people if v is not None and math.isfinite(v))
    if len(set(known)) < 2:
        return F(0)
    low, high = (known[math.ceil(F(q * len(known), 100)) - 1] for q in (5, 95))
    return F(high) - F(low)


def near(a, b, reach):
    if a is None or b is None or not (math.isfinite(a) and math.isfinite(b)):
        return a == b
    return abs(F(a) - F(b)) <= reach


@few
@given(column, column, column, st.sampled_from([0, 0.05, 0.25, 0.5]))
def test_guesses_of_numbers_are_right_within_the_tolerance(real, synthetic, holdout, tolerance):
    if all(v is None for v in real + synthetic + holdout):
        return
    found, values = secret(real, synthetic, holdout, tolerance)
    people = real + holdout
    reach = F(tolerance) * spread(people)
    # 0.05 is no binary fraction: a rounded product may be a little off the fraction, and counts as on it
    reach += reach / 10**9
    assert [values[c] for c in found.people] == people
    assert [values[c] for c in found.synthetic] == synthetic
    n = len(values)
    one, other = np.divmod(np.arange(n * n), n)
    right = np.array([near(values[i], values[j], reach) for i, j in zip(one, other, strict=True)])
    assert np.array_equal(found.right(one, other), right)

    order, first, last = found.window()
    assert sorted(order) == list(range(n))
    for code in range(n):
        assert sorted(order[first[code] : last[code]]) == [j for j in range(n) if right[code * n + j]]

    known = sorted({v for v in people if v is not None and math.isfinite(v)})
    runs = [sum(v is not None and math.isfinite(v) and F(k) <= F(v) <= F(k) + 2 * reach for v in people) for k in known]
    others = [people.count(v) for v in (None, INF, -INF)]
    assert found.constant() == max(runs + others) / len(people)
    pairs = [near(a, b, reach) for a in people for b in people]
    assert found.by_prior() == pytest.approx(sum(pairs) / len(people) ** 2, abs=1e-12)


@few
@given(*[st.lists(st.sampled_from(["a", "b", "c", None]), min_size=1, max_size=12)] * 3)
def test_guesses_of_categories_are_right_when_they_are_equal(real, synthetic, holdout):
    frames = [pl.DataFrame({"t": v}, schema={"t": pl.String}) for v in (real, synthetic, holdout)]
    case = build_case(*frames, schema=Schema((Column("t", "categorical"),)))
    found = target_values(case, "t", 0.9)
    n = found.n_codes
    assert not found.is_numeric
    assert found.tolerance == 0
    one, other = np.divmod(np.arange(n * n), n)
    assert np.array_equal(found.right(one, other), one == other)
    order, first, last = found.window()
    assert [order[a:b].tolist() for a, b in zip(first, last, strict=True)] == [[c] for c in range(n)]
    people = real + holdout
    assert found.constant() == max(map(people.count, [*"abc", None])) / len(people)
    assert found.by_prior() == pytest.approx(sum(people.count(v) ** 2 for v in [*"abc", None]) / len(people) ** 2)


# ---------------------------------------------------------------- by hand


def test_a_negative_guess_is_right_only_when_it_is_near():
    """Dividing the error by the guess makes every negative guess right."""
    found, values = secret([100.0, 3.0, -5.0, -100.0], [-5.0, -100.0, 3.0])
    of = {v: i for i, v in enumerate(values)}
    for truth, guess in [(100.0, -5.0), (100.0, -100.0), (3.0, -100.0), (-5.0, 100.0)]:
        assert not found.right(np.array([of[truth]]), np.array([of[guess]]))[0]
        assert not found.right(np.array([of[guess]]), np.array([of[truth]]))[0]
    assert found.right(np.array([of[-5.0]]), np.array([of[3.0]]))[0]


def test_the_tolerance_is_a_part_of_the_spread_of_people():
    """Numbers 0 to 100: quantiles 5 and 95; outliers among 5% of the people change little, synthetic ones nothing."""
    real = [float(i) for i in range(101)]
    assert secret(real, [0.0])[0].tolerance == pytest.approx(0.05 * 90)
    assert secret(real, [1e9, -1e9])[0].tolerance == pytest.approx(0.05 * 90)
    assert secret([*real[:-1], 1e9], [0.0])[0].tolerance == pytest.approx(0.05 * 90)
    assert secret(real[:50], [0.0], real[50:], tolerance=0.1)[0].tolerance == pytest.approx(0.1 * 90)


def test_an_error_of_exactly_the_tolerance_is_right():
    found, _ = secret([0.1 * i for i in range(101)], [0.0], tolerance=1 / 90)
    truth = np.arange(1, 101)
    assert found.tolerance == pytest.approx(0.1)
    assert found.right(truth, truth + 1).all()
    assert not found.right(truth[:-1], truth[:-1] + 2).any()


def test_a_tolerance_of_none_is_equality():
    found, _ = secret([1.0, 2.0, 2.0 + 1e-12, None], [2.0], tolerance=0)
    n = found.n_codes
    assert found.is_numeric
    assert np.array_equal([found.right(np.full(n, c), np.arange(n)).tolist() for c in range(n)], np.eye(n, dtype=bool))


def test_missing_is_met_by_missing_alone():
    found, values = secret([1.0, None, 3.0], [None, 1.0])
    of = {v: i for i, v in enumerate(values)}
    missing = np.array([of[None]])
    assert found.right(missing, missing)[0]
    for v in (1.0, 3.0):
        assert not found.right(missing, np.array([of[v]]))[0]
        assert not found.right(np.array([of[v]]), missing)[0]


def test_infinity_is_met_by_itself_alone():
    found, _ = secret([1.0, 2.0, INF, -INF], [INF])
    n = found.n_codes
    right = np.array([found.right(np.full(n, c), np.arange(n)) for c in range(n)])
    assert np.array_equal(right, np.eye(n, dtype=bool))


def test_numbers_given_as_text_are_numbers():
    text, _ = secret(["1", "2", "4.5", "-3"], ["2.0", "oops", None])
    assert text.is_numeric
    plain, _ = secret([1.0, 2.0, 4.5, -3.0], [2.0, None])
    assert text.tolerance == plain.tolerance
    two, again = text.people[1], text.synthetic[0]
    assert text.right(np.array([two]), np.array([again]))[0]
    oops = np.full(4, text.synthetic[1])
    assert text.right(oops, oops).all()
    assert not text.right(text.people, oops).any()


def test_datetimes_may_be_missed_by_part_of_their_spread():
    from datetime import datetime, timedelta

    days = [datetime(2020, 1, 1) + timedelta(days=i) for i in range(101)]
    found, _ = secret(days, days, kind=None)
    assert found.is_numeric
    n = len(days)
    right = [found.right(np.full(n, 50), np.arange(1, n + 1))[i] for i in range(n)]
    assert right == [abs(i - 49) <= 4.5 for i in range(n)]


@pytest.mark.parametrize("value", [7.5, None, "x", INF])
def test_everybody_has_the_same(value):
    found, _ = secret([value] * 5, [value] * 3, [value] * 4, kind=None)
    assert (found.constant(), found.by_prior(), found.tolerance) == (1, 1, 0)


def test_the_best_constant_may_stand_between_two_values():
    """Off by at most half a unit: 4.5 is right about the fours and the fives."""
    found, _ = secret([1.0, 2.0, 3.0, 4.0, 4.0, 5.0, 5.0, 6.0, 11.0], [1.0], tolerance=0.05)
    assert found.tolerance == pytest.approx(0.5)
    assert found.constant() == 4 / 9


def test_the_rule_in_words():
    assert "0.05 of the spread" in secret([1.5, 2.5], [1.5])[0].in_words()
    assert "0.2 of the spread" in secret([1.5, 2.5], [1.5], tolerance=0.2)[0].in_words()
    assert "the value itself" in secret(["a", "b"], ["a"], kind=None)[0].in_words()


@pytest.mark.parametrize("scale", [(4.0, 0.0), (1000.0, -7.0), (0.001, 3.0), (2.0**1018, 0.0)])
def test_the_unit_changes_nothing(scale):
    rng = np.random.default_rng(0)
    x = rng.integers(-50, 50, 200) / 2
    a, b = scale
    one, _ = secret(x[:100], x[100:])
    other, _ = secret(a * x[:100] + b, a * x[100:] + b)
    truth, guess = one.people, one.synthetic
    assert np.array_equal(one.right(truth, guess), other.right(other.people, other.synthetic))
    assert one.constant() == other.constant()
    assert one.by_prior() == other.by_prior()
