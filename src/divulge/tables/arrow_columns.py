"""Columns of Arrow tables, with types that polars does not hold: as the nearest that it does."""

from __future__ import annotations

import io
from base64 import b64decode
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import polars as pl

from divulge.core.errors import DivulgeError, TableError, tidy
from divulge.tables.arrow_types import intervals_of_parquet, is_rare
from divulge.tables.canonical_values import from_arrow
from divulge.tables.checks import text_names

__all__ = ["check_arrow", "columns_of", "damaged", "parquet_types", "rare_in_file", "read_rare"]

Rare = dict[str, Any]
_INTERVAL = "interval"
_MAGIC = b"ARROW1"
"""A file of Arrow starts with it, a stream does not."""


def columns_of(table: Any, where: str) -> list[pl.Series]:
    """Return the columns of an Arrow table.

    Raises
    ------
    TableError
        A column cannot be read; the error names it and its type.
    """
    return [_column(table.column(i), table.schema.field(i), where) for i in range(table.num_columns)]


def _column(column: Any, field: Any, where: str) -> pl.Series:
    try:
        return from_arrow(column)
    except DivulgeError:
        raise
    except (Exception, pl.exceptions.PanicException):
        raise _unread(where, field) from None


def _unread(where: str, field: Any) -> TableError:
    return TableError(
        f"{where}: column {tidy(field.name)!r} has the type {tidy(str(field.type))!r}, which cannot be read. hint: "
        "cast it to text, or leave it out."
    )


def rare_in_file(data: Any, *, parquet: bool) -> Rare | None:
    """Return the columns of a Parquet or Arrow file whose types polars does not hold, name -> Arrow's type.

    None where that cannot be told: pyarrow is not installed, or cannot read the file either. To ask first is the way to
    read such files without polars breaking off, which it tells on standard error.

    Parameters
    ----------
    data
        Its bytes, or its path.
    parquet
        Whether it is Parquet.
    """
    if find_spec("pyarrow") is None:
        return None
    import pyarrow as pa

    try:
        if parquet:
            return _rare_in_parquet(pa, io.BytesIO(data) if isinstance(data, bytes) else str(data))
        if isinstance(data, bytes):
            schema = _reader(pa, data).schema
        else:
            with open(data, "rb") as file:
                stream = file.read(len(_MAGIC)) != _MAGIC
                file.seek(0)
                schema = (pa.ipc.open_stream if stream else pa.ipc.open_file)(file).schema
    except (pa.ArrowException, OSError, ValueError, KeyError, NotImplementedError):
        return None
    # polars multiplies seconds, and says nothing where they are too many
    return {f.name: f.type for f in schema if is_rare(f.type) or str(f.type).startswith("timestamp[s")}


def _rare_in_parquet(pa: Any, source: Any) -> Rare:
    """Return the columns as `rare_in_file`, by the types that the writer of the file noted and by those of Parquet."""
    import pyarrow.parquet as pq

    found = pq.read_metadata(source)
    written = (found.metadata or {}).get(b"ARROW:schema")
    fields = pa.ipc.read_schema(pa.BufferReader(b64decode(written))) if written else found.schema.to_arrow_schema()
    names = [field.name for field in fields]  # of two columns of one name polars before 1.35 reads the last, in silence
    rare = {field.name: field.type for field in fields if is_rare(field.type) or names.count(field.name) > 1}
    return rare | {path.split(".")[0]: _INTERVAL for path in _intervals(found.schema)}


def _intervals(schema: Any) -> list[str]:
    """Return the paths of Parquet's intervals, whose type in Arrow is that of any twelve bytes."""
    columns = (schema.column(i) for i in range(len(schema)))
    return [c.path for c in columns if c.converted_type == "INTERVAL"]


def parquet_types(path: Path) -> dict[str, pl.DataType] | None:
    """Return the columns of a Parquet file and the types that they have in memory; None where pyarrow cannot tell.

    Raises
    ------
    ColumnError
        Two columns have the same name.
    """
    if find_spec("pyarrow") is None:
        return None
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            text_names(file.schema_arrow.names, path.name)
            columns = _of_parquet(file.schema_arrow.empty_table(), file.schema, path.name)
    except (pa.ArrowException, OSError, ValueError, KeyError, NotImplementedError) as error:
        if isinstance(error, DivulgeError):
            raise
        return None
    return {c.name: c.dtype for c in columns}


def check_arrow(data: bytes | Path, where: str) -> None:
    """Raise an error where an Arrow file is damaged or two columns have one name: polars takes all as it stands.

    It is looked at where pyarrow is there, and reads its types.
    """
    if find_spec("pyarrow") is None:
        return
    import pyarrow as pa

    try:
        with pa.BufferReader(data) if isinstance(data, bytes) else pa.memory_map(str(data)) as source:
            stream = source.read(len(_MAGIC)) != _MAGIC
            source.seek(0)
            table = (pa.ipc.open_stream if stream else pa.ipc.open_file)(source).read_all()
            text_names(table.column_names, where)
            for column in table.columns:
                # of numbers, dates and times no value is a place
                column.validate(full=not pa.types.is_primitive(column.type))
    except (NotImplementedError, DivulgeError) as error:
        if isinstance(error, DivulgeError):
            raise
    except (pa.ArrowException, OSError, ValueError, KeyError):
        raise damaged(where, "Arrow (Feather)") from None


def damaged(where: str, kind: str) -> TableError:
    """Return the error of a file that is not of its kind."""
    return TableError(f"{where}: not a {kind} file, or a damaged one. hint: check the suffix, or write the file again.")


def _reader(pa: Any, data: bytes) -> Any:
    source = pa.BufferReader(data)
    return pa.ipc.open_file(source) if data.startswith(_MAGIC) else pa.ipc.open_stream(source)


def read_rare(data: bytes, where: str, *, parquet: bool) -> pl.DataFrame:
    """Return the table of a Parquet or Arrow file with types that polars does not hold, read by pyarrow.

    Raises
    ------
    TableError
        A column cannot be read, or the file is damaged.
    ColumnError
        Two columns have the same name.
    """
    import pyarrow as pa

    try:
        if parquet:
            import pyarrow.parquet as pq

            file = pq.ParquetFile(io.BytesIO(data))
            text_names(file.schema_arrow.names, where)
            columns = _of_parquet(file.read(), file.schema, where)
        else:
            table = _reader(pa, data).read_all()
            columns = [c.alias(name) for c, name in zip(columns_of(table, where), table.column_names, strict=True)]
    except (pa.ArrowException, OSError, ValueError, KeyError, NotImplementedError) as error:
        if isinstance(error, DivulgeError):
            raise
        raise damaged(where, "Parquet" if parquet else "Arrow (Feather)") from None
    return pl.DataFrame(columns)


def _of_parquet(table: Any, schema: Any, where: str) -> list[pl.Series]:
    """Return the columns of a table that was read from Parquet, intervals in microseconds."""
    intervals = set(_intervals(schema))
    out = []
    for column, field in zip(table.columns, table.schema, strict=True):
        if field.name in intervals:
            out.append(pl.Series(field.name, intervals_of_parquet(column), dtype=pl.Int64))
        else:
            out.append(_column(column, field, where).alias(field.name))
    return out
