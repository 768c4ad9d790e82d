"""The command: worlds and tools are listed, the budget is told, runs go on where they stopped, the page is written."""

import shutil
import sys
from pathlib import Path

import pytest
from planted import __main__, environments
from planted.worlds import WORLDS

MADE_UP = Path(__file__).parent / "made_up_tool.py"


@pytest.fixture
def command(monkeypatch, base_tables, tmp_path, capsys):
    """Return a function that calls the command with the made-up tool alone, and returns what it prints."""
    tools = tmp_path / "tools"
    tools.mkdir()
    shutil.copy(MADE_UP, tools)
    monkeypatch.setattr(environments, "TOOLS", tools)
    monkeypatch.setattr(environments, "environment", lambda *args: Path(sys.executable))
    cache = tmp_path / "cache"
    cache.mkdir()
    shutil.copytree(base_tables, cache / "tables")

    def call(*options):
        folders = ["--results", str(tmp_path / "results"), "--cache", str(cache)]
        monkeypatch.setattr(sys, "argv", ["planted", *folders, *options])
        __main__.main()
        return capsys.readouterr().out

    return call


def test_the_list_names_every_world_and_tool(command):
    text = command("--list")
    assert all(name in text for name in WORLDS)
    assert "made up" in text


def test_the_budget_is_told_and_nothing_is_run(command, tmp_path):
    text = command("--budget", "--worlds", "verbatim;texts", "--short")
    assert "about 50 runs of 0.1 CPU s, 0 kept" in text  # five seeds of two worlds, twenty null worlds of two grounds
    assert not (tmp_path / "results" / "runs.jsonl").exists()


def test_a_call_finds_the_smallest_dose_and_the_next_one_runs_nothing(command, tmp_path):
    options = ("--worlds", "verbatim", "--nulls", "19", "--seeds", "2")
    text = command(*options)
    assert "made up: 1 of 1, verbatim in visits: own 2%; 5% 2%" in text
    file = tmp_path / "results" / "runs.jsonl"
    before = file.read_text()
    assert "0 CPU minutes" in command(*options)
    assert file.read_text() == before
    assert (tmp_path / "results" / "runs.parquet").exists()
    command("--page", str(tmp_path / "page.md"))
    assert "| verbatim | 2% / 2% |" in (tmp_path / "page.md").read_text()
    assert (tmp_path / "pictures" / "planted-doses.svg").exists()


def test_an_unknown_tool_is_an_error_that_names_the_others(command):
    with pytest.raises(SystemExit, match="no tool thing; there are: made up"):
        command("--tools", "thing")
