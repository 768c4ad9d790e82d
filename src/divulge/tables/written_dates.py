"""Dates, times of day and durations as text: the ways in which a column writes them, and its values read so.

A form of dates is named by a pattern ("DD.MM.YYYY", "Mon DD, YYYY"), or by a format of `strptime`, as metadata of SDV
have it. A time of day may follow a date, and an offset from UTC the time. Months may have English names. Years of two
digits are those of strptime, 1969 to 2068, or a form says which: "DD.MM.YY (1926-2025)".
"""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import UTC, datetime
from functools import cached_property

import polars as pl

from divulge.tables.canonical_values import VALUES, evaluated

__all__ = [
    "DATE_FORMS",
    "ISO_DATE",
    "TIME_FORMS",
    "DateTexts",
    "century_of",
    "has_offset",
    "is_date_form",
    "lacks_century",
    "read_times",
]

ISO_DATE = "YYYY-MM-DD"
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_LONG = ["uary", "ruary", "ch", "il", "", "e", "y", "ust", "tember", "ober", "ember", "ember"]
_DAYS = r"^(mon|tues?|wed(nes)?|thu(rs)?|fri|sat(ur)?|sun)(day)?[,.]? +"
_CLOCK = r"(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?"
_TIME = rf"^(.*?)(?:[ t,]+{_CLOCK} *([ap])?\.?(?:m\.?)? *(z|utc|gmt|[+-]\d{{2}}:?\d{{2}}|[+-]\d{{2}})?)?$"
_ISO_DAY = r"^\d{4}-\d{2}-\d{2}$"
_ISO = r"^\d{4}-\d{2}-\d{2}([ T]\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})?)?$"
_OFFSET = r"(?i)\d{2}:\d{2}(:\d{2}(\.\d+)?)? *(z|utc|gmt|[+-]\d{2}:?\d{2}|[+-]\d{2})$"
_CENTURY = re.compile(r" \((\d{4})-(\d{4})\)$")
_YEAR, _SHORT = r"(?<y>\d{4})", r"(?<y>\d{2})"


def _patterns() -> dict[str, str]:
    """Return the patterns of dates, of which those that name a day come first."""
    found = {ISO_DATE: rf"^{_YEAR}-(?<m>\d{{1,2}})-(?<d>\d{{1,2}})$"}
    for mark in "/.":
        found[f"YYYY{mark}MM{mark}DD"] = rf"^{_YEAR}[{mark}](?<m>\d{{1,2}})[{mark}](?<d>\d{{1,2}})$"
    for year, name in ((_YEAR, "YYYY"), (_SHORT, "YY")):
        for mark in "/.-":
            first, second = r"(?<{}>\d{{1,2}})", rf"[{mark}](?<{{}}>\d{{{{1,2}}}})[{mark}]"
            found[f"DD{mark}MM{mark}{name}"] = f"^{first.format('d')}{second.format('m')}{year}$"
            found[f"MM{mark}DD{mark}{name}"] = f"^{first.format('m')}{second.format('d')}{year}$"
    for mark in "/.-":
        found[f"YY{mark}MM{mark}DD"] = rf"^{_SHORT}[{mark}](?<m>\d{{1,2}})[{mark}](?<d>\d{{1,2}})$"
    for year, name in ((_YEAR, "YYYY"), (_SHORT, "YY")):
        found[f"DD Mon {name}"] = rf"^(?<d>\d{{1,2}})(?:st|nd|rd|th)?[-/. ]*m(?<m>\d\d)[-/.,' ]*{year}$"
        found[f"Mon DD, {name}"] = rf"^m(?<m>\d\d)[-/. ]*(?<d>\d{{1,2}})(?:st|nd|rd|th)?[-/.,' ]+{year}$"
    found["YYYY Mon DD"] = rf"^{_YEAR}[-/., ]*m(?<m>\d\d)[-/., ]*(?<d>\d{{1,2}})$"
    found["Mon YYYY"] = rf"^m(?<m>\d\d)[-/., ]*{_YEAR}$"
    found["YYYY Mon"] = rf"^{_YEAR}[-/., ]*m(?<m>\d\d)$"
    found["YYYY-MM"] = rf"^{_YEAR}[-/](?<m>\d{{2}})$"
    found["MM/YYYY"] = rf"^(?<m>\d{{1,2}})[-/]{_YEAR}$"
    found["YYYY-Q1"] = rf"^{_YEAR}[- ]?q(?<q>[1-4])$"
    found["Q1 YYYY"] = rf"^q(?<q>[1-4])[-/ ]?{_YEAR}$"
    return found


