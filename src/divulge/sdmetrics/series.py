"""One column on its own, of any kind of frame."""

from __future__ import annotations

from typing import Any

from divulge.sdmetrics.columns import Column, frame_of, pandas_column

__all__ = ["is_series", "series_column"]

_HOMES = ("pandas", "polars", "pyarrow", "narwhals")


def is_series(data: Any) -> bool:
    """Return whether it is one column of a frame: a pandas or polars Series, an Arrow array."""
    home = type(data).__module__.split(".")[0]
    return home in _HOMES and not hasattr(data, "columns") and hasattr(data, "__len__")


def series_column(data: Any, role: str = "data") -> Column:
    """Return a single column with the dtype that it has, or would have, in pandas.

    Raises
    ------
    TypeError
        It is no column.
    """
    if not is_series(data):
        raise TypeError(f"`{role}` is of type {type(data).__name__}; it must be a pandas.Series or another column.")
    if type(data).__module__.split(".")[0] == "pandas":
        return pandas_column(data)
    import polars as pl

    native = data.to_native() if hasattr(data, "to_native") else data
    if type(native).__module__.split(".")[0] == "pandas":
        return pandas_column(native)
    series = native if isinstance(native, pl.Series) else pl.Series("column", pl.from_arrow(native))
    return frame_of(pl.DataFrame({"column": series}), role)["column"]
