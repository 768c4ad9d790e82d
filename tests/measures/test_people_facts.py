"""Facts about people: counts by hand and by plain python, who is named and why nobody is, what changes nothing."""

import numpy as np
import polars as pl
import pytest

from divulge.case.case import build_case
from divulge.core.records import Verbatim
from divulge.core.schema import Column, Schema
from divulge.measures import _rare_records
from divulge.measures._rare_records import People, alone, any_alike, own_parts
from divulge.measures.people_facts import people_facts

WIDTH = 10
TEN = Schema(tuple(Column(f"x{j}", "numeric") for j in range(WIDTH)))


def numbers(rng, n):
    return pl.DataFrame({f"x{j}": rng.random(n) for j in range(WIDTH)})


def tables(seed=0, sizes=(40, 50, 40)):
    rng = np.random.default_rng(seed)
    return [numbers(rng, n) for n in sizes]


def facts(real, synthetic, holdout=None, **more):
    return people_facts(build_case(real, synthetic, holdout, **more))


def rows(mask):
    return np.flatnonzero(mask).tolist()


# ---------------------------------------------------------------- verbatim


def test_copies_that_chance_can_hardly_make_are_named():
    real, synthetic, holdout = tables()
    found = facts(real, pl.concat([real[[3, 7]], synthetic]), holdout, schema=TEN)
    assert rows(found.verbatim.members) == rows(found.verbatim.telling) == rows(found.verbatim.named) == [3, 7]
    assert found.to_facts().verbatim == Verbatim(members=2, strangers=0, telling=2, named=2, why_not_named=None)
    clean = facts(real, synthetic, holdout, schema=TEN)
    assert clean.to_facts().verbatim.members == 0
    assert clean.verbatim.why_not_named is None  # nobody stands there, so there is nothing to explain


def reason(real, synthetic, holdout, **more):
    found = facts(real, pl.concat([real[:2], synthetic]), holdout, **more).verbatim
    assert found.members.sum() == 2
    assert not found.named.any()
    return found.why_not_named


def test_nobody_is_named_where_strangers_do_not_show_what_chance_makes():
    real, synthetic, holdout = tables()
    assert "there are no strangers" in reason(real, synthetic, None, schema=TEN)
    assert "smaller than the real table" in reason(real, synthetic, holdout[:39], schema=TEN)
    copied = pl.concat([synthetic, holdout[[5]]])
    assert "of strangers, stand verbatim too" in reason(real, copied, holdout, schema=TEN)


def test_nobody_is_named_by_a_common_record_or_one_that_another_person_nearly_has():
    real, synthetic, holdout = tables()
    few = [f"x{j}" for j in range(5)]  # 5 log2(80) = 31.6 bits are below 40
    schema = Schema(TEN.columns[:5])
    assert "common enough for chance" in reason(*(t.select(few) for t in (real, synthetic, holdout)), schema=schema)
    near = real[:2].with_columns(x0=pl.Series([5.0, 6.0]))
    found = facts(real, pl.concat([real[:3], synthetic]), pl.concat([near, holdout[2:]]), schema=TEN).verbatim
    assert rows(found.members) == [0, 1, 2]
    assert rows(found.telling) == [2]
    assert not found.named.any()
    assert "two people are as alike" in found.why_not_named
    # people of one household may be alike: they are no other persons
    home = {"home": [f"r{i}" for i in range(40)]}, {"home": ["s"] * 53}, {"home": [f"h{i}" for i in range(40)]}
    twins = (
        real.with_columns(pl.Series("home", home[0]["home"])),
        holdout.with_columns(pl.Series("home", home[2]["home"])),
    )
    own = pl.concat([twins[0], twins[0][:1].with_columns(x0=9.0)])
    synthetic = pl.concat([real[:3], synthetic]).with_columns(home=pl.lit("s"))
    assert rows(facts(own, synthetic, twins[1], schema=TEN, unit="home").verbatim.named) == [0, 1, 2]
    assert rows(facts(own.drop("home"), synthetic.drop("home"), twins[1].drop("home"), schema=TEN).verbatim.named) == []


def test_columns_that_say_the_same_count_once():
    """A number of a thousand values, written ten times: a fresh row has it by chance, and bits alone would name."""
    rng = np.random.default_rng(1)

    def table(n):
        one = rng.integers(0, 1000, n)
        return pl.DataFrame({f"x{j}": one * (j + 1) for j in range(WIDTH)})

    real, synthetic, holdout = table(30), table(30), table(400)
    found = facts(real, pl.concat([real[:5], synthetic]), holdout, schema=TEN).verbatim
    assert found.members.sum() >= 5
    assert not found.telling.any()


def people(codes, n_members, person=None):
    arrays = {c: np.array(v, dtype=np.int32) for c, v in codes.items()}
    n = len(next(iter(arrays.values())))
    return People(
        tuple(sorted(codes)), np.arange(n), np.arange(n) if person is None else np.array(person), arrays, n_members
    )


