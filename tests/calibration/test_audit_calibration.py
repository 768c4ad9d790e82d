"""Are tests of generators exact without a leak, do bounds of epsilon hold, and are known leaks found at their rate?

Quick forms take a band of 3 standard errors, full forms (``-m full``) repeat more and take 2.
"""

import math
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from divulge.auditing import predicted
from divulge.auditing.canaries import Canaries, GeneratorClaim
from divulge.auditing.domain import Domain
from divulge.auditing.halves import RandomHalves
from divulge.auditing.pool import Training
from divulge.auditing.secrets import SwappedSecrets
from divulge.auditing.worlds import made_of
from divulge.stats.epsilon import game_epsilon, game_mu, one_run_epsilon
from divulge.stats.fair_coins import power_at

sys.path.insert(0, str(Path(__file__).parent.parent / "auditing"))
from small_audits import audited, elsewhere, partly, people, pool_of


def runs(quick, full, *, slow=False):
    short = pytest.param(quick, 3.0, id="quick", marks=[pytest.mark.slow] if slow else [])
    return pytest.mark.parametrize(
        ("runs", "errors"),
        [short, pytest.param(full, 2.0, id="full", marks=[pytest.mark.full, pytest.mark.timeout(7200)])],
    )


def most(rate, runs, errors):
    return rate + errors * math.sqrt(rate * (1 - rate) / runs)


# ---------------------------------------------------------------- nothing is found where nothing is


