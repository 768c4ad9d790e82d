"""Linear reconstruction: does it stay silent where nothing leaks, and does its interval cover?

Quick forms take a band of 3 standard errors, full forms (``-m full``) repeat more and take 2.
"""

import math
from itertools import combinations

import numpy as np
import polars as pl
import pytest
from worlds import WORLDS

import divulge


def runs(quick, full):
    return pytest.mark.parametrize(
        ("runs", "errors"),
        [pytest.param(quick, 3.0, id="quick"), pytest.param(full, 2.0, id="full", marks=pytest.mark.full)],
    )


SIZES = {"as many": (150, 150, 150), "fewer strangers": (300, 300, 150)}


def with_secret(rng, table, how):
    """A secret that is a coin, or that follows from what is known of a person."""
    first = table[table.columns[0]].rank("dense").to_numpy()
    chance = 0.5 if how == "a coin" else 0.15 + 0.7 * first / first.max()
    return table.with_columns(ill=pl.Series(rng.random(len(table)) < chance))


@runs(20, 300)
@pytest.mark.parametrize("how", ["a coin", "it follows"])
@pytest.mark.parametrize("sizes", SIZES)
def test_without_a_leak_nothing_is_found_and_no_risk_is_covered(sizes, how, runs, errors):
    rng, found, inside = np.random.default_rng(1), 0, 0
    for _ in range(runs):
        tables = [with_secret(rng, WORLDS["codes"](rng, n), how) for n in SIZES[sizes]]
        result = divulge.linear_reconstruction(*tables[:2], holdout=tables[2], target="ill")
        found += result.p_value <= 0.05
        inside += result.risk.low <= 0 <= result.risk.high
    print(f"\n{sizes}, {how}: p at most .05 in {found}, 0 covered in {inside} of {runs}")
    assert found / runs <= 0.05 + errors * math.sqrt(0.05 * 0.95 / runs)
    assert inside / runs >= 0.95 - errors * math.sqrt(0.05 * 0.95 / runs)


@runs(3, 40)
def test_exact_counts_of_two_columns_are_found(runs, errors):
    rng, found = np.random.default_rng(2), 0
    for _ in range(runs):
        real, holdout = (with_secret(rng, WORLDS["codes"](rng, 150), "a coin") for _ in range(2))
        keys = real.columns[:-1]
        synthetic = pl.concat(
            real.select(*[pl.col(c) if c in pair else pl.lit("?").alias(c) for c in keys], "ill")
            for pair in combinations(keys, 2)
        )
        result = divulge.linear_reconstruction(real, synthetic, holdout=holdout, target="ill")
        found += result.verdict == "excess found" and result.real.rate > 0.8
    print(f"\nfound in {found} of {runs}")
    assert found == runs
