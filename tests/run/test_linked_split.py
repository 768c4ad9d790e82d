"""Splits of linked tables: rows follow their people, long histories are on both sides, files are written as they were."""

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import divulge
from divulge.cli import cli
from divulge.core.errors import DivulgeError
from divulge.core.relations import Relation, RelationalSchema
from divulge.run.splitting.linked_split import split_linked


def tables(n=300, seed=0):
    rng = np.random.default_rng(seed)
    users = pl.DataFrame({"uid": rng.permutation(n) + 100, "age": rng.integers(18, 80, n)})
    orders = pl.DataFrame(
        {"oid": range(5 * n), "uid": rng.choice(users["uid"], 5 * n), "item": rng.integers(0, 9, 5 * n)}
    )
    items = pl.DataFrame({"oid": rng.integers(0, 5 * n, 6 * n), "colour": rng.choice(["red", "blue"], 6 * n)})
    return {"users": users, "orders": orders, "items": items}


def test_rows_follow_their_people_and_nothing_is_lost():
    given = tables()
    real, holdout = divulge.split(given, holdout=0.4)
    assert (real["users"].height, holdout["users"].height) == (180, 120)
    for name in given:
        assert sorted(pl.concat([real[name], holdout[name]]).rows()) == sorted(given[name].rows())
    assert not set(real["orders"]["uid"]) & set(holdout["orders"]["uid"])
    assert set(real["orders"]["uid"]) <= set(real["users"]["uid"])
    assert set(holdout["items"]["oid"]) <= set(holdout["orders"]["oid"])


def test_people_of_many_rows_are_on_both_sides():
    given = tables()
    real, holdout = divulge.split(given)
    lengths = [np.sort(t["orders"]["uid"].value_counts()["count"].to_numpy())[-30:].mean() for t in (real, holdout)]
    assert abs(lengths[0] - lengths[1]) < 1


def test_the_order_of_rows_and_the_kind_of_frame_change_nothing():
    given = tables()
    order = np.random.default_rng(1)
    turned = {n: t[order.permutation(t.height)].to_pandas() for n, t in reversed(given.items())}
    first, second = divulge.split(given, seed=3), divulge.split(turned, seed=3)
    for one, other in zip(first, second, strict=True):
        assert set(one["users"]["uid"]) == set(other["users"]["uid"])
        assert type(other["users"]).__module__.startswith("pandas")
    assert set(divulge.split(given, seed=4)[0]["users"]["uid"]) != set(first[0]["users"]["uid"])


def test_people_whom_a_row_links_stay_together_and_rows_of_nobody_are_told():
    given = tables() | {
        "pairs": pl.DataFrame({"one": [100, 102, None], "other": [101, 103, 104], "since": ["a", "b", "c"]})
    }
    given["weather"] = pl.DataFrame({"town": ["a", "b"]})
    relations = (Relation("users", ("uid",), "orders", ("uid",)), Relation("orders", ("oid",), "items", ("oid",)),
                 Relation("users", ("uid",), "pairs", ("one",)), Relation("users", ("uid",), "pairs", ("other",)))  # fmt: skip
    given["orders"] = pl.concat([given["orders"], given["orders"][:3].with_columns(uid=pl.lit(9, pl.Int64))])
    schema = RelationalSchema({n: divulge.infer_schema(t) for n, t in given.items()}, relations)
    for seed in range(5):
        found = split_linked(given, holdout=0.5, schema=schema, seed=seed)
        side = dict.fromkeys(given["users"]["uid"].gather(found.division.real).to_list(), 0)
        assert (100 in side, 102 in side) == (101 in side, 103 in side)
        assert sum(len(r) for r in found.rows["pairs"]) == 3
        assert [len(r) for r in found.rows["weather"]] == [2, 2]
        assert any("orders: 3 rows lead to no person" in n for n in found.notes)


def test_the_command_writes_cells_as_they_were_and_the_next_one_runs(tmp_path):
    given = tables()
    (tmp_path / "in").mkdir()
    for name, t in given.items():
        t.write_csv(tmp_path / "in" / f"{name}.csv", separator=";", quote_style="always")
    asked = ["split", str(tmp_path / "in"), "--out", str(tmp_path / "out"), "--unit", "users"]
    done = CliRunner().invoke(cli, asked)
    assert done.exit_code == 0, done.output
    assert "150 of 300 people of users" in done.output
    assert f"divulge assess {tmp_path}/out/real synthetic --holdout {tmp_path}/out/holdout --unit users" in done.output
    lines = [(tmp_path / side / "orders.csv").read_text().splitlines() for side in ("out/real", "out/holdout", "in")]
    assert sorted(lines[0][1:] + lines[1][1:]) == sorted(line.replace('"', "") for line in lines[2][1:])
    assert lines[0][0] == lines[2][0]
    assert "is there already" in str(CliRunner().invoke(cli, asked).exception)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"unit": "clients"}, "no table 'clients'"),
        ({"stratify": ["item"]}, "no column 'item'"),
        ({"holdout": 1.5}, "not a share"),
        ({"together": True}, "follow their people"),
    ],
)
def test_what_cannot_be_used_is_said(settings, sentence):
    with pytest.raises(DivulgeError, match=sentence):
        divulge.split(tables(20), **settings)
