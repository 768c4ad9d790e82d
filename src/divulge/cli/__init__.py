"""The command line. Heavy modules load inside the commands, so that --help answers at once."""

from __future__ import annotations

import errno
import os
import sys
from logging import CRITICAL, ERROR
from typing import NoReturn

import click

from divulge.cli import (
    assess,
    audit,
    catalogue,
    compare,
    completion,
    fidelity,
    gate,
    membership,
    plan,
    quality,
    render,
    split,
    tables,
    verify,
)
from divulge.cli.log import logged, say, start_log
from divulge.cli.own_messages import own_messages
from divulge.cli.root import cli
from divulge.cli.termination import STATUS, terminable, was_terminated
from divulge.core.errors import DivulgeError, shortened
from divulge.core.private_folders import remove_private_folders
from divulge.report.documents.console import clean

__all__ = [
    "assess", "audit", "catalogue", "cli", "compare", "completion", "fidelity", "gate", "main", "membership",
    "plan", "quality", "render", "split", "tables", "verify",
]  # fmt: skip


def main() -> None:
    """Run the command line; a mistake in the input ends with one message and exit status 2."""
    start_log()
    with own_messages(), terminable():
        _run()


def _run() -> NoReturn:
    try:
        code = cli.main(standalone_mode=False)
        sys.exit(code if isinstance(code, int) else 0)
    except click.exceptions.Abort as abort:
        _leave(abort.__cause__)
    except KeyboardInterrupt:  # before or after the command itself
        _leave(None)
    except click.ClickException as error:
        _show(error)
        sys.exit(2)
    except DivulgeError as error:
        say(clean(_told(str(error.args[0]))), level=ERROR)
        sys.exit(2)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)
    except OSError as error:
        _unwritten(error)
    except SystemExit:
        raise
    except BaseException as error:  # a panic of a library in Rust is no Exception
        if (interrupt := _interrupt_before(error)) is not None:
            _leave(interrupt)
        _unforeseen(error)


def _interrupt_before(error: BaseException) -> KeyboardInterrupt | None:
    """Return the interrupt while whose handling an error was raised, as where a second signal came."""
    passed: set[int] = set()
    left: list[BaseException | None] = [error]
    while left:
        before = left.pop()
        if isinstance(before, KeyboardInterrupt):
            return before
        if before is not None and id(before) not in passed:
            passed.add(id(before))
            left += [before.__cause__, before.__context__]
    return None


def _unwritten(error: OSError) -> NoReturn:
    """Print that the output, such as a schema on standard output, cannot be written; other errors are unforeseen."""
    if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO):
        _unforeseen(error)
    say(f"cannot write the output ({error.strerror}). hint: write it elsewhere.", level=ERROR)
    sys.exit(2)


def _unforeseen(error: BaseException) -> NoReturn:
    from divulge.core.memory import is_of_memory

    if is_of_memory(error):
        hint = "leave columns out, or take fewer rows; `divulge plan` tells what a run needs."
        say(f"there was not enough memory. hint: {hint}", level=ERROR)
        sys.exit(2)
    if os.environ.get("DIVULGE_DEBUG"):
        raise error
    # a library's message may hold a data value: only the type of the error is shown
    say(
        f"internal error ({type(error).__name__}); your files are unchanged. hint: please report it; "
        "DIVULGE_DEBUG=1 prints the traceback, which may hold data values.",
        level=CRITICAL,
    )
    sys.exit(3)


def _show(error: click.ClickException) -> None:
    """Print what click says about options and arguments."""
    message = error.format_message()
    if logged():
        say(_told(message), level=ERROR)
        return
    if _told(message) == message:
        error.show()
        return
    context = getattr(error, "ctx", None)
    usage = f"{context.get_usage()}\n" if context else ""
    click.echo(f"{usage}Error: {_told(message)}", err=True)


def _told(message: str) -> str:
    """Return a message as it may be shown: not too long, and with --edition external without names."""
    if not {"external", "--edition=external"} & set(sys.argv):
        return shortened(message)
    from divulge.report.external.masking import masked

    given = [a.partition("=")[2] if a.startswith("-") else a for a in sys.argv[1:]]
    own = _own_words()
    options = {a.partition("=")[0] for a in sys.argv[1:] if a.startswith("--")}  # some click versions quote none
    typed = ({part for a in given for part in (a, *map(str.strip, a.split(",")))} | options) - own
    return shortened(masked(message, typed, own))


def _own_words() -> set[str]:
    """Return the words of the command line itself: commands, options and their choices."""
    params = [p for command in cli.commands.values() for p in command.params]
    choices = {str(c) for p in params if isinstance(p.type, click.Choice) for c in p.type.choices}
    return {*cli.commands, *choices, *(o for p in params for o in (*p.opts, *p.secondary_opts) if o.startswith("-"))}


def _leave(cause: BaseException | None) -> NoReturn:
    """Print what is kept of an interrupted run, and exit without waiting for running threads."""
    kept, planned = getattr(cause, "kept", 0), getattr(cause, "planned", 0)
    by, status = ("ended by SIGTERM", STATUS) if was_terminated() else ("interrupted", 130)
    message = f"{by}; nothing was written."
    if kept:
        what = getattr(cause, "what", "tests")
        message = f"{by}; {kept} of {planned} {what} are kept; repeat the command with --resume to continue."
    say(message, level=ERROR)
    remove_private_folders()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)
