"""How a run shows its steps: by a function, in one line, or not at all."""

import io

import pytest
from rich.console import Console

import divulge
from divulge.demo import tables
from divulge.run.making import progress


@pytest.fixture(scope="module")
def frames():
    return [table.head(60).select("age", "vote") for table in tables()]


def assess(frames, **given):
    return divulge.assess(*frames, models=False, search="off", fidelity=False, membership=False, jobs=1, **given)


@pytest.mark.parametrize("given", [None, False])
def test_a_run_in_a_script_says_nothing(frames, capfd, given):
    assess(frames, progress=given)
    assert capfd.readouterr() == ("", "")


def test_true_shows_a_line_on_standard_error(frames, monkeypatch):
    written = io.StringIO()
    monkeypatch.setattr("rich.console.Console", lambda stderr: Console(file=written, force_terminal=True, width=100))
    assess(frames, progress=True)
    assert "divulge: " in written.getvalue() and "\x1b[2K" in written.getvalue()  # the line is written anew


def test_a_function_is_called_with_each_step(frames):
    steps = []
    assess(frames, progress=lambda *step: steps.append(step))
    assert all(isinstance(what, str) and done <= total for what, done, total in steps)
    assert len(steps) > 5


def test_a_notebook_shows_the_line_by_default(monkeypatch):
    told = []

    class Handle:
        def update(self, data, raw):
            told.append(data["text/plain"])

    monkeypatch.setattr(progress, "_notebook", lambda: lambda data, raw, display_id: Handle())
    with progress.shown(None) as tell:
        for done in range(50):
            tell("copies", done, 50)  # far more often than three times a second
    assert told == ["divulge: copies, 0 of 50 steps done", "divulge: done"]
    with progress.shown(False) as tell:
        tell("copies", 1, 2)
    assert len(told) == 2
