"""Whole histories of people of linked tables: which leak shows in which comparison, and how often chance alarms.

The worlds are chains of 40 kinds of events: three classes of people, each with its own rare transitions, drawn anew for
each seed; 6 to 20 events a person. A tenth of the synthetic people carry a leak.
"""

import math

import numpy as np
import polars as pl
import pytest

import divulge
from divulge.attacks.copying.histories import histories
from divulge.case.case import build_case
from divulge.core.relations import Relation, RelationalSchema
from divulge.run.planning.linked_people import linked_people, with_persons
from divulge.run.planning.options import Reading, RunOptions

KINDS = 40


def runs(quick, full):
    return pytest.mark.parametrize(
        ("runs", "errors"),
        [pytest.param(quick, 3.0, id="quick"), pytest.param(full, 1.96, id="full", marks=pytest.mark.full)],
    )


def chain(rng, steps, starts, n):
    out = []
    for _ in range(n):
        own = rng.integers(3)
        kinds = [rng.choice(KINDS, p=starts[own])]
        for _ in range(rng.integers(6, 21) - 1):
            kinds.append(rng.choice(KINDS, p=steps[own][kinds[-1]]))
        out.append(np.array(kinds))
    return out


def tables(people, first):
    uid = np.arange(first, first + len(people))
    step = np.concatenate([np.arange(len(p)) for p in people])
    kind = [f"k{v}" for v in np.concatenate(people)]
    events = pl.DataFrame({"uid": np.repeat(uid, [len(p) for p in people]), "step": step, "kind": kind})
    return {"users": pl.DataFrame({"uid": uid}), "events": events}


