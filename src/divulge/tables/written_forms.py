"""The ways in which dates and numbers are written as text: which of them a column uses, and its values read so.

Forms are named by patterns ("DD/MM/YYYY"), never by a value. A form is chosen because it reads most values; where two
forms read equally many and give different values, as for days up to the 12th, none is chosen.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from divulge.tables.canonical_values import DISTINCT, FEW_ROWS, NUMBERS, VALUES, evaluated

__all__ = ["ISO_DATE", "PLAIN_NUMBER", "form_of", "is_date_like", "read_as", "undecided"]

ISO_DATE, PLAIN_NUMBER = "YYYY-MM-DD", "1234.5"

_ISO = r"^\d{4}-\d{2}-\d{2}([ T]\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})?)?$"
_TIME = r"([ T]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)?"
_DATE_LIKE = rf"^(\d{{1,2}}[/.-]\d{{1,2}}[/.-]\d{{4}}|\d{{4}}[/.]\d{{2}}[/.]\d{{2}}){_TIME}$"
_UNDECIDED = " or "


_Reader = tuple[pl.Expr, ...]
"""Expressions, one after another, that read text in a form."""


def _iso_datetimes() -> _Reader:
    """Return the reading of ISO 8601 text as datetimes in UTC, null for any other text."""
    text = pl.when(VALUES.str.contains(_ISO)).then(VALUES)
    text = text.str.replace("T", " ", literal=True).str.replace(r"Z$", "+00:00")
    text = text.str.replace(r"^(\S+)$", "$1 00:00:00")
    text = text.str.replace(r"^(\S+ \d{2}:\d{2})($|[+-])", "$1:00$2")
    zoned = VALUES.str.contains(r"[+-]\d{2}:?\d{2}$") & VALUES.str.contains(" ", literal=True)
    naive = VALUES.str.to_datetime("%Y-%m-%d %H:%M:%S%.f", time_unit="us", strict=False)
    aware = VALUES.str.replace(r"([+-]\d{2})(\d{2})$", "$1:$2").str.to_datetime(
        "%Y-%m-%d %H:%M:%S%.f%:z", time_unit="us", strict=False, time_zone="UTC"
    )
    return text, pl.when(zoned).then(aware.dt.replace_time_zone(None)).otherwise(naive)


def _dates(pattern: str, iso: str) -> _Reader:
    """Return the reading of text of a pattern as datetimes; `iso` says how its groups make an ISO date."""
    text = pl.when(VALUES.str.contains(pattern)).then(VALUES).str.replace(pattern, iso)
    # one digit for a day or month
    text = text.str.replace(r"-(\d)(-|$|[ T])", "-0$1$2").str.replace(r"-(\d)($|[ T])", "-0$1$2")
    return text, *_iso_datetimes()


def _numbers(pattern: str, blank: str, comma: str) -> _Reader:
    """Return the reading of text of a pattern: `blank` separates thousands, and `comma` the decimals."""
    text = pl.when(VALUES.str.contains(pattern)).then(VALUES).str.replace_all(blank, "")
    return VALUES.str.strip_chars(), text.str.replace(comma, ".", literal=True), *NUMBERS


def _date_forms() -> dict[str, _Reader]:
    forms = {ISO_DATE: _iso_datetimes()}
    for mark in "/.":
        year_first = rf"^(\d{{4}})[{mark}](\d{{2}})[{mark}](\d{{2}}){_TIME}$"
        forms[f"YYYY{mark}MM{mark}DD"] = _dates(year_first, "$1-$2-$3$4")
    for mark in "/.-":
        year_last = rf"^(\d{{1,2}})[{mark}](\d{{1,2}})[{mark}](\d{{4}}){_TIME}$"
        forms[f"DD{mark}MM{mark}YYYY"] = _dates(year_last, "$3-$2-$1$4")
        forms[f"MM{mark}DD{mark}YYYY"] = _dates(year_last, "$3-$1-$2$4")
    return forms


_DAYS = (
    pl.when(VALUES.str.contains(r"^\d{4}-\d{2}-\d{2}$"))
    .then(VALUES)
    .str.to_datetime("%Y-%m-%d", time_unit="us", strict=False)
)
_LENGTH_OF_DAYS = 10
_SIGN = r"^[+-]?"
_FORMS: dict[str, dict[str, _Reader]] = {
    "datetime": _date_forms(),
    "number": {
        PLAIN_NUMBER: NUMBERS,
        "1234,5": _numbers(rf"{_SIGN}\d+(,\d+)?$", " ", ","),
        "1,234.5": _numbers(rf"{_SIGN}\d{{1,3}}(,\d{{3}})*(\.\d+)?$", ",", "."),
        "1.234,5": _numbers(rf"{_SIGN}\d{{1,3}}(\.\d{{3}})*(,\d+)?$", r"\.", ","),
        "1 234.5": _numbers(
            pattern=rf"{_SIGN}\d{{1,3}}([ \u00a0\u202f']\d{{3}})*(\.\d+)?$",
            blank="[ \u00a0\u202f']",
            comma=".",
        ),
        "1 234,5": _numbers(
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
    if form == ISO_DATE and len(text) and len(text[0] or "") == _LENGTH_OF_DAYS:
        days = evaluated(text, _DAYS)  # half the time of what also reads times of day
        if days.null_count() == text.null_count():
            return days
    if form in readers:
        return evaluated(text, *readers[form])
    return evaluated(text, *next(iter(readers.values()))).clear(text.len())


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
    values = text.drop_nulls() if text.len() < FEW_ROWS else evaluated(text, DISTINCT)
    read: dict[str, pl.Series] = {}
    for form, reader in _FORMS[family].items():
        read[form] = evaluated(values, *reader)
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
