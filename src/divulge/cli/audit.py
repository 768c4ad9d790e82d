"""`divulge audit`."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from divulge.cli.log import say, say_nothing
from divulge.cli.options import FILE, FOLDER, beyond_option, names, views_option
from divulge.cli.root import cli
from divulge.cli.show import as_text, cannot_write, check_file, check_place, printed, progress_shown
from divulge.core.errors import SettingError
from divulge.report.documents.console import clean

if TYPE_CHECKING:
    from divulge.auditing.report import AuditReport

__all__ = ["audit", "judge_audit_file"]

_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0}
_TIME = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([smh]?)\s*")


def _seconds(context: click.Context, parameter: click.Parameter, value: str | None) -> float | None:
    """Return a time as seconds: 90, 90s, 20m or 2h."""
    if value is None:
        return None
    match = _TIME.fullmatch(value)
    if not match:
        raise SettingError(f"--{parameter.name}: not a time. hint: 90 (seconds), 20m or 2h.")
    return float(match[1]) * _UNITS[match[2]]


@cli.command(short_help="Test a generator by training it again and again.")
@click.argument("data", type=FILE, required=False)
@click.option(
    "--train",
    "--command",
    "train",
    metavar="COMMAND",
    help="Command that trains the generator and writes a synthetic table: 'python train.py {train} {synthetic} "
    "--seed {seed}'. {rows} is the number of rows to make. No shell runs it.",
)
@click.option(
    "--design",
    metavar="DESIGN",
    default="secrets",
    show_default=True,
    help="What the trainings differ in: secrets (whose secret is whose), halves (who was trained on), "
    "canaries, target, domain.",
)
@click.option(
    "--secrets",
    multiple=True,
    callback=names,
    metavar="COLUMNS",
    help="Columns whose values people exchange, with the design secrets  [default: the last that may be one].",
)
@click.option(
    "--runs", type=click.IntRange(min=1), metavar="N", help="Number of trainings  [default: that of the design]."
)
@click.option(
    "--jobs", type=click.IntRange(min=1), default=1, show_default=True, metavar="N", help="Trainings at a time."
)
@click.option(
    "--budget",
    callback=_seconds,
    metavar="TIME",
    help="Start no training that would not end within this time: 3600, 90m, 2h.",
)
@click.option(
    "--timeout",
    callback=_seconds,
    metavar="TIME",
    help="Time after which a training is stopped  [default: ten times the longest so far].",
)
@click.option(
    "--rows",
    type=click.IntRange(min=1),
    metavar="N",
    help="Rows to make  [default: as many as the training table has].",
)
@click.option(
    "--keep",
    type=FOLDER,
    metavar="DIR",
    help="Folder for logs, synthetic tables and finished trainings  [default: trainings in the folder of --out].",
)
@click.option("--resume", is_flag=True, help="Continue the audit that is kept.")
@click.option("--fresh", is_flag=True, help="Discard the audit that is kept.")
@click.option("--dry-run", is_flag=True, help="Train twice, and print how long all will take and what it can find.")
@click.option(
    "--from-runs",
    type=FOLDER,
    metavar="DIR",
    help="Read the synthetic tables that others made of the training tables of `divulge split --pairs`.",
)
@click.option("--everyone", is_flag=True, help="Let all people exchange their secrets, not a third of them.")
@click.option("--claim", type=click.FloatRange(min=0), metavar="EPSILON", help="Test a claimed epsilon.")
@click.option(
    "--delta",
    type=click.FloatRange(min=0, max=1),
    metavar="DELTA",
    help="Delta of the claimed epsilon  [default: 1 / (10 x people)].",
)
@click.option("--unit", metavar="COLUMN", help="Column that identifies the person or household.")
@click.option("--ignore", multiple=True, callback=names, metavar="COLUMNS", help="Columns to leave out of the attacks.")
@click.option(
    "--missing",
    multiple=True,
    callback=names,
    metavar="CODES",
    help="Values that stand for missing: '?,-8'. With 'none', '?' and the like are values, also in columns of numbers.",
)
@views_option
@beyond_option("the table is", passed_on=False)
@click.option(
    "--out",
    type=FOLDER,
    metavar="DIR",
    default="divulge-audit",
    show_default=True,
    help="Folder to write the report to.",
)
@click.option(
    "--fail-on",
    multiple=True,
    metavar="RULE",
    help="Exit with status 1 when this rule holds: 'swapped_secrets.p < 0.01', 'any.high > 0.05', 'excess'.",
)
@click.option("--junit", type=FILE, metavar="FILE", help="File for rules, tests and trainings as JUnit XML.")
@click.option(
    "--acceptable",
    type=float,
    default=0.05,
    show_default=True,
    help="Largest upper limit of risk that counts as none found.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Seed of the coins and of the trainings' seeds.",
)
@click.option(
    "--level",
    type=click.FloatRange(0.5, 1, min_open=True, max_open=True),
    default=0.95,
    show_default=True,
    help="Confidence level of the intervals.",
)
@click.option("-q", "--quiet", is_flag=True, help="Print no progress and no summary.")
def audit(data: str | None, train: str | None, from_runs: str | None, **options: Any) -> None:  # fmt: skip
    """Train the generator of COMMAND on tables made of DATA, and test what its synthetic tables disclose.

    divulge tosses coins that decide what each training table is like (whose secret is whose; who is in), runs the
    command, attacks each synthetic table, and counts how often the attacker finds out how a coin fell. A guess is
    right half of the time. No holdout is needed.

    Exit status: 0 done, 1 a --fail-on rule was broken, 2 unusable input, 130 interrupted (--resume continues).
    """
    from divulge.auditing.rules import parse_audit_rule

    for rule in options["fail_on"]:
        parse_audit_rule(rule)
    folder, quiet = Path(options["out"]), options["quiet"]
    if not options["out"].strip() or (folder.exists() and not folder.is_dir()):
        raise SettingError("--out: this is not a folder. hint: name a folder.")
    check_place(folder)
    check_file("--junit", options["junit"], [data], None)
    report = _elsewhere(data, train, from_runs) if from_runs else _trained(data, train, folder, options)
    if options["dry_run"]:
        say("the two trainings are kept: the same command with --resume in place of --dry-run goes on with them.")
        return
    _deliver(report, folder, options["fail_on"], options["junit"], quiet=quiet)


def _elsewhere(data: str | None, train: str | None, from_runs: str) -> AuditReport:
    from divulge.auditing.elsewhere import audit_from_runs

    if train is not None:
        raise SettingError("--from-runs: --train is given, too. hint: one of both.")
    return audit_from_runs(from_runs, data)


def _trained(data: str | None, train: str | None, folder: Path, options: dict[str, Any]) -> AuditReport:
    """Train and test."""
    from divulge.auditing.audit import audit as run

    if data is None or train is None:
        what = "DATA" if data is None else "--train"
        raise SettingError(f"{what}: not given. hint: divulge audit data.csv --train 'python train.py {{train}} "
                           "{synthetic} --seed {seed}'.")  # fmt: skip
    if options["resume"] and options["fresh"]:
        raise SettingError("--resume: --fresh is given, too. hint: one of both.")
    taken = ("design", "secrets", "runs", "everyone", "claim", "delta", "unit", "ignore", "missing", "rows", "jobs",
             "budget", "timeout", "resume", "dry_run", "level", "acceptable", "seed")  # fmt: skip
    keep = options["keep"] or folder / "trainings"
    with progress_shown(options["quiet"], noun="training", doing="auditing") as progress:
        return run(
            data, train, **{name: options[name] for name in taken}, keep=keep, discard=options["fresh"],
            progress=progress, say=say_nothing if options["quiet"] and not options["dry_run"] else say,
        )  # fmt: skip


def _deliver(report: AuditReport, folder: Path, rules: Sequence[str], junit: str | None, *, quiet: bool) -> None:
    """Write and print the report, and end with the status of the rules."""
    from divulge.auditing.documents.text import summary
    from divulge.auditing.rules import judge_audit

    report = report.replaced(policy=judge_audit(report.audit, rules))
    try:
        report.write(folder)
    except OSError as error:
        raise cannot_write("--out", error, "folder") from None
    if not quiet:
        printed(report.audit, summary)
        click.echo(f"\nReport: {as_text(folder / 'audit.html')}")
    _write_junit(report, junit)
    sys.exit(_broken(report))


def _write_junit(report: AuditReport, junit: str | None) -> None:
    if junit is None:
        return
    try:
        Path(junit).parent.mkdir(parents=True, exist_ok=True)
        report.to_junit(junit)
    except (OSError, UnicodeError) as error:
        raise cannot_write("--junit", error, "file") from None


def _broken(report: AuditReport) -> int:
    """Print the rules that are broken, and return the exit status."""
    broken = [c for c in report.audit.policy.conditions if not c.kept] if report.audit.policy else []
    for c in broken:
        say(f"not kept: {clean(f'{c.condition}: found {c.found}, {c.why}')}")
    return 1 if broken else 0


def judge_audit_file(path: str, rules: Sequence[str], policy: str | None, junit: str | None) -> int | None:
    """Judge the audit in a file, and return the exit status; None where the file is no audit."""
    from divulge.auditing.report import AuditReport, read_audit
    from divulge.auditing.rules import judge_audit

    found = read_audit(path)
    if found is None:
        return None
    if policy:
        raise SettingError(
            "gate: --policy is about an assessment, and this file is an audit. hint: --fail-on 'swapped_secrets.p < "
            "0.01'."
        )
    report = AuditReport(found).replaced(policy=judge_audit(found, rules))
    _write_junit(report, junit)
    return _broken(report)
