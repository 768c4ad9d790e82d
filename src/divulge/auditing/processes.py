"""Processes of one audit: each leads a group of its own, which ends with it, at its time limit or when asked.

An audit that is killed cannot end them; so another small process watches it, by a pipe that closes with the audit.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from divulge.report.formatting import several

__all__ = ["GROUPS", "Ended", "Processes"]

GROUPS = hasattr(os, "killpg")
"""Whether this system has process groups; Windows has none."""
_GRACE = 10.0  # seconds between TERM and KILL, less where the time limit is shorter
_WATCHER = """
import os, signal, sys
groups = set()
for line in sys.stdin:  # it ends with the audit
    (groups.add if line[0] == "+" else groups.discard)(int(line[1:]))
for group in groups:
    try:
        os.killpg(group, signal.SIGKILL)
    except OSError:
        pass
"""
_LONGEST_LOG = 1 << 20  # bytes of a log that are kept: its end


@dataclass(frozen=True, slots=True)
class Ended:
    """How a process ended."""

    seconds: float
    why: str = ""
    """Why its table cannot be used; "" where it ended well."""


class Processes:
    """The processes that run now. Several threads may run one each."""

    def __init__(self, grace: float = _GRACE) -> None:
        self._grace = grace
        self._lock = threading.Lock()
        self._running: set[int] = set()
        self._watcher: subprocess.Popen[bytes] | None = None
        self.stopped = False

    def run(self, words: Sequence[str], log: Path, environment: Mapping[str, str], limit: float) -> Ended:
        """Run a command without a shell until it ends or the limit is reached, with its output in a log.

        Parameters
        ----------
        words
            Program and arguments.
        log
            File for standard output and standard error; only the owner may read it.
        environment
            The whole environment of the process.
        limit
            Seconds; then the group gets TERM, and KILL a little later.
        """
        began = time.monotonic()
        handle = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        try:
            with self._lock:
                if self.stopped:
                    return Ended(0.0, "the audit was stopped")
                self._watch()
                process = subprocess.Popen(
                    list(words), stdin=subprocess.DEVNULL, stdout=handle, stderr=subprocess.STDOUT,
                    env=dict(environment), start_new_session=True,
                )  # fmt: skip
                self._running.add(process.pid)
                self._tell_watcher(f"+{process.pid}")
        except OSError as error:
            return Ended(time.monotonic() - began, f"cannot be started ({error.strerror or type(error).__name__})")
        finally:
            os.close(handle)
        why = self._waited(process, limit)
        _shorten(log)
        return Ended(time.monotonic() - began, why)

    def _waited(self, process: subprocess.Popen[bytes], limit: float) -> str:
        try:
            status = process.wait(limit)
        except subprocess.TimeoutExpired:
            self._end(process, min(self._grace, limit))
            return f"was stopped at the time limit of {several(round(limit), 'second')}"
        finally:
            _signal(process.pid, signal.SIGKILL)  # what it left running
            with self._lock:
                self._running.discard(process.pid)
                self._tell_watcher(f"-{process.pid}")
        if self.stopped:
            return "the audit was stopped"
        if status < 0:
            memory = ", as the system does when memory runs out" if -status == signal.SIGKILL else ""
            return f"was ended by the signal {_signal_name(-status)}{memory}"
        return f"ended with exit status {status}" if status else ""

    def _end(self, process: subprocess.Popen[bytes], grace: float) -> None:
        _signal(process.pid, signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            process.wait(grace)
        _signal(process.pid, signal.SIGKILL)
        process.wait()

    def stop(self) -> None:
        """End all processes, and start no more."""
        with self._lock:
            self.stopped = True
            running = list(self._running)
            watcher, self._watcher = self._watcher, None
        for pid in running:
            _signal(pid, signal.SIGKILL)
        if watcher is not None:
            watcher.communicate()

    def _watch(self) -> None:
        """Have a process watch this one. It inherits no open file, and hears no signal of the terminal."""
        if self._watcher is None:
            self._watcher = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", _WATCHER], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL, start_new_session=True, cwd="/",
            )  # fmt: skip

    def _tell_watcher(self, told: str) -> None:
        if self._watcher is not None and self._watcher.stdin is not None:
            with suppress(OSError):  # somebody ended it
                self._watcher.stdin.write(f"{told}\n".encode())
                self._watcher.stdin.flush()


def _signal(group: int, which: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, which)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)


def _shorten(log: Path) -> None:
    """Keep the end of a long log."""
    with suppress(OSError):
        size = log.stat().st_size
        if size > _LONGEST_LOG:
            with open(log, "rb") as file:
                file.seek(-_LONGEST_LOG, os.SEEK_END)
                end = file.read()
            log.write_bytes(b"(the begin was left out)\n" + end)
