"""Does the test of singling out keep its level, find planted copies, and do its intervals cover at unequal sizes?

Quick forms run always, their band 3 standard errors wide because the seed is fixed and the runs are few.
Full forms (``-m full``) repeat more; their limits are those of the design, or the 95% band of the simulation's error.
"""

import functools
import math
import sys

import numpy as np
import polars as pl
import pytest
from scipy.stats import binomtest

import divulge
from divulge.core.schema import Column, Schema
from divulge.stats.isolation import Fits, isolations, right

module = sys.modules[divulge.singling_out.run.__module__]  # its name is that of the function

LEVELS = (2, 3, 4, 5, 6, 8, 4, 4)
CHANCES = [np.random.default_rng(1).dirichlet(np.ones(k) * 0.7, 3) for k in LEVELS]
CODES = Schema(tuple(Column(f"c{j}", "categorical") for j in range(len(LEVELS))))


def runs(quick, full):
    return pytest.mark.parametrize(
        ("runs", "errors"),
        [pytest.param(quick, 3.0, id="quick"), pytest.param(full, 1.96, id="full", marks=pytest.mark.full)],
    )


def half(rate, runs, errors):
    return errors * math.sqrt(rate * (1 - rate) / runs)


def people(rng, n):
    """Three hidden classes, eight categories that depend on them."""
    hidden = rng.integers(0, 3, n)
    values = [(rng.random(n)[:, None] > np.cumsum(p[hidden], 1)[:, :-1]).sum(1) for p in CHANCES]
    return pl.DataFrame({f"c{j}": [f"v{v}" for v in x] for j, x in enumerate(values)})


def planted(seed, population, n, m, rows, copied):
    """Real table, synthetic table with copies of some real rows, holdout."""
    rng = np.random.default_rng(seed)
    real, holdout, synthetic = (population(rng, k) for k in (n, m, rows))
    c = round(copied * rows)
    taken = real[np.sort(rng.choice(n, c, replace=False))]
    return real, pl.concat([taken, synthetic[c:]]), holdout


def guessed(real, synthetic, holdout, **settings):
    """The result, and the one-sided p-value of McNemar's test, which counts every guess as independent."""
    seen = []

    def watched(fits, is_member, **more):
        seen.append(right(fits, is_member))
        return isolations(fits, is_member, **more)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(module, "isolations", watched)
        (result,) = divulge.singling_out(real, synthetic, holdout=holdout, **settings)
    members, strangers = seen[0]
    only, apart = round((members > strangers).sum()), round((members != strangers).sum())
    return result, binomtest(only, apart, 0.5, alternative="greater").pvalue if apart else 1.0


@functools.cache
def simulated(n, m, copied, repeats, guesses):
    """What three-column guesses find, a column a run: p-values, difference and risk, each with its limits."""
    out = []
    for seed in range(repeats):
        tables = planted(seed, people, n, m, 300, copied)
        r, naive = guessed(*tables, schema=CODES, n_columns=3, guesses=guesses)
        d, risk = r.difference, r.risk
        found = r.verdict == "excess found"
        out.append((r.p_value, naive, d.value, d.low, d.high, risk.value, risk.low, risk.high, found))
    return np.array(out, dtype=float).T


# ---------------------------------------------------------------- three columns, categories


SIZES = [(300, 300), (600, 200), (200, 600)]
ALL, FEWER = 2000, 300  # some 900 guesses are there to be found; fewer are quicker


@runs(25, 300)
@pytest.mark.parametrize(("n", "m"), SIZES)
def test_tables_without_a_leak_are_rejected_at_the_level(n, m, runs, errors):
    p, naive, difference, low, *_, found = simulated(n, m, 0.0, runs, FEWER if errors == 3 else ALL)
    rejected = float((p <= 0.05).mean())
    one_sided = float(((p <= 0.1) & (difference > 0)).mean())
    by_guess = f"{(naive <= 0.05).mean():.3f}" if n == m else "not defined"
    print(f"{n}/{m}: rejected {rejected:.3f}, one-sided {one_sided:.3f}, McNemar {by_guess}")
    print(f"  lower limit above 0 {(low > 0).mean():.3f}, called excess {found.mean():.3f}")
    assert rejected <= (0.075 if errors < 3 else 0.05 + half(0.05, runs, errors))
    assert found.mean() <= 0.025 + half(0.025, runs, errors)
    assert abs(difference.mean()) <= 3 * difference.std() / math.sqrt(runs)


