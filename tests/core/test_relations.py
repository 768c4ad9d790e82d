import tomllib

import pytest

from divulge.core.errors import ColumnError, SettingError
from divulge.core.relations import Relation, RelationalSchema, relational_from_sdv, relational_from_toml
from divulge.core.schema import Column, Schema

USERS = Schema((Column("uid", "identifier", "a key", ("primary",)), Column("age", "numeric")))
ORDERS = Schema((Column("uid", "identifier", "", ("foreign", "sequence")), Column("day", "datetime", "", ("order",))))
RELATION = Relation("users", ("uid",), "orders", ("uid",), "each key is found")
SHOP = RelationalSchema({"users": USERS, "orders": ORDERS}, (RELATION,))


def relations_of(text):
    tables = '[table.users.column.uid]\nkind = "identifier"\n[table.orders.column.uid]\nkind = "identifier"\n'
    return relational_from_toml(tables + text, "s.toml").relations


def entry(**changes):
    parts = {"parent": '"users"', "parent_key": '["uid"]', "child": '"orders"', "child_key": '["uid"]'} | changes
    return "[[relation]]\n" + "\n".join(f"{k} = {v}" for k, v in parts.items() if v) + "\n"


# ---------------------------------------------------------------- TOML


def test_toml_round_trip_keeps_every_field():
    again = relational_from_toml(SHOP.to_toml())
    assert again == SHOP
    assert again.relations[0].why == "each key is found"
    assert again["orders"].with_role("sequence") == ("uid",)


@pytest.mark.parametrize("name", ['a "b"', "new\nline", "back\\slash", "dot.ted", "ümläut", "\x7f", "\x1b[31m", ""])
def test_toml_round_trip_of_awkward_names(name):
    odd = RelationalSchema(
        {name: Schema((Column(name, "categorical"),)), "b": Schema((Column("x", "categorical"),))},
        (Relation(name, (name,), "b", ("x",), name),),
    )
    again = relational_from_toml(odd.to_toml())
    assert again == odd
    assert again.relations[0].why == name


def test_relations_are_written_as_an_array_of_tables():
    text = SHOP.to_toml()
    assert text.startswith("[[relation]]\n")
    assert tomllib.loads(text)["relation"][0]["parent"] == "users"


def test_a_key_of_one_column_may_be_a_text():
    assert relations_of(entry(parent_key='"uid"', child_key='"uid"')) == (RELATION,)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (entry(parent='"user"'), "relations: parent: no table 'user'; there are 'users', 'orders'. hint: did you mean 'users'?"),
        (entry(child_key='["uiid"]'), "relations: child_key of 'orders': no column 'uiid'; there are 'uid'. hint: did you mean 'uid'?"),
        (entry(parent_key="[]"), "a key names one or more different columns"),
        (entry(parent_key='["uid", "uid"]'), "a key names one or more different columns"),
        (entry() + entry(), "stands there twice. hint: keep one."),
        (entry(child='"users"'), "a key that names itself"),
        (entry(child=""), "s.toml: relation: no child. hint: a relation looks like [[relation]]"),
        (entry(child="3"), "s.toml: relation: child is no text"),
        (entry(child_key="3"), "s.toml: relation: child_key is no list of column names"),
        (entry(childkey='"uid"'), "unknown entry 'childkey'. hint: did you mean 'child_key'?"),
        ("[relation]\nparent = 'users'", "relation is no list. hint: write it with two brackets"),
        ("[relations]\nx = 1", "unknown entry 'relations'. hint: did you mean 'relation'?"),
        ("[table.more]\nkind = 'x'", "table 'more': expected columns. hint: [table.NAME.column.COLUMN]"),
        ("[table.more.column.x]\nkind = 'nominal'", "table 'more': column 'x': unknown kind"),
        ("[table.more.column.x]\nroles = ['parent']", "table 'more': column 'x': unknown role. hint: any of key,"),
    ],
)  # fmt: skip
def test_mistakes_are_one_sentence(text, message):
    with pytest.raises(SettingError) as error:
        relations_of(text)
    assert message in str(error.value)


def test_keys_of_other_lengths():
    wide = {"users": USERS, "orders": ORDERS}
    with pytest.raises(SettingError, match="key columns: 2 in the parent and 1 in the child"):
        RelationalSchema(wide, (Relation("users", ("uid", "age"), "orders", ("uid",)),))


def test_a_schema_of_one_table_is_told_apart():
    with pytest.raises(SettingError, match="It describes one table"):
        relational_from_toml('[columns.age]\nkind = "numeric"')
    with pytest.raises(SettingError, match="not TOML"):
        relational_from_toml("[[[")


def test_what_the_user_says_replaces_the_proposal():
    mine = RelationalSchema({"users": Schema((Column("age", "integer-coded"),)), "orders": Schema(())})
    both = SHOP.override(mine)
    assert both.relations == ()
    assert both["users"]["age"].kind == "integer-coded"
    assert both["users"]["uid"] == USERS["uid"]
    with pytest.raises(SettingError, match=r"schema: no table 'user'.*did you mean 'users'"):
        SHOP.override(RelationalSchema({"user": USERS}))
    with pytest.raises(ColumnError, match="did you mean 'age'"):
        SHOP.override(RelationalSchema({"users": Schema((Column("aeg", "numeric"),))}))
    with pytest.raises(SettingError, match="no table 'order'"):
        SHOP["order"]


