"""Read JSON: one record a line (.jsonl .ndjson), or a list of records (.json)."""

from __future__ import annotations

import io

import polars as pl

from divulge.core.errors import NoRowsError, TableError
from divulge.tables.csv_files import utf8_of

__all__ = ["JSON", "JSON_LINES", "read_json"]

JSON_LINES = (".jsonl", ".ndjson")
JSON = (*JSON_LINES, ".json")


def read_json(data: bytes, where: str, suffix: str) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Return the table of a JSON file, and notes on how it was read; a record that lacks a column has it missing.

    Parameters
    ----------
    data
        The bytes of the file, not compressed.
    where
        How errors name the file.
    suffix
        Of its name; in .json the first sign tells a list of records from lines of records.

    Raises
    ------
    TableError
        It is no JSON, or no records; errors show no values.
    """
    text, notes = utf8_of(data, where)
    text = text.strip()
    if not text:
        raise TableError(f"{where}: the file has only blank lines. hint: check how it was written.")
    in_lines = text.startswith(b"{")
    try:
        read = pl.read_ndjson if in_lines else pl.read_json
        frame = read(io.BytesIO(text), infer_schema_length=None)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, ValueError, OSError):
        raise TableError(
            f"{where}: no JSON records, or damaged ones. hint: write a list of records, or one record a line, each "
            'with the names of the columns (in pandas: to_json(orient="records")).'
        ) from None
    if in_lines and frame.height == 1 and frame.width and all(_holds_many(t) for t in frame.dtypes):
        raise TableError(
            f"{where}: the JSON is one object of whole columns, not of records. hint: write a list of records (in "
            'pandas: to_json(orient="records")).'
        )
    if not frame.width or not frame.height:
        raise NoRowsError(f"{where}: no records. hint: pass a table with rows.")
    return frame, notes


def _holds_many(kind: pl.DataType) -> bool:
    return isinstance(kind, pl.List | pl.Struct | pl.Array)
