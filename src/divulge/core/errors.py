"""The errors of divulge: what was asked, what was found and what to do, never a data value; names are untrusted."""

import re

__all__ = [
    "MOST",
    "ColumnError",
    "DivulgeError",
    "FrameError",
    "NoRowsError",
    "SettingError",
    "SizeError",
    "TableError",
    "escaped",
    "shortened",
    "tidy",
]

MOST = 500
"""Characters of a message at most."""

_JOINERS = "\u200c\u200d"  # some scripts cannot be spelt without them
_CUT = "…"
_HINT = "hint:"
_QUOTED = r"""(?<!\w)(?:'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*")(?!\w)"""
_PIECES = re.compile(rf"{_QUOTED}|\s+|[^\s'\"]+|.", re.DOTALL)
_LENGTHS = (120, 60, 30)
"""Characters at most of one name; the next length is tried where the message is still too long."""


def shortened(message: str, most: int = MOST) -> str:
    """Return a message of at most `most` characters, with what follows "hint: " kept.

    Long names are cut in the middle. If this is not enough, words in the middle of the message are left out. A quoted
    name is kept or left out as a whole, or cut within its quotation marks, so that quotation marks stay in pairs.

    Examples
    --------
    >>> shortened(f"keys: no column '{'a' * 600}'. hint: rename it.") == (
    ...     f"keys: no column '{'a' * 58}…{'a' * 59}'. hint: rename it."
    ... )
    True
    """
    if len(message) <= most:
        return message
    pieces = _PIECES.findall(message)
    for length in _LENGTHS:
        pieces = [_cut(piece, length) for piece in pieces]
        if sum(map(len, pieces)) <= most:
            return "".join(pieces)
    hints = [i for i, piece in enumerate(pieces) if piece == _HINT]
    if not hints:
        return "".join(_without_middle(pieces, most))
    hint = _without_middle(pieces[hints[-1] :], most // 2)
    return "".join(_without_middle(pieces[: hints[-1]], most - sum(map(len, hint)) - 1)).rstrip() + " " + "".join(hint)


def _cut(piece: str, length: int) -> str:
    """Return a word or a quoted name of at most `length` characters, cut in the middle."""
    if len(piece) <= length:
        return piece
    head = (length - 1) // 2
    tail = piece[head + 1 - length : -1].lstrip("\\'\"")  # half of an escape would end the quotation
    return piece[:head] + _CUT + tail + piece[-1]


def _without_middle(pieces: list[str], most: int) -> list[str]:
    """Return pieces of at most `most` characters together; those in the middle are left out."""
    if sum(map(len, pieces)) <= most:
        return pieces
    room = most - len(_CUT)
    head = _fitting(pieces, room // 2)
    tail = _fitting(pieces[::-1], room - sum(map(len, head)))[::-1]
    return [*head, _CUT, *tail]


def _fitting(pieces: list[str], room: int) -> list[str]:
    """Return the first pieces that have at most `room` characters together."""
    out: list[str] = []
    for piece in pieces:
        room -= len(piece)
        if room < 0:
            break
        out.append(piece)
    return out


class DivulgeError(Exception):
    """A mistake in the input that the user can correct; the command line prints it as one message.

    As text a long message is shortened (see `shortened`); `args` has the whole.
    """

    def __str__(self) -> str:
        return shortened(super().__str__())


class FrameError(DivulgeError, TypeError):
    """A table of a kind that cannot be read."""


class TableError(DivulgeError, ValueError):
    """A table that was read but cannot be used: empty, broken, wrong encoding."""


class NoRowsError(TableError):
    """A table, or a file of one, has columns and no rows."""


class ColumnError(DivulgeError, ValueError):
    """A column that is missing, occurs twice, or has a kind that does not fit its role."""


class SettingError(DivulgeError, ValueError):
    """An option outside its range, or options that contradict each other."""


class SizeError(DivulgeError, MemoryError):
    """A run that does not fit into the memory that there is."""


def tidy(text: object) -> str:
    r"""Return text without control and direction characters: column names are untrusted.

    Examples
    --------
    >>> tidy("age\u202e") == "age\ufffd"
    True
    """
    return "".join(c if c.isprintable() or c in _JOINERS else "\ufffd" for c in str(text))


def escaped(toml: str) -> str:
    r"""Return TOML with control and direction characters as escapes, so that a terminal shows what a name holds.

    Examples
    --------
    >>> print(escaped('["a\u202eb"]\n'), end="")
    ["a\u202Eb"]
    """
    return "".join(c if c.isprintable() or c in f"\n{_JOINERS}" else _escape(c) for c in toml)


def _escape(sign: str) -> str:
    return f"\\u{ord(sign):04X}" if ord(sign) < 0x10000 else f"\\U{ord(sign):08X}"