def test_rows_without_a_unit_are_persons_of_their_own():
    one, other = ({"home": [None, "a", "a"], "x": [1.5, 2.5, 2.5]}, {"home": [None, "b", None], "x": [1.5, 4.5, 5.5]})
    case = build_case(pl.DataFrame(one), pl.DataFrame(one), pl.DataFrame(other), unit="home")
    someone = _rare_records.people_of(case, ["x"], case.contingency(["x"], (), binned=False))
    assert someone.n_persons() == 5
    assert sorted(someone.holders(someone.record, 4).tolist()) == [1, 1, 1, 2]


def test_bits_by_hand():
    someone = people({"a": [1, 1, 2, 2], "b": [1, 2, 3, 4], "c": [5, 5, 5, 5]}, 2)
    assert someone.bits().tolist() == [3, 3, 3, 3]
    assert someone.bits({"a": 0.5, "b": 1.0, "c": 1.0}).tolist() == [2.5] * 4


def test_what_a_column_adds_by_hand():
    case = build_case(pl.DataFrame({"a": [1]}), pl.DataFrame({"a": [1]}))
    town = np.repeat(np.arange(5), 20)
    code = np.repeat(np.arange(20), 5)  # four postcodes in each town
    other = np.tile(np.arange(5), 20)
    parts = own_parts(case, people({"code": code, "other": other, "town": town}, 50))
    # 200 pairs of 4,950 agree in the code, 950 in the town and in the other: all 200, and none, of those with one code
    free = 950 / 4950
    assert parts["code"] == 1
    assert parts["town"] == pytest.approx(np.log((200 + 50 * free) / 250) / np.log(free))
    assert parts["town"] < 0.15
    assert parts["other"] == 1  # it agrees less often there than elsewhere


def test_who_is_alone_and_who_is_alike_by_hand():
    codes = {"a": [1, 1, 2, 3, 4], "b": [1, 1, 2, 3, 9], "c": [1, 2, 3, 4, 4]}
    some, every = people(codes, 3), np.arange(5)
    assert alone(some, every).tolist() == [False, False, True, True, True]
    assert alone(people(codes, 3, [7, 7, 8, 9, 10]), every).tolist() == [True] * 5
    assert alone(people({"a": [1, 2, 3]}, 2), np.arange(3)).tolist() == [False] * 3  # all but one column is none
    parts = dict.fromkeys("abc", 1.0)
    # the two agree in a and b, of log2(5 / 2) bits each
    assert any_alike(some, parts, 2 * np.log2(2.5) - 0.01)
    assert not any_alike(some, parts, 2 * np.log2(2.5) + 0.01)
    assert not any_alike(people(codes, 3, [7, 7, 8, 9, 10]), parts, 0.5)
    whole = people({"a": [1, 1, 2], "b": [1, 1, 2]}, 2)
    assert any_alike(whole, dict.fromkeys("ab", 1.0), 2 * np.log2(1.5) - 0.01)


# ---------------------------------------------------------------- repeated


def letters(text):
    return pl.DataFrame({"k": list(text)})


def test_repeats_by_hand():
    # a: two people; b: one member; c: one stranger; z: nobody
    found = facts(letters("aab"), letters("aaaa" + "bbb" + "cc" + "z"), letters("dce")).repeated
    assert (found.member, found.stranger, found.nobody, found.elsewhere) == (3, 2, 1, 2)
    assert not found.stands_out  # three is not more than twice two
    assert facts(letters("aab"), letters("bbbbbcc"), letters("dce")).repeated.stands_out
    alone = facts(letters("aab"), letters("bbbzz"))
    assert (alone.repeated.member, alone.repeated.stranger, alone.repeated.nobody) == (3, None, 2)
    assert alone.repeated.p_value is None
    none = facts(letters("aab"), letters("aaay"), letters("dce")).to_facts().repeated
    assert (none.times, none.of, none.elsewhere, none.p_value, none.found) == (0, None, 1, None, False)
    both = facts(letters("aab"), letters("bbcc"), letters("dce")).to_facts().repeated
    assert (both.times, both.of) == (1, "member and stranger")  # each row is there twice, which counts once


def test_a_person_who_is_repeated_is_found():
    rng = np.random.default_rng(3)
    real, synthetic, holdout = (pl.DataFrame({"x0": rng.random(n), "x1": rng.random(n)}) for n in (1000, 980, 1000))
    table = pl.concat([real[[17]].select(pl.all().repeat_by(20).explode()), synthetic])
    found = facts(real, table, holdout).repeated
    assert rows(found.found) == [17]
    assert found.stands_out
    assert found.p_value < 1e-4
    assert facts(holdout, table, real).to_facts().repeated.of == "stranger"
    assert not facts(holdout, table, real).repeated.found.any()
    # six of a thousand stand out as a fact; chance could do it where the record is commoner than one of 2,000
    few = facts(real, pl.concat([real[[17]].select(pl.all().repeat_by(6).explode()), synthetic]), holdout).repeated
    assert few.stands_out
    assert 0.01 < few.p_value < 0.2
    assert not few.found.any()
    # a row that nobody has, repeated half as often, makes it an ordinary table
    ordinary = pl.concat([table, synthetic[[0]].select(pl.all().repeat_by(9).explode())])
    assert not facts(real, ordinary, holdout).repeated.found.any()


