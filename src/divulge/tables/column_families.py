"""The family of a column over all tables: number, datetime, truth value or text."""

from __future__ import annotations

import functools
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

import polars as pl

from divulge.core.schema import Column
from divulge.tables.canonical_values import (
    _NUMBERS,
    DISTINCT,
    FEW_ROWS,
    VALUES,
    _numbers_in,
    _zero_led,
    evaluated,
    float_text,
    may_be_thousands,
)
from divulge.tables.written_dates import century_of
from divulge.tables.written_forms import (
    ISO_DATE,
    PLAIN_NUMBER,
    THOUSANDS,
    family_of_form,
    form_of,
    has_listed,
    is_listed,
    may_be_written,
    points_part_thousands,
    read_as,
    thousands_among,
    undecided,
    with_centuries,
    with_points_of_shares,
)
from divulge.tables.written_numbers import NumberTexts

__all__ = [
    "Family",
    "Settled",
    "as_family",
    "family_of",
    "is_whole",
    "n_read",
    "needs_int64",
    "settle",
    "trimmed",
    "with_plain_digits",
    "written",
]

Family = Literal["boolean", "number", "datetime", "text"]
_AT_ONCE = 50_000  # numbers that are written at a time: a list of millions takes many times as much as they
_EXACT = 2**53  # beyond it a float64 no longer tells neighbouring integers apart
_DIGITS_OF_EXACT = 15
_PLAIN = {"datetime": ISO_DATE, "number": PLAIN_NUMBER}
_PLAIN_KINDS = ("numeric", "datetime")
_TEXTUAL = ("categorical", "text", "identifier")
_MOSTLY = 0.9
_LAST_DIGIT = 0x20000  # no character from here on is one
_DIGITS = r"^\s*[+-]?\d+\s*$"


@dataclass(frozen=True, slots=True)
class Settled:
    """What a column is over all tables, and how its texts are read."""

    family: Family
    declared: frozenset[Family] = frozenset()
    """The families that the dtypes of the tables declare."""
    note: str = ""
    """What disagrees; "" where nothing does."""
    forms: tuple[str, ...] = ()
    """Per table, where dates or numbers are read from text: the form in which they are written, "" for a column that is
    no text. Empty for other families."""
    drops: bool = False
    """Whether texts of `MISSING_TEXTS` are missing."""
    question: str = ""
    """The forms between which no value of any table decides; "" where there is no doubt."""
    said: bool = False
    """Whether the schema gives the form."""

    def form(self, which: int) -> str:
        """Return the form of one table."""
        return self.forms[which] if self.forms else _PLAIN.get(self.family, "")

    def unusual_form(self, which: int) -> str:
        """Return the form of one table's text; "" for plain numbers and ISO dates."""
        form = self.forms[which] if self.forms else ""
        return "" if form in _PLAIN.values() else form

    def without_listed(self, series: pl.Series) -> pl.Series:
        """Return a plain column in which the texts that are read as missing are null."""
        if not self.drops or series.dtype != pl.String:
            return series
        return series.set(is_listed(series).fill_null(False), None)


_BOOLEANS = VALUES.str.to_lowercase().cast(pl.Enum(["false", "true"]), strict=False).to_physical().cast(pl.Boolean)
_WHOLE = VALUES.str.strip_chars().cast(pl.Int64, strict=False)


def _booleans_in(text: pl.Series) -> pl.Series:
    """Return "true" and "false" in any case as booleans, null for anything else."""
    return evaluated(text, _BOOLEANS)


def _each_distinct(text: pl.Series, function: Callable[[pl.Series], pl.Series]) -> pl.Series:
    """Return `function` of a text column; of many rows only the distinct values are passed to it."""
    if text.len() < FEW_ROWS:
        return function(text)
    distinct = evaluated(text, DISTINCT)
    if distinct.len() * 2 > text.len():
        return function(text)
    return function(distinct).gather(text.cast(pl.Enum(distinct)).to_physical())


