"""The near end of a worker: a process that is asked, watched and stopped at its limits of time and memory."""

from __future__ import annotations

import itertools
import json
import os
import selectors
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

from .bases import Tables

START_LIMIT = 300.0
"""Seconds that a tool has to be imported."""


class Tool:
    """A tool in its own process; the process starts at the first question, and anew after a failure.

    Parameters
    ----------
    command, variables
        What starts the worker, and its environment variables.
    seconds, memory
        Limits for one world: wall clock, and resident memory in MiB.
    """

    def __init__(
        self, command: list[str], variables: dict[str, str], *, seconds: float = 600, memory: int = 8000
    ) -> None:
        self.command, self.variables, self.seconds, self.memory = command, variables, seconds, memory
        self.versions: dict[str, str] = {}
        self.process: subprocess.Popen[bytes] | None = None
        self.ids = itertools.count()
        self.folder = tempfile.TemporaryDirectory()  # where the tool may write as it likes
        self.log = tempfile.TemporaryFile()  # noqa: SIM115 # as long as the tool

    def ask(self, tables: Tables, seed: int) -> dict[str, Any]:
        """Return what the tool says of these tables: its measures, or an error; and CPU time, seconds, memory."""
        if self.process is None:
            failure = self._start()
            if failure:
                return failure
        with tempfile.TemporaryDirectory() as folder:
            for part in ("real", "synthetic", "holdout"):
                getattr(tables, part).write_parquet(Path(folder) / f"{part}.parquet")
            told = {"keys": tables.keys, "secret": tables.secret, "unit": tables.unit, "ignore": tables.ignore}
            question = {"id": next(self.ids), "folder": folder, "seed": seed, **told}
            return self._answer(json.dumps(question), self.seconds)

    def documented(self) -> dict[str, Any]:
        """Return how many examples of the tool's own documentation were tried, and how many were right."""
        failure = self._start() if self.process is None else None
        return failure or self._answer(json.dumps({"id": next(self.ids), "documented": True}), self.seconds)

    def close(self) -> None:
        """Stop the process and what it started, for good."""
        self.stop()
        self.log.close()
        self.folder.cleanup()

    def stop(self) -> None:
        """Stop the process and what it started; the next question starts it anew."""
        if self.process is not None:
            for pipe in (self.process.stdin, self.process.stdout):
                if pipe:
                    pipe.close()
            try:
                self.process.wait(2)
            except subprocess.TimeoutExpired:
                os.killpg(self.process.pid, signal.SIGKILL)
                self.process.wait()
            self.process = None

    def _start(self) -> dict[str, Any] | None:
        self.process = subprocess.Popen(
            self.command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log,
            env=self.variables,
            cwd=self.folder.name,
            start_new_session=True,
        )
        told = self._answer(None, START_LIMIT)
        if "error" in told:
            return told
        self.versions = told["versions"]
        return None

    def _answer(self, question: str | None, limit: float) -> dict[str, Any]:
        process = self.process
        assert process is not None and process.stdin is not None and process.stdout is not None
        try:
            if question is not None:
                process.stdin.write(question.encode() + b"\n")
                process.stdin.flush()
        except BrokenPipeError:
            return self._failure("the process ended")
        ends, line = time.monotonic() + limit, b""
        with selectors.DefaultSelector() as ready:
            ready.register(process.stdout, selectors.EVENT_READ)
            while not line.endswith(b"\n"):
                if ready.select(0.1):
                    piece = os.read(process.stdout.fileno(), 1 << 20)
                    if not piece:
                        return self._failure("the process ended")
                    line += piece
                elif time.monotonic() > ends:
                    return self._failure(f"more than {limit:g} s")
                elif resident(process.pid) > self.memory:
                    return self._failure(f"more than {self.memory} MiB")
        return dict(json.loads(line))

    def _failure(self, why: str) -> dict[str, Any]:
        if self.process is not None:
            if self.process.poll() is None:
                os.killpg(self.process.pid, signal.SIGKILL)
            self.stop()
        return {"error": why}


def resident(pid: int) -> int:
    """Return the resident memory of a process in MiB, 0 where the system does not say."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    return next((int(line.split()[1]) // 1024 for line in status.splitlines() if line.startswith("VmRSS")), 0)
