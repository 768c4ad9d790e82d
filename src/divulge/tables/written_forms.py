"""The ways in which dates and numbers are written as text: which of them a column uses, and its values read so.

Forms are named by patterns ("DD/MM/YYYY"), never by a value. A form is chosen because it reads most values; where two
forms read equally many and give different values, as for days up to the 12th, none is chosen.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import polars as pl

from divulge.tables.canonical_values import _numbers_in

__all__ = ["ISO_DATE", "PLAIN_NUMBER", "form_of", "is_date_like", "read_as", "undecided"]

ISO_DATE, PLAIN_NUMBER = "YYYY-MM-DD", "1234.5"

_ISO = r"^\d{4}-\d{2}-\d{2}([ T]\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})?)?$"
_TIME = r"([ T]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)?"
_DATE_LIKE = rf"^(\d{{1,2}}[/.-]\d{{1,2}}[/.-]\d{{4}}|\d{{4}}[/.]\d{{2}}[/.]\d{{2}}){_TIME}$"
_UNDECIDED = " or "


def _iso_datetimes(text: pl.Series) -> pl.Series:
    """Return ISO 8601 text as datetimes in UTC, null for any other text."""
    text = text.set(~text.str.contains(_ISO), None)
    text = text.str.replace("T", " ", literal=True).str.replace(r"Z$", "+00:00")
    text = text.str.replace(r"^(\S+)$", "$1 00:00:00")
    text = text.str.replace(r"^(\S+ \d{2}:\d{2})($|[+-])", "$1:00$2")
    zoned = text.str.contains(r"[+-]\d{2}:?\d{2}$") & text.str.contains(" ", literal=True)
    naive = text.str.to_datetime("%Y-%m-%d %H:%M:%S%.f", time_unit="us", strict=False)
    aware = text.str.replace(r"([+-]\d{2})(\d{2})$", "$1:$2").str.to_datetime(
        "%Y-%m-%d %H:%M:%S%.f%:z", time_unit="us", strict=False, time_zone="UTC"
    )
    return pl.select(pl.when(zoned).then(aware.dt.replace_time_zone(None)).otherwise(naive)).to_series()


def _dates(text: pl.Series, pattern: str, iso: str) -> pl.Series:
    """Return text of a pattern as datetimes; `iso` says how its groups make an ISO date."""
    text = text.set(~text.str.contains(pattern), None).str.replace(pattern, iso)
    # one digit for a day or month
    text = text.str.replace(r"-(\d)(-|$|[ T])", "-0$1$2").str.replace(r"-(\d)($|[ T])", "-0$1$2")
    return _iso_datetimes(text)


def _numbers(text: pl.Series, pattern: str, blank: str, comma: str) -> pl.Series:
    """Return text of a pattern as numbers: `blank` separates thousands, and `comma` the decimals."""
    text = text.str.strip_chars()
    text = text.set(~text.str.contains(pattern), None).str.replace_all(blank, "")
    return _numbers_in(text.str.replace(comma, ".", literal=True))


_Reader = Callable[[pl.Series], pl.Series]


def _date_forms() -> dict[str, _Reader]:
    forms: dict[str, _Reader] = {ISO_DATE: _iso_datetimes}
    for mark in "/.":
        year_first = rf"^(\d{{4}})[{mark}](\d{{2}})[{mark}](\d{{2}}){_TIME}$"
        forms[f"YYYY{mark}MM{mark}DD"] = partial(_dates, pattern=year_first, iso="$1-$2-$3$4")
    for mark in "/.-":
        year_last = rf"^(\d{{1,2}})[{mark}](\d{{1,2}})[{mark}](\d{{4}}){_TIME}$"
        forms[f"DD{mark}MM{mark}YYYY"] = partial(_dates, pattern=year_last, iso="$3-$2-$1$4")
        forms[f"MM{mark}DD{mark}YYYY"] = partial(_dates, pattern=year_last, iso="$3-$1-$2$4")
    return forms


_SIGN = r"^[+-]?"
_FORMS: dict[str, dict[str, _Reader]] = {
    "datetime": _date_forms(),
    "number": {
        PLAIN_NUMBER: _numbers_in,
        "1234,5": partial(_numbers, pattern=rf"{_SIGN}\d+(,\d+)?$", blank=" ", comma=","),
        "1,234.5": partial(_numbers, pattern=rf"{_SIGN}\d{{1,3}}(,\d{{3}})*(\.\d+)?$", blank=",", comma="."),
        "1.234,5": partial(_numbers, pattern=rf"{_SIGN}\d{{1,3}}(\.\d{{3}})*(,\d+)?$", blank=r"\.", comma=","),
        "1 234.5": partial(
            _numbers,
            pattern=rf"{_SIGN}\d{{1,3}}([ \u00a0\u202f']\d{{3}})*(\.\d+)?$",
            blank="[ \u00a0\u202f']",
            comma=".",
        ),
        "1 234,5": partial(
            _numbers,
            pattern=rf"{_SIGN}\d{{1,3}}([ \u00a0\u202f']\d{{3}})*(,\d+)?$",
            blank="[ \u00a0\u202f']",
            comma=",",
        ),
    },
}
"""For each family its forms; the first is preferred where several read the same values."""


def is_date_like(text: str) -> bool:
    """Return whether a text may be a date in one of the forms."""
    import re

    return re.match(_ISO, text) is not None or re.match(_DATE_LIKE, text) is not None


def read_as(text: pl.Series, family: str, form: str) -> pl.Series:
    """Return text read in a form, null where it is not written so; all is null in a form that is undecided."""
    readers = _FORMS[family]
    if form in readers:
        return readers[form](text)
    return next(iter(readers.values()))(text).clear(text.len())


def undecided(form: str) -> bool:
    """Return whether a form is two forms between which no value decides."""
    return _UNDECIDED in form


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
    """
    values = text.unique().drop_nulls()
    read: dict[str, pl.Series] = {}
    for form, reader in _FORMS[family].items():
        read[form] = reader(values)
        if len(read) == 1 and not read[form].has_nulls():
            return form
    most = max(s.len() - s.null_count() for s in read.values())
    if not most:
        return "text"
    best = [form for form, s in read.items() if s.len() - s.null_count() == most]
    for form in (*known, best[0]):
        if form in best and (form in known or all(read[form].equals(read[other], null_equal=True) for other in best)):
            return form
    different = [f for i, f in enumerate(best) if not any(read[f].equals(read[g], null_equal=True) for g in best[:i])]
    return _UNDECIDED.join(different)
