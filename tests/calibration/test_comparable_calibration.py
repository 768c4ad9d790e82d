"""Checks of whether members and strangers are a fair comparison: how often they cry wolf, and what they find."""

import math
from itertools import product

import numpy as np
import polars as pl
import pytest

import divulge
from divulge.case.case import build_case
from divulge.case.comparable.labels import labels_of
from divulge.case.comparable.overlap import no_overlap
from divulge.case.comparable.unseen import holdout_unseen

LETTERS = np.array(list("abcdefgh"))


def mixed(rng, n):
    """Five codes that depend on a class, and four numbers."""
    latent = rng.choice(4, n, p=[0.4, 0.3, 0.2, 0.1])
    codes = {f"c{j}": LETTERS[(latent + rng.geometric(0.5, n)) % (3 + j)] for j in range(5)}
    factor = rng.normal(latent, 1)
    return pl.DataFrame(codes | {f"x{j}": np.round(factor * 0.7 + rng.normal(0, 1, n), 2) for j in range(4)})


def codes(rng, n):
    """Eight coarse codes: many strangers equal a real row."""
    latent = rng.integers(0, 2, n)
    return pl.DataFrame(
        {f"c{j}": LETTERS[(latent + (rng.random(n) < 0.25) * rng.integers(1, 4, n)) % 4] for j in range(8)}
    )


def skewed(rng, n):
    """Heavy tails, a rare value and many zeros."""
    return pl.DataFrame(
        {
            "income": np.round(rng.lognormal(10, 1, n), -1),
            "gain": np.where(rng.random(n) < 0.9, 0, np.round(rng.lognormal(7, 1.5, n))),
            "hours": np.where(rng.random(n) < 0.5, 40, rng.integers(10, 80, n)),
            "age": rng.integers(18, 90, n),
            "rare": rng.random(n) < 0.01,
            "job": LETTERS[np.minimum(rng.geometric(0.4, n) - 1, 7)],
        }
    )


def continuous(rng, n):
    factor = rng.normal(0, 1, (n, 2))
    loadings = np.array([[1, 0.5, 0, 0.8, 0.2, 0], [0, 0.5, 1, 0.2, 0.8, 0]])
    values = factor @ loadings + rng.normal(0, 0.5, (n, 6))
    return pl.DataFrame({f"x{j}": values[:, j] for j in range(6)})


def wide(rng, n):
    """Forty numbers of five factors."""
    loadings = np.random.default_rng(1).normal(size=(5, 40))
    values = rng.normal(size=(n, 5)) @ loadings + rng.normal(size=(n, 40))
    return pl.DataFrame({f"x{j}": values[:, j].round(2) for j in range(40)})


def _name(value):
    return getattr(value, "__name__", str(value))


WORLDS = {f.__name__: f for f in (mixed, codes, skewed, continuous, wide)}


def fresh(world, real, rng, n):
    return world(rng, n)


def columns_alone(world, real, rng, n):
    return real.select(pl.col(c).gather(rng.integers(0, real.height, n)) for c in real.columns)


def noisy(world, real, rng, n, share=0.2):
    """Members with a fifth of their cells drawn anew."""
    table, other = real[rng.integers(0, real.height, n)], columns_alone(world, real, rng, n)
    return table.select(
        pl.when(pl.Series(rng.random(n) < share)).then(other[c]).otherwise(table[c]).alias(c) for c in real.columns
    )


def modes(world, real, rng, n):
    """Rows where people are dense alone: of five fresh rows, the one nearest to the middle of each column."""
    many = world(rng, 5 * n)
    score = np.zeros(5 * n)
    for c in many.columns:
        if many[c].dtype == pl.String or many[c].dtype == pl.Boolean:
            score += many.select(pl.len().over(c)).to_series().to_numpy() / many.height
        else:
            rank = many[c].rank().to_numpy() / many.height
            score -= 2 * np.abs(rank - 0.5)
    best = score.reshape(n, 5).argmax(axis=1) + 5 * np.arange(n)
    return many[best]


def halfway(world, real, rng, n):
    """Numbers halfway between two members, codes of the first: SMOTE."""
    a, b = (real[rng.integers(0, real.height, n)] for _ in range(2))
    return a.select(((pl.col(c) + b[c]) / 2).alias(c) if a[c].dtype.is_float() else pl.col(c) for c in a.columns)


def narrow(world, real, rng, n):
    """Fresh rows whose numbers lie nearer to their means: .8 of every deviation."""
    rows = world(rng, n)
    return rows.select(
        (pl.col(c).mean() + 0.8 * (pl.col(c) - pl.col(c).mean())).round(2) if rows[c].dtype.is_float() else pl.col(c)
        for c in rows.columns
    )


GENERATORS = {f.__name__: f for f in (fresh, columns_alone, noisy, modes, halfway, narrow)}


def unseen(world, generator, seed, n=400, seen=0.0, blur=0.0):
    rng = np.random.default_rng([seed, 7])
    real, holdout = world(rng, n), world(rng, n)
    table = generator(world, real, rng, n)
    k = int(seen * n)
    if k:
        copied = holdout[rng.choice(n, k, replace=False)].cast(dict(table.schema))
        if blur:
            copied = copied.with_columns(
                pl.col(c) + pl.Series(rng.normal(0, blur, k)) * holdout[c].std()
                for c in copied.columns
                if copied[c].dtype.is_float()
            )
        table = pl.concat([table[: n - k], copied])
    return holdout_unseen(build_case(real, table, holdout, seed=seed))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("runs", "n"), [pytest.param(5, 400, id="quick"), pytest.param(40, 1000, id="full", marks=pytest.mark.full)]
)
@pytest.mark.parametrize("generator", GENERATORS.values(), ids=_name)
@pytest.mark.parametrize("world", WORLDS.values(), ids=_name)
def test_a_synthesizer_that_did_not_see_the_holdout_is_not_accused(world, generator, runs, n):
    assert all(unseen(world, generator, seed, n).ok for seed in range(runs))


