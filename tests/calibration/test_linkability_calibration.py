"""Does linkability find the share of rows that was copied, see the leaks it should, and none where none is?

Quick forms run always, their band 3 standard errors wide because the seed is fixed and the runs are few.
Full forms (``-m full``) repeat more and use the 95% band of the simulation's own error.
"""

import math

import numpy as np
import polars as pl
import pytest

import divulge
from divulge.case.case import build_case
from divulge.core.schema import Column, Schema

KEYS = [f"x{j}" for j in range(6)]
HALVES = KEYS[:3], KEYS[3:]
NUMBERS = Schema((*(Column(c, "numeric") for c in KEYS), Column("secret", "categorical")))
LEVELS = (2, 3, 4, 5, 6, 8, 4, 4)
CODES = Schema(tuple(Column(f"k{j}", "integer-coded") for j in range(8)))


def runs(quick, full):
    return pytest.mark.parametrize(
        ("runs", "errors"),
        [pytest.param(quick, 3.0, id="quick"), pytest.param(full, 1.96, id="full", marks=pytest.mark.full)],
    )


def half(rate, runs, errors):
    return errors * math.sqrt(rate * (1 - rate) / runs)


def normal(rng, n):
    """Six numbers and a secret that depends on the first two."""
    keys = rng.normal(size=(n, 6))
    return keys, np.digitize(keys[:, 0] + keys[:, 1] + rng.normal(size=n), [-1, 0, 1])


def frame(keys, secret):
    return pl.DataFrame(dict(zip(KEYS, keys.T, strict=True)) | {"secret": [f"s{x}" for x in secret]})


def classes(rng, n, shares):
    """Seven keys and a secret that depend on each other through one of three latent classes."""
    latent = rng.choice(3, n, p=[0.5, 0.3, 0.2])
    return pl.DataFrame({f"k{j}": (rng.random((n, 1)) > p[latent][:, :-1]).sum(axis=1) for j, p in enumerate(shares)})


# ---------------------------------------------------------------- no leak


@runs(40, 600)
def test_leak_free_codes_are_no_excess(runs, errors):
    """Full of ties: most scores are fractions."""
    shares = [np.cumsum(np.random.default_rng(7).dirichlet(np.full(n, 1.5), size=3), axis=1) for n in LEVELS]
    pair = [f"k{j}" for j in (0, 3, 4, 7)], [f"k{j}" for j in (1, 2, 5, 6)]
    seen = {1: [], 10: []}
    for i in range(runs):
        rng = np.random.default_rng([i, 1])
        case = build_case(*(classes(rng, 400, shares) for _ in range(3)), schema=CODES, seed=i)
        for k, rows in seen.items():
            (found,) = divulge.linkability.run(case, columns=pair, k=k)
            gap, risk = found.difference, found.risk
            covered = gap.low <= 0 <= gap.high, risk.low <= 0 <= risk.high
            rows.append((gap.value, *covered, gap.low > 0, found.p_value <= 0.05))
    for k, rows in seen.items():
        excess, by_gap, by_risk, alarms, rejected = np.array(rows, dtype=float).T
        assert abs(excess.mean()) <= 3 * excess.std() / math.sqrt(runs), k
        # at k = 1 the scores add up to little more than one person of 400: percentiles of a bootstrap are then a little
        # short (.932 in 600 runs), and verdicts go by the difference
        for covered, least in ((by_gap, 0.95), (by_risk, 0.95 if k > 1 else 0.93)):
            assert covered.mean() >= least - half(least, runs, errors), k
            assert covered.mean() <= min(1.0, 0.98 + half(0.98, runs, errors)), k
        assert alarms.mean() <= 0.025 + half(0.025, runs, errors), k
        assert rejected.mean() <= 0.05 + half(0.05, runs, errors), k


@runs(40, 400)
def test_the_sweep_finds_nothing_where_nothing_is(runs, errors):
    """All halves and all k together: one family, one level."""
    found = 0
    for i in range(runs):
        rng = np.random.default_rng([i, 2])
        real, synthetic, holdout = (frame(*normal(rng, 120)) for _ in range(3))
        results = divulge.linkability(real, synthetic, holdout=holdout, schema=NUMBERS, seed=i)
        found += any(r.verdict == "excess found" for r in results)
    # a finding is an excess: one side of a two-sided family, and the other side when members fare worse
    assert found / runs <= 0.025 + half(0.025, runs, errors)


# ---------------------------------------------------------------- D2: how many were planted


@runs(25, 400)
@pytest.mark.parametrize("share", [0, 0.1, 0.3])
def test_the_planted_share_is_the_risk(share, runs, errors):
    n, seen = 500, []
    for i in range(runs):
        rng = np.random.default_rng([i, 3, round(100 * share)])
        (real, told), (keys, secret), others = (normal(rng, n) for _ in range(3))
        k = round(share * n)
        who = rng.choice(n, k, replace=False)
        keys[:k], secret[:k] = real[who], told[who]
        case = build_case(frame(real, told), frame(keys, secret), frame(*others), schema=NUMBERS, seed=i)
        (found,) = divulge.linkability.run(case, columns=HALVES, k=1)
        seen.append((found.risk.value, found.risk.low <= share <= found.risk.high, found.difference.low > 0))
    risk, covered, alarms = np.array(seen, dtype=float).T
    assert abs(risk.mean() - share) <= 3 * risk.std() / math.sqrt(runs)
    # the interval may be conservative: few runs may miss by their own error, many may not
    assert covered.mean() >= 0.93 - (half(0.93, runs, errors) if runs < 400 else 0)
    if share == 0:
        assert alarms.mean() <= 0.025 + half(0.025, runs, errors)
    else:
        assert alarms.mean() == 1


# ---------------------------------------------------------------- D4: which leak it sees


MATRIX = {
    "none": 0,
    "full copy": 0.25,
    "keys copied": 0.25,
    "jitter": 0.22,
    "half copied": 0,
    "secrets permuted": 0,
}


@runs(12, 100)
@pytest.mark.parametrize("leak", MATRIX)
def test_it_sees_copies_of_both_halves_and_no_other_leak(leak, runs, errors):
    n, share, found = 300, 0.25, []
    for i in range(runs):
        rng = np.random.default_rng([i, 4])
        (real, told), (keys, secret), others = (normal(rng, n) for _ in range(3))
        k = round(share * n)
        who = rng.choice(n, k, replace=False)
        if leak == "full copy":
            keys[:k], secret[:k] = real[who], told[who]
        elif leak == "keys copied":
            keys[:k] = real[who]
        elif leak == "jitter":
            keys[:k], secret[:k] = real[who] + 0.05 * real.std(axis=0) * rng.standard_normal((k, 6)), told[who]
        elif leak == "half copied":
            keys[:k, :3] = real[who, :3]
        elif leak == "secrets permuted":
            secret = rng.permutation(secret)
        case = build_case(frame(real, told), frame(keys, secret), frame(*others), schema=NUMBERS, seed=i)
        (of_keys,) = divulge.linkability.run(case, columns=HALVES, k=1)
        found.append(of_keys.risk.value)
    assert abs(np.mean(found) - MATRIX[leak]) <= 0.02
