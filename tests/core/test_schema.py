import datetime
import json
import re

import numpy as np
import polars as pl
import pytest

from divulge.case.case import build_case, infer_schema, schema_of
from divulge.core.errors import ColumnError, SettingError
from divulge.core.relations import Relation, RelationalSchema, relational_from_toml
from divulge.core.schema import Column, Schema, schema_from_sdv, schema_from_toml
from divulge.core.threat_model import NOT_STATED, TABLES, Attacker, Decision, Release, Threat, questions, template

N = 200


def kinds(**columns):
    frame = pl.DataFrame(columns)
    return {c.name: c.kind for c in build_case(frame, frame).schema.columns}


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["a", "b"] * 100, "categorical"),
        ([True, False] * 100, "boolean"),
        ([0.5 * i for i in range(N)], "numeric"),
        ([i % 7 for i in range(N)], "integer-coded"),
        ([i % 20 for i in range(N)], "integer-coded"),
        ([i % 21 for i in range(N)], "numeric"),
        ([i % 70 for i in range(N)], "numeric"),
        (list(range(N)), "identifier"),
        ([i * 37 % 9973 for i in range(N)], "numeric"),
        ([f"user-{i}" for i in range(N)], "identifier"),
        ([f"I was born in a small town, number {i}, and liked it there" for i in range(N)], "text"),
        (["x"] * N, "constant"),
        ([None] * N, "constant"),
        ([f"2020-01-{1 + i % 28:02d}" for i in range(N)], "datetime"),
        ([str(i % 90) if i % 9 else "N" for i in range(N)], "numeric"),
    ],
)
def test_kinds_are_inferred(values, kind):
    assert kinds(x=values)["x"] == kind


def test_whole_numbers_that_all_differ_under_an_id_name_are_identifiers():
    values = [i * 37 % 9973 for i in range(N)]
    assert kinds(customer_id=values, income=values) == {"customer_id": "identifier", "income": "numeric"}


def test_a_column_with_one_value_and_missing_ones_is_no_constant():
    assert kinds(x=["yes", None] * 100)["x"] == "categorical"


def test_the_reason_is_a_sentence_and_names_no_value():
    frame = pl.DataFrame({"diagnosis": ["rare disease"] + ["flu"] * 99})
    why = build_case(frame, frame).schema["diagnosis"].why
    assert why == "text with 2 distinct values"


def test_toml_round_trip_keeps_every_field():
    schema = Schema(
        (
            Column("a b", "numeric", "because", ("key",)),
            Column('quote " and \\', "categorical", "", ("target",)),
            Column("[columns.evil]\nkind", "text", "", ("ignore",)),
        )
    )
    again = schema_from_toml(schema.to_toml())
    assert again == schema


def test_an_edited_kind_wins_over_the_inferred_one():
    frame = pl.DataFrame({"code": list(range(N)), "b": ["x", "y"] * 100})
    schema = schema_from_toml('[columns.code]\nkind = "numeric"\nbins = "width 4"')
    case = build_case(frame, frame, schema=schema)
    assert case.schema["code"].kind == "numeric"
    assert case.binning("code").bins.startswith("4 width bins")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("kind = ", "not TOML"),
        ("a = 1", r"no \[columns.NAME\]"),
        ('[columns.a]\nkind = "colour"', "unknown kind"),
        ('[columns.a]\nroles = ["boss"]', "unknown role"),
        ('[columns.a]\nbins = "deciles"', "bins are not known"),
        ('[columns.a]\nkinds = "text"', "unknown entry"),
        ("columns = 1", r"no \[columns.NAME\]"),
        ('[attacker]\nwhoo = "x"', r"\[attacker\]: unknown entry 'whoo'. hint: use who, knows, source, wants, harm"),
        (
            '[attacker]\nwho = "x"\n[atacker]',
            "unknown entry 'atacker'. hint: a schema holds columns, rule, attacker, release",
        ),
        ("attacker = 1", "attacker is not a table"),
        ("[release]\nsetting = true", r"\[release\]: setting: neither text nor a list of text"),
        ('[decision]\ndate = ["x", ["y"]]', r"\[decision\]: date: neither text"),
        ('[decision.date]\nday = "x"', r"\[decision\]: date: neither text"),
    ],
)
def test_a_broken_schema_says_what_is_wrong(text, says):
    with pytest.raises(SettingError, match=says):
        schema_from_toml(text)


THREAT = Threat(
    attacker=Attacker(who=("the public", 'says "no"\nor \\ yes # [release]'), knows=("caf\u00e9 \u202e",)),
    release=Release(generator=('""" #',)),
    decision=Decision(date=("2026-11-21",)),
)


@pytest.mark.parametrize("threat", [THREAT, NOT_STATED])
def test_what_is_stated_survives_the_round_trip(threat):
    schema = Schema((Column("who", "numeric"),), threat)
    assert schema_from_toml(schema.to_toml()) == schema


