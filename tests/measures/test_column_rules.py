"""Rules of two columns that every real row keeps: values that never meet, and orders of numbers that never occur."""

import datetime

import numpy as np
import polars as pl
import pytest

import divulge
from divulge.case.case import build_case
from divulge.measures.catalogue import all_measures

RULES = next(m for m in all_measures() if m.name == "column_rules")


def people(seed, n=400):
    """Nobody dies before birth, and a town is in one land."""
    rng = np.random.default_rng(seed)
    born, town = rng.integers(0, 60, n), rng.integers(0, 6, n)
    return pl.DataFrame(
        {
            "born": born + 0.5,
            "died": [None if v % 7 == 0 else v + 0.5 for v in born + rng.integers(0, 80, n)],
            "town": [f"t{v}" for v in town],
            "land": [f"l{v % 3}" for v in town],
        }
    )


def by_pair(results):
    return {(r.columns, r.variant): r for r in results[1:]}


def test_the_share_of_broken_rows_by_hand():
    """Of 20 rows 5 have values that no real row has together; a missing value breaks nothing."""
    real = pl.DataFrame({"a": ["x", "y"] * 10, "b": ["u", "v"] * 10})
    synthetic = pl.DataFrame({"a": ["x", "y"] * 10, "b": ["v"] * 6 + ["u", "v"] * 7}).with_columns(
        a=pl.when(pl.int_range(20) == 0).then(None).otherwise("a"),
        b=pl.when(pl.int_range(20) == 7).then(pl.lit("u")).otherwise("b"),
    )
    told = sum((a, b) in {("x", "v"), ("y", "u")} for a, b in synthetic.rows())
    assert told == 3
    whole, pair = divulge.column_rules(real, synthetic)
    assert (pair.columns, pair.variant, pair.value) == (("a", "b"), "combination", 3 / 20)
    assert whole.value == pair.value and whole.context["compared"] == 1


@pytest.mark.parametrize(
    ("broken", "where"),
    [
        ({"died": pl.col("died").shuffle(seed=1)}, (("born", "died"), "order")),
        ({"land": pl.col("land").shuffle(seed=1)}, (("land", "town"), "combination")),
    ],
)
def test_a_broken_rule_is_found_and_a_fresh_sample_breaks_none(broken, where):
    found = divulge.column_rules(people(1), people(2).with_columns(**broken), holdout=people(3))
    assert found[0].verdict == "differs"
    assert [key for key, r in by_pair(found).items() if r.verdict == "differs"] == [where]
    assert by_pair(found)[where].holdout.value == 0 < 0.05 < by_pair(found)[where].low
    fresh = divulge.column_rules(people(1), people(2))
    assert fresh[0].verdict != "differs" and by_pair(fresh)[where].value == 0


def test_dates_are_compared_with_dates():
    day = [datetime.date(2020, 1, 1) + datetime.timedelta(days=i % 50) for i in range(200)]
    table = pl.DataFrame({"from": day, "to": [d + datetime.timedelta(days=3) for d in day], "x": np.arange(200) / 7})
    found = by_pair(divulge.column_rules(table, table.with_columns(to=pl.col("to").reverse())))
    assert set(found) == {(("from", "to"), "order")}  # each has more than fifty days; x is no date
    assert found[("from", "to"), "order"].verdict == "differs"


def test_the_order_of_rows_and_columns_and_names_of_values_change_no_bit():
    tables = people(1, 300), people(2, 300).with_columns(pl.col("died").shuffle(seed=1))
    want = [r.to_dict() | {"seconds": 0} for r in RULES.run(build_case(*tables))]
    for change in (
        lambda t: t.sample(len(t), shuffle=True, seed=3),
        lambda t: t.select(reversed(t.columns)),
        lambda t: t.with_columns(("z" + pl.col("town").str.reverse()).alias("town")),
    ):
        found = [r.to_dict() | {"seconds": 0} for r in RULES.run(build_case(*map(change, tables)))]
        assert found == want


def test_a_run_makes_it():
    small = people(1, 60)
    assert divulge.fidelity(small, small, models=False).of("column_rules")
    broken = divulge.fidelity(people(1), people(2).with_columns(died=pl.col("died").reverse()), models=False)
    assert by_pair(broken.of("column_rules"))[("born", "died"), "order"].verdict == "differs"


def test_what_cannot_be_compared_is_said():
    small = people(1, 60)
    alone = small.select("born")
    assert divulge.column_rules(alone, alone)[0].verdict == "not measured"
    wide = pl.DataFrame({c: [f"{c}{i % k}" for i in range(400)] for c, k in (("a", 40), ("b", 30), ("c", 2))})
    told = divulge.column_rules(wide, wide)
    assert set(by_pair(told)) == {(("a", "c"), "combination"), (("b", "c"), "combination")}
    assert told[0].notes[0] == "pairs left out, as they have more cells than half the rows: 1"


@pytest.mark.slow
def test_fresh_samples_seldom_break_a_rule():
    """Rare pairs of values meet for the first time in each sample; that is no broken rule."""
    wrong = near = 0
    runs = 60
    for i in range(runs):
        head = RULES.run(build_case(people(2 * i, 120), people(2 * i + 1, 120), seed=i))[0]
        wrong += head.p_adjusted < 0.05
        near += head.p_low_tail_adjusted < 0.05
    most = 0.05 + 2 * np.sqrt(0.05 * 0.95 / runs)
    assert wrong / runs <= most and near / runs <= most