@runs(25, 300)
def test_planted_copies_are_found(runs, errors):
    p, _, difference, *_, risk, _, _, found = simulated(300, 300, 0.3, runs, ALL)
    power = float((p <= 0.05).mean())
    one_sided = float(((p <= 0.1) & (difference > 0)).mean())
    print(f"power {power:.3f}, one-sided {one_sided:.3f}, called excess {found.mean():.3f}, risk {risk.mean():.4f}")
    # the design's 0.6 is of the one-sided 5% test; what is reported is two-sided and finds somewhat fewer
    assert one_sided >= (0.6 if errors < 3 else 0.6 - half(0.6, runs, errors))
    assert power >= 0.5 - half(0.5, runs, errors)
    assert risk.mean() == pytest.approx(0.09, abs=0.02)


@runs(25, 300)
@pytest.mark.parametrize("copied", [0.0, 0.1, 0.3])
@pytest.mark.parametrize(("n", "m"), SIZES)
def test_intervals_cover_the_mean(n, m, copied, runs, errors):
    """Both are of one table's guesses at equal size, so their means over tables are what the intervals are for."""
    _, _, difference, low, high, risk, risk_low, risk_high, _ = simulated(
        n, m, copied, runs, FEWER if errors == 3 else ALL
    )
    covered = float(((low <= difference.mean()) & (difference.mean() <= high)).mean())
    of_risk = float(((risk_low <= risk.mean()) & (risk.mean() <= risk_high)).mean())
    means = f"difference {difference.mean():.4f} sd {difference.std():.4f}, risk {risk.mean():.4f}"
    print(f"{n}/{m} copied {copied}: {means}; covered {covered:.3f}, {of_risk:.3f}")
    least = 0.93 if errors < 3 else 0.95 - half(0.95, runs, errors)
    assert covered >= least
    assert of_risk >= least


# ---------------------------------------------------------------- one column, numbers


def continuous(rng, n, d=6):
    return pl.DataFrame({f"x{j}": rng.normal(size=n) for j in range(d)})


@runs(20, 300)
def test_values_copied_into_one_column_are_found(runs, errors):
    risks, false, found = [], 0, 0
    for seed in range(runs):
        for copied in (0.0, 0.1):
            real, synthetic, holdout = planted(seed, continuous, 300, 300, 300, copied)
            (r,) = divulge.singling_out(real, synthetic, holdout=holdout, n_columns="univariate")
            if copied:
                found += r.verdict == "excess found"
                risks.append((r.risk.value, r.risk.low <= copied <= r.risk.high))
            else:
                false += r.p_value <= 0.05
    value, covered = np.array(risks, dtype=float).T
    print(
        f"rejected {false / runs:.3f}, found {found / runs:.3f}, risk {value.mean():.4f}, covered {covered.mean():.3f}"
    )
    assert found == runs
    assert false / runs <= 0.05 + half(0.05, runs, errors)
    # of a record that was copied every value is the member's own
    assert value.mean() == pytest.approx(0.1, abs=0.01)
    assert covered.mean() >= 0.95 - half(0.95, runs, errors)


# ---------------------------------------------------------------- guesses are not independent


def said_again(rng, n):
    """Three numbers, each in four columns, as age and year of birth are: guesses on either fit the same people."""
    numbers = rng.normal(size=(n, 3))
    return pl.DataFrame({f"x{j}{k}": numbers[:, j] * (k + 1) for j in range(3) for k in range(4)})


@runs(40, 300)
def test_guesses_that_fit_the_same_people_are_not_counted_as_independent(runs, errors):
    rejected, naive, alarms = 0, 0, 0
    for seed in range(runs):
        r, by_guess = guessed(*planted(seed, said_again, 120, 120, 60, 0.0), n_columns=3, guesses=1000)
        naive += by_guess <= 0.05
        rejected += r.p_value <= 0.05
        alarms += r.difference.low > 0
    print(f"permutation {rejected / runs:.3f}, McNemar {naive / runs:.3f}, lower limit above 0 {alarms / runs:.3f}")
    assert rejected / runs <= 0.05 + half(0.05, runs, errors)
    assert alarms / runs <= 0.025 + half(0.025, runs, errors)
    # whoever takes the permutation out finds leaks where none are, and this test fails
    assert naive / runs > 0.05 + half(0.05, runs, errors)