def family_of(series: pl.Series) -> Family | None:
    """Return the family that the dtype of a plain column declares; None if every value is missing."""
    if series.null_count() == series.len():
        return None
    if series.dtype == pl.Boolean:
        return "boolean"
    if series.dtype in _NUMBERS:
        return "number"
    return "datetime" if isinstance(series.dtype, pl.Datetime) else "text"


def _readings(series: pl.Series, all_text: bool = False) -> dict[Family, str]:
    """Return the families, without text, that every value of a plain column can be read as, and the form of each."""
    native = family_of(series)
    if native == "boolean":
        return {"boolean": "", "number": ""}
    if native == "number":
        return {"number": "", "boolean": ""} if ((series == 0) | (series == 1)).all() else {"number": ""}
    if native == "datetime":
        return {"datetime": ""}
    values = _distinct(series)
    found: dict[Family, str] = {}
    if values[0].strip().lower() in ("true", "false") and not _booleans_in(values).has_nulls():
        found["boolean"] = ""
    plain = _all_plain(values)
    if not plain and not may_be_written(values):
        return found
    if plain:
        led = _zero_led(values).any() if all_text else _loses_zeros(values)
        if not led and not (all_text and _is_too_long(values)):
            found["number"] = THOUSANDS if points_part_thousands(values) else PLAIN_NUMBER
        return found
    for family in ("datetime", "number"):
        form = form_of(values, family)
        read = _ways(values, family, form)
        if any(not one.has_nulls() for one in read) and not (family == "number" and NumberTexts(values).zero_led()):
            return found | {family: form}
    return found


def _distinct(text: pl.Series) -> pl.Series:
    """Return the distinct texts without missing."""
    if text.len() >= FEW_ROWS:
        return evaluated(text, DISTINCT)
    return pl.Series([value for value in dict.fromkeys(text.to_list()) if value is not None], dtype=pl.String)


def _all_plain(values: pl.Series) -> bool:
    """Return whether all texts are numbers as Python writes them."""
    try:
        float(values[0])
    except ValueError:
        return False  # Python reads more than polars does
    return not any(_numbers_in(some, keep_nan=True).has_nulls() for some in (values.head(50), values))


def _is_too_long(values: pl.Series) -> bool:
    """Return whether texts are whole numbers, of which one is beyond Int64: as text they stay apart."""
    return bool(values.str.contains(_DIGITS).all()) and evaluated(values, _WHOLE).has_nulls()


def _loses_zeros(values: pl.Series) -> bool:
    """Return whether texts that differ only by leading zeros ("01" and "1") would become the same number."""
    led = _zero_led(values)
    with_zeros, without = _numbers_in(values.filter(led)), _numbers_in(values.filter(~led)).unique()
    return bool(pl.concat([with_zeros, without]).n_unique() < with_zeros.len() + without.len())


def settle(columns: Sequence[pl.Series], *, said: Column | None = None, listed: bool = True) -> Settled:
    """Return the family of a column over all tables, in the order real, synthetic, holdout.

    A family that every table can be read as is taken. If there is none, the real table decides: the other tables are
    read as its numbers, dates or booleans, and what cannot be read so is missing. Text in the real table makes text of
    all.

    Parameters
    ----------
    columns
        Plain columns, one a table.
    said
        What the schema says of the column: its form is taken, and a column that is said to be categories or text is not
        read as numbers.
    listed
        Whether texts of `MISSING_TEXTS` are missing where at least 90% of the other texts are numbers or dates.
    """
    declared = frozenset(family for s in columns if (family := family_of(s)))
    if said is not None and said.form and not undecided(said.form):
        return _as_said(columns, said, declared, drops=listed)
    if len(declared) == 1 and "text" not in declared:
        return Settled(next(iter(declared)), declared)
    kept = said is not None and said.kind in _TEXTUAL and declared == {"text"}
    drops = listed and not kept and _drops(columns, said)
    found = _settled(Settled("text", drops=drops).without_listed, columns, declared, kept)
    return replace(found, drops=drops)


