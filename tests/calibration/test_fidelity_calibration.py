"""Do measures of fidelity say "differs" of fresh samples in 1 of 20 runs only, and do their limits hold the truth?

Both tables are samples of one population, so that whatever is found is false. Worlds: numbers and categories with
missing values; columns in which most values are equal; persons with several rows that are alike.
"""

import math

import numpy as np
import polars as pl
import pytest
from generators import CLEAN, OTHERS
from scipy.stats import binom
from worlds import WORLDS as FOUR

from divulge.case.case import build_case
from divulge.measures.catalogue import all_measures
from divulge.measures.noise_floor import Family, block_numbers, counts_floor, draw_labels
from divulge.measures.too_close import too_close
from divulge.run.fidelity import fidelity, fidelity_of

COUNTED = (
    "column_shapes", "column_pairs", "correlations", "missing_patterns", "tails", "coverage", "validity", "column_rules",
)  # fmt: skip
MEASURES = {m.name: m for m in all_measures()}


def runs(quick, full):
    return pytest.mark.parametrize(
        "runs", [pytest.param(quick, id="quick"), pytest.param(full, id="full", marks=pytest.mark.full)]
    )


def zipf(k):
    weights = 1 / np.arange(1, k + 1)
    return weights / weights.sum()


def mixed(rng, n):
    age, job = rng.gamma(9, 4, n), rng.choice(12, n, p=zipf(12))
    pay = age * 90 * rng.lognormal(0, 0.5, n)
    return pl.DataFrame(
        {
            "age": age,
            "pay": [None if u < 0.1 else v for u, v in zip(rng.random(n), pay, strict=True)],
            "rooms": rng.poisson(3, n).astype(float) + 0.5,
            "sex": rng.choice(["f", "m"], n),
            "job": [f"j{v}" for v in job],
            "well": [None if u < 0.05 + 0.01 * j else str(j % 3) for u, j in zip(rng.random(n), job, strict=True)],
        }
    )


def ties(rng, n):
    """Numbers that are 0 for most, whole numbers, and a category of one value for nearly all."""
    gain = np.where(rng.random(n) < 0.9, 0.0, rng.lognormal(8, 1, n).round(-2))
    hours = np.where(rng.random(n) < 0.5, 40.0, rng.integers(10, 90, n) + 0.5)
    return pl.DataFrame(
        {
            "gain": gain,
            "hours": hours,
            "visits": rng.geometric(0.4, n) + 0.5,
            "land": [f"l{v}" for v in rng.choice(40, n, p=zipf(40) ** 2 / (zipf(40) ** 2).sum())],
        }
    )


def units(rng, n):
    """Persons with one to seven rows, which are alike."""
    size = rng.integers(1, 8, n)
    person = np.repeat(np.arange(n), size)[:n]
    own = mixed(rng, n)[person]
    noisy = own.with_columns(pl.Series("age", own["age"].to_numpy() + rng.normal(0, 1, n)))
    table = rng.integers(1 << 40)
    return noisy.with_columns(pl.Series("person", [f"p{table}-{v}" for v in person]))


WORLDS = {"mixed": mixed, "ties": ties, "units": units}
SHARES = 3 * 3 * 8 * 2  # worlds, sizes, measures, tails


def false_findings(world, n, repeats, seed):
    """Return for each measure how many fresh samples differ, and how many are closer."""
    far, near = dict.fromkeys(COUNTED, 0), dict.fromkeys(COUNTED, 0)
    for i in range(repeats):
        rng = np.random.default_rng([i, seed, n])
        real, synthetic = (WORLDS[world](rng, n) for _ in range(2))
        case = build_case(real, synthetic, unit="person" if world == "units" else None, seed=i)
        for name in COUNTED:
            first = MEASURES[name].run(case)[0]
            if first.value is not None:
                far[name] += first.p_adjusted < 0.05
                near[name] += first.p_low_tail_adjusted < 0.05
    return far, near


