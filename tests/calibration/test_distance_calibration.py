"""Do the distance tests keep their level without a leak, and find the fraction of rows that was copied?

Quick forms run always, their band 3 standard errors wide because the seed is fixed and the runs are few.
Full forms (``-m full``) repeat more and use the 95% band of the simulation's own error.
"""

import math

import numpy as np
import polars as pl
import pytest
from scipy.spatial import cKDTree
from scipy.stats import binomtest

import divulge
from divulge.case.case import build_case
from divulge.core.schema import Column, Schema
from divulge.stats.attraction import attraction


def runs(quick, full):
    return pytest.mark.parametrize(
        ("runs", "errors"),
        [pytest.param(quick, 3.0, id="quick"), pytest.param(full, 1.96, id="full", marks=pytest.mark.full)],
    )


def half(rate, runs, errors):
    return errors * math.sqrt(rate * (1 - rate) / runs)


def compared(members, strangers, synthetic, rng, **more):
    """The attraction of continuous people, without ties, by another search."""
    _, nearest = cKDTree(np.concatenate([members, strangers])).query(synthetic)
    c = np.bincount(nearest, minlength=len(members) + len(strangers)).astype(float)
    return attraction(c[: len(members)], c[len(members) :], len(synthetic), rng=rng, **more)


def normal(rng, *sizes):
    return [rng.normal(size=(n, 4)) for n in sizes]


# ---------------------------------------------------------------- no leak


@runs(100, 400)
@pytest.mark.parametrize("times", [1, 5, 20])
def test_leak_free_tables_of_any_length_are_rejected_at_the_level(times, runs, errors):
    rng = np.random.default_rng(times)
    n, m = 300, 300 * times
    rejected, alarms, covered, binomial = 0, 0, 0, 0
    for _ in range(runs):
        found = compared(*normal(rng, n, n, m), rng)
        rejected += found.p_value <= 0.05
        alarms += found.difference.low > 0
        covered += found.risk.low <= 0 <= found.risk.high
        binomial += binomtest(round(found.share * m), m, 0.5).pvalue <= 0.05
    assert abs(rejected / runs - 0.05) <= half(0.05, runs, errors)
    assert alarms / runs <= 0.025 + half(0.025, runs, errors)
    assert covered / runs >= 0.95 - half(0.95, runs, errors)
    # the wider of two intervals covers a little more than its level; far more would cost power
    assert covered / runs <= min(1.0, 0.975 + half(0.975, runs, errors))
    if times == 20:  # why rows are not the units: the test over rows, were it used, finds leaks where none are
        assert binomial / runs > 0.05 + 2 * half(0.05, runs, errors)


@runs(60, 400)
def test_unequal_tables_have_their_own_null_share(runs, errors):
    rng = np.random.default_rng(50)
    found = [compared(*normal(rng, 400, 100, 400), rng) for _ in range(runs)]
    share = np.array([f.share for f in found])
    assert abs(share.mean() - 0.8) <= max(0.005, errors * share.std() / math.sqrt(runs))
    rejected = np.mean([f.p_value <= 0.05 for f in found])
    assert abs(rejected - 0.05) <= half(0.05, runs, errors)


# ---------------------------------------------------------------- planted copies


@runs(100, 400)
@pytest.mark.parametrize(("copied", "m"), [(0.05, 1500), (0.2, 300)])
def test_the_planted_fraction_is_found_and_covered(copied, m, runs, errors):
    rng = np.random.default_rng(60 + m)
    seen = []
    for _ in range(runs):
        real, strangers, synthetic = normal(rng, 300, 300, m)
        k = round(copied * m)
        synthetic[:k] = real[rng.choice(300, k, replace=False)]
        found = compared(real, strangers, synthetic, rng)
        assert found.risk.value == pytest.approx(2 * found.share - 1)
        seen.append((found.risk.value, found.risk.low <= copied <= found.risk.high))
    value, covered = np.array(seen, dtype=float).T
    assert abs(value.mean() - copied) <= max(0.01, errors * value.std() / math.sqrt(runs))
    # copies are one a person: credits vary a little less than Welch allows
    assert covered.mean() >= (0.92 if errors < 3 else 0.95 - half(0.95, runs, errors))


