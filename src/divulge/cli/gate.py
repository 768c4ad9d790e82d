"""`divulge policy` and `divulge gate`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from logging import ERROR
from pathlib import Path
from typing import TYPE_CHECKING

import click

from divulge.cli.audit import judge_audit_file
from divulge.cli.log import say
from divulge.cli.options import FILE
from divulge.cli.quality import judged_scores, saved_report
from divulge.cli.root import cli
from divulge.cli.show import cannot_write, check_file
from divulge.core.atomic_write import written
from divulge.core.errors import DivulgeError, SettingError
from divulge.report.documents.console import as_terminal_text, clean

if TYPE_CHECKING:
    from divulge.report.model import Assessment
    from divulge.report.policy_model import Policy
    from divulge.sdmetrics.reports.base import Report

__all__ = ["gate", "policy", "previous_run", "write_junit"]


@cli.command(short_help="Print a template of a policy, or check a policy.")
@click.option("--check", type=FILE, metavar="FILE", help="Check this policy, and print its conditions in words.")
@click.option(
    "--regime",
    metavar="NAME",
    help="Print the policy of a regime: wp216, gdpr-recipient, ehds, sp800-226, "
    "or a TOML file of your own. Each line says why it is there.",
)
def policy(check: str | None, regime: str | None) -> None:
    """Print a template of a policy, as TOML with comments, to edit and pass to `divulge assess` or `divulge gate`.

    A policy states, before the run, the conditions under which the synthetic table may be released. The policy of a
    regime is a mapping by us, no legal statement.
    """
    from divulge.release.conditions import conditions
    from divulge.release.policy import TEMPLATE, Policy, read_policy

    if regime is not None:
        from divulge.release.regimes.regime import policy_text, read_regime

        if check is not None:
            raise SettingError("--check: a regime is no policy. hint: write its policy to a file, and check that.")
        click.echo(policy_text(read_regime(regime)), nl=False)
        return
    if check is None:
        click.echo(TEMPLATE, nl=False)
        return

    given = read_policy(check)
    asked = conditions(given)
    click.echo(f"{clean(given.name)}: {len(asked)} condition{'' if len(asked) == 1 else 's'}")
    if asked == conditions(Policy()):
        click.echo("The file sets no condition beyond the defaults, which are:")
    for words in asked:
        click.echo(f"- {clean(words)}")


@cli.command(short_help="Check a finished assessment against a policy.")
@click.argument("assessment", type=FILE)
@click.option(
    "--policy",
    "policy_file",
    type=FILE,
    metavar="FILE",
    help="Policy (TOML) to judge by; `divulge policy` writes a template.",
)
@click.option("--fail-on", multiple=True, metavar="RULE", help="Rule that must not hold, as in `divulge assess`.")
@click.option(
    "--baseline", type=FILE, metavar="FILE", help="assessment.json of an earlier run: what has changed since then."
)
@click.option("--junit", type=FILE, metavar="FILE", help="File for the outcome as JUnit XML.")
@click.option("-q", "--quiet", is_flag=True, help="Print no table.")
def gate(
    assessment: str,
    policy_file: str | None,
    fail_on: Sequence[str],
    baseline: str | None,
    junit: str | None,
    quiet: bool,
) -> None:
    """Check the assessment.json of a report (ASSESSMENT) against a policy, without the data.

    ASSESSMENT may also be a file that `divulge quality --json` or `divulge diagnose --json` wrote; --fail-on then takes
    rules such as 'quality.score < 0.9'. Of an audit.json that `divulge audit` wrote, it takes rules such as
    'swapped_secrets.p < 0.01'.

    Exit status: 0 all conditions are met, 1 a condition is broken, 2 unusable input.
    """
    from msgspec.structs import replace

    from divulge.release.baseline import change
    from divulge.release.conditions import judge_policy
    from divulge.release.policy import read_policy
    from divulge.report.prose.sampled import sampled_in_words
    from divulge.report.report import Report as Assessed

    if not policy_file and not fail_on:
        raise SettingError("gate: nothing to judge by. hint: give --policy FILE or --fail-on RULE.")
    check_file("--junit", junit, [assessment, policy_file or None, baseline], Path(assessment).parent)
    if (status := judge_audit_file(assessment, fail_on, policy_file, junit)) is not None:
        sys.exit(status)
    if saved := saved_report(assessment):
        sys.exit(_judge_scores(saved, policy_file or junit, fail_on, quiet))
    policy = read_policy(policy_file) if policy_file else None
    data = Assessed.from_json(assessment).assessment
    previous = previous_run(baseline)
    data = data if previous is None else replace(data, change=change(data, previous))
    judged = judge_policy(data, policy, fail_on, previous)
    if junit:
        write_junit(junit, replace(data, policy=judged))
    if not quiet and (asked := sampled_in_words(data)):
        click.echo(asked)
    sys.exit(_told(judged, quiet))


def _judge_scores(report: Report, other: str | None, rules: Sequence[str], quiet: bool) -> int:
    """Judge a report of `divulge quality` or `divulge diagnose`, and return the exit status."""
    from divulge.report.policy_model import Policy

    if other:
        raise SettingError(
            "gate: --policy and --junit are about an assessment, and this file has the scores of tables. hint: give "
            "--fail-on 'quality.score < 0.9'."
        )
    judged = judged_scores(report, rules)
    return _told(Policy(name="scores", sha256=None, kept=all(c.kept for c in judged), conditions=tuple(judged)), quiet)


def _told(judged: Policy, quiet: bool) -> int:
    """Print what was found about each condition, and return the exit status."""
    from divulge.release.conditions import broken

    if not quiet:
        click.echo(_table(judged))
    for sentence in broken(judged):
        say(f"not kept: {clean(sentence)}", level=ERROR)
    return 0 if judged.kept else 1


def write_junit(path: str, data: Assessment) -> None:
    """Write an assessment as JUnit XML, to a temporary name first."""
    from divulge.report.documents.junit import junit

    target = Path(path)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        written(junit(data), target)
    except (OSError, UnicodeError) as error:
        raise cannot_write("--junit", error, "file") from None


def previous_run(path: str | None) -> Assessment | None:
    """Return an earlier assessment, read before the run; None when none was given."""
    if path is None:
        return None
    from divulge.report.report import Report

    try:
        return Report.from_json(path).assessment
    except DivulgeError as error:
        raise SettingError(f"--baseline: {error}") from None


def _table(judged: Policy) -> str:
    import shutil

    from rich.text import Text

    from divulge.report.blocks.table import Col, Table
    from divulge.report.documents.tables import terminal_table

    cols = [
        Col("condition", lambda c: c.condition),
        Col("found", lambda c: c.found),
        Col("kept", lambda c: "yes" if c.kept else "NO"),
    ]
    width = shutil.get_terminal_size((110, 24)).columns if sys.stdout.isatty() else 110
    told = Text(f"{clean(judged.name)}: {'kept' if judged.kept else 'NOT KEPT'}")
    table = terminal_table(Table("Conditions", cols, judged.conditions))
    return as_terminal_text([told, table], width=max(width, 60))
