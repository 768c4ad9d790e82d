"""Columns of objects that are numbers, durations, times of day or periods, as numbers of a dtype.

SDMetrics refuses most of them. A column is read in all tables together, so that its numbers have one unit and one
origin: whole numbers and decimals of more digits than float64 has are told from the smallest of all tables.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import chain
from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.sdmetrics.columns import CodedColumn, Column

__all__ = ["as_numbers", "family_of", "hashable", "is_plain"]

_EXACT = 2**53
"""Up to here float64 holds every whole number."""
_DIGITS = 15
"""Decimals of so many digits stay apart as float64."""
_MICROSECOND = datetime.timedelta(microseconds=1)


def is_plain(column: Column) -> bool:
    """Return whether the values are numbers, instants or durations of a dtype of numpy."""
    return column.dtype.kind in "biufmM"


def family_of(columns: Sequence[Column]) -> str | None:
    """Return what all values of a column are in its tables: number, duration, time or period; None for anything else.

    Examples
    --------
    >>> family_of([Column("O", np.array([Decimal("1.5"), None], dtype=object)), Column("i", np.array([2]))])
    'number'
    """
    kinds = {_family_of_kind(kind) for column in columns for kind in _kinds(column)}
    if kinds != {"period"}:
        return kinds.pop() if len(kinds) == 1 else None
    return "period" if len({p.freq for column in columns for p in _known(column)}) == 1 else None


def _kinds(column: Column) -> set[Any]:
    if is_plain(column):
        return {column.dtype.type}
    if isinstance(column, CodedColumn):
        return set(map(type, column.levels))
    return set(map(type, column.values[~column.missing]))


def _family_of_kind(kind: type) -> str | None:
    if issubclass(kind, (datetime.timedelta, np.timedelta64)):
        return "duration"
    if issubclass(kind, datetime.time):
        return "time"
    if issubclass(kind, (Number, np.bool_)) and not issubclass(kind, (complex, np.complexfloating)):
        return "number"
    return "period" if kind.__name__ == "Period" and kind.__module__.startswith("pandas") else None


def _known(column: Column) -> list[Any]:
    """Return the values that are not missing as objects of Python, numbers of numpy as Python's."""
    found = column.values[~column.missing]
    return [v.item() if isinstance(v, (np.number, np.bool_)) else v for v in found.tolist()]


def as_numbers(columns: Sequence[Column], *, shifted: bool = True) -> list[Column]:
    """Return a column of one or of several tables as numbers, instants or durations of a dtype.

    Parameters
    ----------
    columns
        The same column of each table. What is no number, duration, time of day or period comes back as it is.
    shifted
        Whether numbers of more digits than float64 has may come back less the smallest of them all.

    Examples
    --------
    >>> large = [Column("O", np.array([10**21 + n, None], dtype=object)) for n in (0, 7)]
    >>> [c.values.tolist() for c in as_numbers(large)]
    [[0.0, nan], [7.0, nan]]
    >>> as_numbers([Column("O", np.array([datetime.time(0, 1)]))])[0].values
    array([60000000000], dtype='timedelta64[ns]')
    """
    if all(is_plain(column) for column in columns):
        return list(columns)
    family = family_of(columns)
    if family in ("duration", "time"):
        found = [_durations(column) for column in columns]
        finest = np.result_type(*(values.dtype for values in found))
        return [Column("m", v.astype(finest), name=c.name) for v, c in zip(found, columns, strict=True)]
    if family == "period":
        known = [[period.ordinal for period in _known(column)] for column in columns]
    elif family == "number":
        known = [_known(column) for column in columns]
    else:
        return list(columns)
    whole = [] if shifted or family == "period" else [_whole(column) for column in columns]
    if whole and all(values is not None for values in whole):
        return [Column("i", v, name=c.name) for v, c in zip(whole, columns, strict=True) if v is not None]
    number = _floats(set(chain.from_iterable(known)), shifted)
    return [
        _column(c, np.array([number[v] for v in own], dtype=np.float64)) for c, own in zip(columns, known, strict=True)
    ]


def _whole(column: Column) -> NDArray[Any] | None:
    """Return whole numbers of 64 bits, where none is missing; None for other numbers."""
    if column.missing.any() or any(not isinstance(v, int) for v in column.values):
        return None
    try:
        return column.values.astype(np.int64)
    except OverflowError:
        return None


def _column(column: Column, known: NDArray[np.float64]) -> Column:
    values = np.full(len(column), np.nan)
    values[~column.missing] = known
    return Column("f", values, name=column.name)


def _durations(column: Column) -> NDArray[Any]:
    """Return durations in their unit, those of Python and times of day in nanoseconds; if too long in microseconds."""
    if is_plain(column):
        return column.values
    known = [_nanoseconds(v) for v in _known(column)]
    fine = max(map(abs, known), default=0) < 2**63
    values = np.full(len(column), "NaT", dtype="m8[ns]" if fine else "m8[us]")
    values[~column.missing] = known if fine else [v // 1000 for v in known]
    return values


def _nanoseconds(value: Any) -> int:
    """Return a duration, or a time since midnight, as whole nanoseconds."""
    if isinstance(value, np.timedelta64):
        return int(value.astype("m8[ns]").astype(np.int64))
    if isinstance(value, datetime.time):
        own = {unit: getattr(value, unit[:-1]) for unit in ("hours", "minutes", "seconds", "microseconds")}
        value = datetime.timedelta(**own)
    whole: int = value // _MICROSECOND * 1000
    return whole + int(getattr(value, "nanoseconds", 0))


def _floats(values: Iterable[Any], shifted: bool) -> Mapping[Any, float]:
    """Return the float64 of each number, less the smallest finite one where float64 would not tell them apart."""
    own = list(values)
    finite = [v for v in own if not _is_endless(v)]
    if not shifted or all(map(_is_short, finite)):
        return {v: _as_float(v) for v in own}
    low = min(map(Fraction, finite))
    return {v: float(v) if _is_endless(v) else _as_float(Fraction(v) - low) for v in own}


def _as_float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _is_endless(value: Any) -> bool:
    return value.is_infinite() if isinstance(value, Decimal) else isinstance(value, float) and math.isinf(value)


def _is_short(value: Any) -> bool:
    if isinstance(value, Decimal):
        return len(value.as_tuple().digits) <= _DIGITS
    return not isinstance(value, int) or abs(value) <= _EXACT


def hashable(column: Column) -> Column:
    """Return a column with tuples and sets in place of lists and dictionaries, which are equal where these are."""
    if column.dtype != object or not any(isinstance(v, (list, dict, set)) for v in column.values):
        return column
    values = np.empty(len(column), dtype=object)
    values[:] = [_hashable(v) for v in column.values]
    return Column(column.kind, values, column.missing, column.name)


def _hashable(value: Any) -> Any:
    if isinstance(value, list):
        return ("list", *map(_hashable, value))
    if isinstance(value, dict):
        return ("dict", frozenset((k, _hashable(v)) for k, v in value.items()))
    return frozenset(value) if isinstance(value, set) else value
