"""Measures of related tables and of sequences: numbers by hand, plain twins, laws, and the defect that each sees."""

import numpy as np
import polars as pl
import pytest
from linked_worlds import shop, visits

import divulge
from divulge.core.errors import ColumnError, DivulgeError, SettingError
from divulge.core.relations import Relation, RelationalSchema
from divulge.measures.linked.catalogue import linked_measures
from divulge.measures.linked.tables import linked_tables

RELATIONS = ("cardinality", "referential_integrity", "related_pairs", "siblings")
SEQUENCES = ("sequences", "transitions", "autocorrelation", "static_by_dynamic")
KEYS = {"sequence_key": "who", "sequence_index": "day"}


def measured(name, real, synthetic, **settings):
    return getattr(divulge, name)(real, synthetic, **settings, **(KEYS if name in SEQUENCES else {}))


@pytest.fixture(scope="module")
def shops():
    return shop(1), shop(2)


@pytest.mark.parametrize("name", RELATIONS)
def test_a_broken_relation_is_seen_and_a_fresh_sample_is_not(name, shops):
    real, fresh = shops
    assert measured(name, real, shop(2, defect=name))[0].verdict == "differs"
    assert measured(name, real, fresh)[0].verdict not in ("differs", "closer than a fresh sample", "not measured")


@pytest.mark.parametrize("name", SEQUENCES)
def test_a_broken_sequence_is_seen_and_a_fresh_sample_is_not(name):
    real = visits(1)
    assert measured(name, real, visits(2, defect=name))[0].verdict == "differs"
    assert measured(name, real, visits(2))[0].verdict not in ("differs", "closer than a fresh sample", "not measured")


@pytest.mark.slow
def test_each_table_alone_shows_no_broken_relation(shops):
    """Columns and pairs of columns of each table are those of a fresh sample, whichever relation is broken."""
    real, _ = shops
    for defect in ("cardinality", "related_pairs", "siblings"):
        broken = shop(2, defect=defect)
        for table in real:
            found = divulge.fidelity(real[table], broken[table], measures=["column_shapes", "column_pairs"], ignore=[
                c for c in real[table].columns if c.endswith("id")])  # fmt: skip
            assert "differs" not in [r.verdict for r in found.results]


@pytest.mark.slow
def test_a_copy_is_at_zero(shops):
    real, _ = shops
    for name in RELATIONS:
        found = measured(name, real, real)
        assert {r.value for r in found} == {0}
        assert found[0].p_value == 1
    table = visits(1)
    for name in SEQUENCES:
        assert {r.value for r in measured(name, table, table)} == {0}


def test_cardinality_by_hand():
    users = pl.DataFrame({"uid": range(6), "kind": ["a", "a", "a", "b", "b", "b"]})
    real = {"users": users, "orders": pl.DataFrame({"uid": [0, 0, 1, 3, 3, 3], "x": ["u", "v"] * 3})}
    other = {"users": users, "orders": pl.DataFrame({"uid": [0, 1, 2, 3, 4, 5], "x": ["u", "v"] * 3})}
    mean, children, childless, given = divulge.cardinality(real, other)
    # real parents have 2 1 0 3 0 0 children, synthetic ones 1 each
    assert children.value == pytest.approx(0.5)  # at 0: 3 of 6 against 0
    assert childless.value == pytest.approx(0.5)
    assert given.columns == ("users.kind",)
    assert given.value == pytest.approx(5 / 6)  # (a, 1) is 1/6 and 3/6, (b, 1) is 0 and 3/6: 1/6 in common
    assert mean.value == pytest.approx((0.5 + 0.5 + 5 / 6) / 3)
    assert children.context == {"mean real": 1.0, "mean synthetic": 1.0}
    assert mean.context["compared"] == 3


def test_keys_by_hand():
    users = pl.DataFrame({"uid": [1, 2, 3, 4, 5, 5], "kind": ["a", "b"] * 3})
    sound = pl.DataFrame({"uid": [1, 2, 3, 4, 5, None], "x": ["u", "v"] * 3})
    broken = pl.DataFrame({"uid": [1, 2, 9, 9, 9, None], "x": ["u", "v"] * 3})
    schema = RelationalSchema(
        {"users": divulge.infer_schema(users), "orders": divulge.infer_schema(sound)},
        (Relation("users", ("uid",), "orders", ("uid",)),),
    )
    found = divulge.referential_integrity(
        {"users": users, "orders": sound}, {"users": users, "orders": broken}, schema=schema
    )
    assert [r.variant for r in found] == ["", "keys", "repeated keys"]
    assert found[1].value == pytest.approx(0.5)
    assert found[1].context == {"orphans real": 0, "orphans synthetic": 3, "missing real": 1, "missing synthetic": 1}
    assert found[2].context == {"repeated real": 1, "repeated synthetic": 1}
    assert found[2].value == 0