def _settled(
    tidy: Callable[[pl.Series], pl.Series], raw: Sequence[pl.Series], declared: frozenset[Family], kept: bool
) -> Settled:
    """Return what a column is once texts that stand for missing are gone; numbers stay text where `kept`."""
    columns = [tidy(s) for s in raw]
    present = [s for s in columns if family_of(s)]
    all_text = declared == {"text"}
    readings = [_readings(s, all_text) for s in present]
    common = set.intersection(*map(set, readings)) if present else set()
    question = ""
    for family in ("datetime", "number"):
        if family not in common or (family == "number" and (("boolean" in common and "boolean" in declared) or kept)):
            continue
        read = iter(readings)
        forms = _forms(columns, family, [next(read)[family] if family_of(s) else "" for s in columns])
        if family == "number":
            forms = with_points_of_shares(columns, _with_points(columns, forms))
            question = _doubt(columns, forms)
        if family == "number" and all_text and any(map(undecided, forms)):
            question, forms = forms[0], tuple(map(thousands_among, forms))
        if not any(map(undecided, forms)):
            return Settled(
                family,
                declared,
                _padded(present) if family == "number" and not all_text else "",
                forms,
                question=question,
            )
        question = next(filter(undecided, forms))
    if "boolean" in common and ("number" not in common or "boolean" in declared):
        return Settled("boolean", declared)
    if len(declared) < 2 and len(present) < 2:
        return Settled("text", declared, question=question)
    own = (
        _settled(tidy, raw[:1], frozenset(f for s in raw[:1] if (f := family_of(s))), kept)
        if len(present) > 1
        else None
    )
    if own is None or own.family == "text":
        note = f"is {' in one table and '.join(sorted(declared))} in another: compared as text"
        return Settled("text", declared, note if len(declared) > 1 else "", question=question)
    forms = _forms(columns, own.family) if own.family in _PLAIN else ()
    padded = _padded(present) if own.family == "number" and not all_text else ""
    return Settled(own.family, declared, padded, forms)


def _with_points(columns: Sequence[pl.Series], forms: tuple[str, ...]) -> tuple[str, ...]:
    """Return the forms; plain numbers such as 1.234 are those of a table that has points between thousands."""
    thousands = next((form for form in forms if "1.234,5" in form), "")
    if not thousands:
        return forms
    return tuple(
        thousands if form == PLAIN_NUMBER and s.dtype == pl.String and may_be_thousands(s) else form
        for s, form in zip(columns, forms, strict=True)
    )


def _doubt(columns: Sequence[pl.Series], forms: tuple[str, ...]) -> str:
    """Return the two forms of numbers that may be whole, with points between thousands; "" where there is no doubt."""
    texts = [s for s in columns if s.dtype == pl.String and s.null_count() < s.len()]
    if set(forms) != {PLAIN_NUMBER} or len(texts) < len(columns) or not all(map(may_be_thousands, texts)):
        return ""
    pointed = [s.str.contains(".", literal=True) for s in texts]
    mixed = any(p.any() for p in pointed) and not all(p.all() for p in pointed)
    return f"{PLAIN_NUMBER} or 1.234,5" if mixed else ""


def _drops(columns: Sequence[pl.Series], said: Column | None) -> bool:
    """Return whether texts that stand for missing occur beside texts of which at least 90% are numbers or dates."""
    texts = [_distinct(s) for s in columns if s.dtype == pl.String]
    if not any(map(has_listed, texts)):
        return False
    if said is not None and said.kind in _PLAIN_KINDS:
        return True
    values = pl.concat([t.filter(~is_listed(t)) for t in texts]).unique()
    return bool(len(values)) and may_be_written(values) and n_read(values)[0] >= _MOSTLY * len(values)


def _ways(values: pl.Series, family: Family, form: str) -> list[pl.Series]:
    """Return the values read in each of the forms between which none decides; nothing for "text"."""
    return [] if form == "text" else [read_as(values, family, one) for one in form.split(" or ")]


