"""`divulge attacks`."""

from __future__ import annotations

import click

from divulge.cli.root import cli

__all__ = ["attacks"]


@cli.command()
def attacks() -> None:
    """List the attacks: what each asks, needs and refers to."""
    from divulge.attacks import CATALOGUE

    for name in sorted(CATALOGUE, key=lambda n: (CATALOGUE[n].family, n)):
        entry = CATALOGUE[name]
        click.echo(
            f"{name}  [{entry.family}]\n  asks   {entry.question}\n  needs  {entry.needs}\n  from   {entry.reference}\n"
        )