# ---------------------------------------------------------------- ties, restricted counts, households


CODES = Schema(tuple(Column(f"k{j}", "integer-coded") for j in range(5)))


def coded(rng, n, levels=(3, 4, 4, 5, 6)):
    latent = rng.integers(0, 3, n)
    return pl.DataFrame({f"k{j}": (rng.poisson(1 + latent * 0.7) % k).astype(int) for j, k in enumerate(levels)})


@runs(60, 400)
def test_ties_are_shared_evenly(runs, errors):
    rng = np.random.default_rng(70)
    share, rejected, same = [], 0, 0
    for i in range(runs):
        case = build_case(coded(rng, 200), coded(rng, 200), coded(rng, 200), schema=CODES, seed=i)
        dcr = divulge.dcr.run(case)[0]
        share.append(dcr.real.rate)
        rejected += dcr.p_value <= 0.05
        same += divulge.identical_match_share.run(case).p_value <= 0.05
    assert abs(np.mean(share) - 0.5) <= max(0.01 if runs > 100 else 0, errors * np.std(share) / math.sqrt(runs))
    assert abs(rejected / runs - 0.05) <= half(0.05, runs, errors)
    assert abs(same / runs - 0.05) <= half(0.05, runs, errors)


FLOATS = Schema(tuple(Column(f"x{j}", "numeric") for j in range(2)))


def plane(rows):
    return pl.DataFrame({f"x{j}": rows[:, j] for j in range(2)})


@runs(60, 400)
@pytest.mark.parametrize("m", [150, 1500])
def test_restricted_counts_keep_their_level(m, runs, errors):
    rng = np.random.default_rng(80 + m)
    names = ("nndr", "authenticity", "epsilon_identifiability", "hitting_rate")
    rejected, alarms, limitless = np.zeros(4), np.zeros(4), np.zeros(4)
    for i in range(runs):
        case = build_case(*(plane(rng.normal(size=(k, 2))) for k in (150, m, 150)), schema=FLOATS, seed=i)
        for j, name in enumerate(names):
            found = getattr(divulge, name).run(case)
            found = found[-1] if isinstance(found, tuple) else found
            rejected[j] += found.p_value <= 0.05
            # no limits where they would reach the end of what is possible and include 0: no alarm either
            limitless[j] += found.difference.low is None
            alarms[j] += found.difference.low is not None and found.difference.low > 0
    assert (limitless < runs / 2).all(), limitless
    most = 0.05 + half(0.05, runs, errors)
    assert (rejected / runs <= most).all(), rejected
    assert (alarms / runs <= 0.025 + half(0.025, runs, errors)).all(), alarms
    # labels are permuted, so that the two by credits are at the level from both sides; where few rows count, of 150
    # some 40 that point at one person, few p-values are possible and the test keeps below it
    if m > 1000:
        assert (rejected[:2] / runs >= 0.05 - half(0.05, runs, errors)).all(), rejected


@runs(60, 400)
def test_households_keep_their_level_and_rows_alone_do_not(runs, errors):
    """Households of four equal records attract together: a quarter as many independent people as rows."""
    rng = np.random.default_rng(90)
    rejected, naive = 0, 0
    for i in range(runs):
        tables = [
            plane(np.repeat(rng.normal(size=(50, 2)), 4, axis=0)).with_columns(
                home=pl.Series([f"{h}{j // 4}" for j in range(200)])
            )
            for h in "rh"
        ]
        tables.insert(1, plane(rng.normal(size=(400, 2))).with_columns(home=pl.lit("s")))
        rejected += divulge.dcr.run(build_case(*tables, schema=FLOATS, unit="home", seed=i))[0].p_value <= 0.05
        naive += (
            divulge.dcr.run(build_case(*(t.drop("home") for t in tables), schema=FLOATS, seed=i))[0].p_value <= 0.05
        )
    assert abs(rejected / runs - 0.05) <= half(0.05, runs, errors)
    assert naive / runs > 0.05 + half(0.05, runs, errors)