_PATTERNS = _patterns()
DATE_FORMS = tuple(_PATTERNS)
"""Forms of dates by name."""


def is_date_form(form: str) -> bool:
    """Return whether a text names a form of dates, or is a format of `strptime`.

    Examples
    --------
    >>> is_date_form("DD.MM.YYYY"), is_date_form("%d %b %Y"), is_date_form("1.234,5")
    (True, True, False)
    >>> is_date_form("DD.MM.YY (1926-2025)")
    True
    """
    form, first = century_of(form)
    return (form in _PATTERNS or re.search("%[-]?[YyGjdmbB]", form) is not None) and (not first or lacks_century(form))


def century_of(form: str) -> tuple[str, int]:
    """Return a form without the years that it says its two digits to be of, and the first of these, 0 if it says none.

    Examples
    --------
    >>> century_of("DD.MM.YY (1926-2025)"), century_of("DD.MM.YY")
    (('DD.MM.YY', 1926), ('DD.MM.YY', 0))
    """
    found = _CENTURY.search(form)
    if not found or not 0 < int(found[1]) == int(found[2]) - 99:
        return form, 0
    return form[: found.start()], int(found[1])


def lacks_century(form: str) -> bool:
    """Return whether a form of dates has years of two digits, and does not say of which hundred years they are.

    Examples
    --------
    >>> lacks_century("DD Mon YY"), lacks_century("%d/%m/%y"), lacks_century("DD Mon YYYY")
    (True, True, False)
    >>> lacks_century("DD Mon YY (1926-2025)")
    False
    """
    if century_of(form)[1]:
        return False
    if form in _PATTERNS:
        return "YY" in form and "YYYY" not in form
    return re.search("%-?[yDx]", form) is not None and "%C" not in form


def has_offset(texts: pl.Series) -> bool:
    """Return whether a text of a column ends in an offset from UTC.

    Examples
    --------
    >>> has_offset(pl.Series(["2020-01-05 09:00:00-05:00"])), has_offset(pl.Series(["2020-01-05"]))
    (True, False)
    """
    return bool(texts.str.strip_chars().str.contains(_OFFSET).any())


