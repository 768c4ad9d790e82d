"""Numbers and codes of columns in tables that somebody passed and that stay where they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from divulge.tables import _duckdb_counts, _polars_counts, _spark_counts
from divulge.tables.counting import Edges, Numbers

__all__ = ["coded_in", "numbers_in"]

_ENGINES: Mapping[str, Any] = {
    "polars": _polars_counts, "duckdb": _duckdb_counts, "pyspark": _spark_counts, "pyspark_connect": _spark_counts,
}  # fmt: skip


def numbers_in(native: Any, where: str, column: str, missing: Sequence[float]) -> Numbers | None:
    """Return the numbers of a column of a lazy table; None for types that are no numbers, and for other engines."""
    engine = _ENGINES.get(where)
    found: Numbers | None = None if engine is None else engine.numbers_in(native, column, missing)
    return found


def coded_in(native: Any, where: str, columns: Mapping[str, tuple[str, Edges]]) -> Any:
    """Return a lazy table with further columns of codes: name -> column and the edges that code it."""
    return _ENGINES[where].coded_in(native, columns)
