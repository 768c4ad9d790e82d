"""A table of bad inputs, each with the message it gets. No message shows a data value, none is a traceback."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from amount import models

import divulge
from divulge import cli
from divulge.core.errors import MOST, ColumnError, DivulgeError, SettingError

SECRET = "s3cr3t"
HALF = f"{SECRET}\ud800"
"""A text with a lone surrogate, which no encoding can write."""
GOOD = pl.DataFrame({"age": [1, 2, 3, 4] * 30, "sex": ["f", "m"] * 60, "ill": [SECRET, "no", "no"] * 40})
PAIR = {"keys": ["age", "sex"], "target": "ill"}


def cap(real=GOOD, synthetic=GOOD, holdout=None, **settings):
    return divulge.cap(real, synthetic, holdout=holdout, **{**PAIR, **settings})


CALLS = [  # a line each
    ("a column that is not there", lambda: cap(keys=["agee"]), "no column 'agee'.*did you mean 'age'"),
    ("an unknown target", lambda: cap(target="income"), "target: no column 'income'"),
    ("the target among the keys", lambda: cap(keys=["age", "ill"]), "'ill' is among the keys"),
    ("a key named twice", lambda: cap(keys=["age", "age"]), "named twice"),
    ("no keys", lambda: cap(keys=[]), "keys: none given"),
    ("a target that is a list", lambda: cap(target=["ill", "sex"]), "target: expected the name of one column"),
    ("an unknown setting", lambda: cap(unseen="drop"), "unseen: not a known setting.*skip, zero, nearest"),
    ("a level of 95", lambda: cap(level=95), "level: 95 is outside"),
    ("a negative seed", lambda: cap(seed=-1), "seed: -1 is negative"),
    ("an unknown unit", lambda: cap(unit="household"), "unit: no column 'household'"),
    ("an empty table", lambda: cap(synthetic=GOOD[:0]), "synthetic: the table has 3 columns and no rows"),
    ("no columns", lambda: cap(real=pl.DataFrame()), "real: the table has no columns"),
    ("no column in common", lambda: cap(synthetic=pl.DataFrame({"x": [1]})), "no column in common"),
    ("a key that one table lacks", lambda: cap(synthetic=GOOD.drop("age")),
     "keys: synthetic has no column 'age', which other tables have.*hint: add it there, or leave it out of keys"),
    ("a dictionary", lambda: cap(real={"age": [1]}), "real: a dict is not a table"),
    ("a path", lambda: cap(real="real.csv"), "real: real.csv: no such file"),
    ("an array", lambda: cap(real=np.zeros((3, 3))), "ndarray is not a table"),
    ("an unknown kind of object", lambda: cap(real=object()), "cannot read a builtins.object"),
    ("two columns of one name", lambda: cap(real=pd.DataFrame([[1, 2]], columns=["age", "age"])), "column names that occur twice: 'age'"),
    ("a threshold of 0", lambda: divulge.tcap(GOOD, GOOD, tau=0, **PAIR), "tau: 0 is outside"),
    ("a threshold above 1", lambda: divulge.disco(GOOD, GOOD, tau=1.5, **PAIR), "tau: 1.5 is outside"),
    ("an order without an order", lambda: divulge.t_closeness(GOOD, GOOD, kind="ordered", **PAIR), "of kind categorical"),
    ("no population", lambda: divulge.delta_presence(GOOD, GOOD, keys=["age"]), "no population"),
    ("nothing to compare", lambda: divulge.copies(GOOD, GOOD, columns=["nope"]), "columns: no column 'nope'"),
    ("a search that does not exist", lambda: divulge.assess(GOOD, GOOD, search="deep"), "one of default, full, off"),
    ("no threads", lambda: divulge.assess(GOOD, GOOD, jobs=0), "jobs: 0 is below 1"),
    ("constant columns", lambda: divulge.assess(pl.DataFrame({"a": [1] * 9}), pl.DataFrame({"a": [1] * 9})), "no column can be attacked"),
    ("keys that are targets", lambda: divulge.assess(GOOD, GOOD, keys=["age"], targets=["age"]), "'age' is among the keys"),
    ("a key of assess named twice", lambda: divulge.assess(GOOD, GOOD, keys=["age", "age"], targets=["ill"]), "keys: a column is named twice"),
    ("an ignored target", lambda: divulge.assess(GOOD, GOOD, targets=["ill"], ignore=["ill"]), "'ill' is also the unit or to be ignored"),
    ("a unit that is a key", lambda: divulge.assess(GOOD, GOOD, keys=["age"], unit="age"), "'age' is also the unit"),
    ("half a character in a value", lambda: cap(real=GOOD.to_pandas().assign(note=pd.Series([HALF, "a"] * 60, dtype=object))), "a text of column 'note' has half a character"),
    ("half a character among mixed values", lambda: cap(real=pd.DataFrame({"age": [1, HALF]}, dtype=object)), "a text of column 'age' has half a character"),
    ("half a character in a name", lambda: cap(real=GOOD.to_pandas().set_axis(pd.Index(["age", "sex", HALF], dtype=object), axis=1)), "the column name .* has half a character"),
    ("half a character in a code", lambda: cap(missing=[HALF]), "missing: a code has half a character"),
    ("codes of a run as one text", lambda: divulge.assess(GOOD, GOOD, missing="-8"), "missing: no list of texts"),
    ("what to reveal as a number", lambda: divulge.assess(GOOD, GOOD, reveal=5), "reveal: no list of texts"),
    ("an acceptable risk that is text", lambda: divulge.assess(GOOD, GOOD, acceptable="a"), "acceptable: a str is no number"),
    ("threads that are text", lambda: divulge.assess(GOOD, GOOD, jobs="a"), "jobs: a str is no number"),
    ("a level that is text", lambda: cap(level="a"), "level: a str is no number"),
    ("a code that is no text", lambda: cap(missing=[-8]), "missing: no list of texts"),
    ("codes as one text", lambda: cap(missing="-8"), "missing: no list of texts"),
    ("an acceptable risk of 5", lambda: divulge.assess(GOOD, GOOD, acceptable=5), "acceptable: 5 is outside"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "says"), [c[1:] for c in CALLS], ids=[c[0] for c in CALLS])
def test_a_wrong_call_says_what_was_found_and_what_to_do(call, says):
    with pytest.raises(DivulgeError, match=f"(?s){says}") as raised:
        call()
    assert SECRET not in str(raised.value).replace(repr(HALF), "")  # a name, not a value
    assert isinstance(raised.value, ValueError | TypeError)
    assert "hint: " in str(raised.value)


def _raised():
    """Yield the source of each error of ours that is raised outside of `stats`, which takes arrays of callers."""
    home = Path(divulge.__file__).parent
    for path in home.rglob("*.py"):
        if path.parent != home / "stats":
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
                    told = ast.unparse(node.exc)
                    if re.match("(Divulge|Setting|Table|Column|Frame)Error[(]", told):
                        yield f"{path.relative_to(home)}:{node.lineno}: {told}"


@pytest.mark.slow
def test_each_error_has_a_hint():
    told = list(_raised())
    assert len(told) > 150
    elsewhere = (
        "_unknown(",
        "_ragged(",
        "{_ACCEPTED}",
        "{hint}",
        "{_HINT}",
        "(no_such(",
        "['why']}",
        ": {error}",
        "str(error)",
        "(_NONE)",
        "(_CHANGED)",
        "(_UNWRITABLE)",
        "(OTHERS_ASKED)",
    )  # these repeat a message that has one
    assert [t for t in told if "hint: " not in t and not any(e in t for e in elsewhere)] == []


def write(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())


GOOD_CSV = "age,sex,ill\n" + "".join(f"{i % 5},{'fm'[i % 2]},{SECRET if i % 3 else 'no'}\n" for i in range(120))
FILES = [
    ("no such file", "real.csv", None, "no such file|not found|does not exist"),
    ("an empty file", "real.csv", "", "empty"),
    ("a header without rows", "real.csv", "age,sex,ill\n", "no rows"),
    ("a row that is too long", "real.csv", GOOD_CSV + "1,f,no,9\n", "line 122"),
    ("a row that is too short", "real.csv", GOOD_CSV + "1,f\n", "line 122"),
    ("two columns of one name", "real.csv", "age,age,ill\n1,2,3\n", "'age'"),
    ("a parquet file that is none", "real.parquet", "PAR1 no", "real.parquet"),
    ("a gzip file that is none", "real.csv.gz", GOOD_CSV, "gz"),
    ("an unknown ending", "real.sav", GOOD_CSV, r"\.csv"),
    (
        "a name in the header beyond what csv reads",
        "real.csv",
        f"age,{'x' * 140_000}\n1,2\n",
        "a column name has more than 131,072 characters",
    ),
    (
        "a field beyond what csv reads",
        "real.csv",
        f'age,ill\n1,{"x" * 140_000}\n2,a"b\n',
        "a field after line 1 has more than 131,072 characters",
    ),
    ("a name longer than a file's", "n" * 300 + ".csv", None, "the path is too long"),
    ("a name with a zero byte", "real\0.csv", None, "no file can have this name"),
    ("a name that is no text", "real\udcff.csv", None, "no such file"),
    ("a picture", "real.csv", b"\x89PNG\r\n\x1a\n\x00\x00\x00", "real.csv|column"),
]


@pytest.mark.parametrize(("name", "content", "says"), [f[1:] for f in FILES], ids=[f[0] for f in FILES])
def test_a_broken_file_is_one_message_and_status_2(tmp_path, monkeypatch, capsys, name, content, says):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "good.csv", GOOD_CSV)
    if content is not None:
        write(tmp_path / name, content)
    monkeypatch.setattr(sys, "argv", ["divulge", "assess", name, "good.csv", "--keys", "age", "--targets", "ill"])
    with pytest.raises(SystemExit) as stopped:
        cli.main()
    err = capsys.readouterr().err
    assert stopped.value.code == 2
    message = [line for line in err.splitlines() if not line.startswith("divulge: reading")]
    assert len(message) == 1
    assert len(message[0]) <= len("divulge: ") + MOST
    assert re.search(says, message[0]), message
    assert SECRET not in err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    "path", ["n" * 300, f"{'n' * 99}/" * 60, "no\0", "no\ud800"], ids=["name", "path", "zero byte", "surrogate"]
)
def test_a_path_that_no_file_can_have_is_one_sentence(path):
    for read in (
        lambda: divulge.read(f"{path}.csv"),
        lambda: divulge.read_schema(f"{path}.toml"),
        lambda: divulge.read_schema(f"{path}.json"),
    ):
        with pytest.raises(DivulgeError, match="hint: ") as raised:
            read()
        assert len(str(raised.value)) <= MOST


# ---------------------------------------------------------------- odd tables that must work, with a note


def assess(real, synthetic=None, holdout=None, **settings):
    synthetic = real if synthetic is None else synthetic
    return divulge.assess(real, synthetic, holdout=holdout, **({"models": models()} | settings))


def failed_checks(report):
    return {c["check"] for c in report.data["preconditions"] if not c["ok"]}


@pytest.mark.slow
def test_infinities_are_told_and_survived():
    frame = GOOD.with_columns(x=pl.Series([np.inf, -np.inf, 1.5, 2.5, 3.0, 4.0] * 20))
    report = assess(frame, holdout=frame)
    assert "infinite values" in failed_checks(report)
    assert not report.failed


@pytest.mark.slow
def test_identical_tables_are_told():
    assert "different tables" in failed_checks(assess(GOOD, GOOD, GOOD))


def test_a_column_that_is_all_missing_is_left_alone():
    frame = GOOD.with_columns(x=pl.lit(None, dtype=pl.Float64))
    report = assess(frame)
    assert next(c for c in report.data["schema"] if c["name"] == "x")["kind"] == "constant"
    assert not report.failed


@pytest.mark.slow
@pytest.mark.parametrize("missing", [["age"], ["age", "sex"]])
def test_a_model_is_trained_where_a_key_is_all_missing(missing):
    frame = GOOD[:60]
    nothing = frame.with_columns(pl.lit(None).cast(frame.schema[name]).alias(name) for name in missing)
    for tables in ((frame, frame, nothing), (frame, nothing, frame))[: 1 if len(missing) == 1 else 2]:
        for attack in (divulge.baseline_cap, divulge.rapid)[: len(missing)]:
            results = attack(*tables[:2], holdout=tables[2], **PAIR)
            rates = [r.real.rate for r in (results if isinstance(results, tuple) else [results]) if r.real]
            assert all(0 <= rate <= 1 for rate in rates)


@pytest.mark.slow
def test_models_of_hardly_repeated_classes_warn_of_nothing():
    frame = pl.DataFrame({"k": range(60), "t": [f"v{i}" for i in range(40)] * 1 + ["w"] * 20})
    divulge.baseline_cap(frame, frame, holdout=frame, keys=["k"], target="t")  # warnings are errors here


@pytest.mark.slow
def test_an_identifier_enters_no_key_set():
    frame = GOOD.with_columns(person_id=pl.Series(range(120)))
    report = assess(frame, frame, frame)
    using = {(r["attack"], r["variant"]) for r in report.data["results"] if "person_id" in (*r["keys"], r["target"])}
    assert using == {("copies", "one column"), ("copies", "linked")}


def test_an_identifier_that_is_named_is_used_with_a_note():
    frame = GOOD.with_columns(person_id=pl.Series(range(120)))
    result = divulge.cap(frame, frame, keys=["person_id"], target="ill")
    assert any("identifier" in n and "named" in n for n in result.notes)


def test_one_row_tables_give_an_answer_without_a_verdict_on_risk():
    one = GOOD[:1]
    result = cap(one, one, one)
    assert result.real.n == 1
    assert result.verdict in ("cannot tell", "none found")


def test_other_dtypes_in_each_table_are_the_same_column():
    text = GOOD.with_columns(pl.col("age").cast(pl.String))
    floats = GOOD.with_columns(pl.col("age").cast(pl.Float64))
    assert cap(GOOD, text, floats).real == cap(GOOD, GOOD, GOOD).real


def test_extra_columns_are_left_out_with_a_note():
    report = assess(GOOD.with_columns(extra=1), GOOD)
    assert "same columns" in failed_checks(report)
    assert any("'extra'" in n for n in report.data["notes"])


def test_mixed_types_in_one_column_are_read_as_text():
    frame = pd.DataFrame({"age": [1, "1", 2.5, None, "x", True] * 20, "ill": ["a", "b"] * 60})
    result = divulge.cap(frame, frame, keys=["age"], target="ill")
    assert result.real.n == 120


def test_all_missing_rows_match_each_other():
    frame = pl.DataFrame({"k": [None, None, "a", "b"], "t": [None, "x", "x", "y"]})
    assert divulge.cap(frame, frame, keys=["k"], target="t").individual.real.tolist() == [0.5, 0.5, 1, 1]


def test_no_data_value_is_in_any_document(tmp_path):
    frame = GOOD.with_columns(note=pl.Series([f"{SECRET}-{i}" for i in range(120)]))
    report = assess(frame, frame, frame, keys=["age", "sex"], targets=["ill"], search="full")
    report.write(tmp_path)
    for path in tmp_path.iterdir():
        assert SECRET.encode() not in path.read_bytes(), path.name
    assert SECRET not in str(report) + repr(report)
    assert SECRET not in str(report.to_frame())


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="needs a file without an end")
@pytest.mark.parametrize(
    "command",
    [["gate", "/dev/zero", "--fail-on", "excess"], ["render", "/dev/zero"], ["policy", "--check", "/dev/zero"]],
)
def test_a_file_without_an_end_is_refused(command, tmp_path):
    found = subprocess.run(
        [sys.executable, "-m", "divulge", *command], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert found.returncode == 2
    assert re.search(r"larger than \d+ MB\. hint: name the file", found.stderr)
    assert "Traceback" not in found.stderr


@pytest.mark.parametrize("given", [{"keys": 5}, {"targets": 5}, {"keys": [None]}, {"subgroups": 5}])
def test_columns_that_are_no_names_are_refused(given):
    table = pl.DataFrame({"city": list("abcd") * 10, "job": list("ab") * 20})
    (role,) = given
    with pytest.raises((SettingError, ColumnError), match=f"^{role}: .* hint: "):
        divulge.assess(table, table, holdout=table, models=False, **given)
    if role != "subgroups":
        with pytest.raises((SettingError, ColumnError), match=f"^{role}: .* hint: "):
            divulge.compare(table, {"a": table, "b": table}, holdout=table, **given)


def test_a_target_that_is_no_column_name_is_refused():
    table = pl.DataFrame({"city": list("abcd") * 10, "job": list("ab") * 20})
    with pytest.raises(SettingError, match=r"^target: .* hint: "):
        divulge.cap(table, table, holdout=table, keys=["city"], target=None)


@pytest.mark.parametrize("k", [1001, 10**6, 2**31, 2**63, 10**30])
def test_no_more_neighbours_are_asked_for_than_there_are_rows(k):
    few = pl.DataFrame({"a": [1.0, 2.0, 3.0], "b": ["x", "y", "y"]})
    with pytest.raises(SettingError, match=r"k: [\d,]+ is above the 3 rows of the reference\. hint: "):
        divulge.nearest(few, few, k=k)
    assert divulge.nearest(few, few, k=1000).indices[0][:4].tolist() == [0, 1, 2, -1]


@pytest.mark.parametrize("name", ["k", "neighbour"])
def test_more_neighbours_than_people_are_all_people(name):
    table = pl.DataFrame({"a": [float(i * i % 17) for i in range(20)], "b": [float(i) for i in range(20)]})
    all_people, more = (divulge.exposure(table[:10], table[5:15], holdout=table[10:], **{name: n}) for n in (20, 2**63))
    assert [r.value for r in more] == [r.value for r in all_people]


@pytest.mark.parametrize("rule", ["any.low > {}x", "any[{}].low > 0", "{}", "any {}", "differs {}", " {} "])
def test_a_rule_has_a_length(rule):
    from divulge.auditing.rules import parse_audit_rule
    from divulge.release.fidelity_rules import fidelity_rule
    from divulge.release.rules import parse_rule, parse_score_rule

    long = rule.format("1" * 100_000)
    for read in (
        lambda: parse_rule(long, ["cap"]), lambda: parse_score_rule(long, "quality", [""]), lambda: parse_audit_rule(long),
    ):  # fmt: skip
        with pytest.raises(SettingError, match="not a rule") as refusal:
            read()
        assert len(str(refusal.value)) < 600
    assert fidelity_rule(long) is None