def test_dates_and_numbers_need_no_quotes():
    text = "[decision]\ndate = 2026-11-21\n[release]\ntables_released = 5\ngenerator = ['  ', ' a ']"
    threat = schema_from_toml(text).threat
    assert (threat.decision.date, threat.release.tables_released) == (("2026-11-21",), ("5",))
    assert threat.release.generator == ("a",)


def test_without_columns_the_kinds_are_inferred():
    frame = pl.DataFrame({"code": list(range(N)), "b": ["x", "y"] * 100})
    case = build_case(frame, frame, schema=schema_from_toml('[attacker]\nwho = "the public"'), unit="b")
    assert case.schema["code"].kind == "identifier"
    assert case.schema.with_role("unit") == ("b",)
    assert case.schema.threat.attacker.who == ("the public",)


def test_what_is_stated_is_not_lost_when_kinds_are_given():
    frame = pl.DataFrame({"code": list(range(N)), "b": ["x", "y"] * 100})
    schema = schema_from_toml('[columns.code]\nkind = "numeric"\n[attacker]\nwho = "the public"')
    case = build_case(frame, frame, schema=schema)
    assert case.schema["code"].kind == "numeric"
    assert case.schema.threat.attacker.who == ("the public",)
    assert case.schema.override(Schema(())).threat == case.schema.threat


def test_every_question_is_asked_in_the_template_and_can_be_answered():
    text = template(NOT_STATED)
    lines = []
    for table in TABLES:
        lines.append(f"[{table}]")
        for key, question in questions(table).items():
            assert re.search(f'# {re.escape(question)}\n(# .*\n)*# {key} = ""', text)  # a hint may stand between
            lines.append(f'{key} = "x"')
    threat = schema_from_toml("\n".join(lines)).threat
    assert all(getattr(getattr(threat, t), key) == ("x",) for t in TABLES for key in questions(t))


def test_a_schema_for_another_table_is_refused():
    frame = pl.DataFrame({"age": [1, 2, 3]})
    with pytest.raises(ColumnError, match=r"no column 'agee'.*did you mean 'age'"):
        build_case(frame, frame, schema=schema_from_toml('[columns.agee]\nkind = "numeric"'))


SDV_COLUMNS = {
    "id": {"sdtype": "id", "regex_format": "\\d+"},
    "age": {"sdtype": "numerical", "computer_representation": "Int64"},
    "start": {"sdtype": "datetime", "datetime_format": "%Y"},
    "placed": {"sdtype": "boolean"},
    "job": {"sdtype": "categorical", "order": ["secret value"]},
    "mail": {"sdtype": "email", "pii": True},
}
EXPECTED = {
    "id": "identifier",
    "age": "numeric",
    "start": "datetime",
    "placed": "boolean",
    "job": "categorical",
    "mail": "identifier",
}


@pytest.mark.parametrize(
    "metadata",
    [
        {"columns": SDV_COLUMNS, "primary_key": "id", "METADATA_SPEC_VERSION": "SINGLE_TABLE_V1"},
        {"tables": {"people": {"columns": SDV_COLUMNS, "primary_key": "id"}}, "METADATA_SPEC_VERSION": "V1"},
        {
            "tables": {"people": {"columns": SDV_COLUMNS, "primary_key": ["id"]}},
            "relationships": [],
            "METADATA_SPEC_VERSION": "V2",
        },
    ],
    ids=["V1 single", "V1 tables", "V2"],
)
def test_sdv_metadata_is_read(metadata):
    schema = schema_from_sdv(json.loads(json.dumps(metadata)))
    assert {c.name: c.kind for c in schema.columns} == EXPECTED
    assert schema["id"].roles == ("ignore",)


def test_sdv_metadata_of_several_tables_is_refused():
    with pytest.raises(SettingError, match="2 tables"):
        schema_from_sdv({"tables": {"a": {"columns": {}}, "b": {"columns": {}}}})


@pytest.mark.parametrize(
    ("sdtype", "hint"),
    [
        ("ordnal", "did you mean 'ordinal'"),
        ("Numerical", "did you mean 'numerical'"),
        ("emial", "did you mean 'email'"),
        ("frobnicate", "one of numerical, categorical, ordinal, boolean, datetime, id, text, unknown"),
    ],
)
def test_an_unknown_sdtype_is_an_error_and_no_identifier(sdtype, hint):
    with pytest.raises(SettingError, match=f"column 'job': unknown sdtype '{sdtype}'.*{hint}"):
        schema_from_sdv({"columns": SDV_COLUMNS | {"job": {"sdtype": sdtype}}})


