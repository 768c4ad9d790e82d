"""Several tables and two releases: do releases that tell nothing stay silent, and is who left found and covered?

Quick forms take a band of 3 standard errors, full forms (``-m full``) repeat more and take 2.
"""

import math

import numpy as np
import polars as pl
import pytest
from worlds import WORLDS

import divulge

FAST = ["ratio", "hit", "dpi", "3-way margins"]


def runs(quick, full):
    return pytest.mark.parametrize(
        ("runs", "errors"),
        [
            pytest.param(quick, 3.0, id="quick"),
            pytest.param(full, 2.0, id="full", marks=[pytest.mark.full, pytest.mark.timeout(7200)]),
        ],
    )


def most(rate, runs, errors):
    return rate + errors * math.sqrt(rate * (1 - rate) / runs)


def drawn(rng, table):
    """A synthetic table that leaks: rows drawn with replacement, half of them with two cells of other rows."""
    taken = table[rng.integers(0, len(table), len(table))]
    other = table[rng.integers(0, len(table), len(table))]
    columns = rng.choice(table.columns, 2, replace=False)
    changed = pl.Series(rng.random(len(table)) < 0.5)
    return taken.with_columns(
        pl.when(changed).then(pl.lit(other[c])).otherwise(pl.lit(taken[c])).alias(c) for c in columns
    )


def told(rng, table):
    return table.with_columns(person=pl.Series(rng.permutation(10**6)[: len(table)]))


@runs(15, 300)
@pytest.mark.parametrize("world", ["mixed", "codes"])
def test_releases_of_a_generator_trained_on_the_same_people_do_not_tell_who_left(world, runs, errors):
    """Both tables leak who is a member, and nobody's leaving entered the second one."""
    rng, found = np.random.default_rng(1), 0
    for _ in range(runs):
        everybody = told(rng, WORLDS[world](rng, 220))
        trained = everybody[:200].drop("person")
        result = divulge.changes(
            everybody[:200], drawn(rng, trained), everybody[20:], drawn(rng, trained), unit="person"
        )
        found += any(r.p_adjusted <= 0.05 for r in (*result.left, *result.joined))
    print(f"\n{world}: any adjusted p at most .05 in {found} of {runs}")
    assert found / runs <= most(0.05, runs, errors)


@runs(10, 200)
def test_who_left_is_found_and_the_share_given_away_is_covered(runs, errors):
    """30% of all people stand in both tables, as long as they are there; 60 of 400 left."""
    rng, inside, seen = np.random.default_rng(2), 0, 0
    for _ in range(runs):
        before, fresh = told(rng, WORLDS["continuous"](rng, 400)), WORLDS["continuous"](rng, 800)
        given = pl.Series(rng.random(400) < 0.3)
        one = pl.concat([before.filter(given).drop("person"), fresh[:280]])
        two = pl.concat([before[60:].filter(given[60:]).drop("person"), fresh[280:560]])
        (result,) = divulge.changes(before, one, before[60:], two, unit="person", scores="nearest").left
        share = given[:60].mean()
        inside += result.risk.low <= share <= result.risk.high
        seen += result.verdict == "excess found"
    print(f"\ncovered {inside}, found {seen} of {runs}")
    assert inside / runs >= 0.95 - errors * math.sqrt(0.05 * 0.95 / runs)
    assert seen / runs >= 0.9


@runs(10, 200)
def test_several_tables_of_other_people_stay_silent(runs, errors):
    rng, found = np.random.default_rng(3), 0
    for _ in range(runs):
        real, holdout, others = (WORLDS["mixed"](rng, 120) for _ in range(3))
        tables = [drawn(rng, others) for _ in range(3)]
        results = divulge.membership(real, tables, holdout=holdout, scores=FAST)
        found += any(r.p_adjusted <= 0.05 for r in results)
    print(f"\nany adjusted p at most .05 in {found} of {runs}")
    assert found / runs <= most(0.05, runs, errors)
