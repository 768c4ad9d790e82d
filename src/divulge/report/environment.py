"""The environment of a run: versions of the packages that can change a number, the machine, and the time."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from importlib.metadata import version
from platform import machine, python_version, system

from divulge.core.errors import SettingError

__all__ = ["fixed_moment", "machine_words", "package_versions", "stated_moment", "stated_seconds"]

_EPOCH = "SOURCE_DATE_EPOCH"
_LAST = 253_402_300_799  # the end of the year 9999

_NEEDED = ("numpy", "polars", "scikit-learn", "scipy")
"""Packages whose version can change a number."""


def package_versions() -> dict[str, str]:
    """Return the version of Python and of each package whose version can change a number."""
    return {"python": python_version(), **{name: version(name) for name in _NEEDED}}


def machine_words() -> str:
    """Return the system and the number of processors: they change times and no other number."""
    return f"{system()} {machine()}, {os.cpu_count()} processors"


def fixed_moment() -> datetime | None:
    """Return the time that SOURCE_DATE_EPOCH gives a report, so that two equal runs write equal bytes; None without it.

    Raises
    ------
    SettingError
        Its value is not a whole number of seconds since 1970.
    """
    given = os.environ.get(_EPOCH, "")
    if not given:
        return None
    if not (given.isascii() and given.isdigit() and len(given) <= 12 and int(given) <= _LAST):
        raise SettingError(
            f"{_EPOCH}: not a whole number of seconds since 1970. hint: unset it, or take what `date +%s` prints."
        )
    return datetime.fromtimestamp(int(given), UTC)


def stated_moment(now: datetime) -> str:
    """Return the time that a report states: that of SOURCE_DATE_EPOCH, or the one given.

    Examples
    --------
    >>> stated_moment(datetime(2026, 11, 22, 8, 30, tzinfo=UTC))
    '2026-11-22T08:30:00+00:00'
    """
    return (fixed_moment() or now).isoformat(timespec="seconds")


def stated_seconds(seconds: float) -> float:
    """Return the duration that a report states: 0 where SOURCE_DATE_EPOCH is set."""
    return seconds if fixed_moment() is None else 0.0