@pytest.mark.parametrize("sdtype", ["name", "address", "ssn", "phone_number", "ipv4_address", "credit_card_number"])
def test_personal_sdtypes_are_identifiers(sdtype):
    assert schema_from_sdv({"columns": {"x": {"sdtype": sdtype, "pii": True}}})["x"].kind == "identifier"


def test_values_in_sdv_metadata_go_nowhere():
    assert "secret value" not in schema_from_sdv({"columns": SDV_COLUMNS}).to_toml()


def test_names_are_suggested():
    frame = pl.DataFrame({"T Stage ": ["a", "b"] * 30})
    with pytest.raises(ColumnError, match="did you mean 'T Stage '"):
        build_case(frame, frame, unit="T Stage")


@pytest.mark.parametrize("key", [5, 1.5, True, ["a", 3], [["a"]], {"a": 1}])
def test_a_primary_key_that_is_no_name_is_told(key):
    with pytest.raises(SettingError, match=r"^m.json: primary_key is no name of a column\. hint: "):
        schema_from_sdv({"columns": {"a": {"sdtype": "id"}}, "primary_key": key}, "m.json")


@pytest.mark.parametrize("roles", ["true", "3", '"key"', "[true]", "[[1]]", "[{}]"])
def test_roles_that_are_no_list_of_roles_are_told(roles):
    with pytest.raises(SettingError, match=r"^s\.toml: column 'a': (roles is no list|unknown role)\. hint: "):
        schema_from_toml(f"[columns.a]\nroles = {roles}", "s.toml")


def test_the_schema_of_one_table_is_that_of_the_table_twice():
    frame = pl.DataFrame(
        {"a": ["2020-01-02", None, ""], "b": [1, 2, 2], "c": ["01", "1", "x"], "d": ["04/03/2021"] * 3}
    )
    given = schema_from_toml('[columns.b]\nkind = "categorical"')
    own = schema_of(frame, schema=given, unit="c", ignore=["a"], missing=["x"])
    assert own == build_case(frame, frame, schema=given, unit="c", ignore=["a"], missing=["x"]).schema
    with pytest.raises(ColumnError, match="unit: no column 'e'"):
        schema_of(frame, unit="e")


def test_a_unit_that_some_tables_lack_is_told_by_table():
    """Generators are seldom given the column of the household, so that the synthetic table has none."""
    people = pl.DataFrame({"a": [1, 2, 3, 4], "home": [1, 1, 2, 2]})
    synthetic = people.drop("home")
    with pytest.raises(ColumnError, match="unit: synthetic has no column 'home', which other tables have"):
        build_case(people, synthetic, people, unit="home")
    with pytest.raises(ColumnError, match="unit: synthetic and holdout have no column 'home'"):
        build_case(people, synthetic, synthetic, unit="home")
    with pytest.raises(ColumnError, match="unit: no column 'house'"):
        build_case(people, synthetic, people, unit="house")


@pytest.mark.parametrize("role", ["unit", "key", "target"])
def test_a_role_of_the_schema_on_a_column_that_one_table_lacks_is_told_by_table(role):
    people = pl.DataFrame({"a": [1, 2, 3, 4], "home": [1, 1, 2, 2]})
    schema = schema_from_toml(f'[columns.home]\nkind = "categorical"\nroles = ["{role}"]')
    with pytest.raises(ColumnError, match=r"holdout has no column 'home', which other tables have\. hint: "):
        build_case(people, people, people.drop("home"), schema=schema)


@pytest.mark.parametrize("role", [0, 1, 2])
@pytest.mark.parametrize("how", ["argument", "schema"])
def test_a_column_that_any_table_has_can_be_ignored(role, how):
    """A row number that pandas wrote into one of the files."""
    people = pl.DataFrame({"a": [1, 2, 3, 4], "b": [1, 1, 2, 2]})
    tables = [people.with_columns(number=pl.Series([0, 1, 2, 3])) if i == role else people for i in range(3)]
    by_schema = schema_from_toml('[columns.number]\nroles = ["ignore"]')
    asked = {"ignore": ["number"]} if how == "argument" else {"schema": by_schema}
    case = build_case(*tables, **asked)
    assert case.columns == ("a", "b")
    assert case.ignored == ("number",)
    assert any("left out, 1 in all: 'number'" in note for note in case.notes)  # the report still says that it is there
    with pytest.raises(ColumnError, match=r"ignore: no column 'nr'; there are 'a', 'b', 'number'"):
        build_case(*tables, ignore=["nr"])


@pytest.mark.parametrize(
    "name", ["Unnamed: 0", "Unnamed: 0.1", "index", "__index_level_0__", "rownames", "...1", "age"]
)
def test_half_of_the_numbers_of_rows_are_an_identifier_under_the_names_of_pandas_and_r(name):
    numbers = np.random.default_rng(1).permutation(200)[:100]
    assert infer_schema(pl.DataFrame({name: numbers})).columns[0].kind == ("numeric" if name == "age" else "identifier")


