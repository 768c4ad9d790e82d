"""Results of guesses of fair coins by worked numbers: rate, p, e-value, people named, what was claimed."""

import numpy as np
import pytest

from divulge.auditing.canaries import GeneratorClaim, against_claim
from divulge.auditing.evidence import guessing
from divulge.auditing.hits import between_trainings, counted, named_people, verdict_on
from divulge.auditing.result import Epsilon, PerTraining


def trainings(*hits, n=20):
    return [PerTraining(run=r, n=n, hits=h) for r, h in enumerate(hits)]


def test_sixty_of_a_hundred_coins():
    found = counted(trainings(12, 12, 12, 12, 12), 0.95, 2, 0.05)
    assert (found["n"], found["hits"], found["rate"]) == (100, 60.0, 0.6)
    assert found["p_value"] == pytest.approx(0.028444, abs=1e-6)  # P(Bin(100, 1/2) >= 60)
    assert found["e_value"] == pytest.approx(1.784, abs=1e-3)
    assert found["interval"].low == pytest.approx(0.4972, abs=1e-4)  # Clopper and Pearson
    assert found["interval"].high == pytest.approx(0.6967, abs=1e-4)
    assert found["risk"].low == pytest.approx(2 * 0.4972 - 1, abs=2e-4)
    assert found["risk"].low_simultaneous < found["risk"].low < found["risk"].value == pytest.approx(0.2)
    assert found["findable"].needed == 1574
    assert verdict_on(found, 0.028, 0.95)[0] == "excess found"
    assert verdict_on(found, 0.057, 0.95)[0] == "cannot tell"


def test_trainings_between_them_have_the_interval_of_student():
    found = between_trainings(trainings(8, 10, 12, 10, 10), 0.95)
    spread = np.std([0.4, 0.5, 0.6, 0.5, 0.5], ddof=1)
    assert found["mean of trainings"] == pytest.approx(0.5)
    assert found["mean of trainings, upper limit"] == pytest.approx(0.5 + 2.776445 * spread / np.sqrt(5))
    assert between_trainings(trainings(8, 10, 12, 10), 0.95) == {}


def test_people_are_named_by_the_rule_of_benjamini_and_hochberg():
    n = np.array([10] * 8 + [0])
    hits = np.array([10, 10, 8, 8, 5, 5, 5, 5, 0])
    named, p = named_people(hits, n)
    assert p[:5] == pytest.approx([1 / 1024, 1 / 1024, 56 / 1024, 56 / 1024, 638 / 1024])
    assert np.isnan(p[8])
    # 8 p-values: 56/1024 is above 4/8 of 0.1, so that the two at 1/1024 alone are named
    assert (named.tested, named.flagged, named.rate) == (8, 2, 0.1)


def test_what_is_natural_is_no_evidence():
    rng = np.random.default_rng(0)
    natural, coin = rng.normal(size=200), rng.integers(0, 2, 200) * 2 - 1
    smoothed = 10 * natural + coin  # a generator that makes records more natural than they were
    assert (np.sign(guessing({"nearest": smoothed}, natural)) == coin).all()
    assert (np.sign(guessing({"nearest": smoothed}, np.zeros(200))) == coin).mean() < 0.7


def test_copies_are_judged_around_their_middle():
    assert np.sign(guessing({"copies": np.array([2.0, 1.0] * 20)}, np.zeros(40))).tolist() == [1.0, -1.0] * 20


@pytest.mark.parametrize(
    ("low", "claim", "rejected", "power"),
    [(0.0, 0.0, False, 1.0), (1.0, 1.0, False, 1.0), (1.01, 1.0, True, 1.0), (0.5, 3.0, False, 0.0)],
)
def test_a_claim_is_contradicted_by_a_bound_above_it_alone(low, claim, rejected, power):
    bound = Epsilon(low=low, ceiling=2.5, delta=0.0, level=0.95, neighbour="one person more", method="one run")
    found = against_claim(bound, GeneratorClaim(claim))
    assert (found.rejected, found.power) == (rejected, power)
