"""Checks of a table's names and rows, and of the texts that stand for missing."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from os import PathLike
from typing import Any

from divulge.core.errors import ColumnError, NoRowsError, SettingError, TableError

__all__ = ["BROKEN", "check_is_here", "check_missing", "check_rows", "named", "text_names"]

BROKEN = "has half a character (a lone surrogate), which no file can hold."

_ADDRESS = re.compile(r"(.+::)?[a-z][a-z0-9+.-]+:/", re.I | re.S)
"""A scheme of two letters or more: "c:/" is a disk. `Path` makes one slash of two."""


def check_is_here(path: str | PathLike[str], role: str) -> None:
    """Raise a `TableError` where a path is an address, such as "https://..." or "s3://...": nothing is fetched.

    Examples
    --------
    >>> check_is_here("s3://bucket/people.parquet", "real")
    Traceback (most recent call last):
    divulge.core.errors.TableError: real: an address, and divulge reads files of this machine alone. hint: download it; in Python pass a frame that you read from there.
    """  # noqa: E501
    if _ADDRESS.match(str(path)):
        raise TableError(
            f"{role}: an address, and divulge reads files of this machine alone. hint: download it; in Python pass a "
            "frame that you read from there."
        )


def check_missing(missing: Sequence[str]) -> tuple[str, ...]:
    """Return the texts that stand for missing.

    Raises
    ------
    SettingError
        They are no list of texts, or one of them has half a character.
    """
    if isinstance(missing, str) or not all(isinstance(text, str) for text in missing):
        raise SettingError('missing: no list of texts. hint: write the codes as texts: missing=["?", "-8"].')
    if any(map(_is_broken, missing)):
        raise SettingError(f"missing: a code {BROKEN} hint: write it in UTF-8.")
    return tuple(missing)


def check_rows(n_rows: int, names: Sequence[str], role: str) -> None:
    """Raise a NoRowsError where a table has no rows."""
    if n_rows == 0:
        raise NoRowsError(f"{role}: the table has {len(names)} columns and no rows. hint: pass a table with rows.")


def text_names(raw: Sequence[Any], role: str) -> list[str]:
    """Return the names of columns as text; those without one are named as in a file.

    Raises
    ------
    ColumnError
        There is none, two are the same text, or one has half a character.
    """
    names = named([str(name) for name in raw])
    if any(_is_broken(name) for name in names):
        name = next(filter(_is_broken, names))
        raise ColumnError(f"{role}: the column name {name!r} {BROKEN} hint: rename the column.")
    if not names:
        raise ColumnError(f"{role}: the table has no columns. hint: pass a table with at least one column.")
    if len(set(names)) < len(names):
        twice = sorted(name for name, n in Counter(names).items() if n > 1)
        raise ColumnError(f"{role}: column names that occur twice: {', '.join(map(repr, twice))}. hint: rename them.")
    return names


def named(names: Iterable[str]) -> list[str]:
    """Return names in which columns without one have that which pandas gives them, "Unnamed: 0" and so on.

    So a table that went through pandas and one that did not have the same columns. The number is the place, from 0;
    pandas adds ".1" where a column is called so.

    Examples
    --------
    >>> named(["", "age", ""]), named(["", "Unnamed: 0"])
    (['Unnamed: 0', 'age', 'Unnamed: 2'], ['Unnamed: 0.1', 'Unnamed: 0'])
    """
    out = list(names)
    for i, name in enumerate(out):
        if not name:
            free = f"Unnamed: {i}"
            out[i] = next(f for k in range(len(out) + 1) if (f := f"{free}.{k}" if k else free) not in out)
    return out


def _is_broken(text: str) -> bool:
    """Return whether a text has a lone surrogate, so that it cannot be written."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False
