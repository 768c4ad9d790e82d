"""Is a hole around members found, and only where somebody made one?

The four tests are exact and corrected by Bonferroni, so clean tables are rejected in at most 5% of runs.
"""

import math

import numpy as np
import polars as pl
import pytest
from worlds import WORLDS

from divulge.attacks.catalogue import CATALOGUE
from divulge.case.case import build_case
from divulge.case.distances import distances_of


def runs(quick, full):
    return pytest.mark.parametrize(
        ("runs", "errors"),
        [pytest.param(quick, 3.0, id="quick"), pytest.param(full, 1.96, id="full", marks=pytest.mark.full)],
    )


def hole(*tables, seed=0, **more):
    return CATALOGUE["dcr"].run(build_case(*tables, seed=seed, **more))[-2]


@runs(40, 400)
@pytest.mark.parametrize("sizes", [(300, 300, 300), (500, 300, 200)])
@pytest.mark.parametrize("world", WORLDS)
def test_clean_tables_have_no_hole(world, sizes, runs, errors):
    wrong = 0
    for i in range(runs):
        rng = np.random.default_rng([i, 31])
        found = hole(*(WORLDS[world](rng, n) for n in sizes), seed=i)
        wrong += found.p_value <= 0.05
        assert found.verdict is None or found.p_value <= 0.05
    assert wrong / runs <= 0.05 + errors * math.sqrt(0.05 * 0.95 / runs)


@runs(40, 400)
def test_clean_households_have_no_hole_and_rows_alone_would(runs, errors):
    """Households of four equal rows: counted as rows they would give a hole far too often."""
    wrong, naive = 0, 0
    for i in range(runs):
        rng = np.random.default_rng([i, 32])
        tables = [
            WORLDS["continuous"](rng, 60)[np.repeat(np.arange(60), 4)].with_columns(
                home=pl.Series([f"{h}{j // 4}" for j in range(240)])
            )
            for h in "rsh"
        ]
        wrong += hole(*tables, seed=i, unit="home").p_value <= 0.05
        naive += hole(*(t.drop("home") for t in tables), seed=i).p_value <= 0.05
    assert wrong / runs <= 0.05 + errors * math.sqrt(0.05 * 0.95 / runs)
    assert naive / runs > 0.1


@runs(3, 40)
@pytest.mark.parametrize("world", ["mixed", "skewed", "continuous"])
def test_a_filter_on_a_clean_table_is_found(world, runs, errors):
    """Rows nearer to a member than one in twenty rows is to a stranger are removed."""
    for i in range(runs):
        rng = np.random.default_rng([i, 33])
        real, synthetic, holdout = (WORLDS[world](rng, n) for n in (2000, 2000, 1000))
        whole = build_case(real, synthetic, holdout)
        d = distances_of(whole)
        radius = np.quantile(d.nearest("synthetic", "holdout").distances[:, 0], 0.05)
        far = d.nearest("synthetic", "real").distances[:, 0] > radius
        found = hole(real, synthetic.filter(pl.Series(far)), holdout, seed=i)
        assert found.verdict == "deficit found"
        assert found.p_value < 1e-6
        assert found.real.hits == 0
        assert found.holdout.hits >= 20


@runs(3, 40)
def test_a_generator_that_rejects_copies_is_found_on_coarse_codes(runs, errors):
    """Half of all strangers have the record of a synthetic row, and no member has."""
    for i in range(runs):
        rng = np.random.default_rng([i, 34])
        real, synthetic, holdout = (WORLDS["codes"](rng, n) for n in (2000, 2000, 1000))
        left = synthetic.join(real.unique(), on=real.columns, how="anti")
        found = hole(real, left, holdout, seed=i)
        assert found.verdict == "deficit found"
        assert found.p_value < 1e-10


# ---------------------------------------------------------------- without labels


def aligned(*tables, seed=0, **more):
    return CATALOGUE["dcr"].run(build_case(*tables, seed=seed, **more))[-1]


