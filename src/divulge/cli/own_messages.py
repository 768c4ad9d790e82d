"""Standard error for what divulge says alone: libraries in Rust write their panics there, which may quote a value."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["own_messages"]

_ERRORS = 2  # the number of standard error


@contextmanager
def own_messages() -> Iterator[None]:
    """Have `sys.stderr` go where standard error goes, and what libraries write there go nowhere.

    With DIVULGE_DEBUG, and where somebody has replaced `sys.stderr`, nothing is changed.
    """
    before = sys.stderr
    if os.environ.get("DIVULGE_DEBUG") or not _is_usual():
        yield
        return
    own, nowhere = os.dup(_ERRORS), os.open(os.devnull, os.O_WRONLY)
    before.flush()
    os.dup2(nowhere, _ERRORS)
    os.close(nowhere)
    sys.stderr = open(own, "w", buffering=1, encoding=before.encoding, errors=before.errors)  # noqa: SIM115
    try:
        yield
    finally:
        if not sys.stderr.closed:  # the reader of a pipe went away
            sys.stderr.flush()
            os.dup2(own, _ERRORS)
            sys.stderr.close()
        sys.stderr = before


def _is_usual() -> bool:
    try:
        return sys.stderr.fileno() == _ERRORS
    except (AttributeError, OSError, ValueError):  # none, or one in memory
        return False