# ---------------------------------------------------------------- SDV


COLUMNS = {"uid": {"sdtype": "id"}, "day": {"sdtype": "datetime"}, "price": {"sdtype": "numerical"}}
TABLES = {
    "users": {"columns": {"uid": {"sdtype": "numerical"}, "age": {"sdtype": "numerical"}}, "primary_key": "uid"},
    "orders": {"columns": COLUMNS, "sequence_key": "uid", "sequence_index": "day", "alternate_keys": ["price"]},
}
RELATIONSHIPS = [
    {
        "parent_table_name": "users",
        "parent_primary_key": "uid",
        "child_table_name": "orders",
        "child_foreign_key": "uid",
    }
]


class Metadata:
    """As SDV's Metadata."""

    def to_dict(self):
        return {"tables": TABLES, "relationships": RELATIONSHIPS, "METADATA_SPEC_VERSION": "V1"}


V2 = {
    "tables": {
        **TABLES,
        "orders": {**TABLES["orders"], "columns": {**COLUMNS, "price": {"sdtype": "numerical", "range_min": 12345}}},
    },
    "relationships": RELATIONSHIPS,
    "METADATA_SPEC_VERSION": "V2",
}


@pytest.mark.parametrize("metadata", [Metadata(), Metadata().to_dict(), V2], ids=["to_dict", "V1", "V2"])
def test_sdv_metadata_of_several_tables(metadata):
    found = relational_from_sdv(metadata)
    assert found.relations == (RELATION,)
    assert found["users"]["uid"] == Column("uid", "identifier", "primary key of the SDV metadata", ("primary",))
    assert found["orders"]["uid"].roles == ("sequence", "foreign")
    assert found["orders"]["day"].roles == ("order",)
    assert found["orders"]["price"].kind == "numeric"
    assert "12345" not in found.to_toml()
    assert relational_from_toml(found.to_toml()) == found


def test_sdv_metadata_of_one_table():
    found = relational_from_sdv({**TABLES["users"], "METADATA_SPEC_VERSION": "SINGLE_TABLE_V1"})
    assert list(found.tables) == ["table"]
    assert found["table"].with_role("primary") == ("uid",)


def test_composite_keys_of_sdv():
    tables = {
        "weather": {
            "columns": {"site": {"sdtype": "id"}, "day": {"sdtype": "numerical"}},
            "primary_key": ["site", "day"],
        },
        "trips": {"columns": {"site": {"sdtype": "id"}, "when": {"sdtype": "numerical"}}},
    }
    link = {
        "parent_table_name": "weather", "parent_primary_key": ["site", "day"],
        "child_table_name": "trips", "child_foreign_key": ["site", "when"],
    }  # fmt: skip
    found = relational_from_sdv({"tables": tables, "relationships": [link]})
    assert found.relations == (Relation("weather", ("site", "day"), "trips", ("site", "when")),)
    assert found["weather"].with_role("primary") == ("site", "day")
    assert found["weather"]["day"].kind == "numeric"  # a part of a key is no identifier by itself


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        ([], "must be a JSON object"),
        ({"tables": {}}, '"tables" has no table'),
        ({"tables": TABLES, "relationships": {"x": 1}}, '"relationships" is no list'),
        ({"tables": TABLES, "relationships": [{"parent_table_name": "users"}]}, "a relationship lacks a part. hint: it has parent_table_name"),
        ({"tables": TABLES, "relationships": [{**RELATIONSHIPS[0], "child_table_name": "order"}]}, "did you mean 'orders'?"),
        ({"tables": TABLES, "relationships": [{**RELATIONSHIPS[0], "child_foreign_key": "id"}]}, "no column 'id'"),
        ({"tables": TABLES, "relationships": [{**RELATIONSHIPS[0], "child_foreign_key": 3}]}, "child_foreign_key is no list"),
        ({"tables": {"a": {**TABLES["users"], "primary_key": "user"}}}, "table 'a': primary key: no column 'user'"),
        ({"tables": {"a": {**TABLES["users"], "primary_key": 3}}}, '"primary_key" is neither a column name nor a list'),
        ({"tables": {"a": {**TABLES["users"], "sequence_key": [3]}}}, '"sequence_key" is neither a column name nor a list'),
        ({"tables": {"a": {"fields": {}}}}, "the metadata of SDV before 1.0"),
        ({"tables": {"a": {"columns": {"x": {"sdtype": "numercal"}}}}}, "table 'a': column 'x': unknown sdtype 'numercal'"),
        ({"tables": {"a": 3}}, "table 'a': SDV metadata must be a JSON object"),
    ],
)  # fmt: skip
def test_mistakes_in_sdv_metadata_are_one_sentence(metadata, message):
    with pytest.raises(SettingError) as error:
        relational_from_sdv(metadata)
    assert message in str(error.value)
