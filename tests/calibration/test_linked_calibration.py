"""Do measures of relations and sequences say "differs" of fresh samples in 1 of 20 runs, and do likenesses' limits hold?

Both groups of tables are samples of one population, so that whatever is found is false. Users have orders that are
alike, and orders items; people have visits that depend on the one before.
"""

import numpy as np
import polars as pl
import pytest
from scipy.stats import binom

from divulge.measures.linked.catalogue import linked_measures
from divulge.measures.linked.tables import linked_tables

RELATIONS = ("cardinality", "referential_integrity", "related_pairs", "siblings", "aggregates")
SEQUENCES = ("sequences", "transitions", "autocorrelation", "static_by_dynamic")
MEASURES = {m.name: m for m in linked_measures()}
SHARES = 2 * len((*RELATIONS, *SEQUENCES)) * 2  # sizes, measures, tails


def runs(quick, full):
    return pytest.mark.parametrize(
        "runs", [pytest.param(quick, id="quick"), pytest.param(full, id="full", marks=pytest.mark.full)]
    )


def shop(rng, n):
    woman, level = rng.random(n) < 0.5, rng.normal(size=n)
    user = np.repeat(np.arange(n), rng.poisson(1 + 2 * woman))
    price = level[user] + 0.6 * rng.normal(size=len(user))
    vip = rng.random(len(user)) < np.where(woman[user], 0.8, 0.2)
    item = np.repeat(np.arange(len(user)), 1 + rng.poisson(1, len(user)))
    lost = rng.random(len(user)) < 0.05
    weight = price[item] + 0.3 * rng.normal(size=len(item))
    return {
        "users": pl.DataFrame({"uid": np.arange(n), "sex": np.where(woman, "f", "m"), "age": (40 + 9 * level).round()}),
        "orders": pl.DataFrame({"oid": np.arange(len(user)), "uid": np.where(lost, n + user, user), "price": price,
                                "vip": np.where(vip, "y", "n")}),
        "items": pl.DataFrame({"oid": item, "weight": weight}),
    }  # fmt: skip


def visits(rng, n):
    woman, lengths = rng.random(n) < 0.5, 2 + rng.poisson(3, n)
    who = np.repeat(np.arange(n), lengths)
    first = np.diff(who, prepend=-1) > 0
    day, x, noise = np.cumsum(rng.integers(1, 4, len(who))), np.zeros(len(who)), rng.normal(size=len(who))
    for i in range(len(who)):
        x[i] = noise[i] if first[i] else 0.7 * x[i - 1] + 0.71 * noise[i]
    day = day - np.maximum.accumulate(np.where(first, day, 0)) + rng.integers(0, 9, n)[who]
    sex = np.where(woman, "f", "m")[who]
    return pl.DataFrame({"who": who, "day": day, "sex": sex, "x": x + woman[who], "ill": np.where(x > 0.3, "y", "n")})


def false_findings(make, names, n, repeats, **settings):
    """Return for each measure how many fresh samples differ, and how many are closer."""
    far, near = dict.fromkeys(names, 0), dict.fromkeys(names, 0)
    for i in range(repeats):
        rng = np.random.default_rng([i, n, 11])
        linked = linked_tables(make(rng, n), make(rng, n), seed=i, **settings)
        for name in names:
            found = [r for r in MEASURES[name].run(linked) if r.value is not None]
            far[name] += min(r.p_adjusted for r in found) < 0.05
            near[name] += min(r.p_low_tail_adjusted for r in found) < 0.05
    return far, near


@pytest.mark.slow
@pytest.mark.timeout(7200)
@runs(10, 500)
@pytest.mark.parametrize("n", [40, pytest.param(400, marks=pytest.mark.full)])
@pytest.mark.parametrize("world", ["relations", "sequences"])
def test_fresh_samples_seldom_differ(world, n, runs):
    if world == "relations":
        far, near = false_findings(shop, RELATIONS, n, runs)
    else:
        far, near = false_findings(visits, SEQUENCES, n, runs, sequence_key="who", sequence_index="day")
    print(world, n, runs, far, near)
    most = binom.ppf(1 - 0.01 / SHARES, runs, 0.05)
    assert {name: k / runs for name, k in far.items() if k > most} == {}
    assert {name: k / runs for name, k in near.items() if k > most} == {}


@pytest.mark.slow
@runs(12, 500)
def test_limits_hold_the_true_likeness(runs):
    """Prices correlate by 1 / 1.36 in one population and by 0 in the other: d = tanh(|z|) is that correlation."""
    held, truth = 0, 1 / 1.36
    for i in range(runs):
        rng = np.random.default_rng([i, 12])
        real, other = shop(rng, 150), shop(rng, 150)
        own = other["orders"]
        price = rng.permutation(own["price"].to_numpy())
        linked = linked_tables(real, other | {"orders": own.with_columns(price=price)}, seed=i)
        found = next(r for r in MEASURES["siblings"].run(linked) if r.columns == ("orders.price",))
        held += found.low <= truth <= found.high
    assert held >= binom.ppf(0.005, runs, 0.94)
