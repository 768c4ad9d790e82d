"""All rows of each person, where the rows of a case are the people of linked tables."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.core.hashing import value_hashes
from divulge.core.records import Precondition
from divulge.core.schema import Schema
from divulge.kernels.neighbours.lattice import digits_of

__all__ = [
    "DAY",
    "DAYS",
    "ONE_COLUMN",
    "TIMELESS",
    "History",
    "Persons",
    "Steps",
    "as_released",
    "by_column",
    "days_alone",
    "intervals",
    "on_days",
    "time_of",
    "values_alone",
]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

DAY = 86_400e6  # microseconds
_DIGITS = 14  # that are exact of a difference of two numbers, of those of the larger


@dataclass(frozen=True, slots=True, eq=False)
class Steps:
    """The rows of people of one role, in the order of their time, or the intervals between them."""

    values: Ints
    """A number for what stands in each row, with numbers in bins and without the time; or for each interval."""
    persons: Ints
    """The person of each row; those of one person are together."""


TIMELESS, DAYS, ONE_COLUMN = "without times", "days alone", "one column"
"""The rows but for the column that orders them, of that column the day alone, and one column alone."""
_TELLING = 0.2  # part of the people who alone have what a column says of all their rows, from which it is compared
_MOST_COLUMNS = 10  # as each one takes from the power of the others
_OFTEN = 64  # times that a person has a value, of which more are not told apart


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
    """What of the rows is compared, where it is not all: `TIMELESS`, `DAYS` or `ONE_COLUMN`."""
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


def as_released(values: Sequence[Floats], kind: str) -> tuple[Ints, ...]:
    """Return of each role a number for the number or moment of each row, rounded as all synthetic ones are.

    Numbers are rounded to the last digit that a synthetic number has, moments cut to the day, the month or the year.
    What is missing is 0.

    Examples
    --------
    >>> [v.tolist() for v in as_released([np.array([1.26, 7.0, np.nan]), np.array([1.3, 6.9])], "numeric")]
    [[1, 3, 0], [1, 2]]
    """
    released = values[1][np.isfinite(values[1])]
    whole = np.concatenate(values)
    known = np.isfinite(whole)
    if kind == "numeric":
        digits = digits_of(released)
        some = whole[known] if digits is None else whole[known].round(digits)
    else:
        some = whole[known].astype(np.int64)
        moments = released.astype(np.int64).view("datetime64[us]")
        for unit in ("Y", "M", "D"):
            if (moments.astype(f"datetime64[{unit}]").astype("datetime64[us]") == moments).all():
                some = some.view("datetime64[us]").astype(f"datetime64[{unit}]").astype(np.int64)
                break
    out = np.zeros(len(whole), dtype=np.int64)
    out[known] = 1 + np.unique(some, return_inverse=True)[1].ravel()
    return tuple(np.split(out, np.cumsum([len(v) for v in values])[:-1]))


def values_alone(case: Any, columns: Iterable[str]) -> Iterator[tuple[str, tuple[Ints, ...]]]:
    """Yield the columns that say something of the rows of people alone, with the value of each row of each role.

    These are categories, and numbers and moments as `as_released`; the days of the column that orders the rows are
    compared in another way. None where there is one column.
    """
    time = time_of(case.schema)
    named = [c for c in sorted(columns) if case.schema[c].kind not in ("text", "identifier", "constant")]
    for column in named if len(named) > 1 else ():
        codes, kind = case.codes(column, binned=False), case.schema[column].kind
        if kind not in ("numeric", "datetime") or case.is_unread(column):
            yield column, tuple(c.astype(np.int64) for c in codes)
            continue
        values = [case.numbers(column)[c] for c in codes]
        if column != time or kind == "numeric" or _are_by_month(values[1]):
            yield column, as_released(values, kind)


def _are_by_month(moments: Floats) -> bool:
    """Return whether all moments are the first of a month, as days that were cut are."""
    known = moments[np.isfinite(moments)].astype(np.int64).view("datetime64[us]")
    return bool((known.astype("datetime64[M]").astype("datetime64[us]") == known).all())


def by_column(columns: Iterable[tuple[tuple[str, ...], Sequence[Ints]]], person: Sequence[Ints]) -> list[History]:
    """Return what columns say of all rows of each person, each by itself: by its values, how often one beside others.

    Only columns by which a fifth of the people differ from everybody else, the ten by which most do; which these are
    depends on no label.

    Parameters
    ----------
    columns
        Of each the keys of its history, and of each role the value of each row, at least 0; a missing one is a value.
    person
        Of each role the person of each row.
    """
    found = []
    for keys, values in columns:
        content = []
        for own, who in zip(values, person, strict=True):
            content.append(own * _OFTEN + np.minimum(_times_before(own, who), _OFTEN - 1))
        share = _share_told_apart([(c, p) for i, (c, p) in enumerate(zip(content, person, strict=True)) if i != 1])
        if share >= _TELLING:
            found.append((-share, History(keys, tuple(content), tuple(content), tuple(person), ONE_COLUMN)))
    return [history for _, history in sorted(found, key=lambda f: (f[0], f[1].keys))[:_MOST_COLUMNS]]


def _times_before(values: Ints, person: Ints) -> Ints:
    """Return how often the person of each row has its value in rows before it, by what all of a person's are times.

    So a table that is written twice says no more.
    """
    order = np.lexsort((values, person))
    if not len(order):
        return np.zeros(0, dtype=np.int64)
    new_person = np.diff(person[order]) != 0
    first = np.flatnonzero(np.r_[True, new_person | (np.diff(values[order]) != 0)])
    often = np.diff(np.r_[first, len(values)])
    of_person = np.flatnonzero(np.r_[True, new_person][first])
    shared = np.repeat(np.gcd.reduceat(often, of_person), np.diff(np.r_[of_person, len(first)]))
    times = np.empty(len(values), dtype=np.int64)
    times[order] = (np.arange(len(values)) - np.repeat(first, often)) // np.repeat(shared, often)
    return times


def _share_told_apart(sides: Sequence[tuple[Ints, Ints]]) -> float:
    """Return the part of the people who alone have two rows or more with their values."""
    sums, rows = [], []
    for content, person in sides:
        which = np.unique(person, return_inverse=True)[1].ravel()
        total = np.zeros(int(which.max(initial=-1)) + 1, dtype=np.uint64)
        np.add.at(total, which, value_hashes(content.astype(np.uint64), 0))
        sums.append(total)
        rows.append(np.bincount(which, minlength=len(total)))
    every = np.concatenate(sums)
    if not len(every):
        return 0.0
    _, which, times = np.unique(every, return_inverse=True, return_counts=True)
    return float(((times[which.ravel()] == 1) & (np.concatenate(rows) > 1)).mean())


def days_alone(case: Any, columns: Iterable[str]) -> tuple[Ints, ...] | None:
    """Return of each role the day of each row; None where no dates order the rows, or their days are all there is."""
    time = time_of(case.schema)
    if time is None or case.schema[time].kind != "datetime" or case.is_unread(time):
        return None
    when = [case.numbers(time)[c] for c in case.codes(time, binned=False)]
    return on_days(when) if _has_times_of_day(when) or any(c != time for c in columns) else None


def on_days(moments: Sequence[Floats]) -> tuple[Ints, ...]:
    """Return of each role a number for the day of each row, of moments in microseconds; nan has a number too.

    Examples
    --------
    >>> hour, day = 3.6e9, 8.64e10
    >>> [days.tolist() for days in on_days([np.array([2 * day, 2 * day + hour]), np.array([5 * day, np.nan])])]
    [[0, 0], [1, 2]]
    """
    days = np.unique(np.floor(np.concatenate(moments) / DAY), return_inverse=True)[1].astype(np.int64)
    return tuple(np.split(days, np.cumsum([len(m) for m in moments])[:-1]))


def _has_times_of_day(moments: Sequence[Floats]) -> bool:
    """Return whether a moment, in microseconds, is no whole day."""
    return any(bool((np.nan_to_num(m) % DAY).any()) for m in moments)


def time_of(schema: Schema) -> str | None:
    """Return the column that orders the rows of a person; None where no column, or more than one, does.

    It is the one with the role "order", else the only one with dates or times.
    """
    named = schema.with_role("order") or tuple(c.name for c in schema.columns if c.kind == "datetime")
    return named[0] if len(named) == 1 else None
