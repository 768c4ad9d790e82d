"""The messages of a command on standard error, as short lines, as lines with times, or as JSON objects."""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime
from typing import Any

import click

from divulge.report.documents.console import clean

__all__ = ["log_option", "logged", "say", "say_nothing", "start_log"]

_LOG = logging.getLogger("divulge")
_READ = "divulge.read"
"""The log to which reading tells how it read a file."""


class _Text(logging.Formatter):
    """A line with time and level."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        return f"{_moment(record)} {record.levelname} {record.getMessage()}"


class _Json(logging.Formatter):
    """A JSON object, with the numbers of the message."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        told = {"time": _moment(record), "level": record.levelname, "message": record.getMessage()}
        return json.dumps(told | getattr(record, "numbers", {}))


class _Handler(logging.Handler):
    """Writes to what is standard error at the time."""

    def __init__(self) -> None:
        super().__init__()
        self.told = set[str]()
        """How files were read, as far as it was said."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write a line; how a file was read once, however often it is read, and not with --quiet."""
        if record.name == _READ:
            context = click.get_current_context(silent=True)
            if context is not None and context.params.get("quiet"):
                return
            record.msg, record.args = clean(record.getMessage()), ()
        if record.getMessage() in self.told:
            return
        if record.name == _READ:
            self.told.add(record.getMessage())
        click.echo(self.format(record), err=True)


_PLAIN = logging.Formatter("divulge: %(message)s")
_FORMATS = {"text": _Text(), "json": _Json()}
_handler = _Handler()


def start_log(form: str | None = None) -> None:
    """Have messages written from now on as "text" or "json"; None writes short lines without times."""
    _handler.setFormatter(_FORMATS[form] if form else _PLAIN)
    _handler.told.clear()
    _LOG.handlers, _LOG.propagate = [_handler], False
    _LOG.setLevel(logging.INFO)


def logged() -> bool:
    """Return whether messages go to a log, with times."""
    return _handler.formatter in _FORMATS.values()


def say(told: str, *, level: int = logging.INFO, **numbers: Any) -> None:
    """Write a message; JSON has the numbers, too."""
    if _handler.formatter is None:
        start_log()
    _LOG.log(level, "%s", told, extra={"numbers": numbers})


def say_nothing(told: str) -> None:
    """Write nothing."""


def _moment(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="seconds")


def _chosen(_: click.Context, __: click.Parameter, form: str | None) -> None:
    if form:
        start_log(form)


log_option = click.Option(
    ["--log"], type=click.Choice(list(_FORMATS)), callback=_chosen, expose_value=False, is_eager=True,
    help="Write messages with times: as lines of text, or as JSON objects, one a line.  [default: short lines, or a "
    "bar on a terminal]",
)  # fmt: skip
