"""Constraints on the order of numbers, dates or texts in a row. A missing value breaks none of them."""

from __future__ import annotations

import operator
import re
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.sdmetrics.columns import Column
from divulge.sdmetrics.constraints.base import Constraint, Mask, Tables, are_texts, check_table

__all__ = ["ChainedInequality", "Inequality", "Range"]

_LEVELS = {
    c: level for level, letters in enumerate(("pzZcxX", "Yy", "Bbm", "djUWAaw", "HI", "M", "S", "f")) for c in letters
}
_LOOKED_AT = 1000
"""Values by which SDMetrics decides whether a column of text holds dates."""


class Inequality(Constraint):
    """One column is at least as high as another, or higher."""

    def __init__(
        self,
        low_column_name: str,
        high_column_name: str,
        strict_boundaries: bool = False,
        table_name: str | None = None,
    ) -> None:
        check_table(table_name)
        if not are_texts([low_column_name, high_column_name]):
            raise ValueError("`low_column_name` and `high_column_name` must be strings.")
        _check_strict(strict_boundaries)
        self.table, self.names, self.strict = str(table_name), [low_column_name, high_column_name], strict_boundaries

    def check(self, data: Tables) -> None:
        """See `Constraint.check`."""
        data.check(self.table, self.names)

    def valid(self, data: Tables, real: Tables | None) -> dict[str, Mask]:
        """See `Constraint.valid`; dates as text are compared as the coarser of their formats has them."""
        low, high = data.columns(self.table, self.names)
        entries = [data.entry(self.table, name) for name in self.names]
        if entries[0].get("sdtype") == "datetime" and _is_text(low):
            forms = [entry.get("datetime_format") for entry in entries]
            low, high = (_dates(c, f, each=True) for c, f in zip((low, high), forms, strict=True))
            written = [form for form in forms if form is not None]
            if len(set(written)) == 2:
                low, high = _in_coarser_form(low, high, written)
        return {self.table: _in_order(low, high, self.strict)}


class Range(Constraint):
    """Three columns are in order."""

    def __init__(
        self,
        low_column_name: str,
        middle_column_name: str,
        high_column_name: str,
        strict_boundaries: bool,
        table_name: str | None = None,
    ) -> None:
        check_table(table_name)
        self.names = [low_column_name, middle_column_name, high_column_name]
        if not are_texts(self.names):
            raise ValueError("`low_column_name`, `middle_column_name` and `high_column_name` must be strings.")
        _check_strict(strict_boundaries)
        self.table, self.strict = str(table_name), strict_boundaries

    def check(self, data: Tables) -> None:
        """See `Constraint.check`."""
        data.check(self.table, self.names)

    def valid(self, data: Tables, real: Tables | None) -> dict[str, Mask]:
        """See `Constraint.valid`."""
        columns = data.columns(self.table, self.names)
        entries = [data.entry(self.table, name) for name in self.names]
        if entries[0].get("sdtype") == "datetime" and _is_text(columns[2]):
            columns = [_dates(c, e.get("datetime_format")) for c, e in zip(columns, entries, strict=True)]
        low, middle, high = columns
        pairs = ((low, middle), (middle, high), (low, high))
        return {self.table: np.all([_in_order(a, b, self.strict) for a, b in pairs], axis=0)}


class ChainedInequality(Constraint):
    """Each column is higher than the one before; where one is missing, the one before it stands in."""

    def __init__(self, column_names: list[str], strict_boundaries: bool = True, table_name: str | None = None) -> None:
        check_table(table_name)
        if not are_texts(column_names):
            raise ValueError("The 'column_names' parameter must be a list of strings.")
        _check_strict(strict_boundaries)
        self.table, self.names, self.strict = str(table_name), column_names, strict_boundaries

    def check(self, data: Tables) -> None:
        """See `Constraint.check`."""
        data.check(self.table, self.names)

    def valid(self, data: Tables, real: Tables | None) -> dict[str, Mask]:
        """See `Constraint.valid`."""
        found = data.valid(self.table)
        columns = data.columns(self.table, self.names)
        if not columns:
            raise ValueError("ChainedInequality: `column_names` is empty. hint: name two columns or more.")
        if data.entry(self.table, self.names[0]).get("sdtype") == "datetime":
            forms = [data.entry(self.table, name).get("datetime_format") for name in self.names]
            columns = [_dates(c, f) if _holds_dates(c) else c for c, f in zip(columns, forms, strict=True)]
        low = columns[0]
        for high in columns[1:]:
            found &= _in_order(low, high, self.strict)
            low = _bridged(low, high)
        return {self.table: found}


