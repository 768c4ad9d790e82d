"""Types of Arrow that polars does not hold, and their values in types that it does."""

from __future__ import annotations

from functools import lru_cache
from struct import unpack
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

__all__ = ["as_common", "intervals_of_parquet", "is_rare"]

_DAY = 86_400_000_000  # microseconds
_MONTH = 30  # days, as DuckDB and PostgreSQL count them where they compare intervals


def is_rare(kind: Any) -> bool:
    """Return whether polars does not hold a type of Arrow, or holds it as one of its own that says nothing.

    Lists, structs and maps are rare where one of the types in them is.
    """
    import pyarrow.types as of

    if of.is_dictionary(kind):
        return is_rare(kind.value_type)
    if of.is_timestamp(kind):
        return kind.tz is not None and not _is_zone(kind.tz)
    if of.is_decimal(kind):
        return bool(of.is_decimal256(kind) or kind.scale < 0)
    return (
        of.is_interval(kind)
        or of.is_union(kind)
        or of.is_run_end_encoded(kind)
        or hasattr(kind, "extension_name")
        or (hasattr(of, "is_list_view") and (of.is_list_view(kind) or of.is_large_list_view(kind)))
        or any(is_rare(kind.field(i).type) for i in range(kind.num_fields))
    )


@lru_cache(maxsize=64)
def _is_zone(name: str) -> bool:
    """Return whether a zone has a name, not an offset such as +05:30."""
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return False
    return True


def as_common(column: Any) -> Any:
    """Return a column of a rare type in a common one: an Arrow column, or a list of Python values.

    Timestamps become UTC, months of intervals 30 days, and members of unions stay as they are, value by value.
    """
    import pyarrow as pa
    import pyarrow.types as of

    kind = column.type
    if hasattr(kind, "extension_name"):
        own = pa.chunked_array([c.storage for c in column.chunks], kind.storage_type)
        if kind.extension_name == "arrow.uuid":
            return _texts_of_uuids(own)
        if kind.extension_name == "arrow.bool8":
            return own.cast(pa.bool_())
        return own
    if of.is_dictionary(kind):
        return pa.chunked_array([c.dictionary.take(c.indices) for c in column.chunks], kind.value_type)
    if of.is_run_end_encoded(kind):
        import pyarrow.compute as pc

        return pa.chunked_array([pc.run_end_decode(c) for c in column.chunks], kind.value_type)
    if of.is_interval(kind):
        return [None if v is None else _microseconds(v) for v in column.to_pylist()]
    if of.is_timestamp(kind):
        return column.cast(pa.timestamp(kind.unit, "UTC"))
    if hasattr(of, "is_list_view") and (of.is_list_view(kind) or of.is_large_list_view(kind)):
        return pa.chunked_array([pa.array(column.to_pylist(), pa.large_list(kind.value_type))])
    return column.to_pylist()


def intervals_of_parquet(column: Any) -> list[int | None]:
    """Return intervals of Parquet, three numbers of 4 bytes, in microseconds."""
    parts = (None if v is None else unpack("<III", v) for v in column.to_pylist())
    return [None if p is None else _microseconds((p[0], p[1], p[2] * 1_000_000)) for p in parts]


def _microseconds(value: Any) -> int:
    months, days, nanoseconds = value
    return int((months * _MONTH + days) * _DAY + nanoseconds // 1000)


def _texts_of_uuids(column: Any) -> list[str | None]:
    from uuid import UUID

    return [None if v is None else str(UUID(bytes=v)) for v in column.to_pylist()]
