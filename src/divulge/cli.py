"""The command line. Heavy modules load inside the commands, so that --help answers at once."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from divulge import __version__
from divulge.errors import DivulgeError, SettingError

if TYPE_CHECKING:
    from divulge.report.report import Report

__all__ = ["main"]

_LARGE_FILE = 200_000  # bytes: so many hold some thousand rows

_CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 110}


@click.group(context_settings=_CONTEXT)
@click.version_option(__version__, prog_name="divulge")
def cli() -> None:
    """What does your synthetic table divulge about real people?

    
    divulge assess real.csv synthetic.csv --holdout holdout.csv --keys age,sex,zip --targets income
    divulge demo                            the main job on a bundled real table
    divulge schema real.csv > schema.toml   what was inferred and why; edit it, pass it back
    divulge attacks                         the catalogue
    """


def _names(_: Any, __: Any, values: Sequence[str]) -> list[str]:
    return [name for value in values for name in _split(value)]


def _split(value: str) -> list[str]:
    """Return the names of a comma-separated list; quotes protect a comma inside a name."""
    import csv
    import io

    names = next(csv.reader(io.StringIO(value, newline=""), skipinitialspace=True), [])
    if "\n" in value and '"' not in value:
        names = value.split(",")  # a line break in a name without quotation marks
    if not any(names):
        raise SettingError("an option that names columns is empty. hint: an unset variable of the shell?")
    return [n for n in names if n]


def _table_options(function: Callable[..., Any]) -> Callable[..., Any]:
    options = [
        click.option("--schema", "schema_file", metavar="FILE", help="TOML of `divulge schema`, or SDV metadata JSON."),
        click.option("--unit", metavar="COLUMN", help="Column of the person or household."),
        click.option("--ignore", multiple=True, callback=_names, metavar="COLUMNS", help="Columns to leave out."),
        click.option(
            "--missing", multiple=True, callback=_names, metavar="CODES", help="Texts that stand for missing: '?,-8'."
        ),
    ]
    for option in reversed(options):
        function = option(function)
    return function


def _run_options(function: Callable[..., Any]) -> Callable[..., Any]:
    options = [
        click.option("--out", default="divulge-report", show_default=True, metavar="DIR", help="Folder of the report."),
        click.option("--search", type=click.Choice(["default", "full", "off"]), default="default", show_default=True,
                     help="Key sets to test when no keys are given; full also lists minimal disclosing sets."),
        click.option("--models/--no-models", default=None,
                     help="Train models for inference  [default: up to 3 million people x targets]."),
        click.option("--acceptable", type=float, default=0.05, show_default=True,
                     help="A risk whose upper limit is at most this counts as none found."),
        click.option("--positive-control", type=float, default=None, metavar="F",
                     help="Plant copies of people into the share F of the synthetic rows, and say what the run sees."),
        click.option("--fail-on", multiple=True, metavar="RULE",
                     help="Exit with 1 when it holds: 'cap.high > 0.05', 'linkability.score < 95', "
                     "'singling_out[3 columns].high > 0.05', 'any.low > 0', 'excess'."),
        click.option("--seed", type=int, default=0, show_default=True, help="Of every random step."),
        click.option("--level", type=float, default=0.95, show_default=True, help="Of the intervals."),
        click.option("--jobs", type=int, default=None, help="Threads  [default: all cores]; they change no digit."),
        click.option("-q", "--quiet", is_flag=True, help="No progress, no summary."),
    ]  # fmt: skip
    for option in reversed(options):
        function = option(function)
    return function


@cli.command()
@click.argument("real")
@click.argument("synthetic")
@click.option("--holdout", metavar="FILE", help="People of the same population that the synthesizer never saw.")
@click.option("--keys", multiple=True, callback=_names, metavar="COLUMNS", help="What the attacker knows: age,sex,zip.")
@click.option("--targets", multiple=True, callback=_names, metavar="COLUMNS", help="What he wants.")
@click.option(
    "--subgroups",
    multiple=True,
    callback=_names,
    metavar="COLUMNS",
    help="Report inference for the people of each value of these.",
)
@_table_options
@_run_options
def assess(real: str, synthetic: str, holdout: str | None, **options: Any) -> None:
    """Attack SYNTHETIC on the people of REAL and compare with the people of a holdout.

    REAL is the table the synthesizer was trained on. CSV, Parquet, Arrow/Feather and Excel files, gzip too; - is
    CSV on standard input. Without --keys, key sets are searched; without --targets, every column is one in turn.

    Exit status: 0 done, 1 a --fail-on rule was broken, 2 unusable input, 3 an attack failed.
    """
    from divulge.files import read
    from divulge.neighbours import warm_up

    if [real, synthetic, holdout].count("-") > 1:
        raise SettingError("-: standard input can be one of the tables only.")
    given = [(real, "real"), (synthetic, "synthetic"), (holdout, "holdout")]
    missing = options["missing"]
    if all(os.path.isfile(path) and os.path.getsize(path) > _LARGE_FILE for path in (real, synthetic)):
        warm_up(2000)  # while the files are read
    tables = {role: None if path is None else read(path, role=role, missing=missing) for path, role in given}
    _assess(tables, options)


def _assess(tables: dict[str, Any], options: dict[str, Any]) -> None:
    from divulge.assessment import assess as run
    from divulge.attacks import CATALOGUE
    from divulge.files import read_schema
    from divulge.gate import breaches, parse_rule

    known = sorted(CATALOGUE)
    if not str(options["out"]).strip():
        raise SettingError("--out: the name of the folder is empty.")
    for rule in options["fail_on"]:
        parse_rule(rule, known)
    schema = read_schema(options["schema_file"]) if options["schema_file"] else None
    with _progress(options["quiet"]) as progress:
        report = run(
            tables["real"], tables["synthetic"], holdout=tables["holdout"],
            keys=options["keys"] or None, targets=options["targets"] or None, schema=schema, unit=options["unit"],
            ignore=options["ignore"], missing=options["missing"], search=options["search"],
            subgroups=options.get("subgroups", ()), models=options["models"],
            acceptable=options["acceptable"], seed=options["seed"], level=options["level"],
            positive_control=options["positive_control"],
            jobs=options["jobs"] or os.cpu_count() or 1, progress=progress,
        )  # fmt: skip
    report.data["command"] = _command()
    _deliver(report, options)
    broken = breaches(report.data, options["fail_on"], known)
    for sentence in broken:
        click.echo(f"divulge: rule broken: {sentence}", err=True)
    if broken:
        sys.exit(1)
    if report.failed:
        sys.exit(3)


def _command() -> str:
    import shlex

    return shlex.join(["divulge", *sys.argv[1:]])


def _deliver(report: Report, options: dict[str, Any]) -> None:
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
def _progress(quiet: bool) -> Iterator[Callable[[str, int, int], None]]:
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


@cli.command()
@_run_options
def demo(**options: Any) -> None:
    """Run the main job on a real table that comes with divulge.

    944 people of the American National Election Study of 1996: half of them train a small tree synthesizer, the
    other half are the holdout.
    """
    from divulge.demo import tables

    real, synthetic, holdout = tables(seed=options["seed"])
    options |= {
        "keys": ["age", "educ", "TVnews"], "targets": ["vote", "PID", "income"], "schema_file": None, "unit": None,
        "ignore": [], "missing": [],
    }  # fmt: skip
    _assess({"real": real, "synthetic": synthetic, "holdout": holdout}, options)


@cli.command()
@click.argument("table")
@_table_options
def schema(table: str, schema_file: str | None, unit: str | None, ignore: list[str], missing: list[str]) -> None:
    """Write what was inferred about the columns of TABLE, and why, as TOML to edit and pass back with --schema."""
    from divulge.case import lay
    from divulge.files import read, read_schema

    read_in = read(table, role="real", missing=missing)
    given = read_schema(schema_file) if schema_file else None
    case = lay(read_in, read_in, schema=given, unit=unit, ignore=ignore, missing=missing)
    click.echo(case.schema.to_toml(), nl=False)


@cli.command()
def attacks() -> None:
    """List the attacks: what each asks, needs and refers to."""
    from divulge.attacks import CATALOGUE

    for name in sorted(CATALOGUE, key=lambda n: (CATALOGUE[n].family, n)):
        entry = CATALOGUE[name]
        click.echo(
            f"{name}  [{entry.family}]\n  asks   {entry.question}\n  needs  {entry.needs}\n  from   {entry.reference}\n"
        )


def main() -> None:
    """Run the command line; every mistake in the input becomes one message and exit status 2."""
    try:
        code = cli.main(standalone_mode=False)
        sys.exit(code if isinstance(code, int) else 0)
    except click.exceptions.Abort:
        click.echo("divulge: interrupted; nothing was written.", err=True)
        sys.exit(130)
    except click.ClickException as error:
        error.show()
        sys.exit(2)
    except DivulgeError as error:
        from divulge.report.terminal import clean

        click.echo(f"divulge: {clean(error)}", err=True)
        sys.exit(2)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)
    except MemoryError:
        click.echo("divulge: not enough memory. hint: name --keys and --targets, or assess a sample of rows.", err=True)
        sys.exit(3)
    except Exception as error:
        if os.environ.get("DIVULGE_DEBUG"):
            raise
        # the message of a library may hold a data value: only its type is told
        click.echo(
            f"divulge: internal error ({type(error).__name__}); nothing was lost. hint: please report it; "
            "DIVULGE_DEBUG=1 shows where it happened (the trace may hold data values).",
            err=True,
        )
        sys.exit(3)
