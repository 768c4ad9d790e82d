"""Documents made again from assessment.json: the same bytes, older files, broken files, the command."""

import copy
import json
import sys

import numpy as np
import polars as pl
import pytest

import divulge
from divulge import cli
from divulge.core.errors import DivulgeError, SettingError, TableError
from divulge.report.content import LATER
from divulge.report.report import Report, other_edition

DOCUMENTS = ("assessment.json", "report.html", "report.md", "junit.xml")


@pytest.fixture(scope="module")
def report():
    rng = np.random.default_rng(4)
    tables = [
        pl.DataFrame({c: rng.integers(0, k, 100) for c, k in (("age", 30), ("sex", 2), ("town", 9), ("ill", 3))})
        for _ in range(3)
    ]
    return divulge.assess(
        tables[0], tables[1], holdout=tables[2], keys=["age", "town"], targets=["ill"], subgroups=["sex"], models=False,
        membership=False,
    )  # fmt: skip


@pytest.fixture
def folder(report, tmp_path):
    return report.write(tmp_path / "run")


@pytest.fixture
def command(monkeypatch, capsys):
    """Run the command line and return exit status, standard output and standard error."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["divulge", *map(str, arguments)])
        with pytest.raises(SystemExit) as stopped:
            cli.main()
        out = capsys.readouterr()
        return stopped.value.code or 0, out.out, out.err

    return run


def contents(folder):
    return {p.name: p.read_bytes() for p in sorted(folder.iterdir()) if p.is_file()}


# ---------------------------------------------------------------- reading


def test_a_report_read_again_makes_the_same_documents(report, folder, tmp_path):
    again = Report.from_json(folder / "assessment.json")
    assert again.records().equals(report.records())
    assert contents(again.write(tmp_path / "again")) == contents(folder)
    assert (str(again), repr(again)) == (str(report), repr(report))
    assert again.to_frame().equals(report.to_frame())
    assert again._repr_html_() == report._repr_html_()


def test_from_dict_takes_a_copy(report):
    data = copy.deepcopy(report.data)
    again = Report.from_dict(data, report.record_frame)
    data["results"].clear()
    assert again.data == report.data
    assert again.to_html() == report.to_html()


def test_without_the_records_the_page_names_nobody(report, folder):
    (folder / "records.parquet").unlink()
    again = Report.from_json(folder / "assessment.json")
    assert again.record_frame is None
    assert again.to_json() == report.to_json()
    assert again.to_html() != report.to_html()


@pytest.mark.slow
def test_a_file_of_an_earlier_version_still_renders(report, tmp_path):
    old = copy.deepcopy(report.data)
    for field in LATER:
        if field != "versions":
            del old[field]
    for r in old["results"]:
        for field in ("leak_free_low", "leak_free_high"):
            (r["risk"] or {}).pop(field, None)
    (tmp_path / "assessment.json").write_text(json.dumps(old))
    again = Report.from_json(tmp_path / "assessment.json")
    assert (again.data["edition"], again.data["policy"]) == ("custodian", None)
    for one in (again, again.external()):
        assert all((one.to_html(), one.to_markdown(), one.to_junit(), repr(one)))


def broken(data, how):
    data = copy.deepcopy(data)
    if how == "another version":
        data["format"] = "divulge-assessment/2"
    elif how == "another format":
        data["format"] = "a table of Ann Smith"
    elif how == "no results":
        del data["results"]
    elif how == "a text for a number":
        data["results"][0]["real"]["n"] = "Ann Smith"
    elif how == "an unknown verdict":
        data["verdict"]["verdict"] = "Ann Smith"
    elif how == "a list":
        data = [data]
    return json.dumps(data)


@pytest.mark.parametrize(
    "how",
    ["another version", "another format", "no results", "a text for a number", "an unknown verdict", "a list"],
)
def test_a_broken_assessment_is_refused_without_its_values(report, tmp_path, how):
    path = tmp_path / "assessment.json"
    path.write_text(broken(report.data, how))
    with pytest.raises(SettingError, match="hint: ") as error:
        Report.from_json(path)
    assert "Ann" not in str(error.value)


@pytest.mark.parametrize(
    "text", [b"", b"{", b"\xff\xfe\x00", b"[" * 100_000, b'{"format": NaN}', b'"divulge-assessment/1"', b"null"]
)
def test_what_is_no_json_of_ours_is_refused(text, tmp_path):
    path = tmp_path / "assessment.json"
    path.write_bytes(text)
    with pytest.raises(DivulgeError, match="hint: "):
        Report.from_json(path)


def test_a_missing_file_is_told(tmp_path):
    with pytest.raises(SettingError, match="cannot be read"):
        Report.from_json(tmp_path / "assessment.json")


def test_records_of_another_run_are_refused(folder):
    pl.DataFrame({"row": [1, 2]}).write_parquet(folder / "records.parquet")
    with pytest.raises(TableError, match="of another run"):
        Report.from_json(folder / "assessment.json")
    (folder / "records.parquet").write_bytes(b"no parquet")
    with pytest.raises(TableError, match="cannot be read"):
        Report.from_json(folder / "assessment.json")


@pytest.mark.first(2)
@pytest.mark.parametrize(
    ("column", "values"), [("highest_cap", "x"), ("row", "x"), ("copied", 2), ("reasons", 1), ("more", [1])]
)
def test_a_column_of_records_of_another_type_is_refused(folder, column, values):
    records = pl.read_parquet(folder / "records.parquet")
    kept = records.with_columns(pl.Series(column, [values] * len(records)))
    kept.write_parquet(folder / "records.parquet")
    with pytest.raises(TableError, match=f"records.parquet: damaged at '{column}'.* hint: "):
        Report.from_json(folder / "assessment.json")
    records.write_parquet(folder / "records.parquet")
    assert Report.from_json(folder / "assessment.json").records().equals(records)


# ---------------------------------------------------------------- the command


def test_a_folder_whose_name_is_no_text_is_written_and_read(folder, tmp_path, command):
    out = tmp_path / "bad\udcff"
    try:
        out.mkdir()
    except (OSError, UnicodeError):
        pytest.skip("this file system takes text only")
    for name in ("assessment.json", "records.parquet"):
        (out / name).write_bytes((folder / name).read_bytes())
    code, told, err = command("render", out / "assessment.json", "--out", tmp_path / "again\udcfe")
    assert (code, err) == (0, "")
    assert "again\\udcfe" in told


def test_render_makes_the_custodians_documents_again(folder, tmp_path, command):
    before = contents(folder)
    code, out, err = command("render", folder / "assessment.json", "--out", tmp_path / "new")
    assert (code, err) == (0, "")
    assert out.split() == [str(tmp_path / "new" / d) for d in ("report.html", "report.md", *DOCUMENTS[::3])]
    assert contents(tmp_path / "new") == {d: before[d] for d in DOCUMENTS}


def test_render_leaves_what_it_read_as_it_was(folder, command):
    before = contents(folder)
    text = (folder / "assessment.json").read_text().replace("\n", "\r\n")
    (folder / "assessment.json").write_bytes(text.encode())
    (folder / "report.html").unlink()
    assert command("render", folder / "assessment.json")[0] == 0
    after = contents(folder)
    assert after["assessment.json"] == text.encode()
    assert {k: after[k] for k in before if k != "assessment.json"} == {
        k: before[k] for k in before if k != "assessment.json"
    }


def test_render_makes_an_external_edition(report, folder, command):
    before = contents(folder)
    code, out, _ = command("render", folder / "assessment.json", "--edition", "external", "--format", "md,json")
    assert code == 0
    assert contents(folder) == before
    outside = report.external()
    written = contents(folder / "external")
    assert written == {"assessment.json": outside.to_json().encode(), "report.md": outside.to_markdown().encode()}
    assert len(out.split()) == 2
    named = command("render", folder / "assessment.json", "--edition", "external", "--reveal", "columns")
    assert named[0] == 0
    assert "town" in (folder / "external" / "report.md").read_text()


def test_values_that_a_report_holds_may_be_asked_for_again(report, folder, tmp_path, command):
    kept = json.loads((folder / "assessment.json").read_text()) | {"revealed": ["values"]}
    (folder / "assessment.json").write_text(json.dumps(kept))
    asked = command("render", folder / "assessment.json", "--reveal", "values", "--out", tmp_path / "a")
    silent = command("render", folder / "assessment.json", "--out", tmp_path / "b")
    assert (asked[0], silent[0]) == (0, 0) and contents(tmp_path / "a") == contents(tmp_path / "b")
    with pytest.raises(SettingError, match="no external edition shows them"):
        report.external(["values"])


def test_an_external_file_renders_as_what_it_is(folder, tmp_path, command):
    command("render", folder / "assessment.json", "--edition", "external", "--out", tmp_path / "one")
    assert command("render", tmp_path / "one/assessment.json", "--out", tmp_path / "two")[0] == 0
    assert contents(tmp_path / "two") == contents(tmp_path / "one")


@pytest.mark.first(2)
@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("one/assessment.json", "--edition", "custodian"), "lacks what"),
        (("one/assessment.json", "--reveal", "columns"), "does not hold columns"),
        (("run/assessment.json", "--reveal", "columns"), "add --edition external"),
        (("run/assessment.json", "--reveal", "values"), "hint: run it again with --reveal values"),
        (("run/assessment.json", "--edition", "external", "--reveal", "values"), "hint: run it again with --reveal"),
        (("run/assessment.json", "--edition", "external", "--out", "run"), "name another folder"),
        (("run/assessment.json", "--format", "pdf"), "any of html, md, json, junit"),
        (("run/report.md",), "no JSON"),
        (("nowhere.json",), "cannot be read"),
        (("run/assessment.json", "--out", "run/report.md"), "cannot write there"),
    ],
)
def test_unusable_input_exits_with_2(options, told, report, folder, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    report.external().write("one")
    before = contents(folder)
    code, out, err = command("render", *options)
    assert code == 2
    assert out == ""
    assert told in err
    assert "hint: " in err
    assert contents(folder) == before


@pytest.mark.slow
def test_editions_do_not_go_into_one_folder(report, folder, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    report.external().write("one")
    for options in (
        ("run/assessment.json", "--edition", "external", "--format", "html", "--out", "two"),
        ("run/assessment.json", "--format", "md", "--out", "one"),
    ):
        Report.from_json(folder / "assessment.json").write("two")
        (tmp_path / "two/records.parquet").unlink()
        before = contents(tmp_path / "one"), contents(tmp_path / "two")
        code, out, err = command("render", *options)
        assert (code, out) == (2, "")
        assert "--out: the folder holds the assessment.json of a" in err
        assert (contents(tmp_path / "one"), contents(tmp_path / "two")) == before
    with pytest.raises(SettingError, match="custodian's report"):
        report.external().write("two", ["report.html"])
    with pytest.raises(SettingError, match="external edition"):
        report.write("one", ["report.html"])


def test_what_a_folder_holds_of_the_other_edition_is_told(report, tmp_path):
    assert other_edition(tmp_path / "none", "external") == ""
    for content in (b"", b"{", b"[]", b"{}", b"[" * 100_000, b"\xff"):
        (tmp_path / "assessment.json").write_bytes(content)
        assert (other_edition(tmp_path, "external"), other_edition(tmp_path, "custodian")) == ("", "")
    old = {k: v for k, v in report.data.items() if k != "edition"}
    (tmp_path / "assessment.json").write_text(json.dumps(old))
    assert other_edition(tmp_path, "external") == "the assessment.json of a custodian's report"
    assert other_edition(tmp_path, "custodian") == ""
    report.external().write(tmp_path / "out")
    assert other_edition(tmp_path / "out", "custodian") == "the assessment.json of an external edition"
    assert other_edition(tmp_path / "out", "external") == ""
    (tmp_path / "out/records.parquet").write_bytes(b"")
    assert other_edition(tmp_path / "out", "external") == "records.parquet of a custodian's report"
