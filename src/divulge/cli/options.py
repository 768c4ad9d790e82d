"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import click
from click.shell_completion import CompletionItem

from divulge.core.errors import SettingError

__all__ = [
    "FILE",
    "FOLDER",
    "PEOPLE",
    "attacker_options",
    "beyond_option",
    "check_path",
    "engine_option",
    "names",
    "planned_options",
    "run_options",
    "spill_option",
    "table_options",
    "views_option",
    "with_holdout",
]


class _PathName(click.types.StringParamType):
    """Text that a shell completes as the name of a file or folder; the reader checks whether it exists.

    A path that no file can have, because it is too long or has a zero byte, is refused before anything is read.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the text of a path that a file can have."""
        path = super().convert(value, param, ctx)
        check_path(param.opts[0] if param else self.name, path)
        return path

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        return [CompletionItem(incomplete, type=self.name)]


def check_path(option: str, path: str) -> None:
    """Raise a `SettingError` where no file can have this path."""
    import errno
    import os

    try:
        os.lstat(path)
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            raise SettingError(f"{option}: the path is too long. hint: use a shorter one.") from None
    except ValueError:
        raise SettingError(f"{option}: no file can have this name. hint: check the path.") from None


def with_holdout(synthetic: Sequence[str], holdout: str | None, *, together: bool) -> tuple[Sequence[str], str | None]:
    """Return the synthetic tables and the holdout of a command line whose third table is the holdout.

    Raises
    ------
    SettingError
        There are more tables than a synthetic one and a holdout, and they are not attacked together.
    """
    if together or len(synthetic) == 1:
        return synthetic, holdout
    if len(synthetic) == 2 and holdout is None:
        return synthetic[:1], synthetic[1]
    raise SettingError(
        f"{1 + len(synthetic)} tables{'' if holdout is None else ' and --holdout'}: REAL, SYNTHETIC and one HOLDOUT "
        "are expected. hint: add --together if all synthetic tables are released; `divulge compare` ranks candidates."
    )


FILE = _PathName("file")
FOLDER = _PathName("dir")


class _People(click.IntRange):
    """A number of people, "all" or "none"."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return a number from 100 on, "all" or "none"."""
        return value if value in ("all", "none") else super().convert(value, param, ctx)


PEOPLE = _People(min=100)


def names(_: Any, option: click.Parameter, values: Sequence[str]) -> list[str]:
    """Return the names given one by one or in comma-separated lists."""
    return [name for value in values for name in _split(value, option.opts[0])]


def _split(value: str, option: str) -> list[str]:
    """Return the names of a comma-separated list; quotes protect a comma inside a name."""
    import csv
    import io

    names = next(csv.reader(io.StringIO(value, newline=""), skipinitialspace=True), [])
    if "\n" in value and '"' not in value:
        names = value.split(",")  # a line break in a name without quotation marks
    if not any(names):
        raise SettingError(f"{option}: the list of names is empty. hint: is a shell variable unset?")
    return [n for n in names if n]


def _allowed(context: click.Context, _: click.Parameter, folders: Sequence[str]) -> None:
    """Have views read files of folders while the command runs."""
    if folders:
        from divulge.tables.databases import allow_files_under

        allow_files_under(folders)
        context.call_on_close(lambda: allow_files_under(()))


def _beyond(context: click.Context, _: click.Parameter, allowed: bool) -> bool:
    """Have files be read whatever memory they take while the command runs."""
    from divulge.core.memory import beyond_memory

    context.with_resource(beyond_memory(allowed))
    return allowed


