"""`divulge verify`."""

from __future__ import annotations

import sys
from logging import ERROR

import click

from divulge.cli.log import say
from divulge.cli.options import FILE
from divulge.cli.root import cli
from divulge.core.errors import SettingError
from divulge.report.documents.console import clean

__all__ = ["verify"]

_TOLD = 40  # places that are named one by one


@cli.command(short_help="Say whether a report follows from itself, without the data.")
@click.argument("assessment", type=FILE)
@click.option("--signature", type=FILE, metavar="FILE", help="Signature by `ssh-keygen -Y sign -n divulge`.")
@click.option("--signers", type=FILE, metavar="FILE", help="Allowed signers (OpenSSH): a name and a public key a line.")
@click.option("-q", "--quiet", is_flag=True, help="Print only what does not follow.")
def verify(assessment: str, signature: str | None, signers: str | None, quiet: bool) -> None:
    """Recompute what follows from the results of a report (ASSESSMENT, an assessment.json), and say what does not.

    Verdict, sentences, policy, questions and numbers must follow from each other, in either edition; a custodian's
    report is compared with the external edition beside it (external/assessment.json). Whether the numbers are those of
    the tables only the data can tell.

    Exit status: 0 all of it follows, 1 something does not or the signature is not good, 2 unusable input.
    """
    from divulge.verifying.signature import signer
    from divulge.verifying.verify import verify as verified

    if (signature is None) != (signers is None):
        raise SettingError("--signature: it needs --signers, and --signers needs it. hint: give both files.")
    found = verified(assessment)
    by = None if signature is None or signers is None else signer(assessment, signature, signers)
    faults = [f"does not follow: {f}" for f in found.faults]
    if signature is not None and by is None:
        faults.append("signature: not of this file, or of nobody among the signers")
    if not quiet:
        edition = "custodian's edition" if found.edition == "custodian" else "external edition"
        click.echo(f"{edition}, {found.n_results:,} results")
        for what in found.checked:
            click.echo(f"recomputed: {what}")
        for what in found.unchecked:
            click.echo(f"not checked: {what}")
    if by is not None and not quiet:
        click.echo(f"signature: good, by {clean(by)}")
    for fault in faults[:_TOLD]:
        say(clean(fault), level=ERROR)
    if len(faults) > _TOLD:
        say(f"{len(faults) - _TOLD:,} more places do not follow", level=ERROR)
    if not faults and not quiet:
        click.echo("All that was recomputed follows.")
    sys.exit(1 if faults else 0)