class DateTexts:
    """The texts of a column, taken apart once: date and time.

    Parameters
    ----------
    texts
        Distinct texts, without missing.
    """

    def __init__(self, texts: pl.Series) -> None:
        self._texts = texts

    def read(self, form: str) -> pl.Series:
        """Return the texts read in a form as datetimes in UTC, null where they are not written so."""
        form, first = century_of(form)
        if first:
            return _in_century(self.read(form), first)
        if form == ISO_DATE and not (quick := self._iso).has_nulls():
            return quick
        if form not in _PATTERNS:
            return _by_format(self._texts, form)
        groups = self._parts["date"].str.extract_groups(_PATTERNS[form]).struct.unnest()
        month, day = pl.col("m") if "q" not in groups.columns else pl.col("q").cast(pl.Int32) * 3 - 2, pl.lit("1")
        day = pl.col("d") if "d" in groups.columns else day
        year = pl.col("y")
        if "YYYY" not in form:  # as strptime: 69 is 1969, and 68 is 2068
            year = year.cast(pl.Int32) + pl.when(year.cast(pl.Int32) < 69).then(2000).otherwise(1900)
        iso = groups.select(
            pl.concat_str(
                year.cast(pl.String).str.zfill(4), month.cast(pl.String).str.zfill(2), day.str.zfill(2), separator="-"
            )
        ).to_series()
        dates = iso.str.to_datetime("%Y-%m-%d", time_unit="us", strict=False)
        return (dates.cast(pl.Int64) + self._parts["time"]).cast(pl.Datetime("us"))

    @cached_property
    def _iso(self) -> pl.Series:
        """ISO 8601 with two digits for months and days: by far the commonest form, and read fastest."""
        first = self._texts[0] if len(self._texts) else None
        if first is not None and re.match(_ISO_DAY, first):
            of_day = pl.when(VALUES.str.contains(_ISO_DAY)).then(VALUES)
            days = evaluated(self._texts, of_day.str.to_datetime("%Y-%m-%d", time_unit="us", strict=False))
            if not days.has_nulls():
                return days
        text = pl.when(VALUES.str.contains(_ISO)).then(VALUES)
        text = text.str.replace("T", " ", literal=True).str.replace(r"Z$", "+00:00")
        text = text.str.replace(r"^(\S+)$", "$1 00:00:00")
        text = text.str.replace(r"^(\S+ \d{2}:\d{2})($|[+-])", "$1:00$2")
        zoned = VALUES.str.contains(r"[+-]\d{2}:?\d{2}$") & VALUES.str.contains(" ", literal=True)
        naive = VALUES.str.to_datetime("%Y-%m-%d %H:%M:%S%.f", time_unit="us", strict=False)
        aware = VALUES.str.replace(r"([+-]\d{2})(\d{2})$", "$1:$2").str.to_datetime(
            "%Y-%m-%d %H:%M:%S%.f%:z", time_unit="us", strict=False, time_zone="UTC"
        )
        return evaluated(self._texts, text, pl.when(zoned).then(aware.dt.replace_time_zone(None)).otherwise(naive))

    @cached_property
    def _parts(self) -> pl.DataFrame:
        """The date of each text, months as m01 to m12, and its time in microseconds from midnight UTC."""
        text = evaluated(
            self._texts,
            VALUES.str.normalize("NFKC").str.strip_chars().str.to_lowercase(),
            VALUES.str.replace(_DAYS, "").str.replace_all(r"\s+", " "),
        )
        if text.str.contains("[a-z]{3}").any():
            for i, (name, rest) in enumerate(zip(_MONTHS, _LONG, strict=True), 1):
                text = text.str.replace(rf"{name}(?:{rest}|t)?\.?([^a-z]|$)", f"m{i:02}$1")
        groups = text.str.extract_groups(_TIME).struct.unnest()
        groups.columns = ["date", "h", "min", "s", "part", "half", "zone"]
        hour, minute, second = (pl.col(c).cast(pl.Int64).fill_null(0) for c in ("h", "min", "s"))
        noon = pl.col("half").is_not_null()
        valid = (hour < 24) & (minute < 60) & (second < 60) & (~noon | hour.is_between(1, 12))
        hour = pl.when(noon).then(hour % 12 + pl.when(pl.col("half") == "p").then(12).otherwise(0)).otherwise(hour)
        micros = pl.col("part").str.pad_end(6, "0").str.slice(0, 6).cast(pl.Int64).fill_null(0)
        zone = pl.when(pl.col("zone").str.contains(r"^[+-]")).then(pl.col("zone").str.replace(":", ""))
        away = zone.str.slice(1, 2).cast(pl.Int64) * 60 + zone.str.slice(3, 2).replace("", "0").cast(pl.Int64)
        away = pl.when(zone.str.starts_with("-")).then(-away).otherwise(away).fill_null(0)
        time = ((hour * 60 + minute - away) * 60 + second) * 1_000_000 + micros
        return groups.select("date", time=pl.when(valid).then(time))


def _in_century(dates: pl.Series, first: int) -> pl.Series:
    """Return dates in those of a hundred years that end in the same two digits; null for a 29 February they lack."""
    year = (first + (VALUES.dt.year().cast(pl.Int64) - first) % 100).cast(pl.String).str.zfill(4)
    text = pl.concat_str(year, VALUES.dt.strftime("-%m-%d %H:%M:%S%.6f"))
    return evaluated(dates, text.str.to_datetime("%Y-%m-%d %H:%M:%S%.f", time_unit="us", strict=False))


