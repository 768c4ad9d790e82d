"""Limits, values, formats, patterns and rules from divulge's own TOML, in the reports and on the command line."""

import json

import polars as pl
import pytest

from divulge.core.errors import SettingError
from divulge.core.relations import relational_from_toml
from divulge.core.schema import schema_from_toml
from divulge.sdmetrics.reports import DiagnosticReport, QualityReport

pd = pytest.importorskip("pandas")

TOML = r"""
[columns.age]
kind = "numeric"
low = 18
high = 99
missing = false
[columns.job]
kind = "categorical"
values = ["nurse", "cook", "clerk"]
[columns.since]
kind = "datetime"
format = "%d.%m.%Y"
low = 2020-01-01
[columns.id]
kind = "identifier"
pattern = '[a-z]\d{2}'
roles = ["primary"]
[[rule]]
constraint = "FixedCombinations"
column_names = ["job", "age"]
"""
REAL = pd.DataFrame(
    {"age": [20, 30, 40], "job": ["nurse", "cook", "nurse"], "since": ["01.02.2020", "03.04.2021", "05.06.2022"],
     "id": ["a01", "a02", "a03"]}
)  # fmt: skip
SYNTHETIC = pd.DataFrame(
    {"age": [20, 98, 120, 40], "job": ["nurse", "clerk", "secret", "nurse"],
     "since": ["31.12.2019", "01.02.2020", "2020-01-01", "09.09.2030"], "id": ["b01", "b01", "b1", "c03"]}
)  # fmt: skip
EXPECTED = {
    ("age", "BoundaryAdherence"): 3 / 4,
    ("job", "CategoryAdherence"): 3 / 4,
    ("since", "DatetimeFormatAdherence"): 3 / 4,
    ("id", "KeyUniqueness"): 3 / 4,
    ("id", "RegexFormatAdherence"): 3 / 4,
}


def scores(report):
    details = report.get_details("Data Validity")
    return {(r["Column"], r["Metric"]): r["Score"] for r in details.to_dict("records") if r["Score"] == r["Score"]}


def made(schema, real=REAL, synthetic=SYNTHETIC, report=DiagnosticReport, **options):
    found = report()
    found.generate(real, synthetic, schema, verbose=False, **options)
    return found


def test_a_schema_gives_what_metadata_give():
    one = schema_from_toml(TOML)
    report = made(one)
    assert scores(report) == EXPECTED
    assert report.get_details("Constraint Validity")["Score"].tolist() == [2 / 4]
    several = relational_from_toml(
        TOML.replace("[columns.", "[table.people.column.").replace("[[rule]]", '[[rule]]\ntable_name = "people"')
    )
    assert scores(made(several, {"people": REAL}, {"people": SYNTHETIC})) == EXPECTED
    assert scores(made(one, {"people": pl.DataFrame(REAL.to_dict("list"))}, {"people": SYNTHETIC})) == EXPECTED
    metadata = {
        "columns": {
            "age": {"sdtype": "numerical", "range_min": 18, "range_max": 99, "range_is_nullable": False},
            "job": {"sdtype": "categorical", "range_values": ["nurse", "cook", "clerk"]},
            "since": {"sdtype": "datetime", "datetime_format": "%d.%m.%Y", "range_min": "2020-01-01"},
            "id": {"sdtype": "id", "regex_format": r"[a-z]\d{2}"},
        },
        "primary_key": "id",
    }
    assert scores(made(metadata)) == EXPECTED


def test_dates_that_follow_their_format_are_compared_with_the_limit():
    dates = SYNTHETIC.assign(since=["31.12.2019", "01.02.2020", "01.01.2020", "09.09.2030"])
    found = scores(made(schema_from_toml(TOML), REAL, dates))
    assert found["since", "BoundaryAdherence"] == 2 / 4  # before the limit, and after the last real date
    assert found["since", "DatetimeFormatAdherence"] == 1.0


def test_whether_a_value_may_be_missing_is_stated():
    real, synthetic = (pd.DataFrame({"x": [1.0, 2, 3, None], "c": ["u", "v", None, "u"]}) for _ in range(2))
    for missing, score in (("", 1.0), ("missing = true", 1.0), ("missing = false", 3 / 4)):
        text = f'[columns.x]\nkind = "numeric"\n{missing}\n[columns.c]\nkind = "categorical"\n{missing}'
        found = scores(made(schema_from_toml(text), real, synthetic))
        assert found == {("x", "BoundaryAdherence"): score, ("c", "CategoryAdherence"): score}


@pytest.mark.slow
def test_a_file_and_the_command_line(tmp_path, monkeypatch):
    from click.testing import CliRunner

    from divulge.cli.root import cli

    monkeypatch.chdir(tmp_path)
    (tmp_path / "schema.toml").write_text(TOML, encoding="utf-8")
    assert scores(made("schema.toml")) == scores(made(tmp_path / "schema.toml")) == EXPECTED
    for name, frame in (("real", REAL), ("synthetic", SYNTHETIC)):
        frame.to_csv(f"{name}.csv", index=False)
    ran = CliRunner().invoke(cli, ["diagnose", "real.csv", "synthetic.csv", "--schema", "schema.toml", "--json", "r.json", "--html", "r.html"])  # fmt: skip
    assert ran.exit_code == 0, ran.output
    written = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    assert {
        (r["Column"], r["Metric"]): r["Score"] for r in written["details"]["Data Validity"] if r["Score"] is not None
    } == EXPECTED
    assert written["details"]["Constraint Validity"][0]["Score"] == 0.5
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "FixedCombinations" in page and "column_names:" in page
    for text in (page, json.dumps(written), ran.output):
        assert "secret" not in text and "31.12.2019" not in text


def test_constraints_of_metadata_stand_for_the_argument():
    rule = {"class_name": "FixedCombinations", "parameters": {"column_names": ["job", "age"], "table_name": "t"}}
    entries = {c: {"sdtype": "categorical"} for c in ("age", "job", "since", "id")}
    whole = {"tables": {"t": {"columns": entries}}, "constraints": [rule]}
    tables = {"t": REAL}, {"t": SYNTHETIC}
    assert made(whole, *tables).get_details("Constraint Validity")["Score"].tolist() == [0.5]
    assert made(whole, *tables, constraints=[]).get_details("Constraint Validity").empty
    with pytest.raises(ValueError, match="list of dictionaries"):
        made({**whole, "constraints": "all"}, *tables)


def test_what_a_schema_cannot_be_used_for():
    one, two = schema_from_toml(TOML), relational_from_toml("[table.a.column.x]\n[table.b.column.y]")
    for schema, real, synthetic, message in (
        (one, {"a": REAL, "b": REAL}, {"a": REAL, "b": REAL}, "one table, and there are 2. hint"),
        (two, REAL, SYNTHETIC, "has 2 tables. hint: give dictionaries"),
        (two, {"a": REAL}, {"a": REAL}, "real_data: no table 'b'"),
        (
            schema_from_toml(TOML.replace("FixedCombinations", "FixedCombination")),
            REAL,
            REAL,
            "did you mean 'FixedCombinations'",
        ),
    ):
        with pytest.raises(SettingError, match=message):
            made(schema, real, synthetic)
    assert made(one, REAL, SYNTHETIC.assign(since=REAL["since"].iloc[0]), report=QualityReport).get_score() > 0