# --- limits and rules -------------------------------------------------------------------------------------------------

LIMITED = r"""
[columns.age]
kind = "numeric"
low = 0
high = 120.5
missing = false
[columns.day]
kind = "datetime"
format = "%d.%m.%Y"
low = 2020-01-01
[columns.job]
kind = "categorical"
values = ["nurse", 3]
[columns.id]
kind = "identifier"
pattern = '\d{4}'
[[rule]]
constraint = "Inequality"
low_column_name = "day"
high_column_name = "age"
"""


def test_limits_and_rules_are_read_written_and_kept():
    schema = schema_from_toml(LIMITED)
    assert schema["age"].limits.entries() == {"low": 0, "high": 120.5, "missing": False}
    assert schema["job"].limits.values == ("nurse", 3) and schema["id"].limits.pattern == r"\d{4}"
    assert schema["day"].limits.low == datetime.date(2020, 1, 1)
    assert schema.rules[0].entries() == {
        "constraint": "Inequality",
        "low_column_name": "day",
        "high_column_name": "age",
    }
    assert schema_from_toml(schema.to_toml()) == schema == schema.give_roles()
    bare = Schema(tuple(Column(c.name, c.kind) for c in schema.columns))
    assert bare.override(schema).rules == schema.rules and bare.override(schema)["age"].limits == schema["age"].limits
    assert schema.override(bare).rules == schema.rules
    several = relational_from_toml(
        LIMITED.replace("[columns.", "[table.t.column.").replace("[[rule]]", '[[rule]]\ntable_name = "t"')
    )
    assert several["t"].columns == schema.columns and several.rules[0].parameters["table_name"] == "t"
    assert relational_from_toml(several.to_toml()) == several
    assert several.override(relational_from_toml("[table.t.column.age]")).rules == several.rules


@pytest.mark.parametrize(
    ("kind", "entry", "says"),
    [
        ("numeric", 'low = "a"', "low is no number and no date. hint: write low = 0"),
        ("numeric", "high = true", "high is no number"),
        ("numeric", "low = 5\nhigh = 3", "low is above high"),
        (
            "numeric",
            "low = 5\nhigh = 2020-01-01",
            "low and high are of different types. hint: two numbers, or two dates",
        ),
        ("datetime", "low = 2020-01-01\nhigh = 2021-01-01T00:00:00", "low and high are of different types"),
        ("categorical", "values = []", "values is no list of texts or numbers"),
        ("categorical", 'values = "secret"', "values is no list"),
        ("categorical", "values = [[1]]", "values is no list"),
        ("numeric", "missing = 1", "missing is neither true nor false"),
        ("datetime", 'format = "day"', "format is no format of dates"),
        ("identifier", 'pattern = "("', "pattern is no regular expression"),
        ("identifier", "pattern = 3", "pattern is no regular expression"),
        ("categorical", "low = 3", "low is for numeric and datetime columns, and this one is categorical"),
        ("text", 'pattern = "a"', "pattern is for identifier columns"),
    ],
)
def test_limits_that_cannot_be_read_are_one_sentence(kind, entry, says):
    with pytest.raises(SettingError, match=f"schema: column 'x': {re.escape(says)}") as raised:
        schema_from_toml(f'[columns.x]\nkind = "{kind}"\n{entry}')
    assert "hint:" in str(raised.value) and "secret" not in str(raised.value)


@pytest.mark.parametrize(
    "text", ["rule = 3", "[rule]\nconstraint = 'Range'", "[[rule]]\nlow = 1", "[[rule]]\nconstraint = 1"]
)
def test_rules_that_name_no_constraint(text):
    with pytest.raises(SettingError, match="hint: a rule looks like"):
        schema_from_toml(f"{text}\n[columns.x]" if "[" not in text else f"[columns.x]\n{text}")


@pytest.mark.parametrize("sign", ["\u202e", "\u2066", "\u2028", "\x7f", "\x85", "\u200b", "\U000e0041", "\ufeff"])
def test_signs_that_a_terminal_obeys_are_escapes_in_toml(sign):
    name = f"a{sign}b"
    schema = infer_schema(pl.DataFrame({name: ["1", "2"] * 9, "c": ["x", "y"] * 9}))
    several = RelationalSchema({name: schema, "d": schema}, (Relation(name, ("c",), "d", (name,)),))
    for text in (schema.to_toml(), several.to_toml()):
        assert all(c.isprintable() or c == "\n" for c in text)
    assert [c.name for c in schema_from_toml(schema.to_toml()).columns] == [name, "c"]
    again = relational_from_toml(several.to_toml(), "schema")
    assert list(again.tables) == [name, "d"] and again.relations == several.relations
