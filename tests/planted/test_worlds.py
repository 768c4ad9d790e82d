"""Worlds of planted disclosures: who knows the trick recognises whom they planted, and nobody where none is planted."""

import numpy as np
import polars as pl
import pytest
from planted.bases import PEOPLE, deal, read
from planted.worlds import WORLDS, gain, make

EACH = [pytest.param(w, base, id=f"{w.name} in {base}") for w in WORLDS.values() for base in w.bases]


@pytest.mark.parametrize(("world", "base"), EACH)
def test_the_oracle_gains_what_it_promises_at_a_dose_of_a_tenth(world, base, base_tables):
    tables = make(world, base_tables, 0.10, 1, base)
    planted, strangers = gain(world, tables)
    assert 1 <= len(tables.planted) <= PEOPLE // 10
    assert planted - strangers >= world.gain


@pytest.mark.parametrize(("world", "base"), EACH)
def test_the_oracle_gains_nothing_where_nobody_is_planted(world, base, base_tables):
    tables = make(world, base_tables, 0.0, 1, base)
    members, strangers = gain(world, tables)
    assert tables.planted == ()
    share = (members + strangers) / 2
    assert abs(members - strangers) <= 4 * np.sqrt(2 * share * (1 - share) / PEOPLE)


def test_worlds_of_one_ground_are_the_same_where_nobody_is_planted(base_tables):
    first = {}
    for world in WORLDS.values():
        for base in world.bases:
            tables = make(world, base_tables, 0.0, 2, base)
            other = first.setdefault((base, world.ground), tables)
            for part in ("real", "synthetic", "holdout"):
                assert getattr(tables, part).equals(getattr(other, part)), world.name


@pytest.mark.parametrize("world", WORLDS.values(), ids=lambda w: w.name)
def test_a_world_is_the_same_for_a_seed_and_changes_the_synthetic_table_alone(world, base_tables):
    one, two = make(world, base_tables, 0.05, 3), make(world, base_tables, 0.05, 3)
    null = make(world, base_tables, 0.0, 3)
    assert one.synthetic.equals(two.synthetic) and one.planted == two.planted
    assert one.real.equals(null.real) and one.holdout.equals(null.holdout)
    assert not one.synthetic.equals(null.synthetic)
    assert not make(world, base_tables, 0.05, 4).synthetic.equals(one.synthetic)
    for real, synthetic in zip(null.real.schema.values(), one.synthetic.schema.values(), strict=True):
        assert real == synthetic


def test_members_strangers_and_others_are_different_people(base_tables):
    tables = deal(read(base_tables, "claims"), "claims", 0)
    people = [set(t["person"]) for t in (tables.real, tables.synthetic, tables.holdout)]
    assert [len(p) for p in people] == [PEOPLE] * 3
    assert not (people[0] & people[1] or people[0] & people[2] or people[1] & people[2])
    rows = pl.concat([tables.real, tables.synthetic, tables.holdout]).drop("person")
    dealt = read(base_tables, "claims").drop("person")
    assert rows.join(dealt, on=rows.columns, how="semi").height == rows.height
