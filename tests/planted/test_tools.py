"""Workers that stay open, their limits, and runs that are kept."""

import json
import os
import sys
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from planted import environments, worker
from planted.runs import Bench, Runs, alarm, chosen_worlds, is_slow
from planted.tool import Tool
from planted.worlds import WORLDS, make

MADE_UP = Path(__file__).parent / "made_up_tool.py"


@pytest.fixture
def tool():
    command = [sys.executable, "-P", str(environments.HERE / "worker.py"), str(MADE_UP)]
    tool = Tool(command, dict(os.environ), seconds=20, memory=2000)
    yield tool
    tool.close()


@pytest.fixture
def tables(base_tables):
    return make(WORLDS["verbatim"], base_tables, 0.1, 0)


def test_a_worker_answers_many_worlds_in_one_process(tool, tables):
    said = [tool.ask(tables, seed) for seed in (0, 1)]
    assert [s["measures"]["copies"]["score"] for s in said] == [0.1, 0.1]
    assert [s["id"] for s in said] == [0, 1]
    assert said[0]["measures"]["copies"]["people"] == list(tables.planted)
    assert tool.versions["pytest"] == pytest.__version__
    assert tool.versions["no-such-package"] == "not installed"
    assert (Path(tool.folder.name) / "left behind").exists() and not Path("left behind").exists()
    assert said[0]["cpu"] >= 0 and said[0]["memory"] > 10


def test_the_examples_of_a_tools_documentation_are_tried(tool, tmp_path):
    (tmp_path / "made_up_documentation.py").write_text(">>> 1 + 1\n2\n\n>>> 1 + 1\n3\n".join(['"""\n', '"""\n']))
    tool.variables["PYTHONPATH"] = str(tmp_path)
    said = tool.documented()
    assert (said["right"], said["examples"]) == (1, 2)
    runs = Runs(tmp_path)
    runs.keep_documented("made up", said)
    assert Runs(tmp_path).documented() == {"made up": {"right": 1, "examples": 2}}


def test_a_measure_that_fails_leaves_the_others(tool, tables):
    said = tool.ask(tables, 99)["measures"]
    assert said["keys"] == {"error": "ValueError: no keys"}
    assert said["copies"]["score"] == 0.1


@pytest.mark.parametrize(
    ("what", "seconds", "why"),
    [("wait", 0.5, "more than 0.5 s"), ("end", 20, "the process ended"), ("eat", 20, "more than 300 MiB")],
)
def test_a_tool_past_its_limits_has_failed_and_answers_the_next_world(tool, tables, what, seconds, why):
    tool.seconds, tool.memory = seconds, 300
    assert tool.ask(replace(tables, ignore=(what,)), 0) == {"error": why}
    tool.seconds = 20
    assert tool.ask(tables, 0)["measures"]["copies"]["score"] == 0.1


def test_a_tool_that_does_not_start_has_failed(tables):
    tool = Tool([sys.executable, "-c", "raise SystemExit(1)"], dict(os.environ))
    assert tool.ask(tables, 0) == {"error": "the process ended"}
    tool.close()


def test_runs_are_kept_and_not_made_again(tool, base_tables, tmp_path):
    made = []
    for _ in range(2):
        runs = Runs(tmp_path)
        bench = Bench("made up", tool, runs, base_tables, nulls=3, seeds=5, on_run=made.append)
        assert bench.rules(WORLDS["verbatim"], "visits") == ["own"]  # three null worlds are no bar
        found = bench.threshold(WORLDS["verbatim"], "visits", "own")
    assert found.dose == 0.02
    assert len(made) == len(runs.rows) == len(runs.file.read_text().splitlines())
    row = runs.rows["made up", "visits", "verbatim", 0.1, 0]
    assert row["planted"] == row["measures"]["copies"]["named"] == row["measures"]["copies"]["named_planted"] == 50
    with runs.file.open("a") as file:
        file.write('{"tool": "made up", "ba')  # a call that was killed in the middle of a line
    assert Runs(tmp_path).rows == runs.rows
    frame = pl.read_parquet(runs.to_parquet())
    assert frame.filter(pl.col("dose") == 0.1)["named_planted"].drop_nulls().to_list() == [50] * 5
    assert set(frame["measure"]) == {"copies", "keys"}


def test_null_worlds_are_shared_by_worlds_of_one_ground(tool, base_tables, tmp_path):
    bench = Bench("made up", tool, Runs(tmp_path), base_tables, nulls=2, seeds=1)
    for name in ("verbatim", "outliers", "texts"):
        bench.first_dose(WORLDS[name], "visits")
    nulls = [k for k in bench.runs.rows if k[3] == 0]
    assert sorted({k[2] for k in nulls}) == ["null: as it is", "null: notes"]
    assert len(nulls) == 4


def test_a_failed_run_raises_no_alarm():
    nulls = [{"measures": {"m": {"score": s}}} for s in range(20)]
    assert alarm({"measures": {"m": {"score": 19.5, "flag": None}}}, "5%", nulls)
    assert not alarm({"measures": {"m": {"score": 19, "flag": None}}}, "5%", nulls)
    for failed in ({"error": "x"}, {"measures": {"m": {"error": "x"}}}, {"measures": {"m": {"score": float("nan")}}}):
        assert not alarm(failed, "5%", nulls) and not alarm(failed, "own", nulls)


def test_a_slow_tool_gets_few_seeds_and_all_null_worlds(tool, base_tables, tmp_path):
    assert [is_slow(s) for s in (1.2, 3.0, 3.1, 16.0)] == [False, False, True, True]
    bench = Bench("made up", tool, Runs(tmp_path), base_tables, nulls=4, seeds=2)
    found = bench.threshold(WORLDS["verbatim"], "visits", "5%")
    assert found.alarms[0.02] == (2, 2)
    assert len([k for k in bench.runs.rows if k[3] == 0]) == 4


def test_worlds_are_chosen_by_name_and_base():
    assert [w.name for w in chosen_worlds("texts;names, last name first", "")] == ["texts", "names, last name first"]
    assert all("assays" in w.bases for w in chosen_worlds("all", "assays"))
    assert 12 <= len(chosen_worlds("short", "")) <= 16
    with pytest.raises(SystemExit, match="no world thing; there are: verbatim"):
        chosen_worlds("thing", "")


def test_each_adapter_names_its_packages_and_measures():
    for name, path in environments.adapters().items():
        adapter = worker.load(path)
        assert name == adapter.NAME
        assert adapter.PACKAGES and adapter.MEASURES and adapter.FRAME in ("polars", "pandas")
        assert "would object" in adapter.__doc__ or "object to" in adapter.__doc__
        assert adapter.SECONDS > 0
    said = worker.documented(worker.load(environments.adapters()["divulge"]))
    assert said["examples"] == said["right"] > 3


@pytest.mark.slow
def test_divulge_names_the_people_whom_its_report_marks(base_tables, tables):
    adapter = worker.load(environments.adapters()["divulge"])
    world = {"keys": list(tables.keys), "secret": tables.secret, "unit": None, "ignore": [], "seed": 0}
    said = adapter.assess(tables.real, tables.synthetic, tables.holdout, world)["verdict"]()
    assert said["flag"] and said["score"] > 3
    assert set(tables.planted) <= set(said["people"])
    assert json.dumps(said)
