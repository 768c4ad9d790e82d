"""The smallest dose by bisection, on tools whose power is known."""

import math

import numpy as np
import pytest
from planted.doses import Threshold, bar, smallest_dose, wilson


def tool(power, seed=0):
    """Return alarms of a made-up tool: it raises one where a draw of the seed and dose is below its power."""

    def alarms(dose, n):
        return [np.random.default_rng([seed, i, round(dose * 10_000)]).random() < power(dose) for i in range(n)]

    return alarms


def step(at):
    return lambda dose: float(dose >= at)


@pytest.mark.parametrize("at", [0.01, 0.02, 0.03, 0.05, 0.09, 0.1, 0.12, 0.15, 0.2])
def test_a_step_is_found_between_two_doses_that_were_asked(at):
    found = smallest_dose(tool(step(at)))
    assert found.dose >= at
    assert found.dose <= max(0.02, 1.25 * at)
    assert found.below is None if at <= 0.02 else found.below < at
    assert all(found.alarms[d][1] == 20 for d in (found.dose, found.below) if d is not None)


@pytest.mark.parametrize("at", [0.21, 2.0])
def test_a_dose_above_a_fifth_is_not_found(at):
    found = smallest_dose(tool(step(at)))
    assert found.dose is None
    assert found.below == 0.2 and found.alarms[0.2] == (0, 20)
    assert found.interval() == (0.2, math.inf)


def test_no_dose_above_the_highest_is_asked():
    found = smallest_dose(tool(step(2)), highest=0.15)
    assert max(found.alarms) == 0.15


def test_the_dose_of_a_smooth_power_curve_is_near_that_of_power_four_fifths():
    def power(dose):  # .8 at a dose of .06
        return 1 / (1 + math.exp(-(math.log(dose / 0.06) * 4 + math.log(4))))

    found = [smallest_dose(tool(power, seed)) for seed in range(40)]
    middle = np.median([f.dose for f in found])
    assert 0.045 <= middle <= 0.08
    inside = [low <= 0.06 <= high for low, high in (f.interval() for f in found)]
    assert np.mean(inside) >= 0.85


def test_the_doses_round_the_threshold_agree_with_all_their_seeds():
    for seed in range(20):
        found = smallest_dose(tool(lambda dose: min(1, 8 * dose), seed))
        said = found.alarms
        if found.dose is not None:
            assert said[found.dose][0] >= 0.8 * said[found.dose][1] and said[found.dose][1] == 20
        if found.below is not None:
            assert said[found.below][0] < 0.8 * said[found.below][1] and said[found.below][1] == 20


def test_a_tool_that_gets_few_seeds_ends_with_them():
    found = smallest_dose(lambda dose, n: [dose >= 0.05] * min(n, 5))
    assert found.dose == pytest.approx(0.05, rel=0.25)
    assert found.alarms[found.dose] == (5, 5)


def test_the_bar_is_passed_by_one_null_world_in_twenty_one():
    rng = np.random.default_rng(0)
    passed = [(x := rng.normal(size=21))[0] > bar(x[1:]) for _ in range(4000)]
    assert np.mean(passed) == pytest.approx(1 / 21, abs=4 * 0.0034)


def test_intervals_hold_the_share():
    assert wilson(16, 20)[0] < 0.8 < wilson(16, 20)[1]
    assert Threshold(0.1, None, {0.1: (20, 20), 0.02: (0, 20)}).interval() == (0.02, 0.1)


def test_a_dose_that_raises_some_alarms_and_too_few_sends_the_search_upwards():
    found = smallest_dose(lambda dose, n: [i % 5 < 2 or dose >= 0.15 for i in range(n)])
    assert 0.15 <= found.dose <= 0.2 and 0.1 in found.alarms and 0.02 not in found.alarms


def test_where_all_seeds_no_longer_find_a_dose_the_next_one_is_asked():
    """Five seeds find a tenth and twenty do not: before, the search ended without asking a fifth."""
    found = smallest_dose(lambda dose, n: [i < 4 or dose >= 0.19 or (dose >= 0.1 and i % 4 > 1) for i in range(n)])
    assert found.dose == pytest.approx(0.2)
    assert found.alarms[0.1][1] == 20