def test_pairs_over_relations_are_those_of_the_joined_tables(shops):
    """The distances by child equal those of the tables joined with polars."""
    found = {(r.columns, r.variant): r.value for r in divulge.related_pairs(*shops) if r.columns}

    def joined(tables):
        orders = tables["orders"].join(tables["users"], on="uid", how="inner")
        return orders.select("vip", "sex")

    both = [joined(t).group_by("vip", "sex").len().with_columns(pl.col("len") / pl.col("len").sum()) for t in shops]
    cells = both[0].join(both[1], on=["vip", "sex"], how="full").fill_null(0)
    expected = float((cells["len"] - cells["len_right"]).abs().sum()) / 2
    assert found[("orders.vip", "users.sex"), "by child"] == pytest.approx(expected, abs=1e-9)
    assert {v for _, v in found} == {"by child", "by parent"}
    assert any(columns == ("items.weight", "users.sex") for columns, _ in found)  # two relations up
    near = divulge.related_pairs(*shops, hops=1)
    assert not any(r.columns == ("items.weight", "users.sex") for r in near)


def test_siblings_correlate_as_they_were_made(shops):
    """Prices of a user have a correlation of 1 / (1 + 0.36); the standard error of 300 pairs is about 0.04."""
    big = [shop(s, 1_000) for s in (1, 2)]
    found = {r.columns: r for r in divulge.siblings(*big) if r.table.startswith("orders")}
    price = found[("orders.price",)]
    assert price.context["real"] == pytest.approx(1 / 1.36, abs=0.04)
    assert price.variant == "correlation"
    assert found[("orders.vip",)].variant == "agreement"
    assert found[("orders.vip",)].context["real"] == pytest.approx(0.36, abs=0.06)  # 4 * 0.3 ** 2


