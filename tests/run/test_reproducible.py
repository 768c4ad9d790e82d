"""With SOURCE_DATE_EPOCH two equal runs write equal bytes."""

import sys
import time

import numpy as np
import polars as pl
import pytest

import divulge
from divulge.cli import main
from divulge.core.errors import SettingError
from divulge.core.result import Result
from divulge.run.making import runner

MOMENT = "2020-09-13T12:26:40+00:00"


def people(n, seed):
    rng = np.random.default_rng(seed)
    return pl.DataFrame({c: rng.integers(0, k, n).astype(str) for c, k in (("a", 6), ("b", 4), ("c", 3))})


REAL, SYNTHETIC, HOLDOUT = (people(150, seed) for seed in range(3))


@pytest.fixture
def quick(monkeypatch):
    """Attacks that take no time, and say another one at each call."""
    calls = []

    def attacked(case, task):
        calls.append(task)
        return (Result(attack=task.attack, seconds=float(len(calls))),)

    monkeypatch.setattr(runner, "_attacked", attacked)


def assess():
    return divulge.assess(REAL, SYNTHETIC, holdout=HOLDOUT, search="off", models=False)


def files(folder):
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_two_runs_write_the_same_bytes(quick, monkeypatch, tmp_path):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1600000000")
    for name in ("one", "two"):
        report = assess()
        report.write(tmp_path / name)
        assert (report.data["started"], report.data["seconds"]) == (MOMENT, 0)
        assert {r["seconds"] for r in report.data["results"]} == {r.seconds for r in report.results} == {0}
        time.sleep(0.01)
    one, two = (files(tmp_path / name) for name in ("one", "two"))
    assert one == two
    assert b'time="0.000"' in one["junit.xml"]


def test_without_it_times_are_told(quick, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "")
    report = assess()
    assert report.data["started"] > "2026"
    assert report.data["seconds"] > 0
    assert all(r["seconds"] > 0 for r in report.data["results"])


@pytest.mark.parametrize("value", ["now", "-1", "1.5", "1e9", " 5", "\u0665", "9" * 12, "9" * 5000])
def test_another_value_is_refused_before_the_run(monkeypatch, value):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", value)
    monkeypatch.setattr(runner, "_attacked", None)
    for run in (assess, lambda: divulge.compare(REAL, {"a": SYNTHETIC, "b": HOLDOUT})):
        with pytest.raises(SettingError, match=r"SOURCE_DATE_EPOCH: not a whole number of seconds.*hint") as raised:
            run()
        assert len(str(raised.value)) < 200


@pytest.mark.slow
@pytest.mark.parametrize("command", ["assess", "compare", "external"])
def test_two_commands_write_the_same_bytes(monkeypatch, tmp_path, command, capsys):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1600000000")
    monkeypatch.chdir(tmp_path)
    for name, table in (("real", REAL), ("synthetic", SYNTHETIC), ("holdout", HOLDOUT), ("other", people(150, 9))):
        table.write_csv(f"{name}.csv")
    more = ["--holdout", "holdout.csv", "--keys", "a,b", "--targets", "c", "--out", "out"]
    arguments = {
        "assess": [
            "assess",
            "real.csv",
            "synthetic.csv",
            *more,
            "--junit",
            "out/more.xml",
            "--positive-control",
            "0.1",
        ],
        "external": ["assess", "real.csv", "synthetic.csv", *more, "--edition", "external", "--no-models"],
        "compare": ["compare", "real.csv", "synthetic.csv", "other.csv", *more],
    }[command]
    found = []
    for _ in range(2):
        monkeypatch.setattr(sys, "argv", ["divulge", *arguments])
        with pytest.raises(SystemExit) as left:
            main()
        assert left.value.code in (0, None)
        found.append((files(tmp_path / "out"), capsys.readouterr().out))
        (tmp_path / "out").rename(tmp_path / f"out{len(found)}")
    assert found[0] == found[1]
    assert len(found[0][0]) >= 4
