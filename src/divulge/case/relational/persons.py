"""All rows of each person, where the rows of a case are the people of linked tables."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.core.records import Precondition
from divulge.core.schema import Schema

__all__ = ["DAYS", "TIMELESS", "History", "Persons", "Steps", "has_times_of_day", "intervals", "on_days", "time_of"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_DAY = 86_400e6  # microseconds
_DIGITS = 14  # that are exact of a difference of two numbers, of those of the larger


@dataclass(frozen=True, slots=True, eq=False)
class Steps:
    """The rows of people of one role, in the order of their time, or the intervals between them."""

    values: Ints
    """A number for what stands in each row, with numbers in bins and without the time; or for each interval."""
    persons: Ints
    """The person of each row; those of one person are together."""


TIMELESS, DAYS = "without times", "days alone"
"""The rows but for the column that orders them, and of that column the day alone."""


@dataclass(frozen=True, slots=True, eq=False)
class History:
    """The rows of all people in one table, or in several."""

    keys: tuple[str, ...]
    """Names of the tables; of one table with a unit the column of the unit."""
    content: tuple[Ints, ...]
    """Of each role a number for what stands in each row: rows with equal numbers are equal."""
    alike: tuple[Ints, ...]
    """The same, with numbers in bins."""
    person: tuple[Ints, ...]
    """Of each role the person of each row: a row of the case, or a unit."""
    part: str = ""
    """What of the rows is compared, where it is not all: `TIMELESS` or `DAYS`."""
    values: bool = False
    """Whether it is one column of names, numbers or texts, of which only what one person alone has is looked at."""
    numbers: bool = False
    """Whether that column numbers its rows."""
    steps: tuple[Steps, ...] | None = None
    """The rows of one table in their order, where one column says it."""
    intervals: tuple[Steps, ...] | None = None
    """The intervals between these rows, where that column has numbers or times."""


@dataclass(frozen=True, slots=True, eq=False)
class Persons:
    """What linked tables say of people besides the row that each has in the case."""

    linked: Any
    """The tables, a `Linked`."""
    table: str
    """The table with one row for each person."""
    own: tuple[str, ...]
    """Columns of the case that stand in that table, or describe its rows; all others describe the rows of people."""
    histories: tuple[History, ...]
    checks: tuple[Precondition, ...]
    apart: tuple[str, ...]
    """Tables whose rows belong to nobody and describe no row of anybody: nothing compares them."""
    targets: tuple[str, ...]
    """Columns of the case that somebody wants to learn: those of the people, how many rows, sums, rare values."""
    notes: tuple[str, ...]
    lengths: Mapping[str, tuple[Ints, ...]]
    """Of each table with rows of people, and of each role, how many each person has."""


def intervals(sides: Sequence[tuple[Floats, Ints]]) -> tuple[Steps, ...]:
    """Return the intervals between the rows of people of each role, in the order of their time.

    Parameters
    ----------
    sides
        Of each role the time and the person of each row; rows without a time are passed over.

    Examples
    --------
    >>> (found,) = intervals([(np.array([9.0, 4.0, 5.0, np.nan, 7.0]), np.array([0, 0, 0, 0, 1]))])
    >>> found.values.tolist(), found.persons.tolist()
    ([0, 1], [0, 0])
    """
    lengths, persons = [], []
    for time, person in sides:
        known = np.isfinite(time)
        order = np.lexsort((time[known], person[known]))
        when, who = time[known][order], person[known][order]
        same = who[1:] == who[:-1]
        largest = float(np.abs(when).max(initial=1.0))
        lengths.append(np.diff(when)[same].round(max(0, _DIGITS - math.ceil(math.log10(max(largest, 1.0))))))
        persons.append(who[1:][same])
    values = np.unique(np.concatenate(lengths), return_inverse=True)[1].ravel().astype(np.int64)
    ends = np.cumsum([len(p) for p in persons])[:-1]
    return tuple(map(Steps, np.split(values, ends), persons))


def on_days(moments: Sequence[Floats]) -> tuple[Ints, ...]:
    """Return of each role a number for the day of each row, of moments in microseconds; nan has a number too.

    Examples
    --------
    >>> hour, day = 3.6e9, 8.64e10
    >>> [days.tolist() for days in on_days([np.array([2 * day, 2 * day + hour]), np.array([5 * day, np.nan])])]
    [[0, 0], [1, 2]]
    """
    days = np.unique(np.floor(np.concatenate(moments) / _DAY), return_inverse=True)[1].astype(np.int64)
    return tuple(np.split(days, np.cumsum([len(m) for m in moments])[:-1]))


def has_times_of_day(moments: Sequence[Floats]) -> bool:
    """Return whether a moment, in microseconds, is no whole day."""
    return any(bool((np.nan_to_num(m) % _DAY).any()) for m in moments)


def time_of(schema: Schema) -> str | None:
    """Return the column that orders the rows of a person; None where no column, or more than one, does.

    It is the one with the role "order", else the only one with dates or times.
    """
    named = schema.with_role("order") or tuple(c.name for c in schema.columns if c.kind == "datetime")
    return named[0] if len(named) == 1 else None
