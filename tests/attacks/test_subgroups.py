"""Risk for subgroups: right counts, no small cohort on its own or by subtraction, numbers in place of values."""

import json

import numpy as np
import polars as pl
import pytest

import divulge
from divulge.attacks.inference.subgroups import FEWEST
from divulge.core.schema import Column, Schema

SCHEMA = Schema((Column("x", "numeric"), Column("t", "categorical")))


def people(sizes, seed=0, side="r"):
    """People of each value of a target, in random order, beside a number."""
    rng = np.random.default_rng([seed, ord(side)])
    t = rng.permutation(np.repeat(list(sizes), list(sizes.values())))
    return pl.DataFrame({"x": rng.random(len(t)), "t": t})


def groups(real, synthetic, holdout=None, **options):
    options = {"target": "t", "ways": ["nearest record"], "schema": SCHEMA} | options
    (found,) = divulge.inference(real, synthetic, holdout=holdout, **options)
    return found, {(g.of, g.name): g for g in found.groups}


# ---------------------------------------------------------------- counts


def test_each_group_counts_its_own_people():
    sizes = {"a": 60, "b": 50, "c": 40}
    real, synthetic, holdout = (people(sizes, i, s) for i, s in enumerate("rsh"))
    holdout = holdout[:120]
    found, parts = groups(real, synthetic, holdout)
    assert list(parts) == [("t", f"value {i}, by frequency") for i in (1, 2, 3)]
    for value, group in zip("abc", parts.values(), strict=True):
        for table, rate, scores in (
            (real, group.real, found.individual.real),
            (holdout, group.holdout, found.individual.holdout),
        ):
            inside = (table["t"] == value).to_numpy()
            assert (rate.hits, rate.n) == (scores[inside].sum(), inside.sum())
            assert rate.rate == pytest.approx(rate.hits / rate.n)
        a, b = group.real.rate, group.holdout.rate
        assert group.risk.value == pytest.approx((a - b) / (1 - b))
        assert group.risk.low_simultaneous < group.risk.low < group.risk.high < group.risk.high_simultaneous


@pytest.mark.slow
def test_noise_is_no_excess_for_any_group():
    """Dividing the hits of some strangers by the number of all strangers gave half of pure noise as risk."""
    sizes = {"a": 100, "b": 100}
    values, out = [], 0
    for i in range(60):
        real, synthetic, _ = (people(sizes, i, s) for s in "rsh")
        holdout = people({"a": 400, "b": 400}, i, "h")
        _, parts = groups(real, synthetic, holdout)
        values += [g.risk.value for g in parts.values()]
        out += any(g.risk.low_simultaneous > 0 for g in parts.values())
    # two groups of one table are not independent: a group's error stands for both
    assert abs(np.mean(values)) <= 3 * np.std(values) / np.sqrt(60)
    assert out / 60 <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 60)


def test_a_leak_about_one_group_is_seen_there():
    sizes = {"a": 300, "b": 300}
    real, synthetic, holdout = (people(sizes, 5, s) for s in "rsh")
    leaked = pl.concat([real.filter(pl.col("t") == "a"), synthetic])
    _, parts = groups(real, leaked, holdout)
    risks = sorted(g.risk.value for g in parts.values())
    assert risks[1] == pytest.approx(1)
    assert risks[0] < 0.1


# ---------------------------------------------------------------- small cohorts


@pytest.mark.parametrize(
    ("real", "holdout", "expected"),
    [
        # two small values are large together
        ({"a": 90, "b": 40, "c": 15, "d": 15}, {"a": 90, "b": 40, "c": 15, "d": 15}, [90, 40, 30]),
        # a value may be small on one side
        ({"a": 90, "b": 40, "c": 25}, {"a": 90, "b": 40, "c": 10}, [90, 65]),
        # one small value stands with the next larger: left out, it would be all less those shown
        ({"a": 90, "b": 40, "c": 5}, {"a": 90, "b": 40, "c": 5}, [90, 45]),
        # with one large value no group can be shown
        ({"a": 90, "b": 5}, {"a": 90, "b": 5}, []),
        ({"a": 19, "b": 19}, {"a": 90, "b": 90}, []),
        ({"a": 20, "b": 20}, {"a": 20, "b": 20}, [20, 20]),
    ],
)
def test_small_cohorts_are_never_shown_alone(real, holdout, expected):
    tables = people(real), people({"a": 30, "b": 30, "c": 30}, side="s"), people(holdout, side="h")
    found, parts = groups(*tables)
    assert [g.real.n for g in parts.values()] == expected
    if expected:
        assert sum(g.real.n for g in parts.values()) == found.real.n
        assert sum(g.holdout.n for g in parts.values()) == found.holdout.n


