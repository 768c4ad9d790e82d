"""The command line, run in this process: what it prints, writes and exits with."""

import json
import os
import re
import subprocess
import sys
from datetime import datetime

import click
import polars as pl
import pytest

from divulge.cli import cli
from divulge.cli.root import COMMANDS, OPTIONS


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Three small tables on disk; the working folder is theirs."""
    import numpy as np

    rng = np.random.default_rng(0)
    monkeypatch.chdir(tmp_path)
    for name in ("real", "synthetic", "holdout"):
        age, sex = rng.integers(0, 5, 120), rng.integers(0, 2, 120)
        ill = (rng.random(120) < 0.2 + 0.1 * age).astype(int)
        pl.DataFrame({"age": age, "sex": sex, "ill": ill}).write_csv(f"{name}.csv")
    return tmp_path


KEYED = ("--holdout", "holdout.csv", "--keys", "age,sex", "--targets", "ill", "--no-models", "--no-membership")


def test_assess_writes_the_documents_and_prints_a_summary(divulge, files):
    code, out, _ = divulge("assess", "real.csv", "synthetic.csv", *KEYED)
    assert code == 0
    folder = files / "divulge-report"
    assert sorted(p.name for p in folder.iterdir()) == [
        "assessment.json",
        "junit.xml",
        "records.parquet",
        "report.html",
        "report.md",
    ]
    assert "cap (zero)" in out
    assert "Not tested: membership" in out
    assert "report.html" in out


@pytest.mark.slow
def test_assessment_json_names_its_format_and_the_command(divulge, files):
    divulge("assess", "real.csv", "synthetic.csv", *KEYED, "-q")
    data = json.loads((files / "divulge-report/assessment.json").read_text())
    assert data["format"] == "divulge-assessment/1"
    assert data["command"].startswith("divulge assess real.csv synthetic.csv --holdout holdout.csv")
    assert data["tables"]["real"]["rows"] == 120
    assert len(data["tables"]["real"]["sha256"]) == 64


@pytest.mark.slow
def test_quiet_prints_nothing(divulge, files):
    assert divulge("assess", "real.csv", "synthetic.csv", *KEYED, "-q") == (0, "", "")


@pytest.mark.slow
def test_progress_goes_to_standard_error(divulge, files):
    _, out, err = divulge("assess", "real.csv", "synthetic.csv", *KEYED)
    assert "divulge: checking preconditions" in err
    assert "checking preconditions" not in out


@pytest.mark.slow
def test_a_broken_rule_exits_with_1(divulge, files):
    code, _, err = divulge("assess", "real.csv", "real.csv", *KEYED, "--fail-on", "copies.high > -1", "-q")
    assert code == 1
    assert "rule broken: copies: simultaneous upper limit of risk at most -1" in err


@pytest.mark.slow
def test_a_kept_rule_exits_with_0(divulge, files):
    assert divulge("assess", "real.csv", "synthetic.csv", *KEYED, "--fail-on", "cap.high > 1", "-q")[0] == 0


def test_a_rule_that_cannot_be_read_stops_before_the_work(divulge, files):
    code, _, err = divulge("assess", "real.csv", "synthetic.csv", "--fail-on", "copies > 1")
    assert code == 2
    assert "not a rule" in err


@pytest.mark.slow
def test_a_failed_attack_exits_with_3_and_the_others_are_reported(divulge, files, monkeypatch):
    from divulge.attacks.catalogue import CATALOGUE

    def fail(*_, **__):
        raise ValueError("secret value 42")

    import dataclasses

    monkeypatch.setitem(CATALOGUE, "weap", dataclasses.replace(CATALOGUE["weap"], run=fail))
    code, out, err = divulge("assess", "real.csv", "synthetic.csv", *KEYED)
    assert code == 3
    data = json.loads((files / "divulge-report/assessment.json").read_text())
    assert [f["attack"] for f in data["failed"]] == ["weap"]
    assert len(data["results"]) > 10
    assert "secret value" not in out + err + json.dumps(data)


def test_an_internal_error_shows_no_traceback_and_no_value(divulge, files, monkeypatch):
    def fail(*_, **__):
        raise KeyError("secret value 42")

    monkeypatch.setattr("divulge.run.assess.check_all", fail)
    code, out, err = divulge("assess", "real.csv", "synthetic.csv", "-q")
    assert code == 3
    assert "internal error (KeyError)" in err
    assert "Traceback" not in err
    assert "secret" not in out + err


@pytest.mark.parametrize("error", [pl.exceptions.PanicException, type("Odd", (BaseException,), {})])
def test_an_error_that_is_no_exception_shows_its_type_alone(error, divulge, files, monkeypatch):
    def fail(*_, **__):
        raise error("secret value 42")

    monkeypatch.setattr("divulge.tables.readers.read", fail)
    code, out, err = divulge("schema", "real.csv")
    assert code == 3
    assert f"internal error ({error.__name__})" in err and "Traceback" not in err and "secret" not in out + err


PANIC = """
import os, sys
import polars as pl
from divulge.tables import readers

