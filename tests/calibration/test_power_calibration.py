"""Does the verdict find the smallest detectable excess that a run states in about four runs of five?

Each run states the number from leak-free people; then people with that excess are drawn and judged as the verdict does:
p-value at the level of the run, and both limits above 0.
"""

import math

import numpy as np
import pytest

from divulge.stats import Outcomes, compare
from divulge.stats.attraction import attraction

RUNS = [pytest.param(60, id="quick", marks=pytest.mark.slow), pytest.param(500, id="full", marks=pytest.mark.full)]
LEVELS = [(0.05, 0.95), (0.005, 0.98)]
"""The two-sided level of one call, and that of a family of about three comparisons among four attacks."""


def people(rng, kind, n, leak):
    """Outcomes of n people, of whom a share `leak` is hit for certain."""
    hit, cluster = rng.random(n) < leak, None
    if kind == "hits":
        value = (rng.random(n) < 0.2).astype(float)
    elif kind == "few hits":
        value = (rng.random(n) < 0.004).astype(float)
    elif kind == "fractions":
        value = rng.beta(0.5, 1.5, n)
    elif kind == "few fractions":
        value = (rng.random(n) < 0.02) * rng.random(n)
    else:
        cluster = np.repeat(np.arange(n), rng.integers(1, 6, n))
        value = (rng.random(cluster.size) < rng.beta(0.6, 1.4, n)[cluster]).astype(float)
        hit = hit[cluster]
    return Outcomes(np.where(hit, 1.0, value), cluster=cluster)


def finds(comparison, p, level):
    difference, risk = comparison.at(level)
    return comparison.p_value <= p and difference.low > 0 and risk.low > 0


def share_found(runs, drawn, p, level, excess_to_leak):
    found, done = 0, 0
    for _ in range(runs):
        plain = drawn(0.0)
        excess = plain.detectable(1 - p, level)
        if not math.isnan(excess):
            found += finds(drawn(min(1.0, excess_to_leak(plain, excess))), p, level)
            done += 1
    assert done > 0.9 * runs
    print(f"found in {found / done:.3f} of {done}")
    return found / done


@pytest.mark.parametrize("runs", RUNS)
@pytest.mark.parametrize(("p", "level"), LEVELS)
@pytest.mark.parametrize(
    ("kind", "n", "m"),
    [
        ("hits", 600, 600), ("hits", 900, 300), ("few hits", 1500, 1500), ("few hits", 1500, 600),
        ("fractions", 500, 300), ("few fractions", 1000, 1000), ("clusters", 300, 300), ("clusters", 200, 400),
    ],
)  # fmt: skip
def test_the_smallest_excess_of_people_is_found(kind, n, m, p, level, runs):
    rng = np.random.default_rng(5)
    draws = 0 if "hits" in kind else 400

    def drawn(leak):
        return compare(people(rng, kind, n, leak), people(rng, kind, m, 0.0), rng=rng, draws=draws)

    power = share_found(runs, drawn, p, level, lambda plain, excess: excess / (1 - plain.holdout.rate))
    error = math.sqrt(0.8 * 0.2 / runs)
    assert 0.75 - 3 * error <= power <= 0.9 + 3 * error


@pytest.mark.parametrize("runs", RUNS)
@pytest.mark.parametrize(("p", "level"), LEVELS)
@pytest.mark.parametrize(
    ("kind", "n", "m", "rows"), [("even", 300, 300, 600), ("skewed", 200, 600, 300), ("few", 400, 400, 800)]
)
def test_the_smallest_excess_of_synthetic_rows_is_found(kind, n, m, rows, p, level, runs):
    rng = np.random.default_rng(6)

    def drawn(leak):
        near = rng.gamma(0.3, 1, n + m) if kind == "skewed" else np.ones(n + m)
        copied = rng.binomial(rows, leak)
        others = rng.binomial(rows - copied, 0.01) if kind == "few" else rows - copied
        credits = rng.multinomial(others, near / near.sum()).astype(float)
        credits[:n] += rng.multinomial(copied, np.full(n, 1 / n))
        return attraction(credits[:n], credits[n:], rows, rng=rng)

    power = share_found(runs, drawn, p, level, lambda plain, excess: excess / (1 - plain.null_share))
    error = math.sqrt(0.8 * 0.2 / runs)
    assert 0.75 - 3 * error <= power <= 0.9 + 3 * error
