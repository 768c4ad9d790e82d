"""Processes of an audit end with their group, whatever they do."""

import os
import shutil
import subprocess
import sys
import threading
import time

import pytest

from divulge.auditing.command import command_of
from divulge.auditing.processes import Processes
from divulge.core.errors import SettingError
from divulge.core.private_folders import PrivateFolder

CODE = {
    "well": ("print('a')", ""),
    "status": ("import sys; sys.exit(3)", "ended with exit status 3"),
    "signal": (
        "import os; os.kill(os.getpid(), 9)",
        "was ended by the signal SIGKILL, as the system does when memory runs out",
    ),
}


def run(code, tmp_path, limit=20.0, processes=None):
    own = processes or Processes(grace=0.1)
    ended = own.run([sys.executable, "-I", "-c", code], tmp_path / "log", dict(os.environ), limit)
    if processes is None:
        own.stop()
    return ended


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().split()[2] != "Z"
    except OSError:
        return False


def assert_ends(pid):
    deadline = time.monotonic() + 10
    while alive(pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not alive(pid)


@pytest.mark.parametrize("how", CODE)
def test_how_a_process_ends_is_told(how, tmp_path):
    code, why = CODE[how]
    assert run(code, tmp_path).why == why


@pytest.mark.skipif(shutil.which("prlimit") is None, reason="needs prlimit of util-linux")
def test_a_limit_of_memory_can_stand_before_the_command(tmp_path):
    words = ["prlimit", "--as=400000000", sys.executable, "-I", "-c", "bytearray(10**9)"]
    processes = Processes(grace=0.1)
    ended = processes.run(words, tmp_path / "log", dict(os.environ), 20.0)
    processes.stop()
    assert ended.why == "ended with exit status 1"
    assert "MemoryError" in (tmp_path / "log").read_text()


def test_a_log_is_private(tmp_path):
    run("print('a')", tmp_path)
    assert (tmp_path / "log").read_text() == "a\n"
    assert (tmp_path / "log").stat().st_mode & 0o777 == 0o600


HANGS = """
import signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen([sys.executable, "-I", "-c", "import time; time.sleep(60)"])
print(child.pid, flush=True)
time.sleep(60)
"""


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="needs /proc")
def test_a_process_that_hangs_is_ended_with_its_children(tmp_path):
    began = time.monotonic()
    ended = run(HANGS, tmp_path, limit=0.7)
    assert ended.why == "was stopped at the time limit of 1 second"
    assert time.monotonic() - began < 20
    assert_ends(int((tmp_path / "log").read_text()))


LEAVES = """
import subprocess, sys
child = subprocess.Popen([sys.executable, "-I", "-c", "import time; time.sleep(60)"])
print(child.pid, flush=True)
"""


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="needs /proc")
def test_what_a_process_leaves_running_is_ended(tmp_path):
    assert run(LEAVES, tmp_path).why == ""
    assert_ends(int((tmp_path / "log").read_text()))


KILLED = """
import os, sys
from pathlib import Path
from divulge.auditing.processes import Processes
from divulge.core.private_folders import PrivateFolder
kept = PrivateFolder("divulge-audit-", sys.argv[2])
Processes().run([sys.executable, "-I", "-c", sys.argv[1]], Path(sys.argv[2]) / "log", dict(os.environ), 60.0)
"""


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="needs /proc")
def test_an_audit_that_is_killed_leaves_no_process_and_its_folder_goes_with_the_next(tmp_path):
    audit = subprocess.Popen([sys.executable, "-c", KILLED, HANGS, str(tmp_path)])
    log = tmp_path / "log"
    while not log.exists() or not log.read_text().strip():
        time.sleep(0.02)
    children = [int(p) for p in os.listdir("/proc") if p.isdigit() and parent(p) == audit.pid]
    assert len(children) == 2  # the training, and what watches
    audit.kill()
    audit.wait()
    for pid in [int(log.read_text()), *children]:
        assert_ends(pid)
    assert len(list(tmp_path.glob("divulge-audit-*"))) == 1
    after = PrivateFolder("divulge-audit-", tmp_path)
    assert list(tmp_path.glob("divulge-audit-*")) == [after.path]


def parent(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return int(file.read().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def test_stopping_ends_all_and_starts_none(tmp_path):
    processes, found = Processes(grace=0.1), []
    thread = threading.Thread(target=lambda: found.append(run("import time; time.sleep(60)", tmp_path, 60, processes)))
    thread.start()
    while not processes._running:
        time.sleep(0.01)
    processes.stop()
    thread.join(20)
    assert found[0].why == "the audit was stopped"
    assert run("print(1)", tmp_path, processes=processes).why == "the audit was stopped"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("python train.py {train}", "no {synthetic}"),
        ("python train.py {synthetic}", "no {train}"),
        ("python 'train.py {train} {synthetic}", "quotation mark"),
        ("python train.py {train} {synthetic} > log", "no shell"),
        ("cat {train} | sort {synthetic}", "no shell"),
        ("no-such-program-here {train} {synthetic}", "no program"),
    ],
)
def test_commands_that_cannot_run_are_refused(text, why):
    with pytest.raises(SettingError, match=why):
        command_of(text)


def test_a_value_is_no_shell_text(tmp_path):
    evil = str(tmp_path / "a; touch evil $(touch evil) {seed}")
    words = command_of("python {train} x={synthetic}").filled({"train": evil, "synthetic": evil, "seed": "7"})
    assert words == ["python", evil, f"x={evil}"]