@pytest.mark.slow
@pytest.mark.timeout(3600)
@runs(20, 1000)
@pytest.mark.parametrize("n", [50, 500, pytest.param(5000, marks=pytest.mark.full)])
@pytest.mark.parametrize("world", WORLDS)
def test_fresh_samples_seldom_differ(world, n, runs):
    far, near = false_findings(world, n, runs, 7)
    # Bonferroni over the shares of this test: one of them is beyond this in 1% of seeds where all levels hold
    most = binom.ppf(1 - 0.01 / SHARES, runs, 0.05)
    assert {name: k / runs for name, k in far.items() if k > most} == {}
    assert {name: k / runs for name, k in near.items() if k > most} == {}


def clinic(rng, n):
    """Many codes, dates in their order, identifiers, numbers of which most are 0, heavy tails, gaps that belong together."""
    start, stay = rng.integers(0, 800, n), np.minimum(rng.geometric(0.25, n), 60)
    lab, unknown = rng.standard_t(2, n), rng.random(n) < 0.3
    days = np.array(["2019-01-01"], dtype="datetime64[D]")
    return pl.DataFrame(
        {
            "id": [f"p{v}" for v in rng.integers(0, 10**7, n)],
            "code": [f"c{v}" for v in rng.choice(250, n, p=zipf(250))],
            "ward": rng.choice(list("abcde"), n, p=[0.4, 0.3, 0.15, 0.1, 0.05]),
            "dead": rng.random(n) < 0.04,
            "cost": np.where(rng.random(n) < 0.6, 0.0, rng.lognormal(6, 1.5, n)).round(2),
            "start": days + start,
            "end": days + start + stay,
            "pulse": (rng.normal(80, 12, n) / 5).round() * 5,
            "lab": [None if u else float(v) for u, v in zip(unknown, lab, strict=True)],
            "second": [None if u else float(v) for u, v in zip(unknown, lab + rng.normal(0, 1, n), strict=True)],
        }
    )


@pytest.mark.slow
@pytest.mark.timeout(3600)
@runs(40, 400)
@pytest.mark.parametrize(
    "n", [pytest.param(100, marks=pytest.mark.full), 300, pytest.param(1000, marks=pytest.mark.full)]
)
def test_a_run_of_a_fresh_sample_seldom_differs(n, runs):
    """All counted measures together, as a run makes them: a result that differs is false, whichever measure it is of."""
    far = near = 0
    for i in range(runs):
        rng = np.random.default_rng([i, n, 300])
        found = fidelity(clinic(rng, n), clinic(rng, n), models=False, seed=i).results
        assert {r.measure for r in found} > set(COUNTED)
        far += any(r.verdict == "differs" for r in found)
        near += any(r.verdict == "closer than a fresh sample" for r in found)
    print(f"\n{n} rows, {runs} runs: differs {far / runs:.4f}, closer {near / runs:.4f}")
    assert max(far, near) / runs <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / runs)


