"""The family of a column over all tables: number, datetime, truth value or text."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Literal

import polars as pl

from divulge.tables.canonical_values import _NUMBERS, _float_text, _numbers_in, _zero_led

__all__ = ["Family", "as_family", "is_whole", "needs_int64", "settle", "written"]

Family = Literal["boolean", "number", "datetime", "text"]
_EXACT = 2**53  # beyond it a float64 no longer tells neighbouring integers apart
_ISO = r"^\d{4}-\d{2}-\d{2}([ T]\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})?)?$"


def _datetimes_in(text: pl.Series) -> pl.Series:
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


def _booleans_in(text: pl.Series) -> pl.Series:
    """Return "true" and "false" in any case as booleans, null for anything else."""
    lower = text.str.to_lowercase()
    return (lower == "true").set(~lower.is_in(["true", "false"]), None)


def _each_distinct(text: pl.Series, function: Callable[[pl.Series], pl.Series]) -> pl.Series:
    """Return `function` of a text column; only its distinct values are passed to it."""
    distinct = text.unique().drop_nulls()
    if distinct.len() * 2 > text.len():
        return function(text)
    return function(distinct).gather(text.cast(pl.Enum(distinct)).to_physical())


_READERS: dict[Family, Callable[[pl.Series], pl.Series]] = {
    "datetime": _datetimes_in,
    "boolean": _booleans_in,
    "number": partial(_numbers_in, keep_nan=True),
}


def _native(series: pl.Series) -> Family | None:
    """Return the family that the dtype of a plain column declares; None if every value is missing."""
    if series.null_count() == series.len():
        return None
    if series.dtype == pl.Boolean:
        return "boolean"
    if series.dtype in _NUMBERS:
        return "number"
    return "datetime" if isinstance(series.dtype, pl.Datetime) else "text"


def _readings(series: pl.Series) -> set[Family]:
    """Return the families, without text, that every value of a plain column can be read as."""
    native = _native(series)
    if native == "boolean":
        return {"boolean", "number"}
    if native == "number":
        return {"number", "boolean"} if ((series == 0) | (series == 1)).all() else {"number"}
    if native == "datetime":
        return {"datetime"}
    if not _may_be_read(next(v for v in series if v is not None)):
        return set()  # one value settles it, without a pass over the column
    values = series.unique().drop_nulls()
    found: set[Family] = set()
    for family, read in _READERS.items():
        if (values.len() > 50 and read(values.head(50)).has_nulls()) or read(values).has_nulls():
            continue
        found.add(family)
    return found - {"number"} if "number" in found and _loses_zeros(values) else found


def _may_be_read(text: str) -> bool:
    """Return whether Python reads a text as a number, boolean or date; it accepts more than polars does."""
    text = text.strip()
    if text.lower() in ("true", "false") or re.match(_ISO, text):
        return True
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


def settle(columns: Sequence[pl.Series]) -> tuple[Family, frozenset[Family], str]:
    """Return the family of a column over all tables, the families that dtypes declare, and a note if these differ."""
    present = [s for s in columns if _native(s)]
    declared = frozenset(family for s in present if (family := _native(s)))
    if len(declared) == 1 and "text" not in declared:
        return next(iter(declared)), declared, ""
    common = set.intersection(*map(_readings, present)) if present else set()
    if "datetime" in common:
        return "datetime", declared, ""
    if "boolean" in common and ("number" not in common or "boolean" in declared):
        return "boolean", declared, ""
    if "number" in common and declared != {"text"}:
        padded = any(_zero_led(s).any() for s in present if s.dtype == pl.String)
        note = "is text with leading zeros in one table and numbers in another: compared as numbers"
        return "number", declared, note if padded else ""
    if len(declared) < 2:
        return "text", declared, ""
    return "text", declared, f"is {' in one table and '.join(sorted(declared))} in another: compared as text"


def as_family(series: pl.Series, family: Family, as_integer: bool, declared: frozenset[Family]) -> pl.Series:
    """Return a plain column in the dtype of its family."""
    if series.dtype == pl.Null:
        series = series.cast(pl.String)
    if series.dtype == pl.String:
        if family == "text":
            return _each_distinct(series, lambda t: _rewritten(t, declared)) if len(declared) > 1 else series
        if family == "datetime":
            return _each_distinct(series, _datetimes_in)
        if family == "boolean":
            return _each_distinct(series, _booleans_in)
        if as_integer:
            return _each_distinct(series, lambda t: t.str.strip_chars().cast(pl.Int64, strict=False))
        return _each_distinct(series, _numbers_in)
    if family == "text":
        return written(series)
    if family == "boolean":
        return series.cast(pl.Boolean)
    if family == "datetime":
        return series
    return series.cast(pl.Int64 if as_integer else pl.Float64)


def written(series: pl.Series) -> pl.Series:
    """Return booleans, numbers or datetimes as text."""
    if series.dtype == pl.Float64:
        return pl.Series([None if v is None else _float_text(v) for v in series.to_list()], dtype=pl.String)
    if isinstance(series.dtype, pl.Datetime):
        return series.dt.to_string("%Y-%m-%d %H:%M:%S%.6f")
    return series.cast(pl.String)


def _rewritten(text: pl.Series, declared: frozenset[Family]) -> pl.Series:
    """Return text in which numbers, dates and booleans are written as in columns of those families."""
    readings = []
    if "number" in declared:
        readings.append(written(_numbers_in(text.set(_zero_led(text), None))))
    if "datetime" in declared:
        readings.append(written(_datetimes_in(text)))
    if "boolean" in declared:
        readings.append(written(_booleans_in(text)))
    return pl.select(pl.coalesce(*readings, text)).to_series()


def needs_int64(columns: Sequence[pl.Series]) -> bool:
    """Return whether whole numbers beyond 2**53 must and can stay integers to remain distinct."""
    return any(map(_is_large, columns)) and all(map(is_whole, columns))


def _is_large(series: pl.Series) -> bool:
    if series.dtype != pl.Int64 or series.null_count() == series.len():
        return False
    return bool((series > _EXACT).any() or (series < -_EXACT).any())


def is_whole(series: pl.Series) -> bool:
    """Return whether all numbers are whole."""
    if series.dtype == pl.Float64:
        return bool(((series == series.round()) & (series.abs() < 2**63)).all())
    if series.dtype == pl.String:
        values = series.unique().drop_nulls()
        return not values.str.strip_chars().cast(pl.Int64, strict=False).has_nulls()
    return True
