"""Does the interval of the anonymity loss coefficient cover, the cut-off as chosen?

The confidence has two levels, so that the cut-off is one of two and its truth can be written down.
"""

import math

import numpy as np
import pytest

from divulge.stats.selective_prediction import abstaining, anonymity_loss, prc

SIZES = [pytest.param(300, 3.0, id="quick"), pytest.param(2000, 1.96, id="full", marks=pytest.mark.full)]
LEVELS = np.array([0.9, 0.4])
DESIGNS = {
    # share of sure people, right about sure and about other members, the same of strangers
    "leak": (0.2, (0.95, 0.5), (0.7, 0.45)),
    "nothing": (0.3, (0.8, 0.5), (0.8, 0.5)),
    "rare": (0.02, (0.97, 0.3), (0.9, 0.3)),
}


def truth(cut, share, of_members, of_strangers):
    def at(rates):
        if cut == LEVELS[0]:
            return prc(rates[0], share)
        return share * rates[0] + (1 - share) * rates[1]

    return anonymity_loss(at(of_members), at(of_strangers))


@pytest.mark.parametrize(("runs", "errors"), SIZES)
@pytest.mark.parametrize("design", DESIGNS)
def test_the_interval_covers(design, runs, errors):
    share, *rates = DESIGNS[design]
    rng = np.random.default_rng(11)
    n = 4000
    is_member = np.arange(2 * n) < n
    covered = []
    for _ in range(runs):
        group = (rng.random(2 * n) >= share).astype(int)
        right = (rng.random(2 * n) < np.array(rates)[np.where(is_member, 0, 1), group]).astype(float)
        found = abstaining(right, LEVELS[group], is_member, rng, level=0.95).context
        true = truth(found["confidence cut-off"], share, *rates)
        covered.append(found["ALC, low"] <= true <= found["ALC, high"])
    print(design, np.mean(covered))
    assert abs(np.mean(covered) - 0.95) <= errors * math.sqrt(0.0475 / runs)


@pytest.mark.parametrize(("runs", "errors"), SIZES)
def test_against_the_better_of_two_bases_it_covers_at_least(runs, errors):
    """Strangers and reference equally good: the better of the two is chosen by luck."""
    rng = np.random.default_rng(12)
    n = 2000
    is_member = np.arange(2 * n) < n
    sure = np.ones(2 * n)
    covered = []
    for _ in range(runs):
        attack, other = (rng.random(2 * n) < 0.6).astype(float), (rng.random(2 * n) < 0.6).astype(float)
        found = abstaining(attack, sure, is_member, rng, reference=(other, sure), level=0.95).context
        covered.append(found["ALC, low"] <= 0 <= found["ALC, high"])
    print("two bases", np.mean(covered))
    assert np.mean(covered) >= 0.95 - errors * math.sqrt(0.0475 / runs)