def drawn_fits(rng, n, m, n_guesses, records):
    """Guesses in clusters: those of one record fit nearly the same people."""
    core = [rng.choice(n + m, rng.integers(1, 5), replace=False) for _ in range(records)]
    record = rng.integers(0, records, n_guesses)
    fitted = [np.unique(core[r][rng.random(len(core[r])) < 0.8]) for r in record]
    count = np.array([len(f) for f in fitted])
    return Fits(
        count, np.append(0, np.cumsum(count)), np.concatenate(fitted), 64, record, (np.arange(n_guesses),)
    )  # fmt: skip


@runs(100, 600)
@pytest.mark.parametrize(("n", "m"), [(60, 60), (120, 30)])
def test_the_p_value_is_uniform_when_labels_are_random(n, m, runs, errors):
    """The permutation test is exact whatever the guesses: here they hang together in clusters of some thirty."""
    rng = np.random.default_rng(n)
    at_5, at_20, naive = 0, 0, 0
    for _ in range(runs):
        fits = drawn_fits(rng, n, m, 600, 20)
        is_member = rng.permutation(np.arange(n + m) < n)
        (found,) = isolations(fits, is_member, rng=rng, draws=399)
        at_5 += found.p_value <= 0.05
        at_20 += found.p_value <= 0.2
        a, b = right(fits, is_member)
        d = a - b
        naive += abs(d.mean()) > 1.96 * d.std() / math.sqrt(len(d))
    print(f"{n}/{m}: {at_5 / runs:.3f} at 5%, {at_20 / runs:.3f} at 20%, guesses as independent {naive / runs:.3f}")
    assert abs(at_5 / runs - 0.05) <= half(0.05, runs, errors)
    assert abs(at_20 / runs - 0.2) <= half(0.2, runs, errors)
    assert naive / runs > 0.05 + 2 * half(0.05, runs, errors)


# ---------------------------------------------------------------- the family


def mixed(rng, n):
    """Three hidden classes; three numbers and four categories that depend on them."""
    hidden = rng.integers(0, 3, n)
    numbers = {f"x{j}": rng.normal(hidden * 0.7, 1.0) for j in range(3)}
    codes = {f"c{j}": [f"v{v}" for v in rng.poisson(1 + 0.7 * hidden) % (3 + j)] for j in range(4)}
    return pl.DataFrame(numbers | codes)


MIXED = Schema(
    tuple(Column(f"x{j}", "numeric") for j in range(3)) + tuple(Column(f"c{j}", "categorical") for j in range(4))
)


@runs(40, 300)
def test_six_numbers_of_columns_are_one_family(runs, errors):
    any_raw, any_adjusted, called = 0, 0, 0
    for seed in range(runs):
        real, synthetic, holdout = planted(seed, mixed, 150, 150, 150, 0.0)
        results = divulge.singling_out(real, synthetic, holdout=holdout, schema=MIXED, guesses=300)
        assert len(results) == 6
        any_raw += any(r.p_value is not None and r.p_value <= 0.05 for r in results)
        any_adjusted += any(r.p_adjusted is not None and r.p_adjusted <= 0.05 for r in results)
        called += any(r.verdict == "excess found" for r in results)
    rates = [x / runs for x in (any_raw, any_adjusted, called)]
    print("any p {:.3f}, any adjusted {:.3f}, any called excess {:.3f}".format(*rates))
    assert rates[1] <= 0.05 + (2 if errors < 3 else 3) * math.sqrt(0.05 * 0.95 / runs)
    assert rates[2] <= 0.05 + (2 if errors < 3 else 3) * math.sqrt(0.05 * 0.95 / runs)
    if errors < 3:  # why they are corrected
        assert rates[0] > 0.05 + 2 * math.sqrt(0.05 * 0.95 / runs)
