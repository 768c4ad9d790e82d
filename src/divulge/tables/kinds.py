"""The kinds of frames in which results go out: the kind of the table that came in."""

from __future__ import annotations

from typing import Any

import polars as pl

__all__ = ["as_kind", "kind_of"]

_KINDS = ("pandas", "pyarrow")


def kind_of(table: Any) -> str:
    """Return "pandas" or "pyarrow" for a frame of theirs, else "polars".

    Examples
    --------
    >>> kind_of(pl.DataFrame({"age": [30]})), kind_of("people.csv")
    ('polars', 'polars')
    """
    home = type(table).__module__.split(".")[0]
    return home if home in _KINDS else "polars"


def as_kind(frame: pl.DataFrame, kind: str) -> Any:
    """Return a frame as one of another kind; a missing number is nan in pandas.

    Parameters
    ----------
    frame
        The frame; one of no rows keeps its columns.
    kind
        "polars", "pandas" or "pyarrow"; the package must be installed.
    """
    if kind == "pyarrow":
        return frame.to_arrow()
    if kind == "pandas":
        import pandas as pd

        return pd.DataFrame({name: frame[name].to_numpy() for name in frame.columns})
    return frame
