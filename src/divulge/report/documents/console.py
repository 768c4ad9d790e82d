"""Text as a terminal shows it, made without a terminal."""

from __future__ import annotations

import io
from collections.abc import Iterable
from typing import Any

__all__ = ["as_terminal_text", "clean"]


def clean(text: object) -> str:
    """Return text with control characters replaced: column names are untrusted and must not control the terminal."""
    return "".join(c if c.isprintable() else "\ufffd" for c in str(text))


def as_terminal_text(parts: Iterable[Any], *, width: int, colour: bool = False) -> str:
    r"""Return what rich prints of texts and tables, as text.

    Examples
    --------
    >>> as_terminal_text(["a", "b"], width=60)
    'a\nb'
    """
    from rich.console import Console

    stream = io.StringIO()
    console = Console(
        file=stream,
        width=width,
        force_terminal=colour,
        force_jupyter=False,  # in a notebook rich would display the text itself, and the stream would stay empty
        no_color=not colour,
        highlight=False,
        legacy_windows=False,
    )
    for part in parts:
        console.print(part)
    return stream.getvalue().rstrip()
