"""Numbers of people that stand in the synthetic table with one number added to all, or times one number."""

import datetime

import numpy as np
import polars as pl
import pytest
from amount import some

import divulge
from divulge.attacks.copying.moved_numbers import MOVED, MOVED_CONTEXT, move_between
from divulge.case.case import build_case
from divulge.case.preconditions import unlike_values

START = datetime.datetime(2020, 1, 1)


def stamps(rng, n):
    return rng.integers(0, 3 * 365 * 86_400, n).astype(float)


def amounts(rng, n):
    return rng.lognormal(7, 0.5, n).round(2)


def balances(rng, n):
    return rng.normal(0, 500, n)


MOVES = {
    "another time zone": (stamps, lambda x: x + 18_000, (-18_000.0, 1.0)),
    "with a tax": (amounts, lambda x: (x * 1.19).round(2), (0.0, 1 / 1.19)),
    "in another unit": (amounts, lambda x: (x * 1000).round(), (0.0, 0.001)),
    "the other sign and scale": (balances, lambda x: -0.7 * x, (0.0, -1 / 0.7)),
}


def frame(numbers, rng, dates):
    codes = pl.Series("c", rng.integers(0, 9, len(numbers)).astype(str))
    x = [START + datetime.timedelta(seconds=float(s)) for s in numbers] if dates else numbers
    return pl.DataFrame({"x": x, "c": codes})


def tables(kind, seed=0, n=600, share=0.1, of_strangers=0.0):
    draw, moved, *_ = MOVES.get(kind, kind)
    rng = np.random.default_rng([seed, 31])
    real, synthetic, holdout = (draw(rng, n) for _ in range(3))
    k, m = round(share * n), round(of_strangers * n)
    synthetic = moved(np.concatenate([real[:k], holdout[:m], synthetic[k + m :]]))
    return [frame(x, rng, kind == "another time zone") for x in (real, synthetic, holdout)]


def moved_of(three, **settings):
    results = divulge.copies(three[0], three[1], holdout=three[2], variants=["one column"], **settings)
    return [r for r in results if r.variant == MOVED], [r for r in results if r.verdict == "excess found"]


@pytest.mark.parametrize("seed", range(3))
def test_small_numbers_beside_large_ones_are_thousands_and_not_moved_by_chance(seed):
    def skewed(rng, n):
        return np.where(rng.random(n) < 0.3, 0, rng.lognormal(7, 1.2, n).round(2))

    (found,), excess = moved_of(tables((skewed, lambda x: (x / 1000).round(5)), seed, n=1500, share=0.05))
    people = [np.unique(skewed(np.random.default_rng([seed, k]), 2000)) for k in (1, 2)]
    assert move_between(people[0], people[0] / 1000).factor == pytest.approx(1000)
    assert move_between(people[0], people[1] / 1000) is None
    assert found in excess


@pytest.mark.parametrize("kind", some(list(MOVES), 2))
def test_moved_numbers_are_found_by_this_comparison_alone(kind):
    (found,), excess = moved_of(tables(kind))
    assert excess == [found]
    assert found.real.rate - found.holdout.rate == pytest.approx(0.1, abs=0.03)
    assert [found.context[c] for c in MOVED_CONTEXT] == pytest.approx(MOVES[kind][2], rel=1e-5)
    assert found.individual.real[:60].mean() > 0.8


@pytest.mark.parametrize("kind", some(["another time zone", "with a tax"], 1))
def test_fresh_numbers_have_no_such_comparison_and_strangers_who_are_there_too_are_no_finding(kind):
    assert moved_of([*tables(kind, share=0.0)]) == ([], [])
    (both,), excess = moved_of(tables(kind, share=0.1, of_strangers=0.1))
    assert excess == [] and both.real.rate > 0.05 and both.holdout.rate > 0.05


def test_rounded_numbers_in_another_unit_are_found_and_no_simple_factor_in_their_place():
    """A half takes each even hundredth of a pound to a hundredth of a kilogram: more pairs than the right factor has."""
    pounds = (lambda rng, n: rng.normal(78, 15, n).round(2), lambda x: (x / 0.45359237).round(2))
    (found,), excess = moved_of(tables(pounds, share=0.3))
    assert excess == [found]
    assert found.context["synthetic values times"] == pytest.approx(0.45359237, rel=1e-4)
    assert found.individual.real[:180].mean() > 0.7 > 3 * found.individual.real[180:].mean()
    assert moved_of(tables(pounds, share=0.0)) == ([], [])
    heights = np.unique(np.random.default_rng(0).normal(170, 10, 600).round())
    assert move_between(heights, np.unique((heights / 2.54).round(1))) is None  # few values say little of anybody


def test_the_order_of_rows_and_who_is_a_member_change_nothing_of_the_move():
    real, synthetic, holdout = tables("with a tax")
    (want,), _ = moved_of((real, synthetic, holdout))
    shuffled = [t.sample(fraction=1, shuffle=True, seed=1) for t in (real, synthetic, holdout)]
    (got,), _ = moved_of(shuffled)
    assert (got.real, got.holdout, got.p_value, got.context) == (want.real, want.holdout, want.p_value, want.context)
    (other,), _ = moved_of((holdout, synthetic, real))
    assert other.context == want.context
    assert (other.real, other.holdout) == (want.holdout, want.real)


def test_the_step_is_the_commonest_difference():
    """By a plain count of all differences, of whole numbers."""
    rng = np.random.default_rng(3)
    people, fresh = rng.choice(200_000, 300, replace=False), rng.choice(200_000, 100, replace=False)
    synthetic = np.unique(np.concatenate([people[:40] + 777, fresh]))
    apart, times = np.unique(people[:, None] - synthetic, return_counts=True)
    found = move_between(np.sort(people).astype(float), synthetic.astype(float))
    assert (found.factor, found.added) == (1.0, float(apart[times.argmax()])) == (1.0, -777.0)


@pytest.mark.parametrize(
    "values",
    [[0.0] * 40, np.arange(40.0), [1e308, -1e308, *np.arange(40.0)], [5e-324, *np.arange(40) / 7], [], [1.5]],
)
def test_strange_numbers_are_no_error(values):
    own = np.unique(np.asarray(values, dtype=float))
    with np.errstate(all="raise", under="ignore"):
        for other in (own, own[:1], np.sort(-own), np.arange(1e5, 1e5 + 50)):
            move_between(own, other)
            move_between(other, own)


def test_one_synthetic_number_far_away_does_not_join_ranges_that_have_nothing_in_common():
    rng = np.random.default_rng(5)
    real, holdout = (pl.DataFrame({"w": rng.normal(60, 10, 400).round(2), "c": ["a", "b"] * 200}) for _ in range(2))
    grams = rng.normal(60_000, 10_000, 400).round()
    for far in ([], [-8_000.0], [1.0, 2.0, 3.0]):
        w = np.concatenate([grams[: 400 - len(far)], far])
        assert unlike_values(build_case(real, real.with_columns(w=pl.Series(w)), holdout)) == {"w": 1.0}


def test_many_pairs_are_thinned_and_the_step_stays(monkeypatch):
    from divulge.attacks.copying import moved_numbers

    rng = np.random.default_rng(6)
    people = np.sort(rng.choice(10**9, 4_000, replace=False)).astype(float)
    synthetic = np.unique(np.concatenate([people[::3] + 86_400, rng.integers(0, 10**9, 2_000)]))
    want = move_between(people, synthetic)
    monkeypatch.setattr(moved_numbers, "_MOST_PAIRS", 700)
    assert move_between(people, synthetic) == want == (1.0, -86_400.0)
