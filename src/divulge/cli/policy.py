"""`divulge policy`."""

from __future__ import annotations

import click

from divulge.cli.options import FILE
from divulge.cli.root import cli

__all__ = ["policy"]


@cli.command()
@click.option("--check", type=FILE, metavar="FILE", help="Say in words what this policy asks.")
def policy(check: str | None) -> None:
    """Write a policy to edit and pass to `divulge assess` or `divulge gate` with --policy, as TOML with comments.

    A policy says beforehand what must hold before the synthetic table may leave the house.
    """
    from divulge.release.conditions import conditions
    from divulge.release.policy import TEMPLATE, Policy, read_policy

    if check is None:
        click.echo(TEMPLATE, nl=False)
        return
    from divulge.report.documents.terminal import clean

    given = read_policy(check)
    asked = conditions(given)
    click.echo(f"{clean(given.name)}: {len(asked)} condition{'' if len(asked) == 1 else 's'}")
    if asked == conditions(Policy()):
        click.echo("The file asks for nothing beyond the defaults, which are:")
    for words in asked:
        click.echo(f"- {clean(words)}")
