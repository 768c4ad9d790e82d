"""Bounds of epsilon: oracles by other formulas, the numbers of the study, laws, and coverage."""

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import beta, binom, norm

from divulge.core.errors import SettingError
from divulge.stats.epsilon import (
    game_ceiling,
    game_epsilon,
    game_mu,
    game_power,
    mu_of_epsilon,
    mu_to_epsilon,
    one_run_epsilon,
    one_run_p,
    one_run_power,
    pairs_epsilon,
)


def plain_one_run_p(m, guesses, right, epsilon, delta):
    q = math.exp(epsilon) / (1 + math.exp(epsilon))
    chance = [math.comb(guesses, k) * q**k * (1 - q) ** (guesses - k) for k in range(right)]
    mass = [sum(chance[right - i :]) / i for i in range(1, right + 1)]
    return min(1.0, binom.sf(right - 1, guesses, q) + 2 * m * delta * max(mass))


@pytest.mark.parametrize("delta", [0.0, 1e-6, 1e-3])
@pytest.mark.parametrize(("m", "guesses", "right"), [(100, 100, 60), (100, 10, 9), (40, 40, 40)])
def test_one_run_p_is_the_theorem_written_out(m, guesses, right, delta):
    for epsilon in (0.0, 0.5, 2.0):
        expected = plain_one_run_p(m, guesses, right, epsilon, delta)
        assert one_run_p(m, guesses, right, epsilon, delta) == pytest.approx(expected, rel=1e-9)


def test_one_run_bounds_of_the_study():
    known = {(1000, 1000, 600, 0.0): 0.2975, (1000, 100, 95, 0.0): 2.1724, (1000, 100, 95, 1e-5): 2.1652,
             (1000, 200, 180, 1e-5): 1.7963, (500, 500, 400, 1e-6): 1.1986}  # fmt: skip
    for (m, guesses, right, delta), bound in known.items():
        assert round(one_run_epsilon(m, guesses, right, delta=delta), 4) == bound
    hits = {560: 0.134, 600: 0.297, 650: 0.508, 700: 0.732, 800: 1.254, 900: 2.021}
    assert {h: round(one_run_epsilon(1000, 1000, h), 3) for h in hits} == pytest.approx(hits, abs=0.0011)


def test_the_game_has_clopper_and_pearsons_limits_in_both_directions():
    rng = np.random.default_rng(0)
    for _ in range(50):
        n, m = rng.integers(5, 300, 2).tolist()
        tp, fp, delta = int(rng.integers(0, n + 1)), int(rng.integers(0, m + 1)), float(rng.choice([0, 1e-3]))
        found = []
        for a, na, b, nb in ((tp, n, fp, m), (m - fp, m, n - tp, n)):
            low = beta.ppf(0.0125, a, na - a + 1) if a else 0.0
            high = beta.ppf(0.9875, b + 1, nb - b) if b < nb else 1.0
            found.append(math.log((low - delta) / high) if low > delta else 0.0)
        assert game_epsilon(tp, n, fp, m, delta=delta) == pytest.approx(max(0.0, *found))


def test_ceilings():
    runs = (10, 25, 50, 100, 250, 500, 1000)
    found = [round(game_ceiling(r, r), 3) for r in runs]
    assert found == [0.598, 1.652, 2.39, 3.106, 4.035, 4.733, 5.428]
    assert game_epsilon(40, 50, 3, 50) < game_ceiling(50, 50)


def test_gaussian_noise():
    for mu in (0.7,):
        epsilon = mu_to_epsilon(mu, 1e-5)
        # the definition of delta: the largest excess of one normal over e^epsilon times the other
        delta = quad(lambda x: max(0.0, norm.pdf(x - mu) - math.exp(epsilon) * norm.pdf(x)), -10, 20, limit=500)[0]  # noqa: B023
        assert delta == pytest.approx(1e-5, rel=1e-3)
        assert mu_of_epsilon(epsilon, 1e-5) == pytest.approx(mu, abs=1e-9)
    assert [round(mu_to_epsilon(mu, 1e-5), 3) for mu in (0.25, 0.5, 1.0, 2.0)] == [0.926, 1.993, 4.377, 9.997]
    high = beta.ppf(0.975, 11, 90)
    assert game_mu(90, 100, 10, 100) == pytest.approx(-2 * norm.ppf(high))
    assert mu_to_epsilon(0.0, 1e-5) == 0.0


def test_pairs_change_two_records():
    assert pairs_epsilon(1000, 700) == pytest.approx(one_run_epsilon(1000, 1000, 700) / 2)
    assert 0 < pairs_epsilon(1000, 700, delta=1e-4) < pairs_epsilon(1000, 700)
    assert pairs_epsilon(1000, 505) == 0.0


def test_power_is_the_share_of_bounds_above_the_claim():
    fewest = next(v for v in range(101) if one_run_epsilon(100, 100, v) > 1.0)
    assert one_run_power(1.0, 2.0, 100, 100) == pytest.approx(binom.sf(fewest - 1, 100, math.e**2 / (1 + math.e**2)))
    assert one_run_power(3.0, 60.0, 20, 20) == 0.0  # beyond the ceiling
    assert game_power(0.5, 60.0, 100, 100) == 1.0
    assert game_power(0.5, 0.5, 100, 100) <= 0.05


def test_impossible_counts_are_refused():
    with pytest.raises(SettingError, match="right <= guesses <= canaries"):
        one_run_epsilon(10, 5, 6)
    with pytest.raises(SettingError, match="hits <= trainings"):
        game_epsilon(3, 2, 0, 2)
    with pytest.raises(SettingError, match="delta"):
        mu_to_epsilon(1.0, 0.0)
