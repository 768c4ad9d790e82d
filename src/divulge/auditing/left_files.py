"""What a training leaves: it is read where it is a file of a size that a table can have, and not for ever."""

from __future__ import annotations

import stat
import threading
from collections.abc import Callable
from contextvars import copy_context
from pathlib import Path
from typing import TypeVar

from divulge.core.memory import in_bytes

__all__ = ["unfit", "within"]

_T = TypeVar("_T")


def unfit(path: Path, most: int) -> str:
    """Return why a path is not read, in words; "" where it is a file of at most so many bytes.

    A link counts as what it leads to.

    Examples
    --------
    >>> unfit(Path("/dev/zero"), 100)
    'a device or a pipe, not a file,'
    """
    try:
        there = path.stat()
    except OSError:
        return "no file"
    if not stat.S_ISREG(there.st_mode):
        return "a folder" if stat.S_ISDIR(there.st_mode) else "a device or a pipe, not a file,"
    return f"a file of more than {in_bytes(most)}" if there.st_size > most else ""


def within(seconds: float, ask: Callable[[], _T]) -> _T | None:
    """Return an answer that comes within some seconds, or None; the thread that asks is left to itself then."""
    answers: list[_T] = []
    errors: list[BaseException] = []

    def answer() -> None:
        try:
            answers.append(ask())
        except BaseException as error:  # it is raised where the answer is awaited
            errors.append(error)

    thread = threading.Thread(target=copy_context().run, args=(answer,), daemon=True)
    thread.start()
    thread.join(seconds)
    if errors:
        raise errors[0]
    return answers[0] if answers else None