@pytest.mark.slow
@pytest.mark.parametrize("runs", [5, pytest.param(40, marks=pytest.mark.full)])
@pytest.mark.parametrize("seen", [0.1, 0.03])
@pytest.mark.parametrize("world", [mixed, skewed, continuous])
def test_a_synthesizer_that_saw_part_of_the_holdout_is_found(world, seen, runs):
    assert sum(not unseen(world, fresh, seed, 1000, seen).ok for seed in range(runs)) >= 0.9 * runs


@pytest.mark.slow
@pytest.mark.parametrize("runs", [5, pytest.param(40, marks=pytest.mark.full)])
@pytest.mark.parametrize("world", [mixed, continuous, wide])
def test_a_synthesizer_that_blurs_a_tenth_of_the_holdout_is_found(world, runs):
    assert sum(not unseen(world, fresh, seed, 1000, 0.1, 0.02).ok for seed in range(runs)) >= 0.9 * runs


@pytest.mark.slow
def test_coarse_tables_are_not_said_to_be_tested():
    for seed in range(5):
        for seen in (0.0, 0.1):
            found = unseen(codes, fresh, seed, 1000, seen)
            assert (found.ok, found.tested) == (True, False)


# ---------------------------------------------------------------- neighbours of the own table


def persons(rng, n, spread, rows=5):
    """Rows of persons: six numbers around a middle of each, with this spread within to that between persons."""
    middle = rng.normal(0, 1, (n // rows, 6))
    return np.repeat(middle, rows, axis=0) + rng.normal(0, spread, (n, 6))


def frame(values, **more):
    return pl.DataFrame({f"x{j}": values[:, j] for j in range(values.shape[1])} | more)


@pytest.mark.slow
@pytest.mark.parametrize("runs", [100, pytest.param(1000, marks=pytest.mark.full)])
@pytest.mark.parametrize("world", [*WORLDS.values(), "persons"], ids=_name)
def test_the_neighbours_of_a_random_split_are_of_either_table(world, runs):
    together, apart = [], []
    for seed in range(runs):
        rng = np.random.default_rng([seed, 8])
        if world == "persons":
            unit = np.arange(200) // 4
            tables = [frame(persons(rng, 200, 0.4, 4), home=unit + 1000 * i) for i in range(2)]
        else:
            tables = [world(rng, n) for n in [(200, 200), (300, 100), (100, 300)][seed % 3]]
        case = build_case(tables[0], tables[0], tables[1], unit="home" if world == "persons" else None, seed=seed)
        found = labels_of(case)
        together.append(found.p_together)
        apart.append(found.p_apart)
    for p in (together, apart):
        for level in (0.05, 0.01):
            assert np.mean(np.array(p) <= level) <= level + 3 * math.sqrt(level * (1 - level) / runs)


@pytest.mark.slow
@pytest.mark.parametrize(("spread", "least", "most"), [(0.3, 1.0, 1.0), (0.7, 0.4, 1.0), (1.5, 0.0, 0.2)])
def test_several_rows_a_person_are_found_where_they_are_alike(spread, least, most):
    found, runs = [], 20
    for seed in range(runs):
        rng = np.random.default_rng([seed, 9])
        real, holdout = (frame(persons(rng, 500, spread)) for _ in range(2))
        found.append(labels_of(build_case(real, real, holdout, seed=seed)).p_together <= 0.001)
    assert least <= np.mean(found) <= most


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.1, 0.05])
@pytest.mark.parametrize("noise", [0.0, 0.01])
@pytest.mark.parametrize("world", [continuous, mixed], ids=_name)
def test_people_in_both_tables_are_found(world, noise, share):
    found, n, runs = 0, 1000, 3
    for seed in range(runs):
        rng = np.random.default_rng([seed, 10])
        real, holdout = world(rng, n), world(rng, n)
        k = int(share * n)
        moved = holdout[:k].with_columns(
            pl.col(c) + pl.Series(rng.normal(0, noise, k)) for c in holdout.columns if c.startswith("x")
        )
        found += not no_overlap(build_case(pl.concat([real[k:], moved]), world(rng, n), holdout, seed=seed)).ok
    assert found >= 0.8 * runs


@pytest.mark.slow
@pytest.mark.parametrize("runs", [3, pytest.param(40, marks=pytest.mark.full)])
@pytest.mark.parametrize("world", [mixed, codes], ids=_name)
def test_a_clean_table_whose_holdout_holds_training_rows_is_no_finding(world, runs):
    """Whole runs on a fresh sample: the synthesizer knew nobody, whoever of the holdout was in the training data."""
    found, shares = 0, (0.0, 0.03, 0.1, 0.3, 1.0)
    for share, i in product(shares, range(runs)):
        rng = np.random.default_rng([int(100 * share), i])
        n = 30 if i % 3 == 2 else 300
        m = max(20, n // 3)
        real, synthetic, strangers = (world(rng, k) for k in (n, n, m))
        both = round(share * m)
        holdout = pl.concat([real[:both], strangers[both:]])
        report = divulge.assess(
            real, synthetic, holdout=holdout, models=False, fidelity=False, search="off", jobs=1, seed=i
        )
        found += report.verdict in ("excess found", "deficit found")
        if share == 1.0 and n == 300:
            assert "The comparison does not hold (no overlap)" in report.to_dict()["verdict"]["sentence"]
    n_runs = runs * len(shares)
    assert found / n_runs <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / n_runs)
