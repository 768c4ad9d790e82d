"""`divulge schema --tables`."""

import json

import polars as pl
import pytest

from divulge.core.relations import Relation, relational_from_toml

USERS = pl.DataFrame({"id": [1, 2, 3], "age": [30, 41, 41]})
ORDERS = pl.DataFrame(
    {
        "user_id": [3, 3, 1, -8],
        "day": ["2020-01-02", "2020-01-01", "2020-01-01", "2020-01-05"],
        "price": [1.5, 2.0, 1.5, 3.0],
    }
)
RELATION = Relation("users", ("id",), "orders", ("user_id",))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "data").mkdir()
    USERS.write_csv(tmp_path / "data" / "users.csv")
    ORDERS.write_parquet(tmp_path / "data" / "orders.parquet")
    (tmp_path / "data" / "README.md").write_text("no table")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_folder_and_a_list_give_the_same(divulge, folder):
    code, out, _ = divulge("schema", "--tables", "data", "--missing=-8")
    assert code == 0
    found = relational_from_toml(out)
    assert found.relations == (RELATION,)
    assert found["orders"].with_role("sequence") == ("user_id",)
    assert found["orders"].with_role("order") == ("day",)
    listed = divulge("schema", "--tables", "orders=data/orders.parquet,users=data/users.csv", "--missing=-8")
    assert relational_from_toml(listed[1]) == found
    one_by_one = divulge("schema", "--tables", "data/users.csv", "--tables", "data/orders.parquet", "--missing=-8")
    assert relational_from_toml(one_by_one[1]) == found


def test_what_is_written_can_be_edited_and_passed_back(divulge, folder):
    out = divulge("schema", "--tables", "data")[1]
    (folder / "s.toml").write_text(out.replace('kind = "datetime"', 'kind = "categorical"'))
    code, again, _ = divulge("schema", "--tables", "data", "--schema", "s.toml")
    assert code == 0
    assert relational_from_toml(again)["orders"]["day"].kind == "categorical"


def test_metadata_of_sdv_say_the_relations(divulge, folder):
    tables = {
        "users": {"columns": {"id": {"sdtype": "id"}, "age": {"sdtype": "numerical"}}, "primary_key": "id"},
        "orders": {"columns": {"user_id": {"sdtype": "id"}}},
    }
    link = {
        "parent_table_name": "users",
        "parent_primary_key": "id",
        "child_table_name": "orders",
        "child_foreign_key": "user_id",
    }
    (folder / "m.json").write_text(json.dumps({"tables": tables, "relationships": [link]}))
    code, out, _ = divulge("schema", "--tables", "data", "--schema", "m.json")
    assert code == 0
    assert relational_from_toml(out).relations == (RELATION,)
    assert relational_from_toml(out)["orders"]["day"].kind == "datetime"  # not in the metadata: as it is read
    (folder / "m.json").write_text(json.dumps({"tables": {**tables, "order": tables["orders"]}}))
    code, _, err = divulge("schema", "--tables", "data", "--schema", "m.json")
    assert code == 2
    assert "no table 'order'; there are 'orders', 'users'. hint: did you mean 'orders'?" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "TABLE or --tables: neither is given"),
        (["data/users.csv", "--tables", "data"], "TABLE or --tables: both are given"),
        (["--tables", "a=data/users.csv,a=data/orders.parquet"], "two tables are called 'a'"),
        (["--tables", "a="], "'a=' lacks a name or a path"),
        (["--tables", "empty"], "the folder 'empty' has no tables"),
        (["--tables", "a=nothing.csv"], "table 'a': nothing.csv: no such file"),
        (["--tables", "data", "--unit", "id"], "--unit and --ignore are of one table"),
        (["--tables", "data", "--schema", "none.toml"], "none.toml: cannot be read"),
    ],
)
def test_mistakes_are_one_sentence(divulge, folder, arguments, message):
    (folder / "empty").mkdir()
    code, _, err = divulge("schema", *arguments)
    assert code == 2
    assert message in err
    assert err.count("\n") == 1
