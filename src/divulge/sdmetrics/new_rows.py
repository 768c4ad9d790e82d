"""NewRowSynthesis: the share of synthetic rows that match no real row, from our own search.

SDMetrics writes a query for every synthetic row, and pandas evaluates it on the real table. Here each row becomes a
predicate of `Conjunctions`: an interval of ranks for each column. The ends of the intervals are found with the test
that the query states, in its dtypes, so that rounding is the same.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.kernels.predicates.conditions import Predicates
from divulge.kernels.predicates.predicates import Conjunctions
from divulge.sdmetrics.columns import Column, Frame, drawn_rows, equal_codes, frame_of
from divulge.sdmetrics.gaps import numbers_of
from divulge.sdmetrics.metadata import as_datetimes, checked_pair, no_sdtype, table_metadata

__all__ = ["checked_size", "checked_tolerance", "compared", "new_rows"]

Ints = NDArray[np.int64]
Values = NDArray[Any]
_Further = tuple[Ints, Ints]  # per synthetic row: the first of the real numbers that match, and the one after the last
_NUMBERS = ("numerical", "datetime")
_CATEGORIES = ("categorical", "boolean", "ordinal")
_ALONE = 50_000_000  # pairs of rows below which one thread is enough
_IN_WINDOWS = 2_000_000  # pairs of rows up to which numpy compares them


def new_rows(
    real_data: Any,
    synthetic_data: Any,
    metadata: Any = None,
    table_name: str | None = None,
    numerical_match_tolerance: float = 0.01,
    synthetic_sample_size: int | None = None,
    *,
    seed: int = 0,
) -> dict[str, Any]:
    """Return the breakdown of NewRowSynthesis.

    A synthetic row is new if no real row matches it in every column: categories equal, missing with missing, numbers r
    with |r - s| <= |tolerance * s|, instants alike as nanoseconds since 1970 (so that 1 % is half a year). Personal
    fields (an entry "pii"), the primary key and alternate keys are left out.

    Parameters
    ----------
    real_data, synthetic_data
        Frames with the same columns, or dictionaries whose first table is taken.
    metadata, table_name
        Dictionary of either shape, and which table of it; None goes by the dtypes of the real table.
    numerical_match_tolerance
        Share of the synthetic number.
    synthetic_sample_size
        How many synthetic rows to draw; None takes all.
    seed
        The draw is that of `numpy.random.RandomState(seed)`.

    Returns
    -------
    dict
        "score", "num_new_rows" and "num_matched_rows".

    Raises
    ------
    ValueError
        Tables and metadata do not fit, or no column is left to compare.
    TypeError
        No frame, no dictionary, a tolerance that is no number, or a numerical column that holds something else.
    ZeroDivisionError
        There are no synthetic rows.

    Examples
    --------
    >>> import polars as pl
    >>> real = pl.DataFrame({"age": [20, 50], "job": ["nurse", "cook"]})
    >>> synthetic = pl.DataFrame({"age": [20, 50, 51], "job": ["nurse", "nurse", "cook"]})
    >>> new_rows(real, synthetic, numerical_match_tolerance=0.05)["num_new_rows"]
    1
    """
    known = table_metadata(metadata, table_name)
    real, synthetic, entries = checked_pair(
        frame_of(real_data, "real_data"), frame_of(synthetic_data, "synthetic_data"), known
    )
    tolerance = checked_tolerance(numerical_match_tolerance)
    synthetic_sample_size = checked_size(synthetic_sample_size)
    if synthetic_sample_size is not None:
        if synthetic_sample_size > len(synthetic):
            warnings.warn(
                f"The provided `synthetic_sample_size` of {synthetic_sample_size} is larger than the number of "
                f"synthetic data rows ({len(synthetic)}). Proceeding without sampling.",
                stacklevel=4,  # the caller of `compute`: base stands between
            )
        else:
            synthetic = synthetic.take(drawn_rows(np.random.RandomState(seed), len(synthetic), synthetic_sample_size))
    types = {name: _type(name, entries[name], real[name]) for name in entries}
    real, synthetic = _with_instants(real, synthetic, entries, types)
    n = len(synthetic)
    if not n:
        raise ZeroDivisionError("There are no synthetic rows, so that no share of them is new.")
    fields = [name for name in compared(entries, known or {}) if types[name] in _NUMBERS + _CATEGORIES]
    if not fields:
        raise ValueError(
            "No column is left to compare. hint: id, personal and key columns are left out; the others must be "
            "numerical, datetime, categorical, boolean or ordinal."
        )
    n_new = int((_count_matches(real, synthetic, fields, types, tolerance) == 0).sum())
    return {"score": n_new / n, "num_new_rows": n_new, "num_matched_rows": n - n_new}


# ---------------------------------------------------------------- arguments and columns


def checked_tolerance(tolerance: Any) -> Any:
    """Return the tolerance, or raise if it is no number."""
    if isinstance(tolerance, bool) or not isinstance(tolerance, (int, float, np.number)):
        raise TypeError(f"`numerical_match_tolerance` must be a number, not of type {type(tolerance).__name__}.")
    if tolerance != tolerance:
        raise ValueError("`numerical_match_tolerance` must be a number, not nan.")
    if isinstance(tolerance, int) and abs(tolerance) > np.iinfo(np.int64).max:
        try:
            return float(tolerance)
        except OverflowError:
            raise OverflowError("`numerical_match_tolerance` is too large a number.") from None
    return tolerance


def checked_size(size: Any) -> int | None:
    """Return the number of synthetic rows to test; None for all."""
    if size is None:
        return None
    if isinstance(size, bool) or not isinstance(size, (int, float, np.number)):
        raise TypeError(f"`synthetic_sample_size` must be a whole number, not of type {type(size).__name__}.")
    if not size >= 0 or not (isinstance(size, int) or float(size) % 1 == 0):
        raise ValueError("`synthetic_sample_size` must be a whole number of at least 1.")
    return int(size)


def _type(name: Hashable, entry: Mapping[str, Any] | None, column: Column) -> str:
    """Return the sdtype of a column; numbers without a sign have none in SDMetrics, which then fails."""
    if entry is not None:
        return str(entry.get("sdtype", ""))
    if column.kind == "u":
        return "numerical"
    raise AttributeError(f"Column {name!r} holds {no_sdtype(column)}, which have no sdtype. hint: pass metadata.")


def _with_instants(
    real: Frame, synthetic: Frame, entries: Mapping[Hashable, Any], types: Mapping[Hashable, str]
) -> tuple[Frame, Frame]:
    """Return the tables with datetime columns as whole numbers of nanoseconds since 1970."""
    for name in [n for n, t in types.items() if t == "datetime"]:
        parts = (as_datetimes(name, frame[name], entries[name]) for frame in (real, synthetic))
        a, b = (Column("i", part.values.view(np.int64), part.missing) for part in parts)
        real, synthetic = real.with_column(name, a), synthetic.with_column(name, b)
    return real, synthetic


def compared(entries: Mapping[Hashable, Any], metadata: Mapping[str, Any]) -> list[Hashable]:
    """Return the columns that are neither personal nor a key; a primary key of several columns is none."""
    keys: list[Hashable] = []
    alternate = metadata.get("alternate_keys", [])
    if not isinstance(alternate, Iterable):
        raise TypeError(
            f"'alternate_keys' of the metadata is of type {type(alternate).__name__}; it must be a list of names of "
            "columns. hint: leave it out where there is none."
        )
    for key in alternate:
        keys.extend(key if isinstance(key, list) else [key])
    primary = metadata.get("primary_key", "")
    return [n for n, entry in entries.items() if "pii" not in (entry or {}) and n != primary and n not in keys]


# ---------------------------------------------------------------- rows as predicates


def _count_matches(
    real: Frame, synthetic: Frame, fields: list[Hashable], types: Mapping[Hashable, str], tolerance: Any
) -> Ints:
    """Return 0 for each synthetic row without a match."""
    shape = len(synthetic), len(fields)
    codes = np.empty((len(real), len(fields)), dtype=np.int32)
    low, high = np.empty(shape, dtype=np.int32), np.empty(shape, dtype=np.int32)
    common = _dtype_of_rows(synthetic)
    further: list[tuple[int, _Further]] = []
    for j, name in enumerate(fields):
        a, b = real[name], synthetic[name]
        if types[name] in _NUMBERS:
            codes[:, j], low[:, j], high[:, j], more = _near(name, a, b, common, tolerance)
            further += [(j, alternative) for alternative in more]
        else:
            codes[:, j], low[:, j] = _same(a, b, common)
            high[:, j] = low[:, j]
    low, high, of_row = _alternatives(low, high, further)
    found: NDArray[Any] | None = _met_in_windows(codes, low, high)
    if found is None:
        threads = 1 if len(real) * len(synthetic) < _ALONE else None
        column = np.broadcast_to(np.arange(len(fields), dtype=np.int32), low.shape)
        asked = Predicates(column, low, high, np.full(len(low), len(fields)))
        found = Conjunctions(codes, threads=threads).count(asked, most=0)
    return np.bincount(of_row, weights=found, minlength=len(synthetic)).astype(np.int64)


def _met_in_windows(
    codes: NDArray[np.int32], low: NDArray[np.int32], high: NDArray[np.int32]
) -> NDArray[np.bool_] | None:
    """Return which predicates some row meets, in plain numpy; None where that would look at too many pairs.

    In an order by one column the rows that meet its interval are adjacent: a window. The column with the shortest
    windows is taken, and the other columns are compared only within its windows.
    """
    windows = []
    for column, least, most in zip(codes.T, low.T, high.T, strict=True):
        ranked = np.sort(column)
        first = np.searchsorted(ranked, least, side="left")
        windows.append((first, np.maximum(np.searchsorted(ranked, most, side="right") - first, 0)))
    total = [int(size.sum()) for _, size in windows]
    best = int(np.argmin(total))
    if total[best] > _IN_WINDOWS:
        return None
    first, size = windows[best]
    asked = np.repeat(np.arange(len(low)), size)
    place = np.arange(total[best]) - np.repeat(np.cumsum(size) - size, size) + np.repeat(first, size)
    rows = np.argsort(codes[:, best], kind="stable")[place]
    for j in sorted(range(codes.shape[1]), key=lambda j: total[j]):
        if j != best:
            value = codes[rows, j]
            alive = (low[asked, j] <= value) & (value <= high[asked, j])
            asked, rows = asked[alive], rows[alive]
    met = np.zeros(len(low), dtype=bool)
    met[asked] = True
    return met


def _alternatives(
    low: NDArray[np.int32], high: NDArray[np.int32], further: list[tuple[int, _Further]]
) -> tuple[NDArray[np.int32], NDArray[np.int32], Ints]:
    """Return the intervals of all predicates, and the synthetic row of each: a row may match in more than one way.

    The alternatives of one column are adjacent; each is combined with those of the columns before it.
    """
    of_row = np.arange(len(low))
    for j in dict.fromkeys(j for j, _ in further):
        parts = [(low, high, of_row)]
        for first, last in (interval for k, interval in further if k == j):
            some = np.flatnonzero((first < last)[of_row])
            lower, upper = low[some], high[some]
            lower[:, j], upper[:, j] = first[of_row[some]] + 1, last[of_row[some]]
            parts.append((lower, upper, of_row[some]))
        low, high, of_row = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    return low, high, of_row


def _dtype_of_rows(frame: Frame) -> np.dtype[Any] | None:
    """Return the dtype of a row of the frame where all its columns are numbers: whole ones become floats beside floats.

    None where a row is of objects, which keep what they are.
    """
    dtypes = {column.values.dtype for column in frame.columns.values()}
    return np.result_type(*dtypes) if all(d.kind in "iuf" for d in dtypes) else None


def _asked_values(values: Values, common: np.dtype[Any] | None) -> Values:
    """Return the values of a synthetic column with the dtype of its rows."""
    if common is not None:
        return values.astype(common)
    wide = {"f": np.float64, "i": np.int64, "u": np.uint64}  # numbers of Python
    return values.astype(wide[values.dtype.kind])


def _near(
    name: Hashable, real: Column, synthetic: Column, common: np.dtype[Any] | None, tolerance: Any
) -> tuple[Ints, Ints, Ints, list[_Further]]:
    """Return ranks of the real numbers, 0 for missing; for each synthetic one the first and last that match; and more.

    More intervals match where differences wrap around.
    """
    for column in (real, synthetic):
        if column.kind == "M":
            raise TypeError(
                f"Column {name!r} is numerical in the metadata, but holds instants. hint: change its sdtype."
            )
    values, asked = numbers_of(name, real), _asked_values(numbers_of(name, synthetic), common)
    with np.errstate(all="ignore"):  # missing values, and infinities
        within = np.abs(tolerance * asked)
    dtype = values.dtype
    wraps = dtype.kind in "iu" and asked.dtype.kind in "iu"
    values, asked, within = _comparable(values, asked, within)
    distinct, rank = np.unique(values[~real.missing], return_inverse=True)
    codes = np.zeros(len(real), dtype=np.int64)
    codes[~real.missing] = rank + 1
    first, last = _matching(distinct, asked, within)
    more: list[_Further] = []
    if wraps and values.dtype.kind == "i":
        more = [(a, np.where(synthetic.missing, a, b)) for a, b in _wrapped(distinct, asked, within, dtype)]
        if dtype.kind == "u":  # a difference below zero wraps around to a large one
            first = np.maximum(first, np.searchsorted(distinct, asked))
    low, high = first + 1, last
    low[synthetic.missing], high[synthetic.missing] = 0, 0
    return codes, low, high, more


def _wrapped(distinct: Values, asked: Values, within: Values, dtype: np.dtype[Any]) -> list[_Further]:
    """Return which numbers match because the difference leaves the dtype: small ones of 8 or 16 bits may.

    A difference of half the dtype's width becomes the least number, which has no absolute value and passes any test.
    """
    if dtype.itemsize == 8 or not len(distinct):
        return []
    ends, width = np.iinfo(dtype), 2 ** (8 * dtype.itemsize)
    fits = (asked >= ends.min) & (asked <= ends.max)
    asked, reach = np.where(fits, asked, 0), np.floor(np.minimum(np.nan_to_num(within), width)).astype(np.int64)
    low, high = np.zeros(len(asked), dtype=np.int64), np.full(len(asked), len(distinct))
    below = np.searchsorted(distinct, asked - width + reach, side="right")
    above = np.searchsorted(distinct, asked + width - reach)
    out = [(low, below)] if dtype.kind == "u" else [(low, below), (above, high)]
    if dtype.kind == "i":
        halves = (asked - width // 2, asked + width // 2)
        out += [(np.searchsorted(distinct, h, side="left"), np.searchsorted(distinct, h, side="right")) for h in halves]
    return [(a, np.where(fits, b, a)) for a, b in out]


def _comparable(values: Values, asked: Values, within: Values) -> tuple[Values, Values, Values]:
    """Return real numbers, synthetic ones and the width in the dtypes in which pandas compares them."""
    if values.dtype.kind == "f" and values.dtype.itemsize < 8:  # constants take the dtype of the column
        with np.errstate(over="ignore"):
            return values, asked.astype(values.dtype), within.astype(values.dtype)
    whole = values.dtype.kind in "iu" and asked.dtype.kind in "iu"
    if whole and max(int(v.max(initial=0)) for v in (values, asked)) <= np.iinfo(np.int64).max:
        return values.astype(np.int64), asked.astype(np.int64), within.astype(np.float64)
    return values.astype(np.float64), asked.astype(np.float64), within.astype(np.float64)


def _matching(distinct: Values, asked: Values, within: Values) -> tuple[Ints, Ints]:
    """Return which of the distinct numbers r, ascending, meet |r - s| <= t: those from `first` to before `last`.

    An infinite s is as far from any other number as it is wide, and from itself at no distance at all (nan).
    """
    begin = np.searchsorted(distinct, asked, side="left")
    end = np.searchsorted(distinct, asked, side="right")
    n = len(distinct)

    def inside(place: Ints) -> NDArray[np.bool_]:
        with np.errstate(all="ignore"):
            found: NDArray[np.bool_] = np.abs(distinct[place] - asked) <= within
        return found

    first = _first(np.zeros_like(begin), begin, inside)
    last = _first(end, np.full_like(end, n), lambda place: ~inside(place))
    if asked.dtype.kind == "f":
        endless = np.isinf(asked) & np.isinf(within)
        up, down = endless & (asked > 0), endless & (asked < 0)
        first, last = np.where(up, 0, first), np.where(up, begin, last)
        first, last = np.where(down, end, first), np.where(down, n, last)
        unknown = np.isnan(within)  # infinity times 0
        first, last = np.where(unknown, begin, first), np.where(unknown, end, last)
    return first, last


def _first(low: Ints, high: Ints, test: Callable[[Ints], NDArray[np.bool_]]) -> Ints:
    """Return the first place from `low` on that passes a test which all places after it pass, `high` if none does."""
    low, high = low.copy(), high.copy()
    while (low < high).any():
        searching = low < high
        middle = np.where(searching, (low + high) // 2, 0)
        passed = test(middle)
        high = np.where(searching & passed, middle, high)
        low = np.where(searching & ~passed, middle + 1, low)
    return low


def _same(real: Column, synthetic: Column, common: np.dtype[Any] | None) -> tuple[Values, Values]:
    """Return codes of real and synthetic categories, 0 for missing, equal where a query finds them equal."""
    a, b = real.values, synthetic.values
    if a.dtype != object and b.dtype == object and real.kind in "biuf":
        synthetic = Column(synthetic.kind, _as_written(b), synthetic.missing)
    elif a.dtype.kind in "iuf" and b.dtype.kind in "iuf":
        b = _asked_values(b, common)
        if "f" in {a.dtype.kind, b.dtype.kind}:
            dtype = a.dtype if a.dtype.kind == "f" else np.dtype(np.float64)
            a, b = a.astype(dtype), b.astype(dtype)
        real, synthetic = (Column(v.dtype.kind, v, c.missing) for v, c in ((a, real), (b, synthetic)))
    codes, _ = equal_codes([real, synthetic])
    x, y = (np.where(column.missing, 0, code + 1) for code, column in zip(codes, (real, synthetic), strict=True))
    return x, y


def _as_written(values: Values) -> Values:
    """Return text as the number that it spells: it is written without quotes into a query of a column of numbers."""
    out = values.copy()
    for i, value in enumerate(values):
        if isinstance(value, str):
            try:
                read = ast.literal_eval(value.strip())
            except (ValueError, SyntaxError, MemoryError, RecursionError):
                continue
            out[i] = read if isinstance(read, (bool, int, float)) else value
    return out
