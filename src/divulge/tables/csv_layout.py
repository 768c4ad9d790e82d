"""How the lines of a CSV file stand: what is above its header, and blanks around its separators."""

from __future__ import annotations

import csv
import re
from typing import NamedTuple

from divulge.tables.table_layout import header_row, is_number

__all__ = ["SEPARATORS", "Top", "is_padded", "separator_of", "split_header", "top_of", "without_blanks"]

SEPARATORS = ",;\t|"
_HEAD = 1 << 16  # bytes at the beginning that are looked at where the header is not plain
_FIRST = 30  # lines
_OWN_SEPARATOR = re.compile(rb"\"?sep=([^\w\"\r\n])\"?[,;\t ]*\r?\n", re.I)
"""The first line by which Excel is told the separator."""


class Top(NamedTuple):
    """The header of a CSV file, and what stands around it."""

    header: str
    """The line, unchanged; a quoted name may contain a line break."""
    body: bytes
    """What is below it."""
    separator: str
    n_above: int
    """Lines of the file above the body."""
    notes: tuple[str, ...]


def top_of(data: bytes, suffix: str) -> Top:
    """Return the header of a text: the first line, unless it names the separator, or is a comment or a title.

    Parameters
    ----------
    data
        UTF-8.
    suffix
        Of the file's name: of equally common separators ".tsv" takes the tab.
    """
    notes: list[str] = []
    content = data.lstrip(b"\r\n")
    given = ""
    if own := _OWN_SEPARATOR.match(content):
        given, content = own[1].decode("latin-1"), content[own.end() :].lstrip(b"\r\n")
    if content.startswith(b"#"):
        below = _below_comments(content, suffix, given)
        if len(below) < len(content):
            n = sum(line.startswith(b"#") for line in content[: len(content) - len(below)].split(b"\n"))
            lines = "1 line that begins with # was" if n == 1 else f"{n} lines that begin with # were"
            notes.append(f"{lines} passed over above the header")
            content = below
    header, body = split_header(content)
    separator = given or separator_of(header, suffix)
    if not _is_plain(header, body, separator) and (title := _length_of_titles(content, suffix, given)):
        content = content[title:]
        line = data[: len(data) - len(content)].count(b"\n") + 1
        above = "line 1 above it was" if line == 2 else f"the {line - 1} lines above it were"
        notes.append(f"the header was taken from line {line}: {above} passed over")
        header, body = split_header(content)
        separator = given or separator_of(header, suffix)
    n_above = data[: len(data) - len(content)].count(b"\n") + header.count("\n") + 1
    return Top(header, body, separator, n_above, tuple(notes))


def split_header(content: bytes) -> tuple[str, bytes]:
    """Return the header as text and the rows as bytes; a quoted name may contain a line break."""
    end = content.find(b"\n")
    while end >= 0 and content.count(b'"', 0, end) % 2:
        end = content.find(b"\n", end + 1)
    if end < 0:
        return content.decode(), b""
    return content[:end].rstrip(b"\r").decode(), content[end + 1 :]


def separator_of(header: str, suffix: str) -> str:
    """Return the separator that a header shows."""
    outside = re.sub(r'"[^"]*"', "", header)
    if suffix == ".tsv" and "\t" in outside:
        return "\t"
    # the commonest; the first of the list among equals, comma when there is none
    return max(SEPARATORS, key=outside.count)


def _is_plain(header: str, body: bytes, separator: str) -> bool:
    """Return whether a line is a header of several names, with a row of as many fields below, as most are."""
    names = _fields(header, separator)
    first = body[:_HEAD].lstrip(b"\r\n").split(b"\n", 1)[0].decode(errors="replace").rstrip("\r")
    return len(names) > 1 and all(names) and len(_fields(first, separator)) in (0, len(names))


def _fields(line: str, separator: str) -> list[str | None]:
    try:
        return [field.strip() or None for field in next(csv.reader([line], delimiter=separator), [])]
    except csv.Error:
        return []


def _below_comments(content: bytes, suffix: str, given: str) -> bytes:
    """Return what is below the lines that begin with "#"; the last of them may be the header."""
    rest = content
    while rest.startswith(b"#"):
        line, end, below = rest.partition(b"\n")
        below = below.lstrip(b"\r\n")
        if not end or not below:
            return rest
        if not below.startswith(b"#") and _is_header(line, below, suffix, given):
            return rest
        rest = below
    return rest


def _is_header(line: bytes, below: bytes, suffix: str, given: str) -> bool:
    """Return whether a line that begins with "#" is the header of the lines below it, as in "#id,age"."""
    first = below[:_HEAD].split(b"\n", 2)
    separator = given or separator_of(first[0].decode(errors="replace"), suffix)
    texts = (text.decode(errors="replace").rstrip("\r") for text in (line, first[0], first[1] if first[1:] else b""))
    own, found, after = (_fields(text, separator) for text in texts)
    if len(own) != len(found):
        return False
    if any(map(is_number, found)):
        return True  # a record, so that nothing else can be the header
    return not line.startswith((b"# ", b"##")) and not any(map(is_number, after))


def _length_of_titles(content: bytes, suffix: str, given: str) -> int:
    """Return the bytes of the lines above the header that are titles; 0 where there are none."""
    head = content[:_HEAD]
    lines = head.split(b"\n")[: _FIRST + 1]
    if len(lines) <= _FIRST and len(content) > _HEAD:
        lines = lines[:-1]  # the last may be cut
    texts = [line.decode(errors="replace").rstrip("\r") for line in lines[:_FIRST]]
    widest = max(texts[1:], key=lambda text: max(map(text.count, SEPARATORS)), default="")
    separator = given or separator_of(widest, suffix)
    row = header_row([_fields(text, separator) for text in texts])
    return sum(len(line) + 1 for line in lines[:row])


# ---------------------------------------------------------------- blanks around separators

_QUOTED = rb'"(?:[^"]|"")*"'


def is_padded(body: bytes, separator: str) -> bool:
    """Return whether a blank stands beside each separator of the first lines, as in "30, cook"."""
    end = body.find(b"\n")
    own = separator.encode()
    blank = b" " if separator == "\t" else b"[ \t]"
    beside = rb"%b%b|%b%b" % (blank, re.escape(own), re.escape(own), blank)
    first = body if end < 0 else body[:end].rstrip(b"\r")
    if not (re.search(beside, first) or first.endswith(own)):
        return False
    head = body[:_HEAD]
    if len(body) > _HEAD:
        head = head[: head.rfind(b"\n") + 1] or head
    outside = re.sub(_QUOTED, b"q", head)
    padded = rb"(?m)(?<=%b)%b|%b(?=%b|\r?$)" % (blank, re.escape(own), re.escape(own), blank)
    n = outside.count(own)
    return n > 0 and n == len(re.findall(padded, outside)) and re.search(beside, outside) is not None


def without_blanks(text: bytes, separator: str) -> bytes:
    r"""Return lines without the blanks around separators and at the ends of lines; those inside quotation marks stay.

    Examples
    --------
    >>> without_blanks(b'30, cook \n 41 ,"a, b"', ",")
    b'30,cook\n41,"a, b"'
    """
    own = re.escape(separator.encode())
    blank = b" " if separator == "\t" else b"[ \t]"
    ends = rb"%b*(%b|\r?\n)%b*" % (blank, own, blank)
    pattern = rb"(%b)|%b" % (_QUOTED, ends) if b'"' in text else ends
    return re.sub(pattern, rb"\1\2" if b'"' in text else rb"\1", text).strip(blank.strip(b"[]"))