@runs(40, 400)
@pytest.mark.parametrize("sizes", [(300, 300, 300), (500, 300, 200)])
@pytest.mark.parametrize("world", WORLDS)
def test_clean_tables_are_no_nearer_to_members_when_aligned(world, sizes, runs, errors):
    wrong = 0
    for i in range(runs):
        rng = np.random.default_rng([i, 33])
        found = aligned(*(WORLDS[world](rng, n) for n in sizes), seed=i)
        wrong += found.p_value <= 0.05
    assert wrong / runs <= 0.05 + errors * math.sqrt(0.05 * 0.95 / runs)


@runs(5, 60)
@pytest.mark.parametrize("world", ["mixed", "skewed", "continuous"])
def test_full_copies_under_other_labels_are_found(world, runs, errors):
    """Every label has another name, every number another sign, scale and origin, and rows are in another order."""
    found = 0
    for i in range(runs):
        rng = np.random.default_rng([i, 34])
        real, holdout = (WORLDS[world](rng, 300) for _ in range(2))
        copy = real.sample(fraction=1, shuffle=True, seed=i)
        for c in copy.columns:
            if copy[c].dtype.is_numeric():
                copy = copy.with_columns((5 - 2 * pl.col(c)).alias(c))
            else:
                levels = pl.concat([real[c], holdout[c]]).unique().sort()
                names = dict(zip(levels.to_list(), levels.gather(rng.permutation(len(levels))).to_list(), strict=True))
                copy = copy.with_columns(pl.col(c).replace_strict(names))
        found += aligned(real, copy, holdout, seed=i).verdict == "excess found"
    assert found / runs >= 0.95 - errors * math.sqrt(0.05 * 0.95 / runs)


# ---------------------------------------------------------------- nearness


def near(*tables, seed=0, **more):
    return CATALOGUE["dcr"].run(build_case(*tables, seed=seed, **more))[-3]


@runs(40, 400)
@pytest.mark.parametrize("sizes", [(300, 300, 300), (500, 300, 200)])
@pytest.mark.parametrize("world", WORLDS)
def test_clean_tables_have_no_more_members_among_the_nearest(world, sizes, runs, errors):
    wrong = 0
    for i in range(runs):
        rng = np.random.default_rng([i, 36])
        found = near(*(WORLDS[world](rng, n) for n in sizes), seed=i)
        wrong += found.p_value <= 0.05
        assert found.verdict != "excess found" or found.p_value <= 0.05
    assert wrong / runs <= 0.05 + errors * math.sqrt(0.05 * 0.95 / runs)


@runs(3, 40)
@pytest.mark.parametrize("world", ["mixed", "skewed"])
@pytest.mark.parametrize("moved", [0.0, 0.15])
def test_copies_are_found_and_never_bounded_below_their_share(world, moved, runs, errors):
    """A twentieth of 1,500 people, verbatim, or numbers moved by .15 standard deviations."""
    found, short = 0, 0
    for i in range(runs):
        rng = np.random.default_rng([i, 37])
        real, synthetic, holdout = (WORLDS[world](rng, 1500) for _ in range(3))
        rows = real[:75].with_columns(
            pl.col(c) + pl.Series(rng.normal(0, moved * real[c].std(), 75)) for c in real.columns if c.startswith("x")
        )
        rows = rows.cast(dict(real.schema))
        result = near(real, pl.concat([rows, synthetic[75:]]), holdout, seed=i)
        found += result.verdict == "excess found"
        short += result.verdict == "none found"
    assert found >= 0.9 * runs
    assert short == 0


@runs(6, 60)
@pytest.mark.parametrize("world", ["mixed", "skewed", "continuous"])
def test_clean_tables_of_1500_people_are_bounded(world, runs, errors):
    bounded = 0
    for i in range(runs):
        rng = np.random.default_rng([i, 38])
        result = near(*(WORLDS[world](rng, 1500) for _ in range(3)), seed=i)
        bounded += result.comparison.people.bound(1 - 0.05 / 7).limit <= 0.05  # seven bounds of a run
    assert bounded / runs >= 0.9 - errors * math.sqrt(0.9 * 0.1 / runs)
