"""Options that several commands have."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import click
from click.shell_completion import CompletionItem

from divulge.core.errors import SettingError

__all__ = ["FILE", "FOLDER", "names", "run_options", "table_options"]


class _PathName(click.types.StringParamType):
    """Text that a shell completes as the name of a file or folder; whether there is one is found out by who reads."""

    def __init__(self, name: str) -> None:
        self.name = name

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        return [CompletionItem(incomplete, type=self.name)]


FILE = _PathName("file")
FOLDER = _PathName("dir")


def names(_: Any, option: click.Parameter, values: Sequence[str]) -> list[str]:
    """Return the names that were given, one by one or in lists with commas."""
    return [name for value in values for name in _split(value, option.opts[0])]


def _split(value: str, option: str) -> list[str]:
    """Return the names of a comma-separated list; quotes protect a comma inside a name."""
    import csv
    import io

    names = next(csv.reader(io.StringIO(value, newline=""), skipinitialspace=True), [])
    if "\n" in value and '"' not in value:
        names = value.split(",")  # a line break in a name without quotation marks
    if not any(names):
        raise SettingError(f"{option}: nothing is named. hint: an unset variable of the shell?")
    return [n for n in names if n]


def table_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options on how tables are read."""
    options = [
        click.option(
            "--schema", "schema_file", type=FILE, metavar="FILE", help="TOML of `divulge schema`, or SDV metadata JSON."
        ),
        click.option("--unit", metavar="COLUMN", help="Column of the person or household."),
        click.option("--ignore", multiple=True, callback=names, metavar="COLUMNS", help="Columns to leave out."),
        click.option(
            "--missing", multiple=True, callback=names, metavar="CODES", help="Texts that stand for missing: '?,-8'."
        ),
    ]
    for option in reversed(options):
        function = option(function)
    return function


def run_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options of a run."""
    options = [
        click.option("--out", type=FOLDER, metavar="DIR",
                     help="Folder of the report  [default: divulge-report, or divulge-report-external]."),
        click.option("--edition", type=click.Choice(["custodian", "external"]), default="custodian",
                     show_default=True, help="external: no records, no small counts, columns numbered."),
        click.option("--reveal", multiple=True, callback=names, metavar="WHAT",
                     help="'values' calls subgroups by their values in a custodian's edition; 'columns' names columns "
                     "in an external one."),
        click.option("--search", type=click.Choice(["default", "full", "off"]), default="default", show_default=True,
                     help="Key sets to test when no keys are given; full also lists minimal disclosing sets."),
        click.option("--models/--no-models", default=None,
                     help="Train models for inference  [default: up to 3 million people x targets]."),
        click.option("--utility/--no-utility", default=True, show_default=True,
                     help="Say how much of the real table the synthetic one keeps."),
        click.option("--acceptable", type=float, default=0.05, show_default=True,
                     help="A risk whose upper limit is at most this counts as none found."),
        click.option("--positive-control", type=float, default=None, metavar="F",
                     help="Plant copies of people into the share F of the synthetic rows, and say what the run sees."),
        click.option("--fail-on", multiple=True, metavar="RULE",
                     help="Exit with 1 when it holds: 'cap.high > 0.05', 'linkability.score < 95', "
                     "'singling_out[3 columns].high > 0.05', 'any.low > 0', 'excess'."),
        click.option("--policy", type=FILE, metavar="FILE",
                     help="Exit with 1 when a condition of this TOML file is not kept; `divulge policy` writes one."),
        click.option("--baseline", type=FILE, metavar="FILE",
                     help="assessment.json of an earlier run: test what changed since."),
        click.option("--junit", type=FILE, metavar="FILE",
                     help="Write policy, attacks and preconditions as JUnit XML."),
        click.option("--budget", type=click.FloatRange(min=0), metavar="SECONDS",
                     help="Begin no test after this time; the report says what was left out."),
        click.option("--resume", is_flag=True, help="Go on with a run that was interrupted."),
        click.option("--seed", type=int, default=0, show_default=True, help="Of every random step."),
        click.option("--level", type=float, default=0.95, show_default=True, help="Of the intervals."),
        click.option("--jobs", type=click.IntRange(min=1), metavar="N",
                     help="Threads  [default: all cores]; they change no digit."),
        click.option("-q", "--quiet", is_flag=True, help="No progress, no summary."),
        click.option("-v", "--verbose", is_flag=True, help="Tell each attack when it is done, and its time."),
    ]  # fmt: skip
    for option in reversed(options):
        function = option(function)
    return function
