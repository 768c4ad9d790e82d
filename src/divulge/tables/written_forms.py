"""The ways in which dates and numbers are written as text: which of them a column uses, and its values read so.

Forms are named by patterns ("DD/MM/YYYY") or examples ("1.234,5"), never by a value. A form is chosen for a whole
column because it reads most values; where two forms read equally many and give different values, as for days up to the
12th, none is chosen. A column of dates may have several forms, of which each reads what those before it do not.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import polars as pl
from numpy.typing import NDArray

from divulge.core.errors import SettingError
from divulge.core.schema import FEW_PEOPLE, MISSING_TEXTS, Column, Schema
from divulge.tables.canonical_values import DISTINCT, FEW_ROWS, evaluated
from divulge.tables.written_dates import (
    DATE_FORMS,
    ISO_DATE,
    TIME_FORMS,
    DateTexts,
    is_date_form,
    lacks_century,
    read_times,
)
from divulge.tables.written_numbers import (
    BEFORE_DIGITS,
    PLAIN_NUMBER,
    POINTS,
    NumberTexts,
    is_number_form,
    is_share_form,
)

__all__ = [
    "ISO_DATE",
    "PLAIN_NUMBER",
    "THEN",
    "THOUSANDS",
    "UNDECIDED",
    "family_of_form",
    "form_of",
    "has_listed",
    "is_listed",
    "may_be_written",
    "points_part_thousands",
    "read_as",
    "said_columns",
    "thousands_among",
    "undecided",
    "with_centuries",
    "with_points_of_shares",
]

THOUSANDS = "1.234,5"
"""Numbers with points between thousands."""
_IN_GROUPS = r"^\s*[-+]?(?:0|[1-9]\d{0,2}(?:\.\d{3})*)\s*$"
UNDECIDED, THEN = " or ", " and "
"""What stands between forms of which one is meant, and between those that are tried one after another."""
_SAMPLED = 5000
_LOOKED_AT = 200
_DATE_LIKE = (
    r"(?i)\d[-/.]\d{1,2}[-/.]\d|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|^\s*\d{1,4}[-/]\d{2,4}\s*$|q[1-4]"
)
_TIME_LIKE = r"(?i)\d:\d|\d days?$|^\s*-?p[\dt]"
_NUMBER_LIKE = rf"{BEFORE_DIGITS}|{_TIME_LIKE.removeprefix('(?i)')}|^\s*-?P[\dT]"
_LONGEST = 60  # characters of a number or date
_LISTED = frozenset(("", *MISSING_TEXTS))
_MOST_FORMS = 3
_LEAST_GAP = 5  # years without a date, that part two centuries
_FEW_DATES = 0.05  # of those of two digits, that dates of four must be to decide
_LAST_YEAR = 2068  # that strptime gives to two digits


def is_listed(text: pl.Series) -> pl.Series:
    """Return which texts are of `MISSING_TEXTS` in any case, or blanks alone.

    Examples
    --------
    >>> is_listed(pl.Series(["NA", " ? ", "5", None])).to_list()
    [True, True, False, None]
    """
    return text.str.strip_chars().str.to_lowercase().is_in(list(_LISTED))


def has_listed(text: pl.Series) -> bool:
    """Return whether a text stands for missing, see `is_listed`."""
    if text.len() < FEW_ROWS:  # in Python: a call of polars takes a tenth of a millisecond
        return any(value is not None and value.strip().lower() in _LISTED for value in text.to_list())
    return bool(is_listed(text).any())


def may_be_written(values: pl.Series) -> bool:
    """Return whether distinct texts may be numbers or dates: at least half have a digit and are short."""
    if values.len() < FEW_ROWS:
        n = sum(len(value) <= _LONGEST and any(map(str.isdigit, value)) for value in values.to_list())
        return n > 0 and values.len() <= 2 * n
    found = values.str.contains(r"\d") & (values.str.len_chars() <= _LONGEST)
    return bool(found.any()) and 2 * int(found.sum()) >= values.len()


def family_of_form(form: str) -> str:
    """Return "number" or "datetime", the family that a form is of; "" for a text that names none.

    Examples
    --------
    >>> family_of_form("$1,234.5"), family_of_form("DD.MM.YYYY and YYYY-MM-DD"), family_of_form("%d%m%Y")
    ('number', 'datetime', 'datetime')
    """
    parts = form.split(THEN)
    if all(map(is_date_form, parts)):
        return "datetime"
    return "number" if form in TIME_FORMS or (len(parts) == 1 and is_number_form(form)) else ""


def said_columns(schema: Schema | None) -> dict[str, Column]:
    r"""Return the columns of a schema by name.

    Raises
    ------
    SettingError
        A column has a form that is none.

    Examples
    --------
    >>> from divulge.core.schema import schema_from_toml
    >>> said_columns(schema_from_toml('[columns.x]\nform = "1.234,5"'))["x"].form
    '1.234,5'
    """
    for column in () if schema is None else schema.columns:
        if column.form and not undecided(column.form) and not family_of_form(column.form):
            raise SettingError(
                f"schema: column {column.name!r}: the form is not known. hint: an example such as 1.234,5 or $1,234.5, "
                "a pattern such as DD.MM.YYYY, or a format such as %d %b %Y."
            )
    return {} if schema is None else {c.name: c for c in schema.columns}


def read_as(text: pl.Series, family: str, form: str) -> pl.Series:
    """Return text read in a form, null where it is not written so; all is null in a form that is undecided."""
    if undecided(form):
        return pl.Series([None], dtype=pl.Float64 if family == "number" else pl.Datetime("us")).new_from_index(
            0, len(text)
        )
    if family == "number":
        return read_times(text, form) if form in TIME_FORMS else NumberTexts(text).read(form)
    dates, (first, *others) = DateTexts(text), form.split(THEN)
    found = dates.read(first)
    for other in others:
        found = found.zip_with(found.is_not_null(), dates.read(other))
    return found


def with_centuries(texts: Sequence[pl.Series], forms: Sequence[str]) -> tuple[str, ...]:
    """Return the forms of dates of all tables, which say of what hundred years their years of two digits are.

    These are the hundred years with most of the dates that a table writes with four digits ("43" is 1943 beside
    "1943-02-01"), from a year that ends in 0 where there is one. Where hardly any is written so, the years are parted
    where no date is for longest. Nothing is said where `strptime` reads the dates of all tables so.

    Parameters
    ----------
    texts
        Per table, text or datetimes.
    forms
        Per table; "" for datetimes.

    Examples
    --------
    >>> births = pl.Series([f"{year}-02-01" for year in range(1940, 2005)])
    >>> with_centuries([births, pl.Series(["01/02/43"])], ["YYYY-MM-DD", "DD/MM/YY"])
    ('YYYY-MM-DD', 'DD/MM/YY (1920-2019)')
    """
    parts = [form.split(THEN) for form in forms]
    if not any(lacks_century(part) for own in parts for part in own):
        return tuple(forms)
    full, short = [pl.Series([], dtype=pl.Int64)], [pl.Series([], dtype=pl.Int64)]
    for left, own in zip(texts, parts, strict=True):
        if isinstance(left.dtype, pl.Datetime):
            full.append(left.unique().dt.year().cast(pl.Int64))
        for part in own if left.dtype == pl.String and not undecided(THEN.join(own)) else ():
            read = read_as(left, "datetime", part)
            (short if lacks_century(part) else full).append(read.unique().dt.year().cast(pl.Int64))
            left = left.filter(read.is_null())
    long, two = (pl.concat(some).drop_nulls().to_numpy() for some in (full, short))
    if not len(two):
        return tuple(forms)
    first = _most_dates(long) if len(long) >= max(FEW_PEOPLE, _FEW_DATES * len(two)) else _widest_gap(two)
    if not 1 <= first <= 9900 or ((two >= first) & (two < first + 100)).all():
        return tuple(forms)
    said = f" ({first:04}-{first + 99:04})"
    return tuple(THEN.join(p + said if lacks_century(p) else p for p in own) for own in parts)


def _most_dates(years: NDArray[np.int64]) -> int:
    """Return the first of the hundred years with most dates, which lie about in their middle; the latest of several."""
    known, n = np.unique(years, return_counts=True)
    end = np.searchsorted(known, known + 100)
    total = np.concatenate([[0], np.cumsum(n)])
    held = total[end] - total[np.arange(len(known))]
    at = int(np.flatnonzero(held == held.max())[-1])
    return _decade(int(known[end[at] - 1]) - 99, int(known[at]))


def _decade(least: int, most: int) -> int:
    """Return a year in the middle of two, if possible one that ends in 0: it is told, and the two are data."""
    near = round((least + most) / 20) * 10
    return near if least <= near <= most else (least + most) // 2


def _widest_gap(years: NDArray[np.int64]) -> int:
    """Return the first of a hundred years that part these by their last two digits, none after that of strptime."""
    digits = np.unique(years % 100)
    gaps = np.diff(digits, append=digits[0] + 100)
    at = int(gaps.argmax())
    if gaps[at] <= _LEAST_GAP:
        return _LAST_YEAR - 99
    last = _LAST_YEAR - (_LAST_YEAR - int(digits[at])) % 100
    return _decade(last - 99, last + int(gaps[at]) - 100)


def with_points_of_shares(columns: Sequence[pl.Series], forms: tuple[str, ...]) -> tuple[str, ...]:
    """Return the forms of numbers of all tables; "60 %" is 60 where the numbers of another table without a sign are so.

    Else it is 0.6, as in a cell of a spreadsheet.
    """
    if not any(map(is_share_form, forms)) or all(map(is_share_form, forms)):
        return forms
    shares: list[float] = []
    others: list[float] = []
    for series, form in zip(columns, forms, strict=True):
        if series.dtype == pl.String:
            series = read_as(series, "number", form or PLAIN_NUMBER)
        elif not series.dtype.is_numeric():
            continue  # truth values, or nothing at all
        size = series.cast(pl.Float64).abs().replace(0.0, None).median()
        if isinstance(size, float):
            (shares if is_share_form(form) else others).append(size)
    if not shares or not others or min(others) < 10 * max(shares):
        return forms
    return tuple(f + POINTS if is_share_form(f) else f for f in forms)


def undecided(form: str) -> bool:
    """Return whether a form is two forms between which no value decides."""
    return UNDECIDED in form


def thousands_among(form: str) -> str:
    """Return the form with marks between thousands of two forms of numbers between which no value decides.

    Both read each number, up to a factor of 1,000: "1,234" and "45,000". Nobody writes exactly three decimals behind
    each comma, and none at all in numbers below 1,000.

    Examples
    --------
    >>> thousands_among("1234,5 or 1,234.5")
    '1,234.5'
    """
    return next((f for f in form.split(UNDECIDED) if "1,234.5" in f), form)


def form_of(text: pl.Series, family: str, known: Sequence[str] = ()) -> str:
    """Return the form of a column of text, "text" if none reads any value.

    Parameters
    ----------
    text
        At least one value.
    family
        "datetime" or "number".
    known
        Forms of the other tables; of forms that read equally many values, one of these is chosen.

    Examples
    --------
    >>> form_of(pl.Series(["31/01/2021", "04/03/2021"]), "datetime")
    'DD/MM/YYYY'
    >>> form_of(pl.Series(["01/02/2021", "04/03/2021"]), "datetime")
    'DD/MM/YYYY or MM/DD/YYYY'
    >>> form_of(pl.Series(["1.234,5"]), "number"), form_of(pl.Series(["1,234"]), "number")
    ('1.234,5', '1234,5 or 1,234.5')
    >>> form_of(pl.Series(["5 EUR", "1.234,50 EUR"]), "number")
    '1.234,5 EUR'
    >>> form_of(pl.Series(["3 May 2020", "2020-12-31"]), "datetime")
    'YYYY-MM-DD and DD Mon YYYY'
    """
    values = text.drop_nulls() if text.len() < FEW_ROWS else evaluated(text, DISTINCT)
    if family == "datetime" and not _matches(values.head(_LOOKED_AT), _DATE_LIKE):
        return "text"
    if family == "number" and not _matches(values, _NUMBER_LIKE):
        return "text"
    values = values.sort()  # ties among forms must not depend on the order of rows
    found: list[str] = []
    while len(values) and len(found) < (_MOST_FORMS if family == "datetime" else 1):
        form, read = _best(values, family, (*found, *known))
        if form == "text" or (found and undecided(form)):
            break
        found.append(form)
        if read is None:
            break
        values = values.filter(read.is_null())
    return THEN.join(found) or "text"


def _matches(values: pl.Series, pattern: str) -> bool:
    """Return whether a text has a pattern."""
    if len(values) < FEW_ROWS:  # in Python: a call of polars takes a tenth of a millisecond
        return any(map(re.compile(pattern).search, values.to_list()))
    return bool(values.str.contains(pattern).any())


def _best(values: pl.Series, family: str, known: Sequence[str]) -> tuple[str, pl.Series | None]:
    """Return the form that reads most values, and what it reads; None where two read as many, and differently."""
    readers = _readers(values, family)
    if family == "number" and points_part_thousands(values):
        return THOUSANDS, readers[THOUSANDS]()
    if values.len() > _SAMPLED:  # most forms read no value at all, which some values show
        sample = values.gather_every(values.len() // 1000)
        kept = [form for form, reader in _readers(sample, family).items() if reader().count()]
        readers = {form: reader for form, reader in readers.items() if form in kept}
    read: dict[str, pl.Series] = {}
    for form, reader in readers.items():
        read[form] = reader()
        if form in (ISO_DATE, PLAIN_NUMBER) and not read[form].has_nulls():
            return form, read[form]
    most = max((s.count() for s in read.values()), default=0)
    if not most:
        return "text", None
    best = [form for form, s in read.items() if s.count() == most]
    best = [f for f in best if not f.startswith("YY-") and not f.startswith(("YY/", "YY."))] or best
    for form in (*known, best[0]):
        if form in best and (form in known or not any(_conflict(read[form], read[other]) for other in best)):
            return form, read[form]
    different = [f for i, f in enumerate(best) if all(_conflict(read[f], read[g]) for g in best[:i])]
    return UNDECIDED.join(different), None


def points_part_thousands(values: pl.Series) -> bool:
    """Return whether "950" and "1.234" stand side by side: three digits behind each point, and none below 1,000.

    Decimals that are always three stand behind "950" too, and others are seldom three in ten numbers or more. Few
    numbers without a point may be codes for missing.
    """
    if len(values) < 2 * FEW_PEOPLE or not values.head(_LOOKED_AT).str.contains(_IN_GROUPS).all():
        return False
    pointed = values.str.contains(".", literal=True)
    each = (values.filter(pointed).n_unique(), values.filter(~pointed).n_unique())
    return min(each) >= FEW_PEOPLE and bool(values.str.contains(_IN_GROUPS).all())


def _conflict(one: pl.Series, other: pl.Series) -> bool:
    """Return whether two forms read a value differently."""
    return bool((one != other).any())  # null where one of them reads nothing


def _readers(values: pl.Series, family: str) -> dict[str, Callable[[], pl.Series]]:
    """Return for each form a function that reads the values so."""
    if family == "datetime":
        dates = DateTexts(values)
        return {form: partial(dates.read, form) for form in DATE_FORMS}
    numbers = NumberTexts(values)
    found: dict[str, Callable[[], pl.Series]] = {form: partial(numbers.read, form) for form in numbers.forms()}
    if _matches(values, _TIME_LIKE):
        found |= {form: partial(read_times, values, form) for form in TIME_FORMS}
    return found
