"""Random halves: halves by law, a planted leak at its rate, persons named, nothing without a leak."""

import numpy as np
import polars as pl
import pytest
from small_audits import audited, copies, elsewhere, partly, people, pool_of

from divulge.auditing.halves import RandomHalves
from divulge.core.errors import SettingError


def test_half_of_the_households_are_trained_on():
    home = np.repeat(np.arange(50), 2)
    pool = pool_of(people(100).with_columns(pl.Series("home", home)), unit="home")
    trial = RandomHalves().prepare(pool)
    rows = trial.training(0).rows
    assert len(rows) == 50
    assert np.unique(home[rows], return_counts=True)[1].tolist() == [2] * 25
    assert trial.training(0).rows.tolist() == rows.tolist() != trial.training(1).rows.tolist()


@pytest.mark.slow
def test_copies_are_recognised():
    _, (rank,) = audited(RandomHalves(), pool_of(people(80)), copies, 1)
    assert rank.rate > 0.95
    assert (rank.verdict, rank.variant, rank.n) == ("excess found", "mean rank", 80)
    assert rank.interval.method.startswith("DeLong")


def test_too_few_people_are_refused():
    with pytest.raises(SettingError, match="too few"):
        RandomHalves().prepare(pool_of(people(39)))


@pytest.mark.slow
def test_a_planted_share_of_copies_has_its_auc_and_its_people():
    pool = pool_of(people(160))
    _, (rank, stack) = audited(RandomHalves(), pool, partly(0.6), 10)
    # copies rank first: AUC = share + (1 - share) / 2; the mean of ranks of scores that see less stays below
    assert 0.6 < rank.rate < 0.83
    assert stack.rate > rank.rate - 0.02
    assert stack.people.flagged > 40
    assert stack.p_value == 0.001


@pytest.mark.slow
def test_nothing_is_found_in_a_generator_of_other_people():
    pool = pool_of(people(120))
    _, (rank, stack) = audited(RandomHalves(), pool, elsewhere(60), 6)
    assert min(rank.p_adjusted, stack.p_adjusted) > 0.05
    assert stack.people.flagged == 0
    assert abs(rank.rate - 0.5) < 3 * np.sqrt(121 / (12 * 60 * 60) / 6)
