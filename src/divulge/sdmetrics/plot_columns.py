"""Read the columns of a plot, and reduce them to counts."""

from __future__ import annotations

import datetime
import numbers
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from divulge.measures.plot_counts import FEW, frequent
from divulge.sdmetrics.columns import Column, frame_of
from divulge.sdmetrics.inputs import column_of, known_codes
from divulge.sdmetrics.plot_shapes import number_text

__all__ = ["Named", "few_note", "is_constant", "is_date", "is_number", "missing_note", "named", "numbers_in", "read"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_Text = tuple[bool, float, str]
"""Whether a value has an order, its number, its text."""


def read(data: Any, names: Sequence[Hashable]) -> tuple[list[Hashable], list[Column]]:
    """Return the names of a frame that are missing of some names, and the columns of those that are there."""
    if type(data).__module__.split(".")[0] == "pandas" and hasattr(data, "columns"):
        lacking = [n for n in names if n not in data.columns]
        return lacking, [column_of(data[n], "data").named(n) for n in names if n in data.columns]
    frame = frame_of(data, "data")
    lacking = [n for n in names if n not in frame.columns]
    return lacking, [frame[n] for n in names if n in frame.columns]


def is_date(column: Column) -> bool:
    """Return whether all values that are there are dates."""
    if column.values.dtype.kind == "M":
        return True
    values = _objects(column)
    return bool(values) and all(isinstance(v, datetime.date) for v in values)


def is_number(column: Column) -> bool:
    """Return whether all values that are there are numbers and no truth values."""
    if column.kind in "iuf":
        return True
    values = _objects(column)
    return bool(values) and all(isinstance(v, numbers.Real) and not isinstance(v, bool | np.bool_) for v in values)


def _objects(column: Column) -> list[Any]:
    return column.values[~column.missing].tolist() if column.kind == "O" else []


def is_constant(column: Column) -> bool:
    """Return whether there is one value apart from missing ones."""
    return known_codes([column])[1] == 1


def numbers_in(column: Column) -> tuple[Floats, NDArray[np.bool_]]:
    """Return a column as numbers, dates in seconds since 1970, and where they are finite; shapes (n_rows,)."""
    out = np.full(len(column), np.nan)
    there = ~column.missing
    values = column.values[there]
    if is_date(column):
        if values.dtype.kind != "M":
            naive = [
                v.astimezone(datetime.UTC).replace(tzinfo=None) if getattr(v, "tzinfo", None) else v for v in values
            ]
            values = np.array(naive, dtype="datetime64[us]")
        out[there] = values.astype("datetime64[us]").astype(np.int64) / 1e6
    else:
        out[there] = values.astype(np.float64)
    return out, np.isfinite(out)


@dataclass(frozen=True, slots=True, eq=False)
class Named:
    """The values of one column that are shown by name, with the others in one."""

    names: tuple[str, ...]
    codes: tuple[Ints, ...]
    """Per table: number of the name of each row, -1 where the value is missing; shape (n_rows,)."""


def named(columns: Sequence[Column], most: int, least: int = FEW) -> Named:
    """Return the most frequent values of a column over the tables, and "n other values" where some are left.

    Values of fewer than `least` rows in every table have no name. Numbers and dates stand in their order, anything
    else by how frequent it is.
    """
    codes, size = known_codes(list(columns))
    counts = [np.bincount(c, minlength=size + 1)[1:].astype(np.int64) for c in codes]
    texts = _texts(columns, codes, size, counts, least)
    candidates = np.array(sorted(texts, key=texts.__getitem__), dtype=np.int64)  # equal shares stand in this order
    totals = [max(int(c.sum()), 1) for c in counts]
    chosen = candidates[frequent([c[candidates] for c in counts], totals, most)].tolist()
    if all(ordered for ordered, _, _ in texts.values()):
        chosen.sort(key=texts.__getitem__)
    place = np.full(size + 1, len(chosen), dtype=np.int64)
    place[0] = -1
    place[np.array(chosen, dtype=np.int64) + 1] = np.arange(len(chosen))
    names = [texts[c][2] for c in chosen]
    left = size - len(chosen)
    if left:
        names.append(f"{left:,} {'other ' if names else ''}value{'s' if left > 1 else ''}")
    return Named(tuple(names), tuple(place[c] for c in codes))


def _texts(
    columns: Sequence[Column], codes: Sequence[Any], size: int, counts: Sequence[Ints], least: int
) -> dict[int, _Text]:
    """Return the text of each frequent value."""
    wanted = set(np.flatnonzero(np.max(np.stack(counts), axis=0) >= least).tolist())
    out: dict[int, _Text] = {}
    for column, own in zip(columns, codes, strict=True):
        first = np.full(size + 1, -1, dtype=np.int64)
        first[own[::-1]] = np.arange(len(own))[::-1]
        for code in wanted - set(out):
            if first[code + 1] >= 0:
                out[code] = _text(column.values[first[code + 1]])
    return out


def _text(value: Any) -> _Text:
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Real | np.datetime64 | datetime.date):
        return False, 0.0, str(value)
    if isinstance(value, numbers.Real):
        return True, float(value), number_text(float(value))
    if isinstance(value, np.datetime64):
        value = value.astype("datetime64[s]")
    return True, 0.0, str(value).replace("T", " ").removesuffix(" 00:00:00")


def missing_note(sides: Sequence[str], columns: Sequence[Column]) -> list[str]:
    """Return the shares of missing values, if there are any."""
    shares = [float(c.missing.mean()) if len(c) else 0.0 for c in columns]
    if not any(shares):
        return []
    parts = [f"{side} Data ({share:.1%})" for side, share in zip(sides, shares, strict=True)]
    return [f"*Missing Values: {', '.join(parts)}"]


def few_note(sides: Sequence[str], sizes: Sequence[int]) -> list[str]:
    """Return which tables have too few values to be drawn."""
    few = [side for side, n in zip(sides, sizes, strict=True) if n < FEW]
    return [f"{' and '.join(few)} data: fewer than {FEW} values, not drawn."] if few else []