def n_read(values: pl.Series, families: Sequence[Family] = ("number", "datetime")) -> tuple[int, Family]:
    """Return how many distinct texts can be read as numbers or dates, whichever are more.

    Examples
    --------
    >>> n_read(pl.Series(["12.5", "7", "<5"]))
    (2, 'number')
    """
    found: list[tuple[int, Family]] = []
    for family in families:
        read = _ways(values, family, form_of(values, family))
        found.append((max((one.count() for one in read), default=0), family))
    return max(found, key=lambda one: one[0])


def _as_said(columns: Sequence[pl.Series], said: Column, declared: frozenset[Family], *, drops: bool) -> Settled:
    """Return a column that is read in the form that the schema gives."""
    family: Family = "datetime" if family_of_form(said.form) == "datetime" else "number"
    texts = [_stamp_texts(s, said.form) if _is_stamp(s, said.form) else s for s in columns]
    forms = tuple(said.form if s.dtype == pl.String else "" for s in texts)
    forms = with_centuries(texts, forms) if family == "datetime" else forms
    return Settled(family, declared, "", forms, drops=drops, said=True)


def _is_stamp(series: pl.Series, form: str) -> bool:
    """Return whether whole numbers are dates by a format such as %Y%m%d."""
    return "%" in form and series.dtype in _NUMBERS


def _padded(columns: Sequence[pl.Series]) -> str:
    """Return a note where codes with leading zeros become numbers."""
    if any(_zero_led(s).any() for s in columns if s.dtype == pl.String):
        return "is text with leading zeros in one table and numbers in another: compared as numbers"
    return ""


