"""The columns of a frame as SDMetrics reads them: raw values of one dtype, compared by Python's equality.

The rest of divulge compares values by meaning: the number 1 and the text "1" are one value, and missing is a value
like any other. SDMetrics uses dtypes and Python's equality: 1, 1.0 and True are equal, "1" is another value, and
whether missing equals missing depends on the dtype. To give the same numbers, this module does the same.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.tables.canonical_values import distinct, from_arrow
from divulge.tables.frames import collect, table_of

__all__ = [
    "EMPTY",
    "CodedColumn",
    "Codes",
    "Column",
    "Frame",
    "column_of_values",
    "drawn_rows",
    "equal_codes",
    "first_table",
    "frame_of",
    "no_equal",
    "objects_of",
    "pandas_column",
    "same_dtype",
    "unhashable",
]

Codes = NDArray[np.int32]


class Column:
    """One column of one table.

    Parameters
    ----------
    kind
        Letter of the dtype as numpy has it: b, i, u, f, M (datetime), m (duration) or O; another letter for a dtype
        that SDMetrics does not know.
    values
        Shape (n_rows,): of dtype bool, int, uint, float, timedelta64 or datetime64[ns], else object (also for a
        nullable dtype in which something is missing, and for whole numbers that float64 and int64 do not hold).
    missing
        Shape (n_rows,), where it is known already.
    name
        Name of the column in its table, for errors; None for a column without a name.
    """

    __slots__ = ("_has_missing", "_missing", "kind", "name", "values")

    def __init__(
        self, kind: str, values: NDArray[Any], missing: NDArray[np.bool_] | None = None, name: Hashable = None
    ) -> None:
        self.kind, self.values, self._missing, self.name = kind, values, missing, name
        self._has_missing: bool | None = None

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Where the column has None, nan, NaT or NA, shape (n_rows,)."""
        if self._missing is None:
            self._missing = _is_missing(self.values)
        return self._missing

    @property
    def has_missing(self) -> bool:
        """Whether a value is missing."""
        if self._has_missing is None:
            if self.dtype.kind == "f" and self._missing is None:
                self._has_missing = len(self.values) > 0 and bool(np.isnan(self.values.min()))
            else:
                self._has_missing = self.dtype.kind not in "biu" and bool(self.missing.any())
        return self._has_missing

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of `values`."""
        return self.values.dtype

    def __len__(self) -> int:
        return len(self.values)

    def take(self, rows: NDArray[Any]) -> Column:
        """Return some of the rows."""
        missing = None if self._missing is None else self._missing[rows]
        return Column(self.kind, self.values[rows], missing, self.name)

    def named(self, name: Hashable) -> Column:
        """Return the column under a name."""
        return Column(self.kind, self.values, self._missing, name)

    def as_objects(self) -> NDArray[Any]:
        """Return a copy of the values as Python's objects, an instant as pandas' Timestamp; shape (n_rows,)."""
        return objects_of(self.values)


class CodedColumn(Column):
    """A column of objects known by its levels; the array of objects is made when it is first asked for.

    Parameters
    ----------
    kind
        As for `Column`.
    levels
        Shape (n_levels,): different values; a level need not occur in a row.
    places
        Shape (n_rows,): the level of each row, -1 for a missing value.
    name
        As for `Column`.
    lost
        The object that stands for a missing value among the values.
    """

    __slots__ = ("_objects", "levels", "lost", "places")

    def __init__(
        self,
        kind: str,
        levels: NDArray[Any],
        places: NDArray[np.integer[Any]],
        name: Hashable = None,
        lost: float | None = None,
    ) -> None:
        self.kind, self.levels, self.places, self.name, self.lost = kind, levels, places, name, lost
        self._missing: NDArray[np.bool_] | None = None
        self._has_missing: bool | None = None
        self._objects: NDArray[Any] | None = None

    @property
    def values(self) -> NDArray[Any]:  # type: ignore[override] # read only here
        """The value of each row."""
        if self._objects is None:
            levels = np.empty(len(self.levels) + 1, dtype=object)
            levels[:-1], levels[-1] = self.levels, self.lost
            self._objects = levels[self.places]
        return self._objects

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Where no level is, shape (n_rows,)."""
        if self._missing is None:
            self._missing = self.places < 0
        return self._missing

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of `values`."""
        return np.dtype(object)

    def __len__(self) -> int:
        return len(self.places)

    def take(self, rows: NDArray[Any]) -> CodedColumn:
        """Return some of the rows."""
        return self._copied(self.places[rows], self.name)

    def named(self, name: Hashable) -> CodedColumn:
        """Return the column under a name."""
        return self._copied(self.places, name)

    def _copied(self, places: NDArray[np.integer[Any]], name: Hashable) -> CodedColumn:
        return CodedColumn(self.kind, self.levels, places, name, self.lost)


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """One table, column by column, under its own names (pandas allows names that are no text)."""

    columns: dict[Hashable, Column]
    n_rows: int

    def __len__(self) -> int:
        return self.n_rows

    def __getitem__(self, name: Hashable) -> Column:
        return self.columns[name]

    @property
    def names(self) -> list[Hashable]:
        """Names of the columns, in their order."""
        return list(self.columns)

    def take(self, rows: NDArray[Any]) -> Frame:
        """Return some of the rows."""
        return Frame({n: c.take(rows) for n, c in self.columns.items()}, len(rows))

    def with_column(self, name: Hashable, column: Column) -> Frame:
        """Return the table with one column replaced."""
        return replace(self, columns={**self.columns, name: column.named(name)})


EMPTY = Column("O", np.empty(0, dtype=object))
"""A column without a value."""


def column_of_values(name: str, values: Any) -> Column:
    """Return the values of a series of polars as the column that they would be in memory."""
    return frame_of(values.alias(name).to_frame(), "table")[name]


def objects_of(values: NDArray[Any]) -> NDArray[Any]:
    """Return a copy of values as Python's objects, instants and durations as pandas' where pandas is there."""
    if values.dtype.kind not in "mM":
        return values.astype(object)
    try:
        import pandas as pd
    except ModuleNotFoundError:
        return values.astype(f"{values.dtype.kind}8[us]").astype(object)
    return np.array(pd.Series(values).astype(object), dtype=object)


def _is_missing(values: NDArray[Any]) -> NDArray[np.bool_]:
    if values.dtype.kind in "fmM":
        return np.asarray(np.isnan(values) if values.dtype.kind == "f" else np.isnat(values))
    if values.dtype != object:
        return np.zeros(len(values), dtype=bool)
    if "pandas" in sys.modules:
        return np.asarray(sys.modules["pandas"].isna(values), dtype=bool)
    return np.fromiter((v is None or v != v for v in values), dtype=bool, count=len(values))


def frame_of(data: Any, role: str) -> Frame:
    """Return the columns of a frame of any kind; for a dictionary of tables, those of its first table.

    Parameters
    ----------
    data
        A pandas frame keeps its dtypes. Any other frame that divulge reads gets the dtypes of pandas: whole numbers
        with missing values are floats, texts are objects.
    role
        Name of the argument, for errors.

    Raises
    ------
    TypeError
        `data` is not a frame.
    ValueError
        Two columns have one name.
    """
    data = first_table(data)
    if type(data).__module__.split(".")[0] == "pandas" and hasattr(data, "columns"):
        return _from_pandas(data, role)
    if data is None or isinstance(data, (str, bytes, int, float, list, tuple, np.ndarray, Mapping)):
        raise TypeError(f"`{role}` is of type {type(data).__name__}; it must be a pandas.DataFrame or another frame.")
    if type(data).__module__.split(".")[0] == "pyarrow" and hasattr(data, "num_columns"):
        return _from_arrow(data, role)
    table = collect(table_of(data, role))
    return Frame({name: _from_polars(table.series(name)).named(name) for name in table.columns}, table.n_rows)


def _from_arrow(data: Any, role: str) -> Frame:
    """Return the columns of an Arrow table, one after another, so that there is one copy of one column at a time."""
    names = table_of(data.slice(0, 1), role).columns
    return Frame(
        {name: _from_polars(from_arrow(data.column(i))).named(name) for i, name in enumerate(names)}, data.num_rows
    )


def first_table(data: Any) -> Any:
    """Return the first table of a dictionary of tables; any other object is returned unchanged."""
    return next(iter(data.values())) if isinstance(data, Mapping) and data else data


def drawn_rows(state: np.random.RandomState, n_rows: int, size: int) -> NDArray[np.int64]:
    """Return row numbers drawn without replacement, as pandas' `sample` draws them."""
    return state.choice(n_rows, size=size, replace=False)