# ---------------------------------------------------------------- by plain python, and what changes nothing


def coarse(rng, n):
    frame = {"a": rng.integers(0, 4, n).astype(str), "b": rng.integers(0, 5, n), "c": rng.random(n) < 0.3}
    return pl.DataFrame(frame).with_columns(pl.when(pl.col("b") > 0).then("a").alias("a"))


@pytest.mark.parametrize("seed", range(4))
def test_counts_are_those_of_plain_python(seed):
    rng = np.random.default_rng(seed)
    real, synthetic, holdout = (coarse(rng, n) for n in (15, 40, 12))
    found = facts(real, synthetic, holdout)
    mine, made, theirs = (t.rows() for t in (real, synthetic, holdout))
    assert found.verbatim.members.tolist() == [r in made for r in mine]
    assert found.verbatim.strangers.tolist() == [r in made for r in theirs]
    divisor = np.gcd.reduce([made.count(r) for r in set(made)])
    most = {"member": 0, "stranger": 0, "nobody": 0}
    for row in set(made):
        held = (mine.count(row), theirs.count(row))
        who = {(1, 0): "member", (0, 1): "stranger", (0, 0): "nobody"}.get(held)
        if who:
            most[who] = max(most[who], made.count(row) // divisor)
    assert {
        "member": found.repeated.member,
        "stranger": found.repeated.stranger,
        "nobody": found.repeated.nobody,
    } == most


def planted(seed=5, n=60):
    real, synthetic, holdout = tables(seed, (n, 3 * n, n))
    twice = real[[0, 4]].select(pl.all().repeat_by(30).explode())
    return real.with_columns(home=pl.lit("h")), pl.concat([twice, real[10:13], synthetic]), holdout


def test_order_names_and_a_table_written_twice_change_nothing(monkeypatch):
    real, synthetic, holdout = planted()
    real = real.drop("home")
    code = pl.Series("code", [f"c{i % 7}" for i in range(len(real))])
    real, holdout = real.with_columns(code), holdout.with_columns(code[: len(holdout)])
    synthetic = synthetic.join(real, on=synthetic.columns, how="left").with_columns(pl.col("code").fill_null("c0"))
    for sample in (20_000, 50):
        monkeypatch.setattr(_rare_records, "_SAMPLE", sample)
        before = facts(real, synthetic, holdout)
        assert rows(before.repeated.found) == [0, 4]
        assert before.verbatim.named.sum() == 5
        rng = np.random.default_rng(0)
        order = rng.permutation(len(real))
        after = facts(real[order], synthetic[rng.permutation(len(synthetic))], holdout[::-1])
        assert after.to_facts() == before.to_facts()
        assert after.verbatim.named.tolist() == before.verbatim.named[order].tolist()
        assert after.repeated.found.tolist() == before.repeated.found[order].tolist()
        names = {c: f"{9 - i}{c}" for i, c in enumerate(real.columns)}

        def renamed(t, names=names):
            return (
                t.rename(names).with_columns(pl.col(names["code"]).str.replace("c", "z")).select(sorted(names.values()))
            )

        for change in (renamed, lambda t: t.select(t.columns[::-1])):
            assert facts(*map(change, (real, synthetic, holdout))).to_facts() == before.to_facts()
        assert facts(real, pl.concat([synthetic, synthetic]), holdout).to_facts() == before.to_facts()


def test_identifiers_units_and_ignored_columns_are_no_part_of_a_record():
    real, synthetic, holdout = planted()
    schema = Schema((*TEN.columns, Column("number", "identifier"), Column("row", "numeric")))
    real, synthetic, holdout = (
        t.drop("home", strict=False).with_columns(
            number=np.arange(len(t)) + 10**6 * i, row=np.arange(len(t)) + 10**5 * i
        )
        for i, t in enumerate((real, synthetic, holdout))
    )
    assert facts(real, synthetic, holdout, schema=schema, ignore=["row"]).verbatim.members.sum() == 5
    assert facts(real, synthetic, holdout, schema=schema).verbatim.members.sum() == 0
    number = Schema((Column("number", "identifier"),))
    assert facts(*(t.select("number") for t in (real, synthetic, holdout)), schema=number) is None


def test_rows_elsewhere_have_no_facts():
    real, synthetic, holdout = tables()
    assert facts(real, synthetic.lazy(), holdout) is None