def _by_format(texts: pl.Series, form: str) -> pl.Series:
    """Return texts read by a format of `strptime`, null where they do not follow it."""
    form = form.replace("%-", "%")
    native = form.replace(".%f", "%.f")
    found = pl.Series([None], dtype=pl.Datetime("us")).new_from_index(0, len(texts))
    if "%" not in form:  # no form at all
        return found
    if not re.search("%[fzZcxXUWGVu]", native):
        with suppress(pl.exceptions.PolarsError):  # a format that polars does not know
            found = texts.str.strip_chars().str.to_datetime(native, time_unit="us", strict=False)
    if found.null_count() == texts.null_count():
        return found

    def read(text: str) -> datetime | None:
        try:
            moment = datetime.strptime(text.strip(), form)
            return moment.astimezone(UTC).replace(tzinfo=None) if moment.tzinfo else moment
        except (ValueError, OverflowError):  # no such date, or one beyond the calendar in UTC
            return None

    left = found.is_null() & texts.is_not_null()
    other = pl.Series([read(t) if is_left else None for t, is_left in zip(texts, left, strict=True)], dtype=found.dtype)
    return found.zip_with(~left, other)


_SPANS = (
    r"^(?:([+-]?\d+) days?,? *)?(?:([+-])?(\d+):(\d{2}):(\d{2})(?:\.(\d{1,9}))?)?$",
    r"^(-)?p(?:(-?\d+)d)?(?:t(?:(-?\d+)h)?(?:(-?\d+)m)?(?:(-?\d+)(?:\.(\d{1,9}))?s)?)?$",
    rf"^{_CLOCK} *([ap])?\.?(?:m\.?)?$",
)


def read_times(texts: pl.Series, form: str) -> pl.Series:
    """Return times of day or durations of a form (`TIME_FORMS`) in microseconds, null where a text is none.

    Times of day are written 13:45, 13:45:00.5 or 1:45 PM, durations as pandas does ("1 days 02:03:04") or ISO 8601
    ("P1DT2H3M4S").

    Examples
    --------
    >>> read_times(pl.Series(["13:45", "1:45 pm", "7 pm"]), "13:45:00").to_list()
    [49500000000.0, 49500000000.0, None]
    """
    text = evaluated(texts, VALUES.str.strip_chars().str.to_lowercase())
    return _TIMES[form](text).cast(pl.Float64)


def _int(name: str) -> pl.Expr:
    return pl.col(name).cast(pl.Int64, strict=False).fill_null(0)


def _micros(name: str) -> pl.Expr:
    return pl.col(name).str.pad_end(6, "0").str.slice(0, 6).cast(pl.Int64, strict=False).fill_null(0)


def _clock(text: pl.Series) -> pl.Series:
    groups = text.str.extract_groups(_SPANS[2]).struct.unnest()
    groups.columns = ["h", "m", "s", "part", "half"]
    noon = pl.col("half").is_not_null()
    hour = (
        pl.when(noon).then(_int("h") % 12 + pl.when(pl.col("half") == "p").then(12).otherwise(0)).otherwise(_int("h"))
    )
    valid = pl.col("h").is_not_null() & (_int("h") < 24) & (_int("m") < 60) & (_int("s") < 60)
    time = ((hour * 60 + _int("m")) * 60 + _int("s")) * 1_000_000 + _micros("part")
    return groups.select(pl.when(valid).then(time)).to_series()


def _span(text: pl.Series) -> pl.Series:
    groups = text.str.extract_groups(_SPANS[0]).struct.unnest()
    groups.columns = ["d", "sign", "h", "m", "s", "part"]
    there = pl.col("d").is_not_null() | pl.col("h").is_not_null()
    time = ((_int("h") * 60 + _int("m")) * 60 + _int("s")) * 1_000_000 + _micros("part")
    time = pl.when(pl.col("sign") == "-").then(-time).otherwise(time)  # -1 days +23:00:00 is an hour before
    return groups.select(pl.when(there).then(time + _int("d") * 86_400_000_000)).to_series()


def _iso_span(text: pl.Series) -> pl.Series:
    groups = text.str.extract_groups(_SPANS[1]).struct.unnest()
    groups.columns = ["sign", "d", "h", "m", "s", "part"]
    there = pl.any_horizontal(pl.col("d", "h", "m", "s").is_not_null())
    time = (((_int("d") * 24 + _int("h")) * 60 + _int("m")) * 60 + _int("s")) * 1_000_000 + _micros("part")
    return groups.select(pl.when(there).then(pl.when(pl.col("sign") == "-").then(-time).otherwise(time))).to_series()


_TIMES = {"13:45:00": _clock, "1 days 02:03:04": _span, "P1DT2H3M4S": _iso_span}
TIME_FORMS = tuple(_TIMES)
"""Forms of times of day and of durations, each named by an example."""