def _from_pandas(data: Any, role: str) -> Frame:
    names = list(data.columns)
    if len(set(names)) < len(names):
        raise ValueError(f"`{role}` has two columns of one name. hint: rename one of them.")
    return Frame({name: pandas_column(data[name]).named(name) for name in names}, len(data))


def pandas_column(series: Any) -> Column:
    """Return the column of a pandas series, with its dtype; instants with a time zone are converted to UTC."""
    dtype = series.dtype
    kind = getattr(dtype, "kind", "O")
    if isinstance(dtype, np.dtype):
        values = series.to_numpy()
        if kind == "M":
            values = values.astype("datetime64[ns]")
        elif kind not in "biufmO":
            values = values.astype(object)
        return Column(kind, values)
    missing = series.isna().to_numpy(dtype=bool)
    if kind == "M":  # with a time zone: instants
        naive = series.dt.tz_convert("UTC").dt.tz_localize(None) if getattr(dtype, "tz", None) else series
        return Column(kind, naive.to_numpy(dtype="datetime64[ns]"), missing)
    if kind == "m":  # of Arrow
        return Column(kind, series.astype(f"timedelta64[{dtype.pyarrow_dtype.unit}]").to_numpy(), missing)
    if kind in "biuf" and not missing.any() and getattr(dtype, "numpy_dtype", None) is not None:
        return Column(kind, series.to_numpy(dtype=dtype.numpy_dtype), missing)
    return Column(kind if kind in "biuf" else "O", series.to_numpy(dtype=object), missing)


