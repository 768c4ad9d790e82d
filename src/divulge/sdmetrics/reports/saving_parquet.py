"""A saved report as one Parquet table: a first row with what is said of the whole, then a row for each score."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from divulge.tables.parquet import write_parquet

__all__ = ["MAGIC", "MOST_ROWS", "content_of", "parquet_of"]

MAGIC = b"PAR1"
"""First bytes of a Parquet file."""
MOST_ROWS = 5_000_000
_MOST_TEXT = 2**28  # bytes of all texts together: a small file can stand for very long ones
_HEAD, _PROPERTY, _CODED = "Report", "Property", "Coded"
_DETAILS = "details"


def parquet_of(content: Mapping[str, Any], names: Sequence[str]) -> bytes:
    """Return the content of a JSON file as a Parquet file.

    Parameters
    ----------
    content
        What the JSON file has; "details" holds the rows of each property.
    names
        Columns of names: their cells are text, and the list of a key is written as JSON, as the column Coded says.
    """
    details = content[_DETAILS]
    head = {key: value for key, value in content.items() if key != _DETAILS} | {"details of": list(details)}
    rows = [{_PROPERTY: name, **_coded(row, names)} for name, own in details.items() for row in own]
    columns = dict.fromkeys([_HEAD, _PROPERTY, *(key for row in rows for key in row)])
    found: dict[str, Sequence[Any]] = {c: [None, *(row.get(c) for row in rows)] for c in columns}
    found[_HEAD] = [json.dumps(head, ensure_ascii=False, allow_nan=False), *[None] * len(rows)]
    frame = pl.DataFrame([pl.Series(c, values, dtype=_dtype(c, values, names)) for c, values in found.items()])
    file = io.BytesIO()
    write_parquet(frame, file)
    return file.getvalue()


def _coded(row: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Return a row with the names that are no text as JSON."""
    lists = [c for c, value in row.items() if c in names and value is not None and not isinstance(value, str)]
    return {**row, **{c: json.dumps(row[c], ensure_ascii=False) for c in lists}, _CODED: lists}


def _dtype(column: str, values: Sequence[Any], names: Sequence[str]) -> Any:
    if column == _CODED:
        return pl.List(pl.String)
    if column in (_HEAD, _PROPERTY, *names) or any(isinstance(v, str) for v in values):
        return pl.String
    return pl.Boolean if any(isinstance(v, bool) for v in values) else pl.Float64


def content_of(file: bytes, columns: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """Return the content of a JSON file that a Parquet file stands for.

    Parameters
    ----------
    file
        Content of the file.
    columns
        Columns of the details of each property.

    Raises
    ------
    ValueError
        It is no such file, or too large.
    """
    try:
        n_rows = pl.scan_parquet(io.BytesIO(file)).select(pl.len()).collect().item()
        if not 0 < n_rows <= MOST_ROWS:
            raise ValueError
        frame = pl.read_parquet(io.BytesIO(file))
        texts = frame.select(pl.col(pl.String).str.len_bytes().sum())
        if sum(texts.row(0)) > _MOST_TEXT:
            raise ValueError
        head = json.loads(frame[_HEAD][0])
        details: dict[str, list[dict[str, Any]]] = {name: [] for name in head.pop("details of")}
        for row in frame[1:].iter_rows(named=True):
            details[row[_PROPERTY]].append(_row(row, columns.get(row[_PROPERTY], ())))
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, KeyError, TypeError, AttributeError):
        raise ValueError from None
    return {**head, _DETAILS: details}


def _row(row: Mapping[str, Any], columns: Sequence[str]) -> dict[str, Any]:
    """Return the cells of one property, those that are coded as what they stand for."""
    found = {c: row.get(c) for c in (*columns, "Error")}
    return found | {c: json.loads(str(found[c])) for c in row[_CODED] if c in found}
