"""`divulge audit` and `divulge split --pairs` as a user types them."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from helpers_of_audits import command, people

import divulge
from divulge.cli import cli


def run(*words):
    """Run the command line here, and return its exit status."""
    try:
        return cli.main([str(w) for w in words], standalone_mode=False) or 0
    except SystemExit as end:
        return end.code or 0


@pytest.fixture
def data(tmp_path, monkeypatch):
    """Return the path of a table, in the folder where commands run."""
    monkeypatch.chdir(tmp_path)
    people(400).write_csv("data.csv")
    return "data.csv"


@pytest.mark.slow
def test_an_audit_from_the_command_to_the_gate(data, capsys):
    words = (
        "audit",
        data,
        "--train",
        command("--leak 0.8"),
        "--secrets",
        "ill",
        "--runs",
        3,
        "--jobs",
        2,
        "--everyone",
    )
    assert run(*words, "--dry-run") == 0
    told = capsys.readouterr()
    assert "one training takes" in told.err and "pairs" in told.err and "Report" not in told.out
    assert "the same command with --resume in place of --dry-run" in told.err
    with pytest.raises(divulge.SettingError, match="divulge-audit/trainings holds an audit"):
        run(*words)
    assert run(*words, "--resume", "--fail-on", "swapped_secrets.p < 0.01", "--junit", "junit.xml") == 1
    told = capsys.readouterr()
    assert "excess found" in told.out and "Report: divulge-audit/audit.html" in told.out
    assert "not kept: swapped_secrets: p-value" in told.err
    assert run("gate", "divulge-audit/audit.json", "--fail-on", "excess") == 1
    found = json.loads(Path("divulge-audit/audit.json").read_text())
    assert found["format"] == "divulge-audit/1" and found["trainings"]["done"] == 3
    assert run(*words, "--fresh", "--quiet") == 0


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ((), "DATA: not given"),
        (("data.csv",), "--train: not given"),
        (
            ("data.csv", "--train", "cat {train} {synthetic}", "--ignore", "zip,ill,age"),
            "none suggests itself; there are 'age', 'zip', 'ill'. hint: --secrets income",
        ),
        (("data.csv", "--train", "python train.py {train}"), "no {synthetic}"),
        (("data.csv", "--train", "x", "--design", "nothing"), "no 'nothing'"),
        (("data.csv", "--train", "x", "--fail-on", "excess found"), "not a rule on an audit"),
        (("data.csv", "--train", "x", "--budget", "soon"), "not a time"),
        (("data.csv", "--train", "x", "--from-runs", "y"), "--train is given, too"),
        (("data.csv", "--train", "x", "--resume", "--fresh"), "--fresh is given, too"),
        (("--from-runs", "nowhere"), "no plan.json"),
    ],
)
def test_what_cannot_be_run_is_told_at_once(words, why, data):
    with pytest.raises(divulge.SettingError, match=why):
        run("audit", *words)


@pytest.mark.slow
def test_trainings_that_others_make(data, capsys):
    assert run("split", data, "--pairs", "--secrets", "ill", "--runs", 2, "--out", "out") == 0
    told = capsys.readouterr().out
    assert "training tables: out/train/001.csv to 002.csv" in told and "audit --from-runs out" in told
    trained = [pl.read_csv(f"out/train/00{n}.csv").sort("age", "zip", "ill") for n in (1, 2)]
    real = pl.read_csv(data).sort("age", "zip", "ill")
    assert not trained[0].equals(trained[1]) and not trained[0].equals(real)
    assert trained[0].drop("ill").sort("age", "zip").equals(real.drop("ill").sort("age", "zip"))
    assert trained[0]["ill"].value_counts(sort=True).equals(real["ill"].value_counts(sort=True))
    with pytest.raises(divulge.SettingError, match="holds an audit"):
        run("split", data, "--pairs", "--secrets", "ill", "--out", "out")
    with pytest.raises(divulge.SettingError, match=r"no table 001.csv came back.*under the names"):
        run("audit", "--from-runs", "out")
    for n in (1, 2):
        shutil.copy(f"out/train/00{n}.csv", "out/synthetic")
    (Path("out/synthetic/002.csv")).unlink()
    assert run("audit", "--from-runs", "out", "--out", "part") == 0
    assert "Put what is missing into synthetic/" in " ".join(capsys.readouterr().out.split())
    shutil.copy("out/train/002.csv", "out/synthetic")
    assert run("audit", "--from-runs", "out", "--out", "report", "--fail-on", "swapped_secrets.p < 0.01") == 1
    assert "excess found" in capsys.readouterr().out
    people(399).write_csv("data.csv")
    with pytest.raises(divulge.SettingError, match="another one than the plan"):
        run("audit", "--from-runs", "out")


def test_exchanging_needs_pairs(data):
    with pytest.raises(divulge.SettingError, match="--pairs"):
        run("split", data, "--secrets", "ill")


def test_help_answers_without_heavy_modules():
    code = (
        "import sys; from divulge.cli import cli; cli.main(['audit', '--help'], standalone_mode=False); "
        "sys.exit(any(m in sys.modules for m in ('polars', 'numpy')))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode == 0


def test_the_secret_that_an_audit_chooses_is_that_of_its_report_and_of_its_plan(data):
    path = Path(data)
    found = divulge.audit(path, lambda table: table, runs=1)
    assert found.audit.settings["secrets"] == ("ill",) and found.audit.results[0].target == "ill"
    assert found.audit.outlook[0].startswith("'ill' is the secret, as none was named")
    assert run("split", data, "--pairs", "--out", "away", "--runs", 1) == 0
    assert json.loads(Path("away/plan.json").read_text())["asked"]["secrets"] == ["ill"]
