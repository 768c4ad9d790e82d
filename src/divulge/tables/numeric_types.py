"""Which types of columns are numbers that float64 holds, by the names that polars, DuckDB and Spark give to types."""

from __future__ import annotations

import re
from typing import NamedTuple

__all__ = ["EXACT", "NumericType", "numeric_type"]

EXACT = 2.0**53
"""Up to here float64 holds every whole number."""
_WHOLE = re.compile(r"u?(big|huge)?int(eger)?(32|64|128)?")  # shorter ones have few values
_DECIMAL = re.compile(r"decimal\D+(\d+)\D+(\d+)\W*")
_TIME = re.compile(r"timestamp(_s|_ms)?( with time zone)?|datetime\(time_unit='[um]s', time_zone=(.*)\)")
_MOST_PLACES = 22  # float64 holds 10**22, so that a decimal is one division of two exact numbers


class NumericType(NamedTuple):
    """A type whose values are numbers."""

    kind: str
    """As in `Numbers`."""
    most: float
    """As in `Numbers`."""
    whole: bool = False
    """As in `Numbers`."""


def numeric_type(name: str) -> NumericType | None:
    """Return what a type is as numbers; None for other types, for 8 and 16 bits, and for what float64 cannot hold.

    Examples
    --------
    >>> numeric_type("BIGINT").kind, numeric_type("DECIMAL(12,2)").most, numeric_type("VARCHAR")
    ('number', 90071992547409.92, None)
    """
    text = name.lower()
    if text in ("double", "float64"):
        return NumericType("number", float("inf"))
    if text in ("float", "float32"):
        return NumericType("float32", float("inf"))
    if _WHOLE.fullmatch(text):
        return NumericType("number", EXACT, True)
    if found := _DECIMAL.fullmatch(text):
        places = int(found[2])
        return NumericType("number", EXACT / 10**places) if places <= _MOST_PLACES else None
    if found := _TIME.fullmatch(text):
        zoned = bool(found[2]) or found[3] not in (None, "none")
        return NumericType("datetime, zoned" if zoned else "datetime", EXACT)
    return None
