"""Membership of whole people: are leak-free linked tables silent, and are few people copied whole found?

Quick forms take a band of 3 standard errors, the others repeat more and take 2.
"""

import math

import numpy as np
import polars as pl
import pytest

import divulge
from divulge.core.relations import Relation, RelationalSchema
from divulge.core.schema import Column, Schema

SCHEMA = RelationalSchema(
    {
        "homes": Schema(
            (Column("home", "identifier"), Column("a", "categorical"), Column("b", "categorical"),
             Column("x", "numeric"), Column("y", "numeric"))
        ),
        "people": Schema(
            (Column("home", "identifier"), Column("c", "categorical"), Column("e", "categorical"), Column("z", "numeric"))
        ),
    },
    (Relation("homes", ("home",), "people", ("home",)),),
)  # fmt: skip


def runs(quick, many):
    return pytest.mark.parametrize(
        ("runs", "errors"),
        [
            pytest.param(quick, 3.0, id="quick"),
            pytest.param(many, 2.0, id="many", marks=[pytest.mark.slow, pytest.mark.timeout(1800)]),
        ],
    )


def homes(rng, n, first=0):
    """Homes of four kinds, some without people; one in a hundred has sixty."""
    kind, keys = rng.integers(0, 4, n), np.arange(first, first + n)
    size = np.where(rng.random(n) < 0.01, 60, rng.integers(0, 7, n))
    own = np.repeat(np.arange(n), size)
    above = {"home": keys, "a": rng.integers(0, 3, n) + kind, "b": rng.integers(0, 6, n), "x": rng.normal(size=n) + kind,
             "y": rng.normal(size=n).round(1)}  # fmt: skip
    below = {"home": keys[own], "c": rng.integers(0, 5, len(own)) + kind[own], "e": rng.integers(0, 8, len(own)),
             "z": rng.normal(size=len(own)) + kind[own]}  # fmt: skip
    return {"homes": pl.DataFrame(above), "people": pl.DataFrame(below)}


def redrawn(tables, rng, share):
    """Each cell but the keys is, with this probability, that of another row."""
    return {
        name: table.with_columns(
            pl.Series(c, np.where(rng.random(len(table)) < share, rng.permutation(table[c].to_numpy()), table[c]))
            for c in table.columns
            if c != "home"
        )
        for name, table in tables.items()
    }


def copied(real, fresh, keys):
    kept = [fresh["homes"]["home"].to_list()[len(keys) :], keys]
    sides = [
        {n: t.filter(pl.col("home").is_in(list(own))) for n, t in side.items()}
        for side, own in zip((fresh, real), kept, strict=True)
    ]
    return {name: pl.concat([side[name] for side in sides]) for name in real}


def results(real, synthetic, holdout, seed):
    return divulge.membership(real, synthetic, holdout=holdout, schema=SCHEMA, seed=seed)


@runs(20, 200)
@pytest.mark.parametrize("world", ["fresh people", "poor tables", "few of one side"])
def test_leak_free_tables_seldom_find_anything(world, runs, errors):
    alarms, held = 0, 0
    for i in range(runs):
        rng = np.random.default_rng([i, 48])
        n, m = (100, 40) if world == "few of one side" else (80, 80)
        real, holdout, synthetic = homes(rng, n), homes(rng, m, 1000), homes(rng, 80, 2000)
        if world == "poor tables":
            synthetic = redrawn(synthetic, rng, 0.3)
        found = results(real, synthetic, holdout, i)
        alarms += min(r.p_adjusted for r in found) <= 0.05
        held += found[0].context["p-value without the synthetic table"] <= 0.025
    print(world, runs, "alarms", alarms, "blind check", held)
    assert alarms <= runs * 0.05 + errors * math.sqrt(runs * 0.05 * 0.95)
    assert held <= runs * 0.025 + errors * math.sqrt(runs * 0.025 * 0.975)


@runs(4, 20)
def test_a_twentieth_of_people_copied_whole_is_found(runs, errors):
    found, areas, named = 0, [], []
    for i in range(runs):
        rng = np.random.default_rng([i, 49])
        real, holdout, fresh = (homes(rng, 300, first) for first in (0, 1000, 2000))
        with_people = set(real["people"]["home"].to_list())
        keys = [h for h in range(300) if h in with_people][:15]
        whole = results(real, copied(real, fresh, keys), holdout, i)[0]
        found += whole.p_adjusted <= 0.05
        areas.append(whole.context["AUC"])
        named.append(len(set(np.argsort(-whole.individual.real)[:15].tolist()) & set(keys)))
    print(runs, "found", found, "AUC", np.mean(areas), "of the 15 highest members copied", np.mean(named))
    assert found >= 0.95 * runs - 1 if runs < 20 else found >= 19
    assert np.mean(named) > 12