def _from_polars(series: Any) -> Column:
    """Return a polars column with the dtype that it would have in pandas."""
    import polars as pl

    n_missing = series.null_count()
    if series.dtype.is_float():
        return Column("f", series.to_numpy().astype(np.float64, copy=False))
    if series.dtype.is_integer():
        if n_missing or str(series.dtype).endswith("128"):  # numpy has no missing integers, and none of 128 bits
            return _floats_or_objects(series)
        return Column("i" if series.dtype.is_signed_integer() else "u", series.to_numpy())
    if series.dtype == pl.Boolean and not n_missing:
        return Column("b", series.to_numpy().astype(bool, copy=False))
    if series.dtype in (pl.Date, pl.Datetime):
        instants = series.cast(pl.Datetime("ns"), strict=False)
        if instants.null_count() == n_missing:  # else beyond the years of nanoseconds: objects, as in pandas
            return Column("M", instants.to_numpy().astype("datetime64[ns]", copy=False))
    if series.dtype in (pl.String, pl.Categorical, pl.Enum):
        levels, places = distinct(series)
        if places is not None:
            return _coded(levels, places)
    values = np.empty(len(series), dtype=object)
    values[:] = series.to_list()
    return Column("O", values, series.is_null().to_numpy())


def _floats_or_objects(series: Any) -> Column:
    """Return whole numbers as floats, or as Python's where floats would not tell them apart."""
    import polars as pl

    if max((abs(v) for v in (series.min(), series.max()) if v is not None), default=0) <= 2**53:
        return Column("f", series.cast(pl.Float64).to_numpy())
    values = np.empty(len(series), dtype=object)
    values[:] = series.to_list()
    return Column("i", values, series.is_null().to_numpy())


def _coded(levels: Any, places: NDArray[np.integer[Any]]) -> CodedColumn:
    """Return a column of texts; the last level is null where values are missing."""
    if levels.null_count():
        levels = levels.head(levels.len() - 1)
        places = np.append(np.arange(levels.len(), dtype=np.int32), np.int32(-1)).take(places)
    return CodedColumn("O", np.array(levels.to_list(), dtype=object), places)


def same_dtype(columns: Sequence[Column]) -> list[Column]:
    """Return the columns with the dtype of a row of the frame.

    A row of a pandas frame has one dtype: numbers of several dtypes become one, so that whole numbers above 2**53
    beside floats lose digits. Anything else keeps its values.
    """
    kinds = {c.kind for c in columns}
    plain = all(c.values.dtype != object for c in columns)
    if not plain or not kinds <= set("iuf") or len({c.values.dtype for c in columns}) < 2:
        return list(columns)
    dtype = np.result_type(*(c.values.dtype for c in columns))
    return [Column(dtype.kind, c.values.astype(dtype), c.missing, c.name) for c in columns]


