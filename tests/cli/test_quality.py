"""`divulge quality` and `divulge diagnose`: numbers, files, rules, and one sentence for each bad input."""

import json
import re

import numpy as np
import polars as pl
import pytest

import divulge as package
from divulge.sdmetrics.reports import DiagnosticReport, QualityReport

RNG = np.random.default_rng(4)
SECRET = "s3cr3t"


def people(n):
    age = RNG.integers(20, 60, n)
    return pl.DataFrame(
        {
            "id": np.arange(n),
            "age": age,
            "job": [f"{SECRET}{v}" for v in age // 15],
            "day": [f"2020-01-{1 + v % 28:02d}" for v in age],
            "pay": age * 100.5,
        }
    )


COLUMNS = {
    "id": {"sdtype": "id"},
    "age": {"sdtype": "numerical"},
    "job": {"sdtype": "categorical"},
    "day": {"sdtype": "datetime", "datetime_format": "%Y-%m-%d"},
    "pay": {"sdtype": "numerical"},
}
ONE = {"columns": COLUMNS, "primary_key": "id"}
LINK = {
    "parent_table_name": "people",
    "parent_primary_key": "id",
    "child_table_name": "visits",
    "child_foreign_key": "people_id",
}
VISITS = {"columns": {"people_id": {"sdtype": "id"}, "cost": {"sdtype": "numerical"}}}
TWO = {"tables": {"people": ONE, "visits": VISITS}, "relationships": [LINK]}


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for side, n in (("real", 60), ("synthetic", 50)):
        (tmp_path / side).mkdir()
        table = people(n)
        table.write_csv(f"{side}.csv")
        table.write_csv(f"{side}/people.csv")
        who = RNG.integers(0, n, 2 * n)
        pl.DataFrame({"people_id": who, "cost": who * 1.5}).write_parquet(f"{side}/visits.parquet")
    for name, metadata in (("one.json", ONE), ("two.json", TWO)):
        (tmp_path / name).write_text(json.dumps(metadata))
    return tmp_path


def scores(path):
    return json.loads(path.read_text())["properties"]


@pytest.mark.parametrize(("command", "report"), [("quality", QualityReport), ("diagnose", DiagnosticReport)])
def test_the_scores_are_those_of_the_report(divulge, files, command, report):
    code, out, err = divulge(
        command, "real.csv", "synthetic.csv", "--schema", "one.json", "--json", "r.json", "--html", "r.html"
    )
    assert (code, err) == (0, "divulge: reading the tables\ndivulge: comparing\n")
    own = report()
    own.generate(pl.read_csv("real.csv"), pl.read_csv("synthetic.csv"), ONE, verbose=False)
    for name, score in own.scores().items():
        if score == score:
            assert scores(files / "r.json")[name] == score
            assert re.search(rf"{name} +{score:.4f}", out)
    assert f"{own.get_score():.4f}" in out.splitlines()[0]
    assert ("Another sample of the same people scores below 1, too" in out) == (command == "quality")
    assert report.load(files / "r.json").get_score() == own.get_score()
    for text in (out, (files / "r.json").read_text(), (files / "r.html").read_text()):
        assert SECRET not in text
        assert "2020-01" not in text


@pytest.mark.parametrize("command", ["quality", "diagnose"])
@pytest.mark.parametrize("given", ["frames", "paths", "dictionaries"])
def test_python_gives_the_scores_of_the_command(divulge, files, command, given):
    function, sides = getattr(package, command), ("real", "synthetic")
    if given == "dictionaries":
        assert divulge(command, *sides, "--schema", "two.json", "-q", "--json", "r.json")[0] == 0
        tables = [
            {"people": pl.read_csv(f"{side}/people.csv").to_pandas(), "visits": f"{side}/visits.parquet"}
            for side in sides
        ]
        report = function(*tables, schema=TWO)
    else:
        assert divulge(command, "real.csv", "synthetic.csv", "--schema", "one.json", "-q", "--json", "r.json")[0] == 0
        tables = [pl.scan_csv(f"{side}.csv") if given == "frames" else files / f"{side}.csv" for side in sides]
        report = function(*tables, schema="one.json" if given == "paths" else ONE)
    wanted = "SDV metadata of one.json" if given == "paths" else "SDV metadata"
    assert report.get_info()["metadata_source"] == wanted
    told = {name: None if score != score else score for name, score in report.scores().items()}
    assert {name: told[name] for name in scores(files / "r.json")} == scores(files / "r.json")


def test_python_tells_what_cannot_be_scored(files):
    with pytest.raises(package.SettingError, match="schema: a int is neither a schema nor metadata"):
        package.quality("real.csv", "synthetic.csv", schema=3)
    with pytest.raises(package.FrameError, match=r"^real: cannot read a builtins\.int as a table"):
        package.quality(3, "synthetic.csv")
    with pytest.raises(package.SettingError, match="one is a file, the other is not"):
        package.diagnose({"people": "real.csv"}, "synthetic.csv")
    with pytest.raises(package.SettingError, match="engine: unknown engine"):
        package.diagnose("real.csv", "synthetic.csv", engine="sqlite")


def test_two_folders_are_the_tables_of_a_database(divulge, files):
    given = ("--metadata", "two.json", "-q", "--json", "r.json")
    assert divulge("quality", "real", "synthetic", *given) == (0, "", "")
    assert set(scores(files / "r.json")) == {"Column Shapes", "Column Pair Trends", "Cardinality", "Intertable Trends"}
    folders = scores(files / "r.json")
    listed = "people=people.csv,visits=visits.parquet"
    assert divulge("quality", "real", "synthetic", "--tables", listed, *given)[0] == 0
    assert scores(files / "r.json") == folders
    sides = (f"people={side}/people.csv,visits={side}/visits.parquet" for side in ("real", "synthetic"))
    assert divulge("quality", *sides, *given)[0] == 0
    assert scores(files / "r.json") == folders


def test_without_a_schema_the_types_are_inferred_and_it_is_said(divulge, files):
    code, _, err = divulge("quality", "real.csv", "synthetic.csv", "--json", "r.json")
    assert code == 0
    assert "divulge: no --schema: the types of the columns are those that divulge infers" in err
    found = json.loads((files / "r.json").read_text())
    assert {r["Column"]: r["Metric"] for r in found["details"]["Column Shapes"]} == {
        "age": "KSComplement",
        "job": "TVComplement",
        "day": "KSComplement",
        "pay": "KSComplement",
    }
    assert found["info"]["metadata_source"] == "inferred by divulge from the real table"
    assert all(r["Error"] is None for rows in found["details"].values() for r in rows)


def test_toml_of_divulge_schema_says_the_types(divulge, files):
    (files / "one.toml").write_text(
        divulge("schema", "real.csv")[1].replace('kind = "numeric"', 'kind = "categorical"', 1)
    )
    assert divulge("quality", "real.csv", "synthetic.csv", "--schema", "one.toml", "-q", "--json", "r.json")[0] == 0
    shapes = json.loads((files / "r.json").read_text())["details"]["Column Shapes"]
    assert [r["Metric"] for r in shapes if r["Column"] == "age"] == ["TVComplement"]
    (files / "two.toml").write_text(divulge("schema", "--tables", "real")[1])
    assert divulge("diagnose", "real", "synthetic", "--schema", "two.toml", "-q", "--json", "r.json")[0] == 0
    assert scores(files / "r.json")["Relationship Validity"] > 0.9


def test_rules_set_the_exit_status(divulge, files):
    given = ("real.csv", "synthetic.csv", "--schema", "one.json", "-q")
    met, broken = "quality.score < 0.1", "quality[Column Shapes].score < 1.5"
    assert divulge("quality", *given, "--fail-on", met) == (0, "", "")
    code, out, err = divulge("quality", *given, "--fail-on", met, "--fail-on", broken)
    assert (code, out) == (1, "")
    assert re.fullmatch(
        r"divulge: not kept: quality \(Column Shapes\): score at least 1.5: found 0\.\d{4}, below 1.5\n", err
    )
    code, _, err = divulge("diagnose", *given, "--fail-on", "diagnostic[Constraint Validity].score < 0")
    assert code == 1
    assert "found not computed, has no score" in err


def test_names_of_columns_are_no_markup_on_the_terminal(divulge, files):
    names = {"age": "[/b]", "pay": "[red]x\x1b[31m", "job": "a\nb", "day": "^a$"}
    for side in ("real", "synthetic"):
        pl.read_csv(f"{side}.csv").rename(names).write_parquet(f"{side}.parquet")
    code, out, _ = divulge("quality", "real.parquet", "synthetic.parquet")
    assert code == 0
    assert all(text in out for text in ("[/b]", "[red]x\ufffd[31m", "a\ufffdb"))


def test_a_saved_report_goes_through_the_gate(divulge, files):
    given = ("real.csv", "synthetic.csv", "--schema", "one.json", "-q")
    for command, name in (("quality", "quality"), ("diagnose", "diagnostic")):
        for file in ("r.json", "r.parquet"):
            divulge(command, *given, "--json", file)
            code, out, err = divulge("gate", file, "--fail-on", f"{name}.score < 0.1")
            assert (code, err) == (0, "")
            assert f"{name}: score at least 0.1" in out
            code, _, err = divulge("gate", file, "-q", "--fail-on", f"{name}.score < 1.1")
            assert (code, f"not kept: {name}: score at least 1.1: found " in err) == (1, True)
            assert divulge("gate", file, "--fail-on", "cap.high > 0")[0] == 2
    code, _, err = divulge("gate", "r.json", "--fail-on", "diagnostic.score < 1", "--junit", "j.xml")
    assert (code, "--policy and --junit are about an assessment" in err) == (2, True)
    (files / "r.json").write_text((files / "r.json").read_text().replace('"score"', '"scores"'))
    code, _, err = divulge("gate", "r.json", "--fail-on", "diagnostic.score < 1")
    assert (code, "the saved report was changed" in err) == (2, True)


def test_columns_beyond_the_types_of_pandas(divulge, files):
    """Dates before 1678 and after 2262, numbers as categories of polars."""
    day = pl.Series([f"{y}-01-01" for y in ("0001", "2020", "9999")] * 20).str.to_date()
    number = pl.Series([f"{v}.5" for v in range(30)] * 2, dtype=pl.Categorical)
    for side in ("real", "synthetic"):
        pl.DataFrame({"day": day, "number": number}).write_parquet(f"{side}.parquet")
    for command in ("quality", "diagnose"):
        assert divulge(command, "real.parquet", "synthetic.parquet", "-q", "--json", "r.json") == (0, "", "")
        details = json.loads((files / "r.json").read_text())["details"]
        assert "0001" not in json.dumps(details)


BAD = {
    "--fail-on 'quality.high < 1'": r"a rule here is about quality.score. hint: write 'quality.score < 0.9' or 'quality\[",
    "--fail-on 'cap.score < 1'": "a rule here is about quality.score",
    "--fail-on 'quality[Shapes].score < 1'": "no property 'Shapes'; there are 'Column Shapes'.*did you mean",
    "--fail-on excess": "not a rule. hint: write",
    "--fail-on ''": "not a rule",
    "--schema none.json": "none.json: cannot be read: No such file",
    "--schema real.csv": "another suffix. hint",
    "--schema two.json": "it describes 2 tables, and REAL is one file",
    "--tables people=people.csv": "--tables: REAL is no folder",
    "--json real.csv": "--json: this file is an input",
    "--html one.json": "--html: this file is an input",
    "--html .": "--html: this is not a file name",
    "--html no/such/place.html": "--html: cannot write there",
    "--json x --html x": "this is one file",
}


@pytest.mark.parametrize("options", BAD)
def test_bad_options_are_one_sentence(divulge, files, options):
    import shlex

    given = shlex.split(options)
    schema = () if "--schema" in given else ("--schema", "one.json")
    code, out, err = divulge("quality", "real.csv", "synthetic.csv", *schema, *given)
    assert (code, out) == (2, "")
    assert re.search(BAD[options], err.splitlines()[-1]), err


def described(**columns):
    return {"columns": {**COLUMNS, **columns}}


METADATA = {
    "[": "not JSON",
    "3": "must be a JSON object",
    '{"tables": {}}': '"tables" has no table',
    json.dumps({"columns": {}}): "does not describe column 'id' of the real table. hint",
    json.dumps(described(agee={"sdtype": "numerical"})): "^divulge: real table: no column 'agee'.*did you mean 'age'",
    json.dumps(
        {"columns": {k: v for k, v in COLUMNS.items() if k != "pay"}}
    ): "does not describe column 'pay' of the real table",
    json.dumps(described(age={"sdtype": "numericl"})): "unknown sdtype 'numericl'.*did you mean 'numerical'",
    json.dumps({**ONE, "primary_key": "idd"}): "no column 'idd'.*did you mean 'id'",
    json.dumps({"fields": {}, "path": "x"}): "before 1.0",
    json.dumps(described(age={})): "'age' has no 'sdtype'",
}


@pytest.mark.parametrize("text", METADATA, ids=range(len(METADATA)))
def test_metadata_that_do_not_fit_are_one_sentence(divulge, files, text):
    (files / "bad.json").write_text(text)
    code, out, err = divulge("quality", "real.csv", "synthetic.csv", "--metadata", "bad.json")
    assert (code, out) == (2, "")
    assert re.search(METADATA[text], err.splitlines()[-1]), err


RELATIONS = {
    json.dumps({**LINK, "child_table_name": "visit"}): "no table 'visit'.*did you mean 'visits'",
    json.dumps({**LINK, "child_foreign_key": "people_idd"}): "no column 'people_idd'.*did you mean 'people_id'",
    json.dumps({**LINK, "child_foreign_key": ["people_id", "cost"]}): "key columns: 1 in the parent and 2 in the child",
    json.dumps({}): "a relationship lacks a part",
}


@pytest.mark.parametrize("text", RELATIONS, ids=range(len(RELATIONS)))
def test_relations_that_do_not_fit_are_one_sentence(divulge, files, text):
    (files / "bad.json").write_text(json.dumps({**TWO, "relationships": [json.loads(text)]}))
    code, out, err = divulge("diagnose", "real", "synthetic", "--schema", "bad.json")
    assert (code, out) == (2, "")
    assert re.search(RELATIONS[text], err.splitlines()[-1]), err


def test_tables_that_do_not_fit_are_one_sentence(divulge, files):
    for real, synthetic, options, message in (
        ("real.csv", "synthetic", (), "one is a file, the other is not"),
        ("real", "synthetic.csv", (), "one is a file, the other is not"),
        ("none.csv", "synthetic.csv", (), "none.csv: no such file"),
        ("-", "-", (), "only one table can come from standard input"),
        ("real", "synthetic", ("--schema", "two.json", "--tables", "people=people.csv"), "REAL: no table 'visits'"),
        ("real", "synthetic", ("--tables", "people=none.csv"), "real table 'people': none.csv"),
    ):
        code, out, err = divulge("quality", real, synthetic, *options)
        assert (code, out) == (2, "")
        assert message in err.splitlines()[-1], err
    pl.read_csv("synthetic.csv").rename({"pay": "salary"}).write_csv("other.csv")
    code, _, err = divulge("quality", "real.csv", "other.csv", "--schema", "one.json")
    assert (code, "synthetic table: no column 'pay'" in err) == (2, True)
    assert divulge("diagnose", "real.csv", "other.csv", "--schema", "one.json", "--json", "r.json")[0] == 0
    assert scores(files / "r.json")["Data Structure"] == pytest.approx(4 / 6)


@pytest.mark.slow
@pytest.mark.parametrize("command", ["quality", "diagnose"])
def test_strange_tables_have_a_report_or_one_sentence(divulge, files, command):
    """No rows, one row, nothing but missing values, other types, twice a name."""
    header = ",".join(COLUMNS)
    strange = {
        "empty": "",
        "no_rows": header + "\n",
        "one_row": f"{header}\n1,2,x,2020-01-01,1.5\n",
        "missing": f"{header}\n" + "1,,,,\n" * 5,
        "texts": f"{header}\n" + "a,b,c,d,e\n" * 5,
        "twice": "a,a\n1,2\n",
    }
    for name, text in strange.items():
        (files / f"{name}.csv").write_text(text)
        for pair in ((f"{name}.csv", "synthetic.csv"), ("real.csv", f"{name}.csv"), (f"{name}.csv", f"{name}.csv")):
            for schema in ((), ("--schema", "one.json")):
                code, out, err = divulge(command, *pair, *schema, "--html", "r.html")
                assert code in (0, 2), (pair, err)
                assert not out or code == 0
                assert "internal error" not in err
                assert code == 0 or len(err.splitlines()[-1]) < 500
                if name in ("empty", "no_rows", "twice"):
                    assert code == 2


@pytest.mark.slow
def test_many_tables_and_relations_in_a_circle(divulge, files):
    n = 200
    tables = {f"t{i}": {"columns": {"id": {"sdtype": "id"}, "up": {"sdtype": "id"}, "v": {"sdtype": "numerical"}},
                        "primary_key": "id"} for i in range(n)}  # fmt: skip
    links = [
        {"parent_table_name": f"t{i}", "parent_primary_key": "id", "child_table_name": f"t{(i + 1) % 6}",
         "child_foreign_key": "up"} for i in range(6)
    ]  # fmt: skip
    links.append({**links[0], "child_table_name": "t0"})
    (files / "many.json").write_text(json.dumps({"tables": tables, "relationships": links}))
    for side in ("r", "s"):
        (files / side).mkdir()
        for name in tables:
            table = pl.DataFrame({"id": range(9), "up": RNG.integers(0, 9, 9), "v": RNG.normal(size=9)})
            table.write_csv(files / side / f"{name}.csv")
    for command in ("quality", "diagnose"):
        code, out, err = divulge(command, "r", "s", "--schema", "many.json", "--html", "r.html")
        assert (code, "200 tables; 1,800 real rows" in out) == (0, True), err
    text = (files / "r.html").read_text()
    assert len(text) < 1_000_000
    assert text.count("<figure>") < 20