def test_autocorrelation_and_transitions_by_hand():
    table = pl.DataFrame({"who": [i // 5 for i in range(100)], "day": list(range(5)) * 20, "x": [0.5, 2, 1, 3, 4.5] * 20,
                          "s": ["a", "b", "a", "b", "b"] * 20})  # fmt: skip
    other = table.with_columns(s=pl.Series(["a", "a", "a", "b", "b"] * 20))
    found = {(r.columns, r.variant): r for r in divulge.autocorrelation(table, other, **KEYS, lags=[1, 3])}
    x = np.array([0.5, 2, 1, 3, 4.5])
    for lag in (1, 3):
        told = found[("table.x",), f"lag {lag}"].context["real"]
        assert told == pytest.approx(np.corrcoef(x[:-lag], x[lag:])[0, 1], abs=1e-6)
    [_, s, _] = divulge.transitions(table, other, **KEYS, lags=[1])
    assert s.columns == ("table.s",)
    # ab ba ab bb against aa aa ab bb, in quarters
    assert s.value == pytest.approx(0.5)


def test_lengths_starts_and_gaps_by_hand():
    def days(rows):
        return pl.DataFrame([(w, d) for w in range(40) for d in rows], schema=["who", "day"], orient="row")

    found = divulge.sequences(days([0, 1, 2, 3]), days([1, 3, 5]), **KEYS)
    assert [(r.variant, r.value) for r in found[1:]] == [("length", 1.0), ("start", 1.0), ("gap", 1.0)]
    assert found[1].context == {"mean real": 4.0, "mean synthetic": 3.0}


def told(results):
    return [{**r.to_dict(), "seconds": 0} for r in results]


@pytest.mark.slow
@pytest.mark.parametrize("name", [*RELATIONS, "aggregates"])
def test_order_of_rows_columns_and_tables_and_the_keys_change_no_digit(name, shops):
    rng = np.random.default_rng(3)
    real, other = shops

    def turned(tables):
        out = {t: f[rng.permutation(len(f))].select(reversed(f.columns)) for t, f in reversed(tables.items())}
        keys = {k: np.unique(tables["users" if k == "uid" else "orders"][k]) for k in ("uid", "oid")}
        for t, f in out.items():
            for k, old in keys.items():
                if k in f.columns:
                    fresh = np.random.default_rng(5).permutation(len(old))
                    out[t] = out[t].with_columns(pl.col(k).replace_strict(old, fresh))
        return out

    assert told(measured(name, real, other)) == told(measured(name, turned(real), turned(other)))


@pytest.mark.slow
@pytest.mark.parametrize("name", SEQUENCES)
def test_order_of_rows_and_the_keys_change_no_digit_of_sequences(name):
    real, other = visits(1), visits(2)
    turned = [
        t[::-1].with_columns(who=(t["who"][::-1] * 7919) % 10_007).select(sorted(t.columns)) for t in (real, other)
    ]
    assert told(measured(name, real, other)) == told(measured(name, *turned))
    assert told(measured(name, real, other)) == told(measured(name, real.to_pandas(), other.to_arrow()))


def test_the_holdout_stands_beside(shops):
    found = divulge.cardinality(*shops, holdout=shop(3, 120))
    assert found[1].table == "items (oid) -> orders (oid)"
    assert found[-1].holdout.n == 120
    assert all(r.holdout is not None for r in found)
    assert found[-1].holdout.value == pytest.approx(divulge.cardinality(shops[0], shop(3, 120))[-1].value, abs=0.05)


@pytest.mark.slow
def test_families_are_dealt_whole():
    """Twenty equal children of each parent are no evidence: a table of rows would call a fresh sample different."""

    def tables(seed):
        kinds = np.random.default_rng(seed).choice(["a", "b"], 60)
        rows = np.repeat(np.arange(60), 20)
        return {"users": pl.DataFrame({"uid": range(60), "size": np.random.default_rng(seed + 50).choice(["s", "m"], 60)}),
                "orders": pl.DataFrame({"uid": rows, "kind": kinds[rows]})}  # fmt: skip

    differ = [divulge.related_pairs(tables(s), tables(s + 500))[0].verdict == "differs" for s in range(12)]
    assert sum(differ) <= 3  # 12 at 5% show 3 or more once in 50


def test_words_and_registry():
    for entry in linked_measures():
        assert entry.question.endswith("?")
        assert getattr(divulge, entry.name).run is entry.run
        words = entry.words
        assert all(t.endswith(".") for t in (words.what, words.reading, *words.silent))
        assert entry.family in ("relations", "sequences")


def test_bad_input(shops):
    real, other = shops
    with pytest.raises(SettingError, match="synthetic: this is one table, and another side is a dictionary"):
        divulge.cardinality(real, other["users"])
    with pytest.raises(SettingError, match="sequence_key: there are several tables"):
        divulge.sequences(real, other, sequence_key="uid")
    with pytest.raises(SettingError, match="sequence_index: no sequence_key is named"):
        divulge.sequences(visits(1), visits(2), sequence_index="day")
    with pytest.raises(ColumnError, match="sequence_key: no column 'whom'"):
        divulge.sequences(visits(1), visits(2), sequence_key="whom")
    with pytest.raises(SettingError, match="synthetic: no table 'orders'"):
        divulge.cardinality(real, {"users": other["users"], "items": other["items"]})
    with pytest.raises(SettingError, match="the dictionary has no table"):
        divulge.cardinality({}, {})
    with pytest.raises(SettingError, match="lags: these are no whole numbers from 1 on"):
        divulge.transitions(visits(1), visits(2), **KEYS, lags=[0])
    with pytest.raises(SettingError, match="hops: this is no whole number from 1 to 3"):
        divulge.related_pairs(real, other, hops=4)
    with pytest.raises(DivulgeError):
        divulge.cardinality({"users": [1]}, {"users": [1]})


def test_what_is_not_there_is_not_measured():
    one = {"users": shop(1)["users"]}
    for name in (*RELATIONS, "aggregates"):
        [found] = measured(name, one, one)
        assert found.verdict == "not measured"
        assert found.notes
    few = {t: f[:2] for t, f in shop(1).items()}
    assert divulge.cardinality(few, few)[0].verdict == "not measured"


def test_ties_of_the_index_are_named():
    table = pl.DataFrame({"who": [i // 4 for i in range(80)], "day": [0, 1, 1, 2] * 20, "x": [0.5, 1.5, 2.5, 3.5] * 20})
    found = divulge.autocorrelation(table, table, **KEYS)
    assert any("have the index of the row before them" in n for r in found for n in r.notes)


def test_keys_are_never_compared(shops):
    linked = linked_tables(*shops)
    for table in linked.names:
        assert not {"uid", "oid"} & set(linked.case(table).schema.usable())
