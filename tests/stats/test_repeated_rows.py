"""The p-value of a record that is repeated: the rule as it is written, by scipy's distributions."""

import numpy as np
import pytest
from scipy.stats import beta, binom

from divulge.core.errors import SettingError
from divulge.stats.repeated_rows import too_often


@pytest.mark.parametrize("tests", [1, 40, 200])
@pytest.mark.parametrize("people", [60, 600, 2000])
def test_at_one_in_a_hundred_it_is_the_rule(people, tests):
    """P(Bin(m, p_up) >= k) <= .005 / T, with p_up the upper limit of Clopper and Pearson for 1 of n at .005 / T."""
    error = 0.005 / tests
    upper = beta.ppf(1 - error, 2, people - 1)
    for times in range(1, 200, 3):
        assert (too_often(times, 1000, people, tests) <= 0.01) == (binom.sf(times - 1, 1000, upper) <= error), times


def test_by_hand():
    # 2 rows, both the record that one of 2 people has: p_up(a) = sqrt(1 - a), and its square is a at 1/2
    assert too_often(2, 2, 2) == pytest.approx(1.0)
    assert too_often(0, 10, 10) == too_often(1, 10, 10) == 1
    assert too_often(5, 5, 1) == 1  # one person among one


def test_more_repeats_are_less_likely_and_more_tests_weigh():
    found = [too_often(k, 1000, 2000) for k in range(8, 60, 4)]
    assert (np.diff(found) < 0).all()
    assert too_often(30, 1000, 2000, 5) == pytest.approx(5 * too_often(30, 1000, 2000))
    assert 0 < too_often(1000, 1000, 10**6) < 1e-290


@pytest.mark.parametrize("wrong", [(3, 2, 5), (-1, 2, 5), (1, 2, 0), (1, 2, 5, 0)])
def test_what_cannot_be_is_refused(wrong):
    with pytest.raises(SettingError):
        too_often(*wrong)
