"""The family of a column over all tables: number, datetime, truth value or text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import polars as pl

from divulge.tables.canonical_values import (
    _NUMBERS,
    DISTINCT,
    FEW_ROWS,
    VALUES,
    _float_text,
    _numbers_in,
    _zero_led,
    evaluated,
)
from divulge.tables.written_forms import ISO_DATE, PLAIN_NUMBER, form_of, is_date_like, read_as, undecided

__all__ = ["Family", "Settled", "as_family", "family_of", "is_whole", "needs_int64", "settle", "written"]

Family = Literal["boolean", "number", "datetime", "text"]
_AT_ONCE = 50_000  # numbers that are written at a time: a list of millions takes many times as much as they
_EXACT = 2**53  # beyond it a float64 no longer tells neighbouring integers apart
_PLAIN = {"datetime": ISO_DATE, "number": PLAIN_NUMBER}


@dataclass(frozen=True, slots=True)
class Settled:
    """What a column is over all tables."""

    family: Family
    declared: frozenset[Family] = frozenset()
    """The families that the dtypes of the tables declare."""
    note: str = ""
    """What disagrees; "" where nothing does."""
    forms: tuple[str, ...] = ()
    """Per table, where dates or numbers are read from text: the form in which they are written, "" for a column that is
    no text. Empty for other families."""

    def form(self, which: int) -> str:
        """Return the form of one table."""
        return self.forms[which] if self.forms else _PLAIN.get(self.family, "")


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


def _readings(series: pl.Series) -> dict[Family, str]:
    """Return the families, without text, that every value of a plain column can be read as, and the form of dates."""
    native = family_of(series)
    if native == "boolean":
        return {"boolean": "", "number": ""}
    if native == "number":
        return {"number": "", "boolean": ""} if ((series == 0) | (series == 1)).all() else {"number": ""}
    if native == "datetime":
        return {"datetime": ""}
    first = next(v for v in series if v is not None).strip()
    may_be = {
        "boolean": first.lower() in ("true", "false"),
        "number": _is_number(first),
        "datetime": is_date_like(first),
    }
    found: dict[Family, str] = {}
    if not any(may_be.values()):
        return found  # one value settles it, without a pass over the column
    values = evaluated(series, DISTINCT)
    if may_be["boolean"] and not _booleans_in(values).has_nulls():
        found["boolean"] = ""
    if (
        may_be["number"]
        and not _numbers_in(values.head(50), keep_nan=True).has_nulls()
        and not _numbers_in(values, keep_nan=True).has_nulls()
        and not _loses_zeros(values)
    ):
        found["number"] = ""
    if may_be["datetime"] and is_date_like(next(iter(values))) and (form := _form_of_dates(values)):
        found["datetime"] = form
    return found


def _form_of_dates(values: pl.Series) -> str:
    """Return the form in which each text is a date, be it two between which no value decides; "" if there is none."""
    if not read_as(values, "datetime", ISO_DATE).has_nulls():
        return ISO_DATE
    form = form_of(values, "datetime")
    return form if any(not read_as(values, "datetime", one).has_nulls() for one in form.split(" or ")) else ""


def _is_number(text: str) -> bool:
    """Return whether Python reads a text as a number; it accepts more than polars does."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def _loses_zeros(values: pl.Series) -> bool:
    """Return whether texts that differ only by leading zeros ("01" and "1") would become the same number."""
    led = _zero_led(values)
    with_zeros, without = _numbers_in(values.filter(led)), _numbers_in(values.filter(~led)).unique()
    return bool(pl.concat([with_zeros, without]).n_unique() < with_zeros.len() + without.len())


def settle(columns: Sequence[pl.Series]) -> Settled:
    """Return the family of a column over all tables, in the order real, synthetic, holdout.

    A family that every table can be read as is taken. If there is none, the real table decides: the other tables are
    read as its numbers, dates or booleans, and what cannot be read so is missing. Text in the real table makes text of
    all.
    """
    present = [s for s in columns if family_of(s)]
    declared = frozenset(family for s in present if (family := family_of(s)))
    if len(declared) == 1 and "text" not in declared:
        return Settled(next(iter(declared)), declared)
    readings = [_readings(s) for s in present]
    common = set.intersection(*map(set, readings)) if present else set()
    if "datetime" in common:
        read = iter(readings)
        forms = _forms(columns, "datetime", [next(read)["datetime"] if family_of(s) else "" for s in columns])
        if not any(map(undecided, forms)):
            return Settled("datetime", declared, "", forms)
    if "boolean" in common and ("number" not in common or "boolean" in declared):
        return Settled("boolean", declared)
    if "number" in common and declared != {"text"}:
        return Settled("number", declared, _padded(present))
    if len(declared) < 2 and len(present) < 2:
        return Settled("text", declared)
    own = settle(present[:1]).family if len(present) > 1 else "text"
    if own == "text":
        note = f"is {' in one table and '.join(sorted(declared))} in another: compared as text"
        return Settled("text", declared, note if len(declared) > 1 else "")
    forms = _forms(columns, own) if own in _PLAIN else ()
    return Settled(own, declared, _padded(present) if own == "number" else "", forms)


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
    return tuple(form_of(s, family, known) if undecided(form) else form for form, s in zip(forms, columns, strict=True))


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
        return series if isinstance(series.dtype, pl.Datetime) else _nothing(series, pl.Datetime("us"))
    dtype = pl.Int64() if as_integer else pl.Float64()
    return _nothing(series, dtype) if isinstance(series.dtype, pl.Datetime) else series.cast(dtype)


def _nothing(series: pl.Series, dtype: pl.DataType) -> pl.Series:
    return pl.Series([None], dtype=dtype).new_from_index(0, series.len())


def _floats_written(series: pl.Series) -> pl.Series:
    return pl.Series([None if v is None else _float_text(v) for v in series.to_list()], dtype=pl.String)


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
