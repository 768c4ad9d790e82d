"""The terminal of the tutorial: while the site is built commands are run in a folder of their own, and shown."""

import contextlib
import functools
import shlex
import sys
import tempfile
from pathlib import Path
from unittest import mock

from click.testing import CliRunner

from divulge.cli import cli
from divulge.report.comparison import text as comparison_text
from divulge.report.documents import terminal
from divulge.sdmetrics.reports import text as report_text

__all__ = ["Terminal", "block", "cut"]

_WIDTH = 78  # columns that the page shows without scrolling


class TutorialError(Exception):
    """A command ended otherwise than the page says."""


class Terminal:
    """A folder, and the commands that were typed in it."""

    def __init__(self):
        # it goes when the build's process ends
        self._kept = tempfile.TemporaryDirectory(prefix="divulge-tutorial-")
        self.folder = Path(self._kept.name)

    def run(self, command, *, status=0):
        """Return what a command prints; raise where it does not end with the status."""
        arguments = shlex.split(command)
        with contextlib.ExitStack() as stack:
            stack.enter_context(contextlib.chdir(self.folder))
            stack.enter_context(mock.patch.object(sys, "argv", arguments))
            for module in (terminal, comparison_text, report_text):
                narrow = functools.partial(_narrow, module.summary)
                stack.enter_context(mock.patch.object(module, "summary", narrow))
            done = CliRunner().invoke(cli, arguments[1:])
        if done.exit_code != status:
            told = f"{command}: exit status {done.exit_code}, {status} expected; {done.output[-2000:]}"
            raise TutorialError(told) from done.exception
        return done.output


def _narrow(summary, data, *, width=_WIDTH, colour=False):
    return summary(data, width=_WIDTH, colour=False)


def block(command, said, status=0):
    """Return a command and its output as a fenced block."""
    told = f"\n$ echo $?\n{status}" if status else ""
    return f"```console\n$ {command}\n{said.rstrip()}{told}\n```\n"


def cut(text, since=None, until=None):
    """Return the lines from the first that begins with `since` to before the next that begins with `until`."""
    lines = text.splitlines()
    first = _place(lines, since) if since else 0
    last = first + 1 + _place(lines[first + 1 :], until) if until else len(lines)
    body = [line.rstrip() for line in lines[first:last]]
    return "\n".join([*(["..."] if first else []), *body, *(["..."] if last < len(lines) else [])])


def _place(lines, start):
    for i, line in enumerate(lines):
        if line.startswith(start):
            return i
    raise TutorialError(f"no line begins with {start!r}")