def equal_codes(parts: Sequence[Column], *, missing_equal: bool = True) -> tuple[list[Codes], int]:
    """Return one code for each value over several tables, equal where Python says that the values are equal.

    Parameters
    ----------
    parts
        The same column of each table.
    missing_equal
        How a missing value that is an object of its own (None, NaT, or a nan in a column of objects) compares with
        itself: equal, as in tuples and dictionaries, or unequal, as with `!=` (None is always equal to None). A nan in
        a column of floats is equal to nothing in either case.

    Returns
    -------
    codes, n_codes
        Codes for each table, shape (n_rows,), 0 to n_codes - 1; and their number.

    Raises
    ------
    TypeError
        A value cannot be hashed, or NA is compared.
    """
    kinds = {p.kind for p in parts}
    if kinds <= set("biuf") and all(p.values.dtype != object for p in parts):
        codes = _codes_of_numbers(parts)
    elif kinds == {"M"}:
        codes = _codes_of_instants(parts, missing_equal)
    else:
        codes = _codes_of_objects(parts, missing_equal)
    return codes, max((int(c.max()) + 1 for c in codes if len(c)), default=0)


def _codes_of_numbers(parts: Sequence[Column]) -> list[Codes]:
    dtypes = {p.values.dtype for p in parts}
    if len({d.kind for d in dtypes} - {"b"}) > 1 and any(_is_huge(p.values) for p in parts):
        return _codes_of_objects(parts, missing_equal=False)  # Python compares whole numbers with floats exactly
    stacked = np.concatenate([p.values for p in parts])
    codes = _rank(stacked)
    lost = np.concatenate([p.missing for p in parts])
    return _apart(codes, lost, parts)


def _is_huge(values: NDArray[Any]) -> bool:
    return values.dtype.kind in "iu" and len(values) > 0 and max(abs(int(values.min())), abs(int(values.max()))) > 2**53


def _codes_of_instants(parts: Sequence[Column], missing_equal: bool) -> list[Codes]:
    codes = _rank(np.concatenate([p.values.view(np.int64) for p in parts]))
    lost = np.concatenate([p.missing for p in parts])
    return _split(codes, parts) if missing_equal else _apart(codes, lost, parts)


def _rank(values: NDArray[Any]) -> Codes:
    if values.dtype.kind == "b":
        return values.astype(np.int32)
    if values.dtype.kind in "iu" and len(values):
        values = values.astype(np.int64) if values.dtype.itemsize < 8 else values  # a difference may overflow
        low, high = int(values.min()), int(values.max())
        if high - low < 4 * len(values) + 64:  # no sort
            return np.asarray(values - np.array(low, dtype=values.dtype), dtype=np.int32)
    return np.asarray(np.unique(values, return_inverse=True)[1], dtype=np.int32)


def _apart(codes: Codes, lost: NDArray[np.bool_], parts: Sequence[Column]) -> list[Codes]:
    """Give each lost value a code of its own."""
    if lost.any():
        n = int(lost.sum())
        codes = codes.copy()
        codes[lost] = int(codes.max()) + 1 + np.arange(n, dtype=np.int32)
    return _split(codes, parts)


def _split(codes: Codes, parts: Sequence[Column]) -> list[Codes]:
    return np.split(codes, np.cumsum([len(p) for p in parts])[:-1])


def _codes_of_objects(parts: Sequence[Column], missing_equal: bool) -> list[Codes]:
    lists = [p.as_objects().tolist() for p in parts]
    name = next((p.name for p in parts if p.name is not None), None)
    try:
        code: dict[Any, int] = dict(zip(dict.fromkeys(chain.from_iterable(lists)), count(), strict=False))
    except TypeError:
        raise unhashable(name, chain.from_iterable(lists)) from None
    get: Callable[[Any], int] = code.__getitem__
    out = [np.fromiter(map(get, values), dtype=np.int32, count=len(values)) for values in lists]
    if missing_equal:
        return out
    try:
        unequal = [c for value, c in code.items() if not isinstance(value, str) and bool(value != value)]
    except TypeError:  # NA refuses to be asked whether it differs from itself, as it does in SDMetrics
        raise no_equal(name) from None
    if not unequal:
        return out
    stacked = np.concatenate(out)
    return _apart(stacked, np.isin(stacked, unequal), parts)


def unhashable(name: Hashable, values: Iterable[Any]) -> TypeError:
    """Return the error for a column with a value, such as a list, that cannot be looked up among others."""
    found = next((type(v).__name__ for v in values if not _is_hashable(v)), "object")
    return TypeError(
        f"{_called(name)} has a value of type {found}, which cannot be a category. hint: turn the column into text, "
        ".astype(str), or leave it out."
    )


def _is_hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def no_equal(name: Hashable) -> TypeError:
    """Return the error for a column with NA, for which equality is not defined."""
    return TypeError(
        f"{_called(name)} has missing values of a nullable dtype, which cannot be compared. hint: turn the column into "
        "text, .astype(str), or fill the missing values."
    )


def _called(name: Hashable) -> str:
    return "A column" if name is None else f"Column {name!r}"
