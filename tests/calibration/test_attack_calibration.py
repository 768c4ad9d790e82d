"""Do the attacks find what was planted, and nothing where nothing was?

People come from a known population, synthetic tables from known generators, so that the true excess is known.
Quick forms run always, their band 3 standard errors wide because the seed is fixed and the runs are few.
Full forms (``-m full``) repeat more and use the 95% band of the simulation's own error.
"""

import functools
import math

import numpy as np
import polars as pl
import pytest

import divulge
from divulge.case import lay
from divulge.schema import Column, Schema

LEVELS = [2, 3, 4, 5, 6, 8, 4, 4]
SHARES = [0.5, 0.3, 0.2]
KEYS = [f"k{j}" for j in range(7)]


def runs(quick, full):
    return pytest.mark.parametrize(
        ("runs", "errors"),
        [pytest.param(quick, 3.0, id="quick"), pytest.param(full, 1.96, id="full", marks=pytest.mark.full)],
    )


def band(rate, runs, errors):
    half = errors * math.sqrt(rate * (1 - rate) / runs)
    return rate - half, rate + half


def most(rate, runs, errors):
    return band(rate, runs, errors)[1]


# ---------------------------------------------------------------- populations


@functools.cache
def profiles():
    """Cumulated shares of each column's levels in each of 3 latent classes."""
    rng = np.random.default_rng(7)
    return [np.cumsum(rng.dirichlet(np.full(n, 0.7), size=3), axis=1) for n in LEVELS]


def people(rng, n):
    """Seven keys and a secret that depend on each other through a latent class, shape (n, 8)."""
    latent = rng.choice(3, n, p=SHARES)
    return np.stack([(rng.random((n, 1)) > p[latent][:, :-1]).sum(axis=1) for p in profiles()], axis=1)


def frame(rows, **more):
    return pl.DataFrame({f"k{j}": c for j, c in enumerate(rows.T[:-1])} | {"secret": rows[:, -1]} | more)


SCHEMA = Schema(tuple(Column(c, "integer-coded") for c in [*KEYS, "secret"]))


def case(real, synthetic, holdout, seed=0):
    return lay(frame(real), frame(synthetic), frame(holdout), schema=SCHEMA, seed=seed)


def attacked(laid, keys=KEYS):
    (copied,) = divulge.copies.run(laid)
    return copied, divulge.cap.run(laid, keys=keys, target="secret", unseen="zero")


def covers(interval, truth):
    return interval.low <= truth <= interval.high


# ---------------------------------------------------------------- no leak


@runs(200, 1500)
def test_independent_tables_show_no_excess(runs, errors):
    rng = np.random.default_rng(1)
    seen = []
    for i in range(runs):
        for r in attacked(case(*(people(rng, 400) for _ in range(3)), seed=i)):
            alarm = r.difference.low > 0  # the one-sided test at 2.5%
            one_sided = r.difference.value > 0 and r.p_value <= 0.10
            seen.append((covers(r.difference, 0), covers(r.risk, 0), alarm, one_sided, r.difference.value))
    seen = np.array(seen, dtype=float).reshape(runs, 2, 5)
    for attack in (0, 1):
        difference, risk, alarm, one_sided, mean = seen[:, attack].mean(axis=0)
        print("D1", attack, difference, risk, alarm, one_sided, mean, seen[:, attack, 4].std())
        low, high = band(0.95, runs, errors)
        assert low <= difference
        assert low <= risk
        if attack == 1:  # Newcombe and MOVER of the copies are a little wide by design
            assert difference <= high
            assert risk <= high
        assert alarm <= most(0.025, runs, errors)
        assert one_sided <= most(0.05, runs, errors)
        assert abs(mean) <= 3 * seen[:, attack, 4].std() / math.sqrt(runs)