def floors(rng, p, q, n, m):
    """Return what the engine says of one column with the shares p and q."""
    blocks, _ = block_numbers(n, m)
    sides = [rng.choice(len(p), size, p=share) for size, share in ((n, p), (m, q))]
    block = np.concatenate([rng.permutation(n) * blocks[0] // n, blocks[0] + rng.permutation(m) * blocks[1] // m])
    counts = np.bincount(block * len(p) + np.concatenate(sides), minlength=sum(blocks) * len(p)).reshape(-1, len(p))
    counts = counts[:, counts.any(axis=0)]
    family = Family(draw_labels(np.bincount(block), blocks[0], rng))
    family.add(counts, np.array([0, counts.shape[1]]))
    return family.floors()


@pytest.mark.slow
@runs(40, 1000)
@pytest.mark.parametrize(
    ("k", "n", "truth"),
    [
        *((10, 1000, t) for t in (0, 0.02, 0.05, 0.2)),
        *((100, 1000, t) for t in (0, 0.02, 0.05, 0.18)),
        *((10, 200, t) for t in (0, 0.02, 0.05, 0.2)),
    ],
)
def test_limits_hold_the_true_distance(k, n, truth, runs):
    p = np.full(k, 1 / k)
    q = p + np.repeat([truth, -truth], k // 2) / (k // 2)
    held = 0
    for i in range(runs):
        found = floors(np.random.default_rng([i, k, n]), p, q, n, n)
        held += found.low[0] <= truth + 1e-9 and truth - 1e-9 <= found.high[0]
    most_missed = 0.06 if runs >= 1000 else 0.06 + 2 * math.sqrt(0.06 * 0.94 / runs)
    assert held >= (1 - most_missed) * runs


@pytest.mark.slow
@pytest.mark.parametrize(
    ("k", "equal", "n", "truth"),
    [(10, True, 1000, 0.0530), (42, False, 100, 0.2898), (672, False, 100, 0.5764), (672, False, 1000, 0.2980)],
)
def test_floors_are_what_a_fresh_sample_shows(k, equal, n, truth):
    """The truths are means over 400 repeats; the permutation of single rows falls short where most cells are rare."""
    p = np.full(k, 1 / k) if equal else zipf(k)
    by_blocks = np.mean([floors(np.random.default_rng([i, k]), p, p, n, n).mean[0] for i in range(30)])
    assert by_blocks == pytest.approx(truth, rel=0.025)
    rows = [np.random.default_rng([i, k, 1]).multinomial(n, p, size=2) for i in range(30)]
    alone = np.mean([counts_floor(a, b, np.random.default_rng(i), 99)[1] for i, (a, b) in enumerate(rows)])
    assert alone == pytest.approx(truth, rel=0.035)


@pytest.mark.slow
def test_the_ruler_knows_copies_draws_and_fresh_samples():
    """0 is a copy; 0.71 are rows drawn from the real ones with replacement; 1 is a fresh sample."""
    rulers = {"copy": [], "drawn": [], "fresh": []}
    for i in range(30):
        rng = np.random.default_rng([i, 3])
        real = mixed(rng, 1000)
        tables = {"copy": real, "drawn": real[rng.integers(0, 1000, 1000)], "fresh": mixed(rng, 1000)}
        for name, table in tables.items():
            rulers[name].append(MEASURES["column_pairs"].run(build_case(real, table, seed=i))[0].ruler)
    assert rulers["copy"] == [0.0] * 30
    assert np.mean(rulers["drawn"]) == pytest.approx(0.71, abs=0.02)
    assert np.mean(rulers["fresh"]) == pytest.approx(1.0, abs=0.02)


# ---------------------------------------------------------------- closer than rows drawn from the real table


def is_too_close(generator, world, n, m, seed):
    rng = np.random.default_rng([sorted(FOUR).index(world), n, m, seed])
    real = FOUR[world](rng, n)
    case = build_case(real, generator(rng, real, m, world), None, seed=seed)
    found = fidelity_of(case, [MEASURES[name] for name in COUNTED if name != "column_rules"])
    return too_close(found.results), found.of("column_pairs")[0].verdict == "closer than a fresh sample"


@pytest.mark.parametrize(
    ("world", "n", "m", "runs"),
    [
        pytest.param("mixed", 600, 600, 3, id="quick"),
        *(
            pytest.param(w, n, m, 20, marks=pytest.mark.full, id=f"{w}-{n}-{m}")
            for w in FOUR
            for n, m in ((600, 600), (2000, 2000), (2000, 1000))
        ),
    ],
)
@pytest.mark.parametrize("name", [*CLEAN, *OTHERS])
@pytest.mark.slow
def test_generators_that_never_copy_are_not_too_close(name, world, n, m, runs):
    """Those that learn the noise of the counts are closer than a fresh sample; rows drawn from the table are the limit."""
    generator = (CLEAN | OTHERS)[name]
    found = [is_too_close(generator, world, n, m, seed) for seed in range(runs)]
    share = np.mean([far for far, _ in found])
    print(f"\n{name}, {world}, {n} and {m}: too close {share:.2f}, closer {np.mean([c for _, c in found]):.2f}")
    if name in CLEAN:  # other people hardly ever; "none found" is promised for four of five tables without a leak
        assert share <= (0.05 + 2 * np.sqrt(0.05 * 0.95 / runs) if name == "fresh" else 0.2)
    if name == "copied" and n == m:
        assert share >= 0.95 - 2 * np.sqrt(0.05 * 0.95 / runs)
