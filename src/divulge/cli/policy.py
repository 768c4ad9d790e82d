"""`divulge policy`."""

from __future__ import annotations

import click

from divulge.cli.options import FILE
from divulge.cli.root import cli
from divulge.report.documents.console import clean

__all__ = ["policy"]


@cli.command(short_help="Print a template of a policy, or check a policy.")
@click.option("--check", type=FILE, metavar="FILE", help="Check this policy, and print its conditions in words.")
def policy(check: str | None) -> None:
    """Print a template of a policy, as TOML with comments, to edit and pass to `divulge assess` or `divulge gate`.

    A policy states, before the run, the conditions under which the synthetic table may be released.
    """
    from divulge.release.conditions import conditions
    from divulge.release.policy import TEMPLATE, Policy, read_policy

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