def _check_strict(strict: Any) -> None:
    if not isinstance(strict, bool):
        raise ValueError("`strict_boundaries` must be a boolean.")


def _in_order(low: Column, high: Column, strict: bool) -> Mask:
    """Return where a value is below another (or equal), or one of them is missing."""
    compare: Callable[[Any, Any], Any] = operator.lt if strict else operator.le
    both = ~(low.missing | high.missing)
    found = np.ones(len(low), dtype=bool)
    one, other = low.values[both], high.values[both]
    try:
        if (one.dtype.kind == "M") != (other.dtype.kind == "M") and both.any():
            raise TypeError
        found[both] = compare(one, other)
    except TypeError:
        raise TypeError(
            f"Columns {low.name!r} and {high.name!r} have values that cannot be compared. hint: convert one of them."
        ) from None
    return found


def _bridged(low: Column, high: Column) -> Column:
    """Return the higher column with the lower one where a value is missing."""
    gaps = high.missing
    if not gaps.any():
        return high
    if low.values.dtype == high.values.dtype or {low.values.dtype.kind, high.values.dtype.kind} <= set("iuf"):
        values: NDArray[Any] = np.where(gaps, low.values, high.values)
    else:
        values = np.where(gaps, low.as_objects(), high.as_objects())
    return Column(high.kind, values, gaps & low.missing, high.name)


# ---------------------------------------------------------------- dates as text


def _is_text(column: Column) -> bool:
    return column.kind in "OSC"


def _dates(column: Column, form: str | None, *, each: bool = False) -> Column:
    """Return instants; text is read by a format, and text that does not follow it is missing.

    Parameters
    ----------
    column
        Text, or instants, which are returned unchanged.
    form
        The format; without one it is guessed: from the first value, or with `each` for each value.
    """
    if column.kind == "M":
        return column
    pandas = _pandas()
    levels = pandas.Series(column.as_objects(), dtype=object)
    pattern = form.replace("%#", "%").replace("%-", "%") if form else ("mixed" if each else None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = pandas.to_datetime(levels, format=pattern, errors="coerce")
        if found.dtype.kind != "M":  # several time zones
            found = pandas.Series([pandas.NaT if pandas.isna(v) else v.replace(tzinfo=None) for v in found])
            found = pandas.to_datetime(found, errors="coerce")
        values = found.dt.tz_localize(None).to_numpy()
    if values.dtype != "datetime64[ns]":  # pandas 3; what nanoseconds cannot hold is missing in SDMetrics
        seconds, most = values.astype("datetime64[s]").view(np.int64), np.iinfo(np.int64).max // 10**9
        values = np.where(np.abs(seconds) < most, values, np.full(1, "NaT", values.dtype)).astype("datetime64[ns]")
    return Column("M", values, name=column.name)


def _pandas() -> Any:
    try:
        import pandas
    except ModuleNotFoundError as error:  # pragma: no cover # the tests have pandas
        raise ValueError("A column of dates is text; reading it needs pandas. hint: pip install pandas.") from error
    return pandas


def _in_coarser_form(low: Column, high: Column, forms: Sequence[str]) -> tuple[Column, Column]:
    """Return both columns as the format of the two has them that says less."""
    if _level(forms[0]) >= _level(forms[1]):
        return _cut(low, forms[1]), high
    return low, _cut(high, forms[0])


def _level(form: str) -> int:
    return max((_LEVELS[c] for c in re.findall(r"%([A-Za-z])", form) if c in _LEVELS), default=0)


def _cut(column: Column, form: str) -> Column:
    """Return instants as they are after being written in a format."""
    written = _pandas().Series(column.values).dt.strftime(form)
    return _dates(Column("O", written.to_numpy(dtype=object), name=column.name), form, each=True)


def _holds_dates(column: Column) -> bool:
    """Return whether the first values all read as dates, as SDMetrics asks."""
    if column.kind == "M":
        return True
    if not _is_text(column):
        return not (~column.missing).any()
    pandas = _pandas()
    values = column.as_objects()[~column.missing][:_LOOKED_AT].tolist()
    texts = [v for v in values if isinstance(v, str)]
    others = [v for v in values if not isinstance(v, str)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        read = pandas.to_datetime(pandas.Series(texts, dtype=object), format="mixed", errors="coerce")
    return not bool(read.isna().any()) and all(hasattr(v, "strftime") and hasattr(v, "hour") for v in others)
