"""SIGTERM ends a command as an interrupt does, with status 143, and leaves no private folder."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import divulge
from divulge import cli
from divulge.cli import termination
from divulge.core.private_folders import PrivateFolder

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGTERM")


@pytest.fixture(autouse=True)
def not_told(monkeypatch):
    """As a process that SIGTERM would end at once."""
    monkeypatch.setattr(termination, "_told", threading.Event())
    before = signal.signal(signal.SIGTERM, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGTERM, before)


def test_it_ends_as_an_interrupt_does_and_only_within_the_command(monkeypatch):
    left = []
    monkeypatch.setattr(termination, "_GRACE", 0.2)
    monkeypatch.setattr(termination, "_leave", lambda: left.append("left"))

    def ended():
        with termination.terminable():
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(5)

    with pytest.raises(KeyboardInterrupt):
        ended()
    assert termination.was_terminated()
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
    time.sleep(0.3)
    assert left == []  # the command has ended, and its process may go on


@pytest.mark.parametrize("plan", [signal.SIG_IGN, lambda number, frame: None])
def test_who_has_other_plans_keeps_them(plan):
    signal.signal(signal.SIGTERM, plan)
    with termination.terminable():
        assert signal.getsignal(signal.SIGTERM) is plan
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(0.01)
    assert not termination.was_terminated()


def test_a_thread_changes_nothing():
    def elsewhere():
        with termination.terminable():
            found.append(signal.getsignal(signal.SIGTERM))

    found = []
    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert found == [signal.SIG_DFL]


@pytest.mark.parametrize(("signals", "left"), [(bytes([signal.SIGTERM]), 1), (bytes([signal.SIGINT]), 0)])
def test_a_main_thread_that_does_not_hear_it_is_left(signals, left, monkeypatch):
    monkeypatch.setattr(termination, "_GRACE", 0.0)
    reading, writing = os.pipe()
    os.write(writing, signals)
    os.close(writing)
    told = []
    termination._watch(reading, lambda: told.append("left"))
    assert len(told) == left


def test_private_folders_are_removed_and_the_status_is_143(tmp_path, monkeypatch, capsys):
    PrivateFolder("divulge-", tmp_path)
    folder = PrivateFolder("divulge-", tmp_path)
    statuses = []
    monkeypatch.setattr(os, "_exit", statuses.append)
    termination._told.set()
    cli._leave(None)
    assert statuses == [143] and not folder.path.exists()
    assert capsys.readouterr().err == "divulge: ended by SIGTERM; nothing was written.\n"


@pytest.mark.slow
@pytest.mark.parametrize("which", ["SIGTERM", "SIGKILL"])
def test_a_run_by_an_engine_that_is_ended_leaves_its_disk_as_it_was(which, tmp_path):
    rng = np.random.default_rng(0)
    for name in "rsh":
        frame = pl.DataFrame({f"c{j}": rng.integers(0, 6, 20_000) for j in range(8)})
        frame.write_parquet(tmp_path / f"{name}.parquet")
    spill = tmp_path / "spill"
    spill.mkdir()
    command = [sys.executable, "-m", "divulge", "assess", *(str(tmp_path / f"{n}.parquet") for n in "rs"), "--holdout",
               str(tmp_path / "h.parquet"), "--engine", "duckdb", "--spill", str(spill), "--out",
               str(tmp_path / "out")]  # fmt: skip
    environment = os.environ | {"PYTHONPATH": str(Path(divulge.__file__).parents[1])}
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment) as child:
        for line in child.stderr:
            if "tests)" in line:
                break
        child.send_signal(getattr(signal, which))
        began = time.monotonic()
        told = child.stderr.read()
    assert time.monotonic() - began < 10
    left = [p.name for p in spill.iterdir()]
    if which == "SIGTERM":
        assert child.returncode == 143 and "divulge: ended by SIGTERM; " in told and left == []
    else:
        assert left
        PrivateFolder("divulge-", spill).remove()  # the next run
        assert list(spill.iterdir()) == []


@pytest.mark.parametrize("handled", [True, False])
def test_an_error_after_an_interrupt_is_an_interrupt(handled, monkeypatch):
    """A second signal ends the clearing up of the first one with whatever error; it is not the program's."""
    left = []

    def leave(cause):
        left.append(type(cause))
        raise SystemExit(130)

    def ended(**_):
        try:
            raise KeyboardInterrupt if handled else ValueError
        except (KeyboardInterrupt, ValueError):
            raise RuntimeError("cannot join thread")  # noqa: B904 # as a library raises it

    monkeypatch.setattr(cli, "_leave", leave)
    monkeypatch.setattr(cli.cli, "main", ended)
    with pytest.raises(SystemExit) as status:
        cli._run()
    assert (status.value.code, left) == ((130, [KeyboardInterrupt]) if handled else (3, []))