def coarse(n, seed):
    """Return people of four columns of few values, whose job follows from the place in part."""
    return people(n, seed).select(
        "place", "job", (pl.col("height") // 10).alias("height"), (pl.col("income") > 3000).alias("rich")
    )


def trees_of_others(table, run):
    """Publish what trees make of other people, who are as many."""
    from divulge.demo.trees import synthesize

    others = coarse(table.height, 5000 + run)
    place, job = (sorted(others[c].unique()) for c in ("place", "job"))
    numbers = others.with_columns(
        pl.col("place").replace_strict({v: i for i, v in enumerate(place)}),
        pl.col("job").replace_strict({v: i for i, v in enumerate(job)}),
        pl.col("rich").cast(pl.Int64),
    )
    made = synthesize(numbers, np.random.default_rng(run))
    return made.with_columns(
        pl.col("place").replace_strict(dict(enumerate(place))), pl.col("job").replace_strict(dict(enumerate(job))),
        pl.col("rich").cast(pl.Boolean),
    )  # fmt: skip


@runs(16, 300, slow=True)
def test_swapped_secrets_are_a_fair_coin_where_others_were_trained_on(runs, errors, monkeypatch):
    if runs < 100:
        monkeypatch.setattr(predicted, "TREES", 30)
    hits = n = alarms = 0
    for seed in range(runs):
        pool = pool_of(coarse(150, seed), seed)
        _, (found,) = audited(SwappedSecrets(("job",), share=1.0), pool, trees_of_others, 1)
        hits, n, alarms = hits + int(found.hits), n + found.n, alarms + (found.p_value <= 0.05)
    assert abs(hits / n - 0.5) <= errors * 0.5 / math.sqrt(n)
    assert alarms / runs <= most(0.05, runs, errors)
    print(f"swaps: {runs} trainings, {n} pairs, {hits / n:.4f} right, {alarms / runs:.3f} alarms")


@runs(6, 100, slow=True)
def test_random_halves_keep_their_level(runs, errors):
    alarms, rates = 0, []
    for seed in range(runs):
        _, (found,) = audited(RandomHalves(), pool_of(coarse(60, seed), seed), elsewhere_coarse, 1)
        alarms += found.p_value <= 0.05
        rates.append(found.rate)
    assert alarms / runs <= most(0.05, runs, errors)
    assert abs(np.mean(rates) - 0.5) <= errors * math.sqrt(61 / (12 * 30 * 30) / runs)
    print(f"halves: {runs} trainings, AUC {np.mean(rates):.4f}, {alarms / runs:.3f} alarms")


def elsewhere_coarse(table, run):
    return coarse(60, 7000 + run)


@runs(20, 300, slow=True)
def test_canaries_and_domains_keep_their_level(runs, errors):
    alarms = {"canaries": 0, "domain": 0}
    bounds = 0
    for seed in range(runs):
        pool = pool_of(people(160, seed), seed)
        for name, design in (("canaries", Canaries(n=16)), ("domain", Domain())):
            _, (found,) = audited(design, pool, elsewhere(160), 2 if name == "domain" else 1)
            alarms[name] += found.p_value is not None and found.p_value <= 0.05
            bounds += found.epsilon is not None and found.epsilon.low > 0
    assert max(*alarms.values(), bounds) / runs <= most(0.05, runs, errors)
    print(f"canaries, domain: {runs} each, alarms {alarms}, bounds above 0: {bounds}")


@runs(8, 200, slow=True)
def test_near_pairs_are_a_fair_coin_for_a_secret_in_numbers(runs, errors, monkeypatch):
    if runs < 100:
        monkeypatch.setattr(predicted, "TREES", 30)
    hits = n = alarms = near = 0
    for seed in range(runs):
        pool = pool_of(people(120, seed), seed)
        trial, (found,) = audited(SwappedSecrets(("income",), share=1.0), pool, elsewhere(120), 1)
        there = trial.about[0].near
        near += sum(b in there[a] or a in there[b] for a, b in trial.pairs(0, 0).tolist())
        hits, n, alarms = hits + int(found.hits), n + found.n, alarms + (found.p_value <= 0.05)
    assert near > 0.8 * n
    assert abs(hits / n - 0.5) <= errors * 0.5 / math.sqrt(n)
    assert alarms / runs <= most(0.05, runs, errors)
    print(f"near pairs: {runs} trainings, {n} pairs, {hits / n:.4f} right, {alarms / runs:.3f} alarms")


# ---------------------------------------------------------------- known leaks are found


@runs(12, 200, slow=True)
@pytest.mark.parametrize("share", [0.3, 0.5])
def test_planted_copies_are_found_as_often_as_the_number_of_pairs_says(share, runs, errors, monkeypatch):
    if runs < 100:
        monkeypatch.setattr(predicted, "TREES", 30)
    # a pair is decided where one of the two or both are copied, else a guess is right half of the time
    rate, found, expected, hits, n = 0.5 + (1 - (1 - share) ** 2) / 2, 0, 0.0, 0, 0
    for seed in range(runs):
        pool = pool_of(people(180, seed), seed)
        generator = partly(share)
        _, (one,) = audited(SwappedSecrets(("income",)), pool, lambda table, run, g=generator, s=seed: g(table, s), 1)
        found, expected = found + (one.p_value <= 0.05), expected + power_at(rate, one.n)
        hits, n = hits + int(one.hits), n + one.n
    power = expected / runs
    assert abs(found / runs - power) <= errors * math.sqrt(power * (1 - power) / runs) + 0.01
    assert abs(hits / n - rate) <= errors * math.sqrt(rate * (1 - rate) / n) + 0.01
    print(f"copies {share}: found {found / runs:.3f}, {power:.3f} expected; right {hits / n:.3f}, {rate:.3f} expected")


# ---------------------------------------------------------------- bounds of epsilon hold


def told_at_random(epsilon, universe):
    """Return a generator of known epsilon: each record of a public universe is shown, with odds that it takes part in.

    One person more changes the odds of one record from 1 / e^epsilon to e^epsilon, half of it on either side.
    """
    rate = 1 / (1 + math.exp(-epsilon))

    def made(table, run):
        rng = np.random.default_rng(9000 + run)
        there = universe.join(table.unique().with_columns(pl.lit(True).alias("in")), on=universe.columns, how="left")
        inside = there["in"].fill_null(value=False).to_numpy()
        return universe.filter(rng.random(len(inside)) < np.where(inside, rate, 1 - rate))

    return made


@runs(16, 300, slow=True)
@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_canaries_bound_a_generator_of_known_epsilon(epsilon, runs, errors):
    above, bounds = 0, []
    for seed in range(runs):
        pool = pool_of(people(160, seed), seed)
        design = Canaries(n=16, claim=GeneratorClaim(epsilon, 0.0))
        trial = design.prepare(pool)
        planted = made_of(pool.table, Training(trial.crossed.one, trial.crossed.columns)).named()
        generator = told_at_random(epsilon, pl.concat([pool.table.named(), planted]).unique(maintain_order=True))
        _, (found,) = audited(design, pool, lambda table, run, g=generator, s=seed: g(table, 100 * s + run), 3)
        above, bounds = above + found.epsilon.rejected, [*bounds, found.epsilon.low]
    assert above / runs <= most(0.05, runs, errors)
    print(f"canaries, epsilon {epsilon}: {runs} audits, {above / runs:.3f} above, median {np.median(bounds):.2f}")


@runs(200, 4000)
@pytest.mark.parametrize(("epsilon", "middle"), [(1.0, 0.88), (2.0, 1.83), (4.0, 3.60)])
def test_one_run_bounds_hold_for_randomised_response(runs, errors, epsilon, middle):
    right = np.random.default_rng(0).binomial(1000, 1 / (1 + math.exp(-epsilon)), runs)
    low = {v: one_run_epsilon(1000, 1000, v) for v in np.unique(right).tolist()}
    found = np.array([low[v] for v in right.tolist()])
    assert np.mean(found > epsilon) <= most(0.05, runs, errors)
    assert np.median(found) == pytest.approx(middle, abs=0.05)


@runs(200, 4000)
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0])
def test_bounds_of_the_game_hold_for_the_best_attack(runs, errors, epsilon):
    rng = np.random.default_rng(1)
    rate = 1 / (1 + math.exp(-epsilon))
    tp, fp = rng.binomial(100, rate, runs), rng.binomial(100, 1 - rate, runs)
    above = [game_epsilon(int(a), 100, int(b), 100) > epsilon for a, b in zip(tp, fp, strict=True)]
    assert np.mean(above) <= most(0.05, runs, errors)


@runs(200, 4000)
def test_bounds_of_gaussian_noise_hold(runs, errors):
    from scipy.special import ndtr

    rng = np.random.default_rng(2)
    tp, fp = rng.binomial(250, ndtr(0.5), runs), rng.binomial(250, ndtr(-0.5), runs)
    found = np.array([game_mu(int(a), 250, int(b), 250) for a, b in zip(tp, fp, strict=True)])
    assert np.mean(found > 1.0) <= most(0.05, runs, errors)
    assert found.mean() == pytest.approx(0.667, abs=0.02)