@pytest.mark.first(6)
@pytest.mark.parametrize("seed", range(30))
def test_no_group_and_no_remainder_is_small(seed):
    rng = np.random.default_rng(seed)
    names = [f"v{i}" for i in range(int(rng.integers(1, 20)))]
    sizes = [{n: int(k) for n, k in zip(names, rng.integers(0, 60, len(names)), strict=True)} for _ in range(3)]
    tables = [people(s | {"v0": 30}, seed, side) for s, side in zip(sizes, "rsh", strict=True)]
    for holdout in (tables[2], None):
        found, parts = groups(tables[0], tables[1], holdout)
        if not parts:
            continue
        assert len(parts) > 1
        assert sum(g.real.n for g in parts.values()) == found.real.n
        for g in parts.values():
            assert g.real.n >= FEWEST
            assert holdout is None or g.holdout.n >= FEWEST


def test_the_commonest_values_are_told_apart_and_the_others_put_together():
    sizes = {f"v{i}": 60 - 2 * i for i in range(15)}
    _, parts = groups(*(people(sizes, side=s) for s in "rsh"))
    assert len(parts) == 13
    assert parts["t", "all other values"].real.n == 36 + 34 + 32


# ---------------------------------------------------------------- numbers, further columns, names


def test_numbers_are_cut_into_tails_and_the_rest():
    rng = np.random.default_rng(1)
    tables = []
    for _ in range(3):
        t = rng.permutation(1000) / 4
        t[:60] = np.nan
        tables.append(pl.DataFrame({"x": rng.random(1000), "t": t}).with_columns(pl.col("t").fill_nan(None)))
    schema = Schema((Column("x", "numeric"), Column("t", "numeric")))
    _, parts = groups(*tables, schema=schema)
    assert [name for _, name in parts] == ["lowest tenth", "the middle, and people without a number", "highest tenth"]
    assert [g.real.n + g.holdout.n for g in parts.values()] == [
        pytest.approx(188, abs=2), pytest.approx(1624, abs=4), pytest.approx(188, abs=2)
    ]  # fmt: skip
    assert sum(g.real.n for g in parts.values()) == 1000
    known = np.sort(np.concatenate([t["t"].drop_nulls().to_numpy() for t in (tables[0], tables[2])]))
    low = known[(len(known) - 1) // 10]
    assert parts["t", "lowest tenth"].real.n == (tables[0]["t"] <= low).sum()


def test_further_columns_make_further_groups():
    real, synthetic, holdout = (
        people({"a": 400, "b": 400}, side=s).with_columns(g=pl.Series(["old", "young", "odd", "new"] * 200))
        for s in "rsh"
    )
    schema = Schema((*SCHEMA.columns, Column("g", "categorical")))
    _, parts = groups(real, synthetic, holdout, subgroups=["g", "t", "x"], schema=schema)
    names = {of for of, _ in parts}
    assert names == {"t", "g", "x"}
    assert len([1 for of, _ in parts if of == "t"]) == 2  # the target's own groups are there once
    assert [g.real.n for (of, _), g in parts.items() if of == "g"] == [200] * 4


def test_groups_stand_beside_the_headline_alone():
    tables = [people({"a": 60, "b": 60}, side=s) for s in "rsh"]
    found = divulge.inference(
        tables[0], tables[1], holdout=tables[2], target="t", schema=SCHEMA, ways=["nearest record", "CAP", "k-vote"]
    )
    assert [bool(r.groups) for r in found] == [True, False, False]


def test_without_strangers_groups_have_rates_alone():
    _, parts = groups(people({"a": 60, "b": 60}), people({"a": 60, "b": 60}, side="s"))
    assert [(g.real.n, g.holdout, g.risk) for g in parts.values()] == [(60, None, None)] * 2


@pytest.mark.slow
def test_no_value_of_the_data_is_told():
    secret = {"Zanzibar": 60, "Quito": 50, "Ougadougou": 5, "Xanten": 4}
    tables = [
        people(secret, side=s).with_columns(
            g=pl.Series((["Wolfram", "Yttrium", "Zirkon"] * 40)[: sum(secret.values())])
        )
        for s in "rsh"
    ]
    numbers = [t.with_columns(x=pl.col("x") + 918273) for t in tables]
    found = divulge.inference(numbers[0], numbers[1], holdout=numbers[2], subgroups=["g", "x"], tolerance=0.2)
    told = json.dumps([r.to_dict() for r in found])
    assert len({(g.of) for r in found for g in r.groups}) == 3
    for value in (*secret, "Wolfram", "Yttrium", "Zirkon", "918273"):
        assert value not in told


def test_names_and_order_of_values_change_no_group():
    """Of two equally common values the one with fewer members stands first, whatever they are called."""
    tables = [
        people({"a": n, "b": m, "c": 40}, side=s)
        for s, (n, m) in zip("rsh", [(30, 40), (50, 50), (40, 30)], strict=True)
    ]
    _, parts = groups(*tables)
    turned = [t.with_columns(pl.col("t").replace({"a": "z", "b": "y", "c": "x"})) for t in tables]
    _, again = groups(*(t[::-1] for t in turned))
    assert list(parts.values()) == list(again.values())
    assert sorted((g.real.n, g.holdout.n) for g in parts.values()) == [(30, 40), (40, 30), (40, 40)]


def test_households_widen_the_limits_of_a_group():
    rng = np.random.default_rng(2)

    def homes(side):
        t = np.repeat(rng.integers(0, 2, 80), 5)
        x = np.repeat(rng.random(80), 5)
        return pl.DataFrame({"x": x, "t": [f"v{i}" for i in t], "home": [f"{side}{i // 5}" for i in range(400)]})

    tables = [homes(s) for s in "rsh"]
    schema = Schema((*SCHEMA.columns, Column("home", "categorical")))
    _, by_home = groups(*tables, unit="home", schema=schema)
    _, by_row = groups(*tables, keys=["x"], schema=schema)
    for name, g in by_home.items():
        assert g.risk.value == by_row[name].risk.value
        assert g.risk.high - g.risk.low > 1.5 * (by_row[name].risk.high - by_row[name].risk.low)


@pytest.mark.slow
def test_values_are_told_where_somebody_asked_for_them_and_the_report_says_so():
    sizes = {"ap\u202ePLE": 130, "<b>pear": 110, "plum": 90}
    real, synthetic, holdout = (people(sizes, i, s) for i, s in enumerate("rsh"))
    real, synthetic, holdout = (t.with_columns(n=pl.col("x") * 1000) for t in (real, synthetic, holdout))
    given = {"holdout": holdout, "targets": ["t"], "models": False, "jobs": 1, "subgroups": ["n"], "search": "off"}
    told, silent = divulge.assess(real, synthetic, reveal=["values"], **given), divulge.assess(real, synthetic, **given)
    names = {g["name"] for r in told.data["results"] for g in r["groups"] if r["attack"] == "inference"}
    assert {f"value {i + 1}, by frequency: {v}" for i, v in enumerate(sizes)} <= names
    assert any(" to " in n for n in names)
    assert "plum" in told.to_html()
    assert "<b>pear" not in told.to_html() + told.to_markdown()
    assert "\u202e" not in told.to_html() + told.to_markdown() + str(told) + repr(told)
    for document in (told.to_html(), told.to_markdown(), str(told)):
        assert "report holds data values" in document
    for document in (silent.to_html(), silent.to_markdown(), str(silent), silent.to_json()):
        assert "plum" not in document
        assert "report holds data values" not in document
    outside = told.external()
    assert "plum" not in outside.to_json() + outside.to_html()
    numbers = [{k: v for k, v in r.items() if k not in ("groups", "seconds")} for r in told.data["results"]]
    assert numbers == [{k: v for k, v in r.items() if k not in ("groups", "seconds")} for r in silent.data["results"]]


def test_nothing_else_can_be_revealed():
    table = people({"a": 30, "b": 30})
    with pytest.raises(divulge.SettingError, match="reveal"):
        divulge.assess(table, table, reveal=["everything"])
