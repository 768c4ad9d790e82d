"""What a command shows while it runs and when it is done."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from divulge.errors import SettingError

if TYPE_CHECKING:
    from divulge.report.report import Report

__all__ = ["command_line", "deliver", "progress_shown"]


def command_line() -> str:
    """Return the command as it was typed."""
    import shlex

    return shlex.join(["divulge", *sys.argv[1:]])


def deliver(report: Report, options: dict[str, Any]) -> None:
    """Write the documents, and print the summary."""
    from divulge.report.terminal import summary

    try:
        folder = report.write(options["out"])
    except OSError as error:
        raise SettingError(f"--out: cannot write there ({error.strerror}). hint: name another folder.") from None
    if options["quiet"]:
        for failure in report.failed:
            click.echo(f"divulge: {failure['attack']} failed: {failure['why']}", err=True)
        return
    import shutil

    colour = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    width = shutil.get_terminal_size((110, 24)).columns if sys.stdout.isatty() else 110
    click.echo(summary(report.data, width=max(width, 60), colour=colour))
    click.echo(f"\nReport: {folder / 'report.html'}")


@contextmanager
def progress_shown(quiet: bool) -> Iterator[Callable[[str, int, int], None]]:
    """Show progress on standard error: a bar on a terminal, a line for each stage elsewhere."""
    if quiet:
        yield lambda what, done, total: None
        return
    if not sys.stderr.isatty():
        last = [""]

        def line(what: str, done: int, total: int) -> None:
            stage = what if total <= 1 or done >= total else f"attacking ({total} tests)"
            if stage != last[0]:
                click.echo(f"divulge: {stage}", err=True)
                last[0] = stage

        yield line
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    from divulge.report.terminal import clean

    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)

        def show(what: str, done: int, total: int) -> None:
            bar.update(task, description=escape(clean(what)), completed=done, total=total if total > 1 else None)

        yield show
