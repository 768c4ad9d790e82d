"""The breakdowns of the metrics of formats: dates as text, and regular expressions."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from divulge.sdmetrics.columns import Column
from divulge.sdmetrics.errors import IncomputableMetricError
from divulge.sdmetrics.inputs import column_of, known
from divulge.sdmetrics.single_column.formulas import share

__all__ = [
    "Texts",
    "date_format_share",
    "datetime_format_adherence",
    "pattern_share",
    "regex_format_adherence",
    "rows_of_format",
    "rows_of_pattern",
]

Breakdown = dict[str, Any]
Groups = dict[str, set[str | None]]
Ints = NDArray[np.int64]
Texts = Iterable[tuple[Iterable[Any], Ints | None]]
"""Texts part by part, with the rows that have each, or None where each is one row."""
_FLAGS, _ESCAPED, _HALF = re.compile(r"\(\?[imsux]+\)"), re.compile(r"\\."), re.compile("[\ud800-\udfff]")
_UNKNOWN = (
    "`regex_format` looks around, refers back, or has sets in sets, for which there is no matching in a bounded time. "
    "hint: write it without."
)
_FIRST, _LAST = np.datetime64("1677-09-21T00:12:44"), np.datetime64("2262-04-11T23:47:16")
"""What nanoseconds since 1970 can hold, which is all that pandas 2 reads."""


def datetime_format_adherence(real_data: Any, synthetic_data: Any, datetime_format: str) -> Breakdown:
    """Return the breakdown of DatetimeFormatAdherence."""
    real, synthetic = column_of(real_data, "real_data"), column_of(synthetic_data, "synthetic_data")
    return {"score": date_format_share(real, synthetic, (None, None), datetime_format)}


def date_format_share(
    real: Column, synthetic: Column, counts: tuple[Ints | None, Ints | None], datetime_format: str
) -> float:
    """Return the score of DatetimeFormatAdherence; of columns of distinct values with the rows of each."""
    if synthetic.values.dtype.kind == "M":
        return float("nan")
    _check_datetime_format(datetime_format)
    if real.values.dtype.kind != "M":
        _warn_of_real("datetime", _n_rows(real, counts[0]) - _n_dates(real, datetime_format, counts[0]), 6)
    n_valid = _n_dates(synthetic, datetime_format, counts[1])
    return _share("DatetimeFormatAdherence", n_valid, _n_rows(synthetic, counts[1]))


def _n_rows(column: Column, counts: Ints | None) -> int:
    return len(column) if counts is None else int(counts.sum())


def _check_datetime_format(datetime_format: Any) -> None:
    if not isinstance(datetime_format, str):
        raise ValueError("`datetime_format` must be a string.")
    message = f"Invalid datetime format string '{datetime_format}'."
    try:
        written = datetime.now().strftime(datetime_format)
    except Exception:
        raise ValueError(message) from None
    if "%" in written:
        raise ValueError(message)


def _n_dates(column: Column, datetime_format: str, counts: Ints | None) -> int:
    """Return how many rows are missing or follow the format."""
    valid = column.missing.copy()
    valid[~valid] = _dates(known(column), datetime_format.replace("%-", "%"))
    return int(valid.sum() if counts is None else counts[valid].sum())


def _dates(values: NDArray[Any], form: str) -> NDArray[np.bool_]:
    try:
        import pandas as pd
    except ModuleNotFoundError:  # pragma: no cover # the tests have pandas
        return _by_strptime(values, form)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        parsed = pd.to_datetime(
            pd.Series(values.astype(object)), errors="coerce", format=form, utc="%z" in form.lower()
        )
    there = parsed.notna().to_numpy(dtype=bool, copy=True)
    if parsed.dtype.kind == "M":  # pandas 3 reads years that nanoseconds cannot hold
        naive = parsed.dt.tz_localize(None) if parsed.dt.tz is not None else parsed
        seconds = naive.to_numpy().astype("datetime64[s]")
        there &= (seconds >= _FIRST) & (seconds <= _LAST)
    return np.asarray(there)


def _by_strptime(values: NDArray[Any], form: str) -> NDArray[np.bool_]:
    def follows(value: Any) -> bool:
        try:
            datetime.strptime(str(value), form)
        except ValueError:
            return False
        return True

    return _each(values, follows)


def _each(values: Iterable[Any], follows: Callable[[Any], bool]) -> NDArray[np.bool_]:
    """Return what a test says of each value; equal values are tested once."""
    found: dict[Any, bool] = {}
    out = []
    for value in values:
        if value not in found:
            found[value] = follows(value)
        out.append(found[value])
    return np.array(out, dtype=bool)


def regex_format_adherence(real_data: Any, synthetic_data: Any, regex_format: str) -> Breakdown:
    """Return the breakdown of RegexFormatAdherence."""
    real, synthetic = column_of(real_data, "real_data"), column_of(synthetic_data, "synthetic_data")
    pattern = _pattern(regex_format)
    for column in (real, synthetic):
        _check_text(column)
    texts = _texts(known(real))
    matched = texts.filter(pattern.matches(texts))
    _warn_of_real("regex", len(texts) - len(matched))
    n_valid, _ = _n_valid(pattern, _groups(pattern, matched), [(known(synthetic), None)])
    return {"score": _share("RegexFormatAdherence", int(synthetic.missing.sum()) + n_valid, len(synthetic))}


def pattern_share(real: Callable[[], Texts], synthetic: Callable[[], Texts], regex_format: str) -> float:
    """Return the score of RegexFormatAdherence of texts that come part by part.

    The real texts are asked for where the pattern has named groups; how many of them do not match is not told.

    Examples
    --------
    >>> pattern_share(lambda: [], lambda: [(["a1", "b"], np.array([3, 1])), (["a2"], None)], "a[0-9]")
    0.8
    """
    pattern = _pattern(regex_format)
    groups: Groups = {}
    for texts, _ in real() if pattern.names else ():
        there = _texts(texts)
        for name, found in _groups(pattern, there.filter(pattern.matches(there))).items():
            groups.setdefault(name, set()).update(found)
    return _share("RegexFormatAdherence", *_n_valid(pattern, groups, synthetic()))


def _n_valid(pattern: _Pattern, groups: Groups, parts: Texts) -> tuple[int, int]:
    """Return how many rows match and have the real texts in each named group, and how many there are."""
    n_valid = n_rows = 0
    for texts, counts in parts:
        there = _texts(texts)
        kept = pattern.matches(there)
        for name, found in pattern.groups(there).items() if groups else ():
            kept &= pl.Series([text in groups[name] for text in found], dtype=pl.Boolean)
        valid = kept.to_numpy()
        n_valid += int(valid.sum() if counts is None else counts[valid].sum())
        n_rows += len(valid) if counts is None else int(counts.sum())
    return n_valid, n_rows


def rows_of_format(data: Any, role: str, datetime_format: str) -> NDArray[np.bool_]:
    """Return which rows are missing or follow a format of dates; all rows of a column of dates do."""
    column = column_of(data, role)
    _check_datetime_format(datetime_format)
    kept = np.ones(len(column), dtype=bool)
    if column.values.dtype.kind != "M":
        kept[~column.missing] = _dates(known(column), datetime_format.replace("%-", "%"))
    return kept


def rows_of_pattern(data: Any, role: str, regex_format: str) -> NDArray[np.bool_]:
    """Return which rows are missing or match a regular expression; its named groups may take any text."""
    column, pattern = column_of(data, role), _pattern(regex_format)
    _check_text(column)
    kept = np.ones(len(column), dtype=bool)
    kept[~column.missing] = pattern.matches(_texts(known(column))).to_numpy()
    return kept


@dataclass(frozen=True, slots=True)
class _Pattern:
    """A regular expression for polars, which takes time in proportion to the text: that of Python may take for ever."""

    whole: str
    """It matches a whole text."""
    anywhere: str
    names: tuple[str, ...]
    """Of its groups."""

    def matches(self, texts: pl.Series) -> pl.Series:
        """Return which texts match; what is no text does not."""
        return texts.str.contains(self.whole).fill_null(False)

    def groups(self, texts: pl.Series) -> dict[str, list[str | None]]:
        """Return what each named group takes in each text, at the first place that matches."""
        found = texts.str.extract_groups(self.anywhere).struct
        return {name: found.field(name).to_list() for name in self.names}


def _pattern(regex_format: Any) -> _Pattern:
    if not isinstance(regex_format, str):
        raise ValueError("`regex_format` must be a string.")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", FutureWarning)  # of sets that Rust takes for other ones
            names = tuple(re.compile(regex_format).groupindex)
    except (re.error, RecursionError, OverflowError):
        raise ValueError(f"Invalid regex format string '{regex_format}'.") from None
    except FutureWarning:
        raise ValueError(_UNKNOWN) from None
    flags = "" if (first := _FLAGS.match(regex_format)) is None else first[0]
    rest = _ESCAPED.sub(lambda sign: r"\z" if sign[0] == r"\Z" else sign[0], regex_format[len(flags) :])
    end = "\n" if "x" in flags else ""  # a comment ends there
    pattern = _Pattern(rf"{flags}\A(?:{rest}{end})\z", f"{flags}{rest}", names)
    try:
        pattern.matches(pl.Series([""]))
    except pl.exceptions.PolarsError:
        raise ValueError(_UNKNOWN) from None
    return pattern


def _texts(values: Iterable[Any]) -> pl.Series:
    """Return texts; null in place of what is none, or no UTF-8."""
    return pl.Series([v if isinstance(v, str) and _is_utf8(v) else None for v in values], dtype=pl.String)


def _is_utf8(text: str) -> bool:
    return text.isascii() or not _HALF.search(text)


def _check_text(column: Column) -> None:
    values = known(column)
    if values.dtype != object or (len(values) and not any(isinstance(v, (str, list)) for v in values)):
        raise TypeError("RegexFormatAdherence: the columns must be text. hint: convert them, .astype(str).")


def _groups(pattern: _Pattern, matched: pl.Series) -> Groups:
    """Return the texts that each named group takes in the real column; nothing where no real value matches."""
    if not pattern.names or not len(matched):
        return {}
    return {name: set(found) for name, found in pattern.groups(matched).items()}


def _share(metric: str, n_valid: int, n_rows: int) -> float:
    if not n_rows:
        raise IncomputableMetricError(f"{metric}: the synthetic column is empty.")
    return share(n_valid, n_rows)


def _warn_of_real(what: str, number: int, stacklevel: int = 5) -> None:
    if number:
        warnings.warn(
            f"Some values in the real data do not match the specified {what} format: {number} in number.",
            stacklevel=stacklevel,
        )
