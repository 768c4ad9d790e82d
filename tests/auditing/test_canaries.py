"""Canaries and the game on one person: who is planted, what is guessed, and what a claim gets."""

import numpy as np
import polars as pl
import pytest
from small_audits import audited, copies, elsewhere, people, pool_of

from divulge.auditing.canaries import Canaries, GeneratorClaim
from divulge.auditing.designs import Asked, design_of
from divulge.auditing.isolated import isolation
from divulge.auditing.target import Target
from divulge.auditing.worlds import encoded, made_of
from divulge.core.errors import SettingError
from divulge.stats.epsilon import one_run_epsilon


def test_the_most_isolated_person_is_the_one_far_from_all():
    frame = people(60)
    far = frame.with_columns(pl.when(pl.int_range(pl.len()) == 17).then(400.0).otherwise("height").alias("height"))
    assert isolation(encoded(pool_of(far))).argmax() == 17


def test_a_training_has_the_canaries_of_its_coins():
    frame = people(240)
    pool = pool_of(frame)
    trial = Canaries(n=16).prepare(pool)
    coins, training = trial.coins(0), trial.training(0)
    own, times = np.unique(training.rows[: len(training.rows) - int(coins["crossed"].sum())], return_counts=True)
    count = dict(zip(own.tolist(), times.tolist(), strict=True))
    assert [u in count for u in trial.isolated.tolist()] == coins["isolated"].tolist()
    for k, units in trial.repeated.items():
        assert [count.get(u, 0) for u in units.tolist()] == [k * int(c) for c in coins[f"copied {k}"]]
    planted = made_of(pool.table, training).named()[-int(coins["crossed"].sum()) :]
    for row in planted.iter_rows(named=True):
        assert all(row[c] in frame[c].to_list() for c in frame.columns)  # each value is in the domain


def test_copies_reach_the_ceiling_and_contradict_a_claim():
    pool = pool_of(people(240))
    trial, (found,) = audited(Canaries(n=20, claim=GeneratorClaim(0.5, 1e-5)), pool, copies, 2)
    assert found.hits == found.n == 2 * trial.n_guesses == 20
    assert found.epsilon.low == pytest.approx(found.epsilon.ceiling)
    assert found.epsilon.low == pytest.approx(one_run_epsilon(80, 20, 20, delta=1e-5))
    assert found.epsilon.rejected
    assert found.verdict == "excess found"
    assert found.context["AUC of copied 10"] == 1.0
    assert 0 < found.context["power against 2 times the claim"] < found.context["power against 4 times the claim"] < 1


def test_a_claim_without_delta_is_tested_with_a_small_one_and_says_so():
    pool = pool_of(people(240))
    for design, runs in ((Canaries(n=20, claim=GeneratorClaim(0.5)), 1), (Target(claim=GeneratorClaim(0.5)), 8)):
        trial, (found,) = audited(design, pool, copies, runs)
        assert found.epsilon.delta == 0.0004  # 1 / 2,400 with one digit
        for told in (found.notes, trial.outlook(runs)):
            assert any("no delta was named" in note and "0.0004 is taken" in note for note in told)
    named, (found,) = audited(Canaries(n=20, claim=GeneratorClaim(0.5, 0.0)), pool, copies, 1)
    assert found.epsilon.delta == 0.0
    assert not any("delta" in note for note in (*found.notes, *named.outlook(1)))


def test_a_delta_without_a_claim_is_refused():
    with pytest.raises(SettingError, match="no --claim that it belongs to"):
        design_of("canaries", Asked(delta=1e-5))


def test_other_people_contradict_nothing():
    _, (found,) = audited(Canaries(n=20, claim=GeneratorClaim(0.5)), pool_of(people(240)), elsewhere(), 1)
    assert not found.epsilon.rejected
    assert found.verdict == "cannot tell"
    assert any("does not confirm" in note for note in found.notes)
    assert found.findable.rate and found.findable.needed is None  # a bound near 0 never says «none found»


def test_households_are_no_planted_records():
    frame = people(240).with_columns(pl.Series("home", np.arange(240) // 2))
    trial = Canaries(n=24).prepare(pool_of(frame, unit="home"))
    assert (len(trial.isolated), len(trial.crossed.one)) == (24, 0)


@pytest.mark.parametrize("wrong", [{"n": 2}, {"n": 100}])
def test_too_few_and_too_many_canaries_are_refused(wrong):
    with pytest.raises(SettingError, match="canaries"):
        Canaries(**wrong).prepare(pool_of(people(200)))


@pytest.mark.parametrize("wrong", [(-1.0, 0.0), (float("inf"), 0.0), (1.0, 1.0), (float("nan"), 0.0)])
def test_claims_that_are_none_are_refused(wrong):
    with pytest.raises(SettingError):
        GeneratorClaim(*wrong)


def test_outlooks_say_what_cannot_be_shown():
    pool = pool_of(people(240))
    assert "cannot be contradicted" in Canaries(n=20, claim=GeneratorClaim(9.0)).prepare(pool).outlook(1)[1]
    game = Target(claim=GeneratorClaim(2.0)).prepare(pool).outlook(40)
    assert "0.60" in game[0]
    assert "cannot be contradicted" in game[1]


def test_one_person_is_in_one_training_of_each_pair():
    pool = pool_of(people(80))
    trial = Target(row=5).prepare(pool)
    assert trial.unit == 5
    for pair in range(4):
        sizes = sorted(len(trial.training(r).rows) for r in (2 * pair, 2 * pair + 1))
        assert sizes == [79, 80]
    with pytest.raises(SettingError, match="no row 80"):
        Target(row=80).prepare(pool)


@pytest.mark.slow
def test_the_game_finds_a_copied_person_and_nobody_elsewhere():
    pool = pool_of(people(60))
    _, (found,) = audited(Target(claim=GeneratorClaim(0.2, 1e-4)), pool, copies, 24)
    assert found.hits == found.n == 6
    assert found.epsilon.low == found.epsilon.ceiling
    assert found.epsilon.low < 0.2 or found.epsilon.rejected
    assert found.context["mu if the noise is Gaussian, lower limit"] > 0
    _, (none,) = audited(Target(), pool, elsewhere(60), 24)
    assert none.epsilon.low == 0.0
