"""What a command shows while it runs and when it is done."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from logging import ERROR, WARNING
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import click

from divulge.cli.log import logged, say
from divulge.cli.options import check_path
from divulge.core.atomic_write import check_target, check_writable, why_not
from divulge.core.errors import SettingError
from divulge.report.documents.console import clean

if TYPE_CHECKING:
    from divulge.report.comparison.report import ComparisonReport
    from divulge.report.report import Report
    from divulge.run.making.runner import Finished


class Shown(Protocol):
    """Progress that is shown."""

    def __call__(self, what: str, done: int, total: int) -> None:
        """Show the current step, the number of steps done and the number of all steps."""

    def left(self, seconds: float) -> None:
        """Take about how many seconds are left; shown with the next step."""


__all__ = [
    "as_text",
    "cannot_write",
    "check_file",
    "check_folder",
    "check_names",
    "check_place",
    "command_line",
    "deliver",
    "finished_shown",
    "open_page",
    "print_page",
    "printed",
    "progress_shown",
    "written",
]


_EVERY = 30.0  # seconds between two lines of progress
_DOCUMENTS = ("assessment.json", "report.html", "report.md", "records.parquet")


def command_line() -> str:
    """Return the command as it was typed; bytes that are no text are escaped."""
    import shlex

    return as_text(shlex.join(["divulge", *sys.argv[1:]]))


def as_text(path: object) -> str:
    """Return a path as text that can be printed; bytes that are no text are escaped."""
    return str(path).encode("utf-8", "backslashreplace").decode()


def check_folder(folder: Path, external: bool) -> None:
    """Check, before the run, that the report can be written to a folder.

    Raises
    ------
    SettingError
        It is a file, cannot be written, or holds a report of the other edition.
    """
    check_path("--out", f"{folder}.unfinished")  # the folder of the results of finished tests
    if folder.exists() and not folder.is_dir():
        raise SettingError("--out: this is a file. hint: name a folder.")
    check_place(folder)
    for name in (*_DOCUMENTS, "junit.xml"):
        check_target(folder / name)
    from divulge.report.report import other_edition

    if why := other_edition(folder, "external" if external else "custodian"):
        raise SettingError(f"--out: the folder holds {why}. hint: name another folder.")


def check_names(paths: Sequence[str], options: Mapping[str, Any]) -> None:
    """Check, before a table is read, that each file has the columns that options name, where its header tells them.

    Raises
    ------
    ColumnError
        A file lacks one of the columns.
    """
    from divulge.core.schema import check_columns
    from divulge.tables.matched_names import plain_name
    from divulge.tables.readers import columns_in

    wanted = {option: options.get(option, ()) for option in ("keys", "targets", "subgroups")}
    wanted["unit"] = [] if options["unit"] is None else [options["unit"]]
    headers = {path: columns_in(path) for path in paths}
    # a run matches names so
    known = {
        as_text(path): tuple(dict.fromkeys((*own, *map(plain_name, own))))
        for path, own in headers.items() if own is not None
    }  # fmt: skip
    for option, names in wanted.items() if known else ():
        check_columns(option, names, known)
    if len(known) == len(headers):  # one table that has a column is enough
        anywhere = list(dict.fromkeys(name for columns in known.values() for name in columns))
        check_columns("ignore", options.get("ignore", ()), anywhere)


def check_place(folder: Path) -> None:
    """Check, before the run, that files can be made in a folder, or in the nearest one above it that exists.

    Raises
    ------
    SettingError
        They cannot.
    """
    try:
        check_writable(folder)
    except OSError as error:
        raise cannot_write("--out", error, "folder") from None


def cannot_write(option: str, error: OSError | UnicodeError, what: str) -> SettingError:
    """Return the error for a file or folder that cannot be written."""
    return SettingError(f"{option}: cannot write there ({why_not(error)}). hint: name another {what}.")


def check_file(option: str, path: str | None, inputs: Sequence[str | None], folder: Path | None = None) -> None:
    """Check, before the run, that a file can be written and is neither an input nor a document of a report in a folder.

    Raises
    ------
    SettingError
        The file is an input, a document of the report or a folder, or it cannot be written.
    """
    if path is None:
        return
    target = Path(path)
    from divulge.tables.excel_files import sheet_in

    taken = [sheet_in(p)[0] for p in inputs if p is not None and p != "-"]
    if target.exists() and any(p.exists() and p.samefile(target) for p in taken):
        raise SettingError(f"{option}: this file is an input. hint: name another file.")
    if folder and target.absolute().parent.resolve() == folder.absolute().resolve() and target.name in _DOCUMENTS:
        raise SettingError(f"{option}: the report writes a document of this name. hint: name another file.")
    if not path.strip() or target.is_dir():
        raise SettingError(f"{option}: this is not a file name. hint: name a file.")
    try:
        check_target(target)
    except SettingError as error:
        raise SettingError(f"{option}: {error}") from None
    try:
        check_writable(target.parent)
    except OSError as error:
        raise cannot_write(option, error, "file") from None


def written(report: Report | ComparisonReport, folder: Path, **only: Any) -> None:
    """Write the documents, or raise a `SettingError` where the folder cannot be written."""
    try:
        report.write(folder, **only)
    except OSError as error:
        raise cannot_write("--out", error, "folder") from None


def printed(data: Any, summary: Callable[..., str]) -> None:
    """Print a summary in the width and colours of the terminal."""
    import shutil

    colour = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    width = shutil.get_terminal_size((110, 24)).columns if sys.stdout.isatty() else 110
    click.echo(summary(data, width=max(width, 60), colour=colour))


def deliver(report: Report, folder: Path, *, quiet: bool) -> None:
    """Write the documents, and print the summary."""
    from divulge.report.documents.terminal import summary
    from divulge.report.order import failures

    written(report, folder)
    if quiet:
        for attacks, why in failures(report.assessment):
            say(f"{attacks} failed: {why}", level=ERROR)
        if report.assessment.change:
            say(clean(f"change: {report.assessment.change.sentence}"))
        return
    printed(report.assessment, summary)
    if report.assessment.edition == "custodian":
        click.echo(f"\nReport: {as_text(folder / 'report.html')}")


def print_page(page: str, pdf: str, *, quiet: bool = False) -> None:
    """Print a page to a PDF file, and show its name."""
    from divulge.report.documents.pdf import printed

    path = printed(page, pdf)
    if not quiet:
        click.echo(as_text(path))


def open_page(page: Path) -> None:
    """Open a page in a browser, or say that there is none."""
    if click.launch(str(page)):
        say(f"--open: no browser could be started. hint: open {as_text(page)} yourself.", level=WARNING)


def finished_shown(done: Finished) -> None:
    """Print that an attack is done, for --verbose."""
    more = [
        f"{n} {word}" for n, word in ((done.kept, "kept"), (done.failed, "failed"), (done.left_out, "left out")) if n
    ]
    text = ", ".join([f"{done.n} {'test' if done.n == 1 else 'tests'}", *more, f"{done.seconds:.1f} s"])
    say(f"{done.attack}: {text}", attack=done.attack, tests=done.n, seconds=round(done.seconds, 3))


def _without_names(what: str, names: bool, total: int) -> str:
    """Return what runs; without `names` the attack alone, as its columns are named behind it."""
    return what if names or total <= 1 else what.split(" ")[0]


_COUNTED = {"measuring": ("measuring fidelity", "measure"), "writing": ("writing the codes of all rows", "row")}
"""By the first word of a step that is no attack: what is done, and what is counted."""


class _Silence:
    """Progress of which nothing is shown."""

    def __call__(self, what: str, done: int, total: int) -> None:
        """Show nothing."""

    def left(self, seconds: float) -> None:
        """Show nothing."""


class _Lines:
    """Progress where there is no terminal: a line for each stage, and one every 30 seconds of the attacks."""

    def __init__(self, names: bool, noun: str = "test", doing: str = "attacking") -> None:
        self._names = names
        self._noun = noun
        self._doing = doing
        self._stage = ""
        self._began = self._told = 0.0
        self._left: float | None = None

    def __call__(self, what: str, done: int, total: int) -> None:
        """Print a line where a stage begins, or 30 seconds after the last one."""
        now = time.monotonic()
        attacking = total > 1 and done < total
        doing, noun = _COUNTED.get(what.split(" ")[0], (self._doing, self._noun))
        stage = f"{doing} ({total:,} {noun}s)" if attacking else what
        if stage != self._stage:
            say(stage)
            self._stage, self._began, self._told = stage, now, now
        elif attacking and now - self._told >= _EVERY:
            left = _left_in_words(self._left, now - self._began, done, total)
            running = clean(_without_names(what, self._names, total))
            say(f"{done:,} of {total:,} {noun}s done{left and ', '}{left}; now {running}", done=done, total=total)
            self._told = now

    def left(self, seconds: float) -> None:
        """Take how many seconds are left."""
        self._left = seconds


def _left_in_words(told: float | None, passed: float, done: int, total: int) -> str:
    """Return how much time is left, as it was told, else by how many of the tests were done in the time that passed."""
    from divulge.run.cost.expected_time import time_left

    if told is None:
        return time_left(passed * (total - done) / done) if done else ""
    return time_left(told)


@contextmanager
def progress_shown(quiet: bool, *, names: bool = True, noun: str = "test", doing: str = "attacking") -> Iterator[Shown]:
    """Show progress on standard error: a bar on a terminal, elsewhere a line for each stage and every 30 seconds.

    Without `names`, the text shows no column names. `noun` is what is counted, `doing` what is done with it.
    """
    if quiet:
        yield _Silence()
    elif sys.stderr.isatty() and not logged():
        from divulge.cli.bar import bar

        with bar(lambda what, total: _without_names(what, names, total)) as shown:
            yield shown
    else:
        yield _Lines(names, noun, doing)