def read(*_, **__):
    os.write(2, b"thread panicked at secret value 42")
    raise pl.exceptions.PanicException("secret value 42")

readers.read = read
sys.argv = ["divulge", "schema", "real.csv"]
from divulge.cli import main
main()
"""


@pytest.mark.slow
@pytest.mark.parametrize("debug", [False, True])
def test_what_a_library_writes_to_standard_error_is_not_shown(debug, files):
    environment = {**os.environ, "DIVULGE_DEBUG": "1" if debug else ""}
    ended = subprocess.run([sys.executable, "-c", PANIC], capture_output=True, text=True, cwd=files, env=environment)
    assert ("secret value 42" in ended.stderr) == debug
    assert debug or (ended.returncode == 3 and ended.stderr.startswith("divulge: internal error (PanicException)"))


@pytest.mark.slow
def test_schema_prints_toml_that_can_be_passed_back(divulge, files):
    code, out, _ = divulge("schema", "real.csv")
    assert code == 0
    (files / "schema.toml").write_text(out.replace("roles = []", 'roles = ["key"]', 1))
    code, _, _ = divulge("assess", "real.csv", "synthetic.csv", "--schema", "schema.toml", "-q", "--no-models")
    assert code == 0
    data = json.loads((files / "divulge-report/assessment.json").read_text())
    assert data["schema"][0]["roles"] == ["key"]
    assert {tuple(r["keys"]) for r in data["results"] if r["attack"] == "cap"} == {("age",)}


@pytest.mark.slow
def test_without_keys_and_targets_key_sets_are_searched(divulge, files):
    code, _, _ = divulge(
        "assess", "real.csv", "synthetic.csv", "--holdout", "holdout.csv", "-q", "--search", "full", "--no-models"
    )
    assert code == 0
    data = json.loads((files / "divulge-report/assessment.json").read_text())
    assert {r["target"] for r in data["results"] if r["attack"] == "cap"} == {"age", "sex", "ill"}
    assert data["key_sets"]


def test_no_holdout_says_so_and_has_no_risk(divulge, files):
    code, out, _ = divulge(
        "assess", "real.csv", "synthetic.csv", "--keys", "age,sex", "--targets", "ill", "--no-models"
    )
    assert code == 0
    assert "inference and disclosure are not separated" in " ".join(out.split())
    data = json.loads((files / "divulge-report/assessment.json").read_text())
    assert all(r["risk"] is None for r in data["results"])
    assert "leak" not in out


@pytest.mark.slow
def test_standard_input_is_read(files):
    with open("real.csv") as real:
        run = subprocess.run(
            [sys.executable, "-m", "divulge", "assess", "-", "synthetic.csv", "--keys", "age", "--targets", "ill", "-q"],
            stdin=real, capture_output=True, text=True, check=False,
        )  # fmt: skip
    assert (run.returncode, run.stderr) == (0, "")


def test_standard_input_can_be_one_table_only(divulge, files):
    code, _, err = divulge("assess", "-", "-")
    assert code == 2
    assert "standard input" in err


@pytest.mark.parametrize("option", ["--keys", "--targets", "--ignore", "--missing"])
def test_an_option_that_names_nothing_is_refused(divulge, files, option):
    code, _, err = divulge("assess", "real.csv", "synthetic.csv", option, "")
    assert code == 2
    assert "the list of names is empty" in err


def test_an_empty_folder_name_is_refused(divulge, files):
    code, _, err = divulge("assess", "real.csv", "synthetic.csv", "--out", "")
    assert code == 2
    assert "--out" in err


def test_a_name_with_a_line_break_is_a_name(divulge, files):
    code, _, err = divulge("assess", "real.csv", "synthetic.csv", "--targets", "new\nline")
    assert code == 2
    assert "no column" in err


@pytest.mark.slow
def test_quiet_still_tells_which_attack_failed(divulge, files, monkeypatch):
    import dataclasses

    from divulge.attacks.catalogue import CATALOGUE

    def fail(*_, **__):
        raise ValueError

    monkeypatch.setitem(CATALOGUE, "weap", dataclasses.replace(CATALOGUE["weap"], run=fail))
    code, out, err = divulge("assess", "real.csv", "synthetic.csv", *KEYED, "-q")
    assert (code, out) == (3, "")
    assert "weap failed" in err


def test_without_a_command_the_whole_help_is_shown(divulge):
    code, out, err = divulge()
    assert (code, err) == (0, "")
    assert out == divulge("--help")[1]
    assert "\n  divulge demo " in out
    assert "\\b" not in out


def test_the_help_lists_each_command_once_under_five_headings(divulge):
    assert [*COMMANDS] == ["Assess", "Compare and audit", "Quality and fidelity", "Release", "Tables and words"]
    assert sorted(name for names in COMMANDS.values() for name in names) == sorted(cli.commands)
    out = divulge("--help")[1]
    assert all(f"\n{heading}:\n" in out for heading in COMMANDS)
    assert all(out.count(f"\n  {name} ") == 1 for name in cli.commands)


@pytest.mark.parametrize("command", sorted(cli.commands))
def test_a_help_shows_each_option_once(divulge, command):
    out = divulge(command, "--help")[1]
    options = [p for p in cli.commands[command].params if isinstance(p, click.Option)]
    wanted = [next(o for o in p.opts if o.startswith("--")) for p in options]
    assert sorted(re.findall(r"^  (?:-\w, )?(--[\w-]+)", out[out.index(":\n  -") :], re.M)) == sorted(
        [*wanted, "--help"]
    )


def test_the_options_of_assess_stand_under_headings_with_examples(divulge):
    out = divulge("assess", "--help")[1]
    assert re.findall(r"^(\w[\w ]+):$", out, re.M) == [*OPTIONS]
    assert out.count("\n  divulge assess ") == 4


def test_a_third_table_is_the_holdout(divulge, files):
    options = (*KEYED[2:], "--no-fidelity", "-q")
    assert divulge("assess", "real.csv", "synthetic.csv", "holdout.csv", *options) == (0, "", "")
    tables = json.loads((files / "divulge-report" / "assessment.json").read_bytes())["tables"]
    assert tables["holdout"]["rows"] == 120
    named = divulge("plan", "real.csv", "synthetic.csv", "--holdout", "holdout.csv")
    assert divulge("plan", "real.csv", "synthetic.csv", "holdout.csv") == named


def test_a_log_has_times_and_is_json_where_asked(divulge, files):
    run = ("assess", "real.csv", "synthetic.csv", *KEYED, "--no-fidelity", "-v")
    lines = [json.loads(line) for line in divulge(*run, "--log", "json")[2].splitlines()]
    assert {"time", "level", "message"} <= set(lines[0])
    assert all(datetime.fromisoformat(line["time"]).tzinfo for line in lines)
    assert any(line.get("attack") == "cap" and line["tests"] == 3 for line in lines)
    code, _, err = divulge("assess", "real.csv", "nosuch.csv", "--log", "json")
    assert (code, json.loads(err)["level"]) == (2, "ERROR")
    assert re.match(r"\d{4}-\d\d-\d\dT[\d:]{8}\+00:00 ERROR ", divulge("assess", "a", "b", "--log", "text")[2])
    assert divulge("assess", "real.csv", "nosuch.csv")[2].startswith("divulge: ")  # the next command has none


def test_a_resumed_run_says_what_it_takes_over_and_a_quiet_one_what_changed(divulge, files, monkeypatch):
    run = ("assess", "real.csv", "synthetic.csv", *KEYED, "--no-fidelity")
    monkeypatch.setattr("divulge.run.making.checkpoints.discard", lambda folder: None)
    assert divulge(*run, "--budget", "0", "-q")[0] == 0
    assert re.search(r"divulge: 0 of (\d+) tests taken over, \1 to go\n", divulge(*run, "--resume")[2])
    assert re.search(r"divulge: (\d+) of \1 tests taken over, 0 to go\n", divulge(*run, "--resume")[2])
    before = ("--baseline", "divulge-report/assessment.json", "--out", "next", "-q")
    assert re.fullmatch(r"divulge: change: [^\n]*\n", divulge(*run, *before)[2])


def test_the_page_can_be_printed_and_opened_at_once(divulge, files, monkeypatch):
    run = ("assess", "real.csv", "synthetic.csv", *KEYED, "--no-fidelity", "-q")
    opened = []
    monkeypatch.setattr("divulge.report.documents.pdf.printer", lambda: "/usr/bin/true")
    monkeypatch.setattr("divulge.report.documents.pdf._by_browser", lambda by, page: b"%PDF" + page.encode())
    monkeypatch.setattr("click.launch", lambda url: opened.append(url) or 1)
    code, _, err = divulge(*run, "--pdf", "page.pdf", "--open")
    assert code == 0
    assert (files / "page.pdf").read_bytes().startswith(b"%PDF<!")
    assert opened == ["divulge-report/report.html"]
    assert err == f"divulge: --open: no browser could be started. hint: open {opened[0]} yourself.\n"


def test_a_page_that_nothing_can_print_is_told_before_the_run(divulge, files, monkeypatch):
    monkeypatch.setattr("divulge.report.documents.pdf.printer", lambda: None)
    monkeypatch.setattr("divulge.report.documents.pdf.find_spec", lambda name: None)
    code, _, err = divulge("assess", "real.csv", "synthetic.csv", "--pdf", "page.pdf")
    assert code == 2 and err.startswith("divulge: --pdf: neither Chromium")
    assert not (files / "divulge-report").exists()


def test_attacks_lists_the_catalogue(divulge):
    from divulge.attacks.catalogue import CATALOGUE

    code, out, _ = divulge("attacks")
    assert code == 0
    assert all(f"{name}  [" in out for name in CATALOGUE)


def test_an_unknown_option_is_one_message_and_status_2(divulge):
    code, _, err = divulge("assess", "--colour")
    assert code == 2
    assert "No such option" in err
    assert "Traceback" not in err


def test_help_loads_nothing_heavy():
    code = (
        "import sys, divulge.cli; sys.argv = ['divulge', '--help']\ntry: divulge.cli.main()\nexcept SystemExit: pass\n"
    )
    code += "print([m for m in ('numpy', 'polars', 'scipy', 'sklearn', 'rich', 'narwhals') if m in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip().endswith("[]")


def test_importing_the_package_loads_nothing_heavy():
    code = "import sys, divulge; print([m for m in ('numpy', 'polars', 'scipy') if m in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


@pytest.mark.slow
def test_the_demo_needs_no_file(divulge, tmp_path):
    code, out, _ = divulge("demo", "--out", tmp_path / "report")
    assert code == 0
    assert (tmp_path / "report" / "report.html").stat().st_size > 10_000
    assert "vote" in out


@pytest.mark.slow
def test_same_seed_same_bytes_for_any_number_of_threads(divulge, files):
    def content(jobs):
        divulge("assess", "real.csv", "synthetic.csv", "--holdout", "holdout.csv", "-q", "--jobs", jobs)
        data = json.loads((files / "divulge-report/assessment.json").read_text())
        for part in (data, *data["results"], *data["fidelity"]):
            part.pop("seconds")
        del data["started"], data["command"], data["settings"]["jobs"]
        return json.dumps(data)

    assert content(1) == content(2)


@pytest.mark.slow
def test_hostile_column_names_cannot_steer_the_terminal(divulge, files):
    frame = pl.read_csv("real.csv").rename({"sex": "\x1b[31mred\x1b]0;title\x07"})
    for name in ("a", "b", "c"):
        frame.write_csv(f"{name}.csv")
    _, out, err = divulge("assess", "a.csv", "b.csv", "--holdout", "c.csv", "--targets", "ill")
    assert "\x1b" not in out + err


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("real.csv", "is an input"),
        ("link.csv", "is an input"),
        ("divulge-report/report.html", "writes a document"),
        ("", "this is not a file name"),
        (".", "this is not a file name"),
        ("real.csv/x.xml", "cannot write there"),
    ],
)
def test_junit_is_never_written_over_an_input_or_a_document(divulge, files, target, words):
    (files / "link.csv").symlink_to(files / "real.csv")
    before = (files / "real.csv").read_bytes()
    code, _, err = divulge("assess", "real.csv", "synthetic.csv", *KEYED, "--no-models", "--junit", target)
    assert code == 2
    assert words in err
    assert "attacking" not in err
    assert (files / "real.csv").read_bytes() == before


@pytest.mark.slow
def test_signs_that_were_not_looked_for_are_said_so(divulge, files):
    code, out, _ = divulge("assess", "real.csv", "synthetic.csv", "--holdout", "holdout.csv", "--search", "off",
                           "--no-models")  # fmt: skip
    assert code == 0
    records = json.loads((files / "divulge-report/assessment.json").read_text())["records"]
    assert records["replicated_unique"] is None
    assert records["disclosed"] is None
    assert records["copied"] is not None
    for text in (" ".join(out.split()), (files / "divulge-report/report.md").read_text()):
        assert "Not looked for: records alone on a tested key set" in text


@pytest.mark.slow
def test_a_baseline_tells_what_changed_and_a_policy_what_is_kept(divulge, files):
    quick = (*KEYED, "--no-models", "-q")
    assert divulge("assess", "real.csv", "synthetic.csv", *quick, "--out", "first")[0] == 0
    rule = ("--fail-on", "copies.high > -1")
    code, _, err = divulge("assess", "real.csv", "real.csv", *quick, *rule, "--baseline", "first/assessment.json")
    assert code == 1
    assert "rule broken" in err
    data = json.loads((files / "divulge-report/assessment.json").read_text())
    # so coarse a table does not show a full copy: what is asked here is that the two runs were compared
    assert data["change"]["comparisons"]
    assert data["change"]["same_people"]
    assert not data["change"]["same_synthetic"]
    assert not data["policy"]["kept"]
    page = (files / "divulge-report/report.html").read_text()
    assert "Change since the previous run" in page
    assert "What was not tested counts as not kept" in page


@pytest.mark.slow
def test_the_external_edition_has_a_folder_of_its_own(divulge, files):
    quick = (*KEYED, "--no-models", "-q")
    assert divulge("assess", "real.csv", "synthetic.csv", *quick)[0] == 0
    code, _, _ = divulge(
        "assess", "real.csv", "synthetic.csv", *quick, "--edition", "external", "--out", "divulge-report"
    )
    assert code == 2
    assert divulge("assess", "real.csv", "synthetic.csv", *quick, "--edition", "external")[0] == 0
    assert not (files / "divulge-report-external/records.parquet").exists()
    assert json.loads((files / "divulge-report-external/assessment.json").read_text())["edition"] == "external"


@pytest.mark.slow
def test_verbose_tells_each_attack(divulge, files):
    _, _, err = divulge("assess", "real.csv", "synthetic.csv", *KEYED, "--no-models", "-q", "-v")
    assert "divulge: copies: 1 test" in err


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(), OSError(12, "Cannot allocate memory"), RuntimeError("can't start new thread"),
        ImportError("/a.so: failed to map segment from shared object"), pl.exceptions.PanicException("memory allocation of 9 bytes failed"),
    ],
)  # fmt: skip
def test_errors_that_are_of_memory_are_told_so(error, divulge, files, monkeypatch):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr("divulge.tables.readers.read", fail)
    code, _, err = divulge("schema", "real.csv")
    assert code == 2 and err.startswith("divulge: there was not enough memory. hint: ")


@pytest.mark.parametrize(("free", "code"), [(1 << 20, 2), (1 << 40, 3)])
def test_an_error_that_says_nothing_is_of_memory_where_hardly_any_is_left(free, code, divulge, files, monkeypatch):
    from divulge.core import memory

    def fail(*_, **__):
        raise SystemError("error return without exception set")

    monkeypatch.setattr("divulge.tables.readers.read", fail)
    monkeypatch.setattr(memory, "room_left", lambda: memory.Room(free, 0, "a test says so"))
    assert divulge("schema", "real.csv")[0] == code


def test_a_library_that_cannot_be_loaded_is_not_called_missing(divulge, files, monkeypatch):
    import builtins

    usual = builtins.__import__

    def load(name, *more, **rest):
        if name == "duckdb":
            raise ImportError("duckdb.so: failed to map segment from shared object")
        return usual(name, *more, **rest)

    monkeypatch.setattr(builtins, "__import__", load)
    code, _, err = divulge("schema", "base.duckdb::people")
    assert code == 2 and "not enough memory" in err