def _forms(columns: Sequence[pl.Series], family: Family, found: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the form of each table's text; where its values leave two, one that another table decides for.

    `found` are the forms where they are known.
    """
    forms = list(found) or [form_of(s, family) if family_of(s) == "text" else "" for s in columns]
    known = [f for f in dict.fromkeys(forms) if f not in ("", "text") and not undecided(f)]
    forms = [form_of(s, family, known) if undecided(form) else form for form, s in zip(forms, columns, strict=True)]
    return with_centuries(columns, forms) if family == "datetime" else tuple(forms)


def as_family(
    series: pl.Series, family: Family, as_integer: bool, declared: frozenset[Family], form: str = ""
) -> pl.Series:
    """Return a plain column in the dtype of its family; null where a value cannot be read so.

    Parameters
    ----------
    series, family
        The column, and the family of all tables.
    as_integer
        Whether numbers stay Int64.
    declared
        The families that the dtypes of the tables declare.
    form
        How dates or numbers of this column are written, if it is text; "" takes ISO 8601 and plain numbers.
    """
    if series.dtype == pl.Null:
        series = series.cast(pl.String)
    if series.dtype == pl.String:
        if family == "text":
            series = _each_distinct(series, trimmed)
            return _each_distinct(series, lambda t: _rewritten(t, declared)) if len(declared) > 1 else series
        if family == "boolean":
            return _each_distinct(series, _booleans_in)
        if as_integer and form in ("", PLAIN_NUMBER):
            return _each_distinct(series, lambda t: evaluated(t, _WHOLE))
        found = _each_distinct(series, lambda t: read_as(t, family, form or _PLAIN[family]))
        return found.cast(pl.Int64) if as_integer else found
    if family == "text":
        return written(series)
    if family == "boolean":
        if series.dtype == pl.Boolean:
            return series
        binary = ((series == 0) | (series == 1)) if series.dtype in _NUMBERS else None
        return _nothing(series, pl.Boolean()) if binary is None else series.set(~binary, None).cast(pl.Boolean)
    if family == "datetime":
        if _is_stamp(series, form):
            return _each_distinct(_stamp_texts(series, form), lambda t: read_as(t, "datetime", form))
        return series if isinstance(series.dtype, pl.Datetime) else _nothing(series, pl.Datetime("us"))
    dtype = pl.Int64() if as_integer else pl.Float64()
    return _nothing(series, dtype) if isinstance(series.dtype, pl.Datetime) else series.cast(dtype)


def _stamp_texts(series: pl.Series, form: str) -> pl.Series:
    """Return whole numbers as texts of a format of dates; zeros that they lost in front are put back."""
    whole = series.cast(pl.Int64, strict=False)
    width = len(datetime(2000, 12, 31, 23, 59, 59).strftime(century_of(form)[0]))
    return whole.set((whole != series).fill_null(False), None).cast(pl.String).str.zfill(width)


def with_plain_digits(series: pl.Series) -> pl.Series:
    r"""Return a plain column, the digits of whose texts are 0 to 9, in whatever script they are written.

    Examples
    --------
    >>> with_plain_digits(pl.Series(["\u0661\u0662.\u0665", "\uff11\u096d", "12.5", None])).to_list()
    ['12.5', '17', '12.5', None]
    """
    if series.dtype != pl.String:
        return series
    if series.len() < FEW_ROWS:  # in Python: a call of polars takes a tenth of a millisecond
        is_ascii = all(v is None or v.isascii() for v in series.to_list())
    else:
        is_ascii = bool((series.str.len_bytes() == series.str.len_chars()).all())
    return series if is_ascii else series.str.replace_many(_other_digits())


@functools.cache
def _other_digits() -> dict[str, str]:
    """Return the decimal digits of other scripts, and what each is."""
    digits = {chr(code): str(unicodedata.decimal(chr(code), "")) for code in range(128, _LAST_DIGIT)}
    return {other: digit for other, digit in digits.items() if digit}


def trimmed(text: pl.Series) -> pl.Series:
    """Return text without blanks around and in one Unicode form (NFC); text of blanks alone stays."""
    if text.len() < FEW_ROWS and all(v is None or (v.isascii() and v == v.strip()) for v in text.to_list()):
        return text
    bare = text.str.strip_chars()
    if (wide := (text.str.len_bytes() != text.str.len_chars()).fill_null(False)).any():
        bare = bare.zip_with(~wide, bare.str.normalize("NFC"))
    return bare.zip_with((bare != "").fill_null(False), text)


def _nothing(series: pl.Series, dtype: pl.DataType) -> pl.Series:
    return pl.Series([None], dtype=dtype).new_from_index(0, series.len())


def _floats_written(series: pl.Series) -> pl.Series:
    return pl.Series([None if v is None else float_text(v) for v in series.to_list()], dtype=pl.String)


def written(series: pl.Series) -> pl.Series:
    """Return booleans, numbers or datetimes as text."""
    if series.dtype == pl.Float64:
        return pl.concat([_floats_written(series.slice(a, _AT_ONCE)) for a in range(0, max(1, len(series)), _AT_ONCE)])
    if isinstance(series.dtype, pl.Datetime):
        return series.dt.to_string("%Y-%m-%d %H:%M:%S%.6f")
    return series.cast(pl.String)


def _rewritten(text: pl.Series, declared: frozenset[Family]) -> pl.Series:
    """Return text in which numbers, dates and booleans are written as in columns of those families."""
    readings = []
    if "number" in declared:
        readings.append(written(_numbers_in(text.set(_zero_led(text), None))))
    if "datetime" in declared:
        readings.append(written(read_as(text, "datetime", ISO_DATE)))
    if "boolean" in declared:
        readings.append(written(_booleans_in(text)))
    return pl.select(pl.coalesce(*readings, text)).to_series()


def needs_int64(columns: Sequence[pl.Series]) -> bool:
    """Return whether whole numbers beyond 2**53 must and can stay integers to remain distinct."""
    return any(map(_is_large, columns)) and all(map(is_whole, columns))


def _is_large(series: pl.Series) -> bool:
    if series.dtype == pl.String and (series.str.len_bytes().max() or 0) > _DIGITS_OF_EXACT:
        series = evaluated(series, DISTINCT, _WHOLE)
    if series.dtype != pl.Int64 or series.null_count() == series.len():
        return False
    return bool(series.max() > _EXACT or series.min() < -_EXACT)


def is_whole(series: pl.Series) -> bool:
    """Return whether all numbers are whole."""
    if series.dtype == pl.Float64:
        return bool(((series == series.round()) & (series.abs() < 2**63)).all())
    if series.dtype == pl.String:
        values = evaluated(series, DISTINCT)
        return not evaluated(values, _WHOLE).has_nulls()
    return True