def world(seed, leak="none", n=300, share=0.1):
    rng = np.random.default_rng(seed)
    steps = [rng.dirichlet([0.15] * KINDS, KINDS) for _ in range(3)]
    starts = [rng.dirichlet([0.5] * KINDS) for _ in range(3)]
    real, holdout, synthetic = (chain(rng, steps, starts, n) for _ in range(3))
    k = round(share * n)
    for i in range(k):
        own = real[i]
        if leak == "whole":
            synthetic[i] = own.copy()
        elif leak == "run of 6":
            a, b = rng.integers(0, len(own) - 5), rng.integers(0, max(1, len(synthetic[i]) - 5))
            synthetic[i][b : b + 6] = own[a : a + 6]
        elif leak == "order redrawn":
            synthetic[i] = rng.permutation(own)
        elif leak == "two halves":
            other = real[(i + 1) % k]
            synthetic[i] = np.concatenate([own[: len(own) // 2], other[len(other) // 2 :]])
    return tables(real, 0), tables(synthetic, 10_000), tables(holdout, 20_000)


def compared(three, seed):
    """Return the results of the events of people, by variant."""
    schema = RelationalSchema(
        {name: divulge.infer_schema(t) for name, t in three[0].items()},
        (Relation("users", ("uid",), "events", ("uid",)),),
    )
    schema.tables["events"] = schema.tables["events"].give_roles(order=["step"])
    frames, reading, persons = linked_people(three, Reading(linked=schema), RunOptions(seed=seed))
    case = with_persons(build_case(*frames, schema=reading.schema, unit=reading.unit, seed=seed), persons)
    return {r.variant: r for r in histories(case)[0] if r.keys == ("events",)}


LEAKS = {
    "none": {},
    "whole": {"whole history": 0.1, "whole history, without times": 0.1, "history, nearly": 0.1, "run": 0.1},
    "run of 6": {"shorter run": 0.1},
    "order redrawn": {"whole history, without times": 0.1, "history, nearly, without times": 0.1},
    "two halves": {"run": 0.055, "history, nearly": 0.027},
}
"""Each leak, the comparisons that see it, and the mean risk that they show."""
NEVER = {
    "none": ("whole history", "whole history, without times", "run", "longer run"),
    "run of 6": ("whole history", "run"),
    "order redrawn": ("whole history", "run", "shorter run"),
    "two halves": ("whole history",),
}


@pytest.mark.slow
@pytest.mark.parametrize("leak", LEAKS)
@runs(4, 12)
def test_each_leak_shows_where_it_should(leak, runs, errors):
    found = [compared(world(seed, leak), seed) for seed in range(runs)]
    for variant, risk in LEAKS[leak].items():
        own = [f[variant] for f in found]
        assert abs(np.mean([r.risk.value for r in own]) - risk) < 0.015, variant
        assert sum(r.risk.low > 0 for r in own) >= runs - 1 - (runs > 4 and variant != "whole history"), variant
    for variant in NEVER.get(leak, ()):
        assert sum(f[variant].risk.low > 0 for f in found) <= 1, variant


@pytest.mark.slow
@pytest.mark.parametrize("n", [100, 300])
@runs(20, 200)
def test_fresh_people_alarm_no_more_than_chance(n, runs, errors):
    """Bonferroni over the comparisons of the events, at least as strict as the max-T of a run."""
    alarms = 0
    for seed in range(runs):
        p = [r.p_value for r in compared(world(1_000 + seed, n=n), seed).values() if r.p_value is not None]
        alarms += min(p) * len(p) <= 0.05
    assert alarms / runs <= 0.05 + errors * math.sqrt(0.05 * 0.95 / runs)


@pytest.mark.slow
@runs(3, 20)
def test_a_share_of_whole_histories_is_the_risk(runs, errors):
    for share in (0.05, 0.25):
        risks = [compared(world(2_000 + s, "whole", share=share), s)["whole history"].risk.value for s in range(runs)]
        assert abs(np.mean(risks) - share) < 0.003 + 3 * max(0.005, np.std(risks)) / math.sqrt(runs)


def visits(rng, n, first):
    n_rows = rng.integers(6, 21, n)
    day = np.concatenate([np.cumsum(rng.geometric(1 / 20, k)) + rng.integers(0, 300) for k in n_rows])
    kind = rng.choice(list("abc"), len(day))
    return pl.DataFrame(
        {"uid": np.repeat(first + np.arange(n), n_rows), "day": np.datetime64("2020-01-01") + day, "kind": kind}
    )


@pytest.mark.slow
@runs(20, 200)
def test_runs_of_intervals_are_found_and_chance_is_not(runs, errors):
    wrong, found = 0, 0
    for i in range(runs):
        rng = np.random.default_rng([i, 20])
        real, synthetic, holdout = (visits(rng, 300, first) for first in (0, 10_000, 20_000))
        own = real.filter(pl.col("uid") < 15)
        days = pl.duration(days=pl.col("uid").replace_strict(dict(enumerate(rng.integers(-300, 300, 15).tolist()))))
        own = own.with_columns(pl.col("day") + days, uid=pl.col("uid") + 10_000, kind=pl.col("kind").shuffle(i))
        leaky = pl.concat([own, synthetic.filter(pl.col("uid") >= 10_015)])
        schema = divulge.infer_schema(real).give_roles(unit=["uid"])
        for released, planted in ((synthetic, False), (leaky, True)):
            results = divulge.copies(real, released, holdout=holdout, schema=schema, variants=["histories"], seed=i)
            seen = any(r.verdict == "excess found" for r in results)
            wrong, found = wrong + (seen and not planted), found + (seen and planted)
    assert wrong / runs <= 0.05 + errors * math.sqrt(0.05 * 0.95 / runs)
    assert found / runs >= 0.9 - errors * math.sqrt(0.9 * 0.1 / runs)


@runs(20, 200)
def test_one_column_of_histories_is_found_and_chance_is_not(runs, errors):
    """The ages of 10% of 300 homes under one synthetic home each are found; without any, at most one table in twenty has a finding."""
    wrong, found = 0, 0
    for i in range(runs):
        rng = np.random.default_rng([i, 31])
        sizes = [rng.integers(1, 6, 300) for _ in range(3)]
        ages = [[rng.integers(0, 90, k) for k in side] for side in sizes]
        leaky = [*ages[0][:30], *ages[1][30:]]
        for released, planted in ((ages[1], False), (leaky, True)):
            tables = [
                pl.DataFrame(
                    {
                        "home": np.repeat(np.arange(300) + 1000 * j, list(map(len, side))),
                        "age": np.concatenate(side),
                        "cost": rng.gamma(2, 30, sum(map(len, side))).round(2),
                        "sex": rng.choice(["f", "m"], sum(map(len, side))),
                    }
                )
                for j, side in enumerate((ages[0], released, ages[2]))
            ]
            results = divulge.copies(*tables[:2], holdout=tables[2], seed=i, unit="home", variants=["histories"])
            seen = any(r.verdict == "excess found" for r in results)
            wrong, found = wrong + (seen and not planted), found + (seen and planted)
    assert wrong / runs <= 0.05 + errors * math.sqrt(0.05 * 0.95 / runs)
    assert found / runs >= 0.9 - errors * math.sqrt(0.09 / runs)
