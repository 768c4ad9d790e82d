"""The command line. Heavy modules load inside the commands, so that --help answers at once."""

from __future__ import annotations

import os
import sys

import click

from divulge.cli import assess, catalogue, tables
from divulge.cli.root import cli
from divulge.errors import DivulgeError

__all__ = ["assess", "catalogue", "cli", "main", "tables"]


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
