"""The terminal of the pages: commands run in the folder of the page, and are shown with what they print."""

import contextlib
import functools
import shlex
import shutil
import sys
from unittest import mock

from click.testing import CliRunner

from divulge.cli import cli
from divulge.demo import tables
from divulge.report.comparison import text as comparison_text
from divulge.report.documents import terminal
from divulge.run.cost.memory import Room
from divulge.run.engines import engine_plan, people_sample
from divulge.run.forecasting import forecast, memory_check
from divulge.sdmetrics.reports import text as report_text

__all__ = ["demo_tables", "run", "show"]

_WIDTH = 78  # columns that a page shows without scrolling


class PageError(Exception):
    """A command ended otherwise than the page says."""


def demo_tables(kind="csv"):
    """Write real, synthetic and holdout table of the demo into the folder."""
    for name, table in zip(("real", "synthetic", "holdout"), tables(), strict=True):
        getattr(table, f"write_{kind}")(f"{name}.{kind}")


def run(command, *, status=0):
    """Return what a command prints; raise where it does not end with the status."""
    arguments = shlex.split(command)
    with contextlib.ExitStack() as stack:
        stack.enter_context(mock.patch.object(sys, "argv", arguments))
        for module in (memory_check, forecast, engine_plan, people_sample):  # what another machine would have
            stack.enter_context(mock.patch.object(module, "room", return_value=Room(24 * 10**9, 0, "")))
        stack.enter_context(mock.patch.object(shutil, "disk_usage", return_value=mock.Mock(free=77 * 10**9)))
        for module in (terminal, comparison_text, report_text):
            narrow = functools.partial(_narrow, module.summary)
            stack.enter_context(mock.patch.object(module, "summary", narrow))
        done = CliRunner().invoke(cli, arguments[1:])
    if done.exit_code != status:
        told = f"{command}: exit status {done.exit_code}, {status} expected; {done.output[-2000:]}"
        raise PageError(told) from done.exception
    return done.output


def _narrow(summary, data, *, width=_WIDTH, colour=False):
    return summary(data, width=_WIDTH, colour=False)


def show(command, *, since=None, after=None, until=None, status=0):
    """Print a command and the lines that it prints, as a fence; return them all.

    The lines are those from the first that begins with `since`, or after the one that begins with `after`, to before
    the next that begins with `until`. A command may be typed in several lines, with a backslash at the end of each.
    """
    said = run(command.replace("\\\n", " "), status=status)
    told = f"\n$ echo $?\n{status}" if status else ""
    print(f"\n```console\n$ {command}\n{_cut(said, since, after, until)}{told}\n```\n")
    return said


def _cut(text, since, after, until):
    lines = text.rstrip().splitlines()
    first = _place(lines, since) if since else _place(lines, after) + 1 if after else 0
    last = first + 1 + _place(lines[first + 1 :], until) if until else len(lines)
    body = [line.rstrip() for line in lines[first:last]]
    return "\n".join([*(["..."] if first else []), *body, *(["..."] if last < len(lines) else [])])


def _place(lines, start):
    for i, line in enumerate(lines):
        if line.startswith(start):
            return i
    raise PageError(f"no line begins with {start!r}")