def engine_option(told: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return the option --engine; `told` says what is counted where the tables are."""
    return click.option(
        "--engine",
        type=click.Choice(["auto", "memory", "duckdb", "polars"]),
        default="auto",
        show_default=True,
        help="duckdb and polars count Parquet files (duckdb also FILE.duckdb::TABLE) where they are, for tables that "
        f"do not fit into memory: {told}.",
    )


def beyond_option(what: str = "", *, passed_on: bool = True) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return the option --beyond-memory, which holds for all files that the command reads.

    Parameters
    ----------
    what
        Which is not expected to fit into memory.
    passed_on
        Whether the command has a setting of this name.
    """
    return click.option("--beyond-memory", is_flag=True, callback=_beyond, expose_value=passed_on,
                        help=f"Begin although {what} not expected to fit into memory.")  # fmt: skip


views_option = click.option(
    "--allow-files-under", multiple=True, callback=_allowed, expose_value=False, type=FOLDER, metavar="DIR",
    help="Folder whose files views of a DuckDB file may read.  [default: none]",
)  # fmt: skip


spill_option = click.option(
    "--spill", type=FOLDER, metavar="DIR",
    help="Folder for what does not fit into memory, in a private folder that is removed at the end: indices, searched "
    "block by block; with --engine the codes of all rows too  [default: none; with --engine the folder for temporary "
    "files].",
)  # fmt: skip


_Options = tuple[Callable[[Callable[..., Any]], Callable[..., Any]], ...]


def _with(options: _Options, function: Callable[..., Any]) -> Callable[..., Any]:
    for option in reversed(options):
        function = option(function)
    return function


_ATTACKER: _Options = (
    click.option("--together", is_flag=True,
                 help="Attack several SYNTHETIC as tables of one training set, all released."),
    click.option("--holdout", type=FILE, metavar="FILE",
                 help="Table of people from the same population that the synthesizer never saw."),
    click.option("--keys", multiple=True, callback=names, metavar="COLUMNS",
                 help="Columns the attacker knows: age,sex,zip."),
    click.option("--targets", multiple=True, callback=names, metavar="COLUMNS",
                 help="Columns the attacker wants to learn."),
    click.option("--subgroups", multiple=True, callback=names, metavar="COLUMNS",
                 help="Columns whose values define groups; inference is reported for each group."),
)  # fmt: skip

_TABLES: _Options = (
    click.option(
        "--schema",
        "schema_file",
        type=FILE,
        metavar="FILE",
        help="How columns are read: TOML from `divulge schema`, or SDV metadata (JSON).",
    ),
    click.option(
        "--unit",
        metavar="COLUMN",
        help="Column that identifies the person or household; of linked tables, the table with a row for each person.",
    ),
    click.option(
        "--ignore", multiple=True, callback=names, metavar="COLUMNS", help="Columns to leave out of every attack."
    ),
    click.option(
        "--missing",
        multiple=True,
        callback=names,
        metavar="CODES",
        help="Values that stand for missing: '?,-8'. With 'none', '?' and the like are values, also in columns of "
        "numbers.",
    ),
    views_option,
)

_SCOPE: _Options = (
    click.option("--search", type=click.Choice(["default", "full", "off"]), default="default", show_default=True,
                 help="How key sets are searched when no keys are given; full also lists minimal disclosing sets."),
    click.option("--models/--no-models", default=None,
                 help="Train models for inference  [default: up to 3 million people x targets]."),
    click.option("--membership/--no-membership", default=True, show_default=True,
                 help="Test who is taken for a member, by scores of distances, margins and a classifier."),
    click.option("--fidelity/--no-fidelity", default=True, show_default=True,
                 help="Compare columns and pairs of columns with the real ones, beside what a fresh sample shows."),
    click.option("--fidelity-models", is_flag=True,
                 help="Measure fidelity by models too, as `divulge fidelity` does; takes some ten seconds more."),
    click.option("--acceptable", type=float, default=0.05, show_default=True,
                 help="Largest upper limit of risk that counts as none found."),
    click.option("--positive-control", type=float, default=None, metavar="F",
                 help="Replace a fraction F of the synthetic rows by copies of real people, and report whether the "
                 "attacks notice."),
)  # fmt: skip
"""What is attacked and measured."""

_ASKED: _Options = (
    click.option("--people", type=PEOPLE, metavar="N",
                 help="Attack a random sample of N members and N strangers, where the numbers of an attack are means "
                 "over people. 'all' attacks everybody; with --engine, 'none' leaves these attacks out.  [default: "
                 "everybody, or a sample where all do not fit into memory; with --engine 1,000,000 at most]"),
)  # fmt: skip

_SEED: _Options = (
    click.option("--seed", type=int, default=0, show_default=True, help="Seed of every random step."),
    click.option("--level", type=float, default=0.95, show_default=True, help="Confidence level of the intervals."),
    click.option("--jobs", type=click.IntRange(min=1), metavar="N",
                 help="Number of threads; the results do not depend on it.  [default: all cores]"),
)  # fmt: skip

_RUN: _Options = (
    click.option("--out", type=FOLDER, metavar="DIR",
                 help="Folder to write the report to  [default: divulge-report, or divulge-report-external]."),
    click.option("--edition", type=click.Choice(["custodian", "external"]), default="custodian",
                 show_default=True,
                 help="Report to write: custodian for those who hold the real table; external, for others, leaves out "
                 "records, small counts and column names."),
    click.option("--reveal", multiple=True, callback=names, metavar="WHAT",
                 help="Names to show: 'values' shows the values that define subgroups in a custodian's edition (render "
                 "cannot add them later), 'columns' shows column names in an external one."),
    click.option("--pdf", type=FILE, metavar="FILE",
                 help="Also print the page to FILE by an installed Chromium, Edge or WeasyPrint."),
    click.option("--open", "open_page", is_flag=True, help="Open the page in a browser when it is written."),
    *_SCOPE,
    click.option("--tolerance", type=float, default=0.05, show_default=True,
                 help="Largest difference of fidelity that does not matter, as a distance from 0 to 1."),
    click.option("--fail-on", multiple=True, metavar="RULE",
                 help="Exit with status 1 when this rule holds: 'cap.high > 0.05', 'linkability.score < 95', "
                 "'singling_out[3 columns].high > 0.05', 'any.low > 0', 'excess', 'column_pairs.ruler > 3', "
                 "'column_shapes differs', 'differs'."),
    click.option("--policy", type=FILE, metavar="FILE",
                 help="Exit with status 1 when a condition of this policy is broken; `divulge policy` writes a "
                 "template."),
    click.option("--baseline", type=FILE, metavar="FILE",
                 help="assessment.json of an earlier run, to test what has changed since then."),
    click.option("--junit", type=FILE, metavar="FILE",
                 help="File for policy, attacks and preconditions as JUnit XML."),
    click.option("--budget", type=click.FloatRange(min=0), metavar="SECONDS",
                 help="Start no test after this many seconds; the report lists the tests left out."),
    *_ASKED,
    beyond_option("the run is"),
    click.option("--resume", is_flag=True, help="Continue a run that was interrupted."),
    *_SEED,
    click.option("-q", "--quiet", is_flag=True, help="Print no progress and no summary."),
    click.option("-v", "--verbose", is_flag=True, help="Print each attack and its time when it is done."),
)  # fmt: skip


def attacker_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options on strangers and on what the attacker knows and wants to a command."""
    return _with(_ATTACKER, function)


def table_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options on how tables are read to a command."""
    return _with(_TABLES, function)


def planned_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of a run that decide what it needs to a command."""
    return _with((*_SCOPE, *_ASKED, *_SEED), function)


def run_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of a run to a command."""
    return _with(_RUN, function)
