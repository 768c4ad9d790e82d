"""`divulge quality` and `divulge diagnose`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from divulge.cli.log import say, say_nothing
from divulge.cli.options import FILE, beyond_option, engine_option, names, views_option
from divulge.cli.root import cli
from divulge.cli.show import as_text, cannot_write, check_file, printed, progress_shown
from divulge.core.errors import SettingError
from divulge.report.documents.console import clean

if TYPE_CHECKING:
    from divulge.report.policy_model import Condition
    from divulge.sdmetrics.reports.base import Report

__all__ = ["diagnose", "judged_scores", "quality", "saved_report"]


@dataclass(frozen=True, slots=True)
class _Kind:
    """One of both reports."""

    rule: str
    """What rules call it."""
    strict: bool
    """Whether a column that not all tables and metadata have is an error, and no finding."""


_QUALITY, _DIAGNOSTIC = _Kind("quality", True), _Kind("diagnostic", False)
_FRESH = "`divulge fidelity` says which differences are more than those of a fresh sample."
_UNKNOWN = (
    "Another sample of the same people scores below 1, too: `divulge quality REAL HOLDOUT` says how much, and\n"
    "`divulge fidelity` which differences are more than that."
)


def _options(example: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return what adds the options of both commands."""
    options: list[Callable[[Callable[..., Any]], Callable[..., Any]]] = [
        click.argument("real", type=FILE),
        click.argument("synthetic", type=FILE),
        click.option("--schema", "--metadata", "schema_file", type=FILE, metavar="FILE",
                     help="Types, keys and relations: SDV metadata (JSON) or TOML from `divulge schema`  [default: "
                     "what divulge infers from REAL]."),
        click.option("--tables", multiple=True, callback=names, metavar="TABLES",
                     help="Tables to take from the folders REAL and SYNTHETIC, as users=users.csv,orders=orders.csv  "
                     "[default: all files]."),
        click.option("--missing", multiple=True, callback=names, metavar="CODES",
                     help="Values that stand for missing: '?,-8'. 'none': '?' and the like are values, too."),
        views_option,
        click.option("--json", "json_file", type=FILE, metavar="FILE",
                     help="File for the whole report; a name in .parquet takes Parquet. Both hold no value of the "
                     "tables."),
        click.option("--html", "html_file", type=FILE, metavar="FILE", help="File for the report as one offline page."),
        click.option("--fail-on", multiple=True, metavar="RULE",
                     help=f"Exit with status 1 when this rule holds: {example}."),
        beyond_option("the tables are"),
        click.option("-q", "--quiet", is_flag=True, help="Print no progress and no summary."),
    ]  # fmt: skip

    def add(function: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            function = option(function)
        return function

    return add


@cli.command(short_help="Score how alike the synthetic and the real tables are.")
@_options("'quality.score < 0.9', 'quality[Column Pair Trends].score < 0.8'")
@engine_option("all scores of one table")
def quality(**options: Any) -> None:
    """Score how alike SYNTHETIC and REAL are: SDMetrics' quality report, over all rows.

    REAL and SYNTHETIC are two files, or two folders with the tables of a database under the same names. The scores are
    those of SDMetrics 0.32.0. Another sample of the same people scores below 1, too; beside the scores of one table
    stands what it would score, and `divulge fidelity` tells which differences are more. The scores say nothing about
    what the synthetic table discloses: `divulge assess` does. With --engine a folder is one table in several files, and
    what a fresh sample scores is told from 200,000 of its rows.

    Exit status: 0 done, 1 a --fail-on rule was broken, 2 unusable input.
    """
    _run(_QUALITY, **options)


@cli.command(short_help="Check form, limits and keys of the synthetic tables.")
@_options("'diagnostic.score < 1', 'diagnostic[Data Validity].score < 1'")
@engine_option("all scores of one table")
def diagnose(**options: Any) -> None:
    """Check whether SYNTHETIC has the columns, limits and keys of REAL: SDMetrics' diagnostic report.

    REAL and SYNTHETIC are two files, or two folders with the tables of a database under the same names. The scores are
    those of SDMetrics 0.32.0. Ranges, formats and keys come from --schema. With --engine a folder is one table in
    several files, keys are counted there, and rules between columns hold for the rows that differ in these columns.

    Exit status: 0 done, 1 a --fail-on rule was broken, 2 unusable input.
    """
    _run(_DIAGNOSTIC, **options)


def _run(kind: _Kind, **options: Any) -> None:
    from divulge.sdmetrics.reports import scoring
    from divulge.sdmetrics.reports.text import summary

    parts = ["", *(p.name for p in _empty(kind).known_properties())]
    _check(kind, parts, options)
    with progress_shown(options["quiet"], noun="row", doing="comparing") as progress:
        report: Report = (scoring.quality if kind is _QUALITY else scoring.diagnose)(
            options["real"], options["synthetic"], schema=options["schema_file"],
            **{name: options[name] for name in ("tables", "missing", "engine", "beyond_memory")}, progress=progress,
            before=say_nothing if options["quiet"] else lambda note: say(clean(note)),
        )  # fmt: skip
    judged = judged_scores(report, options["fail_on"])
    _write("--json", options["json_file"], report.save)
    _write("--html", options["html_file"], lambda path: report.to_html(path, judged))
    if not options["quiet"]:
        printed(report.content(), summary)
        if kind is _QUALITY:
            click.echo(_FRESH if report.content().fresh() else _UNKNOWN)
        if options["html_file"]:
            click.echo(f"\nReport: {as_text(options['html_file'])}")
    _leave(judged)


def _empty(kind: _Kind) -> Report:
    from divulge.sdmetrics.reports import DiagnosticReport, QualityReport

    return QualityReport() if kind is _QUALITY else DiagnosticReport()


def _check(kind: _Kind, parts: Sequence[str], options: dict[str, Any]) -> None:
    """Check what can be checked before a file is read."""
    from divulge.release.rules import parse_score_rule

    for rule in options["fail_on"]:
        parse_score_rule(rule, kind.rule, parts)
    given = [options["real"], options["synthetic"]]
    if given.count("-") > 1:
        raise SettingError("-: only one table can come from standard input. hint: name a file.")
    for option in ("json", "html"):
        check_file(f"--{option}", options[f"{option}_file"], [*given, options["schema_file"]])
    if options["json_file"] and options["json_file"] == options["html_file"]:
        raise SettingError("--json and --html: this is one file. hint: name two.")


def judged_scores(report: Report, rules: Sequence[str]) -> list[Condition]:
    """Return what was found about each rule on the scores of a report."""
    from divulge.release.rules import judge_score, parse_score_rule
    from divulge.report.policy_model import Condition, condition_in_words

    name = _QUALITY.rule if report.content().is_quality else _DIAGNOSTIC.rule
    scores = {"": report.get_score(), **{p.name: float("nan") for p in report.known_properties()}, **report.scores()}
    read = [parse_score_rule(rule, name, list(scores)) for rule in rules]
    judged = [(rule, judge_score(rule, scores)) for rule in read]
    return [
        Condition(condition=condition_in_words(rule), found=j.found or "not computed", kept=j.kept, why=j.why)
        for rule, j in judged
    ]


def saved_report(path: str) -> Report | None:
    """Return the report that `divulge quality` or `divulge diagnose` wrote to a file, None where it is another file."""
    from divulge.sdmetrics.reports.saving import report_type

    kind = {"QualityReport": _QUALITY, "DiagnosticReport": _DIAGNOSTIC}.get(report_type(path) or "")
    if kind is None:
        return None
    try:
        return _empty(kind).load(path)
    except ValueError as error:
        raise SettingError(str(error)) from None


def _write(option: str, path: str | None, write: Callable[[str], Any]) -> None:
    if path is None:
        return
    try:
        write(path)
    except (OSError, UnicodeError) as error:
        raise cannot_write(option, error, "file") from None


def _leave(judged: Sequence[Condition]) -> None:
    """Print the rules that are broken, and end with the status for them."""
    broken = [c for c in judged if not c.kept]
    for c in broken:
        say(f"not kept: {clean(f'{c.condition}: found {c.found}, {c.why}')}")
    if broken:
        sys.exit(1)
