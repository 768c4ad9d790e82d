"""`divulge policy`."""

from __future__ import annotations

import click

from divulge.cli.options import FILE
from divulge.cli.root import cli
from divulge.core.errors import SettingError
from divulge.report.documents.console import clean

__all__ = ["policy"]


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
