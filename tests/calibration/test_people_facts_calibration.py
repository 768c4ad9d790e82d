"""Are people named only where their records were copied, and repeats found only where one person was repeated?

The synthetic tables of the null are made from other people of the same world. Bits are those of independent columns,
so the worlds depend: codes of a hidden class, the same codes three times, dates with their year and age.
"""

import numpy as np
import polars as pl
import pytest
from worlds import WORLDS

from divulge.case.case import build_case
from divulge.measures.people_facts import people_facts


def runs(quick, full):
    return pytest.mark.parametrize(
        "runs", [pytest.param(quick, id="quick"), pytest.param(full, id="full", marks=pytest.mark.full)]
    )


def thrice(rng, n):
    frame = WORLDS["codes"](rng, n)
    return frame.with_columns(pl.col(c).alias(f"{c} {k}") for c in frame.columns for k in (1, 2))


def dates(rng, n):
    """A birthday and a postcode, with what follows from them: bits would name a person in one table of twenty."""
    born, post = rng.integers(0, 20_000, n), rng.integers(0, 400, n)
    return pl.DataFrame(
        {
            "born": born, "year": born // 365, "age": (20_000 - born) // 365, "day": born % 7, "post": post,
            "area": post // 10, "town": [f"t{v}" for v in post], "job": [f"j{v}" for v in rng.integers(0, 10, n)],
        }
    )  # fmt: skip


def twins(rng, n):
    """One in twenty has the record of another, but for a column, and one in a thousand all of it: kin."""
    near, same = n // 20, n // 1000
    frame = WORLDS["mixed"](rng, n - near - same)
    frame = pl.concat([frame, frame[:near].with_columns(c0=pl.lit("other")), frame[near : near + same]])
    return frame[rng.permutation(n)]


DEPENDENT = {**WORLDS, "thrice": thrice, "dates": dates}


@runs(20, 300)
@pytest.mark.parametrize("n", [300, 2000])
@pytest.mark.parametrize("world", DEPENDENT)
def test_tables_made_from_other_people_name_nobody(world, n, runs):
    named = repeated = 0
    for i in range(runs if n < 1000 else max(5, runs // 5)):
        rng = np.random.default_rng([i, 41])
        found = people_facts(build_case(*(DEPENDENT[world](rng, n) for _ in range(3)), seed=i))
        named += found.verbatim.named.any()
        repeated += found.repeated.found.any()
    assert named <= 0.05 * runs
    assert repeated == 0


@runs(20, 300)
def test_rows_of_kin_name_nobody(runs):
    """Members, strangers and the rows of the synthetic table have kin among each other."""
    named = verbatim = 0
    for i in range(runs):
        rng = np.random.default_rng([i, 42])
        people = twins(rng, 3000)
        found = people_facts(build_case(people[:1000], people[1000:2000], people[2000:], seed=i))
        named += found.verbatim.named.any()
        verbatim += found.verbatim.members.sum()
    assert verbatim > 0
    assert named <= 0.05 * runs


@runs(5, 50)
@pytest.mark.parametrize("world", ["mixed", "continuous"])
def test_three_copies_among_a_thousand_are_named(world, runs):
    reached = 0
    for i in range(runs):
        rng = np.random.default_rng([i, 43])
        real, synthetic, holdout = (WORLDS[world](rng, 1000) for _ in range(3))
        who = rng.choice(1000, 3, replace=False)
        found = people_facts(build_case(real, pl.concat([real[who], synthetic[3:]]), holdout, seed=i)).verbatim
        assert set(np.flatnonzero(found.named)) <= set(who.tolist())
        reached += found.named.sum()
    assert reached >= 0.9 * 3 * runs


@runs(5, 50)
@pytest.mark.parametrize(("world", "least"), [("mixed", 1.0), ("continuous", 1.0), ("skewed", 0.8), ("codes", 0.6)])
def test_one_person_in_a_fiftieth_of_the_rows_is_found(world, least, runs):
    found = 0
    for i in range(runs):
        rng = np.random.default_rng([i, 44])
        real, synthetic, holdout = (WORLDS[world](rng, 1000) for _ in range(3))
        both = pl.concat([real, holdout])
        (who,) = np.flatnonzero(both.is_unique().to_numpy()[:1000])[:1]
        table = pl.concat([real[np.full(20, who)], synthetic[20:]])
        repeated = people_facts(build_case(real, table, holdout, seed=i)).repeated.found
        assert set(np.flatnonzero(repeated)) <= {who}
        found += repeated[who]
    assert found >= least * runs
